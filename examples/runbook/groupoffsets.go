package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flinkmm2/flinkmm2"
	"github.com/flinkmm2/flinkmm2/flinkstate"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// groupPositions is the Positions document of a consumer group. It has no
// metadata version, no checkpoint and no operators.
type groupPositions struct {
	APIVersion string               `json:"apiVersion"`
	Kind       string               `json:"kind"`
	From       offsetmap.Origin     `json:"from"`
	Location   string               `json:"location"`
	Sources    []groupSource        `json:"sources"`
	Movement   movement             `json:"movement"`
	Warnings   []flinkstate.Warning `json:"warnings"`
}

type groupSource struct {
	flinkstate.GroupDescription
	Kind       string               `json:"kind"`
	Partitions []offsetmap.Position `json:"partitions"`
}

// groupOffsets prints what a group has committed.
func (a *app) groupOffsets(ctx context.Context, want wanted) error {
	client, err := a.openGroup(want)
	if err != nil {
		return err
	}
	defer client.client.Close()
	read, stood, err := client.look(ctx, want.topics)
	if err != nil {
		return &unreadGroupError{err}
	}
	p := groupPositions{
		APIVersion: offsetmap.APIVersion, Kind: flinkmm2.PositionsKind, From: offsetmap.FromGroup,
		Location: strings.Join(want.bootstrap, ","),
		Sources:  []groupSource{{GroupDescription: read.GroupDescription, Kind: "ConsumerGroup", Partitions: read.Positions}},
		Movement: movementOf(stood),
		Warnings: read.Warnings,
	}
	document, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	document = append(document, '\n')
	if err := a.print(document, func(w io.Writer) {
		fmt.Fprintf(w, "group %s on %s, %d partitions\n", want.group, p.Location, len(read.Positions))
		groupLines(w, read.GroupDescription, stood)
		positionRows(w, read.Positions)
		warningLines(w, p.Warnings)
	}); err != nil {
		return err
	}
	if err := moving(want.group, stood); err != nil {
		return err
	}
	return a.keepPositions(ctx, document, want.into)
}

// comparedPositions is the Positions document of a savepoint, and how a group
// stands to it.
type comparedPositions struct {
	*flinkmm2.Positions
	Comparison groupComparison `json:"comparison"`
}

type groupComparison struct {
	Group      string                `json:"group"`
	Location   string                `json:"location"`
	Type       flinkstate.GroupType  `json:"type,omitempty"` // none where the group is not there
	State      string                `json:"state,omitempty"`
	Partitions flinkstate.Comparison `json:"partitions"`
	Movement   movement              `json:"movement"`
	Warnings   []flinkstate.Warning  `json:"warnings"`
}

// comparedOffsets prints the positions of one source of a savepoint beside what a
// group has committed. A group that is not there, or has committed nothing, leaves
// every partition missing, with a warning.
func (a *app) comparedOffsets(ctx context.Context, want wanted) error {
	snapshot, err := readSavepoint(ctx, want.savepoint, want.pathMap, want.cluster)
	if err != nil {
		return fmt.Errorf("offsets: %w", err)
	}
	source, err := snapshot.Source(want.operator)
	if err != nil {
		return fmt.Errorf("offsets: %w", err)
	}
	// A group has its offsets on one cluster, by topic: of two clusters with the
	// same topic each would be taken for the other.
	if all := clustersOf(source); len(all) > 1 {
		return usagef("offsets: source %s reads %d clusters (%s), and a group is of one: name it with --cluster, or with positions.cluster in the file", source.OperatorID, len(all), strings.Join(all, ", "))
	}
	client, err := a.openGroup(want)
	if err != nil {
		return err
	}
	defer client.client.Close()
	p := comparedPositions{
		Positions:  flinkmm2.Export(snapshot),
		Comparison: groupComparison{Group: want.group, Location: strings.Join(want.bootstrap, ","), Warnings: []flinkstate.Warning{}},
	}
	p.Sources = []flinkstate.Source{source}
	warn := func(code flinkstate.WarningCode, format string, args ...any) {
		p.Comparison.Warnings = append(p.Comparison.Warnings, flinkstate.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	read, stood, err := client.look(ctx, topicsOf(source))
	switch {
	case errors.Is(err, flinkstate.ErrNoGroup), errors.Is(err, flinkstate.ErrNoCommit):
		read = &flinkstate.Group{}
		warn(flinkstate.GroupAbsent, "%v: the name is another, or %s", err, flinkstate.OffsetExpiry)
	case err != nil:
		return &unreadGroupError{err}
	}
	p.Comparison.Type, p.Comparison.State, p.Comparison.Movement = read.Type, read.State, movementOf(stood)
	compared, err := flinkstate.Compare(source.Partitions, read.Committed()).Explain(ctx, client.client, want.isolation)
	if err != nil {
		warn(flinkstate.DifferenceUnexplained, "%v", err)
	}
	p.Comparison.Partitions = compared
	if len(read.Positions) > 0 {
		p.Comparison.Warnings = append(p.Comparison.Warnings, lacking(compared)...)
	}
	for _, w := range read.Warnings {
		if w.Code == flinkstate.GroupJoined {
			p.Comparison.Warnings = append(p.Comparison.Warnings, w)
		}
	}
	document, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	document = append(document, '\n')
	if err := a.print(document, func(w io.Writer) { comparedTable(w, p, snapshot, source, read.GroupDescription, stood) }); err != nil {
		return err
	}
	a.explainWarnings(p.Warnings)
	if err := moving(want.group, stood); err != nil {
		return err
	}
	return a.keepPositions(ctx, document, want.into)
}

// clustersOf are the clusters of a DynamicKafkaSource that it has partitions of.
func clustersOf(source flinkstate.Source) []string {
	var clusters []string
	for _, p := range source.Partitions {
		if p.Cluster != "" {
			clusters = append(clusters, p.Cluster)
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}

func topicsOf(source flinkstate.Source) []string {
	var topics []string
	for _, p := range source.Partitions { // sorted
		if n := len(topics); n == 0 || topics[n-1] != p.Topic {
			topics = append(topics, p.Topic)
		}
	}
	return topics
}

func comparedTable(w io.Writer, p comparedPositions, snapshot *flinkstate.Snapshot, source flinkstate.Source, group flinkstate.GroupDescription, stood flinkstate.Movement) {
	positionsHead(w, p.Positions, snapshot)
	fmt.Fprintf(w, "group %s on %s: %s\n", p.Comparison.Group, p.Comparison.Location, p.Comparison.Partitions)
	groupLines(w, group, stood)
	sourceHead(w, source)
	named := map[offsetmap.TopicPartition]offsetmap.Position{}
	for _, one := range source.Partitions {
		named[one.TopicPartition] = one
	}
	line(w, append(slices.Clone(positionHeads), "COMMITTED", "GROUP")...)
	for _, c := range p.Comparison.Partitions {
		cells := []any{c.TopicPartition, "-", "not in the savepoint", "-"}
		if one, there := named[c.TopicPartition]; there {
			cells = positionCells(one)
		}
		line(w, append(cells, orDash(c.Committed), c)...)
	}
	warningLines(w, p.Warnings)
	warningLines(w, p.Comparison.Warnings)
}
