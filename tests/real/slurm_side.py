#!/usr/bin/env python3
"""The Slurm side of a test: a real cluster whose nodes are named as the test's are, its bridge, and a stream of jobs.

    slurm_side.py DIR BRIDGE_PROGRAM NODES

Prints "ready SOCKET". Then a line on standard input is a command, and each is answered with a line:

    kill slurmctld    end it with SIGKILL and start it again                    "done"
    kill bridge       the same                                                  "done"
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import slurm_cluster  # noqa: E402

JOBS_MAX = 5000
WAITING_MAX = 6


class Side:
    def __init__(self, folder, program, nodes):
        self.folder, self.program = pathlib.Path(folder), program
        self.socket = self.folder / "bridge.sock"
        log = self.folder / "jobs.log"
        extra = f"JobCompType=jobcomp/filetxt\nJobCompLoc={log}\nSlurmdTimeout=15\n"
        self.log = log
        self.cluster = slurm_cluster.Cluster(self.folder / "slurm", nodes=nodes, extra=extra, prefix="g")
        self.bridge = None
        self.enough = threading.Event()
        self.submitted = 0

    def start_bridge(self):
        state = self.folder / "bridge"
        state.mkdir(mode=0o700, exist_ok=True)
        with open(self.folder / "bridge.log", "ab") as log:
            self.bridge = subprocess.Popen(
                [self.program, "--listen", f"unix:{self.socket}", "--state", str(state), "--slurm-conf",
                 self.cluster.conf], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        slurm_cluster.Cluster.wait("the bridge listens", self.socket.exists)

    def kill_bridge(self):
        self.bridge.kill()
        self.bridge.wait()
        self.socket.unlink(missing_ok=True)
        self.start_bridge()

    def kill_slurmctld(self):
        self.cluster.stop("slurmctld", signal.SIGKILL)
        self.cluster.start_slurmctld()

    def submit_jobs(self):
        """Jobs of a second or two that need a node each, always some more than there are nodes."""
        chance = random.Random(7)
        while not self.enough.is_set() and self.submitted < JOBS_MAX:
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
        """A job that slurmctld lost and submits again would wait for two minutes."""
        queue = self.cluster.run("squeue", "-h", "-o", "%i %r", check=False)
        for job, why in (line.split(None, 1) for line in queue.stdout.splitlines()):
            if why == "BeginTime":
                self.cluster.run("scontrol", "update", f"jobid={job}", "StartTime=now", check=False)
        return queue.returncode == 0 and not queue.stdout.strip()

    def stop(self, thread):
        self.enough.set()
        thread.join()
        self.cluster.wait("all jobs have ended", self.all_ended)
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
        else:
            sys.exit(f"slurm_side.py: no command '{line}'")
        return "done"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    side = Side(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    with side.cluster:
        side.start_bridge()
        thread = threading.Thread(target=side.submit_jobs, daemon=True)
        thread.start()
        print("ready", side.socket, flush=True)
        while True:
            select.select([sys.stdin], [], [])
            line = sys.stdin.readline()
            if not line:
                break
            print(side.take(line.strip(), thread), flush=True)
        side.enough.set()
        thread.join()


if __name__ == "__main__":
    os.umask(0o022)
    main()
