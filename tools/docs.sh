#!/bin/sh
# The generated pages: docs.sh BUILD_DIR writes them, docs.sh BUILD_DIR --check says which are stale,
# and which tests the threat model names that do not exist.
set -eu

[ $# -ge 1 ] || { echo "usage: docs.sh BUILD_DIR [--check]" >&2; exit 2; }
docgen=$(cd "$1" && pwd)/docgen
mode=${2:-write}
cd "$(dirname "$0")/.."

new=$(mktemp)
trap 'rm -f "$new"' EXIT
current=0
stale=0

# page FILE DOCGEN_ARGUMENT...
page() {
    file=$1
    shift
    "$docgen" "$@" >"$new"
    if cmp -s "$new" "$file"; then
        current=$((current + 1))
    elif [ "$mode" = --check ]; then
        echo "$file is stale: run 'make docs' and commit the result"
        stale=$((stale + 1))
    else
        mkdir -p "$(dirname "$file")"
        cat "$new" >"$file"
        echo "wrote $file"
    fi
}

page docs/reference/commands.md commands
page docs/reference/rules.md rules
page docs/reference/errors.md errors
page docs/reference/manifest.md manifest
page docs/reference/inventory.md inventory
page docs/reference/journal.md journal
page docs/reference/access.md access
page docs/reference/config.md config
page docs/reference/api.md api
page docs/reference/states.md states
page docs/reference/entities.md entities
page docs/schema/stack.json schema Stack
page docs/schema/hardware-class.json schema HardwareClass
page docs/schema/fleet.json schema Fleet
page docs/schema/bundle.json schema Bundle
page docs/schema/bundle-manifest.json schema BundleManifest

# A page written by hand that names tests.
if [ "$mode" = --check ]; then
    if tools/threats.sh >"$new"; then
        current=$((current + 1))
    else
        grep -v ' passed, ' "$new"
        stale=$((stale + 1))
    fi
fi

[ "$mode" != --check ] || echo "$current passed, $stale failed"
[ "$stale" -eq 0 ]
