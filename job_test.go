package flinkmm2

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJobOfTheEnvironment(t *testing.T) {
	env := map[string]string{}
	get := func(name string) string { return env[name] }
	if j, err := JobFromEnv(get); j != nil || err != nil {
		t.Fatalf("%v, %v: outside Kubernetes there is no Job", j, err)
	}
	env = map[string]string{"POD_NAMESPACE": "kafka", "POD_NAME": "watch-2-abc", "POD_UID": "u-1", "JOB_NAME": "watch", "JOB_COMPLETION_INDEX": "2"}
	two := 2
	want := &JobIdentity{Namespace: "kafka", Name: "watch", Pod: "watch-2-abc", UID: "u-1", Index: &two}
	j, err := JobFromEnv(get)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, j); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, _ := JobFromEnv(get)
	if !j.equal(again) {
		t.Error("the same Job is another one")
	}
	for name, other := range map[string]string{"POD_UID": "u-2", "JOB_COMPLETION_INDEX": "3"} {
		was := env[name]
		env[name] = other
		if o, _ := JobFromEnv(get); j.equal(o) || o.equal(nil) {
			t.Errorf("with another %s it is the same", name)
		}
		env[name] = was
	}
	for _, bad := range []string{"x", "-1", "1.5"} {
		env["JOB_COMPLETION_INDEX"] = bad
		if _, err := JobFromEnv(get); err == nil || !strings.Contains(err.Error(), "JOB_COMPLETION_INDEX") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
