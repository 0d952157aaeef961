package preflight

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ErrTemplate says that a template does not say enough, or something that cannot be.
// The error lists every field that is wrong.
var ErrTemplate = errors.New("no config can be made of the template")

// Naming says under which names the topics are written.
type Naming string

const (
	// KeepNames is IdentityReplicationPolicy: the names of the source.
	KeepNames Naming = "keep"
	// AliasInFront is DefaultReplicationPolicy: the source's alias and a dot in
	// front.
	AliasInFront Naming = "alias"
)

// Template is what a connector's config is made from: what no default can decide. The
// rest follows from the version and from what a migration needs.
type Template struct {
	// Version is that of the worker's plugin: 3.6 or later.
	Version connectrest.Version
	// SourceAlias is part of every stored offset, and never changes afterwards.
	SourceAlias string
	// TargetAlias is by default "target".
	TargetAlias                      string
	SourceBootstrap, TargetBootstrap []string // HOST:PORT
	// Topics are names, not regexes.
	Topics []string
	// Naming has no default: it has to be what the old job wrote to.
	Naming Naming
	// Isolation is what the old job read with.
	Isolation offsetmap.Isolation
	// Tasks is how many tasks share the partitions, 1 or more.
	Tasks int
	// TargetBrokers bounds replication factors. Zero: not known, which will not do
	// before 3.9.
	TargetBrokers int
	// MaxRequestSize is the largest batch that the data producer sends, in bytes: at
	// least the source's largest record. Zero leaves Kafka's 1 MiB.
	MaxRequestSize int
	// ProducerBootstrap are the target's brokers where the worker belongs to another
	// cluster. Empty: the worker's own cluster is the target.
	ProducerBootstrap []string
	// SourceSecurity, TargetSecurity and ProducerSecurity hold security.protocol,
	// ssl.* and sasl.* without a prefix. A secret is a reference to a config provider
	// of the worker, such as ${file:/etc/kafka/secrets:password}.
	SourceSecurity, TargetSecurity, ProducerSecurity connectrest.Config
}

// GeneratedConfig is a connector's config with a reason for each key.
type GeneratedConfig struct {
	Config connectrest.Config `json:"config"`
	// Reasons says of each key why it is there.
	Reasons map[string]string `json:"reasons"`
	// Left says of keys that documents and other versions have why they are not.
	Left map[string]string `json:"left"`
}

// GenerateConfig makes the config of a MirrorSourceConnector that only copies, right
// for the version: [Lint] has nothing to say of it but what no config can mend. The
// error is an [ErrTemplate].
func GenerateConfig(t Template) (GeneratedConfig, error) {
	if err := t.check(); err != nil {
		return GeneratedConfig{}, err
	}
	g := GeneratedConfig{Config: connectrest.Config{}, Reasons: map[string]string{}, Left: map[string]string{}}
	g.copying(t)
	g.byVersion(t)
	g.producer(t)
	for side, settings := range map[string]connectrest.Config{"source.cluster.": t.SourceSecurity, "target.cluster.": t.TargetSecurity, producerPrefix: t.ProducerSecurity} {
		for key, value := range settings {
			g.set(side+key, value, "how the cluster is reached; secrets stay with the worker's config provider")
		}
	}
	return g, nil
}

func (g *GeneratedConfig) set(key, value, why string) {
	g.Config[key], g.Reasons[key] = value, why
}

