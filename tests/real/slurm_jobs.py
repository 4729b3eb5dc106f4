#!/usr/bin/env python3
"""Runs of jobs that a real slurmctld ended, as the bridge and `lockstep job ls` list them.

    slurm_jobs.py BUILD_DIR

Jobs complete, fail, are cancelled and requeued, are tasks of an array, and lose a node. Each run is compared with what scontrol prints. The bridge is
killed in between, and lockstepd is: no run is counted twice. Without lockstepd in BUILD_DIR, as in the root of tools/slurm-root.sh, the bridge alone is
tested.
"""
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests"))
from lockstep_here import Lockstep, Tally, check, wait  # pylint: disable=wrong-import-position
from slurm_cluster import Cluster  # pylint: disable=wrong-import-position

FLEET = """---
lockstep: 1
kind: Fleet
name: lab
pools: {train: {posture: dev, sched: slurm}}
nodes: [{hosts: "n[1-3]", pool: train, class: hgx-h200-8}]
"""
INTERRUPTED = {"requeue": ("requeue", ""), "node": ("node", "n3"), "node again": ("node", "n3")}


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("bridge", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Bridge:
    def __init__(self, build, folder):
        self.build, self.folder, self.socket = build, folder, str(folder / "bridge.sock")
        self.process = None

    def start(self):
        with open(self.folder / "bridge.log", "ab") as log:
            self.process = subprocess.Popen(
                [self.build / "lockstep-slurm-bridge", "--listen", "unix:" + self.socket, "--state", self.folder / "bridge",
                 "--slurm-conf", self.folder / "slurm/slurm.conf", "--allow-user", "root"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        check("the bridge starts", self.process.stdout.readline().startswith("ready"))

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()

    def runs(self, after=0):
        connection = UnixConnection(self.socket)
        try:
            connection.request("GET", f"/v1/runs?after={after}")
            return [row["run"] for row in json.loads(connection.getresponse().read())["runs"]]
        finally:
            connection.close()


class Jobs:
    def __init__(self, cluster):
        self.cluster, self.ids = cluster, {}

    def submit(self, name, *how):
        self.ids[name] = self.cluster.run("sbatch", "--parsable", "-o", "/dev/null", *how).stdout.strip()

    def field(self, job, field):
        text = self.cluster.run("scontrol", "-o", "show", "job", job).stdout
        return text.split(f" {field}=")[1].split()[0]

    def wait(self, name, state):
        wait(f"job '{name}' is {state}", lambda: self.field(self.ids[name], "JobState") == state)


def seconds(text):
    return int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))) * 1000


def run_jobs(jobs, bridge):
    jobs.submit("completed", "-w", "n1", "--gres=gpu:2", "--wrap", "sleep 2")
    jobs.submit("failed", "-w", "n1", "--wrap", "exit 3")
    jobs.submit("cancelled", "-w", "n1", "--wrap", "sleep 600")
    jobs.submit("requeue", "-w", "n2", "--requeue", "--wrap", "sleep 600")
    jobs.submit("array", "-w", "n1", "--array=1-3", "--wrap", "sleep 1")
    jobs.submit("node", "-w", "n3", "--no-requeue", "--wrap", "sleep 600")
    jobs.submit("node again", "-w", "n3", "--requeue", "--wrap", "sleep 600")
    jobs.submit("never", "-w", "n3", "--exclusive", "--wrap", "sleep 600")
    for name in ("cancelled", "requeue", "node", "node again"):
        jobs.wait(name, "RUNNING")
    bridge.runs()
    time.sleep(1.2)  # the bridge has seen them run
    bridge.runs()
    for name in ("completed", "failed"):
        jobs.wait(name, name.upper())
    jobs.cluster.run("scancel", jobs.ids["cancelled"], jobs.ids["never"])
    jobs.wait("cancelled", "CANCELLED")
    jobs.cluster.run("scontrol", "requeue", jobs.ids["requeue"])
    jobs.cluster.run("scontrol", "update", "nodename=n3", "state=down", "reason=test")
    jobs.wait("node", "NODE_FAIL")


