package generator;

import static generator.Json.object;
import static generator.Reflect.make;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.runtime.state.DefaultOperatorStateBackend;
import org.apache.flink.streaming.api.operators.util.SimpleVersionedListState;

/** What a sink's writers and committers store. */
final class SinkState {
    private SinkState() {}

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
                r.add(object("error", String.valueOf(e), "base64", Base64.getEncoder().encodeToString(b)));
            }
        }
        return r;
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
                r.add(object("error", String.valueOf(e), "base64", Base64.getEncoder().encodeToString(b)));
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
