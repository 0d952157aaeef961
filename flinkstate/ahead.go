package flinkstate

// defaultReaders is how many files are open at once: enough that reading and
// hashing fill the processors of a small machine beside the parsing, and that a
// remote store answers several requests at a time. Each holds one file in memory.
const defaultReaders = 4

// readFile is a file that was read whole, or why it could not be.
type readFile struct {
	bytes []byte
	file  *File // its hash is complete when the store is done
	err   error
}

// readAll reads files, some of them at a time, and hands each to parse, one after
// the other and in their order: what is reported first does not depend on which
// file came first. The bytes are valid until parse returns.
//
// A file is hashed beside the parsing of it and of others, and the last ones beside
// what the caller does next. All of these run near the speed of memory.
func (s *store) readAll(files []*wantedFile, parse func(f *wantedFile, read readFile)) {
	lanes := make([]lane, min(s.readers, len(files)))
	for i := range lanes {
		lanes[i] = lane{read: make(chan readFile, 1), parsed: make(chan struct{}, 1)}
		s.hashing.Go(func() {
			for n := i; n < len(files); n += len(lanes) {
				lanes[i].next(s, files[n])
			}
		})
	}
	for n, f := range files {
		l := &lanes[n%len(lanes)]
		parse(f, <-l.read)
		l.parsed <- struct{}{}
	}
}

// lane reads every n-th file into a buffer of its own.
type lane struct {
	buf    []byte
	read   chan readFile
	parsed chan struct{}
}

// next reads one file and returns when it is parsed and hashed.
func (l *lane) next(s *store, f *wantedFile) {
	b, err := slurp(f.file, l.buf, f.most(s.maxBytes))
	if err != nil {
		l.read <- readFile{err: err}
	} else {
		l.buf = b
		file := &File{Name: f.name, Size: int64(len(b))}
		l.read <- readFile{bytes: b, file: file}
		s.hash(file, b)
	}
	<-l.parsed
}
