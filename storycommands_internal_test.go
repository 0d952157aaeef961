package flinkmm2

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/internal/engine"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// storyCommands are what a story can say. The steps:
//
//	create                      the connector, STOPPED
//	plan NAME [KEY=VALUE...]    made of what stands there; see storyPlan
//	apply|verify|start|rollback NAME
//	commit-boundary|rewrite-savepoint|hand-back|old-savepoint NAME
//	backup NAME                 of what stands there, as Apply keeps one
//	restore NAME [accept=SCOPE...]
//	widen NAME HEX              to the config whose digest repeats HEX; with the plans of given=NAME...
//	continue NAME               likewise, and with accept=CHECK:SCOPE...
//
// behind which may stand where the program is killed, or what is done in the middle:
//
//	start A, killed before resume
//	start A, killed anywhere
//	start A, before resume: stored orders-0 450; target orders-0 71
//
// The points are before and after each call (write, resume, stop, delete, commit) and
// each line of the journal (journal ACT PHASE), in write, and during an act that waits.
// What else happens in the world:
//
//	connector STATE [TASKS] | gone | unknown | by hand
//	stored PARTITION OFFSET|none, stored unknown, stored foreign
//	copies PARTITION OFFSET [uncommitted]
//	source PARTITION start|end OFFSET, recreated, gone, added, unknown; source unknown|known
//	target PARTITION END|unknown
//	cluster source|target|producer ID|unknown
//	worker VERSION PLUGIN|unknown, config DIGEST|unknown, given other
//	active TOPIC|unknown|untracked
//	group PARTITION OFFSET, group unknown
//	flink running|unknown|silent, transaction PARTITION
//	records unreadable
//	proof NAME PHASE [SHARD]
//	clock DURATION
//	journal lost|torn|unreadable|readable|NAME
func storyCommands() map[string]func(*story, []string) {
	return map[string]func(*story, []string){
		"create": (*story).create, "plan": (*story).plan,
		"apply": (*story).apply, "verify": (*story).verify, "start": (*story).start, "rollback": (*story).rollback,
		"commit-boundary": (*story).commitBoundary, "rewrite-savepoint": (*story).rewriteSavepoint, "hand-back": (*story).handBackOffsets, "old-savepoint": (*story).oldSavepoint, "launch": (*story).launch,
		"backup": (*story).backup, "restore": (*story).putBack,
		"widen": (*story).widen, "continue": (*story).goOn,
		"connector": storyConnectorIs, "stored": storyStored, "copies": storyCopies, "source": storySourceIs, "target": storyTarget,
		"cluster": storyCluster, "worker": storyWorkerIs, "config": storyConfigIs, "given": storyGiven, "active": storyActive,
		"group": storyGroup, "flink": storyFlink, "transaction": storyTransaction,
		"records": func(s *story, _ []string) { s.unreadableRecords = true },
		"proof": func(s *story, args []string) {
			e := Entry{Act: actWatch, Plan: s.named(args).Digest, Phase: Phase(args[1])}
			if len(args) > 2 {
				e.Shard = args[2]
			}
			s.append(e)
		},
		"clock": storyClock, "journal": storyJournalIs,
	}
}

func (s *story) append(e Entry) {
	if err := s.migration().journal(s.t.Context(), e); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) create([]string) {
	err := s.migration().act(s.t.Context(), Entry{Act: actCreate}, func(context.Context) error {
		return storyWorker{s: s}.call("create", "POST connector", func(w *engine.Observed) {
			w.Connector, w.Config = offsetmap.Known(engine.Connector{State: "STOPPED"}), offsetmap.Known(storyConfig)
			if !known(w.Stored) {
				w.Stored = offsetmap.Known(engine.Stored{Offsets: offsetsByPartition{}})
			}
		})
	})
	s.outcome(err, "")
}

func (s *story) named(args []string) *offsetmap.Plan {
	p := s.plans[args[0]]
	if p == nil {
		panic("there is no plan " + args[0])
	}
	return p
}

func (s *story) apply(args []string) {
	_, err := s.migration().Apply(s.t.Context(), s.named(args))
	s.outcome(err, "")
}

func (s *story) verify(args []string) {
	_, err := s.migration().Verify(s.t.Context(), s.named(args))
	s.outcome(err, "")
}

func (s *story) start(args []string) {
	p := s.named(args)
	out, err := s.migration().Start(s.t.Context(), p, Approval{Digest: p.Digest, By: "ann"})
	s.outcome(err, "")
	if err == nil {
		s.findings(out.Doubts)
	}
}

