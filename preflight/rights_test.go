package preflight_test

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

const (
	anonymous = "User:ANONYMOUS"
)

// withACLs lets embedded brokers hold ACLs, by which who has no login may do all.
func withACLs() []kfake.Opt {
	every := func(kind kmsg.ACLResourceType) kfake.ACL {
		return kfake.ACL{Resource: kind, Name: "*", Pattern: kadm.ACLPatternLiteral, Operation: kadm.OpAll, Allow: true}
	}
	return []kfake.Opt{
		kfake.EnableACLs(), kfake.Superuser("PLAIN", "", ""),
		kfake.User("PLAIN", strings.TrimPrefix(anonymous, "User:"), "x", every(kmsg.ACLResourceTypeTopic), every(kmsg.ACLResourceTypeGroup), every(kmsg.ACLResourceTypeTransactionalId)),
	}
}

// grant creates ACLs, and returns how to take them back.
func (l *lab) grant(admin preflight.Admin, b *kadm.ACLBuilder) (back func()) {
	l.t.Helper()
	cl := admin.(*kadm.Client)
	created, err := cl.CreateACLs(l.t.Context(), b)
	l.must(err)
	for _, one := range created {
		l.must(one.Err)
	}
	return func() {
		deleted, err := cl.DeleteACLs(l.t.Context(), b)
		l.must(err)
		for _, one := range deleted {
			l.must(one.Err)
		}
	}
}

// forbids denies an operation on topics whose names begin so.
func forbids(principal string, op kadm.ACLOperation, prefix string) *kadm.ACLBuilder {
	return kadm.NewACLs().Topics(prefix).Deny(principal).DenyHosts("*").Operations(op).ResourcePatternType(kadm.ACLPatternPrefixed)
}

func allows(principal string, op kadm.ACLOperation, topics ...string) *kadm.ACLBuilder {
	return kadm.NewACLs().Topics(topics...).Allow(principal).AllowHosts("*").Operations(op).ResourcePatternType(kadm.ACLPatternLiteral)
}

func rightsBreakages() map[string]breakage {
	return map[string]breakage{
		"source/rights": func(l *lab) func() { return l.grant(l.probe.Source, forbids("User:*", kadm.OpRead, "ord")) },
		"target/rights": func(l *lab) func() { return l.grant(l.probe.Target, forbids(anonymous, kadm.OpWrite, "payments")) },
	}
}

// finds holds what a check found, each as "severity scope: detail" with the brokers'
// addresses replaced by SOURCE and TARGET.
func (l *lab) finds(id string, want ...string) {
	l.t.Helper()
	var got []string
	for _, f := range found(l.whole(), id) {
		text := string(f.Severity) + " " + f.Scope + ": " + f.Detail
		text = strings.ReplaceAll(text, l.config["source.cluster.bootstrap.servers"], "SOURCE")
		got = append(got, strings.ReplaceAll(text, l.config["target.cluster.bootstrap.servers"], "TARGET"))
	}
	if d := cmp.Diff(want, got); d != "" {
		l.t.Errorf("%s (-want +got):\n%s", id, d)
	}
}

