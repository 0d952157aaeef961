package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

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

// readConnector reads a connector's config from any form in which it is kept. A config
// has a name there, since a worker demands one.
func readConnector(path string) (connectrest.Config, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such file")
	} else if err != nil {
		return nil, errors.Unwrap(err)
	}
	config, err := parseConnector(text)
	if err == nil && config["name"] == "" {
		config = withName(config, "lint")
	}
	return config, err
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
	var config map[string]string
	if err := readStrict(text, &config); err != nil {
		return nil, err
	}
	if len(config) == 0 {
		return nil, errNoConfig
	}
	return config, nil
}

func isMapping(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }
