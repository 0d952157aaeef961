package generator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The scenarios of a release. */
final class Scenarios {
    private final List<Scenario> all = new ArrayList<>();
    private final boolean flink2;
    private final boolean merging;
    private final boolean outlivesTasks; // FLIP-147: checkpoints go on when tasks have finished

    private Scenarios(String flink) {
        outlivesTasks = !flink.startsWith("1.12.") && !flink.startsWith("1.13.");
        flink2 = flink.startsWith("2.");
        merging = flink2 || flink.startsWith("1.20");
    }

    static List<Scenario> of(String flink) {
        Scenarios s = new Scenarios(flink);
        s.savepoints();
        s.markers();
        s.severalSources();
        s.ends();
        s.rescaled();
        s.checkpoints();
        s.otherFileSystems();
        s.legacy();
        s.others();
        return s.all;
    }

    private Scenario add(String name, String note) {
        Scenario s = new Scenario(name).note(note);
        all.add(s);
        return s;
    }

    private void savepoints() {
        add("canonical-p1", "KafkaSource to exactly-once KafkaSink, savepoint of a running job, canonical; partition 3 empty").empty(3);
        add("native-p4", "parallelism 4, two topics, native format")
                .parallelism(4).nativeFormat().topics("orders", 10, "payments", 6).empty(2, 5).records(30, 90);
        add("native-rocksdb-p2", "native format over RocksDB: keyed state in SST files, all of them in the savepoint")
                .parallelism(2).nativeFormat().rocksDB().records(150, 120);
        add("stop-p2", "stop-with-savepoint, no drain: group offsets and target are final").parallelism(2).stop().topics("orders", 5);
        add("drain-p1", "stop-with-savepoint with drain, at-least-once sink").drain().topics("orders", 3).sink("alo");
        add("drain-eo-p2", "stop-with-savepoint with drain, exactly-once sink: its last transactions belong to the end of input")
                .drain().parallelism(2).topics("orders", 3);
        add("many-partitions-p4", "60 partitions over 4 subtasks")
                .parallelism(4).topics("orders", 60).records(8, 100).stop().empty(7, 11, 59);
        add("all-files-p2", "memory threshold 0: every handle is a file beside _metadata").parallelism(2).stop().files().keyed();
        add("compressed", "snapshot compression on").stop().files().keyed().compress();
        add("compressed-idle-p4", "snapshot compression on, and subtasks that hold no split").stop().files().compress().parallelism(4).topics("orders", 2);
        add("no-uid", "no uid() anywhere: hashes from the graph").noUid().stop().topics("orders", 3);
        add("topic-names", "topic names of 1 to 249 characters, among them the lengths at which encodings change")
                .stop().parallelism(2).topics(topicNames()).records(10, 30);
        Scenario lag = add("group-lags", "the group's committed offsets (3+partition) lag the savepoint: commit.offsets.on.checkpoint=false")
                .stop().topics("orders", 3);
        lag.groupLags = true;
        Scenario txn = add("transactional-source",
                "source topic written in transactions of 7, read_committed: offsets have gaps; next is the last record's offset + 1, not past the marker")
                .stop().topics("orders", 3).records(60, 60);
        txn.txnSource = true;
        Scenario added = add("partitions-added", "three partitions were added while the job ran and hold no record yet")
                .topics("orders", 2).records(200, 60).stop().parallelism(2);
        added.addPartitionsLater = 3;
    }

    /** Kryo writes strings of 1, of 2 to 63 and of more characters differently. */
    private static Object[] topicNames() {
        List<Object> l = new ArrayList<>();
        for (int n : new int[] {1, 2, 62, 63, 64, 65, 127, 128, 249}) {
            char[] c = new char[n];
            Arrays.fill(c, 't');
            c[n / 2] = n % 2 == 0 ? '.' : '_';
            l.add(new String(c));
            l.add(2);
        }
        return l.toArray();
    }

    private void markers() {
        add("latest-sentinel", "starts at LATEST: splits that read nothing keep -1").start("latest").topics("orders", 4).empty(1, 2).stop();
        add("committed-sentinel", "starts at the group's committed offsets: splits that read nothing keep -3")
                .start("committed").topics("orders", 4).empty(1, 2).stop();
        Scenario dead = add("no-discovery-yet", "the broker never answered: no split is known, initialDiscoveryFinished false (where the state has it)")
                .sink("none");
        dead.deadBroker = true;
    }

