package generator;

import static generator.Folders.copy;
import static generator.Folders.wipe;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.flink.core.execution.JobClient;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** A folder NAME with savepoint/, checkpoint/ or state/, and expected.json. */
final class Fixture {
    private final Map<String, Object> expected = new LinkedHashMap<>();
    private final File folder;

    private Fixture(File folder) {
        this.folder = folder;
    }

    /** Makes the fixtures of one release. */
    static final class Maker {
        private final String flink;
        private final String connector;
        private final Kafka kafka;
        private final File out;
        private final File stateRoot;
        private final String prefix;

        Maker(String flink, String connector, Kafka kafka, File out, File stateRoot) {
            this.flink = flink;
            this.connector = connector;
            this.kafka = kafka;
            this.out = out;
            this.stateRoot = stateRoot;
            String[] v = flink.split("\\.");
            this.prefix = "flink-" + v[0] + "." + v[1] + "-";
        }

        /** Runs the job of a scenario and returns the name of the fixture. */
        String make(Scenario s) throws Exception {
            String name = prefix + s.name;
            Fixture fx = new Fixture(new File(out, name));
            wipe(fx.folder);
            File dir = new File(stateRoot, name);
            wipe(dir);
            Files.createDirectories(dir.toPath());
            List<String> topics = new ArrayList<>(s.topics.keySet());
            topics.add(name + "-target");
            kafka.drop(topics);
            try {
                topics(s, name);
                String pointer = run(s, name, dir.getPath());
                fx.describe(s, name, pointer, dir);
                fx.expected.put("flinkVersion", flink);
                fx.expected.put("connectorVersion", connector);
                fx.crossCheck(kafka, name, groups(s, name));
                fx.write();
            } finally {
                kafka.drop(topics);
                wipe(dir);
            }
            return name;
        }

        private void topics(Scenario s, String name) throws Exception {
            Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
            for (Map.Entry<String, Integer> e : s.topics.entrySet()) {
                kafka.create(e.getKey(), e.getValue());
                if (!s.start.equals("latest")) {
                    kafka.fill(e.getKey(), e.getValue(), s);
                }
                for (int p = 0; p < e.getValue(); p++) {
                    if (!s.empty.contains(p) || s.start.equals("committed")) {
                        committed.put(new TopicPartition(e.getKey(), p), new OffsetAndMetadata(s.empty.contains(p) ? 0 : 3 + p));
                    }
                }
            }
            kafka.create(name + "-target", 2);
            if (s.start.equals("committed") || s.groupLags) {
                kafka.setGroup(name + "-group", committed);
            }
        }

        private String run(Scenario s, String name, String dir) throws Exception {
            Job job = new Job(flink, kafka.bootstrap, s, name, dir);
            Snapshots snapshots = new Snapshots(kafka, s, dir);
            Functions.reset();
            JobClient client = job.start(s.parallelism, null);
            String pointer = snapshots.take(client);
            for (int parallelism : s.rescales) {
                Functions.reset();
                String first = pointer;
                client = job.start(parallelism, first);
                pointer = snapshots.take(client);
                wipe(Folders.of(first));
            }
            return pointer;
        }

        private static List<String> groups(Scenario s, String name) {
            List<String> l = new ArrayList<>();
            for (int i = 0; i < s.sources; i++) {
                l.add(name + "-group" + (s.sources > 1 && s.source.equals("kafka") ? "-" + i : ""));
            }
            return l;
        }

        /** The topics of a job of OldJob, whose last source partition stays empty. */
        void prepareOld(String name) throws Exception {
            List<String> topics = new ArrayList<>();
            Collections.addAll(topics, name + "-in", name + "-target");
            kafka.drop(topics);
            Scenario s = new Scenario(name).empty(4).records(60, 0);
            kafka.create(name + "-in", 5);
            kafka.fill(name + "-in", 5, s);
            kafka.create(name + "-target", 2);
        }

