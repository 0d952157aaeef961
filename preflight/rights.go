package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// readACLs reads all ACLs of a cluster (DescribeAcls, for which the client needs
// Describe on the cluster).
func readACLs(ctx context.Context, admin Admin, f offsetmap.Fact[Cluster]) offsetmap.Fact[[]kadm.DescribedACL] {
	if _, ok := f.Get(); !ok {
		return offsetmap.NotKnown[[]kadm.DescribedACL](f.Err())
	}
	every := kadm.NewACLs().AnyResource().Allow().AllowHosts().Deny().DenyHosts().Operations().ResourcePatternType(kadm.ACLPatternAny)
	results, err := admin.DescribeACLs(ctx, every)
	var out []kadm.DescribedACL
	for _, r := range results {
		out = append(out, r.Described...)
		err = errors.Join(err, r.Err)
	}
	return fact(out, err)
}

func rightsChecks() []Check {
	const (
		looks  = ", against all ACLs of the cluster, by the rules of Kafka's own authorizers (DescribeAcls). As whom the brokers know them comes from connect.principal and connect.sourcePrincipal, else from the user of a PLAIN or SCRAM login in the connector's config. The scope is the resource, such as topic:orders, or the principal where no ACL names it"
		remedy = `; each finding has its line (with --command-config, where the brokers ask for a login) for those who keep the ACLs. A super user (super.users) needs no ACL, and no API shows who is one: accept the scope then. What is not proven: state the principals under connect in the migration file (Probe.Principals in Go), and let the client of this program Describe the cluster.`
	)
	return []Check{{
		ID:         "source/rights",
		Title:      "The connector may read the source",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "what the source's clients of the connector need for its config: Describe and Read on the topics, Read on a group.id that is set, and what an offset-syncs topic needs where one is written" + looks,
		Why:        "A topic that the connector may not Describe is not there for it, and is not copied. One that it may not Read is fetched for ever in vain: the task logs a warning, and the connector stays RUNNING.",
		Remedy:     "Give the right, or take back what denies it, as by `kafka-acls.sh --bootstrap-server <SOURCE> --add --allow-principal <PRINCIPAL> --operation Describe --operation Read --topic <NAME>`" + remedy,
		Judge: aroundConfig(func(c *Case, s settings, sur *Surroundings, source, _ Cluster, r *Reporter) {
			side := rightsOn{name: "source", acls: sur.SourceACLs, brokers: sur.SourceBrokers, open: sur.sourceUntold[keyOpen], stated: sur.Principals.Source, servers: s.m[keySourceBootstrap]}
			side.needed = c.sourceRights(s, source)
			side.needed = append(side.needed, c.workerRights(sur, c.Facts.Source)...)
			side.judge(s, r)
		}),
	}, {
		ID:         "target/rights",
		Title:      "The connector may write to the target",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "what the target's clients of connector and worker need for its config: Describe and Write on the topics, Write on the transactional ids of the tasks where exactly.once.support is required, Read and Write on an offsets.storage.topic of the connector's own, and what an offset-syncs topic needs where one is written" + looks,
		Why:        "A task whose producer may not write fails. A target topic that the connector may not Describe is missing for it: it tries to create it, again and again.",
		Remedy:     "Give the right, or take back what denies it, as by `kafka-acls.sh --bootstrap-server <TARGET> --add --allow-principal <PRINCIPAL> --operation Describe --operation Write --topic <NAME>`" + remedy,
		Judge: aroundConfig(func(c *Case, s settings, sur *Surroundings, _, target Cluster, r *Reporter) {
			side := rightsOn{name: "target", acls: sur.TargetACLs, brokers: sur.TargetBrokers, open: sur.targetUntold[keyOpen], stated: sur.Principals.Target, servers: s.m[keyTargetBootstrap]}
			side.needed, side.unsure = c.targetRights(s, sur, target)
			side.needed = append(side.needed, c.workerRights(sur, c.Facts.Target)...)
			side.judge(s, r)
		}),
	}}
}

// aroundConfig makes a check of the surroundings that needs both clusters and the
// connector's config.
func aroundConfig(judge func(c *Case, s settings, around *Surroundings, source, target Cluster, r *Reporter)) func(*Case, *Reporter) {
	return around(func(c *Case, sur *Surroundings, r *Reporter) {
		info, ok := c.Facts.Connector.Get()
		source, target, known := c.clusters()
		if !ok || !known {
			r.NotAsked() // connector/absent, source/unknown, target/unknown
			return
		}
		judge(c, settings{info.Config}, sur, source, target, r)
	})
}

