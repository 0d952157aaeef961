package generator;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.Optional;

/** Calls what only some releases have, and what is not public. */
final class Reflect {
    private Reflect() {}

    static boolean has(String name) {
        try {
            Class.forName(name);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** What a method of o returns, an Optional opened; null where no class of o has it. */
    static Object call(Object o, String method) {
        for (Class<?> c = o.getClass(); c != null; c = c.getSuperclass()) {
            try {
                Method m = c.getDeclaredMethod(method);
                m.setAccessible(true);
                Object r = m.invoke(o);
                return r instanceof Optional ? ((Optional<?>) r).orElse(null) : r;
            } catch (NoSuchMethodException e) {
                // look higher
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        return null;
    }

    /** An object made by any constructor that takes args in order among plain defaults. */
    static Object make(String cls, Object... args) throws Exception {
        Class<?> k = Class.forName(cls);
        for (Constructor<?> c : k.getDeclaredConstructors()) {
            c.setAccessible(true);
            Class<?>[] pt = c.getParameterTypes();
            Object[] v = new Object[pt.length];
            int used = 0;
            for (int i = 0; i < pt.length; i++) {
                if (used < args.length && pt[i].isInstance(args[used])) {
                    v[i] = args[used++];
                } else if (pt[i] == int.class) {
                    v[i] = i == 1 ? 0 : 1;
                } else if (pt[i] == boolean.class) {
                    v[i] = false;
                } else if (pt[i].getSimpleName().equals("SinkCommitterMetricGroup")) {
                    v[i] = stub(pt[i]);
                }
            }
            try {
                return c.newInstance(v);
            } catch (Exception e) {
                // try the next constructor
            }
        }
        throw new IllegalStateException("cannot construct " + cls);
    }

    static Object stub(Class<?> itf) {
        return java.lang.reflect.Proxy.newProxyInstance(
                itf.getClassLoader(),
                new Class<?>[] {itf},
                (p, m, a) -> m.getReturnType().isInterface() ? stub(m.getReturnType()) : zero(m.getReturnType()));
    }

    static Object zero(Class<?> t) {
        return t == long.class ? (Object) 0L : t == int.class ? (Object) 0 : t == boolean.class ? (Object) false : null;
    }
}
