package flinkmm2

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// partitionsAClass bounds what stands in one Java class: the code of a method has 64 KiB
// at most, and the constants of a class are 65,535 (The Java Virtual Machine
// Specification, 4.7.3 and 4.1).
const partitionsAClass = 1000

// OffsetsInitializer writes a Java class FlinkMM2Boundary, whose offsets() is the
// OffsetsInitializer of a KafkaSource that goes on at Next of every partition. It has
// OffsetResetStrategy.NONE: by default a partition whose offset is gone begins at its
// earliest record, and here it fails the job.
//
// A job that restores state never asks its initializer.
func (b *Boundary) OffsetsInitializer(w io.Writer) error {
	return b.java(w, javaForm{
		imports: []string{
			"org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer",
			"org.apache.kafka.clients.consumer.OffsetResetStrategy",
			"org.apache.kafka.common.TopicPartition",
		},
		key: "TopicPartition",
		method: `    public static OffsetsInitializer offsets() {
        return OffsetsInitializer.offsets(next(), OffsetResetStrategy.NONE);
    }
`,
	})
}

// LegacyOffsets writes a Java class FlinkMM2Boundary, whose next() is the map for
// setStartFromSpecificOffsets of a FlinkKafkaConsumer: the next record to read of every
// partition. Give the consumer auto.offset.reset=none as well: by default a partition
// whose offset is gone goes on at its latest record.
func (b *Boundary) LegacyOffsets(w io.Writer) error {
	return b.java(w, javaForm{
		imports: []string{"org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition"},
		key:     "KafkaTopicPartition",
	})
}

// SpecificOffsets returns scan.startup.specific-offsets of the SQL table that reads a
// topic of the boundary (Flink's KafkaConnectorOptions): Next of all its partitions, as
// "partition:0,offset:42;partition:1,offset:300". A table with such offsets has one
// topic, so several need a table each.
func (b *Boundary) SpecificOffsets(topic string) (string, error) {
	var out []string
	for _, p := range b.Partitions {
		if p.Topic == topic {
			out = append(out, fmt.Sprintf("partition:%d,offset:%s", p.Partition, b.Next(p.TopicPartition)))
		}
	}
	if len(out) == 0 {
		return "", fmt.Errorf("the boundary has no topic %q, but %s", topic, strings.Join(b.Topics(), ", "))
	}
	return strings.Join(out, ";"), nil
}

// Topics lists the topics of the boundary, sorted.
func (b *Boundary) Topics() []string {
	var out []string
	for _, p := range b.Partitions {
		out = append(out, p.Topic)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// javaForm is what differs between the classes that hold a boundary.
type javaForm struct {
	imports []string
	key     string // the class of a partition
	method  string
}

func (b *Boundary) java(w io.Writer, f javaForm) error {
	if err := b.check(); err != nil {
		return fmt.Errorf("boundary: %w", err)
	}
	for _, p := range b.Partitions {
		if err := p.TopicPartition.Validate(); err != nil { // it becomes a text in Java
			return fmt.Errorf("boundary: %w", err)
		}
	}
	var out bytes.Buffer
	for _, name := range append([]string{"java.util.HashMap", "java.util.Map"}, f.imports...) {
		fmt.Fprintf(&out, "import %s;\n", name)
	}
	fmt.Fprintf(&out, `
/**
 * Where Flink goes on after MirrorMaker 2: the next record to read of each partition.
 * Source cluster %s, plan %s.
 */
public final class FlinkMM2Boundary {
    private FlinkMM2Boundary() {}

%s`, comment(b.SourceID), comment(b.Plan), f.method)
	if f.method != "" {
		fmt.Fprintln(&out)
	}
	chunks := slices.Collect(slices.Chunk(b.Partitions, partitionsAClass))
	fmt.Fprintf(&out, "    public static Map<%[1]s, Long> next() {\n        Map<%[1]s, Long> next = new HashMap<>();\n", f.key)
	for i := range chunks {
		fmt.Fprintf(&out, "        Part%d.put(next);\n", i)
	}
	fmt.Fprint(&out, "        return next;\n    }\n")
	for i, chunk := range chunks {
		fmt.Fprintf(&out, "\n    private static final class Part%d {\n        static void put(Map<%s, Long> next) {\n", i, f.key)
		for _, p := range chunk {
			fmt.Fprintf(&out, "            next.put(new %s(\"%s\", %d), %sL);\n", f.key, p.Topic, p.Partition, b.Next(p.TopicPartition))
		}
		fmt.Fprint(&out, "        }\n    }\n")
	}
	fmt.Fprint(&out, "}\n")
	_, err := out.WriteTo(w)
	return err
}

// comment makes a text one that ends no Java comment, and is no escape of Java's.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '*' || r == '\\' {
			return '?'
		}
		return r
	}, s)
}
