#!/bin/sh
# A candidate that installs cleanly everywhere and makes machines two percent slower: no check fails, and
# only a gate that compares changed nodes with others stops it.
#
#     gate-demo.sh BUILD_DIR [NODES]
#
# Run from the root of the checkout, with Prometheus installed. Ends with failure when something is not
# as it says.
set -eu

if [ $# -lt 1 ] || [ ! -x "$1/lockstepd" ]; then
    echo "usage: tools/gate-demo.sh BUILD_DIR [NODES] (the directory that holds lockstepd)" >&2
    exit 2
fi
bin=$(cd "$1" && pwd)
nodes=${2:-48}
scratch=$(mktemp -d)
fleet=$scratch/fleet
unset LOCKSTEP_CONTEXT LOCKSTEP_CA LOCKSTEP_TOKEN_FILE
export LOCKSTEP_SERVER="unix:$fleet/controller/lockstepd.sock"

. tools/change-story.sh
. tools/gate-story.sh

# candidate CHANGE NAME HMC [OPTION...]: it is planned, approved and begun
candidate() {
    change=$1 name=$2 hmc=$3
    shift 3
    bundle "$name" "$hmc" "" "" "$@"
    publish "$name" "firmware $hmc" "$hmc"
    lockstep change propose --to "$name" --nodes "sim[0001-$(printf %04d "$nodes")]" --soak 12s \
        --reason "firmware $hmc" --catch 30% --confidence 95% --canary-max 8 --roll-back >"$scratch/plan" ||
        die "$name cannot be planned"
    sed -n '/^wave /,/^$/p' "$scratch/plan"
    grep 'wave 0, .* controls' "$scratch/plan" || die "the plan does not say what its canary detects"
    approve "$change" "read the plan"
    gpus=$(gpus_of "$change")
    echo "\$ lockstep change start $change --nodes $nodes --gpus $gpus --follow"
    lockstep change start "$change" --reason "the window is open" --nodes "$nodes" --gpus "$gpus" --follow
}

step "1. A controller, $nodes agents, their BMCs, and a Prometheus that reads what machines do." \
    "Machines differ by 1.5 %, each reading by 0.4 %: two percent show in no single number. Each pool's gate" \
    "wants tokens a second to be no more than one percent worse than on nodes that do not change."
begun=$(date +%s)
"$bin/tests/plant" tests/roots/synthetic-gb200.tree "$scratch/gb200"
lockstep sim up "$fleet" --root "$scratch/gb200" --nodes "$nodes" --revisions A,B --flash hmc=25.04 \
    --heartbeat-ms 250 --bmc-speed 1000 | head -n 1
metrics=$(free_port)
watch "$metrics"
ask "$metrics"
want '{min_soak: 12s, max_soak: 60s, metrics: {tokens-per-second: {query: sim_tokens_per_second}}}'
invite
sign
await_conforming "at the beginning"
await_history
echo "   all $nodes nodes conform to the stack 'golden'"

step "2. A candidate that is good by every check, and two percent slower."
bundle today 25.04 "" ""
if candidate 1 slow 25.08 --slower 20; then
    die "a slow candidate went through"
fi
lockstep change show 1 >"$scratch/shown"
cat "$scratch/shown"
grep -q 'tokens-per-second' "$scratch/shown" || die "it was not the gate that stopped it"
await_conforming "after the rollback"
await_history
echo "   rolled back: all $nodes nodes conform to 'golden' again"

step "3. The next candidate, as fast as what runs now."
candidate 2 fixed 25.09 || die "a good candidate did not go through"
await_conforming "at the end"
echo "   a slow candidate stopped, a good one through, in $(($(date +%s) - begun)) seconds"
