package connecttest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const rootLogger = "root"

// classLoggers stand for the loggers of the classes that a worker has loaded.
var classLoggers = []string{
	"org.apache.kafka.connect.mirror.MirrorSourceConnector",
	"org.apache.kafka.connect.runtime.distributed.DistributedHerder",
}

var levelNames = []string{"OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"}

// logLevels are the levels that /admin/loggers shows and sets on one worker. They
// are remembered and do nothing.
type logLevels struct {
	mu  sync.Mutex
	set map[string]loggerLevel
}

// loggerLevel is LoggerLevel. The time is null until the REST API set the level.
type loggerLevel struct {
	Level        string `json:"level"`
	LastModified *int64 `json:"last_modified"`
}

func newLogLevels() *logLevels {
	return &logLevels{set: map[string]loggerLevel{rootLogger: {Level: "INFO"}}}
}

// all returns the loggers that have a level of their own; with classes, those
// that inherit one too.
func (l *logLevels) all(classes bool) map[string]loggerLevel {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := maps.Clone(l.set)
	if classes {
		for _, c := range classLoggers {
			if _, ok := all[c]; !ok {
				all[c] = loggerLevel{Level: all[rootLogger].Level}
			}
		}
	}
	return all
}

// change sets the level of a namespace and of the loggers below it, which are all
// that begin so, with a dot after it or not. It returns their names; before 4.0
// also of those that had the level.
func (l *logLevels) change(v version, namespace, level string) []string {
	affected := []string{namespace}
	for name := range l.all(true) {
		if name != namespace && (namespace == rootLogger || strings.HasPrefix(name, namespace)) {
			affected = append(affected, name)
		}
	}
	slices.Sort(affected)
	l.mu.Lock()
	defer l.mu.Unlock()
	if v.hasLog4j2() {
		affected = slices.DeleteFunc(affected, func(name string) bool { return l.set[name].Level == level })
	}
	now := time.Now().UnixMilli()
	for _, name := range affected {
		if l.set[name].Level != level {
			l.set[name] = loggerLevel{level, &now}
		}
	}
	return affected
}

// levelsOf are those of the worker that was asked.
func (w *Worker) levelsOf(r *request) *logLevels {
	if r.follower != nil {
		return r.follower.levels
	}
	return w.levels
}

// shownLevel is a level as the version shows it.
func (w *Worker) shownLevel(l loggerLevel) any {
	if w.opts.version.hasClusterLoggers() {
		return l
	}
	return map[string]string{"level": l.Level}
}

func (w *Worker) listLoggers(r *request) (answer, *restError) {
	shown := make(map[string]any)
	for name, l := range w.levelsOf(r).all(w.opts.version.hasLog4j2()) {
		shown[name] = w.shownLevel(l)
	}
	return jsonAnswer(http.StatusOK, shown), nil
}

func (w *Worker) getLogger(r *request) (answer, *restError) {
	name := loggerName(r)
	l, ok := w.levelsOf(r).all(true)[name]
	if !ok {
		return answer{}, notFound("Logger %s not found.", name)
	}
	return jsonAnswer(http.StatusOK, w.shownLevel(l)), nil
}

// loggerName is the logger in the path. That of the root is not case sensitive.
func loggerName(r *request) string {
	if strings.EqualFold(r.segments[2], rootLogger) {
		return rootLogger
	}
	return r.segments[2]
}

// setLogger takes any scope but cluster for the worker's own, and before 3.7
// every scope (KIP-976).
func (w *Worker) setLogger(r *request) (answer, *restError) {
	read, err := w.opts.version.readJSON(r.body)
	if err != nil {
		return answer{}, err
	}
	m, err := stringMap(read)
	if err != nil {
		return answer{}, err
	}
	if m == nil {
		return answer{}, internalError(`Cannot invoke "java.util.Map.get(Object)" because "levelMap" is null`)
	}
	level, ok := m.get("level")
	if !ok {
		return answer{}, badRequest("Desired 'level' parameter was not specified in request.")
	}
	if !slices.Contains(levelNames, strings.ToUpper(level)) {
		return answer{}, notFound("invalid log level '%s'.", level)
	}
	level = strings.ToUpper(level)
	version, name := w.opts.version, loggerName(r)
	if !version.hasClusterLoggers() || !strings.EqualFold(r.query.Get("scope"), "cluster") {
		return jsonAnswer(http.StatusOK, w.levelsOf(r).change(version, name, level)), nil
	}
	w.levels.change(version, name, level)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.followers {
		f.levels.change(version, name, level)
	}
	return emptyAnswer(http.StatusNoContent), nil
}
