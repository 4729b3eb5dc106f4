#!/bin/sh
# A controller and a simulated fleet on this machine: agents die and return, half of the fleet is cut
# off at once, the controller is killed, nodes drift, one is hot-fixed, jobs ask to start, and nothing
# is lost.
#
#     fleet-demo.sh BUILD_DIR [NODES]
#
# Run from the root of the checkout. Ends with failure when something is not as it says.
set -eu

if [ $# -lt 1 ] || [ ! -x "$1/lockstepd" ]; then
    echo "usage: tools/fleet-demo.sh BUILD_DIR [NODES] (the directory that holds lockstepd)" >&2
    exit 2
fi
bin=$(cd "$1" && pwd)
nodes=${2:-200}
heartbeat=1000 # ms, so that lost takes 12 seconds and not two minutes

scratch=$(mktemp -d)
fleet=$scratch/fleet
unset LOCKSTEP_CONTEXT LOCKSTEP_CA LOCKSTEP_TOKEN_FILE
export LOCKSTEP_SERVER="unix:$fleet/controller/lockstepd.sock"

finish() {
    # Those that are stopped would not hear of the end.
    [ ! -f "$fleet/pids" ] || cut -d ' ' -f 1 "$fleet/pids" | while read -r pid; do
        kill -CONT "$pid" 2>/dev/null || true
    done
    "$bin/lockstep" sim down "$fleet" >/dev/null 2>&1 || true
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

. tools/story.sh

die() {
    echo "fleet-demo.sh: $1" >&2
    exit 1
}

lockstep() {
    "$bin/lockstep" "$@"
}

show() {
    echo "\$ lockstep $*"
    lockstep "$@"
}

# How many nodes a list has: count LIVENESS
count() {
    lockstep node ls --liveness "$1" --json | tr '{' '\n' | grep -c '"name"' || true
}

# The fleet, drawn over what was drawn before on a terminal, and now and then elsewhere.
drawn=0
draw() { # ROUND
    if [ -t 1 ]; then
        picture=$(lockstep top --rounds 1)
        [ "$drawn" -eq 0 ] || printf '\033[%dA\033[J' "$drawn"
        printf '%s\n' "$picture"
        drawn=$(printf '%s\n' "$picture" | wc -l)
    elif [ $(($1 % 5)) -eq 0 ]; then
        echo "   $(count live) live, $(count late) late, $(count lost) lost"
    fi
}

# Watch until LIVENESS has NUMBER nodes, for SECONDS at the most.
await() {
    left=$3
    drawn=0
    while [ "$(count "$1")" -ne "$2" ]; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || die "$(count "$1") nodes are $1, expected $2"
        draw "$left"
        sleep 1
    done
    [ "$drawn" -eq 0 ] || printf '\033[%dA\033[J' "$drawn"
    lockstep top --rounds 1
}

# Of agents by their number, FIRST to LAST; one that was started again has a later line.
pids_of() {
    awk -v first="$1" -v last="$2" '
        $3 ~ /^sim[0-9]+$/ { n = substr($3, 4) + 0; if (n >= first && n <= last) pid[n] = $1 }
        END { for (n in pid) print pid[n] }
    ' "$fleet/pids"
}

start_agent() { # NAME
    "$bin/lockstep-agentsim" --state "$fleet/agents/$1/state" --root "$fleet/agents/$1/root" \
        --node "$1" >>"$fleet/agents/$1/log" 2>&1 &
    pid=$!
    # The 22nd word is when it began; the name before it has no blanks here.
    echo "$pid $(cut -d ' ' -f 22 "/proc/$pid/stat") $1" >>"$fleet/pids"
}

step "1. A controller on SQLite and $nodes agents." \
    "The agents are the real program, each over a captured H200. The fleet's manifest pins what" \
    "that machine runs, and --accept takes the first fleet in at once."
echo "\$ lockstep sim up DIR --root tests/roots/h200 --nodes $nodes --heartbeat-ms $heartbeat"
lockstep sim up "$fleet" --no-bmcs --root tests/roots/h200 --nodes "$nodes" --heartbeat-ms "$heartbeat"
await live "$nodes" 120
left=120
while [ "$(lockstep node ls --judged conforms --json | tr '{' '\n' | grep -c '"name"')" -lt "$nodes" ]; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || die "not every node conforms"
    sleep 1
done
echo "   every node was read, and conforms to its pool's stack"

step "2. Five agents are killed." "They become late, then lost; five of a pool is no mass event."
for pid in $(pids_of 1 5); do kill -9 "$pid"; done
await lost 5 60
show node ls --liveness lost
if lockstep alarm ls --json | grep -q '"kind":"mass"'; then die "five lost nodes raised an alarm"; fi

step "3. They are started again." "An agent needs nothing but its state to come back."
for n in 1 2 3 4 5; do start_agent "$(printf 'sim%04d' "$n")"; done
await live "$nodes" 60

step "4. Half of the fleet is cut off at once." \
    "States are recorded and those nodes are not admissible, but automatic acts wait for a person:" \
    "one alarm for each pool."
half=$((nodes / 4))
for pid in $(pids_of 1 "$half") $(pids_of $((nodes - half + 1)) "$nodes"); do kill -STOP "$pid"; done
await lost $((2 * half)) 60
show alarm ls
[ "$(lockstep alarm ls --json | tr '{' '\n' | grep -c '"kind":"mass"')" -eq 2 ] ||
    die "there is not one mass alarm for each of the two pools"

step "5. The line is back." "The nodes return by themselves; the alarm stays until a person looked."
for pid in $(pids_of 1 "$half") $(pids_of $((nodes - half + 1)) "$nodes"); do kill -CONT "$pid"; done
await live "$nodes" 90
for id in $(lockstep alarm ls --json | tr '{' '\n' | sed -n 's/.*"id":\([0-9]*\).*"kind":"mass".*/\1/p'); do
    show alarm release "$id" --reason "the uplink of two racks was replaced"
done

step "6. The controller is killed and started again." "It stands where it stood."
before=$(lockstep fleet show --json | sed 's/.*"seq":\([0-9]*\).*/\1/')
kill -9 "$(awk '$3 == "lockstepd" { print $1 }' "$fleet/pids")"
"$bin/lockstepd" run --config "$fleet/controller/lockstepd.yaml" >>"$fleet/controller/log" 2>&1 &
pid=$!
echo "$pid $(cut -d ' ' -f 22 "/proc/$pid/stat") lockstepd" >>"$fleet/pids"
left=100
until lockstep fleet show >/dev/null 2>&1; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || die "the controller does not come back"
    sleep 0.1
done
after=$(lockstep fleet show --json | sed 's/.*"seq":\([0-9]*\).*/\1/')
[ "$after" -ge "$before" ] || die "rows were lost: $before before, $after after"
await live "$nodes" 60

# Change a file of a node's captured machine, which shares it with the others until then: FILE SCRIPT.
edit() {
    sed "$2" "$1" >"$1.new"
    mv "$1.new" "$1"
}

# Read a machine at once, and not at the next interval. Two agents do not share a state.
reread() { # NUMBER...
    for n in "$@"; do
        for pid in $(pids_of "$n" "$n"); do
            kill "$pid"
            left=100
            while readlink "/proc/$pid/exe" >/dev/null 2>&1; do
                left=$((left - 1))
                [ "$left" -gt 0 ] || die "an agent does not end"
                sleep 0.1
            done
        done
        start_agent "$(printf 'sim%04d' "$n")"
    done
}

# How many nodes are judged so by `drift`: differing VERDICT
differing() {
    lockstep drift --judged "$1" --json | tr '{' '\n' | grep -c '"node"' || true
}

await_differing() { # VERDICT NUMBER
    left=600
    while [ "$(differing "$1")" -ne "$2" ]; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || die "$(differing "$1") nodes are judged '$1', expected $2"
        sleep 1
    done
}

step "7. Three nodes drift, each in its own way." \
    "A flash reverted by itself, a person changed a setting, and a package was upgraded overnight."
machine=$fleet/agents
edit "$machine/sim0011/root/lockstep/nvml.csv" 's/96\.00\.A5\.00\.1A/96.00.99.00.1A/'
edit "$machine/sim0012/root/lockstep/nvml.csv" '/PersistenceMode/s/"0 1"/"0 0"/'
edit "$machine/sim0013/root/var/lib/dpkg/status" \
    '/^Package: openmpi-bin/,/^Version:/s/^Version: .*/Version: 4.1.7-1/'
reread 11 12 13
await_differing drift 3
show drift && die "'drift' answers yes although nodes drift"
for cause in reverted "setting changed" "package manager"; do
    [ "$(lockstep drift --cause "$cause" --json | tr '{' '\n' | grep -c '"node"')" -eq 1 ] ||
        die "no node drifts by the cause '$cause'"
done

step "8. One of them was a hot-fix." \
    "Recorded with an owner and an end it is not drift, until it expires."
show deviation add sim0012 --what settings.persistence --owner kim --until 12s \
    --reason "INC-311: a hang in the persistence daemon"
await_differing deviation 1
show deviation ls
await_differing deviation 0
show drift --node sim0012 && die "'drift' answers yes although sim0012 drifts"

step "9. A job asks to start, and the pool only observes." \
    "It may, and what would have been refused is counted by reason."
show admit --job 4711 --nodes 'sim[0001-0020]' || die "an observing pool refused a job"
show admit --observed

step "10. The pool enforces from now on." "The same job is refused, with the reason for each node."
sed 's/posture: pre-training,/posture: pre-training, enforce: "on",/' "$fleet/fleet.yaml" >"$scratch/on.yaml"
lockstep fleet apply "$scratch/on.yaml" --dry-run --json >"$scratch/reached" || [ $? -eq 1 ]
show fleet apply "$scratch/on.yaml" --nodes "$(sed 's/.*"nodes":\([0-9]*\).*/\1/' "$scratch/reached")" \
    --gpus "$(sed 's/.*"gpus":\([0-9]*\).*/\1/' "$scratch/reached")"
if show admit --job 4711 --nodes 'sim[0001-0020]'; then die "a skewed gang was admitted"; fi
show admit --job 4711 --nodes 'sim[0014-0020]' --start || die "a gang that agrees was refused"
show image add registry.example/llm:7 --nccl 2.27.5
if show admit --job 4712 --nodes 'sim[0014-0020]' --image registry.example/llm:7; then
    die "a job with another NCCL was admitted"
fi

step "11. They are put right." "Leaving drift is a record, with its evidence."
for n in 11 12 13; do
    node=$(printf 'sim%04d' "$n")
    for file in lockstep/nvml.csv var/lib/dpkg/status; do
        cp "tests/roots/h200/$file" "$machine/$node/root/$file.new"
        mv "$machine/$node/root/$file.new" "$machine/$node/root/$file"
    done
done
reread 11 12 13
await_differing drift 0
show admit --job 4711 --nodes 'sim[0001-0020]' || die "a gang that is right again was refused"

step "12. Every record is still there, and the chain proves it." \
    "The heads that agents kept agree, so it was not rewritten either."
show journal verify "$fleet/controller" --witness "$fleet/agents"
show node history sim0012 --limit 12

lockstep sim down "$fleet"
