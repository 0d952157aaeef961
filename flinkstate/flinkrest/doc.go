// Package flinkrest asks Flink's REST API, or its history server, what became
// of a job: whether it ended, whether it was stopped with a savepoint and where
// that lies, and whether another job of its name runs.
//
//	client, err := flinkrest.New("http://jobmanager:8081")
//	...
//	evidence, err := client.Evidence(ctx, flinkrest.Job{Name: "copy orders"})
//	...
//	if savepoint, ok := evidence.StoppedWithSavepoint().Get(); ok {
//		fmt.Println(savepoint.Path)
//	}
//
// Every fact of [Evidence] is known, absent or unknown (offsetmap.Fact), and
// one that could not be had leaves the others as they are. An [Evidence] never
// says that all is well: its zero value knows nothing, and neither does that of
// a server which cannot be reached.
//
// # What the answers do not say
//
//   - A job that the server does not know has not necessarily ended: finished
//     jobs leave its memory (jobstore.expiration-time, one hour by default), and
//     an application cluster is gone with its job. Ask at the stop, or ask the
//     history server.
//   - A server knows the jobs of its own cluster. That no job of the name runs
//     elsewhere, or is started again by a scheduler, no call shows.
//   - The history server knows archived jobs only, and so never which jobs run:
//     see [Evidence.Running].
//
// # Answers from a cache
//
// A JobManager answers the details and checkpoints of a job from a cache of
// web.refresh-interval, 3 s by default: directly after a stop it still says
// RUNNING there, and does not know the savepoint, while the list of jobs is
// already right (seen with 1.20.5 and 2.2.1). [Client.Evidence] takes the list
// for the newer one and, where the job has only just ended, waits for that
// interval once and reads again; what then still contradicts the list is
// unknown. Of a job that runs, what it says may be an interval old. The cache of
// checkpoints can be given a time of its own
// (rest.cache.checkpoint-statistics.timeout), which no answer shows: where that
// is the longer one, a savepoint that was just taken may be missing, never one
// be made up.
//
// # Errors
//
// All calls are reads. They are sent again while the JobManager elects a leader
// or cannot be reached, until the context ends or the [RetryPolicy] is used up.
// Ask [errors.Is] for the meaning ([ErrJobNotFound], [ErrUnauthorized], …) and
// [errors.As] with [*Error] for URL, status, text and attempts. Of Flink's error
// texts the first line is kept, not the stack trace.
//
// # Secrets
//
// Credentials are taken from [WithBasicAuth] or the user-info of the base URL,
// sent to that scheme and host only, and are in no error, log line or printed
// value. Of a job's configuration only the restart strategy is read.
//
// Answers of 1.20.5 and 2.2.1, JobManager and history server, are the test data;
// the tests with real jobs ask both releases again.
package flinkrest
