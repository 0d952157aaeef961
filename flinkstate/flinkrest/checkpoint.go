package flinkrest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flinkmm2/flinkmm2/offsetmap"
)

// CheckpointType says what a checkpoint is
// (org.apache.flink.runtime.rest.messages.checkpoints.CheckpointStatistics.RestAPICheckpointType).
// Flink before 1.15 does not say more than whether it is a savepoint.
type CheckpointType string

// The types of checkpoints.
const (
	PeriodicCheckpoint  CheckpointType = "CHECKPOINT"
	UnalignedCheckpoint CheckpointType = "UNALIGNED_CHECKPOINT"
	// Savepoint is one that the job goes on after.
	Savepoint CheckpointType = "SAVEPOINT"
	// SyncSavepoint is that of a stop with savepoint, drained or not.
	SyncSavepoint CheckpointType = "SYNC_SAVEPOINT"
)

// CompletedCheckpoint is a checkpoint or savepoint that came to its end.
type CompletedCheckpoint struct {
	// ID is the number that Flink gave it, and that _metadata holds.
	ID int64
	// Type is empty when the server does not say it.
	Type CheckpointType
	// IsSavepoint is said by every version.
	IsSavepoint bool
	// Path is the folder as Flink writes it, such as file:/savepoints/savepoint-2b3ed0-f0c7ba51791f.
	// Absent when it is in no place that can be addressed (a checkpoint in the
	// JobManager's memory).
	Path offsetmap.Fact[string]
	// Triggered and Acknowledged are when it began, and when the last subtask had
	// written its part.
	Triggered, Acknowledged time.Time
	// Discarded means that Flink has deleted it, as it does with all but the last
	// periodic ones.
	Discarded bool
}

// FailedCheckpoint is a checkpoint or savepoint that did not complete.
type FailedCheckpoint struct {
	ID          int64
	Type        CheckpointType
	IsSavepoint bool
	Triggered   time.Time
	// Reason is the first line of what went wrong. May be empty.
	Reason string
}

// Restored is the checkpoint or savepoint that the job began with, or was
// restarted from.
type Restored struct {
	ID          int64
	IsSavepoint bool
	Path        offsetmap.Fact[string]
	At          time.Time
}

// Checkpoints is what the server knows of a job's checkpoints since it was
// submitted, or since a JobManager took it up.
type Checkpoints struct {
	// Completed is the latest that is no savepoint.
	Completed offsetmap.Fact[CompletedCheckpoint]
	Savepoint offsetmap.Fact[CompletedCheckpoint]
	Failed    offsetmap.Fact[FailedCheckpoint]
	Restored  offsetmap.Fact[Restored]
	// InProgress counts those that were running when the server looked.
	InProgress int
}

// CheckpointConfig says how a job takes checkpoints.
type CheckpointConfig struct {
	// Mode is "exactly_once" or "at_least_once": of the job's state, which says
	// nothing about what its sink guarantees.
	Mode string
	// Interval is absent when no periodic checkpoints are taken.
	Interval  offsetmap.Fact[time.Duration]
	Unaligned bool
	// Retained means that the last checkpoint outlives a cancellation.
	Retained bool
}

// notAddressable stands in the place of a path
// (NonPersistentMetadataCheckpointStorageLocation.EXTERNAL_POINTER).
const notAddressable = "<checkpoint-not-externally-addressable>"

