package main

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// reassure is how long a person waits for an answer before they are told why,
// and from one such line to the next.
const reassure = 5 * time.Second

// patience is a handler of warnings: a request that is sent again is no news at
// first, and one line a time is enough after that.
type patience struct {
	slog.Handler
	now   func() time.Time
	state *patienceState
}

type patienceState struct {
	mu   sync.Mutex
	last time.Time
}

func newPatience(to io.Writer, now func() time.Time) *patience {
	text := slog.NewTextHandler(to, &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
				return slog.Attr{}
			}
			return a
		},
	})
	return &patience{Handler: text, now: now, state: &patienceState{}}
}

// Handle drops what comes too soon after the line before, or after the first
// warning of all.
func (p *patience) Handle(ctx context.Context, r slog.Record) error {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	now := p.now()
	if p.state.last.IsZero() {
		p.state.last = now
	}
	if now.Sub(p.state.last) < reassure {
		return nil
	}
	p.state.last = now
	return p.Handler.Handle(ctx, r)
}

// WithAttrs keeps the pace of p.
func (p *patience) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &patience{p.Handler.WithAttrs(attrs), p.now, p.state}
}

// WithGroup keeps the pace of p.
func (p *patience) WithGroup(name string) slog.Handler {
	return &patience{p.Handler.WithGroup(name), p.now, p.state}
}
