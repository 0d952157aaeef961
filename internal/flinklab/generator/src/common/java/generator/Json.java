package generator;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/** Minimal JSON writer (no dependency, same output on every Flink version). */
final class Json {
    private Json() {}

    static Map<String, Object> object(Object... keysAndValues) {
        Map<String, Object> m = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            m.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return m;
    }

    static String write(Object o) {
        StringBuilder sb = new StringBuilder();
        put(sb, o, 0);
        return sb.append('\n').toString();
    }

    private static void nl(StringBuilder sb, int n) {
        sb.append('\n');
        for (int i = 0; i < n; i++) {
            sb.append(' ');
        }
    }

    private static boolean flat(Object o) {
        if (o instanceof Map) {
            for (Object v : ((Map<?, ?>) o).values()) {
                if (v instanceof Map || v instanceof Collection) {
                    return false;
                }
            }
            return true;
        }
        if (o instanceof Collection) {
            for (Object v : (Collection<?>) o) {
                if (v instanceof Map || v instanceof Collection || v instanceof String) {
                    return false;
                }
            }
            return true;
        }
        return true;
    }

    private static void put(StringBuilder sb, Object o, int ind) {
        if (o == null) {
            sb.append("null");
        } else if (o instanceof Map) {
            boolean f = flat(o);
            sb.append('{');
            String sep = "";
            for (Map.Entry<?, ?> e : ((Map<?, ?>) o).entrySet()) {
                sb.append(sep);
                if (!f) {
                    nl(sb, ind + 1);
                }
                str(sb, String.valueOf(e.getKey()));
                sb.append(": ");
                put(sb, e.getValue(), ind + 1);
                sep = f ? ", " : ",";
            }
            if (!f) {
                nl(sb, ind);
            }
            sb.append('}');
        } else if (o instanceof Collection) {
            boolean f = flat(o);
            sb.append('[');
            String sep = "";
            for (Object v : (Collection<?>) o) {
                sb.append(sep);
                if (!f) {
                    nl(sb, ind + 1);
                }
                put(sb, v, ind + 1);
                sep = f ? ", " : ",";
            }
            if (!f && !((Collection<?>) o).isEmpty()) {
                nl(sb, ind);
            }
            sb.append(']');
        } else if (o instanceof Number || o instanceof Boolean) {
            sb.append(o);
        } else {
            str(sb, String.valueOf(o));
        }
    }

    private static void str(StringBuilder sb, String s) {
        sb.append('"');
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') {
                sb.append('\\').append(c);
            } else if (c < 32) {
                sb.append(String.format("\\u%04x", (int) c));
            } else {
                sb.append(c);
            }
        }
        sb.append('"');
    }
}
