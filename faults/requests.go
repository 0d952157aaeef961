package faults

import (
	"fmt"
	"slices"
	"strings"
)

// request is one that a step makes: the nth of its kind.
type request struct {
	kind string
	nth  int
}

func (r request) String() string {
	if r.nth == 1 {
		return r.kind
	}
	return fmt.Sprintf("%s (no. %d)", r.kind, r.nth)
}

// look are the requests by which a step sees where a migration stands.
var look = []string{
	"GET /", "GET /connector-plugins", "GET /connectors/{name}", "GET /connectors/{name}/status", "GET /connectors/{name}/topics",
	"GET /connectors/{name}/offsets", "GET /connectors/{name}/offsets",
}

// made are the requests that each step makes where nothing goes wrong. How often it looks
// while it waits depends on the worker: then the least is here.
var made = map[string][]string{
	"create": {
		"GET /", "GET /connectors/{name}", "GET /", "GET /connectors/{name}", "POST /connectors", "GET /connectors/{name}/status",
		"GET /connectors/{name}", "GET /connectors/{name}/status", "GET /connectors/{name}",
	},
	"plan": slices.Concat(look, []string{
		"GET /", "GET /health", "GET /connectors", "GET /connector-plugins/org.apache.kafka.connect.mirror.MirrorSourceConnector/config",
	}),
	"apply":  slices.Concat(look, []string{"PATCH /connectors/{name}/offsets", "GET /connectors/{name}/offsets"}, look),
	"verify": look,
	"start":  slices.Concat(look, look, []string{"PUT /connectors/{name}/resume", "GET /connectors/{name}/status", "GET /connectors/{name}/offsets"}),
	"rollback before the start": slices.Concat(
		look, look, []string{"PATCH /connectors/{name}/offsets", "GET /connectors/{name}/offsets"}, look,
		[]string{"DELETE /connectors/{name}", "GET /connectors/{name}", "GET /", "GET /connector-plugins", "GET /connectors/{name}", "GET /connectors/{name}/offsets"},
	),
	"rollback after the start": slices.Concat(look, look, []string{"PUT /connectors/{name}/stop"}, look, look),
	"hand back to a group":     slices.Concat(look, look, look),
	"rewrite the savepoint":    slices.Concat(look, look, look),
}

// waits says whether a step may make more requests of a kind than are listed.
func waits(step, kind string) bool {
	if step == "rollback before the start" && kind == "GET /connectors/{name}" {
		return true // until it is gone
	}
	return step == "rollback after the start" || kind == "GET /connectors/{name}/status" || strings.HasPrefix(kind, "GET /connectors/{other}")
}

// steps are those of made, in their order.
var steps = append(slices.Clone(forward), "rollback before the start", "rollback after the start", "hand back to a group", "rewrite the savepoint")

// requests counts those of a step by their kinds.
func requests(step string) []request {
	times := map[string]int{}
	var all []request
	for _, kind := range made[step] {
		times[kind]++
		all = append(all, request{kind, times[kind]})
	}
	return all
}
