package preflight

import (
	"fmt"
	"strings"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/mirrordef"
)

// definedKeys says which keys are read, by MirrorSourceConnector itself and by the
// clients behind its prefixes.
type definedKeys struct {
	version connectrest.Version
	worker  map[string]bool             // what the worker's plugin defines; nil where it was not asked
	unasked error                       // why it does not tell, where it was
	source  map[string][]mirrordef.Span // what any version of the connector defines
	clients map[mirrordef.Definition]map[string]mirrordef.Span
}

// clientPrefix is a beginning of keys of which the rest goes to a client
// (MirrorConnectorConfig, ConnectorConfig.CONNECTOR_CLIENT_PRODUCER_OVERRIDES_PREFIX).
type clientPrefix struct {
	prefix string
	of     mirrordef.Definition
}

func clientPrefixes() []clientPrefix {
	return []clientPrefix{
		{"source.consumer.", mirrordef.Consumer},
		{"consumer.", mirrordef.Consumer},
		{producerPrefix, mirrordef.Producer},
		{"source.admin.", mirrordef.Admin},
		{"target.admin.", mirrordef.Admin},
		{"admin.", mirrordef.Admin},
		{"source.cluster.", mirrordef.Admin}, // the rest of what is unread is config/unread-prefix
		{"target.cluster.", mirrordef.Admin},
	}
}

// ownPrefixes begin keys whose rest is the matter of a class that the config names,
// which no definition of the connector lists.
func ownPrefixes() []string {
	return []string{"key.converter.", "value.converter.", "header.converter.", "transforms.", "predicates.", "topic.creation.", "config.providers."}
}

// definedKeys works out which keys the connector has: those that the worker tells,
// and the built-in table where it was not asked or does not tell.
func (c *Case) definedKeys() (definedKeys, error) {
	d := definedKeys{source: map[string][]mirrordef.Span{}}
	d.version, _ = c.Facts.MirrorVersion() // an unknown one has the keys of all
	table, err := mirrordef.Source()
	if err != nil {
		return definedKeys{}, err
	}
	for _, k := range table {
		d.source[k.Name] = append(d.source[k.Name], k.Span)
	}
	if d.clients, err = mirrordef.Names(); err != nil {
		return definedKeys{}, err
	}
	if s := c.Facts.Surroundings; s != nil {
		keys, ok := s.KnownKeys.Get()
		d.unasked = s.KnownKeys.Err()
		if ok {
			d.worker = map[string]bool{}
			for _, k := range keys {
				d.worker[k.Name] = true
			}
			if !d.worker[keySourceAlias] { // which every version has
				d.worker, d.unasked = nil, fmt.Errorf("the worker lists %d keys of the plugin, without %s", len(keys), keySourceAlias)
			}
		}
	}
	return d, nil
}

// holds reports whether a version has what stands in the table with the span. Every
// bound of the table is the first release of a line.
func holds(s mirrordef.Span, v connectrest.Version) bool {
	if !v.Known() {
		return true
	}
	return v.AtLeast(s.Since[0], s.Since[1]) && (s.Until == mirrordef.Version{} || !v.AtLeast(s.Until[0], s.Until[1]))
}

// has reports whether the connector itself reads a key.
func (d definedKeys) has(key string) bool {
	if d.worker != nil {
		return d.worker[key]
	}
	for _, s := range d.source[key] {
		if holds(s, d.version) {
			return true
		}
	}
	return false
}

// everHad reports whether any version of the connector has a key.
func (d definedKeys) everHad(key string) bool { return len(d.source[key]) > 0 }

// client returns the client setting that a key names, and false where the key has
// none of the prefixes.
func client(key string) (p clientPrefix, name string, ok bool) {
	for _, p := range clientPrefixes() {
		if name, ok := strings.CutPrefix(key, p.prefix); ok {
			return p, name, true
		}
	}
	return clientPrefix{}, "", false
}

// clientHas reports whether a client of the version has a setting.
func (d definedKeys) clientHas(of mirrordef.Definition, name string) bool {
	s, known := d.clients[of][name]
	return known && holds(s, d.version)
}

// ownKey reports whether a key belongs to a class that the config names.
func ownKey(key string) bool {
	for _, prefix := range ownPrefixes() {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// toldBy says where the knowledge comes from, for the text of a finding.
func (d definedKeys) toldBy() string {
	newest := mirrordef.Newest()
	switch {
	case d.worker != nil:
		return "as the worker's plugin defines its keys"
	case !d.version.Known():
		return "in any version up to " + newest.String()
	case d.version.Compare(connectrest.KafkaVersion(newest[0], newest[1]+1)) >= 0:
		return "as far as " + newest.String() + ", the newest version whose keys are known here"
	default:
		return "in MirrorMaker 2 " + d.version.String()
	}
}
