package connecttest

import (
	"context"
	"net/http"
	"slices"
)

type offsetBody struct {
	Partition javaMap `json:"partition"`
	Offset    javaMap `json:"offset"`
}

type offsetsBody struct {
	Offsets []offsetBody `json:"offsets"`
}

type messageBody struct {
	Message string `json:"message"`
}

func (w *Worker) getOffsets(r *request) (answer, *restError) {
	w.mu.Lock()
	_, err := w.lookup(r.name())
	w.mu.Unlock()
	if err != nil {
		return answer{}, err
	}
	var entries []offsetEntry
	switch f := r.readFault.(type) {
	case StaleOffsets:
		entries = w.offsets.readStale(r.name())
	case ShortOffsets:
		entries = w.offsets.readShort(r.name(), f.Keep)
	default:
		entries = w.offsets.read(r.name())
	}
	body := offsetsBody{Offsets: make([]offsetBody, len(entries))}
	for i, e := range entries {
		body.Offsets[i] = offsetBody{e.partition, e.offset}
	}
	return jsonAnswer(http.StatusOK, body), nil
}

// readOffsets reads the body of PATCH offsets. nil without an error stands for a
// list that is missing or empty.
func (v version) readOffsets(body []byte) ([]offsetEntry, *restError) {
	read, err := v.readJSON(body)
	if err != nil {
		return nil, err
	}
	if read == nil {
		return nil, internalError(`Cannot invoke "%sConnectorOffsets.offsets()" because "offsets" is null`, entities)
	}
	m, err := object(read, "ConnectorOffsets", "offsets")
	if err != nil || m["offsets"] == nil {
		return nil, err
	}
	list, ok := m["offsets"].([]any)
	if !ok {
		return nil, wrongKind("java.util.ArrayList<"+entities+"ConnectorOffset>", m["offsets"])
	}
	var entries []offsetEntry
	for _, item := range list {
		if item == nil {
			return nil, internalError(`Cannot invoke "%sConnectorOffset.partition()" because "offset" is null`, entities)
		}
		m, err := object(item, "ConnectorOffset", "partition", "offset")
		if err != nil {
			return nil, err
		}
		var e offsetEntry
		if e.partition, err = mapOrNull(m["partition"]); err != nil {
			return nil, err
		}
		if e.offset, err = mapOrNull(m["offset"]); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (w *Worker) alterOffsets(r *request) (answer, *restError) {
	entries, err := w.opts.version.readOffsets(r.body)
	if err != nil {
		return answer{}, err
	}
	if len(entries) == 0 {
		return answer{}, badRequest("Partitions / offsets need to be provided for an alter offsets request")
	}
	return w.modifyOffsets(r, "altered", func() *restError {
		for _, e := range entries {
			if err := validateFormat(e.partition); err != nil {
				return err
			}
			if err := validateFormat(e.offset); err != nil {
				return err
			}
		}
		for _, e := range entries {
			if err := e.checkMirrorSource(); err != nil {
				return err
			}
		}
		fitting := slices.DeleteFunc(slices.Clone(entries), func(e offsetEntry) bool { return e.isTooLarge(r.name()) })
		if f := r.partial; f != nil {
			fitting = fitting[:min(max(0, f.Entries), len(fitting))]
		}
		w.offsets.write(r.name(), fitting)
		if r.partial != nil || len(fitting) < len(entries) {
			return internalError("Failed to modify offsets for source connector %s", r.name())
		}
		return nil
	})
}

func (w *Worker) resetOffsets(r *request) (answer, *restError) {
	return w.modifyOffsets(r, "reset", func() *restError {
		w.offsets.reset(r.name())
		return nil
	})
}

// modifyOffsets does what DistributedHerder.modifyConnectorOffsets does: it
// refuses a connector that is not to be STOPPED, and waits for the rebalance in
// which its tasks end.
func (w *Worker) modifyOffsets(r *request, done string, modify func() *restError) (answer, *restError) {
	if r.follower != nil {
		return r.follower.forward(r)
	}
	ctx, cancel := context.WithTimeout(r.ctx, w.opts.requestTimeout)
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.lookup(r.name())
	if err != nil {
		return answer{}, err
	}
	if c.target != stopped {
		return answer{}, mustBeStopped(r.name())
	}
	if !w.await(ctx, c) {
		return answer{}, w.waitFailed(ctx, r)
	}
	// Somebody may have resumed or deleted it meanwhile.
	if c.deleted {
		return answer{}, notFound("Connector %s not found", r.name())
	}
	if c.target != stopped {
		return answer{}, mustBeStopped(r.name())
	}
	if err := modify(); err != nil {
		return answer{}, err
	}
	return jsonAnswer(http.StatusOK, messageBody{"The offsets for this connector have been " + done + " successfully"}), nil
}
