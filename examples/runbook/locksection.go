package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/localfs"
)

// lockSection says which locks are held beside that of state.dir, by those who act from
// other folders.
type lockSection struct {
	// Lease is one of coordination.k8s.io, NAMESPACE/NAME.
	Lease string `json:"lease"`
}

// leaseName is what Kubernetes takes for a namespace and for the name of a Lease.
var leaseName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

func (m *migration) checkLock(p *problems) {
	if l := m.Lock.Lease; l != "" && !leaseName.MatchString(l) {
		p.add("lock.lease", "%q is not NAMESPACE/NAME of a Lease, such as kafka/mm2-migration", l)
	}
}

// locks are those of the migration: the cheapest first.
func (m *migration) locks(dir string) (all []flinkmm2.Lock, err error) {
	if localfs.Locks {
		all = append(all, flinkmm2.NewFileLock(filepath.Join(dir, lockFile)))
	}
	if m.Lock.Lease != "" {
		api, err := inCluster(os.Getenv, serviceAccount)
		if err != nil {
			return nil, fmt.Errorf("lock.lease: %w", err)
		}
		namespace, name, _ := strings.Cut(m.Lock.Lease, "/")
		all = append(all, &leaseLock{namespace: namespace, name: name, api: api, lasts: leaseLasts})
	}
	return all, nil
}
