package preflight

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

const (
	topicACL = kmsg.ACLResourceTypeTopic
	allow    = kmsg.ACLPermissionTypeAllow
	deny     = kmsg.ACLPermissionTypeDeny
	literal  = kadm.ACLPatternLiteral
	prefixed = kadm.ACLPatternPrefixed
)

func one(permission kmsg.ACLPermissionType, principal, host string, op kmsg.ACLOperation, pattern kadm.ACLPattern, name string) kadm.DescribedACL {
	return kadm.DescribedACL{Principal: principal, Host: host, Type: topicACL, Name: name, Pattern: pattern, Operation: op, Permission: permission}
}

func TestACLsPermitWhatKafkasAuthorizersPermit(t *testing.T) {
	t.Parallel()
	const me, read, describe, write = "User:mm2", kadm.OpRead, kadm.OpDescribe, kadm.OpWrite
	orders := func(op kmsg.ACLOperation) action { return action{topicACL, "orders", op} }
	for name, c := range map[string]struct {
		acls             []kadm.DescribedACL
		do               action
		allowed, refused string
		bare             bool
	}{
		"no ACL":                                      {do: orders(read), refused: "*", bare: true},
		"its own":                                     {[]kadm.DescribedACL{one(allow, me, "*", read, literal, "orders")}, orders(read), "*", "", false},
		"that of another":                             {[]kadm.DescribedACL{one(allow, "User:mm", "*", read, literal, "orders")}, orders(read), "", "*", false},
		"that of another type of principal":           {[]kadm.DescribedACL{one(allow, "Group:mm2", "*", read, literal, "orders")}, orders(read), "", "*", false},
		"everybody's":                                 {[]kadm.DescribedACL{one(allow, "User:*", "*", read, literal, "orders")}, orders(read), "*", "", false},
		"of every name":                               {[]kadm.DescribedACL{one(allow, me, "*", read, literal, "*")}, orders(read), "*", "", false},
		"of a prefix":                                 {[]kadm.DescribedACL{one(allow, me, "*", read, prefixed, "ord")}, orders(read), "*", "", false},
		"of a prefix that is the name":                {[]kadm.DescribedACL{one(allow, me, "*", read, prefixed, "orders")}, orders(read), "*", "", false},
		"of a longer prefix":                          {[]kadm.DescribedACL{one(allow, me, "*", read, prefixed, "orders-")}, orders(read), "", "*", true},
		"of a name that is a prefix":                  {[]kadm.DescribedACL{one(allow, me, "*", read, literal, "ord")}, orders(read), "", "*", true},
		"of another type of resource":                 {[]kadm.DescribedACL{{Principal: me, Host: "*", Type: kmsg.ACLResourceTypeGroup, Name: "orders", Pattern: literal, Operation: read, Permission: allow}}, orders(read), "", "*", true},
		"a prefix * is no wildcard":                   {[]kadm.DescribedACL{one(allow, me, "*", read, prefixed, "*")}, orders(read), "", "*", true},
		"all operations":                              {[]kadm.DescribedACL{one(allow, me, "*", kadm.OpAll, literal, "orders")}, orders(write), "*", "", false},
		"reading describes":                           {[]kadm.DescribedACL{one(allow, me, "*", read, literal, "orders")}, orders(describe), "*", "", false},
		"describing reads nothing":                    {[]kadm.DescribedACL{one(allow, me, "*", describe, literal, "orders")}, orders(read), "", "*", false},
		"creating does not describe":                  {[]kadm.DescribedACL{one(allow, me, "*", kadm.OpCreate, literal, "orders")}, orders(describe), "", "*", false},
		"altering configs describes them":             {[]kadm.DescribedACL{one(allow, me, "*", kadm.OpAlterConfigs, literal, "orders")}, orders(kadm.OpDescribeConfigs), "*", "", false},
		"altering configs does not describe":          {[]kadm.DescribedACL{one(allow, me, "*", kadm.OpAlterConfigs, literal, "orders")}, orders(describe), "", "*", false},
		"a denial outweighs":                          {[]kadm.DescribedACL{one(deny, me, "*", read, literal, "orders"), one(allow, me, "*", kadm.OpAll, literal, "orders")}, orders(read), "", "*", false},
		"a denial on a prefix outweighs":              {[]kadm.DescribedACL{one(allow, me, "*", read, literal, "orders"), one(deny, "User:*", "*", kadm.OpAll, prefixed, "o")}, orders(read), "", "*", false},
		"a denial to read does not deny to describe":  {[]kadm.DescribedACL{one(allow, me, "*", write, literal, "orders"), one(deny, me, "*", read, literal, "orders")}, orders(describe), "*", "", false},
		"a denial to everybody else's type":           {[]kadm.DescribedACL{one(allow, me, "*", read, literal, "orders"), one(deny, "Group:*", "*", read, literal, "orders")}, orders(read), "*", "", false},
		"from one host":                               {[]kadm.DescribedACL{one(allow, me, "10.0.0.1", read, literal, "orders")}, orders(read), "10.0.0.1", "*", false},
		"denied from one host":                        {[]kadm.DescribedACL{one(allow, me, "*", read, literal, "orders"), one(deny, me, "10.0.0.1", read, literal, "orders")}, orders(read), "*", "10.0.0.1", false},
		"from one host, denied from another":          {[]kadm.DescribedACL{one(allow, me, "10.0.0.1", read, literal, "orders"), one(deny, me, "10.0.0.2", read, literal, "orders")}, orders(read), "10.0.0.1", "* 10.0.0.2", false},
		"from one host, for which another one denies": {[]kadm.DescribedACL{one(allow, me, "10.0.0.1", read, literal, "orders"), one(deny, me, "10.0.0.1", read, prefixed, "")}, orders(read), "", "* 10.0.0.1", false},
	} {
		p := newACLs(c.acls).permits(me, c.do)
		if got := strings.Join(p.allowed, " "); got != c.allowed {
			t.Errorf("%s: allowed from %q, want %q", name, got, c.allowed)
		}
		if got := strings.Join(p.refused, " "); got != c.refused {
			t.Errorf("%s: refused from %q, want %q", name, got, c.refused)
		}
		if p.bare != c.bare {
			t.Errorf("%s: bare is %t", name, p.bare)
		}
	}
}

