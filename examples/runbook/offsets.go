package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

type offsetsFlags struct {
	savepoint string
	operator  string
	cluster   string
	pathMap   []string
	group     string
	bootstrap []string
	topics    []string
	window    time.Duration

	topicsGiven bool
}

func (a *app) offsetsCommand() *cobra.Command {
	var o offsetsFlags
	cmd := a.step("offsets", "Show where the old job stood: C of every partition",
		`offsets reads where the old job stood: for each partition the next offset to
read, C, or the reason why there is none. It takes a savepoint or retained
checkpoint (no cluster, no JVM and no migration file needed), the committed
offsets of a consumer group, or both, compared: after a stop with savepoint a
group is usually behind; ahead means that somebody has read on since, unless no
more than markers of transactions lie between.

The group of a KafkaSource is Empty while its job runs: what shows that it runs
is an offset that moves. --window reads the group twice, that time apart, which is
to be longer than the interval of the job's checkpoints, and refuses with 3 when
one moved. After one look nothing is proven.

With -f it reads what positions in the file name, and writes
state.dir/positions.json and a line to state.dir/journal.jsonl. It never writes anywhere else, and decides nothing:
warnings say what a plan would block on.

Where s3:, gs: and webhdfs: locations are, and the credentials, comes from the
environment: AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_PROFILE and so
on; GOOGLE_APPLICATION_CREDENTIALS; HADOOP_USER_NAME.`,
		"runbook -f migration.yaml create",
		func(ctx context.Context) error { return a.offsets(ctx, o) })
	cmd.Example = `  runbook offsets --savepoint /savepoints/savepoint-1b4098-816b420504c2
  runbook offsets --savepoint ./chk-7 --path-map s3://bucket/shared=./shared -o json
  runbook offsets --savepoint s3://bucket/flink/savepoint-1b4098-816b420504c2
  runbook offsets --group copy-orders --bootstrap kafka-1:9092
  runbook offsets --savepoint ./savepoint-1b4098 --group copy-orders --bootstrap kafka-1:9092
  runbook offsets --group copy-orders --bootstrap kafka-1:9092 --window 90s
  runbook -f migration.yaml offsets`
	f := cmd.Flags()
	cmd.PreRun = func(cmd *cobra.Command, _ []string) { o.topicsGiven = cmd.Flags().Changed("topic") }
	f.StringVar(&o.savepoint, "savepoint", "", "where a savepoint or retained checkpoint lies: a folder, s3://, gs:// or webhdfs://")
	f.StringVar(&o.operator, "operator", "", "show one source: its operator id, uid or name")
	f.StringVar(&o.cluster, "cluster", "", "show one cluster of a DynamicKafkaSource, as the job calls it")
	f.StringArrayVar(&o.pathMap, "path-map", nil, "FROM=TO: where files are now that the state names by an absolute path (repeatable)")
	f.StringVar(&o.group, "group", "", "consumer group of the old job")
	f.StringSliceVar(&o.bootstrap, "bootstrap", nil, "brokers of the group's cluster, HOST:PORT (with --group)")
	f.StringSliceVar(&o.topics, "topic", nil, "topics of the group to show, by default those with a commit (with --group alone)")
	f.DurationVar(&o.window, "window", 0, "look at the group twice, that time apart, such as 90s (with --group)")
	return cmd
}

func (o offsetsFlags) check(file string) error {
	switch {
	case file != "" && (o.savepoint != "" || o.group != "" || len(o.bootstrap) > 0 || len(o.pathMap) > 0 || len(o.topics) > 0 || o.operator != "" || o.cluster != "" || o.window != 0):
		return usagef("-f says which positions to read: leave the flags of offsets out, or -f")
	case file == "" && o.savepoint == "" && o.group == "":
		return usagef("nothing to read: give --savepoint DIR, --group NAME with --bootstrap HOST:PORT, or -f FILE")
	case o.group == "" && (len(o.bootstrap) > 0 || len(o.topics) > 0 || o.window != 0):
		return usagef("--bootstrap, --topic and --window go with --group")
	case o.window < 0:
		return usagef("--window %s is negative", o.window)
	case o.group != "" && len(o.bootstrap) == 0:
		return usagef("--group needs --bootstrap HOST:PORT")
	case o.topicsGiven && len(o.topics) == 0:
		return usagef("--topic is empty: name a topic, or leave it out for those with a commit")
	case file == "" && o.savepoint == "" && (o.operator != "" || o.cluster != "" || len(o.pathMap) > 0):
		return usagef("--operator, --cluster and --path-map go with --savepoint")
	case o.savepoint != "" && len(o.topics) > 0:
		return usagef("--topic goes with --group alone: a savepoint names its topics")
	}
	return nil
}

// wanted says what offsets reads, and where to.
type wanted struct {
	savepoint string // empty: only the group
	operator  string
	cluster   string
	pathMap   map[string]string
	group     string // empty: only the savepoint
	bootstrap []string
	topics    []string
	window    time.Duration       // between two looks at the group; 0 looks once
	isolation offsetmap.Isolation // of the old job
	into      string              // the file that is written; none when empty
}

