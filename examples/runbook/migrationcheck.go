package main

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// problems collects what is wrong with a file, a field each.
type problems []error

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s: %w", field, fmt.Errorf(format, args...)))
}

func (p *problems) require(field, value, what string) {
	if value == "" {
		p.add(field, "missing: %s", what)
	}
}

// check looks at everything in the file that can be judged without a cluster.
func (m *migration) check() error {
	var p problems
	p.bootstrap("source.bootstrap", m.Source.Bootstrap)
	p.bootstrap("target.bootstrap", m.Target.Bootstrap)
	m.checkConnect(&p)
	m.checkFlink(&p)
	m.checkConnector(&p)
	m.checkPositions(&p)
	m.checkBoundary(&p)
	m.checkLock(&p)
	m.checkAcceptance(&p)
	seen := map[string]int{}
	for i, topic := range m.Topics {
		field := fmt.Sprintf("topics[%d]", i)
		if err := offsetmap.ValidateTopic(topic); err != nil {
			p.add(field, "%w", err)
		}
		if first, twice := seen[topic]; twice {
			p.add(field, "%s stands at topics[%d] already", topic, first)
		}
		seen[topic] = i
	}
	for i, file := range m.Earlier {
		p.require(fmt.Sprintf("earlier[%d]", i), file, "the file of a plan, such as state/plan-0123456789ab.json")
	}
	p.require("state.dir", m.State.Dir, "the folder for journal, plan and proof, such as state")
	for i, a := range m.Accept {
		field := fmt.Sprintf("accept[%d]", i)
		if _, known := preflight.Explain(a.Check); !known {
			p.add(field+".check", "there is no check %q; runbook explain lists them", a.Check)
		}
		p.require(field+".reason", a.Reason, "why the finding may pass")
		p.require(field+".by", a.By, "who lets it pass")
	}
	return errors.Join(p...)
}

// ofRollback reports whether an acceptance is about the way back, ofRestore whether it
// is about a backup that is put back. Those of the way forward say nothing of either,
// so each kind has checks of its own.
func ofRollback(a offsetmap.Acceptance) bool { return strings.HasPrefix(a.Check, "rollback/") }
func ofRestore(a offsetmap.Acceptance) bool  { return strings.HasPrefix(a.Check, "restore/") }

// accepted are the acceptances of migration.yaml of a kind.
func (m *migration) accepted(kind func(offsetmap.Acceptance) bool) []offsetmap.Acceptance {
	var out []offsetmap.Acceptance
	for _, one := range m.Accept {
		if kind(one) {
			out = append(out, one)
		}
	}
	return out
}

func (p *problems) bootstrap(field string, servers []string) {
	if len(servers) == 0 {
		p.add(field, `missing: a list of brokers, such as ["kafka-1:9092"]`)
	}
	for i, s := range servers {
		_, port, err := net.SplitHostPort(s)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil {
			p.add(fmt.Sprintf("%s[%d]", field, i), "%q is not HOST:PORT", s)
		}
	}
}

func (m *migration) checkConnect(p *problems) {
	if len(m.Connect.URLs) == 0 {
		p.add("connect.urls", `missing: a list of workers of one Connect cluster, such as ["http://connect-1:8083"]`)
	}
	whole := len(m.Connect.URLs) > 1
	for i, u := range m.Connect.URLs {
		if _, err := connectrest.New(u); err != nil {
			p.add(fmt.Sprintf("connect.urls[%d]", i), "%w", err)
			whole = false
		}
	}
	if whole {
		if _, err := connectrest.NewCluster(m.Connect.URLs); err != nil {
			p.add("connect.urls", "%w", err)
		}
	}
	m.checkCalm(p)
	if err := preflight.ConnectTopics(m.Connect.Topics).Check(); err != nil {
		p.add("connect.topics", "%w", err)
	}
	for _, one := range []struct{ field, name string }{{"connect.principal", m.Connect.Principal}, {"connect.sourcePrincipal", m.Connect.SourcePrincipal}} {
		if (preflight.Principals{Target: one.name}).Check() != nil {
			p.add(one.field, "%q is not TYPE:NAME, such as User:mm2", one.name)
		}
	}
	if m.Connect.FlushTimeout == "" {
		return
	}
	var err error
	m.flushTimeout, err = time.ParseDuration(string(m.Connect.FlushTimeout))
	if err != nil || m.flushTimeout <= 0 {
		p.add("connect.flushTimeout", "%q is not a duration such as 30s", m.Connect.FlushTimeout)
	}
}

