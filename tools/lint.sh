#!/bin/sh
# clang-format, clang-tidy, cppcheck, shellcheck and the words over the whole tree:
#
#     lint.sh BUILD_DIR
set -u
build=$1

# A git that refuses to list (another owner's checkout, no repository) must not look like clean code.
sources=$(git ls-files -co --exclude-standard '*.c' '*.h')
checked=$(git ls-files -co --exclude-standard 'src/*.c' 'tools/*.c' 'fuzz/*.c' 'bench/*.c')
scripts=$(git ls-files -co --exclude-standard '*.sh' .ci/run)
if [ -z "$sources" ] || [ -z "$checked" ] || [ -z "$scripts" ]; then
    echo "git lists no files here"
    echo "0 passed, 1 failed"
    exit 1
fi

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

echo "$sources" | xargs clang-format --dry-run -Werror
verdict clang-format $?

# Most of the time goes to the static analyser. By its own limit it follows up to 225000 states of a function, which takes
# four times as long and found nothing else in this tree; LINT_STATES=225000 repeats that.
echo "$checked" |
    xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet \
    --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-Xclang --extra-arg=-analyzer-config \
    --extra-arg=-Xclang --extra-arg=max-nodes="${LINT_STATES:-30000}" \
    2>"$build/clang-tidy.log" # gcc's own warnings are not clang's
verdict clang-tidy $?

# cppcheck 2.10 cannot expand a macro of fields whose arguments are macros with commas.
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    "--suppress=preprocessorErrorDirective:src/server/form/forms*" --error-exitcode=1 \
    --suppress=missingIncludeSystem -j "$(nproc)" \
    -D_GNU_SOURCE -DLKS_VERSION='"0"' -DLKS_COMMIT='"0"' -Isrc -I. src tools fuzz bench
verdict cppcheck $?

echo "$scripts" | xargs shellcheck
verdict shellcheck $?

python3 tools/words.py
verdict words $?

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
