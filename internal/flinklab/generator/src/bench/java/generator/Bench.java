package generator;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RunnableFuture;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumStateSerializer;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitSerializer;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.core.io.SimpleVersionedSerialization;
import org.apache.flink.core.memory.DataInputViewStreamWrapper;
import org.apache.flink.core.memory.DataOutputViewStreamWrapper;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.DefaultOperatorStateBackend;
import org.apache.flink.runtime.state.DefaultOperatorStateBackendBuilder;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeOffsets;
import org.apache.flink.runtime.state.KeyGroupsSavepointStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStorageLocation;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.streaming.api.operators.util.SimpleVersionedListState;
import org.apache.kafka.common.TopicPartition;

/**
 * Big synthetic savepoints written with Flink's own serializers, and the same read back, timed.
 *
 * <pre>
 * Bench write DIR PARTITIONS SUBTASKS THRESHOLD NOISE_OPERATORS [compress]
 * Bench unassigned DIR NAME FLINK CONNECTOR   a small one with unassigned splits
 * Bench compressed DIR NAME FLINK CONNECTOR   2000 splits, snapshot compression, over several Snappy chunks
 * Bench print DIR [lean]                      operatorId topic partition subtask next stopping, sorted
 * Bench time DIR ITERATIONS [lean]            hot loops: full (operator state backend) and lean (seek), or lean alone
 * </pre>
 */
public final class Bench {
    private Bench() {}

