package offsetmap

import "iter"

// The functions here take canonical texts apart without copying them: a plan
// has up to 100,000 rows, which need not all be there twice.

// elements returns the elements of a canonical array.
func elements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		rest := array[1 : len(array)-1]
		for i := 0; len(rest) > 0; i++ {
			n := valueLength(rest)
			if !yield(i, rest[:n]) {
				return
			}
			rest = rest[min(n+1, len(rest)):] // the comma
		}
	}
}

// find returns the bounds of the value of one member of a canonical object,
// and false when it has none of that name.
func find(object []byte, name string) (start, end int, ok bool) {
	for at := 1; at < len(object)-1; at = end + 1 {
		n := stringLength(object[at:])
		start = at + n + 1 // the colon
		end = start + valueLength(object[start:])
		if string(object[at+1:at+n-1]) == name {
			return start, end, true
		}
	}
	return 0, 0, false
}

// valueLength returns the length of the value that s begins with.
func valueLength(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i += stringLength(s[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// stringLength returns the length of the string token that s begins with.
func stringLength(s []byte) int {
	i := 1
	for ; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i + 1
}
