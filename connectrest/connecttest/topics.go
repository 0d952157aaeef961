package connecttest

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// topicFilter is DefaultTopicFilter: lists of regular expressions that must
// match the whole name; exclusion wins.
type topicFilter struct {
	include, exclude *pattern
}

func newTopicFilter(include, exclude string) (f topicFilter, err error) {
	if f.include, err = compileList(include); err != nil {
		return f, err
	}
	f.exclude, err = compileList(exclude)
	return f, err
}

func (f topicFilter) replicates(topic string) bool {
	return f.include.matches(topic) && !f.exclude.matches(topic)
}

// pattern is a compiled list of regular expressions. A nil pattern, of a blank
// list, matches nothing.
type pattern struct{ re *regexp.Regexp }

func (p *pattern) matches(s string) bool { return p != nil && p.re.MatchString(s) }

// compileList is MirrorUtils.compilePatternList: the entries are joined with |
// before they are compiled, so a comma within a quantifier breaks it.
func compileList(list string) (*pattern, error) {
	entries := splitList(list)
	if len(entries) == 0 {
		return nil, nil
	}
	joined := strings.Join(entries, "|")
	if err := checkJavaPattern(joined); err != nil {
		return nil, err
	}
	if _, err := regexp.Compile(joined); err != nil {
		return nil, patternError(joined, err)
	}
	whole, err := regexp.Compile(`\A(?:` + joined + `)\z`)
	if err != nil { // a quotation that does not end goes on to the end of the list
		whole, err = regexp.Compile(`\A(?:` + joined + `\E)\z`)
	}
	if err != nil {
		return nil, patternError(joined, err)
	}
	return &pattern{whole}, nil
}

var (
	notInGo    = regexp.MustCompile(`\(\?(?:[=!>]|<[=!])|\\[1-9]|[*+?}]\+|&&`)
	quantifier = regexp.MustCompile(`^\{\d+(?:,\d*)?\}`)
)

// checkJavaPattern refuses what Go reads in another way than Java: a brace that
// is no quantifier, which Go takes literally, and constructs that Go lacks.
func checkJavaPattern(p string) error {
	if m := notInGo.FindString(p); m != "" {
		return syntaxException(fmt.Sprintf("connecttest has Go's regular expressions, which lack %q\n%s", m, p))
	}
	inClass := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\' && strings.HasPrefix(p[i+1:], "Q"):
			end := strings.Index(p[i:], `\E`)
			if end < 0 {
				return nil
			}
			i += end + 1
		case c == '\\':
			i++
		case inClass:
			inClass = c != ']'
		case c == '[':
			inClass = true
			if strings.HasPrefix(p[i+1:], "]") || strings.HasPrefix(p[i+1:], "^]") {
				i = i + strings.IndexByte(p[i:], ']') // a bracket that comes first is a member of the class
			}
		case c == '{' && !quantifier.MatchString(p[i:]):
			return syntaxException(fmt.Sprintf("Illegal repetition near index %d\n%s", i, p))
		}
	}
	return nil
}

func patternError(p string, err error) error {
	what := err.Error()
	if se, ok := errors.AsType[*syntax.Error](err); ok {
		switch se.Code {
		case syntax.ErrMissingBracket:
			what = "Unclosed character class"
		case syntax.ErrMissingParen:
			what = "Unclosed group"
		case syntax.ErrUnexpectedParen:
			what = "Unmatched closing ')'"
		case syntax.ErrMissingRepeatArgument:
			what = fmt.Sprintf("Dangling meta character '%s'", se.Expr)
		default:
			what = se.Code.String()
		}
	}
	return syntaxException(what + " near index 0\n" + p)
}

func syntaxException(message string) error {
	return &javaError{"java.util.regex.PatternSyntaxException", message, "java.util.regex.Pattern.error"}
}

// replicationPolicy is DefaultReplicationPolicy, or IdentityReplicationPolicy.
type replicationPolicy struct {
	identity                     bool
	sourceAlias                  string
	separator, internalSeparator string
	allInternals                 bool // before 4.0: every *.internal and *-internal is internal
}

const heartbeats = "heartbeats"

// renames reports whether the default policy decides: always, or for a name that
// ends in heartbeats, which the identity policy hands over to it.
func (p replicationPolicy) renames(topic string) bool {
	return !p.identity || strings.HasSuffix(topic, heartbeats)
}

// remoteTopic is the name on the target.
func (p replicationPolicy) remoteTopic(topic string) string {
	if p.renames(topic) {
		return p.sourceAlias + p.separator + topic
	}
	return topic
}

// topicSource is the alias of the cluster that a topic came from, "" for none.
// The identity policy says of every topic that it came from the source.
func (p replicationPolicy) topicSource(topic string) string {
	if !p.renames(topic) {
		return p.sourceAlias
	}
	alias, rest, ok := strings.Cut(topic, p.separator)
	if !ok || strings.Trim(rest, p.separator) == "" {
		return "" // String.split drops trailing empty parts
	}
	return alias
}

func (p replicationPolicy) upstreamTopic(topic string) string {
	if !p.renames(topic) {
		return topic
	}
	source := p.topicSource(topic)
	if source == "" {
		return ""
	}
	return topic[len(source)+len(p.separator):]
}

func (p replicationPolicy) isHeartbeats(topic string) bool {
	for {
		up := p.upstreamTopic(topic)
		if up == "" || up == topic {
			return topic == heartbeats
		}
		topic = up
	}
}

// isCycle reports whether the topic was already on the target. With equal
// aliases and the identity policy that is every topic.
func (p replicationPolicy) isCycle(topic, target string) bool {
	for {
		source := p.topicSource(topic)
		if source == "" {
			return false
		}
		if source == target {
			return true
		}
		up := p.upstreamTopic(topic)
		if up == "" || up == topic {
			return false
		}
		topic = up
	}
}

// isInternal is ReplicationPolicy.isInternalTopic: never copied, whatever the
// filter says.
func (p replicationPolicy) isInternal(topic string) bool {
	if strings.HasPrefix(topic, "__") || strings.HasPrefix(topic, ".") {
		return true
	}
	suffix := p.internalSeparator + "internal"
	if p.allInternals {
		return strings.HasSuffix(topic, suffix) || strings.HasSuffix(topic, ".internal") || strings.HasSuffix(topic, "-internal")
	}
	return strings.HasPrefix(topic, "mm2") && strings.HasSuffix(topic, suffix) ||
		strings.HasSuffix(topic, p.internalSeparator+"checkpoints"+suffix)
}
