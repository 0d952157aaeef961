#!/usr/bin/env bash
# fetch.sh FLINK_VERSION CONNECTOR_VERSION: put the jars of one Flink release with its Kafka connector, and CopyJob
# compiled against them, into the cache and print the folder, which holds jars/ and classes/.
# The cache is $FLINKMM2_CACHE, else ${XDG_CACHE_HOME:-~/.cache}/flinkmm2. A folder is either whole or absent, and its
# name holds a digest of pom.xml and CopyJob.java, so that a changed one never meets what was made of yesterday's.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage="usage: fetch.sh FLINK_VERSION CONNECTOR_VERSION, e.g. fetch.sh 1.20.5 3.4.0-1.20"
flink=${1:?$usage} connector=${2:?$usage}
for version in "$flink" "$connector"; do
  [[ $version =~ ^[0-9]+(\.[0-9]+)+(-[0-9]+\.[0-9]+)?$ ]] || { echo "fetch.sh: not a version: $version" >&2; exit 2; }
done

cache=${FLINKMM2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/flinkmm2}
sha256() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }
digest=$(cat "$here/pom.xml" "$here/CopyJob.java" | sha256 | cut -c1-12)
whole=$cache/flink/$flink-$connector-$digest
done_() { echo "$whole"; exit 0; }
[ ! -d "$whole" ] || done_

# Maven's own repository is not safe against two writers, and test packages run side by side. The lock is that of the
# jars of Kafka, which come by the same repository.
mkdir -p "$cache/flink" "$cache/jars"
if command -v flock >/dev/null; then
  exec 9>"$cache/jars/.lock"
  flock 9
  [ ! -d "$whole" ] || done_
fi
tmp=$(mktemp -d "$cache/flink/.fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
# Registry addresses belong to the machine, not into the output of a test.
if ! mvn -B -q -f "$here/pom.xml" -Dflink.version="$flink" -Dconnector.version="$connector" -Dto.dir="$tmp/new" \
  dependency:copy-dependencies@jars dependency:copy-dependencies@compiler </dev/null >"$tmp/mvn.log" 2>&1; then
  sed -E 's#[a-z]+://[^[:space:]),]+#<registry>#g' "$tmp/mvn.log" | tail -n 20 >&2
  echo "fetch.sh: Maven could not resolve the jars of Flink $flink with the connector $connector" >&2
  exit 1
fi
java=java
[ -z "${JAVA_HOME:-}" ] || java=$JAVA_HOME/bin/java
jars=("$tmp"/new/jars/*.jar)
"$java" -jar "$tmp"/new/compiler/ecj-*.jar -17 -nowarn -proc:none -d "$tmp/new/classes" -cp "$(IFS=:; echo "${jars[*]}")" "$here/CopyJob.java" >&2 || {
  echo "fetch.sh: CopyJob.java does not compile against Flink $flink" >&2
  exit 1
}
# Without flock another run may have been first; its folder is as good as ours.
[ -d "$whole" ] || mv "$tmp/new" "$whole"
done_
