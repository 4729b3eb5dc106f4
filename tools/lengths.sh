#!/bin/sh
# A function fits on a screen (40 lines), a line on a page (100 columns), a file in a head (800
# lines). Where that would force a bad cut, a comment that begins with "Long because" lifts the
# limit: in the first 20 lines of the file for the file, or above the function further down.
#
#     lengths.sh [FILE...]
#
# Without files, on all of them; run from the root of the checkout.
set -u

files=${*:-$(find src plugins tools tests fuzz bench sim -name '*.[ch]' | sort)}

# shellcheck disable=SC2086  # one word a file: names here have no blanks
faults=$(
    awk '
    FNR == 1 { if (open) print name ": a function never ends"; open = file_may = may = 0 }
    /^(\/\*| \*) Long because [a-z]/ { if (FNR <= 20) file_may = 1; else may = 1 }
    { line = $0; gsub(/[\200-\277]/, "", line) } # count characters, not bytes of UTF-8
    length(line) > 100 { printf "%s:%d: longer than 100 columns\n", FILENAME, FNR }
    FNR == 801 && !file_may { printf "%s: longer than 800 lines\n", FILENAME }
    /^\{/ { open = FNR; name = FILENAME }
    /^\}/ {
        if (open && FNR - open - 1 > 40 && !may)
            printf "%s:%d: a function of %d lines (40 at most)\n", FILENAME, open, FNR - open - 1
        open = may = 0
    }' $files
)

[ -z "$faults" ] && { echo "1 passed, 0 failed"; exit 0; }
echo "$faults"
echo "0 passed, $(echo "$faults" | wc -l) failed"
exit 1
