package lab

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBrokerConfig(t *testing.T) {
	got := brokerProperties(9, 10, "/data", Properties{"num.partitions": "3", "message.timestamp.type": "LogAppendTime"}).render()
	want := `advertised.listeners=PLAINTEXT://127.0.0.1:9
auto.create.topics.enable=false
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:10
group.initial.rebalance.delay.ms=0
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
listeners=PLAINTEXT://127.0.0.1:9,CONTROLLER://127.0.0.1:10
log.cleaner.dedupe.buffer.size=4194304
log.dirs=/data
message.timestamp.type=LogAppendTime
node.id=1
num.partitions=3
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
process.roles=broker,controller
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestNodeConfig(t *testing.T) {
	got := nodeProperties(2, 9, 10, "/data", Properties{"node.id": "7"})
	want := brokerProperties(9, 10, "/data", Properties{"process.roles": "broker", "node.id": "7", "listeners": "PLAINTEXT://127.0.0.1:9"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWorkerConfig(t *testing.T) {
	got := workerProperties(83, "127.0.0.1:92", "g", 1500*time.Millisecond, Properties{"connector.client.config.override.policy": "None"}).render()
	want := `bootstrap.servers=127.0.0.1:92
config.storage.replication.factor=1
config.storage.topic=g-configs
connector.client.config.override.policy=None
group.id=g
key.converter=org.apache.kafka.connect.converters.ByteArrayConverter
listeners=http://127.0.0.1:83
offset.flush.interval.ms=1500
offset.storage.partitions=5
offset.storage.replication.factor=1
offset.storage.topic=g-offsets
plugin.discovery=service_load
rest.advertised.host.name=127.0.0.1
rest.advertised.port=83
status.storage.partitions=1
status.storage.replication.factor=1
status.storage.topic=g-status
value.converter=org.apache.kafka.connect.converters.ByteArrayConverter
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestABrokerWithUsersHasAnAuthorizerAndAListenerForThem(t *testing.T) {
	got := brokerProperties(9, 10, "/data", nil)
	got.authorize(11, map[string]string{"b": "2", "a": "1"})
	want := brokerProperties(9, 10, "/data", Properties{
		"listeners":                                   "PLAINTEXT://127.0.0.1:9,CONTROLLER://127.0.0.1:10,LOGIN://127.0.0.1:11",
		"advertised.listeners":                        "PLAINTEXT://127.0.0.1:9,LOGIN://127.0.0.1:11",
		"listener.security.protocol.map":              "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
		"listener.name.login.sasl.enabled.mechanisms": "PLAIN",
		"listener.name.login.plain.sasl.jaas.config":  `org.apache.kafka.common.security.plain.PlainLoginModule required user_a="1" user_b="2";`,
		"authorizer.class.name":                       "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":                                 "User:ANONYMOUS",
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestATieredBrokerKeepsSegmentsInAFolderOfItsOwn(t *testing.T) {
	got := brokerProperties(9, 10, "/data", nil)
	got.tier("/jars", "/remote")
	for key, want := range map[string]string{
		"remote.log.storage.system.enable":      "true",
		"remote.log.storage.manager.class.path": filepath.Join("/jars", "*"),
		"rsm.config.dir":                        "/remote",
		"log.dirs":                              "/data",
	} {
		if got[key] != want {
			t.Errorf("%s = %q, want %q", key, got[key], want)
		}
	}
}

func TestPropertiesAreEscapedAsJavaDoes(t *testing.T) {
	for _, tc := range []struct{ key, value, want string }{
		{"a", "b c=d:e#f", "a=b c=d:e#f"},
		{"a", "  b", `a=\  b`},
		{"a", `C:\x`, `a=C:\\x`},
		{"a", "one\ntwo\ttab\r\f", `a=one\ntwo\ttab\r\f`},
		{"a", "é😀\x01", `a=\u00E9\uD83D\uDE00\u0001`},
		{"a:b=c d#e", "", `a\:b\=c\ d\#e=`},
	} {
		if got := string(Properties{tc.key: tc.value}.render()); got != tc.want+"\n" {
			t.Errorf("%q=%q: %q, want %q", tc.key, tc.value, got, tc.want)
		}
	}
}

func TestLoggingFollowsTheRelease(t *testing.T) {
	text, flag := logging(3, "/tmp/Test#01 a/x.properties")
	if flag != "-Dlog4j.configuration=file:///tmp/Test%2301%20a/x.properties" || !strings.HasPrefix(text, "log4j.rootLogger=") {
		t.Errorf("3.x: %s\n%s", flag, text)
	}
	text, flag = logging(4, "/tmp/x")
	if flag != "-Dlog4j2.configurationFile=file:///tmp/x" || !strings.Contains(text, "\nrootLogger.level=INFO") {
		t.Errorf("4.x: %s\n%s", flag, text)
	}
}

func TestAFrontIsAListenerThatSendsItsClientsToTheProxy(t *testing.T) {
	p := brokerProperties(9, 10, "/data", nil)
	p.front("127.0.0.1:11", "127.0.0.1:12")
	want := brokerProperties(9, 10, "/data", Properties{
		"listeners":                      "PLAINTEXT://127.0.0.1:9,CONTROLLER://127.0.0.1:10,FRONT://127.0.0.1:11",
		"advertised.listeners":           "PLAINTEXT://127.0.0.1:9,FRONT://127.0.0.1:12",
		"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,FRONT:PLAINTEXT",
	})
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}
