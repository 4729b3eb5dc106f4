#!/bin/sh
# `--version` prints the version and the commit, and a tree finds its commit where there is a git and where not:
#
#     version.sh VERSION SOURCE_DIR PROGRAM...
set -eu

version=$1
source=$(cd "$2" && pwd -P)
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

# is NAME GOT WANTED
is() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
        echo "ok   $1"
    else
        failed=$((failed + 1))
        echo "FAIL $1: '$2', expected '$3'"
    fi
}

# The tree may have changed since the build, so programs are compared with each other and with the form.
commit=$("$1" version --json | sed -n 's/.*"commit":"\([^"]*\)".*/\1/p')
told="commit $commit"
[ "$commit" != unknown ] || told="$told: not built from a git checkout"
is "a commit" "$(echo "$commit" | sed -E 's/^([0-9a-f]{12}(-modified)?|unknown)$/COMMIT/')" COMMIT
for program; do
    name=$(basename "$program")
    is "$name --version" "$("$program" --version)" "$name $version ($told)"
done
is "lockstep version --json" "$("$1" version --json)" "{\"version\":\"$version\",\"commit\":\"$commit\"}"

# Trees of our own: a checkout, one with a change, an archive of it, and a copy in the checkout of another project.
git() {
    command git -c user.name=a -c user.email=a@example.invalid -c init.defaultBranch=main "$@"
}
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
mkdir -p "$scratch/tree/tools" "$scratch/archive"
cp "$source/.gitattributes" "$scratch/tree/"
cp "$source/tools/commit.sh" "$scratch/tree/tools/"
is "a tree without git" "$("$scratch/tree/tools/commit.sh" "$scratch/tree")" unknown
git init -q "$scratch/tree"
git -C "$scratch/tree" add .
git -C "$scratch/tree" commit -qm one
full=$(git -C "$scratch/tree" rev-parse HEAD)
short=$(printf %.12s "$full")
is "a checkout" "$("$scratch/tree/tools/commit.sh" "$scratch/tree")" "$short"
git -C "$scratch/tree" archive HEAD | tar -x -C "$scratch/archive"
is "an archive" "$("$scratch/archive/tools/commit.sh" "$scratch/archive")" "$short"
mkdir -p "$scratch/tree/inner/tools"
cp "$source/tools/commit.sh" "$scratch/tree/inner/tools/"
is "a tree in another project's checkout" \
    "$("$scratch/tree/inner/tools/commit.sh" "$scratch/tree/inner")" unknown
echo >>"$scratch/tree/.gitattributes"
is "a checkout with a change" "$("$scratch/tree/tools/commit.sh" "$scratch/tree")" "$short-modified"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
