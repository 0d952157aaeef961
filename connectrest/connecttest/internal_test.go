package connecttest

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestConfigDefTable(t *testing.T) {
	for _, v := range []string{"3.4.1", "3.5.1", "3.6.2", "3.7.2", "3.8.1", "3.9.2", "4.0.2", "4.1.2", "4.3.1"} {
		// The number of keys that GET config listed on a real worker.
		want := map[string]int{"3.4.1": 94, "3.5.1": 96, "3.6.2": 97, "3.7.2": 97, "3.8.1": 98, "3.9.2": 100, "4.0.2": 96, "4.1.2": 116, "4.3.1": 118}[v]
		version, err := parseVersion(v)
		if err != nil {
			t.Fatal(err)
		}
		names := make(map[string]bool)
		keys, err := version.configKeys()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if names[k.name] {
				t.Errorf("%s: key %s stands twice", v, k.name)
			}
			names[k.name] = true
		}
		if len(names) != want {
			t.Errorf("%s has %d keys, want %d", v, len(names), want)
		}
		for _, k := range keys {
			if k.fallback == nil {
				continue
			}
			if message, _ := k.parse(*k.fallback); message != "" && k.kind != "LIST" && !strings.Contains(message, "Class") {
				t.Errorf("%s: the default of %s is no %s: %s", v, k.name, k.kind, message)
			}
		}
	}
}

