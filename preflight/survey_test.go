package preflight_test

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestASurveyReadsSettings(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	s := l.observe().Surroundings
	topics, ok := s.SourceConfigs.Get()
	if !ok || len(topics) != 2 {
		t.Fatalf("got %v: %v", topics, s.SourceConfigs.Err())
	}
	if n, err := topics["orders"].Int("retention.ms"); err != nil || n != 604800000 {
		t.Errorf("retention.ms: got %d, %v", n, err)
	}
	if _, err := topics["orders"].Int("no.such.key"); !errors.Is(err, preflight.ErrNoSetting) {
		t.Errorf("got %v", err)
	}
	if _, err := topics["orders"].Int("cleanup.policy"); err == nil || errors.Is(err, preflight.ErrNoSetting) {
		t.Errorf("cleanup.policy as a number: %v", err)
	}
	brokers, ok := s.TargetBrokers.Get()
	if !ok || len(brokers) != 1 {
		t.Fatalf("got %v: %v", brokers, s.TargetBrokers.Err())
	}
	for id, settings := range brokers {
		if n, err := settings.Int("message.max.bytes"); err != nil || n <= 0 {
			t.Errorf("broker %d: message.max.bytes %d, %v", id, n, err)
		}
	}
}

// Every look of a later step would cost as much.
func TestOnlyASurveyReadsSettings(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	asked := false
	l.target.ControlKey(int16(kmsg.DescribeConfigs), func(kmsg.Request) (kmsg.Response, error, bool) {
		l.target.KeepControl()
		asked = true
		return nil, nil, false
	})
	if f := l.probe.Observe(t.Context()); f.Surroundings != nil || asked {
		t.Errorf("got %v, asked %t", f.Surroundings, asked)
	}
	if l.observe(); !asked {
		t.Error("a survey did not ask either")
	}
}

func TestDeniedSettingsAreNotKnown(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	denySettings(l.source)
	s := l.observe().Surroundings
	for what, err := range map[string]error{"topics": s.SourceConfigs.Err(), "brokers": s.SourceBrokers.Err()} {
		if !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if _, ok := s.TargetConfigs.Get(); !ok {
		t.Errorf("the target's: %v", s.TargetConfigs.Err())
	}
}

// denySettings answers every question for settings as a cluster does that grants none.
func denySettings(c *kfake.Cluster) {
	c.ControlKey(int16(kmsg.DescribeConfigs), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked := req.(*kmsg.DescribeConfigsRequest)
		resp := asked.ResponseKind().(*kmsg.DescribeConfigsResponse)
		for _, r := range asked.Resources {
			one := kmsg.NewDescribeConfigsResponseResource()
			one.ErrorCode, one.ResourceType, one.ResourceName = kerr.TopicAuthorizationFailed.Code, r.ResourceType, r.ResourceName
			resp.Resources = append(resp.Resources, one)
		}
		return resp, nil, true
	})
}
