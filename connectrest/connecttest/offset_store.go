package connecttest

import (
	"maps"
	"slices"
	"sync"
)

// offsetStore is what the worker's offset topic holds. It outlives connectors.
type offsetStore struct {
	mu     sync.Mutex
	byName map[string]map[string]offsetEntry // connector, canonical partition
	before map[string]map[string]offsetEntry // what the connector's last write replaced; a nil offset where nothing was
}

func newOffsetStore() *offsetStore {
	return &offsetStore{
		byName: make(map[string]map[string]offsetEntry),
		before: make(map[string]map[string]offsetEntry),
	}
}

// write stores entries in order, so that the last one for a partition wins.
func (s *offsetStore) write(name string, entries []offsetEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored := s.byName[name]
	if stored == nil {
		stored = make(map[string]offsetEntry)
		s.byName[name] = stored
	}
	before := make(map[string]offsetEntry, len(entries))
	for _, e := range entries {
		key := e.partition.canonical()
		if _, seen := before[key]; !seen {
			before[key] = offsetEntry{e.partition, stored[key].offset}
		}
		if e.offset == nil || e.partition == nil {
			delete(stored, key)
		} else {
			stored[key] = e
		}
	}
	s.before[name] = before
}

// reset deletes everything that is stored for the connector.
func (s *offsetStore) reset(name string) {
	entries := s.read(name)
	for i := range entries {
		entries[i].offset = nil
	}
	s.write(name, entries)
}

// read returns the entries in no particular order, as a worker does.
func (s *offsetStore) read(name string) []offsetEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.byName[name]))
}

// readStale returns the entries as they were before the last write.
func (s *offsetStore) readStale(name string) []offsetEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := maps.Clone(s.byName[name])
	for key, e := range s.before[name] {
		if e.offset == nil {
			delete(old, key)
			continue
		}
		if old == nil {
			old = make(map[string]offsetEntry)
		}
		old[key] = e
	}
	return slices.Collect(maps.Values(old))
}

// readShort returns the entries without those that the last write added, all
// but keep of them.
func (s *offsetStore) readShort(name string, keep int) []offsetEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	var entries []offsetEntry
	for key, e := range s.byName[name] {
		if b, written := s.before[name][key]; written && b.offset == nil {
			if keep <= 0 {
				continue
			}
			keep--
		}
		entries = append(entries, e)
	}
	return entries
}

// mirrorSource returns M of one source partition, and false for none. The key
// must be exactly what MirrorUtils.wrapPartition writes: an entry with a further
// key in its partition is never found.
func (s *offsetStore) mirrorSource(name, alias string, tp topicPartition) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return offsetOf(s.byName[name][wrapPartition(alias, tp).canonical()])
}

// mirrorSourceAnyAlias is the planted bug of [IgnoreAlias].
func (s *offsetStore) mirrorSourceAnyAlias(name string, tp topicPartition) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found int64
	var ok bool
	for _, e := range s.byName[name] {
		alias, isString := e.partition["cluster"].(string)
		if !isString || e.partition.canonical() != wrapPartition(alias, tp).canonical() {
			continue
		}
		if m, has := offsetOf(e); has && (!ok || m > found) {
			found, ok = m, true
		}
	}
	return found, ok
}

func offsetOf(e offsetEntry) (int64, bool) {
	m, ok := e.offset["offset"].(int64)
	return m, ok && m >= 0
}

func wrapPartition(alias string, tp topicPartition) javaMap {
	return javaMap{"cluster": alias, "topic": tp.topic, "partition": int64(tp.partition)}
}

// topicPartition names one partition of one topic.
type topicPartition struct {
	topic     string
	partition int32
}
