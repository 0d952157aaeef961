package main

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flinkmm2/flinkmm2"
)

// leaseServer is an API server with Leases: each write must name the version that it is
// made from, and its clock is its own.
type leaseServer struct {
	mu      sync.Mutex
	leases  map[string]map[string]any
	version int
	skew    time.Duration // of its clock
	writes  int
	refuse  int    // a status that each request is answered by
	before  func() // runs once, before the next write is looked at
}

func (s *leaseServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Date", time.Now().Add(s.skew).UTC().Format(http.TimeFormat))
	answer := func(status int, v any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v) //nolint:errchkjson // a client that went away
	}
	if r.Header.Get("Authorization") != "Bearer the-token" {
		answer(http.StatusUnauthorized, map[string]any{"message": "Unauthorized"})
		return
	}
	if s.refuse != 0 {
		answer(s.refuse, map[string]any{"message": "leases.coordination.k8s.io is forbidden"})
		return
	}
	const all = "/apis/coordination.k8s.io/v1/namespaces/kafka/leases"
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, all), "/")
	if !strings.HasPrefix(r.URL.Path, all) {
		answer(http.StatusNotFound, map[string]any{"message": "no such path " + r.URL.Path})
		return
	}
	if r.Method != http.MethodGet && s.before != nil {
		before := s.before
		s.before = nil
		before()
	}
	var sent map[string]any
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || sent["kind"] != "Lease" {
			answer(http.StatusBadRequest, map[string]any{"message": fmt.Sprint(err)})
			return
		}
	}
	is := s.leases[name]
	switch {
	case r.Method == http.MethodPost && name == "":
		name = sent["metadata"].(map[string]any)["name"].(string)
		if s.leases[name] != nil {
			answer(http.StatusConflict, map[string]any{"message": "already exists"})
			return
		}
		s.put(name, sent)
		answer(http.StatusCreated, s.leases[name])
	case is == nil:
		answer(http.StatusNotFound, map[string]any{"message": "not found"})
	case r.Method == http.MethodGet:
		answer(http.StatusOK, is)
	case sent["metadata"].(map[string]any)["resourceVersion"] != is["metadata"].(map[string]any)["resourceVersion"]:
		answer(http.StatusConflict, map[string]any{"message": "the object has been modified"})
	default:
		s.put(name, sent)
		answer(http.StatusOK, s.leases[name])
	}
}

func (s *leaseServer) put(name string, l map[string]any) {
	s.version++
	s.writes++
	l["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(s.version)
	s.leases[name] = l
}

// held writes the Lease as another holder does.
func (s *leaseServer) held(by string, ago time.Duration) {
	s.put("mm2", map[string]any{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": map[string]any{"name": "mm2", "namespace": "kafka", "labels": map[string]any{"team": "data"}},
		"spec": map[string]any{"holderIdentity": by, "leaseDurationSeconds": 60, "renewTime": time.Now().Add(s.skew - ago).UTC().Format(leaseTime), "leaseTransitions": 3},
	})
}

func (s *leaseServer) spec() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases["mm2"]["spec"].(map[string]any)
}

