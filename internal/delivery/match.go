package delivery

import "slices"

// level says by which parts a record is looked for: those that are carried, without
// the time when it has none.
func (s *search) level(c content) carry {
	by := s.carried
	by.time = by.time && c.time >= 0
	return by
}

// levels are those that records of the topic are looked for by.
func (s *search) levels() [2]carry {
	timed := s.carried
	timeless := timed
	timeless.time = false
	return [2]carry{timed, timeless}
}

// compare finds out what the sink carries, and counts what was found by it, and what
// that is held against.
func (s *search) compare() {
	carried := s.whatIsCarried()
	if s.before == nil || carried != s.carried {
		s.carried = carried
		s.count()
	}
	counts := make(map[content]int, len(s.hits))
	for c, h := range s.hits {
		counts[c] = h.count
	}
	s.found, s.lies = map[carry]map[content]int{}, map[carry]map[content][]int32{}
	for _, by := range s.levels() {
		s.found[by] = classes(counts, by)
		lies := map[content][]int32{}
		for c, h := range s.hits {
			lies[c.class(by)] = append(lies[c.class(by)], h.lies...)
		}
		s.lies[by] = lies
	}
}

// count counts the records of the source.
func (s *search) count() {
	s.before, s.after = map[carry]map[content]int{}, map[carry]map[content]int{}
	for _, by := range s.levels() {
		before, after := map[content]int{}, map[content]int{}
		for _, p := range s.parts {
			for c, n := range p.seen {
				before[c.class(by)] += n
			}
			for _, a := range p.after {
				after[a.class(by)]++
			}
		}
		s.before[by], s.after[by] = before, after
	}
}

// whatIsCarried compares the records before C with those of equal value on the
// target, part by part, each among those that agree in the parts before it. A part is
// carried when most of the records that have such a one have one with that part: a
// copy may have its original's timestamp by chance, and one that resembles a lost
// record has not.
func (s *search) whatIsCarried() carry {
	byValue := map[digest][]content{}
	for c := range s.hits {
		byValue[c.value] = append(byValue[c.value], c)
	}
	var samples []content
	for _, p := range s.sought {
		for _, b := range p.before {
			samples = append(samples, b.content)
		}
	}
	by := carry{} // the parts in which what was found agrees so far
	for _, part := range []struct {
		carry
		has    func(content) bool
		agrees func(a, b content) bool
	}{
		{carry{time: true}, func(c content) bool { return c.time >= 0 }, func(a, b content) bool { return a.time == b.time }},
		{carry{key: true}, func(c content) bool { return c.withKey }, func(a, b content) bool { return a.key == b.key }},
		{carry{headers: true}, func(c content) bool { return c.withHeaders }, func(a, b content) bool { return a.headers == b.headers }},
	} {
		told, agree := 0, 0
		// A record that lacks the part tells only where none has it.
		for _, telling := range []func(content) bool{part.has, func(content) bool { return true }} {
			for _, b := range samples {
				if !telling(b) {
					continue
				}
				alike := slices.DeleteFunc(slices.Clone(byValue[b.value]), func(c content) bool { return c.class(by) != b.class(by) })
				if len(alike) > 0 {
					told++
				}
				if slices.ContainsFunc(alike, func(c content) bool { return part.agrees(b, c) }) {
					agree++
				}
			}
			if told > 0 {
				break
			}
		}
		if 2*agree > told || told == 0 {
			by = merge(by, part.carry)
		}
	}
	return by
}

func merge(a, b carry) carry {
	return carry{time: a.time || b.time, key: a.key || b.key, headers: a.headers || b.headers}
}

// notCarried names the parts that the sink has not carried.
func (c carry) notCarried() []string {
	var out []string
	for _, part := range []struct {
		name    string
		carried bool
	}{{"timestamp", c.time}, {"key", c.key}, {"headers", c.headers}} {
		if !part.carried {
			out = append(out, part.name)
		}
	}
	return out
}

// isCounted reports whether every record of a class that lies before its C was read:
// one of the class has the class's time, and what was not read is older. Only then
// are equal records a multiset whose size is known.
func (s *search) isCounted(c content) bool {
	return s.carried.time && c.time >= 0 && !slices.ContainsFunc(s.parts, func(p *part) bool {
		return p.err != nil || p.c > 0 && !p.whole && (len(p.seen) == 0 || p.since >= c.time)
	})
}
