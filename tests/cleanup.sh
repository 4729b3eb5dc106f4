#!/bin/sh
# tools/cleanup.sh on declarations it must accept and on those it must find, and then on all sources.
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# case_of NAME FINDINGS LINE...: how many declarations of these lines have no initialiser
case_of() {
    name=$1 wanted=$2
    shift 2
    printf '%s\n' "$@" >"$scratch/one.c"
    found=$(tools/cleanup.sh "$scratch/one.c" | grep -c 'without an initialiser' || true)
    if [ "$found" -eq "$wanted" ]; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name: $found found, expected $wanted"
    fi
}

case_of 'an initialiser' 0 'LKS_CLEANUP(fini) struct a a = {0};'
case_of 'none' 1 'LKS_CLEANUP(fini) struct a a;'
case_of 'set on the next line' 1 'LKS_CLEANUP(fini) struct a a;' 'a = (struct a){0};'
case_of 'the second name' 1 'LKS_CLEANUP(fini) struct a a = {0}, b;'
case_of 'the first name' 1 'LKS_CLEANUP(fini) struct a a, b = {.x = 1, .y = 2};'
case_of 'over several lines' 0 'LKS_CLEANUP(fini)' 'struct a a = {' '    .x = f(1, 2),' '    .y = 3,' '};'
case_of 'over several lines, none' 1 'LKS_CLEANUP(fini)' 'struct a' '    a;' 'int b = 0;'
case_of 'a call' 0 'LKS_CLEANUP(fini) FILE *f = fopen("a;b", "r");'
case_of 'an array' 1 'LKS_CLEANUP(fini) struct a a[2];'
case_of 'an array with an initialiser' 0 'LKS_CLEANUP(fini) struct a a[N == 2 ? 1 : 2] = {0};'
case_of 'two on a line' 1 'LKS_CLEANUP(f) int a = 1; LKS_CLEANUP(g) int b;'
case_of 'two findings' 2 'LKS_CLEANUP(f) int a;' 'LKS_CLEANUP(g) int b;'
case_of 'in a comment' 1 'LKS_CLEANUP(f) int a; /* = 0 */'
case_of 'never ended' 1 'LKS_CLEANUP(f) int a'
case_of 'the macro itself' 0 '#define LKS_CLEANUP(fini) __attribute__((cleanup(fini)))'

if tools/cleanup.sh; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
