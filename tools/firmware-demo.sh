#!/bin/sh
# Firmware out of band, on simulated BMCs behind real HTTPS: what they run, a package and a bundle, an
# update that is killed in the middle and goes on, and one that is irreversible.
#
#     firmware-demo.sh BUILD_DIR
#
# Run from the root of the checkout. Ends with failure when something is not as it says.
set -eu

if [ $# -ne 1 ] || [ ! -x "$1/lockstep-bmcsim" ]; then
    echo "usage: tools/firmware-demo.sh BUILD_DIR (the directory that holds lockstep-bmcsim)" >&2
    exit 2
fi
bin=$(cd "$1" && pwd)
scratch=$(mktemp -d)
bmcs=
updates=

finish() {
    for pid in $updates $bmcs; do
        kill "$pid" 2>/dev/null || true
    done
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

. tools/story.sh

die() {
    echo "firmware-demo.sh: $1" >&2
    exit 1
}

show() {
    echo "\$ lockstep $*" | sed "s|$scratch|DIR|g"
    "$bin/lockstep" "$@"
}

# What the devices behind a BMC really have, which no answer of it can hide: truth NAME
truth() {
    curl --silent --show-error --fail --unix-socket "$scratch/control" "http://sim/bmcs/$1"
}

step "A. A BMC and a power shelf, with firmware devices behind them." \
    "Sixty times as fast as real ones. They are known by their keys: nothing is sent before that."
"$bin/lockstep-bmcsim" --dir "$scratch/bmcs" --listen 127.64.77.1:7543 --speed 60 \
    --bmc openbmc=node1 --bmc shelf=shelf1 --control "$scratch/control" >"$scratch/ready" &
bmcs=$!
left=50
until grep -q ready "$scratch/ready"; do
    left=$((left - 1))
    if [ "$left" -eq 0 ] || ! kill -0 "$bmcs" 2>/dev/null; then
        die "lockstep-bmcsim does not start"
    fi
    sleep 0.2
done
export XDG_STATE_HOME="$scratch/state"
node=https://127.64.77.1:7543
shelf=https://127.64.77.2:7543
login="file:$scratch/bmcs/login"
show bmc trust "$node" --yes
"$bin/lockstep" bmc trust "$shelf" --yes >/dev/null
show bmc inventory "$node" --credentials "$login"

step "B. A firmware package, and a signed bundle." \
    "Unsigned is refused; here the site signs in its vendor's stead, which is recorded."
mkdir "$scratch/files"
"$bin/lockstep-bmcsim" make-package --personality openbmc --class bmc --version 2.4.0 \
    --output "$scratch/files/bmc.fwpkg"
"$bin/lockstep-bmcsim" make-package --personality shelf --class psu --version 2.4.0 \
    --output "$scratch/files/psu.fwpkg"
show pldm inspect "$scratch/files/bmc.fwpkg"
printf 'lockstep: 1\nkind: Bundle\nname: november\nversion: "2026.11"\nfiles:
  - {file: bmc.fwpkg, component: bmc}\n  - {file: psu.fwpkg, component: psu}\n' \
    >"$scratch/files/bundle.yaml"
"$bin/lockstep" bundle build "$scratch/files" --output "$scratch/unsigned" >/dev/null
if "$bin/lockstep" bmc update "$node" --bundle "$scratch/unsigned" --component bmc \
    --credentials "$login" --yes 2>"$scratch/refused"; then
    die "an unsigned bundle was taken"
fi
sed "s|$scratch|DIR|g" "$scratch/refused"
"$bin/lockstep" trust key site --output "$scratch/site.pem" >/dev/null
"$bin/lockstep" trust add site "$scratch/site.pem.pub" --state "$scratch/state/lockstep" \
    --reason "we sign for vendors that do not" >/dev/null
"$bin/lockstep" bundle build "$scratch/files" --output "$scratch/bundle" \
    --sign "$scratch/site.pem" >/dev/null
show bundle verify "$scratch/bundle" --state "$scratch/state/lockstep"

step "C. An update is killed in the middle, and goes on." \
    "What was sent is looked for and not sent again; done is what the inventory says three times."
set -- bmc update "$node" --bundle "$scratch/bundle" --component bmc --credentials "$login" \
    --yes --speed 10
"$bin/lockstep" "$@" >"$scratch/first.out" 2>&1 &
first=$!
updates=$first
sleep 1
kill -9 "$first" 2>/dev/null || die "the update was over before it could be killed"
wait "$first" 2>/dev/null || true
updates=
tail -n 1 "$scratch/first.out"
echo "   (killed)"
show "$@"
truth node1 >"$scratch/truth"
grep -q '"flashes":1' "$scratch/truth" || die "the device was not flashed"
if grep -q '"flashes":[2-9]' "$scratch/truth"; then
    die "a device was flashed twice"
fi
echo "   by the device's own count it was flashed once"

step "D. An update of a power supply is irreversible." "So nothing is sent before that is acknowledged."
if "$bin/lockstep" bmc update "$shelf" --bundle "$scratch/bundle" --component psu \
    --credentials "$login" --yes 2>&1; then
    die "an irreversible step was taken without an acknowledgement"
fi
if truth shelf1 | grep -q '"begun":[1-9]'; then
    die "something was sent"
fi
