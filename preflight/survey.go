package preflight

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Surroundings is what stands around a migration: what brokers, workers and other
// connectors are set to, and what moves while nothing should. It is read once, before
// a plan; nothing of it is measured again at each look of a later step.
type Surroundings struct {
	// SourceConfigs holds the effective settings of each source topic of the
	// migration, TargetConfigs those of each topic that it would be written to, under
	// the target's names.
	SourceConfigs, TargetConfigs offsetmap.Fact[map[string]Settings]
	// SourceBrokers and TargetBrokers hold the effective settings of each broker, by
	// node id.
	SourceBrokers, TargetBrokers offsetmap.Fact[map[int32]Settings]
	// SourceACLs and TargetACLs are all that the brokers list; Principals are the
	// Probe's.
	SourceACLs, TargetACLs offsetmap.Fact[[]kadm.DescribedACL]
	Principals             Principals
	// Workers is what the workers of the Connect cluster answered to the same requests.
	Workers offsetmap.Fact[connectrest.ProbeReport]
	// ConnectGroup is the group by which they share their work.
	ConnectGroup offsetmap.Fact[ConnectLooks]
	// InternalTopics are those of the Probe's ConnectTopics, by name. Absent: none is
	// named.
	InternalTopics offsetmap.Fact[map[string]InternalTopic]
	// ConnectorLater is a second look at the migration's connector. Absent: there was one.
	ConnectorLater offsetmap.Fact[ConnectorLook]
	// Connectors are the others that they run, by name.
	Connectors offsetmap.Fact[[]OtherConnector]
	// SinkTransactions are those of the old job on the target. Absent: its state names
	// no transactional id.
	SinkTransactions offsetmap.Fact[SinkTransactions]
	// KnownKeys are what the worker's plugin MirrorSourceConnector defines. Absent
	// without such a connector.
	KnownKeys offsetmap.Fact[[]connectrest.ConfigKey]
	// SourceOwners and TargetOwners say whose Facts.Open and Facts.TargetOpen are.
	// Absent: there are none.
	SourceOwners, TargetOwners offsetmap.Fact[TransactionOwners]
	// Movement is what moved over [Probe.Window]. Absent: there was one look.
	Movement offsetmap.Fact[Movement]
	// Delivery holds what was found of each partition of the source whose C, where it
	// has one, is not beyond the log.
	// Absent: nobody looked.
	Delivery offsetmap.Fact[map[offsetmap.TopicPartition]Delivery]

	ages         recordAges
	spans        []time.Duration // how far ahead ages are known, rising
	growthSince  int64           // the moment from which growth is measured
	sizes        offsetmap.Fact[map[offsetmap.TopicPartition]int64]
	sourceUntold map[string]bool // see brokerSettings
	targetUntold map[string]bool
	localStarts  map[offsetmap.TopicPartition]fresh.Listed // of topics with remote storage
	noLocalStart *fresh.UnmeasuredError
}

// Survey reads everything that [Probe.Observe] does, and the surroundings, which takes
// longer. It never fails as a whole.
func (p Probe) Survey(ctx context.Context) Facts {
	f := p.Observe(ctx)
	var s Surroundings
	lookAgain := p.workersSurvey(ctx, f, &s)
	p.surveyBrokers(ctx, f, &s)
	lookAgain()
	s.ConnectorLater = p.lookAtConnectorAgain(ctx, f)
	p.lintSurvey(ctx, f, &s)
	p.sinkSurvey(ctx, &s)
	p.deliverySurvey(ctx, f, &s)
	f.Surroundings = &s
	return f
}

// targetTopics are the target's names of the migration's topics, as far as they exist.
func (f Facts) targetTopics() []string {
	return topicsOf(f.TargetTails)
}

func (f Facts) sourceOwners() offsetmap.Fact[TransactionOwners] {
	if f.Surroundings == nil {
		return offsetmap.Absent[TransactionOwners]()
	}
	return f.Surroundings.SourceOwners
}

func (f Facts) targetOwners() offsetmap.Fact[TransactionOwners] {
	if f.Surroundings == nil {
		return offsetmap.Absent[TransactionOwners]()
	}
	return f.Surroundings.TargetOwners
}

// around makes a check of the surroundings. Where they were not read it was not asked.
func around(judge func(*Case, *Surroundings, *Reporter)) func(*Case, *Reporter) {
	return func(c *Case, r *Reporter) {
		if c.Facts.Surroundings == nil {
			r.NotAsked()
			return
		}
		judge(c, c.Facts.Surroundings, r)
	}
}
