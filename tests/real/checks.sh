# Checks of the scripts here, for them to read in: each closes with "$passed passed, $failed failed".
# shellcheck shell=sh
passed=0
failed=0

# check NAME COMMAND...: the command succeeds
check() {
    name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
    fi
}
