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

// selection says which packages are tested.
type selection string

const (
	selectAll   selection = "all"
	selectLab   selection = "lab"   // whose tests start real brokers and workers
	selectPlain selection = "plain" // the others
)

// testPackages are the packages of a module that have tests.
type testPackages struct{ lab, plain []string }

func (p testPackages) of(s selection) []string {
	switch s {
	case selectLab:
		return p.lab
	case selectPlain:
		return p.plain
	default:
		return slices.Concat(p.lab, p.plain)
	}
}

// listPackages asks the go command for the packages of the module in dir that have tests.
func listPackages(ctx context.Context, dir string) (testPackages, error) {
	// With -test, each package P that has tests is followed by the program P.test, and its dependencies tell whether
	// some test of P, itself or by a helper package, uses the lab.
	cmd := exec.CommandContext(ctx, "go", "list", "-test", "-json=ImportPath,Deps", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return testPackages{}, err
	}
	if err := cmd.Start(); err != nil {
		return testPackages{}, err
	}
	packages, readErr := testPrograms(out)
	if err := cmd.Wait(); err != nil {
		return testPackages{}, fmt.Errorf("go list in %s: %w", dir, err)
	}
	return packages, readErr
}

// testPrograms reads the answer of go list.
func testPrograms(list io.Reader) (testPackages, error) {
	var packages testPackages
	for d := json.NewDecoder(list); ; {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return packages, fmt.Errorf("go list: %w", err)
		}
		name, isTest := strings.CutSuffix(p.ImportPath, ".test")
		if !isTest {
			continue
		}
		usesLab := slices.ContainsFunc(p.Deps, func(dep string) bool {
			// A package that is built anew for a test is "path [program]".
			return dep == labPackage || strings.HasPrefix(dep, labPackage+" ")
		})
		if usesLab {
			packages.lab = append(packages.lab, name)
		} else {
			packages.plain = append(packages.plain, name)
		}
	}
}

// modulePath returns the path of the module in dir.
func modulePath(ctx context.Context, dir string) (string, error) {
	// Not go list -m: in a workspace it lists all of its modules.
	cmd := exec.CommandContext(ctx, "go", "mod", "edit", "-json")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go mod edit in %s: %w", dir, err)
	}
	var mod struct{ Module struct{ Path string } }
	if err := json.Unmarshal(out, &mod); err != nil {
		return "", fmt.Errorf("go mod edit in %s: %w", dir, err)
	}
	return mod.Module.Path, nil
}

// shortName names a package as the root module's folders are named; one of another path keeps it.
func shortName(pkg, root string) string {
	if pkg == root {
		return "."
	}
	return strings.TrimPrefix(pkg, root+"/")
}
