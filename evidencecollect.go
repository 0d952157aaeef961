package flinkmm2

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// LeftOut is a file that belongs to no bundle, and why.
type LeftOut struct {
	Name string
	Why  string
}

// CollectEvidence reads the files of a folder that belong into the bundle of the plan in
// plan.json, and says which it leaves out: those of another plan, as one that was
// replaced leaves behind, and those that are none of a bundle. Plans are all taken:
// earlier waves and what was replaced are part of the story. Folders, links and hidden
// files are passed over.
func CollectEvidence(dir string) (files []EvidenceFile, left []LeftOut, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, evidencePlan))
	if err != nil {
		return nil, nil, fmt.Errorf("collect evidence: %w", err)
	}
	plan, err := offsetmap.ReadPlan(bytes.NewReader(raw))
	if err != nil {
		return nil, nil, fmt.Errorf("collect evidence: %s: %w", filepath.Join(dir, evidencePlan), err)
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("collect evidence: %w", err)
	}
	for _, entry := range all {
		if !entry.Type().IsRegular() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		f := EvidenceFile{Name: entry.Name()}
		switch filepath.Ext(f.Name) {
		case ".json", jsonLines, ".html", ".md":
		default:
			left = append(left, LeftOut{f.Name, "not a file of a bundle"})
			continue
		}
		if f.Content, err = os.ReadFile(filepath.Join(dir, f.Name)); err != nil {
			return nil, nil, fmt.Errorf("collect evidence: %w", err)
		}
		role, err := evidenceRole(f)
		if errors.Is(err, errNoEvidence) {
			left = append(left, LeftOut{f.Name, err.Error()})
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("collect evidence: %s: %w", f.Name, err)
		}
		if of := planOf(role, f.Content); of != "" && of != plan.Digest {
			left = append(left, LeftOut{f.Name, "of another plan, " + of})
			continue
		}
		files = append(files, f)
	}
	return files, left, nil
}

// planOf is the digest of the plan that a file says it is of, empty where its kind says
// none.
func planOf(role EvidenceRole, content []byte) string {
	var of struct {
		Plan json.RawMessage `json:"plan"`
		Body struct {
			Plan string `json:"plan"`
		} `json:"body"`
	}
	if role == RolePlan || role == RoleOtherPlan || json.Unmarshal(content, &of) != nil {
		return ""
	}
	var digest string
	var document struct {
		Digest string `json:"digest"`
	}
	switch {
	case role == RoleBackup:
		return of.Body.Plan
	case json.Unmarshal(of.Plan, &digest) == nil:
		return digest
	case json.Unmarshal(of.Plan, &document) == nil:
		return document.Digest
	}
	return ""
}
