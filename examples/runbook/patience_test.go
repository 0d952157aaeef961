package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestAPersonWhoWaitsIsToldWhyNowAndThen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	start := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
	now := start
	log := slog.New(newPatience(&out, func() time.Time { return now })).With("client", "connect")
	for second := range 13 {
		now = start.Add(time.Duration(second) * time.Second)
		log.Warn("again", "second", second)
		log.Info("not for people")
	}
	want := "msg=again client=connect second=5\nmsg=again client=connect second=10\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(out.String(), "people") {
		t.Error("what is no warning is shown")
	}
}
