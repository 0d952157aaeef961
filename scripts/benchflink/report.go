//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// report prints what was measured as two tables, the versions above them.
func (b *bench) report(ctx context.Context, out io.Writer, all []result, rounds int) {
	fmt.Fprintf(out, "Flink %s with flink-connector-kafka %s on %s; %s on %s/%s; %s; %d rounds.\n\n",
		b.flink, b.connector, b.javaVersion(ctx), runtime.Version(), runtime.GOOS, runtime.GOARCH, machine(), rounds)
	fmt.Fprintln(out, "| savepoint | size, files | hot: Flink | hot: flinkstate, reading alone | times | hot: with SHA-256 | times | whole (CPU): Flink | whole (CPU): `runbook offsets` | times |")
	fmt.Fprintln(out, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range all {
		fmt.Fprintf(out, "| %s | %s, %d | %s | %s | %.0f | %s | %.0f | %s (%s) | %s (%s) | %.0f |\n", r.shape.name, bytesText(r.bytes), r.files,
			ms(r.flink.hot), ms(r.ours.plain), r.flink.hot/r.ours.plain, ms(r.ours.hot), r.flink.hot/r.ours.hot, ms(r.flink.whole), ms(r.flink.cpu), ms(r.ours.whole), ms(r.ours.cpu), r.flink.whole/r.ours.whole)
	}
	fmt.Fprintln(out)
	fmt.Fprintln(out, "| savepoint | source's state | heap peak | of state | RSS: flinkstate alone | of state | RSS: `runbook offsets` | of state | RSS: Flink |")
	fmt.Fprintln(out, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range all {
		state := r.library.SourceState
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", r.shape.name, bytesText(state),
			bytesText(r.library.HeapPeak), share(r.library.HeapPeak, state), bytesText(r.libraryRSS), share(r.libraryRSS, state),
			bytesText(r.ours.rss), share(r.ours.rss, state), bytesText(r.flink.rss))
	}
}

func ms(seconds float64) string {
	switch v := seconds * 1e3; {
	case v < 1:
		return fmt.Sprintf("%.3f ms", v)
	case v < 10:
		return fmt.Sprintf("%.2f ms", v)
	default:
		return fmt.Sprintf("%.1f ms", v)
	}
}

func bytesText(n int64) string {
	switch {
	case n == 0:
		return "–"
	case n < 100_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
}

// share says nothing of a state that is smaller than any process.
func share(n, state int64) string {
	if state < 1_000_000 || n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", float64(n)/float64(state))
}

func (b *bench) javaVersion(ctx context.Context) string {
	text, err := exec.CommandContext(ctx, b.java[0], "-version").CombinedOutput()
	first, _, _ := strings.Cut(string(text), "\n")
	if err != nil || first == "" {
		return "a Java whose version is not known"
	}
	return first
}

// machine names the processor where the system says it, how many there are, and
// what else they had to do: figures of a busy machine say little.
func machine() string {
	model := "a processor whose name is not known"
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
		_ = f.Close()
	}
	load := ""
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		if minutes := strings.Fields(string(text)); len(minutes) > 2 {
			load = ", load average of the last 15 minutes " + minutes[2]
		}
	}
	return fmt.Sprintf("%s, %d in use%s", model, runtime.GOMAXPROCS(0), load)
}
