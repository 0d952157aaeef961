package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// groupOffsets prints what a group has committed, and writes it to the file into
// when it is not empty.
func (a *app) groupOffsets(ctx context.Context, bootstrap []string, group string, topics []string, into string) error {
	client, err := kgo.NewClient(clientOptions(bootstrap)...)
	if err != nil {
		return usagef("--bootstrap: %w", err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	read, err := flinkstate.ReadGroup(ctx, admin, group, topics...)
	if err != nil {
		return fmt.Errorf("offsets: %w", err)
	}
	p := groupPositions{
		APIVersion: offsetmap.APIVersion, Kind: flinkmm2.PositionsKind, From: offsetmap.FromGroup,
		Location: strings.Join(bootstrap, ","),
		Sources:  []groupSource{{Group: group, Kind: "ConsumerGroup", Partitions: read.Positions}},
		Warnings: read.Warnings,
	}
	document, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	document = append(document, '\n')
	if err := a.print(document, func(w io.Writer) {
		fmt.Fprintf(w, "group %s on %s, %d partitions\n", group, p.Location, len(read.Positions))
		positionRows(w, read.Positions)
		for _, warning := range p.Warnings {
			fmt.Fprintf(w, "\nwarning %s: %s\n", warning.Code, warning.Text)
		}
	}); err != nil {
		return err
	}
	return a.keepPositions(document, into)
}
