package generator;

import java.net.URI;

import org.apache.flink.core.fs.EntropyInjectingFileSystem;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.fs.local.LocalFileSystem;

/** s3://bucket/PATH kept in the local /PATH, with entropy injection, so that handles carry s3 paths. */
public final class FakeS3 implements FileSystemFactory {
    @Override
    public String getScheme() {
        return "s3";
    }

    @Override
    public FileSystem create(URI uri) {
        return new Fs();
    }

    /** The file system. */
    public static final class Fs extends LocalFileSystem implements EntropyInjectingFileSystem {
        @Override
        public URI getUri() {
            return URI.create("s3:///");
        }

        @Override
        public boolean isDistributedFS() {
            return true;
        }

        @Override
        public String getEntropyInjectionKey() {
            return "_entropy_";
        }

        @Override
        public String generateEntropy() {
            return Integer.toHexString(0x10000 + new java.util.Random().nextInt(0xffff)).substring(1);
        }
    }
}
