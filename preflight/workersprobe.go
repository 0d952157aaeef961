package preflight

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func workersProbeChecks() []Check {
	const looks = "what each worker that was named answers to the same requests"
	return []Check{{
		ID:         "worker/not-answering",
		Title:      "Every worker that is named answers",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      looks,
		Why:        "The steps go on with another worker. But one that is gone may come back, and then takes tasks over: a rebalance in the middle of the switch.",
		Remedy:     "Check the address (connect.urls) and whether the worker runs; take one that is gone for good off the list.",
		Judge:      aroundWorkers(notAnswering),
	}, {
		ID:         "worker/unhealthy",
		Title:      "The workers say that they are healthy",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ": GET /health, from 3.9 on (KIP-1017). The scope is the worker's URL",
		Why:        "A worker that has not read its config topic, or has no group, does not act on what it is told.",
		Remedy:     "Wait until it has started; else read its log.",
		Judge:      aroundWorkers(unhealthy),
	}, {
		ID:         "worker/views-differ",
		Title:      "The workers are one Connect cluster, of one version, and agree",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      looks + ": Kafka cluster, version, connectors with states and configs. The scope says which",
		Why:        "What one worker was told the other does not know: two Connect clusters would both run the connector. During a rolling upgrade the connector moves to a worker that reads its config in another way.",
		Remedy:     "Give all workers one group.id, one bootstrap.servers and the same three internal topics (config.storage.topic, offset.storage.topic, status.storage.topic), name the workers of one cluster alone in connect.urls, and wait until an upgrade is over.",
		Judge:      aroundWorkers(viewsDiffer),
	}, {
		ID:         "worker/forwarding",
		Title:      "Every worker reaches the leader",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "where several workers are named, the answer of each to a request that only the leader serves: the reset of the offsets of a connector that does not exist, under a random name. Nothing is changed. The scope is the worker's URL",
		Why:        "Offsets are altered by the leader. A worker that cannot pass a request on answers with an error, or after it was carried out.",
		Remedy:     "Give each worker a rest.advertised.host.name and rest.advertised.port at which the others reach it, and the same listeners and certificates. Or name the leader alone in connect.urls.",
		Judge:      aroundWorkers(forwarding),
	}, {
		ID:         "worker/advertised",
		Title:      "Each worker has an address of its own, which the others reach",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "the addresses by which the workers know each other: those of the group's members, and the worker_id of connectors and tasks. The scope is the address",
		Why:        "Workers pass requests on to the leader by that address. A loopback address, or one that several share, such as a load balancer's, leads to the wrong worker or to itself: requests fail, or go round.",
		Remedy:     "Set rest.advertised.host.name to the worker's own address (in Kubernetes the pod's IP, status.podIP), and restart the workers one by one.",
		Judge:      aroundWorkers(advertised),
	}}
}

func notAnswering(_ *Case, s *Surroundings, r *Reporter) {
	all, ok := needs(r, "", s.Workers)
	if !ok {
		return
	}
	for _, w := range all.Workers {
		r.Saw(w.URL, "version %s", w.Info.Version)
	}
	for _, f := range all.Findings {
		if f.Kind == connectrest.ProbeNoAnswer {
			r.Warn(strings.Join(f.Workers, ","), "%s", f)
		}
	}
}

func unhealthy(_ *Case, s *Surroundings, r *Reporter) {
	all, ok := needs(r, "", s.Workers)
	if !ok {
		return
	}
	for _, w := range all.Workers {
		switch {
		case w.Health == nil: // it has no such endpoint, or worker/not-answering
		case w.Health.Status == connectrest.HealthHealthy:
			r.Saw(w.URL, "healthy")
		case w.Health.Status == connectrest.HealthStarting || w.Health.Status == connectrest.HealthUnhealthy:
			r.Block(w.URL, "it says that it is %s: %s", w.Health.Status, w.Health.Message)
		default:
			r.Unmade(w.URL, fmt.Errorf("GET %s/health: %s: %s", w.URL, w.Health.Status, w.Health.Message))
		}
	}
}

func viewsDiffer(_ *Case, s *Surroundings, r *Reporter) {
	all, ok := needs(r, "", s.Workers)
	if !ok {
		return
	}
	scopes := map[connectrest.ProbeKind]string{connectrest.ProbeOtherCluster: "cluster", connectrest.ProbeOtherVersion: "version", connectrest.ProbeOtherView: "connectors"}
	for _, f := range all.Findings {
		if scope := scopes[f.Kind]; scope != "" {
			r.Block(scope, "%s", f)
		}
	}
}

func forwarding(_ *Case, s *Surroundings, r *Reporter) {
	all, ok := needs(r, "", s.Workers)
	if !ok {
		return
	}
	if len(all.Workers) < 2 {
		r.NotAsked()
		return
	}
	for _, w := range all.Workers {
		switch {
		case w.Err != nil: // worker/not-answering
		case w.ForwardErr == nil:
			r.Saw(w.URL, "reaches the leader")
		case errors.Is(w.ForwardErr, connectrest.ErrUnauthorized), errors.Is(w.ForwardErr, connectrest.ErrForbidden): // who may only read
			r.Unmade(w.URL, w.ForwardErr)
		case errors.Is(w.ForwardErr, connectrest.ErrUnsupported): // worker/version
		default:
			r.Block(w.URL, "what only the leader serves fails through it: %v", w.ForwardErr)
		}
	}
}

func advertised(_ *Case, s *Surroundings, r *Reporter) {
	reported := map[string]bool{}
	block := func(address, format string, args ...any) {
		if !reported[address] {
			reported[address] = true
			r.Block(address, format, args...)
		}
	}
	if all, ok := s.Workers.Get(); ok {
		for _, f := range all.Findings {
			switch f.Kind {
			case connectrest.ProbeLoopback:
				for _, a := range all.Advertised {
					if connectrest.IsLoopback(a) {
						block(a, "%s", f)
					}
				}
			case connectrest.ProbeSharedAddress: // it may also be that one worker has all the work
				r.Warn(strings.Join(all.Advertised, ","), "%s", f)
			}
		}
	}
	looks, ok := s.ConnectGroup.Get()
	if !ok {
		return // worker/rebalancing says that nothing is known of the group
	}
	byAddress := map[string][]string{}
	for _, m := range looks.First.Members {
		a := hostPort(m.URL)
		byAddress[a] = append(byAddress[a], m.ID)
		r.Saw(a, "member of group %s", looks.First.ID)
	}
	if len(looks.First.Members) < 2 {
		return
	}
	for _, a := range slices.Sorted(maps.Keys(byAddress)) {
		switch members := byAddress[a]; {
		case a == "":
			block("", "members %q of group %s tell no address", members, looks.First.ID)
		case len(members) > 1:
			block(a, "%d workers of group %s advertise the one address", len(members), looks.First.ID)
		case connectrest.IsLoopback(a) && !allLoopback(byAddress):
			block(a, "a worker of group %s advertises it, where only its own host reaches it", looks.First.ID)
		}
	}
}

// allLoopback reports whether the workers all run on one machine, where a loopback
// address is right.
func allLoopback(byAddress map[string][]string) bool {
	for a := range byAddress {
		if !connectrest.IsLoopback(a) {
			return false
		}
	}
	return true
}
