#!/bin/sh
# clang-format, clang-tidy, cppcheck and shellcheck over the whole tree:
#
#     lint.sh BUILD_DIR
set -u
build=$1

passed=0
failed=0
verdict() { # NAME STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1"
    fi
}

git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format --dry-run -Werror
verdict clang-format $?

git ls-files -co --exclude-standard 'src/*.c' 'tools/*.c' 'fuzz/*.c' 'bench/*.c' |
    xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet 2>"$build/clang-tidy.log"
verdict clang-tidy $?

cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --error-exitcode=1 --suppress=missingIncludeSystem -j "$(nproc)" \
    -D_GNU_SOURCE -DLKS_VERSION='"0"' -Isrc -I. src tools fuzz bench
verdict cppcheck $?

git ls-files -co --exclude-standard '*.sh' .ci/run | xargs shellcheck
verdict shellcheck $?

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
