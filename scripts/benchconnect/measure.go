package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// bench is where the parts are.
type bench struct {
	self, curl string
	url        string
	dir        string
	part       int
	server     *exec.Cmd
}

// result holds medians, in seconds.
type result struct {
	partitions, parts int
	bytes             int64
	curl, client      side
}

type side struct {
	whole  float64 // of the process
	within float64 // by curl's clock, or of the call
	cpu    float64
	list   float64 // of the process, to make what curl finds in files
	judged float64 // of the process, but for that
}

func prepare(ctx context.Context, part int) (b *bench, err error) {
	b = &bench{part: part}
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.curl, err = exec.LookPath("curl"); err != nil {
		return nil, fmt.Errorf("curl is what the client is held against: %w", err)
	}
	if b.dir, err = os.MkdirTemp("", "benchconnect"); err != nil {
		return nil, err
	}
	b.server = exec.CommandContext(ctx, b.self, "serve")
	b.server.Stderr = os.Stderr
	out, err := b.server.StdoutPipe()
	if err == nil {
		err = b.server.Start()
	}
	if err == nil {
		b.url, err = bufio.NewReader(out).ReadString('\n')
		b.url = strings.TrimSpace(b.url)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("server: %w", err), b.clean())
	}
	return b, nil
}

func (b *bench) clean() error {
	if b.server != nil && b.server.Process != nil {
		_ = b.server.Process.Kill() // it ends in no other way
		_ = b.server.Wait()
	}
	return os.RemoveAll(b.dir)
}

// measure writes the bodies of n partitions for curl, and times both in turns.
func (b *bench) measure(ctx context.Context, n, rounds int, progress io.Writer) (result, error) {
	r := result{partitions: n}
	config, err := b.bodies(n, &r)
	if err != nil {
		return r, err
	}
	commands := [2][]string{{b.curl, "--config", config}, {b.self, "send", b.url, strconv.Itoa(n), strconv.Itoa(b.part)}}
	var whole, within, cpu, list, judged [2][]float64
	for round := range rounds {
		var got [2]seen
		for turn := range commands {
			side := (turn + round) % 2 // neither always comes first
			c := exec.CommandContext(ctx, commands[side][0], commands[side][1:]...)
			var out, errs bytes.Buffer
			c.Stdout, c.Stderr = &out, &errs
			begun := time.Now()
			err := c.Run()
			took := time.Since(begun).Seconds()
			if err != nil {
				return r, fmt.Errorf("%s: %w\n%s", commands[side][0], err, errs.String())
			}
			whole[side] = append(whole[side], took)
			cpu[side] = append(cpu[side], (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds())
			made, seconds, err := times(out.String())
			if err != nil {
				return r, err
			}
			list[side], within[side] = append(list[side], made), append(within[side], seconds)
			judged[side] = append(judged[side], took-made)
			if got[side], err = b.seen(ctx); err != nil {
				return r, err
			}
		}
		if got[0] != got[1] || got[0].Requests != r.parts || got[0].Bytes != r.bytes {
			return r, fmt.Errorf("curl sent %+v, the client %+v, want %d parts of %d bytes together", got[0], got[1], r.parts, r.bytes)
		}
		fmt.Fprintf(progress, "%d partitions: round %d of %d\n", n, round+1, rounds)
	}
	for i, s := range []*side{&r.curl, &r.client} {
		*s = side{median(whole[i]), median(within[i]), median(cpu[i]), median(list[i]), median(judged[i])}
	}
	return r, nil
}

// bodies writes a file for each part, and what curl is to do with them.
func (b *bench) bodies(n int, r *result) (config string, err error) {
	var text strings.Builder
	for part := range slices.Chunk(entries(n), b.part) {
		body, err := json.Marshal(connectrest.OffsetsBody{Offsets: part})
		if err != nil {
			return "", err
		}
		file := filepath.Join(b.dir, fmt.Sprintf("%d-%d.json", n, r.parts))
		if err := os.WriteFile(file, body, 0o600); err != nil {
			return "", err
		}
		if r.parts++; r.parts > 1 {
			text.WriteString("next\n")
		}
		r.bytes += int64(len(body))
		fmt.Fprintf(&text, "url = %q\nrequest = PATCH\nheader = \"Content-Type: application/json\"\nheader = \"Expect:\"\ndata-binary = %q\noutput = /dev/null\n"+
			"silent\nshow-error\nfail\nwrite-out = \"%%{time_total}\\n\"\n", b.url+"/connectors/"+connector+"/offsets", "@"+file)
	}
	config = filepath.Join(b.dir, fmt.Sprintf("%d.curl", n))
	return config, os.WriteFile(config, []byte(text.String()), 0o600)
}

// seen asks the server what it got since it was asked last.
func (b *bench) seen(ctx context.Context) (got seen, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/seen", http.NoBody)
	if err != nil {
		return got, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return got, err
	}
	defer resp.Body.Close()
	return got, json.NewDecoder(resp.Body).Decode(&got)
}

// times reads what a process printed: of curl the seconds of each request; of the
// client those that the making of the list took before those of the call.
func times(text string) (made, within float64, err error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 2 {
			if made, err = strconv.ParseFloat(fields[0], 64); err != nil {
				return 0, 0, err
			}
			fields = fields[1:]
		}
		v, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			return 0, 0, err
		}
		within += v
	}
	return made, within, nil
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
