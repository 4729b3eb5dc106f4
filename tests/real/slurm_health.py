#!/usr/bin/env python3
"""slurm-health and slurm-epilog, run by a real slurmd, with a real lockstepd and its agent.

    slurm_health.py BUILD_DIR

slurmd runs the health check every second. The check of the site is a script that this test changes.
"""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests"))
from lockstep_here import Lockstep, Tally, WAIT_S, check, program, wait  # pylint: disable=wrong-import-position
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


def health_rows(lockstep):
    """The rows of the journal about the health of the node."""
    said = subprocess.run(["lockstep", "journal", "export", "--json"], env=lockstep.env, capture_output=True, text=True,
                          timeout=WAIT_S, check=True).stdout
    return said.count('"slurm-health: ')


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
        return (folder / "run-n1/state").read_text() == text + "\n"

    def runs():
        return trace.read_text().count("x") if trace.exists() else 0

    def slurm_state():
        return cluster.node("n1")["State"]

    before = runs()
    wait("slurmd runs the check of the site", lambda: runs() > before)
    check("a node whose check passes is healthy", not lockstep.node("n1")["unhealthy"])

    program(site, f"echo x >>{trace}\necho 'ERROR: nhc: no GPU 3'\nexit 1\n")
    wait("a check that fails makes the node unhealthy", lambda: lockstep.node("n1")["unhealthy"])
    node = lockstep.node("n1")
    check("its first line is the reason", node["condition_text"] == "slurm-health: ERROR: nhc: no GPU 3 (status 1)", node)
    check("the note of the node", node["notes"] == ["check"], node)
    before, rows = runs(), health_rows(lockstep)
    wait("the check runs on", lambda: runs() > before + 2)
    check("and no row is added to the journal", health_rows(lockstep) == rows, rows)
    check("Slurm does not drain the node", "DRAIN" not in slurm_state(), slurm_state())

    program(site, f"echo x >>{trace}\n")
    wait("a check that passes makes the node healthy", lambda: not lockstep.node("n1")["unhealthy"])

    lockstep.run("node", "condition", "n1", "changing", "--reason", "by hand")
    wait("the agent knows of the change", lambda: state_is("changing"))
    program(site, f"echo x >>{trace}\nexit 1\n")
    wait_constant("while the node is changed the check does not run", runs)
    check("and the node stays healthy", not lockstep.node("n1")["unhealthy"])
    job = cluster.run("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "true").stdout.strip()
    wait("the agent hears that a job ended", lambda: f"job={job}" in (folder / "agent-n1.log").read_text())
    lockstep.run("node", "condition", "n1", "changing", "--off", "--reason", "by hand")
    wait("after the change a check that fails counts", lambda: lockstep.node("n1")["unhealthy"])

    lockstep.stop("agent-n1", signal.SIGKILL)
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
        program(folder / "health", f"exec {build}/slurm-health --run {folder}/run-n1 {folder}/site-check\n")
        program(folder / "epilog", f"exec {build}/slurm-epilog --run {folder}/run-n1\n")
        lockstep = Lockstep(build, folder, ["n1"])
        with lockstep.running(FLEET), Cluster(folder / "slurm", nodes=1, extra=EXTRA.format(folder=folder)) as cluster:
            scenes(lockstep, cluster, folder)
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
