package flinkstate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Rewrite says where a source of Kafka is to go on, for a savepoint that differs
// from an old one in nothing else ([PrepareRewrite]).
//
// Each partition of the source is named by Next or by Kept: one that is forgotten
// would start where the old job stood, and copy what something else has copied since.
type Rewrite struct {
	// Source names the source, as for [Snapshot.Source]. It may be empty where there
	// is one.
	Source string
	// Cluster is the cluster whose partitions are meant, for a DynamicKafkaSource
	// ([Snapshot.InCluster]). Partitions of its other clusters stay as they are.
	Cluster string
	// Next holds C', the next offset to read, of each partition that goes on elsewhere.
	Next map[offsetmap.TopicPartition]offsetmap.NextOffset
	// Kept holds the partitions that stay as they are in the state.
	Kept []offsetmap.TopicPartition
	// Added holds the partitions of Next that may be put into the state although no
	// reader holds them: the job never read them, or it had finished them. A job that is
	// restored without them takes such a partition for new, and reads it from its
	// earliest record.
	Added []offsetmap.TopicPartition
	// WithoutCommittables leaves out the transactions that committers of a KafkaSink had
	// prepared. Flink commits them again when it restores a savepoint: those that are
	// committed already do no harm, but one whose transactional id the brokers have
	// dropped (transactional.id.expiration.ms, by default 7 days) fails the job, each
	// time. To be left out they must be known to be committed, or records before C are
	// lost: after a stop with savepoint that Flink reported as FINISHED they are.
	WithoutCommittables bool
}

// ChangeKind says what becomes of one split of a savepoint.
type ChangeKind string

const (
	// SplitMoved stood at another offset.
	SplitMoved ChangeKind = "moved"
	// SplitUnchanged stands where it shall already.
	SplitUnchanged ChangeKind = "unchanged"
	// SplitFromMarker had no offset but a marker, such as earliest, and gets one.
	SplitFromMarker ChangeKind = "from-marker"
	// SplitFromEnumerator was not handed to a reader yet; the enumerator will, at the
	// new offset.
	SplitFromEnumerator ChangeKind = "from-enumerator"
	// SplitAdded is given to a reader that did not hold it.
	SplitAdded ChangeKind = "added"
	// SplitKept stays, as Rewrite.Kept demands.
	SplitKept ChangeKind = "kept"
)

// SplitChange is what becomes of one split. A FlinkKafkaConsumer may hold a partition
// in several subtasks, each of which is listed.
type SplitChange struct {
	offsetmap.TopicPartition
	// Cluster is that of a DynamicKafkaSource.
	Cluster string     `json:"cluster,omitempty"`
	How     ChangeKind `json:"how"`
	// From is where the split stood, none where a marker or nothing did.
	From   offsetmap.NextOffset `json:"from"`
	Marker offsetmap.Marker     `json:"marker,omitzero"`
	// To is where it stands then, C', none for what was kept without an offset.
	To offsetmap.NextOffset `json:"to"`
	// Stop is its exclusive stopping offset, at which the restored job ends.
	Stop offsetmap.NextOffset `json:"stop,omitzero"`
	// Subtask is the reader's, -1 for the enumerator.
	Subtask int `json:"subtask"`
}

func (c *SplitChange) compare(o *SplitChange) int {
	return cmp.Or(c.TopicPartition.Compare(o.TopicPartition), cmp.Compare(c.Subtask, o.Subtask))
}

// PreparedRewrite is a savepoint that could be written: all is decided, and nothing is
// written yet.
type PreparedRewrite struct {
	snapshot *Snapshot
	operator string // id of the source
	cluster  string
	changes  []SplitChange
	metadata []byte
	files    []copiedFile
	dropped  []Transaction
	dropping map[string]bool // ids of the operators that had them
	home     string          // local folder of the old savepoint, empty for an fs.FS
	maxBytes int64
	// reopen gives use the store again that the files are in.
	reopen func(use func(*store) error) error
}

