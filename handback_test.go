package flinkmm2_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// goesOn hands the plan back in a form.
func (w *wayBack) goesOn(form flinkmm2.HandBackForm, accepted ...offsetmap.Acceptance) (*flinkmm2.HandedBack, error) {
	b := w.boundary
	if form == flinkmm2.FormOldSavepoint {
		b = nil
	}
	return w.steps.HandBack(w.Context(), w.plan, b, flinkmm2.HandBack{
		Form: form, FlinkStopped: offsetmap.Attest(offsetmap.StoppedWithSavepoint, "ana", "flink list is empty"), Acceptances: accepted,
	})
}

func startsAt(h *flinkmm2.HandedBack) string {
	var out []string
	for _, p := range h.Partitions {
		out = append(out, p.Next.String())
	}
	return strings.Join(out, "/")
}

// Starting offsets are given out once in one form, which the journal has, and again in
// the same one.
func TestStartingOffsetsAreHandedBack(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	for form, other := range map[flinkmm2.HandBackForm]flinkmm2.HandBackForm{
		flinkmm2.FormInitializer: flinkmm2.FormSQL, flinkmm2.FormLegacy: flinkmm2.FormInitializer, flinkmm2.FormSQL: flinkmm2.FormOldSavepoint,
	} {
		w := w.in(t)
		got, err := w.goesOn(form)
		if err != nil || startsAt(got) != "50/32/0" || got.Form != form || got.FlinkStopped.By != "ana" {
			t.Fatalf("%s: %+v, %v", form, got, err)
		}
		again, err := w.goesOn(form)
		if err != nil || again.Since != got.Since || !slices.Equal(w.acts(), []string{"begin", "done"}) {
			t.Errorf("%s again: %+v, %v, journal %v", form, again, err, w.acts())
		}
		_, err = w.goesOn(other)
		w.refused(err, flinkmm2.ExitBlocked, "rollback/another-form "+string(form))
		_, err = w.hand("g")
		w.refused(err, flinkmm2.ExitBlocked, "rollback/another-form "+string(form))
		if got, err := w.goesOn(other, accept("rollback/another-form", string(form))); err != nil || len(got.Findings) != 1 {
			t.Errorf("%s, then %s accepted: %+v, %v", form, other, got, err)
		}
		w.noPlanFromTheOldSavepoint()
	}
}

// noPlanFromTheOldSavepoint holds that no plan can be made from the savepoint of the plan.
func (w *wayBack) noPlanFromTheOldSavepoint() {
	w.Helper()
	_, err := w.steps.MakePlan(w.Context(), w.requestFrom("20", "32"))
	if err == nil || !strings.Contains(err.Error(), "journal/handed-back") {
		w.Errorf("a plan from the old savepoint: %v", err)
	}
}

// What a rollback has found must stand when starting offsets are given out.
func TestStartingOffsetsOfAnotherWorldAreRefused(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	w.alter(0, 39)
	_, err := w.goesOn(flinkmm2.FormInitializer)
	w.refused(err, flinkmm2.ExitMoved, "rollback/boundary-changed orders-0")
	w.alter(0, 49)
	if err := w.connect.Resume(t.Context(), "mm2"); err != nil {
		t.Fatal(err)
	}
	w.await(connectrest.StateRunning)
	for _, form := range []flinkmm2.HandBackForm{flinkmm2.FormSQL, flinkmm2.FormOldSavepoint} {
		_, err = w.goesOn(form)
		w.refused(err, flinkmm2.ExitMoved, "connector/state")
	}
	if len(w.acts()) > 0 {
		t.Errorf("journal %v", w.acts())
	}
}

// The old savepoint leaves a trace: it is no longer what a plan may be made from, and
// what the source has lost of it needs a word.
func TestTheOldSavepointIsHandedBack(t *testing.T) {
	t.Parallel()
	w := rolledBack(t)
	if err := w.source.DeleteRecords("orders", 0, 25); err != nil {
		t.Fatal(err)
	}
	_, err := w.goesOn(flinkmm2.FormOldSavepoint)
	w.refused(err, flinkmm2.ExitBlocked, "rollback/savepoint-expired orders-0:5")
	got, err := w.goesOn(flinkmm2.FormOldSavepoint, accept("rollback/savepoint-expired", "orders-0:5"))
	if err != nil || startsAt(got) != "20/32/0" || got.Savepoint == "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if got.Savepoint != w.plan.Body.Savepoint.Location || !slices.Equal(w.acts(), []string{"begin", "done"}) {
		t.Errorf("%+v, journal %v", got, w.acts())
	}
	w.noPlanFromTheOldSavepoint()
}

