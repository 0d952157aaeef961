package preflight

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/flinkmm2/flinkmm2/internal/shown"
	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// Names are what a migration calls the things that remedies speak of: the
// placeholders of a remedy, such as <TOPIC>, are filled from them and from the
// scope of a finding. What is empty stays a placeholder, as does whatever nobody
// can know but whoever runs the command.
type Names struct {
	Source, Target Brokers
	// Worker is the base URL of a Connect worker. User and password are left out.
	Worker    string
	Connector string
	Alias     string // source.cluster.alias
	Group     string // the old job's consumer group
	Job       string // the old job's id
	Migration string // the file that runbook is given with -f
	// Topics has the migration's topics, and what each is called on the target;
	// empty where that is not known. Without them no scope is taken for a topic.
	Topics map[string]string
}

// Brokers are how Kafka's tools reach a cluster.
type Brokers struct {
	Servers string // HOST:PORT, comma-separated
	// CommandConfig is the file with the client's settings for --command-config;
	// empty where the tools need none.
	CommandConfig string
}

// Fill replaces in a text what names say of the whole migration. Text between
// backticks is a command: a value that is filled in there is quoted for a shell,
// or for JSON and URLs where it stands in such.
func (n Names) Fill(text string) string { return fill(text, n.filler().values) }

// placeholder is what a person, or Names, puts something in the place of.
var placeholder = regexp.MustCompile(`<[A-Z]+(?:-[A-Z]+)*>`)

// sourceOption and targetOption are the files of --command-config, which stand behind
// the brokers that they are for.
const (
	sourceOption = "<SOURCE> --command-config"
	targetOption = "<TARGET> --command-config"
)

// filler fills remedies: of many findings without working out the same again.
type filler struct {
	values map[string]string // of the whole migration, by placeholder; what is empty is not known
	topics map[string]onBoth // by their names on either side
}

// onBoth is what a topic is called.
type onBoth struct{ source, target string }

func (n Names) filler() filler {
	f := filler{topics: map[string]onBoth{}, values: map[string]string{
		"<SOURCE>": n.Source.Servers, "<TARGET>": n.Target.Servers,
		sourceOption: n.Source.CommandConfig, targetOption: n.Target.CommandConfig,
		"<WORKER>": withoutUser(n.Worker), "<CONNECTOR>": n.Connector, "<ALIAS>": n.Alias,
		"<GROUP>": n.Group, "<JOB>": n.Job, "<MIGRATION>": n.Migration,
	}}
	for source, target := range n.Topics {
		for _, name := range []string{source, target} {
			topic := onBoth{source, target}
			if other, twice := f.topics[name]; twice && other != topic {
				topic = onBoth{} // one topic's name on the source and another's on the target
			}
			f.topics[name] = topic
		}
	}
	delete(f.topics, "") // where the name on the target is not known
	return f
}

// withoutUser is empty for what is no URL: nobody knows what it holds.
func withoutUser(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return strings.TrimSuffix(u.String(), "/")
}

// remedy fills a remedy for a finding of the scope.
func (f filler) remedy(text, scope string) string {
	if scope == "" {
		return fill(text, f.values)
	}
	values := maps.Clone(f.values)
	values["<SCOPE>"], values["<OTHER>"] = scope, scope
	if _, err := strconv.Atoi(scope); err != nil { // else it counts several
		values["<TRANSACTIONAL-ID>"] = scope
	}
	place, _, _ := strings.Cut(scope, ":")
	f.place(values, place, strings.Contains(text, mirrorPartition))
	return fill(strings.ReplaceAll(text, "<PARTITION>:<COUNT>", "<SCOPE>"), values)
}

// place adds the partition or topic that a scope names. What Connect stores may be of any
// topic; else it has to be one of the migration's, and where orders-0 is a topic beside
// orders, nobody knows which of the two is meant.
func (f filler) place(values map[string]string, place string, stored bool) {
	topic, whole := f.topics[place]
	tp, err := offsetmap.ParseTopicPartition(place)
	if err == nil {
		ofTopic, known := f.topics[tp.Topic]
		switch {
		case stored:
			topic = onBoth{tp.Topic, ofTopic.target}
		case known && whole:
			return
		case known:
			topic = ofTopic
		}
		if stored || known {
			values["<PARTITION>"], values["<N>"] = place, strconv.Itoa(int(tp.Partition))
		}
	}
	values["<TOPIC>"], values["<TARGET-TOPIC>"] = topic.source, topic.target
}

func fill(text string, values map[string]string) string {
	parts := strings.Split(text, "`")
	for i, part := range parts {
		switch {
		case !placeholder.MatchString(part):
		case i%2 == 1 && i < len(parts)-1:
			all := words(part)
			for at, word := range all {
				all[at] = fillWord(word, values)
			}
			parts[i] = strings.Join(all, " ")
		default:
			parts[i] = replace(part, values, func(value string, _, _ int) (string, bool) { return value, true })
		}
	}
	return strings.Join(parts, "`")
}

// words parts a command of the catalogue.
func words(command string) []string {
	quoted := false
	return strings.FieldsFunc(command, func(r rune) bool {
		quoted = quoted != (r == '\'')
		return r == ' ' && !quoted
	})
}

func fillWord(word string, values map[string]string) string {
	switch {
	case !placeholder.MatchString(word):
		return word
	case strings.HasPrefix(word, `'{`):
		return fillJSON(word, values)
	case strings.HasPrefix(word, "'"):
		return word
	}
	put := func(quote func(string) string) string {
		return replace(word, values, func(value string, from, _ int) (string, bool) {
			if from > 0 && strings.HasPrefix(word, "<WORKER>/") {
				value = url.PathEscape(value)
			}
			return quote(value), true
		})
	}
	if placeholder.MatchString(put(func(string) string { return "" })) {
		return put(shown.Argument) // what is left is not quoted, so that a shell runs no such command
	}
	out := shown.Argument(put(func(value string) string { return value }))
	if file := values[word+" --command-config"]; file != "" {
		out += " --command-config " + shown.Argument(file)
	}
	return out
}

// fillJSON fills a word that is quoted JSON.
func fillJSON(word string, values map[string]string) string {
	inner := strings.Trim(word, "'")
	out := replace(inner, values, func(value string, from, to int) (string, bool) {
		if !strings.HasSuffix(inner[:from], `"`) || !strings.HasPrefix(inner[to:], `"`) {
			return value, json.Valid([]byte(value))
		}
		text, err := json.Marshal(value)
		if err != nil {
			return "", false
		}
		return string(text[1 : len(text)-1]), true
	})
	if out == inner {
		return word
	}
	return shown.Argument(out)
}

// replace puts values in the place of placeholders. A backtick would end a command in
// the text, and what cannot be seen is no name to show: there the placeholder stays.
func replace(text string, values map[string]string, as func(value string, from, to int) (string, bool)) string {
	var b strings.Builder
	done := 0
	for _, at := range placeholder.FindAllStringIndex(text, -1) {
		value := values[text[at[0]:at[1]]]
		if value == "" || strings.Contains(value, "`") || shown.Line(value) != value {
			continue
		}
		if out, ok := as(value, at[0], at[1]); ok {
			b.WriteString(text[done:at[0]])
			b.WriteString(out)
			done = at[1]
		}
	}
	return b.String() + text[done:]
}

// commands are what stands between backticks in a remedy.
func commands(text string) []string {
	out := []string{}
	parts := strings.Split(text, "`")
	for i := 1; i < len(parts)-1; i += 2 {
		if !slices.Contains(out, parts[i]) {
			out = append(out, parts[i])
		}
	}
	return out
}
