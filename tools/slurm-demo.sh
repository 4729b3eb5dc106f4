#!/bin/sh
# A real Slurm asks lockstep before it starts a job: a job on nodes that do not run one stack is refused, its owner reads the
# reason, and after the repair the same job runs.
#
#     slurm-demo.sh BUILD_DIR
#
# Run from the root of the checkout, with Slurm installed. Ends with failure when something is not as it says.
set -eu

if [ $# -ne 1 ] || [ ! -x "$1/lockstepd" ]; then
    echo "usage: tools/slurm-demo.sh BUILD_DIR (the directory that holds lockstepd)" >&2
    exit 2
fi
bin=$(cd "$1" && pwd)
nodes=6 # half of them are the pool that trains
scratch=$(mktemp -d)
fleet=$scratch/fleet
slurm=$scratch/slurm
cluster=
unset LOCKSTEP_CONTEXT LOCKSTEP_CA LOCKSTEP_TOKEN_FILE
export LOCKSTEP_SERVER="unix:$fleet/controller/lockstepd.sock" SLURM_CONF="$slurm/slurm.conf"

finish() {
    [ -z "$cluster" ] || kill "$cluster" 2>/dev/null || true
    [ -z "$cluster" ] || wait "$cluster" || true
    "$bin/lockstep" sim down "$fleet" >/dev/null 2>&1 || true
    rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

. tools/story.sh

die() {
    echo "slurm-demo.sh: $1" >&2
    exit 1
}

lockstep() {
    "$bin/lockstep" "$@"
}

show() {
    echo "\$ $*"
    "$@"
}

# Wait until COMMAND succeeds, for SECONDS at the most: await SECONDS WHAT COMMAND...
await() {
    left=$(($1 * 5)) what=$2
    shift 2
    until "$@"; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || die "not in time: $what"
        sleep 0.2
    done
}

judged() { # NODE VERDICT
    lockstep node show "$1" --json | grep -q "\"judged\":\"$2\""
}

job_is() { # JOB STATE
    scontrol show job "$1" | grep -q "JobState=$2 "
}

comment_of() { # JOB
    scontrol show job "$1" | sed -n 's/^ *\(AdminComment=.*\)/   \1/p'
}

is_commented() { # JOB
    [ -n "$(comment_of "$1")" ]
}

# Replace a file of a node's captured machine and have it read at once.
machine() { # NODE SED_SCRIPT
    status=$fleet/agents/$1/root/var/lib/dpkg/status
    sed "$2" tests/roots/h200/var/lib/dpkg/status >"$status.new"
    mv "$status.new" "$status"
    lockstep node command "$1" inventory --wait --reason "read it again" >/dev/null || die "$1 cannot be read"
}

step "1. A controller, $nodes agents, and a Slurm with the same nodes." \
    "slurmctld runs slurm-prolog before each job, and that asks lockstep. The pool enforces admission."
lockstep sim up "$fleet" --no-bmcs --root tests/roots/h200 --nodes "$nodes" --heartbeat-ms 500 | head -n 1
sed 's/posture: pre-training,/posture: pre-training, enforce: "on",/' "$fleet/fleet.yaml" >"$scratch/on.yaml"
lockstep fleet apply "$scratch/on.yaml" --yes >/dev/null
cat >"$scratch/prolog" <<PROLOG
#!/bin/sh
export SLURM_CONF=$SLURM_CONF
exec $bin/slurm-prolog --lockstep $bin/lockstep -- --server $LOCKSTEP_SERVER 2>>$scratch/prolog.log
PROLOG
chmod 755 "$scratch/prolog"
python3 -B tests/slurm_cluster.py "$slurm" "$nodes" sim000 0 "PrologSlurmctld=$scratch/prolog" >"$scratch/ready" 2>&1 &
cluster=$!
for n in $(seq "$nodes"); do
    await 60 "sim000$n conforms" judged "sim000$n" conforms
done
await 120 "Slurm is ready: $(cat "$scratch/ready")" grep -q '^ready' "$scratch/ready"
echo '$ sinfo --Node --format "%N %T"'
sinfo --Node --format "%N %T"

step "2. A package is upgraded overnight on one node." "No GPU fails, and no health check notices it."
machine sim0003 '/^Package: openmpi-bin/,/^Version:/s/^Version: .*/Version: 4.1.7-1/'
await 60 "sim0003 drifts" judged sim0003 drift
show lockstep drift && die "'drift' answers yes although a node drifts"

step "3. A job on three nodes, one of them that one." \
    "The ranks of one job would load two MPI libraries, and hang."
echo "\$ sbatch --nodelist 'sim[0001-0003]' train.sh"
job=$(sbatch --parsable --nodelist 'sim[0001-0003]' --output /dev/null --wrap "hostname >>$scratch/ran")
await 60 "the job is refused" is_commented "$job"
await 60 "the job waits again" job_is "$job" PENDING
echo "\$ scontrol show job $job"
comment_of "$job"
[ ! -e "$scratch/ran" ] || die "the job ran on a skewed set"

step "4. The node is repaired, and the same job runs."
machine sim0003 ''
await 60 "sim0003 conforms" judged sim0003 conforms
show scontrol update "jobid=$job" starttime=now
await 120 "the job runs" job_is "$job" COMPLETED
[ -e "$scratch/ran" ] || die "the job left no trace"
echo "\$ squeue --states all --job $job --format '%i %T %N'"
squeue --states all --job "$job" --format "%i %T %N"
