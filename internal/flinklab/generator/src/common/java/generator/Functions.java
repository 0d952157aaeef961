package generator;

import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** What the jobs do between source and sink. Named classes: old closure cleaners cannot read lambdas of a new JVM. */
final class Functions {
    private Functions() {}

    private static final AtomicLong SEEN = new AtomicLong();

    /** How many records the sources have handed on since reset. */
    static long seen() {
        return SEEN.get();
    }

    static void reset() {
        SEEN.set(0);
    }

    /** Counts and slows the records down, chained to the source. */
    public static final class Throttle implements MapFunction<String, String> {
        private static final long serialVersionUID = 1;
        final int ms;

        Throttle(int ms) {
            this.ms = ms;
        }

        @Override
        public String map(String v) throws Exception {
            if (ms > 0) {
                Thread.sleep(ms);
            }
            SEEN.incrementAndGet();
            return v;
        }
    }

    /** A source that is not Kafka. */
    public static final class Numbers implements MapFunction<Long, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String map(Long v) throws Exception {
            Thread.sleep(10);
            return "numbers|0|" + v + "|";
        }
    }

    /** Behind a network exchange, so that buffers fill up before it. */
    public static final class Slow implements MapFunction<String, String> {
        private static final long serialVersionUID = 1;
        final int ms;

        Slow(int ms) {
            this.ms = ms;
        }

        @Override
        public String map(String v) throws Exception {
            Thread.sleep(ms);
            return v;
        }
    }

    /** Keyed state without any open() (its signature differs between Flink 1 and 2). */
    public static final class Count extends KeyedProcessFunction<String, String, String> {
        private static final long serialVersionUID = 1;

        @Override
        public void processElement(String v, Context c, Collector<String> o) throws Exception {
            ValueState<Long> s =
                    getRuntimeContext().getState(new ValueStateDescriptor<>("count", Long.class));
            Long n = s.value();
            s.update(n == null ? 1L : n + 1);
            o.collect(v);
        }
    }

    /** A timer for each key, a year ahead. */
    public static final class Timers extends KeyedProcessFunction<String, String, String> {
        private static final long serialVersionUID = 1;

        @Override
        public void processElement(String v, Context c, Collector<String> o) throws Exception {
            c.timerService().registerProcessingTimeTimer(c.timerService().currentProcessingTime() / 1000 * 1000 + 31_536_000_000L);
            o.collect(v);
        }
    }

    /** Operator state of each mode that Flink has, in one file. */
    public static final class OperatorStates implements MapFunction<String, String>, CheckpointedFunction {
        private static final long serialVersionUID = 1;
        private transient ListState<String> last;

        @Override
        public String map(String v) throws Exception {
            last.update(Collections.singletonList(v));
            return v;
        }

        @Override
        public void initializeState(FunctionInitializationContext c) throws Exception {
            last = c.getOperatorStateStore().getListState(new ListStateDescriptor<>("last", String.class));
            ListState<Long> all = c.getOperatorStateStore().getUnionListState(new ListStateDescriptor<>("topic-offsets", Long.class));
            all.update(Arrays.asList(1L, 2L, 3L));
            c.getOperatorStateStore().getBroadcastState(new MapStateDescriptor<>("rules", String.class, Long.class)).put("rule", 1L);
        }

        @Override
        public void snapshotState(FunctionSnapshotContext c) {}
    }

    public static final class Key implements org.apache.flink.api.java.functions.KeySelector<String, String> {
        private static final long serialVersionUID = 1;

        @Override
        public String getKey(String v) {
            String[] f = v.split("\\|", 4);
            return f[0] + f[1];
        }
    }
}
