package connecttest

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

type connectorInfo struct {
	Name   string   `json:"name"`
	Config config   `json:"config"`
	Tasks  []taskID `json:"tasks"`
	Type   string   `json:"type"`
}

type taskID struct {
	Connector string `json:"connector"`
	Task      int    `json:"task"`
}

type taskInfo struct {
	ID     taskID `json:"id"`
	Config config `json:"config"`
}

// info is what GET /connectors/{name} shows. The caller holds w.mu.
func (c *connector) info() connectorInfo {
	tasks := make([]taskID, len(c.taskConfigs))
	for i := range tasks {
		tasks[i] = taskID{c.name, i}
	}
	return connectorInfo{c.name, c.config, tasks, "source"}
}

// lookup returns a connector. The caller holds w.mu.
func (w *Worker) lookup(name string) (*connector, *restError) {
	if c, ok := w.connectors[name]; ok {
		return c, nil
	}
	return nil, notFound("Connector %s not found", name)
}

func (w *Worker) getRoot(*request) (answer, *restError) {
	return jsonAnswer(http.StatusOK, map[string]string{
		"version": w.opts.shownVersion, "commit": "connecttest", "kafka_cluster_id": w.clusterID,
	}), nil
}

func (w *Worker) getHealth(*request) (answer, *restError) {
	return jsonAnswer(http.StatusOK, struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	}{"healthy", "Worker has completed startup and is ready to handle requests."}), nil
}

func (w *Worker) listConnectors(r *request) (answer, *restError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.Sorted(maps.Keys(w.connectors))
	if !r.query.Has("expand") {
		if names == nil {
			names = []string{}
		}
		return jsonAnswer(http.StatusOK, names), nil
	}
	out := make(map[string]map[string]any)
	for _, name := range names {
		c := w.connectors[name]
		expand := r.query["expand"]
		if slices.Contains(expand, "status") && c.status == nil {
			continue // the worker takes it for one that is being removed
		}
		expanded := make(map[string]any)
		if slices.Contains(expand, "status") {
			expanded["status"] = w.statusOf(c)
		}
		if slices.Contains(expand, "info") {
			expanded["info"] = c.info()
		}
		out[name] = expanded
	}
	return jsonAnswer(http.StatusOK, out), nil
}

// createRequest is CreateConnectorRequest, read.
type createRequest struct {
	name   string
	config config
	target targetState
}

func (w *Worker) readCreate(body []byte) (createRequest, *restError) {
	cr := createRequest{target: started}
	v, err := w.opts.version.readJSON(body)
	if err != nil {
		return cr, err
	}
	if v == nil {
		return cr, internalError(`Cannot invoke "%sCreateConnectorRequest.name()" because "createRequest" is null`, entities)
	}
	known := []string{"config", "name"}
	if w.opts.version.hasInitialState() {
		known = append(known, "initial_state")
	}
	m, err := object(v, "CreateConnectorRequest", known...)
	if err != nil {
		return cr, err
	}
	if m["name"] != nil {
		// String.trim takes control characters away too.
		cr.name = strings.TrimFunc(javaString(m["name"]), func(c rune) bool { return c <= ' ' })
	}
	if cr.config, err = stringMap(m["config"]); err != nil {
		return cr, err
	}
	if m["initial_state"] != nil {
		state := strings.ToUpper(javaString(m["initial_state"]))
		targets := map[string]targetState{"RUNNING": started, "PAUSED": paused, "STOPPED": stopped}
		target, ok := targets[state]
		if !ok {
			return cr, jacksonError("Cannot construct instance of `%[1]sCreateConnectorRequest$InitialState`, problem: No enum constant %[1]sCreateConnectorRequest.InitialState.%[2]s",
				entities, state)
		}
		cr.target = target
	}
	return cr, nil
}

func (w *Worker) createConnector(r *request) (answer, *restError) {
	cr, err := w.readCreate(r.body)
	if err != nil {
		return answer{}, err
	}
	if err := nameConfig(cr.name, cr.config); err != nil {
		return answer{}, err
	}
	if err := w.checkConfig(cr.config); err != nil {
		return answer{}, err
	}
	if r.follower != nil {
		return r.follower.forward(r)
	}
	if w.faults.ignoresInitialState() {
		cr.target = started
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, exists := w.connectors[cr.name]; exists {
		return answer{}, conflict("Connector %s already exists", cr.name)
	}
	return w.add(r, cr), nil
}

// add creates a connector. The caller holds w.mu.
func (w *Worker) add(r *request, cr createRequest) answer {
	c := &connector{
		w: w, name: cr.name, config: cr.config, target: cr.target,
		topics: make(map[string]bool), wake: make(chan struct{}, 1),
	}
	w.connectors[c.name] = c
	c.wanted++
	w.run(r.process, c, r.process.ending[c.name])
	w.notify()
	a := jsonAnswer(http.StatusCreated, c.info())
	a.location = "http://" + r.host + "/connectors/" + url.PathEscape(c.name)
	return a
}

// nameConfig is ConnectorsResource.checkAndPutConnectorConfigName.
func nameConfig(name string, c config) *restError {
	if c == nil {
		return internalError(`Cannot invoke "java.util.Map.get(Object)" because "connectorConfig" is null`)
	}
	included, ok := c.get("name")
	if ok && included != name {
		return badRequest("Connector name configuration (%s) doesn't match connector name in the URL (%s)", included, name)
	}
	c["name"] = &name
	return nil
}

// checkConfig refuses a configuration that a worker would not accept.
func (w *Worker) checkConfig(c config) *restError {
	class, ok := c.get("connector.class")
	if !ok {
		return badRequest("Connector config %s contains no connector type", c)
	}
	if !isMirrorSource(class) {
		err := badRequest("Failed to find any class that implements Connector and which name matches %s, available connectors are: %s", class, w.pluginDesc())
		if !w.opts.version.badClassIs400() {
			err.status = http.StatusInternalServerError
		}
		return err
	}
	return invalidConfig(w.opts.validateConfig(c))
}

func (w *Worker) getConnector(r *request) (answer, *restError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.lookup(r.name())
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, c.info()), nil
}

