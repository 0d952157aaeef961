package generator;

import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumStateSerializer;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitSerializer;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.MasterState;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.DefaultOperatorStateBackend;
import org.apache.flink.runtime.state.DefaultOperatorStateBackendBuilder;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.OperatorStateHandle;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.streaming.api.operators.util.SimpleVersionedListState;
import org.apache.kafka.common.TopicPartition;

/**
 * Reads a savepoint or checkpoint with Flink's own classes only: Checkpoints.loadCheckpointMetadata
 * for _metadata, DefaultOperatorStateBackendBuilder for the operator state files and the connector's
 * own serializers for the splits.
 *
 * <p>Usage: Oracle POINTER_DIR [--dynamic-uid=UID]
 */
public final class Oracle {
    private Oracle() {}

    static final String SOURCE_READER_STATE = "SourceReaderState";
    static final String LEGACY_STATE = "topic-partition-offset-states";

    public static void main(String[] a) throws Exception {
        System.out.print(Json.write(read(new File(a[0]))));
    }

    static Map<String, Object> obj(Object... kv) {
        Map<String, Object> m = new LinkedHashMap<>();
        for (int i = 0; i < kv.length; i += 2) {
            m.put((String) kv[i], kv[i + 1]);
        }
        return m;
    }

    static CheckpointMetadata load(File dir) throws Exception {
        try (DataInputStream in =
                new DataInputStream(
                        new BufferedInputStream(new FileInputStream(new File(dir, "_metadata"))))) {
            return Checkpoints.loadCheckpointMetadata(
                    in, Oracle.class.getClassLoader(), dir.toURI().toString());
        }
    }

    static int version(File dir) throws Exception {
        try (DataInputStream in =
                new DataInputStream(new FileInputStream(new File(dir, "_metadata")))) {
            if (in.readInt() != Checkpoints.HEADER_MAGIC_NUMBER) {
                throw new IllegalStateException("bad magic");
            }
            return in.readInt();
        }
    }

