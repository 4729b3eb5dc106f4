#!/bin/sh
# A fleet goes from one golden stack to the next: the first candidate is bad on one hardware revision,
# the canary meets it, the change is halted and rolled back; the fixed one goes through to the end.
#
#     campaign-demo.sh BUILD_DIR [NODES]
#
# Run from the root of the checkout. Ends with failure when something is not as it says.
set -eu

if [ $# -lt 1 ] || [ ! -x "$1/lockstepd" ]; then
    echo "usage: tools/campaign-demo.sh BUILD_DIR [NODES] (the directory that holds lockstepd)" >&2
    exit 2
fi
bin=$(cd "$1" && pwd)
nodes=${2:-128}
scratch=$(mktemp -d)
fleet=$scratch/fleet
unset LOCKSTEP_CONTEXT LOCKSTEP_CA LOCKSTEP_TOKEN_FILE
export LOCKSTEP_SERVER="unix:$fleet/controller/lockstepd.sock"

finish() {
    "$bin/lockstep" sim down "$fleet" >/dev/null 2>&1 || true
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

. tools/change-story.sh

step "1. A controller on SQLite, $nodes agents and their BMCs." \
    "Trays like those of a GB200: an NVL72 rack that changes as one, two pools and a lab, three hardware" \
    "revisions. The programs are the real ones; machines are described, BMCs simulated, 1000 times as fast."
"$bin/tests/plant" tests/roots/synthetic-gb200.tree "$scratch/gb200"
begun=$(date +%s)
lockstep sim up "$fleet" --root "$scratch/gb200" --nodes "$nodes" --domains 1 --lab 2 --revisions A,B,C \
    --flash hmc=25.04 --heartbeat-ms 250 --bmc-speed 1000 | head -n 1
invite
await_conforming "at the beginning"
echo "   all $nodes nodes conform to the stack 'golden'"

step "2. What there is to install, signed by the site and in the depot by digest." \
    "The bundle of today, for the rollback, and a candidate whose firmware does not start on revision C."
sign
bundle november 25.04 4.5.3 4.5.4
bundle december-rc1 25.06 4.5.4 4.5.3 --fails-on C
publish december-rc1 "the December bundle" 25.06 4.5.4

step "3. The change is planned, proposed, approved by as many others as its class asks for, and begun." \
    "Lab first, then a canary that has every combination, then rings; each node drained before it is" \
    "touched, read again after each layer, and the rollback exercised once before others follow."
lockstep change propose --to december-rc1 --nodes "sim[0001-$(printf %04d "$nodes")]" \
    --reason "the December bundle" --soak 1s --roll-back >"$scratch/plan"
sed -n '/^wave /,/^$/p' "$scratch/plan"
sed -n '/^steps of/,/^$/{p;/^$/q;}' "$scratch/plan"
if lockstep change approve 1 --reason "it is mine" 2>"$scratch/refused"; then
    die "the proposer approved their own change"
fi
cat "$scratch/refused"
approve 1 "read the plan"
gpus=$(gpus_of 1)
echo "\$ lockstep change start 1 --nodes $nodes --gpus $gpus --standby kit --follow"
if lockstep change start 1 --reason "the window is open" --nodes "$nodes" --gpus "$gpus" --standby kit \
    --follow; then
    die "a bad candidate went through"
fi
[ "$(lockstep change show 1 --json | sed 's/.*"state":"\(rolled back\)".*/\1/')" = "rolled back" ] ||
    die "the change was not rolled back"
await_conforming "after the rollback"
echo "   rolled back: all $nodes nodes conform to 'golden' again"

step "4. The fixed candidate." "Canary, rings, 100 %: the pools are pinned to it when their last node is there."
bundle december-rc2 25.07 "" ""
publish december-rc2 "the December bundle, fixed" 25.07 4.5.4
lockstep change propose --to december-rc2 --nodes "sim[0001-$(printf %04d "$nodes")]" \
    --reason "the December bundle, fixed" --soak 1s --roll-back >/dev/null
approve 2 "the fix was tried in the lab"
gpus=$(gpus_of 2)
echo "\$ lockstep change start 2 --nodes $nodes --gpus $gpus --standby kit --follow"
lockstep change start 2 --reason "the window is open" --nodes "$nodes" --gpus "$gpus" --standby kit --follow ||
    die "the fixed candidate did not go through"
[ "$(judged conforms)" -ge "$nodes" ] || die "$(judged conforms) of $nodes nodes conform at the end"

step "5. What happened, and why."
show change ls --all
echo "\$ lockstep change show 1"
lockstep change show 1 >"$scratch/shown"
sed -n '1,/^$/p' "$scratch/shown" | sed '$d' >"$scratch/said"
lockstep change show 1 --json |
    sed 's/.*"state":"halted"[^}]*"text":"\([^"]*\)".*/why          \1/' >>"$scratch/said"
said
show drift
show fleet show
echo "   from nothing to the new stack in $(($(date +%s) - begun)) seconds"
