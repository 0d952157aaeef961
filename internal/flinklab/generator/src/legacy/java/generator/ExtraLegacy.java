package generator;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;

import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.connectors.kafka.FlinkKafkaConsumer;
import org.apache.flink.streaming.connectors.kafka.FlinkKafkaProducer;
import org.apache.flink.streaming.connectors.kafka.KafkaSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;

/** The consumer and producer of the connector before FLIP-27. */
@SuppressWarnings("deprecation")
public final class ExtraLegacy {
    private ExtraLegacy() {}

    public static SingleOutputStreamOperator<String> source(
            StreamExecutionEnvironment env, List<String> topics, String bootstrap, String group, Scenario s) {
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", bootstrap);
        p.setProperty("group.id", group);
        p.setProperty("max.poll.records", "10");
        FlinkKafkaConsumer<String> c = new FlinkKafkaConsumer<>(topics, new SimpleStringSchema(), p);
        if (s.start.equals("latest")) {
            c.setStartFromLatest();
        } else if (s.start.equals("committed")) {
            c.setStartFromGroupOffsets();
        } else {
            c.setStartFromEarliest();
        }
        return env.addSource(c, "legacy source");
    }

    /** Named class: a lambda does not survive the closure cleaner of old versions on new JVMs. */
    public static final class Ser implements KafkaSerializationSchema<String> {
        private static final long serialVersionUID = 1;
        final String topic;

        Ser(String topic) {
            this.topic = topic;
        }

        @Override
        public ProducerRecord<byte[], byte[]> serialize(String v, Long ts) {
            return new ProducerRecord<>(topic, v.getBytes(StandardCharsets.UTF_8));
        }
    }

    public static void sink(DataStream<String> ds, String bootstrap, String topic, Scenario s) {
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", bootstrap);
        p.setProperty("transaction.timeout.ms", "600000");
        ds.addSink(
                        new FlinkKafkaProducer<>(
                                topic, new Ser(topic), p, s.sink.endsWith("eo")
                                        ? FlinkKafkaProducer.Semantic.EXACTLY_ONCE
                                        : FlinkKafkaProducer.Semantic.AT_LEAST_ONCE))
                .uid("legacy-sink");
    }
}
