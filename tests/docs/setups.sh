# Set-ups for the command blocks of README.md and docs, by tests/docs/blocks.py. A page names them in a comment:
#
#     <!-- typed: controller fleet -->
#
# Each is a function that runs in the shell of the page, before the blocks below the comment. Paths and hosts are
# those of the pages: blocks.py puts both into a scratch folder and on loopback addresses.
# shellcheck shell=bash disable=SC2034  # the pages use the variables

# until_true COMMAND...: for at most ten minutes, as long as a busy machine may need
until_true() {
    local left=6000
    until "$@" >setup.said 2>&1; do
        left=$((left - 1))
        if [ "$left" -eq 0 ]; then
            echo "setup: never true: $*"
            cat setup.said
            return 1
        fi
        sleep 0.1
    done
}

# as PERSON COMMAND...: with the token of this person
as() {
    local person=$1 data=${LOCKSTEP_SERVER#unix:}
    data=${data%/*}
    shift
    LOCKSTEP_SERVER=https://$(sed -n '/^people:/{n;s/.*"\(.*\)".*/\1/p;}' "$data/lockstepd.yaml") \
        LOCKSTEP_CA=$data/ca.crt LOCKSTEP_TOKEN_FILE=$PWD/$person.token "$@"
}

# nothing: the page's blocks need programs and examples alone
nothing() {
    :
}

# files: manifests, packages and keys that pages name
files() {
    cp examples/firmware/* .
    lockstep-bmcsim make-package --personality openbmc --class bmc --version 2.4.0 --output nic.fwpkg
    cat >bundle.yaml <<'END'
lockstep: 1
kind: Bundle
name: dgx
version: "2026.11"
files:
  - {file: nic.fwpkg, component: bmc}
END
    lockstep bundle build bundle.yaml --output unsigned
    openssl ecparam -name secp384r1 -genkey -noout -out vendor.key
    openssl ec -in vendor.key -pubout -out vendor.pem 2>/dev/null
    cp vendor.pem nvidia-2026.pub
}

# controller: lockstepd in /var/lib/lockstep
controller() {
    lockstepd init --data /var/lib/lockstep --name controller.example \
        --people 0.0.0.0:7443 --agents 0.0.0.0:7444
    printf 'limits:\n  heartbeat_ms: 500\n' >>/var/lib/lockstep/lockstepd.yaml
    lockstepd run --config /var/lib/lockstep/lockstepd.yaml >lockstepd.log 2>&1 &
    controller=$!
    export LOCKSTEP_SERVER=unix:/var/lib/lockstep/lockstepd.sock
    until_true lockstep fleet show
    cp /var/lib/lockstep/ca.crt /var/lib/lockstep/journal.pub /var/lib/lockstep/seal.key .
}

# people: kim, lee, ann and joe, each an approver and operator with a token of their own
people() {
    local person
    for person in kim lee ann joe; do
        lockstep access grant "$person" approver
        lockstep access grant "$person" operator
        (umask 077 && lockstep access token "$person-1" "$person" --ttl 1h >"$person.token")
    done
}

released() { # NAME FILE
    local stage
    lockstep stack publish "$2"
    for stage in lab canary released; do lockstep stack promote "$1" "$stage" --evidence "LAB-88"; done
}

conforming() {
    [ "$(lockstep node ls --judged conforms --json | tr '{' '\n' | grep -c '"name":"gpu')" = 8 ]
}

# manifests NAME [NODES]: fleet.yaml with the pool train, the stack NAME of a captured machine in NAME.yaml, and
# the next one
manifests() {
    lockstep stack init --quick --root tests/roots/h200 --name "$1" >"$1.yaml"
    sed "s/name: \"$1\"/name: \"$1-2\"/; s/power_limit_w: 700/power_limit_w: 650/" "$1.yaml" >"$1-2.yaml"
    {
        cat <<END
lockstep: 1
kind: Fleet
name: example
pools:
  train: {posture: pre-training, ${enforce-}stack: $1}
nodes:
  - {hosts: "gpu[001-$(printf %03d "${2:-8}")]", pool: train, class: $1-class}
---
END
        cat "$1.yaml"
        echo ---
        sed '1,/^---/d' "$1-2.yaml"
    } >fleet.yaml
}

# fleet: the pool train with gpu001 to gpu008, agents of a captured machine that run its stack, and the next stack
fleet() {
    manifests h200-train
    released h200-train h200-train.yaml
    released h200-train-2 h200-train-2.yaml
    lockstep fleet apply --accept fleet.yaml
    reading
}

# change: change 7, proposed; those before it are aborted
change() {
    local id
    for id in 1 2 3 4 5 6; do
        lockstep change propose --to h200-train-2 --pool train --reason "CHG-$id"
        lockstep change abort "$id" --reason "the next one"
    done
}

# proposed: change 7 is proposed
proposed() {
    lockstep change propose --to h200-train-2 --pool train --soak 4h --reason "CVE-2026-1"
}

# simulated: the fleet of 'sim up' has reported, and is older than a second
simulated() {
    sleep 1.1
    until_true sh -c 'lockstep node ls --judged conforms --limit 100 --json | tr "{" "\n" | grep -c "\"name\":\"sim0" | grep -qx 20'
}

# vendor: a bundle that vendors sign, and their keys
vendor() {
    cp unsigned/bundle.json .
    openssl ecparam -name prime256v1 -genkey -noout -out p256.pem
    openssl ecparam -name secp384r1 -genkey -noout -out p384.pem
    openssl genpkey -algorithm ed25519 -out ed25519.pem
}

# admin: the CA and the token of 'lockstepd init' on another machine
admin() {
    cp /var/lib/lockstep/ca.crt /var/lib/lockstep/journal.pub /var/lib/lockstep/seal.key .
    cp -p /var/lib/lockstep/admin.token token
}

# certificate: kim has a certificate, and a request to renew it
certificate() {
    lockstep access certificate kim --output kim.key
    openssl req -new -key kim.key -subj /CN=kim -out kim.csr
}

# table: nodes that another system exported
table() {
    { echo name,pool,class && printf 'gpu%03d,train,hgx-h200-8\n' $(seq 60); } >nodes.csv
}

# witness: heads of the journal, collected from agents; the fleet is older than a second
witness() {
    sleep 1.1
    mkdir -p /collected/heads/gpu001
    lockstep journal head --json | jq -r .head >/collected/heads/gpu001/witness
}

# artifact: a file, and the token of an admin
artifact() {
    echo "a driver" >driver.run
    cp -p /var/lib/lockstep/admin.token .
}

# package: a PLDM package, what it is built from, and the key of a vendor
package() {
    files
    lockstep pldm build nic.yaml --output nic.fwpkg
}

# golden: the fleet as a file, with a stack that is not published yet
golden() {
    manifests golden
}

# reading: agents report what the nodes of fleet.yaml run
reading() {
    local node
    (umask 077 && lockstep node enroll 'gpu[001-008]' >token)
    for node in gpu00{1,2,3,4,5,6,7,8}; do
        mkdir -p "agents/$node"
        cp -a tests/roots/h200 "agents/$node/root"
        cp -p token "agents/$node/token"
        lockstep-agentsim --state "$PWD/agents/$node/state" --controller https://controller.example:7443 \
            --ca ca.crt --node "$node" --root "$PWD/agents/$node/root" --token-file "agents/$node/token" \
            >"agents/$node/log" 2>&1 &
    done
    until_true conforming
}

# drifted: three nodes differ from their stack, each in its own way
drifted() {
    sed -i 's/96\.00\.A5\.00\.1A/96.00.99.00.1A/' agents/gpu001/root/lockstep/nvml.csv
    sed -i '/PersistenceMode/s/"0 1"/"0 0"/' agents/gpu002/root/lockstep/nvml.csv
    sed -i '/^Package: openmpi-bin/,/^Version:/s/^Version: .*/Version: 4.1.7-1/' agents/gpu003/root/var/lib/dpkg/status
    local node
    for node in gpu001 gpu002 gpu003; do lockstep node command "$node" inventory --wait --reason INC-311; done
}

# enforcing: the pool enforces admission
enforcing() {
    enforce='enforce: "on", '
}

# observing: the pool of 'enforcing' no longer enforces admission
observing() {
    sed -i 's/enforce: "on", //' fleet.yaml
    lockstep fleet apply fleet.yaml
}

# deviation: deviation 2 waits for an approver
deviation() {
    lockstep deviation add gpu002 --what settings.persistence --owner kim --until 7d --reason INC-312
}

# numbers-vary: numbers of the output may be others
numbers-vary() {
    :
}

# rehearsal: a fleet of 160 nodes as a file, and the next stack
rehearsal() {
    manifests h200-train 160
}

# packaged: the data directory is where the packaged unit has it
packaged() {
    mkdir /var/lib/lockstep
    lockstepd init --data /var/lib/lockstep/data --name controller.example
}

# tickets: lockstepd accepts votes of a ticket system
tickets() {
    (umask 077 && openssl rand -hex 16 >tickets.secret)
    printf 'tickets:\n  secret: file:%s\n  people: ["kim@example.com=kim"]\n' "$PWD/tickets.secret" \
        >>/var/lib/lockstep/lockstepd.yaml
    kill -HUP %1
}

# held: two nodes are on hold
held() {
    lockstep node hold gpu003,gpu007 --reason "fans"
}

# slurm_settled: the cluster is there, or its process ended
slurm_settled() {
    grep -q ^ready slurm.log || ! kill -0 "$(cat slurm.pid)"
}

# slurm: a real slurmctld with gpu001 to gpu008, which 'make test-real' installs
slurm() {
    python3 tests/slurm_cluster.py "$PWD/slurm" 8 gpu00 1 >slurm.log 2>&1 &
    echo $! >slurm.pid
    until_true slurm_settled
    grep -q ^ready slurm.log || { cat slurm.log; return 1; }
    export SLURM_CONF=$PWD/slurm/slurm.conf
}

# reload: what 'systemctl reload lockstepd' does
reload() {
    kill -HUP "$controller"
}
