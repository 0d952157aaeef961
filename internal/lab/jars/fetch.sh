#!/usr/bin/env bash
# fetch.sh VERSION [POM]: put the jars of one Kafka release into the cache and print their folder.
# POM says which, pom.xml or tiered.xml; by default, pom.xml.
# The cache is $FLINKMM2_CACHE, else ${XDG_CACHE_HOME:-~/.cache}/flinkmm2. A folder is either whole or absent,
# and its name holds a digest of POM, so that a changed one never meets yesterday's jars.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
usage='usage: fetch.sh VERSION [pom.xml|tiered.xml], e.g. fetch.sh 4.3.1'
version=${1:?$usage}
pom=${2:-pom.xml}
[[ $version =~ ^[0-9]+(\.[0-9]+)+$ ]] || { echo "fetch.sh: not a Kafka version: $version" >&2; exit 2; }
profile=
case $pom in
pom.xml) ((${version%%.*} < 4)) && profile=-Pkafka3 || profile=-Pkafka4 ;;
tiered.xml) ;;
*) echo "$usage" >&2; exit 2 ;;
esac

cache=${FLINKMM2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/flinkmm2}
sha256() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }
digest=$(sha256 <"$here/$pom" | cut -c1-12)
jars=$cache/jars/$version-$digest
done_() { echo "$jars"; exit 0; }
[ ! -d "$jars" ] || done_

mkdir -p "$cache/jars"
# Maven's own repository is not safe against two writers, and test packages run side by side.
if command -v flock >/dev/null; then
  exec 9>"$cache/jars/.lock"
  flock 9
  [ ! -d "$jars" ] || done_
fi
tmp=$(mktemp -d "$cache/jars/.fetch.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
# Registry addresses belong to the machine, not into the output of a test.
if ! mvn -B -q -f "$here/$pom" $profile -Dkafka.version="$version" -Djars.dir="$tmp/jars" \
  dependency:copy-dependencies </dev/null >"$tmp/mvn.log" 2>&1; then
  sed -E 's#[a-z]+://[^[:space:]),]+#<registry>#g' "$tmp/mvn.log" | tail -n 20 >&2
  echo "fetch.sh: Maven could not resolve the jars of Kafka $version by $pom" >&2
  exit 1
fi
# Without flock another run may have been first; its folder is as good as ours.
[ -d "$jars" ] || mv "$tmp/jars" "$jars"
done_
