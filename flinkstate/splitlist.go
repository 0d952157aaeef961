package flinkstate

import "iter"

// splitList holds splits in 16 bytes each, as long as they are the usual ones, which
// readers hold and which have no stopping offset: there may be hundreds of
// thousands, and reading them is mostly a matter of memory.
type splitList struct {
	fixed  []splitFields
	stops  []int64      // by number; nil while none has a stopping offset
	states []splitState // likewise; nil while readers hold all
	runs   []splitRun
}

// splitFields are what every split has of its own.
type splitFields struct {
	start     int64
	topic     uint32 // of topicTable
	partition int32
}

// splitRun says of which subtask the splits from a number on are.
type splitRun struct {
	from    int
	subtask int32
}

func newSplitList(size int) splitList { return splitList{fixed: make([]splitFields, 0, size)} }

func (l *splitList) len() int { return len(l.fixed) }

// addUsual adds a split that a reader holds and that has no stopping offset, where
// all are such.
func (l *splitList) addUsual(f splitFields, subtask int32) {
	if len(l.runs) == 0 || l.runs[len(l.runs)-1].subtask != subtask {
		l.runs = append(l.runs, splitRun{len(l.fixed), subtask})
	}
	l.fixed = append(l.fixed, f)
}

func (l *splitList) add(s *split) {
	n := len(l.fixed)
	l.addUsual(splitFields{s.start, s.topic, s.partition}, s.subtask)
	if l.stops != nil || s.stop != noStop {
		for len(l.stops) < n {
			l.stops = append(l.stops, noStop)
		}
		l.stops = append(l.stops, s.stop)
	}
	if l.states != nil || s.state != splitHeld {
		for len(l.states) < n {
			l.states = append(l.states, splitHeld)
		}
		l.states = append(l.states, s.state)
	}
}

// join adds the splits of another list, whose topics have the numbers ids here.
func (l *splitList) join(other *splitList, ids []uint32) {
	if !l.usual() || !other.usual() {
		for s := range other.all() {
			s.topic = ids[s.topic]
			l.add(&s)
		}
		return
	}
	n := len(l.fixed)
	for _, run := range other.runs {
		l.runs = append(l.runs, splitRun{n + run.from, run.subtask})
	}
	l.fixed = append(l.fixed, other.fixed...)
	for i := n; i < len(l.fixed); i++ {
		l.fixed[i].topic = ids[l.fixed[i].topic]
	}
}

// usual reports whether all splits are the usual ones.
func (l *splitList) usual() bool { return l.stops == nil && l.states == nil }

// at returns the split of a number, without its subtask.
func (l *splitList) at(i int) split { return l.whole(&l.fixed[i], i) }

// whole is the split of a number whose fields are f.
func (l *splitList) whole(f *splitFields, i int) split {
	s := split{start: f.start, stop: noStop, topic: f.topic, partition: f.partition, state: splitHeld}
	if l.stops != nil {
		s.stop = l.stops[i]
	}
	if l.states != nil {
		s.state = l.states[i]
	}
	return s
}

// all gives the splits in their order, with their subtasks.
func (l *splitList) all() iter.Seq[split] {
	return func(yield func(split) bool) {
		runs := l.runs
		for i := range l.fixed {
			for len(runs) > 1 && runs[1].from == i {
				runs = runs[1:]
			}
			s := l.at(i)
			if s.subtask = runs[0].subtask; !yield(s) {
				return
			}
		}
	}
}

// subtask returns that of the split of a number.
func (l *splitList) subtask(i int) int32 {
	subtask := int32(fromEnumerator)
	for _, run := range l.runs {
		if run.from > i {
			break
		}
		subtask = run.subtask
	}
	return subtask
}
