package generator;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.connector.kafka.dynamic.metadata.ClusterMetadata;
import org.apache.flink.connector.kafka.dynamic.metadata.KafkaMetadataService;
import org.apache.flink.connector.kafka.dynamic.metadata.KafkaStream;
import org.apache.flink.connector.kafka.dynamic.source.DynamicKafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.common.serialization.StringDeserializer;

/** DynamicKafkaSource. Its clusters are one, under one name or two. */
public final class ExtraDynamic {
    private ExtraDynamic() {}

    public static SingleOutputStreamOperator<String> source(
            StreamExecutionEnvironment env, List<String> topics, String bootstrap, String group, Scenario s) {
        Properties q = new Properties();
        q.setProperty("group.id", group);
        q.setProperty("max.poll.records", "10");
        q.setProperty("commit.offsets.on.checkpoint", "true");
        DynamicKafkaSource<String> src =
                DynamicKafkaSource.<String>builder()
                        .setStreamIds(new HashSet<>(topics))
                        .setKafkaMetadataService(new Clusters(bootstrap, topics, s.twoClusters ? "cluster-a cluster-b" : "cluster-a"))
                        .setStartingOffsets(OffsetsInitializer.earliest())
                        .setDeserializer(KafkaRecordDeserializationSchema.valueOnly(StringDeserializer.class))
                        .setProperties(q)
                        .build();
        return env.fromSource(src, WatermarkStrategy.noWatermarks(), "dynamic kafka source");
    }

    /** A stream of each topic, which all of the clusters have. */
    public static final class Clusters implements KafkaMetadataService {
        private static final long serialVersionUID = 1;
        private final String bootstrap;
        private final HashSet<String> topics;
        private final String names;

        Clusters(String bootstrap, List<String> topics, String names) {
            this.bootstrap = bootstrap;
            this.topics = new HashSet<>(topics);
            this.names = names;
        }

        @Override
        public Set<KafkaStream> getAllStreams() {
            return new HashSet<>(describeStreams(topics).values());
        }

        @Override
        public Map<String, KafkaStream> describeStreams(Collection<String> streamIds) {
            Map<String, KafkaStream> out = new HashMap<>();
            for (String id : streamIds) {
                Map<String, ClusterMetadata> clusters = new HashMap<>();
                for (String name : names.split(" ")) {
                    Properties p = new Properties();
                    p.setProperty("bootstrap.servers", bootstrap);
                    HashSet<String> topic = new HashSet<>();
                    topic.add(id);
                    clusters.put(name, new ClusterMetadata(topic, p));
                }
                out.put(id, new KafkaStream(id, clusters));
            }
            return out;
        }

        @Override
        public boolean isClusterActive(String name) {
            return names.contains(name);
        }

        @Override
        public void close() {}
    }
}
