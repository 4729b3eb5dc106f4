#!/bin/sh
# The data, the journal, the configuration and the agents of an earlier release with the build under test, and an
# agent of the build with a controller of that release. Each pair carries out a change.
#
#     upgrade.sh BUILD_DIR RELEASE
set -eu

new=$(cd "$1" && pwd)
release=$2
cd "$(dirname "$0")/../.."
old=$(tools/release.sh "$release") || {
    # A shallow clone has no earlier release to build.
    [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" != true ] || echo "missing history: of release $release"
    exit 77
}
nodes=4
columns=120
top=$(mktemp -d)
bin=$old
scratch=$top

. tests/real/checks.sh
. tools/change-story.sh

end() {
    for pids in "$top"/*/fleet/pids; do
        [ ! -e "$pids" ] || "$new/lockstep" sim down "$(dirname "$pids")" >/dev/null || true
    done
    rm -rf "$top"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

# Until it is so, for ten minutes: the machine may be slow. await COMMAND...
await() {
    for _ in $(seq 3000); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.2
    done
    echo "     never: $*" >&2
    return 1
}

# ask WORD... EXPRESSION: whether the expression about `it`, the JSON answer of the command, is true
ask() {
    words=
    while [ $# -gt 1 ]; do
        words="$words $1"
        shift
    done
    # shellcheck disable=SC2086  # the words of a command
    lockstep $words --json | python3 -c "
import json, sys
it = json.load(sys.stdin)
sys.exit(not ($1))"
}

# How many nodes are live and conform: settled COUNT
settled() {
    ask node ls "sum(row['liveness'] == 'live' and row['judged'] == 'conforms' for row in it['items']) == $1"
}

# Every agent was answered with a later row than this: heard_since SEQ
heard_since() {
    for node in $(seq -f 'sim%04g' "$nodes"); do
        ask node show "$node" "it.get('witnessed_seq', 0) > $1" || return 1
    done
}

# A controller and its agents, with a fleet, people, a key and a bundle: fleet_up NAME PROGRAMS
fleet_up() {
    scratch=$top/$1 fleet=$top/$1/fleet bin=$2
    mkdir -p "$scratch"
    export LOCKSTEP_SERVER="unix:$fleet/controller/lockstepd.sock"
    lockstep sim up "$fleet" --root "$top/gb200" --nodes "$nodes" --no-bmcs --heartbeat-ms 500 >/dev/null
    check "$1: agents enrol and report" await settled "$nodes"
    invite
    sign
    dcgm_bundle
    publish next "another DCGM" 25.04 4.5.9 >/dev/null
}

# propose CHANGE NODES
propose() {
    lockstep change propose --to next --nodes "$2" --soak 1s --canary-max 1 --reason "another DCGM" >/dev/null
    approve "$1" "read the plan" >/dev/null
}

# start CHANGE NODES
start() {
    lockstep change start "$1" --reason "the window is open" --nodes "$2" --gpus "$(gpus_of "$1")" >/dev/null
}

done_with() {
    ask change show "$1" "it['state'] == 'done' and it['members']['done'] == $2"
}

# A folder with the commands of one build and the agent of another that acts on captured machines, which is a program of
# its own since 0.1.0: mix NAME COMMANDS AGENT
mix() {
    agent=$3/lockstep-agentsim
    [ -e "$agent" ] || agent=$3/lockstep-agent
    mkdir "$top/$1"
    ln -s "$2/lockstep" "$2/lockstepd" "$top/$1/"
    ln -s "$agent" "$top/$1/lockstep-agent"
    ln -s "$agent" "$top/$1/lockstep-agentsim"
}

# Of a process by its name, the last that was started.
pid_of() {
    awk -v name="$1" '$3 == name { pid = $1 } END { print pid }' "$fleet/pids"
}

gone() {
    ! kill -0 "$1"
}

stop() {
    pid=$(pid_of "$1")
    kill "$pid"
    check "$1 of $release ends" await gone "$pid"
}

# run_as NAME COMMAND...: in the background, and ended with the fleet; the 22nd word is when it began
run_as() {
    name=$1
    shift
    "$@" >>"$fleet/$name.log" 2>&1 &
    echo "$! $(cut -d ' ' -f 22 "/proc/$!/stat") $name" >>"$fleet/pids"
}

# What has to be the same before and after, one JSON document a line: facts FILE
facts() {
    {
        lockstep node ls --limit 1000 --json
        lockstep node show sim0001 --json
        lockstep change show 1 --json
        lockstep change show 2 --json
        lockstep fleet show --json
        lockstep stack ls --json
        lockstep access ls --json
        lockstep trust ls --json
    } >"$1"
}

# What moves while the controller is away.
passing="liveness liveness_since heard_ms_ago inband_age_ms witnessed_seq skew_ms admissible why report taken seq clock"

# What the newer release adds is no difference. kept BEFORE AFTER [MEMBERS THAT MAY DIFFER]
kept() {
    python3 - "$@" <<'PYTHON'
import json, sys

PASSING = set(" ".join(sys.argv[3:]).split())


def lost(before, after, where):
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() - PASSING:
            if name not in after:
                yield f"{where}.{name} is gone"
            else:
                yield from lost(before[name], after[name], f"{where}.{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after)):
            yield from lost(one, other, f"{where}[{i}]")
    elif before != after:
        yield f"{where} was {before!r}, is {after!r}"


old, new = ([json.loads(line) for line in open(name, encoding="utf-8")] for name in sys.argv[1:3])
faults = list(lost(old, new[: len(old)], ""))
print("".join(f"     {fault}\n" for fault in faults), end="")
sys.exit(bool(faults) or not old)
PYTHON
}

"$new/tests/plant" tests/roots/synthetic-gb200.tree "$top/gb200"

echo "== a controller of $release, and then of this build on its data"
fleet_up upgrade "$old"
data=$fleet/controller
propose 1 'sim[0001-0002]'
start 1 2
check "a change of $release is done" await done_with 1 2
lockstep node hold sim0001 --reason "a fan is loud" >/dev/null
propose 2 'sim[0003-0004]'
facts "$scratch/before"
seq=$(lockstep fleet show --json | sed 's/.*"seq":\([0-9]*\).*/\1/')
stop lockstepd
"$old/lockstep" journal export "$data" --json >"$scratch/records"
"$old/lockstepd" --dump-config --config "$data/lockstepd.yaml" >"$scratch/whole.yaml"

bin=$new
check "its journal verifies" lockstep journal verify "$data" --key "$data/journal.pub"
lockstep journal export "$data" --json >"$scratch/read"
check "its records read the same" kept "$scratch/records" "$scratch/read"
check "its configuration is accepted" "$new/lockstepd" --check --config "$data/lockstepd.yaml"
check "with every setting written out" "$new/lockstepd" --check --config "$scratch/whole.yaml"
run_as lockstepd "$new/lockstepd" run --config "$data/lockstepd.yaml"
check "its agents report to the new controller" await heard_since "$seq"
check "its nodes conform" await settled "$nodes"
facts "$scratch/after"
check "nodes, holds, changes, stacks and access are as before" kept "$scratch/before" "$scratch/after" "$passing"
check "the hold is there" ask node show sim0001 "it['held']"
start 2 2
check "a change that was approved before is done by its agents" await done_with 2 2
check "the journal of both verifies" lockstep journal verify "$data" --key "$data/journal.pub"
check "lockstep of $release lists the nodes" "$old/lockstep" node ls --limit 1000
stop sim0002
check "the controller misses its agent" await ask node show sim0002 "it['liveness'] != 'live'"
run_as sim0002 "$new/lockstep-agent" --state "$fleet/agents/sim0002/state" --root "$fleet/agents/sim0002/root" \
    --node sim0002
check "an agent of this build goes on with its state" await ask node show sim0002 "it['liveness'] == 'live'"

echo "== agents of $release with a controller of this build"
mix newer "$new" "$old"
fleet_up old-agents "$top/newer"
propose 1 "sim[0001-000$nodes]"
start 1 "$nodes"
check "a change is done by agents of $release" await done_with 1 "$nodes"

echo "== agents of this build with a controller of $release"
mix older "$old" "$new"
fleet_up new-agents "$top/older"
propose 1 "sim[0001-000$nodes]"
start 1 "$nodes"
check "a change is done by agents of this build" await done_with 1 "$nodes"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
