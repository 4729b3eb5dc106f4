#!/bin/sh
# Calls that have a safer way here, and marks of work left undone. Run from the root of the
# checkout.
set -u

faults=0
files=$(find src plugins tools fuzz bench sim -name '*.[ch]')
[ -n "$files" ] || { echo "no sources here"; exit 1; }

look() { # PATTERN WHY
    # shellcheck disable=SC2086  # names here have no blanks
    if grep -nE "$1" $files; then
        echo "^ $2"
        faults=$((faults + 1))
    fi
}

call() {
    echo "(^|[^a-zA-Z0-9_])($1)\\("
}

look "$(call 'strcpy|strcat|sprintf|vsprintf|gets|stpcpy')" "writes without a limit: lks_buf or snprintf"
look "$(call 'atoi|atol|atoll|atof|strtok')" "hides bad input: lks_str_number, lks_str_cut"
look "$(call 'alloca|longjmp|setjmp')" "not in this project"
look "$(call 'strncpy|strncat')" "may not terminate: lks_arena_copy or lks_buf"
look "$(call 'system|popen')" "no command text: a program and its arguments"
look '(TODO|FIXME|XXX)([^(]|$)' "needs an owner: TODO(name)"
look '^[[:space:]]*//' "comments are /* */"

[ "$faults" -eq 0 ] && echo "1 passed, 0 failed" || echo "0 passed, $faults failed"
exit "$faults"