// Before the start nothing was copied, and Flink may run from the savepoint all the same.
func TestTheOldSavepointIsHandedBackBeforeTheStart(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.makePlan()
	if _, err := w.steps.Apply(t.Context(), w.plan); err != nil {
		t.Fatal(err)
	}
	_, err := w.goesOn(flinkmm2.FormOldSavepoint)
	w.refused(err, flinkmm2.ExitBlocked, "rollback/not-done")
	if len(w.acts()) > 0 {
		t.Errorf("journal %v", w.acts())
	}
	back, err := w.steps.Rollback(t.Context(), w.plan, flinkmm2.RollbackOptions{})
	if err != nil || !back.Deleted {
		t.Fatalf("%+v, %v", back, err)
	}
	if _, err := w.goesOn(flinkmm2.FormOldSavepoint); err != nil {
		t.Fatal(err)
	}
	if _, err := w.steps.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.noPlanFromTheOldSavepoint()
}

func TestAHandBackIsAskedForInAFormAndWithAWord(t *testing.T) {
	t.Parallel()
	word := offsetmap.Attest(offsetmap.Canceled, "ana", "seen")
	for _, form := range []flinkmm2.HandBackForm{"", "group", "savepoint", "SQL"} {
		if err := (flinkmm2.HandBack{Form: form, FlinkStopped: word}).Check(); err == nil || !strings.Contains(err.Error(), "want initializer, legacy, sql or old-savepoint") {
			t.Errorf("%q: %v", form, err)
		}
	}
	err := flinkmm2.HandBack{Form: flinkmm2.FormSQL}.Check()
	if blocked, ok := errors.AsType[*offsetmap.BlockedError](err); !ok || blocked.Findings[0].Check != "rollback/flink-end" {
		t.Errorf("no word: %v", err)
	}
}

// wide is a boundary of n partitions over two topics.
func wide(t *testing.T, n int) *flinkmm2.Boundary {
	t.Helper()
	b := &flinkmm2.Boundary{APIVersion: offsetmap.APIVersion, Kind: flinkmm2.BoundaryKind, Plan: "sha256:ab", SourceID: "s */ \\u002a/"}
	for i := range n {
		topic := "orders"
		if i >= n-1 {
			topic = "payments"
		}
		b.Partitions = append(b.Partitions, offsetmap.Reverse{
			TopicPartition: offsetmap.TopicPartition{Topic: topic, Partition: int32(i)}, Next: offset(t, strconv.Itoa(1<<33+i)),
		})
	}
	return b
}

func TestStartingOffsetsAsJava(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	must(t, wide(t, 2).OffsetsInitializer(&text))
	if want := `import java.util.HashMap;
import java.util.Map;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;

/**
 * Where Flink goes on after MirrorMaker 2: the next record to read of each partition.
 * Source cluster s ?/ ?u002a/, plan sha256:ab.
 */
public final class FlinkMM2Boundary {
    private FlinkMM2Boundary() {}

    public static OffsetsInitializer offsets() {
        return OffsetsInitializer.offsets(next(), OffsetResetStrategy.NONE);
    }

    public static Map<TopicPartition, Long> next() {
        Map<TopicPartition, Long> next = new HashMap<>();
        Part0.put(next);
        return next;
    }

    private static final class Part0 {
        static void put(Map<TopicPartition, Long> next) {
            next.put(new TopicPartition("orders", 0), 8589934592L);
            next.put(new TopicPartition("payments", 1), 8589934593L);
        }
    }
}
`; text.String() != want {
		t.Error(cmp.Diff(want, text.String()))
	}
	text.Reset()
	must(t, wide(t, 2).LegacyOffsets(&text))
	if got := text.String(); !strings.Contains(got, `next.put(new KafkaTopicPartition("payments", 1), 8589934593L);`) || strings.Contains(got, "OffsetsInitializer") {
		t.Error(got)
	}
	b := wide(t, 1002)
	var got bytes.Buffer
	must(t, b.OffsetsInitializer(&got))
	if n := strings.Count(got.String(), "next.put("); n != 1002 || !strings.Contains(got.String(), `Part1.put(next);`) || strings.Contains(got.String(), "Part2") {
		t.Errorf("%d partitions", n)
	}
	b.Partitions[0].Topic = `a"b`
	if err := b.OffsetsInitializer(&got); err == nil || !errors.Is(err, offsetmap.ErrTopicName) {
		t.Errorf("a topic that ends a text in Java: %v", err)
	}
	b.Partitions = nil
	if err := b.LegacyOffsets(&got); err == nil {
		t.Error("no partition")
	}
}

func TestStartingOffsetsAsSQL(t *testing.T) {
	t.Parallel()
	b := wide(t, 3)
	for topic, want := range map[string]string{
		"orders": "partition:0,offset:8589934592;partition:1,offset:8589934593", "payments": "partition:2,offset:8589934594",
	} {
		if got, err := b.SpecificOffsets(topic); got != want || err != nil {
			t.Errorf("%s: %q, %v", topic, got, err)
		}
	}
	if _, err := b.SpecificOffsets(""); err == nil || !strings.Contains(err.Error(), "but orders, payments") {
		t.Errorf("no topic: %v", err)
	}
	if next := b.Next(offsetmap.TopicPartition{Topic: "refunds"}); !next.IsNone() {
		t.Errorf("a partition that is not in it: %s", next)
	}
}
