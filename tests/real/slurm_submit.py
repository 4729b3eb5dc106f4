#!/usr/bin/env python3
"""job_submit/lockstep in a real slurmctld, with the policy that lockstep-slurm-bridge writes: refusals, gangs on one slot, and
a bridge that stops.

    slurm_submit.py BUILD_DIR [PART...]      all parts, or these: refusals, constraints, gangs, ...

Beside the release of Slurm that is installed, tools/slurm-root.sh runs this with a later one.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import slurm_bridge  # pylint: disable=wrong-import-position
from slurm_bridge import Bridge, check, job_state  # pylint: disable=wrong-import-position
from slurm_cluster import Cluster, plugins, release  # pylint: disable=wrong-import-position

A, B = "sha256:" + "a" * 64, "sha256:" + "b" * 64
SLOTS = "[lks0|lks1|lks2]"
STALE = 8  # seconds: after that the policy does not count any more


def policy(halves, enforce="on", closed=True, stale=600):
    """That of lockstepd: the first nodes should run stack A, the others B."""
    first, second = halves
    return {"policy": {
        "pools": [{"name": "train", "nodes": "n[1-4]", "enforce": enforce, "closed": closed, "stale": stale, "nccl": "2.27.3", "unfit": "2.21.5",
                   "stacks": [{"name": "h200-1", "digest": A, "slot": 0, "nodes": first}] * (first > 0) +
                             [{"name": "h200-2", "digest": B, "slot": 1, "nodes": second}] * (second > 0)}],
        "images": [{"ref": "nvcr.io/nvidia/pytorch:24.08", "nccl": "2.21.5"}]}}


class World:
    def __init__(self, build, folder, c, b):
        self.build, self.folder, self.c, self.b = build, folder, c, b
        self.file = os.path.join(folder, "policy")

    def put(self, *halves, **how):
        status, answer = self.b.ask("PUT", "/v1/policy", policy(halves, **how))
        time.sleep(1.1)  # the plugin looks once a second
        return status, answer

    def show(self, nodes, slot, digest):
        status, answer = self.b.ask("PUT", "/v1/truth", {"truth": [
            {"nodes": nodes, "features": ["lks-" + digest[7:19], "lks-conform", f"lks{slot}"], "digest": digest}]})
        assert status == 200 and not answer["failed"], answer

    def submit(self, *how, script="true", environment=None):
        """The job's ID, or what sbatch printed."""
        p = subprocess.run(["sbatch", "--parsable", "-o", "/dev/null", "-D", "/", *how, "--wrap", script], check=False, text=True,
                           env=dict(self.c.env, **(environment or {})), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                           stdin=subprocess.DEVNULL)
        return p.stdout.strip() or p.stderr

    def field(self, job, name):
        words = self.c.run("scontrol", "-o", "show", "job", job, check=False).stdout.split()
        return next((w.split("=", 1)[1] for w in words if w.startswith(name + "=")), "")

    def features(self, *how, **more):
        job = self.submit(*how, "--hold", **more)
        found = self.field(job, "Features") if job.isdigit() else job
        self.c.run("scancel", job, check=False)
        return found


# What holds.

def refusals(w):
    w.put(4, 0)
    said = w.submit("--comment", "lockstep:stack=h100")
    check("a stack that the pool does not have is refused", "no node of pool 'train' runs the stack 'h100'; its stacks: h200-1" in
          said, said)
    said = w.submit("-N", "2", script="srun --container-image=nvcr.io#nvidia/pytorch:24.08 true")
    check("an image with another NCCL is refused", "has NCCL 2.21.5, and pool 'train' pins 2.27.3" in said, said)
    said = w.submit(environment={"_SLURM_SPANK_OPTION_lockstep_stack": "h100"})
    check("the option of a stack is read", "the stack 'h100'" in said, said)
    said = w.submit("-N", "2", "-C", "stack_a*2")
    check("a constraint that cannot be combined is refused", "cannot be combined with [lks0|lks1|lks2]" in said, said)
    w.put(4, 0, enforce="observe")
    said = w.submit("--comment", "lockstep:stack=h100")
    check("a pool that observes refuses nothing", said.isdigit(), said)
    check("nor does it change a job", w.features("-N", "2") == "(null)", w.features("-N", "2"))
    w.c.run("scancel", "-u", "root", check=False)


