// Package mirrordef says which keys MirrorSourceConnector, and what stands around
// it, define in each version of Kafka: [Source] with the whole definition of each
// key, [Names] for the clients, the worker, the connect-mirror-maker driver and
// the two other connectors of MirrorMaker 2.
//
// The tables stand for releases from 3.5 (Source: 3.4) to 4.3. A later version has the keys of the
// newest one that was seen, which [Newest] tells.
package mirrordef