// check returns everything that is wrong with a template.
func (t Template) check() error {
	var found []error
	bad := func(field, format string, args ...any) {
		found = append(found, fmt.Errorf("%s: %w", field, fmt.Errorf(format, args...)))
	}
	switch {
	case !t.Version.Known():
		bad("version", "%s is not a version of Kafka", t.Version)
	case !t.Version.AtLeast(3, 6):
		bad("version", "%s is older than 3.6, the first whose offsets can be altered", t.Version)
	}
	if err := checkAlias(t.SourceAlias); err != nil {
		bad("source alias", "%w", err)
	}
	if t.TargetAlias != "" {
		if err := checkAlias(t.TargetAlias); err != nil {
			bad("target alias", "%w", err)
		}
	}
	if t.SourceAlias == t.targetAlias() {
		bad("target alias", "it is %q, as the source's: every topic would count as a cycle", t.SourceAlias)
	}
	if t.Naming == AliasInFront && strings.Contains(t.SourceAlias+t.targetAlias(), ".") {
		bad("source alias", "an alias with a dot cannot be told from the topic behind it")
	}
	for _, list := range []struct {
		field   string
		servers []string
		needed  bool
	}{{"source bootstrap", t.SourceBootstrap, true}, {"target bootstrap", t.TargetBootstrap, true}, {"producer bootstrap", t.ProducerBootstrap, false}} {
		if list.needed && len(list.servers) == 0 {
			bad(list.field, "missing")
		}
		for _, s := range list.servers {
			if !isHostPort(s) {
				bad(list.field, "%q is not HOST:PORT", s)
			}
		}
	}
	t.checkTopics(bad)
	if t.Naming != KeepNames && t.Naming != AliasInFront {
		bad("naming", "%q, want %s or %s: it has to be what the old job wrote to", t.Naming, KeepNames, AliasInFront)
	}
	if t.Isolation != offsetmap.ReadCommitted && t.Isolation != offsetmap.ReadUncommitted {
		bad("isolation", "%q, want %s or %s: it has to be what the old job read with", t.Isolation, offsetmap.ReadCommitted, offsetmap.ReadUncommitted)
	}
	if t.Tasks < 1 {
		bad("tasks", "%d, want at least 1", t.Tasks)
	}
	switch {
	case t.TargetBrokers < 0:
		bad("target brokers", "%d", t.TargetBrokers)
	case t.TargetBrokers == 0 && t.Version.Known() && !t.Version.AtLeast(3, 9):
		bad("target brokers", "missing: before 3.9 an offset-syncs topic is always created, and stalls the copying where it cannot be")
	}
	if t.MaxRequestSize < 0 {
		bad("max request size", "%d", t.MaxRequestSize)
	}
	if len(t.ProducerBootstrap) == 0 && len(t.ProducerSecurity) > 0 {
		bad("producer security", "there is no producer bootstrap that it would be for")
	}
	for field, settings := range map[string]connectrest.Config{"source security": t.SourceSecurity, "target security": t.TargetSecurity, "producer security": t.ProducerSecurity} {
		checkSecurity(field, settings, bad)
	}
	if found == nil {
		return nil
	}
	slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return fmt.Errorf("%w: %w", ErrTemplate, errors.Join(found...))
}

func (t Template) checkTopics(bad func(field, format string, args ...any)) {
	if len(t.Topics) == 0 {
		bad("topics", "missing")
	}
	p := policy{source: t.SourceAlias, alias: t.targetAlias(), separator: ".", internal: ".", identity: t.Naming == KeepNames}
	for i, topic := range t.Topics {
		switch err := offsetmap.ValidateTopic(topic); {
		case err != nil:
			bad("topics", "%w", err)
			continue
		case slices.Contains(t.Topics[:i], topic):
			bad("topics", "%s stands twice", topic)
		case p.isInternal(topic, !t.Version.AtLeast(4, 0)):
			bad("topics", "%s counts as internal, and is never copied", topic)
		case p.identity && p.looksLikeHeartbeat(topic):
			bad("topics", "%s would be written to %s, since its name ends in heartbeats", topic, p.target(topic))
		case p.isCycle(topic) && t.SourceAlias != t.targetAlias():
			bad("topics", "%s begins with the target's alias, which counts as a cycle", topic)
		}
		if err := offsetmap.ValidateTopic(p.target(topic)); err != nil {
			bad("topics", "%s would be written to %w", topic, err)
		}
	}
}

func (t Template) targetAlias() string {
	if t.TargetAlias == "" {
		return "target"
	}
	return t.TargetAlias
}

// checkAlias takes what a topic name may hold: an alias stands in front of one, and
// in metrics and client ids.
func checkAlias(alias string) error {
	switch {
	case alias == "":
		return errors.New("missing")
	case !topicText.MatchString(alias):
		return fmt.Errorf("%q has characters that no topic name may hold", alias)
	}
	return nil
}

func isHostPort(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" || strings.ContainsAny(s, " ,") {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// checkSecurity takes the settings that pass the prefixes of clusters
// (MirrorClientConfig.CLIENT_CONFIG_DEF), and no secret in the clear.
func checkSecurity(field string, settings connectrest.Config, bad func(field, format string, args ...any)) {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		switch value := settings[key]; {
		case key != "security.protocol" && !strings.HasPrefix(key, "ssl.") && !strings.HasPrefix(key, "sasl."):
			bad(field, "%s is no setting of security: security.protocol, ssl.* and sasl.*", key)
		case hasSecret(key, value):
			bad(field, "%s holds a secret: put it where a config provider of the worker finds it, and refer to it as ${file:/path:key}", key)
		}
	}
}
