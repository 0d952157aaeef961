// Package connectrest is a typed client of the Kafka Connect REST API, for
// workers of Kafka 3.7 and later and for any connector.
//
//	client, err := connectrest.New("http://connect:8083")
//	...
//	_, err = client.Create(ctx, connectrest.CreateRequest{
//		Name: "mm2", Config: config, InitialState: connectrest.StateStopped,
//	})
//	...
//	offsets, err := client.Offsets(ctx, "mm2")
//
// # What a call guarantees
//
// Reads ([Client.Info], [Client.Status], [Client.Offsets], …) are sent again
// while the worker starts, rebalances or cannot be reached, with growing and
// jittered pauses, until the context ends or the [RetryPolicy] is used up.
//
// Writes are sent again only after an answer that says that nothing was done.
// When the answer is lost, or says only that the worker did not finish, the
// outcome is unknown and the call reads back what the worker holds before it
// says or sends anything:
//
//   - what was asked for is there: the call succeeds;
//   - it is not there: Create, Stop, Delete, AlterOffsets, ResetOffsets and
//     ResetActiveTopics, which may be repeated, are sent once more and read back
//     again; [Client.Resume] is never sent a second time;
//   - it cannot be read, or is still not there: the error is an
//     [ErrOutcomeUnknown], and the write may yet happen.
//
// # Errors
//
// An answer is judged by its status and its text together, since a worker uses
// 409 for a name that exists and for a rebalance, 404 for a missing connector
// and for a path that is not served yet, and 500 for nearly everything else.
// Ask [errors.Is] for the meaning ([ErrNotFound], [ErrRebalance], …) and
// [errors.As] with [*Error] for method, URL, status, text and attempts. The texts were
// recorded from workers of 3.4 to 4.3.
//
// # Offsets
//
// [Offset] keeps partition and offset as raw JSON, exact for every connector.
// A worker may answer a read with part of the offsets for some seconds after a
// write, so one answer proves nothing: [Client.AwaitOffsets] and
// [Client.AwaitStableOffsets] read until the answer is as expected, or twice
// the same. [MirrorSourceOffsets] and [MirrorSourceWrites] turn them into
// offsetmap's types and back.
//
// # Secrets
//
// Credentials are taken from [WithBasicAuth] or the user-info of the base URL.
// They are in no error, log line or printed value, also when a server echoes
// them. [Config] redacts the values of keys that look secret when it is printed
// or logged; its JSON is what the worker needs, and holds them.
//
// # What it does not do
//
// It does not choose between several workers, split large offset changes, or
// serve workers before 3.7 a way around the missing initial state.
package connectrest
