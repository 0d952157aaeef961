package flinkstate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/shown"
)

var (
	// ErrNoMetadata says that the folder holds no metadata file. The error
	// names the full path that was looked for and what is there instead.
	ErrNoMetadata = errors.New("no savepoint or checkpoint metadata")

	// ErrNoPosition says that the file is sound but stores no position of a
	// source of Kafka. The error is a [*NoPositionError].
	ErrNoPosition = errors.New("no position is stored")

	// ErrUnsupported says that the file holds something that is not read yet,
	// so that what is read would not be all, or that a place cannot be read
	// from. Of a file, the errors.As type is [*UnsupportedError].
	ErrUnsupported = errors.New("not supported")

	// ErrCorrupt says that the bytes contradict the format or themselves. The
	// errors.As type is [*CorruptError].
	ErrCorrupt = errors.New("corrupt state")

	// ErrMissingFiles says that state files are not there. The error is a
	// [*MissingFilesError].
	ErrMissingFiles = errors.New("state files are missing")

	// ErrSelector says that a selector fits no source, or several. The error
	// is a [*SelectorError].
	ErrSelector = errors.New("no single source")
)

// CorruptError says where bytes contradict the format or themselves. It is an
// ErrCorrupt.
type CorruptError struct {
	// File is the path of the file.
	File string
	// Offset is the byte in File at which the bad structure or value starts.
	// In compressed state it is that of the chunk.
	Offset int64
	// Structure says what was being read, from the operator down.
	Structure string
	// Reason says what is wrong.
	Reason string
}

func (e *CorruptError) Error() string {
	return shown.Line(fmt.Sprintf("%v: %s, byte %d: %s: %s", ErrCorrupt, shown.Name(e.File), e.Offset, e.Structure, e.Reason))
}

// Is reports whether target is ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// UnsupportedError says what was met that is not read. It is an ErrUnsupported.
type UnsupportedError struct {
	// File is the path of the file.
	File string
	// Offset is the byte in File at which it stands.
	Offset int64
	// Structure says what was being read, from the operator down.
	Structure string
	// What names it, with its version or type.
	What string
}

func (e *UnsupportedError) Error() string {
	return shown.Line(fmt.Sprintf("%v: %s, byte %d: %s: %s", ErrUnsupported, shown.Name(e.File), e.Offset, e.Structure, e.What))
}

// Is reports whether target is ErrUnsupported.
func (e *UnsupportedError) Is(target error) bool { return target == ErrUnsupported }

// MissingFilesError lists every state file that is needed and not there. It is
// an ErrMissingFiles.
type MissingFilesError struct {
	// Metadata is the path of the metadata file that names them.
	Metadata string
	// Files is sorted by name.
	Files []MissingFile
}

// MissingFile is one state file that is not there.
type MissingFile struct {
	// Name is what the state calls the file: a relative path or a URI, user-info
	// replaced by offsetmap.SecretMark.
	Name string
	// Path is where it was looked for. Empty for a URI that no entry of the
	// path map fits.
	Path string
	// OperatorID is one operator that needs it.
	OperatorID string
	// From and To are a path map entry, good as it stands, that would find a file of the same name
	// which lies near the metadata. Empty when there is none. Whether it is the
	// right file is for a person to say.
	From, To string
}

func (e *MissingFilesError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of the %v that %s names", len(e.Files), ErrMissingFiles, shown.Name(e.Metadata))
	for i, f := range e.Files {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(shown.Name(f.Name))
		switch {
		case f.Path != "":
			fmt.Fprintf(&b, " (looked for at %s", shown.Name(f.Path))
		default:
			b.WriteString(" (an absolute path that no path map entry fits")
		}
		fmt.Fprintf(&b, ", needed by operator %s", f.OperatorID)
		if f.From != "" {
			fmt.Fprintf(&b, "; a file of that name is found when %s is mapped to %s", shown.Name(f.From), shown.Name(f.To))
		}
		b.WriteByte(')')
	}
	return b.String()
}

// Is reports whether target is ErrMissingFiles.
func (e *MissingFilesError) Is(target error) bool { return target == ErrMissingFiles }

// NoPositionError lists the operators of a file that stores no position. It is
// an ErrNoPosition.
type NoPositionError struct {
	// Metadata is the path of the metadata file.
	Metadata string
	// Operators holds every operator of the file, by id. Skipped of each says
	// why it gave no position.
	Operators []Operator
	// Warnings holds what was seen beside that.
	Warnings []Warning
	// Snapshot is all that was read. It has no source.
	Snapshot *Snapshot
}

func (e *NoPositionError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v in %s: none of its %d operators is a source of Kafka with a partition", ErrNoPosition, shown.Name(e.Metadata), len(e.Operators))
	fmt.Fprintf(&b, " (supported: %s, %s and %s of flink-connector-kafka, metadata versions %d to %d)", KafkaSource, DynamicKafkaSource, FlinkKafkaConsumer, oldestMetadata, newestMetadata)
	for i, o := range e.Operators {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(label(o.ID, o.UID, o.Name))
		for i, s := range o.States {
			b.WriteString([]string{" [", ", "}[min(i, 1)] + shown.Name(s.Name))
		}
		if len(o.States) > 0 {
			b.WriteByte(']')
		}
		b.WriteString(" " + shown.Line(o.Skipped))
	}
	return b.String()
}

// Is reports whether target is ErrNoPosition.
func (e *NoPositionError) Is(target error) bool { return target == ErrNoPosition }

// SelectorError says that a selector does not name one source. It is an
// ErrSelector.
type SelectorError struct {
	// Selector is what was asked for.
	Selector string
	// Reason says what is wrong with it.
	Reason string
	// Choices holds the sources to choose from, without their partitions. Empty
	// where a cluster was asked for and no source is of a kind that has clusters.
	Choices []Source
	// Clusters holds the clusters to choose from, sorted, where one was asked for
	// of which no source holds partitions.
	Clusters []string
}

func (e *SelectorError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s", ErrSelector, shown.Line(e.Reason))
	if len(e.Clusters) > 0 || len(e.Choices) == 0 {
		return b.String()
	}
	b.WriteString("; choose one by operator id, uid or name")
	for i, s := range e.Choices {
		b.WriteString([]string{": ", ", "}[min(i, 1)])
		b.WriteString(label(s.OperatorID, s.UID, s.Name))
	}
	return b.String()
}

// Is reports whether target is ErrSelector.
func (e *SelectorError) Is(target error) bool { return target == ErrSelector }

// label names an operator by all that the file has of it.
func label(id, uid, name string) string {
	var b strings.Builder
	b.WriteString(id)
	if uid != "" {
		fmt.Fprintf(&b, " uid %q", uid)
	}
	if name != "" {
		fmt.Fprintf(&b, " name %q", name)
	}
	return b.String()
}

// legible makes the text of an error fit to be shown: names in it come from the
// state, from the folder and from the caller. What errors.Is and errors.As find in
// it stays.
func legible(err error) error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok { // only of a join itself, nothing below it
		var all []error
		var texts []string
		for _, e := range joined.Unwrap() {
			all, texts = append(all, legible(e)), append(texts, e.Error())
		}
		if err.Error() == strings.Join(texts, "\n") {
			return errors.Join(all...)
		}
	}
	if text := shown.Line(err.Error()); text != err.Error() {
		return &shownError{text, err}
	}
	return err
}

type shownError struct {
	text string
	err  error
}

func (e *shownError) Error() string { return e.text }
func (e *shownError) Unwrap() error { return e.err }
