#!/usr/bin/env python3
"""slurm-prolog, run by a real slurmctld, with a real lockstepd and two agents: which jobs start, and what their owners see.

    slurm_prolog.py BUILD_DIR

n2 differs from the stack of its pool until it is repaired, and n3 is not in the fleet. Slurm tries a refused job again after 120 s; the test does not wait
for that, but has it tried at once.
"""
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests"))
from lockstep_here import Lockstep, ROOT, Tally, check, program, wait  # pylint: disable=wrong-import-position
from slurm_cluster import Cluster  # pylint: disable=wrong-import-position

FLEET = """---
lockstep: 1
kind: Fleet
name: lab
pools: {train: {posture: dev, stack: golden, enforce: "%s", sched: slurm}}
nodes: [{hosts: "n[1-2]", pool: train, class: golden-class}]
"""
REASON = "lockstep: no: drift n2: openmpi: 4.1.7, pinned 4.1.6 (package manager)"


class Prologs:
    """PrologSlurmctld with the options of the scene; each run leaves its exit status behind."""

    def __init__(self, build, folder):
        self.build, self.folder, self.log = build, folder, folder / "prologs"
        self.log.touch()
        self.write()

    def write(self, *options):
        program(self.folder / "prolog", f"""\
export SLURM_CONF={self.folder}/slurm/slurm.conf
{self.build}/slurm-prolog --lockstep {self.build}/lockstep {' '.join(options)} -- \\
    --server unix:{self.folder}/data/lockstepd.sock 2>>{self.folder}/prolog.log
status=$?
echo "$SLURM_JOB_ID $status" >>{self.log}
exit $status
""")

    def last(self):
        return int(self.log.read_text().split()[-1])

    def of(self, job):
        return [int(line.split()[1]) for line in self.log.read_text().splitlines() if line.split()[0] == job]


class Jobs:
    def __init__(self, cluster, folder):
        self.cluster, self.folder = cluster, folder

    def submit(self, *options):
        return self.cluster.run("sbatch", "--parsable", "-o", "/dev/null", *options, "--wrap",
                                f"echo x >>{self.folder}/ran-$SLURM_JOB_ID").stdout.strip()

    def show(self, job, key):
        found = re.search(rf"^ *{key}=(.*)$" if key == "AdminComment" else rf"\b{key}=(\S*)",
                          self.cluster.run("scontrol", "show", "job", job).stdout, re.M)
        return found.group(1).strip() if found else ""

    def is_done(self, job):
        return self.show(job, "JobState") == "COMPLETED"

    def ran(self, job):
        return (self.folder / f"ran-{job}").exists()

    def try_again(self, job):
        self.cluster.run("scontrol", "update", f"jobid={job}", "starttime=now")


def fleet(lockstep, enforce):
    stack = lockstep.run("stack", "init", "--root", str(ROOT), "--quick", "--name", "golden").stdout
    return stack + FLEET % enforce


def read_again(lockstep, node, judged):
    said = lockstep.run("node", "command", node, "inventory", "--wait", "--reason", "test")
    check(f"{node} is read", said.returncode == 0, said.stderr)
    wait(f"{node}: {judged}", lambda: lockstep.node(node).get("judged") == judged)


def break_openmpi(root):
    status = root / "var/lib/dpkg/status"
    status.write_text(re.sub(r"(Package: openmpi-bin\n(?:.+\n)*?Version: )\S+", r"\g<1>4.1.7-1", status.read_text()))