def constraints(w):
    w.show("n[1-4]", 0, A)
    w.put(4, 0)
    for user, both in (("", SLOTS), ("stack_a", "stack_a&" + SLOTS), ("stack_a|stack_b", "(stack_a|stack_b)&" + SLOTS),
                       ("stack_a&stack_b", "stack_a&stack_b&" + SLOTS), ("lks0", "lks0"), ("stack_a&lks0", "stack_a&lks0"),
                       ("(stack_a|stack_b)", "(stack_a|stack_b)&" + SLOTS),
                       ("[stack_a|stack_b]", "[" + "|".join(f"({s}&lks{k})" for s in ("stack_a", "stack_b") for k in range(3)) + "]")):
        got = w.features("-N", "2", *(["-C", user] if user else []))
        check(f"Slurm takes '{user}' with slots", got == both, got)
    check("a job on one node gets none", w.features("-N", "1") == "(null)")
    got = w.features("-N", "1", "--comment", "lockstep:stack=h200-1")
    check("a stack becomes its digest", got == "lks-aaaaaaaaaaaa", got)


def tasks(w):
    """Jobs that do not say how many nodes they need: nodes have 8 CPUs each."""
    w.show("n[1-4]", 0, A)
    w.put(4, 0)
    w.c.wait_idle()
    for how, slots, nodes in ((["-n", "16"], True, "2"), (["-n", "2"], True, "1"), (["-N", "1-3"], True, None), (["-n", "1"], False, "1"),
                              ([], False, "1"), (["-c", "4"], False, "1"), (["-n", "4", "--ntasks-per-node", "2"], True, "2"),
                              (["-N", "1", "-n", "8"], False, "1")):
        job = w.submit(*how)
        got = w.field(job, "Features")
        check(f"sbatch {' '.join(how)}: slots", got == (SLOTS if slots else "(null)"), got)
        w.c.wait("job " + job, lambda: job_state(w.c, job) == "COMPLETED", 60)
        check(f"sbatch {' '.join(how)}: it runs", nodes in (None, w.field(job, "NumNodes")), w.field(job, "NumNodes"))
    w.show("n[3-4]", 1, B)
    w.put(2, 2)
    got = agrees(w, w.submit("-n", "2", "-c", "8"), {"n1": 0, "n2": 0, "n3": 1, "n4": 1})
    check("tasks on two nodes have one slot", len(got) == 1, got)
    large = w.submit("-n", "32")
    check("Slurm takes tasks that need more nodes than each slot has", w.field(large, "Features") == "(null)", large)
    w.c.run("scancel", "-u", "root", check=False)


def agrees(w, job, slots):
    """Waits for the end of a job, and for which slot its nodes had."""
    w.c.wait("job " + job, lambda: job_state(w.c, job) == "COMPLETED", 60)
    nodes = w.c.run("scontrol", "show", "hostnames", w.field(job, "NodeList")).stdout.split()
    return {slots[n] for n in nodes}


def gangs(w):
    """In the middle of a campaign, and for a job that was there before it."""
    w.show("n[1-4]", 0, A)
    w.put(4, 0)
    w.c.run("scontrol", "update", "nodename=n[1-4]", "state=drain", "reason=test")
    before = w.submit("-N", "2")
    large = w.submit("-N", "4")
    w.show("n[3-4]", 1, B)
    w.put(2, 2)
    slots = {"n1": 0, "n2": 0, "n3": 1, "n4": 1}
    # One node of each slot is taken: a gang that mixes them would fit at once.
    w.c.run("scontrol", "update", "nodename=n2,n3", "state=resume")
    time.sleep(5)
    check("a gang does not start on two slots", job_state(w.c, before) == "PENDING", job_state(w.c, before))
    w.c.run("scontrol", "update", "nodename=n4", "state=resume")
    got = agrees(w, before, slots)
    check("it starts on one slot when there is one", got == {1}, got)
    w.c.run("scontrol", "update", "nodename=n1", "state=resume")
    for _ in range(3):
        got = agrees(w, w.submit("-N", "2"), slots)
        check("gangs of a mixed pool have one slot", len(got) == 1, got)
    check("a gang that is larger than each slot waits", job_state(w.c, large) == "PENDING", job_state(w.c, large))
    check("one that is submitted now is taken as it is", w.features("-N", "4") == "(null)")
    w.show("n[1-2]", 1, B)
    w.put(0, 4)
    got = agrees(w, large, dict.fromkeys(slots, 1))
    check("a gang that was queued before the campaign runs after it", got == {1}, got)


