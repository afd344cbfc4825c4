#!/usr/bin/env bash
# Installs the real Codex and Pi into a folder of their own, once, and prints the variables by which the tests under test/hosts find them.
#     eval "$(.ci/hosts.sh)"
set -euo pipefail

CODEX=0.171.0
PI=1.6.0
PI_NODE_MAJOR=24
cache="${XDG_CACHE_HOME:-$HOME/.cache}/midcompact-ci"

# install FOLDER ARGUMENTS...: npm install into a fresh folder that gets its name only when it is complete.
install() {
	local folder="$1" partial="$1.$$"
	shift
	[ -d "$folder" ] && return
	rm -rf "$partial"
	mkdir -p "$partial"
	printf '{"private":true}\n' >"$partial/package.json"
	npm install --prefix "$partial" --no-audit --no-fund --loglevel=error "$@" >&2
	mv "$partial" "$folder"
}

mkdir -p "$cache"
install "$cache/codex-$CODEX" --ignore-scripts "@openai/codex@$CODEX"
install "$cache/pi-$PI" "node@$PI_NODE_MAJOR" "@earendil-works/pi-coding-agent@$PI"

codex=$(find "$cache/codex-$CODEX/node_modules/@openai" -type f -path '*/vendor/*/bin/codex' | head -n 1)
node="$cache/pi-$PI/node_modules/.bin/node"
cli="$cache/pi-$PI/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js"
for file in "$codex" "$node" "$cli"; do
	[ -f "$file" ] || { echo "a host is not where it should be: '$file'" >&2; exit 1; }
done
"$node" -e 'process.exit(0)'
printf 'export CODEX_BIN=%q PI_NODE=%q PI_CLI=%q\n' "$codex" "$node" "$cli"
