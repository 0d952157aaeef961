package preflight

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// pairCase is a migration of topics a and b, of one partition on both sides, whose
// settings are those given.
func pairCase(from, to map[string]Settings, config connectrest.Config) *Case {
	cluster := func(id string) Cluster {
		return Cluster{ClusterID: id, Topics: map[string]Topic{"a": {Name: "a", Partitions: []int32{0}}, "b": {Name: "b", Partitions: []int32{0}}}}
	}
	return &Case{
		policy: offsetmap.Known(policy{identity: true}),
		Facts: Facts{
			Topics: []string{"a", "b"}, Source: offsetmap.Known(cluster("s")), Target: offsetmap.Known(cluster("t")),
			Connector:    offsetmap.Known(connectrest.ConnectorInfo{Config: config}),
			Surroundings: &Surroundings{SourceConfigs: offsetmap.Known(from), TargetConfigs: offsetmap.Known(to)},
		},
	}
}

// judged runs a check on two topics with settings, each as pairs of a key and a value of
// the source and of the target.
func judged(check func(*Case, *Reporter), config connectrest.Config, a, b [][3]string) (lines []string) {
	from, to := map[string]Settings{}, map[string]Settings{}
	for topic, all := range map[string][][3]string{"a": a, "b": b} {
		from[topic], to[topic] = Settings{}, Settings{}
		for _, one := range all {
			from[topic][one[0]], to[topic][one[0]] = one[1], one[2]
		}
	}
	lines, _ = findings(func(r *Reporter) { check(pairCase(from, to, config), r) })
	return lines
}

// agree holds lines to what each has to contain.
func agree(t *testing.T, name string, got, want []string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		ok = ok && strings.Contains(got[i], want[i])
	}
	if !ok {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
}

func size(from, to string) [][3]string { return [][3]string{{keyMaxMessage, from, to}} }

// The largest batch of any topic is what the producer has to take.
func TestTheLargestTopicDecidesWhatTheProducerMustTake(t *testing.T) {
	const limit = defaultMaxRequest + logOverhead
	set := func(v string) connectrest.Config { return connectrest.Config{keyMaxRequest: v} }
	for name, c := range map[string]struct {
		config connectrest.Config
		a, b   [][3]string
		want   []string
	}{
		"equal":                     {nil, size("1000", "1000"), size("1000", "1000"), nil},
		"the target takes more":     {nil, size("1000", "1001"), size("1000", "1000"), nil},
		"the target takes less":     {nil, size("1000", "999"), size("1000", "1000"), []string{"block a max.message.bytes is 999, and a on the source takes batches of up to 1000"}},
		"as much as by default":     {nil, size("1048588", "1048588"), size("1", "1"), nil},
		"more than by default":      {nil, size("1048589", "1048589"), size("1", "1"), []string{"max.request.size is not set, and a on the source takes batches of up to 1048589"}},
		"the second topic":          {nil, size("1", "1"), size("1048589", "1048589"), []string{"and b on the source takes batches of up to 1048589"}},
		"of two the first is named": {nil, size("2000000", "2000000"), size("2000000", "2000000"), []string{"and a on the source"}},
		"set too low":               {set("1000"), size("1013", "1013"), size("1", "1"), []string{"max.request.size is 1000, and a on the source takes batches of up to 1013"}},
		"set enough":                {set("1000"), size("1012", "1012"), size("1", "1"), nil},
		"set to nothing":            {set("0"), size("12", "12"), size("1", "1"), nil},
		"set to no size":            {set("-1"), size("12", "12"), size("1", "1"), []string{`is "-1", which is no size`}},
		"set to no number":          {set("much"), size("12", "12"), size("1", "1"), []string{`is "much", which is no size`}},
		"a size that is not told":   {nil, size("x", "1000"), size("1000", "1000"), []string{"block a could not be checked: on the source: "}},
		"nor is the target's":       {nil, size("1000", "x"), size("1000", "1000"), []string{"block a could not be checked: "}},
	} {
		agree(t, name, judged(maxCheck(t), c.config, c.a, c.b), c.want)
	}
	if limit != 1048588 {
		t.Errorf("the limit is %d", limit)
	}
}

// maxCheck is the check as the catalogue makes it.
func maxCheck(t *testing.T) func(*Case, *Reporter) {
	t.Helper()
	for _, c := range Checks() {
		if c.ID == "target/max-message-bytes" {
			return c.Judge
		}
	}
	t.Fatal("no such check")
	return nil
}

func kept(policy, ms, bytes string) [3]string { return [3]string{policy, ms, bytes} }

