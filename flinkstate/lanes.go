package flinkstate

import (
	"fmt"
	"runtime"
	"sync"
)

// defaultReaders is how many files are open at once: enough that a remote store
// answers several requests at a time. Each holds one file in memory.
const defaultReaders = 4

// localReaders is the same for a local folder, where the processors are what is
// waited for, and more goroutines than these only cost.
func localReaders() int { return min(defaultReaders, runtime.GOMAXPROCS(0)) }

// stateReader gathers what the states hold that one operator has under some name.
type stateReader interface {
	// read takes the elements of the state of one subtask.
	read(h *stateHandle, src bytesAt) error
	// fail takes note of a state that could not be read, and returns the error where
	// nothing can be said without it.
	fail(h *stateHandle, err error) error
	// fork returns a reader of the same operator that has read nothing, for so many
	// elements.
	fork(elements int) stateReader
	// join adds what a fork has read of files that come after those of this reader.
	join(fork stateReader)
}

// lane reads, parses and hashes files one after the other, beside other lanes and
// without a word with them: to wake another processor takes longer than to read a
// file of a few kilobytes.
type lane struct {
	store    *store
	files    []*wantedFile
	outcomes []outcome
	own      map[stateReader]stateReader // by what they are a fork of; nil for the first lane
	buf      []byte
}

// outcome is what came of a file.
type outcome struct {
	file *File // nil when it could not be read
	want want  // where err is
	err  error
}

// readAll reads the files and returns an outcome for each. What is reported first
// does not depend on which file came first: each lane has a stretch of the list, and
// they are joined in its order.
func (s *store) readAll(files []*wantedFile) []outcome {
	lanes := make([]lane, min(s.readers, len(files)))
	outcomes := make([]outcome, len(files))
	var others sync.WaitGroup
	for i := range lanes {
		from, to := i*len(files)/len(lanes), (i+1)*len(files)/len(lanes)
		lanes[i] = lane{store: s, files: files[from:to], outcomes: outcomes[from:to]}
		if i > 0 {
			others.Go(lanes[i].forkAndRun)
		}
	}
	if len(lanes) > 0 {
		lanes[0].run()
	}
	others.Wait()
	for i := range lanes {
		lanes[i].join()
	}
	return outcomes
}

func (l *lane) forkAndRun() {
	elements := map[stateReader]int{}
	for _, f := range l.files {
		for _, w := range f.wants {
			elements[w.reader] += w.handle.count()
		}
	}
	l.own = make(map[stateReader]stateReader, len(elements))
	for r, n := range elements {
		l.own[r] = r.fork(n)
	}
	l.run()
}

func (l *lane) run() {
	for i, f := range l.files {
		l.outcomes[i] = l.next(f)
	}
}

func (l *lane) next(f *wantedFile) outcome {
	b, err := slurp(f.file, l.buf, f.most(l.store.maxBytes))
	var o outcome
	if err == nil {
		l.buf = b
		o.file = &File{Name: f.name, Size: int64(len(b))}
		l.store.hash(o.file, b)
	}
	for _, w := range f.wants {
		if o.err = l.take(f, w, b, err); o.err != nil {
			o.want = w
			break
		}
	}
	return o
}

// take hands on what is wanted of a file, whose bytes are b unless it could not be
// read.
func (l *lane) take(f *wantedFile, w want, b []byte, err error) error {
	r := w.reader
	if l.own != nil {
		r = l.own[r]
	}
	if err != nil {
		return r.fail(w.handle, fmt.Errorf("state file %s of operator %s: %w", f.file.path, w.op.ID, err))
	}
	part, wrong := w.handle.stream.part(b)
	if wrong != nil {
		return r.fail(w.handle, &CorruptError{
			File: f.file.path, Offset: int64(len(b)),
			Structure: structure(w.op.ID, w.handle.subtask, "", w.handle.name), Reason: wrong.Error(),
		})
	}
	return w.read(r, bytesAt{f.file.path, w.handle.stream.start, part})
}

func (l *lane) join() {
	for r, own := range l.own {
		r.join(own)
	}
}
