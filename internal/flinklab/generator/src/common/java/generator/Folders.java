package generator;

import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Folders of the local disk. */
final class Folders {
    private Folders() {}

    /** What FakeS3 keeps in the folder of the same path. */
    static final String BUCKET = "s3://my-bucket";

    /** The folder of a file: or s3: URI. */
    static File of(String pointer) {
        String path = pointer.startsWith(BUCKET) ? pointer.substring(BUCKET.length()) : pointer.replaceFirst("^file:/+", "/");
        return new File(URI.create("file://" + path));
    }

    static void copy(File from, File to) throws Exception {
        try (Stream<Path> w = Files.walk(from.toPath())) {
            for (Path p : w.collect(Collectors.toList())) {
                Path q = to.toPath().resolve(from.toPath().relativize(p).toString());
                if (Files.isDirectory(p)) {
                    Files.createDirectories(q);
                } else {
                    Files.createDirectories(q.getParent());
                    Files.copy(p, q, StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    static void wipe(File f) {
        File[] l = f.listFiles();
        if (l != null && !Files.isSymbolicLink(f.toPath())) {
            for (File x : l) {
                wipe(x);
            }
        }
        f.delete();
    }

    /** Removes the empty folders below d. */
    static void prune(File d) {
        File[] l = d.listFiles();
        if (l != null) {
            for (File f : l) {
                if (f.isDirectory()) {
                    prune(f);
                    f.delete(); // only an empty one goes
                }
            }
        }
    }
}
