package proof

// Bounds of a stretch. After so many records in order, one after the other,
// what came before is taken as certain; and a stretch that grows longer than
// anything between two such runs is given up.
const (
	certainRun = 64
	maxStretch = 4096
)

// stretch remembers the target records since the last place that was certain,
// as far as they equal source records. It begins with a repeat: with equal
// records, a repeat may be what follows a lost record.
type stretch struct {
	base    int // the head where it begins
	records []stretchRecord
	run     int // records in order since the last repeat
}

type stretchRecord struct {
	like   int // a position with its sum: its own, or for a repeat the first
	sum    sum
	repeat bool
	offset int64
}

func (s *stretch) follow(position int, t sum) {
	if len(s.records) == 0 {
		return
	}
	if s.run++; s.run == certainRun || len(s.records) == maxStretch {
		s.forget()
		return
	}
	s.records = append(s.records, stretchRecord{like: position, sum: t})
}

func (s *stretch) repeat(head, first int, t Print) {
	if len(s.records) == maxStretch {
		s.forget()
	}
	if len(s.records) == 0 {
		s.base = head
	}
	s.run = 0
	s.records = append(s.records, stretchRecord{like: first, sum: t.sum, repeat: true, offset: t.offset})
}

func (s *stretch) forget() { s.records, s.run = s.records[:0], 0 }

// sinceHead returns the repeats since the head last moved.
func (s *stretch) sinceHead() []stretchRecord {
	i := len(s.records)
	for i > 0 && s.records[i-1].repeat {
		i--
	}
	return s.records[i:]
}

// embed reports whether the stretch's records are the source records from base
// to a position with some left out, and then which positions are kept. Records
// that equal none of those positions are repeats of something older and do not
// count.
func (s *stretch) embed(src *source, to int) (kept []bool, used []stretchRecord, ok bool) {
	if len(s.records) == 0 {
		return nil, nil, false
	}
	inside := make(map[sum]struct{}, to-s.base)
	for i := s.base; i < to; i++ {
		inside[*src.sums.at(i)] = struct{}{}
	}
	kept = make([]bool, to-s.base)
	i := s.base
	for _, r := range s.records {
		if _, found := inside[r.sum]; !found {
			continue
		}
		for i < to && *src.sums.at(i) != r.sum {
			i++
		}
		if i == to {
			return nil, nil, false
		}
		kept[i-s.base] = true
		used = append(used, r)
		i++
	}
	return kept, used, true
}
