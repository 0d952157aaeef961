package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/rogpeppe/go-internal/testscript"
)

func bucketCommand(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) == 3, "bucket NAME DIR KEY")
	backend := s3mem.New()
	ts.Check(backend.CreateBucket(args[0]))
	dir := os.DirFS(args[1])
	ts.Check(fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(dir, name)
		if err == nil {
			// S3 sets it by itself; this server takes it from the upload.
			modified := map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}
			_, err = backend.PutObject(args[0], path.Join(args[2], name), modified, bytes.NewReader(content), int64(len(content)), nil)
		}
		return err
	}))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	ts.Defer(server.Close)
	for i, value := range [...]string{server.URL, "eu-central-1", "access", "sesame"} {
		ts.Setenv(bucketVars[i], value)
	}
}

var bucketVars = [...]string{"AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}

// bucketEnv is what the program is told of the bucket of a script, if it has one.
func bucketEnv(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range bucketVars {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
