# What demonstrations have in common, for them to read in: "step TITLE [LINE...]" says what comes
# next, and why, in the width of the terminal.
# shellcheck shell=sh

columns=
if [ -t 1 ]; then
    { columns=$(stty size <&3 2>/dev/null | cut -d ' ' -f 2); } 3<&1
fi
case $columns in
    '' | 0) columns=${COLUMNS:-104} ;;
esac

# Words of the input as lines of at most so many columns, each behind an indent: folded COLUMNS INDENT
folded() {
    fold -s -w "$(($1 > 24 ? $1 : 24))" | sed "s/ *\$//; s/^/$2/"
}

step() {
    echo
    printf '%s\n' "$1" | folded "$columns" ""
    shift
    [ $# -eq 0 ] || echo "$*" | folded "$((columns - 3))" "   "
    echo
}
