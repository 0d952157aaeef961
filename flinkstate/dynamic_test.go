package flinkstate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func dynamicSplit(cluster, topic string, partition int, start int64) []byte {
	return put(1, sized(cluster, 0, topic, partition, start, int64(noStop)))
}

// dynamicState is what a DynamicKafkaSource's enumerator stores of one stream.
func dynamicState(inner int, states ...[]byte) []byte {
	o := new(out).put(1, "stream", 2, "east", 2, "orders", "orders", "east-1:9092,east-2:9092", "west", 1, "orders", "west-1:9092", inner, len(states))
	for _, s := range states {
		o.put(s)
	}
	return enumerator(1, o.Bytes())
}

// assignedIn is the state of one cluster, version 2 of a KafkaSource's enumerator.
func assignedIn(cluster string, discovered int8, partitions ...int) []byte {
	o := new(out).put(len(partitions))
	for _, p := range partitions {
		o.put("orders", p, 0)
	}
	return put(cluster, sized(o.Bytes(), discovered))
}

func inCluster(cluster string, p int32, at func(*offsetmap.Position)) offsetmap.Position {
	pos := position("orders", p)
	pos.Cluster = cluster
	at(&pos)
	return pos
}

// Each partition says of which cluster it is. The same topic and number in two
// clusters are two partitions.
func TestDynamicSourceKeepsClustersApart(t *testing.T) {
	c := dynamicState(2, assignedIn("east", 1, 0, 1), assignedIn("west", 1, 0, 2))
	snap := read(t, oneSource(t, c,
		reader(dynamicSplit("west", "orders", 0, 9), dynamicSplit("east", "orders", 1, -2)),
		reader(dynamicSplit("east", "orders", 0, 5))))
	nine, five := next(t, 9), next(t, 5)
	want := flinkstate.Source{
		OperatorID: testSource, Kind: flinkstate.DynamicKafkaSource, Parallelism: 2, Discovery: flinkstate.DiscoveryFinished,
		Clusters: []flinkstate.Cluster{
			{ID: "east", BootstrapServers: []string{"east-1:9092,east-2:9092"}, Topics: []string{"orders"}},
			{ID: "west", BootstrapServers: []string{"west-1:9092"}, Topics: []string{"orders"}},
		},
		Partitions: []offsetmap.Position{
			inCluster("east", 0, func(p *offsetmap.Position) { p.Next = five }),
			inCluster("west", 0, func(p *offsetmap.Position) { p.Next = nine }),
			inCluster("east", 1, func(p *offsetmap.Position) { p.Unread = offsetmap.Earliest }),
			inCluster("west", 2, func(p *offsetmap.Position) { p.State = offsetmap.FinishedOrUnassigned }),
		},
	}
	if d := gocmp.Diff([]flinkstate.Source{want}, snap.Sources, offsets); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if c := codes(snap.Warnings); !slices.Equal(c, []flinkstate.WarningCode{flinkstate.SeveralClusters, flinkstate.SplitsFinished}) {
		t.Errorf("warnings %v", c)
	}
	if !flinkstate.SeveralClusters.Unfit() {
		t.Error("several clusters do not keep from planning")
	}
}

// The id of a cluster is any string; it is the same in splits and enumerator.
func TestClusterIDsAreDecoded(t *testing.T) {
	const id, encoded = "東\x00\U0001f600", "\xe6\x9d\xb1\xc0\x80\xed\xa0\xbd\xed\xb8\x80"
	streams := put(1, "stream", 1, encoded, 1, "orders", "b:9092")
	snap := read(t, oneSource(t, enumerator(1, streams, 2, 1, encoded, sized(1, "orders", 0, 0, int8(1))), reader(dynamicSplit(encoded, "orders", 0, 5))))
	src := snap.Sources[0]
	if len(src.Partitions) != 1 || src.Partitions[0].Cluster != id || len(src.Clusters) != 1 || src.Clusters[0].ID != id {
		t.Errorf("got %+v", src)
	}
}

