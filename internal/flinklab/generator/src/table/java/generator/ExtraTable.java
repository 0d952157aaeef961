package generator;

import java.util.List;

import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/** INSERT INTO a Kafka table SELECT FROM a Kafka table. */
public final class ExtraTable {
    private ExtraTable() {}

    public static JobClient job(
            StreamExecutionEnvironment env, List<String> topics, String bootstrap, String group, String target, Sc s)
            throws Exception {
        StreamTableEnvironment t = StreamTableEnvironment.create(env);
        String common = "'connector'='kafka','properties.bootstrap.servers'='" + bootstrap + "','format'='raw'";
        t.executeSql(
                "CREATE TABLE src (v STRING) WITH (" + common + ",'topic'='" + String.join(";", topics)
                        + "','properties.group.id'='" + group + "','scan.startup.mode'='earliest-offset')");
        t.executeSql(
                "CREATE TABLE dst (v STRING) WITH (" + common + ",'topic'='" + target
                        + "','sink.delivery-guarantee'='exactly-once','sink.transactional-id-prefix'='tx-" + target
                        + "','properties.transaction.timeout.ms'='600000')");
        return t.executeSql("INSERT INTO dst SELECT v FROM src").getJobClient().get();
    }
}
