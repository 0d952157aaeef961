package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

type offsetsFlags struct {
	savepoint string
	operator  string
	pathMap   []string
	group     string
	bootstrap []string
	topics    []string
}

func (a *app) offsetsCommand() *cobra.Command {
	var o offsetsFlags
	cmd := a.step("offsets", "Show where the old job stood: C of every partition",
		`offsets reads where the old job stood: for each partition the next offset to
read, C, or the reason why there is none. It takes a savepoint or retained
checkpoint (no cluster, no JVM and no migration file needed), or the committed
offsets of a consumer group.

With -f it reads what positions in the file name, and writes
state.dir/positions.json. It never writes anywhere else, and decides nothing:
warnings say what a plan would block on.`,
		"runbook -f migration.yaml create",
		func(ctx context.Context) error { return a.offsets(ctx, o) })
	cmd.Example = `  runbook offsets --savepoint /savepoints/savepoint-1b4098-816b420504c2
  runbook offsets --savepoint ./chk-7 --path-map s3://bucket/shared=./shared -o json
  runbook offsets --group orders-copy --bootstrap kafka-1:9092
  runbook -f migration.yaml offsets`
	f := cmd.Flags()
	f.StringVar(&o.savepoint, "savepoint", "", "folder of a savepoint or retained checkpoint")
	f.StringVar(&o.operator, "operator", "", "show one source: its operator id, uid or name")
	f.StringArrayVar(&o.pathMap, "path-map", nil, "FROM=TO: where files are now that the state names by an absolute path (repeatable)")
	f.StringVar(&o.group, "group", "", "consumer group of the old job")
	f.StringSliceVar(&o.bootstrap, "bootstrap", nil, "brokers of the group's cluster, HOST:PORT (with --group)")
	f.StringSliceVar(&o.topics, "topic", nil, "topics of the group to show, by default those with a commit (with --group)")
	return cmd
}

func (o offsetsFlags) check(file string) error {
	switch {
	case o.savepoint != "" && o.group != "":
		return usagef("--savepoint and --group exclude each other")
	case file != "" && (o.savepoint != "" || o.group != "" || len(o.bootstrap) > 0 || len(o.pathMap) > 0 || len(o.topics) > 0 || o.operator != ""):
		return usagef("-f says which positions to read: leave the flags of offsets out, or -f")
	case file == "" && o.savepoint == "" && o.group == "":
		return usagef("nothing to read: give --savepoint DIR, --group NAME with --bootstrap HOST:PORT, or -f FILE")
	case o.group == "" && (len(o.bootstrap) > 0 || len(o.topics) > 0):
		return usagef("--bootstrap and --topic go with --group")
	case o.group != "" && len(o.bootstrap) == 0:
		return usagef("--group needs --bootstrap HOST:PORT")
	case o.group != "" && (o.operator != "" || len(o.pathMap) > 0):
		return usagef("--operator and --path-map go with --savepoint")
	}
	return nil
}

func (a *app) offsets(ctx context.Context, o offsetsFlags) error {
	if err := o.check(a.file); err != nil {
		return err
	}
	if a.file == "" {
		mapped, err := parsePathMap(o.pathMap)
		if err != nil {
			return err
		}
		if o.group != "" {
			var p problems
			if p.bootstrap("--bootstrap", o.bootstrap); len(p) > 0 {
				return &usageError{err: errors.Join(p...)}
			}
			return a.groupOffsets(ctx, o.bootstrap, o.group, o.topics, "")
		}
		return a.savepointOffsets(o.savepoint, o.operator, mapped, "")
	}
	m, err := readMigration(a.file)
	if err != nil {
		return err
	}
	dir, err := m.openState()
	if err != nil {
		return err
	}
	into := filepath.Join(dir, positionsFile)
	if m.Positions.From == "group" {
		return a.groupOffsets(ctx, m.Source.Bootstrap, m.Positions.Group, m.Topics, into)
	}
	return a.savepointOffsets(m.Positions.Savepoint, m.Positions.Operator, m.Positions.PathMap, into)
}

// parsePathMap reads FROM=TO: a prefix of the paths or URIs that the state names,
// and a local folder. With another = in it an entry could be taken in two ways.
func parsePathMap(entries []string) (map[string]string, error) {
	out := map[string]string{}
	for _, e := range entries {
		from, to, ok := strings.Cut(e, "=")
		switch {
		case strings.Contains(to, "="):
			return nil, usagef("--path-map %q: it has more than one =; positions.pathMap of a migration file takes such paths", e)
		case !ok || from == "" || to == "":
			return nil, usagef("--path-map %q: want FROM=TO, such as s3://bucket/flink=./flink", e)
		}
		if before, twice := out[from]; twice && before != to {
			return nil, usagef("--path-map: %s is mapped to %s and to %s", from, before, to)
		}
		out[from] = to
	}
	return out, nil
}

// savepointOffsets prints the positions of a savepoint, of one source when
// operator names it, and writes them to the file into when it is not empty.
func (a *app) savepointOffsets(dir, operator string, mapped map[string]string, into string) error {
	snapshot, err := flinkstate.ReadDir(dir, flinkstate.WithPathMap(mapped))
	if err != nil {
		return fmt.Errorf("offsets: %w", err)
	}
	p := flinkmm2.Export(snapshot)
	if operator != "" {
		source, err := snapshot.Source(operator)
		if err != nil {
			return fmt.Errorf("offsets: %w", err)
		}
		p.Sources = []flinkstate.Source{source}
	}
	document, err := p.Encode()
	if err != nil {
		return err
	}
	if err := a.print(document, func(w io.Writer) { positionsTable(w, p) }); err != nil {
		return err
	}
	return a.keepPositions(document, into)
}

func (a *app) keepPositions(document []byte, into string) error {
	if into == "" {
		return nil
	}
	if err := flinkmm2.WriteFile(into, document); err != nil {
		return err
	}
	a.note("written: %s", into)
	a.next("create")
	return nil
}

func positionsTable(w io.Writer, p *flinkmm2.Positions) {
	fmt.Fprintf(w, "%s %s, metadata version %d, checkpoint %d\n", p.From, p.Location, p.MetadataVersion, p.CheckpointID)
	for _, s := range p.Sources {
		fmt.Fprintf(w, "\n%s %s", s.Kind, s.OperatorID)
		if s.UID != "" {
			fmt.Fprintf(w, ", uid %s", s.UID)
		}
		if s.Name != "" {
			fmt.Fprintf(w, ", name %s", s.Name)
		}
		fmt.Fprintf(w, ", %d partitions\n", len(s.Partitions))
		positionRows(w, s.Partitions)
	}
	for _, warning := range p.Warnings {
		fmt.Fprintf(w, "\nwarning %s: %s\n", warning.Code, warning.Text)
	}
}

func positionRows(w io.Writer, rows []offsetmap.Position) {
	line(w, "PARTITION", "NEXT (C)", "WHY NOT", "STOPS AT")
	for _, r := range rows {
		why := string(r.Unread)
		switch {
		case why != "":
			why = "not read yet, starts at " + why
		case r.State != "":
			why = string(r.State)
			if !r.Start.IsNone() {
				why += ", would have started at " + r.Start.String()
			}
		}
		line(w, r.TopicPartition, orDash(r.Next), dash(why), orDash(r.Stop))
	}
}

func orDash(c offsetmap.NextOffset) any {
	if c.IsNone() {
		return "-"
	}
	return c
}
