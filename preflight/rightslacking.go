package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/internal/shown"
)

// lack is what a principal may not do with one resource, or perhaps may not.
type lack struct {
	right
	principal string
	permit    permit
	ops       []kmsg.ACLOperation
	clients   []string
}

// add enters a right that a principal lacks.
func (on rightsOn) add(all []lack, need right, principal string, p permit) []lack {
	i := slices.IndexFunc(all, func(l lack) bool {
		same := l.permit.deny == p.deny || l.permit.deny != nil && p.deny != nil && *l.permit.deny == *p.deny
		return same && l.principal == principal && l.scope() == need.scope() && l.permit.never() == p.never()
	})
	if i < 0 {
		i = len(all)
		all = append(all, lack{right: need, principal: principal, permit: p})
	}
	l := &all[i]
	if !slices.Contains(l.ops, need.op) {
		l.ops = append(l.ops, need.op)
	}
	if !slices.Contains(l.clients, need.by.what) {
		l.clients = append(l.clients, need.by.what)
	}
	return all
}

// report tells what is lacking in one scope, with what mends it. Of a principal that no
// ACL names the scope is its own.
func (on rightsOn) report(scope string, unnamed bool, lacking []lack, r *Reporter) {
	const most = 3
	var texts []string
	blocks := false
	for _, l := range lacking {
		if l.permit.never() && (!l.permit.bare || !on.open) {
			blocks = true
		}
		if len(texts) < most {
			texts = append(texts, on.text(l))
		}
	}
	if n := len(lacking) - most; n > 0 {
		texts = append(texts, fmt.Sprintf("and so for %d more resources", n))
	}
	text := strings.Join(texts, "; ")
	switch {
	case blocks && unnamed:
		r.Block(scope, "no ACL names it: it is a super user, which no API shows, or lacks what the connector needs: %s", text)
	case blocks:
		r.Block(scope, "%s", text)
	default:
		r.Warn(scope, "not proven: %s", text)
	}
}

func (on rightsOn) text(l lack) string {
	ops := make([]string, 0, len(l.ops))
	for _, op := range l.ops {
		ops = append(ops, operations[op])
	}
	what := fmt.Sprintf("%s on %s of %s (%s)", strings.Join(ops, " and "), l.scope(), shown.Name(l.principal), strings.Join(l.clients, ", "))
	switch p := l.permit; {
	case p.never() && p.deny != nil:
		return fmt.Sprintf("%s is denied: %s takes the denial back", what, on.remove(*p.deny))
	case p.never() && p.bare && on.open:
		return fmt.Sprintf("%s is in no ACL, and no ACL is on it: allow.everyone.if.no.acl.found is set, to what the brokers do not tell; %s allows it in any case", what, on.allow(l))
	case p.never():
		return fmt.Sprintf("%s is in no ACL: %s", what, on.allow(l))
	default:
		return fmt.Sprintf("%s depends on the host (allowed from %s, not from %s), and from where the workers come is not known; %s allows it from each, unless an ACL denies it", what, hosts(p.allowed), hosts(p.refused), on.allow(l))
	}
}

func hosts(names []string) string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		if name == aclAny {
			name = "any other"
		}
		out = append(out, shown.Name(name))
	}
	return strings.Join(out, ", ")
}

// allow is the line that gives what is lacking.
func (on rightsOn) allow(l lack) string {
	pattern, name := kadm.ACLPatternLiteral, l.name
	if l.prefix != "" {
		pattern, name = kadm.ACLPatternPrefixed, l.prefix
	}
	return on.line("--add", []string{"--allow-principal", l.principal}, l.ops, l.kind, name, pattern)
}

// remove is the line that takes an ACL back which denies.
func (on rightsOn) remove(a kadm.DescribedACL) string {
	return on.line("--remove", []string{"--deny-principal", a.Principal, "--deny-host", a.Host}, []kmsg.ACLOperation{a.Operation}, a.Type, a.Name, a.Pattern)
}

func (on rightsOn) line(verb string, who []string, ops []kmsg.ACLOperation, kind kmsg.ACLResourceType, name string, pattern kadm.ACLPattern) string {
	servers := shown.Argument(on.servers)
	if on.servers == "" || reference(on.servers) != "" {
		servers = "<" + strings.ToUpper(on.name) + ">" // see Names
	}
	args := append([]string{verb}, who...)
	for _, op := range ops {
		args = append(args, "--operation", operations[op])
	}
	switch kind {
	case kmsg.ACLResourceTypeCluster:
		args = append(args, "--cluster")
	default:
		args = append(args, "--"+resources[kind], name)
	}
	if pattern == kadm.ACLPatternPrefixed {
		args = append(args, "--resource-pattern-type", "prefixed")
	}
	for i, arg := range args {
		args[i] = shown.Argument(arg)
	}
	return "`kafka-acls.sh --bootstrap-server " + servers + " " + strings.Join(args, " ") + "`"
}

// scope names the resource, or what the names of several begin with.
func (r right) scope() string {
	if r.prefix != "" {
		return resources[r.kind] + ":" + shown.Name(r.prefix)
	}
	return resources[r.kind] + ":" + shown.Name(r.name)
}

// resources and operations are written as kafka-acls.sh takes them (AclCommand).
var (
	resources = map[kmsg.ACLResourceType]string{
		kmsg.ACLResourceTypeTopic: "topic", kmsg.ACLResourceTypeGroup: "group", kmsg.ACLResourceTypeTransactionalId: "transactional-id",
	}
	operations = map[kmsg.ACLOperation]string{
		kmsg.ACLOperationAll: "All", kmsg.ACLOperationRead: "Read", kmsg.ACLOperationWrite: "Write",
		kmsg.ACLOperationCreate: "Create", kmsg.ACLOperationDescribe: "Describe",
	}
)
