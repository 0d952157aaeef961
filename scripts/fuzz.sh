#!/usr/bin/env bash
# fuzz.sh TIME: fuzz every fuzz target of every module for TIME each, e.g. fuzz.sh 30s. An input that fails is left in
# the package's testdata/fuzz, where every later test run tries it again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
time=${1:?usage: fuzz.sh TIME, e.g. fuzz.sh 30s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz TARGET: fuzz it in the package of the current folder.
fuzz() {
  local try
  for try in 1 2 3; do
    ! go test -run '^$' -fuzz "^$1\$" -fuzztime "$time" . >"$log" 2>&1 || { grep '^ok' "$log"; return 0; }
    # Go before 1.27 may report the end of the time as a failure of the target (golang/go#75804); no input is at fault.
    if ! grep -q '^ *context deadline exceeded$' "$log" || grep -q 'Failing input written' "$log"; then break; fi
    ((try == 3)) || echo "the time ran out without a failing input: once more"
  done
  grep -v '^fuzz: elapsed' "$log"
  return 1
}

targets=0 failed=()
# Only packages that define a target are built for it, each from its own folder, whatever module that is in.
for package in $(git grep --untracked -lE '^func Fuzz[A-Z_0-9]' -- '*_test.go' | xargs -r -n1 dirname | sort -u); do
  pushd "$package" >/dev/null
  listed=$(go test -list '^Fuzz' .)
  # shellcheck disable=SC2013 # names of functions
  for target in $(grep '^Fuzz' <<<"$listed"); do
    targets=$((targets + 1))
    echo "-- $package $target"
    fuzz "$target" || failed+=("$package $target")
  done
  popd >/dev/null
done
((targets)) || { echo "fuzz.sh: no fuzz target found" >&2; exit 1; }
if ((${#failed[@]})); then
  printf 'fuzzing failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo "$targets fuzz targets, $time each"
