package flinkmm2

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

var updateStories = flag.Bool("update", false, "write the answers of the stories in testdata/story")

// A story is a text file that reads like the log of a migration. A line that is not
// indented is done: see storyCommands. What came of it follows, indented. Comments
// begin with #.
//
// Steps, journal and decisions are the real ones, each step by a program of its own,
// as if the last had ended or died; clusters and worker are the story's world.
type story struct {
	t          *testing.T
	dir        string // of the journals
	world      engine.Observed
	plans      map[string]*offsetmap.Plan
	backups    map[string]*OffsetsBackup
	boundary   *Boundary
	stages     map[string]string // as last told
	journal    string            // the name of the one in use
	unreadable bool              // the journal
	// copied are the offsets that MirrorMaker 2 has copied since it was resumed, the
	// last not among them.
	copied            map[offsetmap.TopicPartition]struct{ from, to int64 }
	unreadableRecords bool
	wanted            string // the digest of the config that is put

	out    strings.Builder
	depth  int
	act    engine.Act // the last one decided
	acts   []string
	waits  bool     // the program stands still on purpose
	events []string // of the step that runs
	killAt int      // the event at which it dies; negative: none
	kill   string   // the same by name
	hooks  map[string][]string
}

// storyKilled ends a program at once: nothing of it runs any more.
type storyKilled struct{ at string }

func TestStories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/story/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := tell(t, string(raw))
			if *updateStories {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(raw), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// tell runs a story and returns it with the answers that it has now.
func tell(t *testing.T, text string) string {
	s := &story{
		t: t, dir: t.TempDir(), world: newStoryWorld(), journal: "1", killAt: -1,
		plans: map[string]*offsetmap.Plan{}, backups: map[string]*OffsetsBackup{}, stages: map[string]string{},
		copied: map[offsetmap.TopicPartition]struct{ from, to int64 }{},
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, " "): // an answer of an earlier telling
		case line == "", strings.HasPrefix(line, "#"):
			s.say("%s", line)
		default:
			s.say("%s", line)
			s.run(line)
			s.tellStage()
		}
	}
	out := s.out.String()
	for name, p := range s.plans {
		out = strings.ReplaceAll(out, p.Digest, name)
	}
	for name, b := range s.backups {
		out = strings.ReplaceAll(out, b.Digest, name)
	}
	return out
}

// tellStage says where each plan stands, where that has changed.
func (s *story) tellStage() {
	for _, name := range slices.Sorted(maps.Keys(s.plans)) {
		p := s.plans[name]
		stands := s.standing(p)
		text := fmt.Sprintf("%s is %s", name, stands.Stage)
		if stands.Next != "" {
			text += ", next " + string(stands.Next)
		}
		var against []string
		for _, f := range stands.Against {
			against = append(against, strings.TrimSpace(f.Check+" "+f.Scope))
		}
		if len(against) > 0 {
			text += ", against it " + strings.Join(against, ", ")
		}
		if s.stages[name] != text {
			s.stages[name] = text
			s.say("  %s (%s)", text, strings.Join(stands.Why, "; "))
		}
	}
}

func (s *story) standing(p *offsetmap.Plan) engine.Standing {
	return engine.StageOf(p, (&observer{m: s.migration(), plan: p}).look(s.t.Context()))
}

func (s *story) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != "" {
		text = strings.Repeat("  ", s.depth) + text
	}
	s.out.WriteString(text + "\n")
}

