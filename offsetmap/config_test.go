package offsetmap_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const secret = "hunter2"

func TestSecretsOfAConfigBecomeAMark(t *testing.T) {
	for key, c := range map[string]struct{ value, want string }{
		"source.cluster.sasl.jaas.config":                   {`org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hunter2";`, "<secret>"},
		"target.cluster.ssl.key.password":                   {secret, "<secret>"},
		"producer.override.ssl.keystore.password":           {secret, "<secret>"},
		"ssl.keystore.key":                                  {"-----BEGIN PRIVATE KEY-----\nhunter2", "<secret>"},
		"ssl.keystore.certificate.chain":                    {secret, "<secret>"},
		"ssl.truststore.certificates":                       {secret, "<secret>"},
		"sasl.oauthbearer.client.credentials.client.secret": {secret, "<secret>"},
		"sasl.oauthbearer.assertion.private.key.passphrase": {secret, "<secret>"},
		"value.converter.basic.auth.user.info":              {"user:hunter2", "<secret>"},
		"transforms.crypt.apiKey":                           {secret, "<secret>"},
		"aws_access_key_id":                                 {secret, "<secret>"},
		"http.headers.Authorization":                        {"Bearer hunter2", "<secret>"},
		"db.passwd":                                         {secret, "<secret>"},
		"azure.account.key":                                 {secret, "<secret>"},
		"azure.sas-key":                                     {secret, "<secret>"},
		"azure.connection.string":                           {secret, "<secret>"},
		"client.encryptionKey":                              {secret, "<secret>"},
		"http.basic_auth":                                   {secret, "<secret>"},
		"sasl.oauthbearer.token.endpoint.url":               {"https://idp/token", "https://idp/token"},
		"b.sasl.oauthbearer.token.endpoint.url":             {"https://u:hunter2@idp/token", "https://<secret>@idp/token"},
		"basic.auth.credentials.source":                     {"USER_INFO", "USER_INFO"},
		"aws.credentials.provider.class":                    {"com.example.Provider", "com.example.Provider"},
		"delegation.token.type":                             {"SCRAM", "SCRAM"},
		"class.password":                                    {secret, "<secret>"},
		"SASL.JAAS.CONFIG":                                  {secret, "<secret>"},
		"ssl.key.password":                                  {"${file:/opt/p.properties:key}", "${file:/opt/p.properties:key}"},
		"ssl.truststore.password":                           {"${env:TRUST}", "${env:TRUST}"},
		"sasl.jaas.config":                                  {`required password="${file:/p:k}" extra=hunter2;`, "<secret>${file:/p:k}<secret>"},
		"a.password":                                        {"${file:/p:a}${file:/p:b}", "${file:/p:a}${file:/p:b}"},
		"b.password":                                        {"${file:/p:a}hunter2", "${file:/p:a}<secret>"},
		"c.password":                                        {"${hunter2}", "<secret>"},
		"d.password":                                        {"", ""},
		"schema.registry.url":                               {"https://u:hunter2@registry:8081/x", "https://<secret>@registry:8081/x"},
		"proxy.url":                                         {"http://hunter2@p@ss@proxy/a@b", "http://<secret>@proxy/a@b"},
		"urls":                                              {"http://u:hunter2@a/,http://v:hunter2@b", "http://<secret>@a/,http://<secret>@b"},
		"proxy":                                             {"http://u:${env:PASS}@proxy", "http://<secret>${env:PASS}@proxy"},
		"topics":                                            {"orders,pay@home", "orders,pay@home"},
		"source.cluster.bootstrap.servers":                  {"b1:9092,b2:9092", "b1:9092,b2:9092"},
		"source.cluster.alias":                              {"source", "source"},
		"key.converter":                                     {"org.apache.kafka.connect.converters.ByteArrayConverter", "org.apache.kafka.connect.converters.ByteArrayConverter"},
		"ssl.keystore.location":                             {"/opt/keys/keystore.jks", "/opt/keys/keystore.jks"},
		"config.providers.file.param.note":                  {"${file:/p:k} and more", "${file:/p:k} and more"},
		"replication.policy.url":                            {"https://docs/a?b=c@d", "https://docs/a?b=c@d"},
	} {
		in := map[string]string{key: c.value}
		got := offsetmap.RedactConfig(in)
		if len(got) != 1 || got[key] != c.want {
			t.Errorf("%s: got %q, want %q", key, got[key], c.want)
		}
		if in[key] != c.value {
			t.Errorf("%s: the config itself was changed", key)
		}
		if strings.Contains(got[key], secret) {
			t.Errorf("%s: the secret is in the output", key)
		}
		if one := offsetmap.RedactSetting(key, c.value); one != c.want {
			t.Errorf("%s: alone it is %q", key, one)
		}
		if named := offsetmap.IsSecretSetting(key); c.want == "<secret>" && !named {
			t.Errorf("%s is not named as a secret", key)
		}
	}
}

func TestConfigDigestIsBlindToSecretsAlone(t *testing.T) {
	base := map[string]string{
		"name": "orders-mirror", "topics": "orders", "tasks.max": "4",
		"source.cluster.sasl.jaas.config": "password=hunter2", "target.cluster.ssl.key.password": "${file:/p:k}",
	}
	digest := func(change func(map[string]string)) string {
		t.Helper()
		c := maps.Clone(base)
		change(c)
		d, err := offsetmap.ConfigDigest(c)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	same := digest(func(map[string]string) {})
	if got := digest(func(c map[string]string) { c["source.cluster.sasl.jaas.config"] = "password=other" }); got != same {
		t.Error("the digest depends on a secret")
	}
	for name, change := range map[string]func(map[string]string){
		"another value":     func(c map[string]string) { c["tasks.max"] = "5" },
		"another reference": func(c map[string]string) { c["target.cluster.ssl.key.password"] = "${file:/p:other}" },
		"a setting more":    func(c map[string]string) { c["consumer.group.id"] = "" },
		"a setting less":    func(c map[string]string) { delete(c, "topics") },
		"a secret less":     func(c map[string]string) { delete(c, "source.cluster.sasl.jaas.config") },
		"another name":      func(c map[string]string) { c["name"] = "orders-Mirror" },
	} {
		if digest(change) == same {
			t.Errorf("%s: the digest is the same", name)
		}
	}
	// sha256 of {"a":"<secret>b"} as Python writes it.
	if got, err := offsetmap.ConfigDigest(map[string]string{"a": "<secret>b"}); err != nil || got != "sha256:fea50f74fd0d51286b9a09ed2297b6ad00a907cec1162e26e282dcb642b8841c" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestConfigThatIsNotTextHasNoDigest(t *testing.T) {
	for _, c := range []map[string]string{{"topics": "\xff"}, {"\xff": "x"}} {
		if d, err := offsetmap.ConfigDigest(c); err == nil {
			t.Errorf("%q has the digest %s, as any other bytes would have", c, d)
		}
	}
}
