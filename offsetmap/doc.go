// Package offsetmap maps the progress of a Flink job to the source offsets of
// Kafka Connect, as pure values without I/O.
package offsetmap
