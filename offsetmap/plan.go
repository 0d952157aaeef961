package offsetmap

import (
	"fmt"
	"time"
)

// APIVersion and PlanKind stand at the head of every plan file. A reader
// refuses every other pair.
const (
	APIVersion = "flinkmm2/v1"
	PlanKind   = "Plan"
)

// DefaultLifetime is how long a plan may be applied and started when nobody
// says otherwise. Retention may cap it.
const DefaultLifetime = 24 * time.Hour

// Plan is a sealed decision: for each partition what was found and what will
// be written. Seal makes one, ReadPlan reads one, and nothing changes one: the
// digest covers everything that the body says.
type Plan struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Digest     string `json:"digest"` // "sha256:" and 64 hex digits, over the canonical body
	Body       Body   `json:"body"`
}

// Body is what the digest covers.
type Body struct {
	Tool         Tool         `json:"tool"`
	CreatedAt    Time         `json:"createdAt"`
	ExpiresAt    Time         `json:"expiresAt"` // binds apply and start, not watch and rollback
	Source       Cluster      `json:"source"`
	Target       Cluster      `json:"target"`
	Connector    Connector    `json:"connector"`
	Worker       Worker       `json:"worker"`
	Savepoint    *Savepoint   `json:"savepoint"` // null when planned from a group alone
	Group        *Group       `json:"group"`     // null when no group was read
	Isolation    Isolation    `json:"isolation"` // the old job's
	Attestations Attestations `json:"attestations"`
	Acceptances  []Acceptance `json:"acceptances"`
	Findings     []Finding    `json:"findings"` // warnings and what was accepted; never one that blocks
	// Earlier lists the digests of earlier plans of the same connector, whose
	// partitions Connect also holds.
	Earlier []EarlierPlan `json:"earlier"`
	Rows    []Row         `json:"rows"` // sorted by topic, then partition
}

// Tool names the program that made the plan.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Cluster names one Kafka cluster by its own id (Metadata), not by addresses,
// which can be pointed elsewhere.
type Cluster struct {
	ID string `json:"id"`
}

// Connector names the MirrorSourceConnector whose offsets are written.
type Connector struct {
	Name        string `json:"name"`         // the namespace of the stored offsets
	SourceAlias string `json:"sourceAlias"`  // source.cluster.alias, "cluster" in the stored partitions
	Config      string `json:"configDigest"` // ConfigDigest of the connector's config
	// ActiveTopics are the target topics that the connector had written when the
	// plan was made (KIP-558), sorted; null when the worker does not track them.
	ActiveTopics []string `json:"activeTopics"`
}

// Worker is what the Connect worker said of itself.
type Worker struct {
	Version       string `json:"version"`
	Commit        string `json:"commit"`
	ClusterID     string `json:"clusterId"`     // the cluster of its bootstrap.servers
	PluginVersion string `json:"pluginVersion"` // of MirrorSourceConnector; may differ from Version
	// ProducerClusterID is the cluster that the data producer reaches: the
	// worker's own, or that of producer.override.bootstrap.servers.
	ProducerClusterID string `json:"producerClusterId"`
}

// Savepoint names the Flink state that the positions come from.
type Savepoint struct {
	Location        string `json:"location"`
	MetadataVersion int    `json:"metadataVersion"`
	CheckpointID    int64  `json:"checkpointId"`
	OperatorID      string `json:"operatorId"`
	UID             string `json:"uid"` // empty before metadata version 5
	Files           []File `json:"files"`
}

// File is one file that was read: `_metadata` and each state file opened.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // 64 lower-case hex digits
}

// Group names the consumer group of the old job.
type Group struct {
	ID string `json:"id"`
}

// Time is a moment in UTC with whole seconds, RFC 3339 in JSON, so that the
// same moment has one form.
type Time struct{ time.Time }

// At cuts t to whole seconds in UTC.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Second)} }

// String returns RFC 3339 in UTC with whole seconds.
func (t Time) String() string { return t.UTC().Format(time.RFC3339) }

// MarshalText writes what String returns.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON writes the text as a string.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads what MarshalJSON writes, and nothing else: no other zone
// and no fraction of a second.
func (t *Time) UnmarshalJSON(b []byte) error {
	parsed, err := time.Parse(`"`+time.RFC3339+`"`, string(b))
	if err != nil || parsed.UTC().Format(`"`+time.RFC3339+`"`) != string(b) {
		return fmt.Errorf("%s is not a time in UTC with whole seconds, such as %q", b, "2026-01-31T12:00:00Z")
	}
	*t = Time{parsed.UTC()}
	return nil
}
