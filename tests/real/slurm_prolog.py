#!/usr/bin/env python3
"""slurm-prolog, run by a real slurmctld, with a real lockstepd and two agents: which jobs start, and what their owners see. The SPANK
plugin passes on the wishes of jobs, and has the file of n2's agent.

    slurm_prolog.py BUILD_DIR

n2 differs from the stack of its pool until it is repaired, and n3 is not in the fleet. Slurm tries a refused job again after 120 s; the test does not wait
for that, but has it tried at once.
"""
import json
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
WARNED = "lockstep: n2: drift: it does not run the stack of its pool\n"
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


def at_task_start(lockstep, jobs):
    """The SPANK plugin with the file of n2's agent, while n2 drifts and its pool only observes."""
    show = ("srun", "-w", "n2", "sh", "-c", "echo $LOCKSTEP_STACK")
    file, agent = lockstep.folder / "run-n2/stack", lockstep.daemons["agent-n2"]
    wait("n2's agent knows that no job should start", lambda: file.exists() and "bar drift\n" in file.read_text())
    said = jobs.cluster.run(*show)
    check("a task on a node that drifts is warned", WARNED in said.stderr and said.stdout.startswith("golden/"), said)
    agent.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    said = jobs.cluster.run(*show)
    agent.send_signal(signal.SIGCONT)
    check("a stopped agent delays no task", WARNED in said.stderr, said)
    print(f"     {time.monotonic() - began:.2f} s")


def refused_by_wishes(jobs, prologs):
    job = jobs.submit("-w", "n1", "--stack", "silver")
    wait("a job that asks for another stack is refused", lambda: prologs.of(job) == [1])
    wait("its owner sees why", lambda: jobs.show(job, "AdminComment").startswith("lockstep: no: stack n1: "))
    jobs.cluster.run("scancel", job)
    job = jobs.submit("-w", "n1", "--stack", "golden")
    wait("one that asks for the node's stack starts", lambda: jobs.is_done(job))


def refused_components(jobs, prologs):
    """Nodes of both components are asked about with the first one; n2, which drifts, is of the second."""
    job = jobs.submit("-w", "n1", ":", "-w", "n2")
    wait("a heterogeneous job with a node that drifts is refused with its first component", lambda: prologs.of(job) == [1])
    wait("its owner sees why", lambda: jobs.show(job, "AdminComment") == REASON)
    wait("it waits", lambda: jobs.show(job, "JobState") == "PENDING")
    check("none of it ran", not jobs.ran(job))
    jobs.cluster.run("scancel", job)


def tried_again(jobs, prologs):
    """Slurm has n2 alone; then n1 returns and n2 is drained, as lockstep does where on_drift has drain."""
    prologs.write("--retry 60", f"--state {prologs.folder}/retried")
    jobs.cluster.run("scontrol", "update", "nodename=n1", "state=drain", "reason=test")
    job = jobs.submit("-N1", "-x", "n3")
    wait("a job on the node that drifts is refused", lambda: prologs.of(job) == [1])
    began = time.monotonic()
    jobs.cluster.run("scontrol", "update", "nodename=n1", "state=resume")
    jobs.cluster.run("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
    wait("once that node is drained, it starts elsewhere at once", lambda: jobs.is_done(job))
    check("and does not wait for 120 s", time.monotonic() - began < 100, time.monotonic() - began)
    print(f"     {time.monotonic() - began:.1f} s")
    jobs.cluster.run("scontrol", "update", "nodename=n2", "state=resume")
    prologs.write()


def refused_at_the_start(lockstep, jobs, prologs):
    wait("n1: conforms", lambda: lockstep.node("n1").get("judged") == "conforms")
    wait("n2: drift", lambda: lockstep.node("n2").get("judged") == "drift")
    job = jobs.submit("-w", "n1,n2")
    wait("while the pool observes, a job starts on a skewed set", lambda: jobs.is_done(job))
    wait("and it is counted, as the two tasks before",
         lambda: [i["refused"].get("drift") for i in lockstep.run("admit", "--observed", "--json")["items"]] == [3])

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


def last_answers(lockstep, jobs, prologs):
    """While lockstepd is stopped: jobs start on nodes that it admitted lately, and on no others."""
    prologs.write("--seconds 2", "--without-answer last", f"--state {prologs.folder}/last")
    job = jobs.submit("-w", "n1")
    wait("n1 is admitted", lambda: jobs.is_done(job))
    lockstep.daemons["lockstepd"].send_signal(signal.SIGSTOP)
    job = jobs.submit("-w", "n1")
    wait("without an answer a job starts on it", lambda: jobs.is_done(job))
    other = jobs.submit("-w", "n1,n2")
    wait("and not on a node that was not asked about", lambda: prologs.of(other) == [1])
    wait("its owner sees why",
         lambda: jobs.show(other, "AdminComment").endswith(
             "; no admission is stored for n2: start the first jobs with --without-answer start"))
    lockstep.daemons["lockstepd"].send_signal(signal.SIGCONT)
    jobs.cluster.run("scancel", other)
    job = jobs.submit("-w", "n1")
    wait("with the next answer", lambda: jobs.is_done(job))
    log = lockstep.folder / "lockstepd.log"
    wait("lockstepd learns how many jobs started without one",
         lambda: re.search(r'msg="jobs started without an answer" jobs=1 ', log.read_text()))
    wait("which is reported once", lambda: (prologs.folder / "last/.unanswered").stat().st_size == 0)
    wait("an alarm says so until a person closes it",
         lambda: [i["text"].split(" without")[0] for i in lockstep.run("alarm", "ls", "--json")["items"] if i["kind"] == "unanswered"]
         == ["1 job started"])
    said = lockstep.run("doctor", "--json")  # its status is that of all its findings
    findings = (said if isinstance(said, dict) else json.loads(said.stdout))["checks"]
    check("and so does doctor", any(f["check"] == "admission" and f["state"] == "note" for f in findings), findings)


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
        (folder / "plugstack.conf").write_text(f"optional {build}/plugins/slurm/spank_lockstep.so run={folder}/run-n2\n")
        extra = f"PrologSlurmctld={folder}/prolog\nPlugStackConfig={folder}/plugstack.conf\n"
        lockstep = Lockstep(build, folder, ["n1", "n2"], {"n2": other})
        with lockstep.running(fleet(lockstep, "observe")), \
                Cluster(folder / "slurm", nodes=3, extra=extra) as cluster:
            jobs = Jobs(cluster, folder)
            wait("n2: drift", lambda: lockstep.node("n2").get("judged") == "drift")
            at_task_start(lockstep, jobs)
            job = refused_at_the_start(lockstep, jobs, prologs)
            refused_by_wishes(jobs, prologs)
            refused_components(jobs, prologs)
            tried_again(jobs, prologs)
            repaired(lockstep, jobs, prologs, job)
            last_answers(lockstep, jobs, prologs)
            without_answer(lockstep, jobs, prologs)
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
