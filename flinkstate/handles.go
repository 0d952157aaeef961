package flinkstate

const (
	// readerState is SourceOperator.SPLITS_STATE_DESC.
	readerState = "SourceReaderState"
	// legacyState is FlinkKafkaConsumerBase.OFFSETS_STATE_NAME.
	legacyState = "topic-partition-offset-states"
	// legacyOldState is DefaultOperatorStateBackend.DEFAULT_OPERATOR_STATE_NAME:
	// where the FlinkKafkaConsumer of Flink 1.2 had its offsets.
	legacyOldState = "_default_"
	// writerState is SinkWriterOperator's WRITER_RAW_STATES_DESC.
	writerState = "writer_raw_states"
	// committerState is CommitterOperator.STREAMING_COMMITTER_RAW_STATES_DESC.
	committerState = "streaming_committer_raw_states"
)

// Types of stream handles (MetadataV2V3SerializerBase).
const (
	streamNull         = 0
	streamBytes        = 1
	streamFile         = 2
	streamKeyGroups    = 3
	streamRelative     = 6
	streamSegment      = 15
	streamEmptySegment = 16
)

// Types of operator state handles.
const (
	operatorNull    = 0
	operatorStream  = 4
	operatorMerging = 17
)

// Modes of OperatorStateHandle.Mode.
const (
	splitDistribute = 0
	union           = 1
	broadcast       = 2
)

// The deepest nesting that is read. Flink nests keyed handles twice
// (changelog) and stream handles once.
const maxDepth = 8

// The most states of one operator that are read. Their names are compared with
// each other, which a hostile file could make long; jobs have a handful.
const maxStates = 1 << 12

// stream says where the bytes of a state are.
type stream struct {
	kind   int8
	inline []byte // streamBytes
	at     int64  // byte of the metadata file at which inline, or the handle, starts
	path   string // URI without user-info, or relative to the metadata
	start  int64  // streamSegment: where it starts in the file
	size   int64
}

// stateHandle is one state of one subtask.
type stateHandle struct {
	name    string
	subtask int
	at      int64    // byte of the metadata file at which it is described
	offsets []byte   // i64 each: where in the stream an element starts
	others  [][]byte // likewise for each other state of the stream that has elements
	stream  stream
}

// opState is one state of an operator state handle.
type opState struct {
	name    string
	mode    int8
	offsets []byte
	at      int
}

// handlePlace is a handle that names a stream, with where it stands in the metadata.
type handlePlace struct {
	what, operator string
	subtask        int // -1 for a coordinator's
	from, to       int // bytes of the metadata
	stream         stream

	// Of an operator state handle, whose states are not nil; stream and what belongs
	// to it alone begin at rest.
	states []opState
	rest   int
}

func (p *metadataParser) streamHandle(what string, depth int) stream {
	from := p.off
	s := p.stream(what, depth)
	if p.visit != nil && p.err == nil {
		p.visit(handlePlace{what: what, operator: p.operator, subtask: p.subtask, from: from, to: p.off, stream: s})
	}
	return s
}

func (p *metadataParser) stream(what string, depth int) stream {
	at := p.off
	s := stream{at: p.base + int64(at), kind: p.i8(what)}
	switch s.kind {
	case streamNull, streamEmptySegment:
	case streamBytes:
		p.raw(what) // the name often is a path that does not exist
		n := p.count(1, what)
		s.at = p.base + int64(p.off)
		s.inline = p.take(n, what)
	case streamFile:
		s.size = p.i64(what)
		s.path = withoutUser(p.utf(what))
	case streamRelative:
		s.path = withoutUser(p.utf(what))
		s.size = p.i64(what)
	case streamKeyGroups:
		if depth == maxDepth {
			p.corrupt(at, what, "handles are nested more than %d deep", maxDepth)
			return s
		}
		p.i32(what)
		p.take(8*p.count(8, what), what)
		p.streamHandle(what, depth+1)
	case streamSegment:
		s.start = p.i64(what)
		s.size = p.i64(what)
		p.i32(what) // scope
		s.path = withoutUser(p.utf(what))
		p.raw(what) // logical id
	default:
		p.unsupported(at, what, "stream handle type %d", s.kind)
	}
	if p.err == nil && (s.size < 0 || s.start < 0) {
		p.corrupt(at, what, "start %d and size %d of %s: neither can be negative", s.start, s.size, s.path)
		return s
	}
	p.bytes = saturate(p.bytes, s.size+int64(len(s.inline)))
	return s
}

