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
    # Unlike `git describe --dirty` these take no lock: a build may run beside a commit.
    export GIT_OPTIONAL_LOCKS=0
    commit=$(git -C "$1" rev-parse HEAD 2>/dev/null) || commit=unknown
    modified=$(git -C "$1" status --porcelain --untracked-files=no 2>/dev/null) || modified=
    printf '%.12s%s\n' "$commit" "${modified:+-modified}"
else
    echo unknown
fi
