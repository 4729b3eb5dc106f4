#!/usr/bin/env python3
"""A real Slurm cluster on this machine: munged, slurmctld and as many slurmd as a test wants, each with fake GPUs.

    slurm_cluster.py DIR [NODES [PREFIX [GPUS [LINE...]]]]      start one in DIR, print "ready DIR/slurm.conf", end it with
                                                                SIGTERM or SIGINT

Nodes are named PREFIX1 (n1) and so on, and have GPUS (8) of them. Each LINE is added to slurm.conf.

Tests use the class:

    with Cluster(folder, nodes=8) as c:
        c.run("scontrol", "show", "node", "n1")

Everything listens on loopback alone, unless slurmctld has another address. The process becomes the reaper of what its daemons
leave behind (job steps detach themselves), and ends only its own descendants. A caller that gives nodes a network namespace of
their own passes `start`, which gets a name and a command, and returns the command for the namespace of that name: a node's for
its slurmd, "slurmctld" for slurmctld and for commands that ask it. `address` is the address of a node, `controller` that of
slurmctld.

Slurm is the installed one, of 22.05 or later; tools/slurm-root.sh runs this with 24.11.
"""
import ctypes
import os
import pathlib
import platform
import pwd
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
GPU_MAJOR = 195  # of NVIDIA's devices: nothing answers there on a machine without a driver
COMMAND_SECONDS = 120
READY_SECONDS = 300
PORT_LEAST, PORT_TRIES = 10000, 1000

LOOPBACK = "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\n"
CONF = """\
ClusterName={name}
SlurmctldHost={host}({controller})
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={dir}/munge/socket
CredType=cred/munge
{loopback}SlurmctldPort={port}
SlurmdPort={slurmd_port}
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd-%n.pid
SlurmctldLogFile={dir}/log/slurmctld.log
SlurmdLogFile={dir}/log/slurmd-%n.log
SlurmctldDebug=verbose
SlurmdDebug=verbose
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
ReturnToService=1
JobRequeue=1
MinJobAge=3600
KillWait=5
MpiDefault=none
"""


