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
prometheus=
export LOCKSTEP_SERVER="unix:$fleet/controller/lockstepd.sock"

finish() {
    [ -z "$prometheus" ] || kill "$prometheus" 2>/dev/null || true
    "$bin/lockstep" sim down "$fleet" >/dev/null 2>&1 || true
    [ -z "$prometheus" ] || wait "$prometheus" 2>/dev/null || true
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

. tools/change-story.sh

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# The nodes as Prometheus' targets.
targets() {
    curl -s --unix-socket "$fleet/bmcs/control.sock" http://localhost/bmcs | tr '{' '\n' |
        sed -n 's|.*"name":"\(sim[0-9]*\)","url":"https://\([^"]*\)".*|      - {targets: ["\2"], labels: {node: "\1"}}|p'
}

# Each second what machines do is read from where they say it: watch PORT
watch() {
    cat >"$scratch/prometheus.yml" <<YAML
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - job_name: machines
    scheme: https
    tls_config: {ca_file: "$fleet/bmcs/ca.pem"}
    static_configs:
$(targets)
YAML
    prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/tsdb" \
        --web.listen-address="127.0.0.1:$1" --log.level=error >"$scratch/prometheus.log" 2>&1 &
    prometheus=$!
}

# The controller asks it, and pools have a gate: ask PORT
ask() {
    cat >>"$fleet/controller/lockstepd.yaml" <<YAML
metrics:
  url: "http://127.0.0.1:$1"
  load: "sum by (node) (increase(sim_gpu_busy_seconds_total[\$window]))"
  every_ms: 1000
YAML
    kill -HUP "$(pgrep -f "lockstepd run --config $fleet/controller/lockstepd.yaml")"
    gate='gate: {min_soak: 12s, max_soak: 60s, loss_budget: 30, metrics: {tokens-per-second: {query: sim_tokens_per_second}}}'
    sed "s/headroom: \\([0-9]*\\)}/headroom: \\1, $gate}/" "$fleet/fleet.yaml" >"$scratch/fleet.yaml"
    lockstep fleet apply "$scratch/fleet.yaml" >/dev/null
}

# There is something to compare with: some seconds of what they do as they are, since a moment.
await_history() {
    left=30
    since=$(date +%s)
    while ! curl -sG "http://127.0.0.1:$metrics/api/v1/query" --data-urlencode \
        "query=count(count_over_time(sim_tokens_per_second[$(($(date +%s) - since + 1))s]) > 7)" |
        grep -q "\"$nodes\""; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || die "Prometheus does not have all machines: $(tail -n 1 "$scratch/prometheus.log")"
        sleep 1
    done
}

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
    echo "\$ lockstep change start $change --nodes $nodes --follow"
    lockstep change start "$change" --reason "the window is open" --nodes "$nodes" --follow
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
echo "   taken back: all $nodes nodes conform to 'golden' again"

step "3. The next candidate, as fast as what runs now."
candidate 2 fixed 25.09 || die "a good candidate did not go through"
await_conforming "at the end"
echo "   a slow candidate stopped, a good one through, in $(($(date +%s) - begun)) seconds"
