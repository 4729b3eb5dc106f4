#!/usr/bin/env python3
"""A real Slurm and its bridge, for `make bench`:

    sched.py DIR BRIDGE_PROGRAM RUNNING DOWN

RUNNING nodes n1, n2 ... have a slurmd. DOWN more nodes have none, and are down: slurmctld changes them as it does the others.
Prints "ready", the path of the bridge's socket and whether this machine has a Slurm; then a line on standard input is a
command, and each is answered with a line:

    loop        drain the running nodes with scontrol, one by one, verify each, and return them    "MS_OF_UPDATES MS_OF_ALL"
    mark        drain all nodes in lockstep's name, as if a controller had gone                    "done"
    count       nodes that are drained                                                             "COUNT"
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import slurm_cluster  # noqa: E402

PROGRAMS = ("slurmctld", "slurmd", "munged", "scontrol", "squeue")
MARK = "lockstep:change:16"
DOWN_NODE = "NodeName=n[{first}-{last}] NodeAddr=127.0.0.1 CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 " \
    "RealMemory=4000 State=DOWN\nPartitionName=down Nodes=n[{first}-{last}] State=UP\n"


class Cluster(slurm_cluster.Cluster):
    def all_idle(self):
        """Those with a slurmd."""
        states = self.run("sinfo", "-h", "-N", "-n", ",".join(self.nodes), "-o", "%T", check=False).stdout.split()
        return len(states) >= len(self.nodes) and set(states) == {"idle"}


class Side:
    def __init__(self, folder, program, running, down):
        self.folder, self.program = pathlib.Path(folder), program
        more = DOWN_NODE.format(first=running + 1, last=running + down) if down else ""
        self.cluster = Cluster(self.folder / "slurm", nodes=running, gpus=0, extra=more)
        self.all = f"n[1-{running + down}]"
        self.socket = self.folder / "bridge.sock"
        self.bridge = None

    def start_bridge(self):
        state = self.folder / "bridge"
        state.mkdir(mode=0o700)
        with open(self.folder / "bridge.log", "ab") as log:
            self.bridge = subprocess.Popen(
                [self.program, "--listen", f"unix:{self.socket}", "--state", state, "--slurm-conf", self.cluster.conf],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        if not self.bridge.stdout.readline().startswith("ready"):
            sys.exit("sched.py: the bridge did not start: see bridge.log")

    def end_bridge(self):
        if self.bridge is not None:
            self.bridge.terminate()
            self.bridge.wait()

    def update(self, nodes, *how):
        self.cluster.run("scontrol", "update", f"nodename={nodes}", *how)

    def is_drained(self, node):
        """No new work by Slurm, and none that runs."""
        return "DRAIN" in self.cluster.node(node)["State"] and not self.cluster.run("squeue", "-h", "-w", node).stdout.strip()

    def loop(self):
        """As a person drains nodes by hand."""
        start = time.monotonic()
        for node in self.cluster.nodes:
            self.update(node, "state=drain", "reason=bench")
        updates = time.monotonic() - start
        for node in self.cluster.nodes:
            self.cluster.wait(node + " is drained", lambda node=node: self.is_drained(node))
        everything = time.monotonic() - start
        self.update(",".join(self.cluster.nodes), "state=undrain")
        return f"{updates * 1000:.0f} {everything * 1000:.0f}"

    def take(self, command):
        if command == "loop":
            return self.loop()
        if command == "mark":
            self.update(self.all, "state=drain", "reason=" + MARK)
            return "done"
        if command == "count":
            return str(self.cluster.run("scontrol", "-o", "show", "nodes").stdout.count("+DRAIN"))
        return sys.exit(f"sched.py: no command '{command}'")


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    if os.getuid() != 0 or not all(shutil.which(p) for p in PROGRAMS) or not os.access(sys.argv[2], os.X_OK):
        print("none", flush=True)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    side = Side(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    with side.cluster:
        try:
            side.start_bridge()
            print("ready", side.socket, flush=True)
            for line in sys.stdin:
                print(side.take(line.strip()), flush=True)
        finally:
            side.end_bridge()


if __name__ == "__main__":
    main()
