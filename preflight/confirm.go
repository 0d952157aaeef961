package preflight

import (
	"strings"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

const confirmArea = "confirm/"

// confirmChecks are the points that have to be settled before a migration. An open one
// is found by offsetmap.Attestations.Check. The checks here hold an answer against what
// was seen, where something of it can be seen, and name that beside it.
func confirmChecks() []Check {
	const state = " under attest.confirm, with by and reason"
	point := func(name, title, looks, why, remedy string, judge func(*Case, offsetmap.Confirmations, *Reporter)) Check {
		return Check{
			ID: confirmArea + name, Title: title, Severity: offsetmap.Block, Acceptable: offsetmap.Never, Looks: looks, Why: why, Remedy: remedy,
			Judge: func(c *Case, r *Reporter) { judge(c, c.Question.Attestations.Confirm, r) },
		}
	}
	return []Check{
		point("flink-versions", "It is settled which Flink and which connector wrote the state", "the answer, the version of the snapshot, and that of Flink's server",
			"What a savepoint, a checkpoint and a commit to the group say of each other differs by version and by how the source was built.",
			"State flinkVersions"+state+": the versions of Flink and of flink-connector-kafka, and whether offsets are committed on checkpoints (commit.offsets.on.checkpoint).", confirmFlinkVersions),
		point("sink-evidence", "It is settled what shows that the sink has delivered", "the answer, and the attested guarantee",
			"A record that the source has passed and the sink has not flushed, or not committed, would be copied by nobody.",
			"State sinkEvidence"+state+": what was seen of the final flush or commit, such as the log of the stop with savepoint.", confirmSinkEvidence),
		point("clusters-and-topics", "It is settled which clusters and topics are meant", "the answer, and the ids that the brokers of both sides tell",
			"An address can lead elsewhere than whoever approved the migration believes. A cluster's id cannot.",
			"State clustersAndTopics"+state+": both cluster ids (`kafka-cluster.sh cluster-id --bootstrap-server <SERVERS>`), looked up where the job ran, and the topics. Where the finding names another id, one of the bootstrap addresses is wrong.", confirmClusters),
		point("target-names", "It is settled how topics are called on the target", "the answer, and the connector's replication policy",
			"The job wrote to certain names. A policy that gives others makes new topics, and consumers of the old ones see nothing any more.",
			"State targetNames"+state+": same where the job wrote to topics of the source's names, or prefixed. Where the finding says that the connector names them otherwise, set replication.policy.class.", confirmTargetNames),
		point("image", "It is settled which build of the worker runs", "the answer, and the version, commit and plugin that the worker tells",
			"A worker that is replaced by another build may behave differently on the same config. Without resources and replicated internal topics the offsets themselves can get lost.",
			"State image"+state+": the Kafka artifact, the image by digest, resources, the number of workers, and the replication factor of the three internal topics.", confirmImage),
		point("kubernetes", "It is settled how the workers are deployed", "the answer alone: no API of Kafka shows it",
			"A missing secret, network policy or alert shows itself after the start, when nobody looks.",
			"State kubernetes"+state+": namespace, secrets or config provider, network policies, logs and metrics; or where else the workers run.", func(_ *Case, o offsetmap.Confirmations, r *Reporter) { answered(r, o.Kubernetes) }),
		point("limits", "It is settled which pause, repetition and way back are borne", "the answer, and the attested rollbackWindow and maxDuplicates",
			"Without limits nobody can say that the switch, or the way back, comes too late.",
			"State limits"+state+": the longest pause and the retention of the source. Attest rollbackWindow and maxDuplicates: evidence is held against them.", confirmLimits),
	}
}

// answered notes the answer, where there is one.
func answered[T any](r *Reporter, a *offsetmap.Attestation[T]) bool {
	if a != nil {
		r.Saw("", "answered by %s: %v", a.By, a.Value)
	}
	return a != nil
}

func confirmFlinkVersions(c *Case, o offsetmap.Confirmations, r *Reporter) {
	if !answered(r, o.FlinkVersions) {
		return
	}
	if v := c.Question.MetadataVersion; v != 0 {
		r.Saw("", "the snapshot has metadata version %d", v)
	}
	if e, ok := c.Facts.Flink.Get(); ok {
		if s, ok := e.Server.Get(); ok {
			r.Saw("", "Flink's server has version %s", s.FlinkVersion)
		}
	}
}

func confirmSinkEvidence(c *Case, o offsetmap.Confirmations, r *Reporter) {
	if g := c.Question.Attestations.SinkGuarantee; answered(r, o.SinkEvidence) && g != nil {
		r.Saw("", "the sink's guarantee is attested as %s", g.Value)
	}
}

func confirmClusters(c *Case, o offsetmap.Confirmations, r *Reporter) {
	a := o.ClustersAndTopics
	if !answered(r, a) {
		return
	}
	for _, side := range []struct {
		name  string
		reads offsetmap.Fact[Cluster]
	}{{"source", c.Facts.Source}, {"target", c.Facts.Target}} {
		cluster, ok := side.reads.Get()
		switch {
		case !ok: // source/unknown or target/unknown blocks
		case hasWord(a.Value, cluster.ClusterID):
			r.Saw(side.name, "the answer names the id %s", cluster.ClusterID)
		case a.Value != "":
			r.Block(side.name, "the brokers of the %s belong to cluster %s, which the answer of %s does not name: %q", side.name, cluster.ClusterID, a.By, a.Value)
		}
	}
}

// hasWord reports whether the text has the id with no character of an id on either side.
func hasWord(text, id string) bool {
	ofID := func(r rune) bool {
		return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	for from := 0; id != ""; {
		i := strings.Index(text[from:], id)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(id)
		// What ends before and begins after is one rune of each text.
		before, after := text[:start], text[end:]
		if (before == "" || !ofID(rune(before[len(before)-1]))) && (after == "" || !ofID(rune(after[0]))) {
			return true
		}
		from = start + 1
	}
	return false
}

func confirmTargetNames(c *Case, o offsetmap.Confirmations, r *Reporter) {
	policy, named := c.policy.Get()
	if !answered(r, o.TargetNames) || !named { // config/replication-policy or connector/absent blocks
		return
	}
	is, class := offsetmap.PrefixedNames, "DefaultReplicationPolicy"
	if policy.identity {
		is, class = offsetmap.SameNames, "IdentityReplicationPolicy"
	}
	r.Saw("", "the connector names them by %s", class)
	if v := o.TargetNames.Value; v != is && (v == offsetmap.SameNames || v == offsetmap.PrefixedNames) {
		r.Block("replication.policy.class", "topics are to have %s names on the target, by %s, and the connector's %s gives them %s ones", v, o.TargetNames.By, class, is)
	}
}

func confirmImage(c *Case, o offsetmap.Confirmations, r *Reporter) {
	if !answered(r, o.Image) {
		return
	}
	if w, ok := c.Facts.Worker.Get(); ok {
		r.Saw("", "the worker has version %s, commit %s", w.Version, w.Commit)
	}
	if v, err := c.Facts.PluginVersion(); err == nil {
		r.Saw("", "its MirrorSourceConnector has version %s", v)
	}
}

func confirmLimits(c *Case, o offsetmap.Confirmations, r *Reporter) {
	a := c.Question.Attestations
	if answered(r, o.Limits) && a.RollbackWindow != nil && a.MaxDuplicates != nil {
		r.Saw("", "attested: rollbackWindow %s, maxDuplicates %d", a.RollbackWindow.Value, a.MaxDuplicates.Value)
	}
}
