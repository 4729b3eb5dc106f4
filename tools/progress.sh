#!/bin/sh
# Runs ninja and shows only how far it is: on a terminal one line that counts, elsewhere a line for each
# quarter of a long build. If it fails, all that it printed follows.
#
#     progress.sh NINJA_ARGUMENT...
set -eu

[ $# -ge 1 ] || { echo "usage: progress.sh NINJA_ARGUMENT..." >&2; exit 2; }
log=$(mktemp)
trap 'rm -f "$log" "$log.built"' EXIT
trap 'exit 1' HUP INT TERM

terminal=
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ]; then
    terminal=yes
fi

# count AT OF: "[12/714] ..." was read
quarter=0
count() {
    if [ -n "$terminal" ]; then
        printf '\rbuilding: %s of %s steps\033[K' "$1" "$2"
    elif [ "$2" -ge 40 ] && [ "$(($1 * 4 / $2))" -gt "$quarter" ]; then
        quarter=$(($1 * 4 / $2))
        echo "building: $1 of $2 steps"
    fi
}

show() {
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        case $line in
        '['[0-9]*/[0-9]*']'*)
            line=${line#[}
            line=${line%%]*}
            count "${line%/*}" "${line#*/}"
            ;;
        esac
    done
    [ -z "$terminal" ] || printf '\r\033[K'
}

# A pipe has the status of its last part alone. Success is marked, so that a mark that is not written is a failure.
{ NINJA_STATUS='[%f/%t] ' ninja "$@" 2>&1 && : >"$log.built"; } | show
[ ! -e "$log.built" ] || exit 0
cat "$log"
exit 1
