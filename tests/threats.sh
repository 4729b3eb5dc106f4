#!/bin/sh
# tools/threats.sh on pages it must accept and on those it must find fault with.
# shellcheck disable=SC2016  # backquotes are of the page
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# case_of NAME PATTERN LINE...: what the check says of a page of these lines; empty: nothing
case_of() {
    name=$1 wanted=$2
    shift 2
    printf '%s\n' '| cannot | shown by |' '|---|---|' "$@" >"$scratch/page.md"
    said=$(tools/threats.sh "$scratch/page.md" | grep -v ' passed, ' || true)
    # shellcheck disable=SC2254  # the pattern is one
    case $said in
    $wanted)
        passed=$((passed + 1))
        echo "ok   $name"
        ;;
    *)
        failed=$((failed + 1))
        echo "FAIL $name: $said"
        ;;
    esac
}

good='`tests/test_tamper.c` "every change is found"'
case_of 'a test' '' "| x | $good |"
case_of 'two cases' '' "| x | $good \"rewritten\" |"
case_of 'two tests' '' "| x | $good; \`sim/sim_flashes.c\` \"flashes: seeds\" |"
case_of 'a script' '' '| x | `tests/real/executors.sh` "bits that were changed" |'
case_of 'no test' '*:3: a claim that names no test' '| x | nothing |'
case_of 'no such test' '*:4: tests/test_none.c: there is no such test' "| x | $good |" '| y | `tests/test_none.c` "a" |'
case_of 'no such case' '*has no case "every change"' '| x | `tests/test_tamper.c` "every change" |'
case_of 'a file without a case' '*tests/test_tamper.c: names no case' '| x | `tests/test_tamper.c` |'
case_of 'a file that is not built' '*tests/real/openapi_hooks.py: is not built*' '| x | `tests/real/openapi_hooks.py` "w" |'
case_of 'outside the table' '*has no case "b"' "| x | $good |" '' 'as in `tests/test_tamper.c` "b"'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
