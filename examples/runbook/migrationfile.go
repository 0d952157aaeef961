package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// migrationFile is migration.yaml. Its sample, migration.sample.yaml, says what
// each field means.
type migrationFile struct {
	Source    clusterSection   `json:"source"`
	Target    clusterSection   `json:"target"`
	Connect   connectSection   `json:"connect"`
	Flink     flinkSection     `json:"flink"`
	Connector connectorSection `json:"connector"`
	Positions positionsSection `json:"positions"`
	Boundary  boundarySection  `json:"boundary"`
	Topics    []string         `json:"topics"`
	// Earlier are the files of the plans of earlier waves under the connector, in order.
	Earlier []string               `json:"earlier"`
	State   stateSection           `json:"state"`
	Lock    lockSection            `json:"lock"`
	Attest  offsetmap.Attestations `json:"attest"`
	Accept  []offsetmap.Acceptance `json:"accept"`
	// Acceptance is for the list at the end, by point.
	Acceptance acceptanceSection `json:"acceptance"`
}

type clusterSection struct {
	Bootstrap []string `json:"bootstrap"`
}

func (clusterSection) note() string { return "brokers are reached in PLAINTEXT only, so far" }

type connectSection struct {
	URLs []string `json:"urls"`
	// FlushTimeout is the worker's offset.flush.timeout.ms, which its REST API
	// does not show.
	FlushTimeout durationText `json:"flushTimeout"`
	// Calm is for how long the workers must have had no rebalance.
	Calm durationText `json:"calm"`
	// Principal is as whom the brokers know connector and worker, SourcePrincipal on the
	// source where that is another.
	Principal       string `json:"principal"`
	SourcePrincipal string `json:"sourcePrincipal"`
	// Topics are those that the workers keep their state in.
	Topics connectTopicsSection `json:"topics"`
}

type connectTopicsSection struct {
	Config string `json:"config"`
	Offset string `json:"offset"`
	Status string `json:"status"`
}

// durationText is a duration as Go writes it: a number without a unit would be
// taken for whatever its reader is used to.
type durationText string

func (durationText) want() string { return "a duration such as 30s" }

type connectorSection struct {
	Name   string            `json:"name"`
	Config map[string]string `json:"config"`
	File   string            `json:"file"`
}

type positionsSection struct {
	From      string            `json:"from"`
	Savepoint string            `json:"savepoint"`
	Operator  string            `json:"operator"`
	Cluster   string            `json:"cluster"`
	Group     string            `json:"group"`
	Window    durationText      `json:"groupWindow"`
	PathMap   map[string]string `json:"pathMap"`
}

type stateSection struct {
	Dir string `json:"dir"`
}

// migration is a migration.yaml that was read and found sound, with its paths
// made absolute.
type migration struct {
	migrationFile
	path         string // as the user wrote it, for messages
	job          flinkrest.Job
	flushTimeout time.Duration
	groupWindow  time.Duration
	calm         time.Duration
	bounds       preflight.DeliveryBounds
	config       connectrest.Config
}

// readMigration reads migration.yaml strictly. The error is a usageError that
// names the file, and lists every field with a problem.
func readMigration(path string) (*migration, error) {
	if path == "" {
		return nil, usagef("no migration file: give it with -f FILE before or after the subcommand")
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("%s: there is no such file", path)
	} else if err != nil {
		return nil, err
	}
	m := &migration{path: path}
	if err := readStrict(text, &m.migrationFile); err != nil {
		return nil, inFile(path, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	m.resolve(filepath.Dir(abs))
	if err := m.check(); err != nil {
		return nil, inFile(path, err)
	}
	return m, nil
}

// inFile turns what may be several errors into one that names the file in each
// line.
func inFile(path string, err error) error {
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		lines = append(lines, path+": "+line)
	}
	return &usageError{err: errors.New(strings.Join(lines, "\n  ")), inFile: true}
}

// resolve makes the paths of the file absolute: they are relative to its folder.
func (m *migration) resolve(dir string) {
	from := func(path string) string {
		if path == "" || filepath.IsAbs(path) || strings.HasPrefix(path, "file:") {
			return path
		}
		return filepath.Join(dir, path)
	}
	m.State.Dir = from(m.State.Dir)
	for i, file := range m.Earlier {
		m.Earlier[i] = from(file)
	}
	m.Connector.File = from(m.Connector.File)
	location := func(at string) string {
		if strings.Contains(at, "://") {
			return at
		}
		return from(at)
	}
	m.Positions.Savepoint = location(m.Positions.Savepoint)
	mapped := make(map[string]string, len(m.Positions.PathMap))
	for prefix, folder := range maps.All(m.Positions.PathMap) {
		mapped[prefix] = location(folder)
	}
	m.Positions.PathMap = mapped
}
