import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeHint;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * A Flink job in a cluster of one JVM that copies topics from one Kafka cluster to another: key, value, headers,
 * timestamp and partition of every record stay as they are.
 *
 * <p>Arguments are NAME=VALUE: source, target, topics (a,b), group, guarantee, prefix (of the transactional ids),
 * parallelism, interval (of checkpoints, ms), and optionally isolation, offsets (a class
 * on the class path whose offsets() gives the starting offsets), restore (a savepoint), name (of the job),
 * format (of savepoints, canonical or native), keep=true and fails=true (the job has to fail). Commands come on standard
 * input, one a line: {@code stop-with-savepoint DIR}, {@code savepoint DIR}, {@code cancel}, {@code rest}. What happens
 * is printed as lines that begin with {@code @flinklab}: {@code RUNNING} once every subtask runs, {@code FAILED} once a
 * job that has to fail has done so, {@code SAVEPOINT PATH}, {@code ENDED STATUS}, {@code REST URL}, {@code ERROR TEXT}.
 * The program ends at the end of standard input, and with the job unless the cluster is to be kept.
 */
public final class CopyJob {
    private CopyJob() {}

    public static void main(String[] args) {
        int status = 1;
        try {
            run(arguments(args));
            status = 0;
        } catch (Throwable t) {
            t.printStackTrace();
            say("ERROR " + t.toString().replace('\n', ' '));
        }
        // Not left to the threads of the cluster: one of them may live on.
        System.exit(status);
    }

