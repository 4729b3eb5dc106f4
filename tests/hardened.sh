#!/bin/sh
# Programs that are installed resist being taken over: loaded anywhere, nothing writable once they run but
# data, a stack that is guarded and not executed, calls of the C library that check sizes, and jumps that land
# only where one may (endbr64 with CET on x86_64, paciasp or bti on aarch64).
#
#     hardened.sh [--fortified] PROGRAM...
set -eu

passed=0
failed=0
fortified=no
if [ "$1" = --fortified ]; then
    fortified=yes
    shift
fi

# has NAME PATTERN: what readelf says of the program, in $said, has a line like that
has() {
    if printf '%s\n' "$said" | grep -qE "$2"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $program: $1"
    fi
}

for program; do
    said=$(readelf -W -h -l -d --dyn-syms "$program")
    has "is loaded anywhere" '\(FLAGS_1\).*PIE'
    has "binds all symbols at its start" '\(FLAGS_1\).*NOW'
    has "makes its tables read-only" ' GNU_RELRO '
    has "has a stack that is not executed" ' GNU_STACK .* RW +0x'
    has "guards its stack" ' __stack_chk_fail'
    [ "$fortified" = no ] || has "checks sizes" ' __[a-z]+_chk(@|$)'
    case $said in
    *X86-64*) landing=endbr64 ;;
    *) landing='paciasp|bti' ;;
    esac
    # Those of the C runtime alone are a handful.
    said=$(objdump -d --section=.text "$program" | grep -cE "$landing" |
        awk '{ print ($1 > 50 ? "marked" : "unmarked") }')
    has "marks where calls may land" '^marked$'
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
