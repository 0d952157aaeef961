package connecttest

import (
	"net/http"
	"strconv"
)

type connectorStatus struct {
	Name      string         `json:"name"`
	Connector connectorState `json:"connector"`
	Tasks     []taskState    `json:"tasks"`
	Type      string         `json:"type"`
}

type connectorState struct {
	State    string `json:"state"`
	WorkerID string `json:"worker_id"`
	Trace    string `json:"trace,omitempty"`
	Version  string `json:"version,omitempty"`
}

type taskState struct {
	ID int `json:"id"`
	connectorState
}

// shown is how a status appears in answers.
func (w *Worker) shown(s *status) connectorState {
	cs := connectorState{State: s.state, WorkerID: w.advertised(), Trace: s.trace}
	if w.opts.version.showsPluginVersion() {
		cs.Version = w.opts.shownVersion
	}
	return cs
}

// statusOf is the status of a connector that has one. The caller holds w.mu.
func (w *Worker) statusOf(c *connector) connectorStatus {
	cs := connectorStatus{Name: c.name, Connector: w.shown(c.status), Tasks: []taskState{}, Type: "source"}
	for i, t := range c.tasks {
		cs.Tasks = append(cs.Tasks, taskState{i, w.shown(t)})
	}
	return cs
}

func (w *Worker) getStatus(r *request) (answer, *restError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.connectors[r.name()]
	if !ok || c.status == nil {
		return answer{}, notFound("No status found for connector %s", r.name())
	}
	return jsonAnswer(http.StatusOK, w.statusOf(c)), nil
}

func (w *Worker) getTaskStatus(r *request) (answer, *restError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := r.task()
	c, ok := w.connectors[r.name()]
	if !ok || n < 0 || n >= len(c.tasks) {
		return answer{}, notFound("No status found for task %s", taskName(r.name(), n))
	}
	return jsonAnswer(http.StatusOK, taskState{n, w.shown(c.tasks[n])}), nil
}

func taskName(connector string, task int) string { return connector + "-" + strconv.Itoa(task) }

// setTarget changes the target state, as pause, resume and stop do.
func (w *Worker) setTarget(r *request, target targetState, success int) (answer, *restError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.connectors[r.name()]
	if !ok {
		return answer{}, notFound("Unknown connector %s", r.name())
	}
	if target == stopped {
		c.taskConfigs = nil // written before the target state, so that a STOPPED connector never has tasks
	}
	if c.target != target {
		c.target = target
		c.stopSeen = c.stopSeen || target == stopped
		c.change()
	}
	return emptyAnswer(success), nil
}

// knows reports whether a connector exists, which every worker reads from the
// config topic.
func (w *Worker) knows(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.lookup(name)
	return err == nil
}

func (w *Worker) pauseConnector(r *request) (answer, *restError) {
	return w.setTarget(r, paused, http.StatusAccepted)
}

func (w *Worker) resumeConnector(r *request) (answer, *restError) {
	return w.setTarget(r, started, http.StatusAccepted)
}

// stopConnector answers before the tasks have ended. Unlike pause and resume,
// which the asked worker writes itself, it is the leader's.
func (w *Worker) stopConnector(r *request) (answer, *restError) {
	if r.follower != nil && w.knows(r.name()) {
		return r.follower.forward(r)
	}
	return w.setTarget(r, stopped, http.StatusNoContent)
}

// restartConnector does not leave STOPPED or PAUSED.
func (w *Worker) restartConnector(r *request) (answer, *restError) {
	if r.follower != nil && w.knows(r.name()) {
		return r.follower.forward(r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.connectors[r.name()]
	if !ok {
		return answer{}, notFound("Unknown connector: %s", r.name())
	}
	includeTasks, onlyFailed := r.flag("includeTasks"), r.flag("onlyFailed")
	if !includeTasks && !onlyFailed {
		c.restart.connector = true
		c.change()
		return emptyAnswer(http.StatusNoContent), nil
	}
	if c.status == nil {
		return answer{}, notFound("Status for connector %s not found", r.name())
	}
	if !onlyFailed || c.status.state == stateFailed {
		c.status = &status{state: stateRestarting}
		c.restart.connector = true
	}
	for i, t := range c.tasks {
		if includeTasks && (!onlyFailed || t.state == stateFailed) {
			*t = status{state: stateRestarting}
			c.restartTask(i)
		}
	}
	c.change()
	return jsonAnswer(http.StatusAccepted, w.statusOf(c)), nil
}

func (w *Worker) restartTask(r *request) (answer, *restError) {
	if r.follower != nil && w.knows(r.name()) {
		return r.follower.forward(r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.connectors[r.name()]
	if !ok {
		return answer{}, notFound("Unknown connector: %s", r.name())
	}
	n := r.task()
	if n < 0 || n >= len(c.taskConfigs) {
		return answer{}, notFound("Unknown task: %s", taskName(r.name(), n))
	}
	c.restartTask(n)
	c.change()
	return emptyAnswer(http.StatusNoContent), nil
}

func (c *connector) restartTask(n int) {
	if c.restart.tasks == nil {
		c.restart.tasks = make(map[int]bool)
	}
	c.restart.tasks[n] = true
}
