package lab

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Stage names a kind of machinery that some tests need and some machines lack.
type Stage string

const (
	// JVM is the stage of this package: Java 17 or newer, and the jars of the Kafka release or Maven to fetch them.
	JVM Stage = "jvm"
	// Flink is the stage of package flinklab, which asks for it by [RequireParts].
	Flink Stage = "flink"
	// Browser is the stage of pages: a Chromium without a display, which [Chromium] finds.
	Browser Stage = "browser"
)

// RequireEnv is the environment variable that lists, separated by commas, the stages that have to run here.
const RequireEnv = "FLINKMM2_REQUIRE"

var stages = []Stage{JVM, Flink, Browser}

// Require returns if [JVM] can run on this machine. Otherwise it skips t with the reason, or fails t if [RequireEnv]
// lists the stage. An unknown name in RequireEnv fails t too: a misspelled stage would be skipped without a word.
//
// It looks at what the default release needs; a test of another release may still skip in [Start].
func Require(t testing.TB, stage Stage) {
	t.Helper()
	require(t, stage, DefaultVersion)
}

func require(t testing.TB, stage Stage, version string) {
	t.Helper()
	switch stage {
	case Flink:
		t.Fatalf("stage %s: package flinklab knows what it needs", stage)
	case Browser:
		_, missing := chromium()
		RequireParts(t, stage, missing...)
	default:
		RequireParts(t, stage, missingForJVM(version)...)
	}
}

// RequireParts ends t as [Require] does if parts of a stage are missing, each of which it names.
func RequireParts(t testing.TB, stage Stage, missing ...string) {
	t.Helper()
	if !slices.Contains(stages, stage) {
		t.Fatalf("unknown stage %q: want one of %s", stage, stageList())
	}
	// Read even when nothing is missing, so that a misspelled list fails on every machine.
	if _, err := isRequired(stage); err != nil {
		t.Fatal(err)
	}
	if len(missing) > 0 {
		unavailable(t, stage, strings.Join(missing, "; "))
	}
}

// unavailable ends t: skipped, or failed where the stage is required.
func unavailable(t testing.TB, stage Stage, reason string) {
	t.Helper()
	required, err := isRequired(stage)
	if err != nil {
		t.Fatal(err)
	}
	if required {
		t.Fatalf("stage %s cannot run here and %s demands it: %s", stage, RequireEnv, reason)
	}
	t.Skipf("stage %s cannot run here: %s", stage, reason)
}

func isRequired(stage Stage) (bool, error) {
	found := false
	for name := range strings.SplitSeq(os.Getenv(RequireEnv), ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
		case !slices.Contains(stages, Stage(name)):
			return false, fmt.Errorf("%s names the unknown stage %q: want a comma-separated list of %s", RequireEnv, name, stageList())
		case Stage(name) == stage:
			found = true
		}
	}
	return found, nil
}

func stageList() string {
	names := make([]string, len(stages))
	for i, s := range stages {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}
