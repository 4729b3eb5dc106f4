#!/bin/sh
# A change on sixty nodes, three of whose agents are killed at three different steps, is rolled back: every
# node that can be reached is back, and the command, the journal and alarms name the other three.
#
#     lost.sh BUILD_DIR [SEED]
set -eu

bin=$(cd "$1" && pwd)
seed=${2:-1}
cd "$(dirname "$0")/../.."
nodes=60
dead=3
scratch=$(mktemp -d)
fleet=$scratch/fleet
columns=120
export LOCKSTEP_SERVER="unix:$fleet/controller/lockstepd.sock"

. tests/real/checks.sh
. tools/change-story.sh

end() {
    [ ! -e "$fleet/pids" ] || lockstep sim down "$fleet" >/dev/null || true
    rm -rf "$scratch"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

# One expression about the members of the change, `m` by name, and about the change, `c`.
about() {
    {
        lockstep change show 1 --json
        lockstep change show 1 --nodes all --json
    } | python3 -c "
import json, sys
c, page = [json.loads(line) for line in sys.stdin if line.strip()]
m = {row['node']: row for row in page['items']}
print($1)"
}

# Until it is so, for ten minutes: the machine may be slow. await EXPRESSION
await() {
    for _ in $(seq 3000); do
        [ "$(about "$1")" != True ] || return 0
        sleep 0.2
    done
    echo "     never: $1" >&2
    return 1
}

pid_of() {
    awk -v name="$1" '$3 == name { print $1 }' "$fleet/pids"
}

"$bin/tests/plant" tests/roots/synthetic-gb200.tree "$scratch/gb200"
lockstep sim up "$fleet" --root "$scratch/gb200" --nodes "$nodes" --no-bmcs --heartbeat-ms 2000 >/dev/null
invite
sign
await_conforming "at the beginning"
dcgm_bundle
publish next "another DCGM" 25.04 4.5.9 >/dev/null
lockstep change propose --to next --nodes "sim[0001-00$nodes]" --soak 1s --canary-max 2 --failures "$nodes" \
    --reason "another DCGM" >/dev/null
approve 1 "read the plan" >/dev/null
lockstep change start 1 --reason "the window is open" --nodes "$nodes" --gpus "$(gpus_of 1)" >/dev/null

# They die while a ring is in progress, when so many nodes are done as the seed has it. All agents of it
# are stopped at once while each owes an answer. The first is killed there; each of the others goes on
# alone, a moment at a time, until it owes an answer at a step where none was killed.
done=$(python3 -c "import random; print(random.Random($seed).randrange(2, 20))")
await "c['members']['done'] >= $done" || die "it never comes to $done nodes"
owing="[n for n, row in m.items() if row['state'] in ('waiting', 'asked', 'reading') and row.get('work', 0) > 0]"
stopped=""
ready=""
while [ "$(echo "$ready" | wc -w)" -lt $((2 * dead)) ]; do
    [ "$(about "c['state']")" = running ] || die "the change is over"
    for node in $stopped; do kill -CONT "$(pid_of "$node")"; done
    stopped=$(about "' '.join($owing)")
    for node in $stopped; do kill -STOP "$(pid_of "$node")"; done
    ready=$(about "' '.join(n for n in '$stopped'.split() if n in $owing)")
done
victims=""
steps=""
# kill_at NODE: at its next step where none was killed, unless it gets by all of them
kill_at() {
    while true; do
        at=$(about "'over' if m['$1']['state'] == 'done' else m['$1']['step'] if '$1' in $owing and \
            str(m['$1']['step']) not in '$steps'.split() else 'on'")
        case $at in
            over) return ;;
            on)
                kill -CONT "$(pid_of "$1")"
                sleep 0.02
                kill -STOP "$(pid_of "$1")"
                ;;
            *)
                echo "     $1: killed at step $at, $(about "m['$1'].get('doing')")"
                kill -9 "$(pid_of "$1")"
                victims="$victims $1"
                steps="$steps $at"
                return
                ;;
        esac
    done
}
for node in $ready; do
    [ "$(echo "$victims" | wc -w)" -eq "$dead" ] || kill_at "$node"
done
for node in $stopped; do kill -CONT "$(pid_of "$node")" 2>/dev/null || true; done
python="set('$victims'.split())"
check "three agents are killed, each at another step" [ "$(echo "$victims" | wc -w)" -eq "$dead" ]

begun=$(date +%s)
lockstep change rollback 1 --reason "it is bad" >/dev/null
check "every other node is back" \
    await "all(row['state'] in ('reverted', 'pending') for n, row in m.items() if n not in $python)"
echo "     $(about "sum(row['state'] == 'reverted' for row in m.values())") nodes went back in $(($(date +%s) - begun)) s"
check "the rollback ends" await "c['state'] == 'rolled back'"
for node in $victims; do
    check "$node is fenced, by 'change show'" [ "$(about "m['$node']['state'], m['$node'].get('failure')")" = "fenced lost" ]
    check "an alarm names $node" sh -c "'$bin/lockstep' alarm ls | grep -q ' change  *$node '"
    check "$node is drained by the change" sh -c "'$bin/lockstep' node show '$node' --json | grep -q '\"change:1\"'"
done
check "the end of the change names them" \
    [ "$(about "all(n[-2:] in c['moved_reason'].split('until they are back:')[-1] for n in $python)")" = True ]
check "and the journal" sh -c "'$bin/lockstep' node history $(echo "$victims" | cut -d' ' -f2) | grep -q fenced"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
