package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/flinkmm2/flinkmm2"
)

// waits is a handler that tells a person why a step stands still, and nothing
// else: what was done, each step says when it has done it.
type waits struct {
	note func(format string, args ...any)
}

// Enabled drops what is of no interest to a person.
func (waits) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

// Handle says what is waited for, and for how long.
func (w waits) Handle(_ context.Context, r slog.Record) error {
	if r.Message != flinkmm2.LogWait {
		return nil
	}
	var why, connector string
	var d time.Duration
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "for":
			why = a.Value.String()
		case "connector":
			connector = a.Value.String()
		case "duration":
			d = a.Value.Duration()
		}
		return true
	})
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
