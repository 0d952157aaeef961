package flinkstate

import "fmt"

// beyondCopying completes the inventory of an operator, whose source is src
// unless that is nil: what its states were understood as, and what of them a job
// that only copies has no use for.
func (op *operator) beyondCopying(src *Source) {
	if src != nil {
		for i := range op.States {
			s := &op.States[i]
			switch s.Name {
			case readerState:
				s.Holds = "splits of a " + string(src.Kind)
			case legacyState:
				s.Holds = "offsets of a " + string(src.Kind)
			}
		}
	}
	note := func(format string, args ...any) {
		op.BeyondCopying = append(op.BeyondCopying, fmt.Sprintf(format, args...))
	}
	if op.Keyed {
		note("keyed state of %d bytes", op.Bytes.Keyed)
	}
	if op.raw {
		note("raw operator state of %d bytes", op.Bytes.Raw)
	}
	for _, s := range op.States {
		switch {
		case s.Name == legacyOldState && op.beam != "":
			note("%s: %d", s.Holds, s.Elements)
		case s.Elements == 0 || s.Holds != "" || s.NotRead != "":
		case s.Name == readerState && op.Skipped == skippedHybrid:
			note("splits of a HybridSource: %d", s.Elements)
		case s.Name == readerState:
			note("splits of a source that is not Kafka's: %d", s.Elements)
		default:
			note("%s state %q, which is no source's or sink's of Kafka: elements: %d", s.Kind, s.Name, s.Elements)
		}
	}
}