    private void severalSources() {
        add("three-sources", "three KafkaSources with their own topics, groups and uids")
                .topics("orders", 3, "payments", 2, "audit", 2).stop().sources(3);
        add("three-sources-no-uid", "three KafkaSources and no uid() anywhere: names and hashes of the graph alone")
                .topics("orders", 3, "payments", 2, "audit", 2).stop().sources(3).noUid();
        Scenario same = add("same-topic-twice", "two KafkaSources read the same topic under two groups").topics("orders", 3).stop().sources(2);
        same.sameTopic = true;
        Scenario num = add("other-source",
                "a KafkaSource and a source that is not Kafka (NumberSequenceSource): both have SourceReaderState; the other one's splits are no positions")
                .stop().parallelism(2).topics("orders", 3);
        num.numbers = true;
        Scenario states = add("operator-states", "an operator with list, union and broadcast state of its own, every handle a file, compressed where Flink can")
                .stop().parallelism(2).topics("orders", 3).files().compress();
        states.operatorStates = true;
        Scenario timers = add("raw-keyed-timers", "RocksDB with timers on the heap, which Flink writes as raw keyed state")
                .checkpoint().rocksDB().parallelism(2).records(250, 120)
                .confs("HEAP", "state.backend.rocksdb.timer-service.factory");
        timers.timers = true;
        Scenario both = add("kafka-and-dynamic-checkpoint", "a KafkaSource and a DynamicKafkaSource in one job, retained checkpoint, every handle a file")
                .checkpoint().files().parallelism(2).topics("orders", 4, "payments", 3).records(250, 120).sources(2);
        both.dynamicToo = true;
    }

    private void ends() {
        Scenario bounded = add("stopping-offsets",
                "stopping offsets 20+partition; the source does not end (unbounded), a split that reached its stop has left the reader state")
                .topics("orders", 4).records(60, 70).parallelism(2);
        bounded.stopAt = 20;
        if (!outlivesTasks) {
            return;
        }
        Scenario finished = add("finished-source", "FLIP-147: source-1 is bounded (stops at 5) and has finished, source-0 runs")
                .topics("orders", 3, "tiny", 2).records(400, 40).parallelism(2).sources(2).checkpointsAfterTasksFinish(flink2);
        finished.boundedExtra = true;
        finished.waitFinish = true;
        finished.throttleMs = 10;
        Scenario partly = add("partly-finished-subtasks", "bounded source, 3 partitions over 4 subtasks: a subtask without a split has finished")
                .topics("orders", 3).records(400, 150).parallelism(4).checkpointsAfterTasksFinish(flink2);
        partly.stopAt = 300;
        partly.boundedType = true;
        partly.throttleMs = 10;
        partly.waitFinish = true;
    }

    private void rescaled() {
        add("rescaled-1-to-4", "stopped at parallelism 1, restored at 4, stopped again").topics("orders", 10).stop().records(60, 60).rescale(4);
        add("rescaled-4-to-1", "stopped at parallelism 4, restored at 1, stopped again")
                .topics("orders", 10).stop().records(60, 60).parallelism(4).rescale(1);
        add("rescaled-twice", "stopped at parallelism 2, restored at 4, stopped, restored at 3, stopped again")
                .topics("orders", 7).empty(6).stop().records(120, 60).parallelism(2).keyed().rescale(4, 3);
    }

    private void checkpoints() {
        add("checkpoint-hashmap", "retained checkpoint, HashMap backend, keyed state").checkpoint().parallelism(2).keyed().records(150, 120);
        add("checkpoint-rocksdb-incr", "retained incremental RocksDB checkpoint, keyed state in shared/")
                .checkpoint().rocksDB().parallelism(2).records(250, 120);
        add("checkpoint-all-files", "retained checkpoint, threshold 0: operator state in a file of chk-N")
                .checkpoint().files().parallelism(2).records(200, 80);
        add("checkpoint-changelog", "changelog state backend: changelog keyed handles to skip").checkpoint().changelog().parallelism(2).records(250, 80);
        add("checkpoint-changelog-rocksdb", "changelog over RocksDB after materializations: changelog keyed handles that nest incremental ones")
                .checkpoint().rocksDB().changelog().files().parallelism(2).records(400, 200);
        Scenario unaligned = add("unaligned-inflight",
                "unaligned checkpoint with records in flight in channel state: those are past the source's offset but not in the target")
                .checkpoint().parallelism(2).records(300, 100).sink("alo").unaligned();
        inFlight(unaligned);
        if (merging) {
            add("checkpoint-file-merging", "file merging: segment handles with absolute paths")
                    .checkpoint().files().keyed().parallelism(2).records(250, 80).fileMerging()
                    .conf("execution.checkpointing.file-merging.across-checkpoint-boundary", "true");
            add("checkpoint-file-merging-idle", "file merging, and subtasks that hold no split")
                    .checkpoint().files().parallelism(4).topics("orders", 2).records(250, 80).fileMerging();
            add("checkpoint-file-merging-rocksdb", "file merging with RocksDB").checkpoint().rocksDB().parallelism(2).records(250, 80).fileMerging();
            add("checkpoint-file-merging-compressed", "file merging and snapshot compression: offsets count chunks from the start of a segment")
                    .checkpoint().files().keyed().parallelism(2).records(250, 80).fileMerging().compress();
            Scenario both = add("unaligned-file-merging", "file merging of an unaligned checkpoint: channel state in segments")
                    .checkpoint().files().parallelism(2).records(300, 100).sink("alo").unaligned().fileMerging();
            inFlight(both);
        }
    }

