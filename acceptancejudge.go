package flinkmm2

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

func isRunning(f acceptanceFacts, j *judgement) {
	for _, look := range []connectorLook{f.first, f.later} {
		s, ok := look.status.Get()
		switch {
		case !ok:
			j.lacks("the connector's status is not known: %v", look.status.Err())
			return
		case !running(s):
			j.denies("the connector is %s with the tasks %s", s.Connector.State, taskStates(s))
			return
		}
	}
	now, _ := f.later.status.Get()
	j.saw("the connector and %d tasks were RUNNING at two looks, %s apart", len(now.Tasks), f.between)
	before, ok := f.first.stored.Get()
	after, ok2 := f.later.stored.Get()
	if !ok || !ok2 {
		j.lacks("the offsets that Connect holds are not known at both looks")
		return
	}
	p := f.proofOf(j)
	if p == nil {
		return
	}
	copied := map[offsetmap.TopicPartition]bool{}
	for _, one := range p.Partitions {
		copied[one.TopicPartition] = one.Copied > 0
	}
	var backwards, still named
	advanced := 0
	for _, r := range f.plan.Body.Rows {
		was, is, planned := before[r.TopicPartition], after[r.TopicPartition], r.Write.Result()
		switch {
		case below(is, was):
			backwards.add("%s (%s after %s)", r.TopicPartition, is, was)
		case is != planned && !is.IsNone():
			advanced++
		case copied[r.TopicPartition]:
			still.add("%s (%s)", r.TopicPartition, is)
		}
	}
	if backwards.n > 0 {
		j.denies("the offsets of %d partitions went back between the two looks: %s", backwards.n, &backwards)
	}
	if still.n > 0 {
		j.lacks("records of %d partitions were copied, and Connect holds what was planned of them still; it stores offsets every offset.flush.interval.ms: %s", still.n, &still)
	}
	if advanced > 0 {
		j.saw("Connect's offsets of %d of %d partitions have advanced beyond the plan", advanced, len(f.plan.Body.Rows))
	} else {
		j.lacks("no offset has advanced beyond the plan")
	}
	caughtUp(p, j)
}

// caughtUp: the lag has gone when the target has everything up to an end of the source,
// and that was the end still, or as good as still.
func caughtUp(p *Proof, j *judgement) {
	var lag int64
	for _, one := range p.Partitions {
		lag += one.Lag + one.Unread
	}
	switch {
	case p.Outcome != outcomeProven:
		j.lacks("the proof of %s ended with %s, so that nothing shows that the lag goes to nothing", p.CreatedAt, p.Outcome)
	case p.Until == UntilCaughtUp():
		j.saw("by the proof of %s the lag has gone: the target has caught up with the source's end", p.CreatedAt)
	case !toTheEnd(p, j):
	case lag > 0:
		j.lacks("by the proof of %s the target had the source's end of its beginning, and was %d records behind again: watch until it has caught up", p.CreatedAt, lag)
	default:
		j.saw("by the proof of %s the lag has gone: no record waited when it ended", p.CreatedAt)
	}
}

func taskStates(s connectrest.Status) string {
	var all named
	for _, t := range s.Tasks {
		all.add("%d %s", t.ID, t.State)
	}
	if all.n == 0 {
		return "none"
	}
	return all.String()
}

func imageAsAgreed(f acceptanceFacts, j *judgement) {
	if s, ok := f.later.status.Get(); ok {
		for _, a := range addresses(s) {
			host, _, err := net.SplitHostPort(a)
			is := "a name"
			if ip := net.ParseIP(host); err == nil && ip != nil {
				is = "an address"
				if ip.IsLoopback() {
					is = "a loopback address, which no other pod reaches"
				}
			}
			j.saw("a worker with work of the connector advertises %s: %s", a, is)
		}
	}
	c := f.plan.Body.Attestations.Confirm
	for _, one := range []struct {
		name string
		word *offsetmap.Attestation[string]
	}{{"confirm.image", c.Image}, {"confirm.kubernetes", c.Kubernetes}} {
		if one.word == nil {
			continue
		}
		j.saw("%s of the plan, by %s: %s", one.name, one.word.By, one.word.Value)
	}
	if c.Image != nil && c.Kubernetes != nil {
		j.attested = c.Image
	}
	j.lacks("no API shows as whom a worker runs, and where its logs go")
}

// addresses are the workers of a connector and its tasks, sorted.
func addresses(s connectrest.Status) []string {
	all := []string{s.Connector.WorkerID}
	for _, t := range s.Tasks {
		all = append(all, t.WorkerID)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(a string) bool { return a == "" })
}

