#!/usr/bin/env python3
"""The Slurm side of a test: a real cluster whose nodes are named as the test's are, its bridge, and a stream of jobs.

    slurm_side.py DIR BRIDGE_PROGRAM NODES

slurmctld with the bridge and each slurmd are in a network namespace of their own (tests/namespaces.py); the caller's is that
of lockstepd. DIR/namespaces has a line for each: NAME PID, of a process in it. DIR/pki has the certificates of the bridge and
of lockstepd ("ctl").

Prints "ready URL". Then a line on standard input is a command, and each is answered with a line:

    kill slurmctld    end it with SIGKILL and start it again                    "done"
    kill bridge       the same                                                  "done"
    cut, join         slurmctld and lockstepd lose each other, find each other  "done"
    drained           the nodes that Slurm drains for lockstep                  "nodes NAME,..."
    job NAME NODE     a job that runs there until it is told to end             "job ID"
    saved             wait until slurmctld would not forget their start         "done"
    end NAME          tell it                                                   "done"
    over NAME         wait until it has ended                                   "over STATE RESTARTS SIGNALS NODE,..."
    resume NODE       end a drain, as an administrator does                     "done"
    stop              submit no more jobs, wait until all have ended            "ended COUNT"
    idle              wait until no node is drained, down or in use any more    "done"

A job with a name has a checkpoint policy: it writes one when it gets USR1, and ends at once in a run that finds one. "over" has
how often Slurm restarted it, how many signals it got, and the nodes of its runs.

DIR/jobs has a line for each run of a job that ended: NODE START END STATE, in seconds since 1970. REQUEUED is a run of a job with
a name that was requeued. The state is LOST where slurmctld, which forgets what it did last when it is killed, looked in vain
for a job that had ended, or requeued it by itself.
"""
import datetime
import os
import pathlib
import random
import re
import select
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import namespaces  # noqa: E402
import slurm_bridge  # noqa: E402
import slurm_cluster  # noqa: E402

JOBS_MAX = 5000
WAITING_MAX = 6
PORT = 7446
REGISTER_SECONDS = 12  # a node that registers then, not at once, misses the jobs whose end a killed slurmctld did not save
COMPLETING_SECONDS = 30  # then a job whose end got lost is completing for good
STEP = """\
echo "$SLURMD_NODENAME" >>runs
[ -e checkpoint ] && exec sleep 1
trap 'echo USR1 >>signals; : >checkpoint' USR1
: >ready
until [ -e end ]; do sleep 0.2; done
"""


