package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/stores"
)

// inventoryKind is the kind of the document that inspect prints.
const inventoryKind = "Inventory"

// inventory says what a job has stored, for the person who must choose a source
// and state that the job only copies.
type inventory struct {
	APIVersion      string                  `json:"apiVersion"`
	Kind            string                  `json:"kind"`
	Location        string                  `json:"location"`
	MetadataVersion int                     `json:"metadataVersion"`
	CheckpointID    int64                   `json:"checkpointId"`
	WrittenFor      flinkstate.SnapshotKind `json:"writtenFor"`
	KindReason      string                  `json:"writtenForReason,omitempty"`
	Operators       []flinkstate.Operator   `json:"operators"`
	Sources         []sourceSummary         `json:"sources"`
	Sinks           []flinkstate.Sink       `json:"sinks"`
	InFlight        []flinkstate.InFlight   `json:"inFlight"`
	Files           []flinkstate.File       `json:"files"`
	Warnings        []flinkstate.Warning    `json:"warnings"`
}

// sourceSummary is a source without its positions, which offsets shows.
type sourceSummary struct {
	OperatorID string               `json:"operatorId"`
	UID        string               `json:"uid,omitempty"`
	Name       string               `json:"name,omitempty"`
	Kind       flinkstate.Kind      `json:"kind"`
	Discovery  flinkstate.Discovery `json:"discovery"`
	Clusters   []flinkstate.Cluster `json:"clusters,omitempty"`
	Topics     []string             `json:"topics"`
	Partitions int                  `json:"partitions"`
	// Unread counts the partitions without a next offset.
	Unread int `json:"unread"`
}

func (a *app) inspectCommand() *cobra.Command {
	var savepoint string
	var pathMap []string
	cmd := a.step("inspect", "Show what the old job has stored: operators, sources, sinks",
		`inspect lists every operator of a savepoint or retained checkpoint, with what it
has stored and what was understood of that: the sources to choose from, the
sinks with their transactional ids and what they had prepared, and state that
contradicts that the job only copies. Operators have a uid and a name from Flink
2.0 on; before, the operator id is the hash of the uid.

Discovery is finished once the source had listed all partitions of its topics. It
is unknown where that is not stored: by a FlinkKafkaConsumer, and by a KafkaSource
before flink-connector-kafka 3.1. What may be open is a transaction that the sink
had prepared, and that the job commits only after the savepoint: preflight looks
for it on the target.

It needs no cluster, no JVM and no migration file, decides nothing, and writes
nothing. A savepoint without any position is shown too; offsets and plan refuse
it.`,
		"runbook offsets, with --operator where there are several sources",
		func(ctx context.Context) error { return a.inspect(ctx, savepoint, pathMap) })
	cmd.Example = `  runbook inspect --savepoint /savepoints/savepoint-1b4098-816b420504c2
  runbook inspect --savepoint s3://bucket/flink/savepoint-1b4098-816b420504c2 -o json
  runbook -f migration.yaml inspect`
	f := cmd.Flags()
	f.StringVar(&savepoint, "savepoint", "", "where a savepoint or retained checkpoint lies: a folder, s3://, gs:// or webhdfs://")
	f.StringArrayVar(&pathMap, "path-map", nil, "FROM=TO: where files are now that the state names by an absolute path (repeatable)")
	return cmd
}

func (a *app) inspect(ctx context.Context, savepoint string, pathMap []string) error {
	switch {
	case a.file != "" && (savepoint != "" || len(pathMap) > 0):
		return usagef("-f says which savepoint to read: leave the flags of inspect out, or -f")
	case a.file == "" && savepoint == "":
		return usagef("nothing to read: give --savepoint DIR, or -f FILE")
	}
	mapped, err := parsePathMap(pathMap)
	if err != nil {
		return err
	}
	if a.file != "" {
		m, err := readMigration(a.file)
		if err != nil {
			return err
		}
		if savepoint, mapped = m.Positions.Savepoint, m.Positions.PathMap; savepoint == "" {
			return usagef("%s: positions.savepoint: there is none to inspect", a.file)
		}
	}
	snapshot, err := stores.ReadSavepoint(ctx, savepoint, mapped, stores.WithReadOptions(flinkstate.WithSinkFiles()))
	var none *flinkstate.NoPositionError
	if errors.As(err, &none) {
		snapshot, err = none.Snapshot, nil
	}
	if err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	i := inventoryOf(snapshot)
	if err := a.printValue(i, func(w io.Writer) { inventoryTable(w, i) }); err != nil {
		return err
	}
	a.explainWarnings(i.Warnings)
	if none != nil {
		a.note("no position of a source of Kafka is stored: offsets and plan refuse this")
	}
	return nil
}

