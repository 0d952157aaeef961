#!/usr/bin/env bash
# bench.sh FLINK_VERSION CONNECTOR_VERSION ARGUMENT...: write big synthetic savepoints by Flink's own serializers, read them
# by Flink's own classes, and time that. The first run fetches what it needs into the cache, as fetch.sh says.
#   bench.sh 1.20.5 3.4.0-1.20 write DIR PARTITIONS SUBTASKS INLINE_THRESHOLD NOISE_OPERATORS [compress]
#   bench.sh 1.20.5 3.4.0-1.20 print DIR [lean] > rows.tsv    # operator, topic, partition, subtask, next offset, stop
#   bench.sh 1.20.5 3.4.0-1.20 time DIR ITERATIONS [lean]     # full: as Flink restores; lean: a seek to each split
# HEAP is the JVM's largest heap. By default, 1g.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
flink=${1:?see the head of bench.sh} connector=${2:?see the head of bench.sh}
shift 2
dir=$(./fetch.sh "$flink" "$connector")
cd "$OLDPWD" # relative folders are the caller's
java=java
[ -z "${JAVA_HOME:-}" ] || java=$JAVA_HOME/bin/java
exec "$java" -Xmx"${HEAP:-1g}" --add-opens java.base/java.lang=ALL-UNNAMED -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
  -cp "$dir/classes:$dir/jars/*" generator.Bench "$@"
