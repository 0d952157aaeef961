package generator;

import java.util.ArrayList;
import java.util.List;

/** The list of scenarios for a Flink version. */
final class Scenarios {
    private Scenarios() {}

    static List<Sc> all(String flink, String connector) {
        List<Sc> l = new ArrayList<>();
        l.add(new Sc("canonical-p1").note("KafkaSource to exactly-once KafkaSink, savepoint of a running job, canonical; partition 3 empty")
                .empty(3));
        l.add(new Sc("native-p4").par(4).fmt("NATIVE").topics("orders", 10, "payments", 6)
                .empty(2, 5).records(30, 90).note("parallelism 4, two topics, native format"));
        l.add(new Sc("stop-p2").par(2).act("stop").topics("orders", 5)
                .note("stop-with-savepoint, no drain: group offsets and target are final"));
        l.add(new Sc("drain-p1").act("drain").topics("orders", 3).sink("alo")
                .note("stop-with-savepoint with drain, at-least-once sink"));
        l.add(new Sc("checkpoint-hashmap").act("checkpoint").par(2).keyed().records(150, 120)
                .note("retained checkpoint, HashMap backend, keyed state"));
        l.add(new Sc("checkpoint-rocksdb-incr").act("checkpoint").rocks().par(2).records(250, 120)
                .note("retained incremental RocksDB checkpoint, keyed state in shared/"));
        Sc wide = new Sc("many-partitions-p4").par(4).topics("orders", 60).records(8, 100).act("stop")
                .empty(7, 11, 59).note("60 partitions over 4 subtasks");
        l.add(wide);
        Sc files = new Sc("all-files-p2").par(2).act("stop").files().keyed()
                .note("memory threshold 0: every handle is a file beside _metadata");
        l.add(files);
        Sc latest = new Sc("latest-sentinel").start("latest").topics("orders", 4).empty(1, 2).act("stop")
                .note("starts at LATEST: splits that read nothing keep -1");
        l.add(latest);
        Sc committed = new Sc("committed-sentinel").start("committed").topics("orders", 4).empty(1, 2).act("stop")
                .note("starts at the group's committed offsets: splits that read nothing keep -3");
        l.add(committed);
        Sc bounded = new Sc("stopping-offsets").topics("orders", 4).records(60, 60).par(2);
        bounded.stopAt = 20;
        bounded.note("stopping offsets 20+partition; the source does not end (unbounded), a split that reached its stop has left the reader state");
        bounded.passRecords = 70;
        l.add(bounded);
        Sc multi = new Sc("three-sources").topics("orders", 3, "payments", 2, "audit", 2).act("stop");
        multi.sources = 3;
        multi.note("three KafkaSources with their own topics, groups and uids");
        l.add(multi);
        Sc same = new Sc("same-topic-twice").topics("orders", 3).act("stop");
        same.sources = 2;
        same.sameTopic = true;
        same.note("two KafkaSources read the same topic under two groups");
        l.add(same);
        l.add(new Sc("no-uid").nouid().act("stop").topics("orders", 3).note("no uid() anywhere: hashes from the graph"));
        Sc lag = new Sc("group-lags").act("stop").topics("orders", 3);
        lag.lag = true;
        lag.note("the group's committed offsets (3+partition) lag the savepoint: commit.offsets.on.checkpoint=false");
        l.add(lag);
        Sc txn = new Sc("transactional-source").act("stop").topics("orders", 3).records(60, 60);
        txn.txnSource = true;
        txn.note("source topic written in transactions of 7, read_committed: offsets have gaps; next is the last record's offset + 1, not past the marker");
        l.add(txn);
        Sc una = new Sc("unaligned-inflight").act("checkpoint").par(2).records(300, 100).sink("alo")
                .conf("execution.checkpointing.unaligned", "true")
                .conf("execution.checkpointing.unaligned.enabled", "true");
        una.rebalance = true;
        una.slowMs = 40;
        una.throttleMs = 1;
        una.fillBytes = 2000;
        una.note("unaligned checkpoint with records in flight in channel state: those are past the source's offset but not in the target");
        l.add(una);
        Sc fin = new Sc("finished-source").topics("orders", 3, "tiny", 2).records(80, 40).par(2);
        fin.sources = 2;
        fin.boundedExtra = true;
        fin.waitFinish = true;
        fin.conf("execution.checkpointing.checkpoints-after-tasks-finish.enabled", "true");
        if (flink.startsWith("2.")) {
            fin.conf("execution.checkpointing.checkpoints-after-tasks-finish", "true");
        }
        fin.records = 400;
        fin.throttleMs = 10;
        fin.note("FLIP-147: source-1 is bounded (stops at 5) and has finished, source-0 runs");
        l.add(fin);
        Sc part = new Sc("partly-finished-subtasks").topics("orders", 3).records(400, 150).par(4);
        part.stopAt = 300;
        part.boundedType = true;
        part.throttleMs = 10;
        part.waitFinish = true;
        part.conf("execution.checkpointing.checkpoints-after-tasks-finish.enabled", "true");
        if (flink.startsWith("2.")) {
            part.conf("execution.checkpointing.checkpoints-after-tasks-finish", "true");
        }
        part.note("bounded source, 3 partitions over 4 subtasks: a subtask without a split has finished");
        l.add(part);
        Sc dead = new Sc("no-discovery-yet").sink("none");
        dead.deadBroker = true;
        dead.note("the broker never answered: no split is known, initialDiscoveryFinished false (where the state has it)");
        l.add(dead);
        Sc resc = new Sc("rescaled-1-to-4").topics("orders", 10).act("stop").records(60, 60);
        resc.rescaleTo = 4;
        resc.note("stopped at parallelism 1, restored at 4, stopped again");
        l.add(resc);
        Sc resc2 = new Sc("rescaled-4-to-1").topics("orders", 10).act("stop").records(60, 60).par(4);
        resc2.rescaleTo = 1;
        resc2.note("stopped at parallelism 4, restored at 1, stopped again");
        l.add(resc2);
        Sc add = new Sc("partitions-added").topics("orders", 2).records(200, 60).act("stop").par(2);
        add.addPartitionsLater = 3;
        add.note("three partitions were added while the job ran and hold no record yet");
        l.add(add);
        Sc comp = new Sc("compressed").act("stop").files().keyed();
        comp.compress = true;
        comp.note("snapshot compression on");
        l.add(comp);
        l.add(new Sc("checkpoint-all-files").act("checkpoint").files().par(2).records(200, 80)
                .note("retained checkpoint, threshold 0: operator state in a file of chk-N"));
        if (flink.startsWith("2.") || flink.startsWith("1.20")) {
            l.add(new Sc("checkpoint-file-merging").act("checkpoint").files().keyed().par(2).records(250, 80)
                    .conf("execution.checkpointing.file-merging.enabled", "true")
                    .conf("execution.checkpointing.file-merging.across-checkpoint-boundary", "true")
                    .note("file merging: segment handles with absolute paths"));
            l.add(new Sc("checkpoint-file-merging-rocksdb").act("checkpoint").rocks().par(2).records(250, 80)
                    .conf("execution.checkpointing.file-merging.enabled", "true")
                    .note("file merging with RocksDB"));
        }
        l.add(new Sc("checkpoint-changelog").act("checkpoint").keyed().par(2).records(250, 80)
                .conf("state.backend.changelog.enabled", "true")
                .conf("state.changelog.enabled", "true")
                .conf("state.backend.changelog.storage", "filesystem")
                .conf("state.changelog.storage", "filesystem")
                .conf("state.backend.changelog.periodic-materialize.interval", "700ms")
                .conf("dstl.dfs.base-path", "${dir}/dstl")
                .conf("state.changelog.dstl.dfs.base-path", "${dir}/dstl")
                .note("changelog state backend: changelog keyed handles to skip"));
        Sc num = new Sc("other-source").act("stop").par(2).topics("orders", 3);
        num.numbers = true;
        num.note("a KafkaSource and a source that is not Kafka (NumberSequenceSource): both have SourceReaderState; the other one's splits are no positions");
        l.add(num);
        Sc ent = new Sc("checkpoint-s3-entropy").act("checkpoint").files().par(2).records(250, 80).topics("orders", 3);
        ent.s3 = true;
        ent.note("s3:// checkpoint folder with entropy injection: state files have absolute paths under another prefix than _metadata");
        l.add(ent);
        Sc s3 = new Sc("savepoint-s3").act("stop").files().par(2).topics("orders", 3);
        s3.s3 = true;
        s3.note("savepoint written to an s3:// folder of an entropy-injecting file system");
        l.add(s3);
        l.add(new Sc("legacy-p2").src("legacy").par(2).topics("orders", 5).empty(4)
                .note("FlinkKafkaConsumer: union list state holds the LAST READ offset; next is that + 1"));
        l.add(new Sc("legacy-checkpoint-files").src("legacy").par(4).topics("orders", 3, "payments", 2).empty(1).act("checkpoint").files().records(200, 80).sink("alo")
                .note("FlinkKafkaConsumer, checkpoint, every handle a file; each subtask holds only its own partitions"));
        l.add(new Sc("legacy-latest").src("legacy").start("latest").topics("orders", 4).empty(1, 2).sink("legacy-eo")
                .note("FlinkKafkaConsumer from latest with the exactly-once FlinkKafkaProducer: raw sentinels"));
        l.add(new Sc("legacy-stop-loses-positions").src("legacy").par(2).topics("orders", 3).act("stop").noCheckpointing()
                .note("FlinkKafkaConsumer, stop-with-savepoint without an earlier checkpoint: the source is cancelled before the snapshot, "
                        + "so where the connector lacks a fix the union list is EMPTY although records were copied; a reader must refuse it. "
                        + "Without periodic checkpoints the consumer auto-commits, so the group's offsets may be AHEAD of what was copied"));
        l.add(new Sc("legacy-stop-stale").src("legacy").par(2).topics("orders", 3).act("stop").records(200, 250)
                .conf("execution.checkpointing.interval", "700ms")
                .note("FlinkKafkaConsumer, stop-with-savepoint after periodic checkpoints: where the connector lacks a fix the union list holds the "
                        + "offsets of the LAST CHECKPOINT, behind what the savepoint's transaction holds"));
        l.add(new Sc("legacy-rescaled").src("legacy").par(1).topics("orders", 6).sink("alo").records(120, 60).rescale(3)
                .note("FlinkKafkaConsumer: savepoint at parallelism 1, restored at 3, savepoint again"));
        l.add(new Sc("dynamic-p2").src("dynamic").par(2).topics("orders", 4, "payments", 3).act("stop").empty(2)
                .note("DynamicKafkaSource, one cluster, two streams"));
        l.add(new Sc("table-sql").src("table").topics("orders", 4).act("stop").empty(3)
                .note("SQL INSERT INTO kafka SELECT * FROM kafka"));
        return l;
    }
}
