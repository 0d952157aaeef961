package generator;

import static generator.Reflect.call;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumStateSerializer;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.kafka.common.TopicPartition;

/** The state of a source's enumerator, as its coordinator stores it. */
final class CoordinatorState {
    private CoordinatorState() {}

    static Map<String, Object> read(byte[] data) throws Exception {
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
        Object byReader = call(st, "getCurrentAssignment"); // the first releases of 1.12
        if (byReader != null) {
            List<Object> all = new ArrayList<>();
            for (Object splits : ((Map<?, ?>) byReader).values()) {
                all.addAll((Collection<?>) splits);
            }
            assigned = all;
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
}