def check_runs(jobs, bridge):
    ids = jobs.ids
    expected = {ids[name] for name in ids if name not in ("array", "never")} | {f"{ids['array']}_{i}" for i in (1, 2, 3)}
    wait("the bridge lists every run", lambda: {run["id"] for run in bridge.runs()} >= expected)
    runs = {run["id"]: run for run in bridge.runs()}
    check("and no other, each once", set(runs) == expected and len(bridge.runs()) == len(expected), runs)
    for name in ("completed", "failed", "cancelled", "node"):
        run, job = runs[ids[name]], ids[name]
        status, number = jobs.field(job, "ExitCode").split(":")
        check(f"{name}: as scontrol prints it",
              run["state"].upper() == jobs.field(job, "JobState") and run["started"] == seconds(jobs.field(job, "StartTime"))
              and run["ended"] == seconds(jobs.field(job, "EndTime")) and run["nodes"] == jobs.field(job, "NodeList")
              and (run["exit"] or 0, run["signal"] or 0) == (int(status), int(number)), run)
    check("GPUs", runs[ids["completed"]]["gpus"] == 2, runs[ids["completed"]])
    for name in ("requeue", "node again"):
        run = runs[ids[name]]
        check(f"{name}: the run that was requeued", run["state"] == "requeued" and run["restarts"] == 0 and
              jobs.field(ids[name], "Restarts") == "1", run)
    check("the node that failed is named", runs[ids["node"]]["down"] == "n3" and runs[ids["node again"]]["down"] == "n3")
    return runs


def check_listed(jobs, lockstep):
    def listed(*how):
        return lockstep.run("job", "ls", "--json", *how)["items"]

    wait("lockstepd has the interrupted runs", lambda: {row["job"] for row in listed("--interrupted")} >= {
        jobs.ids[name] for name in INTERRUPTED})
    rows = {row["job"]: row for row in listed("--interrupted")}
    check("and no others", len(listed("--interrupted")) == len(INTERRUPTED), rows)
    for name, (cause, by) in INTERRUPTED.items():
        row = rows[jobs.ids[name]]
        check(f"{name}: cause", (row["cause"], row.get("by", "")) == (cause, by) and row["pool"] == "train", row)
    check("every run is counted once", sum(row["count"] for row in listed()) == 9, listed())
    check("tasks of an array are counted together", [row["count"] for row in listed() if row.get("job") == jobs.ids["array"]] == [3])
    check("runs on a node", {row["job"] for row in listed("--node", "n3")} == {jobs.ids["node"], jobs.ids["node again"]})
    show = lockstep.run("job", "show", jobs.ids["requeue"])
    check("job show", show.returncode == 0 and "requeue" in show.stdout, show)


def test_lockstepd(build, folder, jobs, bridge):
    lockstep = Lockstep(build, folder, [])
    with lockstep.running(FLEET):
        with open(folder / "data/lockstepd.yaml", "a", encoding="utf-8") as config:
            config.write(f'slurm: {{bridges: ["*=unix:{bridge.socket}"]}}\n')
        lockstep.stop("lockstepd")
        lockstep.start_lockstepd()
        check_listed(jobs, lockstep)
        bridge.stop(signal.SIGKILL)
        bridge.start()
        lockstep.stop("lockstepd", signal.SIGKILL)
        lockstep.start_lockstepd()
        jobs.submit("later", "-w", "n1", "--requeue", "--wrap", "sleep 600")
        jobs.wait("later", "RUNNING")
        bridge.runs()
        time.sleep(1.2)
        bridge.runs()
        jobs.cluster.run("scontrol", "requeue", jobs.ids["later"])
        INTERRUPTED["later"] = ("requeue", "")
        wait("after both were killed the next run comes", lambda: lockstep.run(
            "job", "ls", "--json", "--interrupted")["items"][0].get("job") == jobs.ids["later"])
        metrics = subprocess.run(["curl", "--silent", "--unix-socket", folder / "data/lockstepd.sock", "http://lockstepd/metrics"],
                                 capture_output=True, text=True, check=False, timeout=10).stdout
        for line in ('lockstep_jobs_ended_total{pool="train",state="requeued"} 1', 'lockstep_jobs_gaps_total 0',
                     'lockstep_jobs_interrupted_total{pool="train",cause="requeue"} 1'):
            check(f"metrics: {line}", f"{line}\n" in metrics, metrics)
        check("and none came twice", sum(row["count"] for row in lockstep.run("job", "ls", "--json")["items"]) == 10,
              lockstep.run("job", "ls", "--json"))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="lks-jobs-") as name:
        folder = pathlib.Path(name)
        bridge = Bridge(build, folder)
        with Cluster(folder / "slurm", nodes=3) as cluster:
            os.environ["SLURM_CONF"] = str(folder / "slurm/slurm.conf")
            jobs = Jobs(cluster)
            bridge.start()
            try:
                run_jobs(jobs, bridge)
                check_runs(jobs, bridge)
                if (build / "lockstepd").exists():
                    test_lockstepd(build, folder, jobs, bridge)
            finally:
                bridge.stop()
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
