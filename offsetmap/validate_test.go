package offsetmap_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// TestSealRefuses changes one thing of a good body at a time.
func TestSealRefuses(t *testing.T) {
	const accepted = "needs an acceptance of "
	drop := func(check string) func(*offsetmap.Body) {
		return func(b *offsetmap.Body) {
			var kept []offsetmap.Finding
			for _, f := range b.Findings {
				if f.Check != check {
					kept = append(kept, f)
				}
			}
			b.Findings = kept
		}
	}
	find := func(b *offsetmap.Body, check string) *offsetmap.Finding {
		for i := range b.Findings {
			if b.Findings[i].Check == check {
				return &b.Findings[i]
			}
		}
		panic(check)
	}
	earlier := func(digest string, partitions ...string) func(*offsetmap.Body) {
		return func(b *offsetmap.Body) {
			e := offsetmap.EarlierPlan{Digest: digest}
			for _, p := range partitions {
				e.Partitions = append(e.Partitions, offsetmap.EarlierPartition{TopicPartition: tp(p)})
			}
			b.Earlier = append(b.Earlier, e)
		}
	}
	hash := "sha256:" + strings.Repeat("0a", 32)
	for name, c := range map[string]struct {
		change func(*offsetmap.Body)
		want   string
	}{
		"no tool":                   {func(b *offsetmap.Body) { b.Tool.Name = " " }, "body.tool.name: empty"},
		"no tool version":           {func(b *offsetmap.Body) { b.Tool.Version = "" }, "body.tool.version: empty"},
		"no source":                 {func(b *offsetmap.Body) { b.Source.ID = "" }, "body.source.id: empty"},
		"no target":                 {func(b *offsetmap.Body) { b.Target.ID, b.Worker.ProducerClusterID = "", "" }, "body.target.id: empty"},
		"target is the source":      {func(b *offsetmap.Body) { b.Source.ID = b.Target.ID }, "body.target.id: the same cluster"},
		"no connector":              {func(b *offsetmap.Body) { b.Connector.Name = "" }, "body.connector.name: empty"},
		"no alias":                  {func(b *offsetmap.Body) { b.Connector.SourceAlias = "" }, "body.connector.sourceAlias: empty"},
		"no config digest":          {func(b *offsetmap.Body) { b.Connector.Config = "" }, `body.connector.configDigest: "" is not a digest`},
		"digest in capitals":        {func(b *offsetmap.Body) { b.Connector.Config = strings.ToUpper(hash) }, "is not a digest"},
		"digest too long":           {func(b *offsetmap.Body) { b.Connector.Config = hash + "0" }, "is not a digest"},
		"an illegal active topic":   {func(b *offsetmap.Body) { b.Connector.ActiveTopics[1] = "" }, "body.connector.activeTopics[1]: not a legal topic name"},
		"active topics not sorted":  {func(b *offsetmap.Body) { b.Connector.ActiveTopics[1] = "a" }, "body.connector.activeTopics[1]: a after orders: not sorted"},
		"an active topic twice":     {func(b *offsetmap.Body) { b.Connector.ActiveTopics[1] = "orders" }, "body.connector.activeTopics[1]: orders after orders: not sorted, or twice"},
		"no worker version":         {func(b *offsetmap.Body) { b.Worker.Version = "" }, "body.worker.version: empty"},
		"another producer cluster":  {func(b *offsetmap.Body) { b.Worker.ProducerClusterID = "x" }, `body.worker.producerClusterId: the data producer reaches cluster "x"`},
		"commit not UTF-8":          {func(b *offsetmap.Body) { b.Worker.Commit = "\xff" }, "body.worker.commit: "},
		"worker cluster not UTF-8":  {func(b *offsetmap.Body) { b.Worker.ClusterID = "\xff" }, "body.worker.clusterId: "},
		"plugin not UTF-8":          {func(b *offsetmap.Body) { b.Worker.PluginVersion = "\xff" }, "body.worker.pluginVersion: "},
		"connector name not UTF-8":  {func(b *offsetmap.Body) { b.Connector.Name = "a\xff" }, "body.connector.name: "},
		"no creation time":          {func(b *offsetmap.Body) { b.CreatedAt = offsetmap.Time{} }, "body.createdAt: 0001-01-01T00:00:00Z is not"},
		"made before Kafka's epoch": {func(b *offsetmap.Body) { b.CreatedAt = offsetmap.At(time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC)) }, "body.createdAt: "},
		"expires when made":         {func(b *offsetmap.Body) { b.ExpiresAt = b.CreatedAt }, "body.expiresAt: "},
		"expires within the second": {func(b *offsetmap.Body) { b.ExpiresAt.Time = b.CreatedAt.Add(999 * time.Millisecond) }, "body.expiresAt: "},
		"expires after year 9999":   {func(b *offsetmap.Body) { b.ExpiresAt = offsetmap.At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)) }, "body.expiresAt: "},
		"no evidence":               {func(b *offsetmap.Body) { b.Savepoint, b.Group = nil, nil }, "body.savepoint: neither a savepoint nor a group"},
		"no group id":               {func(b *offsetmap.Body) { b.Group.ID = "" }, "body.group.id: empty"},
		"no location":               {func(b *offsetmap.Body) { b.Savepoint.Location = "" }, "body.savepoint.location: empty"},
		"no operator":               {func(b *offsetmap.Body) { b.Savepoint.OperatorID = "" }, "body.savepoint.operatorId: empty"},
		"uid not UTF-8":             {func(b *offsetmap.Body) { b.Savepoint.UID = "\xff" }, "body.savepoint.uid: "},
		"negative checkpoint":       {func(b *offsetmap.Body) { b.Savepoint.CheckpointID = -1 }, "checkpoint id -1 is negative"},
		"negative version":          {func(b *offsetmap.Body) { b.Savepoint.MetadataVersion = -1 }, "metadata version -1"},
		"no file":                   {func(b *offsetmap.Body) { b.Savepoint.Files = nil }, "body.savepoint.files: no file"},
		"file without a name":       {func(b *offsetmap.Body) { b.Savepoint.Files[0].Name = "" }, "body.savepoint.files[0].name: empty"},
		"file without a hash":       {func(b *offsetmap.Body) { b.Savepoint.Files[0].SHA256 = "sha256:" }, "body.savepoint.files[0].sha256: "},
		"no attestations":           {func(b *offsetmap.Body) { b.Attestations = offsetmap.Attestations{} }, "body.attestations: attest/copy-only: not attested"},
		"a sink without guarantee":  {func(b *offsetmap.Body) { b.Attestations.SinkGuarantee.Value = offsetmap.SinkNone }, "body.attestations: attest/sink-none: "},
		"a sink without guarantee answered, another attestation not": {func(b *offsetmap.Body) {
			b.Attestations.SinkGuarantee.Value, b.Attestations.CopyOnly = offsetmap.SinkNone, nil
			b.Findings = append(b.Findings, offsetmap.Finding{Check: offsetmap.CheckSinkNone, Severity: offsetmap.Warn, Acceptable: offsetmap.Never})
		}, "body.attestations: attest/copy-only: "},
		"negative duplicates":       {func(b *offsetmap.Body) { b.Attestations.MaxDuplicates = attested(int64(-5)) }, "body.attestations: attest/max-duplicates: "},
		"no isolation":              {func(b *offsetmap.Body) { b.Isolation = "" }, `body.isolation: "" is not one of`},
		"isolation not as attested": {func(b *offsetmap.Body) { b.Isolation = offsetmap.ReadCommitted }, `body.isolation: "read_committed", attested is "read_uncommitted"`},
		"committed above stable": {func(b *offsetmap.Body) {
			b.Isolation, b.Attestations.Isolation.Value = offsetmap.ReadCommitted, offsetmap.ReadCommitted
		}, "which a read_committed job cannot have passed"},
		"group plan, no checkpointing": {func(b *offsetmap.Body) { b.Savepoint = nil }, "body.attestations: attest/checkpointing: "},
		"group plan, savepoint rows":   {func(b *offsetmap.Body) { b.Savepoint, b.Attestations.Checkpointing = nil, attested("1m") }, `origin "savepoint", the plan is made from the group`},
		"savepoint plan, group row": {func(b *offsetmap.Body) {
			b.Rows[2].Origin = offsetmap.FromGroup // orders-1, whose group holds 0 as well
		}, `body.rows[2] (orders-1): origin "group", the plan is made from the savepoint`},
		"acceptance without a name":    {func(b *offsetmap.Body) { b.Acceptances[0].By = "" }, "body.acceptances[0]: by is empty"},
		"acceptance without a reason":  {func(b *offsetmap.Body) { b.Acceptances[0].Reason = "\t" }, "body.acceptances[0]: reason is empty"},
		"acceptance without a check":   {func(b *offsetmap.Body) { b.Acceptances[0].Check = "" }, "body.acceptances[0]: check is empty"},
		"acceptance not UTF-8":         {func(b *offsetmap.Body) { b.Acceptances[0].Reason = "\xff" }, "body.acceptances[0]: "},
		"acceptance in halves":         {func(b *offsetmap.Body) { b.Acceptances[4].Reason, b.Acceptances[4].By = "x\xc3", "\xa9y" }, "body.acceptances[4]: "},
		"acceptance in other halves":   {func(b *offsetmap.Body) { b.Acceptances[4].Scope, b.Acceptances[4].By = "x\xc3", "\xa9y" }, "body.acceptances[4]: "},
		"finding in halves":            {func(b *offsetmap.Body) { b.Findings[0].Scope, b.Findings[0].Detail = "x\xc3", "\xa9y" }, "is not UTF-8"},
		"a finding that blocks":        {func(b *offsetmap.Body) { b.Findings[0].Severity = offsetmap.Block }, "blocks, and was not accepted"},
		"a finding of no severity":     {func(b *offsetmap.Body) { b.Findings[0].Severity = "" }, ".severity: "},
		"a finding of no check":        {func(b *offsetmap.Body) { b.Findings[0].Check = "" }, ".check: empty"},
		"a finding not UTF-8":          {func(b *offsetmap.Body) { b.Findings[0].Detail = "\xff" }, "is not UTF-8"},
		"a finding not acceptable":     {func(b *offsetmap.Body) { b.Findings[0].Acceptable = "" }, ".acceptable: "},
		"a check that was not made":    {func(b *offsetmap.Body) { b.Findings[0].Unmade = true }, "could not be made, and that was not accepted"},
		"accepted by nobody here":      {func(b *offsetmap.Body) { b.Acceptances = b.Acceptances[1:] }, `no acceptance of the plan lets source/unread-earliest for "orders-4" through`},
		"accepted by somebody else":    {func(b *offsetmap.Body) { find(b, "source/position-missing").Accepted.By = "bo" }, "no acceptance of the plan lets source/position-missing"},
		"accepted as information":      {func(b *offsetmap.Body) { find(b, "source/position-missing").Severity = offsetmap.Info }, "no acceptance of the plan lets source/position-missing"},
		"accepted what never can be":   {func(b *offsetmap.Body) { find(b, "source/position-missing").Acceptable = offsetmap.Never }, "no acceptance of the plan lets source/position-missing"},
		"loss without its finding":     {drop("source/offset-expired"), accepted + `source/offset-expired for "orders-6:200"`},
		"unread without its finding":   {drop("source/unread-earliest"), accepted + `source/unread-earliest for "orders-4"`},
		"unnamed without its finding":  {drop("source/position-missing"), accepted + `source/position-missing for "orders-5"`},
		"unstable without its finding": {drop("source/offset-above-stable"), accepted + `source/offset-above-stable for "orders-7"`},
		"loss accepted by nobody":      {func(b *offsetmap.Body) { find(b, "source/offset-expired").Accepted = nil }, accepted + "source/offset-expired"},
		"another loss accepted": {func(b *offsetmap.Body) {
			b.Acceptances[2].Scope = "orders-6:199"
			f := find(b, "source/offset-expired")
			f.Scope, f.Accepted = "orders-6:199", &b.Acceptances[2]
		}, accepted + `source/offset-expired for "orders-6:200"`},
		"no rows":                    {func(b *offsetmap.Body) { b.Rows = nil }, "body.rows: no partition"},
		"a partition twice":          {func(b *offsetmap.Body) { b.Rows[3] = b.Rows[2] }, "body.rows[3]: partition orders-1 stands twice"},
		"not sorted":                 {func(b *offsetmap.Body) { b.Rows[2], b.Rows[3] = b.Rows[3], b.Rows[2] }, "body.rows[3]: not sorted by topic and partition: orders-1 after orders-2"},
		"a row that does not follow": {func(b *offsetmap.Body) { b.Rows[1].Next = next(1) }, "body.rows[1] (orders-0): "},
		"two ids of a topic":         {func(b *offsetmap.Body) { b.Rows[4].TopicID = offsetmap.TopicID{5} }, "body.rows[4] (orders-3): topic id"},
		"two targets of a topic":     {func(b *offsetmap.Body) { b.Rows[4].TargetTopic = "x" }, "body.rows[4] (orders-3): target topic"},
		"one target of two topics":   {func(b *offsetmap.Body) { b.Rows[0].TargetTopic = "orders" }, `is also that of source topic "ledger.eu_v1"`},
		"earlier plan, no digest":    {earlier("", "a-0"), "body.earlier[0].digest: "},
		"earlier plan, twice":        {earlier(hash, "a-0", "a-0"), "body.earlier[0].partitions[1]: partition a-0 stands twice"},
		"earlier plan, not sorted":   {earlier(hash, "a-10", "a-9"), "body.earlier[0].partitions[1]: not sorted"},
		"earlier plan, negative": {func(b *offsetmap.Body) {
			b.Earlier = []offsetmap.EarlierPlan{{Digest: hash, Partitions: []offsetmap.EarlierPartition{{TopicPartition: offsetmap.TopicPartition{Topic: "a", Partition: -1}}}}}
		}, "body.earlier[0].partitions[0]: topic a: partition -1 is negative"},
	} {
		t.Run(name, func(t *testing.T) {
			b := bodyOf(everyRule())
			c.change(&b)
			p, err := offsetmap.Seal(b)
			if !errors.Is(err, offsetmap.ErrPlan) || p != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestSealListsEveryProblem(t *testing.T) {
	_, err := offsetmap.Seal(offsetmap.Body{})
	for _, want := range []string{"tool.name", "source.id", "connector.configDigest", "createdAt", "savepoint", "attest/isolation", "rows"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in %v", want, err)
		}
	}
}

func TestSealTakesWhatIsAnswered(t *testing.T) {
	b := bodyOf(everyRule())
	b.Attestations.SinkGuarantee.Value = offsetmap.SinkNone
	b.Findings = append(b.Findings, offsetmap.Finding{
		Check: offsetmap.CheckSinkNone, Severity: offsetmap.Warn, Acceptable: offsetmap.Never,
		Detail: "the record before C was found on the target for 9 of 9 partitions",
	})
	b.Attestations.Checkpointing, b.Attestations.RollbackWindow, b.Attestations.MaxDuplicates = attested("10s"), attested("72h"), attested(int64(1000))
	b.Earlier = []offsetmap.EarlierPlan{wave("a-9", "a-10"), {Digest: goldenDigest}}
	b.Acceptances = append(b.Acceptances, accept("flink/not-asked", "*"))
	b.Findings = append(b.Findings, b.Findings[0], offsetmap.Finding{
		Check: "flink/not-asked", Severity: offsetmap.Warn, Acceptable: offsetmap.ByScope, Unmade: true, Accepted: &b.Acceptances[len(b.Acceptances)-1],
	})
	b.Savepoint.CheckpointID, b.Savepoint.MetadataVersion = 0, 0
	b.CreatedAt = offsetmap.At(time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC))
	b.ExpiresAt = offsetmap.At(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC))
	seal(t, b)
}