func (w *Worker) getConfig(r *request) (answer, *restError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.lookup(r.name())
	if err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, c.config), nil
}

// putConfig creates a connector that does not exist, RUNNING at once.
func (w *Worker) putConfig(r *request) (answer, *restError) {
	v, err := w.opts.version.readJSON(r.body)
	if err != nil {
		return answer{}, err
	}
	cfg, err := stringMap(v)
	if err != nil {
		return answer{}, err
	}
	if err := nameConfig(r.name(), cfg); err != nil {
		return answer{}, err
	}
	if err := w.checkConfig(cfg); err != nil {
		return answer{}, err
	}
	if r.follower != nil {
		return r.follower.forward(r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c, exists := w.connectors[r.name()]
	if !exists {
		return w.add(r, createRequest{r.name(), cfg, started}), nil
	}
	c.config = cfg
	c.change()
	return jsonAnswer(http.StatusOK, c.info()), nil
}

// patchConfig merges; null removes a key. The name within it is not compared
// with the connector's.
func (w *Worker) patchConfig(r *request) (answer, *restError) {
	v, err := w.opts.version.readJSON(r.body)
	if err != nil {
		return answer{}, err
	}
	patch, err := stringMap(v)
	if err != nil {
		return answer{}, err
	}
	if r.follower != nil {
		return r.follower.forward(r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.lookup(r.name())
	if err != nil {
		return answer{}, err
	}
	if patch == nil {
		return answer{}, internalError(`Cannot invoke "java.util.Map.forEach(java.util.function.BiConsumer)" because "patch" is null`)
	}
	merged := c.config.clone()
	for k, v := range patch {
		if v == nil {
			delete(merged, k)
		} else {
			merged[k] = v
		}
	}
	if err := w.checkConfig(merged); err != nil {
		return answer{}, err
	}
	c.config = merged
	c.change()
	return jsonAnswer(http.StatusOK, c.info()), nil
}

// deleteConnector forgets the connector; its offsets stay.
func (w *Worker) deleteConnector(r *request) (answer, *restError) {
	if r.follower != nil {
		return r.follower.forward(r)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.lookup(r.name())
	if err != nil {
		return answer{}, err
	}
	delete(w.connectors, c.name)
	r.process.ending[c.name] = c.done
	c.deleted = true
	c.change()
	return emptyAnswer(http.StatusNoContent), nil
}

func (w *Worker) getTasks(r *request) (answer, *restError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.lookup(r.name())
	if err != nil {
		return answer{}, err
	}
	tasks := make([]taskInfo, len(c.taskConfigs))
	for i, cfg := range c.taskConfigs {
		tasks[i] = taskInfo{taskID{c.name, i}, cfg}
	}
	return jsonAnswer(http.StatusOK, tasks), nil
}

func (w *Worker) getTasksConfig(r *request) (answer, *restError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.lookup(r.name())
	if err != nil {
		return answer{}, err
	}
	configs := make(map[string]config, len(c.taskConfigs))
	for i, cfg := range c.taskConfigs {
		configs[taskName(c.name, i)] = cfg
	}
	return jsonAnswer(http.StatusOK, configs), nil
}

func (w *Worker) getTopics(r *request) (answer, *restError) {
	if w.opts.topicTracking == TrackingDisabled {
		return answer{}, forbidden("Topic tracking is disabled.")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	topics := []string{}
	if c, ok := w.connectors[r.name()]; ok {
		topics = slices.AppendSeq(topics, maps.Keys(c.topics))
	}
	slices.Sort(topics)
	return jsonAnswer(http.StatusOK, map[string]any{r.name(): map[string]any{"topics": topics}}), nil
}

func (w *Worker) resetTopics(r *request) (answer, *restError) {
	switch w.opts.topicTracking {
	case TrackingDisabled:
		return answer{}, forbidden("Topic tracking is disabled.")
	case TrackingResetDisabled:
		return answer{}, forbidden("Topic tracking reset is disabled.")
	case TrackingEnabled:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.connectors[r.name()]; ok {
		clear(c.topics)
	}
	return emptyAnswer(http.StatusAccepted), nil
}

// await waits until the worker has acted upon every change of the connector.
// The caller holds w.mu, which await gives up while it waits.
func (w *Worker) await(ctx context.Context, c *connector) bool {
	for c.reached != c.wanted {
		changed := w.changed
		w.mu.Unlock()
		select {
		case <-changed:
			w.mu.Lock()
		case <-ctx.Done():
			w.mu.Lock()
			return false
		}
	}
	return true
}
