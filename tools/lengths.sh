#!/bin/sh
# A function fits on a screen (40 lines), a line on a page (100 columns), a file in a head (800
# lines). Run from the root of the checkout.
set -u

files=$(find src tools tests fuzz bench sim -name '*.[ch]' | sort)

# shellcheck disable=SC2086  # one word a file: names here have no blanks
faults=$(
    awk '
    FNR == 1 { if (open) print name ": a function never ends"; open = 0 }
    { line = $0; gsub(/[\200-\277]/, "", line) } # count characters, not bytes of UTF-8
    length(line) > 100 { printf "%s:%d: longer than 100 columns\n", FILENAME, FNR }
    FNR > 800 && FNR == 801 { printf "%s: longer than 800 lines\n", FILENAME }
    /^\{/ { open = FNR; name = FILENAME }
    /^\}/ {
        if (open && FNR - open - 1 > 40)
            printf "%s:%d: a function of %d lines (40 at most)\n", FILENAME, open, FNR - open - 1
        open = 0
    }' $files
)

[ -z "$faults" ] && { echo "1 passed, 0 failed"; exit 0; }
echo "$faults"
echo "0 passed, $(echo "$faults" | wc -l) failed"
exit 1
