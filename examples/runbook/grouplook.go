package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// groupClient looks at one group.
type groupClient struct {
	client *kgo.Client
	group  string
	window time.Duration
	note   func(format string, args ...any)
}

func (a *app) openGroup(want wanted) (*groupClient, error) {
	client, err := kgo.NewClient(clientOptions(want.bootstrap)...)
	if err != nil {
		return nil, usagef("--bootstrap: %w", err)
	}
	return &groupClient{client: client, group: want.group, window: want.window, note: a.note}, nil
}

// look reads what the group has committed, twice where a window was given.
func (g *groupClient) look(ctx context.Context, topics []string) (*flinkstate.Group, flinkstate.Movement, error) {
	if g.window > 0 {
		g.note("looking at group %s twice, %s apart", g.group, g.window)
	}
	reader := flinkstate.NewGroupReader(kadm.NewClient(g.client), flinkstate.WithRequestor(g.client))
	return reader.Watch(ctx, g.window, g.group, topics...)
}

// unreadGroupError is a group that could not be read.
type unreadGroupError struct{ err error }

func (e *unreadGroupError) Error() string { return "offsets: " + e.err.Error() }
func (e *unreadGroupError) Unwrap() error { return e.err }

// hint returns what a person does next; empty where they ended the look themselves.
func (e *unreadGroupError) hint() string {
	switch {
	case errors.Is(e.err, context.Canceled):
		return ""
	case errors.Is(e.err, kerr.UnknownTopicOrPartition):
		return "`kafka-topics.sh --bootstrap-server <SOURCE> --list`; without the topic the brokers are of another cluster, or it was deleted"
	default:
		return "runbook explain source/group-unknown"
	}
}

// movement is what looks at a group over a window showed, as JSON has it.
type movement struct {
	Verdict flinkstate.Stillness       `json:"verdict"`
	Reason  string                     `json:"reason,omitempty"`
	Window  string                     `json:"window"`
	Moved   []move                     `json:"moved,omitempty"`
	Gone    []offsetmap.TopicPartition `json:"gone,omitempty"`
}

type move struct {
	offsetmap.TopicPartition
	From   offsetmap.NextOffset `json:"from,omitzero"`
	To     offsetmap.NextOffset `json:"to"`
	FromAt offsetmap.Time       `json:"fromAt"`
	ToAt   offsetmap.Time       `json:"toAt"`
}

func movementOf(m flinkstate.Movement) movement {
	out := movement{Verdict: m.Verdict, Reason: m.Reason, Window: m.Window.String(), Gone: m.Gone}
	for _, one := range m.Moved {
		out.Moved = append(out.Moved, move{one.TopicPartition, one.From, one.To, offsetmap.At(one.FromAt), offsetmap.At(one.ToAt)})
	}
	return out
}

// groupLines say of what kind a group is, and whether it stood still.
func groupLines(w io.Writer, d flinkstate.GroupDescription, m flinkstate.Movement) {
	if d.Type != "" {
		fmt.Fprintln(w, d)
	}
	fmt.Fprintln(w, m)
}

// moving refuses to go on with a group that somebody commits to.
func moving(group string, m flinkstate.Movement) error {
	if m.Verdict != flinkstate.Moving {
		return nil
	}
	return &blockedError{err: fmt.Errorf("offsets: group %s moved within %s: the job runs, whatever the state of the group; stop it, and read again: %s", group, m.Window, m)}
}

// lacking warns of partitions that the savepoint has a position of, and the group
// no offset.
func lacking(compared flinkstate.Comparison) []flinkstate.Warning {
	var names []string
	for _, p := range compared.Lacking() {
		names = append(names, p.TopicPartition.String())
	}
	if len(names) == 0 {
		return nil
	}
	return []flinkstate.Warning{{Code: flinkstate.CommitMissing, Text: fmt.Sprintf(
		"the group has no committed offset of %s, of which the savepoint has a position: never committed, or expired: %s", strings.Join(names, ", "), flinkstate.OffsetExpiry)}}
}
