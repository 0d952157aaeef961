package flinkmm2

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// EvidenceKind is the kind of the list of contents that an evidence bundle begins
// with.
const EvidenceKind = "Evidence"

// ErrEvidence says that a bundle is not what was packed, or that what it holds
// contradicts itself.
var ErrEvidence = errors.New("the evidence does not hold")

// Evidence is the files of one migration, to be kept and audited offline: Encode
// packs them into one archive, ReadEvidence unpacks it, and Audit says what they show.
//
// Its digest covers every byte of them. Whoever has noted it elsewhere, in a ticket,
// can tell later that the bundle is the one of that day: a bundle that somebody packed
// anew from other files has another digest.
type Evidence struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Digest     string       `json:"digest"` // offsetmap.Digest of the body
	Body       EvidenceBody `json:"body"`

	contents map[string][]byte
}

// EvidenceBody lists what is in a bundle.
type EvidenceBody struct {
	Tool      offsetmap.Tool   `json:"tool"` // that packed it
	Plan      string           `json:"plan"` // digest
	Connector string           `json:"connector"`
	Files     []EvidenceMember `json:"files"` // sorted by name
}

// EvidenceMember is one file of a bundle.
type EvidenceMember struct {
	Name   string       `json:"name"`
	Role   EvidenceRole `json:"role"`
	Size   int64        `json:"size"`
	SHA256 string       `json:"sha256"` // 64 lower-case hex digits
}

// EvidenceRole says what a file of a bundle is, by what it holds.
type EvidenceRole string

// The roles. Those from RolePlan to RoleAcceptance there is at most one of.
const (
	RolePlan         EvidenceRole = "plan" // the file plan.json
	RolePositions    EvidenceRole = "positions"
	RoleJournal      EvidenceRole = "journal"
	RoleProof        EvidenceRole = "proof"
	RoleRestartMark  EvidenceRole = "restart-mark"
	RoleRestartProof EvidenceRole = "restart-proof"
	RoleBoundary     EvidenceRole = "boundary"
	RoleAcceptance   EvidenceRole = "acceptance"
	RoleBackup       EvidenceRole = "backup" // several, where an apply was killed before its first write
	RolePreflight    EvidenceRole = "preflight"
	RoleReport       EvidenceRole = "report"
	RoleShardProof   EvidenceRole = "shard-proof"
	RoleOtherPlan    EvidenceRole = "other-plan" // an earlier wave, or a plan that was replaced
)

// EvidenceFile is a file to pack.
type EvidenceFile struct {
	Name    string // without a folder
	Content []byte
}

const (
	evidencePlan = "plan.json"     // the file that holds the plan of a bundle
	evidenceHead = "evidence.json" // the list of contents
	maxEvidence  = 4096            // files
	jsonLines    = ".jsonl"
)

var evidenceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,98}$`)

// NewEvidence joins files into a bundle. plan.json, a plan file, must be among them.
// What a file is it says itself, and one that says nothing that belongs into a bundle is
// an error, as are two that should be one and a name that is no plain one. Whether the
// files belong together is for Audit to say.
func NewEvidence(tool offsetmap.Tool, files ...EvidenceFile) (*Evidence, error) {
	e := &Evidence{APIVersion: offsetmap.APIVersion, Kind: EvidenceKind, contents: map[string][]byte{}}
	e.Body = EvidenceBody{Tool: tool, Files: []EvidenceMember{}}
	if len(files) > maxEvidence {
		return nil, fmt.Errorf("evidence: %d files, want %d at most", len(files), maxEvidence)
	}
	only := map[EvidenceRole]string{}
	for _, f := range files {
		role, err := evidenceRole(f)
		if err != nil {
			return nil, fmt.Errorf("evidence: %s: %w", f.Name, err)
		}
		if _, twice := e.contents[f.Name]; twice {
			return nil, fmt.Errorf("evidence: %s is given twice", f.Name)
		}
		if other, twice := only[role]; twice {
			return nil, fmt.Errorf("evidence: %s and %s are both the %s", other, f.Name, role)
		}
		if role.single() {
			only[role] = f.Name
		}
		e.contents[f.Name] = f.Content
		e.Body.Files = append(e.Body.Files, EvidenceMember{f.Name, role, int64(len(f.Content)), fmt.Sprintf("%x", sha256.Sum256(f.Content))})
	}
	slices.SortFunc(e.Body.Files, func(a, b EvidenceMember) int { return strings.Compare(a.Name, b.Name) })
	plan, err := offsetmap.ReadPlan(bytes.NewReader(e.contents[evidencePlan]))
	if err != nil {
		return nil, fmt.Errorf("evidence: %s: %w", evidencePlan, err)
	}
	e.Body.Plan, e.Body.Connector = plan.Digest, plan.Body.Connector.Name
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	if e.Digest, err = offsetmap.Digest(body); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	return e, nil
}

func (r EvidenceRole) single() bool {
	switch r {
	case RoleBackup, RolePreflight, RoleReport, RoleShardProof, RoleOtherPlan:
		return false
	default:
		return true
	}
}

// errNoEvidence says of a file that it is none of a bundle.
var errNoEvidence = errors.New("not a file of a bundle")

// evidenceRole says what a file is.
func evidenceRole(f EvidenceFile) (EvidenceRole, error) {
	if !evidenceName.MatchString(f.Name) || f.Name == evidenceHead {
		return "", fmt.Errorf("%w: want a name of letters, digits, dot, dash and underscore, without a folder", errNoEvidence)
	}
	switch path.Ext(f.Name) {
	case jsonLines:
		return RoleJournal, nil
	case ".html", ".md":
		return RoleReport, nil
	}
	var is struct {
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		Shard      *Shard          `json:"shard"`
		Restart    json.RawMessage `json:"restart"`
	}
	if err := json.Unmarshal(f.Content, &is); err != nil {
		return "", fmt.Errorf("%w: %w", errNoEvidence, err)
	}
	if is.APIVersion != offsetmap.APIVersion {
		return "", fmt.Errorf("%w: apiVersion %q, want %q", errNoEvidence, is.APIVersion, offsetmap.APIVersion)
	}
	role, ok := map[string]EvidenceRole{
		offsetmap.PlanKind: RoleOtherPlan, PositionsKind: RolePositions, OffsetsBackupKind: RoleBackup, BoundaryKind: RoleBoundary, ProofKind: RoleProof,
		RestartMarkKind: RoleRestartMark, AcceptanceListKind: RoleAcceptance, preflightKind: RolePreflight, reportKind: RoleReport,
	}[is.Kind]
	switch {
	case !ok:
		return "", fmt.Errorf("%w: a file of kind %q", errNoEvidence, is.Kind)
	case role == RoleOtherPlan && f.Name == evidencePlan:
		return RolePlan, nil
	case role == RoleProof && is.Shard != nil:
		return RoleShardProof, nil
	case role == RoleProof && len(is.Restart) > 0 && string(is.Restart) != "null":
		return RoleRestartProof, nil
	}
	return role, nil
}

// The kinds of files that others write.
const (
	preflightKind = "Preflight"
	reportKind    = "Report"
)

// file returns the content of the one file of a role, nil when there is none.
func (e *Evidence) file(role EvidenceRole) []byte {
	for _, f := range e.Body.Files {
		if f.Role == role {
			return e.contents[f.Name]
		}
	}
	return nil
}
