package generator;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Topics for, and the result of, an OldJob; runs with a later Flink.
 *
 * <pre>
 * OldFinish prepare BOOTSTRAP TOPIC PARTITIONS RECORDS TARGET
 * OldFinish finish BOOTSTRAP TARGET POINTER FLINK KIND OUT NAME
 * </pre>
 */
public final class OldFinish {
    private OldFinish() {}

    public static void main(String[] a) throws Exception {
        try (Kafka k = new Kafka(a[1])) {
            if (a[0].equals("prepare")) {
                k.drop(Arrays.asList(a[2], a[5]));
                Thread.sleep(500);
                k.create(a[2], Integer.parseInt(a[3]));
                k.fill(a[2], Integer.parseInt(a[3]), Integer.parseInt(a[4]), Collections.singleton(Integer.parseInt(a[3]) - 1), false, 0);
                k.create(a[5], 2);
                return;
            }
            File ptr = Gen.file(a[3]);
            File fx = new File(a[6], a[7]);
            Gen.wipe(fx);
            boolean cp = a[5].equals("checkpoint");
            if (cp) {
                ptr = Gen.latestCheckpoint(ptr);
                Gen.copy(ptr.getParentFile(), new File(fx, "checkpoint"));
                Gen.prune(new File(fx, "checkpoint"));
            } else {
                Gen.copy(ptr, new File(fx, "savepoint"));
            }
            Map<String, Object> ex = new LinkedHashMap<>();
            ex.put("fixture", a[7]);
            ex.put("note", "metadata version 2: Flink " + a[4] + ", FlinkKafkaConsumer to FlinkKafkaProducer exactly-once; the last partition is empty; read by a later Flink's classes");
            ex.put("flinkVersion", a[4]);
            ex.put("connectorVersion", a[4]);
            ex.put("kind", a[5].equals("stop") ? "stop-with-savepoint" : a[5]);
            ex.put("format", cp ? "filesystem" : "CANONICAL");
            ex.put("source", "legacy");
            ex.put("checkpointing", true);
            ex.put("sink", "legacy-eo");
            ex.put("pointer", cp ? "checkpoint/" + ptr.getName() : "savepoint");
            ex.put("originalPointer", cp ? ptr.toURI().toString() : a[3]);
            ex.putAll(Oracle.read(ptr));
            Map<String, Object> cross = new LinkedHashMap<>();
            Map<String, Object> com = k.tally(a[2], true);
            Map<String, Object> unc = k.tally(a[2], false);
            cross.put("targetReadCommitted", com);
            cross.put("targetReadUncommitted", unc.equals(com) ? "same" : unc);
            cross.put("groupCommittedOffsets", Collections.singletonMap(a[2] + "-group", k.group(a[2] + "-group")));
            ex.put("crossCheck", cross);
            Files.write(new File(fx, "expected.json").toPath(), Json.write(ex).getBytes(StandardCharsets.UTF_8));
        }
    }
}