        /** What a job of OldJob left at pointer, as a fixture. */
        String makeOld(String name, String oldFlink, String kind, String pointer) throws Exception {
            Fixture fx = new Fixture(new File(out, name));
            wipe(fx.folder);
            Scenario s = new Scenario(name).source("legacy").sink("legacy-eo")
                    .note("Flink " + oldFlink + ", FlinkKafkaConsumer to FlinkKafkaProducer exactly-once; the last partition is empty; read by a later Flink's classes");
            s.action = kind;
            s.topics(name + "-in", 5);
            if (kind.equals("checkpoint")) {
                pointer = Snapshots.latestCheckpoint(Folders.of(pointer)).toURI().toString();
            }
            fx.describe(s, name, pointer, Folders.of(pointer));
            fx.expected.put("flinkVersion", oldFlink);
            fx.expected.put("connectorVersion", oldFlink);
            fx.crossCheck(kafka, name, Collections.singletonList(name + "-target-group"));
            fx.write();
            List<String> topics = new ArrayList<>();
            Collections.addAll(topics, name + "-in", name + "-target");
            kafka.drop(topics);
            return name;
        }
    }

    /** Copies the state into the folder, and has it read. dir is all that an s3 job wrote. */
    private void describe(Scenario s, String name, String pointer, File dir) throws Exception {
        boolean checkpoint = s.action.equals("checkpoint");
        File at = Folders.of(pointer);
        File to;
        Map<String, Object> pathMap = new LinkedHashMap<>();
        if (s.s3) {
            copy(dir, new File(folder, "state"));
            to = new File(folder, "state/" + dir.toPath().relativize(at.toPath()));
            pathMap.put(Folders.BUCKET + dir.getPath(), "state");
        } else if (checkpoint) {
            File all = new File(folder, "checkpoint");
            copy(at.getParentFile(), all);
            to = new File(all, at.getName());
            for (File f : all.listFiles()) {
                if (f.getName().startsWith("chk-") && !f.equals(to)) {
                    wipe(f);
                }
            }
            Folders.prune(all);
            pathMap.put(pointer.replaceAll("/chk-\\d+/?$", ""), "checkpoint");
        } else {
            to = new File(folder, "savepoint");
            copy(at, to);
            pathMap.put(pointer.replaceAll("/$", ""), "savepoint");
        }
        expected.put("fixture", name);
        expected.put("note", s.note);
        expected.put("flinkVersion", null); // in this place
        expected.put("connectorVersion", null);
        expected.put("kind", s.action.equals("stop") ? "stop-with-savepoint" : s.action.equals("drain") ? "stop-with-savepoint (drain)" : s.action);
        expected.put("format", checkpoint ? s.conf.getOrDefault("state.backend", "hashmap") : s.format);
        expected.put("source", s.source);
        expected.put("checkpointing", !s.noCheckpointing);
        expected.put("sink", s.sink);
        expected.put("pointer", folder.toPath().relativize(to.toPath()).toString());
        expected.put("originalPointer", pointer);
        expected.put("pathMap", pathMap);
        expected.put("topics", s.topics);
        // Where the job wrote it: the absolute paths in it hold nowhere else.
        expected.putAll(Oracle.read(checkpoint ? at : to));
    }

    /** What the target holds, and what the groups committed. */
    private void crossCheck(Kafka kafka, String name, List<String> groups) throws Exception {
        Map<String, long[]> committed = kafka.tally(name + "-target", true);
        Map<String, long[]> written = kafka.tally(name + "-target", false);
        Map<String, Object> check = new LinkedHashMap<>();
        check.put("targetReadCommitted", Verdict.json(committed));
        check.put("targetReadUncommitted", Verdict.equal(committed, written) ? "same" : Verdict.json(written));
        Map<String, Object> offsets = new LinkedHashMap<>();
        for (String g : groups) {
            offsets.put(g, kafka.group(g));
        }
        check.put("groupCommittedOffsets", offsets);
        check.put("verdict", Verdict.of((List<?>) expected.get("positions"), committed, written));
        expected.put("crossCheck", check);
    }

    private void write() throws Exception {
        Files.write(new File(folder, "expected.json").toPath(), Json.write(expected).getBytes(StandardCharsets.UTF_8));
    }
}
