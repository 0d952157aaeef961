package flinkstate

// hybridWrapsKafka reports whether b is the split of a HybridSource of
// flink-connector-base that wraps one of a KafkaSource
// (HybridSourceSplitSerializer versions 0 and 1). Such splits are named, and not
// read: the source may have been switched, or be about to be.
func hybridWrapsKafka(version int32, b []byte) bool {
	if version != 0 && version != 1 {
		return false
	}
	c := newCursor("", 0, b)
	c.i32("index of the source")
	c.raw("split id")
	kafka := c.i32("wrapped version") == 0
	wrapped := c.take(c.count(1, "wrapped split"), "wrapped split")
	if version == 1 {
		c.i8("finished")
	}
	return kafka && c.err == nil && c.left() == 0 && new(split).parse(wrapped, newTopicTable())
}
