package flinkmm2

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// quietActs changed nothing outside the journal, so nobody is overtaken by them.
var quietActs = map[string]bool{actPositions: true, actPlan: true, actVerify: true, actWatch: true}

// record enters what changes nothing, and how it ended. The outcome err stays what
// it was; that it could not be entered comes to it.
func (m *Migration) record(ctx context.Context, e Entry, err error) error {
	e.Phase = PhaseDone
	if err != nil {
		e.Phase = PhaseFailed
		if e.Detail == "" {
			e.Detail = err.Error()
		}
	}
	// As it is entered when the caller has given up: it was found.
	if lost := m.journal(context.WithoutCancel(ctx), e); lost != nil {
		return errors.Join(err, fmt.Errorf("%s has ended, and %w: %w", e.Act, ErrNotJournaled, lost))
	}
	return err
}

// recordProof enters what was proven, and by which file.
func (m *Migration) recordProof(ctx context.Context, p *Proof, err error) error {
	if p == nil {
		return err // nothing was compared
	}
	text, bad := p.Encode()
	if bad != nil {
		return errors.Join(err, bad)
	}
	detail := fmt.Sprintf("%s: %d of %d records copied; %d missing, %d altered, %d out of order, %d early, %d pending, %d repeated, %d foreign, %d unprovable",
		p.Outcome, p.Copied, p.Records, p.Missing, p.Altered, p.OutOfOrder, p.Early, p.Pending, p.Repeated, p.Foreign, p.Unprovable)
	shard := ""
	if p.Shard != nil {
		shard = p.Shard.String()
	}
	return m.record(ctx, Entry{Act: actWatch, Plan: p.Plan, Shard: shard, File: sumText(sha256.Sum256(text)), Detail: detail}, err)
}

// RecordPositions enters into the journal that positions were read, with the SHA-256
// of their file. What is no Positions file is refused.
func (m *Migration) RecordPositions(ctx context.Context, file []byte) error {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(file, &head); err != nil {
		return fmt.Errorf("record positions: %w", err)
	}
	if head.APIVersion != offsetmap.APIVersion || head.Kind != PositionsKind {
		return fmt.Errorf("record positions: the file is a %q of %q, want a %s of %s", head.Kind, head.APIVersion, PositionsKind, offsetmap.APIVersion)
	}
	return m.record(ctx, Entry{Act: actPositions, File: sumText(sha256.Sum256(file))}, nil)
}

// request is a request to Connect that concerns the connector, for the journal.
func (m *Migration) request(method, below string) *Request {
	return &Request{Method: method, Path: "/connectors/" + url.PathEscape(m.cfg.Connector) + below}
}

// withBody adds the digest of what is sent.
func (r *Request) withBody(body any, partitions int) (*Request, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if r.BodyDigest, err = offsetmap.Digest(text); err != nil {
		return nil, err
	}
	r.Partitions = partitions
	return r, nil
}
