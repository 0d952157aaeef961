package generator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One scenario. */
final class Sc {
    final String name;
    String source = "kafka"; // kafka, legacy, dynamic, table
    int par = 1;
    final Map<String, Integer> topics = new LinkedHashMap<>();
    List<Integer> empty = new ArrayList<>();
    int records = 60;
    int fillBytes;
    String start = "earliest"; // earliest, latest, committed, specific
    long stopAt = -1;
    String action = "savepoint"; // savepoint, stop, drain, checkpoint
    String format = "CANONICAL";
    long passRecords = 40; // take it after so many records were mapped
    int throttleMs = 5;
    boolean uid = true;
    String sink = "eo"; // eo, alo, none
    boolean keyed;
    boolean rebalance;
    int slowMs;
    int sources = 1;
    boolean boundedExtra;
    boolean boundedType;
    boolean txnSource;
    boolean lag;
    boolean noCommit;
    boolean deadBroker;
    boolean sameTopic;
    boolean waitFinish;
    boolean compress;
    int addPartitionsLater;
    int rescaleTo;
    boolean s3;
    boolean numbers;
    boolean noCheckpointing;
    String note = "";
    final Map<String, String> conf = new LinkedHashMap<>();

    Sc(String name) {
        this.name = name;
        topics.put("orders", 4);
    }

    Sc topics(Object... kv) {
        topics.clear();
        for (int i = 0; i < kv.length; i += 2) {
            topics.put((String) kv[i], (Integer) kv[i + 1]);
        }
        return this;
    }

    Sc par(int n) { par = n; return this; }
    Sc src(String s) { source = s; return this; }
    Sc empty(Integer... p) { empty = Arrays.asList(p); return this; }
    Sc records(int n, long pass) { records = n; passRecords = pass; return this; }
    Sc act(String a) { action = a; return this; }
    Sc fmt(String f) { format = f; return this; }
    Sc start(String s) { start = s; return this; }
    Sc sink(String s) { sink = s; return this; }
    Sc nouid() { uid = false; return this; }
    Sc keyed() { keyed = true; return this; }
    Sc conf(String k, String v) { conf.put(k, v); return this; }
    Sc rocks() {
        keyed = true;
        return conf("state.backend", "rocksdb").conf("state.backend.type", "rocksdb")
                .conf("state.backend.incremental", "true")
                .conf("execution.checkpointing.incremental", "true");
    }
    Sc files() {
        return conf("state.storage.fs.memory-threshold", "0")
                .conf("state.backend.fs.memory-threshold", "0")
                .conf("execution.checkpointing.data-inline-threshold", "0");
    }
    boolean rocksTwo() { return "rocksdb".equals(conf.get("state.backend")); }
    Sc noCheckpointing() { noCheckpointing = true; return this; }
    Sc rescale(int n) { rescaleTo = n; return this; }
    Sc note(String n) { note = n; return this; }
}