// A plan is of one cluster, which is chosen by name.
func TestInClusterTakesOneCluster(t *testing.T) {
	j := oneSource(t, dynamicState(2, assignedIn("east", 1, 0), assignedIn("west", 1, 0)),
		reader(dynamicSplit("west", "orders", 0, 9), dynamicSplit("east", "orders", 0, 5)))
	k := oneSource(t, nil, reader(dynamicSplit("west", "orders", 0, 7)))
	k.operators[0].id = otherID
	j.operators = append(j.operators, k.operators...)
	snap := read(t, j)
	if c := codes(snap.Warnings); !slices.Contains(c, flinkstate.PartitionsShared) {
		t.Errorf("both read orders-0 of west: warnings %v", c)
	}
	east, err := snap.InCluster("east")
	if err != nil {
		t.Fatal(err)
	}
	if c := codes(east.Warnings); len(c) != 1 || c[0] != flinkstate.EnumeratorMissing {
		t.Errorf("east: warnings %v", c)
	}
	src, err := east.Source("")
	if err != nil {
		t.Fatal(err)
	}
	if got := listed(src.Partitions); !slices.Equal(got, []string{"orders-0@5"}) || len(src.Clusters) != 1 || src.Clusters[0].ID != "east" {
		t.Errorf("east: %v of %v", got, src.Clusters)
	}
	if _, err := east.Source(otherID); !errors.Is(err, flinkstate.ErrSelector) || !strings.Contains(err.Error(), `without partitions of cluster "east"`) {
		t.Errorf("the source of west alone, chosen in east: %v", err)
	}
	west, err := snap.InCluster("west")
	if err != nil {
		t.Fatal(err)
	}
	if c := codes(west.Warnings); len(west.Sources) != 2 || !slices.Contains(c, flinkstate.PartitionsShared) || slices.Contains(c, flinkstate.SeveralClusters) {
		t.Errorf("west: %d sources, warnings %v", len(west.Sources), c)
	}
	if len(snap.Sources[0].Partitions)+len(snap.Sources[1].Partitions) != 3 || !slices.Contains(codes(snap.Warnings), flinkstate.SeveralClusters) {
		t.Errorf("the snapshot itself has changed: %+v", snap)
	}
	_, err = snap.InCluster("north")
	for _, want := range []string{`"north"`, `"east"`, `"west"`} {
		if !errors.Is(err, flinkstate.ErrSelector) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %s: %v", want, err)
		}
	}
	kafka := read(t, oneSource(t, nil, reader(split("orders", 0, 5, noStop))))
	if _, err := kafka.InCluster("east"); !errors.Is(err, flinkstate.ErrSelector) {
		t.Errorf("without a DynamicKafkaSource: %v", err)
	}
}

// Partitions of differently named clusters are not shared; one whose cluster the
// state does not say may be.
func TestSharedPartitionsLookAtClusters(t *testing.T) {
	for name, tt := range map[string]struct {
		other  []byte
		shared bool
	}{
		"the same cluster":  {dynamicSplit("east", "orders", 0, 7), true},
		"another cluster":   {dynamicSplit("west", "orders", 0, 7), false},
		"a KafkaSource":     {split("orders", 0, 7, noStop), true},
		"another partition": {split("orders", 1, 7, noStop), false},
	} {
		j := oneSource(t, nil, reader(dynamicSplit("east", "orders", 0, 5)))
		k := oneSource(t, nil, reader(tt.other))
		k.operators[0].id = otherID
		j.operators = append(j.operators, k.operators...)
		if got := slices.Contains(codes(read(t, j).Warnings), flinkstate.PartitionsShared); got != tt.shared {
			t.Errorf("%s: shared %v, want %v", name, got, tt.shared)
		}
	}
}

