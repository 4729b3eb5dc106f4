#!/bin/sh
# Every LKS_CLEANUP declaration has an initialiser where it stands: its function runs on whichever way
# leads out of the scope, also before the line that would have filled the variable. Run from the root of
# the checkout, or with files to read.
set -u

[ $# -gt 0 ] || {
    # shellcheck disable=SC2046  # one word a file: names here have no blanks
    set -- $(find src plugins tools tests fuzz bench sim executors examples -name '*.[ch]' | sort)
}
[ $# -gt 0 ] || { echo "no sources here"; exit 1; }

faults=$(
    awk '
    # What is no code is blanked out: strings, characters, comments and the lines of macros.
    function code(line) {
        gsub(/\\./, "", line)
        gsub(/"[^"]*"/, "\"\"", line)
        gsub(/\047[^\047]*\047/, "0", line)
        gsub(/\/\*[^*]*\*\//, "", line)
        return line
    }
    function fault() { printf "%s:%d: LKS_CLEANUP without an initialiser\n", FILENAME, begun; bad = 1 }
    # Read on in a declaration: each of its names needs a "=" of its own.
    function take(text,    i, c) {
        for (i = 1; i <= length(text); i++) {
            c = substr(text, i, 1)
            if (c ~ /[({[]/) depth++
            if (c ~ /[)}\]]/) depth--
            if (depth == 0 && c == "=") given = 1
            if (depth == 0 && (c == "," || c == ";")) {
                if (!given && !bad) fault()
                given = 0
            }
            if (depth == 0 && c == ";") { open = 0; return substr(text, i + 1) }
        }
        return ""
    }
    FNR == 1 { if (open) fault(); open = 0 }
    /^[[:space:]]*#/ { next }
    {
        line = code($0)
        if (open) line = take(line)
        while (!open && (at = index(line, "LKS_CLEANUP(")) > 0) {
            line = substr(line, at + length("LKS_CLEANUP"))
            open = 1; begun = FNR; depth = given = bad = 0
            line = take(line)
        }
    }
    END { if (open) fault() }
    ' "$@"
)

[ -z "$faults" ] && { echo "1 passed, 0 failed"; exit 0; }
echo "$faults"
echo "0 passed, $(echo "$faults" | wc -l) failed"
exit 1