    static Object call(Object o, String method) {
        for (Class<?> c = o.getClass(); c != null; c = c.getSuperclass()) {
            try {
                Method m = c.getDeclaredMethod(method);
                m.setAccessible(true);
                Object r = m.invoke(o);
                return r instanceof Optional ? ((Optional<?>) r).orElse(null) : r;
            } catch (NoSuchMethodException e) {
                // look higher
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        return null;
    }

    static Map<String, Object> read(File dir) throws Exception {
        CheckpointMetadata md = load(dir);
        Map<String, Object> out = new LinkedHashMap<>();
        out.put("metadataVersion", version(dir));
        out.put("checkpointId", md.getCheckpointId());
        Object props = call(md, "getCheckpointProperties");
        if (props != null) {
            out.put("checkpointProperties", String.valueOf(props));
        }
        List<Object> masters = new ArrayList<>();
        for (MasterState ms : md.getMasterStates()) {
            masters.add(obj("name", ms.name(), "version", ms.version(), "bytes", ms.bytes().length));
        }
        out.put("masterStates", masters);
        List<Object> ops = new ArrayList<>();
        List<Object> positions = new ArrayList<>();
        for (OperatorState os : md.getOperatorStates()) {
            ops.add(operator(os, positions));
        }
        out.put("operators", ops);
        out.put("positions", positions);
        return out;
    }

    static Map<String, Object> operator(OperatorState os, List<Object> positions) throws Exception {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("operatorId", os.getOperatorID().toHexString());
        o.put("uid", call(os, "getOperatorUid"));
        o.put("name", call(os, "getOperatorName"));
        o.put("parallelism", os.getParallelism());
        o.put("maxParallelism", os.getMaxParallelism());
        o.put("fullyFinished", os.getClass().getSimpleName().equals("FullyFinishedOperatorState"));
        ByteStreamStateHandle coord = os.getCoordinatorState();
        if (coord != null) {
            o.put("coordinator", coordinator(coord.getData()));
        }
        List<Object> subs = new ArrayList<>();
        for (Map.Entry<Integer, OperatorSubtaskState> e :
                new TreeMap<>(os.getSubtaskStates()).entrySet()) {
            subs.add(subtask(os, e.getKey(), e.getValue(), positions));
        }
        for (Object x : subs) {
            if (coord != null && "other".equals(((Map<?, ?>) x).get("splitType"))) {
                o.put("coordinator", obj("type", "other", "bytes", coord.getData().length));
            }
        }
        o.put("subtasks", subs);
        return o;
    }

    static Map<String, Object> coordinator(byte[] data) throws Exception {
        Map<String, Object> c = new LinkedHashMap<>();
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(data));
        int serde = in.readInt();
        int enumVersion = in.readInt();
        byte[] b = new byte[in.readInt()];
        in.readFully(b);
        c.put("bytes", data.length);
        c.put("coordinatorSerdeVersion", serde);
        c.put("enumeratorStateVersion", enumVersion);
        c.put("trailingBytes", in.available());
        try {
            KafkaSourceEnumState st = new KafkaSourceEnumStateSerializer().deserialize(enumVersion, b);
            c.put("type", "KafkaSourceEnumState");
            enumState(c, st);
            return c;
        } catch (Exception | Error e) {
            // not a KafkaSource enumerator: try the dynamic one
        }
        try {
            Class<?> k =
                    Class.forName(
                            "org.apache.flink.connector.kafka.dynamic.source.enumerator.DynamicKafkaSourceEnumStateSerializer");
            SimpleVersionedSerializer<?> s = (SimpleVersionedSerializer<?>) k.getDeclaredConstructor().newInstance();
            Object st = s.deserialize(enumVersion, b);
            c.put("type", "DynamicKafkaSourceEnumState");
            List<Object> streams = new ArrayList<>();
            for (Object ks : (Collection<?>) call(st, "getKafkaStreams")) {
                streams.add(String.valueOf(ks));
            }
            c.put("kafkaStreams", streams);
            Map<String, Object> clusters = new TreeMap<>();
            for (Map.Entry<?, ?> e : ((Map<?, ?>) call(st, "getClusterEnumeratorStates")).entrySet()) {
                Map<String, Object> cs = new LinkedHashMap<>();
                enumState(cs, (KafkaSourceEnumState) e.getValue());
                clusters.put(String.valueOf(e.getKey()), cs);
            }
            c.put("clusters", clusters);
        } catch (Exception | Error e) {
            c.put("type", "unknown");
            c.put("base64", Base64.getEncoder().encodeToString(b));
        }
        return c;
    }

    static void enumState(Map<String, Object> c, KafkaSourceEnumState st) {
        Object done = call(st, "initialDiscoveryFinished");
        if (done != null) {
            c.put("initialDiscoveryFinished", done);
        }
        Map<String, Collection<?>> kinds = new LinkedHashMap<>();
        Object assigned = call(st, "assignedPartitions");
        if (assigned == null) {
            assigned = call(st, "assignedSplits");
        }
        kinds.put("assigned", assigned == null ? Collections.emptyList() : (Collection<?>) assigned);
        Object un = call(st, "unassignedInitialPartitions");
        if (un == null) {
            un = call(st, "unassignedSplits");
        }
        if (un == null) {
            un = call(st, "unassigned");
        }
        kinds.put("unassigned", un == null ? Collections.emptyList() : (Collection<?>) un);
        for (Map.Entry<String, Collection<?>> e : kinds.entrySet()) {
            Map<String, Object> l = new TreeMap<>();
            for (Object x : e.getValue()) {
                if (x instanceof TopicPartition) {
                    l.put(x.toString(), null);
                } else if (x instanceof KafkaPartitionSplit) {
                    l.put(((KafkaPartitionSplit) x).getTopicPartition().toString(),
                            ((KafkaPartitionSplit) x).getStartingOffset());
                } else {
                    l.put(String.valueOf(call(x, "topicPartition")), null);
                }
            }
            c.put(e.getKey(), l);
        }
    }

    static Map<String, Object> subtask(
            OperatorState os, int index, OperatorSubtaskState st, List<Object> positions) throws Exception {
        Map<String, Object> s = new LinkedHashMap<>();
        s.put("index", index);
        if (st.getClass().getSimpleName().equals("FinishedOperatorSubtaskState")) {
            s.put("finished", true);
        }
        int channels = st.getInputChannelState().size() + st.getResultSubpartitionState().size();
        if (channels > 0) {
            long sz = 0;
            List<Object> all = new ArrayList<>();
            all.addAll(st.getInputChannelState());
            all.addAll(st.getResultSubpartitionState());
            for (Object h : all) {
                sz += ((org.apache.flink.runtime.state.StateObject) h).getStateSize();
            }
            s.put("channelStateHandles", channels);
            s.put("channelStateBytes", sz);
        }
        List<Object> keyed = new ArrayList<>();
        for (KeyedStateHandle h : st.getManagedKeyedState()) {
            keyed.add(h.getClass().getSimpleName());
        }
        for (KeyedStateHandle h : st.getRawKeyedState()) {
            keyed.add("raw:" + h.getClass().getSimpleName());
        }
        if (!keyed.isEmpty()) {
            s.put("keyedHandles", keyed);
        }
        List<Object> ohs = new ArrayList<>();
        for (OperatorStateHandle h : st.getManagedOperatorState()) {
            ohs.add(handle(h));
        }
        if (!st.getRawOperatorState().isEmpty()) {
            s.put("rawOperatorHandles", st.getRawOperatorState().size());
        }
        if (!ohs.isEmpty()) {
            s.put("operatorHandles", ohs);
        }
        if (st.getManagedOperatorState().hasState()) {
            operatorState(os, index, st, s, positions);
        }
        return s;
    }

    static Map<String, Object> handle(OperatorStateHandle h) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("class", h.getClass().getSimpleName());
        StreamStateHandle d = h.getDelegateStateHandle();
        m.put("delegate", d == null ? null : d.getClass().getSimpleName());
        if (d instanceof ByteStreamStateHandle) {
            m.put("inline", true);
        }
        for (String g : new String[] {"getRelativePath", "getFilePath", "getStartPos"}) {
            Object v = d == null ? null : call(d, g);
            if (v != null && !(g.equals("getFilePath") && m.containsKey("getRelativePath"))) {
                m.put(g.substring(3, 4).toLowerCase() + g.substring(4), v instanceof Number ? v : v.toString());
            }
        }
        if (m.containsKey("relativePath")) {
            m.remove("filePath");
        }
        if (d != null) {
            m.put("size", d.getStateSize());
        }
        Map<String, Object> names = new TreeMap<>();
        for (Map.Entry<String, OperatorStateHandle.StateMetaInfo> e :
                h.getStateNameToPartitionOffsets().entrySet()) {
            names.put(
                    e.getKey(),
                    e.getValue().getDistributionMode() + ":" + e.getValue().getOffsets().length);
        }
        m.put("states", names);
        return m;
    }

