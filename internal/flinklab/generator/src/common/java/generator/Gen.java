package generator;

import java.io.File;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;

/** Runs scenarios and writes NAME/{savepoint|checkpoint}/** with NAME/expected.json. */
public final class Gen {
    static final AtomicLong SEEN = new AtomicLong();
    static final AtomicLong SLOW = new AtomicLong();

    final String flink;
    final String connector;
    final Kafka kafka;
    final File out; // result folder
    final File state; // checkpoint and savepoint root as the job sees it, a neutral absolute path
    final String tag;

    Gen(String flink, String connector, String bootstrap, File out, File state) {
        this.flink = flink;
        this.connector = connector;
        this.kafka = new Kafka(bootstrap);
        this.out = out;
        this.state = state;
        String[] v = flink.split("\\.");
        this.tag = "flink-" + v[0] + "." + v[1];
    }

    /** args: flinkVersion connectorVersion bootstrap outDir stateRoot [scenario...] */
    public static void main(String[] a) throws Exception {
        Gen g = new Gen(a[0], a[1], a[2], new File(a[3]), new File(a[4]));
        List<String> want = Arrays.asList(a).subList(5, a.length);
        int bad = 0;
        for (Sc s : Scenarios.all(a[0], a[1])) {
            if (!want.isEmpty() && !want.contains(s.name)) {
                continue;
            }
            if (!s.source.equals("kafka") && !has("generator.Extra" + s.source.substring(0, 1).toUpperCase() + s.source.substring(1))
                    || s.sink.startsWith("legacy") && !has("generator.ExtraLegacy")) {
                System.out.println("SKIP " + g.tag + "-" + s.name + " (not with this connector or these profiles)");
                continue;
            }
            long t = System.currentTimeMillis();
            try {
                g.run(s);
                System.out.println("OK   " + g.tag + "-" + s.name + " " + (System.currentTimeMillis() - t) + " ms");
            } catch (Throwable e) {
                bad++;
                System.out.println("FAIL " + g.tag + "-" + s.name + " " + e);
                e.printStackTrace(System.out);
            }
        }
        g.kafka.close();
        System.exit(bad == 0 ? 0 : 1);
    }

    static boolean has(String cls) {
        try {
            Class.forName(cls);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Counts and slows the records down, chained to the source. */
    public static final class Throttle implements MapFunction<String, String> {
        private static final long serialVersionUID = 1;
        final int ms;

        Throttle(int ms) {
            this.ms = ms;
        }

        @Override
        public String map(String v) throws Exception {
            if (ms > 0) {
                Thread.sleep(ms);
            }
            SEEN.incrementAndGet();
            return v;
        }
    }

    /** A source that is not Kafka. */
    public static final class Numbers implements MapFunction<Long, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String map(Long v) throws Exception {
            Thread.sleep(10);
            return "numbers|0|" + v + "|";
        }
    }

    /** Behind a network exchange, so that buffers fill up before it. */
    public static final class Slow implements MapFunction<String, String> {
        private static final long serialVersionUID = 1;
        final int ms;

        Slow(int ms) {
            this.ms = ms;
        }

        @Override
        public String map(String v) throws Exception {
            Thread.sleep(ms);
            SLOW.incrementAndGet();
            return v;
        }
    }

    /** Keyed state without any open() (its signature differs between Flink 1 and 2). */
    public static final class Count extends KeyedProcessFunction<String, String, String> {
        private static final long serialVersionUID = 1;

        @Override
        public void processElement(String v, Context c, Collector<String> o) throws Exception {
            ValueState<Long> s =
                    getRuntimeContext().getState(new ValueStateDescriptor<>("count", Long.class));
            Long n = s.value();
            s.update(n == null ? 1L : n + 1);
            o.collect(v);
        }
    }

    public static final class Key implements org.apache.flink.api.java.functions.KeySelector<String, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String getKey(String v) {
            String[] f = v.split("\\|", 4);
            return f[0] + f[1];
        }
    }

    String topic(String run, String t) {
        return t;
    }