func inventoryOf(s *flinkstate.Snapshot) inventory {
	i := inventory{
		APIVersion: offsetmap.APIVersion, Kind: inventoryKind, Location: s.Location, MetadataVersion: s.MetadataVersion,
		CheckpointID: s.CheckpointID, WrittenFor: s.Kind, KindReason: s.KindReason, Operators: s.Operators,
		Sources: []sourceSummary{}, Sinks: append([]flinkstate.Sink{}, s.Sinks...), InFlight: append([]flinkstate.InFlight{}, s.InFlight...),
		Files: s.Files, Warnings: s.Warnings,
	}
	for _, src := range s.Sources {
		sum := sourceSummary{
			OperatorID: src.OperatorID, UID: src.UID, Name: src.Name, Kind: src.Kind, Discovery: src.Discovery,
			Clusters: src.Clusters, Topics: []string{}, Partitions: len(src.Partitions),
		}
		for _, p := range src.Partitions {
			sum.Topics = append(sum.Topics, p.Topic)
			if p.Next.IsNone() {
				sum.Unread++
			}
		}
		sum.Topics = slices.Compact(sum.Topics) // positions are sorted by topic
		i.Sources = append(i.Sources, sum)
	}
	return i
}

func inventoryTable(w io.Writer, i inventory) {
	fmt.Fprintf(w, "%s, metadata version %d, checkpoint %d, written for: %s", shown.Name(i.Location), i.MetadataVersion, i.CheckpointID, i.WrittenFor)
	if i.KindReason != "" {
		fmt.Fprintf(w, " (%s)", shown.Line(i.KindReason))
	}
	fmt.Fprint(w, "\n\n")
	line(w, "OPERATOR", "UID", "NAME", "PARALLELISM", "BYTES", "STATE", "ELEMENTS", "HOLDS")
	for _, o := range i.Operators {
		operatorLines(w, o)
	}
	for _, s := range i.Sources {
		fmt.Fprintf(w, "\nsource %s %s: %d partitions of %s, %d without a next offset, discovery %s\n",
			s.Kind, called(s.OperatorID, s.UID), s.Partitions, listed(s.Topics), s.Unread, s.Discovery)
		for _, c := range s.Clusters {
			fmt.Fprintf(w, "  cluster %s at %s: %s\n", shown.Name(c.ID), strings.Join(shown.Names(c.BootstrapServers), " or "), listed(c.Topics))
		}
	}
	for _, s := range i.Sinks {
		fmt.Fprintf(w, "\nsink %s %s\n", s.Kind, called(s.OperatorID, s.UID))
		for _, p := range s.TransactionalIDPrefixes {
			fmt.Fprintf(w, "  transactional ids start with %s\n", shown.Name(p))
		}
		for _, id := range s.TransactionalIDs {
			fmt.Fprintf(w, "  uses transactional id %s\n", shown.Name(id))
		}
		for _, t := range s.Transactions {
			fmt.Fprintf(w, "  may be open: %s%s\n", shown.Name(t.TransactionalID), producer(t))
		}
	}
	for _, o := range i.Operators {
		for _, what := range o.BeyondCopying {
			fmt.Fprintf(w, "\nnot a job that only copies? operator %s has %s\n", called(o.ID, cmp.Or(o.UID, o.Name)), shown.Line(what))
		}
	}
	warningLines(w, i.Warnings)
}

// operatorLines writes one line for each state of an operator.
func operatorLines(w io.Writer, o flinkstate.Operator) {
	sum := o.Bytes.Operator + o.Bytes.Raw + o.Bytes.Keyed + o.Bytes.Coordinator + o.Bytes.Channels
	head := []any{o.ID, named(o.UID), named(o.Name), o.Parallelism, sum}
	if len(o.States) == 0 {
		line(w, append(head, "-", "-", without(o))...)
	}
	for _, s := range o.States {
		holds := cmp.Or(s.Holds, "-")
		switch {
		case s.NotRead != "":
			holds = "not understood: " + s.NotRead
		case s.Holds == "" && s.Elements > 0:
			holds = "not a Kafka connector's"
		}
		line(w, append(head, shown.Name(s.Name)+" ("+string(s.Kind)+")", s.Elements, holds)...)
		head = []any{"", "", "", "", ""}
	}
}

// without says what there is to know of an operator that has no list state.
func without(o flinkstate.Operator) string {
	switch {
	case o.FullyFinished:
		return "finished, nothing is stored"
	case o.Keyed:
		return "keyed state"
	default:
		return "-"
	}
}

// listed names topics as far as a line of a table can hold them.
func listed(topics []string) string {
	const most = 10
	if len(topics) <= most {
		return strings.Join(shown.Names(topics), ", ")
	}
	return fmt.Sprintf("%s and %d more topics (-o json names all)", strings.Join(shown.Names(topics[:most]), ", "), len(topics)-most)
}

func called(id, name string) string {
	if name == "" {
		return id
	}
	return shown.Name(name) + " (" + id + ")"
}

// producer says who began a transaction, where the state holds it.
func producer(t flinkstate.Transaction) string {
	if t.ProducerID < 0 {
		return ""
	}
	return fmt.Sprintf(", producer id %d, epoch %d", t.ProducerID, t.Epoch)
}
