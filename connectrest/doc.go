// Package connectrest is a typed client of the Kafka Connect REST API, for any
// connector and for workers of Kafka 3.5 and later, vendors' builds included.
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
// When the answer is lost, is not a worker's, or says only that the worker did
// not finish, the outcome is unknown and the call reads back what the worker
// holds before it says or sends anything:
//
//   - what was asked for is there: the call succeeds;
//   - it is not there: what may be repeated is sent once more and read back
//     again; [Client.Resume] is never sent a second time;
//   - it cannot be read, or is still not there: the error is an
//     [ErrOutcomeUnknown], and the write may yet happen.
//
// [Client.Restart] and [Client.RestartTask] leave nothing to read back, so that a
// lost answer is an [ErrOutcomeUnknown] at once. They and [Client.Resume] go over a
// new connection, since a worker may have closed one that was kept.
//
// # Several workers
//
// [NewCluster] takes the URLs of several workers and leaves one that cannot be
// reached, is not ready or cannot forward for the next. The rules above hold
// across workers: no write goes to a second one before it was read back.
// [Client.Probe] finds before it matters what is wrong among them.
//
// # Versions
//
// A call that an older worker would misread without a word ([Client.Create] with
// an initial state, [Client.PatchConfig], [Client.AllPlugins], …) asks for the
// version first and is an [*UnsupportedError] that names the version needed and the
// one found, before anything is written. A call that such a worker refuses by
// itself becomes the same error. Vendors' version strings are read for what they
// say, see [ParseVersion]; one that says nothing is refused where the version
// decides, unless [WithAssumedVersion] speaks for it. [Client.CreateThenStop] is the
// way to a STOPPED connector before 3.7.
//
// # Errors
//
// An answer is judged by its status and its text together, since a worker uses
// 409 for a name that exists and for a rebalance, 404 for a missing connector
// and for a path that is not served yet, and 500 for nearly everything else.
// Ask [errors.Is] for the meaning ([ErrNotFound], [ErrRebalance], …) and
// [errors.As] with [*Error] for method, URL, status, text and attempts. The texts were
// recorded from workers of 3.4 to 4.3. What is returned beside an error is zero,
// unless a call says otherwise.
//
// # Offsets
//
// [Offset] keeps partition and offset as raw JSON, exact for every connector: a
// sink connector's consumer offsets, Debezium's and JDBC's positions (see the
// examples of [Client.Offsets]).
// A worker may answer a read with part of the offsets for some seconds after a
// write, so one answer proves nothing: [Client.AwaitOffsets] and
// [Client.AwaitStableOffsets] read until the answer is as expected, or twice
// the same. [MirrorSourceOffsets] and [MirrorSourceWrites] turn them into
// offsetmap's types and back.
//
// [Client.AlterOffsets] sends one request. [Client.AlterOffsetsInParts] is for a
// hundred thousand partitions: parts that the worker stores well within its 90 s,
// progress, a failed part that is named and gone on from, and everything read back.
//
// # Secrets
//
// Credentials are taken from the user-info of the base URL, [WithBasicAuth],
// [WithBearerToken], [WithBearerTokenFile], [WithTokenSource],
// [WithClientCertificate] or [WithHeader]. They are in no error, log line, panic or
// printed value, also when a server echoes them. [Config] redacts the values of
// keys that look secret when it is printed, logged or written as JSON.
package connectrest