    private static void run(Map<String, String> args) throws Exception {
        int parallelism = Integer.parseInt(args.get("parallelism"));
        Configuration conf = configuration(args);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(conf);
        env.setParallelism(parallelism);
        env.fromSource(source(args), WatermarkStrategy.noWatermarks(), "copy source").uid("source")
                .sinkTo(sink(args)).uid("sink");
        JobGraph job = env.getStreamGraph().getJobGraph();
        JobID id = job.getJobID();
        try (MiniCluster cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(conf)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(parallelism)
                                .withRandomPorts()
                                .build())) {
            cluster.start();
            cluster.submitJob(job).get();
            if (Boolean.parseBoolean(args.get("fails"))) {
                awaitFailure(cluster, id);
                return;
            }
            awaitRunning(cluster, id);
            SavepointFormatType format =
                    SavepointFormatType.valueOf(args.getOrDefault("format", "canonical").toUpperCase());
            obey(cluster, id, format, Boolean.parseBoolean(args.get("keep")));
        }
    }

    private static void obey(MiniCluster cluster, JobID id, SavepointFormatType format, boolean keep) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            String[] command = line.split(" ", 2);
            switch (command[0]) {
                case "savepoint":
                    say("SAVEPOINT " + cluster.triggerSavepoint(id, command[1], false, format).get());
                    break;
                case "stop-with-savepoint":
                    say("SAVEPOINT " + cluster.stopWithSavepoint(id, command[1], false, format).get());
                    ended(cluster, id);
                    if (!keep) {
                        return;
                    }
                    break;
                case "cancel":
                    cluster.cancelJob(id).get();
                    ended(cluster, id);
                    if (!keep) {
                        return;
                    }
                    break;
                case "rest":
                    say("REST " + cluster.getRestAddress().get());
                    break;
                default:
                    throw new IllegalArgumentException("no such command: " + line);
            }
        }
    }

    private static void ended(MiniCluster cluster, JobID id) throws Exception {
        cluster.requestJobResult(id).get();
        say("ENDED " + cluster.getExecutionGraph(id).get().getState());
    }

    /** A job whose sink cannot commit what it was restored with fails a moment before or after every subtask runs. */
    private static void awaitFailure(MiniCluster cluster, JobID id) throws Exception {
        cluster.requestJobResult(id).get();
        AccessExecutionGraph graph = cluster.getExecutionGraph(id).get();
        if (graph.getState() != JobStatus.FAILED) {
            throw new IllegalStateException("the job has ended as " + graph.getState());
        }
        System.out.println(graph.getFailureInfo().getExceptionAsString());
        say("FAILED");
        while (System.in.read() >= 0) {}
    }

    /** A savepoint is refused until every subtask runs, and the state of the job says RUNNING before that. */
    private static void awaitRunning(MiniCluster cluster, JobID id) throws Exception {
        while (true) {
            AccessExecutionGraph graph = cluster.getExecutionGraph(id).get();
            if (graph.getState() == JobStatus.FAILED) {
                throw new IllegalStateException(graph.getFailureInfo().getExceptionAsString());
            }
            boolean running = graph.getState() == JobStatus.RUNNING;
            for (AccessExecutionVertex subtask : graph.getAllExecutionVertices()) {
                running &= subtask.getExecutionState() == ExecutionState.RUNNING;
            }
            if (running) {
                say("RUNNING");
                return;
            }
            Thread.sleep(20);
        }
    }

    private static Configuration configuration(Map<String, String> args) {
        Configuration conf = new Configuration();
        conf.setString("execution.checkpointing.interval", args.get("interval") + "ms");
        conf.setString("restart-strategy.type", "none");
        if (args.containsKey("name")) {
            conf.setString("pipeline.name", args.get("name"));
        }
        // The source hands a record to the sink as it is: both are one chain.
        conf.setString("pipeline.object-reuse", "true");
        conf.setString("taskmanager.memory.managed.size", "16m");
        conf.setString("taskmanager.memory.network.min", "16m");
        conf.setString("taskmanager.memory.network.max", "16m");
        if (args.containsKey("restore")) {
            conf.setString("execution.state-recovery.path", args.get("restore"));
        }
        return conf;
    }

    private static KafkaSource<ConsumerRecord<byte[], byte[]>> source(Map<String, String> args) throws Exception {
        KafkaSourceBuilder<ConsumerRecord<byte[], byte[]>> b =
                KafkaSource.<ConsumerRecord<byte[], byte[]>>builder()
                        .setBootstrapServers(args.get("source"))
                        .setTopics(Arrays.asList(args.get("topics").split(",")))
                        .setGroupId(args.get("group"))
                        .setStartingOffsets(startingOffsets(args))
                        .setDeserializer(new AsItIs());
        if (args.containsKey("isolation")) {
            b.setProperty("isolation.level", args.get("isolation"));
        }
        return b.build();
    }

    private static OffsetsInitializer startingOffsets(Map<String, String> args) throws Exception {
        if (!args.containsKey("offsets")) {
            return OffsetsInitializer.earliest();
        }
        return (OffsetsInitializer) Class.forName(args.get("offsets")).getMethod("offsets").invoke(null);
    }

    private static KafkaSink<ConsumerRecord<byte[], byte[]>> sink(Map<String, String> args) {
        DeliveryGuarantee guarantee = DeliveryGuarantee.valueOf(args.get("guarantee").replace('-', '_').toUpperCase());
        KafkaSinkBuilder<ConsumerRecord<byte[], byte[]>> b =
                KafkaSink.<ConsumerRecord<byte[], byte[]>>builder()
                        .setBootstrapServers(args.get("target"))
                        .setDeliveryGuarantee(guarantee)
                        .setRecordSerializer(new ToItsPartition());
        if (guarantee == DeliveryGuarantee.EXACTLY_ONCE) {
            b.setTransactionalIdPrefix(args.get("prefix"));
            // Brokers allow 15 minutes, and the sink would ask for an hour.
            b.setProperty("transaction.timeout.ms", "600000");
        }
        return b.build();
    }

    private static Map<String, String> arguments(String[] args) {
        Map<String, String> out = new HashMap<>();
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            out.put(pair[0], pair[1]);
        }
        return out;
    }

    private static void say(String line) {
        // A library may be in the middle of a line.
        System.out.print("\n@flinklab " + line + "\n");
        System.out.flush();
    }

    private static final class AsItIs implements KafkaRecordDeserializationSchema<ConsumerRecord<byte[], byte[]>> {
        private static final long serialVersionUID = 1;

        @Override
        public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<ConsumerRecord<byte[], byte[]>> out) {
            out.collect(record);
        }

        @Override
        public TypeInformation<ConsumerRecord<byte[], byte[]>> getProducedType() {
            return TypeInformation.of(new TypeHint<ConsumerRecord<byte[], byte[]>>() {});
        }
    }

    /** Names the partition, which by default the producer would choose. */
    private static final class ToItsPartition implements KafkaRecordSerializationSchema<ConsumerRecord<byte[], byte[]>> {
        private static final long serialVersionUID = 1;

        @Override
        public ProducerRecord<byte[], byte[]> serialize(ConsumerRecord<byte[], byte[]> r, KafkaSinkContext context, Long timestamp) {
            return new ProducerRecord<>(r.topic(), r.partition(), r.timestamp(), r.key(), r.value(), r.headers());
        }
    }
}
