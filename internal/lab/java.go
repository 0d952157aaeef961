package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// oldestJava runs every release that the lab starts: the brokers of Kafka 4.x need 17 (KIP-1013).
const oldestJava = 17

var javaVersion = regexp.MustCompile(`version "(?:1\.)?(\d+)`)

// FindJava returns the launcher of JAVA_HOME, or else of PATH, if it is new enough.
func FindJava() (string, error) {
	var java string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
		if _, err := os.Stat(java); err != nil {
			return "", fmt.Errorf("java: JAVA_HOME holds no bin/java: %w", err)
		}
	} else {
		var err error
		if java, err = exec.LookPath("java"); err != nil {
			return "", fmt.Errorf("java: not found in PATH (Java %d or newer is needed)", oldestJava)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, java, "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("java: %s -version: %w", java, err)
	}
	m := javaVersion.FindSubmatch(out)
	if m == nil {
		line, _, _ := bytes.Cut(out, []byte("\n"))
		return "", fmt.Errorf("java: %s -version names no version: %q", java, line)
	}
	if major, err := strconv.Atoi(string(m[1])); err != nil || major < oldestJava {
		return "", fmt.Errorf("java: %s is version %s, and Java %d or newer is needed", java, m[1], oldestJava)
	}
	return java, nil
}

// jvmFlags are those of every JVM. They trade peak speed for a start that takes half as long.
func jvmFlags() []string {
	return []string{"-Xmx512m", "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}
}

// missingForJVM says what keeps the JVM stage from running here, one reason a tool.
func missingForJVM(version string) []string {
	var missing []string
	if _, err := FindJava(); err != nil {
		missing = append(missing, err.Error())
	}
	if _, cached, err := jarsOf(version, stageJars); err != nil {
		missing = append(missing, err.Error())
	} else if !cached {
		for _, tool := range []string{"mvn", "bash"} {
			if _, err := exec.LookPath(tool); err != nil {
				missing = append(missing, fmt.Sprintf("%s: not found in PATH (it fetches the jars of Kafka %s, which are not cached yet)", tool, version))
			}
		}
	}
	return missing
}
