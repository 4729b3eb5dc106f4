#!/bin/sh
# tools/pages.py on names it must accept and on those it must find, and then on all pages.
# shellcheck disable=SC2016  # backquotes are those of the pages
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
room=src/core/plan
passed=0
failed=0

# case_of NAME FINDINGS PAGE LINE...: how many findings a page with these lines has
case_of() {
    name=$1 wanted=$2 file=$scratch/$3
    shift 3
    rm -rf "$scratch/ARCHITECTURE.md" "$scratch/docs" "$scratch/$room/README.md"
    mkdir -p "$scratch/docs/decisions" "$scratch/src/core/state"
    : >"$scratch/docs/decisions/0001-one.md"
    printf '%s\n' "$@" 'See `tools/`.' >"$file"
    found=$(python3 tools/pages.py "$scratch" | grep -c ': there is no ' || true)
    if [ "$found" -eq "$wanted" ]; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name: $found found, expected $wanted"
    fi
}

mkdir -p "$scratch/$room" "$scratch/tools"
: >"$scratch/tools/docs.sh"
printf '%s\n' '/* lks_plan_old() */' 'struct lks_plan;' 'int lks_plan_make(void);' '#define LKS_PLAN_MAX 1' \
    'const char *text = "lks_plan_text";' >"$scratch/$room/plan.h"

page=ARCHITECTURE.md
case_of 'a file' 0 "$page" '`src/core/plan/plan.h`'
case_of 'a file that is gone' 1 "$page" '`src/core/plan/plans.h`'
case_of 'two files that are gone' 2 "$page" '`src/core/plan/plans.h` and `src/core/plan/planned.h`'
case_of 'a file below src' 0 "$page" '`core/plan/plan.h`'
case_of 'a file in another room' 1 "$page" '`src/core/state/plan.h`'
case_of 'a folder' 0 "$page" '`src/core/plan`'
case_of 'a folder that is gone' 1 "$page" '`src/plan`'
case_of 'a file without its path' 0 "$page" '`plan.h`'
case_of 'a file without its path that is gone' 1 "$page" '`plans.h`'
case_of 'a pattern' 0 "$page" '`src/core/plan/pl*.h`, `src/core/plan/NAME.h`'
case_of 'a pattern without a file' 1 "$page" '`src/core/plan/plan_*.h`'
case_of 'a script with an option' 0 "$page" '`tools/docs.sh --check`'
case_of 'a script that is gone' 1 "$page" '`tools/doc.sh --check`'
case_of 'a path without quotes' 1 "$page" '    tools/doc.sh    # as people type it'
case_of 'a link' 0 "$page" '[0001](docs/decisions/0001-one.md), [part](docs/decisions/0001-one.md#part)'
case_of 'a link that is gone' 1 "$page" '[0002](docs/decisions/0002-two.md)'
case_of 'other quoted words' 0 "$page" '`make test`, `--json`, `cli->no`, `.csv`, `build/found/`, `/* */`'

case_of 'names' 0 "$page" '`lks_plan_make()`, `struct lks_plan`, `LKS_PLAN_MAX`, `lks_plan_NAME()`'
case_of 'a function that is gone' 1 "$page" '`lks_plan_begin()`'
case_of 'a struct as a function' 1 "$page" '`lks_plan()`'
case_of 'a name in a comment of a source' 1 "$page" '`lks_plan_old()`'
case_of 'a name in a string of a source' 1 "$page" '`lks_plan_text`'
case_of 'a macro that is gone' 1 "$page" '`LKS_PLAN_MIN`'
case_of 'a pattern without a function' 1 "$page" '`lks_state_NAME()`'

page=$room/README.md
case_of 'a file of the room' 0 "$page" 'Read first: `plan.h`.'
case_of 'a file of another room' 1 "$page" 'Read first: `docs.sh`.'
case_of 'a file of a room beside it' 1 "$page" 'Not here: `state/plan.h`.'
case_of 'rooms it may use' 0 "$page" 'May use: `state`, `core`.'
case_of 'a room that is gone' 1 "$page" 'May use: `base`, `core`.'
case_of 'a page of docs' 1 docs/rooms.md '`src/core/view`'

if python3 tools/pages.py; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
