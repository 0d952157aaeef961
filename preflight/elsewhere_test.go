package preflight_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shownBy are tests of a folder, each as FOLDER.NAME: one that makes an id be reported,
// and one in which what it is about is sound and it is not.
type shownBy struct{ fires, passes string }

// elsewhere are the ids that Judge does not report: those of the steps after planning,
// of the linter alone, and of the rules that facts cannot bring about.
var elsewhere = map[string]shownBy{
	"config/heartbeats-replication": {"preflight.TestLintOneByOne", "preflight.TestLintOneByOne"},
	"config/identity-loop":          {"preflight.TestLintSaysThatALoopCannotBeSeen", "preflight.TestLintSaysThatALoopCannotBeSeen"},
	"config/refused":                {"preflight.TestLintReportsWhatTheWorkerRefuses", "preflight.TestLintReportsWhatTheWorkerRefuses"},
	"driver/clusters":               {"preflight.TestLintDriver", "preflight.TestLintDriver"},
	"driver/default-on":             {"preflight.TestLintDriver", "preflight.TestLintDriver"},
	"driver/flow":                   {"preflight.TestLintDriver", "preflight.TestLintDriver"},
	"driver/loop":                   {"preflight.TestLintDriver", "preflight.TestLintDriver"},
	"driver/no-rest":                {"preflight.TestLintDriver", "preflight.TestLintDriver"},
	"driver/unknown-key":            {"preflight.TestLintDriver", "preflight.TestLintDriver"},

	"connector/config":         {movedWorld, soundApply},
	"engine/goal":              {"internal/engine.TestUnknownGoal", soundApply},
	"journal/handed-back":      {spent, spent},
	"journal/other-plan":       {spent, spent},
	"journal/rolled-back":      {spent, spent},
	"journal/restored":         {spent, spent},
	"widen/not-started":        {"internal/engine.TestAWaveComesOnlyToOneThatWasStarted", "internal/engine.TestAConfigIsPutOnlyToAStoppedConnector"},
	"widen/other-setting":      {"..TestAWaveThatWouldChangeOthersStopsNothing", "..TestTwoWavesUnderOneConnector"},
	"continue/not-started":     {wavesElsewhere, waveGoesOn},
	"continue/offset-expired":  {wavesElsewhere, waveGoesOn},
	"continue/offsets-changed": {wavesElsewhere, waveGoesOn},
	"continue/other-log":       {wavesElsewhere, waveGoesOn},
	"restore/other-log":        {"internal/engine.TestRestoreRefusesWhatIsOfAnotherLog", restores},
	"restore/rewind":           {"internal/engine.TestRestoreSetsNothingBackUnasked", restores},
	"journal/started":          {movedWorld, soundApply},
	"journal/unreadable":       {movedWorld, soundApply},
	"offsets/changed":          {"internal/engine.TestRollbackRefusesWhatSomebodyElseWrote", "internal/engine.TestRollbackBeforeTheStartPutsBackAndDeletesItsOwn"},
	"offsets/not-applied":      {movedWorld, "internal/engine.TestStartRecordsTheTargetsEndsBeforeItResumesOnce"},
	"plan/expired":             {movedWorld, soundApply},
	"plan/lifetime":            {"..TestAPlanLivesNoLongerThanWhatItCopies", "..TestAPlanOfWhatIsKeptLivesADay"},
	"source/cluster":           {movedWorld, soundApply},
	"start/overtaken":          {"internal/cutover.TestAWriteThatComesBeforeTheResumeIsFoundBehindIt", "internal/cutover.TestAWriteThatComesBeforeTheResumeIsFoundBehindIt"},
	"source/log-truncated":     {"offsetmap.TestRecheck", "offsetmap.TestRecheck"},
	"source/partition-added":   {movedWorld, soundApply},
	"source/topic-recreated":   {"preflight.TestPC03TopicDeletedAndCreatedAgain", "preflight.TestPC03TopicDeletedAndCreatedAgain"},
	"target/cluster":           {movedWorld, soundApply},
	"target/ends-moved":        {movedWorld, "internal/engine.TestStartRecordsTheTargetsEndsBeforeItResumesOnce"},
	"plan/duplicate-partition": {"offsetmap.TestInputThatContradictsItself", reverse},
	"plan/topic-ambiguous":     {"offsetmap.TestInputThatContradictsItself", reverse},

	"rollback/another-form":           {"..TestTheBoundaryGoesToOneGroupAlone", "..TestTheBoundaryGoesToOneGroupAlone"},
	"rollback/savepoint-expired":      {"..TestTheOldSavepointIsHandedBack", "..TestTheOldSavepointIsHandedBack"},
	"rollback/partition-kept":         {"..TestWhatSavepointAndBoundaryDoNotShareIsNamed", "..TestWhatSavepointAndBoundaryDoNotShareIsNamed"},
	"rollback/savepoint-changed":      {"..TestASavepointThatIsNoWayBackIsNotWritten", "..TestASavepointThatIsNoWayBackIsNotWritten"},
	"rollback/boundary-changed":       {"..TestASavepointThatIsNoWayBackIsNotWritten", "..TestASavepointThatIsNoWayBackIsNotWritten"},
	"rollback/flink-end":              {"..TestFlinksEndMustBeAttestedAnew", committed},
	"rollback/group-active":           {contradicted, committed},
	"rollback/group-ahead":            {contradicted, committed},
	"rollback/group-expiring":         {contradicted, committed},
	"rollback/group-moved":            {contradicted, committed},
	"rollback/group-unknown":          {contradicted, committed},
	"rollback/not-done":               {stands, stands},
	"rollback/not-settled":            {"..TestWhoeverCommitsBetweenTwoLooksIsSeen", committed},
	"rollback/nothing-started":        {stands, stands},
	"rollback/offset-absent":          {reverse, reverse},
	"rollback/offset-below-plan":      {reverse, reverse},
	"rollback/offset-beyond-end":      {reverse, reverse},
	"rollback/offset-expired":         {reverse, reverse},
	"rollback/offset-without-records": {reverse, reverse},
	"rollback/overtaken":              {reverse, reverse},
	"rollback/target-unknown":         {reverse, reverse},
	"rollback/unplanned":              {reverse, reverse},
}