func TestSealTakesAPlanFromAGroup(t *testing.T) {
	m := measured("orders-0", log(0, 9))
	m.Group = next(4)
	p := seal(t, bodyOf(offsetmap.Input{
		Origin: offsetmap.FromGroup, Isolation: offsetmap.ReadCommitted,
		Positions: []offsetmap.Position{at("orders-0", 4)}, Measured: []offsetmap.Measured{m},
	}))
	if p.Body.Savepoint != nil || p.Body.Rows[0].Origin != offsetmap.FromGroup {
		t.Errorf("got %+v", p.Body)
	}
}

// TestSealKeepsTheCallersListsApart: a sealed plan must not change under its
// digest when the caller goes on with its own slices, nor the other way round.
func TestSealKeepsTheCallersListsApart(t *testing.T) {
	b := bodyOf(everyRule())
	b.Earlier = []offsetmap.EarlierPlan{wave("a-0")}
	b.Findings[0], b.Findings[1] = b.Findings[1], b.Findings[0]
	first := b.Findings[0].Check
	p := seal(t, b)
	before := string(encode(t, p))
	if b.Findings[0].Check != first {
		t.Error("the caller's findings were sorted")
	}
	b.Rows[0].Lost = 7
	b.Findings[0].Detail = "x"
	b.Acceptances[0].By = "x"
	b.Earlier[0].Digest, b.Earlier[0].Partitions[0].Topic = "x", "x"
	b.Savepoint.Location, b.Savepoint.Files[0].Name = "x", "x"
	b.Connector.ActiveTopics[0] = "x"
	diff(t, before, string(encode(t, p)))
}