func TestDynamicEnumeratorForms(t *testing.T) {
	held := reader(dynamicSplit("east", "orders", 0, 5))
	streams := put(1, "stream", 1, "east", 1, "orders", "east-1:9092")
	withInitializers := put(streams, int8(1), sized([]byte("java")), int8(0))
	east := func(state ...any) []byte { return put("east", sized(state...)) }
	for _, tt := range []struct {
		name        string
		coordinator []byte
		want        []string
		discovery   flinkstate.Discovery
		err         string
	}{
		{"connector 3.1", enumerator(1, streams, 1, 1, east(1, "orders", 0)), []string{"orders-0@5"}, flinkstate.DiscoveryUnknown, ""},
		{"connector 3.4", enumerator(1, streams, 2, 1, east(1, "orders", 0, 0, int8(0))), []string{"orders-0@5"}, flinkstate.DiscoveryUnfinished, ""},
		{"connector 5", enumerator(2, withInitializers, 3, 1, east(1, 0, sized("orders", 1, int64(3), int64(noStop)), 1, int8(1))), []string{"orders-0@5", "orders-1@none"}, flinkstate.DiscoveryFinished, ""},
		{"one cluster of two not discovered", enumerator(1, streams, 2, 2, east(0, int8(1)), put("west", sized(0, int8(0)))), []string{"orders-0@5"}, flinkstate.DiscoveryUnfinished, ""},
		{"the next version", enumerator(3, withInitializers, 3, 0), nil, "", "state version 3"},
		{"of a KafkaSource", assigned("orders", 0), nil, "", "another kind of source"},
		{"a flag that is neither", enumerator(2, streams, int8(2), int8(0), 3, 0), nil, "", "neither 0 nor 1"},
		{"cut off", enumerator(1, streams, 2, 1, put("east", 40)), nil, "", "40"},
		{"bytes behind the end", enumerator(1, streams, 2, 1, east(0, int8(1)), int8(0)), nil, "", "follow"},
		{"bytes behind a cluster's state", enumerator(1, streams, 2, 1, east(0, int8(1), int8(0))), nil, "", "follow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := oneSource(t, tt.coordinator, held)
			if tt.err != "" {
				err := readErr(t, j)
				if !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), testSource) {
					t.Errorf("got %v, want an error with %q", err, tt.err)
				}
				return
			}
			src := read(t, j).Sources[0]
			if got := listed(src.Partitions); !slices.Equal(got, tt.want) || src.Discovery != tt.discovery {
				t.Errorf("got %v, discovery %s; want %v, %s", got, src.Discovery, tt.want, tt.discovery)
			}
		})
	}
}

// A source is of one kind.
func TestSplitsOfTwoKindsInOneOperatorAreCorrupt(t *testing.T) {
	dynamic, plain := dynamicSplit("east", "orders", 0, 5), split("orders", 1, 5, noStop)
	foreign := put(1, sized("17", int64(3), int64(99)))
	for name, splits := range map[string][][]byte{
		"dynamic first": {dynamic, plain}, "plain first": {plain, dynamic},
		"another source's behind dynamic": {dynamic, foreign}, "another source's first": {foreign, dynamic},
	} {
		if err := readErr(t, oneSource(t, nil, reader(splits...))); !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), testSource) {
			t.Errorf("%s: got %v, want an ErrCorrupt", name, err)
		}
	}
	twice := reader(dynamic, dynamicSplit("east", "orders", 0, 5))
	if err := readErr(t, oneSource(t, nil, twice)); !errors.Is(err, flinkstate.ErrCorrupt) || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a partition twice: got %v", err)
	}
}

// Without a partition there is nothing to plan, and that is said of what the
// operator is.
func TestDynamicSourceWithoutPartitions(t *testing.T) {
	err := readErr(t, oneSource(t, dynamicState(2), reader()))
	if !errors.Is(err, flinkstate.ErrNoPosition) || !strings.Contains(err.Error(), "DynamicKafkaSource whose readers and enumerator name no partition") {
		t.Errorf("got %v", err)
	}
	src := read(t, oneSource(t, dynamicState(2, assignedIn("east", 1, 3)), reader())).Sources[0]
	if src.Kind != flinkstate.DynamicKafkaSource || len(src.Partitions) != 1 || src.Partitions[0].State != offsetmap.FinishedOrUnassigned || src.Partitions[0].Cluster != "east" {
		t.Errorf("known to the enumerator alone: %+v", src)
	}
}