func TestEachMissingRightHasTheLineThatGivesIt(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.probe.Principals = preflight.Principals{Source: "User:CN=mm 2", Target: "User:mm2"}
	back := l.grant(l.probe.Source, allows("User:CN=mm 2", kadm.OpDescribe, "orders", "payments"))
	l.finds("source/rights",
		"block topic:orders: Read on topic:orders of User:CN=mm 2 (the replication consumer) is in no ACL: `kafka-acls.sh --bootstrap-server SOURCE --add --allow-principal 'User:CN=mm 2' --operation Read --topic orders`",
		"block topic:payments: Read on topic:payments of User:CN=mm 2 (the replication consumer) is in no ACL: `kafka-acls.sh --bootstrap-server SOURCE --add --allow-principal 'User:CN=mm 2' --operation Read --topic payments`")
	back()
	l.probe.ConnectTopics = preflight.ConnectTopics{}
	l.finds("target/rights",
		"block User:mm2: no ACL names it: it is a super user, which no API shows, or lacks what the connector needs: "+
			"Describe and Write on topic:orders of User:mm2 (the target admin client, the data producer) is in no ACL: `kafka-acls.sh --bootstrap-server TARGET --add --allow-principal User:mm2 --operation Describe --operation Write --topic orders`; "+
			"Describe and Write on topic:payments of User:mm2 (the target admin client, the data producer) is in no ACL: `kafka-acls.sh --bootstrap-server TARGET --add --allow-principal User:mm2 --operation Describe --operation Write --topic payments`; "+
			"Read on group:connect-cluster of User:mm2 (the worker) is in no ACL: `kafka-acls.sh --bootstrap-server TARGET --add --allow-principal User:mm2 --operation Read --group connect-cluster`")
	l.grant(l.probe.Target, allows("User:mm2", kadm.OpWrite, "orders", "payments"))
	l.probe.ConnectTopics = preflight.ConnectTopics{Config: "c", Offset: "o", Status: "s"}
	l.grant(l.probe.Target, allows("User:mm2", kadm.OpAll, "c", "o"))
	l.finds("target/rights",
		"block group:connect-cluster: Read on group:connect-cluster of User:mm2 (the worker) is in no ACL: `kafka-acls.sh --bootstrap-server TARGET --add --allow-principal User:mm2 --operation Read --group connect-cluster`",
		"block topic:s: Read and Write on topic:s of User:mm2 (the worker) is in no ACL: `kafka-acls.sh --bootstrap-server TARGET --add --allow-principal User:mm2 --operation Read --operation Write --topic s`")
	l.probe.ConnectTopics = preflight.ConnectTopics{}
	l.grant(l.probe.Target, kadm.NewACLs().Groups("connect-").Allow("User:mm2").AllowHosts("*").Operations(kadm.OpRead).ResourcePatternType(kadm.ACLPatternPrefixed))
	l.finds("target/rights")
	l.grant(l.probe.Target, forbids("User:*", kadm.OpAll, "pay"))
	l.finds("target/rights",
		"block topic:payments: Describe and Write on topic:payments of User:mm2 (the target admin client, the data producer) is denied: "+
			"`kafka-acls.sh --bootstrap-server TARGET --remove --deny-principal 'User:*' --deny-host '*' --operation All --topic pay --resource-pattern-type prefixed` takes the denial back")
}

func TestRightsThatDependOnTheHostAreNotProven(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	back := l.grant(l.probe.Source, kadm.NewACLs().Topics("orders").Deny(anonymous).DenyHosts("10.0.0.9").Operations(kadm.OpRead).ResourcePatternType(kadm.ACLPatternLiteral))
	l.finds("source/rights", "warn topic:orders: not proven: Read on topic:orders of User:ANONYMOUS (the replication consumer) depends on the host (allowed from any other, not from 10.0.0.9), and from where the workers come is not known; "+
		"`kafka-acls.sh --bootstrap-server SOURCE --add --allow-principal User:ANONYMOUS --operation Read --topic orders` allows it from each, unless an ACL denies it")
	back()
	l.finds("source/rights")
}