func TestEqualBodiesHaveEqualDigests(t *testing.T) {
	a, b := bodyOf(everyRule()), bodyOf(everyRule())
	b.Findings[2], b.Findings[4] = b.Findings[4], b.Findings[2]
	b.CreatedAt.Time = b.CreatedAt.Add(time.Millisecond).In(time.FixedZone("x", 3600))
	b.Earlier = []offsetmap.EarlierPlan{}
	if x, y := seal(t, a).Digest, seal(t, b).Digest; x != y {
		t.Errorf("%s and %s", x, y)
	}
}

// TestNoActiveTopicsAreNotUntracked: a worker that tracks them and has none
// says something, one that does not track them says nothing.
func TestNoActiveTopicsAreNotUntracked(t *testing.T) {
	tracked, untracked := planOf(t).Body, planOf(t).Body
	tracked.Connector.ActiveTopics, untracked.Connector.ActiveTopics = []string{}, nil
	a, b := seal(t, tracked), seal(t, untracked)
	if a.Digest == b.Digest {
		t.Error("both have the same digest")
	}
	for p, isNil := range map[*offsetmap.Plan]bool{a: false, b: true} {
		back, err := read(encode(t, p))
		if err != nil || (back.Body.Connector.ActiveTopics == nil) != isNil {
			t.Errorf("read back %#v, %v", back, err)
		}
	}
}

