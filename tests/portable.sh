#!/bin/sh
# `make portable` builds the command line and every program of a node: the agent, the root helper and each
# executor.
#
#     portable.sh SOURCE BUILD PROGRAM...
set -eu

source=$1
build=$2
shift 2
passed=0
failed=0

# -n prints what make would run, and runs nothing.
said=$(MAKEFLAGS='' make --no-print-directory -n -C "$source" portable)

# has NAME: make portable brings that program
has() {
    case $(printf '%s ' "$said" | tr '\n;' '  ') in
    *" $1 "*) passed=$((passed + 1)) ;;
    *)
        failed=$((failed + 1))
        echo "FAIL make portable does not bring $1"
        ;;
    esac
}

for program; do
    name=${program#"$build"/} # Meson names programs from the root, or from where they are built
    has "${name#./}"
done
has executors/reboot
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 1 ]
