package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2/internal/shown"
)

// app is one run of the program.
type app struct {
	out, errs io.Writer
	file      string     // -f, as typed
	output    string     // -o
	read      *migration // what open has read, for hints
	backup    string     // the file in which apply has kept what Connect held
	// topics are those that preflight has looked at, and what each is called on the target.
	topics  map[string]string
	reached bool // a subcommand has begun: what fails before is a wrong usage
}

const longHelp = `runbook takes a stopped Flink job's Kafka progress to MirrorMaker 2, proves that
nothing was lost, and can go back. Each subcommand is one step; each can be run
again; none but start makes anything run.

The order of the steps:

  1. offsets     where did the job stand?            reads a savepoint, no cluster
  2. create      the connector, STOPPED              writes to Connect
  3. preflight   is anything in the way?             reads only
  4. plan        decide every partition, seal it     writes state.dir/plan.json
  5. show        the plan, for a second person       reads only
  6. apply       Connect holds M = C - 1             writes to Connect
  7. verify      read everything back                writes a line of the journal
  8. start       on a person's word: the digest      resumes the connector
  9. watch       the proof, record by record         writes state.dir/proof.json
     rollback    before or after the start           undoes, or says where Flink goes on
 10. accept      is everything shown or attested?    writes state.dir/acceptance.json

Exit statuses: 0 done, 1 failed, 2 wrong usage, 3 blocked by a finding, 4 the
world or the file no longer matches the plan, 5 outcome unknown, 6 running
without progress, 7 proof failed, 8 not proven within the bound.`

// run runs the program and returns its exit status.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	a := &app{out: out, errs: errs}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	if !a.reached {
		err = &usageError{err: err}
	}
	name := ""
	if cmd != nil && cmd != root {
		name = strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
	}
	a.report(errs, name, err)
	return exitStatus(err)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "runbook -f migration.yaml SUBCOMMAND",
		Short:         "Take a stopped Flink job's Kafka progress to MirrorMaker 2",
		Long:          longHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := noneEmpty(cmd); err != nil {
				return err
			}
			switch a.output {
			case "table", "json", "yaml":
				return nil
			}
			return usagef("-o %s: want table, json or yaml", a.output)
		},
	}
	root.PersistentFlags().StringVarP(&a.file, "file", "f", "", "the migration, such as migration.yaml")
	root.PersistentFlags().StringVarP(&a.output, "output", "o", "table", "table, json or yaml")
	root.AddGroup(&cobra.Group{ID: "steps", Title: "Steps:"}, &cobra.Group{ID: "other", Title: "Other:"})
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	for _, step := range []*cobra.Command{
		a.offsetsCommand(), a.createCommand(), a.preflightCommand(), a.planCommand(), a.showCommand(),
		a.applyCommand(), a.verifyCommand(), a.startCommand(), a.watchCommand(), a.rollbackCommand(),
	} {
		step.GroupID = "steps"
		root.AddCommand(step)
	}
	for _, other := range []*cobra.Command{a.statusCommand(), a.inspectCommand(), a.proofCommand(), a.widenCommand(), a.continueCommand(), a.restoreCommand(), a.acceptCommand(), a.reportCommand(), a.evidenceCommand(), a.auditCommand(), a.unlockCommand(), a.configCommand(), a.lintCommand(), a.explainCommand(), a.versionCommand()} {
		other.GroupID = "other"
		root.AddCommand(other)
	}
	return root
}

// noneEmpty refuses a flag that is given without anything, as by a variable of a
// shell that is not set. Taken for one that was left out it would change what is
// read: all sources for one, the group alone for the savepoint.
func noneEmpty(cmd *cobra.Command) error {
	for _, f := range collect(cmd.Flags().Visit) {
		if v := f.Value.String(); v == "" || v == "[]" {
			return usagef("--%s is empty: give it a value, or leave it out", f.Name)
		}
	}
	return nil
}

// collect returns what visit hands out.
func collect[F any](visit func(func(F))) (all []F) {
	visit(func(f F) { all = append(all, f) })
	return all
}

// step makes a subcommand that takes no arguments. Its help ends with the next
// command.
func (a *app) step(name, short, long, next string, do func(context.Context) error) *cobra.Command {
	if next != "" {
		long += "\n\nNext: " + next
	}
	return &cobra.Command{
		Use: name, Short: short, Long: long, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.reached = true
			return do(cmd.Context())
		},
	}
}

// note tells a person something that is not data.
func (a *app) note(format string, args ...any) {
	fmt.Fprintln(a.errs, shown.Text(fmt.Sprintf(format, args...)))
}

// next names the next command to a person.
func (a *app) next(args ...string) { a.note("next: %s", a.command(args...)) }