func TestCheckFindsWhatWasChangedInMemory(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*offsetmap.Plan)
		want   error
	}{
		"nothing":            {func(*offsetmap.Plan) {}, nil},
		"another target end": {func(p *offsetmap.Plan) { p.Body.Rows[1].TargetEnd = next(91) }, offsetmap.ErrEdited},
		"another digest":     {func(p *offsetmap.Plan) { p.Digest = goldenDigest[:70] + "z" }, offsetmap.ErrEdited},
		"a broken rule":      {func(p *offsetmap.Plan) { p.Body.Rows[1].Write = noSource.Restore() }, offsetmap.ErrEdited},
		"no write":           {func(p *offsetmap.Plan) { p.Body.Rows[1].Write = offsetmap.Write{} }, offsetmap.ErrPlan},
		"another version":    {func(p *offsetmap.Plan) { p.APIVersion = "flinkmm2/v2" }, offsetmap.ErrPlan},
		"another kind":       {func(p *offsetmap.Plan) { p.Kind = "Proof" }, offsetmap.ErrPlan},
		"the zero plan":      {func(p *offsetmap.Plan) { *p = offsetmap.Plan{} }, offsetmap.ErrPlan},
		"a broken rule, sealed by hand": {func(p *offsetmap.Plan) {
			p.Body.Rows[1].Lost = 1
			digest, err := offsetmap.Digest(marshal(t, p.Body))
			if err != nil {
				t.Fatal(err)
			}
			p.Digest = digest
		}, offsetmap.ErrPlan},
	} {
		p := seal(t, bodyOf(everyRule()))
		c.change(p)
		if err := p.Check(); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if err := (*offsetmap.Plan)(nil).Check(); !errors.Is(err, offsetmap.ErrPlan) {
		t.Errorf("no plan: got %v", err)
	}
	p := seal(t, bodyOf(everyRule()))
	p.Body.Rows[1].Write = offsetmap.Write{}
	if err := p.Check(); errors.Is(err, offsetmap.ErrEdited) || !strings.Contains(err.Error(), "row orders-0: ") {
		t.Errorf("a row without a digest: got %v", err)
	}
}

