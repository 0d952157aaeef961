package main

import (
	"cmp"
	"context"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2/preflight"
)

func (a *app) versionCommand() *cobra.Command {
	return a.step("version", "Print the version of this program",
		"version prints what this program was built from. Plans name it.", "",
		func(context.Context) error {
			v := struct {
				Name     string `json:"name"`
				Version  string `json:"version"`
				Revision string `json:"revision"` // of the checkout that it was built from; empty where the build did not see it
				Modified bool   `json:"modified"` // the checkout had changes that were not committed
				Go       string `json:"go"`
			}{Name: "runbook", Version: version()}
			if info, ok := debug.ReadBuildInfo(); ok {
				v.Revision, v.Modified, v.Go = setting(info, "vcs.revision"), setting(info, "vcs.modified") == "true", info.GoVersion
			}
			return a.printValue(v, func(w io.Writer) {
				line(w, "runbook", v.Version)
				switch {
				case v.Revision == "":
					line(w, "revision", "not known: go run and -buildvcs=false leave it out")
				case v.Modified:
					line(w, "revision", v.Revision+", with changes")
				default:
					line(w, "revision", v.Revision)
				}
				line(w, "go", v.Go)
			})
		})
}

// version is the module's version, or the commit of a build from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return cmp.Or(setting(info, "vcs.revision"), "devel")
}

// setting is what the build says of a key, empty where it says nothing.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// checkText is a check as explain shows it.
type checkText struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	Severity   string `json:"severity"`
	Acceptable string `json:"acceptable"`
	Looks      string `json:"looks"`
	Why        string `json:"why"`
	Remedy     string `json:"remedy"`
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [ID]",
		Short: "Say what a check looks at, why, and how to mend what it finds",
		Long: `explain prints what a check of preflight looks at, what would happen without it,
and how to mend what it finds. Without an ID it lists all checks. Of an ID the part
after the slash is enough where one check has it: warnings of offsets and inspect
are called so.

What stands between < and > is to be filled in: preflight and plan do so, by what was
found and by the migration file; explain with -f by the file alone. Without -f it reads
no file, and it reaches no cluster.`,
		Example: "  runbook explain source/offset-expired\n  runbook -f migration.yaml explain source/retention",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a.reached = true
			if len(args) == 0 {
				return a.listChecks()
			}
			c, err := checkNamed(args[0])
			if err != nil {
				return err
			}
			names := preflight.Names{}
			if a.file != "" {
				m, err := readMigration(a.file)
				if err != nil {
					return err
				}
				a.read, names = m, m.names(nil)
			}
			c.Remedy = names.Fill(c.Remedy)
			return a.printValue(textOf(c), func(w io.Writer) {
				for _, part := range [][2]string{
					{"check", c.ID},
					{"demands", c.Title},
					{"looks at", c.Looks},
					{"why", c.Why},
					{"to mend", c.Remedy},
					{"severity", string(c.Severity)},
					{"acceptance", acceptanceText(c)},
				} {
					if part[1] != "" {
						line(w, part[0], part[1])
					}
				}
			})
		},
	}
}

// checkNamed finds a check by its id, or by the part after the slash, which is the
// code of a warning, where one check has it.
func checkNamed(name string) (preflight.Check, error) {
	if c, known := preflight.Explain(name); known {
		return c, nil
	}
	var all []preflight.Check
	var ids []string
	for _, c := range preflight.Checks() {
		if _, code, _ := strings.Cut(c.ID, "/"); code == name {
			all, ids = append(all, c), append(ids, c.ID)
		}
	}
	switch len(all) {
	case 0:
		return preflight.Check{}, usagef("there is no check %q; runbook explain lists them all", name)
	case 1:
		return all[0], nil
	default:
		return preflight.Check{}, usagef("%q may be any of these checks: %s", name, strings.Join(ids, ", "))
	}
}

func (a *app) listChecks() error {
	var all []checkText
	for _, c := range preflight.Checks() {
		all = append(all, textOf(c))
	}
	return a.printValue(all, func(w io.Writer) {
		line(w, "CHECK", "SEVERITY", "DEMANDS")
		for _, c := range all {
			line(w, c.ID, c.Severity, c.Title)
		}
	})
}

func textOf(c preflight.Check) checkText {
	return checkText{c.ID, c.Title, string(c.Severity), string(c.Acceptable), c.Looks, c.Why, c.Remedy}
}

// acceptanceText says whether a finding of the check may pass, and how that is
// written into the migration file.
func acceptanceText(c preflight.Check) string {
	scope := "the finding's whole scope, its count included"
	switch c.Acceptable {
	case "exact":
	case "scope":
		scope = "the finding's scope, its topic, or *"
	default:
		return "none helps"
	}
	return "in accept of the migration file, {check: " + c.ID + ", scope: SCOPE, reason: WHY, by: WHO}, where SCOPE is " + scope
}
