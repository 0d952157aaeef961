package offsetmap_test

import (
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// planOf seals a plan over orders-0 (C = 1000), orders-1 (C = 0, a clear) and
// orders-2 (C = 1), with what Connect held before.
func planOf(t testing.TB, backups ...offsetmap.SourceOffset) *offsetmap.Plan {
	t.Helper()
	in := offsetmap.Input{
		Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadUncommitted,
		Positions: []offsetmap.Position{at("orders-0", 1000), at("orders-1", 0), at("orders-2", 1)},
		Measured:  []offsetmap.Measured{measured("orders-0", log(900, 2000)), measured("orders-1", log(0, 50)), measured("orders-2", log(0, 50))},
	}
	for i, b := range backups {
		in.Measured[i].Backup = b
	}
	return seal(t, bodyOf(in))
}

type offsetsOf = map[offsetmap.TopicPartition]offsetmap.SourceOffset

func TestDiff(t *testing.T) {
	type standing struct {
		partition string
		standing  offsetmap.Standing
	}
	for _, c := range []struct {
		name    string
		backups []offsetmap.SourceOffset
		stored  offsetsOf
		want    []standing
		equal   bool
	}{
		{
			"nothing stored", nil, nil,
			[]standing{{"orders-0", offsetmap.AsBackup}, {"orders-1", offsetmap.AsPlanned}, {"orders-2", offsetmap.AsBackup}},
			false,
		},
		{
			"as planned", nil,
			offsetsOf{tp("orders-0"): source(999), tp("orders-2"): source(0)},
			[]standing{{"orders-0", offsetmap.AsPlanned}, {"orders-1", offsetmap.AsPlanned}, {"orders-2", offsetmap.AsPlanned}},
			true,
		},
		{
			"a tombstone is absent", nil,
			offsetsOf{tp("orders-0"): source(999), tp("orders-1"): noSource, tp("orders-2"): source(0), tp("orders-9"): noSource},
			[]standing{{"orders-0", offsetmap.AsPlanned}, {"orders-1", offsetmap.AsPlanned}, {"orders-2", offsetmap.AsPlanned}},
			true,
		},
		{
			"none is not 0", nil,
			offsetsOf{tp("orders-0"): source(999), tp("orders-1"): source(0)},
			[]standing{{"orders-0", offsetmap.AsPlanned}, {"orders-1", offsetmap.Moved}, {"orders-2", offsetmap.AsBackup}},
			false,
		},
		{
			"as the backup",
			[]offsetmap.SourceOffset{source(5), source(6), source(7)},
			offsetsOf{tp("orders-0"): source(5), tp("orders-1"): source(6), tp("orders-2"): source(7)},
			[]standing{{"orders-0", offsetmap.AsBackup}, {"orders-1", offsetmap.AsBackup}, {"orders-2", offsetmap.AsBackup}},
			false,
		},
		{
			"the backup is the plan",
			[]offsetmap.SourceOffset{source(999), noSource, source(0)},
			offsetsOf{tp("orders-0"): source(999), tp("orders-2"): source(0)},
			[]standing{{"orders-0", offsetmap.AsPlanned}, {"orders-1", offsetmap.AsPlanned}, {"orders-2", offsetmap.AsPlanned}},
			true,
		},
		{
			"cleared since",
			[]offsetmap.SourceOffset{source(5), source(6), source(7)},
			nil,
			[]standing{{"orders-0", offsetmap.Moved}, {"orders-1", offsetmap.AsPlanned}, {"orders-2", offsetmap.Moved}},
			false,
		},
		{
			"off by one", nil,
			offsetsOf{tp("orders-0"): source(1000), tp("orders-2"): source(1)},
			[]standing{{"orders-0", offsetmap.Moved}, {"orders-1", offsetmap.AsPlanned}, {"orders-2", offsetmap.Moved}},
			false,
		},
		{
			"unplanned", nil,
			offsetsOf{tp("orders-0"): source(999), tp("orders-2"): source(0), tp("orders-10"): source(0), tp("Orders-0"): source(4)},
			[]standing{{"Orders-0", offsetmap.Unplanned}, {"orders-0", offsetmap.AsPlanned}, {"orders-1", offsetmap.AsPlanned}, {"orders-2", offsetmap.AsPlanned}, {"orders-10", offsetmap.Unplanned}},
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := planOf(t, c.backups...)
			size := len(c.stored)
			d := p.Diff(c.stored)
			var got []standing
			for i, r := range d.Rows {
				got = append(got, standing{r.TopicPartition.String(), r.Standing})
				if r.Stored != c.stored[r.TopicPartition] {
					t.Errorf("row %d says that %s is stored", i, r.Stored)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("got %v, want %v", got[i], c.want[i])
				}
			}
			if d.Equal() != c.equal {
				t.Errorf("equal is %t", d.Equal())
			}
			if len(c.stored) != size {
				t.Error("the map was changed")
			}
		})
	}
}

