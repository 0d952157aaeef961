//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// result is what was measured of one shape.
type result struct {
	shape      shape
	bytes      int64 // of the savepoint
	files      int
	flink      side
	ours       side
	library    memory
	libraryRSS int64
}

// side holds medians.
type side struct {
	hot   float64 // seconds
	plain float64 // seconds of a hot loop without hashes; what Flink does has none
	whole float64 // seconds
	cpu   float64 // seconds of the whole process
	rss   int64   // bytes
}

// measure writes a savepoint, has both sides print it, compares that, and times
// them in turns.
func (b *bench) measure(ctx context.Context, s shape, rounds int) (r result, err error) {
	fmt.Fprintf(b.progress, "%s: writing\n", s.name)
	r.shape = s
	dir := filepath.Join(b.dir, fmt.Sprintf("splits-%d-subtasks-%d-threshold-%d-operators-%d", s.splits, s.subtasks, s.threshold, s.operators))
	if err := os.RemoveAll(dir); err != nil {
		return r, err
	}
	var n []string
	for _, v := range []int{s.splits, s.subtasks, s.threshold, s.operators} {
		n = append(n, strconv.Itoa(v))
	}
	theirs, own := dir+".flink.tsv", dir+".runbook.txt"
	if _, err := b.process(ctx, theirs, append(b.flinks("write", dir), n...)...); err != nil {
		return r, err
	}
	if r.files, r.bytes, err = size(dir); err != nil {
		return r, err
	}
	printFlink := append(b.flinks("print", dir), "lean")
	printOwn := []string{b.runbook, "offsets", "--savepoint", dir}
	var hot, whole, cpu [2][]float64
	var unhashed []float64
	var rss [2][]int64
	for round := range rounds {
		fmt.Fprintf(b.progress, "%s: round %d of %d\n", s.name, round+1, rounds)
		for side, command := range [][]string{printFlink, printOwn} {
			used, err := b.process(ctx, [...]string{theirs, own}[side], command...)
			if err != nil {
				return r, err
			}
			whole[side], cpu[side] = append(whole[side], used.seconds), append(cpu[side], used.cpu)
			rss[side] = append(rss[side], used.rss)
		}
		if round == 0 {
			if err := b.child(ctx, nil, "compare", theirs, own, strconv.Itoa(s.splits)); err != nil {
				return r, err
			}
		}
		flink, err := b.flinkLoop(ctx, dir, s)
		if err != nil {
			return r, err
		}
		// The first iterations of Flink's are slow until they are compiled; the
		// median is of the same number on both sides.
		hot[0] = append(hot[0], flink)
		for how, all := range map[string]*[]float64{hashed: &hot[1], plain: &unhashed} {
			var loop hotLoop
			if err := b.child(ctx, &loop, "hot", dir, strconv.Itoa(s.iterations), strconv.Itoa(s.splits), how); err != nil {
				return r, err
			}
			*all = append(*all, loop.Seconds)
		}
	}
	r.flink = side{median(hot[0]), median(hot[0]), median(whole[0]), median(cpu[0]), median(rss[0])}
	r.ours = side{median(hot[1]), median(unhashed), median(whole[1]), median(cpu[1]), median(rss[1])}
	out := dir + ".memory.json"
	used, err := b.process(ctx, out, b.self, "memory", dir)
	if err != nil {
		return r, err
	}
	r.libraryRSS = used.rss
	text, err := os.ReadFile(out)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r.library)
}

func (b *bench) flinks(args ...string) []string { return append(slices.Clone(b.java), args...) }

// child runs this program again, as one of children, and decodes what it prints.
func (b *bench) child(ctx context.Context, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, b.self, args...)
	cmd.Stderr = b.progress
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(out, into)
}

var lean = regexp.MustCompile(`^lean rows=(\d+) .* median=([0-9.]+) ms`)

// flinkLoop runs Flink's hot loop and returns the median of its iterations in
// seconds.
func (b *bench) flinkLoop(ctx context.Context, dir string, s shape) (float64, error) {
	command := append(b.flinks("time", dir, strconv.Itoa(s.iterations)), "lean")
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = b.progress
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("hot loop of Flink: %w", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if m := lean.FindStringSubmatch(lines.Text()); m != nil && m[1] == strconv.Itoa(s.splits) {
			ms, err := strconv.ParseFloat(m[2], 64)
			return ms / 1e3, err
		}
	}
	return 0, fmt.Errorf("hot loop of Flink: no line with the median of %d rows in %q", s.splits, out)
}

func size(dir string) (files int, bytes int64, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, 0, err
		}
		files++
		bytes += info.Size()
	}
	return files, bytes, err
}

func timed(f func() error) (seconds float64, err error) {
	start := time.Now()
	err = f()
	return time.Since(start).Seconds(), err
}

// median is the upper one of an even number, as on Flink's side.
func median[T int64 | float64](all []T) T {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
