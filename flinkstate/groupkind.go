package flinkstate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

// GroupType is the protocol by which the members of a group agree, in the words
// of ListGroups.
type GroupType string

const (
	// ClassicGroup is a group of JoinGroup and SyncGroup. So is one that is only
	// committed to, such as a KafkaSource's.
	ClassicGroup GroupType = "classic"
	// ConsumerGroup is one of the next generation's protocol (KIP-848, Kafka 4.0).
	ConsumerGroup GroupType = "consumer"
	// ShareGroup is one whose consumers share partitions (KIP-932).
	ShareGroup GroupType = "share"
	// StreamsGroup is one of Kafka Streams (KIP-1071).
	StreamsGroup GroupType = "streams"
)

// GroupDescription is what the brokers say of a group beside its offsets.
//
// Nothing of it shows that a Flink job has stopped. A KafkaSource assigns its
// partitions itself and only commits, so its group is classic and Empty, with
// neither members nor a protocol, before, while and after the job runs.
type GroupDescription struct {
	ID   string    `json:"group"`
	Type GroupType `json:"type"`
	// State is the broker's word. Of a classic group: Empty, PreparingRebalance,
	// CompletingRebalance, Stable or Dead; of one of KIP-848 also Assigning and
	// Reconciling.
	State string `json:"state"`
	// ProtocolType is what the members of a classic group are, such as "consumer".
	// It is empty for a group that never had one, which is only committed to, and
	// stays when the last member has left.
	ProtocolType string `json:"protocolType"`
	// Protocol is the assignor that the members chose; empty where there is none.
	Protocol string `json:"protocol,omitempty"`
	// Members are sorted by client id and host.
	Members []GroupMember `json:"members,omitempty"`
}

// GroupMember is a client that holds a group.
type GroupMember struct {
	ClientID string `json:"clientId"`
	Host     string `json:"host"`
}

// String names the client: `client "billing" at /10.0.0.1`.
func (m GroupMember) String() string { return fmt.Sprintf("client %q at %s", m.ClientID, m.Host) }

// String says of what kind and state the group is: "classic group copy is Empty,
// without members or protocol".
func (d GroupDescription) String() string {
	text := fmt.Sprintf("%s group %s is %s", d.Type, d.ID, d.State)
	switch {
	case len(d.Members) > 0:
		var clients []string
		for _, m := range d.Members {
			clients = append(clients, m.String())
		}
		return text + ", held by " + strings.Join(clients, ", ")
	case d.Type == ClassicGroup && d.ProtocolType == "":
		return text + ", without members or protocol"
	default:
		return text + ", without members now"
	}
}

// joined reports whether the group has members or is of a protocol that only
// members bring with them.
func (d GroupDescription) joined() bool {
	return len(d.Members) > 0 || d.Type != ClassicGroup || d.ProtocolType != ""
}

// Active reports whether the group is held by members now, or about to be.
func (d GroupDescription) Active() bool { return d.State != groupEmpty || len(d.Members) > 0 }

var errNoGroupName = errors.New("consumer group: no name was given")

const (
	groupEmpty = "Empty"
	groupDead  = "Dead"
)

// holdsOffsets refuses a group whose offsets, if any, are not a consumer's.
func (d GroupDescription) holdsOffsets() error {
	const consumers = "consumer"
	switch {
	case d.Type == ClassicGroup && (d.ProtocolType == "" || d.ProtocolType == consumers), d.Type == ConsumerGroup:
		return nil
	case d.Type == ClassicGroup:
		return fmt.Errorf("group %s: %w: its members are of the protocol type %q", d.ID, ErrNotConsumerGroup, d.ProtocolType)
	default:
		return fmt.Errorf("group %s: %w: it is a %s group", d.ID, ErrNotConsumerGroup, d.Type)
	}
}

// Describe finds out of what kind a group is, in which state, and who holds it.
// Groups of every kind are found; one that does not exist is an [ErrNoGroup].
//
// DescribeGroups is of the classic protocol alone, and answers for any other
// group as for one that does not exist. That one is then looked for with
// ListGroups, which tells the type from Kafka 3.8 on. A type that is not told, or
// brokers that contradict one another, are an error.
func (r *GroupReader) Describe(ctx context.Context, group string) (GroupDescription, error) {
	if group == "" {
		return GroupDescription{}, errNoGroupName
	}
	described, err := r.admin.DescribeGroups(ctx, group)
	one, there := described[group]
	if err == nil {
		err = one.Err
	}
	switch {
	case errors.Is(err, kerr.GroupIDNotFound), err == nil && there && one.State == groupDead:
		return r.describeOther(ctx, group)
	case err != nil:
		return GroupDescription{}, fmt.Errorf("consumer group %s: %w", group, err)
	case !there || one.State == "":
		return GroupDescription{}, fmt.Errorf("consumer group %s: the brokers do not tell its state", group)
	}
	d := GroupDescription{ID: group, Type: ClassicGroup, State: one.State, ProtocolType: one.ProtocolType, Protocol: one.Protocol}
	for _, m := range one.Members {
		d.Members = append(d.Members, GroupMember{m.ClientID, m.ClientHost})
	}
	sortMembers(d.Members)
	return d, nil
}

func (r *GroupReader) describeOther(ctx context.Context, group string) (GroupDescription, error) {
	var none GroupDescription
	listed, err := r.admin.ListGroups(ctx)
	one, there := listed[group]
	switch {
	case there: // whatever other brokers did not answer
	case err != nil:
		return none, fmt.Errorf("consumer group %s: whether it is of another kind: %w", group, err)
	default:
		return none, fmt.Errorf("consumer group %s: %w", group, ErrNoGroup)
	}
	d := GroupDescription{ID: group, Type: GroupType(strings.ToLower(one.GroupType)), State: one.State, ProtocolType: one.ProtocolType}
	switch {
	case d.Type == "" || d.State == "":
		return none, fmt.Errorf("group %s: the brokers list it and do not tell its type and state (Kafka 3.8 does): whether it is a consumer group is unknown", group)
	case d.Type == ClassicGroup && d.State == groupDead:
		return none, fmt.Errorf("consumer group %s: %w", group, ErrNoGroup)
	case d.Type == ClassicGroup:
		return none, fmt.Errorf("consumer group %s: the brokers list it as %s and classic, and cannot describe it: it is changing, ask again", group, d.State)
	case d.Type != ConsumerGroup:
		return d, nil
	}
	described, err := r.admin.DescribeConsumerGroups(ctx, group)
	next := described[group]
	if err = errors.Join(err, next.Err); err != nil {
		return none, fmt.Errorf("consumer group %s: its members: %w", group, err)
	}
	if next.State != "" {
		d.State = next.State
	}
	d.Protocol = next.AssignorName
	for _, m := range next.Members {
		d.Members = append(d.Members, GroupMember{m.ClientID, m.ClientHost})
	}
	sortMembers(d.Members)
	return d, nil
}

func sortMembers(members []GroupMember) {
	slices.SortFunc(members, func(a, b GroupMember) int {
		if n := strings.Compare(a.ClientID, b.ClientID); n != 0 {
			return n
		}
		return strings.Compare(a.Host, b.Host)
	})
}