def modifies(w):
    """Changes of a job that waits. slurmctld passes a place for a message since 23.02."""
    w.show("n[1-4]", 0, A)
    w.put(4, 0)
    job = w.submit("-N", "2", "--hold")
    for how, refused in (("comment=lockstep:stack=h100", True), ("comment=lockstep:stack=h200-1", False)):
        p = w.c.run("scontrol", "update", "jobid=" + job, "partition=main", "features=stack_a", how, check=False)
        check(f"scontrol update {how}: whether it is refused", (p.returncode != 0) == refused, p)
        check(f"scontrol update {how}: the message", ("no node of pool 'train' runs the stack 'h100'" in p.stderr) ==
              (refused and release() >= (23, 2)), p)
        survives(w, f"scontrol update {how}")
        check(f"scontrol update {how}: the constraint", w.field(job, "Features") ==
              (SLOTS if refused else "stack_a&lks-aaaaaaaaaaaa"), w.field(job, "Features"))
    check("slurmctld runs", w.c.daemons["slurmctld"].poll() is None)
    w.c.run("scancel", "-u", "root", check=False)
    w.c.wait_idle()
    # In the middle of a campaign, the requests name no size.
    w.show("n[3-4]", 1, B)
    w.put(2, 2)
    slots = {"n1": 0, "n2": 0, "n3": 1, "n4": 1}
    w.c.run("scontrol", "update", "nodename=n2,n4", "state=drain", "reason=test")
    jobs = {nodes: w.submit("-N", str(nodes), "--hold") for nodes in (1, 2, 4)}
    for nodes, job in jobs.items():
        p = w.c.run("scontrol", "update", "jobid=" + job, "partition=main", "features=stack_a", check=False)
        check(f"a job on {nodes} nodes: Slurm takes a change without a size", p.returncode == 0, p)
        check(f"a job on {nodes} nodes: it has slots after it", w.field(job, "Features") == "stack_a&" + SLOTS, w.field(job, "Features"))
        w.c.run("scontrol", "release", job)
        if nodes == 1:
            check("it runs", len(agrees(w, job, slots)) == 1)
    time.sleep(5)
    check("a gang does not start on two slots", job_state(w.c, jobs[2]) == "PENDING", job_state(w.c, jobs[2]))
    w.c.run("scontrol", "update", "nodename=n2,n4", "state=resume")
    got = agrees(w, jobs[2], slots)
    check("it starts on one", len(got) == 1, got)
    check("one that is larger than each slot waits", job_state(w.c, jobs[4]) == "PENDING", job_state(w.c, jobs[4]))
    w.show("n[1-2]", 1, B)
    w.put(0, 4)
    got = agrees(w, jobs[4], dict.fromkeys(slots, 1))
    check("and runs after the campaign", got == {1}, got)


def survives(w, what):
    began = time.monotonic()
    said = w.submit("-N", "2", "--hold")
    took = time.monotonic() - began
    check(f"{what}: slurmctld takes jobs", said.isdigit() and took < 20, (said, took))


