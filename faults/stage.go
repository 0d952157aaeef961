package faults

import (
	"time"

	"github.com/flinkmm2/flinkmm2/connectrest"
	"github.com/flinkmm2/flinkmm2/internal/cutover"
	"github.com/flinkmm2/flinkmm2/internal/lab"
)

const (
	flushEvery   = 5 * time.Second // a worker commits offsets
	flushTimeout = "3000"          // its offset.flush.timeout.ms
)

// workerProperties are those of every worker of the stage.
func workerProperties() lab.Properties {
	return lab.Properties{
		"offset.flush.timeout.ms": flushTimeout, "task.shutdown.graceful.timeout.ms": "5000",
		// So long a worker that was killed stays a member, and the one that comes after it waits.
		"session.timeout.ms": "6000", "heartbeat.interval.ms": "2000",
		// So long the tasks of a worker that has left wait for it to come back.
		"scheduled.rebalance.max.delay.ms": "3000",
	}
}

// LabOptions are those of the stage that cells run on, with the program's connections to
// the brokers led through a network.
func LabOptions(through *Network) lab.Options {
	// A broker that was killed is not let in again before its session is over.
	patient := lab.Properties{"broker.session.timeout.ms": "10000", "initial.broker.registration.timeout.ms": "180000"}
	return lab.Options{OffsetFlushInterval: flushEvery, Source: patient, Target: patient, Worker: workerProperties(), Front: through.Front}
}

// OnLab is the stage of a lab that [LabOptions] made.
func OnLab(l *lab.Lab, through *Network) (*Stage, error) {
	version, err := connectrest.ParseVersion(l.Version)
	if err != nil {
		return nil, err
	}
	return &Stage{
		Stage: cutover.Stage{
			Version: version, Source: l.Source.Bootstrap, Target: l.Target.Bootstrap, Connect: l.Worker.RESTURL,
			FlushTimeout: 4 * time.Second, Patience: time.Minute,
		},
		Lab: l, Through: through, Clusters: lab.SourceClusterID + " to " + lab.TargetClusterID,
	}, nil
}
