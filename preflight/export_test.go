package preflight

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Permits lets tests of brokers hold what acls says against what these say.
func Permits(list []kadm.DescribedACL, principal, host string, kind kmsg.ACLResourceType, name string, op kmsg.ACLOperation) bool {
	p := newACLs(list).permits(principal, action{kind, name, op})
	if slices.Contains(p.refused, host) {
		return false
	}
	return slices.Contains(p.allowed, host) || slices.Contains(p.allowed, aclAny)
}
