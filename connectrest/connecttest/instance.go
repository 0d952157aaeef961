package connecttest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// instance is a connector that runs, or is paused: MirrorSourceConnector and its
// tasks. Only the connector's driver uses it. A nil instance is one that does
// not run.
type instance struct {
	c      *connector
	raw    config
	mirror *mirrorConfig
	log    *slog.Logger

	source, target *kgo.Client // admin clients; nil when enabled=false
	known          []topicPartition
	tasks          []*task
	configs        []config
	isPaused       bool
}

// startInstance is MirrorSourceConnector.start. What it returns as an error
// makes the connector FAILED; trouble with the clusters is only logged, as
// Scheduler does, and leaves a RUNNING connector without tasks.
func (c *connector) startInstance(p *process, raw config) (*instance, error) {
	o := c.w.opts
	m, err := o.readMirrorConfig(c.name, raw)
	if err != nil {
		return nil, err
	}
	inst := &instance{c: c, raw: raw, mirror: m, log: o.logger.With("connector", c.name)}
	if !m.enabled {
		return inst, nil
	}
	inst.source, err = o.newClient(clientConfig(raw, "source", "admin")["bootstrap.servers"], m.clientID("replication-source-admin"))
	if err == nil {
		inst.target, err = o.newClient(clientConfig(raw, "target", "admin")["bootstrap.servers"], m.clientID("replication-target-admin"))
	}
	for _, cl := range []*kgo.Client{inst.source, inst.target} {
		if err == nil {
			err = resolvable(p.live, cl, m.adminTimeout)
		}
	}
	if err != nil {
		inst.close()
		return nil, &javaError{
			"org.apache.kafka.common.KafkaException",
			"The constructor of org.apache.kafka.clients.admin.ForwardingAdmin threw an exception\n" +
				"Caused by: org.apache.kafka.common.config.ConfigException: No resolvable bootstrap urls given in bootstrap.servers: " + err.Error(),
			mirrorPackage + "MirrorConnectorConfig.forwardingAdmin",
		}
	}
	inst.step(p.live, "creating upstream offset-syncs topic", inst.createOffsetSyncsTopic)
	inst.step(p.live, "loading initial set of topic-partitions", func(ctx context.Context) error {
		found, err := inst.findPartitions(ctx)
		inst.known = found
		return err
	})
	inst.step(p.live, "creating downstream topic-partitions", inst.createRemotePartitions)
	inst.log.Info("connector started", "partitions", len(inst.known))
	return inst, nil
}

// step is Scheduler.execute: bounded by admin.timeout.ms, and an error is logged
// only.
func (inst *instance) step(ctx context.Context, what string, do func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, inst.mirror.adminTimeout)
	defer cancel()
	if err := do(ctx); err != nil {
		inst.log.ErrorContext(ctx, "scheduled task failed", "task", what, "error", err)
	}
}

// resolvable reports an error when no address of a client has a name that
// resolves. An address that does not answer is no error.
func resolvable(ctx context.Context, cl *kgo.Client, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := cl.Ping(ctx); err != nil {
		if _, unresolved := errors.AsType[*net.DNSError](err); unresolved {
			return err
		}
	}
	return nil
}

// startTasks divides the known partitions round robin and starts a task for each
// part.
func (inst *instance) startTasks(p *process) {
	inst.configs = inst.taskConfigs()
	inst.tasks = nil
	var shown []*status
	for i := range inst.configs {
		t := newTask(inst, p, i, inst.part(i, len(inst.configs)))
		inst.tasks = append(inst.tasks, t)
		shown = append(shown, t.status)
	}
	inst.c.show(shown, inst.configs)
	for _, t := range inst.tasks {
		t.start(p)
	}
}

// part is the share of one task of n.
func (inst *instance) part(i, n int) []topicPartition {
	var part []topicPartition
	for ; i < len(inst.known); i += n {
		part = append(part, inst.known[i])
	}
	return part
}