func (s *story) rollback(args []string) {
	out, err := s.migration().Rollback(s.t.Context(), s.named(args), RollbackOptions{})
	switch {
	case err != nil:
		s.outcome(err, "")
	case out.Started:
		s.boundary = out.Boundary
		at := endsByPartition{}
		for _, p := range out.Boundary.Partitions {
			at[p.TopicPartition] = p.Next
		}
		s.outcome(nil, ", Flink goes on at C' "+sortedOffsets(at))
	case out.Deleted:
		s.outcome(nil, ", as before; the connector is deleted")
	default:
		s.outcome(nil, ", as before")
	}
}

// commitBoundary is the decision and the journal of CommitBoundary; the group itself
// is no part of a story.
func (s *story) commitBoundary(args []string) {
	s.handBack(engine.CommitBoundary, s.named(args), Entry{Form: FormGroup, Group: "copy"})
}

func (s *story) rewriteSavepoint(args []string) {
	s.handBack(engine.RewriteSavepoint, s.named(args), Entry{Form: FormSavepoint, Rewritten: "sha256:" + strings.Repeat("ee", 32)})
}

// handBackOffsets is the same for starting offsets, and oldSavepoint for the savepoint
// that the plan was made from.
func (s *story) handBackOffsets(args []string) {
	s.handBack(engine.HandBack, s.named(args), Entry{Form: FormInitializer})
}

func (s *story) oldSavepoint(args []string) {
	s.handBack(engine.OldSavepoint, s.named(args), Entry{Form: FormOldSavepoint})
}

func (s *story) handBack(goal engine.Goal, p *offsetmap.Plan, e Entry) {
	m := s.migration()
	way, err := m.reach(s.t.Context(), goal, p, "")
	if err == nil {
		e.Act, e.Plan, e.Savepoint = actHandBack, p.Digest, savepointID(p.Body.Savepoint)
		err = m.actAfter(s.t.Context(), way.entries, e, func(context.Context) error {
			return storyWorker{s: s}.call("hand-back", "Flink is given "+string(e.Form), func(*engine.Observed) {})
		})
	}
	s.outcome(err, "")
}

// launch is no goal.
func (s *story) launch(args []string) {
	_, err := s.migration().reach(s.t.Context(), "launch", s.named(args), "")
	s.outcome(err, "")
}

func storyConnectorIs(s *story, args []string) {
	switch args[0] {
	case "gone":
		s.world.Connector, s.world.Config = offsetmap.Absent[engine.Connector](), offsetmap.Absent[string]()
	case "unknown":
		s.world.Connector = offsetmap.NotKnown[engine.Connector](errStory)
	default:
		c := engine.Connector{State: args[0]}
		if len(args) > 1 {
			c.Tasks = int(storyNumber(args[1]))
		}
		s.world.Connector = offsetmap.Known(c)
		if !known(s.world.Config) {
			s.world.Config = offsetmap.Known(storyConfig)
		}
		if !known(s.world.Stored) {
			s.world.Stored = offsetmap.Known(engine.Stored{Offsets: offsetsByPartition{}})
		}
	}
}

func storyStored(s *story, args []string) {
	switch {
	case args[0] == "unknown":
		s.world.Stored = offsetmap.NotKnown[engine.Stored](errStory)
	case args[0] == "foreign":
		stored, _ := s.world.Stored.Get()
		stored.Foreign = []string{`{"cluster":"other","topic":"orders","partition":0}`}
		s.world.Stored = offsetmap.Known(stored)
	case args[1] == "none":
		storeAt(&s.world, storyTP(args[0]), offsetmap.SourceOffset{})
	default:
		storeAt(&s.world, storyTP(args[0]), storySource(args[1]))
	}
}

// storyCopies has MirrorMaker 2 copy up to a source offset, and commit it or not.
func storyCopies(s *story, args []string) {
	tp, to := storyTP(args[0]), storyNumber(args[1])
	stored, _ := s.world.Stored.Get()
	from := int64(0)
	if m, ok := stored.Offsets[tp]; ok {
		v, _ := m.Value()
		from = v + 1
	}
	if earlier, ran := s.copied[tp]; ran { // and not all of it committed
		from = earlier.to
	}
	measure(&s.world, tp, func(m *offsetmap.Measured) {
		end, _ := m.TargetEnd.Value()
		m.TargetEnd = storyNext(strconv.FormatInt(end+to+1-from, 10))
	})
	activate(&s.world, tp.Topic)
	begun, ran := s.copied[tp]
	if !ran {
		begun.from = from
	}
	begun.to = to + 1
	s.copied[tp] = begun
	if len(args) < 3 {
		storeAt(&s.world, tp, storySource(args[1]))
	}
}

