package generator;

import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

/**
 * Makes fixtures: {@code Generator FLINK CONNECTOR BOOTSTRAP OUT STATE_ROOT}. Commands come on standard input, one a line:
 * {@code list}, {@code make SCENARIO}, and for the job of a Flink before 1.12 {@code old-topics NAME} and {@code old-fixture
 * NAME FLINK KIND POINTER}, and {@code read FOLDER} for a savepoint that somebody else has written, which puts expected.json
 * beside the folder. Answers are lines that begin with {@code @flinklab}: {@code READY}, {@code SCENARIOS NAME...},
 * {@code MADE FIXTURE}, {@code IMPOSSIBLE SCENARIO}, {@code DONE}, {@code ERROR TEXT}. The program ends at the end of
 * standard input.
 *
 * <p>STATE_ROOT is where the jobs keep their state, so it stands in the absolute paths that a fixture holds.
 */
public final class Generator {
    private Generator() {}

    public static void main(String[] args) throws Exception {
        String flink = args[0];
        try (Kafka kafka = new Kafka(args[2]);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            Fixture.Maker maker = new Fixture.Maker(flink, args[1], kafka, new File(args[3]), new File(args[4]));
            say("READY");
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                try {
                    say(answer(maker, flink, line.trim().split(" ")));
                } catch (Throwable t) {
                    t.printStackTrace();
                    say("ERROR " + String.valueOf(t).replace('\n', ' '));
                }
            }
        }
        // Not left to the threads of the jobs: one of them may live on.
        System.exit(0);
    }

    private static String answer(Fixture.Maker maker, String flink, String[] command) throws Exception {
        switch (command[0]) {
            case "list":
                StringBuilder names = new StringBuilder("SCENARIOS");
                for (Scenario s : Scenarios.of(flink)) {
                    if (s.possible()) {
                        names.append(' ').append(s.name);
                    }
                }
                return names.toString();
            case "make":
                for (Scenario s : Scenarios.of(flink)) {
                    if (s.name.equals(command[1])) {
                        return s.possible() ? "MADE " + maker.make(s) : "IMPOSSIBLE " + s.name;
                    }
                }
                throw new IllegalArgumentException("Flink " + flink + " has no scenario " + command[1]);
            case "old-topics":
                maker.prepareOld(command[1]);
                return "DONE";
            case "old-fixture":
                return "MADE " + maker.makeOld(command[1], command[2], command[3], command[4]);
            case "read":
                File folder = new File(command[1]);
                Files.write(
                        new File(folder.getParentFile(), "expected.json").toPath(),
                        Json.write(Oracle.read(folder)).getBytes(StandardCharsets.UTF_8));
                return "DONE";
            default:
                throw new IllegalArgumentException("unknown command " + command[0]);
        }
    }

    private static synchronized void say(String line) {
        System.out.println("@flinklab " + line);
        System.out.flush();
    }
}
