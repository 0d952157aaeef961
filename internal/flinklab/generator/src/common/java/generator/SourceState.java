package generator;

import static generator.Json.object;
import static generator.Reflect.call;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitSerializer;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.state.DefaultOperatorStateBackend;
import org.apache.flink.streaming.api.operators.util.SimpleVersionedListState;

/** The splits of a source's readers. */
final class SourceState {
    private SourceState() {}

    static final String READER = "SourceReaderState"; // SourceOperator.SPLITS_STATE_DESC
    static final String LEGACY = "topic-partition-offset-states"; // FlinkKafkaConsumerBase

    static void readers(
            OperatorState os,
            int index,
            DefaultOperatorStateBackend be,
            Map<String, Object> s,
            List<Object> positions)
            throws Exception {
        ListState<byte[]> raw =
                be.getListState(
                        new ListStateDescriptor<>(READER, BytePrimitiveArraySerializer.INSTANCE));
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
                be.getUnionListState(new ListStateDescriptor<>(LEGACY, ser));
        List<Object> splits = new ArrayList<>();
        for (org.apache.flink.api.java.tuple.Tuple2<Object, Long> t : l.get()) {
            String topic = (String) call(t.f0, "getTopic");
            int part = (Integer) call(t.f0, "getPartition");
            splits.add(object("topic", topic, "partition", part, "lastReadOffset", t.f1));
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
}