func (m *migration) checkCalm(p *problems) {
	if m.Connect.Calm == "" {
		return
	}
	var err error
	if m.calm, err = time.ParseDuration(string(m.Connect.Calm)); err != nil || m.calm <= 0 {
		p.add("connect.calm", "%q is not a duration such as 30s", m.Connect.Calm)
	} else if m.calm >= offsetmap.DefaultLifetime {
		p.add("connect.calm", "%s is not shorter than a plan lives, %s: no plan could be applied", m.calm, offsetmap.DefaultLifetime)
	}
}

func (m *migration) checkConnector(p *problems) {
	switch err := connectrest.CheckName(m.Connector.Name); {
	case m.Connector.Name == "":
		p.add("connector.name", "missing: the connector's name")
	case err != nil:
		p.add("connector.name", "%w", err)
	}
	switch {
	case len(m.Connector.Config) > 0 && m.Connector.File != "":
		p.add("connector.file", "connector.config is there too; keep one of them")
	case len(m.Connector.Config) > 0:
		m.config = m.Connector.Config
	case m.Connector.File == "":
		p.add("connector.config", "missing: the connector's settings, here or in connector.file")
	default:
		config, err := readConfig(m.Connector.File)
		if err != nil {
			p.add("connector.file", "%s: %w", m.Connector.File, err)
		}
		m.config = config
	}
	if name, ok := m.config["name"]; ok && name != m.Connector.Name {
		p.add("connector.name", "%q, but its settings have name %q", m.Connector.Name, name)
	}
}

// readConfig reads a flat YAML or JSON mapping of settings.
func readConfig(path string) (connectrest.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	return flatConfig(text)
}

// flatConfig reads a mapping as the worker shows it under GET /connectors/NAME/config.
func flatConfig(text []byte) (connectrest.Config, error) {
	var config map[string]string
	if err := readStrict(text, &config); err != nil {
		return nil, err
	}
	if len(config) == 0 {
		return nil, errNoConfig
	}
	return config, nil
}

func (m *migration) checkPositions(p *problems) {
	s := m.Positions
	if s.Group != "" {
		if err := flinkmm2.CheckGroup(s.Group); err != nil {
			p.add("positions.group", "%w", err)
		}
	}
	if s.Window != "" {
		var err error
		if m.groupWindow, err = time.ParseDuration(string(s.Window)); err != nil || m.groupWindow <= 0 {
			p.add("positions.groupWindow", "%q is not a duration such as 90s", s.Window)
		} else if m.groupWindow >= offsetmap.DefaultLifetime {
			p.add("positions.groupWindow", "%s is not shorter than a plan lives, %s: no plan could be applied", s.Window, offsetmap.DefaultLifetime)
		}
		p.require("positions.group", s.Group, "groupWindow is the time between two looks at it")
	}
	switch s.From {
	case "savepoint":
		p.require("positions.savepoint", s.Savepoint, "the folder of the savepoint")
	case "group":
		p.require("positions.group", s.Group, "the consumer group of the old job")
		if s.Operator != "" {
			p.add("positions.operator", "a group has no operators")
		}
		if s.Cluster != "" {
			p.add("positions.cluster", "a group is of one cluster")
		}
	case "":
		p.add("positions.from", "missing: savepoint or group")
	default:
		p.add("positions.from", "%q is neither savepoint nor group", s.From)
	}
	for _, prefix := range slices.Sorted(maps.Keys(s.PathMap)) {
		if prefix == "" || s.PathMap[prefix] == "" {
			p.add("positions.pathMap", "an entry maps %q to %q: both must be there", prefix, s.PathMap[prefix])
		}
	}
}
