package generator;

import static generator.Json.object;
import static generator.Reflect.call;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.core.fs.CloseableRegistry;
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

/**
 * Reads a savepoint or checkpoint with Flink's own classes only: Checkpoints.loadCheckpointMetadata for _metadata,
 * DefaultOperatorStateBackendBuilder for the operator state files and the connector's own serializers for the splits.
 *
 * <p>Usage: Oracle FOLDER, which prints what it holds.
 */
public final class Oracle {
    private Oracle() {}

    public static void main(String[] a) throws Exception {
        System.out.print(Json.write(read(new File(a[0]))));
    }

    /** The _metadata of dir. */
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
            masters.add(object("name", ms.name(), "version", ms.version(), "bytes", ms.bytes().length));
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
            o.put("coordinator", CoordinatorState.read(coord.getData()));
        }
        List<Object> subs = new ArrayList<>();
        for (Map.Entry<Integer, OperatorSubtaskState> e :
                new TreeMap<>(os.getSubtaskStates()).entrySet()) {
            subs.add(subtask(os, e.getKey(), e.getValue(), positions));
        }
        for (Object x : subs) {
            if (coord != null && "other".equals(((Map<?, ?>) x).get("splitType"))) {
                o.put("coordinator", object("type", "other", "bytes", coord.getData().length));
            }
        }
        o.put("subtasks", subs);
        return o;
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
                if (n.equals(SourceState.READER)) {
                    SourceState.readers(os, index, be, s, positions);
                } else if (n.equals(SourceState.LEGACY)) {
                    SourceState.legacy(os, index, be, s, positions);
                } else if (n.equals("writer_raw_states")) {
                    s.put("kafkaWriterStates",
                            SinkState.versioned(be, n, "org.apache.flink.connector.kafka.sink.KafkaWriterStateSerializer"));
                } else if (n.equals("streaming_committer_raw_states")) {
                    s.put("committables", SinkState.committer(be, n));
                }
            }
        } finally {
            be.dispose();
        }
    }
}
