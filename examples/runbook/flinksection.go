package main

import (
	"github.com/flinkmm2/flinkmm2/flinkstate/flinkrest"
)

// flinkSection says who knows the old job. All of it may be missing: then the end
// of the job is attested alone.
type flinkSection struct {
	REST string `json:"rest"`
	Job  string `json:"job"`
	Name string `json:"name"`
}

// checkFlink makes the job of the section. What has the form of an id is one.
func (m *migration) checkFlink(p *problems) {
	f := m.Flink
	if f == (flinkSection{}) {
		return
	}
	if f.REST == "" {
		p.add("flink.rest", "missing: the base URL of Flink's REST API or history server, such as http://jobmanager:8081")
	} else if _, err := flinkrest.New(f.REST); err != nil {
		p.add("flink.rest", "%w", err)
	}
	id, err := flinkrest.ParseJobID(f.Job)
	switch {
	case f.Job == "" && f.Name == "":
		p.add("flink.job", "missing: the id of the old job, or its name")
	case err == nil:
		m.job = flinkrest.Job{ID: id, Name: f.Name}
	case f.Job == "" || f.Name == "":
		m.job = flinkrest.Job{Name: f.Job + f.Name}
	default:
		p.add("flink.job", "%w; flink.name is there too, and beside a name it must be an id", err)
	}
}