    static void operatorState(
            OperatorState os,
            int index,
            OperatorSubtaskState st,
            Map<String, Object> s,
            List<Object> positions)
            throws Exception {
        Collection<OperatorStateHandle> handles = new ArrayList<>(st.getManagedOperatorState());
        java.util.Set<String> names = new java.util.TreeSet<>();
        for (OperatorStateHandle h : handles) {
            names.addAll(h.getStateNameToPartitionOffsets().keySet());
        }
        DefaultOperatorStateBackend be =
                new DefaultOperatorStateBackendBuilder(
                                Oracle.class.getClassLoader(),
                                new ExecutionConfig(),
                                false,
                                handles,
                                new CloseableRegistry())
                        .build();
        try {
            for (String n : names) {
                if (n.equals(SOURCE_READER_STATE)) {
                    readerState(os, index, be, s, positions);
                } else if (n.equals(LEGACY_STATE)) {
                    legacy(os, index, be, s, positions);
                } else if (n.equals("writer_raw_states")) {
                    s.put("kafkaWriterStates",
                            versioned(be, n, "org.apache.flink.connector.kafka.sink.KafkaWriterStateSerializer"));
                } else if (n.equals("streaming_committer_raw_states")) {
                    s.put("committables", committer(be, n));
                }
            }
        } finally {
            be.dispose();
        }
    }

    static Object key(OperatorState os) {
        return os.getOperatorID().toHexString();
    }