func TestRightsGoByWhatTheConfigAsksFor(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	login := func(side string) []string {
		return []string{side + ".cluster.security.protocol", "SASL_PLAINTEXT", side + ".cluster.sasl.mechanism", "PLAIN", side + ".cluster.sasl.jaas.config", `PlainLoginModule required username="mm2" password="` + password + `";`}
	}
	// A Config would be answered without its secrets.
	mend := l.answer("/connectors/"+connector, map[string]any{"name": connector, "tasks": []string{}, "type": "source", "config": map[string]string(with(l.config, append(login("source"), "source.consumer.group.id", "copy", "source.consumer.isolation.level", "read_committed", "exactly.once.support", "required", "tasks.max", "5", "offsets.storage.topic", "own")...))})
	l.grant(l.probe.Source, allows("User:mm2", kadm.OpRead, "orders", "payments"))
	l.finds("source/rights",
		"block group:copy: Read on group:copy of User:mm2 (the replication consumer) is in no ACL: `kafka-acls.sh --bootstrap-server SOURCE --add --allow-principal User:mm2 --operation Read --group copy`")
	l.grant(l.probe.Target, kadm.NewACLs().TransactionalIDs("connect-cluster-mm2-2").Deny(anonymous).DenyHosts("*").Operations(kadm.OpWrite).ResourcePatternType(kadm.ACLPatternLiteral))
	l.grant(l.probe.Target, forbids(anonymous, kadm.OpRead, "own"))
	l.finds("target/rights",
		"block topic:own: Read on topic:own of User:ANONYMOUS (the data producer) is denied: `kafka-acls.sh --bootstrap-server TARGET --remove --deny-principal User:ANONYMOUS --deny-host '*' --operation Read --topic own --resource-pattern-type prefixed` takes the denial back",
		"block transactional-id:connect-cluster-mm2-: Write on transactional-id:connect-cluster-mm2- of User:ANONYMOUS (the data producer) is denied: `kafka-acls.sh --bootstrap-server TARGET --remove --deny-principal User:ANONYMOUS --deny-host '*' --operation Write --transactional-id connect-cluster-mm2-2` takes the denial back")
	mend()
	l.finds("target/rights")
}

func TestAnOffsetSyncsTopicAsksForItsRights(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{version: "3.8.1"})
	l.probe.Principals.Target, l.probe.ConnectTopics = "User:mm2", preflight.ConnectTopics{}
	l.grant(l.probe.Target, kadm.NewACLs().Topics("orders", "payments").Groups("connect-cluster").Allow("User:mm2").AllowHosts("*").Operations(kadm.OpAll).ResourcePatternType(kadm.ACLPatternLiteral))
	const topic = "mm2-offset-syncs.source.internal"
	l.finds("target/rights", "block topic:"+topic+": Write and Create on topic:"+topic+" of User:mm2 (the producer of offset-syncs, the target admin client) is in no ACL: "+
		"`kafka-acls.sh --bootstrap-server TARGET --add --allow-principal User:mm2 --operation Write --operation Create --topic "+topic+"`")
	back := l.grant(l.probe.Target, kadm.NewACLs().Clusters().Allow("User:mm2").AllowHosts("*").Operations(kadm.OpCreate).ResourcePatternType(kadm.ACLPatternLiteral))
	l.grant(l.probe.Target, allows("User:mm2", kadm.OpWrite, topic))
	l.finds("target/rights")
	back()
	l.create(l.target, topic, 1)
	l.finds("target/rights")
}

// refusing answers DescribeACLs with an error.
type refusing struct {
	*kadm.Client
	whole, code error
}

func (r refusing) DescribeACLs(context.Context, *kadm.ACLBuilder) (kadm.DescribeACLsResults, error) {
	return kadm.DescribeACLsResults{{Err: r.code}}, r.whole
}

func TestRightsThatCannotBeSeenAreSaidAndNotPassed(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	source := l.probe.Source.(*kadm.Client)
	for _, c := range []struct {
		whole, code error
		want        string
	}{
		{nil, kerr.SecurityDisabled, "info : the source's brokers have no authorizer: whoever reaches them may do everything"},
		{nil, kerr.ClusterAuthorizationFailed, "warn : not proven: the source's brokers do not list their ACLs: CLUSTER_AUTHORIZATION_FAILED: Cluster authorization failed."},
		{nil, kerr.RequestTimedOut, "block : could not be checked: " + kerr.RequestTimedOut.Error()},
		{errors.New("connection reset"), nil, "block : could not be checked: connection reset"},
	} {
		l.probe.Source = refusing{source, c.whole, c.code}
		l.finds("source/rights", c.want)
	}
	l.probe.Source = source
	l.probe.Principals.Target = ""
	l.finds("target/rights", "warn : not proven: as whom the brokers know them is not known of the data producer: the worker's own settings, which no API shows, say who it is")

	bare := newLab(t, setup{})
	all := kadm.NewACLs().AnyResource().Allow().AllowHosts().Deny().DenyHosts().Operations().ResourcePatternType(kadm.ACLPatternAny)
	_, err := bare.probe.Source.(*kadm.Client).DeleteACLs(t.Context(), all)
	bare.must(err)
	bare.finds("source/rights", "warn : not proven: the source's brokers list no ACL at all: super users alone have any right, or everybody has each (allow.everyone.if.no.acl.found)")
}