// TestCheckFindsEveryChange changes each value that a plan holds, one at a time.
func TestCheckFindsEveryChange(t *testing.T) {
	b := bodyOf(everyRule())
	b.Earlier = []offsetmap.EarlierPlan{wave("a-0")}
	b.Attestations.Checkpointing, b.Attestations.MaxDuplicates = attested("1m"), attested(int64(3))
	p := seal(t, b)
	changes := 0
	changed := func(place string, v, other reflect.Value) {
		t.Helper()
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		v.Set(other)
		if err := p.Check(); !errors.Is(err, offsetmap.ErrPlan) && !errors.Is(err, offsetmap.ErrEdited) {
			t.Errorf("%s = %v: got %v", place, other, err)
		}
		v.Set(old)
		changes++
	}
	var walk func(place string, v reflect.Value)
	walk = func(place string, v reflect.Value) {
		set := func(values ...any) {
			t.Helper()
			for _, x := range values {
				if other := reflect.ValueOf(x).Convert(v.Type()); other.Interface() != v.Interface() {
					changed(place, v, other)
				}
			}
		}
		switch x := v.Interface().(type) {
		case offsetmap.NextOffset:
			set(none, next(0), next(77))
			return
		case offsetmap.SourceOffset:
			set(noSource, source(0), source(77))
			return
		case offsetmap.Write:
			set(offsetmap.Write{}, noSource.Restore(), source(77).Restore())
			return
		case offsetmap.TopicID:
			set(offsetmap.TopicID{}, offsetmap.TopicID{77})
			return
		case offsetmap.Time:
			set(offsetmap.Time{}, offsetmap.Time{Time: x.Add(time.Second)}, offsetmap.Time{Time: x.Add(time.Millisecond)})
			return
		}
		switch v.Kind() {
		case reflect.String:
			set(v.String()+"x", "", "\xff")
		case reflect.Bool:
			set(!v.Bool())
		case reflect.Int, reflect.Int32, reflect.Int64:
			set(v.Int()+1, v.Int()-1)
		case reflect.Uint8:
			set(v.Uint()+1, v.Uint()-1)
		case reflect.Pointer:
			if v.IsNil() {
				changed(place, v, reflect.New(v.Type().Elem()))
				return
			}
			changed(place, v, reflect.Zero(v.Type()))
			walk(place, v.Elem())
		case reflect.Slice:
			if v.Len() > 0 {
				changed(place, v, v.Slice(1, v.Len()))
				changed(place, v, reflect.Append(v.Slice3(0, v.Len(), v.Len()), v.Index(0)))
			}
			changed(place, v, reflect.Zero(v.Type()))
			for i := range v.Len() {
				walk(fmt.Sprintf("%s[%d]", place, i), v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(place+"."+v.Type().Field(i).Name, v.Field(i))
			}
		default:
			t.Fatalf("%s is a %s", place, v.Kind())
		}
	}
	walk("plan", reflect.ValueOf(p).Elem())
	if err := p.Check(); err != nil || changes < 400 {
		t.Errorf("after %d changes that were taken back: %v", changes, err)
	}
}

func TestAnExpiredPlanSaysWhatHasShortenedItsLife(t *testing.T) {
	for check, want := range map[string]string{
		"plan/lifetime":    " (orders-0: its records go first); make a new one",
		"source/retention": "Z; make a new one",
	} {
		body := bodyOf(everyRule())
		body.Findings = append(body.Findings, offsetmap.Finding{Check: check, Severity: offsetmap.Info, Scope: "orders-0", Detail: "its records go first", Acceptable: offsetmap.Never})
		p := seal(t, body)
		if err := p.CheckExpiry(p.Body.ExpiresAt.Time); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("with %s: %v", check, err)
		}
	}
}

func TestCheckExpiry(t *testing.T) {
	p := seal(t, bodyOf(everyRule()))
	end := p.Body.ExpiresAt.Time
	if err := p.CheckExpiry(end.Add(-time.Nanosecond)); err != nil {
		t.Error(err)
	}
	made := p.Body.CreatedAt.Time
	if err := p.CheckExpiry(made.Add(-5 * time.Minute)); err != nil {
		t.Errorf("a clock that is a little behind: %v", err)
	}
	if err := p.CheckExpiry(made.Add(-5*time.Minute - time.Nanosecond)); !errors.Is(err, offsetmap.ErrExpired) || !strings.Contains(err.Error(), "one of the two clocks is wrong") {
		t.Errorf("a clock that is far behind: %v", err)
	}
	for _, now := range []time.Time{end, end.Add(time.Hour), end.In(time.FixedZone("x", -7200))} {
		err := p.CheckExpiry(now)
		if !errors.Is(err, offsetmap.ErrExpired) || !strings.Contains(err.Error(), p.Digest) || !strings.Contains(err.Error(), "2026-03-02T12:00:00Z") {
			t.Errorf("at %s: %v", now, err)
		}
	}
}
