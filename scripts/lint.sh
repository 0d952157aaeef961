#!/usr/bin/env bash
# lint.sh: everything that judges the sources without running them, over every module. All findings are shown before it fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
golangci=$(scripts/tool.sh golangci-lint)
gofumpt=$(scripts/tool.sh gofumpt)
govulncheck=$(scripts/tool.sh govulncheck)
failed=()

# check NAME COMMAND...: run it and remember if it fails.
check() {
  local name=$1
  shift
  echo "-- $name"
  "$@" || failed+=("$name")
}
without_addresses() { sed -E 's#[a-z]+://[^[:space:]"]+#<address>#g'; }

formatted() {
  local files
  files=$(git ls-files -coz --exclude-standard -- '*.go' ':!:**/testdata/**' | xargs -0 "$gofumpt" -l)
  [ -z "$files" ] || { echo "gofumpt would change:"; echo "$files"; return 1; }
}

tidy() { (set -o pipefail; go mod tidy -diff 2>&1 | without_addresses); }

vulnerabilities() {
  local out status=0
  out=$("$govulncheck" -test ./... 2>&1) || status=$?
  if ((status != 0)) && grep -q 'fetching vulnerabilities' <<<"$out"; then
    echo "NOT CHECKED: the database of vulnerabilities cannot be reached from this machine"
    return 0
  fi
  without_addresses <<<"$out"
  return "$status"
}

check gofumpt formatted
while IFS= read -r mod; do
  dir=$(dirname "$mod")
  pushd "$dir" >/dev/null
  check "go vet ($dir)" go vet ./...
  check "golangci-lint ($dir)" "$golangci" run
  check "go mod tidy ($dir)" tidy
  check "govulncheck ($dir)" vulnerabilities
  popd >/dev/null
done < <(git ls-files -co --exclude-standard -- go.mod '**/go.mod' ':!:**/testdata/**')

if ((${#failed[@]})); then
  printf 'lint failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
