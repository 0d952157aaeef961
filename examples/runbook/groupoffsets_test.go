package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// severalClusters is the savepoint of a DynamicKafkaSource one of whose splits
// is of another cluster: the name of the first one in the state of the readers.
func severalClusters(t *testing.T) string {
	t.Helper()
	dir, want := fixture(t, "flink-1.20-dynamic-p2")
	at := t.TempDir()
	if err := os.CopyFS(at, os.DirFS(filepath.Join(dir, want.Pointer))); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(at, "_metadata")
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndex(b, []byte("cluster-a"))
	if last < 0 {
		t.Fatal("the fixture names no cluster-a")
	}
	b[last+len("cluster-a")-1] = 'b'
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// A group is of one cluster: compared with a source of two, a topic that is in
// both would be compared with the offsets of either.
func TestGroupIsNotComparedWithSeveralClusters(t *testing.T) {
	t.Parallel()
	at := severalClusters(t)
	status, out, errs := ran(t, "offsets", "--savepoint", at)
	if status != 0 || !strings.Contains(out, "of cluster-a") || !strings.Contains(out, "of cluster-b") {
		t.Fatalf("exit status %d, %s%s", status, out, errs)
	}
	compared := []string{"offsets", "--savepoint", at, "--group", "copy-orders", "--bootstrap", "127.0.0.1:1"}
	status, out, errs = ran(t, compared...)
	if status != exitUsage || out != "" || !strings.Contains(errs, "2 clusters (cluster-a, cluster-b)") || !strings.Contains(errs, "--cluster") || !strings.Contains(errs, "positions.cluster") {
		t.Errorf("exit status %d, stdout %q, stderr %q", status, out, errs)
	}
	// The refusal names the mend: now only the broker is missing.
	if status, _, errs = ran(t, append(compared, "--cluster", "cluster-a")...); status == exitUsage || strings.Contains(errs, "2 clusters") {
		t.Errorf("with --cluster: exit status %d, stderr %q", status, errs)
	}
}

// The command that is offered again has the name that was given, not that of
// whoever runs it.
func TestCommandOfferedAgainKeepsTheName(t *testing.T) {
	t.Parallel()
	askedWith := func(args ...string) []string {
		var h handBack
		cmd := &cobra.Command{}
		h.flags(cmd)
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		return h.asked()
	}
	given := askedWith("--commit-group", "g", "--by", "ana")
	if want := []string{"rollback", "--commit-group", "g", "--flink-stopped", theEnds, "--reason", "TEXT", "--by", "ana"}; !slices.Equal(given, want) {
		t.Errorf("got %q, want %q", given, want)
	}
	if own := askedWith("--commit-group", "g"); slices.Contains(own, "--by") {
		t.Errorf("without --by: %q", own)
	}
	if blank := askedWith("--commit-group", "g", "--by", " "); blank[len(blank)-1] != "NAME" {
		t.Errorf("with a blank --by: %q", blank)
	}
}
