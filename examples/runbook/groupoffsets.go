package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

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
	Warnings   []flinkstate.Warning `json:"warnings"`
}

type groupSource struct {
	Group      string               `json:"group"`
	Kind       string               `json:"kind"`
	Partitions []offsetmap.Position `json:"partitions"`
}

// groupOffsets prints what a group has committed.
func (a *app) groupOffsets(ctx context.Context, want wanted) error {
	read, err := readGroup(ctx, want.bootstrap, want.group, want.topics)
	if err != nil {
		return fmt.Errorf("offsets: %w", err)
	}
	p := groupPositions{
		APIVersion: offsetmap.APIVersion, Kind: flinkmm2.PositionsKind, From: offsetmap.FromGroup,
		Location: strings.Join(want.bootstrap, ","),
		Sources:  []groupSource{{Group: want.group, Kind: "ConsumerGroup", Partitions: read.Positions}},
		Warnings: read.Warnings,
	}
	document, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	document = append(document, '\n')
	if err := a.print(document, func(w io.Writer) {
		fmt.Fprintf(w, "group %s on %s, %d partitions\n", want.group, p.Location, len(read.Positions))
		positionRows(w, read.Positions)
		warningLines(w, p.Warnings)
	}); err != nil {
		return err
	}
	return a.keepPositions(document, want.into)
}

func readGroup(ctx context.Context, bootstrap []string, group string, topics []string) (*flinkstate.Group, error) {
	client, err := kgo.NewClient(clientOptions(bootstrap)...)
	if err != nil {
		return nil, usagef("--bootstrap: %w", err)
	}
	defer client.Close()
	return flinkstate.ReadGroup(ctx, kadm.NewClient(client), group, topics...)
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
	Partitions flinkstate.Comparison `json:"partitions"`
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
	p := comparedPositions{
		Positions:  flinkmm2.Export(snapshot),
		Comparison: groupComparison{Group: want.group, Location: strings.Join(want.bootstrap, ","), Warnings: []flinkstate.Warning{}},
	}
	p.Sources = []flinkstate.Source{source}
	committed, err := readGroup(ctx, want.bootstrap, want.group, topicsOf(source))
	switch {
	case errors.Is(err, flinkstate.ErrNoGroup), errors.Is(err, flinkstate.ErrNoCommit):
		committed = &flinkstate.Group{GroupDescription: flinkstate.GroupDescription{ID: want.group}}
		p.Comparison.Warnings = append(p.Comparison.Warnings, flinkstate.Warning{Code: flinkstate.GroupAbsent, Text: err.Error()})
	case err != nil:
		return fmt.Errorf("offsets: %w", err)
	}
	p.Comparison.Partitions = flinkstate.Compare(source.Partitions, committed.Committed())
	document, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	document = append(document, '\n')
	if err := a.print(document, func(w io.Writer) { comparedTable(w, p, snapshot, source) }); err != nil {
		return err
	}
	return a.keepPositions(document, want.into)
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

func comparedTable(w io.Writer, p comparedPositions, snapshot *flinkstate.Snapshot, source flinkstate.Source) {
	positionsHead(w, p.Positions, snapshot)
	fmt.Fprintf(w, "group %s on %s: %s\n", p.Comparison.Group, p.Comparison.Location, p.Comparison.Partitions)
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
