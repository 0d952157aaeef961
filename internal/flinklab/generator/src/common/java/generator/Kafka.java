package generator;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;

import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Topic set-up and read-back. Every record's value is "topic|partition|offset|fill". */
final class Kafka implements AutoCloseable {
    final String bootstrap;
    final AdminClient admin;

    Kafka(String bootstrap) {
        this.bootstrap = bootstrap;
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        admin = AdminClient.create(p);
    }

    void create(String topic, int partitions) throws Exception {
        admin.createTopics(Collections.singleton(new NewTopic(topic, partitions, (short) 1))).all().get();
        await("the new topic " + topic, () -> admin.listTopics().names().get().contains(topic));
    }

    /** Returns once none of the topics is there any more. */
    void drop(Collection<String> topics) throws Exception {
        Set<String> there = new HashSet<>(topics);
        there.retainAll(admin.listTopics().names().get());
        if (!there.isEmpty()) {
            admin.deleteTopics(there).all().get();
            await("the end of the topics " + there, () -> Collections.disjoint(admin.listTopics().names().get(), there));
        }
    }

    void grow(String topic, int partitions) throws Exception {
        admin.createPartitions(Collections.singletonMap(topic, NewPartitions.increaseTo(partitions))).all().get();
    }

    private static void await(String what, Callable<Boolean> done) throws Exception {
        for (int i = 0; i < 200; i++) {
            if (done.call()) {
                return;
            }
            Thread.sleep(50);
        }
        throw new IllegalStateException("waited 10 s for " + what);
    }

    /** Fills the partitions that the scenario does not want empty; a transactional source in transactions of 7 records. */
    void fill(String topic, int partitions, Scenario s) throws Exception {
        boolean transactional = s.txnSource;
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("linger.ms", "20");
        if (transactional) {
            p.put("transactional.id", "fill-" + topic);
        }
        StringBuilder fb = new StringBuilder();
        for (int i = 0; i < s.fillBytes; i++) {
            fb.append('x');
        }
        try (KafkaProducer<byte[], byte[]> pr =
                new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer())) {
            if (transactional) {
                pr.initTransactions();
            }
            for (int part = 0; part < partitions; part++) {
                if (s.empty.contains(part)) {
                    continue;
                }
                long off = 0;
                for (int i = 0; i < s.records; i++) {
                    if (transactional && i % 7 == 0) {
                        pr.beginTransaction();
                    }
                    String v = topic + "|" + part + "|" + off + "|" + fb;
                    byte[] value = v.getBytes(StandardCharsets.UTF_8);
                    pr.send(new ProducerRecord<>(topic, part, s.source.equals("upsert") ? value : null, value));
                    off++;
                    if (transactional && (i % 7 == 6 || i == s.records - 1)) {
                        pr.commitTransaction();
                        off++; // the commit marker takes an offset too
                    }
                }
            }
            pr.flush();
        }
    }

    /** Reads a whole topic; per source topic-partition: count, min and max source offset. */
    Map<String, long[]> tally(String target, boolean committed) throws Exception {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("isolation.level", committed ? "read_committed" : "read_uncommitted");
        p.put("enable.auto.commit", "false");
        Map<String, long[]> r = new TreeMap<>();
        try (KafkaConsumer<byte[], byte[]> c =
                new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> tps = new ArrayList<>();
            c.partitionsFor(target).forEach(i -> tps.add(new TopicPartition(target, i.partition())));
            c.assign(tps);
            c.seekToBeginning(tps);
            Map<TopicPartition, Long> end = c.endOffsets(tps);
            long stop = System.currentTimeMillis() + 20000;
            while (true) {
                boolean done = true;
                for (TopicPartition tp : tps) {
                    done &= c.position(tp) >= end.get(tp);
                }
                if (done) {
                    return r;
                }
                if (System.currentTimeMillis() > stop) {
                    throw new IllegalStateException("reading " + target + " took more than 20 s");
                }
                for (ConsumerRecord<byte[], byte[]> x : c.poll(Duration.ofMillis(200))) {
                    String[] f = new String(x.value(), StandardCharsets.UTF_8).split("\\|", 4);
                    long off = Long.parseLong(f[2]);
                    long[] t = r.computeIfAbsent(f[0] + "-" + f[1], k -> new long[] {0, Long.MAX_VALUE, -1});
                    t[0]++;
                    t[1] = Math.min(t[1], off);
                    t[2] = Math.max(t[2], off);
                }
            }
        }
    }

    /** How many records the topic holds, control records among them. */
    long written(String topic) throws Exception {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        try (KafkaConsumer<byte[], byte[]> c = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = new ArrayList<>();
            c.partitionsFor(topic).forEach(i -> all.add(new TopicPartition(topic, i.partition())));
            return c.endOffsets(all).values().stream().mapToLong(Long::longValue).sum();
        }
    }

    void setGroup(String group, Map<TopicPartition, OffsetAndMetadata> offs) throws Exception {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("group.id", group);
        p.put("enable.auto.commit", "false");
        try (KafkaConsumer<byte[], byte[]> c =
                new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            c.assign(new ArrayList<>(offs.keySet()));
            c.commitSync(offs);
        }
    }

    Map<String, Object> group(String group) throws Exception {
        Map<String, Object> out = new TreeMap<>();
        admin.listConsumerGroupOffsets(group)
                .partitionsToOffsetAndMetadata()
                .get()
                .forEach((k, v) -> out.put(k.toString(), v == null ? null : v.offset()));
        return out;
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(5));
    }
}
