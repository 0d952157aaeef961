package preflight

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const scopeInventoryUnknown = "inventory-unknown"

// flinkInventoryChecks hold what the state says of all operators of the job to
// what is attested of it, and keep in the plan what they were held to.
func flinkInventoryChecks() []Check {
	return []Check{{
		ID:         flinkArea + "state-beyond-copying",
		Title:      "No operator keeps state that a job which only copies has no use for",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks: "every operator of the savepoint (the inventory of runbook inspect), against the attestation copyOnly. The scope is the operator's id. A warning says what was not looked into, and that a group " +
			"shows no operators; where the positions are those of a state and its operators were not given, the scope is " + scopeInventoryUnknown,
		Why:    "Keyed state, timers, and list or broadcast state that is neither of a source nor of a sink of Kafka may hold records, or the outcome of records, that are not in the target: MirrorMaker 2 does not go on with them. And it means that the job counts, joins, sorts out or delays.",
		Remedy: "Look into the job's code for the operator that the finding names. If the job does more than copy, it cannot be replaced so. If its state can be left behind (of another pipeline in the same job, or of an operator that is there no longer), accept the finding by the operator's id.",
		Judge:  stateBeyondCopying,
	}, {
		ID:         flinkArea + "state-evidence",
		Title:      "What the positions were read from stands in the plan",
		Severity:   offsetmap.Info,
		Acceptable: offsetmap.Never,
		Looks:      "the savepoint: its number, what Flink was asked for when it wrote it, and its operators",
		Why:        "Whoever reads the plan later sees what it was judged on.",
		Remedy:     "Nothing: it is for the reader of the plan.",
		Judge:      stateEvidence,
	}}
}

func stateBeyondCopying(c *Case, r *Reporter) {
	q := c.Question
	switch {
	case q.Origin == offsetmap.FromGroup:
		r.Warn("", "not proven: a group shows no operators; that the job only copies is attested alone")
		return
	case q.Origin != offsetmap.FromSavepoint:
		return // there are no positions
	case len(q.Operators) == 0:
		r.Unmade(scopeInventoryUnknown, errors.New("the operators of the state were not given"))
		return
	}
	attested := "a job that only copies has no use for it"
	if a := q.Attestations.CopyOnly; a != nil && a.Value {
		attested = fmt.Sprintf("the job is attested to only copy, by %s (%s)", a.By, a.Reason)
	}
	for _, op := range q.Operators {
		name := cmp.Or(op.UID, op.Name, op.ID)
		if len(op.BeyondCopying) > 0 {
			r.Block(op.ID, "operator %s has %s; %s", name, strings.Join(op.BeyondCopying, ", "), attested)
			continue
		}
		var unread []string
		for _, s := range op.States {
			if s.NotRead != "" {
				unread = append(unread, fmt.Sprintf("state %q: %s", s.Name, s.NotRead))
			}
		}
		if unread != nil {
			r.Warn(op.ID, "not proven: what operator %s has stored is not known: %s", name, strings.Join(unread, ", "))
		}
	}
}

func stateEvidence(c *Case, r *Reporter) {
	q := c.Question
	if q.Origin != offsetmap.FromSavepoint || len(q.Operators) == 0 {
		return
	}
	kind := string(q.Kind)
	if kind == "" || q.Kind == flinkstate.KindUnknown {
		kind = "what it was written for is not known"
		if q.MetadataVersion < flinkstate.KindVersion {
			kind = "what it was written for is not stored"
		}
	} else {
		kind = "written for a " + kind
	}
	of := ""
	if clusters := clustersOf(q.Positions); len(clusters) > 0 {
		of = "; the positions are of " + some(clusters)
	}
	r.Info("", "checkpoint %d, metadata version %d, %s; %s%s", q.CheckpointID, q.MetadataVersion, kind, operatorsText(q.Operators), of)
}

// operatorsText counts operators, and names those whose names are stored.
func operatorsText(all []flinkstate.Operator) string {
	var names []label
	for _, op := range all {
		if name := cmp.Or(op.UID, op.Name); name != "" {
			names = append(names, label(name))
		}
	}
	text := fmt.Sprintf("%d operators", len(all))
	if names != nil {
		text += ": " + some(names)
	}
	return text
}

// clustersOf are the clusters of a DynamicKafkaSource that positions are of, as
// the job calls them.
func clustersOf(positions []offsetmap.Position) []label {
	var out []label
	for _, p := range positions {
		if p.Cluster != "" {
			out = append(out, label("cluster "+p.Cluster))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type label string

func (l label) String() string { return string(l) }
