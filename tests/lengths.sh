#!/bin/sh
# tools/lengths.sh on lengths it must accept and on those it must find, and then on all sources.
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
one=$scratch/one.c
passed=0
failed=0

# lines COUNT: as many lines of code
lines() { awk -v count="$1" 'BEGIN { for (i = 0; i < count; i++) print "    call();" }'; }

# function_of COUNT: a function with as many lines
function_of() { printf 'void f(void)\n{\n' && lines "$1" && printf '}\n'; }

# case_of NAME FINDING: what is reported of $one; '' for nothing
case_of() {
    found=$(tools/lengths.sh "$one" | sed '$d')
    if { [ -z "$2" ] && [ -z "$found" ]; } || { [ -n "$2" ] && [ "${found##*: }" = "$2" ]; }; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: '$found', expected '$2'"
    fi
}

reason='/* Long because the rows are one table. */'
function_of 40 >"$one"
case_of 'a function of 40 lines' ''
function_of 41 >"$one"
case_of 'a function of 41 lines' 'a function of 41 lines (40 at most)'
{ lines 30 && echo "$reason" && function_of 41; } >"$one"
case_of 'a function with a reason' ''
{ lines 30 && echo "$reason" && function_of 41 && function_of 42; } >"$one"
case_of 'the reason of another function' 'a function of 42 lines (40 at most)'
{ lines 30 && echo '/* Long because */' && function_of 41; } >"$one"
case_of 'a reason that is none' 'a function of 41 lines (40 at most)'
lines 800 >"$one"
case_of 'a file of 800 lines' ''
lines 801 >"$one"
case_of 'a file of 801 lines' 'longer than 800 lines'
{ echo "$reason" && lines 801; } >"$one"
case_of 'a file with a reason' ''
{ echo "$reason" && function_of 41; } >"$one"
case_of 'a function in a file with a reason' 'a function of 41 lines (40 at most)'
{ lines 30 && echo "$reason" && lines 801; } >"$one"
case_of 'a reason too far down for the file' 'longer than 800 lines'
awk 'BEGIN { printf "/* "; for (i = 0; i < 95; i++) printf "x"; print " */" }' >"$one"
case_of 'a line of 101 columns' 'longer than 100 columns'

if tools/lengths.sh; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
