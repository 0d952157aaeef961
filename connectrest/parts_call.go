package connectrest

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// AlterOffsetsInParts is [Client.AlterOffsets] for lists that one request cannot
// or should not carry: it cuts the list into parts that a worker stores well within
// its 90 s, sends one after the other in the order of the list, and reads everything
// back in the end.
//
// The whole list is checked before the first part is sent. A worker refuses a part
// as a whole, or stores it; but where the worker has no exactly-once support, a part
// that it did not finish may be stored in part, as with every change of offsets. A
// part whose outcome is unknown is read back before it is sent again, or another
// one is sent.
//
// The first part that fails ends the call with a [*PartsError], which says of every
// part how far it came. What was written stays: Connect has no way to store all
// parts or none. [Client.ContinueOffsets] goes on from there; so does the same
// call, since to store an offset twice is to store it once.
func (c *Client) AlterOffsetsInParts(ctx context.Context, name string, offsets []Offset, opts ...PartsOption) error {
	s, err := c.partsSettings(name, opts)
	if err != nil {
		return err
	}
	if err := writable(name, offsets); err != nil {
		return err
	}
	parts, err := cutParts(offsets, s.entries, s.bytes)
	if err != nil {
		return fmt.Errorf("%w: offsets of connector %q: %w", ErrBadRequest, name, err)
	}
	return c.sendParts(ctx, &PartsError{Name: name, Parts: parts}, offsets, s)
}

// ContinueOffsets goes on with a call of [Client.AlterOffsetsInParts] that failed:
// it reads back the parts whose outcome is unknown, sends those of them that are not
// stored and those that are not written, in the parts in which they are, and reads
// everything back. failed is not changed; the error, if there is one, is about all
// parts again. opts are those of the first call, except that parts keep their size.
func (c *Client) ContinueOffsets(ctx context.Context, failed *PartsError, opts ...PartsOption) error {
	if failed == nil {
		return fmt.Errorf("%w: there is no failed call to go on with", ErrBadRequest)
	}
	s, err := c.partsSettings(failed.Name, opts)
	if err != nil {
		return err
	}
	e := &PartsError{Name: failed.Name, Parts: slices.Clone(failed.Parts)}
	var all []Offset
	for _, p := range e.Parts {
		all = append(all, p.Offsets...)
	}
	if err := writable(e.Name, all); err != nil {
		return err
	}
	if err := c.readUnknown(ctx, e, s); err != nil {
		return err
	}
	return c.sendParts(ctx, e, all, s)
}

// readUnknown reads back the parts of e whose outcome is unknown, all of them at
// once: each of a hundred would be waited for as long as all. Those that are all seen
// are written, the others stay unknown.
func (c *Client) readUnknown(ctx context.Context, e *PartsError, s partsSettings) error {
	var unknown []*Part
	var list []Offset
	for i := range e.Parts {
		if p := &e.Parts[i]; p.State == PartUnknown {
			unknown, list = append(unknown, p), append(list, p.Offsets...)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	want, err := newOffsetTable(list)
	if err != nil {
		return fmt.Errorf("%w: offsets of connector %q: %w", ErrBadRequest, e.Name, err)
	}
	equal, err := c.awaitStored(ctx, e.Name, want, s.within)
	if err != nil && (equal == nil || ctx.Err() != nil || !errors.Is(err, ErrReadBack)) {
		e.Failed, e.Err = unknown[0].Number, fmt.Errorf("%w: read back before it is sent again: %w", ErrOutcomeUnknown, err)
		return e
	}
	first := 0
	for _, p := range unknown {
		n := len(p.Offsets)
		if !slices.Contains(equal[first:first+n], false) {
			p.State = PartWritten
		}
		first += n
	}
	return nil
}

func (c *Client) partsSettings(name string, opts []PartsOption) (partsSettings, error) {
	s := partsSettings{entries: DefaultPartEntries, bytes: DefaultPartBytes, within: c.retry.ReadBack}
	if err := CheckName(name); err != nil {
		return s, err
	}
	for _, o := range opts {
		if err := o(&s); err != nil {
			return s, fmt.Errorf("%w: offsets of connector %q: %w", ErrBadRequest, name, err)
		}
	}
	return s, nil
}

// cutParts cuts a list so that no part is over either bound.
func cutParts(offsets []Offset, entries, bytes int) ([]Part, error) {
	var parts []Part
	frame := bodySize(nil)
	start, size := 0, frame
	end := func(i int) {
		parts = append(parts, Part{Number: len(parts) + 1, Offsets: offsets[start:i:i], State: PartNotWritten})
		start, size = i, frame
	}
	for i, o := range offsets {
		n := entrySize(o)
		if frame+n > bytes {
			return nil, fmt.Errorf("entry %d, %s: it takes a body of %d bytes, a part is to have %d at most (WithPartSize)", i, namePartition(o.Partition), frame+n, bytes)
		}
		if i-start == entries || size+n > bytes {
			end(i)
		}
		size += n
	}
	end(len(offsets))
	for i := range parts {
		parts[i].Of = len(parts)
	}
	return parts, nil
}

// sendParts sends the parts of e that are not written. e becomes the error.
func (c *Client) sendParts(ctx context.Context, e *PartsError, all []Offset, s partsSettings) error {
	progress := PartsProgress{}
	for _, p := range e.Parts {
		progress.Total += len(p.Offsets)
		if p.State == PartWritten {
			progress.Written += len(p.Offsets)
		}
	}
	for i := range e.Parts {
		p := &e.Parts[i]
		if p.State == PartWritten {
			continue
		}
		if err := c.alter(ctx, e.Name, p.Offsets); err != nil {
			// What was unknown before stays so, whatever is said of a later attempt.
			if errors.Is(err, ErrOutcomeUnknown) {
				p.State = PartUnknown
			}
			e.Failed, e.Err = p.Number, err
			return e
		}
		p.State = PartWritten
		progress.Written += len(p.Offsets)
		progress.Part = *p
		c.log.DebugContext(ctx, "kafka connect offsets written", "connector", e.Name, "part", p.Number, "of", p.Of, "partitions", progress.Written, "total", progress.Total)
		if s.progress != nil {
			s.progress(progress)
		}
	}
	if s.leave {
		return nil
	}
	return c.readParts(ctx, e, all, s)
}

// readParts reads everything back. A part that is not all seen is unknown.
func (c *Client) readParts(ctx context.Context, e *PartsError, all []Offset, s partsSettings) error {
	want, err := newOffsetTable(all)
	if err != nil {
		return fmt.Errorf("%w: offsets of connector %q: %w", ErrBadRequest, e.Name, err)
	}
	equal, err := c.awaitStored(ctx, e.Name, want, s.within)
	if err == nil {
		return nil
	}
	if equal != nil {
		first := 0
		for i := range e.Parts {
			n := len(e.Parts[i].Offsets)
			if slices.Contains(equal[first:first+n], false) {
				e.Parts[i].State = PartUnknown
			}
			first += n
		}
	}
	e.Err = err
	return e
}