// Recorded from java.util.HashMap and Double.toString.
func TestJavaTexts(t *testing.T) {
	for want, m := range map[string]javaMap{
		"{cluster=source, partition=0, topic=orders}":                        {"topic": "orders", "partition": int64(0), "cluster": "source"},
		"{cluster=source, partition=1, x=1.5, topic=orders, y=true, z=null}": {"topic": "orders", "cluster": "source", "partition": int64(1), "x": 1.5, "y": true, "z": nil},
		"{}": {},
	} {
		if got := m.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for want, f := range map[string]float64{
		"0.0": 0, "5.0": 5, "1.5": 1.5, "-1.5": -1.5, "1000.0": 1e3, "9999999.0": 9999999, "1.0E7": 1e7,
		"1.23456789E7": 12345678.9, "0.001": 1e-3, "1.0E-5": 1e-5, "1.0E300": 1e300,
	} {
		if got := javaDouble(f); got != want {
			t.Errorf("%v = %s, want %s", f, got, want)
		}
	}
}

func TestReplicationPolicies(t *testing.T) {
	identity := replicationPolicy{identity: true, sourceAlias: "a", separator: ".", internalSeparator: "."}
	standard := identity
	standard.identity = false
	dash := standard
	dash.separator, dash.internalSeparator = "--", "--"
	old := standard
	old.allInternals = true
	for _, c := range []struct {
		name                   string
		policy                 replicationPolicy
		topic, remote          string
		source                 string
		cycle, heart, internal bool // of target b
	}{
		{"identity", identity, "orders", "orders", "a", false, false, false},
		{"identity keeps dots", identity, "b.orders", "b.orders", "a", false, false, false},
		{"identity renames heartbeats", identity, "heartbeats", "a.heartbeats", "", false, true, false},
		{"identity renames what ends so", identity, "device-heartbeats", "a.device-heartbeats", "", false, false, false},
		{"identity and a cycle of heartbeats", identity, "b.heartbeats", "a.b.heartbeats", "b", true, true, false},
		{"standard", standard, "orders", "a.orders", "", false, false, false},
		{"standard from the target", standard, "b.orders", "a.b.orders", "b", true, false, false},
		{"standard through a third", standard, "c.b.orders", "a.c.b.orders", "c", true, false, false},
		{"standard from a third", standard, "c.orders", "a.c.orders", "c", false, false, false},
		{"heartbeats of a third", standard, "c.heartbeats", "a.c.heartbeats", "c", false, true, false},
		{"trailing separator", standard, "b.", "a.b.", "", false, false, false},
		{"another separator", dash, "b--orders", "a--b--orders", "b", true, false, false},
		{"another separator leaves dots", dash, "b.orders", "a--b.orders", "", false, false, false},
		{"kafka's own", standard, "__consumer_offsets", "a.__consumer_offsets", "", false, false, true},
		{"leading dot", standard, ".hidden", "a..hidden", "", false, false, true},
		{"mirror maker's own", standard, "mm2-x.internal", "a.mm2-x.internal", "mm2-x", false, false, true},
		{"checkpoints", standard, "c.checkpoints.internal", "a.c.checkpoints.internal", "c", false, false, true},
		{"somebody's", standard, "pay.internal", "a.pay.internal", "pay", false, false, false},
		{"somebody's before 4.0", old, "pay.internal", "a.pay.internal", "pay", false, false, true},
		{"somebody's with a dash before 4.0", old, "pay-internal", "a.pay-internal", "", false, false, true},
	} {
		p := c.policy
		if got := p.remoteTopic(c.topic); got != c.remote {
			t.Errorf("%s: %s is named %s, want %s", c.name, c.topic, got, c.remote)
		}
		if got := p.topicSource(c.topic); got != c.source {
			t.Errorf("%s: source of %s = %q, want %q", c.name, c.topic, got, c.source)
		}
		if p.isCycle(c.topic, "b") != c.cycle || p.isHeartbeats(c.topic) != c.heart || p.isInternal(c.topic) != c.internal {
			t.Errorf("%s: %s cycle %t, heartbeats %t, internal %t", c.name, c.topic, p.isCycle(c.topic, "b"), p.isHeartbeats(c.topic), p.isInternal(c.topic))
		}
	}
	if !identity.isCycle("orders", "a") {
		t.Error("equal aliases: no cycle")
	}
}

func TestTopicFilter(t *testing.T) {
	for _, c := range []struct {
		include, exclude, topic string
		want                    bool
	}{
		{"orders", "", "orders", true},
		{"orders", "", "orders2", false},
		{"orders", "", "myorders", false},
		{"a.b", "", "axb", true},
		{`a\.b`, "", "axb", false},
		{" orders , payments ", "", "payments", true},
		{"^(orders|payments)$", "", "payments", true},
		{".*", "pay.*", "payments", false},
		{"", "", "orders", false},
		{".*", "", "orders", true},
		{`\Qa.b\E`, "", "a.b", true},
		{`\Qa.b\E`, "", "axb", false},
		{`\Qa{b\E{2}`, "", "a{b{b", false},
		{`\Qa.b`, "", "a.b", true},
		{"[]a]x", "", "]x", true},
		{`x\{1\}`, "", "x{1}", true},
		{"x{2,3}", "", "xx", false}, // the comma parts the list
		{"x{2}", "", "xx", true},
	} {
		f, err := newTopicFilter(c.include, c.exclude)
		if err != nil {
			if c.include == "x{2,3}" {
				continue
			}
			t.Errorf("%q: %v", c.include, err)
			continue
		}
		if got := f.replicates(c.topic); got != c.want {
			t.Errorf("topics=%q topics.exclude=%q: %s %t, want %t", c.include, c.exclude, c.topic, got, c.want)
		}
	}
	for pattern, want := range map[string]string{
		"[": "Unclosed character class", "(": "Unclosed group", ")": "Unmatched closing ')'", "*": "Dangling meta character '*'",
		"a{1": "Illegal repetition", "{": "Illegal repetition", "x{2,3}": "Illegal repetition",
		"(?!a).*": `Go's regular expressions, which lack "(?!"`, `(a)\1`: "lack", "a++": "lack", "[a&&b]": "lack",
	} {
		_, err := newTopicFilter(pattern, "")
		if err == nil || !strings.HasPrefix(err.Error(), "java.util.regex.PatternSyntaxException: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("topics=%s: %v, want %q", pattern, err, want)
		}
	}
}

// What a worker keeps is what Java calls the same key, however it was written.
func TestCanonicalKeys(t *testing.T) {
	same := []string{
		`{"cluster":"a","topic":"t","partition":1}`, `{"partition":1,"topic":"t","cluster":"a"}`,
	}
	different := []string{
		`{"cluster":"a","topic":"t","partition":2}`, `{"cluster":"a","topic":"t","partition":"1"}`, `{"cluster":"a","topic":"t","partition":1.0}`,
		`{"cluster":"a","topic":"t"}`, `{"cluster":"a","topic":"t","partition":1,"x":null}`, `{"cluster":"a","topic":"t","partition":true}`,
		`{"cluster":"a:string:\"x\",","topic":"t","partition":1}`, `{}`,
	}
	key := func(s string) string {
		v, err := version{4, 3, 1}.readJSON([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return v.(javaMap).canonical()
	}
	if key(same[0]) != key(same[1]) {
		t.Errorf("%q and %q differ", key(same[0]), key(same[1]))
	}
	seen := map[string]string{key(same[0]): same[0], javaMap(nil).canonical(): "null"}
	for _, s := range different {
		if o, ok := seen[key(s)]; ok {
			t.Errorf("%s and %s are the same key", s, o)
		}
		seen[key(s)] = s
	}
}

// Whatever a body holds, it is refused with an answer or read into entries that
// are written back as the same JSON.
func FuzzReadOffsets(f *testing.F) {
	for _, s := range []string{
		`{"offsets":[{"partition":{"cluster":"source","topic":"orders","partition":0},"offset":{"offset":5}}]}`,
		`{"offsets":[{"partition":null,"offset":null},{}]}`, `{"offsets":[null]}`, `{"offsets":{}}`, `[]`, `null`, ``, `x`,
		`{"offsets":[{"partition":{"a":1e999},"offset":{"offset":9223372036854775808}}]}`, `{"offsets":[{"offset":{"offset":-0,"x":1.50}}]} y`,
		`{"offsets":[{"partition":{"a":{"b":[1,2]}},"offset":3}]}`,
	} {
		f.Add([]byte(s))
	}
	v := version{4, 3, 1}
	f.Fuzz(func(t *testing.T, body []byte) {
		entries, err := v.readOffsets(body)
		if err != nil {
			if err.status < 400 || err.message == "" {
				t.Errorf("refused without saying why: %v", err)
			}
			return
		}
		for _, e := range entries {
			if validateFormat(e.partition) != nil || validateFormat(e.offset) != nil {
				continue
			}
			_ = e.checkMirrorSource()
			b := encodeJSON(offsetBody{e.partition, e.offset})
			if !json.Valid(b) {
				t.Errorf("%s is no JSON", b)
			}
			again, err := v.readOffsets([]byte(`{"offsets":[` + string(b) + `]}`))
			if err != nil || len(again) != 1 || again[0].partition.canonical() != e.partition.canonical() || again[0].offset.canonical() != e.offset.canonical() {
				t.Errorf("%s was read back as %v %v", b, again, err)
			}
		}
	})
}

func FuzzCompileList(f *testing.F) {
	for _, s := range []string{"orders", "a.b,c", "[", "a{1,2}", `\Qa\E`, `\Q`, "(?!x)", "[]a]", "x{", "a++", "|", ","} {
		f.Add(s, "orders")
	}
	f.Fuzz(func(t *testing.T, list, topic string) {
		p, err := compileList(list)
		if err != nil && p != nil {
			t.Error("a pattern and an error")
		}
		_ = p.matches(topic)
	})
}

// The store holds what a map would, and a stale read what it held before the
// last write.
func TestOffsetStoreIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newOffsetStore()
		model := map[int64]int64{}
		for range rapid.IntRange(1, 8).Draw(t, "writes") {
			before := maps.Clone(model)
			var entries []offsetEntry
			for range rapid.IntRange(1, 6).Draw(t, "entries") {
				p := rapid.Int64Range(0, 3).Draw(t, "partition")
				e := offsetEntry{wrapPartition("a", topicPartition{"t", int32(p)}), nil}
				if m := rapid.Int64Range(-1, 5).Draw(t, "m"); m >= 0 {
					e.offset = javaMap{"offset": m}
					model[p] = m
				} else {
					delete(model, p)
				}
				entries = append(entries, e)
			}
			s.write("c", entries)
			compare(t, "read", model, s.read("c"))
			compare(t, "stale", before, s.readStale("c"))
			short := s.readShort("c", 0)
			for _, e := range short {
				if p := e.partition["partition"].(int64); e.offset["offset"] != model[p] {
					t.Fatalf("short read shows %v, stored is %d", e, model[p])
				}
			}
			for p := range before {
				_, kept := model[p]
				if shown := contains(short, p); shown != kept {
					t.Fatalf("short read shows the known partition %d: %t, stored %t", p, shown, kept)
				}
			}
		}
	})
}

func contains(entries []offsetEntry, p int64) bool {
	for _, e := range entries {
		if e.partition["partition"] == p {
			return true
		}
	}
	return false
}

func compare(t *rapid.T, what string, model map[int64]int64, entries []offsetEntry) {
	if len(entries) != len(model) {
		t.Fatalf("%s: %v, want %v", what, entries, model)
	}
	for _, e := range entries {
		if m, ok := model[e.partition["partition"].(int64)]; !ok || e.offset["offset"] != m {
			t.Fatalf("%s: %v, want %v", what, entries, model)
		}
	}
}
