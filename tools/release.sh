#!/bin/sh
# Builds the programs of an earlier release, once, and keeps them outside the checkout:
#
#     release.sh VERSION
#
# Prints the folder with those of lockstep, lockstepd, lockstep-agent, lockstep-agentsim, lockstep-helper and
# lockstep-bmcsim that the release has. Its commit is in the file `releases`, and has to be in the history of this checkout.
set -eu

version=${1:?usage: release.sh VERSION}
cd "$(dirname "$0")/.."
programs='lockstep lockstepd lockstep-agent lockstep-agentsim lockstep-helper lockstep-bmcsim'

die() {
    echo "release.sh: $1" >&2
    exit 3
}

commit=$(awk -v version="$version" '$1 == version { print $2 }' releases)
[ -n "$commit" ] || die "no release $version; the file 'releases' has $(awk '/^[0-9]/ { printf "%s ", $1 }' releases)"
place=${XDG_CACHE_HOME:-$HOME/.cache}/lockstep/releases/$version-$commit

if [ ! -e "$place/ready" ]; then
    git cat-file -e "$commit^{commit}" 2>/dev/null ||
        die "commit $commit of release $version is not in this clone; get its history with 'git fetch --unshallow'"
    made=$(mktemp -d)
    trap 'rm -rf "$made"' EXIT
    trap 'exit 1' HUP INT TERM
    mkdir -p "$made/source" "$place"
    git archive "$commit" | tar -x -C "$made/source"
    # Checks at run time are those of the product; debug information would take a third of the time.
    {
        meson setup "$made/build" "$made/source" -Doptimization=1 -Ddebug=false -Dwerror=false
        built=
        for program in $programs; do
            ! grep -q "^build $program:" "$made/build/build.ninja" || built="$built $program"
        done
        # Without a name ninja would build everything.
        # shellcheck disable=SC2086  # one word a program
        [ -n "$built" ] && ninja -C "$made/build" $built
    } >"$made/log" 2>&1 || {
        tail -n 40 "$made/log" >&2
        die "release $version does not build"
    }
    for program in $built; do
        cp "$made/build/$program" "$place/$program.$$"
        mv "$place/$program.$$" "$place/$program" # whole, also when two build at a time
    done
    touch "$place/ready"
fi
echo "$place"
