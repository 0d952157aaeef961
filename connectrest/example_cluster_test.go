package connectrest_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// exampleWorker stands in for one worker of a cluster.
func exampleWorker(listed string) *httptest.Server {
	answers := map[string]reply{
		"/":           status(200, worker39),
		"/health":     status(200, `{"status":"healthy","message":"ready"}`),
		"/connectors": status(200, listed),
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answers[r.URL.Path](w, r) }))
}

func ExampleClient_Probe() {
	one := exampleWorker(listed("mm2-0.mm2:8083", "mm2-1.mm2:8083"))
	defer one.Close()
	two := exampleWorker(`{}`) // of another group.id
	defer two.Close()
	client, err := connectrest.NewCluster([]string{one.URL, two.URL},
		connectrest.WithClock(newClock())) // so that the example need not wait
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	report, err := client.Probe(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range report.Findings {
		fmt.Println(f.Kind, "among", len(f.Workers), "workers")
	}
	fmt.Println(report.Advertised)
	// Output:
	// other view among 2 workers
	// [mm2-0.mm2:8083 mm2-1.mm2:8083]
}

// A platform's overview: every connector with its state, in one request.
func ExampleClient_ListConnectors() {
	srv := exampleWorker(listed("mm2-0.mm2:8083", "mm2-1.mm2:8083"))
	defer srv.Close()
	client, err := connectrest.New(srv.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	list, err := client.ListConnectors(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for name, one := range list.Sorted() {
		fmt.Println(name, one.Info.Type, one.Status.Connector.State, len(one.Status.Tasks), "task")
	}
	// Output: mm2 source RUNNING 1 task
}

// tokenOfTheDay stands in for the oauth2.TokenSource that
// golang.org/x/oauth2/clientcredentials makes:
//
//	credentials := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: url}
//	connectrest.WithTokenSource(credentials.TokenSource(ctx))
type tokenOfTheDay struct{}

func (tokenOfTheDay) Token() (*oauthToken, error) { return &oauthToken{"today"}, nil }

func ExampleWithTokenSource() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Header.Get("Authorization"))
		status(200, `[]`)(w, r)
	}))
	defer srv.Close()
	client, err := connectrest.New(srv.URL, connectrest.WithTokenSource(tokenOfTheDay{}))
	if err != nil {
		log.Fatal(err)
	}
	defer client.CloseIdleConnections()
	_, err = client.Connectors(context.Background())
	fmt.Println(err)
	// Output:
	// Bearer today
	// <nil>
}