func TestDiffLeavesEarlierWavesAlone(t *testing.T) {
	b := planOf(t).Body
	cleared := wave("pay-3", "pay-4")
	cleared.Partitions[0].Offset, cleared.Partitions[1].Offset = noSource, noSource
	higher := wave("orders-0", "pay-0", "pay-1", "pay-5")
	higher.Partitions[0].Offset, higher.Partitions[3].Offset = source(5000), source(12)
	b.Earlier = []offsetmap.EarlierPlan{wave("pay-0", "pay-1", "pay-2", "pay-5"), higher, wave("pay-5"), cleared}
	d := seal(t, b).Diff(offsetsOf{
		tp("orders-0"): source(999), // this plan's own again, whatever a wave before wrote
		tp("orders-2"): source(0),
		tp("pay-0"):    source(9),  // as written
		tp("pay-1"):    source(8),  // set back
		tp("pay-3"):    source(70), // cleared, copied since
		tp("pay-5"):    source(11), // above two waves, below one
		tp("pay-6"):    source(7),
	})
	var got []string
	for _, r := range d.Rows[3:] {
		got = append(got, r.String())
	}
	diff(t, []string{
		"pay-1: stored 8, by an earlier plan it had come to 9: it was set back, and records would be copied again",
		"pay-2: stored none, by an earlier plan it had come to 9: it was set back, and records would be copied again",
		"pay-5: stored 11, by an earlier plan it had come to 12: it was set back, and records would be copied again",
		"pay-6: stored 7, but no plan covers the partition",
	}, got)
	for i, want := range []offsetmap.Standing{
		offsetmap.AsPlanned, offsetmap.AsPlanned, offsetmap.AsPlanned, offsetmap.Rewound, offsetmap.Rewound, offsetmap.Rewound, offsetmap.Unplanned,
	} {
		if d.Rows[i].Standing != want {
			t.Errorf("%s is %s, want %s", d.Rows[i].TopicPartition, d.Rows[i].Standing, want)
		}
	}
	if d.Equal() {
		t.Error("what was set back is as planned")
	}
	b.Earlier = []offsetmap.EarlierPlan{wave("pay-0")}
	kept := offsetsOf{tp("orders-0"): source(999), tp("orders-2"): source(0), tp("pay-0"): source(100)}
	if d := seal(t, b).Diff(kept); !d.Equal() || len(d.Rows) != 3 {
		t.Errorf("an earlier wave that has gone on is held against the plan: %v", d.Rows)
	}
	kept[tp("pay-0")] = source(8)
	if d := seal(t, b).Diff(kept); d.Equal() {
		t.Error("an earlier wave that was set back alone is as planned")
	}
}

// TestAnEarlierWaveLeavesNothingForAddedPartitions: orders-7 was deleted with
// its topic since an earlier wave wrote its offset. A partition that is added
// as orders-7 would be copied from there on.
func TestAnEarlierWaveLeavesNothingForAddedPartitions(t *testing.T) {
	b := planOf(t).Body
	b.Earlier = []offsetmap.EarlierPlan{wave("orders-7", "orders-8")}
	var got []string
	for _, r := range seal(t, b).Diff(offsetsOf{tp("orders-0"): source(999), tp("orders-2"): source(0), tp("orders-7"): source(9)}).Rows[3:] {
		got = append(got, string(r.Standing)+" "+r.TopicPartition.String())
	}
	diff(t, []string{"unplanned orders-7"}, got)
}

