"""Network namespaces for a test: the caller's own is that of lockstepd; slurmctld and each node get one.

    net = Namespaces(["g1", "g2"])
    net.inside("g1", ["slurmd", "-D"])     the command, for subprocess
    net.cut(True)                          slurmctld and lockstepd lose each other, and nothing else does

All of them are on one bridge, in a namespace of its own: lockstepd, slurmctld and the agents of nodes reach each other there.
The bridge of Slurm is reached by a second link, between lockstepd and slurmctld alone, which `cut` takes down and up again.
Each namespace lives as long as a process that sleeps in it, and those end with the caller. Needs root and 'ip'.
"""
import ctypes
import os
import signal
import subprocess
import time

LOCKSTEPD, SLURMCTLD = "10.77.0.1", "10.77.0.2"
DIRECT_LOCKSTEPD, DIRECT_SLURMCTLD = "10.78.0.1", "10.78.0.2"
PR_SET_PDEATHSIG = 1
READY_SECONDS = 60


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Namespaces:
    def __init__(self, nodes):
        self.nodes = list(nodes)
        self.holders = {name: self.hold() for name in ["switch", "slurmctld", *self.nodes]}
        end = time.monotonic() + READY_SECONDS
        while any(self.own(h.pid) == self.own("self") for h in self.holders.values()):
            if time.monotonic() > end:
                raise TimeoutError("the network namespaces were not made")
            time.sleep(0.01)
        self.connect()

    @staticmethod
    def hold():
        return subprocess.Popen(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL,
                                preexec_fn=die_with_parent)

    @staticmethod
    def own(pid):
        return os.readlink(f"/proc/{pid}/ns/net")

    def pid(self, name):
        return self.holders[name].pid

    def inside(self, name, command):
        return ["nsenter", f"--net=/proc/{self.pid(name)}/ns/net", *command]

    def ip(self, name, *lines):
        """Run lines of 'ip' in a namespace; None: the caller's own."""
        command = ["ip", "-batch", "-"]
        subprocess.run(self.inside(name, command) if name else command, input="\n".join(lines) + "\n", text=True, check=True,
                       timeout=READY_SECONDS)

    def address(self, name):
        return SLURMCTLD if name == "slurmctld" else f"10.77.1.{self.nodes.index(name) + 1}"

    def connect(self):
        everyone = {None: (os.getpid(), LOCKSTEPD), "slurmctld": (self.pid("slurmctld"), SLURMCTLD)}
        everyone.update({name: (self.pid(name), self.address(name)) for name in self.nodes})
        self.ip("switch", "link set lo up", "link add br0 type bridge", "link set br0 up", *(
            line for i, (pid, _) in enumerate(everyone.values())
            for line in (f"link add v{i} type veth peer name eth0 netns {pid}", f"link set v{i} master br0 up")))
        for name, (_, address) in everyone.items():
            self.ip(name, "link set lo up", f"address add {address}/16 dev eth0", "link set eth0 up")
        self.ip(None, f"link add direct type veth peer name direct netns {self.pid('slurmctld')}",
                f"address add {DIRECT_LOCKSTEPD}/30 dev direct", "link set direct up")
        self.ip("slurmctld", f"address add {DIRECT_SLURMCTLD}/30 dev direct", "link set direct up")

    def cut(self, yes):
        self.ip("slurmctld", "link set direct " + ("down" if yes else "up"))

    def end(self):
        for holder in self.holders.values():
            holder.kill()
            holder.wait()