    static void readerState(
            OperatorState os,
            int index,
            DefaultOperatorStateBackend be,
            Map<String, Object> s,
            List<Object> positions)
            throws Exception {
        ListState<byte[]> raw =
                be.getListState(
                        new ListStateDescriptor<>(SOURCE_READER_STATE, BytePrimitiveArraySerializer.INSTANCE));
        List<byte[]> all = new ArrayList<>();
        for (byte[] b : raw.get()) {
            all.add(b);
        }
        s.put("splitCount", all.size());
        List<Object> splits = new ArrayList<>();
        List<KafkaPartitionSplit> decoded = new ArrayList<>();
        boolean plain = true;
        try {
            for (KafkaPartitionSplit sp :
                    new SimpleVersionedListState<>(raw, new KafkaPartitionSplitSerializer()).get()) {
                decoded.add(sp);
                byte[] again =
                        org.apache.flink.core.io.SimpleVersionedSerialization.writeVersionAndSerialize(
                                new KafkaPartitionSplitSerializer(), sp);
                if (!java.util.Arrays.equals(again, all.get(decoded.size() - 1))) {
                    plain = false;
                }
            }
        } catch (Exception | Error e) {
            plain = false;
        }
        if (plain) {
            for (KafkaPartitionSplit sp : decoded) {
                splits.add(split(os, index, sp, "KafkaPartitionSplit", null, positions));
            }
            s.put("splitType", "KafkaPartitionSplit");
        } else if (!dynamic(raw)) {
            s.put("splitType", "other");
            return;
        } else {
            Class<?> k =
                    Class.forName(
                            "org.apache.flink.connector.kafka.dynamic.source.split.DynamicKafkaSourceSplitSerializer");
            @SuppressWarnings("unchecked")
            SimpleVersionedSerializer<Object> ser =
                    (SimpleVersionedSerializer<Object>) k.getDeclaredConstructor().newInstance();
            for (Object ds : new SimpleVersionedListState<>(raw, ser).get()) {
                splits.add(
                        split(
                                os,
                                index,
                                (KafkaPartitionSplit) call(ds, "getKafkaPartitionSplit"),
                                "DynamicKafkaSourceSplit",
                                String.valueOf(call(ds, "getKafkaClusterId")),
                                positions));
            }
            s.put("splitType", "DynamicKafkaSourceSplit");
        }
        s.put("splits", splits);
    }

    @SuppressWarnings("unchecked")
    static boolean dynamic(ListState<byte[]> raw) {
        try {
            Class<?> k =
                    Class.forName(
                            "org.apache.flink.connector.kafka.dynamic.source.split.DynamicKafkaSourceSplitSerializer");
            SimpleVersionedSerializer<Object> ser =
                    (SimpleVersionedSerializer<Object>) k.getDeclaredConstructor().newInstance();
            for (Object o : new SimpleVersionedListState<>(raw, ser).get()) {
                if (o == null) {
                    return false;
                }
            }
            return true;
        } catch (Exception | Error e) {
            return false;
        }
    }

