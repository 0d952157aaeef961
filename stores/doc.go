// Package stores opens savepoints and checkpoints of Flink where they live: in
// local folders, in S3 and what speaks its protocol, in Google Cloud Storage and
// in HDFS by WebHDFS.
//
// Two calls are what most readers need:
//
//	snap, err := stores.ReadSavepoint(ctx, "s3://bucket/flink/savepoint-2b3ed0-f0c7ba51791f", nil)
//
//	store, err := stores.Open(ctx, location)
//	...
//	defer store.Close()
//	snap, err := flinkstate.Read(store, store.Dir())
//
// # Locations
//
//   - /path, ./path, file:/path, file:///path: local;
//   - s3://bucket/key, also s3a, s3p and s3n, the names of Flink's and Hadoop's
//     file systems for the same store;
//   - gs://bucket/object;
//   - webhdfs://namenode:9870/path, swebhdfs for HTTPS; hdfs://… when
//     [WithWebHDFS] says where WebHDFS answers, since the port of an hdfs URI is
//     that of another protocol.
//
// A location is a folder, with or without a slash or /_metadata at its end, as
// Flink prints it or percent-encoded: where both readings name something, it is
// taken literally. Other schemes are a flinkstate.ErrUnsupported.
//
// # Credentials
//
// They come from where each store's own clients look. S3: the variables
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, the file of
// AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials with AWS_PROFILE, then the
// role of the machine or the pod; AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL and
// AWS_REGION say where. GCS: application default credentials, which also are
// those of GOOGLE_APPLICATION_CREDENTIALS; STORAGE_EMULATOR_HOST names an
// emulator and uses none. WebHDFS: HADOOP_USER_NAME as plain user name, or
// [WithWebHDFSToken]. No error holds one.
//
// # What it guarantees
//
//   - Nothing is written, and nothing but the files that are asked for is read:
//     files are streamed from the byte that is asked for, and read in ranges by
//     io.ReaderAt.
//   - A file is one version of an object: what replaces it while it is read is an
//     error (S3, GCS). A stream that is cut is resumed where it was.
//   - What is not there is an fs.ErrNotExist, what may not be read an
//     fs.ErrPermission.
//   - The context of Open ends every read. No goroutine outlives a call.
//
// # What it was tried with
//
// The tests run against servers in memory: an S3 and an emulator of GCS by other
// people, and a WebHDFS of our own after Hadoop's description. Beside that the
// same reads were made once from the S3 of moto 5 and from the name node and data
// node of Hadoop 3.4.1. None was run against the services of AWS and Google.
// WebHDFS with Kerberos (SPNEGO) is not there: use a delegation token, or a
// gateway.
package stores