// run does one line: a command, and for a step perhaps where it is killed, or what
// happens in the middle of it.
func (s *story) run(line string) {
	s.t.Helper()
	command, what, _ := strings.Cut(line, ", ")
	words := strings.Fields(command)
	do, known := storyCommands()[words[0]]
	if !known {
		s.t.Fatalf("no such command: %q", line)
	}
	defer func() {
		if r := recover(); r != nil {
			if text, mistake := r.(string); mistake {
				s.t.Fatalf("%s: %s", line, text)
			}
			panic(r)
		}
	}()
	s.world.Now = s.world.Now.Add(time.Second)
	outer := *s
	s.depth, s.events, s.kill, s.killAt, s.hooks, s.acts = s.depth+1, nil, "", -1, nil, nil
	switch at, then, meanwhile := strings.Cut(what, ": "); {
	case what == "killed anywhere":
		s.killedAnywhere(do, words[1:])
	case strings.HasPrefix(what, "killed "):
		s.kill = strings.TrimPrefix(what, "killed ")
		if s.attempt(do, words[1:]) {
			s.t.Errorf("%s: it never came there, but to %q", line, s.events)
		}
	case meanwhile:
		s.hooks = map[string][]string{at: strings.Split(then, "; ")}
		s.attempt(do, words[1:])
		if len(s.hooks) > 0 {
			s.t.Errorf("%s: it never came there, but to %q", line, s.events)
		}
	case what == "":
		do(s, words[1:])
	default:
		s.t.Fatalf("%q: what is %q", line, what)
	}
	s.depth, s.events, s.kill, s.killAt, s.hooks, s.acts, s.act = outer.depth, outer.events, outer.kill, outer.killAt, outer.hooks, outer.acts, outer.act
}

// attempt reports whether the command came to an end.
func (s *story) attempt(do func(*story, []string), args []string) (ended bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case storyKilled:
			s.say("killed %s", r.at)
		default:
			panic(r)
		}
	}()
	do(s, args)
	return true
}

// event is a moment at which a program may die, or the world change.
func (s *story) event(name string) {
	n := len(s.events)
	s.events = append(s.events, name)
	if then, planned := s.hooks[name]; planned {
		delete(s.hooks, name)
		for _, line := range then {
			s.say("meanwhile %s", line)
			s.run(line)
		}
	}
	if n == s.killAt || name == s.kill {
		panic(storyKilled{name})
	}
}

// killedAnywhere runs the step once to its end, then kills it at each of its events and
// runs it again. A second run that ends well must leave what one alone does.
func (s *story) killedAnywhere(do func(*story, []string), args []string) {
	before := s.snapshot()
	do(s, args)
	after, events := s.snapshot(), s.events
	for n, at := range events {
		s.restore(before)
		s.events, s.killAt, s.acts = nil, n, nil
		if s.quietly(do, args) {
			s.t.Errorf("it was not killed %s", at)
		}
		left := ""
		if p := s.plans[args[0]]; p != nil {
			left = ": " + string(s.standing(p).Stage)
		}
		s.events, s.killAt, s.acts = nil, -1, nil
		s.world.Now = s.world.Now.Add(time.Second)
		var end string
		s.quietly(func(s *story, args []string) {
			do(s, args)
			for l := range strings.SplitSeq(strings.TrimSpace(s.out.String()), "\n") {
				if l = strings.TrimSpace(l); strings.HasPrefix(l, "ok") || strings.Contains(l, ", exit ") {
					end = l
				}
			}
		}, args)
		s.say("killed %s%s; again: %s", at, left, strings.Join(append(s.acts, end), ", "))
		if diff := cmp.Diff(shownWorld(after.world), shownWorld(s.world)); diff != "" && strings.HasPrefix(end, "ok") {
			s.t.Errorf("killed %s and run again, the world is another (-once +twice):\n%s", at, diff)
		}
	}
	s.restore(after)
}

func (s *story) quietly(do func(*story, []string), args []string) bool {
	kept := s.out.String()
	s.out.Reset()
	defer func() {
		s.out.Reset()
		s.out.WriteString(kept)
	}()
	return s.attempt(do, args)
}

// shownWorld is what a migration changes of a world.
func shownWorld(w engine.Observed) map[string]string {
	c, _ := w.Connector.Get()
	stored, _ := w.Stored.Get()
	out := map[string]string{"connector": fmt.Sprint(c, w.Connector.IsAbsent())}
	for tp, m := range stored.Offsets {
		out[tp.String()] = m.String()
	}
	return out
}