const (
	movedWorld     = "internal/engine.TestWorldThatMovedIsRefused"
	soundApply     = "internal/engine.TestApplyWritesOnceThenIsDone"
	spent          = "internal/engine.TestAPlanIsSpentWhereTheJournalForbidsItsApplyAndItsStart"
	waveGoesOn     = "internal/engine.TestAWaveGoesOnFromWhereItStood"
	wavesElsewhere = "internal/engine.TestAWaveDoesNotGoOnFromElsewhere"
	restores       = "internal/engine.TestRestoreWritesWhatStandsElsewhereThenIsDone"
	stands         = "internal/engine.TestABoundaryIsCommittedOnlyWhereTheRollbackStands"
	reverse        = "offsetmap.TestReverse"
	contradicted   = "..TestTheGroupContradictsThatFlinkHasEnded"
	committed      = "..TestTheBoundaryIsCommittedToTheOldGroup"
)

func TestEveryIDOfTheStepsHasATestThatFiresAndOneThatPasses(t *testing.T) {
	t.Parallel()
	ids := later(t)
	for id := range outside {
		ids[id] = true
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		by, listed := elsewhere[id]
		switch {
		case !listed:
			t.Errorf("%s: no test is named that makes it fire, and one that makes it pass", id)
		default:
			if says, found := testNames(t, by.fires, id); !found || !says {
				t.Errorf("%s: %s is there: %t, and names it: %t", id, by.fires, found, says)
			}
			if _, found := testNames(t, by.passes, id); !found {
				t.Errorf("%s: there is no %s", id, by.passes)
			}
		}
	}
	for id := range elsewhere {
		if !ids[id] {
			t.Errorf("%s is Judge's, or in no catalogue", id)
		}
	}
}

// testNames reports whether there is such a test, and whether an id stands in it, alone or
// with a scope, or by the constant of package offsetmap.
func testNames(t *testing.T, of, id string) (names, found bool) {
	t.Helper()
	dot := strings.LastIndex(of, ".")
	files, err := filepath.Glob(filepath.Join("..", of[:dot], "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != of[dot+1:] {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit:
					s := text(n)
					names = names || s == id || strings.Contains(" "+s+" ", " "+id+" ")
				case *ast.SelectorExpr:
					names = names || n.Sel.Name == "CheckPlanLifetime" && id == "plan/lifetime"
				}
				return true
			})
			return names, true
		}
	}
	return false, false
}