// taskConfigs is MirrorSourceConnector.taskConfigs.
func (inst *instance) taskConfigs() []config {
	if !inst.mirror.enabled || len(inst.known) == 0 {
		return nil
	}
	n := min(inst.mirror.tasksMax, len(inst.known))
	configs := make([]config, n)
	for i := range configs {
		var names []string
		for _, tp := range inst.part(i, n) {
			names = append(names, tp.topic+"-"+strconv.Itoa(int(tp.partition)))
		}
		configs[i] = inst.raw.clone()
		for k, v := range map[string]string{
			"task.class":               mirrorPackage + "MirrorSourceTask",
			"task.index":               strconv.Itoa(i),
			"task.assigned.partitions": strings.Join(names, ","),
		} {
			configs[i][k] = &v
		}
	}
	return configs
}

// refresh is MirrorSourceConnector.refreshTopicPartitions: a change of the
// source's partitions, or a partition that the target lacks, creates topics;
// tasks restart when their parts change.
func (inst *instance) refresh(p *process) {
	if inst == nil || !inst.mirror.enabled || inst.isPaused {
		return
	}
	inst.step(p.live, "refreshing topics", func(ctx context.Context) error {
		found, err := inst.findPartitions(ctx)
		if err != nil {
			return err
		}
		changed := !slices.Equal(found, inst.known)
		missing, err := inst.missingOnTarget(ctx, found)
		if err != nil || (!changed && !missing) {
			return err
		}
		inst.known = found
		return inst.createRemotePartitions(ctx)
	})
	if slices.EqualFunc(inst.taskConfigs(), inst.configs, config.equal) {
		return
	}
	inst.log.Info("partitions changed, tasks restart", "partitions", len(inst.known))
	inst.stopTasks(p, inst.tasks)
	inst.startTasks(p)
}

// pause stops polling and keeps the tasks.
func (inst *instance) pause() {
	if inst == nil {
		return
	}
	inst.isPaused = true
	for _, t := range inst.tasks {
		t.pause()
	}
}

// resume goes on after a pause.
func (inst *instance) resume() {
	inst.isPaused = false
	for _, t := range inst.tasks {
		t.resume()
	}
}

// restart does what POST restart asked for: a connector that restarts looks at
// the clusters again.
func (inst *instance) restart(p *process, r restartRequest) {
	if inst == nil {
		return
	}
	for i, t := range inst.tasks {
		if !r.tasks[i] {
			continue
		}
		inst.stopTasks(p, []*task{t})
		again := newTask(inst, p, t.number, t.partitions)
		inst.tasks[i] = again
		inst.c.replaceTask(i, again.status)
		again.start(p)
	}
	if r.connector {
		inst.refresh(p)
	}
}

// replaceTask changes one shown task.
func (c *connector) replaceTask(i int, s *status) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if i < len(c.tasks) {
		c.tasks[i] = s
	}
	c.w.notify()
}

// stop ends the tasks, each with a last commit, and the connector.
func (inst *instance) stop(p *process) {
	if inst == nil {
		return
	}
	inst.stopTasks(p, inst.tasks)
	inst.close()
	inst.log.Info("connector stopped")
}

// stopTasks waits for the tasks to end, but no longer than the graceful timeout.
// What still runs then is abandoned: its last commit comes when it comes.
func (inst *instance) stopTasks(p *process, tasks []*task) {
	for _, t := range tasks {
		t.stop()
	}
	deadline := time.NewTimer(inst.c.w.opts.gracefulTimeout)
	defer deadline.Stop()
	for _, t := range tasks {
		select {
		case <-t.done:
		case <-deadline.C:
			deadline.Reset(0) // the rest gets no more time
			inst.log.Warn("task did not stop in time, abandoned", "task", t.number)
			t.abandon()
		case <-p.hard.Done():
		}
	}
}

// abandon ends everything without a commit; the process was killed.
func (inst *instance) abandon() {
	if inst == nil {
		return
	}
	for _, t := range inst.tasks {
		<-t.done
	}
	inst.close()
}

func (inst *instance) close() {
	for _, cl := range []*kgo.Client{inst.source, inst.target} {
		if cl != nil {
			cl.Close()
		}
	}
}

// traceOf is the trace that a FAILED connector or task shows.
func traceOf(err error) string {
	if je, ok := errors.AsType[*javaError](err); ok {
		return je.trace()
	}
	je := &javaError{"org.apache.kafka.connect.errors.ConnectException", err.Error(), "org.apache.kafka.connect.runtime.Worker"}
	return je.trace()
}
