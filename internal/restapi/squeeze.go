package restapi

import "io"

// squeeze makes of each run of white space between the tokens of JSON one
// space. json.Decoder.Token looks at a run anew with each read, so that a body
// of white space, bounded as it is, would take minutes.
type squeeze struct {
	r       io.Reader
	quoted  bool // within a string
	escaped bool // after a backslash in it
	space   bool // after a space that was kept
}

// Read reads into p and leaves out what need not be there.
func (s *squeeze) Read(p []byte) (int, error) {
	for {
		n, err := s.r.Read(p)
		kept := s.keep(p[:n])
		if kept > 0 || err != nil || n == 0 {
			return kept, err
		}
	}
}

func (s *squeeze) keep(p []byte) int {
	kept := 0
	for _, c := range p {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted:
			s.escaped = c == '\\'
			s.quoted = c != '"'
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			if s.space {
				continue
			}
			s.space, c = true, ' '
			p[kept] = c
			kept++
			continue
		default:
			s.quoted = c == '"'
		}
		s.space = false
		p[kept] = c
		kept++
	}
	return kept
}