def files(w):
    """Whatever becomes of the file, the policy that was read last counts up to its limit."""
    w.put(4, 0)
    with open(w.file, "rb") as f:
        good = f.read()
    other = w.file + ".x"
    for what, make in (("a torn file", lambda: good[:-7]), ("bytes", lambda: os.urandom(4096)), ("an empty file", lambda: b""),
                       ("a later format", lambda: good.replace(b"policy 1", b"policy 9", 1)), ("a huge file", lambda: b"x" * (5 << 20))):
        with open(other, "wb") as f:
            f.write(make())
        os.replace(other, w.file)
        time.sleep(1.1)
        survives(w, what)
        said = w.submit("--comment", "lockstep:stack=h100")
        check(f"{what}: what was read last counts", "its stacks: h200-1" in said, said)
    with open(w.file, "r+b") as f:  # in place, as the bridge never does
        f.truncate(3)
    time.sleep(1.1)
    survives(w, "cut in place")
    os.unlink(w.file)
    os.mkfifo(w.file)
    time.sleep(1.1)
    survives(w, "a pipe")
    os.unlink(w.file)
    time.sleep(1.1)
    survives(w, "no file")
    check("the bridge writes it again", w.put(4, 0) == (200, {"written": True}))
    w.c.run("scancel", "-u", "root", check=False)


def stops(w):
    """A bridge that hangs or is killed: last known good for a while, then as the pool says."""
    w.put(4, 0, stale=STALE)
    w.b.process.send_signal(signal.SIGSTOP)
    survives(w, "a bridge that hangs")
    time.sleep(STALE + 1)
    said = w.submit("-N", "2")
    check("a pool that is closed refuses without fresh data", "the policy of pool 'train' is" in said, said)
    w.b.process.send_signal(signal.SIGCONT)
    w.put(4, 0, closed=False, stale=STALE)
    w.b.end(signal.SIGKILL)
    survives(w, "a bridge that was killed")
    time.sleep(STALE + 1)
    check("a pool that is open takes jobs as they are", w.features("-N", "2") == "(null)")
    w.b.start()
    w.c.wait("the bridge reads", lambda: w.b.ask("GET", "/v1/nodes")[0] == 200, 60)
    check("and with slots again", w.put(4, 0)[0] == 200 and w.features("-N", "2") == SLOTS)
    w.c.run("scancel", "-u", "root", check=False)


