package generator;

import java.io.File;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.apache.flink.core.execution.JobClient;

/** Takes the savepoint or checkpoint of a running job once the job is where its scenario wants it. */
final class Snapshots {
    private static final String FORMAT = "org.apache.flink.core.execution.SavepointFormatType"; // since 1.15

    private final Kafka kafka;
    private final Scenario s;
    private final String dir;

    Snapshots(Kafka kafka, Scenario s, String dir) {
        this.kafka = kafka;
        this.s = s;
        this.dir = dir;
    }

    /** Takes it, ends the job, and returns where it lies. */
    String take(JobClient job) throws Exception {
        try {
            advance(job);
            return s.action.equals("checkpoint") ? checkpoint(job) : savepoint(job);
        } catch (Throwable t) {
            try {
                job.getJobExecutionResult().get(2, TimeUnit.SECONDS);
            } catch (Throwable x) {
                t.addSuppressed(x);
            }
            throw t;
        } finally {
            end(job);
        }
    }

    private static void end(JobClient job) throws InterruptedException {
        try {
            if (!job.getJobStatus().get(5, TimeUnit.SECONDS).isTerminalState()) {
                job.cancel().get(20, TimeUnit.SECONDS);
            }
        } catch (Exception e) {
            // The cluster goes with its job, and so is gone already.
        }
        Thread.sleep(500); // its threads take some time to let go of files and connections
    }

    private void advance(JobClient job) throws Exception {
        if (s.deadBroker) {
            Thread.sleep(3000);
            return;
        }
        if (s.start.equals("latest")) {
            await("the job to run", () -> status(job).equals("RUNNING"));
            Thread.sleep(3000);
            for (Map.Entry<String, Integer> e : s.topics.entrySet()) {
                kafka.fill(e.getKey(), e.getValue(), s);
            }
        }
        if (s.addPartitionsLater > 0) {
            await("half of the records", () -> Functions.seen() >= s.passRecords / 2);
            String t = s.topics.keySet().iterator().next();
            kafka.grow(t, s.topics.get(t) + s.addPartitionsLater);
            s.topics.put(t, s.topics.get(t) + s.addPartitionsLater);
            Thread.sleep(3000);
        }
        String target = new File(dir).getName() + "-target";
        boolean table = Job.extra(s.source).equals("generator.ExtraTable");
        await(s.passRecords + " records", () -> {
            if (job.getJobStatus().get(5, TimeUnit.SECONDS).isGloballyTerminalState()) {
                throw new IllegalStateException("the job ended before " + s.passRecords + " records had passed");
            }
            return (table ? kafka.written(target) : Functions.seen()) >= s.passRecords;
        });
        if (s.waitFinish) {
            Thread.sleep(2500);
        }
    }

    private String checkpoint(JobClient job) throws Exception {
        File root = new File(dir, "checkpoints");
        File seen = latestCheckpoint(root);
        int more = seen == null ? 0 : number(seen);
        int last = more + (s.isRocksDB() ? 3 : 1); // an increment needs something to build on
        await("checkpoint " + last, () -> {
            File f = latestCheckpoint(root);
            return f != null && number(f) >= last;
        });
        Thread.sleep(150);
        job.cancel().get(20, TimeUnit.SECONDS);
        Thread.sleep(800);
        return latestCheckpoint(root).toURI().toString();
    }

    private static int number(File checkpoint) {
        return Integer.parseInt(checkpoint.getName().substring("chk-".length()));
    }

    /** The checkpoint of the greatest number below root, or null. */
    static File latestCheckpoint(File root) throws Exception {
        if (!root.isDirectory()) {
            return null;
        }
        try (Stream<Path> w = Files.walk(root.toPath())) {
            return w.filter(p -> p.getFileName().toString().equals("_metadata"))
                    .map(p -> p.getParent().toFile())
                    .max(Comparator.comparingInt(Snapshots::number))
                    .orElse(null);
        } catch (UncheckedIOException e) {
            return null; // the job removed an older one meanwhile
        }
    }

    private String savepoint(JobClient job) throws Exception {
        Exception last = null;
        for (int i = 0; i < 20; i++) {
            try {
                return trigger(job, (s.s3 ? Folders.BUCKET : "file:") + dir + "/savepoints").get(60, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                last = e; // not all tasks run yet
                String now = status(job);
                if (!now.equals("RUNNING") && !now.equals("CREATED") && !now.equals("INITIALIZING")) {
                    throw e;
                }
                Thread.sleep(300);
            }
        }
        throw last;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private CompletableFuture<String> trigger(JobClient job, String to) throws Exception {
        boolean drain = s.action.equals("drain");
        if (!Reflect.has(FORMAT)) {
            return (CompletableFuture<String>) (s.action.equals("savepoint")
                    ? JobClient.class.getMethod("triggerSavepoint", String.class).invoke(job, to)
                    : JobClient.class.getMethod("stopWithSavepoint", boolean.class, String.class).invoke(job, drain, to));
        }
        Class<?> type = Class.forName(FORMAT);
        Object format = Enum.valueOf((Class) type, s.format);
        return (CompletableFuture<String>) (s.action.equals("savepoint")
                ? JobClient.class.getMethod("triggerSavepoint", String.class, type).invoke(job, to, format)
                : JobClient.class.getMethod("stopWithSavepoint", boolean.class, String.class, type).invoke(job, drain, to, format));
    }

    private static String status(JobClient job) throws Exception {
        return job.getJobStatus().get().toString();
    }

    private static void await(String what, Callable<Boolean> done) throws Exception {
        long end = System.currentTimeMillis() + 60000;
        while (System.currentTimeMillis() < end) {
            if (done.call()) {
                return;
            }
            Thread.sleep(20);
        }
        throw new IllegalStateException("waited 60 s for " + what);
    }
}
