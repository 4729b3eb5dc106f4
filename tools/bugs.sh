#!/bin/sh
# Bugs that were planted on purpose: is each of them caught?
#
#     bugs.sh [SEEDS [PATCH...]]
#
# Each sim/bugs/NN-name.patch breaks one rule of src; its first line says what that breaks. It
# is applied to a scratch copy of the checkout, sim_campaign is built there, and seeds are run until
# one fails. A patch that does not apply any more fails, and so does a bug that no seed catches:
# either the checks became blind, or the bug is none.
set -eu
cd "$(dirname "$0")/.."
seeds=${1:-2000}
if [ $# -gt 1 ]; then shift; else set -- sim/bugs/*.patch; fi

begun=$(date +%s)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
tree=$scratch/tree
log=$scratch/log
mkdir "$tree"
tar c --exclude='./build*' --exclude=./.git . | tar x -C "$tree"

build() {
    ninja -C "$tree/built" sim/sim_campaign >"$log" 2>&1
}

# The first build is of everything; a patch then has only what it touches built again.
if ! CC_LD=gold meson setup "$tree/built" "$tree" >"$log" 2>&1 || ! build; then
    tail -n 30 "$log"
    exit 1
fi

missed=0
for patch in "$@"; do
    name=$(basename "$patch" .patch)
    if ! patch -d "$tree" -p1 -s -f <"$patch" >"$log" 2>&1; then
        echo "$name: the patch does not apply any more"
        missed=$((missed + 1))
    elif ! build; then
        echo "$name: it does not build any more"
        tail -n 20 "$log"
        missed=$((missed + 1))
    elif "$tree/built/sim/sim_campaign" from 1 "$seeds" >"$log" 2>&1; then
        echo "$name: not caught by $seeds seeds: $(head -n 1 "$patch")"
        missed=$((missed + 1))
    else
        echo "$name: caught: $(grep -E '^(seed|sim_campaign: seed)' "$log" | tail -n 1)"
    fi
    sed -n 's|^+++ b/||p' "$patch" | while read -r file; do
        cp "$file" "$tree/$file"
    done
done
echo "$(($# - missed)) of $# planted bugs were caught, in $(($(date +%s) - begun)) s"
[ "$missed" -eq 0 ]