def refused_at_the_start(lockstep, jobs, prologs):
    wait("n1: conforms", lambda: lockstep.node("n1").get("judged") == "conforms")
    wait("n2: drift", lambda: lockstep.node("n2").get("judged") == "drift")
    job = jobs.submit("-w", "n1,n2")
    wait("while the pool observes, a job starts on a skewed set", lambda: jobs.is_done(job))
    observed = lockstep.run("admit", "--observed", "--json")["items"]
    check("and it is counted", [i["refused"].get("drift") for i in observed] == [1], observed)

    stranger = jobs.submit("-w", "n3")
    wait("a node that the fleet does not have is refused all the same", lambda: prologs.of(stranger) == [1])
    wait("its owner sees why",
         lambda: jobs.show(stranger, "AdminComment") == "lockstep: no: unknown n3: no node 'n3' in the fleet")

    lockstep.apply(fleet(lockstep, "on"))
    job = jobs.submit("-w", "n1,n2")
    wait("where the pool enforces, the job is refused", lambda: prologs.of(job) == [1])
    wait("its owner sees why", lambda: jobs.show(job, "AdminComment") == REASON)
    wait("and it waits", lambda: jobs.show(job, "JobState") == "PENDING")
    check("none of it ran", not jobs.ran(job))
    states = [jobs.cluster.node(n)["State"] for n in ("n1", "n2")]
    check("Slurm drains no node for it", not any("DRAIN" in s for s in states), states)
    other = jobs.submit("-w", "n1")
    wait("a job on the node that conforms starts", lambda: jobs.is_done(other))
    at_terminal = jobs.cluster.run("srun", "-w", "n1,n2", "true", check=False)
    check("a job that waits at a terminal is refused too", at_terminal.returncode != 0 and prologs.last() == 1, at_terminal)
    return job


def repaired(lockstep, jobs, prologs, job):
    shutil.copy(ROOT / "var/lib/dpkg/status", lockstep.roots["n2"] / "var/lib/dpkg/status")
    read_again(lockstep, "n2", "conforms")
    jobs.try_again(job)
    wait("after the repair the job runs", lambda: jobs.is_done(job) and jobs.ran(job))
    check("it was asked about twice", prologs.of(job) == [1, 0], prologs.of(job))


def without_answer(lockstep, jobs, prologs):
    prologs.write("--seconds 2")
    lockstep.daemons["lockstepd"].send_signal(signal.SIGSTOP)
    began = time.monotonic()
    job = jobs.submit("-w", "n1,n2")
    wait("while lockstepd is stopped, a job starts after the time limit", lambda: jobs.is_done(job))
    print(f"     {time.monotonic() - began:.1f} s")
    prologs.write("--seconds 2", "--without-answer refuse")
    job = jobs.submit("-w", "n1,n2")
    wait("and where the site says so it does not", lambda: prologs.of(job) == [1])
    wait("its owner sees why", lambda: jobs.show(job, "AdminComment").startswith("lockstep: no answer from lockstepd: "))
    lockstep.daemons["lockstepd"].send_signal(signal.SIGCONT)
    lockstep.stop("lockstepd", signal.SIGKILL)
    killed = jobs.submit("-w", "n1")
    wait("nor while lockstepd is away", lambda: prologs.of(killed) == [1])
    lockstep.start_lockstepd()
    for node in lockstep.nodes:
        wait(f"{node} is heard", lambda n=node: lockstep.node(n).get("liveness") == "live")
    for waiting in (job, killed):
        wait("slurmctld has put it back", lambda j=waiting: jobs.show(j, "JobState") == "PENDING")
        jobs.try_again(waiting)
        wait("with lockstepd back, the job runs", lambda j=waiting: jobs.is_done(j))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="lks-prolog-") as name:
        folder = pathlib.Path(name)
        other = folder / "root-n2"
        shutil.copytree(ROOT, other, symlinks=True)
        break_openmpi(other)
        prologs = Prologs(build, folder)
        lockstep = Lockstep(build, folder, ["n1", "n2"], {"n2": other})
        with lockstep.running(fleet(lockstep, "observe")), \
                Cluster(folder / "slurm", nodes=3, extra=f"PrologSlurmctld={folder}/prolog\n") as cluster:
            jobs = Jobs(cluster, folder)
            job = refused_at_the_start(lockstep, jobs, prologs)
            repaired(lockstep, jobs, prologs, job)
            without_answer(lockstep, jobs, prologs)
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
