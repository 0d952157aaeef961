package preflight

import (
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

func connectorChecks() []Check {
	return []Check{{
		ID:         "connector/unknown",
		Title:      "The connector's config can be read",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "GET /connectors/NAME",
		Why:        "The plan records the digest of the config, and most checks are about it.",
		Remedy:     "Wait until the workers answer, and run preflight again.",
		Judge: func(c *Case, r *Reporter) {
			if f := c.Facts.Connector; f.Err() != nil {
				r.Unknown("", f.Err())
			}
		},
	}, {
		ID:         "connector/absent",
		Title:      "The connector exists",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "GET /connectors/NAME",
		Why:        "The plan reads the stored offsets from the connector, so it exists, STOPPED, before the plan.",
		Remedy:     "`runbook -f <MIGRATION> create`, or POST <WORKER>/connectors with \"initial_state\": \"STOPPED\". Never create it by PUT: that starts it at once.",
		Judge: func(c *Case, r *Reporter) {
			if c.Facts.Connector.IsAbsent() {
				r.Block("", "the worker has no connector %s", c.Facts.Name)
			}
		},
	}, {
		ID:         "connector/class",
		Title:      "The connector is a MirrorSourceConnector",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "connector.class",
		Why:        "Offsets of another class have another form, and it copies by other rules.",
		Remedy:     `Set "connector.class": "` + mirrorSource + `".`,
		Judge:      withConfig(connectorClass),
	}, {
		ID:         "connector/state",
		Title:      "The connector is STOPPED and has no task",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Never,
		Looks:      "GET /connectors/NAME/status, and the list of tasks in GET /connectors/NAME",
		Why:        "Offsets can be altered in STOPPED alone (PAUSED is not STOPPED), once no task is left. A task that still runs copies, and overwrites the offset that was written.",
		Remedy:     "`curl -X PUT <WORKER>/connectors/<CONNECTOR>/stop`, then wait until the status shows STOPPED and \"tasks\": [].",
		Judge:      withConfig(connectorState),
	}, {
		ID:         "connector/active-topics",
		Title:      "The connector has not copied anything yet",
		Severity:   offsetmap.Warn,
		Acceptable: offsetmap.Never,
		Looks:      "GET /connectors/NAME/topics (KIP-558)",
		Why:        "A connector that ran has written records and may have stored offsets of its own. A task that was abandoned may still commit for up to the worker's offset.flush.timeout.ms.",
		Remedy:     "Find out what it copied, and make a new plan. For a new beginning, reset it while it is STOPPED: `curl -X PUT <WORKER>/connectors/<CONNECTOR>/topics/reset`, and " + deleteAll + ".",
		Judge:      withConfig(activeTopics),
	}}
}

func connectorClass(_ *Case, s settings, r *Reporter) {
	class, _, err := s.get("connector.class")
	switch {
	case err != nil:
		r.Unmade("connector.class", err)
	case !connectrest.IsMirrorSource(class):
		r.Block("connector.class", "connector.class is %q", class)
	}
}

func connectorState(c *Case, _ settings, r *Reporter) {
	info, _ := c.Facts.Connector.Get()
	status, ok := needs(r, "", c.Facts.Status)
	switch {
	case !ok && c.Facts.Status.IsAbsent():
		r.Block("", "the worker has no status of connector %s: it was deleted a moment ago", c.Facts.Name)
	case !ok:
	case status.Connector.State != connectrest.StateStopped:
		r.Block("", "the connector is %s with %d tasks, want STOPPED with none", status.Connector.State, max(len(status.Tasks), len(info.Tasks)))
	case len(status.Tasks) > 0:
		r.Block("", "the connector is STOPPED, but %d tasks still exist (the first, %d, is %s)", len(status.Tasks), status.Tasks[0].ID, status.Tasks[0].State)
	case len(info.Tasks) > 0:
		r.Block("", "the connector is STOPPED, but %d tasks are still configured", len(info.Tasks))
	}
}

func activeTopics(c *Case, _ settings, r *Reporter) {
	topics, ok := needs(r, "", c.Facts.Active)
	switch {
	case !ok && c.Facts.Active.IsAbsent():
		r.Info("", "the worker does not track which topics a connector writes, so it cannot say whether this one ran")
	case len(topics) > 0:
		r.Warn("", "the connector has written to %q since it was created or reset: it ran", topics[:min(len(topics), 10)])
	}
}
