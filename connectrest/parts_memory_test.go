package connectrest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/measured"
)

const memoryEnv = "CONNECTREST_MEMORY_OF"

// Altering and reading 100,000 partitions takes less than three times the body, at
// every moment, whatever the collector has not collected yet; the list itself is in
// that. Each is measured in a process of its own, where nothing else has a heap.
func TestMemoryStaysBelowThreeTimesTheBody(t *testing.T) {
	const n = 100_000
	if what := os.Getenv(memoryEnv); what != "" {
		fmt.Printf("peak=%d\n", heapPeak(t, what, n))
		return
	}
	exe := measured.Binary(t)
	body := manyOffsets(n)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, body)
			return
		}
		_, _ = io.WriteString(w, `{"message":"ok"}`)
	}))
	defer srv.Close()
	for _, what := range []string{"read", "alter", "alter in parts", "alter in parts and read back"} {
		t.Run(what, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestMemoryStaysBelowThreeTimesTheBody$", "-test.count=1")
			cmd.Env = append(os.Environ(), memoryEnv+"="+what+" "+srv.URL, "GOGC=100", "GOMEMLIMIT=off")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_, text, _ := strings.Cut(string(out), "peak=")
			text, _, _ = strings.Cut(text, "\n")
			peak, err := strconv.Atoi(text)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			times := float64(peak) / float64(len(body))
			t.Logf("%s: %.2f times the body of %d bytes", what, times, len(body))
			if times >= 3 || times < 0.5 {
				t.Errorf("the heap had up to %.2f times the body, want less than 3 (and no less than the list itself)", times)
			}
		})
	}
}

// heapPeak returns the most bytes that objects had on the heap, garbage included.
func heapPeak(t *testing.T, what string, n int) (peak uint64) {
	at := strings.LastIndexByte(what, ' ')
	what, url := what[:at], what[at+1:]
	client, err := connectrest.New(url)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	done, stopped := make(chan struct{}), make(chan struct{})
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	go func() {
		defer close(stopped)
		for {
			metrics.Read(sample)
			peak = max(peak, sample[0].Value.Uint64())
			select {
			case <-done:
				return
			case <-time.After(100 * time.Microsecond):
			}
		}
	}()
	if what == "read" {
		got, readErr := client.Offsets(t.Context(), "mm2")
		if readErr == nil && len(got) != n {
			readErr = fmt.Errorf("%d offsets were read", len(got))
		}
		err = readErr
	} else {
		list := mirrorList(n)
		switch what {
		case "alter":
			err = client.AlterOffsets(t.Context(), "mm2", list)
		case "alter in parts":
			err = client.AlterOffsetsInParts(t.Context(), "mm2", list, connectrest.WithoutPartsReadBack())
		default:
			err = client.AlterOffsetsInParts(t.Context(), "mm2", list)
		}
	}
	close(done)
	<-stopped
	if err != nil {
		t.Fatal(err)
	}
	return peak
}

// mirrorList is what manyOffsets is the answer of, each text with memory of its own.
func mirrorList(n int) []connectrest.Offset {
	list := make([]connectrest.Offset, n)
	for i := range list {
		list[i] = connectrest.Offset{
			Partition: fmt.Appendf(nil, `{"cluster":"source","partition":%d,"topic":"orders"}`, i),
			Offset:    fmt.Appendf(nil, `{"offset":%d}`, 9007199254740993+int64(i)),
		}
	}
	return list
}
