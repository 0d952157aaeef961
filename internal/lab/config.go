package lab

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

const (
	defaultGroup         = "connect-lab"
	defaultFlushInterval = 10 * time.Second
)

// brokerProperties are those of a single KRaft node that is broker and controller.
func brokerProperties(port, controllerPort int, dataDir string, extra Properties) Properties {
	p := Properties{
		"process.roles":                            "broker,controller",
		"node.id":                                  "1",
		"controller.quorum.voters":                 fmt.Sprintf("1@127.0.0.1:%d", controllerPort),
		"listeners":                                fmt.Sprintf("PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d", port, controllerPort),
		"advertised.listeners":                     fmt.Sprintf("PLAINTEXT://127.0.0.1:%d", port),
		"controller.listener.names":                "CONTROLLER",
		"listener.security.protocol.map":           "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"log.dirs":                                 dataDir,
		"auto.create.topics.enable":                "false",
		"num.partitions":                           "1",
		"offsets.topic.num.partitions":             "1",
		"offsets.topic.replication.factor":         "1",
		"transaction.state.log.num.partitions":     "1",
		"transaction.state.log.replication.factor": "1",
		"transaction.state.log.min.isr":            "1",
		"group.initial.rebalance.delay.ms":         "0",
		// The default of 128 MB would be a quarter of the heap.
		"log.cleaner.dedupe.buffer.size": "4194304",
	}
	maps.Copy(p, extra)
	return p
}

// authorize lets a broker hold ACLs, with a listener for users.
func (p Properties) authorize(port int, users map[string]string) {
	login := fmt.Sprintf("LOGIN://127.0.0.1:%d", port)
	p["listeners"] += "," + login
	p["advertised.listeners"] += "," + login
	p["listener.security.protocol.map"] += ",LOGIN:SASL_PLAINTEXT"
	p["listener.name.login.sasl.enabled.mechanisms"] = "PLAIN"
	jaas := []string{"org.apache.kafka.common.security.plain.PlainLoginModule required"}
	for _, name := range slices.Sorted(maps.Keys(users)) {
		jaas = append(jaas, fmt.Sprintf("user_%s=%q", name, users[name]))
	}
	p["listener.name.login.plain.sasl.jaas.config"] = strings.Join(jaas, " ") + ";"
	p["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
	p["super.users"] = "User:ANONYMOUS"
}

// front adds a listener at address that sends its clients to what is advertised.
func (p Properties) front(address, advertised string) {
	p["listeners"] += ",FRONT://" + address
	p["advertised.listeners"] += ",FRONT://" + advertised
	p["listener.security.protocol.map"] += ",FRONT:PLAINTEXT"
}

// tier lets a broker keep segments in a folder, by the storage in a folder of jars. The names that have a prefix are of
// LocalTieredStorage and of TopicBasedRemoteLogMetadataManager.
func (p Properties) tier(jars, dir string) {
	maps.Copy(p, Properties{
		"remote.log.storage.system.enable":                                 "true",
		"remote.log.storage.manager.class.name":                            "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
		"remote.log.storage.manager.class.path":                            filepath.Join(jars, "*"),
		"rsm.config.dir":                                                   dir,
		"remote.log.metadata.manager.listener.name":                        "PLAINTEXT",
		"rlmm.config.remote.log.metadata.topic.num.partitions":             "1",
		"rlmm.config.remote.log.metadata.topic.replication.factor":         "1",
		"rlmm.config.remote.log.metadata.initialization.retry.interval.ms": "100",
		"remote.log.manager.task.interval.ms":                              "200",
		// What is there as well is deleted from the disk by the task that deletes what is old.
		"log.initial.task.delay.ms":       "200",
		"log.retention.check.interval.ms": "200",
	})
}

// nodeProperties are those of a further node, a broker alone.
func nodeProperties(id, port, controllerPort int, dataDir string, extra Properties) Properties {
	p := brokerProperties(port, controllerPort, dataDir, nil)
	p["process.roles"] = "broker"
	p["node.id"] = strconv.Itoa(id)
	p["listeners"] = p["advertised.listeners"]
	maps.Copy(p, extra)
	return p
}

// workerProperties are those of a distributed Connect worker.
func workerProperties(port int, bootstrap, group string, flush time.Duration, extra Properties) Properties {
	const bytesConverter = "org.apache.kafka.connect.converters.ByteArrayConverter"
	p := Properties{
		"bootstrap.servers":                       bootstrap,
		"group.id":                                group,
		"listeners":                               fmt.Sprintf("http://127.0.0.1:%d", port),
		"rest.advertised.host.name":               "127.0.0.1",
		"rest.advertised.port":                    strconv.Itoa(port),
		"config.storage.topic":                    group + "-configs",
		"config.storage.replication.factor":       "1",
		"offset.storage.topic":                    group + "-offsets",
		"offset.storage.partitions":               "5",
		"offset.storage.replication.factor":       "1",
		"status.storage.topic":                    group + "-status",
		"status.storage.partitions":               "1",
		"status.storage.replication.factor":       "1",
		"key.converter":                           bytesConverter,
		"value.converter":                         bytesConverter,
		"offset.flush.interval.ms":                strconv.FormatInt(flush.Milliseconds(), 10),
		"connector.client.config.override.policy": "All",
		// The default also scans every class of the class path by reflection, which more than doubles the start (KIP-898).
		"plugin.discovery": "service_load",
	}
	maps.Copy(p, extra)
	return p
}

// render writes p as a Java properties file, sorted by key.
func (p Properties) render() []byte {
	var b bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(p)) {
		b.WriteString(escapeProperty(key, " :=#!"))
		b.WriteByte('=')
		b.WriteString(escapeProperty(p[key], ""))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// escapeProperty escapes as java.util.Properties.store does; special are the characters that end a key.
func escapeProperty(s, special string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\f':
			b.WriteString(`\f`)
		case r == ' ' && i == 0, strings.ContainsRune(special, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r > '~':
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04X`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

const log4j1 = `log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %m (%c{1})%n
`

const log4j2 = `appender.out.type=Console
appender.out.name=OUT
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{ISO8601} %p %m (%c{1})%n
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=OUT
`

// logging returns the logging configuration of a release and the JVM flag that names its file. Everything goes to
// standard output, which the lab sends to the log of the process, next to what the JVM itself says when it dies.
func logging(major int, file string) (text, flag string) {
	// Both libraries read a URL, and the folder of a subtest may hold characters that a URL has to escape.
	at := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	if major < 4 {
		return log4j1, "-Dlog4j.configuration=" + at
	}
	return log4j2, "-Dlog4j2.configurationFile=" + at
}
