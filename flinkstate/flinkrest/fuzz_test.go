package flinkrest

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// canned answers every request with the same bytes, without a network.
type canned struct {
	status int
	body   []byte
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: c.status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(c.body)), Request: r,
	}, nil
}

// FuzzAnswers: whatever a server answers, no call panics, and none gives a value
// together with an error, or neither.
func FuzzAnswers(f *testing.F) {
	for _, name := range []string{"1.20.5-running", "2.2.1-stopped-ended", "2.2.1-canceled-history", "1.20.5-failed-ended"} {
		for _, a := range load(f, name) {
			f.Add(a.Status, []byte(a.Body))
		}
	}
	f.Add(200, []byte(`{"jobs":[{"jid":"0123456789abcdef0123456789abcdef","state":"\ud800"}]}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 100 || status > 999 {
			t.Skip()
		}
		c, _ := connect(t, "http://flink.example", WithTransport(canned{status, body}), WithRetry(RetryPolicy{Budget: -1}))
		d, err := c.Job(t.Context(), otherID)
		if (d == nil) == (err == nil) || d != nil && d.ID != otherID {
			t.Errorf("job %+v, %v", d, err)
		}
		cp, err := c.Checkpoints(t.Context(), otherID)
		if (cp == nil) == (err == nil) {
			t.Errorf("checkpoints %+v, %v", cp, err)
		}
		cfg, err := c.CheckpointConfig(t.Context(), otherID)
		if (cfg == nil) == (err == nil) {
			t.Errorf("checkpoint config %+v, %v", cfg, err)
		}
		jobs, err := c.Jobs(t.Context())
		if (jobs == nil) == (err == nil) {
			t.Errorf("jobs %+v, %v", jobs, err)
		}
		// One body cannot answer all the calls as a stop with savepoint would.
		if e := ask(t, c, Job{ID: otherID, Name: "copy"}); e.StoppedWithSavepoint().Err() == nil && e.Job.Err() != nil {
			t.Errorf("%+v", e)
		}
	})
}

func FuzzMatchLocation(f *testing.F) {
	f.Add("file:/flink/sp/savepoint-97296f-b07d3066dea6", "/flink/sp/savepoint-97296f-b07d3066dea6/_metadata")
	f.Add("s3://bucket/a%20b", "s3a://bucket/a b/")
	f.Fuzz(func(t *testing.T, a, b string) {
		if got, back := MatchLocation(a, b), MatchLocation(b, a); got != back {
			t.Errorf("%q and %q: %s, and %s the other way", a, b, got, back)
		}
	})
}
