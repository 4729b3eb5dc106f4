#!/bin/sh
# Runs every fuzz target for some time:
#
#     fuzz.sh BUILD_DIR SECONDS
#
# New inputs go to BUILD_DIR/corpus and never into the checkout; one that breaks a property is left
# in BUILD_DIR/found, to be fixed and kept in fuzz/corpus as a test.
set -u
build=$1
seconds=$2

passed=0
failed=0
for target in "$build"/fuzz/fuzz_*; do
    if [ ! -f "$target" ] || [ ! -x "$target" ]; then continue; fi
    name=$(basename "$target")
    name=${name#fuzz_}
    mkdir -p "$build/corpus/$name" "$build/found/$name"
    echo "fuzzing $name for $seconds s"
    if "$target" -max_total_time="$seconds" -print_final_stats=0 -verbosity=0 \
        -artifact_prefix="$build/found/$name/" "$build/corpus/$name" "fuzz/corpus/$name"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