    private static void inFlight(Scenario s) {
        s.rebalance = true;
        s.slowMs = 40;
        s.throttleMs = 1;
        s.fillBytes = 2000;
    }

    private void otherFileSystems() {
        Scenario entropy = add("checkpoint-s3-entropy",
                "s3:// checkpoint folder with entropy injection: state files have absolute paths under another prefix than _metadata")
                .checkpoint().files().parallelism(2).records(250, 80).topics("orders", 3);
        entropy.s3 = true;
        Scenario s3 = add("savepoint-s3", "savepoint written to an s3:// folder of an entropy-injecting file system")
                .stop().files().parallelism(2).topics("orders", 3);
        s3.s3 = true;
    }

    private void legacy() {
        add("legacy-p2", "FlinkKafkaConsumer: union list state holds the LAST READ offset; next is that + 1")
                .source("legacy").parallelism(2).topics("orders", 5).empty(4);
        add("legacy-checkpoint-files", "FlinkKafkaConsumer, checkpoint, every handle a file; each subtask holds only its own partitions")
                .source("legacy").parallelism(4).topics("orders", 3, "payments", 2).empty(1).checkpoint().files().records(200, 80).sink("alo");
        add("legacy-latest", "FlinkKafkaConsumer from latest with the exactly-once FlinkKafkaProducer: raw sentinels")
                .source("legacy").start("latest").topics("orders", 4).empty(1, 2).sink("legacy-eo");
        add("legacy-stop-loses-positions", "FlinkKafkaConsumer, stop-with-savepoint without an earlier checkpoint: the source is cancelled before the snapshot, "
                + "so where the connector lacks a fix the union list is EMPTY although records were copied; a reader must refuse it. "
                + "Without periodic checkpoints the consumer auto-commits, so the group's offsets may be AHEAD of what was copied")
                .source("legacy").parallelism(2).topics("orders", 3).stop().noCheckpointing();
        add("legacy-stop-stale", "FlinkKafkaConsumer, stop-with-savepoint after periodic checkpoints: where the connector lacks a fix the union list holds the "
                + "offsets of the LAST CHECKPOINT, behind what the savepoint's transaction holds")
                .source("legacy").parallelism(2).topics("orders", 3).stop().records(200, 250).conf("execution.checkpointing.interval", "700ms");
        add("legacy-rescaled", "FlinkKafkaConsumer: savepoint at parallelism 1, restored at 3, savepoint again")
                .source("legacy").topics("orders", 6).sink("alo").records(120, 60).rescale(3);
        add("legacy-topic-names", "FlinkKafkaConsumer, topic names of 1 to 249 characters: Kryo writes them in three ways")
                .source("legacy").parallelism(2).topics(topicNames()).records(10, 30);
        Scenario kryo = add("legacy-kryo-types", "FlinkKafkaConsumer in a job that registers 100 types with Kryo: the id of its own class comes before theirs")
                .source("legacy").topics("orders", 3).empty(2);
        kryo.kryoTypes = 100;
        add("legacy-compressed", "FlinkKafkaConsumer, snapshot compression on, every handle a file")
                .source("legacy").parallelism(2).topics("orders", 5).files().keyed().compress();
    }

    private void others() {
        add("dynamic-p2", "DynamicKafkaSource, one cluster, two streams")
                .source("dynamic").parallelism(2).topics("orders", 4, "payments", 3).stop().empty(2);
        Scenario two = add("dynamic-two-clusters", "DynamicKafkaSource over two clusters that hold the same topic and partitions")
                .source("dynamic").parallelism(2).topics("orders", 3).stop();
        two.twoClusters = true;
        add("dynamic-compressed", "DynamicKafkaSource, snapshot compression on, every handle a file")
                .source("dynamic").parallelism(2).topics("orders", 4, "payments", 3).stop().empty(2).files().keyed().compress();
        add("hybrid-source", "HybridSource over a KafkaSource: its splits wrap those of Kafka, and are no positions")
                .source("hybrid").parallelism(2).topics("orders", 3).stop();
        add("sink-pool", "exactly-once KafkaSink with a pool of transactional ids (TransactionNamingStrategy.POOLING)")
                .parallelism(2).topics("orders", 3).stop().sink("pool");
        add("table-sql", "SQL INSERT INTO kafka SELECT * FROM kafka").source("table").topics("orders", 4).stop().empty(3);
        add("table-upsert", "SQL from upsert-kafka to upsert-kafka: the job holds keyed state (ChangelogNormalize) beside the source's")
                .source("upsert").topics("orders", 4).stop().empty(3).sink("alo");
    }
}
