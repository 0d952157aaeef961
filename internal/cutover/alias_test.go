package cutover

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
)

// aliasIgnored is a client with a bug: it writes every offset under another
// alias, and hides that from whoever reads through it.
type aliasIgnored struct{ *connectrest.Client }

var right, wrong = []byte(`"cluster":"source"`), []byte(`"cluster":"old"`)

func renamed(all []connectrest.Offset, from, to []byte) []connectrest.Offset {
	out := slices.Clone(all)
	for i := range out {
		out[i].Partition = bytes.ReplaceAll(out[i].Partition, from, to)
	}
	return out
}

func (c aliasIgnored) AlterOffsetsInParts(ctx context.Context, name string, offsets []connectrest.Offset, opts ...connectrest.PartsOption) error {
	return c.Client.AlterOffsetsInParts(ctx, name, renamed(offsets, right, wrong), opts...)
}

func (c aliasIgnored) AwaitOffsets(ctx context.Context, name string, want func([]connectrest.Offset) error, within time.Duration) ([]connectrest.Offset, error) {
	return c.Client.AwaitOffsets(ctx, name, func(all []connectrest.Offset) error { return want(renamed(all, wrong, right)) }, within)
}

func (c aliasIgnored) AwaitStableOffsets(ctx context.Context, name string, quiet, within time.Duration) ([]connectrest.Offset, error) {
	all, err := c.Client.AwaitStableOffsets(ctx, name, quiet, within)
	return renamed(all, wrong, right), err
}
