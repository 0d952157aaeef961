package preflight_test

import (
	"errors"
	"testing"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func TestTheTopicsOfAFlowAreNamedAsMirrorMakerDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config connectrest.Config
		want   preflight.FlowTopics
	}{
		"defaults": {
			connectrest.Config{"source.cluster.alias": "eu"},
			preflight.FlowTopics{SyncsOnSource: "mm2-offset-syncs.target.internal", SyncsOnTarget: "mm2-offset-syncs.eu.internal", Checkpoints: "eu.checkpoints.internal"},
		},
		"separator": {
			connectrest.Config{"source.cluster.alias": "eu", "target.cluster.alias": "us", "replication.policy.separator": "_"},
			preflight.FlowTopics{SyncsOnSource: "mm2-offset-syncs_us_internal", SyncsOnTarget: "mm2-offset-syncs_eu_internal", Checkpoints: "eu_checkpoints_internal"},
		},
		"separator not inside": {
			connectrest.Config{"source.cluster.alias": "eu", "replication.policy.separator": "_", "replication.policy.internal.topic.separator.enabled": "false"},
			preflight.FlowTopics{SyncsOnSource: "mm2-offset-syncs.target.internal", SyncsOnTarget: "mm2-offset-syncs.eu.internal", Checkpoints: "eu.checkpoints.internal"},
		},
	} {
		got, err := preflight.FlowTopicsOf(c.config)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
		for _, topic := range []string{got.SyncsOnSource, got.SyncsOnTarget, got.Checkpoints} {
			if !preflight.IsFlowTopic(topic) {
				t.Errorf("%s: %s is taken for another kind of topic", name, topic)
			}
		}
	}
	if _, err := preflight.FlowTopicsOf(connectrest.Config{"source.cluster.alias": "eu", "replication.policy.class": "com.example.Policy"}); !errors.Is(err, preflight.ErrPolicy) {
		t.Errorf("%v", err)
	}
	for _, topic := range []string{"orders", "orders.internal", "checkpoints", "heartbeats", "mm2-configs.eu"} {
		if preflight.IsFlowTopic(topic) {
			t.Errorf("%s is taken for a topic of a flow", topic)
		}
	}
}

func TestCompanionsAreKnownByEveryFormOfTheirClass(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]string{
		"org.apache.kafka.connect.mirror.MirrorCheckpointConnector": "MirrorCheckpointConnector",
		"MirrorHeartbeat": "MirrorHeartbeatConnector",
		"org.apache.kafka.connect.mirror.MirrorSourceConnector": "",
		"": "",
	} {
		got, is := preflight.Companion(connectrest.Config{"connector.class": class})
		if is != (want != "") || is && got != want {
			t.Errorf("%q: %s, %t", class, got, is)
		}
	}
}
