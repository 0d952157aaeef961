package connectrest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/restapi"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// The keys of a MirrorSourceConnector's source partition and source offset
// (MirrorUtils).
const (
	mirrorCluster   = "cluster"
	mirrorTopic     = "topic"
	mirrorPartition = "partition"
	mirrorOffset    = "offset"
)

// MirrorOffsets is what is stored for a MirrorSourceConnector.
type MirrorOffsets struct {
	// Stored are the offsets that the connector reads when it starts.
	Stored map[offsetmap.TopicPartition]offsetmap.SourceOffset
	// Foreign are all other entries, sorted by partition: the connector never
	// reads them, or cannot make sense of them.
	Foreign []ForeignOffset
}

// ForeignOffset is an entry that is not a MirrorSourceConnector's of the given
// alias. Its Clear is the entry that deletes it.
type ForeignOffset struct {
	Offset
	// Reason says what is foreign about it.
	Reason string `json:"reason"`
}

// String returns the raw entry and the reason.
func (f ForeignOffset) String() string {
	return fmt.Sprintf("%s: %s: %s", restapi.Bound(string(f.Partition), 512), restapi.Bound(string(f.Offset.Offset), 512), f.Reason)
}

// MirrorSourceOffsets reads offsets as a MirrorSourceConnector whose
// source.cluster.alias is alias would: those with exactly the keys cluster,
// topic and partition, its alias, and an offset that is an integer from 0.
// Everything else is foreign and listed with its raw JSON: a worker stores
// whatever it is given. Members of the offset other than "offset" are not read,
// by the connector neither. Entries with a null offset are left out.
//
// A partition that stands twice is an [ErrDuplicatePartition].
func MirrorSourceOffsets(alias string, offsets []Offset) (MirrorOffsets, error) {
	m := MirrorOffsets{Stored: make(map[offsetmap.TopicPartition]offsetmap.SourceOffset, len(offsets))}
	if alias == "" {
		return m, fmt.Errorf("offsets of a MirrorSourceConnector: %w", errNoAlias)
	}
	seen := make(map[mirrorKey]bool, len(offsets))
	var others []Offset // whose partition is not the mirror's
	for i, o := range offsets {
		key, keyErr := mirrorPartitionOf(o.Partition)
		switch {
		case keyErr != nil:
			others = append(others, o)
		case seen[key]:
			return m, fmt.Errorf("offsets of a MirrorSourceConnector: entry %d: %w: %s", i, ErrDuplicatePartition, entryText(o.Partition))
		default:
			seen[key] = true
		}
		if o.IsNull() {
			continue
		}
		offset, err := mirrorEntry(alias, key, keyErr, o)
		if err != nil {
			m.Foreign = append(m.Foreign, ForeignOffset{Offset: o, Reason: err.Error()})
			continue
		}
		m.Stored[key.TopicPartition] = offset
	}
	if _, err := newOffsetTable(others); err != nil {
		return m, fmt.Errorf("offsets of a MirrorSourceConnector: %w", err)
	}
	slices.SortFunc(m.Foreign, func(a, b ForeignOffset) int { return strings.Compare(string(a.Partition), string(b.Partition)) })
	return m, nil
}

var errNoAlias = errors.New("the alias of the source cluster is empty")

// mirrorKey is the partition of a MirrorSourceConnector of any alias.
type mirrorKey struct {
	cluster string
	offsetmap.TopicPartition
}

func mirrorPartitionOf(raw json.RawMessage) (mirrorKey, error) {
	if k, ok := plainMirrorPartition(raw); ok {
		return k, nil
	}
	return anyMirrorPartition(raw)
}

func anyMirrorPartition(raw json.RawMessage) (mirrorKey, error) {
	var none, k mirrorKey
	p, err := objectMembers(raw)
	if err != nil {
		return none, fmt.Errorf("the partition %w", err)
	}
	if k.cluster, err = stringMember(p, mirrorCluster); err != nil {
		return none, err
	}
	if k.Topic, err = stringMember(p, mirrorTopic); err != nil {
		return none, err
	}
	number, ok := p[mirrorPartition]
	if !ok {
		return none, fmt.Errorf("the partition has no %q", mirrorPartition)
	}
	n, err := strconv.ParseInt(string(number), 10, 32)
	if err != nil || n < 0 {
		return none, fmt.Errorf("%q is %s, not an integer from 0 to %d", mirrorPartition, restapi.Bound(string(number), 64), math.MaxInt32)
	}
	k.Partition = int32(n)
	for _, key := range slices.Sorted(maps.Keys(p)) {
		if key != mirrorCluster && key != mirrorTopic && key != mirrorPartition {
			return none, fmt.Errorf("the partition has the extra key %q, so that no task reads it", key)
		}
	}
	return k, k.Validate()
}

// plainMirrorPartition is mirrorPartitionOf for what nearly every entry is, and
// takes next to no memory for it. Of everything else it says nothing.
func plainMirrorPartition(raw json.RawMessage) (k mirrorKey, ok bool) {
	var members [maxPlain]plainMember
	m, ok := plainMembers(members[:0], raw)
	if !ok || len(m) != 3 || repeated(m) {
		return k, false
	}
	for _, one := range m {
		switch v := one.value; string(one.key) {
		case mirrorCluster, mirrorTopic:
			if v[0] != '"' {
				return k, false
			}
			text := string(v[1 : len(v)-1])
			if string(one.key) == mirrorCluster {
				k.cluster = text
			} else {
				k.Topic = text
			}
		case mirrorPartition:
			n, err := strconv.ParseInt(string(v), 10, 32)
			if err != nil || n < 0 {
				return k, false
			}
			k.Partition = int32(n)
		default:
			return k, false
		}
	}
	return k, k.Validate() == nil
}

