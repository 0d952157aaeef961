package connecttest

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
)

// version is a Kafka version. The methods below are the one place that says
// what a version has; facts were taken from running workers.
type version struct{ major, minor, patch int }

var versionPattern = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`)

// parseVersion reads "4.3.1". What has not been seen running is refused: a guess
// would teach tests something false.
func parseVersion(s string) (version, error) {
	m := versionPattern.FindStringSubmatch(s)
	if m == nil {
		return version{}, fmt.Errorf("version %q: want three numbers, as in 4.3.1", s)
	}
	var n [3]int
	for i := range n {
		v, err := strconv.Atoi(m[i+1])
		if err != nil {
			return version{}, fmt.Errorf("version %q: %w", s, err)
		}
		n[i] = v
	}
	v := version{n[0], n[1], n[2]}
	if !v.atLeast(3, 4, 0) || v.atLeast(5, 0, 0) {
		return version{}, fmt.Errorf("version %s: behaviour is known from 3.4.0 to the 4 line", s)
	}
	if v.major == 3 && v.minor > 9 {
		return version{}, fmt.Errorf("version %s: there is none, 4.0 follows 3.9", s)
	}
	return v, nil
}

func (v version) atLeast(major, minor, patch int) bool {
	return cmp.Or(cmp.Compare(v.major, major), cmp.Compare(v.minor, minor), cmp.Compare(v.patch, patch)) >= 0
}

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch) }

// hasStop: PUT stop and GET offsets (KIP-875, first part).
func (v version) hasStop() bool { return v.atLeast(3, 5, 0) }

// hasAlterOffsets: PATCH and DELETE offsets (KIP-875, second part).
func (v version) hasAlterOffsets() bool { return v.atLeast(3, 6, 0) }

// hasInitialState: initial_state in POST /connectors (KIP-980).
func (v version) hasInitialState() bool { return v.atLeast(3, 7, 0) }

// hasPatchConfig: PATCH /connectors/{name}/config (KIP-477).
func (v version) hasPatchConfig() bool { return v.atLeast(3, 8, 0) }

// hasHealth: GET /health (KIP-1017).
func (v version) hasHealth() bool { return v.atLeast(3, 9, 0) }

// hasTasksConfig: GET /connectors/{name}/tasks-config, deprecated before.
func (v version) hasTasksConfig() bool { return !v.atLeast(4, 0, 0) }

// hasEmitOffsetSyncs: the key emit.offset-syncs.enabled (KIP-1031).
func (v version) hasEmitOffsetSyncs() bool { return v.atLeast(3, 9, 0) }

// hasHeartbeatsSwitch: the key heartbeats.replication.enabled (KAFKA-17534).
func (v version) hasHeartbeatsSwitch() bool { return v.atLeast(4, 0, 0) }

// showsPluginVersion: "version" in the status of connectors and tasks (KIP-891).
func (v version) showsPluginVersion() bool { return v.atLeast(4, 1, 0) }

// refusesDuplicates: the validators of list keys refuse duplicates and empty
// entries.
func (v version) refusesDuplicates() bool { return v.atLeast(4, 2, 0) }

// badClassIs400: an unknown connector.class is a bad request; before, an
// internal error.
func (v version) badClassIs400() bool { return v.atLeast(4, 1, 0) }

// seeksZero: a partition without an offset is read from offset 0 by a seek.
// Later versions leave it to the consumer (KAFKA-13988).
func (v version) seeksZero() bool { return !v.atLeast(3, 6, 2) }

// strictPaths: Jetty 12 refuses a path with an encoded slash, percent sign or
// dot segment, or with an empty segment, before Connect sees it.
func (v version) strictPaths() bool { return v.atLeast(4, 0, 0) }

// neverCopiesInternal: every topic that ends in .internal or -internal is left
// out; later only MirrorMaker's own are.
func (v version) neverCopiesInternal() bool { return !v.atLeast(4, 0, 0) }

// tellsHeaderConverters: a class that converts headers and data is listed as both
// kinds; before, twice as a converter.
func (v version) tellsHeaderConverters() bool { return v.atLeast(3, 6, 0) }

// checksConverters: validation reads the settings of the converters too.
func (v version) checksConverters() bool { return v.atLeast(3, 8, 0) }

// hasSchemaContent: JsonConverter's schema.content.
func (v version) hasSchemaContent() bool { return v.atLeast(4, 2, 0) }

// refusesTrailing: text after the JSON value of a body is an error.
func (v version) refusesTrailing() bool { return v.atLeast(3, 7, 0) }

// tellsStage: an answer that was given up says what the worker is doing.
func (v version) tellsStage() bool { return v.atLeast(3, 7, 0) }

// hasClusterLoggers: scope=cluster of /admin/loggers and the time of the last
// change (KIP-976).
func (v version) hasClusterLoggers() bool { return v.atLeast(3, 7, 0) }

// hasLog4j2: Log4j 2 is beneath /admin/loggers. Loggers that inherit their level
// are listed too, and the answer to a change of level leaves out those that had it.
func (v version) hasLog4j2() bool { return v.atLeast(4, 0, 0) }

// definitionOrderKey is the JSON name of the order of a key in its group.
func (v version) definitionOrderKey() string {
	if v.atLeast(4, 3, 0) {
		return "order_in_group"
	}
	return "order"
}
