import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.TreeSet;
import org.apache.kafka.common.config.ConfigDef;

/**
 * Lists the keys that the clients, the worker, the driver and the two other connectors of MirrorMaker 2 define: the
 * source of keys.tsv. Run it with the jars of one version of Kafka on the class path; it writes "definition TAB key".
 */
public class Keys {
    public static void main(String[] args) throws Exception {
        list("consumer", names("org.apache.kafka.clients.consumer.ConsumerConfig"));
        list("producer", names("org.apache.kafka.clients.producer.ProducerConfig"));
        list("admin", names("org.apache.kafka.clients.admin.AdminClientConfig"));
        list("worker", names("org.apache.kafka.connect.runtime.distributed.DistributedConfig"));
        list("driver", names("org.apache.kafka.connect.mirror.MirrorMakerConfig"));
        list("checkpoint", connector("org.apache.kafka.connect.mirror.MirrorCheckpointConnector"));
        list("heartbeat", connector("org.apache.kafka.connect.mirror.MirrorHeartbeatConnector"));
    }

    private static void list(String definition, Collection<String> keys) {
        for (String key : new TreeSet<>(keys)) {
            System.out.println(definition + "\t" + key);
        }
    }

    private static Collection<String> connector(String type) throws Exception {
        Object connector = Class.forName(type).getDeclaredConstructor().newInstance();
        return ((ConfigDef) connector.getClass().getMethod("config").invoke(connector)).names();
    }

    /** Reads a static ConfigDef, wherever the version keeps it. */
    private static Collection<String> names(String type) throws Exception {
        Class<?> c = Class.forName(type);
        for (Method m : c.getDeclaredMethods()) {
            if (m.getReturnType() == ConfigDef.class && java.lang.reflect.Modifier.isStatic(m.getModifiers())) {
                m.setAccessible(true);
                if (m.getParameterCount() == 0) {
                    return ((ConfigDef) m.invoke(null)).names();
                }
                if (m.getParameterCount() == 1 && m.getParameterTypes()[0].getSimpleName().equals("Crypto")) {
                    return ((ConfigDef) m.invoke(null, m.getParameterTypes()[0].getField("SYSTEM").get(null))).names();
                }
            }
        }
        for (Field f : c.getDeclaredFields()) {
            if (f.getType() == ConfigDef.class && java.lang.reflect.Modifier.isStatic(f.getModifiers())) {
                f.setAccessible(true);
                return ((ConfigDef) f.get(null)).names();
            }
        }
        throw new IllegalStateException(type + " has no static ConfigDef");
    }
}
