#!/bin/sh
# Prints the commit of a source tree for `--version`: twelve digits, then "-modified" when tracked files differ
# from it, or "unknown" when the tree is neither a git checkout nor made by `git archive`.
#
#     commit.sh SOURCE_DIR
set -eu

# shellcheck disable=SC2016  # `git archive` replaces it with the commit: see .gitattributes
archived='$Format:%H$'
case $archived in
[0-9a-f]*)
    printf '%.12s\n' "$archived"
    exit 0
    ;;
esac

# A tree without git may lie in the checkout of another project, whose commit is not ours.
if [ "$(git -C "$1" rev-parse --show-toplevel 2>/dev/null)" = "$(cd "$1" && pwd -P)" ]; then
    git -C "$1" describe --always --exclude '*' --abbrev=12 --dirty=-modified 2>/dev/null || echo unknown
else
    echo unknown
fi
