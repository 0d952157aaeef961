package preflight_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	jvm "github.com/flinkmm2/flinkmm2/internal/lab"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// theUser is known to brokers by a login, and has no rights but those of ACLs.
const theUser, theUsersPassword = "mm2", "mm2-secret"

func TestACLsAreReadAsEmbeddedBrokersReadThem(t *testing.T) {
	t.Parallel()
	c := brokers(t, "acls-1", kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "root", "root"), kfake.User("PLAIN", theUser, theUsersPassword))
	l := &lab{t: t}
	as := func(user, password string) *kgo.Client {
		return l.connect(c, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	}
	l.readsACLsAs(as("root", "root"), as(theUser, theUsersPassword), "t")
}

// readsACLsAs holds how ACLs are read against what brokers say to a user that it may do
// with each of many topics, whose ACLs are drawn by lot.
func (l *lab) readsACLsAs(root, user *kgo.Client, prefix string) {
	l.t.Helper()
	admin := kadm.NewClient(root)
	const topics = 40
	draw := rand.New(rand.NewPCG(1, 2)) // the same ACLs in each run
	among := func(of ...string) string { return of[draw.IntN(len(of))] }
	ops := []kmsg.ACLOperation{kadm.OpRead, kadm.OpWrite, kadm.OpCreate, kadm.OpDelete, kadm.OpAlter, kadm.OpDescribe, kadm.OpDescribeConfigs, kadm.OpAlterConfigs}
	req := kmsg.NewPtrCreateACLsRequest()
	var names []string
	distinct := map[string]bool{}
	for i := range topics {
		name := fmt.Sprintf("%s-%c%c", prefix, 'a'+i%5, 'a'+i/5)
		names = append(names, name)
		for range 1 + draw.IntN(4) {
			a := kmsg.NewCreateACLsRequestCreation()
			a.ResourceType, a.ResourceName, a.ResourcePatternType = kmsg.ACLResourceTypeTopic, name, kadm.ACLPatternLiteral
			a.Principal, a.Host = among("User:"+theUser, "User:"+theUser, "User:*", "User:you"), among("*", "*", "127.0.0.1", "10.0.0.9")
			a.Operation, a.PermissionType = append(ops, kadm.OpAll)[draw.IntN(len(ops)+1)], kmsg.ACLPermissionTypeAllow
			if draw.IntN(4) == 0 {
				a.PermissionType = kmsg.ACLPermissionTypeDeny
			}
			if draw.IntN(5) == 0 {
				a.ResourceName, a.ResourcePatternType = name[:len(name)-draw.IntN(2)], kadm.ACLPatternPrefixed
			}
			req.Creations = append(req.Creations, a)
			distinct[fmt.Sprint(a)] = true
		}
	}
	_, err := admin.CreateTopics(l.t.Context(), 1, 1, nil, names...)
	l.must(err)
	created, err := req.RequestWith(l.t.Context(), root)
	l.must(err)
	for _, r := range created.Results {
		if r.ErrorCode != 0 {
			l.t.Fatalf("ACL: code %d, %v", r.ErrorCode, r.ErrorMessage)
		}
	}
	// Brokers say nothing of topics that may not be described, and may be a moment
	// behind the ACLs.
	var yes, no int
	agrees := func() (wrong string) {
		described, err := admin.DescribeACLs(l.t.Context(), kadm.NewACLs().AnyResource().Allow().AllowHosts().Deny().DenyHosts().Operations().ResourcePatternType(kadm.ACLPatternAny))
		l.must(err)
		list := described[0].Described
		if len(list) != len(distinct) {
			return fmt.Sprintf("%d ACLs of %d are there", len(list), len(distinct))
		}
		says := l.authorized(user, names)
		yes, no = 0, 0
		for _, name := range names {
			describes := preflight.Permits(list, "User:"+theUser, "127.0.0.1", kmsg.ACLResourceTypeTopic, name, kadm.OpDescribe)
			for _, op := range ops {
				want := describes && preflight.Permits(list, "User:"+theUser, "127.0.0.1", kmsg.ACLResourceTypeTopic, name, op)
				if says[name][op] != want {
					wrong = fmt.Sprintf("%s on %s: the brokers say %t", op, name, says[name][op])
				}
				if want {
					yes++
				} else {
					no++
				}
			}
		}
		return wrong
	}
	wrong := agrees()
	for deadline := time.Now().Add(30 * time.Second); wrong != "" && time.Now().Before(deadline); wrong = agrees() {
		time.Sleep(50 * time.Millisecond)
	}
	if wrong != "" {
		l.t.Errorf("%s", wrong)
	}
	if yes < 40 || no < 40 {
		l.t.Errorf("%d rights and %d that are none: the ACLs show too little", yes, no)
	}
}

