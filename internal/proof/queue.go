package proof

// queue holds target records that cannot be judged yet, and the holes between
// them, in order.
type queue struct {
	items   []item
	from    int // items before are done
	records int // items that are no holes
}

type item struct {
	record Print
	hole   int64 // offsets that retention took; then there is no record
}

func (q *queue) len() int { return len(q.items) - q.from }

func (q *queue) front() *item { return &q.items[q.from] }

func (q *queue) push(it item) {
	q.items = append(q.items, it)
	if it.hole == 0 {
		q.records++
	}
}

// pop keeps the memory of what is done below that of what waits.
func (q *queue) pop() {
	if q.items[q.from].hole == 0 {
		q.records--
	}
	q.from++
	if 2*q.from > len(q.items) {
		n := copy(q.items, q.items[q.from:])
		q.items, q.from = q.items[:n], 0
	}
}
