package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
)

func (a *app) proofCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "proof",
		Short: "Join the proofs of shards",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("proof what? It has: merge")
		},
	}
	root.AddCommand(a.proofMergeCommand())
	return root
}

func (a *app) proofMergeCommand() *cobra.Command {
	cmd := a.step("merge [FILES]", "Join the proofs of all shards into proof.json",
		`merge joins what watch --shard has written: the files that are named, or else all
state.dir/proof-*-of-*.json. It refuses them when a shard lacks or is there twice,
or when one is of another plan, number of shards or --until.

It writes state.dir/proof.json with the outcome that a watch of the whole would have
had, ends with the status of that outcome, and reaches no cluster.`,
		"keep proof.json; or runbook -f migration.yaml rollback", nil)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(_ *cobra.Command, files []string) error {
		a.reached = true
		return a.mergeProofs(files)
	}
	return cmd
}

func (a *app) mergeProofs(files []string) error {
	m, err := readMigration(a.file)
	if err != nil {
		return err
	}
	a.read = m
	plan, err := readPlan(m.State.Dir)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		pattern := filepath.Join(m.State.Dir, "proof-*-of-*.json")
		if files, err = filepath.Glob(pattern); err != nil {
			return fmt.Errorf("%s: %w", pattern, err)
		}
		if slices.Sort(files); len(files) == 0 {
			return fmt.Errorf("there is no %s: watch each shard first, as with watch --shard 0/4", pattern)
		}
	}
	parts := make([]*flinkmm2.Proof, 0, len(files))
	for _, file := range files {
		p, err := flinkmm2.ReadProof(file)
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	whole, err := flinkmm2.MergeProofs(plan, parts...)
	if err != nil {
		return err
	}
	return a.proven(filepath.Join(m.State.Dir, proofFile), whole, whole.Err())
}
