package generator;

import java.util.List;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.base.source.hybrid.HybridSource;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** HybridSource (1.14 and later), which reads one source after another: here, one alone. */
public final class ExtraHybrid {
    private ExtraHybrid() {}

    public static SingleOutputStreamOperator<String> source(
            StreamExecutionEnvironment env, List<String> topics, String bootstrap, String group, Scenario s) {
        KafkaSource<String> kafka = KafkaSource.<String>builder()
                .setBootstrapServers(bootstrap)
                .setTopics(topics)
                .setGroupId(group)
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setProperty("max.poll.records", "10")
                .setValueOnlyDeserializer(new SimpleStringSchema())
                .build();
        return env.fromSource(HybridSource.builder(kafka).build(), WatermarkStrategy.noWatermarks(), "hybrid source", Types.STRING);
    }
}