func storySourceIs(s *story, args []string) {
	if args[0] == "unknown" {
		s.world.Measured = offsetmap.NotKnown[measuredByPartition](errStory)
		return
	}
	if args[0] == "known" {
		s.world.Measured = newStoryWorld().Measured
		return
	}
	tp := storyTP(args[0])
	switch args[1] {
	case "start":
		measure(&s.world, tp, func(m *offsetmap.Measured) { m.Range.Start = storyNext(args[2]) })
	case "end":
		measure(&s.world, tp, func(m *offsetmap.Measured) { m.Range.End, m.Range.Stable = storyNext(args[2]), storyNext(args[2]) })
	case "recreated":
		measure(&s.world, tp, func(m *offsetmap.Measured) { m.TopicID = offsetmap.TopicID{9} })
	case "added":
		measure(&s.world, tp, func(*offsetmap.Measured) {})
	case "unknown":
		measure(&s.world, tp, func(m *offsetmap.Measured) { m.Range.Start = offsetmap.NextOffset{} })
	case "gone":
		all, _ := s.world.Measured.Get()
		left := measuredByPartition{}
		for other, m := range all {
			if other != tp {
				left[other] = m
			}
		}
		s.world.Measured = offsetmap.Known(left)
	default:
		panic("source what?")
	}
}

func storyTarget(s *story, args []string) {
	measure(&s.world, storyTP(args[0]), func(m *offsetmap.Measured) {
		m.TargetEnd = offsetmap.NextOffset{}
		if args[1] != "unknown" {
			m.TargetEnd = storyNext(args[1])
		}
	})
}

func storyCluster(s *story, args []string) {
	to := map[string]*offsetmap.Fact[string]{"source": &s.world.SourceID, "target": &s.world.TargetID, "producer": &s.world.ProducerID}[args[0]]
	*to = storyFact(args[1])
}

func storyConfigIs(s *story, args []string) { s.world.Config = storyFact(args[0]) }

func storyFact(text string) offsetmap.Fact[string] {
	if text == "unknown" {
		return offsetmap.NotKnown[string](errStory)
	}
	return offsetmap.Known(text)
}

func storyWorkerIs(s *story, args []string) {
	s.world.Worker = offsetmap.NotKnown[engine.Versions](errStory)
	if args[0] != "unknown" {
		s.world.Worker = offsetmap.Known(engine.Versions{Worker: args[0], Plugin: args[1]})
	}
}

func storyGiven(s *story, _ []string) {
	s.world.OtherConfig = []offsetmap.Finding{{
		Check: "connector/other-config", Severity: offsetmap.Block, Scope: "tasks.max", Acceptable: offsetmap.Never,
		Detail: "the connector has tasks.max = 4, the config that is given 2",
	}}
}

func storyActive(s *story, args []string) {
	switch args[0] {
	case "unknown":
		s.world.Active = offsetmap.NotKnown[[]string](errStory)
	case "untracked":
		s.world.Active = offsetmap.Absent[[]string]()
	default:
		activate(&s.world, args[0])
	}
}

func storyGroup(s *story, args []string) {
	if args[0] == "unknown" {
		s.world.Group = offsetmap.NotKnown[endsByPartition](errStory)
		return
	}
	committed, _ := s.world.Group.Get()
	more := endsByPartition{storyTP(args[0]): storyNext(args[1])}
	for tp, c := range committed {
		if _, newer := more[tp]; !newer {
			more[tp] = c
		}
	}
	s.world.Group = offsetmap.Known(more)
}

func storyFlink(s *story, args []string) {
	f := offsetmap.Finding{Check: "flink/job-running", Severity: offsetmap.Block, Scope: "copy", Detail: "Flink says that job copy is RUNNING", Acceptable: offsetmap.Never}
	switch args[0] {
	case "silent":
		s.world.Flink = nil
		return
	case "unknown":
		f.Detail, f.Unmade = "Flink does not answer", true
	}
	s.world.Flink = []offsetmap.Finding{f}
}

func storyTransaction(s *story, args []string) {
	s.world.Open = append(slices.Clone(s.world.Open), offsetmap.Finding{
		Check: "target/open-transaction", Severity: offsetmap.Block, Scope: args[0] + ":4711", Detail: "a transaction is open", Acceptable: offsetmap.Exact,
	})
}

func storyClock(s *story, args []string) {
	d, err := time.ParseDuration(args[0])
	if err != nil {
		panic(err.Error())
	}
	s.world.Now = s.world.Now.Add(d)
}

func storyJournalIs(s *story, args []string) {
	file := s.journalFile()
	switch args[0] {
	case "lost":
		if err := os.Remove(file); err != nil {
			panic(err.Error())
		}
	case "torn": // the last line is there by half
		raw, err := os.ReadFile(file)
		if err != nil {
			panic(err.Error())
		}
		lines := strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n")
		last := lines[len(lines)-1]
		if err := os.Truncate(file, int64(len(raw)-1-len(last)/2)); err != nil {
			panic(err.Error())
		}
	case "unreadable", "readable":
		s.unreadable = args[0] == "unreadable"
	default:
		s.journal = args[0]
	}
}
