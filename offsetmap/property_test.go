package offsetmap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// drawRange draws a log: small numbers, whose edges collide, or any.
func drawRange(t *rapid.T) offsetmap.Range {
	number := rapid.OneOf(rapid.Int64Range(0, 6), rapid.Int64Range(0, math.MaxInt64))
	start := number.Draw(t, "start")
	end := rapid.OneOf(rapid.Int64Range(start, min(start, math.MaxInt64-6)+6), rapid.Int64Range(start, math.MaxInt64)).Draw(t, "end")
	stable := rapid.OneOf(rapid.Just(end), rapid.Int64Range(start, end)).Draw(t, "stable")
	return openLog(start, end, stable)
}

func drawOffset(t *rapid.T, near offsetmap.Range) offsetmap.NextOffset {
	start, _ := near.Start.Value()
	end, _ := near.End.Value()
	return next(rapid.OneOf(
		rapid.Int64Range(max(0, start-2), start),
		rapid.Int64Range(start, end),
		rapid.Int64Range(end, min(end, math.MaxInt64-2)+2),
		rapid.Just(int64(0)),
	).Draw(t, "C"))
}

func drawPosition(t *rapid.T, p offsetmap.TopicPartition, near offsetmap.Range) offsetmap.Position {
	out := offsetmap.Position{TopicPartition: p}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		out.Unread = rapid.SampledFrom([]offsetmap.Marker{offsetmap.Earliest, offsetmap.Latest, offsetmap.Committed, offsetmap.Unset, offsetmap.Unknown}).Draw(t, "marker")
	case 1:
		out.State = rapid.SampledFrom([]offsetmap.AssignmentState{offsetmap.Unassigned, offsetmap.FinishedOrUnassigned}).Draw(t, "state")
		if rapid.Bool().Draw(t, "has start") {
			out.Start = drawOffset(t, near)
		}
	default:
		out.Next = drawOffset(t, near)
		if rapid.Bool().Draw(t, "bounded") {
			out.Stop = drawOffset(t, near)
		}
	}
	return out
}

// drawInput draws an input with up to four partitions. The acceptances are what
// a person would copy from the findings of a first try.
func drawInput(t *rapid.T) offsetmap.Input {
	in := offsetmap.Input{
		Origin:    offsetmap.FromSavepoint,
		Isolation: rapid.SampledFrom([]offsetmap.Isolation{offsetmap.ReadUncommitted, offsetmap.ReadCommitted}).Draw(t, "isolation"),
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "partitions") {
		m := measured(fmt.Sprintf("orders-%d", i), drawRange(t))
		m.TargetEnd = next(rapid.Int64Range(0, math.MaxInt64).Draw(t, "target end"))
		if rapid.Bool().Draw(t, "has backup") {
			m.Backup = source(rapid.Int64Range(0, math.MaxInt64).Draw(t, "backup"))
		}
		in.Measured = append(in.Measured, m)
		if rapid.IntRange(0, 4).Draw(t, "named") > 0 {
			in.Positions = append(in.Positions, drawPosition(t, m.TopicPartition, m.Range))
		}
	}
	_, findings := offsetmap.Resolve(in)
	for _, f := range findings {
		if f.Severity == offsetmap.Block && rapid.IntRange(0, 3).Draw(t, "accept") > 0 {
			in.Acceptances = append(in.Acceptances, accept(f.Check, f.Scope))
		}
	}
	return in
}

// startsAt is where MirrorMaker 2 begins to read when Connect holds m
// (MirrorSourceTask.initializeConsumer, from 3.6.2 on): M + 1, or without a
// stored offset the log start, since the reset rule is earliest.
func startsAt(m offsetmap.SourceOffset, log offsetmap.Range) offsetmap.NextOffset {
	if m.IsNone() {
		return log.Start
	}
	return m.Next()
}

func TestMirrorMakerStartsAtEveryAcceptedC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		rows, findings := offsetmap.Resolve(in)
		if offsetmap.Blocked(findings) != nil {
			if rows != nil {
				t.Fatal("rows beside what blocks")
			}
			return
		}
		if len(rows) != len(in.Measured) {
			t.Fatalf("%d rows for %d partitions", len(rows), len(in.Measured))
		}
		for i, r := range rows {
			log := in.Measured[i].Range
			begin := startsAt(r.Write.Result(), log)
			if begin != r.Next {
				t.Fatalf("%s: C = %s, but MirrorMaker 2 starts at %s", r, r.Next, begin)
			}
			if begin.Compare(log.Start) < 0 || begin.Compare(log.End) > 0 {
				t.Fatalf("%s: C = %s lies outside %s to %s", r, r.Next, log.Start, log.End)
			}
			// Nothing between what the job had read and where copying begins.
			if r.Found != nil && !r.Found.Next.IsNone() {
				gap, _ := begin.Sub(r.Found.Next)
				if gap != r.Lost || gap < 0 {
					t.Fatalf("%s: the job stood at %s, copying begins at %s, lost is %d", r, r.Found.Next, begin, r.Lost)
				}
			} else if begin != log.Start && !log.Empty() {
				t.Fatalf("%s: nothing says that the job has read, but copying begins at %s in %s to %s", r, begin, log.Start, log.End)
			}
			if err := r.Validate(); err != nil {
				t.Fatal(err)
			}
			if found := r.Recheck(in.Measured[i]); len(found) > 0 {
				t.Fatalf("%s does not hold against the measurement that it is made of: %v", r, found)
			}
		}
	})
}