// both are the settings of a topic on source and target that decide what is kept.
func both(from, to [3]string) [][3]string {
	return [][3]string{
		{keyCleanup, from[0], to[0]}, {keyRetention, from[1], to[1]}, {keyRetentionBytes, from[2], to[2]}, {keyTimestampType, "CreateTime", "LogAppendTime"},
	}
}

func TestWhatTheTargetDeletesIsHeldAgainstTheSource(t *testing.T) {
	for name, c := range map[string]struct {
		from, to  [3]string
		cleanup   []string
		retention []string
	}{
		"the same":                        {kept("delete", "1000", "50"), kept("delete", "1000", "50"), nil, nil},
		"longer":                          {kept("delete", "1000", "50"), kept("delete", "1001", "51"), nil, nil},
		"for ever":                        {kept("delete", "1000", "50"), kept("delete", "-1", "-1"), nil, nil},
		"both for ever":                   {kept("delete", "-1", "-1"), kept("delete", "-1", "-1"), nil, nil},
		"shorter":                         {kept("delete", "1000", "50"), kept("delete", "999", "50"), nil, []string{"retention.ms is 999; a on the source keeps records longer, by 1000"}},
		"less":                            {kept("delete", "1000", "50"), kept("delete", "1000", "49"), nil, []string{"retention.bytes is 49; a on the source keeps more, by 50"}},
		"shorter and less":                {kept("delete", "1000", "50"), kept("delete", "999", "49"), nil, []string{"retention.ms is 999 and retention.bytes is 49"}},
		"not for ever":                    {kept("delete", "-1", "-1"), kept("delete", "1000", "-1"), nil, []string{"retention.ms is 1000; a on the source keeps records longer, by -1"}},
		"nothing is kept there":           {kept("delete", "0", "0"), kept("delete", "5", "5"), nil, nil},
		"nothing is kept":                 {kept("delete", "0", "-1"), kept("delete", "0", "0"), nil, []string{"retention.bytes is 0; a"}},
		"compacted, the target is not":    {kept("compact", "-1", "-1"), kept("delete", "1000", "-1"), []string{`warn a cleanup.policy is "delete" with retention.ms 1000`}, nil},
		"compacted, deleted at once":      {kept("compact", "-1", "-1"), kept("delete", "0", "-1"), []string{"with retention.ms 0 and"}, nil},
		"compacted, deleted by size":      {kept("compact", "-1", "-1"), kept("delete", "-1", "0"), []string{"and retention.bytes 0, and"}, nil},
		"compacted, the target keeps all": {kept("compact", "-1", "-1"), kept("delete", "-1", "-1"), nil, nil},
		"compacted there alone":           {kept("delete", "-1", "-1"), kept("compact", "-1", "-1"), []string{"block a cleanup.policy is \"compact\", and \"delete\" for a"}, nil},
	} {
		same := both(kept("delete", "-1", "-1"), kept("delete", "-1", "-1"))
		agree(t, name+", cleanup", judged(eachPair(cleanupPolicies), nil, both(c.from, c.to), same), c.cleanup)
		if len(c.cleanup) == 0 {
			agree(t, name+", retention", judged(eachPair(targetRetention), nil, both(c.from, c.to), same), c.retention)
		}
	}
}

// What is not known of a topic on one side is said for that topic alone.
func TestAPairThatLacksASideIsNotJudged(t *testing.T) {
	judge := eachPair(func(_ *Case, _ *Surroundings, p pair, r *Reporter) error {
		r.Warn(p.scope(), "judged")
		return nil
	})
	whole := func() *Case {
		return pairCase(map[string]Settings{"a": {}, "b": {}}, map[string]Settings{"a": {}, "b": {}}, nil)
	}
	at := func(f offsetmap.Fact[Cluster], change func(map[string]Topic)) {
		c, _ := f.Get()
		change(c.Topics)
	}
	for name, c := range map[string]struct {
		change func(*Case)
		want   []string
	}{
		"whole":           {func(*Case) {}, []string{"warn a judged", "warn b judged"}},
		"no target topic": {func(c *Case) { at(c.Facts.Target, func(m map[string]Topic) { delete(m, "a") }) }, []string{"warn b judged"}},
		"a target topic that was not told": {func(c *Case) {
			at(c.Facts.Target, func(m map[string]Topic) { m["a"] = Topic{Name: "a", Err: kerr.TopicAuthorizationFailed} })
		}, []string{"warn b judged"}},
		"no source topic": {func(c *Case) { at(c.Facts.Source, func(m map[string]Topic) { delete(m, "a") }) }, []string{"warn b judged"}},
		"a source topic that was not told": {func(c *Case) {
			at(c.Facts.Source, func(m map[string]Topic) { m["a"] = Topic{Name: "a", Err: kerr.TopicAuthorizationFailed} })
		}, []string{"warn b judged"}},
		"settings of the source alone": {func(c *Case) { delete(must(c.Facts.Surroundings.TargetConfigs), "a") }, []string{"block a could not be checked", "warn b judged"}},
		"settings of the target alone": {func(c *Case) { delete(must(c.Facts.Surroundings.SourceConfigs), "a") }, []string{"block a could not be checked", "warn b judged"}},
	} {
		kase := whole()
		c.change(kase)
		got, _ := findings(func(r *Reporter) { judge(kase, r) })
		agree(t, name, got, c.want)
	}
}