func (a *app) offsets(ctx context.Context, o offsetsFlags) error {
	if err := o.check(a.file); err != nil {
		return err
	}
	w, err := a.wanted(o)
	if err != nil {
		return err
	}
	switch {
	case w.savepoint == "":
		return a.groupOffsets(ctx, w)
	case w.group == "":
		return a.savepointOffsets(ctx, w)
	default:
		return a.comparedOffsets(ctx, w)
	}
}

func (a *app) wanted(o offsetsFlags) (wanted, error) {
	if a.file == "" {
		mapped, err := parsePathMap(o.pathMap)
		if err != nil {
			return wanted{}, err
		}
		if o.group != "" {
			var p problems
			p.bootstrap("--bootstrap", o.bootstrap)
			if err := flinkmm2.CheckGroup(o.group); err != nil {
				p.add("--group", "%w", err)
			}
			for _, topic := range o.topics {
				if err := offsetmap.ValidateTopic(topic); err != nil {
					p.add("--topic", "%w", err)
				}
			}
			if len(p) > 0 {
				return wanted{}, &usageError{err: errors.Join(p...)}
			}
		}
		return wanted{savepoint: o.savepoint, operator: o.operator, cluster: o.cluster, pathMap: mapped, group: o.group, bootstrap: o.bootstrap, topics: o.topics, window: o.window, isolation: offsetmap.ReadUncommitted}, nil
	}
	m, err := readMigration(a.file)
	if err != nil {
		return wanted{}, err
	}
	dir, err := m.openState()
	if err != nil {
		return wanted{}, err
	}
	w := wanted{
		savepoint: m.Positions.Savepoint, operator: m.Positions.Operator, cluster: m.Positions.Cluster, pathMap: m.Positions.PathMap,
		group: m.Positions.Group, bootstrap: m.Source.Bootstrap, topics: m.Topics, into: filepath.Join(dir, positionsFile),
	}
	// Until it is attested: read_uncommitted sees no less than the other.
	w.window, w.isolation = m.groupWindow, offsetmap.ReadUncommitted
	if attested := m.Attest.Isolation; attested != nil && attested.Value != "" {
		w.isolation = attested.Value
	}
	if m.Positions.From == "group" {
		w.savepoint = ""
	}
	return w, nil
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

// savepointOffsets prints the positions of a savepoint, of one source when an
// operator is named.
func (a *app) savepointOffsets(ctx context.Context, want wanted) error {
	// Positions name no hash.
	snapshot, err := readSavepoint(ctx, want.savepoint, want.pathMap, want.cluster, flinkstate.WithoutHashes())
	if err != nil {
		return fmt.Errorf("offsets: %w", err)
	}
	p := flinkmm2.Export(snapshot)
	if want.operator != "" {
		source, err := snapshot.Source(want.operator)
		if err != nil {
			return fmt.Errorf("offsets: %w", err)
		}
		p.Sources = []flinkstate.Source{source}
	}
	var document []byte
	if a.output != "table" || want.into != "" { // of many partitions it takes longer than all the rest
		if document, err = p.Encode(); err != nil {
			return err
		}
	}
	if err := a.printAligned(document, func(w io.Writer) { positionsTable(w, p, snapshot) }); err != nil {
		return err
	}
	a.explainWarnings(p.Warnings)
	if want.into != "" && len(p.Sources) > 1 {
		a.note("plan takes one of these %d sources: name it in positions.operator of %s", len(p.Sources), shown.Argument(a.file))
	}
	return a.keepPositions(ctx, document, want.into)
}

func (a *app) keepPositions(ctx context.Context, document []byte, into string) error {
	if into == "" {
		return nil
	}
	if err := flinkmm2.WriteFile(into, document); err != nil {
		return err
	}
	s, err := a.open()
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.steps.RecordPositions(ctx, document); err != nil {
		return err
	}
	a.note("written: %s", into)
	a.next("create")
	return nil
}

func positionsTable(w io.Writer, p *flinkmm2.Positions, snapshot *flinkstate.Snapshot) {
	positionsHead(w, p, snapshot)
	for _, s := range p.Sources {
		sourceHead(w, s)
		positionRows(w, s.Partitions)
	}
	warningLines(w, p.Warnings)
}

func positionsHead(w io.Writer, p *flinkmm2.Positions, snapshot *flinkstate.Snapshot) {
	fmt.Fprintf(w, "%s %s, metadata version %d, checkpoint %d", p.From, shown.Name(p.Location), p.MetadataVersion, p.CheckpointID)
	if snapshot.Kind == flinkstate.KindUnknown {
		fmt.Fprintf(w, ", kind unknown: %s\n", shown.Line(snapshot.KindReason))
		return
	}
	fmt.Fprintf(w, ", written for a %s\n", snapshot.Kind)
}

func sourceHead(w io.Writer, s flinkstate.Source) {
	fmt.Fprintf(w, "\n%s %s", s.Kind, s.OperatorID)
	if s.UID != "" {
		fmt.Fprintf(w, ", uid %s", shown.Name(s.UID))
	}
	if s.Name != "" {
		fmt.Fprintf(w, ", name %s", shown.Name(s.Name))
	}
	fmt.Fprintf(w, ", %d partitions\n", len(s.Partitions))
}
