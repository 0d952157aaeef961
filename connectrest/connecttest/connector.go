package connecttest

import (
	"time"
)

// targetState is what the config topic says a connector is to be.
type targetState string

const (
	started targetState = "STARTED"
	paused  targetState = "PAUSED"
	stopped targetState = "STOPPED"
)

// States of connectors and tasks (AbstractStatus.State).
const (
	stateUnassigned = "UNASSIGNED"
	stateRunning    = "RUNNING"
	statePaused     = "PAUSED"
	stateFailed     = "FAILED"
	stateRestarting = "RESTARTING"
	stateStopped    = "STOPPED"
)

// status is what the status topic says of a connector or a task.
type status struct {
	state string
	trace string
}

// connector is what the worker knows of one connector. All fields but w and name
// are guarded by w.mu.
type connector struct {
	w    *Worker
	name string

	config  config
	target  targetState
	deleted bool
	restart restartRequest
	// stopSeen says that a stop was asked for, whatever came after it: tasks end
	// also when the connector is resumed at once.
	stopSeen bool

	// wanted counts the changes above, reached those that were acted upon.
	wanted, reached int

	status      *status   // nil until the worker has acted for the first time
	tasks       []*status // as shown; the index is the task's number
	taskConfigs []config
	topics      map[string]bool

	wake chan struct{}
	done chan struct{} // closed when the process no longer drives the connector
}

// restartRequest says what POST restart asked for.
type restartRequest struct {
	connector bool
	tasks     map[int]bool
}

// change records that something is to be done. The caller holds w.mu.
func (c *connector) change() {
	c.wanted++
	select {
	case c.wake <- struct{}{}:
	default:
	}
	c.w.notify()
}

// order is what a connector's driver has to bring about.
type order struct {
	config  config
	target  targetState
	deleted bool
	restart restartRequest
	stop    bool // before anything else
	number  int
}

func (c *connector) next() order {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	o := order{c.config.clone(), c.target, c.deleted, c.restart, c.stopSeen, c.wanted}
	c.restart, c.stopSeen = restartRequest{}, false
	return o
}

// publish changes the shown status of the connector itself.
func (c *connector) publish(state, trace string) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.status = &status{state, trace}
	c.w.notify()
}

// drive brings the connector to what is asked of it, until it is deleted or the
// process ends.
func (c *connector) drive(p *process, prev <-chan struct{}) {
	if prev != nil {
		select { // the deleted connector of the same name still ends
		case <-prev:
		case <-p.hard.Done():
			return
		}
	}
	var inst *instance
	refresh := time.NewTimer(time.Hour)
	refresh.Stop()
	defer refresh.Stop()
	first := true
	for {
		if !first {
			select {
			case <-c.wake:
			case <-refresh.C:
				inst.refresh(p)
				refresh.Reset(inst.mirror.refresh)
				continue
			case <-p.live.Done():
			}
		}
		first = false
		// A worker acts upon a change in the rebalance that follows it.
		if sleep(p.live, c.w.opts.settleTime) != nil {
			c.shutDown(p, inst)
			return
		}
		o := c.next()
		inst = c.follow(p, inst, o)
		c.w.mu.Lock()
		c.reached = o.number
		c.w.notify()
		c.w.mu.Unlock()
		if o.deleted {
			return
		}
		refresh.Stop()
		if inst != nil && inst.mirror.refresh > 0 {
			refresh.Reset(inst.mirror.refresh)
		}
	}
}

// follow acts upon one order and returns the instance that runs then, nil for
// none.
func (c *connector) follow(p *process, inst *instance, o order) *instance {
	if o.deleted {
		inst.stop(p)
		return nil
	}
	if o.stop || o.target == stopped {
		c.publish(stateStopped, "")
		inst.stop(p)
		c.show(nil, nil)
		inst = nil
	}
	switch o.target {
	case stopped:
		return nil
	case paused:
		c.publish(statePaused, "")
		inst.pause()
		inst.restart(p, o.restart)
		return inst
	}
	if inst != nil && inst.raw.equal(o.config) {
		inst.resume()
		inst.restart(p, o.restart)
		c.publish(stateRunning, "")
		return inst
	}
	if inst != nil {
		c.publish(stateUnassigned, "")
		inst.stop(p)
	}
	next, err := c.startInstance(p, o.config)
	if err != nil {
		c.show(nil, nil)
		c.publish(stateFailed, traceOf(err))
		c.w.opts.logger.Error("connector failed to start", "connector", c.name, "error", err)
		return nil
	}
	c.publish(stateRunning, "")
	next.startTasks(p)
	return next
}

// show replaces the tasks that status and task configs show.
func (c *connector) show(tasks []*status, configs []config) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.tasks = tasks
	c.taskConfigs = configs
	if c.target == stopped {
		c.taskConfigs = nil // the stop that waits to be acted upon took them away
	}
	c.w.notify()
}

// shutDown ends the instance with the process. After SIGTERM the status topic
// says UNASSIGNED, after SIGKILL what it said before.
func (c *connector) shutDown(p *process, inst *instance) {
	if p.hard.Err() != nil {
		inst.abandon()
		return
	}
	inst.stop(p)
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.status != nil {
		c.status = &status{state: stateUnassigned}
	}
	for i := range c.tasks {
		c.tasks[i] = &status{state: stateUnassigned}
	}
	c.w.notify()
}