func must[T any](f offsetmap.Fact[T]) T {
	v, _ := f.Get()
	return v
}

func TestPartitionsAreCountedWhereBothSidesAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		target Topic
		want   []string
	}{
		"equal":    {Topic{Name: "a", Partitions: []int32{0}}, nil},
		"more":     {Topic{Name: "a", Partitions: []int32{0, 1, 2}}, []string{"a has 3 partitions, a on the source has 1: nothing would be copied to the last 2"}},
		"fewer":    {Topic{Name: "a"}, []string{"a has 0 partitions, a on the source has 1: MirrorMaker 2 would add 1 to it"}},
		"missing":  {Topic{}, nil},
		"not told": {Topic{Name: "a", Err: kerr.TopicAuthorizationFailed}, nil},
	} {
		kase := pairCase(nil, nil, nil)
		must(kase.Facts.Target).Topics["a"] = c.target
		got, _ := findings(func(r *Reporter) { partitionCount(kase, r) })
		agree(t, name, got, c.want)
	}
}

// What lies in remote storage alone is counted from C on.
func TestOffsetsInRemoteStorageAloneAreCounted(t *testing.T) {
	local := func(v int64) fresh.Listed { return fresh.Listed{Offset: offset(t, v)} }
	for name, c := range map[string]struct {
		local map[offsetmap.TopicPartition]fresh.Listed
		want  []string
	}{
		"all are local":        {map[offsetmap.TopicPartition]fresh.Listed{partition("a", 0): local(5), partition("a", 1): local(0)}, nil},
		"one is below":         {map[offsetmap.TopicPartition]fresh.Listed{partition("a", 0): local(6), partition("a", 1): local(7)}, []string{"info a C lies below the log on the leader's disk, by 1 offsets in all, which are read from remote storage: a-0"}},
		"two are":              {map[offsetmap.TopicPartition]fresh.Listed{partition("a", 0): local(8), partition("a", 1): local(9)}, []string{"by 5 offsets in all, which are read from remote storage: a-0, a-1"}},
		"one was not told":     {map[offsetmap.TopicPartition]fresh.Listed{partition("a", 0): local(5)}, []string{"info a-1 remote.storage.enable is true, and where the log on the leader's disk begins is not known"}},
		"one was told as none": {map[offsetmap.TopicPartition]fresh.Listed{partition("a", 0): local(-1), partition("a", 1): local(7)}, []string{"info a-0 remote.storage.enable is true, and where"}},
	} {
		kase := pairCase(map[string]Settings{"a": {keyRemote: "true"}, "b": {}}, nil, nil)
		whole := offsetmap.Range{Start: offset(t, 0), End: offset(t, 20)}
		kase.Facts.Ranges = map[offsetmap.TopicPartition]offsetmap.Range{partition("a", 0): whole, partition("a", 1): whole}
		kase.Question.Positions = []offsetmap.Position{{TopicPartition: partition("a", 0), Next: offset(t, 5)}, {TopicPartition: partition("a", 1), Next: offset(t, 7)}}
		kase.Facts.Surroundings.localStarts = c.local
		got, _ := findings(func(r *Reporter) { tiered(kase, kase.Facts.Surroundings, r) })
		agree(t, name, got, c.want)
	}
}

// A timestamp at the beginning of 1970 is one, and kadm's -1 says that there is no record.
func TestARecordFromTheFutureIsReportedByItsOffset(t *testing.T) {
	at := place{partition("a", 0), offset(t, 5), offsetmap.Range{}}
	for name, c := range map[string]struct {
		first fresh.Listed
		want  []string
	}{
		"none is as late": {fresh.Listed{Offset: offset(t, 9), Timestamp: -1}, nil},
		"of 1970":         {fresh.Listed{Offset: offset(t, 9), Timestamp: 0}, []string{"block a-0 the source's record 9 has the timestamp 1970-01-01T00:00:00Z"}},
		"at C":            {fresh.Listed{Offset: offset(t, 5), Timestamp: 1}, []string{"the source's record 5 has the timestamp"}},
		"before C":        {fresh.Listed{Offset: offset(t, 4), Timestamp: 1}, []string{"the source's record 4, before C = 5, has the timestamp"}},
		"it was not told": {fresh.Listed{}, []string{"could not be checked: the age of its records was not measured"}},
	} {
		ages := recordAges{7: {byTopic: map[string][]fresh.Listed{"a": {c.first}}}}
		got, _ := findings(func(r *Reporter) { reportFuture(ages, at, 7, 3600_000, "a-0", r) })
		agree(t, name, got, c.want)
	}
}

