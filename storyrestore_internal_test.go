package flinkmm2

import (
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// backup is what Apply would keep of the world, under a name.
func (s *story) backup(args []string) {
	entries, err := storyWorker{s: s}.offsets()
	if err != nil {
		panic(err.Error())
	}
	s.backups[args[0]], err = sealBackup(BackupBody{
		CreatedAt: offsetmap.At(s.world.Now), Plan: "sha256:" + strings.Repeat("00", 32),
		SourceID: "source-id", TargetID: "target-id", ProducerID: "target-id", Connector: storyConnector, SourceAlias: storyAlias,
		Topics: []BackupTopic{{"orders", storyMeasured(0).TopicID}}, Offsets: entries,
	})
	if err != nil {
		panic(err.Error())
	}
}

func (s *story) putBack(args []string) {
	b := s.backups[args[0]]
	if b == nil {
		panic("there is no backup " + args[0])
	}
	o := RestoreOptions{Approval: Approval{Digest: b.Digest, By: "ann"}}
	for _, arg := range args[1:] {
		o.Acceptances = append(o.Acceptances, offsetmap.Acceptance{Check: "restore/rewind", Scope: strings.TrimPrefix(arg, "accept="), By: "ann", Reason: "they may come again"})
	}
	done, err := s.migration().Restore(s.t.Context(), b, o)
	how := ""
	if err == nil {
		how = fmt.Sprintf(", as in the backup; %d changed", len(done.Changed))
	}
	s.outcome(err, how)
}
