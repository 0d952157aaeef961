package preflight_test

import (
	"testing"

	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// byScope are the checks whose findings a person accepts by naming a topic, or "*" for
// all of them, with the reason for which no record is lost or altered by it. A new one
// stands here, or is accepted finding by finding.
var byScope = map[string]string{
	"source/offset-above-stable": "the job read uncommitted, and what it read it has copied",
	"source/unread-earliest":     "the log start becomes C, below which the job has read nothing",
	"source/position-missing":    "the log start becomes C, below which the job has read nothing",
	"target/ends-moved":          "other writers' records are told from copied ones by the proof",
	"rollback/unplanned":         "the topic stays as it is, and is brought back by its own plan",
	"config/acl-sync":            "rights change who may read, not what is there",
	"config/topics-unplanned":    "a topic more is copied, from its first record on: repeated perhaps, never lost",
	"target/partition-count":     "a record goes to the partition of its number, and where there is none the copying stops",
	"target/topic-missing":       "the topic is created before the first record",
	"boundary/key-order":         "every record is copied as it is, into a partition of the same topic",
}

func TestWhatCanLoseRecordsIsNotAcceptedByAWildcard(t *testing.T) {
	for _, check := range preflight.Checks() {
		switch _, listed := byScope[check.ID]; {
		case check.Acceptable == offsetmap.ByScope && !listed:
			t.Errorf("%s is accepted by a wildcard: why can it lose no record, and alter none?", check.ID)
		case check.Acceptable != offsetmap.ByScope && listed:
			t.Errorf("%s is not accepted by a wildcard (any more)", check.ID)
		}
	}
}