type storySnapshot struct {
	world    engine.Observed
	copied   map[offsetmap.TopicPartition]struct{ from, to int64 }
	journals map[string][]byte
}

func (s *story) snapshot() storySnapshot {
	files, err := filepath.Glob(filepath.Join(s.dir, "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	out := storySnapshot{world: s.world, copied: maps.Clone(s.copied), journals: map[string][]byte{}}
	for _, f := range files {
		if out.journals[f], err = os.ReadFile(f); err != nil {
			s.t.Fatal(err)
		}
	}
	return out
}

func (s *story) restore(to storySnapshot) {
	s.world, s.copied = to.world, maps.Clone(to.copied)
	for f := range s.snapshot().journals {
		if err := os.Remove(f); err != nil {
			s.t.Fatal(err)
		}
	}
	for f, raw := range to.journals {
		if err := os.WriteFile(f, raw, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// migration is a program that has just been started.
func (s *story) migration() *Migration {
	options := []kgo.Opt{kgo.SeedBrokers("127.0.0.1:1")}
	m, err := New(Config{
		Source: Cluster{Admin: storyAdmin{}, Options: options}, Target: Cluster{Admin: storyAdmin{}, Options: options},
		Connect: storyWorker{s: s}, Connector: storyConnector, Journal: storyJournal{NewFileJournal(s.journalFile()), s},
	}, WithActor("ann"), WithLogger(slog.New(storyLog{s: s})), WithDeliveryReader(storyDelivery{s}), WithClock(func() time.Time { return s.world.Now }, s.sleep))
	if err != nil {
		s.t.Fatal(err)
	}
	m.see = func(_ context.Context, o *observer) engine.Observed { return s.seenBy(o) }
	return m
}

func (s *story) journalFile() string { return filepath.Join(s.dir, "journal-"+s.journal) }

func (s *story) sleep(ctx context.Context, d time.Duration) error {
	if s.waits {
		s.waits = false
		s.event("during " + string(s.act))
	}
	s.world.Now = s.world.Now.Add(d)
	return ctx.Err()
}

// storyLog tells what a program decides.
type storyLog struct{ s *story }

func (storyLog) Enabled(context.Context, slog.Level) bool { return true }
func (l storyLog) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l storyLog) WithGroup(string) slog.Handler          { return l }

func (l storyLog) Handle(_ context.Context, r slog.Record) error {
	switch r.Message {
	case LogWait:
		l.s.waits = true
	case "next act":
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "act" {
				l.s.act = engine.Act(a.Value.String())
			}
			return true
		})
		l.s.acts = append(l.s.acts, string(l.s.act))
		l.s.say("next %s", l.s.act)
	}
	return nil
}

// outcome says how a step ended.
func (s *story) outcome(err error, ok string) {
	var refused *RefusedError
	var blocked *offsetmap.BlockedError
	var findings []offsetmap.Finding
	switch {
	case err == nil:
		s.say("ok%s", ok)
		return
	case errors.As(err, &refused):
		findings = refused.Findings
		before := ""
		if len(refused.Before) > 0 {
			before = " after " + strings.Join(refused.Before, ", ")
		}
		s.say("refused%s, exit %d: %v", before, ExitStatus(err), refused.kind)
	case errors.As(err, &blocked):
		findings = blocked.Findings
		s.say("blocked, exit %d", ExitStatus(err))
	default:
		s.say("error, exit %d: %v", ExitStatus(err), err)
	}
	s.findings(findings)
}

func (s *story) findings(findings []offsetmap.Finding) {
	for _, f := range findings {
		s.say("  %s", strings.Join(strings.Fields(f.Check+" "+f.Scope+" | "+f.Detail), " "))
	}
}

func sortedOffsets[V fmt.Stringer](all map[offsetmap.TopicPartition]V) string {
	var out []string
	for _, tp := range slices.SortedFunc(maps.Keys(all), offsetmap.TopicPartition.Compare) {
		out = append(out, fmt.Sprintf("%s=%s", tp, all[tp]))
	}
	return strings.Join(out, " ")
}
