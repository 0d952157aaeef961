package generator;

import static generator.Json.object;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * How the records of the target stand to the positions, for each source partition:
 *
 * <ul>
 *   <li>equal: committed records end exactly at next
 *   <li>committed-behind: records before next are in the target, but not in a committed transaction
 *   <li>target-behind: records before next are not in the target at all (channel state, buffers)
 *   <li>ahead: committed records go on past next: the job went on after the snapshot, or the position is stale
 *   <li>ahead-uncommitted: the job went on, in a transaction that is not committed
 *   <li>copied-but-no-position: records were copied, and the snapshot has no position
 *   <li>differs: several sources read the partition, and the counts differ
 * </ul>
 *
 * A tally is the count, the least and the greatest source offset of a partition's records.
 */
final class Verdict {
    private Verdict() {}

    private static final long[] NONE = {0, Long.MAX_VALUE, -1};

    static Map<String, Object> of(List<?> positions, Map<String, long[]> committed, Map<String, long[]> written) {
        Map<String, List<Long>> next = new TreeMap<>();
        for (Object o : positions) {
            Map<?, ?> p = (Map<?, ?>) o;
            next.computeIfAbsent(p.get("topic") + "-" + p.get("partition"), k -> new ArrayList<>()).add((Long) p.get("next"));
        }
        TreeSet<String> partitions = new TreeSet<>(next.keySet());
        partitions.addAll(written.keySet());
        Map<String, Object> each = new LinkedHashMap<>();
        for (String p : partitions) {
            if (!p.startsWith("numbers-")) { // those do not come from Kafka
                each.put(p, one(next.get(p), committed.getOrDefault(p, NONE), written.getOrDefault(p, NONE)));
            }
        }
        return object("perPartition", each, "all", new ArrayList<>(new TreeSet<>(each.values())));
    }

    private static String one(List<Long> next, long[] committed, long[] written) {
        if (next == null) {
            return "copied-but-no-position";
        }
        if (next.size() > 1) {
            long sum = 0;
            for (Long n : next) {
                sum += n == null ? 0 : n;
            }
            return sum == committed[0] ? "equal" : "differs";
        }
        if (next.get(0) == null) {
            return written[0] == 0 ? "equal" : committed[0] == 0 ? "ahead-uncommitted" : "ahead";
        }
        long n = next.get(0);
        long end = committed[2] + 1;
        if (written[0] == 0 || end == n) {
            return "equal"; // nothing copied: next is where the job started
        }
        if (end > n) {
            return "ahead";
        }
        return written[2] + 1 >= n ? "committed-behind" : "target-behind";
    }

    static boolean equal(Map<String, long[]> a, Map<String, long[]> b) {
        if (!a.keySet().equals(b.keySet())) {
            return false;
        }
        for (Map.Entry<String, long[]> e : a.entrySet()) {
            if (!Arrays.equals(e.getValue(), b.get(e.getKey()))) {
                return false;
            }
        }
        return true;
    }

    static Map<String, Object> json(Map<String, long[]> tally) {
        Map<String, Object> m = new TreeMap<>();
        tally.forEach((k, t) -> m.put(k, object("count", t[0], "min", t[1], "max", t[2])));
        return m;
    }
}