func TestWhatResolveAcceptsCanBeSealedWrittenAndRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		rows, _ := offsetmap.Resolve(in)
		if rows == nil {
			return
		}
		p, err := offsetmap.Seal(bodyOf(in))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := offsetmap.ReadPlan(bytes.NewReader(raw))
		if err != nil || back.Digest != p.Digest {
			t.Fatalf("read back: %v", err)
		}
		again, err := offsetmap.Seal(back.Body)
		if err != nil || again.Digest != p.Digest {
			t.Fatalf("sealed again: %v", err)
		}
		if n := negative(raw); n != "" {
			t.Fatalf("the plan holds the negative number %s", n)
		}
		stored := map[offsetmap.TopicPartition]offsetmap.SourceOffset{}
		now := map[offsetmap.TopicPartition]offsetmap.Measured{}
		for i, r := range p.Body.Rows {
			stored[r.TopicPartition] = r.Write.Result()
			now[r.TopicPartition] = in.Measured[i]
		}
		if d := p.Diff(stored); !d.Equal() {
			t.Fatalf("what the plan writes is not what it expects: %v", d.Only(offsetmap.AsBackup, offsetmap.Moved, offsetmap.Unplanned))
		}
		// Straight back, with nothing copied, is where the plan began.
		back2, findings := p.Reverse(offsetmap.Return{Stored: stored, Measured: now})
		if err := offsetmap.Blocked(findings); err != nil {
			t.Fatal(err)
		}
		for i, r := range back2 {
			if r.Next != p.Body.Rows[i].Next || r.Copied != 0 || r.Lost != 0 {
				t.Fatalf("%s goes back to %s, copied %d, lost %d; the plan began at %s", r.TopicPartition, r.Next, r.Copied, r.Lost, p.Body.Rows[i].Next)
			}
		}
	})
}

// TestOnTheWayBackEveryOffsetIsCopiedLostOrLeftToFlink: of what lay before
// MirrorMaker 2, Connect says that it was copied up to M, an acceptance says that
// it is lost, or Flink reads it.
func TestOnTheWayBackEveryOffsetIsCopiedLostOrLeftToFlink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		if rows, _ := offsetmap.Resolve(in); rows == nil {
			return
		}
		p, err := offsetmap.Seal(bodyOf(in))
		if err != nil {
			t.Fatal(err)
		}
		now := offsetmap.Return{Stored: offsetsOf{}, Measured: map[offsetmap.TopicPartition]offsetmap.Measured{}, Ends: map[offsetmap.TopicPartition]offsetmap.NextOffset{}}
		began := map[offsetmap.TopicPartition]offsetmap.NextOffset{}
		copied := func(m offsetmap.Measured, c, end int64, held offsetmap.SourceOffset) {
			if end > c && rapid.Bool().Draw(t, "copied") {
				held = source(rapid.Int64Range(c, end-1).Draw(t, "M"))
				m.TargetEnd = next(rapid.Int64Range(1, math.MaxInt64).Draw(t, "target end"))
				now.Ends[m.TopicPartition] = next(0)
			}
			start, _ := m.Range.Start.Value()
			m.Range = log(rapid.Int64Range(start, end).Draw(t, "start"), end)
			now.Stored[m.TopicPartition], now.Measured[m.TopicPartition], began[m.TopicPartition] = held, m, next(c)
		}
		for i, r := range p.Body.Rows {
			c, _ := r.Next.Value()
			end, _ := r.LogEnd.Value()
			copied(in.Measured[i], c, rapid.Int64Range(end, math.MaxInt64).Draw(t, "end"), r.Write.Result())
		}
		if rapid.Bool().Draw(t, "added") {
			copied(measured("orders-9", log(0, 0)), 0, rapid.Int64Range(0, math.MaxInt64).Draw(t, "end"), noSource)
		}
		rows, findings := p.Reverse(now)
		for _, f := range findings {
			if f.Check != "rollback/offset-expired" {
				t.Fatal(f)
			}
			now.Acceptances = append(now.Acceptances, accept(f.Check, f.Scope))
		}
		if len(findings) > 0 {
			rows, findings = p.Reverse(now)
		}
		if err := offsetmap.Blocked(findings); err != nil || len(rows) != len(now.Measured) {
			t.Fatalf("%d rows for %d partitions, %v", len(rows), len(now.Measured), err)
		}
		for _, r := range rows {
			log, c := now.Measured[r.TopicPartition].Range, began[r.TopicPartition]
			way, _ := r.Next.Sub(c)
			if way != r.Copied+r.Lost || r.Copied < 0 || r.Lost < 0 {
				t.Fatalf("%s: from C = %s to C' = %s, %d copied and %d lost", r, c, r.Next, r.Copied, r.Lost)
			}
			if n, _ := startsAt(r.Stored, offsetmap.Range{Start: c}).Sub(c); n != r.Copied {
				t.Fatalf("%s: Connect went from C = %s to M = %s, copied is %d", r, c, r.Stored, r.Copied)
			}
			if r.Lost > 0 && r.Next != log.Start || r.Next.Compare(log.Start) < 0 || r.Next.Compare(log.End) > 0 {
				t.Fatalf("%s: C' = %s with %d lost in %s to %s", r, r.Next, r.Lost, log.Start, log.End)
			}
		}
	})
}

// negative returns a number below 0 in a JSON text, or "".
func negative(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		if n, ok := token.(json.Number); ok && strings.HasPrefix(n.String(), "-") {
			return n.String()
		}
	}
}

func TestForEveryOffsetTheNextOfItsWriteIsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := next(rapid.OneOf(rapid.Int64Range(0, 3), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "C"))
		w, err := c.Write()
		if err != nil {
			t.Fatal(err)
		}
		if got := startsAt(w.Result(), log(0, math.MaxInt64)); got != c {
			t.Fatalf("C = %s is written as %s, from which MirrorMaker 2 starts at %s", c, w, got)
		}
		if w.Result().Restore() != w {
			t.Fatalf("%s is restored by %s", w, w.Result().Restore())
		}
	})
}
