package preflight

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// ConnectorLook is a second look at the connector, Over after the first one.
type ConnectorLook struct {
	Over      time.Duration
	Connector offsetmap.Fact[connectrest.ConnectorInfo]
	Status    offsetmap.Fact[connectrest.Status]
}

// OtherAct is an act on the connector that somebody else's journal entry tells of.
type OtherAct struct {
	Act string // apply, start, stop, ...
	By  string
	At  time.Time
	// Meanwhile says that it was entered while the facts were read.
	Meanwhile bool
}

// lookAtConnectorAgain comes after all that a survey waits for. Where it waits for
// nothing there is one look.
func (p Probe) lookAtConnectorAgain(ctx context.Context, f Facts) offsetmap.Fact[ConnectorLook] {
	if p.Calm <= 0 && p.window() <= 0 || f.Connector.Err() != nil || f.Status.Err() != nil { // connector/unknown, connector/state
		return offsetmap.Absent[ConnectorLook]()
	}
	look := ConnectorLook{Connector: connectorFact(p.Connect.Connector(ctx, p.Connector)), Status: offsetmap.Absent[connectrest.Status]()}
	if _, there := look.Connector.Get(); there {
		look.Status = connectorFact(p.Connect.Status(ctx, p.Connector))
	}
	look.Over = p.clock()().Sub(f.At)
	return offsetmap.Known(look)
}

func controllerChecks() []Check {
	return []Check{{
		ID:         "connector/other-controller",
		Title:      "Nobody else controls the connector",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "whether the connector is there, its state, config and tasks, twice, while the calm of the workers is waited for (connect.calm); names and addresses as Strimzi gives them; the journal's acts of others. The scope is the connector, journal, or the custom resource",
		Why:        "What one controller stops the other may start again: the connector then copies from where it stands, before the offsets are written, or again after a rollback. An operator of Kubernetes puts its own state and config back at each reconciliation, and deletes a connector that it has no resource for.",
		Remedy:     "Let one alone change it until the migration is over: end other pipelines, scripts and runbooks. With Strimzi either state: stopped in the resource and all changes by it, or pause the operator: `kubectl annotate <KIND> <NAME> strimzi.io/pause-reconciliation=true`, of the KafkaConnector too where there is one.",
		Judge:      aroundWorkers(otherController),
	}}
}

func otherController(c *Case, s *Surroundings, r *Reporter) {
	if look, twice := s.ConnectorLater.Get(); twice {
		c.connectorMoved(look, r)
	} else {
		r.Saw("", "the connector was looked at once")
	}
	c.journaled(r)
	resources := c.strimzi(s)
	for _, one := range resources {
		r.Warn(one.scope(), "not proven: %s is named as the Strimzi operator names what it runs, which no API of Kafka Connect tells more of; unless connectors are left to the REST API there, the operator brings its own state and config back: %s", one.seen, one.pause())
	}
	if len(resources) == 0 {
		r.Saw("", "no name and no address as the Strimzi operator gives them")
	}
}

// connectorMoved reports what has changed between the two looks.
func (c *Case) connectorMoved(look ConnectorLook, r *Reporter) {
	name, over := c.Facts.Name, look.Over.Round(time.Second)
	if err := errors.Join(look.Connector.Err(), look.Status.Err()); err != nil {
		r.Unmade(name, fmt.Errorf("the second look at it: %w", err))
		return
	}
	before, was := c.Facts.Connector.Get()
	after, is := look.Connector.Get()
	switch {
	case !was && !is:
		r.Saw(name, "it was not there twice, %s apart", over)
		return
	case was != is:
		r.Block(name, "within %s %s, which this program did not do", over, map[bool]string{true: "it was created", false: "it was deleted"}[is])
		return
	}
	var changed []string
	if keys := differentKeys(before.Config, after.Config); len(keys) > 0 {
		changed = append(changed, fmt.Sprintf("of its config %s", strings.Join(shown.Names(keys), ", ")))
	}
	first, known := c.Facts.Status.Get()
	second, _ := look.Status.Get()
	if known && first.Connector.State != second.Connector.State {
		changed = append(changed, fmt.Sprintf("its state from %s to %s", first.Connector.State, second.Connector.State))
	}
	if known && len(first.Tasks) != len(second.Tasks) {
		changed = append(changed, fmt.Sprintf("the number of its tasks from %d to %d", len(first.Tasks), len(second.Tasks)))
	}
	if len(changed) > 0 {
		r.Block(name, "within %s has changed, which this program did not do: %s", over, strings.Join(changed, "; "))
		return
	}
	r.Saw(name, "%s with %d tasks and the same config twice, %s apart", second.Connector.State, len(second.Tasks), over)
}

