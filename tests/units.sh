#!/bin/sh
# The units as they are installed: each limits its memory and how often it starts, in the section where
# systemd looks for that.
#
#     units.sh DIR
set -eu

passed=0
failed=0

# says NAME UNIT SECTION KEY: the section sets the key
says() {
    if awk -v section="[$3]" -v key="$4=" '
        /^\[/ { in_it = $0 == section }
        in_it && index($0, key) == 1 && length($0) > length(key) { found = 1 }
        END { exit !found }' "$2"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $1: [$3] has no $4="
    fi
}

for unit in "$1"/*.service; do
    name=${unit##*/}
    says "$name" "$unit" Service MemoryMax
    grep -q '^Type=oneshot$' "$unit" && continue
    says "$name" "$unit" Unit StartLimitIntervalSec
    says "$name" "$unit" Unit StartLimitBurst
done

# Started again and again they stay under the limit for a while, or there is none that could be met.
for name in lockstepd lockstep-agent; do
    says "$name.service" "$1/$name.service" Service RestartSec
done

if command -v systemd-analyze >/dev/null; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    for unit in "$1"/*.service; do
        # A program that is everywhere stands for ours, which are not installed here.
        sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$unit" >"$scratch/${unit##*/}"
        cp "${0%/*}/../packaging/lockstep-helper.socket" "$scratch"
        said=$(systemd-analyze verify --man=no "$scratch/${unit##*/}" 2>&1 |
            grep -F "$scratch" || true)
        if [ -z "$said" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            printf 'FAIL %s: %s\n' "${unit##*/}" "$said"
        fi
    done
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
