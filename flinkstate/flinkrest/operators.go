package flinkrest

import "strings"

// Operators returns the names of the operators that are chained in the vertex,
// in the order in which its name has them. Flink joins them with " -> ", and
// where one feeds several writes "a -> (b, c -> d)"
// (StreamingJobGraphGenerator.createChainedName). A name that has these signs
// outside of brackets of its own is taken apart.
func (v Vertex) Operators() []string {
	var out []string
	groups, depth, from := 0, 0, 0 // depth is that of brackets that belong to a name
	take := func(to, next int) {
		if name := strings.TrimSpace(v.Name[from:to]); name != "" {
			out = append(out, name)
		}
		from = next
	}
	for i := 0; i < len(v.Name); i++ {
		switch c := v.Name[i]; {
		case c == '(' && strings.TrimSpace(v.Name[from:i]) == "":
			groups++
			from = i + 1
		case c == '(' || c == '[' || c == '{':
			depth++
		case depth > 0:
			if c == ')' || c == ']' || c == '}' {
				depth--
			}
		case c == ')' && groups > 0:
			take(i, i+1)
			groups--
		case c == ',' && groups > 0:
			take(i, i+1)
		case strings.HasPrefix(v.Name[i:], "->"):
			take(i, i+2)
			i++
		}
	}
	take(len(v.Name), len(v.Name))
	return out
}

// BeyondCopying returns those of Operators whose names are neither those that
// Flink gives to a source ("Source: …") nor those of a sink ("Sink: …", or
// "…: Writer" and "…: Committer" of FLIP-143). What an operator of such a name
// does is not known: a map may copy, and a filter may let everything through.
func (v Vertex) BeyondCopying() []string {
	var out []string
	for _, name := range v.Operators() {
		if !ofSourceOrSink(name) {
			out = append(out, name)
		}
	}
	return out
}

func ofSourceOrSink(name string) bool {
	for _, prefix := range []string{"Source: ", "Sink: "} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, suffix := range []string{": Writer", ": Committer", ": Global Committer"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}