// PrepareRewrite reads the savepoint in the folder dir of fsys, as [Read] does, and
// decides what a savepoint looks like whose source stands where r says. Nothing is
// written before [PreparedRewrite.WriteDir].
//
// The new savepoint has the bytes of the old one, but for the positions. Where its
// state is not compressed, just the eight bytes of each offset that changes differ;
// compressed elements are encoded again. Files that the old one names by absolute URI,
// or that are parts of larger files (Flink 1.20 and later), become files of the new
// folder, so that this can be moved and uploaded as a whole.
//
// A rewrite that would lose or repeat records, or whose result is not certain, is an
// [ErrRewrite] that names every problem. Other errors are those of Read.
func PrepareRewrite(fsys fs.FS, dir string, r Rewrite, opts ...Option) (*PreparedRewrite, error) {
	return prepare(func(use func(*store, string) error) error { return inFS(fsys, dir, opts, use) }, r)
}

// PrepareRewriteDir is PrepareRewrite for a local folder, as [ReadDir] is for Read.
func PrepareRewriteDir(dir string, r Rewrite, opts ...Option) (*PreparedRewrite, error) {
	p, err := prepare(func(use func(*store, string) error) error { return inDir(dir, opts, use) }, r)
	if err != nil {
		return nil, err
	}
	p.home = filepath.Dir(p.snapshot.Location)
	return p, nil
}

func prepare(open func(use func(*store, string) error) error, r Rewrite) (p *PreparedRewrite, err error) {
	err = open(func(s *store, name string) (err error) {
		s.noHashes = false // what is copied is held against them
		p, err = s.prepare(name, r)
		return err
	})
	if err != nil {
		return nil, legible(err)
	}
	p.reopen = func(use func(*store) error) error {
		return open(func(s *store, _ string) error { return use(s) })
	}
	return p, nil
}

// Snapshot returns the old savepoint as it was read.
func (p *PreparedRewrite) Snapshot() *Snapshot { return p.snapshot }

// Changes returns what becomes of each split of the source, sorted by partition.
func (p *PreparedRewrite) Changes() []SplitChange { return slices.Clone(p.changes) }

// Committables returns the transactions that are left out, as
// Rewrite.WithoutCommittables demands.
func (p *PreparedRewrite) Committables() []Transaction { return slices.Clone(p.dropped) }

// SHA256 is that of the new _metadata, in lower-case hex, by which a plan from the new
// savepoint names it. It is that of the old one where the positions lie in files of
// their own: [PreparedRewrite.Digest] tells them apart.
func (p *PreparedRewrite) SHA256() string {
	sum := sha256.Sum256(p.metadata)
	return hex.EncodeToString(sum[:])
}

// Digest is a SHA-256, in lower-case hex, over the new _metadata and what is new of
// other files. No two rewrites of a savepoint to other positions have the same.
func (p *PreparedRewrite) Digest() string {
	h := sha256.New()
	for _, f := range append([]copiedFile{{name: metadataName, content: p.metadata}}, p.files...) {
		if f.content != nil {
			_, _ = fmt.Fprintf(h, "%q %d\n", f.name, len(f.content)) // a hash takes everything
			h.Write(f.content)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (s *store) prepare(name string, r Rewrite) (*PreparedRewrite, error) {
	s.sinkFiles = s.sinkFiles || r.WithoutCommittables
	snap, b, err := read(s, name)
	if err != nil {
		return nil, err
	}
	whole := snap
	if r.Cluster != "" {
		if snap, err = snap.InCluster(r.Cluster); err != nil {
			return nil, err
		}
	}
	src, err := snap.Source(r.Source)
	if err != nil {
		return nil, err
	}
	w, err := newRewriting(s, whole, b, &src, r)
	if err != nil {
		return nil, err
	}
	w.decide()
	if err := w.rewriteSource(); err != nil {
		return nil, err
	}
	w.dropCommittables()
	if err := w.rewriteHandles(); err != nil {
		return nil, err
	}
	if len(w.problems) > 0 {
		return nil, w.refusal()
	}
	slices.SortFunc(w.changes, func(a, b SplitChange) int { return a.compare(&b) })
	return &PreparedRewrite{
		snapshot: whole, operator: src.OperatorID, cluster: w.cluster, changes: w.changes,
		metadata: splice(b, w.splices), files: w.files, dropped: w.dropped, dropping: w.dropping, maxBytes: s.maxBytes,
	}, nil
}
