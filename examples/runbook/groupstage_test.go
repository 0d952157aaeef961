package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// holdsCommand holds what a group has committed: "50 40 - 3", - where nothing.
func holdsCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) > 2, "holds GROUP TOPIC OFFSET...")
	ctx, cancel := within()
	defer cancel()
	fetched, err := stageOf(ts).source.admin.FetchOffsets(ctx, args[0])
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		ts.Fatalf("%v", err)
	}
	var got []string
	for p := range args[2:] {
		text := "-"
		if o, ok := fetched.Lookup(args[1], int32(p)); ok && o.At >= 0 {
			text = strconv.FormatInt(o.At, 10)
		}
		got = append(got, text)
	}
	if have, want := strings.Join(got, " "), strings.Join(args[2:], " "); have != want {
		ts.Fatalf("group %s holds %s of %s, want %s", args[0], have, args[1], want)
	}
}

// joinCommand lets a consumer join a group, until the script ends.
func joinCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "join GROUP TOPIC")
	s := stageOf(ts)
	c, err := kgo.NewClient(kgo.SeedBrokers(s.source.ListenAddrs()...), kgo.ConsumerGroup(args[0]), kgo.ConsumeTopics(args[1]),
		kgo.ClientID("old-copy"), kgo.DisableAutoCommit())
	ts.Check(err)
	ts.Defer(c.Close)
	ctx, cancel := within()
	defer cancel()
	_, err = s.source.WaitGroupStable(ctx, args[0], 1)
	ts.Check(err)
}

// lostCommand loses answers. Of a group: the next commit is done, its answer
// says that it took too long, and what the group holds cannot be read then. Of
// the worker: the same with the next PATCH of offsets. Of a partition: the brokers
// take no commit of it.
func lostCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 1 || len(args) == 2 && (args[0] == "group" || args[0] == "partition"), "lost group GROUP | lost partition TOPIC-PARTITION | lost offsets | lost nothing")
	s := stageOf(ts)
	switch args[0] {
	case "group":
		committed := &atomic.Bool{}
		s.lost = append(s.lost, s.source.Fault(
			kfake.Fault{
				Keys: []kmsg.Key{kmsg.OffsetCommit}, Group: args[1], Count: -1, Err: kerr.RequestTimedOut,
				When: func(kmsg.Request) bool { committed.Store(true); return true },
			},
			kfake.Fault{
				Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: args[1], Count: -1, Err: kerr.GroupAuthorizationFailed,
				When: func(kmsg.Request) bool { return committed.Load() },
			},
		).Remove)
	case "partition":
		topic, p := partition(ts, args[1])
		s.lost = append(s.lost, s.source.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: topic, Partitions: []int32{p}, Count: -1, Err: kerr.TopicAuthorizationFailed,
		}).Remove)
	case "offsets":
		s.blind.Store(true)
		s.lost = append(s.lost, func() { s.blind.Store(false) })
	default:
		for _, mend := range s.lost {
			mend()
		}
		s.lost = nil
	}
}

// answersLost serves a request about offsets in place of the worker's answer: a
// PATCH is done, and from then on nobody learns what is stored.
func (s *stage) answersLost(forward http.Handler, w http.ResponseWriter, r *http.Request) bool {
	if !s.blind.Load() || !strings.HasSuffix(r.URL.Path, "/offsets") {
		return false
	}
	if r.Method == http.MethodPatch {
		forward.ServeHTTP(discard{http.Header{}}, r.WithContext(context.WithoutCancel(r.Context())))
		s.patched.Store(true)
	}
	if !s.patched.Load() {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = w.Write([]byte(`{"error_code":500,"message":"boom"}`))
	return true
}

// discard takes an answer that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// movesCommand lets a job that runs commit an offset as soon as the program has
// looked at its group.
func movesCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "moves GROUP TOPIC-PARTITION OFFSET")
	s := stageOf(ts)
	topic, p := partition(ts, args[1])
	at := int64(number(ts, args[2]))
	looked, done := make(chan struct{}, 1), make(chan error, 1)
	watch := s.source.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: args[0], Count: -1, Err: kerr.UnknownServerError,
		When: func(kmsg.Request) bool {
			select {
			case looked <- struct{}{}:
			default:
			}
			return false
		},
	})
	ctx, cancel := within()
	go func() {
		select {
		case <-looked:
			done <- s.source.commit(ctx, args[0], topic, p, at)
		case <-ctx.Done():
			done <- ctx.Err()
		}
	}()
	ts.Defer(func() {
		defer cancel()
		watch.Remove()
		if err := <-done; err != nil {
			ts.Logf("group %s was never looked at, or not moved: %v", args[0], err)
		}
	})
}

// transactedCommand writes records on the source in a transaction, which ends
// with a marker.
func transactedCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 2, "transacted TOPIC-PARTITION COUNT")
	topic, p := partition(ts, args[0])
	ctx, cancel := within()
	defer cancel()
	client, err := stageOf(ts).source.open(ctx, "orders-writer", topic, p, number(ts, args[1]))
	ts.Check(err)
	defer client.Close()
	ts.Check(client.EndTransaction(ctx, kgo.TryCommit))
}
