package flinkmm2

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// named reports whether an entry of the journal names the file of a role by its hash.
func (a *audit) named(f *finding, role EvidenceRole, content []byte) bool {
	ok := a.story.found[sumText(sha256.Sum256(content))]
	if !ok {
		f.open("no entry of the journal names the SHA-256 of the %s", role)
	}
	return ok
}

// positionsPoint holds C of the plan to the positions.
func (a *audit) positionsPoint() AuditPoint {
	f := about(AuditPositions, "C of every partition is what the old job's positions say")
	content := a.file(RolePositions)
	if content == nil {
		f.open("the bundle has no positions")
		return f.done()
	}
	// Of a group they have other members than of a savepoint; the positions are alike.
	var p struct {
		Location     string `json:"location"`
		CheckpointID int64  `json:"checkpointId"`
		Sources      []struct {
			OperatorID string               `json:"operatorId"`
			Partitions []offsetmap.Position `json:"partitions"`
		} `json:"sources"`
	}
	if err := json.Unmarshal(content, &p); err != nil {
		f.against("the positions do not read: %v", err)
		return f.done()
	}
	body := a.plan.Body
	if s := body.Savepoint; s != nil && (s.Location != p.Location || s.CheckpointID != p.CheckpointID) {
		f.against("the positions are of checkpoint %d at %s, the plan is made from %d at %s", p.CheckpointID, p.Location, s.CheckpointID, s.Location)
		return f.done()
	}
	at := map[offsetmap.TopicPartition]offsetmap.Position{}
	for _, s := range p.Sources {
		if body.Savepoint != nil && s.OperatorID != body.Savepoint.OperatorID {
			continue
		}
		for _, one := range s.Partitions {
			if _, twice := at[one.TopicPartition]; twice {
				f.open("the positions name %s twice, for several clusters or sources", one.TopicPartition)
			}
			at[one.TopicPartition] = one
		}
	}
	equal, rest := 0, 0
	topics := map[string]bool{}
	for _, row := range body.Rows {
		topics[row.Topic] = true
		one, ok := at[row.TopicPartition]
		delete(at, row.TopicPartition)
		switch {
		case row.Found == nil && !ok:
			rest++
		case !ok:
			f.against("%s: the plan has a position, the positions have none", row.TopicPartition)
		case row.Found == nil || row.Found.Next != one.Next || row.Found.Unread != one.Unread || row.Found.State != one.State:
			f.against("%s: the plan found another position than the positions say: C = %s", row.TopicPartition, one.Next)
		default:
			equal++
		}
	}
	for _, tp := range slices.SortedFunc(maps.Keys(at), offsetmap.TopicPartition.Compare) {
		if topics[tp.Topic] {
			f.against("%s: the positions have it, the plan has not", tp)
		}
	}
	if a.named(f, RolePositions, content) && len(f.point.Against) == 0 {
		f.shown("%d partitions as the positions say, %d that they do not name", equal, rest)
	}
	if s := body.Savepoint; s != nil {
		for _, file := range s.Files {
			f.shown("savepoint file %s has SHA-256 %s", file.Name, file.SHA256)
		}
	}
	return f.done()
}

// backupPoint holds what Connect held before the first write to the plan.
func (a *audit) backupPoint() AuditPoint {
	f := about(AuditBackup, "what Connect held before the first write is kept")
	if len(a.story.writes) == 0 {
		return f.notReached("nothing was written")
	}
	b := a.backup(f, a.story.writes[0].Backup)
	if b == nil || !a.of(f, RoleBackup, b.Body.Plan, b.Body.Connector) {
		return f.done()
	}
	stored, err := b.stored()
	if err != nil {
		f.against("%v", err)
		return f.done()
	}
	for _, row := range a.plan.Body.Rows {
		if stored[row.TopicPartition] != row.Backup {
			f.against("%s: the backup has %s, the plan saw %s", row.TopicPartition, stored[row.TopicPartition], row.Backup)
		}
	}
	if len(f.point.Against) == 0 {
		f.shown("%d entries, sealed with %s, before the write at %s", len(b.Body.Offsets), b.Digest, offsetmap.At(a.story.writes[0].At))
	}
	return f.done()
}

// backup returns the backup that the first write names.
func (a *audit) backup(f *finding, digest string) *OffsetsBackup {
	var is []string
	for _, m := range a.Body.Files {
		if m.Role != RoleBackup {
			continue
		}
		b := new(OffsetsBackup)
		if err := offsetmap.DecodeKind(a.contents[m.Name], OffsetsBackupKind, b); err != nil {
			f.against("%s does not read: %v", m.Name, err)
			continue
		}
		if err := b.Check(); err != nil {
			f.against("%s: %v", m.Name, err)
			continue
		}
		if b.Digest == digest {
			return b
		}
		is = append(is, b.Digest)
	}
	switch {
	case len(f.point.Against) > 0:
	case len(is) == 0:
		f.open("the bundle has no backup")
	default:
		f.against("the first write names the backup %q, the bundle has %s", digest, strings.Join(is, ", "))
	}
	return nil
}

// writesPoint holds the requests that the journal tells to the plan.
func (a *audit) writesPoint() AuditPoint {
	f := about(AuditWrites, "what was written to Connect is what the plan says")
	if len(a.story.writes) == 0 {
		return f.notReached("nothing was written")
	}
	all := map[offsetmap.TopicPartition]offsetmap.Write{}
	for _, row := range a.plan.Body.Rows {
		if row.Write.Result() != row.Backup {
			all[row.TopicPartition] = row.Write
		}
	}
	entries, err := connectrest.MirrorSourceWrites(a.plan.Body.Connector.SourceAlias, all)
	if err != nil {
		f.against("the plan's writes: %v", err)
		return f.done()
	}
	want, err := new(Request).withBody(connectrest.OffsetsBody{Offsets: entries}, len(entries))
	if err != nil {
		f.against("the plan's writes: %v", err)
		return f.done()
	}
	whole := false
	for _, e := range a.story.writes {
		switch r := e.Request; {
		case r == nil:
			f.open("the write at %s does not tell its request", offsetmap.At(e.At))
		case r.BodyDigest == want.BodyDigest && r.Partitions == want.Partitions:
			whole = true
			f.shown("%s %s at %s with all %d offsets that the plan changes, digest %s", r.Method, r.Path, offsetmap.At(e.At), r.Partitions, r.BodyDigest)
		case r.Partitions < want.Partitions && whole: // what a write before it had left
			f.shown("%s %s at %s with %d of them again", r.Method, r.Path, offsetmap.At(e.At), r.Partitions)
		default:
			f.against("%s %s at %s with %d offsets and the digest %s is not what the plan changes: %d offsets with %s", r.Method, r.Path, offsetmap.At(e.At), r.Partitions, r.BodyDigest, want.Partitions, want.BodyDigest)
		}
	}
	if a.story.applied == nil {
		f.open("no apply has ended with everything read back")
	} else {
		f.shown("everything was read back at %s", offsetmap.At(a.story.applied.At))
	}
	return f.done()
}
