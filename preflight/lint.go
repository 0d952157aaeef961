package preflight

import (
	"context"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// lintChecks are what is said of a config by its text alone, beside what the
// checks of its parts say.
func lintChecks() []Check {
	return slices.Concat(lintKeyChecks(), lintValueChecks(), lintTopicChecks(), lintTaskChecks(), lintClassChecks())
}

// LintOptions say for what a config is judged.
type LintOptions struct {
	// Version is that of MirrorMaker 2, the plugin's where it differs from the
	// worker's. Defaults, and which keys exist, depend on it: what cannot be said
	// without it is reported as not made.
	Version connectrest.Version
	// Keys are those that the worker's plugin defines, from
	// [connectrest.Client.Validate], whose errors are reported as config/refused, or
	// from [connectrest.Client.PluginConfig]. Nil: a built-in table of the version,
	// from 3.4 to 4.3.
	Keys []connectrest.ConfigKey
	// Topics must be copied. Nil: which topics are copied is not judged, only whether
	// that can be told.
	Topics []string
}

// Lint judges a connector's config without a cluster: every check of the area
// config, the connector's class and the version. The findings are sorted, those that
// block first, and hold no secret.
//
// What depends on a cluster is left to [Judge]: topics that are selected and not in
// the migration, the replication factor against the brokers, where addresses lead.
func Lint(config connectrest.Config, o LintOptions) []offsetmap.Finding {
	f := Facts{
		Topics:       sortedUnique(o.Topics),
		Connector:    offsetmap.Known(connectrest.ConnectorInfo{Name: config["name"], Config: config}),
		Plugins:      offsetmap.Known([]connectrest.PluginInfo{{Class: mirrorSource, Type: "source", Version: o.Version.String()}}),
		Surroundings: &Surroundings{},
	}
	f.Surroundings.KnownKeys = offsetmap.Absent[[]connectrest.ConfigKey]()
	if o.Keys != nil {
		f.Surroundings.KnownKeys = offsetmap.Known(o.Keys)
	}
	c := &Case{Facts: f, offline: true}
	c.policy = c.namingPolicy()
	c.defined = fact(c.definedKeys())
	c.selection = c.selector()
	var findings []offsetmap.Finding
	for _, check := range append(builtIn(), lintOnlyChecks()...) {
		if check.Judge == nil || !strings.HasPrefix(check.ID, "config/") && check.ID != "connector/class" && check.ID != "worker/version" {
			continue
		}
		r := Reporter{check: check}
		check.Judge(c, &r)
		findings = append(findings, r.findings...)
	}
	slices.SortStableFunc(findings, offsetmap.Finding.Compare)
	return findings
}

// lintSurvey asks the worker which keys its plugin defines. It does not let the worker
// validate the config, which it did when the connector was created: that is a PUT, and
// whoever may only read may not send one.
func (p Probe) lintSurvey(ctx context.Context, f Facts, s *Surroundings) {
	s.KnownKeys = offsetmap.Absent[[]connectrest.ConfigKey]()
	if info, _ := f.Connector.Get(); connectrest.IsMirrorSource(strings.TrimSpace(info.Config["connector.class"])) {
		s.KnownKeys = fact(p.Connect.PluginConfig(ctx, mirrorSource))
	}
}
