package main

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flinkmm2/flinkmm2"
)

// watchFlags are what watch is told.
type watchFlags struct {
	within       time.Duration
	until, shard string
	resume       bool
	follow       followFlags
	mark, after  bool // of a restart
}

// followFlags are those that only --follow has a use for.
type followFlags struct {
	on             bool
	every, length  time.Duration
	bytesPerSecond int64
}

func (f *watchFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&f.within, "within", f.within, "how long to wait for everything")
	flags.StringVar(&f.until, "until", f.until, "how far: end (the source's end as it is now), boundary or boundary=N (the first N records of each partition), records=N (N records of all partitions), caught-up (until the lag is gone)")
	flags.StringVar(&f.shard, "shard", "", "watch one part of the plan's partitions, INDEX/OF from 0/OF on; auto/OF takes the index from JOB_COMPLETION_INDEX, which an Indexed Job sets")
	flags.BoolVar(&f.follow.on, "follow", false, "go on, in rounds, until the rollback window has passed")
	flags.DurationVar(&f.follow.every, "every", time.Minute, "with --follow, the time from one round to the next")
	flags.DurationVar(&f.follow.length, "for", 0, "with --follow, how long (default until the attested rollbackWindow has passed since the start)")
	flags.Int64Var(&f.follow.bytesPerSecond, "bytes-per-second", 0, "with --follow, the most that is read of both clusters together (default no limit)")
	flags.BoolVar(&f.mark, "mark-restart", false, "before the workers are restarted on purpose: watch until the lag is gone, and keep in restart.json who runs the tasks and what Connect has stored")
	flags.BoolVar(&f.after, "after-restart", false, "after that: prove that all tasks run again and went on from there")
	flags.BoolVar(&f.resume, "resume", false, "go on where the last watch --resume of this plan stood, instead of from C")
}

// foreign returns the flags that were given and do not go with --follow, or only go
// with it.
func (f *watchFlags) foreign(changed func(flag string) bool) error {
	with, without := []string{"every", "for", "bytes-per-second"}, []string{"within", "until"}
	if f.mark || f.after {
		for _, name := range slices.Concat(with, []string{"until", "shard", "follow"}) {
			if changed(name) || f.mark && f.after {
				return usagef("a restart is marked or watched of the whole plan, until the lag is gone: give --mark-restart or --after-restart, with --within and --resume at most")
			}
		}
		return nil
	}
	if f.follow.on {
		for _, name := range without {
			if changed(name) {
				return usagef("--%s does not go with --follow: --for says how long, and each round goes to the source's end", name)
			}
		}
	} else {
		for _, name := range with {
			if changed(name) {
				return usagef("--%s goes with --follow only", name)
			}
		}
	}
	if changed("every") && f.follow.every <= 0 || changed("for") && f.follow.length <= 0 || changed("bytes-per-second") && f.follow.bytesPerSecond <= 0 {
		return usagef("--every, --for and --bytes-per-second: want a value above 0")
	}
	return nil
}

// options are the flags as the library takes them.
func (f *watchFlags) options() (o flinkmm2.WatchOptions, err error) {
	if f.within <= 0 {
		return o, usagef("--within %s: want a duration above 0", f.within)
	}
	o.Within = f.within
	if o.Until, err = flinkmm2.ParseUntil(f.until); err != nil {
		return o, usagef("--%v", err)
	}
	if f.shard == "" {
		return o, nil
	}
	text := f.shard
	if of, auto := strings.CutPrefix(text, "auto/"); auto {
		index, set := os.LookupEnv(indexVariable)
		if !set {
			return o, usagef("--shard %s: %s is not set, as in a pod of an Indexed Job; give the index, such as 0/%s", text, indexVariable, of)
		}
		text = index + "/" + of
	}
	if o.Shard, err = flinkmm2.ParseShard(text); err != nil {
		return o, usagef("--shard %s: %v", f.shard, err)
	}
	return o, nil
}

// indexVariable is what Kubernetes tells a pod of an Indexed Job.
const indexVariable = "JOB_COMPLETION_INDEX"
