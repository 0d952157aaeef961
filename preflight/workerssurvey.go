package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// OtherConnector is a connector of the same workers beside the migration's.
type OtherConnector struct {
	Name   string
	Type   string // "source" or "sink"
	Config connectrest.Config
	Status connectrest.Status
	// Active lists the topics that it has written since they were last reset (KIP-558).
	// Absent: the workers do not track them, or it is a sink.
	Active offsetmap.Fact[[]string]
	// Writes is the id of the cluster that its producer reaches, Reads that of the
	// source of a MirrorSourceConnector. Absent where it is of no interest: Writes of a
	// sink, Reads of one that writes to the target alone.
	Writes, Reads offsetmap.Fact[string]
}

// mostOthers bounds of how many connectors the topics are asked for, each by a request.
const mostOthers = 500

var errTooManyConnectors = fmt.Errorf("there are more than %d connectors, and it was not asked what each has written", mostOthers)

// workersSurvey looks at the workers. What it returns looks at them again, after what
// else a survey waits for.
func (p Probe) workersSurvey(ctx context.Context, f Facts, s *Surroundings) (again func()) {
	again = func() {}
	if err := f.Worker.Err(); err != nil {
		// Nothing is judged then. And of a worker that cannot be reached, each further
		// call would try for as long again.
		s.Workers, s.Connectors = offsetmap.NotKnown[connectrest.ProbeReport](err), offsetmap.NotKnown[[]OtherConnector](err)
		s.ConnectGroup, s.InternalTopics = offsetmap.NotKnown[ConnectLooks](err), offsetmap.NotKnown[map[string]InternalTopic](err)
		return again
	}
	report, err := p.settledWorkers(ctx)
	s.Workers = fact(report, err)
	s.Connectors = p.otherConnectors(ctx, f, report, err)
	admin, err := p.workerAdmin(f)
	if err != nil {
		s.ConnectGroup, s.InternalTopics = offsetmap.NotKnown[ConnectLooks](err), offsetmap.NotKnown[map[string]InternalTopic](err)
		return again
	}
	s.InternalTopics = p.internalTopics(ctx, admin)
	looks, later, err := p.lookAtGroup(ctx, admin, addressesOf(report))
	if s.ConnectGroup = fact(looks, err); err == nil && p.Calm > 0 {
		again = func() { s.ConnectGroup = fact(later()) }
	}
	return again
}

// A connector that was just created, or a task, is nobody's for the moment that it takes
// to give it to a worker. One that still is so after that long waits for a rebalance, or
// for a worker.
const (
	givenWithin = 5 * time.Second
	givenPause  = 500 * time.Millisecond
)

// settledWorkers asks the workers, again and again for a while where something is nobody's.
func (p Probe) settledWorkers(ctx context.Context) (connectrest.ProbeReport, error) {
	for waited := time.Duration(0); ; waited += givenPause {
		report, err := p.Connect.Probe(ctx)
		if err == nil && len(report.Workers) > 1 {
			// What only the leader does concerns who is reached through another.
			report, err = p.Connect.ProbeForwarding(ctx)
		}
		if err != nil || len(unassigned(report)) == 0 || waited >= givenWithin {
			return report, err
		}
		if err := p.wait(ctx, givenPause); err != nil {
			return report, err
		}
	}
}

// otherConnectors takes what a worker said of all.
func (p Probe) otherConnectors(ctx context.Context, f Facts, report connectrest.ProbeReport, err error) offsetmap.Fact[[]OtherConnector] {
	i := slices.IndexFunc(report.Workers, func(w connectrest.WorkerView) bool { return w.Connectors != nil })
	if err != nil {
		return offsetmap.NotKnown[[]OtherConnector](err)
	}
	if i < 0 {
		return offsetmap.NotKnown[[]OtherConnector](errors.Join(errors.New("no worker lists its connectors"), report.Err()))
	}
	all := report.Workers[i].Connectors
	_, there := f.Connector.Get()
	if _, listed := all[p.Connector]; there && !listed {
		return offsetmap.NotKnown[[]OtherConnector](fmt.Errorf("GET %s/connectors does not list connector %s, which the worker has", report.Workers[i].URL, p.Connector))
	}
	target, _ := f.Target.Get()
	others := []OtherConnector{}
	for name, one := range all.Sorted() {
		if name == p.Connector {
			continue
		}
		o := OtherConnector{
			Name: name, Type: one.Info.Type, Config: one.Info.Config, Status: one.Status,
			Active: offsetmap.Absent[[]string](), Writes: offsetmap.Absent[string](), Reads: offsetmap.Absent[string](),
		}
		if o.Type != "sink" {
			if len(others) < mostOthers {
				active, err := p.Connect.ActiveTopics(ctx, name)
				o.Active = connectorFact(active, err)
				if errors.Is(err, connectrest.ErrUnsupported) { // topic.tracking.enable=false
					o.Active = offsetmap.Absent[[]string]()
				}
			} else {
				o.Active = offsetmap.NotKnown[[]string](errTooManyConnectors)
			}
			o.Writes = p.writes(ctx, f, o.Config)
			if id, known := o.Writes.Get(); o.mirrors() && (!known || id != target.ClusterID) {
				o.Reads = p.resolve(ctx, p.ResolveSource, o.Config)
			}
		}
		others = append(others, o)
	}
	return offsetmap.Known(others)
}

// writes finds the cluster of a connector's producer: the worker's own, unless its
// config says otherwise.
func (p Probe) writes(ctx context.Context, f Facts, config connectrest.Config) offsetmap.Fact[string] {
	if config[keyProducerBootstrap] != "" {
		return p.resolve(ctx, p.ResolveProducer, config)
	}
	w, ok := f.Worker.Get()
	if !ok {
		return offsetmap.NotKnown[string](f.Worker.Err())
	}
	return offsetmap.Known(w.KafkaClusterID)
}

func (o OtherConnector) mirrors() bool {
	return connectrest.IsMirrorSource(o.Config["connector.class"])
}

// idle reports whether it is held back: STOPPED or PAUSED, and with no task that runs.
func (o OtherConnector) idle() bool {
	held := func(s connectrest.State) bool {
		return s == connectrest.StateStopped || s == connectrest.StatePaused
	}
	return held(o.Status.Connector.State) && !slices.ContainsFunc(o.Status.Tasks, func(t connectrest.TaskStatus) bool { return !held(t.State) })
}

// aroundWorkers makes a check of what is known of the workers. Where none has said what
// it is, worker/unknown blocks, which nothing accepts.
func aroundWorkers(judge func(*Case, *Surroundings, *Reporter)) func(*Case, *Reporter) {
	return around(func(c *Case, s *Surroundings, r *Reporter) {
		if _, ok := c.Facts.Worker.Get(); !ok {
			r.NotAsked()
			return
		}
		judge(c, s, r)
	})
}

// workersSurveyChecks judge what stands around the connector on its workers.
func workersSurveyChecks() []Check {
	return slices.Concat(workersProbeChecks(), workersCalmChecks(), otherConnectorChecks(), internalTopicChecks(), controllerChecks())
}
