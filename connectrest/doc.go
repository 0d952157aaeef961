// Package connectrest is a typed client of the Kafka Connect REST API, for
// workers of Kafka 3.7 and later and any connector.
package connectrest
