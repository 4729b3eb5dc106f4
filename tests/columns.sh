#!/bin/sh
# tools/columns.py on members it must miss and on those that are columns or indexes, then on all.
set -eu

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# case_of NAME FINDINGS SED: how many findings there are after this edit of the structs
case_of() {
    rm -rf "$scratch/src"
    mkdir -p "$scratch/src/core"
    cp -R src/core/rows src/core/state src/core/entity "$scratch/src/core/"
    sed -i "$3" "$scratch"/src/core/rows/*.h "$scratch"/src/core/state/*.h \
        "$scratch"/src/core/entity/entities_*.c
    found=$(python3 tools/columns.py "$scratch" | grep -c '^src/' || true)
    if [ "$found" -eq "$2" ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: $found found, expected $2"
    fi
}

case_of 'the tree as it is' 0 ''
case_of 'a new member of a node' 1 's/^    lks_text report;/    lks_text report, assigned;/'
case_of 'a new member of a member of a change' 1 's/^    uint64_t work;/    uint64_t work, more;/'
case_of 'a new member of a struct within a row' 1 's/^    lks_ms reviewed;/    lks_ms reviewed, later;/'
case_of 'a column that went' 1 '/^    TEXT(rack,/d'
case_of 'an index that went' 1 's/^    uint32_t whole_next, whole_before;/    uint32_t whole_next;/'
case_of 'no tables' 1 's/^#define ROW .*//'

echo "columns: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
