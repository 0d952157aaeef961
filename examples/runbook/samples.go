package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/flinkmm2/flinkmm2/preflight"
)

// mostSamplesShown bounds how many records a person is shown.
const mostSamplesShown = 200

// samples are records that preflight shows to whoever asks for them, and keeps nowhere.
type samples struct {
	first []preflight.DeliverySample
	left  int
}

func (s *samples) take(one preflight.DeliverySample) {
	if len(s.first) == mostSamplesShown {
		s.left++
		return
	}
	s.first = append(s.first, one)
}

func (s *samples) table(w io.Writer) {
	fmt.Fprintln(w)
	if len(s.first) == 0 {
		fmt.Fprintln(w, "no record was looked for")
		return
	}
	line(w, "RECORD", "OFFSET", "SIDE OF C", "ON THE TARGET", "KEY", "VALUE")
	for _, one := range s.first {
		side := "from C on"
		if one.Before {
			side = "before C"
		}
		line(w, one.TopicPartition, one.Offset, side, one.Target, content(one.Key, one.KeySize), content(one.Value, one.ValueSize))
	}
	if s.left > 0 {
		fmt.Fprintf(w, "and %d more: name fewer topics in the file\n", s.left)
	}
}

// content shows what a record holds, always quoted, so that a text cannot pass itself off
// for null; and says where it was cut.
func content(b []byte, size int) string {
	const most = 200
	if b == nil {
		return "null"
	}
	text := strconv.Quote(string(b[:min(len(b), most)]))
	if size > min(len(b), most) {
		text += fmt.Sprintf(" of %d bytes", size)
	}
	return text
}
