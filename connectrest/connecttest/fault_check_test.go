package connecttest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest/connecttest"
)

// A pointer was taken, and its requests were answered with no status at all.
func TestFaultThatCannotTakeEffectIsRefused(t *testing.T) {
	_, w := embedded(t)
	for says, fault := range map[string]connecttest.Fault{
		"the fault is nil": nil,
		"*connecttest.LoseAnswer: give the fault itself":  &connecttest.LoseAnswer{},
		"*connecttest.DropRecord: give the fault itself":  (*connecttest.DropRecord)(nil),
		`Rebalance: method "get"`:                         connecttest.Rebalance{Requests: connecttest.Requests{Method: "get"}},
		"Starting: Times -1: it is negative":              connecttest.Starting{Requests: connecttest.Requests{Times: -1}},
		"LoseRequest: Skip -1: it is negative":            connecttest.LoseRequest{Requests: connecttest.Requests{Skip: -1}},
		"Answer: status 99: want one from 200 to 599":     connecttest.Answer{Status: 99},
		"Answer: status 204: an answer of it has no body": connecttest.Answer{Status: 204, Body: "x"},
		"Answer: content type":                            connecttest.Answer{ContentType: "text/html\r\nX: y"},
		"ProxyPage: status 1000":                          connecttest.ProxyPage{Status: 1000},
		"Delay: For -1s: it is negative":                  connecttest.Delay{For: -time.Second},
		"PartialWrite: Entries -1: it is negative":        connecttest.PartialWrite{Entries: -1},
		"ShortOffsets: Keep -1: it is negative":           connecttest.ShortOffsets{Keep: -1},
		"SlowStop: For -1ns: it is negative":              connecttest.SlowStop{For: -1},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "connecttest: inject a fault: ") || !strings.Contains(got, says) {
					t.Errorf("got %v, want %q in it", got, says)
				}
			}()
			w.Inject(fault)
		}()
	}
}

// A hit says that a test has shown something.
func TestRequestThatPassesUnharmedIsNoHit(t *testing.T) {
	s, w := embedded(t)
	once := connecttest.Requests{Times: 1}
	for _, fault := range []connecttest.Fault{connecttest.StaleOffsets{Requests: once}, connecttest.ShortOffsets{Requests: once}, connecttest.PartialWrite{Requests: once}} {
		injected := w.Inject(fault)
		s.must(t, http.StatusOK, "GET", "/", nil)
		if hits := injected.Hits(); hits != 0 {
			t.Errorf("%T: %d hits", fault, hits)
		}
		injected.Remove()
	}
}