    Configuration conf(Sc s, String dir, String restore) {
        Configuration c = new Configuration();
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
        }
        if (!s.action.equals("checkpoint") && !s.noCheckpointing) {
            m.put("execution.checkpointing.interval", "1h"); // without it barriers are not aligned
        }
        m.putAll(s.conf);
        if (s.s3) {
            m.put("state.checkpoints.dir", "s3://my-bucket" + dir + "/_entropy_/checkpoints");
            m.put("execution.checkpointing.dir", m.get("state.checkpoints.dir"));
        }
        m.replaceAll((k, v) -> v.replace("${dir}", "file:" + dir));
        if (restore != null) {
            m.put("execution.savepoint.path", restore);
            m.put("execution.state-recovery.path", restore);
        }
        // one option under its old and its new key at once is refused by some versions: keep the right one
        boolean two = flink.startsWith("2.");
        m.forEach(
                (k, v) -> {
                    if (two && (k.equals("state.backend") || k.equals("restart-strategy"))) {
                        return;
                    }
                    c.setString(k, v);
                });
        return c;
    }

    static OffsetsInitializer start(Sc s) {
        switch (s.start) {
            case "latest":
                return OffsetsInitializer.latest();
            case "committed":
                return OffsetsInitializer.committedOffsets();
            case "committed-earliest":
                return OffsetsInitializer.committedOffsets(OffsetResetStrategy.EARLIEST);
            default:
                return OffsetsInitializer.earliest();
        }
    }

    Properties clientProps() {
        Properties p = new Properties();
        p.setProperty("bootstrap.servers", kafka.bootstrap);
        return p;
    }

    DataStream<String> source(
            StreamExecutionEnvironment env, Sc s, List<String> topics, int i, String group) throws Exception {
        SingleOutputStreamOperator<String> ds;
        if (s.source.equals("kafka")) {
            KafkaSourceBuilder<String> b =
                    KafkaSource.<String>builder()
                            .setBootstrapServers(s.deadBroker ? "127.0.0.1:1" : kafka.bootstrap)
                            .setTopics(topics)
                            .setGroupId(group + (s.sources > 1 ? "-" + i : ""))
                            .setStartingOffsets(start(s))
                            .setProperty("partition.discovery.interval.ms", s.addPartitionsLater > 0 ? "300" : "600000")
                            .setProperty("max.poll.records", "10")
                            .setProperty("commit.offsets.on.checkpoint", String.valueOf(!(s.lag || s.noCommit)));
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
            ds = env.fromSource(b.build(), WatermarkStrategy.noWatermarks(), "kafka source " + i, org.apache.flink.api.common.typeinfo.Types.STRING);
        } else {
            Class<?> k = Class.forName("generator.Extra" + s.source.substring(0, 1).toUpperCase() + s.source.substring(1));
            @SuppressWarnings("unchecked")
            SingleOutputStreamOperator<String> x =
                    (SingleOutputStreamOperator<String>)
                            k.getMethod("source", StreamExecutionEnvironment.class, List.class, String.class, String.class, Sc.class)
                                    .invoke(null, env, topics, kafka.bootstrap, group, s);
            ds = x;
        }
        if (s.uid) {
            ds = ds.uid("source-" + i);
        }
        return ds;
    }

    /** setValueOnlyDeserializer came with 1.13. */
    static void valueOnly(KafkaSourceBuilder<String> b) throws Exception {
        for (Method m : KafkaSourceBuilder.class.getMethods()) {
            if (m.getName().equals("setValueOnlyDeserializer")) {
                m.invoke(b, new SimpleStringSchema());
                return;
            }
        }
        Class<?> k = Class.forName("org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializer");
        Object d = k.getMethod("valueOnly", Class.class)
                .invoke(null, org.apache.kafka.common.serialization.StringDeserializer.class);
        KafkaSourceBuilder.class.getMethod("setDeserializer", k).invoke(b, d);
    }

    JobClient job(Sc s, String run, String dir, int par, String restore) throws Exception {
        Configuration c = conf(s, dir, restore);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(c);
        env.setParallelism(par);
        env.setMaxParallelism(128);
        if (s.compress) {
            env.getConfig().setUseSnapshotCompression(true);
        }
        List<String> topics = new ArrayList<>(s.topics.keySet());
        if (s.source.equals("table")) {
            Class<?> k = Class.forName("generator.ExtraTable");
            return (JobClient)
                    k.getMethod("job", StreamExecutionEnvironment.class, List.class, String.class, String.class, String.class, Sc.class)
                            .invoke(null, env, topics, kafka.bootstrap, run + "-group", run + "-target", s);
        }
        DataStream<String> all = null;
        for (int i = 0; i < s.sources; i++) {
            List<String> mine =
                    s.sources == 1 || s.sameTopic ? topics : Collections.singletonList(topics.get(i % topics.size()));
            DataStream<String> d = source(env, s, mine, i, run + "-group").map(new Throttle(s.throttleMs));
            all = all == null ? d : all.union(d);
        }
        if (s.numbers) {
            all = all.union(
                    env.fromSource(
                                    new org.apache.flink.api.connector.source.lib.NumberSequenceSource(0, 100000000),
                                    WatermarkStrategy.noWatermarks(),
                                    "numbers",
                                    org.apache.flink.api.common.typeinfo.Types.LONG)
                            .uid("numbers")
                            .map(new Numbers()));
        }
        if (s.rebalance) {
            SingleOutputStreamOperator<String> m = all.rebalance().map(new Slow(s.slowMs));
            all = m;
        }
        if (s.keyed) {
            SingleOutputStreamOperator<String> k = all.keyBy(new Key()).process(new Count());
            if (s.uid) {
                k.uid("count");
            }
            all = k;
        }
        if (s.sink.equals("legacy-eo")) {
            Class.forName("generator.ExtraLegacy")
                    .getMethod("sink", DataStream.class, String.class, String.class, Sc.class)
                    .invoke(null, all, kafka.bootstrap, run + "-target", s);
        } else if (s.sink.equals("none")) {
            all.print();
        } else {
            Class<?> k;
            try {
                k = Class.forName("generator.ExtraSink");
            } catch (ClassNotFoundException e) {
                k = Class.forName("generator.ExtraLegacy"); // before 1.14 there is no KafkaSink
            }
            k.getMethod("sink", DataStream.class, String.class, String.class, Sc.class)
                    .invoke(null, all, kafka.bootstrap, run + "-target", s);
        }
        return env.executeAsync(run);
    }

    static void await(String what, long ms, java.util.concurrent.Callable<Boolean> c) throws Exception {
        long end = System.currentTimeMillis() + ms;
        while (System.currentTimeMillis() < end) {
            if (c.call()) {
                return;
            }
            Thread.sleep(20);
        }
        throw new IllegalStateException("timed out: " + what);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    String savepoint(JobClient jc, Sc s, String dir) throws Exception {
        Class<?> fmt = null;
        try {
            fmt = Class.forName("org.apache.flink.core.execution.SavepointFormatType");
        } catch (ClassNotFoundException e) {
            // before 1.15
        }
        boolean stop = !s.action.equals("savepoint");
        Exception last = null;
        for (int i = 0; i < 20; i++) {
            try {
                CompletableFuture<String> f;
                if (stop) {
                    f =
                            fmt == null
                                    ? (CompletableFuture<String>)
                                            JobClient.class.getMethod("stopWithSavepoint", boolean.class, String.class)
                                                    .invoke(jc, s.action.equals("drain"), dir)
                                    : (CompletableFuture<String>)
                                            JobClient.class.getMethod("stopWithSavepoint", boolean.class, String.class, fmt)
                                                    .invoke(jc, s.action.equals("drain"), dir, Enum.valueOf((Class) fmt, s.format));
                } else {
                    f =
                            fmt == null
                                    ? (CompletableFuture<String>)
                                            JobClient.class.getMethod("triggerSavepoint", String.class).invoke(jc, dir)
                                    : (CompletableFuture<String>)
                                            JobClient.class.getMethod("triggerSavepoint", String.class, fmt)
                                                    .invoke(jc, dir, Enum.valueOf((Class) fmt, s.format));
                }
                return f.get(60, TimeUnit.SECONDS);
            } catch (java.util.concurrent.ExecutionException e) {
                last = e; // not all tasks run yet
                String st = jc.getJobStatus().get().toString();
                if (!st.equals("RUNNING") && !st.equals("CREATED") && !st.equals("INITIALIZING")) {
                    throw e;
                }
                Thread.sleep(300);
            }
        }
        throw last;
    }

    static File file(String pointer) {
        return new File(java.net.URI.create(pointer.replaceFirst("^s3://my-bucket", "file:").replace("file:///", "file:/").replaceFirst("^file:/+", "file:///")));
    }

    static File latestCheckpoint(File root) throws Exception {
        if (!root.isDirectory()) {
            return null;
        }
        try (Stream<Path> w = Files.walk(root.toPath())) {
            return w.filter(p -> p.getFileName().toString().equals("_metadata"))
                    .map(p -> p.getParent().toFile())
                    .max(java.util.Comparator.comparingLong(f -> Long.parseLong(f.getName().substring(4))))
                    .orElse(null);
        } catch (java.io.UncheckedIOException e) {
            return null;
        }
    }

    static void copy(File from, File to) throws Exception {
        try (Stream<Path> w = Files.walk(from.toPath())) {
            for (Path p : w.collect(Collectors.toList())) {
                Path q = to.toPath().resolve(from.toPath().relativize(p).toString());
                if (Files.isDirectory(p)) {
                    Files.createDirectories(q);
                } else {
                    Files.createDirectories(q.getParent());
                    Files.copy(p, q, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    static void wipe(File f) {
        File[] l = f.listFiles();
        if (l != null && !Files.isSymbolicLink(f.toPath())) {
            for (File x : l) {
                wipe(x);
            }
        }
        f.delete();
    }

    static Throwable root(Throwable t) {
        while (t.getCause() != null) {
            t = t.getCause();
        }
        return t;
    }

    void run(Sc s) throws Exception {
        String run = tag + "-" + s.name;
        File fx = new File(out, run);
        wipe(fx);
        File dirF = new File(state, run);
        wipe(dirF);
        dirF.mkdirs();
        String dir = dirF.getPath();
        List<String> created = new ArrayList<>(s.topics.keySet());
        created.add(run + "-target");
        kafka.drop(created);
        Thread.sleep(300);
        try {
            for (Map.Entry<String, Integer> e : s.topics.entrySet()) {
                kafka.create(e.getKey(), e.getValue());
                if (!s.start.equals("latest")) {
                    kafka.fill(e.getKey(), e.getValue(), s.records, s.empty, s.txnSource, s.fillBytes);
                }
            }
            kafka.create(run + "-target", 2);
            if (s.start.startsWith("committed") || s.lag) {
                Map<TopicPartition, OffsetAndMetadata> m = new HashMap<>();
                for (Map.Entry<String, Integer> e : s.topics.entrySet()) {
                    for (int p = 0; p < e.getValue(); p++) {
                        if (!s.empty.contains(p) || s.start.equals("committed")) {
                            m.put(new TopicPartition(e.getKey(), p), new OffsetAndMetadata(s.empty.contains(p) ? 0 : 3 + p));
                        }
                    }
                }
                kafka.setGroup(run + "-group", m);
            }
            SEEN.set(0);
            SLOW.set(0);
            JobClient jc = job(s, run, dir, s.par, null);
            Map<String, Object> ex = new LinkedHashMap<>();
            String pointer = take(s, run, jc, dir, fx);
            if (s.rescaleTo > 0) {
                SEEN.set(0);
                String first = pointer;
                jc = job(s, run, dir, s.rescaleTo, first);
                pointer = take(s, run, jc, dir, fx);
                wipe(file(first));
            }
            File pf = file(pointer);
            File to;
            if (s.s3) {
                copy(dirF, new File(fx, "state"));
                to = new File(fx, "state/" + dirF.toPath().relativize(pf.toPath()));
            } else if (s.action.equals("checkpoint")) {
                copy(pf.getParentFile(), new File(fx, "checkpoint"));
                to = new File(new File(fx, "checkpoint"), pf.getName());
                for (File f : new File(fx, "checkpoint").listFiles()) {
                    if (f.getName().startsWith("chk-") && !f.equals(to)) {
                        wipe(f);
                    }
                }
                prune(new File(fx, "checkpoint"));
            } else {
                to = new File(fx, "savepoint");
                copy(pf, to);
            }
            ex.put("fixture", run);
            ex.put("note", s.note);
            ex.put("flinkVersion", flink);
            ex.put("connectorVersion", connector);
            ex.put("kind", s.action.equals("checkpoint") ? "checkpoint" : s.action.equals("savepoint") ? "savepoint" : "stop-with-savepoint" + (s.action.equals("drain") ? " (drain)" : ""));
            ex.put("format", s.action.equals("checkpoint") ? s.conf.getOrDefault("state.backend", "hashmap") : s.format);
            ex.put("source", s.source);
            ex.put("checkpointing", !s.noCheckpointing);
            ex.put("sink", s.sink);
            ex.put("pointer", fx.toPath().relativize(to.toPath()).toString());
            ex.put("originalPointer", pointer);
            ex.put("topics", s.topics);
            ex.putAll(Oracle.read(s.action.equals("checkpoint") ? pf : to));
            Map<String, Object> cross = new LinkedHashMap<>();
            Map<String, Object> com = kafka.tally(run + "-target", true);
            Map<String, Object> unc = kafka.tally(run + "-target", false);
            cross.put("targetReadCommitted", com);
            cross.put("targetReadUncommitted", unc.equals(com) ? "same" : unc);
            Map<String, Object> groups = new LinkedHashMap<>();
            for (int i = 0; i < s.sources; i++) {
                String g = run + "-group" + (s.sources > 1 && s.source.equals("kafka") ? "-" + i : "");
                groups.put(g, kafka.group(g));
            }
            cross.put("groupCommittedOffsets", groups);
            ex.put("crossCheck", cross);
            Files.write(new File(fx, "expected.json").toPath(), Json.write(ex).getBytes(StandardCharsets.UTF_8));
        } finally {
            kafka.drop(created);
            wipe(dirF);
        }
    }

    static void prune(File d) {
        File[] l = d.listFiles();
        if (l != null) {
            for (File f : l) {
                if (f.isDirectory()) {
                    prune(f);
                    f.delete(); // only an empty one goes
                }
            }
        }
    }

    String take(Sc s, String run, JobClient jc, String dir, File fx) throws Exception {
        try {
            return take0(s, run, jc, dir, fx);
        } catch (Throwable t) {
            try {
                jc.getJobExecutionResult().get(2, TimeUnit.SECONDS);
            } catch (Throwable x) {
                System.out.println("job ended with: " + root(x));
            }
            throw t;
        } finally {
            try {
                if (!jc.getJobStatus().get(5, TimeUnit.SECONDS).isTerminalState()) {
                    jc.cancel().get(20, TimeUnit.SECONDS);
                }
            } catch (Throwable t) {
                // the mini cluster is gone already
            }
            Thread.sleep(500);
        }
    }

    String take0(Sc s, String run, JobClient jc, String dir, File fx) throws Exception {
        if (s.deadBroker) {
            Thread.sleep(3000);
            return savepoint(jc, s, "file:" + dir + "/savepoints");
        }
        if (s.start.equals("latest")) {
            await("running", 60000, () -> jc.getJobStatus().get().toString().equals("RUNNING"));
            Thread.sleep(3000);
            for (Map.Entry<String, Integer> e : s.topics.entrySet()) {
                kafka.fill(e.getKey(), e.getValue(), s.records, s.empty, false, 0);
            }
        }
        if (s.addPartitionsLater > 0) {
            await("some records", 60000, () -> SEEN.get() >= s.passRecords / 2);
            String t = s.topics.keySet().iterator().next();
            kafka.admin.createPartitions(Collections.singletonMap(t, org.apache.kafka.clients.admin.NewPartitions.increaseTo(s.topics.get(t) + s.addPartitionsLater))).all().get();
            s.topics.put(t, s.topics.get(t) + s.addPartitionsLater);
            Thread.sleep(3000);
        }
        if (s.source.equals("table")) {
            await("running", 60000, () -> jc.getJobStatus().get().toString().equals("RUNNING"));
            Thread.sleep(4000);
        } else {
            await("records", 60000, () -> {
                if (jc.getJobStatus().get(5, TimeUnit.SECONDS).isGloballyTerminalState()) {
                    throw new IllegalStateException("job ended early");
                }
                return SEEN.get() >= s.passRecords;
            });
        }
        if (s.waitFinish) {
            Thread.sleep(2500);
        }
        if (s.action.equals("checkpoint")) {
            File cp = new File(dir, "checkpoints");
            File seen = latestCheckpoint(cp);
            int no = seen == null ? 0 : Integer.parseInt(seen.getName().substring(4));
            await("checkpoint", 60000, () -> {
                File f = latestCheckpoint(cp);
                return f != null && Integer.parseInt(f.getName().substring(4)) >= no + (s.rocksTwo() ? 3 : 1);
            });
            Thread.sleep(150);
            jc.cancel().get(20, TimeUnit.SECONDS);
            Thread.sleep(800);
            return latestCheckpoint(cp).toURI().toString();
        }
        return savepoint(jc, s, (s.s3 ? "s3://my-bucket" : "file:") + dir + "/savepoints");
    }
}
