package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const savepoints = "../../flinkstate/testdata/savepoints"

// expected is what a fixture says of itself.
type expected struct {
	Pointer         string            `json:"pointer"`
	PathMap         map[string]string `json:"pathMap"`
	MetadataVersion int               `json:"metadataVersion"`
	CheckpointID    int64             `json:"checkpointId"`
	Positions       []struct {
		OperatorID string `json:"operatorId"`
		Topic      string `json:"topic"`
		Partition  int    `json:"partition"`
		Next       *int64 `json:"next"`
		Sentinel   string `json:"sentinel"`
		Stopping   *int64 `json:"stopping"`
	} `json:"positions"`
}

// printed is the document of offsets, as another program would read it.
type printed struct {
	APIVersion      string `json:"apiVersion"`
	Kind            string `json:"kind"`
	From            string `json:"from"`
	Location        string `json:"location"`
	MetadataVersion int    `json:"metadataVersion"`
	CheckpointID    int64  `json:"checkpointId"`
	Sources         []struct {
		OperatorID string `json:"operatorId"`
		UID        string `json:"uid"`
		Name       string `json:"name"`
		Kind       string `json:"kind"`
		Partitions []struct {
			Topic     string `json:"topic"`
			Partition int    `json:"partition"`
			Next      *int64 `json:"next"`
			Unread    string `json:"unread"`
			Stop      *int64 `json:"stop"`
			State     string `json:"state"`
			Start     *int64 `json:"start"`
		} `json:"partitions"`
	} `json:"sources"`
	Warnings []struct {
		Code string `json:"code"`
	} `json:"warnings"`
}

func fixture(t *testing.T, name string) (dir string, want expected) {
	t.Helper()
	dir = filepath.Join(savepoints, name)
	raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	return dir, want
}

// ran runs the program inside the test.
func ran(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), args, &out, &errs)
	return status, out.String(), errs.String()
}

func offsetsOf(t *testing.T, dir string, want expected, more ...string) printed {
	t.Helper()
	args := append([]string{"offsets", "--savepoint", filepath.Join(dir, want.Pointer), "-o", "json"}, more...)
	for from, to := range want.PathMap {
		args = append(args, "--path-map", from+"="+filepath.Join(dir, to))
	}
	status, out, errs := ran(t, args...)
	if status != 0 {
		t.Fatalf("exit status %d: %s", status, errs)
	}
	var got printed
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if !strings.Contains(out, `"warnings": [`) {
		t.Errorf("warnings are not a list in %s", out)
	}
	return got
}

func orNone(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// sourceKindOf is the kind of the sources of a fixture.
func sourceKindOf(fixture string) string {
	switch {
	case strings.Contains(fixture, "-legacy-"):
		return "FlinkKafkaConsumer"
	case strings.Contains(fixture, "-dynamic-"):
		return "DynamicKafkaSource"
	default:
		return "KafkaSource"
	}
}

func TestOffsetsOfRealSavepoints(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"flink-1.12-stop-p2", "flink-1.14-stopping-offsets", "flink-1.15-unaligned-inflight", "flink-1.18-three-sources",
		"flink-1.10-legacy-savepoint", "flink-1.20-legacy-latest", "flink-1.20-legacy-stop-stale", "flink-1.18-dynamic-p2", "flink-2.2-dynamic-p2",
		"flink-1.20-checkpoint-s3-entropy", "flink-1.20-committed-sentinel", "flink-1.20-many-partitions-p4", "flink-1.20-stop-p2",
		"flink-2.2-checkpoint-file-merging", "flink-2.2-latest-sentinel", "flink-2.2-three-sources",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, want := fixture(t, name)
			got := offsetsOf(t, dir, want)
			if head := []any{got.APIVersion, got.Kind, got.From, got.MetadataVersion, got.CheckpointID}; !slices.Equal(head,
				[]any{"flinkmm2/v1", "Positions", "savepoint", want.MetadataVersion, want.CheckpointID}) || got.Location == "" {
				t.Errorf("its head is %v, at %q", head, got.Location)
			}
			var have, expect []string
			for _, s := range got.Sources {
				var order []string
				for _, p := range s.Partitions {
					order = append(order, fmt.Sprintf("%s/%09d", p.Topic, p.Partition))
					if p.State == "" { // expected.json knows what readers hold
						have = append(have, fmt.Sprintf("%s %s-%d %s %s stop %s", s.OperatorID, p.Topic, p.Partition, orNone(p.Next), p.Unread, orNone(p.Stop)))
					}
				}
				if !slices.IsSorted(order) || s.Kind != sourceKindOf(name) {
					t.Errorf("source %s of kind %s is not sorted: %v", s.OperatorID, s.Kind, order)
				}
			}
			for _, p := range want.Positions {
				expect = append(expect, fmt.Sprintf("%s %s-%d %s %s stop %s", p.OperatorID, p.Topic, p.Partition, orNone(p.Next), strings.TrimSuffix(strings.ToLower(p.Sentinel), "_offset"), orNone(p.Stopping)))
			}
			slices.Sort(have)
			slices.Sort(expect)
			if diff := cmp.Diff(expect, have); diff != "" {
				t.Errorf("(-expected.json +printed):\n%s", diff)
			}
		})
	}
}

