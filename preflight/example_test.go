package preflight_test

import (
	"fmt"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// A program explains what a finding means.
func ExampleExplain() {
	check, _ := preflight.Explain("config/reset-rule")
	fmt.Println(check.Title)
	fmt.Println("fix:", check.Remedy)
	// Output:
	// A partition without a stored offset starts at its first record
	// fix: Set "source.consumer.auto.offset.reset": "earliest".
}

// A check of one's own is judged beside the others, and blocks as they do.
func ExampleCheck() {
	tasks := preflight.Check{
		ID:         "ours/tasks-max",
		Title:      "The connector runs with at most 8 tasks",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Judge: func(c *preflight.Case, r *preflight.Reporter) {
			connector, ok := c.Facts.Connector.Get()
			if !ok {
				r.Unmade("tasks.max", c.Facts.Connector.Err())
				return
			}
			if v := connector.Config["tasks.max"]; len(v) > 1 || v > "8" {
				r.Block("tasks.max", "tasks.max is %s", v)
			}
		},
	}
	facts := preflight.Facts{ // in a program: probe.Observe(ctx)
		Connector: offsetmap.Known(connectrest.ConnectorInfo{Config: connectrest.Config{"tasks.max": "20"}}),
	}
	report := preflight.Judge(facts, preflight.Question{}, tasks)
	for _, f := range report.Findings {
		if f.Check == tasks.ID {
			fmt.Println(f)
		}
	}
	// Output: block ours/tasks-max tasks.max: tasks.max is 20
}

// TargetTopic says under which name a topic is written.
func ExampleTargetTopic() {
	config := connectrest.Config{
		"source.cluster.alias":     "source",
		"replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
	}
	for _, topic := range []string{"orders", "device-heartbeats"} {
		name, err := preflight.TargetTopic(config, topic)
		fmt.Println(name, err)
	}
	// Output:
	// orders <nil>
	// source.device-heartbeats <nil>
}

func ExampleRemedyFor() {
	finding := offsetmap.Finding{Check: "target/timestamp-type", Severity: offsetmap.Warn, Scope: "orders", Detail: "message.timestamp.type is LogAppendTime"}
	fmt.Println(preflight.RemedyFor(finding, preflight.Names{
		Target: preflight.Brokers{Servers: "kafka-target-1:9092", CommandConfig: "client.properties"},
		Topics: map[string]string{"orders": "orders"},
	}))
	// Output:
	// If the old job's copies kept theirs: `kafka-configs.sh --bootstrap-server kafka-target-1:9092 --command-config client.properties --alter --entity-type topics --entity-name orders --add-config message.timestamp.type=CreateTime`.
}
