package preflight

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Principals are the names by which brokers know the clients of connector and worker,
// where a person states them: TYPE:NAME, such as User:mm2 (KafkaPrincipal). Empty is not
// stated: a name then comes from the connector's config, if from anywhere.
type Principals struct {
	Source, Target string
}

// Check returns an error for a principal that has no type or no name.
func (p Principals) Check() error {
	var errs []error
	for _, one := range []struct{ side, name string }{{"source", p.Source}, {"target", p.Target}} {
		kind, name, found := strings.Cut(one.name, ":")
		if one.name != "" && (!found || kind == "" || name == "") {
			errs = append(errs, fmt.Errorf("the principal on the %s is %q, which is not TYPE:NAME, such as User:mm2", one.side, one.name))
		}
	}
	return errors.Join(errs...)
}

// clientOf is one of the clients that act for the connector.
type clientOf struct {
	what string // with its article
	// prefixes lead to its settings, the winning one first.
	prefixes []string
	// worker says that the worker's own settings hold where no prefix has one, and no API
	// shows these.
	worker bool
}

// The clients of a MirrorSourceConnector (MirrorConnectorConfig), and what the worker has
// for it (Worker.baseProducerConfigs).
var (
	sourceConsumer = clientOf{what: "the replication consumer", prefixes: []string{"source.consumer.", "consumer.", "source.cluster."}}
	sourceAdmin    = clientOf{what: "the source admin client", prefixes: []string{"source.admin.", "admin.", "source.cluster."}}
	sourceProducer = clientOf{what: "the producer of offset-syncs", prefixes: []string{"source.producer.", "producer.", "source.cluster."}}
	targetAdmin    = clientOf{what: "the target admin client", prefixes: []string{"target.admin.", "admin.", "target.cluster."}}
	targetProducer = clientOf{what: "the producer of offset-syncs", prefixes: []string{"target.producer.", "producer.", "target.cluster."}}
	dataProducer   = clientOf{what: "the data producer", prefixes: []string{producerPrefix}, worker: true}
	theWorker      = clientOf{what: "the worker", worker: true}
)

// setting returns a setting of the client and its key; the key is empty where no prefix
// has it.
func (of clientOf) setting(s settings, name string) (value, key string) {
	for _, prefix := range of.prefixes {
		if v, set := s.m[prefix+name]; set {
			return strings.TrimSpace(v), prefix + name
		}
	}
	return "", ""
}

var errWorkersOwn = errors.New("the worker's own settings, which no API shows, say who it is")

// identify says as whom the brokers know a client by what the connector's config holds
// (DefaultKafkaPrincipalBuilder), and from which key it comes.
func (of clientOf) identify(s settings) (principal, from string, err error) {
	protocol, protocolKey := of.setting(s, "security.protocol")
	mechanism, mechanismKey := of.setting(s, "sasl.mechanism")
	jaas, jaasKey := of.setting(s, "sasl.jaas.config")
	switch {
	case of.worker && protocolKey == "" && jaasKey == "":
		return "", "", errWorkersOwn
	case reference(protocol) != "" || reference(mechanism) != "":
		return "", "", fmt.Errorf("%s or %s refers to a config provider, which only the worker resolves", protocolKey, mechanismKey)
	case !of.worker && protocolKey == "", strings.EqualFold(protocol, "PLAINTEXT"):
		return aclAnonymous, "security.protocol PLAINTEXT", nil // CommonClientConfigs.DEFAULT_SECURITY_PROTOCOL
	case strings.EqualFold(protocol, "SSL"):
		return "", "", fmt.Errorf("%s is SSL: its certificate says who it is", protocolKey)
	case jaasKey == "" && of.worker:
		return "", "", errWorkersOwn
	case jaasKey == "":
		return "", "", fmt.Errorf("%s is %s and no sasl.jaas.config is there", protocolKey, protocol)
	}
	switch strings.ToUpper(mechanism) {
	case "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512":
	case "":
		if !of.worker {
			return "", "", fmt.Errorf("sasl.mechanism is not set, and GSSAPI then: what Kerberos says is not in %s", jaasKey)
		}
	default:
		return "", "", fmt.Errorf("%s is %s: what the login says is not in %s", mechanismKey, mechanism, jaasKey)
	}
	user, err := jaasUser(jaas)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", jaasKey, err)
	}
	return "User:" + user, jaasKey, nil
}

// jaasUser returns the user name in the line of a PLAIN or SCRAM login (JaasConfig). No
// error repeats a part of the line.
func jaasUser(line string) (string, error) {
	if strings.Contains(line, offsetmap.SecretMark) {
		return "", errors.New("its value is redacted")
	}
	tokens, err := jaasTokens(line)
	if err != nil {
		return "", err
	}
	if len(tokens) < 2 || !slices.ContainsFunc([]string{"PlainLoginModule", "ScramLoginModule"}, func(m string) bool { return strings.HasSuffix("."+tokens[0], "."+m) }) {
		return "", errors.New("it is no line of PlainLoginModule or ScramLoginModule")
	}
	var user string
	found := false
	for i := 2; i+2 < len(tokens); i += 3 {
		if tokens[i+1] != "=" {
			return "", errors.New("it is not written as KEY=VALUE after the control flag")
		}
		switch tokens[i] {
		case "username":
			user, found = tokens[i+2], true
		case "tokenauth":
			if strings.EqualFold(tokens[i+2], "true") {
				return "", errors.New("it is a delegation token's, whose owner is not in it")
			}
		}
	}
	switch {
	case !found || user == "":
		return "", errors.New("it has no username")
	case reference(user) != "":
		return "", errors.New("its username refers to a config provider, which only the worker resolves")
	}
	return user, nil
}

// jaasTokens takes a line apart into words, quoted texts and "=", up to its ";".
func jaasTokens(line string) ([]string, error) {
	var out []string
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ';':
			return out, nil
		case c == '=':
			out = append(out, "=")
			i++
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
		case c == '"' || c == '\'':
			var b strings.Builder
			for i++; i < len(line) && line[i] != c; i++ {
				if line[i] == '\\' && i+1 < len(line) {
					i++
				}
				b.WriteByte(line[i])
			}
			if i == len(line) {
				return nil, errors.New("a quote in it does not end")
			}
			i++
			out = append(out, b.String())
		default:
			end := i + 1
			for end < len(line) && strings.IndexByte(" \t\r\n=;\"'", line[end]) < 0 {
				end++
			}
			out = append(out, line[i:end])
			i = end
		}
	}
	return nil, errors.New(`it does not end with ";"`)
}
