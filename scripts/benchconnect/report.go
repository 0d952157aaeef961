package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// report prints what was measured as a table, the versions above it.
func (b *bench) report(ctx context.Context, out io.Writer, all []result, rounds int) {
	version := "curl of a version that is not known"
	if text, err := exec.CommandContext(ctx, b.curl, "--version").Output(); err == nil {
		if f := strings.Fields(string(text)); len(f) > 1 {
			version = f[0] + " " + f[1]
		}
	}
	fmt.Fprintf(out, "%s; %s on %s/%s, %d processors%s; parts of %d partitions; medians of %d rounds.\n\n",
		version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load(), b.part, rounds)
	fmt.Fprintln(out, "| partitions | parts, bytes | curl: process (CPU) | client: process (CPU) | of that, the list | client but the list, to curl | curl: within | client: the call |")
	fmt.Fprintln(out, "| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range all {
		fmt.Fprintf(out, "| %d | %d, %d | %s (%s) | %s (%s) | %s | %+.1f %% | %s | %s |\n", r.partitions, r.parts, r.bytes,
			ms(r.curl.whole), ms(r.curl.cpu), ms(r.client.whole), ms(r.client.cpu), ms(r.client.list),
			100*(r.client.judged/r.curl.judged-1), ms(r.curl.within), ms(r.client.within))
	}
}

func ms(seconds float64) string { return fmt.Sprintf("%.1f ms", seconds*1e3) }

// load is what else the machine had to do: figures of a busy one say little.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return ", load average " + first
}
