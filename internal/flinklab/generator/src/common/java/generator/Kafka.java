package generator;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

import org.apache.kafka.clients.admin.AdminClient;
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
        for (int i = 0; i < 100; i++) {
            if (admin.listTopics().names().get().contains(topic)) {
                return;
            }
            Thread.sleep(50);
        }
    }

    void drop(Collection<String> topics) {
        try {
            admin.deleteTopics(topics).all().get();
        } catch (Exception e) {
            // leave it
        }
    }

    /** Writes n records to each partition not in empty; in transactions of 7 when transactional. */
    void fill(String topic, int partitions, int n, Collection<Integer> empty, boolean transactional, int fillBytes)
            throws Exception {
        Properties p = new Properties();
        p.put("bootstrap.servers", bootstrap);
        p.put("linger.ms", "20");
        if (transactional) {
            p.put("transactional.id", "fill-" + topic);
        }
        StringBuilder fb = new StringBuilder();
        for (int i = 0; i < fillBytes; i++) {
            fb.append('x');
        }
        try (KafkaProducer<byte[], byte[]> pr =
                new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer())) {
            if (transactional) {
                pr.initTransactions();
            }
            for (int part = 0; part < partitions; part++) {
                if (empty.contains(part)) {
                    continue;
                }
                long off = 0;
                for (int i = 0; i < n; i++) {
                    if (transactional && i % 7 == 0) {
                        pr.beginTransaction();
                    }
                    String v = topic + "|" + part + "|" + off + "|" + fb;
                    pr.send(new ProducerRecord<>(topic, part, null, v.getBytes(StandardCharsets.UTF_8)));
                    off++;
                    if (transactional && (i % 7 == 6 || i == n - 1)) {
                        pr.commitTransaction();
                        off++; // the commit marker takes an offset too
                    }
                }
            }
            pr.flush();
        }
    }

    /** Reads a whole topic; per source topic-partition: count, min and max source offset. */
    Map<String, Object> tally(String target, boolean committed) throws Exception {
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
            while (System.currentTimeMillis() < stop) {
                boolean done = true;
                for (TopicPartition tp : tps) {
                    done &= c.position(tp) >= end.get(tp);
                }
                if (done) {
                    break;
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
        Map<String, Object> out = new TreeMap<>();
        r.forEach((k, t) -> out.put(k, Oracle.obj("count", t[0], "min", t[1], "max", t[2])));
        return out;
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
