package connectrest

import (
	"context"
	"fmt"
	"net/http"
)

// Validation is what a worker says about a configuration that it does not run.
type Validation struct {
	// ErrorCount counts the errors of all keys. 0 does not mean that the
	// connector will work: a MirrorSourceConnector's topics, for one, are not
	// looked at.
	ErrorCount int
	// Keys are those that the connector and the framework define, in the
	// worker's order. Keys of the configuration that neither defines are missing
	// here without a word.
	Keys []ConfigKey
}

// ConfigKey is one defined key. The value that was given is left out, since it
// may be a secret.
type ConfigKey struct {
	Name     string
	Type     string // as Kafka's ConfigDef.Type: STRING, INT, PASSWORD, …
	Required bool
	// Default is nil where the key has none.
	Default *string
	// Errors says what is wrong with the value; empty in a [Client.PluginConfig],
	// where there is none.
	Errors []string
}

// keyDefinition is Kafka's ConfigKeyInfo.
type keyDefinition struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Required bool    `json:"required"`
	Default  *string `json:"default_value"`
}

// Validate asks the worker to check a configuration for the given connector
// class, full or short, without creating anything.
func (c *Client) Validate(ctx context.Context, class string, config Config) (Validation, error) {
	if err := CheckName(class); err != nil {
		return Validation{}, fmt.Errorf("connector class: %w", err)
	}
	var out struct {
		ErrorCount *int `json:"error_count"`
		Configs    []struct {
			Definition keyDefinition `json:"definition"`
			Value      struct {
				Errors []string `json:"errors"`
			} `json:"value"`
		} `json:"configs"`
	}
	err := c.do(ctx, request{
		// A PUT that changes nothing, so it may be sent again.
		method: http.MethodPut, path: []string{"connector-plugins", class, "config", "validate"}, mode: read,
		body: map[string]string(config), secrets: config.secrets(), part: class, out: &out,
		valid: func() error { return missing(out.ErrorCount == nil || out.Configs == nil, "error_count or configs") },
		clean: func(scrub func(string) string) {
			for i := range out.Configs {
				cleanAll(out.Configs[i].Value.Errors, scrub)
			}
		},
	})
	if err != nil {
		return Validation{}, err
	}
	v := Validation{ErrorCount: *out.ErrorCount, Keys: make([]ConfigKey, 0, len(out.Configs))}
	for _, k := range out.Configs {
		d := k.Definition
		v.Keys = append(v.Keys, ConfigKey{Name: d.Name, Type: d.Type, Required: d.Required, Default: d.Default, Errors: k.Value.Errors})
	}
	return v, nil
}

func cleanAll(texts []string, scrub func(string) string) {
	for i := range texts {
		texts[i] = plainText(scrub(texts[i]))
	}
}
