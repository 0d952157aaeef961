package mirrordef

import (
	"strings"
	"testing"
)

func TestSourceIsReadStrictly(t *testing.T) {
	good := strings.Split(strings.TrimSpace(sourceTable), "\n")
	for _, bad := range []string{
		"too\tfew",
		strings.Replace(good[1], "\t1\t", "\tone\t", 1),
		strings.Replace(good[1], "\t-\t-\tnull", "\t3.x\t-\tnull", 1),
		strings.Replace(good[1], "\t-\t-\tnull", "\t-\t4\tnull", 1),
	} {
		if _, err := parseSource(good[0] + "\n" + bad); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q was read, or the error names no line: %v", bad, err)
		}
	}
}

func TestNamesAreReadStrictly(t *testing.T) {
	for _, bad := range []string{"consumer\tgroup.id\t-", "broker\tport\t-\t-", "consumer\tgroup.id\t3\t-", "consumer\tx\t-\t-\nconsumer\tx\t-\t-"} {
		if _, err := parseNames("definition\tname\tsince\tuntil\n" + bad); err == nil || !strings.Contains(err.Error(), "keys.tsv line ") {
			t.Errorf("%q was read, or the error names no line: %v", bad, err)
		}
	}
}

func TestAKeyIsThereFromItsFirstVersionToBeforeTheOneThatRemovedIt(t *testing.T) {
	all, err := Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of   Definition
		name string
		at   Version
		want bool
	}{
		{Consumer, "isolation.level", Version{3, 5, 1}, true},
		{Consumer, "group.protocol", Version{3, 6, 2}, false},
		{Consumer, "group.protocol", Version{3, 7, 0}, true},
		{Consumer, "auto.include.jmx.reporter", Version{3, 9, 9}, true},
		{Consumer, "auto.include.jmx.reporter", Version{4, 0, 0}, false},
		{Checkpoint, "sync.group.offsets.enabled", Version{4, 3, 1}, true},
		{Heartbeat, "emit.heartbeats.interval.seconds", Version{4, 3, 1}, true},
		{Worker, "exactly.once.source.support", Version{4, 3, 1}, true},
		{Driver, "clusters", Version{4, 3, 1}, true},
		{Producer, "linger.ms", Version{5, 0, 0}, true},
	} {
		span, known := all[c.of][c.name]
		if got := known && span.Holds(c.at); got != c.want {
			t.Errorf("%s %s at %s: %t", c.of, c.name, c.at, got)
		}
	}
}

func TestAKeyOfTheSourceHasOneDefinitionInAVersion(t *testing.T) {
	for _, v := range []Version{{3, 4, 1}, {3, 9, 2}, {4, 0, 0}, {4, 3, 1}} {
		keys, err := SourceAt(v)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, k := range keys {
			if seen[k.Name] {
				t.Errorf("%s: %s is defined twice", v, k.Name)
			}
			seen[k.Name] = true
		}
		if emit := seen["emit.offset-syncs.enabled"]; emit != (v.Compare(Version{3, 9, 0}) >= 0) {
			t.Errorf("%s: emit.offset-syncs.enabled: %t", v, emit)
		}
	}
}

func TestAValueIsHeldToItsType(t *testing.T) {
	keys, err := SourceAt(Newest())
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Key{}
	for _, k := range keys {
		byName[k.Name] = k
		if k.Default != nil && k.Wants(*k.Default) != "" {
			t.Errorf("the default of %s is refused: %s", k.Name, k.Wants(*k.Default))
		}
	}
	for _, c := range []struct{ key, value, want string }{
		{"enabled", " TRUE ", ""},
		{"enabled", "yes", "true or false"},
		{"tasks.max", "1", ""},
		{"tasks.max", "0", "at least 1"},
		{"tasks.max", "2147483648", "a whole number of 32 bits"},
		{"offset-syncs.topic.replication.factor", "32768", "a whole number of 16 bits"},
		{"offset.lag.max", "2147483648", ""},
		{"offset.lag.max", "1.5", "a whole number of 64 bits"},
		{"sasl.kerberos.ticket.renew.jitter", "0.1", ""},
		{"sasl.kerberos.ticket.renew.jitter", "some", "a number"},
		{"errors.tolerance", "NONE", "one of none, all"},
		{"exactly.once.support", "REQUIRED", ""},
		{"exactly.once.support", "on", "one of required, requested"},
	} {
		if got := byName[c.key].Wants(c.value); got != c.want {
			t.Errorf("%s = %q: %q, want %q", c.key, c.value, got, c.want)
		}
	}
}
