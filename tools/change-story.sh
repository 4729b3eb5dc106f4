# What demonstrations of changes have in common, for them to read in: the programs in $bin, a simulated
# fleet in $fleet with $nodes nodes, and files in $scratch. The script that sources it sets these four.
# shellcheck shell=sh disable=SC2154

. tools/story.sh

die() {
    echo "$(basename "$0"): $1" >&2
    exit 1
}

lockstep() {
    "$bin/lockstep" "$@"
}

show() {
    echo "\$ lockstep $*" | sed "s|$scratch|DIR|g"
    lockstep "$@"
}

# How many nodes and assets are judged so.
judged() {
    lockstep node ls --judged "$1" --limit 1000 --json | tr '{' '\n' | grep -c '"name":"sim[0-9]' || true
}

# How many GPUs a change is for, as its plan says: its start repeats that. gpus_of CHANGE
gpus_of() {
    lockstep change show "$1" --json | sed -n 's/.*"nodes":[0-9]*,"gpus":\([0-9]*\),"assets".*/\1/p'
}

# A package of the simulated machines: the texts it changes. package FILE FROM TO
package() {
    cat >"$1" <<JSON
{"files": {
  "/lockstep/command.csv": {"from": "Version : $2 Build", "to": "Version : $3 Build"},
  "/var/lib/dpkg/status": {"from": "Version: 1:$2-1", "to": "Version: 1:$3-1"}}}
JSON
}

# What was said, with digests as short as people read them.
said() {
    sed 's/\(sha256:[0-9a-f]\{12\}\)[0-9a-f]*/\1.../' "$scratch/said" | folded "$columns" ""
}

# Firmware and packages that belong together, signed and in the depot:
# bundle NAME HMC DCGM DCGM_BEFORE [OPTION...]
bundle() {
    name=$1 hmc=$2 dcgm=$3 before=$4
    shift 4
    rm -rf "$scratch/files"
    mkdir "$scratch/files"
    "$bin/lockstep-bmcsim" make-package --personality hgx --class hmc --version "$hmc" "$@" \
        --output "$scratch/files/hmc-$hmc.fwpkg"
    printf 'lockstep: 1\nkind: Bundle\nname: %s\nversion: "1"\nfiles:\n' "$name" >"$scratch/files/bundle.yaml"
    printf '  - {file: hmc-%s.fwpkg, component: hmc}\n' "$hmc" >>"$scratch/files/bundle.yaml"
    if [ -n "$dcgm" ]; then
        package "$scratch/files/dcgm-$dcgm.deb" "$before" "$dcgm"
        printf '  - {file: dcgm-%s.deb, component: dcgm, version: "%s", kind: package}\n' \
            "$dcgm" "$dcgm" >>"$scratch/files/bundle.yaml"
    fi
    lockstep bundle build "$scratch/files" --output "$scratch/$name" --sign "$scratch/site.pem" >/dev/null
    lockstep bundle push "$scratch/$name" >"$scratch/said" 2>/dev/null
    said
}

# DCGM 4.5.9, and 4.5.3 for the rollback, signed and in the depot.
dcgm_bundle() {
    rm -rf "$scratch/files" "$scratch/dcgm"
    mkdir "$scratch/files"
    package "$scratch/files/dcgm-4.5.9.deb" 4.5.3 4.5.9
    package "$scratch/files/dcgm-4.5.3.deb" 4.5.9 4.5.3
    {
        printf 'lockstep: 1\nkind: Bundle\nname: dcgm\nversion: "1"\nfiles:\n'
        for version in 4.5.9 4.5.3; do
            printf '  - {file: dcgm-%s.deb, component: dcgm, version: "%s", kind: package}\n' "$version" "$version"
        done
    } >"$scratch/files/bundle.yaml"
    lockstep bundle build "$scratch/files" --output "$scratch/dcgm" --sign "$scratch/site.pem" >/dev/null
    lockstep bundle push "$scratch/dcgm" >/dev/null 2>&1
}

# The next stack: what runs now with another firmware and perhaps another DCGM. Production takes what was
# released, so it is led there.
# publish NAME REASON HMC [DCGM]
publish() {
    sed '/^kind: Fleet/,$d' "$fleet/fleet.yaml" | sed '$d' | sed '$d' |
        sed "s/name: \"golden\"/name: \"$1\"/; s/version: \"25.04\"/version: \"$3\"/
             s/dcgm\(.*\)4\.5\.3/dcgm\1${4:-4.5.3}/" >"$scratch/$1.yaml"
    lockstep stack publish "$scratch/$1.yaml" --stack "$1" --reason "$2" >"$scratch/said"
    digest=$(sed -n 's/.*\(sha256:[0-9a-f]\{64\}\).*/\1/p' "$scratch/said" | head -1)
    said
    for next in lab canary released; do
        lockstep stack promote "$digest" "$next" --evidence "demo: $2" >/dev/null
    done
}

# As another person, with a token: as WHO COMMAND...
as() {
    who=$1
    shift
    echo "\$ lockstep $*   # by $who"
    lockstep "$@" --server "https://localhost:$port" --ca "$fleet/controller/ca.crt" \
        --token-file "$scratch/$who"
}

# The approvals that the class of a change asks for, by as many people: approve CHANGE REASON
approve() {
    for person in $(echo kim lee joe | cut -d' ' -f1-"$(lockstep change show "$1" --json |
        sed 's/.*"quorum":\([0-9]*\).*/\1/')"); do
        as "$person" change approve "$1" --reason "$2"
    done
}

# Who proposes is not who approves.
invite() {
    port=$(sed -n '/^people:/{n;s/.*:\([0-9]*\)"/\1/p;}' "$fleet/controller/lockstepd.yaml")
    for person in kim lee joe; do
        lockstep access grant "$person" approver >/dev/null
        lockstep access token "demo-$person" "$person" --json | sed 's/.*"token":"\([^"]*\)".*/\1/' \
            >"$scratch/$person"
        chmod 600 "$scratch/$person"
    done
}

# Who signs what comes from vendors that do not.
sign() {
    lockstep trust key site --output "$scratch/site.pem" >/dev/null
    lockstep trust add site "$scratch/site.pem.pub" --reason "we sign for vendors that do not" >/dev/null
}

# Until all nodes conform: await_conforming WHEN
await_conforming() {
    left=600
    while [ "$(judged conforms)" -lt "$nodes" ]; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || die "$(judged conforms) of $nodes nodes conform $1"
        sleep 1
    done
}