// afterRestart goes by what AfterRestart has held against the mark of before the restart.
func afterRestart(f acceptanceFacts, j *judgement) {
	p := f.restart
	switch {
	case p == nil:
		j.lacks("nothing was recorded before and after a restart")
		return
	case !f.whole(p, j):
		return
	case p.Outcome != outcomeProven:
		j.denies("the proof of %s, after the restart, ended with %s", p.CreatedAt, p.Outcome)
		return
	}
	r := p.Restart
	for _, open := range r.Open {
		j.lacks("%s", open)
	}
	var tasks, still named
	for _, t := range r.Tasks {
		if t.Restarted {
			tasks.add("%d on %s", t.ID, t.After)
		} else {
			still.add("%d on %s", t.ID, t.After)
		}
	}
	switch {
	case still.n > 0 && len(r.Open) == 0:
		j.lacks("tasks are not shown to have been restarted: %s", &still)
	case tasks.n > 0:
		j.saw("restarted since the mark of %s: task %s", r.MarkedAt, &tasks)
	case len(r.Open) == 0:
		j.lacks("no task runs after the restart")
	}
	j.saw("%d records came since, none missing; %d came twice, and the restart explains %d", r.Copied, r.Repeated, r.Allowed)
}

func noCompanions(f acceptanceFacts, j *judgement) {
	others, ok := f.others.Get()
	if !ok {
		j.lacks("the connectors of the workers are not known: %v", f.others.Err())
		return
	}
	if _, there := others[f.plan.Body.Connector.Name]; !there {
		j.lacks("the workers list %d connectors without the one of the plan", len(others))
		return
	}
	var all named
	for name, c := range others.Sorted() {
		all.add("%s", name)
		class, is := preflight.Companion(c.Info.Config)
		a := slices.IndexFunc(f.plan.Body.Acceptances, func(a offsetmap.Acceptance) bool {
			return a.Scope == name && (a.Check == "connector/checkpoint" || a.Check == "connector/heartbeat")
		})
		switch {
		case !is:
		case a < 0:
			j.denies("connector %s is a %s", name, class)
		default: // it belongs to another flow, as somebody answers for in the plan
			j.saw("connector %s is a %s, which %s accepted in the plan: %s", name, class, f.plan.Body.Acceptances[a].By, f.plan.Body.Acceptances[a].Reason)
		}
	}
	j.saw("these workers have %d connectors: %s. Those of other Connect clusters are not seen", all.n, &all)
}

func asBefore(f acceptanceFacts, j *judgement) {
	source, ok := f.source.Get()
	target, ok2 := f.target.Get()
	switch {
	case !ok:
		j.lacks("the source's topics are not known: %v", f.source.Err())
	case !ok2:
		j.lacks("the target's topics are not known: %v", f.target.Err())
	default:
		samePartitions(f.plan, source, target, j)
	}
	looked := false
	for _, found := range f.plan.Body.Findings {
		switch {
		case found.Check == "boundary/delivered-evidence":
			looked = true
			j.saw("before the start %s", found.Detail)
		case found.Check == "boundary/not-carried":
			j.lacks("the form of records changes at C: topic %s: %s", found.Scope, found.Detail)
		case found.Accepted != nil && slices.Contains([]string{"boundary/key-order", "boundary/content-changed"}, found.Check):
			j.saw("%s accepted %s %s: %s", found.Accepted.By, found.Check, found.Scope, found.Detail)
		}
	}
	if !looked {
		j.lacks("no record of the old job was looked at before the start")
	}
	if p := f.proofOf(j); p != nil {
		if p.Altered > 0 || p.Outcome != outcomeProven {
			j.denies("the proof of %s ended with %s, %d records altered", p.CreatedAt, p.Outcome, p.Altered)
		} else if toTheEnd(p, j) {
			j.saw("by the proof of %s the %d records from C on have key, value, headers and order of the source's", p.CreatedAt, p.Copied)
		}
	}
}

// samePartitions holds the target's partitions to the plan's, and to the source's of now:
// MirrorMaker 2 adds those that the source got meanwhile.
func samePartitions(plan *offsetmap.Plan, source, target map[string][]int32, j *judgement) {
	var lack, differ named
	topics := map[string]bool{}
	for _, r := range plan.Body.Rows {
		if !slices.Contains(target[r.TargetTopic], r.Partition) {
			lack.add("%s of %s", r.TopicPartition, r.TargetTopic)
		}
		if !topics[r.Topic] && !slices.Equal(source[r.Topic], target[r.TargetTopic]) {
			differ.add("%s has %d, the source's %s %d", r.TargetTopic, len(target[r.TargetTopic]), r.Topic, len(source[r.Topic]))
		}
		topics[r.Topic] = true
	}
	if lack.n > 0 {
		j.denies("the target lacks %d partitions of the plan: %s", lack.n, &lack)
	}
	if differ.n > 0 {
		j.lacks("the number of partitions differs of %d topics: %s", differ.n, &differ)
	}
	if lack.n == 0 && differ.n == 0 {
		j.saw("the %d target topics have the plan's %d partitions, and as many as the source", len(topics), len(plan.Body.Rows))
	}
}

// switches are the settings by which MirrorSourceConnector synchronises beside records.
func switches(config connectrest.Config) string {
	var all []string
	for _, key := range []string{"emit.offset-syncs.enabled", "sync.topic.configs.enabled", "sync.topic.acls.enabled"} {
		value := "not set"
		if v, set := config[key]; set {
			value = v
		}
		all = append(all, fmt.Sprintf("%s: %s", key, value))
	}
	return strings.Join(all, ", ")
}
