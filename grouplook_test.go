package flinkmm2_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// A plan is as old as the first thing that was looked at for it. One that has expired
// when it is made would send its reader from plan to plan.
func TestAWindowThatOutlivesThePlanIsRefused(t *testing.T) {
	t.Parallel()
	w := prepared(t)
	for _, c := range []struct {
		window, lifetime time.Duration
		says             string
	}{
		{0, 0, ""},
		{time.Hour, 0, ""},
		{offsetmap.DefaultLifetime, 0, "not shorter than a plan lives, 24h0m0s"},
		{time.Hour, time.Hour, "not shorter than a plan lives, 1h0m0s"},
		{48 * time.Hour, 72 * time.Hour, ""},
		{-time.Second, 0, "the window of WithGroupWindow is negative: -1s"},
	} {
		_, err := flinkmm2.New(flinkmm2.Config{
			Source:  flinkmm2.Cluster{Admin: w.source.admin, Options: w.source.client.Opts()},
			Target:  flinkmm2.Cluster{Admin: w.target.admin, Options: w.target.client.Opts()},
			Connect: w.connect, Connector: "mm2", Journal: w.journal,
		}, flinkmm2.WithGroupWindow(c.window), flinkmm2.WithLifetime(c.lifetime))
		if (err == nil) != (c.says == "") || !strings.Contains(errText(err), c.says) {
			t.Errorf("window %s, lifetime %s: %v, want %q", c.window, c.lifetime, err, c.says)
		}
	}
}