def free_ports(count):
    """As many ports of loopback that nothing has now, all different, and none that the kernel gives to a connection: a daemon
    that starts later would find it taken."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as f:
        limit = int(f.read().split()[0])
    ports, span = [], range(min(PORT_LEAST, limit // 2), limit)
    for port in random.sample(span, min(PORT_TRIES, len(span))):
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        ports.append(port)
        if len(ports) == count:
            return ports
    raise RuntimeError(f"only {len(ports)} ports of loopback below {limit} are free, and {count} are needed")


def descendants():
    """All processes that this one started, at whatever distance; the subreaper keeps them in the family."""
    parents = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(entry)] = int(fields[1])
    found, grew = {os.getpid()}, True
    while grew:
        new = {pid for pid, parent in parents.items() if parent in found and pid not in found}
        grew = bool(new)
        found |= new
    return found - {os.getpid()}


def reap():
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


class Cluster:
    def __init__(self, folder, nodes=8, gpus=8, name="real", extra="", start=None, address=None,
                 controller="127.0.0.1", prefix="n", features="stack_a,stack_b"):
        self.dir = os.path.abspath(folder)
        self.nodes = [f"{prefix}{i}" for i in range(1, nodes + 1)]
        self.gpus, self.name, self.extra = gpus, name, extra
        self.start = start or (lambda name, command: command)
        self.address = address or (lambda node: "127.0.0.1")
        self.controller, self.features = controller, features
        self.conf = os.path.join(self.dir, "slurm.conf")
        self.env = dict(os.environ, SLURM_CONF=self.conf)
        self.daemons = {}
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def __enter__(self):
        try:
            self.up()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *_):
        self.down()

    # Files.

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def make_gpus(self):
        """Character devices: Slurm takes no other file for a GPU. Without the right to make them there are none."""
        try:
            for i in range(self.gpus):
                os.mknod(self.path(f"gpu{i}"), 0o600 | stat.S_IFCHR, os.makedev(GPU_MAJOR, i))
        except PermissionError:
            self.gpus = 0

    def write_conf(self):
        ports = free_ports(len(self.nodes) + 2)
        text = CONF.format(name=self.name, host=socket.gethostname().split(".")[0], controller=self.controller,
                           user=pwd.getpwuid(os.getuid()).pw_name, dir=self.dir, port=ports[0],
                           loopback=LOOPBACK if self.controller.startswith("127.") else "",
                           slurmd_port=ports[1])
        text += ("" if "PluginDir=" in self.extra else f"PluginDir={plugins()}\n") + self.extra + ("GresTypes=gpu\n" if self.gpus else "")
        gres = f"Gres=gpu:h200:{self.gpus} " if self.gpus else ""
        for node, port in zip(self.nodes, ports[2:]):
            text += (f"NodeName={node} NodeHostname={socket.gethostname().split('.')[0]} "
                     f"NodeAddr={self.address(node)} Port={port} CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 "
                     f"RealMemory=4000 {gres}Feature={self.features} State=UNKNOWN\n")
        text += f"PartitionName=main Nodes={self.nodes[0]},{','.join(self.nodes[1:])} Default=YES State=UP\n".replace(
            ", ", " ")
        self.write("slurm.conf", text)
        self.write("gres.conf", "AutoDetect=off\n" + (
            f"Name=gpu Type=h200 File={self.dir}/gpu[0-{self.gpus - 1}]\n" if self.gpus else ""))
        self.write("cgroup.conf", "CgroupPlugin=disabled\n" if release() >= (24, 5) else
                   "CgroupAutomount=no\nConstrainDevices=no\n")

    # Daemons.

    def spawn(self, name, command):
        with open(self.path("log", name + ".out"), "ab") as out:
            self.daemons[name] = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=out,
                                                  stderr=out)

    def start_munged(self):
        place = self.path("munge")
        with open(os.path.join(place, "key"), "xb", opener=lambda p, f: os.open(p, f, 0o600)) as f:
            f.write(os.urandom(1024))
        self.spawn("munged", [
            "munged", "--foreground", "--force", f"--key-file={place}/key", f"--socket={place}/socket",
            f"--pid-file={place}/pid", f"--log-file={place}/log", f"--seed-file={place}/seed"])
        self.wait("munged listens", lambda: os.path.exists(place + "/socket"))

    def start_slurmctld(self, before=()):
        """With the state that the last one saved. The words before its name are a command that starts it."""
        self.spawn("slurmctld", self.start("slurmctld", [*before, "slurmctld", "-D", "-f", self.conf]))

    def start_slurmd(self, node, *more):
        """With "-b" it reports that the node rebooted."""
        self.spawn("slurmd-" + node, self.start(node, ["slurmd", "-D", *more, "-N", node, "-f", self.conf]))

    def stop(self, name, how=signal.SIGTERM):
        p = self.daemons.pop(name)
        p.send_signal(how)
        try:
            p.wait(30)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()

    def up(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        for part in ("state", "log", "spool", "munge"):
            os.makedirs(self.path(part), mode=0o755)
        os.chmod(self.path("munge"), 0o711)
        self.make_gpus()
        self.write_conf()
        self.start_munged()
        self.start_slurmctld()
        for node in self.nodes:
            self.start_slurmd(node)
        self.wait_idle()

    def all_idle(self):
        for name, daemon in self.daemons.items():
            if daemon.poll() is not None:
                raise RuntimeError(f"{name} ended with {daemon.returncode}:\n" + self.said(name))
        states = self.run("sinfo", "-h", "-N", "-o", "%T", check=False).stdout.split()
        return len(states) >= len(self.nodes) and set(states) == {"idle"}

    def said(self, name):
        """The end of what a daemon logged."""
        texts = [pathlib.Path(self.path("log", name + end)) for end in (".out", ".log")]
        return "".join(t.read_text(encoding="utf-8", errors="replace")[-2000:] for t in texts if t.exists())

    def down(self):
        """End the daemons, then whatever they left: a job's steps are daemons of their own."""
        for name in sorted(self.daemons, key=lambda n: ("slurmd" not in n, n == "munged")):
            self.stop(name)
        end = time.monotonic() + 60
        while descendants() and time.monotonic() < end:
            for pid in descendants():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            reap()
            time.sleep(0.05)
        reap()

    # What tests ask.

    def run(self, *command, check=True, seconds=COMMAND_SECONDS, **how):
        return subprocess.run(self.start("slurmctld", list(command)), env=self.env, check=check, timeout=seconds, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)

    def node(self, name):
        """The fields of a node, as Slurm's own command shows them."""
        line = self.run("scontrol", "-o", "show", "node", name).stdout
        fields, key = {}, None
        for word in line.split():
            if "=" in word and word.split("=")[0].isalnum():
                key, value = word.split("=", 1)
                fields[key] = value
            elif key:
                fields[key] += " " + word
        return fields

    @staticmethod
    def wait(what, holds, seconds=READY_SECONDS):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = holds()
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(f"not within {seconds} s: {what}")

    def wait_idle(self):
        try:
            self.wait("all nodes are idle", self.all_idle)
        except TimeoutError as fault:
            raise TimeoutError(f"{fault}:\n" + self.run("scontrol", "-o", "show", "node", check=False).stdout) from fault


def release():
    """The release of the Slurm that is installed, such as (22, 5)."""
    said = subprocess.run(["slurmd", "-V"], check=True, timeout=COMMAND_SECONDS, text=True, stdout=subprocess.PIPE).stdout
    return tuple(int(part) for part in said.split()[-1].split(".")[:2])


def plugins():
    """Debian's folder of Slurm's plugins."""
    for place in (f"/usr/lib/{platform.machine()}-linux-gnu/slurm-wlm", "/usr/lib64/slurm", "/usr/lib/slurm"):
        if os.path.isdir(place):
            return place
    raise FileNotFoundError("no folder of Slurm plugins: install slurm-wlm-basic-plugins")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Cluster(sys.argv[1], nodes=int(sys.argv[2]) if len(sys.argv) > 2 else 8,
                 prefix=sys.argv[3] if len(sys.argv) > 3 else "n",
                 gpus=int(sys.argv[4]) if len(sys.argv) > 4 else 8,
                 extra="".join(line + "\n" for line in sys.argv[5:])) as c:
        print("ready", c.conf, flush=True)
        while True:
            signal.pause()


if __name__ == "__main__":
    main()