// plainMirrorOffset returns the value of an offset that is {"offset": N} and no more.
func plainMirrorOffset(raw json.RawMessage) (json.RawMessage, bool) {
	var members [maxPlain]plainMember
	m, ok := plainMembers(members[:0], raw)
	if !ok || len(m) != 1 || string(m[0].key) != mirrorOffset {
		return nil, false
	}
	return m[0].value, true
}

// mirrorEntry returns the offset of an entry whose partition was read as key,
// or not, as keyErr says.
func mirrorEntry(alias string, key mirrorKey, keyErr error, o Offset) (offsetmap.SourceOffset, error) {
	var offset offsetmap.SourceOffset
	if keyErr != nil {
		return offset, keyErr
	}
	if key.cluster != alias {
		return offset, fmt.Errorf("%q is %q, not %q", mirrorCluster, restapi.Bound(key.cluster, maxEntryText), alias)
	}
	raw, ok := plainMirrorOffset(o.Offset)
	if !ok {
		v, err := objectMembers(o.Offset)
		if err != nil {
			return offset, fmt.Errorf("the offset %w", err)
		}
		if raw, ok = v[mirrorOffset]; !ok {
			return offset, fmt.Errorf("the offset has no %q", mirrorOffset)
		}
	}
	if err := offset.UnmarshalJSON(raw); err != nil || offset.IsNone() {
		return offset, fmt.Errorf("%q is %s, not an integer from 0 to %d", mirrorOffset, restapi.Bound(string(raw), 64), int64(math.MaxInt64))
	}
	return offset, nil
}

func stringMember(members map[string]json.RawMessage, key string) (string, error) {
	raw, ok := members[key]
	if !ok {
		return "", fmt.Errorf("the partition has no %q", key)
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return "", fmt.Errorf("%q is %s, not a string", key, restapi.Bound(string(raw), 64))
	}
	return *s, nil
}

// MirrorSourceWrites turns writes into the entries that [Client.AlterOffsets]
// sends, sorted by topic and partition: partitions with exactly the keys
// cluster, topic and partition, offsets {"offset": M} or null. Any other key
// would be stored where no task ever looks.
//
// An empty alias, a topic name that cannot exist, a negative partition and a
// write of the zero value are errors, all of them named.
func MirrorSourceWrites(alias string, writes map[offsetmap.TopicPartition]offsetmap.Write) ([]Offset, error) {
	var errs []error
	if alias == "" {
		errs = append(errs, errNoAlias)
	}
	cluster, err := json.Marshal(alias)
	if err != nil {
		errs = append(errs, err)
	}
	entries := make([]Offset, 0, len(writes))
	for _, tp := range slices.SortedFunc(maps.Keys(writes), offsetmap.TopicPartition.Compare) {
		if err := tp.Validate(); err != nil {
			errs = append(errs, err)
			continue
		}
		offset, err := writes[tp].MarshalJSON()
		if err != nil {
			errs = append(errs, fmt.Errorf("%v: %w", tp, err))
			continue
		}
		// A topic's name has nothing that JSON escapes.
		partition := fmt.Appendf(nil, `{"%s":%s,"%s":"%s","%s":%d}`, mirrorCluster, cluster, mirrorTopic, tp.Topic, mirrorPartition, tp.Partition)
		entries = append(entries, Offset{Partition: partition, Offset: offset})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("offsets to write for a MirrorSourceConnector: %w", err)
	}
	return entries, nil
}

// MirrorSourceAssigned returns the partitions that the tasks of a running
// MirrorSourceConnector copy, with the number of the task: from
// task.assigned.partitions of [Client.Tasks] (MirrorSourceTaskConfig). A task
// without the key, a text that is not TOPIC-PARTITION and a partition that two
// tasks have are errors.
func MirrorSourceAssigned(tasks []TaskInfo) (map[offsetmap.TopicPartition]int, error) {
	const key = "task.assigned.partitions"
	assigned := make(map[offsetmap.TopicPartition]int)
	for _, t := range tasks {
		list, ok := t.Config[key]
		if !ok {
			return nil, fmt.Errorf("task %d of connector %q has no %s: is it a MirrorSourceConnector's?", t.ID.Task, t.ID.Connector, key)
		}
		for s := range strings.SplitSeq(list, ",") {
			tp, err := offsetmap.ParseTopicPartition(strings.TrimSpace(s))
			if err != nil {
				return nil, fmt.Errorf("task %d of connector %q: %s: %w", t.ID.Task, t.ID.Connector, key, err)
			}
			if other, ok := assigned[tp]; ok {
				return nil, fmt.Errorf("connector %q: %v is assigned to task %d and to task %d", t.ID.Connector, tp, other, t.ID.Task)
			}
			assigned[tp] = t.ID.Task
		}
	}
	return assigned, nil
}