    public static void main(String[] a) throws Exception {
        long t0 = System.nanoTime();
        switch (a[0]) {
            case "write":
                write(new File(a[1]), Integer.parseInt(a[2]), Integer.parseInt(a[3]), Integer.parseInt(a[4]), Integer.parseInt(a[5]), 0, a.length > 6);
                break;
            case "unassigned":
                synthetic(new File(a[1]), a[2], a[3], a[4], false);
                break;
            case "compressed":
                synthetic(new File(a[1]), a[2], a[3], a[4], true);
                break;
            case "print": {
                List<String> l = rows(new File(a[1]), a.length > 2);
                Collections.sort(l);
                PrintStream p = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false);
                for (String s : l) {
                    p.println(s);
                }
                p.flush();
                System.err.printf("in-process %.1f ms, JVM start to here %.1f ms%n", (System.nanoTime() - t0) / 1e6,
                        (double) (System.currentTimeMillis() - java.lang.management.ManagementFactory.getRuntimeMXBean().getStartTime()));
                break;
            }
            case "time": {
                File d = new File(a[1]);
                int n = Integer.parseInt(a[2]);
                for (boolean lean : a.length > 3 ? new boolean[] {true} : new boolean[] {false, true}) {
                    int rows = 0;
                    double best = 1e18;
                    double[] all = new double[n];
                    for (int i = 0; i < n; i++) {
                        long t = System.nanoTime();
                        rows = read(d, lean);
                        all[i] = (System.nanoTime() - t) / 1e6;
                        best = Math.min(best, all[i]);
                    }
                    java.util.Arrays.sort(all);
                    System.out.printf("%s rows=%d first-to-last n=%d median=%.3f ms best=%.3f ms%n",
                            lean ? "lean" : "full", rows, n, all[n / 2], best);
                }
                break;
            }
            default:
                throw new IllegalArgumentException(a[0]);
        }
    }

    static long offsetOf(int i) {
        return i % 101 == 100 ? -2 : 1_000_003L * i + 17;
    }

    static OperatorState op(String name, String uid, OperatorID id, int par) throws Exception {
        for (Constructor<?> c : OperatorState.class.getConstructors()) {
            if (c.getParameterCount() == 5) {
                return (OperatorState) c.newInstance(name, uid, id, par, Math.max(128, par));
            }
        }
        for (Constructor<?> c : OperatorState.class.getConstructors()) {
            if (c.getParameterCount() == 3) {
                return (OperatorState) c.newInstance(id, par, Math.max(128, par));
            }
        }
        throw new IllegalStateException();
    }

    static byte[] coordinator(List<KafkaPartitionSplit> assigned, List<KafkaPartitionSplit> un) throws Exception {
        Object state = null;
        boolean splits = new KafkaSourceEnumStateSerializer().getVersion() >= 3;
        Set<Object> x = new HashSet<>();
        Set<Object> y = new HashSet<>();
        for (KafkaPartitionSplit s : assigned) {
            x.add(splits ? s : s.getTopicPartition());
        }
        for (KafkaPartitionSplit s : un) {
            y.add(splits ? s : s.getTopicPartition());
        }
        for (Constructor<?> c : KafkaSourceEnumState.class.getConstructors()) {
            if (c.getParameterCount() == 3) {
                state = c.newInstance(x, y, true);
            }
        }
        Method m = null;
        for (Method k : Class.forName("org.apache.flink.runtime.source.coordinator.SourceCoordinator").getDeclaredMethods()) {
            if (k.getName().equals("writeCheckpointBytes")) {
                m = k;
            }
        }
        m.setAccessible(true);
        return (byte[]) m.invoke(null, state, new KafkaSourceEnumStateSerializer());
    }

    static void write(File dir, int partitions, int subtasks, int threshold, int noise, int unassigned, boolean compress) throws Exception {
        dir.mkdirs();
        Path p = new Path(dir.toURI().toString());
        FsCheckpointStorageLocation loc =
                new FsCheckpointStorageLocation(
                        new LocalFileSystem(), p, p, p, CheckpointStorageLocationReference.getDefault(), threshold, 4096);
        List<OperatorState> ops = new ArrayList<>();
        for (int n = 0; n < noise; n++) {
            OperatorState k = op("keyed " + n, "keyed-" + n, new OperatorID(7L + n, 1234567L * n), subtasks);
            for (int s = 0; s < subtasks; s++) {
                KeyGroupRange r = KeyGroupRange.of(s * 128 / Math.max(subtasks, 1) % 128, Math.min(127, s * 128 / subtasks % 128 + Math.max(0, 128 / subtasks - 1)));
                long[] offs = new long[r.getNumberOfKeyGroups()];
                k.putState(s, OperatorSubtaskState.builder()
                        .setManagedKeyedState(new KeyGroupsSavepointStateHandle(new KeyGroupRangeOffsets(r, offs),
                                new ByteStreamStateHandle("noise-" + n + "-" + s, new byte[2000])))
                        .build());
            }
            ops.add(k);
        }
        OperatorState src = op("kafka source", "source-0", new OperatorID(0x30198ea1e33432d6L, 0x307d761dd131f28aL), subtasks);
        List<KafkaPartitionSplit> all = new ArrayList<>();
        List<KafkaPartitionSplit> un = new ArrayList<>();
        int topics = Math.max(1, partitions / 100);
        for (int i = 0; i < partitions; i++) {
            KafkaPartitionSplit s =
                    new KafkaPartitionSplit(new TopicPartition("orders-region-" + i % topics, i / topics), offsetOf(i));
            if (unassigned > 0 && i % 2 == 1) {
                un.add(new KafkaPartitionSplit(s.getTopicPartition(), KafkaPartitionSplit.EARLIEST_OFFSET));
            } else {
                all.add(s);
            }
        }
        src.setCoordinatorState(new ByteStreamStateHandle("coordinator", coordinator(all, un)));
        for (int sub = 0; sub < subtasks; sub++) {
            ExecutionConfig cfg = new ExecutionConfig();
            cfg.setUseSnapshotCompression(compress);
            DefaultOperatorStateBackend be =
                    new DefaultOperatorStateBackendBuilder(
                                    Bench.class.getClassLoader(), cfg, false, Collections.emptyList(), new CloseableRegistry())
                            .build();
            ListState<byte[]> raw =
                    be.getListState(new ListStateDescriptor<>(SourceState.READER, BytePrimitiveArraySerializer.INSTANCE));
            List<KafkaPartitionSplit> mine = new ArrayList<>();
            for (int i = sub; i < all.size(); i += subtasks) {
                mine.add(all.get(i));
            }
            new SimpleVersionedListState<>(raw, new KafkaPartitionSplitSerializer()).update(mine);
            RunnableFuture<SnapshotResult<OperatorStateHandle>> f =
                    be.snapshot(1, 1, loc, CheckpointOptions.forCheckpointWithDefaultLocation());
            f.run();
            src.putState(sub, OperatorSubtaskState.builder().setManagedOperatorState(f.get().getJobManagerOwnedSnapshot()).build());
            be.dispose();
        }
        ops.add(src);
        CheckpointMetadata md =
                new CheckpointMetadata(1, ops, Collections.emptyList(), CheckpointProperties.forSavepoint(false, SavepointFormatType.CANONICAL));
        try (FileOutputStream o = new FileOutputStream(new File(dir, "_metadata"));
                BufferedOutputStream b = new BufferedOutputStream(o)) {
            Checkpoints.storeCheckpointMetadata(md, b);
            b.flush();
        }
    }

    static void synthetic(File out, String name, String flink, String connector, boolean compress) throws Exception {
        File fx = new File(out, name);
        File sp = new File(fx, "savepoint");
        Folders.wipe(fx);
        if (compress) {
            write(sp, 2000, 1, 0, 0, 0, true);
        } else {
            write(sp, 6, 2, 20480, 0, 3, false);
        }
        Map<String, Object> ex = new LinkedHashMap<>();
        ex.put("fixture", name);
        ex.put("note", compress
                ? "SYNTHETIC, written with Flink's and the connector's own serializers: 2000 splits in one subtask with snapshot compression; "
                        + "in Flink 1.18.0 and 1.18.1 the element offsets are those of the Snappy chunks, not of the elements"
                : "SYNTHETIC, written with Flink's and the connector's own serializers: three splits are in the reader state, three only in the enumerator, UNASSIGNED");
        ex.put("synthetic", true);
        ex.put("flinkVersion", flink);
        ex.put("connectorVersion", connector);
        ex.put("kind", "savepoint");
        ex.put("format", "CANONICAL");
        ex.put("source", "kafka");
        ex.put("sink", "none");
        ex.put("pointer", "savepoint");
        if (!compress) {
            ex.putAll(Oracle.read(sp));
        } else {
            // what was written is the answer; Flink 1.18.0 and 1.18.1 cannot read their own file (FLINK-34063)
            List<Object> pos = new ArrayList<>();
            Set<String> truth = new HashSet<>();
            for (int i = 0; i < 2000; i++) {
                long off = offsetOf(i);
                truth.add("orders-region-" + i % 20 + "-" + i / 20 + "@" + off);
                pos.add(Json.object("operatorId", "30198ea1e33432d6307d761dd131f28a", "topic", "orders-region-" + i % 20, "partition", i / 20,
                        "subtask", 0, "next", off >= 0 ? off : null, "sentinel", off >= 0 ? null : "EARLIEST", "stopping", null, "stateKind", "KafkaPartitionSplit"));
            }
            String agrees;
            try {
                Set<String> got = new HashSet<>();
                each(sp, false, (o, sub, s) -> got.add(s.getTopic() + "-" + s.getPartition() + "@" + s.getStartingOffset()));
                agrees = got.equals(truth) ? "agrees" : "WRONG: " + got.size() + " different splits of " + truth.size();
            } catch (Throwable t) {
                agrees = "FAILS: " + t.getClass().getSimpleName();
            }
            ex.put("flinksOwnReader", agrees);
            ex.put("metadataVersion", Oracle.version(sp));
            ex.put("checkpointId", 1L);
            ex.put("positions", pos);
        }
        Files.write(new File(fx, "expected.json").toPath(), Json.write(ex).getBytes(StandardCharsets.UTF_8));
    }

    interface Sink {
        void row(OperatorState o, int sub, KafkaPartitionSplit s);
    }

    static List<String> rows(File dir, boolean lean) throws Exception {
        List<String> l = new ArrayList<>();
        each(dir, lean, (o, sub, s) ->
                l.add(o.getOperatorID().toHexString() + "\t" + s.getTopic() + "\t" + s.getPartition() + "\t" + sub + "\t"
                        + s.getStartingOffset() + "\t" + s.getStoppingOffset().map(String::valueOf).orElse("-")));
        return l;
    }

    static int read(File dir, boolean lean) throws Exception {
        int[] n = new int[1];
        each(dir, lean, (o, sub, s) -> n[0]++);
        return n[0];
    }

    static void each(File dir, boolean lean, Sink sink) throws Exception {
        CheckpointMetadata md = Oracle.load(dir);
        KafkaPartitionSplitSerializer ser = new KafkaPartitionSplitSerializer();
        for (OperatorState o : md.getOperatorStates()) {
            for (Map.Entry<Integer, OperatorSubtaskState> e : o.getSubtaskStates().entrySet()) {
                for (OperatorStateHandle h : e.getValue().getManagedOperatorState()) {
                    OperatorStateHandle.StateMetaInfo mi = h.getStateNameToPartitionOffsets().get(SourceState.READER);
                    if (mi == null) {
                        continue;
                    }
                    if (lean) {
                        try (FSDataInputStream in = h.openInputStream()) {
                            DataInputViewStreamWrapper v = new DataInputViewStreamWrapper(in);
                            for (long off : mi.getOffsets()) {
                                in.seek(off);
                                byte[] b = BytePrimitiveArraySerializer.INSTANCE.deserialize(v);
                                sink.row(o, e.getKey(), SimpleVersionedSerialization.readVersionAndDeSerialize(ser, b));
                            }
                        }
                    } else {
                        DefaultOperatorStateBackend be =
                                new DefaultOperatorStateBackendBuilder(
                                                Bench.class.getClassLoader(), new ExecutionConfig(), false,
                                                Collections.singletonList(h), new CloseableRegistry())
                                        .build();
                        ListState<byte[]> raw =
                                be.getListState(new ListStateDescriptor<>(SourceState.READER, BytePrimitiveArraySerializer.INSTANCE));
                        for (KafkaPartitionSplit s : new SimpleVersionedListState<>(raw, ser).get()) {
                            sink.row(o, e.getKey(), s);
                        }
                        be.dispose();
                    }
                }
            }
        }
    }
}