// differentKeys are those of which one config has another value, or none.
func differentKeys(a, b connectrest.Config) []string {
	different := map[string]bool{}
	for _, pair := range [][2]connectrest.Config{{a, b}, {b, a}} {
		for key, value := range pair[0] {
			if other, set := pair[1][key]; !set || other != value {
				different[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(different))
}

// journaled reports the acts of others.
func (c *Case) journaled(r *Reporter) {
	const scope = "journal"
	var meanwhile, before []string
	for _, a := range c.Question.OtherActs {
		text := fmt.Sprintf("%s by %s at %s", a.Act, shown.Name(a.By), a.At.UTC().Format(time.RFC3339))
		if a.Meanwhile {
			meanwhile = append(meanwhile, text)
		} else {
			before = append(before, text)
		}
	}
	switch {
	case len(meanwhile) > 0:
		r.Block(scope, "while this was looked at, somebody acted by the same journal: %s", strings.Join(meanwhile, ", "))
	case len(before) > 0:
		r.Warn(scope, "the last acts are somebody else's: %s; agree on who goes on", strings.Join(before, ", "))
	}
}

// strimziResource is a custom resource of Strimzi that may control the connector.
type strimziResource struct {
	kind, name, namespace string
	seen                  string
}

func (s strimziResource) scope() string { return strings.TrimSuffix(s.kind+":"+s.name, ":") }

func (s strimziResource) pause() string {
	if s.name == "" {
		return "kubectl annotate " + s.kind + " NAME strimzi.io/pause-reconciliation=true"
	}
	return "kubectl annotate -n " + s.namespace + " " + s.kind + " " + s.name + " strimzi.io/pause-reconciliation=true"
}

var (
	// strimziPod is the address that Strimzi lets a worker advertise: of its pod, by the
	// headless service of the resource.
	strimziPod = regexp.MustCompile(`^(.+)-(connect|mirrormaker2)-\d+\.(.+)-(?:connect|mirrormaker2)\.([^.]+)\.svc(?:\.|:|$)`)
	// strimziMirror is the name of a connector of a KafkaMirrorMaker2.
	strimziMirror = regexp.MustCompile(`^.+->.+\.Mirror(?:Source|Checkpoint|Heartbeat)Connector$`)
	strimziKinds  = map[string]string{"connect": "KafkaConnect", "mirrormaker2": "KafkaMirrorMaker2"}
)

func (c *Case) strimzi(s *Surroundings) []strimziResource {
	var addresses []string
	if report, ok := s.Workers.Get(); ok {
		addresses = append(addresses, report.Advertised...)
	}
	if looks, ok := s.ConnectGroup.Get(); ok {
		for _, m := range looks.First.Members {
			addresses = append(addresses, hostPort(m.URL))
		}
	}
	found := map[string]strimziResource{}
	for _, address := range sortedUnique(addresses) {
		if m := strimziPod.FindStringSubmatch(address); m != nil && m[1] == m[3] {
			one := strimziResource{kind: strimziKinds[m[2]], name: m[1], namespace: m[4], seen: "the worker at " + address}
			found[one.scope()] = one
		}
	}
	if len(found) == 0 && strimziMirror.MatchString(c.Facts.Name) {
		one := strimziResource{kind: "KafkaMirrorMaker2", seen: "the connector " + c.Facts.Name}
		found[one.scope()] = one
	}
	out := make([]strimziResource, 0, len(found))
	for _, scope := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[scope])
	}
	return out
}
