package preflight

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What stands in an ACL for every name, host or user (StandardAuthorizerData).
const (
	aclAny       = "*"
	aclAnyone    = "User:*"
	aclAnonymous = "User:ANONYMOUS" // of a connection without a login (KafkaPrincipal)
)

// action is an operation on one resource, by its whole name.
type action struct {
	kind kmsg.ACLResourceType
	name string
	op   kmsg.ACLOperation
}

// permit says what a cluster's ACLs give for an action.
type permit struct {
	// hosts from which it is allowed, where that depends on the host, sorted; and those
	// from which it is not. aclAny among them stands for all that no ACL names.
	allowed, refused []string
	// deny is an ACL that refuses it, where one does.
	deny *kadm.DescribedACL
	// bare says that no ACL at all is on the resource: allow.everyone.if.no.acl.found
	// then decides, by default against it.
	bare bool
}

func (p permit) always() bool { return len(p.refused) == 0 }
func (p permit) never() bool  { return len(p.allowed) == 0 }

// acls are those of a cluster, as its brokers look them up.
type acls struct {
	all  aclTable            // of everybody
	user map[string]aclTable // of one principal and of everybody, by principal
	list []kadm.DescribedACL
}

// aclTable finds the ACLs on a resource: those on its name, those on every name, and
// those on a prefix.
type aclTable struct {
	literal  map[aclResource][]kadm.DescribedACL
	prefixed map[kmsg.ACLResourceType][]kadm.DescribedACL
}

type aclResource struct {
	kind kmsg.ACLResourceType
	name string
}

func newACLs(list []kadm.DescribedACL) *acls {
	everybody := func(kadm.DescribedACL) bool { return true }
	return &acls{all: newACLTable(list, everybody), user: map[string]aclTable{}, list: list}
}

func newACLTable(list []kadm.DescribedACL, of func(kadm.DescribedACL) bool) aclTable {
	t := aclTable{literal: map[aclResource][]kadm.DescribedACL{}, prefixed: map[kmsg.ACLResourceType][]kadm.DescribedACL{}}
	for _, a := range list {
		switch {
		case !of(a):
		case a.Pattern == kadm.ACLPatternLiteral:
			at := aclResource{a.Type, a.Name}
			t.literal[at] = append(t.literal[at], a)
		case a.Pattern == kadm.ACLPatternPrefixed:
			t.prefixed[a.Type] = append(t.prefixed[a.Type], a)
		}
	}
	return t
}

// on returns the ACLs on a resource.
func (t aclTable) on(kind kmsg.ACLResourceType, name string) []kadm.DescribedACL {
	out := slices.Clone(t.literal[aclResource{kind, name}])
	if name != aclAny {
		out = append(out, t.literal[aclResource{kind, aclAny}]...)
	}
	for _, a := range t.prefixed[kind] {
		if strings.HasPrefix(name, a.Name) {
			out = append(out, a)
		}
	}
	return out
}

// permits says from which hosts a principal, such as "User:mm2", may do something, by
// the rules of StandardAuthorizer, which AclAuthorizer had before it: one DENY outweighs
// every ALLOW, and without either it is refused. Super users stand in no ACL.
func (a *acls) permits(principal string, do action) permit {
	table, known := a.user[principal]
	if !known {
		table = newACLTable(a.list, func(one kadm.DescribedACL) bool { return one.Principal == principal || one.Principal == aclAnyone })
		a.user[principal] = table
	}
	p := permit{bare: len(a.all.on(do.kind, do.name)) == 0}
	matching := slices.DeleteFunc(table.on(do.kind, do.name), func(one kadm.DescribedACL) bool { return !covers(one, do.op) })
	hosts := []string{aclAny}
	for _, one := range matching {
		hosts = append(hosts, one.Host)
	}
	for _, host := range sortedUnique(hosts) {
		allow := false
		var deny *kadm.DescribedACL
		for i, one := range matching {
			switch {
			case one.Host != aclAny && one.Host != host:
			case one.Permission == kmsg.ACLPermissionTypeAllow:
				allow = true
			default: // whatever is none is held for a refusal
				deny = &matching[i]
			}
		}
		if allow && deny == nil {
			p.allowed = append(p.allowed, host)
			continue
		}
		p.refused = append(p.refused, host)
		if deny != nil {
			p.deny = deny
		}
	}
	return p
}

// covers reports whether an ACL is about an operation. One that allows to read, write,
// delete or alter allows to describe, and one that allows to alter configs to describe
// them; a denial is of its own operation alone.
func covers(a kadm.DescribedACL, op kmsg.ACLOperation) bool {
	if a.Operation == kmsg.ACLOperationAll || a.Operation == op {
		return true
	}
	if a.Permission != kmsg.ACLPermissionTypeAllow {
		return false
	}
	switch op {
	case kmsg.ACLOperationDescribe:
		return slices.Contains([]kmsg.ACLOperation{kmsg.ACLOperationRead, kmsg.ACLOperationWrite, kmsg.ACLOperationDelete, kmsg.ACLOperationAlter}, a.Operation)
	case kmsg.ACLOperationDescribeConfigs:
		return a.Operation == kmsg.ACLOperationAlterConfigs
	default:
		return false
	}
}