func TestCompressionIsComparedWhereItIsKnown(t *testing.T) {
	codec := func(of string) [][3]string { return [][3]string{{keyCompression, "x", of}} }
	set := func(of string) connectrest.Config { return connectrest.Config{keyProducerCodec: of} }
	for name, c := range map[string]struct {
		config connectrest.Config
		a      [][3]string
		want   []string
	}{
		"as the producer":     {nil, codec("producer"), nil},
		"equal":               {set("lz4"), codec("lz4"), nil},
		"another":             {set("lz4"), codec("zstd"), []string{"info a"}},
		"none by default":     {nil, codec("uncompressed"), nil},
		"not told":            {nil, nil, []string{"block a could not be checked"}},
		"a provider's matter": {set("${file:/a:b}"), codec("zstd"), []string{"what its config provider says"}},
	} {
		agree(t, name, judged(eachPair(compression), c.config, c.a, codec("producer")), c.want)
	}
	kase := pairCase(map[string]Settings{"a": {keyMaxMessage: "2000000"}, "b": {keyMaxMessage: "1"}}, map[string]Settings{"a": {keyMaxMessage: "2000000"}, "b": {keyMaxMessage: "1"}}, nil)
	kase.Facts.Connector = offsetmap.NotKnown[connectrest.ConnectorInfo](errNoAge)
	if got, _ := findings(func(r *Reporter) { maxCheck(t)(kase, r) }); len(got) != 0 {
		t.Errorf("a producer of which nothing is known is too small: %q", got)
	}
}

// Brokers are asked about the moments that a check needs, and no others.
func TestMomentsAreThoseThatTheSettingsAskAbout(t *testing.T) {
	now := time.UnixMilli(1_000_000_000)
	source := func(policy, ms string) Settings {
		return Settings{keyCleanup: policy, keyRetention: ms, keyRetentionBytes: "-1"}
	}
	for name, c := range map[string]struct {
		settings Settings
		want     int
	}{
		"deletes": {source("delete", "1000"), len(margins)}, "compacts": {source("compact", "1000"), 0}, "keeps for ever": {source("delete", "-1"), 0}, "not told": {Settings{}, 0},
	} {
		wanted := moments{}
		if retentionMoments(now, "a", c.settings, wanted); len(wanted) != c.want {
			t.Errorf("%s: %d moments, want %d", name, len(wanted), c.want)
		}
	}
	limits := source("delete", "1000")
	limits[keyTimestampBefore], limits[keyTimestampAfter] = "2000", "3000"
	wanted := moments{}
	if limitMoments(now, "a", limits, wanted); len(wanted) != 3 {
		t.Errorf("%d moments of limits, want 3: %v", len(wanted), wanted)
	}
	limits[keyTimestampAfter] = "x"
	wanted = moments{}
	if limitMoments(now, "a", limits, wanted); len(wanted) != 1 {
		t.Errorf("%d moments where the limits cannot be read, want that of the retention: %v", len(wanted), wanted)
	}
}

func TestADeadlineListsTheFirstReasonsWhyItMayBeSooner(t *testing.T) {
	for n, want := range map[int]string{5: "1; 2; 3; 4; 5", 6: "1; 2; 3; 4; 5; and 1 more"} {
		var d deadlines
		for i := range n {
			d.unknown(errors.New(strconv.Itoa(i + 1)))
		}
		if err := d.fact().Err(); err == nil || err.Error() != want {
			t.Errorf("of %d: %v, want %s", n, err, want)
		}
	}
}

func TestWhatSizeTakesAtAMomentIsTakenWithinItsSpan(t *testing.T) {
	for name, c := range map[string]struct {
		of           sizeLeft
		soon, within string
	}{
		"at its end":  {sizeLeft{ends: true, left: time.Hour, text: "a"}, "a within 1h0m0s", " within 1h0m0s"},
		"behind it":   {sizeLeft{ends: true, left: time.Hour + 1, text: "a"}, "", " within 1h0m0s"},
		"at once":     {sizeLeft{ends: true, text: "a"}, "a", ""},
		"never":       {sizeLeft{text: "a"}, "", ""},
		"not by then": {sizeLeft{left: time.Minute, text: "a"}, "", ""},
	} {
		if soon, within := c.of.soon(time.Hour), c.of.within(); soon != c.soon || within != c.within {
			t.Errorf("%s: %q and %q", name, soon, within)
		}
	}
}
