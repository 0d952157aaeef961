package lab

import "regexp"

// portTaken matches what a broker (Kafka's SocketServer) and a worker (Jetty) log about a port that somebody else has.
var portTaken = regexp.MustCompile(`BindException|Address already in use`)

// ports are those of one process.
type ports struct {
	reserve func() (port int, release func(), err error)
	held    []func()
}

// take gives up what is held and returns n other ports.
func (p *ports) take(n int) ([]int, error) {
	old := p.held
	p.held = nil
	// Released last, so that a port that turned out to be taken does not come back at once.
	defer func() {
		for _, release := range old {
			release()
		}
	}()
	got := make([]int, n)
	for i := range got {
		port, release, err := p.reserve()
		if err != nil {
			return nil, err
		}
		got[i] = port
		p.held = append(p.held, release)
	}
	return got, nil
}

func (p *ports) release() {
	for _, release := range p.held {
		release()
	}
	p.held = nil
}
