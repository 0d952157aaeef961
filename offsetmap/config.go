package offsetmap

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// SecretMark stands where a secret stood: in texts, plans and digests.
const SecretMark = "<secret>"

// secretKeys are parts of names of Kafka and Connect settings whose values are
// secrets (type PASSWORD in their ConfigDefs, and what plugins add), without
// the dots, dashes and underscores that parts of names are joined by.
var secretKeys = []string{
	"password", "passwd", "passphrase", "secret", "jaas", "token", "credential", "authorization",
	"privatekey", "accesskey", "accountkey", "encryptionkey", "saskey", "apikey", "keystorekey", "userinfo", "basicauth", "connectionstring",
	"keystorecertificatechain", "truststorecertificates", // PASSWORD in SslConfigs: a PEM text may hold a key
}

// publicEndings end names that hold one of secretKeys and yet name no secret,
// such as sasl.oauthbearer.token.endpoint.url.
var publicEndings = []string{"tokenendpointurl", "credentialssource", "class", "provider", "type"}

var joints = strings.NewReplacer(".", "", "-", "", "_", "")

// providerReference is what a ConfigProvider resolves in the worker:
// ${provider:[path:]key} (org.apache.kafka.common.config.ConfigTransformer).
var providerReference = regexp.MustCompile(`\$\{[^}:]+:[^}]*\}`)

// urlUser is the user and password of a URL, up to the last "@" of its host part.
var urlUser = regexp.MustCompile(`://[^/?#\s]+@`)

// RedactConfig returns a copy of a connector's config with secrets replaced by
// SecretMark: the values of settings whose names say that they are secret, and
// user and password in URLs. References to config providers are no secrets and
// stay.
func RedactConfig(config map[string]string) map[string]string {
	out := make(map[string]string, len(config))
	for k, v := range config {
		out[k] = RedactSetting(k, v)
	}
	return out
}

// RedactSetting returns the value of one setting as RedactConfig shows it.
func RedactSetting(key, value string) string {
	if IsSecretSetting(key) {
		return redact(value)
	}
	return urlUser.ReplaceAllStringFunc(value, func(user string) string {
		return "://" + redact(user[len("://"):len(user)-1]) + "@"
	})
}

// hasUser reports whether a text holds an address with a user or a password in it.
func hasUser(text string) bool { return RedactSetting("", text) != text }

// IsSecretSetting reports whether a setting's name says that its value is a
// secret. It cannot be told from a worker, which shows all values alike.
func IsSecretSetting(key string) bool {
	key = joints.Replace(strings.ToLower(key))
	for _, end := range publicEndings {
		if strings.HasSuffix(key, end) {
			return false
		}
	}
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
			b.WriteString(SecretMark)
		}
		b.WriteString(v[at[0]:at[1]])
		last = at[1]
	}
	if last < len(v) {
		b.WriteString(SecretMark)
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
