package connectrest

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// LoggerLevel is the level of one logger of a worker (KIP-495).
type LoggerLevel struct {
	// Level is a log4j level: TRACE, DEBUG, INFO, WARN, ERROR, FATAL or OFF.
	Level string `json:"level"`
	// LastModified is when it was last changed by this API, in milliseconds since
	// 1970; nil where it never was, and before Kafka 3.7 (KIP-976).
	LastModified *int64 `json:"last_modified"`
}

// Modified returns LastModified as a time, and whether there is one.
func (l LoggerLevel) Modified() (time.Time, bool) {
	if l.LastModified == nil {
		return time.Time{}, false
	}
	return time.UnixMilli(*l.LastModified), true
}

// LoggerLevels are the loggers of one worker by name.
type LoggerLevels map[string]LoggerLevel

// Sorted returns the loggers in the order of their names.
func (l LoggerLevels) Sorted() iter.Seq2[string, LoggerLevel] { return sorted(l) }

// LoggerScope says on which workers [Client.SetLogger] sets a level.
type LoggerScope string

const (
	// ScopeWorker is the worker that is asked, and no other: of several, the one
	// that answers when the call begins.
	ScopeWorker LoggerScope = "worker"
	// ScopeCluster is every worker of the cluster (Kafka 3.7, KIP-976).
	ScopeCluster LoggerScope = "cluster"
)

// Loggers lists the loggers of the worker that is asked whose level is set. An
// admin API that is switched off, or on a port of its own (admin.listeners of the
// worker), is an [ErrUnsupported] here: for the latter, make a client of that
// port.
func (c *Client) Loggers(ctx context.Context) (LoggerLevels, error) {
	var out LoggerLevels
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"admin", "loggers"}, out: &out,
		valid: func() error { return missing(out == nil, "object") },
	})
	return out, err
}

// Logger returns the level of one logger of the worker that is asked, "root" for
// the root. A logger that the worker never used is an [ErrNotFound].
func (c *Client) Logger(ctx context.Context, logger string) (LoggerLevel, error) {
	var out LoggerLevel
	if err := checkLogger(logger); err != nil {
		return out, err
	}
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"admin", "loggers", logger}, out: &out, part: logger,
		valid: func() error { return missing(out.Level == "", "level") },
	})
	return out, err
}

// SetLogger sets the level of a logger and of those below it, until the worker
// ends. It returns the names of the loggers that were changed, for [ScopeWorker],
// and nil when the change was read back after its answer was lost. For
// [ScopeCluster] it returns nil: the workers change theirs a moment later, and
// none says so. A worker before 3.7, which would set its own alone without a
// word, is then an [ErrUnsupported].
func (c *Client) SetLogger(ctx context.Context, logger, level string, scope LoggerScope) ([]string, error) {
	if err := checkLogger(logger); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"}, level) {
		return nil, fmt.Errorf("%w: logger %q: %q is no level: want TRACE, DEBUG, INFO, WARN, ERROR, FATAL or OFF", ErrBadRequest, logger, level)
	}
	var changed []string
	r := request{
		method: http.MethodPut, path: []string{"admin", "loggers", logger}, mode: write, part: logger,
		body: map[string]string{"level": level},
	}
	switch scope {
	case ScopeWorker:
		one, err := c.answering(ctx)
		if err != nil {
			return nil, err
		}
		c = one // another one would be changed, or read back, in its place
		r.out, r.valid = &changed, func() error { return missing(changed == nil, "list") }
	case ScopeCluster:
		if err := c.require(ctx, featureLogScope); err != nil {
			return nil, err
		}
		r.query = url.Values{"scope": {string(ScopeCluster)}}
	default:
		return nil, fmt.Errorf("%w: logger %q: %q is no scope: want %s or %s", ErrBadRequest, logger, scope, ScopeWorker, ScopeCluster)
	}
	err := c.settle(ctx, 2, r, func(ctx context.Context, _ time.Duration) error {
		changed = nil
		l, err := c.Logger(ctx, logger)
		if err == nil && !strings.EqualFold(l.Level, level) {
			err = fmt.Errorf("%w: the level is %s", errNotSeen, l.Level)
		}
		return err
	})
	return changed, err
}

func checkLogger(name string) error {
	if err := CheckName(name); err != nil {
		return fmt.Errorf("logger: %w", err)
	}
	return nil
}
