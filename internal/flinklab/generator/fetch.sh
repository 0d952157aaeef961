#!/usr/bin/env bash
# fetch.sh FLINK_VERSION CONNECTOR_VERSION [PROFILE,...]: put the jars of one Flink release with its Kafka connector, and
# the generator compiled against them, into the cache and print the folder, which holds jars/ and classes/.
# PROFILE is changelog or table; versions.tsv says which of them a release has. A release before 1.12 gets the job alone,
# whose result the classes of a later one read.
# The cache is $FLINKMM2_CACHE, else ${XDG_CACHE_HOME:-~/.cache}/flinkmm2. A folder is either whole or absent, and its
# name holds a digest of pom.xml and of all sources, so that a changed one never meets what was made of yesterday's.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage="usage: fetch.sh FLINK_VERSION CONNECTOR_VERSION [PROFILE,...], e.g. fetch.sh 1.20.5 3.4.0-1.20 changelog"
flink=${1:?$usage} connector=${2:?$usage} profiles=${3:-}
for version in "$flink" "$connector"; do
  [[ $version =~ ^[0-9]+(\.[0-9]+)+(-[0-9]+\.[0-9]+)?$ ]] || { echo "fetch.sh: not a version: $version" >&2; exit 2; }
done
[[ $profiles =~ ^((changelog|table)(,(changelog|table))?)?$ ]] || { echo "fetch.sh: not profiles: $profiles" >&2; exit 2; }

cache=${FLINKMM2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/flinkmm2}
sha256() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }
digest=$(cd "$here" && cat pom.xml $(find src -type f | LC_ALL=C sort) | sha256 | cut -c1-12)
whole=$cache/flink-generator/$flink-$connector${profiles:+-${profiles//,/-}}-$digest
done_() { echo "$whole"; exit 0; }
[ ! -d "$whole" ] || done_

# Which artifacts a release has, and which sources compile against its connector.
scala='' runtime='' sources=(common)
case $flink in
  1.1[0123].*) scala=_2.12 runtime=_2.12 ;;
  1.14.*) scala=_2.12 ;;
esac
case $flink in
  1.10.* | 1.11.*) sources=(old) ;;
  *)
    profiles=fixtures${profiles:+,$profiles}
    case $connector in 1.1[123].*) ;; *) sources+=(sink) ;; esac
    case $connector in 1.* | 3.*) sources+=(legacy) ;; esac
    case $connector in 3.[1-9].* | 4.* | 5.*) sources+=(dynamic) ;; esac
    case $connector in 3.[1-9].* | 4.* | 5.*) sources+=(bench) ;; esac
    case ,$profiles, in *,table,*) sources+=(table) ;; esac
    ;;
esac

# Maven's own repository is not safe against two writers, and test packages run side by side. The lock is that of the
# jars of Kafka, which come by the same repository.
mkdir -p "$cache/flink-generator" "$cache/jars"
if command -v flock >/dev/null; then
  exec 9>"$cache/jars/.lock"
  flock 9
  [ ! -d "$whole" ] || done_
fi
tmp=$(mktemp -d "$cache/flink-generator/.fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
# Registry addresses belong to the machine, not into the output of a test.
if ! mvn -B -q -f "$here/pom.xml" -Dflink.version="$flink" -Dconnector.version="$connector" -Dscala.suffix=$scala -Druntime.suffix=$runtime \
  -Dto.dir="$tmp" ${profiles:+-P "$profiles"} dependency:build-classpath@jars dependency:build-classpath@compiler </dev/null >"$tmp/mvn.log" 2>&1; then
  sed -E 's#[a-z]+://[^[:space:]),]+#<registry>#g' "$tmp/mvn.log" | tail -n 20 >&2
  echo "fetch.sh: Maven could not resolve the jars of Flink $flink with the connector $connector" >&2
  exit 1
fi
# Links, where they can be made, since releases share half of a gigabyte of jars with Maven's repository.
mkdir -p "$tmp/new/jars"
IFS=: read -r -a jars <<<"$(cat "$tmp/jars.txt")"
ln "${jars[@]}" "$tmp/new/jars/" 2>/dev/null || cp "${jars[@]}" "$tmp/new/jars/"
java=java
[ -z "${JAVA_HOME:-}" ] || java=$JAVA_HOME/bin/java
compile=()
for set in "${sources[@]}"; do compile+=("$here/src/$set/java"); done
"$java" -jar "$(cat "$tmp/compiler.txt")" -17 -nowarn -proc:none -d "$tmp/new/classes" -cp "$(cat "$tmp/jars.txt")" "${compile[@]}" >&2 || {
  echo "fetch.sh: the generator does not compile against Flink $flink with the connector $connector" >&2
  exit 1
}
cp -r "$here/src/common/resources/." "$tmp/new/classes/"
# Without flock another run may have been first; its folder is as good as ours.
[ -d "$whole" ] || mv "$tmp/new" "$whole"
done_
