package main

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/lab"
)

var (
	release    = flag.String("worker", "", "Kafka release of a real worker that BenchmarkRealWorker alters offsets on; none by default")
	partitions = flag.Int("partitions", 20_000, "how many partitions")
	partSizes  = flag.String("parts", "100,500,1000,2000,5000,10000,20000", "sizes of a part")
	again      = flag.Int("again", 1, "how often each is run")
)

// BenchmarkRealWorker prints, as Markdown, what a real worker takes for the same list
// in parts of several sizes. The worker is as the lab starts it: one JVM with 512 MB,
// on a broker of its own. It keeps what every run has stored in its memory, so that six
// runs of 100,000 are more than it can do well: give -parts one size for those.
//
//	go test ./scripts/benchconnect -run '^$' -bench RealWorker -worker 4.3.1
func BenchmarkRealWorker(b *testing.B) {
	if *release == "" {
		b.Skip("no release is given by -worker")
	}
	l := lab.Start(b, lab.Options{Version: *release})
	client, err := connectrest.New(l.Worker.RESTURL, connectrest.WithRetry(connectrest.RetryPolicy{ReadBack: 5 * time.Minute}))
	if err != nil {
		b.Fatal(err)
	}
	defer client.CloseIdleConnections()
	list := entries(*partitions)
	var rows []string
	for s := range strings.SplitSeq(*partSizes, ",") {
		size, err := strconv.Atoi(s)
		if err != nil || size < 1 {
			b.Fatalf("-parts: %q is no size of a part", s)
		}
		var writes, reads, slowest []float64
		for run := range *again {
			name := fmt.Sprintf("parts-of-%d-%d", size, run)
			_, err := client.Create(b.Context(), connectrest.CreateRequest{Name: name, InitialState: connectrest.StateStopped, Config: connectrest.Config{
				"connector.class":      "org.apache.kafka.connect.mirror.MirrorSourceConnector",
				"source.cluster.alias": "source", "target.cluster.alias": "target", "topics": "region\\.orders-.*",
				"source.cluster.bootstrap.servers": l.Source.Bootstrap, "target.cluster.bootstrap.servers": l.Target.Bootstrap,
			}})
			if err != nil {
				b.Fatal(err)
			}
			begun := time.Now()
			last, most := begun, time.Duration(0)
			err = client.AlterOffsetsInParts(b.Context(), name, list, connectrest.WithPartSize(size, 1<<30), connectrest.WithoutPartsReadBack(),
				connectrest.WithPartsProgress(func(connectrest.PartsProgress) {
					now := time.Now()
					most, last = max(most, now.Sub(last)), now
				}))
			if err != nil {
				b.Fatal(err)
			}
			writes, slowest = append(writes, time.Since(begun).Seconds()), append(slowest, most.Seconds())
			begun = time.Now()
			if _, err := client.AwaitOffsets(b.Context(), name, func(got []connectrest.Offset) error { return connectrest.DiffOffsets(list, got) }, 5*time.Minute); err != nil {
				b.Fatal(err)
			}
			reads = append(reads, time.Since(begun).Seconds())
		}
		rows = append(rows, fmt.Sprintf("| %d | %d | %.1f s | %.2f s | %.2f s | %.1f s |", size, (*partitions+size-1)/size, median(writes), slices.Max(slowest), median(writes)/float64((*partitions+size-1)/size), median(reads)))
	}
	// A log of a benchmark is cut after ten lines.
	fmt.Printf("\nKafka %s, %d partitions%s; medians of %d runs.\n\n| part | parts | written in | slowest part | a part | read back in |\n| --- | --- | --- | --- | --- | --- |\n%s\n",
		*release, *partitions, load(), *again, strings.Join(rows, "\n"))
}
