package connectrest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
)

const (
	hintProbeAnswer  = "check that address, and whether the worker runs"
	hintProbeHealth  = "wait for it, or read the worker's log"
	hintProbeCluster = "check bootstrap.servers of these workers and the list of URLs"
	hintProbeVersion = "wait until the upgrade is over, or ask one worker alone"
	hintProbeView    = "check group.id and the internal topics of these workers, and whether one cannot read its config topic or status topic"
)

func sameConfig(a, b Config) bool { return maps.Equal(a, b) }

// judgeViews tells what is wrong. differ is what stayed different among the
// connectors.
func judgeViews(views []WorkerView, differ string) ProbeReport {
	r := ProbeReport{Workers: views, Advertised: advertised(views)}
	add := func(kind ProbeKind, urls []string, detail, hint string) {
		urls = slices.Clone(urls)
		slices.Sort(urls)
		r.Findings = append(r.Findings, ProbeFinding{kind, urls, detail, hint})
	}
	clusters, versions := map[string][]string{}, map[string][]string{}
	var answering, all []string
	tasks := 0
	for _, v := range views {
		all = append(all, v.URL)
		if v.Err != nil {
			add(ProbeNoAnswer, []string{v.URL}, v.Err.Error(), hintProbeAnswer)
		} else {
			answering = append(answering, v.URL)
		}
		if v.Info.Version.text != "" {
			clusters[v.Info.KafkaClusterID] = append(clusters[v.Info.KafkaClusterID], v.URL)
			versions[v.Info.Version.String()] = append(versions[v.Info.Version.String()], v.URL)
		}
		if v.Health != nil && v.Health.Status != HealthHealthy {
			add(ProbeUnhealthy, []string{v.URL}, fmt.Sprintf("%s: %s", v.Health.Status, v.Health.Message), hintProbeHealth)
		}
		tasks = max(tasks, countTasks(v.Connectors))
		if v.ForwardErr != nil && !errors.Is(v.ForwardErr, ErrUnsupported) {
			add(ProbeForwarding, []string{v.URL}, v.ForwardErr.Error(), hintAdvertised)
		}
	}
	if len(clusters) > 1 {
		add(ProbeOtherCluster, all, groups(clusters), hintProbeCluster)
	}
	if len(versions) > 1 {
		add(ProbeOtherVersion, all, groups(versions), hintProbeVersion)
	}
	if differ != "" {
		add(ProbeOtherView, all, differ, hintProbeView)
	}
	if len(views) > 1 {
		for _, a := range r.Advertised {
			if IsLoopback(a) && !allLoopback(all) {
				add(ProbeLoopback, all, "a worker advertises "+a+", where only its own host reaches it", hintAdvertised)
			}
		}
		if len(answering) > 1 && len(r.Advertised) == 1 && tasks > len(answering) {
			add(ProbeSharedAddress, answering, fmt.Sprintf("%d workers answer, and all of %d connectors and tasks are said to run on %s", len(answering), tasks, r.Advertised[0]),
				"each worker needs a rest.advertised.host.name of its own at which the others reach it, not that of a load balancer or of a service; if one worker has all the work, wait for the rebalance (scheduled.rebalance.max.delay.ms)")
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b ProbeFinding) int {
		return cmp.Or(strings.Compare(string(a.Kind), string(b.Kind)), slices.Compare(a.Workers, b.Workers))
	})
	return r
}

func groups(by map[string][]string) string {
	var parts []string
	for value, urls := range sorted(by) {
		parts = append(parts, fmt.Sprintf("%q at %s", value, strings.Join(urls, ", ")))
	}
	return strings.Join(parts, "; ")
}

// advertised returns the worker_ids of connectors and tasks, sorted. A connector
// that nobody runs has none.
func advertised(views []WorkerView) []string {
	seen := map[string]bool{}
	for _, v := range views {
		for _, one := range v.Connectors {
			seen[one.Status.Connector.WorkerID] = true
			for _, t := range one.Status.Tasks {
				seen[t.WorkerID] = true
			}
		}
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

func countTasks(l ConnectorList) int {
	n := len(l)
	for _, one := range l {
		n += len(one.Status.Tasks)
	}
	return n
}

// IsLoopback reports whether HOST:PORT, such as the worker_id of a status, or HOST alone
// is reached from its own machine only.
func IsLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	if strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

// allLoopback reports whether the workers are all asked on this machine, where
// a loopback address is right.
func allLoopback(urls []string) bool {
	for _, u := range urls {
		_, rest, _ := strings.Cut(u, "://")
		hostPort, _, _ := strings.Cut(rest, "/")
		if !IsLoopback(hostPort) {
			return false
		}
	}
	return true
}