// authorized is what brokers say that a client may do with topics.
func (l *lab) authorized(cl *kgo.Client, topics []string) map[string]map[kmsg.ACLOperation]bool {
	l.t.Helper()
	req := kmsg.NewPtrMetadataRequest()
	req.IncludeTopicAuthorizedOperations = true
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(l.t.Context(), cl)
	l.must(err)
	out := map[string]map[kmsg.ACLOperation]bool{}
	for _, t := range resp.Topics {
		if t.Topic == nil || t.ErrorCode != 0 {
			continue
		}
		out[*t.Topic] = map[kmsg.ACLOperation]bool{}
		for _, op := range kadm.DecodeACLOperations(t.AuthorizedOperations) {
			out[*t.Topic][op] = true
		}
	}
	return out
}

// whatRealACLsSay is about brokers with an authorizer, and leaves ACLs behind by which
// who comes without a login, a super user in any case, may do all with topics.
func (l *lab) whatRealACLsSay(t *testing.T, stage *jvm.Lab) {
	t.Helper()
	const none = "list no ACL at all"
	l.probe.Principals = preflight.Principals{Target: anonymous}
	l.says(l.one("source/rights"), none)
	l.says(l.one("target/rights"), none)

	user := l.dial(stage.Source.Login, kgo.SASL(plain.Auth{User: theUser, Pass: theUsersPassword}.AsMechanism()))
	l.readsACLsAs(l.from, user, stage.TopicName(t, "acls"))
	f := l.one("source/rights")
	if f.Scope != anonymous {
		t.Errorf("scope %s", f.Scope)
	}
	l.says(f, "no ACL names it: it is a super user", "kafka-acls.sh --bootstrap-server "+stage.Source.Bootstrap+" --add --allow-principal User:ANONYMOUS --operation Describe --operation Read --topic ")

	everything := kadm.NewACLs().Topics("*").Groups("*").Allow(anonymous).AllowHosts("*").Operations(kadm.OpAll).ResourcePatternType(kadm.ACLPatternLiteral)
	for _, admin := range []preflight.Admin{l.probe.Source, l.probe.Target} {
		l.grant(admin, everything)
	}
	l.eventually(func() bool {
		return len(found(l.whole(), "source/rights")) == 0 && len(found(l.whole(), "target/rights")) == 0
	}, "the ACLs are there")
	for _, result := range l.whole().Results {
		saw := strings.Join(result.Saw, "; ")
		if strings.HasSuffix(result.Check, "/rights") && (result.State != preflight.Passed || !strings.Contains(saw, "org.apache.kafka.metadata.authorizer.StandardAuthorizer decides") || !strings.Contains(saw, anonymous)) {
			t.Errorf("%s is %s, and saw %s", result.Check, result.State, saw)
		}
	}

	// Of a setting of the authorizer's own brokers tell that it is there.
	described, err := l.probe.Source.DescribeBrokerConfigs(t.Context(), 1)
	l.must(err)
	i := slices.IndexFunc(described[0].Configs, func(c kadm.Config) bool { return c.Key == "super.users" })
	if i < 0 || !described[0].Configs[i].Sensitive || described[0].Configs[i].Value != nil || described[0].Configs[i].Source == kmsg.ConfigSourceDefaultConfig {
		t.Errorf("super.users is told as %+v", described[0].Configs[max(i, 0)])
	}
}
