package flinkmm2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/flinkmm2/flinkmm2/internal/fresh"
	"github.com/flinkmm2/flinkmm2/offsetmap"
	"github.com/flinkmm2/flinkmm2/preflight"
)

// Baseline shows how stood, directly before a plan's first resume, what MirrorMaker 2
// can synchronise beside records. AcceptanceList holds what is there now against it.
type Baseline struct {
	// TopicConfigs are of the settings that each target topic of the plan has of its own.
	TopicConfigs Fingerprints `json:"topicConfigs"`
	// ACLs are of the rights on each of these topics, but for those that are given by a
	// pattern. Without an authorizer there are none.
	ACLs Fingerprints `json:"acls"`
	// Groups are of what each consumer group of the target has committed that has no
	// member: MirrorCheckpointConnector commits for no other.
	Groups Fingerprints `json:"groups"`
	// SourceFlowTopics and TargetFlowTopics are of the ends of the topics of
	// offset-syncs and checkpoints, of any flow.
	SourceFlowTopics Fingerprints `json:"sourceFlowTopics"`
	TargetFlowTopics Fingerprints `json:"targetFlowTopics"`
}

const (
	// baselineWithin bounds how long a start waits for its baseline. What was not read
	// by then is not known.
	baselineWithin = time.Minute
	// groupsAtOnce is how many groups' offsets one request asks for.
	groupsAtOnce = 200
)

// standing is what a Baseline is made of, by name.
type standing struct {
	topicConfigs, acls, groups, sourceFlowTopics, targetFlowTopics offsetmap.Fact[map[string]string]
}

// part is one part of a Baseline beside what stands there now.
type part struct {
	was *Fingerprints
	is  offsetmap.Fact[map[string]string]
}

func (b *Baseline) parts(s standing) []part {
	return []part{{&b.TopicConfigs, s.topicConfigs}, {&b.ACLs, s.acls}, {&b.Groups, s.groups}, {&b.SourceFlowTopics, s.sourceFlowTopics}, {&b.TargetFlowTopics, s.targetFlowTopics}}
}

// baseline takes the baseline of a plan. It never fails: what could not be read says
// why.
func (m *Migration) baseline(ctx context.Context, plan *offsetmap.Plan) *Baseline {
	b := &Baseline{}
	for _, p := range b.parts(m.standing(ctx, plan)) {
		contents, ok := p.is.Get()
		if !ok {
			*p.was = Fingerprints{Of: map[string]string{}, Unknown: offsetmap.RedactSetting("text", p.is.Err().Error())}
			continue
		}
		*p.was = newFingerprints(contents, len(contents) > mostFingerprints)
	}
	return b
}

func (m *Migration) standing(ctx context.Context, plan *offsetmap.Plan) standing {
	ctx, cancel := context.WithTimeout(ctx, baselineWithin)
	defer cancel()
	topics := targetTopics(plan)
	source, target := m.cfg.Source.Admin, m.cfg.Target.Admin
	return standing{
		topicConfigs:     factOf(topicConfigs(ctx, target, topics)),
		acls:             factOf(topicACLs(ctx, target, topics)),
		groups:           factOf(idleGroups(ctx, target)),
		sourceFlowTopics: factOf(flowTopics(ctx, source)),
		targetFlowTopics: factOf(flowTopics(ctx, target)),
	}
}