class Side:
    def __init__(self, folder, program, nodes):
        self.folder, self.program = pathlib.Path(folder), program
        self.url = f"https://{namespaces.DIRECT_SLURMCTLD}:{PORT}"
        self.net = namespaces.Namespaces([f"g{i}" for i in range(1, nodes + 1)])
        self.pki = self.folder / "pki"
        slurm_bridge.make_certificates(self.pki, namespaces.DIRECT_SLURMCTLD)
        log = self.folder / "jobs.log"
        extra = f"JobCompType=jobcomp/filetxt\nJobCompLoc={log}\nSlurmdTimeout=15\n" \
            "BatchStartTimeout=2\nMessageTimeout=5\n"
        self.log = log
        self.cluster = slurm_cluster.Cluster(self.folder / "slurm", nodes=nodes, gpus=1, extra=extra, prefix="g",
                                             start=self.net.inside, address=self.net.address,
                                             controller=namespaces.SLURMCTLD)
        self.bridge = None
        self.enough = threading.Event()
        self.submitted = 0
        self.named = {}  # the id of a job by its name
        self.since = 0.0  # the last of them started
        self.saves = []
        self.completing = {}  # since when, by id
        self.registered = time.monotonic()

    def write_namespaces(self):
        lines = [f"{name} {self.net.pid(name)}\n" for name in self.cluster.nodes]
        (self.folder / "namespaces").write_text("".join(lines))

    def start_bridge(self):
        state = self.folder / "bridge"
        state.mkdir(mode=0o700, exist_ok=True)
        with open(self.folder / "bridge.log", "ab") as log:
            self.bridge = subprocess.Popen(
                self.net.inside("slurmctld", [
                    self.program, "--listen", self.url.removeprefix("https://"), "--certificate", self.pki / "server.pem",
                    "--key", self.pki / "server.key", "--ca", self.pki / "ca.pem", "--client-name", "ctl1", "--state", state,
                    "--slurm-conf", self.cluster.conf]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                text=True)
        if not self.bridge.stdout.readline().startswith("ready"):
            sys.exit("slurm_side.py: the bridge did not start: see bridge.log")

    def kill_bridge(self):
        self.bridge.kill()
        self.bridge.wait()
        self.start_bridge()

    def drained(self):
        """Nodes with a drain of lockstep, as Slurm shows them."""
        nodes = self.cluster.wait("slurmctld answers", lambda: self.lines("sinfo", "-h", "-N", "-o", "%N|%T|%E"))
        return ",".join(sorted(node for node, state, why in nodes if "drain" in state and why.startswith("lockstep:")))

    def kill_slurmctld(self):
        """Nodes register with the next one at once, and again soon: by themselves they do so two minutes later."""
        self.cluster.stop("slurmctld", signal.SIGKILL)
        self.cluster.start_slurmctld()
        threading.Timer(REGISTER_SECONDS, self.register).start()

    # What a killed slurmctld leaves behind.

    def lines(self, *command):
        """The fields of each line, in the format that is the last word; None: slurmctld does not answer."""
        got = self.cluster.run(*command, check=False)
        fields = command[-1].count("|")
        return None if got.returncode else [line.split("|", fields) for line in got.stdout.splitlines()]

    def update(self, *how):
        self.cluster.run("scontrol", "update", *how, check=False)

    def return_nodes(self):
        """Return nodes that Slurm itself drained or set down.

        A killed slurmctld may give the number of a job that runs a second time ("Duplicate jobid"), take the end of a job for its
        failure ("batch job complete failure") or give up on its processes ("Kill task failed"). Nodes that do not respond return
        when they register.
        """
        for node, state, reason in self.lines("sinfo", "-h", "-N", "-o", "%N|%T|%E") or []:
            if re.search("drain|down", state) and not re.match("lockstep:|Not responding|none$", reason):
                self.update(f"nodename={node}", "state=resume")

    def free_jobs(self):
        """The queue as (job, state, reason, nodes), without what keeps a job waiting; None: slurmctld does not answer.

        A job that is requeued waits for two minutes, for its credentials to expire. One whose launch failed, or that was requeued
        too often, is held.
        """
        queue = self.lines("squeue", "-h", "-o", "%i|%T|%r|%N")
        for job, _, why, _ in queue or []:
            if why == "BeginTime":
                self.update(f"jobid={job}", "StartTime=now", "ReqNodeList=")
            elif re.search("held|hold", why, re.IGNORECASE):
                self.cluster.run("scontrol", "release", job, check=False)
        return queue

    def end_completing(self, queue):
        """A node that goes down ends the jobs that are completing there: slurmctld may wait for an end that it was told before."""
        now = time.monotonic()
        self.completing = {job: self.completing.get(job, now) for job, state, _, _ in queue if state == "COMPLETING"}
        for job, _, _, nodes in queue:
            if nodes and now - self.completing.get(job, now) > COMPLETING_SECONDS:
                self.update(f"nodename={nodes}", "state=down", "reason=a job does not complete")
                self.update(f"nodename={nodes}", "state=resume")

    def register(self):
        """Nodes register, and say which jobs run: one that ended without a slurmctld counts as running until then."""
        self.registered = time.monotonic()
        self.cluster.run("scontrol", "reconfigure", check=False)

    def recover(self):
        """The queue, as free_jobs(), once no node is lockstep's any more."""
        queue = self.free_jobs()
        self.return_nodes()
        self.end_completing(queue or [])
        if time.monotonic() - self.registered > REGISTER_SECONDS:
            self.register()
        return queue

    def wait(self, what, holds):
        """As the cluster's; and what is in the way, where it never holds."""
        try:
            self.cluster.wait(what, holds)
        except TimeoutError as fault:
            queue = self.cluster.run("squeue", "-o", "%i %T %r %N", check=False).stdout
            nodes = self.cluster.run("sinfo", "-N", "-o", "%N %T %E", check=False).stdout
            raise TimeoutError(f"{fault}:\n{queue}{nodes}") from fault

    # Jobs.

    def note_save(self):
        """When slurmctld saved its jobs; the file is a new one each time."""
        try:
            at = os.stat(self.cluster.path("state", "job_state")).st_mtime
        except FileNotFoundError:
            return
        if self.saves[-1:] != [at]:
            self.saves.append(at)

    def submit_jobs(self):
        """Jobs of a second or two that need a node each, always some more than there are nodes."""
        chance = random.Random(7)
        while not self.enough.is_set() and self.submitted < JOBS_MAX:
            self.note_save()
            self.return_nodes()
            queue = self.free_jobs()
            if queue is not None and sum(state == "PENDING" for _, state, _, _ in queue) < WAITING_MAX:
                job = f"sleep {chance.choice(('0.5', '1', '2'))}"
                done = self.cluster.run("sbatch", "-Q", "--exclusive", "-N1", "-o", "/dev/null", "--wrap", job,
                                        check=False)
                self.submitted += done.returncode == 0
            else:
                self.enough.wait(0.1)

    def submit_named(self, name, node):
        """Its step is signalled, and its batch script is not."""
        place = self.folder / name
        place.mkdir()
        (place / "step").write_text(STEP)
        done = self.cluster.run("sbatch", "--parsable", "--requeue", "--exclusive", "-N1", "-w", node, "-J", name, "-D", place,
                                "-o", "out", "--wrap", "srun -n1 sh ./step")
        self.named[name] = done.stdout.strip()
        self.wait(f"job {name} runs", (place / "ready").exists)
        self.since = time.time()
        return "job " + self.named[name]

    def saved(self):
        """A save that ended since may have begun before, and the next one has not."""
        self.wait("slurmctld saves its jobs", lambda: sum(at > self.since for at in self.saves) > 1)
        return "done"

    def over(self, name):
        def fields():
            shown = self.cluster.run("scontrol", "-o", "show", "job", self.named[name], check=False).stdout
            found = dict(word.split("=", 1) for word in shown.split() if "=" in word)
            return found if found.get("JobState") not in (None, "PENDING", "RUNNING", "COMPLETING") else None
        job = self.cluster.wait(f"job {name} has ended", fields)
        counts = [(self.folder / name / file) for file in ("signals", "runs")]
        signals, runs = ([line for line in c.read_text().split()] if c.exists() else [] for c in counts)
        return f"over {job['JobState']} {job['Restarts']} {len(signals)} {','.join(runs)}"

    def state_of(self, fields, lost):
        """Of a run that ended: one that waits again was requeued, by slurmctld itself unless its job has a name."""
        if fields["JobState"] in ("PENDING", "REQUEUED") and fields["JobId"] in self.named.values():
            return "REQUEUED"
        again = fields["JobState"] in ("PENDING", "REQUEUED", "NODE_FAIL")
        return "LOST" if again or fields["JobId"] in lost else fields["JobState"]

    def ended(self):
        """(node, start, end, state) of each run of a job that ended."""
        controller = (self.folder / "slurm/log/slurmctld.log").read_text(errors="replace")
        lost = set(re.findall(r"JobId=(\d+) missing from batch node", controller))
        jobs = []
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
            if "Unknown" in (fields["StartTime"], fields["EndTime"]):
                continue  # it never ran
            start, end = (int(datetime.datetime.fromisoformat(fields[key]).timestamp())
                          for key in ("StartTime", "EndTime"))
            jobs.append((fields["NodeList"], start, end, self.state_of(fields, lost)))
        return jobs

    def stop(self, thread):
        self.enough.set()
        thread.join()
        self.wait("all jobs have ended", lambda: self.recover() == [])
        jobs = self.ended()
        (self.folder / "jobs").write_text("".join(f"{n} {s} {e} {state}\n" for n, s, e, state in jobs))
        return f"ended {len(jobs)}"

    def take(self, line, thread):
        verb, *rest = line.split()
        answers = {"job": self.submit_named, "saved": self.saved, "over": self.over}
        if line == "stop":
            return self.stop(thread)
        if verb in answers:
            return answers[verb](*rest)
        if verb == "end":
            (self.folder / rest[0] / "end").touch()
        elif verb == "resume":
            self.cluster.run("scontrol", "update", f"nodename={rest[0]}", "state=resume")
        elif line == "idle":
            self.wait("all nodes are idle", lambda: self.recover() == [] and self.cluster.all_idle())
        elif line == "kill slurmctld":
            self.kill_slurmctld()
        elif line == "kill bridge":
            self.kill_bridge()
        elif line in ("cut", "join"):
            self.net.cut(line == "cut")
        elif line == "drained":
            return "nodes " + self.drained()
        else:
            sys.exit(f"slurm_side.py: no command '{line}'")
        return "done"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    side = Side(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    with side.cluster:
        side.write_namespaces()
        side.start_bridge()
        thread = threading.Thread(target=side.submit_jobs, daemon=True)
        thread.start()
        print("ready", side.url, flush=True)
        while True:
            select.select([sys.stdin], [], [])
            line = sys.stdin.readline()
            if not line:
                break
            print(side.take(line.strip(), thread), flush=True)
        side.enough.set()
        thread.join()
    side.net.end()


if __name__ == "__main__":
    os.umask(0o022)
    main()
