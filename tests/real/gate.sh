#!/bin/sh
# The gate of changes with a real Prometheus: a candidate two percent slower is halted and taken back; a
# good one does not pass while Prometheus is dead, and passes when it is back; and what Prometheus says
# of nobody, twice or without a number holds a wave, whatever else says that all is well. Acceptance checks
# and agents are asked, too, and canaries are put under a reference load while they soak.
#
#     gate.sh BUILD_DIR
set -eu

bin=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
nodes=12
scratch=$(mktemp -d)
fleet=$scratch/fleet
export LOCKSTEP_SERVER="unix:$fleet/controller/lockstepd.sock"

. tests/real/checks.sh
. tools/change-story.sh
. tools/gate-story.sh

# One value of the change as it stands now: about CHANGE EXPRESSION
about() {
    lockstep change show "$1" --json | python3 -c "
import json, sys
c = json.load(sys.stdin)
canary = c['waves'][0]
rows = {row['metric']: row for row in canary.get('gate', [])}
print($2)"
}

is() {
    got=$(about "$1" "$2")
    [ "$got" = "$3" ] || {
        echo "     $2 is '$got', not '$3'" >&2
        return 1
    }
}

# Until it is so; ten minutes are for what never comes: await CHANGE EXPRESSION VALUE
await() {
    for _ in $(seq 1200); do
        [ "$(about "$1" "$2")" != "$3" ] || return 0
        sleep 0.5
    done
    is "$@"
}

# As many nodes say that a reference load runs on them, sooner or later: loaded COUNT
loaded() {
    for _ in $(seq 1200); do
        got=0
        for node in $(seq -f 'sim00%02g' "$nodes"); do
            health=$(curl -s --unix-socket "$fleet/controller/lockstepd.sock" "http://localhost/v1/nodes/$node" |
                sed -n 's/.*"health":\([0-9]*\).*/\1/p')
            got=$((got + (${health:-0} / 512 % 2)))
        done
        [ "$got" -ne "$1" ] || return 0
        sleep 0.5
    done
    echo "     $got nodes are under load, not $1" >&2
    return 1
}

# candidate CHANGE NAME HMC [OPTION...]: it is proposed, approved and begun
candidate() {
    change=$1 name=$2 hmc=$3
    shift 3
    bundle "$name" "$hmc" "" "" "$@" >/dev/null
    publish "$name" "firmware $hmc" "$hmc" >/dev/null
    lockstep change propose --to "$name" --nodes "sim[0001-00$nodes]" --soak 12s --reason "firmware $hmc" \
        --catch 50% --confidence 90% --canary-max 4 --roll-back >/dev/null || die "$name cannot be planned"
    approve "$change" "read the plan" >/dev/null
    lockstep change start "$change" --reason "the window is open" --nodes "$nodes" \
        --gpus "$(gpus_of "$change")" >/dev/null
}

gate='min_soak: 12s, max_soak: 300s, metrics: {gemm-tflops: {}, xid-fatal: {}, tokens-per-second: {query: sim_tokens_per_second}'

"$bin/tests/plant" tests/roots/synthetic-gb200.tree "$scratch/gb200"
echo "metric gemm-tflops 688.2" >"$scratch/gb200/lockstep/figures"
echo "6,1,2,-;all is well" >"$scratch/gb200/lockstep/kmsg"
mkdir -p "$scratch/gb200/etc/lockstep/loads"
# shellcheck disable=SC2016  # it is for the program
printf '#!/bin/sh\nexec sleep "$LOCKSTEP_LOAD_SECONDS"\n' >"$scratch/gb200/etc/lockstep/loads/burn"
chmod 755 "$scratch/gb200/etc/lockstep/loads/burn"
lockstep sim up "$fleet" --root "$scratch/gb200" --nodes "$nodes" --revisions A,B --flash hmc=25.04 \
    --heartbeat-ms 250 --bmc-speed 1000 >/dev/null
metrics=$(free_port)
watch "$metrics"
ask "$metrics"
want "{$gate}}"
invite
sign
await_conforming "at the beginning"
await_history

bundle today 25.04 "" "" >/dev/null
candidate 1 slow 25.08 --slower 20
check "a candidate two percent slower ends" await 1 "c['state']" "rolled back"
check "it was halted in its canary" is 1 "canary['state']" halted
check "by the metric" is 1 "'tokens-per-second: ' in canary['text']" True
await_conforming "after the rollback"

# By chance a good candidate is not known to be within one percent, and held: this is of what is lacking, so
# its margin is one that chance does not reach.
want "{$(echo "$gate" | sed 's/query: sim_tokens_per_second/&, margin: "4"/')}}"
await_history
candidate 2 good 25.09
check "the canary of a good one soaks" await 2 "canary['state']" soaks
kill -9 "$prometheus"
wait "$prometheus" 2>/dev/null || true
check "without Prometheus nothing is known of its nodes" await 2 "rows['tokens-per-second']['changed']" 0
# Before the first question nothing is known either, so the log is waited for.
in_log() {
    for _ in $(seq 3000); do
        ! grep -q "$1" "$fleet/controller/log" || return 0
        sleep 0.2
    done
    return 1
}
check "the log says who was asked in vain" in_log "measurements are missing\" url=http://127.0.0.1:$metrics "
sleep 12
check "it waits, though its soak is over" is 2 "canary['state']" soaks
check "and the change runs" is 2 "c['state']" running
watch "$metrics"
check "with Prometheus back it passes" await 2 "canary['state']" passed
check "so it does by what acceptance checks found" is 2 "rows['gemm-tflops']['changed'], rows['gemm-tflops']['verdict']" \
    "4 pass"
check "and by what agents know of the kernel" is 2 "rows['xid-fatal']['changed'], rows['xid-fatal']['verdict']" "4 pass"
lockstep change abort 2 --reason "that was to be seen" >/dev/null
check "it ends" await 2 "c['state']" aborted

# All of them are critical. PromQL is a real Prometheus' own; the lies are in what it is asked for.
want "{${gate%%, max*}, max_soak: 14s, reference_load: burn, metrics: {
    honest: {query: sim_tokens_per_second, kind: mean, better: higher, margin: '1', critical: true},
    of-others: {query: 'label_replace(sim_tokens_per_second, \"node\", \"x-\$1\", \"node\", \"(.*)\")', kind: mean,
                better: higher, margin: '1', critical: true},
    no-number: {query: '0 * sim_tokens_per_second / 0', kind: mean, better: higher, margin: '1', critical: true},
    twice: {query: 'label_replace(sim_tokens_per_second, \"a\", \"1\", \"\", \"\") or label_replace(sim_tokens_per_second, \"a\", \"2\", \"\", \"\")',
            kind: mean, better: higher, margin: '1', critical: true}}}"
await_history
candidate 3 next 25.10
check "canaries are under the reference load" loaded 4
check "a canary that lies are told about is held" await 3 "canary['state']" held
check "and the load is gone" loaded 0
check "no other begins" is 3 "[w['state'] for w in c['waves'][1:] if w['state'] != 'planned']" "[]"
check "all is known by the honest metric" is 3 "rows['honest']['changed']" 4
for lie in of-others no-number twice; do
    check "nothing by the metric '$lie'" is 3 "rows['$lie']['changed']" 0
done
lockstep change abort 3 --reason "seen" >/dev/null

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
