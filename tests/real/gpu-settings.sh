#!/bin/sh
# The settings executor on a machine with NVIDIA GPUs: power limit, clocks, persistence, compute mode,
# MIG mode and geometry are set, read back by the executor and by nvidia-smi, found "already so" the
# second time, taken back, and set again after the executor was killed at random moments.
#
#     gpu-settings.sh EXECUTORS [SECONDS]
#
# As root, on a machine that nobody uses. What it set is taken back at the end, whatever happens.
set -u

executors=$(cd "$1" && pwd)
seconds=${2:-20}
work=$(mktemp -d)
passed=0
failed=0

smi() {
    nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits | sort -u
}

# settings COMPONENT=VALUE...: the order for them, run by the executor. A value of nothing: as it is born.
settings() {
    items=
    for pair; do
        value=$(printf '%s' "${pair#*=}" | sed 's/"/\\"/g')
        item="{\"component\":\"${pair%%=*}\""
        [ -z "$value" ] || item="$item,\"value\":\"$value\""
        items="$items${items:+,}$item}"
    done
    printf '{"executor":"settings","items":[%s],"lockstep":1}' "$items" >"$work/order"
    hex=$(sha256sum "$work/order" | cut -c1-64)
    pair=$(echo "$hex" | cut -c1-2)
    mkdir -p "$work/depot/sha256/$pair"
    cp "$work/order" "$work/depot/sha256/$pair/$(echo "$hex" | cut -c3-)"
    LOCKSTEP_DEPOT="$work/depot" "$executors/settings" "sha256:$hex"
}

# expect NAME WANTED GOT
expect() {
    # shellcheck disable=SC2254  # it is a pattern
    case $3 in
    $2)
        passed=$((passed + 1))
        echo "ok   $1: $3"
        ;;
    *)
        failed=$((failed + 1))
        echo "FAIL $1: '$3' is not '$2'"
        ;;
    esac
}

# there_and_back NAME QUERY WANTED NORMAL PAIR...: set, read, again, as it is born, read.
there_and_back() {
    name=$1 query=$2 wanted=$3 normal=$4
    shift 4
    expect "$name, set" "*changed*" "$(settings "$@" 2>&1)"
    expect "$name, read by nvidia-smi" "$wanted" "$(smi "$query")"
    expect "$name, set again" "already so*" "$(settings "$@" 2>&1)"
    back=
    for pair; do back="$back ${pair%%=*}="; done
    # shellcheck disable=SC2086  # paths of settings are words
    expect "$name, taken back" "*settings*" "$(settings $back 2>&1)"
    expect "$name, read once more" "$normal" "$(smi "$query")"
}

take_back() {
    settings settings.mig.profiles= settings.mig.mode= >/dev/null 2>&1
    settings settings.power_limit_w= settings.clocks.graphics_mhz= settings.clocks.locked= \
        settings.compute_mode= >/dev/null 2>&1
    [ -z "${persistence:-}" ] || settings "settings.persistence=$persistence" >/dev/null 2>&1
    settings settings.persistence= >/dev/null 2>&1
    rm -rf "$work"
}
trap take_back EXIT
trap 'exit 1' HUP INT TERM

echo "$(smi name), driver $(smi driver_version), $(nvidia-smi -L | grep -c '^GPU') GPUs"
case $(smi persistence_mode) in Enabled) persistence=true other=false ;; *) persistence=false other=true ;; esac
default=$(smi power.default_limit | cut -d. -f1)
lowest=$(smi power.min_limit | cut -d. -f1)
limit=$(((default + lowest) / 2))
there_and_back "power limit" power.limit "$limit.*" "$default.*" "settings.power_limit_w=$limit"

