package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/internal/localfs"
)

// lockSection says which locks are held beside that of state.dir, by those who act from
// other folders.
type lockSection struct {
	// Kafka is a transactional id on the target that is named for the connector.
	Kafka bool `json:"kafka"`
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
	if m.Lock.Kafka {
		kafka, err := m.kafkaLock()
		if err != nil {
			return nil, err
		}
		all = append(all, kafka)
	}
	return all, nil
}

func (m *migration) kafkaLock() (*flinkmm2.KafkaLock, error) {
	l, err := flinkmm2.NewKafkaLock(m.Connector.Name, clientOptions(m.Target.Bootstrap)...)
	if err != nil {
		return nil, fmt.Errorf("lock.kafka: %w", err)
	}
	return l, nil
}

func (a *app) unlockCommand() *cobra.Command {
	return a.step("unlock", "Free the lock of Kafka of one that was killed",
		`unlock frees the lock of lock.kafka, a transactional id on the target. One that was
killed leaves it held: brokers do not know whether a holder lives. Look first who acts:
state.dir/journal.jsonl names everybody, with host and pod. One that lives after all
finds out before its next request, and sends none.

The other locks end by themselves: that of state.dir with its process, and a Lease a
minute after it was last renewed. It writes nothing but the epoch of the id.`,
		"the step that was locked out",
		func(ctx context.Context) error {
			m, err := readMigration(a.file)
			if err != nil {
				return err
			}
			a.read = m
			if !m.Lock.Kafka {
				return usagef("%s: lock.kafka is not set: there is no lock that does not end by itself", a.file)
			}
			l, err := m.kafkaLock()
			if err != nil {
				return err
			}
			was, err := l.Break(ctx)
			if err != nil {
				return err
			}
			said := "was held, and is free now"
			if !was {
				said = "is free"
			}
			id := flinkmm2.KafkaLockID(m.Connector.Name)
			return a.printValue(struct {
				ID   string `json:"transactionalId"`
				Held bool   `json:"held"`
			}{id, was}, func(w io.Writer) { fmt.Fprintf(w, "the lock of transactional id %s %s\n", id, said) })
		})
}
