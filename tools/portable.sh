#!/bin/sh
# Says whether programs are portable as promised: x86_64, with no shared library but glibc's own; and
# from which glibc on they run.
#
#     portable.sh PROGRAM...
set -eu

for program; do
    header=$(od -An -tx1 -j18 -N2 "$program" | tr -d ' \n')
    [ "$header" = 3e00 ] || {
        echo "portable.sh: $program is not for x86_64" >&2
        exit 1
    }
    other=$(objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }' |
        grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux-x86-64)\.so\.[0-9]+$' || true)
    [ -z "$other" ] || {
        echo "portable.sh: $program needs more than glibc: $(echo "$other" | tr '\n' ' ')" >&2
        exit 1
    }
    glibc=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
    echo "$program: x86_64, $(wc -c <"$program") bytes, needs ${glibc#GLIBC_} or newer of glibc alone"
done
