package generator;

import java.util.List;

import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/** INSERT INTO a Kafka table SELECT FROM a Kafka table, by connector kafka or upsert-kafka. */
public final class ExtraTable {
    private ExtraTable() {}

    public static JobClient job(
            StreamExecutionEnvironment env, List<String> topics, String bootstrap, String group, String target, Scenario s)
            throws Exception {
        StreamTableEnvironment t = StreamTableEnvironment.create(env);
        boolean upsert = s.source.equals("upsert");
        String columns = upsert ? "(k STRING, v STRING, PRIMARY KEY (k) NOT ENFORCED)" : "(v STRING)";
        String common = "'properties.bootstrap.servers'='" + bootstrap + "',"
                + (upsert
                        ? "'connector'='upsert-kafka','key.format'='raw','value.format'='raw','value.fields-include'='EXCEPT_KEY'"
                        : "'connector'='kafka','format'='raw'");
        t.executeSql(
                "CREATE TABLE src " + columns + " WITH (" + common + ",'topic'='" + String.join(";", topics)
                        + "','properties.group.id'='" + group + "'" + (upsert ? "" : ",'scan.startup.mode'='earliest-offset'") + ")");
        t.executeSql(
                "CREATE TABLE dst " + columns + " WITH (" + common + ",'topic'='" + target + "'"
                        + (s.sink.equals("eo")
                                ? ",'sink.delivery-guarantee'='exactly-once','sink.transactional-id-prefix'='tx-" + target
                                        + "','properties.transaction.timeout.ms'='600000'"
                                : "")
                        + ")");
        return t.executeSql("INSERT INTO dst SELECT * FROM src").getJobClient().get();
    }
}
