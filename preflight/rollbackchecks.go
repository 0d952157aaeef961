package preflight

import (
	"errors"
	"fmt"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const keyIDExpiration = "transactional.id.expiration.ms"

func rollbackChecks() []Check {
	return []Check{{
		ID:         "source/rollback-until",
		Title:      "The old job can be gone back to for as long as is attested",
		Severity:   offsetmap.Block,
		Acceptable: offsetmap.Exact,
		Looks:      "for how long the source keeps what lies from C on (as source/retention); where positions come from a group, offsets.retention.minutes of the source's brokers; where the sink is exactly-once, transactional.id.expiration.ms of the target's; and when the old job ended, as Flink's REST API tells; against the attestation rollbackWindow. The scope is the partition or topic whose records go first, or empty",
		Why:        "The old job restored from its savepoint reads from C, and records that are gone by then are lost on the way back. A group's offsets are dropped some time after its last commit, and Flink then follows its reset rule. An exactly-once sink commits again what its state had prepared, and the job fails where the target has forgotten its transactional ids.",
		Remedy:     "Keep what the way back needs for the whole window: `kafka-configs.sh --bootstrap-server <SOURCE> --alter --entity-type topics --entity-name <TOPIC> --add-config retention.ms=<MS>` with a longer time, and the old value again afterwards; or a larger offsets.retention.minutes or transactional.id.expiration.ms of the brokers. Or attest a shorter rollbackWindow, or accept that the way back ends sooner.",
		Judge:      around(rollbackUntil),
	}}
}

// latestRollback is until when the old job can be restored from where it stood.
func (c *Case) latestRollback() offsetmap.Fact[Deadline] {
	var d deadlines
	c.addRecords(&d)
	c.addGroup(&d)
	c.addTransactionalIDs(&d)
	return d.fact()
}

// jobEnd is when the old job ended.
func (c *Case) jobEnd() (time.Time, error) {
	evidence, asked := c.Facts.Flink.Get()
	if !asked {
		return time.Time{}, errors.New("when the old job ended is not known: Flink's REST API was not asked, or did not answer")
	}
	job, there := evidence.Job.Get()
	if !there {
		return time.Time{}, errors.New("when the old job ended is not known: Flink knows no such job")
	}
	end, ended := job.End.Get()
	if !ended {
		return time.Time{}, errors.New("when the old job ended is not known: Flink does not tell its end")
	}
	return end, nil
}

// addGroup is for positions that come from a group. A savepoint does not expire.
func (c *Case) addGroup(d *deadlines) {
	s := c.Facts.Surroundings
	if s == nil || c.Question.Origin != offsetmap.FromGroup {
		return
	}
	end, err := c.jobEnd()
	brokers, ok := s.SourceBrokers.Get()
	if !ok {
		err = errors.Join(s.SourceBrokers.Err(), err)
	}
	minutes, errMinutes := SmallestSetting(brokers, KeyOffsetsRetention)
	if ok {
		err = errors.Join(err, errMinutes)
	}
	if err != nil {
		d.unknown(fmt.Errorf("how long group %s keeps its offsets: %w", c.Facts.GroupID, err))
		return
	}
	d.add(OffsetsKeptUntil(end, minutes), "", fmt.Sprintf("the offsets of group %s may be dropped: %s is %d, and the job ended at %s", c.Facts.GroupID, KeyOffsetsRetention, minutes, end.UTC().Format(time.RFC3339)), false)
}

// addTransactionalIDs is for a sink that commits again what its state had prepared
// (KafkaCommitter), by ids that the target's coordinators must still know.
func (c *Case) addTransactionalIDs(d *deadlines) {
	s, g := c.Facts.Surroundings, c.Question.Attestations.SinkGuarantee
	switch {
	case s == nil:
		return
	case g == nil || g.Value == "":
		d.unknown(errors.New("whether the sink is exactly-once, and needs its transactional ids, is not attested"))
		return
	case g.Value != offsetmap.SinkExactlyOnce:
		return
	}
	end, err := c.jobEnd()
	brokers, ok := s.TargetBrokers.Get()
	if !ok {
		err = errors.Join(s.TargetBrokers.Err(), err)
	}
	ms, errMS := SmallestSetting(brokers, keyIDExpiration)
	if ok {
		err = errors.Join(err, errMS)
	}
	if err != nil {
		d.unknown(fmt.Errorf("how long the target knows the sink's transactional ids: %w", err))
		return
	}
	moment, ends := after(end, ms)
	at := time.UnixMilli(moment)
	if !ends || at.Year() > 9999 { // as good as never, and no time of a file
		return
	}
	d.add(at, "", fmt.Sprintf("the target's coordinators may forget the sink's transactional ids: %s is %s, and the job ended at %s", keyIDExpiration, spell(ms), end.UTC().Format(time.RFC3339)), false)
}

func rollbackUntil(c *Case, _ *Surroundings, r *Reporter) {
	if _, ok := c.Facts.Source.Get(); !ok {
		r.NotAsked() // source/unknown
		return
	}
	until := c.latestRollback()
	if until.IsAbsent() {
		r.Saw("", "nothing that the way back needs expires")
	}
	d, known := until.Get()
	if known {
		r.Saw(d.Scope, "at least until %s: then %s", d.At, d.Why)
	}
	w := c.Question.Attestations.RollbackWindow
	if w == nil {
		return // confirm/limits asks for it
	}
	window, err := time.ParseDuration(w.Value)
	if err != nil {
		return // attest/rollback-window
	}
	over := c.Facts.At.Add(window)
	unknown := d.Unknown
	if err := until.Err(); err != nil {
		unknown = oneLine(err.Error())
	}
	switch {
	case known && d.At.Before(over):
		r.Block(d.Scope, "the way back may end at %s, before the window of %s that %s attested is over: then %s%s", d.At, w.Value, w.By, d.Why, and(unknown))
	case unknown != "":
		r.Warn("", "not proven: whether the old job can be gone back to for the window of %s: %s", w.Value, unknown)
	}
}

func and(unknown string) string {
	if unknown == "" {
		return ""
	}
	return "; and what is not known may come sooner: " + unknown
}