// rightsOn judges the rights on one cluster.
type rightsOn struct {
	name    string // source or target
	acls    offsetmap.Fact[[]kadm.DescribedACL]
	brokers offsetmap.Fact[map[int32]Settings]
	open    bool   // allow.everyone.if.no.acl.found is set, to what the brokers do not tell
	stated  string // principal
	servers string
	needed  []right
	unsure  error // why it is not known what else is needed
}

const (
	// keyAuthorizer names the class that decides.
	keyAuthorizer = "authorizer.class.name"
	// keyOpen is the authorizer's own setting, of which brokers tell that it is there
	// alone, as of each whose type they do not know.
	keyOpen = "allow.everyone.if.no.acl.found"
)

// authorizers are those whose rules acls has.
var authorizers = []string{
	"org.apache.kafka.metadata.authorizer.StandardAuthorizer",
	"kafka.security.authorizer.AclAuthorizer", "kafka.security.auth.SimpleAclAuthorizer",
}

func (on rightsOn) judge(s settings, r *Reporter) {
	if len(on.needed) == 0 && on.unsure == nil {
		r.NotAsked() // source/topic-missing, target/topic-missing
		return
	}
	list, known := on.acls.Get()
	class := on.authorizer()
	_, refused := errors.AsType[*kerr.Error](on.acls.Err())
	switch {
	case errors.Is(on.acls.Err(), kerr.SecurityDisabled):
		r.Info("", "the %s's brokers have no authorizer: whoever reaches them may do everything", on.name)
		return
	case refused && !kerr.IsRetriable(on.acls.Err()): // to this program, or by an authorizer that keeps no ACLs
		r.Warn("", "not proven: the %s's brokers do not list their ACLs: %v", on.name, on.acls.Err())
		return
	case !known:
		r.Unmade("", on.acls.Err())
		return
	case class != "" && !slices.Contains(authorizers, class):
		r.Warn("", "not proven: the %s's brokers have the authorizer %s, whose rules this program does not know", on.name, class)
		return
	case len(list) == 0:
		r.Warn("", "not proven: the %s's brokers list no ACL at all: super users alone have any right, or everybody has each (allow.everyone.if.no.acl.found)", on.name)
		return
	}
	r.Saw("", "the %s's brokers list %d ACLs, and %s decides", on.name, len(list), cmp.Or(class, "an authorizer that they do not name"))
	on.hold(newACLs(list), s, r)
}

// authorizer is the class that all brokers name, or empty.
func (on rightsOn) authorizer() string {
	all, _ := on.brokers.Get()
	for _, settings := range all {
		if class := settings[keyAuthorizer]; class != "" {
			return class
		}
	}
	return ""
}

func (on rightsOn) hold(all *acls, s settings, r *Reporter) {
	var nobody []string
	counts := map[string]int{}
	lacking, unnamed := map[string][]lack{}, map[string]bool{} // by scope
	for _, need := range on.needed {
		principal, from, err := on.principal(need.by, s)
		if err != nil {
			if text := fmt.Sprintf("%s: %v", need.by.what, err); need.by.what != theWorker.what && !slices.Contains(nobody, text) {
				nobody = append(nobody, text)
			}
			continue
		}
		counts[shown.Name(principal)+" ("+from+")"]++
		p := all.permitsRight(principal, need.action)
		if p.always() {
			continue
		}
		scope := need.scope()
		if !all.names(principal) {
			scope = shown.Name(principal)
			unnamed[scope] = true
		}
		lacking[scope] = on.add(lacking[scope], need, principal, p)
	}
	for _, who := range slices.Sorted(maps.Keys(counts)) {
		r.Saw("", "%d rights of %s", counts[who], who)
	}
	if on.unsure != nil {
		nobody = append(nobody, on.unsure.Error())
	}
	if len(nobody) > 0 {
		r.Warn("", "not proven: as whom the brokers know them is not known of %s", strings.Join(nobody, "; "))
	}
	for _, scope := range slices.Sorted(maps.Keys(lacking)) {
		on.report(scope, unnamed[scope], lacking[scope], r)
	}
}

// principal is who a client is to the brokers, and how that is known.
func (on rightsOn) principal(by clientOf, s settings) (principal, from string, err error) {
	principal, from, err = by.identify(s)
	if on.stated == "" {
		return principal, from, err
	}
	if err == nil && principal != on.stated {
		return on.stated, "as is stated; " + from + " says " + shown.Name(principal), nil
	}
	return on.stated, "as is stated", nil
}

// names reports whether an ACL is of the principal's own.
func (a *acls) names(principal string) bool {
	return slices.ContainsFunc(a.list, func(one kadm.DescribedACL) bool { return one.Principal == principal })
}