func leaseStage(t *testing.T) (*leaseServer, *leaseLock) {
	t.Helper()
	s := &leaseServer{leases: map[string]map[string]any{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	api := &kubeAPI{base: server.URL, token: func() (string, error) { return "the-token", nil }, client: server.Client()}
	return s, &leaseLock{namespace: "kafka", name: "mm2", api: api, lasts: leaseLasts}
}

// leavesNothing holds that nothing runs when a test and its server have ended.
func leavesNothing(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

func acquired(t *testing.T, l *leaseLock, by string) flinkmm2.Held {
	t.Helper()
	held, err := l.Acquire(t.Context(), flinkmm2.Owner{Connector: "mm2", By: by})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func TestLeaseIsHeldByOneAndGivenBack(t *testing.T) {
	leavesNothing(t)
	s, l := leaseStage(t)
	held := acquired(t, l, "li")
	_, err := l.Acquire(t.Context(), flinkmm2.Owner{By: "mo"})
	if !errors.Is(err, flinkmm2.ErrLocked) || !strings.Contains(err.Error(), "Lease kafka/mm2 is held by li") {
		t.Errorf("%v", err)
	}
	if err := held.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := held.Release(); err != nil {
		t.Error(err)
	}
	if spec := s.spec(); spec["holderIdentity"] != nil {
		t.Errorf("%v", spec)
	}
	again := acquired(t, l, "mo")
	if spec := s.spec(); spec["leaseTransitions"] != 1.0 || spec["leaseDurationSeconds"] != 60.0 {
		t.Errorf("%v", spec)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

// The clock here, and that of the holder's node, say nothing: only the server's counts.
func TestLeaseEndsByTheClockOfTheServer(t *testing.T) {
	for _, skew := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour} {
		for ago, free := range map[time.Duration]bool{0: false, 59 * time.Second: false, 68 * time.Second: false, 75 * time.Second: true} {
			s, l := leaseStage(t)
			s.skew = skew
			s.held("mo, killed", ago)
			held, err := l.Acquire(t.Context(), flinkmm2.Owner{By: "li"})
			if free != (err == nil) || !free && !errors.Is(err, flinkmm2.ErrLocked) {
				t.Errorf("clock %s ahead, renewed %s ago: %v", skew, ago, err)
			}
			if err != nil {
				continue
			}
			if s.leases["mm2"]["metadata"].(map[string]any)["labels"] == nil || s.spec()["leaseTransitions"] != 4.0 {
				t.Errorf("what others put there is gone: %v", s.leases["mm2"])
			}
			if err := held.Release(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestLeaseThatAnotherTookIsLost(t *testing.T) {
	for name, take := range map[string]func(s *leaseServer){
		"by another":       func(s *leaseServer) { s.held("mo", 0) },
		"by nobody":        func(s *leaseServer) { s.held("", 0) },
		"deleted":          func(s *leaseServer) { delete(s.leases, "mm2") },
		"and taken anew":   func(s *leaseServer) { s.held("li, for connector mm2, since 0001-01-01T00:00:00Z", 0) },
		"at the same time": func(s *leaseServer) { s.before = func() { s.held("mo", 0) } },
	} {
		s, l := leaseStage(t)
		held := acquired(t, l, "li")
		s.mu.Lock()
		take(s)
		s.mu.Unlock()
		err := held.Check(t.Context())
		if name == "at the same time" && err != nil {
			err = held.Check(t.Context()) // the first was refused, this one says whose it is
		}
		if !errors.Is(err, flinkmm2.ErrLockLost) {
			t.Errorf("%s: %v", name, err)
		}
		s.mu.Lock()
		before := s.writes
		s.mu.Unlock()
		if err := held.Release(); err != nil || s.writes != before {
			t.Errorf("%s: it gave back what is another's: %v", name, err)
		}
	}
}

func TestLeaseOfTwoAtOnceIsGivenToOne(t *testing.T) {
	s, l := leaseStage(t)
	for _, before := range []func(){
		func() { s.held("mo", 0) }, // where there was none
		func() { s.held("mo", 0) }, // where one had ended
	} {
		s.before = before
		if _, err := l.Acquire(t.Context(), flinkmm2.Owner{By: "li"}); !errors.Is(err, flinkmm2.ErrLocked) || !strings.Contains(err.Error(), "at the same moment") {
			t.Errorf("%v", err)
		}
		s.held("mo", time.Hour)
	}
}

func TestLeaseIsRenewedWhileAStepTakesLong(t *testing.T) {
	leavesNothing(t)
	s, l := leaseStage(t)
	l.lasts = time.Second
	held := acquired(t, l, "li")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		writes := s.writes
		s.mu.Unlock()
		if writes >= 3 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d writes", writes)
		}
	}
	if err := held.Release(); err != nil {
		t.Error(err)
	}
}

func TestLeaseThatCannotBeJudgedIsNotTaken(t *testing.T) {
	s, l := leaseStage(t)
	acquire := func() error {
		_, err := l.Acquire(t.Context(), flinkmm2.Owner{By: "li"})
		if errors.Is(err, flinkmm2.ErrLocked) {
			return nil
		}
		return err
	}
	s.refuse = http.StatusForbidden
	if err := acquire(); err == nil || !strings.Contains(err.Error(), "403 Forbidden: leases.coordination.k8s.io is forbidden") {
		t.Errorf("%v", err)
	}
	s.refuse = 0
	for _, spec := range []map[string]any{{"holderIdentity": "mo"}, {"holderIdentity": "mo", "renewTime": "soon", "leaseDurationSeconds": 1}} {
		s.held("mo", 0)
		s.leases["mm2"]["spec"] = spec
		if err := acquire(); err == nil || !strings.Contains(err.Error(), "do not say until when") {
			t.Errorf("%v: %v", spec, err)
		}
	}
	l.api.token = func() (string, error) { return "another", nil }
	if err := acquire(); err == nil || !strings.Contains(err.Error(), "401") || strings.Contains(err.Error(), "another") {
		t.Errorf("%v", err)
	}
	l.api.token = func() (string, error) { return "", os.ErrNotExist }
	if err := acquire(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestLeaseByTheServiceAccountOfAPod(t *testing.T) {
	s := &leaseServer{leases: map[string]map[string]any{}}
	server := httptest.NewTLSServer(s)
	defer server.Close()
	dir := t.TempDir()
	env := map[string]string{}
	none := func(what string) {
		t.Helper()
		if _, err := inCluster(func(name string) string { return env[name] }, dir); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v", err)
		}
	}
	none("needs a pod")
	host, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")
	env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"] = host, port
	none("ca.crt")
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ca.crt", []byte("none"))
	none("no certificate")
	write("ca.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	write("token", []byte("the-token\n"))
	api, err := inCluster(func(name string) string { return env[name] }, dir)
	if err != nil {
		t.Fatal(err)
	}
	held := acquired(t, &leaseLock{namespace: "kafka", name: "mm2", api: api, lasts: leaseLasts}, "li")
	if err := held.Release(); err != nil {
		t.Error(err)
	}
}
