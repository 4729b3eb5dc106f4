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
    drained           the nodes that Slurm drains or has drained                "nodes NAME,..."
    stop              submit no more jobs, wait until all have ended            "ended COUNT"
    idle              wait until no node is drained, down or in use any more    "done"

DIR/jobs has a line for each job that ended: NODE START END STATE, in seconds since 1970. The state is LOST where
slurmctld, which forgets what it did last when it is killed, looked in vain for a job that had ended.
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
        """Nodes with a drain, as Slurm shows them."""
        nodes = self.cluster.run("sinfo", "-h", "-N", "-o", "%N %T").stdout.splitlines()
        return ",".join(sorted(node for node, state in map(str.split, nodes) if "drain" in state))

    def kill_slurmctld(self):
        """Nodes register with the next one at once, and again soon: by themselves they do so two minutes later."""
        self.cluster.stop("slurmctld", signal.SIGKILL)
        self.cluster.start_slurmctld()
        threading.Timer(REGISTER_SECONDS, self.register).start()

    def return_duplicates(self):
        """Return nodes that Slurm itself drained: a killed slurmctld may give the number of a job that runs a second time."""
        drained = self.cluster.run("sinfo", "-h", "-N", "-t", "drain", "-o", "%N %E", check=False)
        for node, reason in (line.split(None, 1) for line in drained.stdout.splitlines()):
            if reason.startswith("Duplicate jobid"):
                self.cluster.run("scontrol", "update", f"nodename={node}", "state=resume", check=False)

    def submit_jobs(self):
        """Jobs of a second or two that need a node each, always some more than there are nodes."""
        chance = random.Random(7)
        while not self.enough.is_set() and self.submitted < JOBS_MAX:
            self.return_duplicates()
            waiting = self.cluster.run("squeue", "-h", "-t", "PENDING", "-o", "%i", check=False)
            if waiting.returncode == 0 and len(waiting.stdout.split()) < WAITING_MAX:
                job = f"sleep {chance.choice(('0.5', '1', '2'))}"
                done = self.cluster.run("sbatch", "-Q", "--exclusive", "-N1", "-o", "/dev/null", "--wrap", job,
                                        check=False)
                self.submitted += done.returncode == 0
            else:
                self.enough.wait(0.1)

    def ended(self):
        """(node, start, end, state) of each job that ended."""
        controller = (self.folder / "slurm/log/slurmctld.log").read_text(errors="replace")
        lost = set(re.findall(r"JobId=(\d+) missing from batch node", controller))
        jobs = []
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
            start, end = (int(datetime.datetime.fromisoformat(fields[key]).timestamp())
                          for key in ("StartTime", "EndTime"))
            state = "LOST" if fields["JobId"] in lost else fields["JobState"]
            jobs.append((fields["NodeList"], start, end, state))
        return jobs

    def all_ended(self):
        """No job waits or runs any more.

        What a killed slurmctld forgot keeps jobs in its queue: a job that it submits again waits for two minutes, a job whose
        launch failed is held for ever, on a node that is drained, and a job that has ended runs until its node registers.
        """
        queue = self.cluster.run("squeue", "-h", "-o", "%i %r", check=False)
        for job, why in (line.split(None, 1) for line in queue.stdout.splitlines()):
            if why == "BeginTime":
                self.cluster.run("scontrol", "update", f"jobid={job}", "StartTime=now", check=False)
            elif "held" in why.lower():
                self.cluster.run("scontrol", "release", job, check=False)
        self.return_duplicates()
        if time.monotonic() - self.registered > REGISTER_SECONDS:
            self.register()
        return queue.returncode == 0 and not queue.stdout.strip()

    def register(self):
        self.registered = time.monotonic()
        self.cluster.run("scontrol", "reconfigure", check=False)

    def wait_ended(self):
        try:
            self.cluster.wait("all jobs have ended", self.all_ended)
        except TimeoutError as fault:
            queue = self.cluster.run("squeue", "-o", "%i %T %r %N", check=False).stdout
            nodes = self.cluster.run("sinfo", "-N", "-o", "%N %T %E", check=False).stdout
            raise TimeoutError(f"{fault}:\n{queue}{nodes}") from fault

    def stop(self, thread):
        self.enough.set()
        thread.join()
        self.wait_ended()
        jobs = self.ended()
        (self.folder / "jobs").write_text("".join(f"{n} {s} {e} {state}\n" for n, s, e, state in jobs))
        return f"ended {len(jobs)}"

    def take(self, line, thread):
        if line == "stop":
            return self.stop(thread)
        if line == "idle":
            self.cluster.wait_idle()
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