clock=$(nvidia-smi -i 0 --query-supported-clocks=gr --format=csv,noheader,nounits | sort -nu | awk '{ a[NR] = $1 } END { print a[int(NR * 2 / 3)] }')
expect "clocks, set" "*changed*" "$(settings settings.clocks.locked=true "settings.clocks.graphics_mhz=$clock" 2>&1)"
expect "clocks, read by nvidia-smi" "$clock" "$(smi clocks.gr)"
expect "clocks, set again" "already so*" "$(settings settings.clocks.locked=true "settings.clocks.graphics_mhz=$clock" 2>&1)"
expect "a clock that no GPU has" "settings.clocks.graphics_mhz: *" "$(settings settings.clocks.graphics_mhz=123456 2>&1)"
expect "clocks, taken back" "*settings*" "$(settings settings.clocks.locked= settings.clocks.graphics_mhz= 2>&1)"

expect "persistence, set" "*changed*" "$(settings "settings.persistence=$other" 2>&1)"
expect "persistence, set back" "*changed*" "$(settings "settings.persistence=$persistence" 2>&1)"
there_and_back "compute mode" compute_mode "Exclusive_Process" "Default" settings.compute_mode=exclusive-process

case $(smi ecc.mode.current) in Enabled) ecc=true ;; Disabled) ecc=false ;; *) ecc= ;; esac
[ -z "$ecc" ] || expect "ECC as it is" "already so*" "$(settings "settings.ecc=$ecc" 2>&1)"

case $(smi mig.mode.current) in
Disabled)
    expect "MIG, enabled" "*changed*" "$(settings settings.mig.mode=enabled 2>&1)"
    expect "MIG, read by nvidia-smi" "Enabled" "$(smi mig.mode.current)"
    profile=$(nvidia-smi mig -i 0 -lgip | sed -n 's/.*MIG \([0-9]g\.[0-9]*gb\) .*/\1/p' | head -n 1)
    geometry="[\"$profile\",\"$profile\"]"
    expect "geometry, made" "*changed*" "$(settings settings.mig.mode=enabled "settings.mig.profiles=$geometry" 2>&1)"
    expect "geometry, read by nvidia-smi" "$((2 * $(nvidia-smi -L | grep -c '^GPU')))" "$(nvidia-smi -L | grep -c 'MIG ')"
    expect "geometry, made again" "already so*" "$(settings settings.mig.mode=enabled "settings.mig.profiles=$geometry" 2>&1)"
    expect "MIG, taken back" "*changed*" "$(settings settings.mig.mode= settings.mig.profiles= 2>&1)"
    expect "MIG, read once more" "Disabled" "$(smi mig.mode.current)"
    ;;
*) echo "     no MIG here, or in use: $(smi mig.mode.current)" ;;
esac

# Whenever it is killed, the next run comes to the same end.
until=$(($(date +%s) + seconds))
rounds=0
while [ "$(date +%s)" -lt "$until" ]; do
    rounds=$((rounds + 1))
    want=$((lowest + rounds % 5 * (default - lowest) / 5))
    settings "settings.power_limit_w=$want" settings.clocks.locked=true "settings.clocks.graphics_mhz=$clock" >/dev/null 2>&1 &
    victim=$!
    sleep "0.$((rounds * 37 % 90 + 10))"
    pkill -KILL -P "$victim" 2>/dev/null
    kill -KILL "$victim" 2>/dev/null
    wait "$victim" 2>/dev/null
done
said=$(settings "settings.power_limit_w=$limit" settings.clocks.locked=true "settings.clocks.graphics_mhz=$clock" 2>&1)
expect "after $rounds kills" "*settings*" "$said"
expect "the limit after them" "$limit.*" "$(smi power.limit)"
expect "the clock after them" "$clock" "$(smi clocks.gr)"
settings settings.clocks.locked= settings.clocks.graphics_mhz= >/dev/null 2>&1

# What a boot loses is kept: lost here by hand, and set again.
nvidia-smi -pl "$default" >/dev/null
expect "after a boot" "*changed*" "$("$executors/settings" --boot 2>&1)"
expect "the limit after a boot" "$limit.*" "$(smi power.limit)"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