// A partition that only the enumerator knows may have a number, which is where
// it would have begun, and not C.
func TestOffsetsOfPartitionsThatNoReaderHolds(t *testing.T) {
	t.Parallel()
	dir, want := fixture(t, "flink-1.20-synthetic-unassigned")
	unassigned := 0
	for _, p := range offsetsOf(t, dir, want).Sources[0].Partitions {
		if p.State == "" {
			continue
		}
		unassigned++
		if p.State != "unassigned" || p.Next != nil || p.Unread != "" {
			t.Errorf("%s-%d: %+v", p.Topic, p.Partition, p)
		}
	}
	if unassigned != 3 {
		t.Errorf("%d partitions are known to the enumerator alone, want 3", unassigned)
	}
}

func TestOffsetsOfOneSource(t *testing.T) {
	t.Parallel()
	dir, want := fixture(t, "flink-2.2-three-sources")
	got := offsetsOf(t, dir, want, "--operator", "source-1")
	if len(got.Sources) != 1 || got.Sources[0].UID != "source-1" || got.Sources[0].Name == "" || got.Sources[0].Partitions[0].Topic != "payments" {
		t.Errorf("--operator source-1 shows %+v", got.Sources)
	}
}

// Records in flight were passed by the source and are not on the target: that is
// said where the positions are shown.
func TestOffsetsWarnOfRecordsInFlight(t *testing.T) {
	t.Parallel()
	dir, want := fixture(t, "flink-1.20-unaligned-inflight")
	got := offsetsOf(t, dir, want)
	if len(got.Warnings) == 0 || got.Warnings[0].Code != "records-in-flight" {
		t.Errorf("warnings: %+v", got.Warnings)
	}
}

func TestOffsetsThatCannotBeReadAreAnErrorWithoutData(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		status int
		text   string
	}{
		"flink-1.20-no-discovery-yet":            {3, "no position is stored"},
		"flink-1.18-legacy-stop-loses-positions": {3, "FlinkKafkaConsumer whose list of offsets is empty"},
		"flink-1.20-checkpoint-file-merging":     {1, "an absolute path that no path map entry fits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, about := fixture(t, name)
			status, out, errs := ran(t, "offsets", "--savepoint", filepath.Join(dir, about.Pointer), "-o", "json")
			if status != want.status || out != "" || !strings.HasPrefix(errs, "runbook: offsets: ") || !strings.Contains(errs, want.text) {
				t.Errorf("exit status %d, stdout %q, stderr %q, want %d and %q", status, out, errs, want.status, want.text)
			}
		})
	}
}

func TestOffsetsAsYAMLAreTheSameDocument(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(savepoints, "flink-1.20-stop-p2", "savepoint")
	_, asJSON, _ := ran(t, "offsets", "--savepoint", dir, "-o", "json")
	_, asYAML, _ := ran(t, "offsets", "--savepoint", dir, "-o", "yaml")
	var a, b printed
	if err := json.Unmarshal([]byte(asJSON), &a); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(asYAML), &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" || strings.HasPrefix(asYAML, "{") {
		t.Errorf("(-JSON +YAML):\n%s", diff)
	}
}