// settingOf lets brokers tell a setting that embedded ones do not have.
type settingOf struct {
	*kadm.Client
	config kadm.Config
}

func (s settingOf) DescribeBrokerConfigs(ctx context.Context, brokers ...int32) (kadm.ResourceConfigs, error) {
	all, err := s.Client.DescribeBrokerConfigs(ctx, brokers...)
	for i := range all {
		all[i].Configs = append(all[i].Configs, s.config)
	}
	return all, err
}

func TestAnAuthorizerOfAnotherMakerIsNotJudged(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	source := l.probe.Source.(*kadm.Client)
	l.grant(source, forbids(anonymous, kadm.OpAll, "orders"))
	class := func(name string) settingOf {
		return settingOf{source, kadm.Config{Key: "authorizer.class.name", Value: &name}}
	}
	l.probe.Source = class("com.example.Roles")
	l.finds("source/rights", "warn : not proven: the source's brokers have the authorizer com.example.Roles, whose rules this program does not know")
	l.probe.Source = class("org.apache.kafka.metadata.authorizer.StandardAuthorizer")
	if n := len(found(l.whole(), "source/rights")); n != 1 {
		t.Errorf("%d findings of Kafka's own", n)
	}
}

// Where no ACL is on a resource, brokers may allow it to all.
func TestWhereNoACLIsTheBrokersDefaultIsNotGuessed(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	source := l.probe.Source.(*kadm.Client)
	l.grant(source, allows("User:mm2", kadm.OpAll, "payments"))
	deleted, err := source.DeleteACLs(t.Context(), allows(anonymous, kadm.OpAll, "*"))
	l.must(errors.Join(err, deleted[0].Err))
	l.probe.Principals.Source = "User:mm2"
	const missing = "Describe and Read on topic:orders of User:mm2 (the source admin client, the replication consumer) is in no ACL"
	l.finds("source/rights", "block topic:orders: "+missing+": `kafka-acls.sh --bootstrap-server SOURCE --add --allow-principal User:mm2 --operation Describe --operation Read --topic orders`")
	l.probe.Source = settingOf{source, kadm.Config{Key: "allow.everyone.if.no.acl.found", Sensitive: true, Source: kmsg.ConfigSourceStaticBrokerConfig}}
	l.finds("source/rights", "warn topic:orders: not proven: "+missing+", and no ACL is on it: allow.everyone.if.no.acl.found is set, to what the brokers do not tell; "+
		"`kafka-acls.sh --bootstrap-server SOURCE --add --allow-principal User:mm2 --operation Describe --operation Read --topic orders` allows it in any case")
}

func TestASuperUserIsAcceptedByItsName(t *testing.T) {
	t.Parallel()
	l := newLab(t, setup{})
	l.probe.Principals.Source = "User:root"
	l.question.Acceptances = append(l.question.Acceptances, offsetmap.Acceptance{Check: "source/rights", Scope: "User:root", Reason: "stands in super.users", By: "ann"})
	r := l.whole()
	if f := found(r, "source/rights"); len(f) != 1 || f[0].Accepted == nil {
		t.Errorf("findings %v", f)
	}
	l.must(r.Err())
}

// A shell must give what is printed to kafka-acls.sh as it is.
func TestTheLineReachesAclsAsItIs(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	l := newLab(t, setup{})
	const evil = `User:a'; touch "$HOME" #`
	l.probe.Principals.Source = evil
	l.grant(l.probe.Source, allows(evil, kadm.OpRead, "payments"))
	_, line, _ := strings.Cut(l.one("source/rights").Detail, ": `kafka-acls.sh ")
	line, _, _ = strings.Cut(line, "`")
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\n' `+line).Output()
	l.must(err)
	if args := strings.Split(string(out), "\n"); !slices.Contains(args, evil) || args[len(args)-2] != "orders" {
		t.Errorf("arguments %q", args)
	}
}