// authorize is StandardAuthorizer's decision, ACL by ACL, for one host.
func authorize(all []kadm.DescribedACL, principal, host string, do action) bool {
	implied := map[kmsg.ACLOperation][]kmsg.ACLOperation{
		kadm.OpDescribe:        {kadm.OpDescribe, kadm.OpRead, kadm.OpWrite, kadm.OpDelete, kadm.OpAlter},
		kadm.OpDescribeConfigs: {kadm.OpDescribeConfigs, kadm.OpAlterConfigs},
	}
	allowed := false
	for _, a := range all {
		onName := a.Pattern == literal && (a.Name == do.name || a.Name == "*") || a.Pattern == prefixed && len(a.Name) <= len(do.name) && do.name[:len(a.Name)] == a.Name
		if a.Type != do.kind || !onName || a.Principal != principal && a.Principal != "User:*" || a.Host != "*" && a.Host != host {
			continue
		}
		switch {
		case a.Permission == deny:
			if a.Operation == do.op || a.Operation == kadm.OpAll {
				return false
			}
		case a.Operation == do.op || a.Operation == kadm.OpAll || slices.Contains(implied[do.op], a.Operation):
			allowed = true
		}
	}
	return allowed
}

func TestACLsPermitAsOneByOneForEveryHost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SampledFrom([]kmsg.ACLResourceType{topicACL, kmsg.ACLResourceTypeGroup})
		names := rapid.SampledFrom([]string{"a", "ab", "abc", "b", "*"})
		principals := rapid.SampledFrom([]string{"User:me", "User:*", "User:you"})
		ops := rapid.SampledFrom([]kmsg.ACLOperation{kadm.OpAll, kadm.OpRead, kadm.OpWrite, kadm.OpDescribe, kadm.OpAlterConfigs, kadm.OpDescribeConfigs, kadm.OpCreate})
		var all []kadm.DescribedACL
		for range rapid.IntRange(0, 8).Draw(t, "acls") {
			all = append(all, kadm.DescribedACL{
				Principal: principals.Draw(t, "principal"), Host: rapid.SampledFrom([]string{"*", "1", "2"}).Draw(t, "host"),
				Type: kinds.Draw(t, "kind"), Name: names.Draw(t, "name"), Pattern: rapid.SampledFrom([]kadm.ACLPattern{literal, prefixed}).Draw(t, "pattern"),
				Operation: ops.Draw(t, "operation"), Permission: rapid.SampledFrom([]kmsg.ACLPermissionType{allow, deny}).Draw(t, "permission"),
			})
		}
		do := action{kinds.Draw(t, "of kind"), rapid.SampledFrom([]string{"a", "ab", "abc", "abcd", "b", "c"}).Draw(t, "of name"), ops.Filter(func(op kmsg.ACLOperation) bool { return op != kadm.OpAll }).Draw(t, "do")}
		p := newACLs(all).permits("User:me", do)
		for _, host := range []string{"1", "2", "3"} { // no ACL names the last
			at := host
			if !slices.Contains(p.allowed, host) && !slices.Contains(p.refused, host) {
				at = aclAny
			}
			want := authorize(all, "User:me", host, do)
			if got := slices.Contains(p.allowed, at); got != want || slices.Contains(p.refused, at) == got {
				t.Fatalf("from %s it is %t, want %t: %+v", host, got, want, p)
			}
		}
		if p.never() && p.deny != nil && p.deny.Permission != deny {
			t.Fatalf("%+v denies", p.deny)
		}
	})
}

