#!/bin/sh
# Runs the tests of one or more build directories and adds them up:
#
#     test.sh all|real|k8s BUILD_DIR...
#
# "real" are those that need the real programs whose formats we read, "k8s" those that need the control plane of a real
# Kubernetes (tools/k8s.sh); "all" are the others.
# The last line is "N passed, N failed". A program that dies without saying so counts as a failure,
# and so does a skip, unless it names what this machine or clone cannot have ("missing hardware: ...",
# "missing history: ...", "missing network: ...", "missing root: ...").
set -u

# Their thousands of small trees are made and removed several times faster in memory than on a disk:
# there they go, unless TMPDIR says otherwise, where it has room and lets programs run.
in_memory() {
    awk '$2 == "/dev/shm" { fit = $3 == "tmpfs" && $4 !~ /(^|,)(ro|noexec)(,|$)/ } END { exit !fit }' \
        /proc/mounts &&
        [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | awk 'END { print $4 }')" -ge $((2 << 20)) ]
}

# Many of them wait more than they work, so there are twice as many at a time as processors.
many="--num-processes $((2 * $(nproc)))"
case $1 in
all)
    suite="--no-suite real --no-suite k8s $many"
    if [ -z "${TMPDIR-}" ] && in_memory; then export TMPDIR=/dev/shm; fi
    ;;
real) suite="--suite real $many" ;;
k8s) suite="--suite k8s" ;;
*)
    echo "test.sh: no tests '$1'; all, real or k8s" >&2
    exit 2
    ;;
esac
shift

passed=0
failed=0
for build in "$@"; do
    rm -f "$build/meson-logs/testlog.txt"
    # shellcheck disable=SC2086  # an option and its value
    meson test -C "$build" --print-errorlogs $suite
    status=$?
    # shellcheck disable=SC2086
    expected=$(meson test -C "$build" --list $suite 2>/dev/null | grep -c ' / ')
    counts=$(awk -v expected="$expected" -v status="$status" '
        function close_test() {
            if (result == "") return
            seen++
            ok = result ~ /exit status 0$/
            skipped = result ~ /exit status 77$/
            if (skipped && missing) return
            if (!ok && f == 0) f = 1
            if (ok && p == 0) p = 1
            passed += p; failed += f
        }
        /^=+ [0-9]+\/[0-9]+ =+$/ { close_test(); p = f = 0; missing = 0; result = "" }
        /^result:/ { result = $0 }
        /^[0-9]+ passed, [0-9]+ failed$/ { p = $1; f = $3 }
        /^missing (hardware|history|network|root): / { missing = 1 }
        END {
            close_test()
            if (seen < expected) failed += expected - seen # never ran: the runner was stopped
            if (status != 0 && failed == 0) failed = 1
            print passed + 0, failed + 0
        }
    ' "$build/meson-logs/testlog.txt" 2>/dev/null)
    [ -n "$counts" ] || counts='0 1'
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
done
[ "$passed" -gt 0 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
