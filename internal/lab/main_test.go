package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

var stage Shared

// dieEnv makes the test binary start a process and then die, as the variable says or from outside.
const dieEnv = "FLINKMM2_LAB_DIE"

func TestMain(m *testing.M) {
	if how := os.Getenv(dieEnv); how != "" {
		p := &Process{name: "sleep", argv: []string{"sleep", "600"}, log: logFile(filepath.Join(os.TempDir(), "log"))}
		p.probe = func(context.Context) bool { return p.Running() }
		if err := p.start(context.Background()); err != nil {
			panic(err)
		}
		fmt.Printf("child %d\n", p.cmd.Process.Pid)
		if how == "panic" {
			panic("as asked")
		}
		select {}
	}
	goleak.VerifyTestMain(stage.Main(m))
}
