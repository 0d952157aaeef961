package flinkstate_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine that hashes a file outlives the call, also when that fails.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