def full(w):
    """A folder without room: the old file stays, and the bridge says so."""
    folder = os.path.join(w.folder, "small")
    os.mkdir(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", folder], check=False).returncode != 0:
        print("skip: this machine mounts no tmpfs")
        return
    try:
        with open(os.path.join(folder, "fill"), "wb", buffering=0) as f:
            try:
                while f.write(b"x" * 512):
                    pass
            except OSError:
                pass
        more = w.b.more
        w.b.end()
        w.b.more = ["--policy", os.path.join(folder, "policy")]
        w.b.start()
        w.c.wait("the bridge reads", lambda: w.b.ask("GET", "/v1/nodes")[0] == 200, 60)
        status, answer = w.b.ask("PUT", "/v1/policy", policy((4, 0)))
        check("a full folder is an error of the request", status == 500 and "error" in answer, (status, answer))
        check("and shown by its health", w.b.ask("GET", "/v1/health")[1]["policy_failed"] is True)
        w.b.end()
        w.b.more = more
        w.b.start()
        w.c.wait("the bridge reads", lambda: w.b.ask("GET", "/v1/nodes")[0] == 200, 60)
    finally:
        subprocess.run(["umount", folder], check=False)


def prolog(w):
    """PrologSlurmctld gets the image that the plugin found."""
    w.put(4, 0)
    w.c.run("scancel", "-u", "root", check=False)
    w.c.wait_idle()
    seen = os.path.join(w.folder, "prolog.env")
    job = w.submit(script="true srun --container-image=reg#mine:7")
    w.c.wait("job " + job, lambda: job_state(w.c, job) in ("COMPLETED", "FAILED"), 60)
    with open(seen, encoding="utf-8", errors="replace") as f:
        found = [line.strip() for line in f if "LOCKSTEP_IMAGE" in line]
    check("the prolog has the image of the job", found[-1:] == ["SPANK_LOCKSTEP_IMAGE=reg#mine:7"], found)


def hostile(w):
    """Texts of a job that no user means."""
    w.put(4, 0)
    for what, how in (("a name", ["-J", "a\x1b[2Jb\n'\"$(x)"]), ("a comment", ["--comment", "lockstep:stack=\x1b]0;x\x07" + "y" * 3000]),
                      ("a constraint", ["-N", "2", "-C", "x" * 3000]), ("a partition", ["-p", "main," * 500])):
        w.submit(*how, "--hold")
        said = w.submit("-N", "2", "--hold")
        check(what + ": slurmctld goes on", said.isdigit(), said)
    said = w.submit("-N", "2", "--hold", script="true " + "--container-image=$X " * 4000)
    check("a script of only images", said.isdigit(), said)
    w.c.run("scancel", "-u", "root", check=False)


def other_release(w):
    """A plugin that was built for another release is not loaded."""
    folder = os.path.join(w.folder, "other")
    os.mkdir(folder)
    for name in os.listdir(plugins()):
        os.symlink(os.path.join(plugins(), name), os.path.join(folder, name))
    with open(os.path.join(w.build, "plugins/slurm/job_submit_lockstep.so"), "rb") as f:
        bytes_ = f.read()
    number = next(n for n in version_numbers(w) if bytes_.count(n) >= 1)
    with open(os.path.join(folder, "job_submit_lockstep.so"), "wb") as f:
        f.write(bytes_.replace(number, (int.from_bytes(number, "little") ^ 0x100).to_bytes(4, "little")))
    with open(w.c.conf, encoding="utf-8") as f:
        conf = f.read()
    w.c.stop("slurmctld")
    w.c.write("slurm.conf", conf.replace(f"PluginDir={w.folder}/plugins", f"PluginDir={folder}"))
    w.c.start_slurmctld()
    time.sleep(5)
    with open(w.c.path("log", "slurmctld.log"), encoding="utf-8", errors="replace") as f:
        log = f.read()
    check("a plugin of another release is not loaded", "ncompatible" in log and w.c.daemons["slurmctld"].poll() is not None,
          log[-600:])
    w.c.daemons.pop("slurmctld").wait()
    w.c.write("slurm.conf", conf)
    w.c.start_slurmctld()
    w.c.wait_idle()


def version_numbers(w):
    """SLURM_VERSION_NUMBER, as it is in the plugin."""
    words = w.c.run("scontrol", "--version").stdout.split()[-1].split(".")
    major, minor, micro = (int("".join(ch for ch in word if ch.isdigit()) or 0) for word in (words + ["0"])[:3])
    yield ((major << 16) | (minor << 8) | micro).to_bytes(4, "little")


PARTS = [refusals, constraints, tasks, gangs, modifies, files, stops, full, prolog, hostile, other_release]


def main():
    build, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    if os.getuid() != 0 or shutil.which("slurmctld") is None:
        print("missing root: this starts a slurmctld" if os.getuid() else "missing hardware: no slurmctld is installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="lks-submit-", dir="/tmp") as folder:
        os.mkdir(os.path.join(folder, "plugins"))
        for name in os.listdir(plugins()):
            os.symlink(os.path.join(plugins(), name), os.path.join(folder, "plugins", name))
        shutil.copy(os.path.join(build, "plugins/slurm/job_submit_lockstep.so"), os.path.join(folder, "plugins"))
        script = os.path.join(folder, "prolog")
        with open(script, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\nenv >>{folder}/prolog.env\n")
        os.chmod(script, 0o755)
        os.environ["LOCKSTEP_POLICY"] = os.path.join(folder, "policy")
        # Another plugin first, as sites have one: what it leaves in registers shows a plugin that takes other arguments.
        extra = f"JobSubmitPlugins=logging,lockstep\nPrologSlurmctld={script}\nPluginDir={folder}/plugins\n"
        with Cluster(os.path.join(folder, "slurm"), nodes=4, gpus=0, extra=extra, features="stack_a,stack_b,lks0,lks1,lks2") as c:
            b = Bridge(build, folder, c.conf, more=["--policy", os.path.join(folder, "policy")])
            w = World(build, folder, c, b)
            c.wait("the bridge reads", lambda: b.ask("GET", "/v1/nodes")[0] == 200, 60)
            for part in PARTS:
                if not wanted or part.__name__ in wanted:
                    print("--", part.__name__, flush=True)
                    part(w)
            b.end()
    print(f"{slurm_bridge.passed} passed, {slurm_bridge.failed} failed")
    return 1 if slurm_bridge.failed else 0


if __name__ == "__main__":
    sys.exit(main())
