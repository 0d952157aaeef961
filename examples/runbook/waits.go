package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/flinkmm2/flinkmm2"
)

// waits is a handler that tells a person why a step stands still and how far long
// work has come, and nothing else: what was done, each step says when it has done it.
type waits struct {
	note func(format string, args ...any)
}

// Enabled drops what is of no interest to a person.
func (waits) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle says what is waited for, and for how long; or what is done of how much.
func (w waits) Handle(_ context.Context, r slog.Record) error {
	if r.Message != flinkmm2.LogWait && r.Message != flinkmm2.LogProgress {
		return nil
	}
	var why, what, connector string
	var d time.Duration
	var done, total int64
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "for":
			why = a.Value.String()
		case "connector":
			connector = a.Value.String()
		case "duration":
			d = a.Value.Duration()
		case "what":
			what = a.Value.String()
		case "done":
			done = a.Value.Int64()
		case "total":
			total = a.Value.Int64()
		}
		return true
	})
	if r.Message == flinkmm2.LogProgress {
		w.note("connector %s: %s: %d of %d", connector, what, done, total)
		return nil
	}
	if connector == "" {
		w.note("waiting %s for %s", d, why)
		return nil
	}
	w.note("connector %s is STOPPED; waiting %s for %s", connector, d, why)
	return nil
}

// WithAttrs ignores what no line shows.
func (w waits) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup ignores what no line shows.
func (w waits) WithGroup(string) slog.Handler { return w }
