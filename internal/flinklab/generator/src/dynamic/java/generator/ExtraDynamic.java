package generator;

import java.util.HashSet;
import java.util.List;
import java.util.Properties;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.connector.kafka.dynamic.metadata.SingleClusterTopicMetadataService;
import org.apache.flink.connector.kafka.dynamic.source.DynamicKafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.common.serialization.StringDeserializer;

/** DynamicKafkaSource over one cluster. */
public final class ExtraDynamic {
    private ExtraDynamic() {}

    public static SingleOutputStreamOperator<String> source(
            StreamExecutionEnvironment env, List<String> topics, String bootstrap, String group, Scenario s) {
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", bootstrap);
        Properties q = new Properties();
        q.setProperty("group.id", group);
        q.setProperty("max.poll.records", "10");
        q.setProperty("commit.offsets.on.checkpoint", "true");
        DynamicKafkaSource<String> src =
                DynamicKafkaSource.<String>builder()
                        .setStreamIds(new HashSet<>(topics))
                        .setKafkaMetadataService(new SingleClusterTopicMetadataService("cluster-a", p))
                        .setStartingOffsets(OffsetsInitializer.earliest())
                        .setDeserializer(KafkaRecordDeserializationSchema.valueOnly(StringDeserializer.class))
                        .setProperties(q)
                        .build();
        return env.fromSource(src, WatermarkStrategy.noWatermarks(), "dynamic kafka source");
    }
}
