package generator;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.state.filesystem.FsStateBackend;
import org.apache.flink.streaming.api.CheckpointingMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.connectors.kafka.FlinkKafkaConsumer;
import org.apache.flink.streaming.connectors.kafka.FlinkKafkaProducer;
import org.apache.flink.streaming.connectors.kafka.KafkaSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * The job for Flink before 1.12: {@code OldJob BOOTSTRAP STATE_DIR TOPIC TARGET PARALLELISM stop|savepoint|checkpoint
 * THRESHOLD}. Prints {@code @flinklab STARTED} and then {@code @flinklab POINTER URI}, of the folder of all checkpoints for
 * a checkpoint.
 */
public final class OldJob {
    private OldJob() {}

    static final AtomicLong SEEN = new AtomicLong();

    /** Slow map. */
    public static final class Throttle implements MapFunction<String, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String map(String v) throws Exception {
            Thread.sleep(5);
            SEEN.incrementAndGet();
            return v;
        }
    }

    /** Named on purpose. */
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

    public static void main(String[] a) {
        try {
            System.out.println("@flinklab STARTED");
            run(a);
        } catch (Throwable t) {
            t.printStackTrace();
            System.exit(1);
        }
        // Not left to the threads of the job: one of them may live on.
        System.exit(0);
    }

    static void run(String[] a) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(Integer.parseInt(a[4]), new Configuration());
        env.setMaxParallelism(128);
        env.getConfig().disableClosureCleaner();
        env.setRestartStrategy(org.apache.flink.api.common.restartstrategy.RestartStrategies.noRestart());
        env.enableCheckpointing(a[5].equals("checkpoint") ? 500 : 3600000, CheckpointingMode.EXACTLY_ONCE);
        env.getCheckpointConfig().enableExternalizedCheckpoints(
                org.apache.flink.streaming.api.environment.CheckpointConfig.ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION);
        env.setStateBackend((org.apache.flink.runtime.state.StateBackend)
                new FsStateBackend(new java.net.URI("file:" + a[1] + "/checkpoints"), new java.net.URI("file:" + a[1] + "/savepoints"), Integer.parseInt(a[6]), 4096, org.apache.flink.util.TernaryBoolean.TRUE));
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", a[0]);
        p.setProperty("group.id", a[3] + "-group");
        p.setProperty("max.poll.records", "10");
        FlinkKafkaConsumer<String> c = new FlinkKafkaConsumer<>(Arrays.asList(a[2].split(",")), new SimpleStringSchema(), p);
        c.setStartFromEarliest();
        Properties q = new Properties();
        q.setProperty("bootstrap.servers", a[0]);
        q.setProperty("transaction.timeout.ms", "600000");
        env.addSource(c, "legacy source").uid("source-0").map(new Throttle())
                .addSink(new FlinkKafkaProducer<>(a[3], new Ser(a[3]), q, FlinkKafkaProducer.Semantic.EXACTLY_ONCE)).uid("sink");
        JobClient jc = env.executeAsync("old");
        long end = System.currentTimeMillis() + 60000;
        while (SEEN.get() < 90 && System.currentTimeMillis() < end) {
            Thread.sleep(20);
        }
        String ptr;
        if (a[5].equals("stop")) {
            ptr = jc.stopWithSavepoint(false, "file:" + a[1] + "/savepoints").get(60, TimeUnit.SECONDS);
        } else if (a[5].equals("savepoint")) {
            ptr = jc.triggerSavepoint("file:" + a[1] + "/savepoints").get(60, TimeUnit.SECONDS);
            jc.cancel().get(20, TimeUnit.SECONDS);
        } else {
            Thread.sleep(1300);
            jc.cancel().get(20, TimeUnit.SECONDS);
            ptr = "file:" + a[1] + "/checkpoints";
        }
        Thread.sleep(500);
        System.out.println("@flinklab POINTER " + ptr);
    }
}
