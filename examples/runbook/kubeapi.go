package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

var (
	errNoLease       = errors.New("there is no such Lease")
	errLeaseConflict = errors.New("another has written the Lease")
)

// kubeAPI is the API server of the cluster that a pod runs in.
type kubeAPI struct {
	base   string
	token  func() (string, error) // read for each request: kubelet replaces it
	client *http.Client
}

// serviceAccount is where kubelet mounts what a pod may speak to the API server with.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster is the API server as the environment and the service account of a pod name it.
func inCluster(getenv func(string) string, dir string) (*kubeAPI, error) {
	host, port := getenv("KUBERNETES_SERVICE_HOST"), getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, errors.New("a Lease needs a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("the service account: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("the service account: no certificate in %s", filepath.Join(dir, "ca.crt"))
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return &kubeAPI{
		base: "https://" + host + ":" + port,
		token: func() (string, error) {
			text, err := os.ReadFile(filepath.Join(dir, "token"))
			return strings.TrimSpace(string(text)), err
		},
		client: &http.Client{
			Timeout:   10 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
			// A token goes to the server that it is for, and nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// do sends a request and returns the time of the server.
func (k *kubeAPI) do(ctx context.Context, method, path string, body, into any) (time.Time, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return time.Time{}, err
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, k.base+path, content)
	if err != nil {
		return time.Time{}, err
	}
	token, err := k.token()
	if err != nil {
		return time.Time{}, fmt.Errorf("the service account: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := k.client.Do(req)
	if err != nil {
		return time.Time{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return time.Time{}, fmt.Errorf("%s %s: %w", method, path, err)
	}
	server, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("%s %s: the answer has no Date by which a Lease can be judged: %w", method, path, err)
	}
	switch {
	case resp.StatusCode == http.StatusNotFound && method == http.MethodGet:
		return server, errNoLease
	case resp.StatusCode == http.StatusConflict:
		return server, errLeaseConflict
	case resp.StatusCode/100 != 2:
		var status struct {
			Message string `json:"message"`
		}
		_ = json.Unmarshal(text, &status) // else the status says enough
		return server, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, status.Message)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			return server, fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	return server, nil
}
