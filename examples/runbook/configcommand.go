package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// generatedDocument is what config generate prints as JSON.
type generatedDocument struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Kafka      string `json:"kafka"`
	preflight.GeneratedConfig
}

// generateFlags are a template as it is typed.
type generateFlags struct {
	kafka, naming, isolation string
	sourceAlias, targetAlias string
	source, target, producer []string
	topics                   []string
	tasks, brokers, size     int
	securityOf               [3][]string // of source, target and producer
}

func (a *app) configCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "config",
		Short: "Make a connector's config",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usagef("config what? It has: generate")
		},
	}
	root.AddCommand(a.generateCommand())
	return root
}

func (a *app) generateCommand() *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Make the config of a connector that only copies",
		Long: `generate prints the config of a MirrorSourceConnector that is right for a version
of Kafka, with the reason for each key, and says what is left out and why. Put it into
connector.config of the migration file, or into a file that connector.file names.

With -f, brokers, topics and the attested isolation level come from the migration
file, which need not have a connector yet, and the version from its workers. What
is typed wins. Secrets are taken as references to a config provider alone.

It writes nothing but its output. -o json and -o yaml print it with the reasons as
data.`,
		Example: "  runbook config generate --kafka 4.3 --source-bootstrap kafka-a:9092 --target-bootstrap kafka-b:9092 \\\n" +
			"    --topics orders,payments --naming keep --isolation read_committed --tasks 4",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.reached = true
			return a.generate(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.kafka, "kafka", "", "the version of MirrorMaker 2, such as 4.3")
	flags.StringSliceVar(&f.source, "source-bootstrap", nil, "brokers of the source, HOST:PORT")
	flags.StringSliceVar(&f.target, "target-bootstrap", nil, "brokers of the target, HOST:PORT")
	flags.StringSliceVar(&f.producer, "producer-bootstrap", nil, "the target's brokers, where the workers belong to another cluster")
	flags.StringSliceVar(&f.topics, "topics", nil, "names of the topics, which are no regexes")
	flags.StringVar(&f.naming, "naming", "", "keep (the source's names) or alias (the source's alias in front): what the old job wrote to")
	flags.StringVar(&f.isolation, "isolation", "", "read_committed or read_uncommitted: what the old job read with")
	flags.StringVar(&f.sourceAlias, "source-alias", "source", "part of every stored offset")
	flags.StringVar(&f.targetAlias, "target-alias", "target", "another name than the source's")
	flags.IntVar(&f.tasks, "tasks", 1, "how many tasks share the partitions")
	flags.IntVar(&f.brokers, "target-brokers", 0, "how many brokers the target has")
	flags.IntVar(&f.size, "max-request-size", 0, "the largest record of the source, in bytes")
	for i, side := range []string{"source", "target", "producer"} {
		flags.StringArrayVar(&f.securityOf[i], side+"-security", nil, "security.protocol, ssl.* or sasl.* of the "+side+", as KEY=VALUE")
	}
	return cmd
}

func (a *app) generate(ctx context.Context, f generateFlags) error {
	t, err := f.template()
	if err != nil {
		return err
	}
	if a.file != "" {
		if err := a.fromDraft(ctx, &t); err != nil {
			return err
		}
	}
	if !t.Version.Known() {
		return usagef("for which version? Say --kafka VERSION, or name with -f a migration file whose workers are asked")
	}
	g, err := preflight.GenerateConfig(t)
	if err != nil {
		return &usageError{err: err}
	}
	d := generatedDocument{APIVersion: offsetmap.APIVersion, Kind: "ConnectorConfig", Kafka: t.Version.String(), GeneratedConfig: g}
	document, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return a.printAligned(append(document, '\n'), func(w io.Writer) { generatedYAML(w, d) })
}

// template is what was typed.
func (f generateFlags) template() (preflight.Template, error) {
	t := preflight.Template{
		SourceAlias: f.sourceAlias, TargetAlias: f.targetAlias, SourceBootstrap: f.source, TargetBootstrap: f.target, ProducerBootstrap: f.producer,
		Topics: f.topics, Naming: preflight.Naming(f.naming), Isolation: offsetmap.Isolation(f.isolation),
		Tasks: f.tasks, TargetBrokers: f.brokers, MaxRequestSize: f.size,
	}
	if f.kafka != "" {
		var err error
		if t.Version, err = connectrest.ParseVersion(f.kafka); err != nil {
			return t, usagef("--kafka: %w", err)
		}
	}
	for i, to := range []*connectrest.Config{&t.SourceSecurity, &t.TargetSecurity, &t.ProducerSecurity} {
		for _, pair := range f.securityOf[i] {
			key, value, ok := strings.Cut(pair, "=")
			if !ok {
				return t, usagef("--%s-security: want KEY=VALUE", []string{"source", "target", "producer"}[i]) // what was typed may be a secret
			}
			if *to == nil {
				*to = connectrest.Config{}
			}
			(*to)[key] = value
		}
	}
	return t, nil
}

// fromDraft fills what was not typed from a migration file that need not be complete:
// the connector is what is being made.
func (a *app) fromDraft(ctx context.Context, t *preflight.Template) error {
	text, err := os.ReadFile(a.file)
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("%s: there is no such file", a.file)
	} else if err != nil {
		return err
	}
	var m migrationFile
	if err := readStrict(text, &m); err != nil {
		return inFile(a.file, err)
	}
	for _, list := range []struct{ to, from *[]string }{{&t.SourceBootstrap, &m.Source.Bootstrap}, {&t.TargetBootstrap, &m.Target.Bootstrap}, {&t.Topics, &m.Topics}} {
		if len(*list.to) == 0 {
			*list.to = *list.from
		}
	}
	if m.Attest.Isolation != nil {
		t.Isolation = cmp.Or(t.Isolation, m.Attest.Isolation.Value)
	}
	if t.Version.Known() || len(m.Connect.URLs) == 0 {
		return nil
	}
	var o preflight.LintOptions
	if err := a.askWorker(ctx, m.Connect.URLs, nil, &o); err != nil {
		return fmt.Errorf("config generate: %w", err)
	}
	t.Version = o.Version
	return nil
}

// generatedYAML prints settings as a YAML mapping, each below its reason. A text as
// Go quotes it means the same to YAML.
func generatedYAML(w io.Writer, d generatedDocument) {
	fmt.Fprintf(w, "# MirrorSourceConnector of MirrorMaker 2 %s\n", d.Kafka)
	for _, key := range slices.Sorted(maps.Keys(d.Config)) {
		fmt.Fprintf(w, "\n# %s\n%s: %s\n", d.Reasons[key], key, strconv.Quote(d.Config[key]))
	}
	fmt.Fprint(w, "\n# Left out:\n")
	for _, key := range slices.Sorted(maps.Keys(d.Left)) {
		fmt.Fprintf(w, "#   %s: %s\n", key, d.Left[key])
	}
}
