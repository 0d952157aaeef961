package connectrest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxNamed is how many partitions a text names.
const maxNamed = 3

// namePartitions names the first few partitions: "orders-0, orders-1, orders-2 and
// 97 more".
func namePartitions(offsets []Offset) string {
	var names []string
	for _, o := range offsets[:min(len(offsets), maxNamed)] {
		names = append(names, namePartition(o.Partition))
	}
	text := strings.Join(names, ", ")
	if more := len(offsets) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// namePartition is TOPIC-PARTITION where the partition is a
// MirrorSourceConnector's, and its JSON where it is another connector's.
func namePartition(raw json.RawMessage) string {
	if k, err := mirrorPartitionOf(raw); err == nil {
		return k.TopicPartition.String()
	}
	return entryText(raw)
}