// targetTopics are the target's topics of a plan, sorted.
func targetTopics(plan *offsetmap.Plan) []string {
	names := map[string]bool{}
	for _, r := range plan.Body.Rows {
		names[r.TargetTopic] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// topicConfigs reads what each topic has set of its own, which is what
// MirrorSourceConnector alters (IncrementalAlterConfigs). What it has from its brokers
// follows their settings, and is no trace of it.
func topicConfigs(ctx context.Context, admin Admin, topics []string) (map[string]string, error) {
	described, err := admin.DescribeTopicConfigs(ctx, topics...)
	if err != nil {
		return nil, fmt.Errorf("settings of the target's topics: %w", err)
	}
	out := make(map[string]string, len(topics))
	for _, d := range described {
		if d.Err != nil {
			return nil, fmt.Errorf("settings of topic %s: %w", d.Name, d.Err)
		}
		var own []string
		for _, c := range d.Configs {
			if c.Source == kmsg.ConfigSourceDynamicTopicConfig {
				own = append(own, fmt.Sprintf("%q=%q", c.Key, c.MaybeValue()))
			}
		}
		slices.Sort(own)
		out[d.Name] = strings.Join(own, "\n")
	}
	for _, name := range topics {
		if _, told := out[name]; !told {
			return nil, fmt.Errorf("settings of topic %s: the brokers tell none", name)
		}
	}
	return out, nil
}

// topicACLs reads who may do what on each topic by its name.
func topicACLs(ctx context.Context, admin Admin, topics []string) (map[string]string, error) {
	all := kadm.NewACLs().Topics().ResourcePatternType(kadm.ACLPatternLiteral).Operations().Allow().AllowHosts().Deny().DenyHosts()
	described, err := admin.DescribeACLs(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("rights on the target's topics: %w", err)
	}
	wanted := make(map[string][]string, len(topics))
	for _, t := range topics {
		wanted[t] = []string{}
	}
	for _, d := range described {
		if errors.Is(d.Err, kerr.SecurityDisabled) { // no authorizer, so no rights that could be given
			return map[string]string{}, nil
		}
		if d.Err != nil {
			return nil, fmt.Errorf("rights on the target's topics: %w", d.Err)
		}
		for _, a := range d.Described {
			if _, ours := wanted[a.Name]; ours {
				wanted[a.Name] = append(wanted[a.Name], fmt.Sprintf("%s %q from %q: %s", a.Permission, a.Principal, a.Host, a.Operation))
			}
		}
	}
	out := make(map[string]string, len(topics))
	for name, rights := range wanted {
		slices.Sort(rights)
		out[name] = strings.Join(rights, "\n")
	}
	return out, nil
}

// idleGroups reads what the groups without a member have committed.
func idleGroups(ctx context.Context, admin Admin) (map[string]string, error) {
	listed, err := admin.ListGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("the target's groups: %w", err)
	}
	var idle []string
	for _, g := range listed.Sorted() {
		if g.State == "" {
			return nil, fmt.Errorf("the target's groups: the brokers do not tell which have a member, as they do from 2.6 on (KIP-518)")
		}
		if g.State == "Empty" && (g.ProtocolType == "consumer" || g.ProtocolType == "") {
			idle = append(idle, g.Group)
		}
	}
	out := make(map[string]string, len(idle))
	for some := range slices.Chunk(idle, groupsAtOnce) {
		for _, g := range admin.FetchManyOffsets(ctx, some...) {
			if errors.Is(g.Err, kerr.GroupIDNotFound) { // it is gone meanwhile
				continue
			}
			if g.Err != nil {
				return nil, fmt.Errorf("offsets of group %s on the target: %w", g.Group, g.Err)
			}
			var at []string
			for _, o := range g.Fetched.Sorted() {
				if o.Err != nil {
					return nil, fmt.Errorf("offset of group %s for %s-%d on the target: %w", g.Group, o.Topic, o.Partition, o.Err)
				}
				at = append(at, fmt.Sprintf("%s-%d %d", o.Topic, o.Partition, o.At))
			}
			out[g.Group] = strings.Join(at, "\n")
		}
	}
	return out, ctx.Err()
}

// flowTopics reads the ends of the topics that MirrorMaker 2 keeps for its flows.
func flowTopics(ctx context.Context, admin Admin) (map[string]string, error) {
	all, err := fresh.Topics(ctx, admin)
	if err != nil && !errors.Is(err, fresh.ErrNoClusterID) {
		return nil, err
	}
	var names []string
	for name, t := range all.Topics {
		if t.Err == nil && preflight.IsFlowTopic(name) {
			names = append(names, name)
		}
	}
	out := map[string]string{}
	if len(names) == 0 {
		return out, nil
	}
	ends, err := fresh.List(ctx, admin, "end", admin.ListEndOffsets, names...)
	if err != nil {
		return nil, err
	}
	for _, tp := range slices.SortedFunc(maps.Keys(ends), func(a, b offsetmap.TopicPartition) int { return cmp.Compare(a.Partition, b.Partition) }) {
		out[tp.Topic] += fmt.Sprintf("%d:%s ", tp.Partition, ends[tp].Offset)
	}
	return out, nil
}
