package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// lintDocument is what lint prints as JSON.
type lintDocument struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Of         string `json:"of"`       // the file, as it was typed
	Kafka      string `json:"kafka"`    // the version of MirrorMaker 2 that the config is judged for
	JudgedBy   string `json:"judgedBy"` // "worker" or "table"
	// Flows are those of a file of connect-mirror-maker.sh; null for a connector.
	Flows    []flowText          `json:"flows"`
	Blocked  bool                `json:"blocked"`
	Findings []offsetmap.Finding `json:"findings"`
	Remedies []preflight.Remedy  `json:"remedies"`
}

// flowText is a direction that the driver would run.
type flowText struct {
	Source  string `json:"source"`
	Target  string `json:"target"`
	Enabled bool   `json:"enabled"`
	Topics  string `json:"topics"` // the list of regexes; empty is every topic
}

func (a *app) lintCommand() *cobra.Command {
	var kafka string
	cmd := &cobra.Command{
		Use:   "lint [FILE]",
		Short: "Look at a connector's config",
		Long: `lint judges the config of a MirrorSourceConnector by its text: keys that nothing
reads, with the one that was meant, values that a worker refuses, and what would lose,
repeat, misplace or stall records. FILE is a flat JSON or YAML mapping, the body of
POST /connectors, the answer of GET /connectors/NAME, or a file of properties: of a
connector, or mm2.properties of connect-mirror-maker.sh, whose flows are judged each.
Without FILE it is the config of the migration file.

With --kafka it reaches nothing, and goes by a table of that version. Without it the
workers of the migration file are asked which keys their plugin defines, and whether
they would take the values: PUT /connector-plugins/CLASS/config/validate, which
changes nothing.

It ends with 3 when something blocks. runbook explain ID says more about a check.
What depends on the clusters, such as which topics there are, preflight looks at.`,
		Example: "  runbook lint connector.json --kafka 4.3\n  runbook -f migration.yaml lint",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.reached = true
			return a.lint(cmd.Context(), strings.Join(args, ""), kafka)
		},
	}
	cmd.Flags().StringVar(&kafka, "kafka", "", "the version of MirrorMaker 2, such as 4.3")
	return cmd
}

func (a *app) lint(ctx context.Context, file, kafka string) error {
	var o preflight.LintOptions
	var m *migration
	switch {
	case file == "" && a.file == "":
		return usagef("nothing to look at: name a FILE, or the migration with -f")
	case kafka == "" && a.file == "":
		return usagef("for which version? Say --kafka VERSION, or name with -f the migration whose workers are asked")
	}
	if kafka != "" {
		var err error
		if o.Version, err = connectrest.ParseVersion(kafka); err != nil {
			return usagef("--kafka: %w", err)
		}
	}
	if a.file != "" {
		var err error
		if m, err = readMigration(a.file); err != nil {
			return err
		}
		a.read = m
		o.Topics = m.Topics
	}
	d := lintDocument{APIVersion: offsetmap.APIVersion, Kind: "Lint", Of: file, JudgedBy: "table"}
	var config connectrest.Config
	var driver map[string]string
	if file == "" {
		d.Of, config = a.file, withName(m.config, m.Connector.Name)
	} else {
		var err error
		if config, driver, err = readLinted(file); err != nil {
			return notRead(file, err)
		}
	}
	if kafka == "" {
		if err := a.askWorker(ctx, m.Connect.URLs, config, &o); err != nil {
			return fmt.Errorf("lint: %w", err)
		}
		d.JudgedBy = "worker"
	}
	d.Kafka = o.Version.String()
	if driver != nil {
		d.JudgedBy = "table" // a worker tells of one connector only
		flows, findings := preflight.LintDriver(driver, o.Version)
		d.Flows, d.Findings = flowTexts(flows), append([]offsetmap.Finding{}, findings...)
	} else {
		d.Findings = append([]offsetmap.Finding{}, preflight.Lint(config, o)...)
	}
	var names preflight.Names
	if m != nil {
		names = m.names(nil)
	}
	d.Remedies = remedies(d.Findings, names)
	blocked := preflight.Blocked(d.Findings)
	d.Blocked = blocked != nil
	if err := a.printValue(d, func(w io.Writer) { lintTable(w, d) }); err != nil {
		return err
	}
	if blocked != nil {
		return shownError{fmt.Errorf("lint: %w", blocked)}
	}
	return nil
}

func lintTable(w io.Writer, d lintDocument) {
	by := "by the table of that version"
	if d.JudgedBy == "worker" {
		by = "as the worker defines its keys"
	}
	fmt.Fprintf(w, "%s, for MirrorMaker 2 %s, %s\n\n", d.Of, d.Kafka, by)
	if d.Flows != nil {
		line(w, "FLOW", "COPIES", "TOPICS")
		for _, f := range d.Flows {
			copies := "nothing: it is run for its heartbeats"
			if f.Enabled {
				copies = "records"
			}
			line(w, f.Source+"->"+f.Target, copies, dash(f.Topics))
		}
		fmt.Fprintln(w)
	}
	findingsTable(w, d.Findings)
	remediesTable(w, d.Remedies)
}

// askWorker fills what workers say of a config.
func (a *app) askWorker(ctx context.Context, urls []string, config connectrest.Config, o *preflight.LintOptions) error {
	client, err := connectrest.NewCluster(urls, connectrest.WithUserAgent("flinkmm2-runbook"),
		connectrest.WithLogger(slog.New(newPatience(a.errs, time.Now))))
	if err != nil {
		return fmt.Errorf("connect.urls: %w", err)
	}
	plugins, err := client.Plugins(ctx)
	if err != nil {
		return err
	}
	facts := preflight.Facts{Plugins: offsetmap.Known(plugins)}
	if o.Version, err = facts.MirrorVersion(); err != nil {
		return fmt.Errorf("%w: say --kafka VERSION", err)
	}
	class := strings.TrimSpace(config["connector.class"])
	if !connectrest.IsMirrorSource(class) {
		return nil // connector/class blocks, and a worker would judge by another class
	}
	validation, err := client.Validate(ctx, class, config)
	if err != nil {
		return err
	}
	o.Keys = validation.Keys
	return nil
}

// withName is a config as a worker judges it: with the connector's name.
func withName(config connectrest.Config, name string) connectrest.Config {
	out := connectrest.Config{"name": name}
	maps.Copy(out, config)
	return out
}

func flowTexts(flows []preflight.DriverFlow) []flowText {
	out := make([]flowText, len(flows))
	for i, f := range flows {
		out[i] = flowText{Source: f.Source, Target: f.Target, Enabled: f.Enabled, Topics: f.Copying["topics"]}
	}
	return out
}
