# What stories of gates have in common, beside change-story.sh: a Prometheus that reads what the machines
# of $fleet do, and a controller that asks it. The script that sources it has $bin, $scratch, $fleet and $nodes, and
# nothing that runs yet: what is started ends, and $scratch goes, when the script does.
# shellcheck shell=sh disable=SC2154

prometheus=

finish() {
    [ -z "$prometheus" ] || kill "$prometheus" 2>/dev/null || true
    "$bin/lockstep" sim down "$fleet" >/dev/null 2>&1 || true
    [ -z "$prometheus" ] || wait "$prometheus" 2>/dev/null || true
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# The nodes as Prometheus' targets.
targets() {
    curl -s --unix-socket "$fleet/bmcs/control.sock" http://localhost/bmcs | tr '{' '\n' |
        sed -n 's|.*"name":"\(sim[0-9]*\)","url":"https://\([^"]*\)".*|      - {targets: ["\2"], labels: {node: "\1"}}|p'
}

# Each second what machines do is read from where they say it, and kept over restarts: watch PORT
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

# The controller asks it: ask PORT
ask() {
    cat >>"$fleet/controller/lockstepd.yaml" <<YAML
metrics:
  url: "http://127.0.0.1:$1"
  load: "sum by (node) (increase(sim_gpu_busy_seconds_total[\$window]))"
  every_ms: 1000
YAML
    kill -HUP "$(awk '$3 == "lockstepd" { pid = $1 } END { print pid }' "$fleet/pids")"
}

# Every pool has this gate from now on: want GATE
want() {
    sed "s/headroom: \\([0-9]*\\)}/headroom: \\1, gate: @}/" "$fleet/fleet.yaml" |
        gate=$1 awk '{ at = index($0, "gate: @")
            print at ? substr($0, 1, at + 5) ENVIRON["gate"] substr($0, at + 7) : $0 }' >"$scratch/fleet.yaml"
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
