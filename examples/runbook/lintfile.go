package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// connectorFile is a connector as people keep it: the body of POST /connectors, or
// the answer of GET /connectors/NAME.
type connectorFile struct {
	Name         string            `json:"name"`
	Config       map[string]string `json:"config"`
	InitialState string            `json:"initial_state"`
	Tasks        json.RawMessage   `json:"tasks"`
	Type         string            `json:"type"`
}

// notRead says what is wrong in a file that an argument names: of migration.yaml the
// hint would speak otherwise.
func notRead(path string, err error) error {
	return &usageError{err: inFile(path, err)}
}

// readLinted reads what lint looks at: a connector's config, in any form in which it
// is kept, or the properties of connect-mirror-maker.sh.
func readLinted(path string) (config connectrest.Config, driver map[string]string, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errors.New("there is no such file")
	} else if err != nil {
		return nil, nil, errors.Unwrap(err)
	}
	if filepath.Ext(path) != ".properties" {
		config, err = parseConnector(text)
	} else if config, err = parseProperties(string(text)); err == nil && len(config) == 0 {
		err = errNoConfig
	}
	switch {
	case err != nil:
		return nil, nil, err
	case isDriver(config):
		return nil, config, nil
	case config["name"] == "":
		return withName(config, "lint"), nil, nil // a worker demands a name
	}
	return config, nil, nil
}

// isDriver reports whether properties are those of connect-mirror-maker.sh: they name
// clusters, or flows between them, and no class.
func isDriver(properties map[string]string) bool {
	_, class := properties["connector.class"]
	_, clusters := properties["clusters"]
	return !class && (clusters || slices.ContainsFunc(slices.Collect(maps.Keys(properties)), func(key string) bool { return strings.Contains(key, "->") }))
}

var errNoConfig = errors.New("there are no settings in it")

func parseConnector(text []byte) (connectrest.Config, error) {
	var members map[string]json.RawMessage
	if raw, err := yaml.YAMLToJSON(text); err == nil && json.Unmarshal(raw, &members) == nil && isMapping(members["config"]) {
		var f connectorFile
		if err := readStrict(text, &f); err != nil {
			return nil, err
		}
		if own, there := f.Config["name"]; there && f.Name != "" && own != f.Name {
			return nil, fmt.Errorf("name: %q, but its config has name %q", f.Name, own)
		}
		if len(f.Config) == 0 {
			return nil, errNoConfig
		}
		if f.Name != "" {
			return withName(f.Config, f.Name), nil
		}
		return f.Config, nil
	}
	return flatConfig(text)
}

func isMapping(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }
