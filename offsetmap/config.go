package offsetmap

import (
	"encoding/json"
	"regexp"
	"strings"
)

// secretMark stands where a secret stood.
const secretMark = "<secret>"

// secretKeys are parts of names of Kafka and Connect settings whose values are
// secrets (type PASSWORD in their ConfigDefs, and what plugins add).
var secretKeys = []string{
	"password", "passphrase", "secret", "jaas", "token", "credential",
	"ssl.keystore.key", "private.key", "access.key", "api.key", "user.info",
}

// providerReference is what a ConfigProvider resolves in the worker:
// ${provider:[path:]key}.
var providerReference = regexp.MustCompile(`\$\{[^}:]+:[^}]*\}`)

// RedactConfig returns a copy of a connector's config with the values of
// secrets replaced by "<secret>". References to config providers are no
// secrets and stay.
func RedactConfig(config map[string]string) map[string]string {
	out := make(map[string]string, len(config))
	for k, v := range config {
		if isSecret(k) {
			v = redact(v)
		}
		out[k] = v
	}
	return out
}

func isSecret(key string) bool {
	key = strings.ToLower(key)
	for _, part := range secretKeys {
		if strings.Contains(key, part) {
			return true
		}
	}
	return false
}

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
	raw, err := json.Marshal(RedactConfig(config))
	if err != nil {
		return "", err
	}
	return Digest(raw)
}