// operatorHandle reads an operator state handle: its states go to p.states, the
// stream that holds them is returned.
func (p *metadataParser) operatorHandle(what string) stream {
	p.states = p.states[:0]
	at := p.off
	kind := p.i8(what)
	switch kind {
	case operatorNull:
		return stream{}
	case operatorStream, operatorMerging:
	default:
		p.unsupported(at, what, "operator state handle type %d", kind)
		return stream{}
	}
	n := p.count(7, what)
	if n > maxStates {
		p.unsupported(p.off-4, what, "%d states in one operator (up to %d are read)", n, maxStates)
		return stream{}
	}
	for range n {
		s := opState{at: p.off}
		s.name, s.mode = p.stateName(what), p.i8(what)
		if p.err == nil && (s.mode < splitDistribute || s.mode > broadcast) {
			p.corrupt(p.off-1, what, "state %q has distribution mode %d", s.name, s.mode)
		}
		s.offsets = p.take(8*p.count(8, what), what)
		for _, o := range p.states {
			if o.name == s.name {
				p.corrupt(s.at, what, "state %q is there twice", s.name)
			}
		}
		if p.err != nil {
			return stream{}
		}
		p.states = append(p.states, s)
	}
	rest := p.off
	if kind == operatorMerging {
		p.raw(what) // folder owned by the task manager
		p.raw(what) // shared folder
		p.i8(what)  // whether it is empty, which the stream's type says too
	}
	s := p.stream(what, 0)
	if p.visit != nil && p.err == nil {
		p.visit(handlePlace{
			what: what, operator: p.operator, subtask: p.subtask, from: at, to: p.off, stream: s,
			states: append([]opState{}, p.states...), rest: rest,
		})
	}
	return s
}

// stateName keeps one string for each name: a job has few names and may have
// many subtasks.
func (p *metadataParser) stateName(what string) string {
	at := p.off
	b := p.raw(what)
	for _, n := range p.names {
		if n == string(b) {
			return n
		}
	}
	n, ok := decodeUTF(b)
	if !ok {
		p.corrupt(at, what, "state name is not modified UTF-8")
	}
	if len(p.names) < 64 {
		p.names = append(p.names, n)
	}
	return n
}

// keyedHandle skips a keyed state handle and reports whether there is one.
func (p *metadataParser) keyedHandle(what string, depth int) bool {
	at := p.off
	kind := p.i8(what)
	if p.err != nil || kind == 0 {
		return false
	}
	if depth == maxDepth {
		p.corrupt(at, what, "handles are nested more than %d deep", maxDepth)
		return true
	}
	switch kind {
	case 3, 7, 12: // KeyGroupsStateHandle, KeyGroupsSavepointStateHandle
		p.i32(what)
		p.take(8*p.count(8, what), what)
		p.streamHandle(what, 0)
		if kind == 12 {
			p.raw(what)
		}
	case 5, 11: // IncrementalRemoteKeyedStateHandle
		p.i64(what)
		p.raw(what)
		p.take(8, what)
		if kind == 11 {
			p.i64(what)
		}
		p.streamHandle(what, 0)
		for range 2 {
			for range p.count(3, what) {
				p.raw(what)
				p.streamHandle(what, 0)
			}
		}
		if kind == 11 {
			p.raw(what)
		}
	case 8, 14: // ChangelogStateBackendHandle
		p.take(16, what)
		for range 2 {
			for range p.count(1, what) {
				p.keyedHandle(what, depth+1)
			}
		}
		p.i64(what)
		if kind == 14 {
			p.i64(what)
		}
		p.raw(what)
	case 9: // InMemoryChangelogStateHandle
		p.take(24, what)
		for range p.count(8, what) {
			p.i32(what)
			p.bytes = saturate(p.bytes, int64(len(p.sized(what))))
		}
		p.raw(what)
	case 10, 13: // ChangelogStateHandleStreamImpl
		p.take(8, what)
		for range p.count(9, what) {
			p.i64(what)
			p.streamHandle(what, 0)
		}
		p.take(16, what)
		p.raw(what)
		if kind == 13 {
			p.raw(what)
		}
	default:
		p.unsupported(at, what, "keyed state handle type %d", kind)
	}
	return true
}

// channelHandle skips a channel state handle and returns the size of its data
// (ChannelStateHandleSerializerV1 and, from metadata version 6 on, V2).
func (p *metadataParser) channelHandle(what string) int64 {
	at := p.off
	kind := int8(1)
	if p.version >= 6 {
		kind = p.i8(what)
	}
	var size int64
	switch kind {
	case 1, 2: // input channel, result subpartition
		p.take(12, what)
		p.take(8*p.count(8, what), what)
		size = p.i64(what)
		p.streamHandle(what, 0)
	case 3, 4: // the same, merged
		p.i32(what)
		size = p.i64(what)
		p.streamHandle(what, 0)
		p.sized(what)
	default:
		p.unsupported(at, what, "channel state handle type %d", kind)
	}
	if p.err == nil && size < 0 {
		p.corrupt(at, what, "size %d is negative", size)
	}
	return size
}