// Checkpoints returns what the server knows of the checkpoints of a job, which
// may be as old as its cache: see the package comment.
func (c *Client) Checkpoints(ctx context.Context, id JobID) (*Checkpoints, error) {
	var out struct {
		Counts *struct {
			InProgress int `json:"in_progress"`
		} `json:"counts"`
		Latest *struct {
			Completed *checkpointJSON `json:"completed"`
			Savepoint *checkpointJSON `json:"savepoint"`
			Failed    *checkpointJSON `json:"failed"`
			Restored  *restoredJSON   `json:"restored"`
		} `json:"latest"`
	}
	cp := new(Checkpoints)
	err := c.getJob(ctx, id, "/checkpoints", &out, func() (err error) {
		if out.Counts == nil || out.Latest == nil {
			return errors.New(`it has no "counts" and "latest"`)
		}
		cp.InProgress = out.Counts.InProgress
		if cp.Completed, err = out.Latest.Completed.completed(); err != nil {
			return fmt.Errorf("latest completed: %w", err)
		}
		if cp.Savepoint, err = out.Latest.Savepoint.completed(); err != nil {
			return fmt.Errorf("latest savepoint: %w", err)
		}
		if s, ok := cp.Savepoint.Get(); ok && !s.IsSavepoint {
			return fmt.Errorf("latest savepoint: %d is no savepoint", s.ID)
		}
		cp.Failed = out.Latest.Failed.failed(c.scrub)
		cp.Restored = out.Latest.Restored.restored()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return cp, nil
}

// CheckpointConfig returns how a job takes checkpoints.
func (c *Client) CheckpointConfig(ctx context.Context, id JobID) (*CheckpointConfig, error) {
	var out struct {
		Mode            string `json:"mode"`
		Interval        *int64 `json:"interval"`
		Unaligned       bool   `json:"unaligned_checkpoints"`
		Externalization struct {
			Enabled bool `json:"enabled"`
			Delete  bool `json:"delete_on_cancellation"`
		} `json:"externalization"`
	}
	cfg := new(CheckpointConfig)
	err := c.getJob(ctx, id, "/checkpoints/config", &out, func() error {
		if out.Mode == "" || out.Interval == nil {
			return errors.New(`it has no "mode" and "interval"`)
		}
		*cfg = CheckpointConfig{
			Mode: out.Mode, Unaligned: out.Unaligned,
			Retained: out.Externalization.Enabled && !out.Externalization.Delete,
			Interval: offsetmap.Absent[time.Duration](),
		}
		// Without periodic checkpoints it is Long.MAX_VALUE, or -1
		// (CheckpointCoordinatorConfiguration.DISABLED_CHECKPOINT_INTERVAL).
		const disabled = int64(^uint64(0) >> 1)
		if n := *out.Interval; n > 0 && n < disabled {
			if n > disabled/int64(time.Millisecond) {
				return fmt.Errorf("an interval of %d ms is longer than can be", n)
			}
			cfg.Interval = offsetmap.Known(time.Duration(n) * time.Millisecond)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return cfg, nil
}

// restartStrategy returns the text by which Flink describes it. The rest of a
// job's configuration, which may hold a user's secrets, is not even decoded.
func (c *Client) restartStrategy(ctx context.Context, id JobID) (offsetmap.Fact[string], error) {
	var out struct {
		Config *struct {
			Restart string `json:"restart-strategy"`
		} `json:"execution-config"`
	}
	if err := c.getJob(ctx, id, "/config", &out, func() error { return nil }); err != nil {
		return offsetmap.Fact[string]{}, err
	}
	if out.Config == nil || out.Config.Restart == "" {
		return offsetmap.Absent[string](), nil
	}
	return offsetmap.Known(plainText(c.scrub(out.Config.Restart))), nil
}

type checkpointJSON struct {
	ID           *int64 `json:"id"`
	Status       string `json:"status"`
	IsSavepoint  *bool  `json:"is_savepoint"`
	Type         string `json:"checkpoint_type"`
	Triggered    int64  `json:"trigger_timestamp"`
	Acknowledged int64  `json:"latest_ack_timestamp"`
	Path         string `json:"external_path"`
	Discarded    bool   `json:"discarded"`
	Failure      string `json:"failure_message"`
}

func (j *checkpointJSON) completed() (offsetmap.Fact[CompletedCheckpoint], error) {
	switch {
	case j == nil:
		return offsetmap.Absent[CompletedCheckpoint](), nil
	case j.ID == nil || *j.ID < 0 || j.IsSavepoint == nil:
		return offsetmap.Fact[CompletedCheckpoint]{}, errors.New(`it has no "id" and "is_savepoint"`)
	case j.Status != "COMPLETED":
		return offsetmap.Fact[CompletedCheckpoint]{}, fmt.Errorf("%d has the status %q", *j.ID, j.Status)
	}
	return offsetmap.Known(CompletedCheckpoint{
		ID: *j.ID, Type: CheckpointType(j.Type), IsSavepoint: *j.IsSavepoint, Path: pathOf(j.Path),
		Triggered: time.UnixMilli(j.Triggered).UTC(), Acknowledged: time.UnixMilli(j.Acknowledged).UTC(), Discarded: j.Discarded,
	}), nil
}

func (j *checkpointJSON) failed(scrub func(string) string) offsetmap.Fact[FailedCheckpoint] {
	switch {
	case j == nil:
		return offsetmap.Absent[FailedCheckpoint]()
	case j.ID == nil || j.IsSavepoint == nil:
		return offsetmap.NotKnown[FailedCheckpoint](errors.New(`the latest failed checkpoint has no "id" and "is_savepoint"`))
	}
	return offsetmap.Known(FailedCheckpoint{
		ID: *j.ID, Type: CheckpointType(j.Type), IsSavepoint: *j.IsSavepoint,
		Triggered: time.UnixMilli(j.Triggered).UTC(), Reason: firstLine(scrub(j.Failure)),
	})
}

type restoredJSON struct {
	ID          int64  `json:"id"`
	At          int64  `json:"restore_timestamp"`
	IsSavepoint bool   `json:"is_savepoint"`
	Path        string `json:"external_path"`
}

func (j *restoredJSON) restored() offsetmap.Fact[Restored] {
	if j == nil {
		return offsetmap.Absent[Restored]()
	}
	return offsetmap.Known(Restored{ID: j.ID, IsSavepoint: j.IsSavepoint, Path: pathOf(j.Path), At: time.UnixMilli(j.At).UTC()})
}

func pathOf(s string) offsetmap.Fact[string] {
	if s == "" || s == notAddressable {
		return offsetmap.Absent[string]()
	}
	return offsetmap.Known(s)
}