// TestALaterPlanFindsThatTheWaveBeforeWasSetBack goes the way that a plan goes
// in the hands of its makers.
func TestALaterPlanFindsThatTheWaveBeforeWasSetBack(t *testing.T) {
	b := bodyOf(offsetmap.Input{
		Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadUncommitted,
		Positions: []offsetmap.Position{at("pay-0", 5)}, Measured: []offsetmap.Measured{measured("pay-0", log(0, 9))},
	})
	b.Earlier = []offsetmap.EarlierPlan{planOf(t).AsEarlier(nil)}
	later, err := read(encode(t, seal(t, b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		orders0, orders1, orders2 offsetmap.SourceOffset
		want                      []string
	}{
		{source(999), noSource, source(0), nil},
		{source(5000), source(7), source(3), nil},
		{source(998), noSource, source(0), []string{"orders-0"}},
		{noSource, source(0), noSource, []string{"orders-0", "orders-2"}},
	} {
		d := later.Diff(offsetsOf{tp("orders-0"): c.orders0, tp("orders-1"): c.orders1, tp("orders-2"): c.orders2, tp("pay-0"): source(4)})
		var got []string
		for _, r := range d.Only(offsetmap.Rewound) {
			got = append(got, r.TopicPartition.String())
		}
		diff(t, c.want, got)
		if d.Equal() != (c.want == nil) || len(d.Rows) != 1+len(c.want) {
			t.Errorf("equal is %t with %v", d.Equal(), d.Rows)
		}
	}
}

func TestPlanAsEarlierNamesWhatItWrote(t *testing.T) {
	p := planOf(t)
	diff(t, offsetmap.EarlierPlan{Digest: p.Digest, Partitions: []offsetmap.EarlierPartition{
		{TopicPartition: tp("orders-0"), Offset: source(999)},
		{TopicPartition: tp("orders-1"), Offset: noSource},
		{TopicPartition: tp("orders-2"), Offset: source(0)},
	}}, p.AsEarlier(nil))
}

// A wave has copied for months when the next one is planned. Where it stands then is what
// is held, and not what was written at its beginning; and so are the partitions that its
// topics have got since.
func TestALaterPlanHoldsTheWaveBeforeToWhereItHadCome(t *testing.T) {
	p := planOf(t)
	stood := offsetsOf{
		tp("orders-0"): source(5000), tp("orders-1"): source(7), tp("orders-2"): noSource, tp("orders-3"): source(11), tp("pay-0"): source(4),
	}
	earlier := p.AsEarlier(stood)
	diff(t, offsetmap.EarlierPlan{Digest: p.Digest, Partitions: []offsetmap.EarlierPartition{
		{TopicPartition: tp("orders-0"), Offset: source(5000)},
		{TopicPartition: tp("orders-1"), Offset: source(7)},
		{TopicPartition: tp("orders-2"), Offset: source(0)}, // cleared by hand, so below what was written
		{TopicPartition: tp("orders-3"), Offset: source(11)},
	}}, earlier)
	b := bodyOf(offsetmap.Input{
		Origin: offsetmap.FromSavepoint, Isolation: offsetmap.ReadUncommitted,
		Positions: []offsetmap.Position{at("pay-0", 5)}, Measured: []offsetmap.Measured{measured("pay-0", log(0, 9))},
	})
	b.Earlier = []offsetmap.EarlierPlan{earlier}
	later := seal(t, b)
	for _, c := range []struct {
		orders0, orders3 offsetmap.SourceOffset
		want             string
	}{
		{source(5000), source(11), ""},
		{source(5001), source(12), ""},
		{source(999), source(11), "orders-0: stored 999, by an earlier plan it had come to 5000: it was set back, and records would be copied again"},
		{source(5000), noSource, "orders-3: stored none, by an earlier plan it had come to 11: it was set back, and records would be copied again"},
	} {
		var rows []string
		for _, r := range later.Diff(offsetsOf{tp("orders-0"): c.orders0, tp("orders-1"): source(7), tp("orders-2"): source(0), tp("orders-3"): c.orders3, tp("pay-0"): source(4)}).Only(offsetmap.Rewound, offsetmap.Unplanned) {
			rows = append(rows, r.String())
		}
		if got := strings.Join(rows, "; "); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.orders0, c.orders3, got, c.want)
		}
	}
	if p.AsEarlier(nil).Partitions[0].Offset != source(999) {
		t.Error("naming a plan has changed what it wrote")
	}
}

func TestDiffRowSaysRewindOrSkip(t *testing.T) {
	p := planOf(t, source(5))
	for _, c := range []struct {
		stored offsetsOf
		row    int
		want   string
	}{
		{offsetsOf{tp("orders-0"): source(999)}, 0, "orders-0: stored 999, planned 999, at the time of the plan 5"},
		{offsetsOf{tp("orders-0"): source(1000)}, 0, "orders-0: stored 1000, planned 999, at the time of the plan 5: writing the plan would go back and copy records again"},
		{offsetsOf{tp("orders-0"): source(998)}, 0, "orders-0: stored 998, planned 999, at the time of the plan 5: writing the plan would skip records"},
		{offsetsOf{tp("orders-0"): source(5)}, 0, "orders-0: stored 5, planned 999, at the time of the plan 5: writing the plan would skip records"},
		{offsetsOf{}, 0, "orders-0: stored none, planned 999, at the time of the plan 5"},
		{offsetsOf{tp("orders-1"): source(0)}, 1, "orders-1: stored 0, planned none, at the time of the plan none: writing the plan would go back and copy records again"},
		{offsetsOf{tp("orders-3"): source(8)}, 3, "orders-3: stored 8, but no plan covers the partition"},
	} {
		if got := p.Diff(c.stored).Rows[c.row].String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestOnlyKeepsTheOrder(t *testing.T) {
	d := planOf(t).Diff(offsetsOf{tp("orders-0"): source(999), tp("orders-9"): source(1)})
	var got []string
	for _, r := range d.Only(offsetmap.Unplanned, offsetmap.AsBackup) {
		got = append(got, r.TopicPartition.String())
	}
	diff(t, []string{"orders-2", "orders-9"}, got)
	if d.Only() != nil {
		t.Errorf("got %v", d.Only())
	}
}