    static Map<String, Object> split(
            OperatorState os,
            int index,
            KafkaPartitionSplit sp,
            String kind,
            String cluster,
            List<Object> positions) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("topic", sp.getTopic());
        m.put("partition", sp.getPartition());
        m.put("startingOffset", sp.getStartingOffset());
        m.put("stoppingOffset", sp.getStoppingOffset().orElse(null));
        if (cluster != null) {
            m.put("cluster", cluster);
        }
        long off = sp.getStartingOffset();
        Map<String, Object> p = new LinkedHashMap<>();
        p.put("operatorId", os.getOperatorID().toHexString());
        p.put("topic", sp.getTopic());
        p.put("partition", sp.getPartition());
        p.put("subtask", index);
        p.put("next", off >= 0 ? off : null);
        p.put("sentinel", off >= 0 ? null : sentinel(off));
        p.put("stopping", sp.getStoppingOffset().orElse(null));
        p.put("stateKind", kind);
        if (cluster != null) {
            p.put("cluster", cluster);
        }
        positions.add(p);
        return m;
    }

    static String sentinel(long off) {
        return off == -1 ? "LATEST" : off == -2 ? "EARLIEST" : off == -3 ? "COMMITTED" : "UNKNOWN(" + off + ")";
    }

    @SuppressWarnings("unchecked")
    static void legacy(
            OperatorState os,
            int index,
            DefaultOperatorStateBackend be,
            Map<String, Object> s,
            List<Object> positions)
            throws Exception {
        Class<?> base =
                Class.forName("org.apache.flink.streaming.connectors.kafka.FlinkKafkaConsumerBase");
        TypeSerializer<org.apache.flink.api.java.tuple.Tuple2<Object, Long>> ser = null;
        for (Method m : base.getDeclaredMethods()) {
            if (m.getName().equals("createStateSerializer")) {
                m.setAccessible(true);
                ser =
                        (TypeSerializer<org.apache.flink.api.java.tuple.Tuple2<Object, Long>>)
                                m.invoke(null, new ExecutionConfig());
            }
        }
        ListState<org.apache.flink.api.java.tuple.Tuple2<Object, Long>> l =
                be.getUnionListState(new ListStateDescriptor<>(LEGACY_STATE, ser));
        List<Object> splits = new ArrayList<>();
        for (org.apache.flink.api.java.tuple.Tuple2<Object, Long> t : l.get()) {
            String topic = (String) call(t.f0, "getTopic");
            int part = (Integer) call(t.f0, "getPartition");
            splits.add(obj("topic", topic, "partition", part, "lastReadOffset", t.f1));
            Map<String, Object> p = new LinkedHashMap<>();
            p.put("operatorId", os.getOperatorID().toHexString());
            p.put("topic", topic);
            p.put("partition", part);
            p.put("subtask", index);
            boolean real = legacySentinel(t.f1).startsWith("UNKNOWN"); // -1 is real: nothing read, next is 0
            p.put("next", real ? (Object) (t.f1 + 1) : null);
            p.put("sentinel", real ? null : legacySentinel(t.f1));
            p.put("stopping", null);
            p.put("stateKind", "FlinkKafkaConsumer");
            p.put("rawOffset", t.f1);
            positions.add(p);
        }
        s.put("splitType", "FlinkKafkaConsumer");
        s.put("splits", splits);
    }

    static String legacySentinel(long v) throws Exception {
        Class<?> c =
                Class.forName(
                        "org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartitionStateSentinel");
        for (Field f : c.getDeclaredFields()) {
            if (Modifier.isStatic(f.getModifiers()) && f.getType() == long.class) {
                f.setAccessible(true);
                if (f.getLong(null) == v) {
                    return f.getName();
                }
            }
        }
        return "UNKNOWN(" + v + ")";
    }

    static Object dump(Object x) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("class", x.getClass().getSimpleName());
        for (Field f : x.getClass().getDeclaredFields()) {
            if (Modifier.isStatic(f.getModifiers())) {
                continue;
            }
            try {
                f.setAccessible(true);
                Object v = f.get(x);
                if (v instanceof Optional) {
                    continue;
                }
                if (v instanceof Collection) {
                    List<Object> l = new ArrayList<>();
                    for (Object e : (Collection<?>) v) {
                        l.add(String.valueOf(e));
                    }
                    m.put(f.getName(), l);
                } else if (v instanceof Number || v instanceof Boolean || v == null) {
                    m.put(f.getName(), v);
                } else if (v instanceof String || v instanceof Enum) {
                    m.put(f.getName(), v.toString());
                }
            } catch (Exception e) {
                m.put(f.getName(), "?");
            }
        }
        return m;
    }

    @SuppressWarnings("unchecked")
    static Object versioned(DefaultOperatorStateBackend be, String state, String serializer)
            throws Exception {
        List<Object> r = new ArrayList<>();
        ListState<byte[]> raw =
                be.getListState(new ListStateDescriptor<>(state, BytePrimitiveArraySerializer.INSTANCE));
        try {
            SimpleVersionedSerializer<Object> ser = (SimpleVersionedSerializer<Object>) make(serializer);
            for (Object x : new SimpleVersionedListState<>(raw, ser).get()) {
                r.add(dump(x));
            }
        } catch (Exception | Error e) {
            for (byte[] b : raw.get()) {
                r.add(obj("error", String.valueOf(e), "base64", Base64.getEncoder().encodeToString(b)));
            }
        }
        return r;
    }

    static Object make(String cls, Object... args) throws Exception {
        Class<?> k = Class.forName(cls);
        for (Constructor<?> c : k.getDeclaredConstructors()) {
            c.setAccessible(true);
            Class<?>[] pt = c.getParameterTypes();
            Object[] v = new Object[pt.length];
            int used = 0;
            for (int i = 0; i < pt.length; i++) {
                if (used < args.length && pt[i].isInstance(args[used])) {
                    v[i] = args[used++];
                } else if (pt[i] == int.class) {
                    v[i] = i == 1 ? 0 : 1;
                } else if (pt[i] == boolean.class) {
                    v[i] = false;
                } else if (pt[i].getSimpleName().equals("SinkCommitterMetricGroup")) {
                    v[i] = metricGroup();
                }
            }
            try {
                return c.newInstance(v);
            } catch (Exception e) {
                // try the next constructor
            }
        }
        throw new IllegalStateException("cannot construct " + cls);
    }

    static Object metricGroup() throws Exception {
        Class<?> itf = Class.forName("org.apache.flink.metrics.groups.SinkCommitterMetricGroup");
        return stub(itf);
    }

    static Object stub(Class<?> itf) {
        return java.lang.reflect.Proxy.newProxyInstance(
                itf.getClassLoader(),
                new Class<?>[] {itf},
                (p, m, a) -> m.getReturnType().isInterface() ? stub(m.getReturnType()) : zero(m.getReturnType()));
    }

    static Object zero(Class<?> t) {
        return t == long.class ? (Object) 0L : t == int.class ? (Object) 0 : t == boolean.class ? (Object) false : null;
    }

    @SuppressWarnings("unchecked")
    static Object committer(DefaultOperatorStateBackend be, String state) throws Exception {
        List<Object> r = new ArrayList<>();
        ListState<byte[]> raw =
                be.getListState(new ListStateDescriptor<>(state, BytePrimitiveArraySerializer.INSTANCE));
        Object ks = make("org.apache.flink.connector.kafka.sink.KafkaCommittableSerializer");
        String pkg = "org.apache.flink.streaming.runtime.operators.sink.";
        String cls = pkg + "committables.CommittableCollectorSerializer";
        try {
            Class.forName(cls);
        } catch (ClassNotFoundException e) {
            cls = pkg + "StreamingCommitterStateSerializer"; // 1.14
        }
        try {
            SimpleVersionedSerializer<Object> ser = (SimpleVersionedSerializer<Object>) make(cls, ks);
            for (Object col : new SimpleVersionedListState<>(raw, ser).get()) {
                collect(col, r, 0);
            }
        } catch (Exception | Error e) {
            for (byte[] b : raw.get()) {
                r.add(obj("error", String.valueOf(e), "base64", Base64.getEncoder().encodeToString(b)));
            }
        }
        return r;
    }

    /** Walks a CommittableCollector of any version down to its KafkaCommittables. */
    static void collect(Object o, List<Object> out, int depth) throws Exception {
        if (o == null || depth > 8) {
            return;
        }
        String n = o.getClass().getSimpleName();
        if (n.equals("KafkaCommittable")) {
            out.add(dump(o));
        } else if (o instanceof Map) {
            for (Object v : ((Map<?, ?>) o).values()) {
                collect(v, out, depth + 1);
            }
        } else if (o instanceof Collection) {
            for (Object v : (Collection<?>) o) {
                collect(v, out, depth + 1);
            }
        } else if (o.getClass().getName().contains(".operators.sink.")) {
            for (Class<?> c = o.getClass(); c != null && c != Object.class; c = c.getSuperclass()) {
                for (Field f : c.getDeclaredFields()) {
                    if (!Modifier.isStatic(f.getModifiers()) && !f.getType().isPrimitive()) {
                        f.setAccessible(true);
                        Object v = f.get(o);
                        if (v instanceof Map || v instanceof Collection
                                || v != null && (v.getClass().getSimpleName().equals("KafkaCommittable")
                                        || v.getClass().getName().contains(".operators.sink."))) {
                            collect(v, out, depth + 1);
                        }
                    }
                }
            }
        }
    }
}
