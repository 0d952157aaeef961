package generator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What one job does, and how its state is taken. */
final class Scenario {
    final String name;
    String note = "";
    /** kafka, legacy (FlinkKafkaConsumer), dynamic (DynamicKafkaSource), hybrid (HybridSource), table (SQL) or upsert (SQL over upsert-kafka). */
    String source = "kafka";
    /** eo (KafkaSink, exactly-once), pool (the same, with a pool of transactional ids), alo (at-least-once), legacy-eo (FlinkKafkaProducer) or none. */
    String sink = "eo";
    int parallelism = 1;
    final Map<String, Integer> topics = new LinkedHashMap<>();
    /** The partitions of every topic that hold nothing. */
    List<Integer> empty = new ArrayList<>();
    int records = 60;
    int fillBytes;
    /** earliest, latest or committed. */
    String start = "earliest";
    /** savepoint (of a running job), stop, drain or checkpoint (retained, after a cancel). */
    String action = "savepoint";
    String format = "CANONICAL";
    /** The action waits until so many records have passed. */
    long passRecords = 40;
    int throttleMs = 5;
    final Map<String, String> conf = new LinkedHashMap<>();

    int sources = 1;
    /** All sources read all topics; otherwise each its own. */
    boolean sameTopic;
    /** The second source is a DynamicKafkaSource. */
    boolean dynamicToo;
    /** A DynamicKafkaSource has two clusters that hold the same topics. */
    boolean twoClusters;
    boolean uid = true;
    boolean keyed;
    boolean rebalance;
    int slowMs;
    boolean numbers;
    boolean timers;
    boolean operatorStates;
    int kryoTypes;

    long stopAt = -1;
    boolean boundedExtra;
    boolean boundedType;
    boolean waitFinish;
    boolean txnSource;
    boolean groupLags;
    boolean deadBroker;
    boolean compress;
    boolean s3;
    boolean noCheckpointing;
    int addPartitionsLater;
    /** The job is restored from its savepoint at each of these parallelisms in turn, and its state taken again. */
    List<Integer> rescales = new ArrayList<>();

    Scenario(String name) {
        this.name = name;
        topics.put("orders", 4);
    }

    /** Topic and number of partitions in turn. */
    Scenario topics(Object... kv) {
        topics.clear();
        for (int i = 0; i < kv.length; i += 2) {
            topics.put((String) kv[i], (Integer) kv[i + 1]);
        }
        return this;
    }

    Scenario note(String text) {
        note = text;
        return this;
    }

    Scenario source(String kind) {
        source = kind;
        return this;
    }

    Scenario sources(int n) {
        sources = n;
        return this;
    }

    Scenario sink(String kind) {
        sink = kind;
        return this;
    }

    Scenario parallelism(int n) {
        parallelism = n;
        return this;
    }

    Scenario empty(Integer... partitions) {
        empty = Arrays.asList(partitions);
        return this;
    }

    /** n in each partition; the state is taken once so many of all have passed. */
    Scenario records(int n, long passed) {
        records = n;
        passRecords = passed;
        return this;
    }

    Scenario start(String at) {
        start = at;
        return this;
    }

    Scenario stop() {
        action = "stop";
        return this;
    }

    Scenario drain() {
        action = "drain";
        return this;
    }

    Scenario checkpoint() {
        action = "checkpoint";
        return this;
    }

    Scenario nativeFormat() {
        format = "NATIVE";
        return this;
    }

    Scenario keyed() {
        keyed = true;
        return this;
    }

    Scenario noUid() {
        uid = false;
        return this;
    }

    Scenario rescale(Integer... parallelisms) {
        rescales = Arrays.asList(parallelisms);
        return this;
    }

    Scenario compress() {
        compress = true;
        return this;
    }

    Scenario noCheckpointing() {
        noCheckpointing = true;
        return this;
    }

    Scenario conf(String key, String value) {
        conf.put(key, value);
        return this;
    }

    /** A setting under the keys that different releases give it. */
    Scenario confs(String value, String... keys) {
        for (String key : keys) {
            conf.put(key, value);
        }
        return this;
    }

    Scenario rocksDB() {
        keyed = true;
        return confs("rocksdb", "state.backend", "state.backend.type")
                .confs("true", "state.backend.incremental", "execution.checkpointing.incremental");
    }

    boolean isRocksDB() {
        return "rocksdb".equals(conf.get("state.backend"));
    }

    /** No state is inline: each handle is a file. */
    Scenario files() {
        return confs("0", "state.storage.fs.memory-threshold", "state.backend.fs.memory-threshold",
                "execution.checkpointing.data-inline-threshold");
    }

    Scenario fileMerging() {
        return conf("execution.checkpointing.file-merging.enabled", "true");
    }

    Scenario unaligned() {
        return confs("true", "execution.checkpointing.unaligned", "execution.checkpointing.unaligned.enabled");
    }

    Scenario changelog() {
        keyed = true;
        return confs("true", "state.backend.changelog.enabled", "state.changelog.enabled")
                .confs("filesystem", "state.backend.changelog.storage", "state.changelog.storage")
                .confs("700ms", "state.backend.changelog.periodic-materialize.interval", "state.changelog.periodic-materialize.interval")
                .confs("${dir}/dstl", "dstl.dfs.base-path", "state.changelog.dstl.dfs.base-path");
    }

    Scenario checkpointsAfterTasksFinish(boolean flink2) {
        conf("execution.checkpointing.checkpoints-after-tasks-finish.enabled", "true");
        if (flink2) {
            conf("execution.checkpointing.checkpoints-after-tasks-finish", "true");
        }
        return this;
    }

    /** Whether this class path has the parts of the job. */
    boolean possible() {
        boolean extra = source.equals("kafka") || Reflect.has(Job.extra(source));
        boolean changelog = conf.containsKey("state.backend.changelog.enabled");
        return extra && (!changelog || Reflect.has("org.apache.flink.state.changelog.ChangelogStateBackend"))
                && (!sink.startsWith("legacy") || Reflect.has("generator.ExtraLegacy"))
                && (!sink.equals("pool") || Reflect.has("org.apache.flink.connector.kafka.sink.TransactionNamingStrategy"))
                && (!dynamicToo || Reflect.has("generator.ExtraDynamic"));
    }
}
