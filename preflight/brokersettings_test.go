package preflight_test

import (
	"math"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestSettingsOfAllBrokersAreReadOrNone(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{brokers: 2})
	all, err := preflight.ReadBrokerSettings(t.Context(), l.probe.Source)
	if err != nil || len(all) != 2 {
		t.Errorf("of 2 brokers: %v, %v", all, err)
	}
	mend := cut(l.source, kmsg.Metadata)
	all, err = preflight.ReadBrokerSettings(t.Context(), l.probe.Source)
	if all != nil || err == nil || !strings.Contains(err.Error(), "the brokers could not be listed") {
		t.Errorf("of a cluster that does not answer: %v, %v", all, err)
	}
	mend()
}

func TestTheSmallestSettingIsOfAllBrokers(t *testing.T) {
	t.Parallel()
	const key = preflight.KeyOffsetsRetention
	for name, c := range map[string]struct {
		of   []string
		want int64
		says string
	}{
		"the first":    {of: []string{"3", "5"}, want: 3},
		"the last":     {of: []string{"5", "3"}, want: 3},
		"nothing":      {of: []string{"0", "3"}, want: 0},
		"a negative":   {[]string{"3", "-1"}, -1, "broker 1 has offsets.retention.minutes = -1, which is negative"},
		"not a number": {[]string{"3", "x"}, 0, "broker 1: "},
		"no broker":    {nil, math.MaxInt64, "no broker was asked"},
	} {
		brokers := map[int32]preflight.Settings{}
		for i, value := range c.of {
			brokers[int32(i)] = preflight.Settings{key: value}
		}
		got, err := preflight.SmallestSetting(brokers, key)
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
}

// A secret that nobody has set is told by its default.
func TestOnlyASecretThatIsSetIsUntold(t *testing.T) {
	t.Parallel()
	for source, want := range map[kmsg.ConfigSource]string{
		kmsg.ConfigSourceDefaultConfig:      "block",
		kmsg.ConfigSourceStaticBrokerConfig: "warn",
	} {
		l := newLab(t, setup{})
		admin := l.probe.Source.(*kadm.Client)
		l.grant(admin, allows("User:mm2", kadm.OpAll, "payments"))
		_, err := admin.DeleteACLs(t.Context(), allows(anonymous, kadm.OpAll, "*"))
		l.must(err)
		l.probe.Principals.Source = "User:mm2"
		l.probe.Source = settingOf{admin, kadm.Config{Key: "allow.everyone.if.no.acl.found", Sensitive: true, Source: source}}
		if f := found(l.whole(), "source/rights"); len(f) != 1 || string(f[0].Severity) != want {
			t.Errorf("%v: %v, want to %s", source, f, want)
		}
	}
}
