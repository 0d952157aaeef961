package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func (a *app) createCommand() *cobra.Command {
	return a.step("create", "Create the connector, STOPPED",
		`create creates the connector of migration.yaml in the state STOPPED, and reads
back that it is: STOPPED, without a task, with that config.

It writes the connector to Connect, and a line to state.dir/journal.jsonl. It
copies nothing, touches no stored offset, and changes no connector that is there
already: one that is STOPPED with the same config is accepted, any other blocks.

A worker of Kafka 3.6 cannot create a connector STOPPED. There it starts with a
config that copies nothing (enabled=false, topics that match none), is stopped,
and gets its own config only then; when that is cut off, run create again.`,
		"runbook -f migration.yaml preflight",
		func(ctx context.Context) error {
			s, err := a.open()
			if err != nil {
				return err
			}
			defer s.close()
			created, err := s.steps.Create(ctx)
			if err != nil {
				return err
			}
			how := "created"
			if created.Existed {
				how = "there already, with the same config"
			}
			if err := a.printValue(created, func(w io.Writer) {
				fmt.Fprintf(w, "connector %s: %s, STOPPED without a task\nconfig %s\n", created.Name, how, created.ConfigDigest)
			}); err != nil {
				return err
			}
			a.next("preflight")
			return nil
		})
}
