#!/bin/sh
# Programs that run for real hold nothing that imitates the world: no symbol of the lab's libraries.
#
#     lab.sh PROGRAM... -- LIBRARY...
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

# defined FILE: what it defines for others, one name a line
defined() {
    nm --defined-only --extern-only "$1" 2>/dev/null | awk 'NF == 3 && $3 != "main" { print $3 }' | sort -u
}

programs=
while [ "$1" != -- ]; do
    programs="$programs $1"
    shift
done
shift
for library; do
    defined "$library"
done | sort -u >"$dir/lab"
# An empty list would find nothing in anything.
[ -s "$dir/lab" ] || { echo "FAIL the libraries define nothing: $*"; failed=1; }

for program in $programs; do
    defined "$program" >"$dir/program"
    comm -12 "$dir/lab" "$dir/program" >"$dir/both"
    if [ ! -s "$dir/program" ]; then
        echo "FAIL $program has no symbols to look at"
        failed=$((failed + 1))
    elif [ -s "$dir/both" ]; then
        echo "FAIL $program holds parts of the lab: $(head -5 "$dir/both" | tr '\n' ' ')"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
