#!/usr/bin/env python3
"""slurm-health and slurm-epilog, run by a real slurmd, with a real lockstepd and its agent.

    slurm_health.py BUILD_DIR

slurmd runs the health check every second. The check of the site is a script that this test changes.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests"))
from slurm_cluster import Cluster  # pylint: disable=wrong-import-position

FLEET = """lockstep: 1
kind: Fleet
name: lab
pools: {train: {posture: dev, sched: slurm}}
nodes: [{hosts: n1, pool: train, class: hgx-h200-8}]
"""
EXTRA = """HealthCheckProgram={folder}/health
HealthCheckInterval=1
HealthCheckNodeState=ANY
Epilog={folder}/epilog
"""
WAIT_S = 120

passed = failed = 0


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {why}"), flush=True)


def program(path, text):
    """A script that is replaced as a whole, because slurmd may run it at any moment."""
    new = path.with_name(path.name + ".new")
    new.write_text("#!/bin/sh\n" + text)
    new.chmod(0o755)
    new.rename(path)


class Lockstep:
    """lockstepd, and the agent of n1 on a captured machine."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.env = dict(os.environ, PATH=f"{build}:/usr/sbin:/usr/bin:/sbin:/bin", HOME=str(folder), PAGER="cat",
                        LOCKSTEP_SERVER=f"unix:{folder}/data/lockstepd.sock")
        self.daemons = {}

    def start(self, name, *command):
        with open(self.folder / (name + ".log"), "ab") as log:
            self.daemons[name] = subprocess.Popen(command, env=self.env, stdout=log, stderr=log)

    def stop(self, name, how=signal.SIGTERM):
        daemon = self.daemons.pop(name)
        daemon.send_signal(how)
        daemon.wait(WAIT_S)

    def run(self, *command):
        said = subprocess.run(["lockstep", *command], env=self.env, capture_output=True, text=True, timeout=WAIT_S,
                              check=False)
        return json.loads(said.stdout) if said.returncode == 0 and "--json" in command else said

    def up(self):
        data = self.folder / "data"
        subprocess.run(["lockstepd", "init", "--data", str(data), "--people", "127.0.0.1:0", "--agents", "127.0.0.1:0"],
                       env=self.env, check=True, stdout=subprocess.DEVNULL)
        with open(data / "lockstepd.yaml", "a", encoding="utf-8") as config:
            config.write("limits: {heartbeat_ms: 500}\n")
        self.start("lockstepd", "lockstepd", "run", "--config", str(data / "lockstepd.yaml"))
        wait("lockstepd answers", lambda: self.run("fleet", "show").returncode == 0)
        (self.folder / "fleet.yaml").write_text(FLEET)
        self.run("fleet", "apply", str(self.folder / "fleet.yaml"), "--yes")
        (self.folder / "token").write_text(self.run("node", "enroll", "n1", "--json")["token"])
        self.start_agent()

    def start_agent(self):
        log = (self.folder / "lockstepd.log").read_text()
        port = re.search(r"people_port=(\d+)", log).group(1)
        self.start("agent", "lockstep-agent", "--state", str(self.folder / "agent"), "--controller",
                   f"https://localhost:{port}", "--ca", str(self.folder / "data/ca.crt"), "--token-file",
                   str(self.folder / "token"), "--node", "n1", "--root", str(SOURCE / "tests/roots/h200"), "--quick",
                   "--log-level", "debug", "--run", str(self.folder / "run"))

    def down(self):
        for name in sorted(self.daemons):
            self.stop(name)

    def node(self):
        return self.run("node", "show", "n1", "--json")

    def rows(self):
        """The rows of the journal about the health of the node."""
        said = subprocess.run(["lockstep", "journal", "export", "--json"], env=self.env, capture_output=True, text=True,
                              timeout=WAIT_S, check=True).stdout
        return said.count('"slurm-health: ')


def wait(what, holds):
    end = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {WAIT_S} s: {what}")
        time.sleep(0.05)
    check(what, True)


def wait_constant(what, count):
    """Wait until the count was the same for 3 s: what started before may still end."""
    last, since = count(), time.monotonic()

    def is_constant():
        nonlocal last, since
        if count() != last:
            last, since = count(), time.monotonic()
        return time.monotonic() >= since + 3

    wait(what, is_constant)


def scenes(lockstep, cluster, folder):
    site, trace = folder / "site-check", folder / "trace"

    def state_is(text):
        return (folder / "run/state").read_text() == text + "\n"

    def runs():
        return trace.read_text().count("x") if trace.exists() else 0

    def slurm_state():
        return cluster.node("n1")["State"]

    before = runs()
    wait("slurmd runs the check of the site", lambda: runs() > before)
    check("a node whose check passes is healthy", not lockstep.node()["unhealthy"])

    program(site, f"echo x >>{trace}\necho 'ERROR: nhc: no GPU 3'\nexit 1\n")
    wait("a check that fails makes the node unhealthy", lambda: lockstep.node()["unhealthy"])
    node = lockstep.node()
    check("its first line is the reason", node["condition_text"] == "slurm-health: ERROR: nhc: no GPU 3 (status 1)", node)
    check("the note of the node", node["notes"] == ["check"], node)
    before, rows = runs(), lockstep.rows()
    wait("the check runs on", lambda: runs() > before + 2)
    check("and no row is added to the journal", lockstep.rows() == rows, rows)
    check("Slurm does not drain the node", "DRAIN" not in slurm_state(), slurm_state())

    program(site, f"echo x >>{trace}\n")
    wait("a check that passes makes the node healthy", lambda: not lockstep.node()["unhealthy"])

    lockstep.run("node", "condition", "n1", "changing", "--reason", "by hand")
    wait("the agent knows of the change", lambda: state_is("changing"))
    program(site, f"echo x >>{trace}\nexit 1\n")
    wait_constant("while the node is changed the check does not run", runs)
    check("and the node stays healthy", not lockstep.node()["unhealthy"])
    job = cluster.run("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "true").stdout.strip()
    wait("the agent hears that a job ended", lambda: f"job={job}" in (folder / "agent.log").read_text())
    lockstep.run("node", "condition", "n1", "changing", "--off", "--reason", "by hand")
    wait("after the change a check that fails counts", lambda: lockstep.node()["unhealthy"])

    lockstep.stop("agent", signal.SIGKILL)
    wait_constant("without the agent the check does not run", runs)
    job = cluster.run("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "true").stdout.strip()
    wait("an epilog without the agent", lambda: "JobState=COMPLETED" in
         cluster.run("scontrol", "show", "job", job).stdout)
    wait("does not drain the node", lambda: slurm_state() == "IDLE")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="lks-health-") as name:
        folder = pathlib.Path(name)
        program(folder / "site-check", f"echo x >>{folder}/trace\n")
        program(folder / "health", f"exec {build}/slurm-health --run {folder}/run {folder}/site-check\n")
        program(folder / "epilog", f"exec {build}/slurm-epilog --run {folder}/run\n")
        lockstep = Lockstep(build, folder)
        try:
            lockstep.up()
            with Cluster(folder / "slurm", nodes=1, extra=EXTRA.format(folder=folder)) as cluster:
                scenes(lockstep, cluster, folder)
        except BaseException:
            for log in sorted(folder.glob("*.log")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}")
            raise
        finally:
            lockstep.down()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
