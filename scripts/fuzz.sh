#!/usr/bin/env bash
# fuzz.sh TIME [PACKAGE...]: fuzz every fuzz target of the packages, such as flinkstate, for TIME each, e.g. fuzz.sh 30s;
# without packages those of every module. fuzz.sh total=TIME shares TIME among the targets. TIME is a number of s, m or h.
#
# An input that fails is left in the package's testdata/fuzz, where every later test run tries it again. Others stay in
# the cache of go test, from which scripts/fuzzcorpus takes those that are worth keeping.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
usage='usage: fuzz.sh TIME|total=TIME [PACKAGE...], e.g. fuzz.sh 30s, or fuzz.sh total=1h flinkstate'
time=${1:?$usage}
shift
total=''
[[ $time != total=* ]] || { total=yes time=${time#total=}; }
[[ $time =~ ^([1-9][0-9]*)([smh])$ ]] || { echo "fuzz.sh: $time is no number of s, m or h; $usage" >&2; exit 2; }
seconds=${BASH_REMATCH[1]}
case ${BASH_REMATCH[2]} in m) seconds=$((seconds * 60)) ;; h) seconds=$((seconds * 3600)) ;; esac
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# fuzz TARGET: fuzz it in the package of the current folder.
fuzz() {
  local try
  for try in 1 2 3; do
    # By default a minute goes into making each input smaller that is new: of whole savepoints that is all the time there is.
    ! go test -run '^$' -fuzz "^$1\$" -fuzztime "${seconds}s" -fuzzminimizetime 1s . >"$log" 2>&1 || { grep -E '^fuzz: .*execs' "$log" | tail -n1; grep '^ok' "$log"; return 0; }
    # Go before 1.27 may report the end of the time as a failure of the target (golang/go#75804); no input is at fault.
    if ! grep -q '^ *context deadline exceeded$' "$log" || grep -q 'Failing input written' "$log"; then break; fi
    ((try == 3)) || echo "the time ran out without a failing input: once more"
  done
  grep -v '^fuzz: elapsed' "$log"
  return 1
}

packages=("$@")
if ((${#packages[@]} == 0)); then
  # Only packages that define a target are built for it, each from its own folder, whatever module that is in.
  mapfile -t packages < <(git grep --untracked -lE '^func Fuzz[A-Z_0-9]' -- '*_test.go' | xargs -r -n1 dirname | sort -u)
fi
targets=() failed=()
for package in "${packages[@]}"; do
  listed=$(cd "$package" && go test -list '^Fuzz' .)
  while read -r target; do
    [[ -z $target ]] || targets+=("$package $target")
  done < <(grep '^Fuzz' <<<"$listed" || true)
done
((${#targets[@]})) || { echo "fuzz.sh: no fuzz target found" >&2; exit 1; }
if [[ $total ]]; then
  seconds=$((seconds / ${#targets[@]}))
  ((seconds)) || { echo "fuzz.sh: $time is less than a second for each of ${#targets[@]} targets" >&2; exit 2; }
fi
for t in "${targets[@]}"; do
  read -r package target <<<"$t"
  echo "-- $package $target"
  pushd "$package" >/dev/null
  fuzz "$target" || failed+=("$package $target")
  popd >/dev/null
done
if ((${#failed[@]})); then
  printf 'fuzzing failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo "${#targets[@]} fuzz targets, ${seconds}s each"
