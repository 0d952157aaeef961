package org.apache.kafka.connect.mirror;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.util.HashMap;
import java.util.Map;

/**
 * Asks the real MirrorSourceConnector which topics it copies, and under which names: the source of selection.json.
 * Compile and run it against connect-mirror, connect-mirror-client, connect-runtime, connect-api and kafka-clients
 * of one version. It reads a case a line, "key=value US key=value TAB topic topic ...", with US the character U+001F,
 * and writes "topic=0|1:target ..." or "error: ...".
 */
public class Selection {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = in.readLine()) != null; ) {
            System.out.println(answer(line.split("\t", -1)));
        }
    }

    private static String answer(String[] parts) {
        Map<String, String> props = new HashMap<>();
        props.put("name", "mm2");
        props.put("connector.class", MirrorSourceConnector.class.getName());
        for (String kv : parts[0].split("\u001f")) {
            int i = kv.indexOf('=');
            props.put(kv.substring(0, i), kv.substring(i + 1));
        }
        try {
            MirrorSourceConnector connector = connector(new MirrorSourceConfig(props));
            StringBuilder b = new StringBuilder();
            for (String topic : parts[1].split(" ")) {
                b.append(topic).append('=').append(connector.shouldReplicateTopic(topic) ? 1 : 0)
                    .append(':').append(connector.formatRemoteTopic(topic)).append(' ');
            }
            return b.toString().trim();
        } catch (Throwable e) {
            return "error: " + String.valueOf(e.getMessage()).replace('\n', ' ');
        }
    }

    private static MirrorSourceConnector connector(MirrorSourceConfig config) throws Exception {
        SourceAndTarget clusters = new SourceAndTarget(config.sourceClusterAlias(), config.targetClusterAlias());
        for (Constructor<?> c : MirrorSourceConnector.class.getDeclaredConstructors()) {
            Class<?>[] t = c.getParameterTypes();
            if (t.length == 5 && t[4] == boolean.class) { // from 4.0 on
                Object heartbeats = MirrorSourceConfig.class.getDeclaredMethod("heartbeatsReplicationEnabled").invoke(config);
                return (MirrorSourceConnector) c.newInstance(clusters, config.replicationPolicy(), config.topicFilter(), null, heartbeats);
            }
        }
        return new MirrorSourceConnector(clusters, config.replicationPolicy(), config.topicFilter(), null);
    }
}
