#!/usr/bin/env bash
# tool.sh NAME: print the path of a Go tool, built into the cache first if it is not there. The versions are pinned here.
set -euo pipefail
case ${1:?usage: tool.sh golangci-lint|gofumpt|govulncheck} in
  golangci-lint) module=github.com/golangci/golangci-lint/v2/cmd/golangci-lint version=v2.15.0 ;;
  gofumpt) module=mvdan.cc/gofumpt version=v0.12.0 ;;
  govulncheck) module=golang.org/x/vuln/cmd/govulncheck version=v1.9.0 ;;
  *) echo "tool.sh: no such tool: $1" >&2; exit 2 ;;
esac
cache=${FLINKMM2_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/flinkmm2}
# A linter reads the export data of the Go that built it, so that another Go needs another build.
dir=$cache/tools/$1-$version-$(go env GOVERSION)
if [ ! -x "$dir/$1" ]; then
  mkdir -p "$cache/tools"
  tmp=$(mktemp -d "$cache/tools/.build.XXXXXX")
  trap 'rm -rf "$tmp"' EXIT
  echo "building $1 $version" >&2
  # Out of the module: neither its go.mod nor its go.work has a say in how a tool is built. Registry addresses belong
  # to the machine, not into a log.
  if ! (cd "$tmp" && GOFLAGS='' GOWORK=off GOBIN="$tmp/bin" go install "$module@$version") >"$tmp/log" 2>&1; then
    sed -E 's#[a-z]+://[^[:space:]"]+#<registry>#g' "$tmp/log" | tail -n 20 >&2
    echo "tool.sh: $1 $version could not be built" >&2
    exit 1
  fi
  # A run at the same time may have been first.
  [ -d "$dir" ] || mv "$tmp/bin" "$dir"
fi
echo "$dir/$1"
