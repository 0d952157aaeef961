package flinkrest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
)

// What a JobManager says of a job that was stopped with a savepoint.
func ExampleClient_Evidence() {
	server := recorded("testdata/2.2.1-stopped-ended.json")
	defer server.Close()
	client, err := flinkrest.New(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.CloseIdleConnections()
	evidence, err := client.Evidence(context.Background(), flinkrest.Job{Name: "copy orders"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if job, ok := evidence.Job.Get(); ok {
		fmt.Println("the job is", job.State)
	}
	if running, ok := evidence.Running().Get(); ok {
		fmt.Println(len(running), "jobs of its name run")
	}
	savepoint, ok := evidence.StoppedWithSavepoint().Get()
	if !ok {
		fmt.Println("not stopped with a savepoint, as far as is known:", evidence.StoppedWithSavepoint().Err())
		return
	}
	path, _ := savepoint.Path.Get()
	fmt.Println("stopped with", path)
	fmt.Println("the plan's savepoint:", flinkrest.MatchLocation(path, "/flink/sp/savepoint-96ac6d-f060792c2b90/_metadata"))
	// Output:
	// the job is FINISHED
	// 0 jobs of its name run
	// stopped with file:/flink/sp/savepoint-96ac6d-f060792c2b90
	// the plan's savepoint: path
}

func recorded(file string) *httptest.Server {
	b, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	var answers map[string]struct{ Body json.RawMessage }
	if err := json.Unmarshal(b, &answers); err != nil {
		panic(err)
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(answers[r.URL.Path].Body)
	}))
}
