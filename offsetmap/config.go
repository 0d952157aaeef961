package offsetmap

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// secretMark stands where a secret stood.
const secretMark = "<secret>"

// secretKeys are parts of names of Kafka and Connect settings whose values are
// secrets (type PASSWORD in their ConfigDefs, and what plugins add), without
// the dots, dashes and underscores that parts of names are joined by.
var secretKeys = []string{
	"password", "passwd", "passphrase", "secret", "jaas", "token", "credential", "authorization",
	"privatekey", "accesskey", "apikey", "keystorekey", "userinfo",
	"keystorecertificatechain", "truststorecertificates", // PASSWORD in SslConfigs: a PEM text may hold a key
}

var joints = strings.NewReplacer(".", "", "-", "", "_", "")

// providerReference is what a ConfigProvider resolves in the worker:
// ${provider:[path:]key} (org.apache.kafka.common.config.ConfigTransformer).
var providerReference = regexp.MustCompile(`\$\{[^}:]+:[^}]*\}`)

// urlUser is the user and password of a URL, up to the last "@" of its host part.
var urlUser = regexp.MustCompile(`://[^/?#\s]+@`)

// RedactConfig returns a copy of a connector's config with secrets replaced by
// "<secret>": the values of settings whose names say that they are secret, and
// user and password in URLs. References to config providers are no secrets and
// stay.
func RedactConfig(config map[string]string) map[string]string {
	out := make(map[string]string, len(config))
	for k, v := range config {
		if isSecret(k) {
			out[k] = redact(v)
			continue
		}
		out[k] = urlUser.ReplaceAllStringFunc(v, func(user string) string {
			return "://" + redact(user[len("://"):len(user)-1]) + "@"
		})
	}
	return out
}

func isSecret(key string) bool {
	key = joints.Replace(strings.ToLower(key))
	for _, part := range secretKeys {
		if strings.Contains(key, part) {
			return true
		}
	}
	return false
}

// redact replaces everything but references to config providers.
func redact(v string) string {
	var b strings.Builder
	last := 0
	for _, at := range providerReference.FindAllStringIndex(v, -1) {
		if at[0] > last {
			b.WriteString(secretMark)
		}
		b.WriteString(v[at[0]:at[1]])
		last = at[1]
	}
	if last < len(v) {
		b.WriteString(secretMark)
	}
	return b.String()
}

// ConfigDigest returns the digest of a connector's config with its secrets
// redacted: two configs that differ in a password alone have the same digest,
// and the digest tells nothing of the password.
func ConfigDigest(config map[string]string) (string, error) {
	for k, v := range config {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return "", fmt.Errorf("config setting %q is not UTF-8", k)
		}
	}
	raw, err := json.Marshal(RedactConfig(config))
	if err != nil {
		return "", err
	}
	return Digest(raw)
}
