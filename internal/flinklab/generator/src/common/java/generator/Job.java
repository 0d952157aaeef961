package generator;

import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.common.TopicPartition;

/**
 * The job of a scenario. Parts that do not compile against every connector are classes Extra*, found by name.
 */
final class Job {
    private final String flink;
    private final String bootstrap;
    private final Scenario s;
    private final String name;
    private final String dir;

    /** Its state goes below dir, its records to the topic NAME-target, its committed offsets to the group NAME-group. */
    Job(String flink, String bootstrap, Scenario s, String name, String dir) {
        this.flink = flink;
        this.bootstrap = bootstrap;
        this.s = s;
        this.name = name;
        this.dir = dir;
    }

    /** The class that has the source of a kind. */
    static String extra(String source) {
        return source.equals("upsert") ? "generator.ExtraTable"
                : "generator.Extra" + source.substring(0, 1).toUpperCase() + source.substring(1);
    }

    /** Starts the job from the beginning, or from a savepoint. */
    JobClient start(int parallelism, String restore) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(configuration(restore));
        env.setParallelism(parallelism);
        env.setMaxParallelism(128);
        if (s.compress) {
            env.getConfig().setUseSnapshotCompression(true);
        }
        registerKryoTypes(env.getConfig());
        List<String> topics = new ArrayList<>(s.topics.keySet());
        if (extra(s.source).equals("generator.ExtraTable")) {
            return (JobClient) Class.forName("generator.ExtraTable")
                    .getMethod("job", StreamExecutionEnvironment.class, List.class, String.class, String.class, String.class, Scenario.class)
                    .invoke(null, env, topics, bootstrap, name + "-group", name + "-target", s);
        }
        sink(middle(sources(env, topics)));
        return env.executeAsync(name);
    }

    private Configuration configuration(String restore) {
        Map<String, String> m = new LinkedHashMap<>();
        m.put("state.backend", flink.startsWith("1.12") ? "filesystem" : "hashmap");
        m.put("state.backend.type", "hashmap");
        m.put("state.checkpoints.dir", "file:" + dir + "/checkpoints");
        m.put("execution.checkpointing.dir", "file:" + dir + "/checkpoints");
        m.put("state.checkpoint-storage", "filesystem");
        m.put("execution.checkpointing.storage", "filesystem");
        m.put("rest.port", "0");
        m.put("rest.bind-port", "0");
        m.put("taskmanager.numberOfTaskSlots", "8");
        m.put("taskmanager.memory.managed.size", "64m");
        m.put("taskmanager.memory.network.min", "32m");
        m.put("taskmanager.memory.network.max", "32m");
        m.put("restart-strategy", "none");
        m.put("restart-strategy.type", "none");
        if (s.action.equals("checkpoint")) {
            m.put("execution.checkpointing.interval", "500ms");
            m.put("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
        } else if (!s.noCheckpointing) {
            m.put("execution.checkpointing.interval", "1h"); // without it barriers are not aligned
        }
        m.putAll(s.conf);
        if (s.s3) {
            m.put("state.checkpoints.dir", Folders.BUCKET + dir + "/_entropy_/checkpoints");
            m.put("execution.checkpointing.dir", m.get("state.checkpoints.dir"));
        }
        m.replaceAll((k, v) -> v.replace("${dir}", "file:" + dir));
        if (restore != null) {
            m.put("execution.savepoint.path", restore);
            m.put("execution.state-recovery.path", restore);
        }
        Configuration c = new Configuration();
        boolean two = flink.startsWith("2.");
        m.forEach((k, v) -> {
            // Some releases refuse an option under its old and its new key at once.
            if (!two || !k.equals("state.backend") && !k.equals("restart-strategy")) {
                c.setString(k, v);
            }
        });
        return c;
    }

    /** Array types, of which there are as many as one likes. */
    private void registerKryoTypes(ExecutionConfig config) throws Exception {
        if (s.kryoTypes == 0) {
            return;
        }
        Method register = ExecutionConfig.class.getMethod("registerKryoType", Class.class); // gone in Flink 2
        Class<?> type = String.class;
        for (int i = 0; i < s.kryoTypes; i++) {
            type = Array.newInstance(type, 0).getClass();
            register.invoke(config, type);
        }
    }

    private DataStream<String> sources(StreamExecutionEnvironment env, List<String> topics) throws Exception {
        DataStream<String> all = null;
        for (int i = 0; i < s.sources; i++) {
            List<String> mine = s.sources == 1 || s.sameTopic ? topics : Collections.singletonList(topics.get(i % topics.size()));
            DataStream<String> d = source(env, mine, i).map(new Functions.Throttle(s.throttleMs));
            all = all == null ? d : all.union(d);
        }
        if (s.numbers) {
            all = all.union(env.fromSource(new NumberSequenceSource(0, 100000000), WatermarkStrategy.noWatermarks(), "numbers", Types.LONG)
                    .uid("numbers").map(new Functions.Numbers()));
        }
        return all;
    }

    private SingleOutputStreamOperator<String> source(StreamExecutionEnvironment env, List<String> topics, int i) throws Exception {
        SingleOutputStreamOperator<String> ds;
        String kind = s.dynamicToo && i == 1 ? "dynamic" : s.source;
        if (kind.equals("kafka")) {
            ds = env.fromSource(kafkaSource(topics, i), WatermarkStrategy.noWatermarks(), "kafka source " + i, Types.STRING);
        } else {
            @SuppressWarnings("unchecked")
            SingleOutputStreamOperator<String> x = (SingleOutputStreamOperator<String>) Class.forName(extra(kind))
                    .getMethod("source", StreamExecutionEnvironment.class, List.class, String.class, String.class, Scenario.class)
                    .invoke(null, env, topics, bootstrap, name + "-group", s);
            ds = x;
        }
        return s.uid ? ds.uid("source-" + i) : ds;
    }

    private KafkaSource<String> kafkaSource(List<String> topics, int i) throws Exception {
        KafkaSourceBuilder<String> b = KafkaSource.<String>builder()
                .setBootstrapServers(s.deadBroker ? "127.0.0.1:1" : bootstrap)
                .setTopics(topics)
                .setGroupId(name + "-group" + (s.sources > 1 ? "-" + i : ""))
                .setStartingOffsets(startingOffsets())
                .setProperty("partition.discovery.interval.ms", s.addPartitionsLater > 0 ? "300" : "600000")
                .setProperty("max.poll.records", "10")
                .setProperty("commit.offsets.on.checkpoint", String.valueOf(!s.groupLags));
        valueOnly(b);
        if (s.txnSource) {
            b.setProperty("isolation.level", "read_committed");
        }
        if (s.deadBroker) {
            b.setProperty("default.api.timeout.ms", "600000").setProperty("request.timeout.ms", "500000");
        }
        if (s.stopAt >= 0 || s.boundedExtra && i == 1) {
            Map<TopicPartition, Long> m = new HashMap<>();
            for (String t : topics) {
                for (int p = 0; p < s.topics.get(t); p++) {
                    m.put(new TopicPartition(t, p), s.stopAt >= 0 ? s.stopAt + p : 5L);
                }
            }
            if (s.boundedExtra || s.boundedType) {
                b.setBounded(OffsetsInitializer.offsets(m));
            } else {
                b.setUnbounded(OffsetsInitializer.offsets(m));
            }
        }
        return b.build();
    }

    private OffsetsInitializer startingOffsets() {
        switch (s.start) {
            case "latest":
                return OffsetsInitializer.latest();
            case "committed":
                return OffsetsInitializer.committedOffsets();
            default:
                return OffsetsInitializer.earliest();
        }
    }

    /** setValueOnlyDeserializer came with 1.13. */
    private static void valueOnly(KafkaSourceBuilder<String> b) throws Exception {
        for (Method m : KafkaSourceBuilder.class.getMethods()) {
            if (m.getName().equals("setValueOnlyDeserializer")) {
                m.invoke(b, new SimpleStringSchema());
                return;
            }
        }
        Class<?> k = Class.forName("org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializer");
        Object d = k.getMethod("valueOnly", Class.class).invoke(null, org.apache.kafka.common.serialization.StringDeserializer.class);
        KafkaSourceBuilder.class.getMethod("setDeserializer", k).invoke(b, d);
    }

    private DataStream<String> middle(DataStream<String> all) {
        if (s.rebalance) {
            all = all.rebalance().map(new Functions.Slow(s.slowMs));
        }
        if (s.operatorStates) {
            all = all.map(new Functions.OperatorStates()).uid("states");
        }
        if (s.timers) {
            all = all.keyBy(new Functions.Key()).process(new Functions.Timers()).uid("timers");
        }
        if (s.keyed) {
            SingleOutputStreamOperator<String> k = all.keyBy(new Functions.Key()).process(new Functions.Count());
            all = s.uid ? k.uid("count") : k;
        }
        return all;
    }

    private void sink(DataStream<String> all) throws Exception {
        if (s.sink.equals("none")) {
            all.print();
            return;
        }
        String kind = "generator.ExtraSink";
        if (s.sink.startsWith("legacy") || !Reflect.has(kind)) {
            kind = "generator.ExtraLegacy"; // before 1.14 there is no KafkaSink
        }
        Class.forName(kind).getMethod("sink", DataStream.class, String.class, String.class, Scenario.class)
                .invoke(null, all, bootstrap, name + "-target", s);
    }
}
