package generator;

import java.lang.reflect.Method;
import java.util.Properties;

import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;

/** KafkaSink (1.14 and later). */
public final class ExtraSink {
    private ExtraSink() {}

    public static void sink(DataStream<String> ds, String bootstrap, String target, Scenario s) throws Exception {
        Properties p = new Properties();
        p.setProperty("transaction.timeout.ms", "600000");
        KafkaSinkBuilder<String> b =
                KafkaSink.<String>builder()
                        .setBootstrapServers(bootstrap)
                        .setKafkaProducerConfig(p)
                        .setRecordSerializer(
                                KafkaRecordSerializationSchema.builder()
                                        .setTopic(target)
                                        .setValueSerializationSchema(new SimpleStringSchema())
                                        .build());
        DeliveryGuarantee g = s.sink.equals("alo") ? DeliveryGuarantee.AT_LEAST_ONCE : DeliveryGuarantee.EXACTLY_ONCE;
        Method set = null; // setDeliverGuarantee in 1.14, setDeliveryGuarantee later
        for (Method m : KafkaSinkBuilder.class.getMethods()) {
            if (m.getName().equals("setDeliveryGuarantee") || m.getName().equals("setDeliverGuarantee") && set == null) {
                set = m;
            }
        }
        set.invoke(b, g);
        if (g == DeliveryGuarantee.EXACTLY_ONCE) {
            b.setTransactionalIdPrefix("tx-" + target);
        }
        if (s.sink.equals("pool")) {
            pool(b);
        }
        DataStreamSink<String> snk = ds.sinkTo(b.build());
        if (s.uid) {
            snk.uid("sink");
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void pool(KafkaSinkBuilder<String> b) throws Exception { // since connector 4.0
        Class type = Class.forName("org.apache.flink.connector.kafka.sink.TransactionNamingStrategy");
        KafkaSinkBuilder.class.getMethod("setTransactionNamingStrategy", type).invoke(b, Enum.valueOf(type, "POOLING"));
    }
}
