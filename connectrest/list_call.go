package connectrest

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// Expansion is what [Client.ListConnectors] reads of each connector (KIP-465).
type Expansion string

// The expansions that workers know. They ignore others without a word.
const (
	ExpandStatus Expansion = "status"
	ExpandInfo   Expansion = "info"
)

// ListedConnector is one connector of a list. What was not asked for is zero.
type ListedConnector struct {
	Status Status        `json:"status"`
	Info   ConnectorInfo `json:"info"`
}

// ConnectorList is all connectors of a cluster by name.
type ConnectorList map[string]ListedConnector

// Sorted returns the connectors in the order of their names.
func (l ConnectorList) Sorted() iter.Seq2[string, ListedConnector] { return sorted(l) }

// ListConnectors lists all connectors with what expand says of each, in one
// request. Without expand, it reads all there is. A connector that is deleted
// meanwhile is left out, and one that has no status yet too: the worker leaves it
// out without a word, so absence here proves nothing. Ask [Client.Connector].
func (c *Client) ListConnectors(ctx context.Context, expand ...Expansion) (ConnectorList, error) {
	if len(expand) == 0 {
		expand = []Expansion{ExpandStatus, ExpandInfo}
	}
	query := url.Values{}
	for _, e := range expand {
		if e != ExpandStatus && e != ExpandInfo {
			return nil, fmt.Errorf("%w: list of connectors: %q is no expansion: want %s or %s", ErrBadRequest, e, ExpandStatus, ExpandInfo)
		}
		query.Add("expand", string(e))
	}
	var out ConnectorList
	err := c.do(ctx, request{
		method: http.MethodGet, path: []string{"connectors"}, query: query, out: &out, list: true,
		valid: func() error { return out.check(expand) },
		clean: func(scrub func(string) string) {
			for name, one := range out {
				cleanStatus(&one.Status)(scrub)
				out[name] = one
			}
		},
	})
	return out, err
}

func (l ConnectorList) check(expand []Expansion) error {
	if l == nil {
		return missing(true, "object")
	}
	for name, one := range l.Sorted() {
		if slices.Contains(expand, ExpandStatus) {
			if err := one.Status.check(name); err != nil {
				return err
			}
		}
		if slices.Contains(expand, ExpandInfo) {
			if err := one.Info.check(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// sorted iterates over m in the order of its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
