package offsetmap

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Confirmations are the points that have to be settled before a migration, each with
// the answer of who settled it. All are required: an open one blocks.
type Confirmations struct {
	// FlinkVersions: which versions of Flink and of its Kafka connector the job ran,
	// and how the group's commits follow its checkpoints there.
	FlinkVersions *Attestation[string] `json:"flinkVersions"`
	// SinkEvidence: what shows that the sink has flushed, or has committed its last
	// transaction.
	SinkEvidence *Attestation[string] `json:"sinkEvidence"`
	// ClustersAndTopics: which clusters, by id, and which topics. Package preflight
	// asks that it names the id of each cluster as its brokers tell it.
	ClustersAndTopics *Attestation[string] `json:"clustersAndTopics"`
	// TargetNames: how the topics are to be called on the target. Package preflight
	// holds it against the connector's replication policy.
	TargetNames *Attestation[TargetNames] `json:"targetNames"`
	// Image: which build of the worker runs (artifact, image digest), with which
	// resources, how many workers, and how the internal topics are replicated.
	Image *Attestation[string] `json:"image"`
	// Kubernetes: namespace, secrets, network policy, logs and metrics; or that the
	// workers run elsewhere.
	Kubernetes *Attestation[string] `json:"kubernetes"`
	// Limits: which pause and how long a retention the switch reckons with. It is
	// settled only where RollbackWindow and MaxDuplicates are attested too.
	Limits *Attestation[string] `json:"limits"`
}

// TargetNames says how topics are called on the target.
type TargetNames string

// The ways of naming that MirrorMaker 2 has of itself.
const (
	SameNames     TargetNames = "same"     // as on the source (IdentityReplicationPolicy)
	PrefixedNames TargetNames = "prefixed" // with the source's alias in front (DefaultReplicationPolicy)
)

// open returns a finding for every point that is not settled.
func (a Attestations) open() []Finding {
	var out blocks
	c := a.Confirm
	confirm(&out, "flink-versions", c.FlinkVersions, "which versions of Flink and its Kafka connector ran, and how commits to the group follow checkpoints there", said)
	confirm(&out, "sink-evidence", c.SinkEvidence, "what shows that the sink has flushed or committed all it was given", said)
	confirm(&out, "clusters-and-topics", c.ClustersAndTopics, "the ids of both clusters, and the topics", said)
	confirm(&out, "target-names", c.TargetNames, "how topics are called on the target", func(v TargetNames) string {
		return oneOf(v, SameNames, PrefixedNames)
	})
	confirm(&out, "image", c.Image, "which build of the worker runs, how many, and how the internal topics are replicated", said)
	confirm(&out, "kubernetes", c.Kubernetes, "how the workers are deployed, get their secrets and are watched", said)
	confirm(&out, "limits", c.Limits, "the pause and the retention that the switch reckons with", func(v string) string {
		var without []string
		if a.RollbackWindow == nil {
			without = append(without, "rollbackWindow")
		}
		if a.MaxDuplicates == nil {
			without = append(without, "maxDuplicates")
		}
		if w := said(v); w != "" || without == nil {
			return w
		}
		return "the limits belong to it that evidence is held against: attest " + strings.Join(without, " and ")
	})
	return out
}

// confirm is require with words and an id for a point of the checklist.
func confirm[T any](out *blocks, name string, a *Attestation[T], what string, wrong func(T) string) {
	var of blocks
	if a == nil {
		of.add(name, "open: %s", what)
	} else {
		optional(&of, name, a, wrong)
	}
	for _, f := range of {
		f.Check = "confirm/" + name
		*out = append(*out, f)
	}
}

func said(v string) string {
	switch {
	case !utf8.ValidString(v):
		return fmt.Sprintf("%q is not UTF-8", v)
	case strings.TrimSpace(v) == "":
		return "it says nothing"
	}
	return ""
}