func TestWhoAClientIsComesFromItsConfig(t *testing.T) {
	t.Parallel()
	const jaas, plain = "org.apache.kafka.common.security.plain.PlainLoginModule required ", `username="mm2" password="secret";`
	for name, c := range map[string]struct {
		of     clientOf
		config map[string]string
		want   string // the principal, or what the error says
	}{
		"no login":                       {sourceConsumer, nil, "User:ANONYMOUS"},
		"plaintext by name":              {targetAdmin, map[string]string{"target.cluster.security.protocol": "plaintext"}, "User:ANONYMOUS"},
		"a line that is not used":        {sourceConsumer, map[string]string{"source.cluster.sasl.jaas.config": jaas + plain}, "User:ANONYMOUS"},
		"a certificate":                  {sourceConsumer, map[string]string{"source.cluster.security.protocol": "SSL"}, "source.cluster.security.protocol is SSL: its certificate says"},
		"PLAIN":                          {sourceConsumer, map[string]string{"source.cluster.security.protocol": "SASL_SSL", "source.cluster.sasl.mechanism": "PLAIN", "source.cluster.sasl.jaas.config": jaas + plain}, "User:mm2"},
		"the consumer's own":             {sourceConsumer, map[string]string{"source.cluster.security.protocol": "SASL_SSL", "source.cluster.sasl.mechanism": "PLAIN", "source.cluster.sasl.jaas.config": jaas + plain, "source.consumer.sasl.jaas.config": jaas + `username=reader password=x;`}, "User:reader"},
		"not the consumer's":             {sourceAdmin, map[string]string{"source.cluster.security.protocol": "SASL_SSL", "source.cluster.sasl.mechanism": "PLAIN", "source.cluster.sasl.jaas.config": jaas + plain, "source.consumer.sasl.jaas.config": jaas + `username=reader password=x;`}, "User:mm2"},
		"SCRAM":                          {targetAdmin, map[string]string{"admin.security.protocol": "SASL_PLAINTEXT", "admin.sasl.mechanism": "scram-sha-512", "admin.sasl.jaas.config": "ScramLoginModule required password=\"a=b;\" username='m\\'m 2';"}, "User:m'm 2"},
		"a token":                        {targetAdmin, map[string]string{"admin.security.protocol": "SASL_PLAINTEXT", "admin.sasl.mechanism": "SCRAM-SHA-512", "admin.sasl.jaas.config": `ScramLoginModule required username="id" password="x" tokenauth="true";`}, "delegation token"},
		"Kerberos by default":            {targetAdmin, map[string]string{"admin.security.protocol": "SASL_PLAINTEXT", "admin.sasl.jaas.config": jaas + plain}, "GSSAPI"},
		"another mechanism":              {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "OAUTHBEARER", "admin.sasl.jaas.config": jaas + plain}, "admin.sasl.mechanism is OAUTHBEARER"},
		"no line":                        {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "PLAIN"}, "no sasl.jaas.config is there"},
		"a password by reference":        {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "PLAIN", "admin.sasl.jaas.config": jaas + `username="mm2" password="${file:/run/s:p}";`}, "User:mm2"},
		"a user by reference":            {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "PLAIN", "admin.sasl.jaas.config": jaas + `username="${env:U}" password="x";`}, "refers to a config provider"},
		"the whole line by reference":    {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "PLAIN", "admin.sasl.jaas.config": "${file:/run/s:jaas}"}, `does not end with ";"`},
		"the protocol by reference":      {targetAdmin, map[string]string{"admin.security.protocol": "${env:P}"}, "refers to a config provider"},
		"a redacted line":                {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "PLAIN", "admin.sasl.jaas.config": "<secret>"}, "redacted"},
		"another module":                 {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "PLAIN", "admin.sasl.jaas.config": `com.example.Login required username="mm2";`}, "no line of PlainLoginModule"},
		"no username":                    {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "PLAIN", "admin.sasl.jaas.config": jaas + `password="x";`}, "no username"},
		"an open quote":                  {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "PLAIN", "admin.sasl.jaas.config": jaas + `username="mm2`}, "does not end"},
		"no key and value":               {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "PLAIN", "admin.sasl.jaas.config": jaas + `username "mm2" "x";`}, "KEY=VALUE"},
		"the worker's producer":          {dataProducer, map[string]string{"target.cluster.security.protocol": "PLAINTEXT"}, "no API shows"},
		"a producer with a line":         {dataProducer, map[string]string{"producer.override.sasl.jaas.config": jaas + plain}, "User:mm2"},
		"a producer with a protocol":     {dataProducer, map[string]string{"producer.override.security.protocol": "SASL_SSL"}, "no API shows"},
		"a producer without a login":     {dataProducer, map[string]string{"producer.override.security.protocol": "PLAINTEXT"}, "User:ANONYMOUS"},
		"the worker":                     {theWorker, map[string]string{"security.protocol": "PLAINTEXT"}, "no API shows"},
		"a name with what a shell takes": {targetAdmin, map[string]string{"admin.security.protocol": "SASL_SSL", "admin.sasl.mechanism": "PLAIN", "admin.sasl.jaas.config": jaas + `username="$(id)";`}, "User:$(id)"},
	} {
		principal, _, err := c.of.identify(settings{c.config})
		if err != nil {
			principal = err.Error()
			if strings.Contains(principal, "secret\"") || strings.Contains(principal, "mm2") {
				t.Errorf("%s: the line is repeated: %s", name, principal)
			}
		}
		if !strings.Contains(principal, c.want) || err == nil && principal != c.want {
			t.Errorf("%s: %q, want %q", name, principal, c.want)
		}
	}
}

func TestAStatedPrincipalHasTypeAndName(t *testing.T) {
	t.Parallel()
	for p, want := range map[Principals]string{
		{}: "", {Source: "User:mm2", Target: "User:CN=mm2,O=x"}: "",
		{Source: "mm2"}:     `the principal on the source is "mm2", which is not TYPE:NAME, such as User:mm2`,
		{Target: ":mm2"}:    `the principal on the target is ":mm2", which is not TYPE:NAME, such as User:mm2`,
		{Target: "User:"}:   `the principal on the target is "User:", which is not TYPE:NAME, such as User:mm2`,
		{Target: "User:\n"}: "",
	} {
		got := ""
		if err := p.Check(); err != nil {
			got = err.Error()
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%+v: %s", p, d)
		}
	}
}
