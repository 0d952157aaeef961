package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/internal/shown"
)

// missingFilesHint says how to go on without the state files that a savepoint
// names: by the entries of a path map that would find files of the same names, as
// they are to be written.
func (a *app) missingFilesHint(command string, e *flinkstate.MissingFilesError) string {
	const sure = ", after you have made sure that the files there are the right ones"
	offers, mapped := map[string]string{}, true
	for _, f := range e.Files {
		if f.From != "" {
			offers[f.From] = f.To
		}
		mapped = mapped && f.Path != ""
	}
	again := a.command(command)
	if a.file == "" {
		again = "the same command"
	}
	switch inFile := a.file != "" || strings.Contains(strings.Join(slices.Concat(slices.Collect(maps.Keys(offers)), slices.Collect(maps.Values(offers))), ""), "="); {
	case mapped:
		return again + ", once the files are where they were looked for"
	case len(offers) == 0 && a.file == "" && strings.Contains(sharedFolder(e.Files), "="):
		return "runbook -f migration.yaml " + command + ", once positions.pathMap there says where " + shown.Argument(sharedFolder(e.Files)) + " is now"
	case len(offers) == 0 && a.file == "":
		return again + " with --path-map " + shown.Argument(sharedFolder(e.Files)+"=FOLDER") + ", where FOLDER is where that is now" + sure
	case len(offers) == 0:
		return again + ", once positions.pathMap says where " + shown.Argument(sharedFolder(e.Files)) + " is now"
	case inFile:
		var lines []string
		for _, from := range slices.Sorted(maps.Keys(offers)) {
			lines = append(lines, strconv.Quote(from)+": "+strconv.Quote(offers[from]))
		}
		where := "a migration file"
		if a.file != "" {
			where = shown.Argument(a.file)
		}
		return "add to positions.pathMap of " + where + " " + strings.Join(lines, " and ") + sure + "; then " + again
	default:
		var flags strings.Builder
		for _, from := range slices.Sorted(maps.Keys(offers)) {
			flags.WriteString(" --path-map " + shown.Argument(from+"="+offers[from]))
		}
		return again + " with" + flags.String() + sure
	}
}

// sharedFolder returns the longest folder above all files that no entry of a path
// map fits, as the state names them: what lies below has usually moved together. It
// is FROM where they have none in common.
func sharedFolder(files []flinkstate.MissingFile) string {
	shared, first := "", true
	for _, f := range files {
		if f.Path != "" {
			continue
		}
		folder := f.Name[:strings.LastIndex(f.Name, "/")+1]
		if first {
			shared, first = folder, false
		}
		for !strings.HasPrefix(folder, shared) {
			shared = shared[:strings.LastIndex(strings.TrimSuffix(shared, "/"), "/")+1]
		}
	}
	shared = strings.TrimSuffix(shared, "/")
	if shared == "" || strings.HasSuffix(shared, "/") || strings.HasSuffix(shared, ":") { // no more than a scheme
		return "FROM"
	}
	return shared
}

// selectorHint says how to name one source, or its cluster.
func (a *app) selectorHint(command string, e *flinkstate.SelectorError) string {
	switch {
	case len(e.Choices) == 0 && a.file == "":
		return "the same command without --cluster"
	case len(e.Choices) == 0:
		return a.command(command) + ", once positions.cluster is left out"
	case len(e.Clusters) > 0 && a.file == "":
		return "the same command with --cluster and one of these"
	case len(e.Clusters) > 0:
		return a.command(command) + ", once positions.cluster names one of these"
	case a.file == "":
		return "the same command with --operator and one of these"
	case command == "offsets":
		return a.command(command) + ", once positions.operator names one of these"
	default:
		return a.command("offsets") + ", which shows what each source has read; then set positions.operator"
	}
}

func (a *app) noMetadataHint(command string) string {
	if a.file == "" {
		return "the same command with the folder that holds _metadata"
	}
	return a.command(command) + ", once positions.savepoint names the folder that holds _metadata"
}

func (a *app) noPositionHint() string {
	if a.file == "" {
		return "runbook inspect with the same flags, which shows what is stored"
	}
	return a.command("inspect") + ", which shows what is stored"
}
