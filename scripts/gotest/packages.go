package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// findModules returns the folders of all modules under root, sorted, and so root first. It looks
// where the go command looks: not into testdata, nor where a name begins with a dot or an underscore.
func findModules(root string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		switch {
		case d.IsDir() && path != root && (name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_'):
			return filepath.SkipDir
		case !d.IsDir() && name == "go.mod":
			dirs = append(dirs, filepath.Dir(path))
		}
		return nil
	})
	if err == nil && len(dirs) == 0 {
		err = fmt.Errorf("no go.mod under %s", root)
	}
	slices.Sort(dirs)
	return dirs, err
}

const labPackage = "github.com/flinkmm2/flinkmm2/internal/lab"

// selectPackages returns what to pass to go test in a module.
func selectPackages(ctx context.Context, dir, which string) ([]string, error) {
	if which == "all" {
		return []string{"./..."}, nil
	}
	// With -test, each package P that has tests is followed by the program P.test, and its dependencies tell whether
	// some test of P, itself or by a helper package, uses the lab.
	cmd := exec.CommandContext(ctx, "go", "list", "-test", "-json=ImportPath,Deps", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	packages, readErr := testPrograms(out, which == "lab")
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	return packages, readErr
}

// testPrograms returns the packages that have tests and do, or do not, use the lab.
func testPrograms(list io.Reader, lab bool) ([]string, error) {
	var packages []string
	for d := json.NewDecoder(list); ; {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		name, isTest := strings.CutSuffix(p.ImportPath, ".test")
		if !isTest {
			continue
		}
		uses := false
		for _, dep := range p.Deps {
			// A package that is built anew for a test is "path [program]".
			uses = uses || dep == labPackage || strings.HasPrefix(dep, labPackage+" ")
		}
		if uses == lab {
			packages = append(packages, name)
		}
	}
}
