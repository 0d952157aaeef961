package connectrest_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// publicCall sends what a method of Client sends, for a connector of the given
// name, and returns what it returns.
type publicCall func(ctx context.Context, c *connectrest.Client, name string) (any, error)

// publicCalls holds every method of Client that sends requests. Tests of what
// holds for all of them go through it, and a new method cannot be forgotten.
func publicCalls() map[string]publicCall {
	config := func(name string) connectrest.Config {
		return connectrest.Config{"connector.class": "MirrorSourceConnector", "topics": "orders", "name": name, "sasl.jaas.config": jaas}
	}
	create := func(name string) connectrest.CreateRequest {
		return connectrest.CreateRequest{Name: name, Config: config(name), InitialState: connectrest.StateStopped}
	}
	one := []connectrest.Offset{{Partition: raw(`{"topic":"orders"}`), Offset: raw(`{"offset":1}`)}}
	return map[string]publicCall{
		"Info":    func(ctx context.Context, c *connectrest.Client, _ string) (any, error) { return c.Info(ctx) },
		"Version": func(ctx context.Context, c *connectrest.Client, _ string) (any, error) { return c.Version(ctx) },
		"Health":  func(ctx context.Context, c *connectrest.Client, _ string) (any, error) { return c.Health(ctx) },
		"Probe":   func(ctx context.Context, c *connectrest.Client, _ string) (any, error) { return probed(c.Probe(ctx)) },
		"ProbeForwarding": func(ctx context.Context, c *connectrest.Client, _ string) (any, error) {
			return probed(c.ProbeForwarding(ctx))
		},
		"Plugins":    func(ctx context.Context, c *connectrest.Client, _ string) (any, error) { return c.Plugins(ctx) },
		"AllPlugins": func(ctx context.Context, c *connectrest.Client, _ string) (any, error) { return c.AllPlugins(ctx) },
		"PluginConfig": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.PluginConfig(ctx, name)
		},
		"Validate": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.Validate(ctx, name, config("mm2"))
		},
		"Connectors": func(ctx context.Context, c *connectrest.Client, _ string) (any, error) { return c.Connectors(ctx) },
		"ListConnectors": func(ctx context.Context, c *connectrest.Client, _ string) (any, error) {
			return c.ListConnectors(ctx)
		},
		"Connector": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.Connector(ctx, name)
		},
		"Config": func(ctx context.Context, c *connectrest.Client, name string) (any, error) { return c.Config(ctx, name) },
		"Status": func(ctx context.Context, c *connectrest.Client, name string) (any, error) { return c.Status(ctx, name) },
		"Tasks":  func(ctx context.Context, c *connectrest.Client, name string) (any, error) { return c.Tasks(ctx, name) },
		"TaskStatus": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.TaskStatus(ctx, name, 0)
		},
		"ActiveTopics": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.ActiveTopics(ctx, name)
		},
		"ResetActiveTopics": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.ResetActiveTopics(ctx, name)
		},
		"Create": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.Create(ctx, create(name))
		},
		"CreateThenStop": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.CreateThenStop(ctx, create(name), connectrest.MirrorSourceIdle(config(name)))
		},
		"ReplaceConfig": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.ReplaceConfig(ctx, name, config(name))
		},
		"PatchConfig": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.PatchConfig(ctx, name, connectrest.ConfigPatch{Set: connectrest.Config{"sasl.jaas.config": jaas}, Remove: []string{"x"}})
		},
		"Pause": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.Pause(ctx, name)
		},
		"Stop": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.Stop(ctx, name)
		},
		"Resume": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.Resume(ctx, name)
		},
		"Delete": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.Delete(ctx, name)
		},
		"Restart": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.Restart(ctx, name, connectrest.RestartRequest{IncludeTasks: true})
		},
		"RestartTask": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.RestartTask(ctx, name, 0)
		},
		"Offsets": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.Offsets(ctx, name)
		},
		"AlterOffsets": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.AlterOffsets(ctx, name, one)
		},
		"AlterOffsetsOnceStopped": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.AlterOffsetsOnceStopped(ctx, name, one, time.Second)
		},
		"AlterOffsetsInParts": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.AlterOffsetsInParts(ctx, name, one)
		},
		"ContinueOffsets": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.ContinueOffsets(ctx, &connectrest.PartsError{Name: name, Parts: []connectrest.Part{
				{Number: 1, Of: 2, Offsets: one, State: connectrest.PartWritten},
				{Number: 2, Of: 2, Offsets: []connectrest.Offset{{Partition: raw(`{"topic":"more"}`), Offset: raw(`null`)}}, State: connectrest.PartNotWritten},
			}})
		},
		"ResetOffsets": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return nil, c.ResetOffsets(ctx, name)
		},
		"AwaitOffsets": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.AwaitOffsets(ctx, name, func([]connectrest.Offset) error { return nil }, time.Second)
		},
		"AwaitStableOffsets": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.AwaitStableOffsets(ctx, name, time.Second, time.Minute)
		},
		"AwaitStopped": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.AwaitStopped(ctx, name)
		},
		"Loggers": func(ctx context.Context, c *connectrest.Client, _ string) (any, error) { return c.Loggers(ctx) },
		"Logger":  func(ctx context.Context, c *connectrest.Client, name string) (any, error) { return c.Logger(ctx, name) },
		"SetLogger": func(ctx context.Context, c *connectrest.Client, name string) (any, error) {
			return c.SetLogger(ctx, name, "DEBUG", connectrest.ScopeWorker)
		},
	}
}

// probed makes an error of what a probe found.
func probed(r connectrest.ProbeReport, err error) (any, error) {
	if err == nil {
		err = r.Err()
	}
	return r, err
}

// silent are the methods that send nothing.
var silent = []string{"CloseIdleConnections", "GoString", "LogValue", "MarshalText", "String"}

func TestTestsOfAllCallsForgetNone(t *testing.T) {
	var methods []string
	client := reflect.TypeFor[*connectrest.Client]()
	for m := range client.Methods() {
		if !slices.Contains(silent, m.Name) {
			methods = append(methods, m.Name)
		}
	}
	if diff := cmp.Diff(methods, slices.Sorted(maps.Keys(publicCalls()))); diff != "" {
		t.Errorf("methods of Client and calls of the tests (-methods +calls):\n%s", diff)
	}
}

func TestNoCallSendsAnythingOnceTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range publicCalls() {
		s := newScript(t)
		if _, err := call(ctx, s.client(), "mm2"); err == nil {
			t.Errorf("%s: it succeeded", name)
		}
		if sent := s.all(); len(sent) != 0 {
			t.Errorf("%s: sent %v", name, sent)
		}
	}
}

// nameless are the calls that are about no connector, plugin or logger.
var nameless = []string{
	"AllPlugins", "Connectors", "Health", "Info", "ListConnectors", "Loggers", "Plugins", "Probe", "ProbeForwarding", "Version",
}

func TestEveryCallRefusesANameThatCannotBeAddressedBeforeAnyRequest(t *testing.T) {
	for name, call := range publicCalls() {
		if slices.Contains(nameless, name) {
			continue
		}
		for _, bad := range []string{"", "a/b", "..", "a;b", " a"} {
			s := newScript(t)
			if _, err := call(t.Context(), s.client(), bad); err == nil {
				t.Errorf("%s took name %q", name, bad)
			} else {
				checkMeanings(t, err, connectrest.ErrName)
			}
			if sent := s.all(); len(sent) != 0 {
				t.Errorf("%s, name %q: sent %v", name, bad, sent)
			}
		}
	}
}
