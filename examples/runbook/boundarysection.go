package main

import (
	"time"

	"github.com/flinkmm2/flinkmm2/preflight"
)

// boundarySection bounds how much is read around each C. What is missing has the
// default that preflight.DeliveryBounds tells.
type boundarySection struct {
	Samples *int64       `json:"samples"`
	Records *int64       `json:"records"`
	Bytes   *int64       `json:"bytes"`
	Within  durationText `json:"within"`
}

// mostSamples is below what is read beside each C in any case.
const mostSamples = 64

// checkBoundary makes the bounds of the section.
func (m *migration) checkBoundary(p *problems) {
	b := m.Boundary
	number := func(field string, value *int64) int64 {
		if value == nil {
			return 0
		}
		if *value < 1 {
			p.add("boundary."+field, "%d is not a number above 0; leave it out for the default", *value)
		}
		return *value
	}
	samples := number("samples", b.Samples)
	if samples > mostSamples {
		p.add("boundary.samples", "%d is more than %d records before each C", samples, mostSamples)
	}
	m.bounds = preflight.DeliveryBounds{Samples: int(min(samples, mostSamples)), Records: number("records", b.Records), Bytes: number("bytes", b.Bytes)}
	if b.Within == "" {
		return
	}
	var err error
	if m.bounds.Within, err = time.ParseDuration(string(b.Within)); err != nil || m.bounds.Within <= 0 {
		p.add("boundary.within", "%q is not a duration such as 10m", b.Within)
	}
}
