#!/usr/bin/env python3
"""The SPANK plugin in a real Slurm: its options reach the prolog of slurmctld, jobs get the environment of the node's stack, and
tasks are warned or refused by what the node's file says. Here the test writes that file in the agent's place.

    slurm_spank.py PLUGIN
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lockstep_here import Tally, check, program, wait  # pylint: disable=wrong-import-position
from slurm_cluster import Cluster, release  # pylint: disable=wrong-import-position

STACK = """lockstep-stack-1
digest sha256:aaaabbbbccccdddd
name golden
version 1
enforce on
env NCCL_ALGO=Ring
env NCCL_DEBUG=WARN
"""
DRIFT = "bar drift\nwhy it does not run the stack of its pool\n"
WARNING = "lockstep: n1: drift: it does not run the stack of its pool"
BAD = "error: --stack: a stack's NAME, NAME/VERSION or digest (sha256:...) is needed"
SHOW = "env | grep -E '^(NCCL|LOCKSTEP)' | sort"
# A plugin that has the name and the option of Pyxis.
PYXIS = """#include <stdint.h>
#include <slurm/spank.h>
SPANK_PLUGIN(pyxis, 1)
static int take(int val, const char *arg, int remote) { return val != 0 && arg == 0 && remote; }
static struct spank_option image = {"container-image", "IMAGE", "image", 1, 0, take};
int slurm_spank_init(spank_t s, int c, char **v) { return c != 0 && v == 0 ? -1 : spank_option_register(s, &image); }
"""


def stacks(value, source="stack"):
    """How LOCKSTEP_ENV calls a value that a stack set: with its FNV-1a."""
    number = 0x811c9dc5
    for byte in value.encode():
        number = (number ^ byte) * 0x01000193 & 0xffffffff
    return f"{source}:{number:08x}"


class Bench:
    def __init__(self, folder, plugin):
        self.folder, self.plugin, self.run = folder, plugin, folder / "run"
        self.cluster = None
        folder.chmod(0o755)
        self.run.mkdir(mode=0o700)
        self.others = []
        self.configure()
        program(folder / "prolog", f"env | grep '^SPANK_LOCKSTEP' | sort >{folder}/prolog.$SLURM_JOB_ID\nexit 0\n")

    def configure(self, *arguments):
        """srun and slurmstepd read it anew for each job."""
        new = self.folder / "plugstack.new"
        new.write_text("".join(f"optional {p}\n" for p in self.others) +
                       f"optional {self.plugin} run={self.run} {' '.join(arguments)}\n")
        new.rename(self.folder / "plugstack.conf")

    def stack(self, text, age=0):
        new = self.run / "new"
        new.write_text(text)
        os.utime(new, (time.time() - age,) * 2)
        new.rename(self.run / "stack")

    def srun(self, *command):
        return self.cluster.run("srun", "-w", "n1", *command, check=False)

    def said(self, name, *command, out="", err="", rc=0):
        """What the command printed, line by line, and its exit status."""
        p = self.srun(*command)
        check(name, (p.returncode, p.stdout.split(), [line for line in p.stderr.splitlines() if line.startswith("lockstep: ")]) ==
              (rc, out.split(), [err] if err else []), (p.returncode, p.stdout[:400], p.stderr[:400]))

    def prolog(self, job):
        place = self.folder / f"prolog.{job}"
        wait(f"job {job}: the prolog ran", place.exists)
        return place.read_text().split()


def make_pyxis(folder):
    (folder / "pyxis.c").write_text(PYXIS)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "pyxis.so", folder / "pyxis.c"], check=True)
    return folder / "pyxis.so"


def options(bench):
    image = "nvcr.io#nvidia/pytorch:26.06-py3"
    expected = ["SPANK_LOCKSTEP_CANARY_OK=1", f"SPANK_LOCKSTEP_IMAGE={image}", "SPANK_LOCKSTEP_STACK=golden/1"]
    wishes = ("--stack", "golden/1", "--canary-ok", "--container-image", image)
    for name, command in (("srun", ("srun", *wishes, "sh", "-c", "echo $SLURM_JOB_ID")),
                          ("salloc", ("salloc", *wishes, "sh", "-c", "echo $SLURM_JOB_ID")),
                          ("sbatch", ("sbatch", "--parsable", "--wait", "-o", "/dev/null", *wishes, "--wrap", "true"))):
        said = bench.cluster.run(*command, check=False)
        check(f"{name} takes the options", said.returncode == 0, said)
        check(f"{name}: they reach the prolog", bench.prolog(said.stdout.strip()) == expected, said.stderr[:400])
    said = bench.cluster.run("sbatch", "--parsable", "--wait", "-o", "/dev/null", "--stack", "golden", ":", "--stack", "silver",
                             "--wrap", "true", check=False)
    first = int(said.stdout)
    check("the components of a heterogeneous job have their own",
          [bench.prolog(first), bench.prolog(first + 1)] == [["SPANK_LOCKSTEP_STACK=golden"], ["SPANK_LOCKSTEP_STACK=silver"]])
    for name, wish in (("a terminal's colour", "a\x1b[31mb"), ("a line feed", "a\nb"), ("100 KB", "x" * 100000), ("an option", "-x"),
                       ("nothing", "")):
        for command in (["srun", "--stack=" + wish, "true"], ["sbatch", "--stack=" + wish, "--wrap", "true"]):
            p = bench.cluster.run(*command, check=False)
            check(f"{command[0]} refuses {name} in one line", p.returncode == 1 and p.stderr == f"{command[0]}: {BAD}\n" and not p.stdout,
                  (p.returncode, p.stderr[:300]))


def environment(bench):
    identity = "LOCKSTEP_DIGEST=sha256:aaaabbbbccccdddd"
    bench.said("a job gets what its node's stack pins", "sh", "-c", SHOW,
               out=f"{identity} LOCKSTEP_ENV=NCCL_ALGO={stacks('Ring')} NCCL_DEBUG={stacks('WARN')} LOCKSTEP_STACK=golden/1 NCCL_ALGO=Ring NCCL_DEBUG=WARN")
    own = ("--export=ALL,NCCL_ALGO=Tree", "sh", "-c", SHOW)
    bench.said("what the job sets wins", *own,
               out=f"{identity} LOCKSTEP_ENV=NCCL_ALGO=job NCCL_DEBUG={stacks('WARN')} LOCKSTEP_STACK=golden/1 NCCL_ALGO=Tree NCCL_DEBUG=WARN")
    bench.configure("env=force")
    bench.said("unless the site forces the stack", *own,
               out=f"{identity} LOCKSTEP_ENV=NCCL_ALGO={stacks('Ring', 'forced')} NCCL_DEBUG={stacks('WARN')} LOCKSTEP_STACK=golden/1 NCCL_ALGO=Ring NCCL_DEBUG=WARN")
    bench.configure("env=off")
    bench.said("or sets no variables", *own, out=f"{identity} LOCKSTEP_STACK=golden/1 NCCL_ALGO=Tree")
    bench.configure()
    script, out = bench.folder / "script", bench.folder / "out"
    script.write_text(f"#!/bin/sh\nexport NCCL_DEBUG=INFO\nsrun sh -c \"{SHOW}\"\n")
    bench.cluster.run("sbatch", "--wait", "-w", "n1", "-o", str(out), str(script))
    check("a step inherits from its script what the stack set, and what the script set wins", out.read_text().split() ==
          f"{identity} LOCKSTEP_ENV=NCCL_ALGO={stacks('Ring')} NCCL_DEBUG=job LOCKSTEP_STACK=golden/1 NCCL_ALGO=Ring NCCL_DEBUG=INFO".split(),
          out.read_text())


def nested(bench, name, second, out, own=""):
    """A job that starts with the stack of this file, after a job on another stack submitted it. `second` None: there is no file."""
    first, other, go, shown = (bench.folder / word for word in ("first", "second", "go", "shown"))
    for old in (go, shown):
        old.unlink(missing_ok=True)
    other.write_text(f"#!/bin/sh\n{SHOW}\n")
    first.write_text(f"#!/bin/sh\n{own}\nuntil [ -e {go} ]; do sleep 0.1; done\nsbatch --wait -w n1 -o {shown} {other}\n")
    bench.stack(STACK)
    job = bench.cluster.run("sbatch", "--parsable", "-w", "n1", "-o", "/dev/null", str(first)).stdout.strip()
    wait("the first job runs", lambda: "R" in bench.cluster.run("squeue", "-h", "-j", job, "-o", "%t").stdout)
    time.sleep(1)  # its script has the environment
    if second:
        bench.stack(second)
    else:
        (bench.run / "stack").unlink()
    go.touch()
    wait("the first job ends", lambda: not bench.cluster.run("squeue", "-h", "-j", job, check=False).stdout)
    text = "".join(line + "\n" for line in shown.read_text().splitlines() if not line.startswith("lockstep: "))
    check(name, text.split() == out.split(), text)
    bench.stack(STACK)


def inheritance(bench):
    silver = STACK.replace("golden", "silver").replace("aaaabbbbccccdddd", "0000")
    identity = "LOCKSTEP_DIGEST=sha256:0000"
    nested(bench, "an older stack's value is not the job's", silver.replace("=Ring", "=Tree"),
           f"{identity} LOCKSTEP_ENV=NCCL_ALGO={stacks('Tree')} NCCL_DEBUG={stacks('WARN')} LOCKSTEP_STACK=silver/1 NCCL_ALGO=Tree "
           "NCCL_DEBUG=WARN")
    nested(bench, "nor one that the stack does not pin any more", silver.replace("env NCCL_DEBUG=WARN\n", "env NCCL_PROTO=LL\n"),
           f"{identity} LOCKSTEP_ENV=NCCL_ALGO={stacks('Ring')} NCCL_PROTO={stacks('LL')} LOCKSTEP_STACK=silver/1 NCCL_ALGO=Ring "
           "NCCL_PROTO=LL")
    nested(bench, "what the first job sets is", silver.replace("=Ring", "=Tree"),
           f"{identity} LOCKSTEP_ENV=NCCL_ALGO={stacks('Tree')} NCCL_DEBUG=job LOCKSTEP_STACK=silver/1 NCCL_ALGO=Tree NCCL_DEBUG=INFO",
           own="export NCCL_DEBUG=INFO")
    nested(bench, "a node without a stack has neither names nor values", "lockstep-stack-1\n", "")
    nested(bench, "one whose stack pins nothing has its names only", silver.partition("env")[0], f"{identity} LOCKSTEP_STACK=silver/1")
    nested(bench, "one whose stack is not known has no names, and the values with their sources", None,
           f"LOCKSTEP_ENV=NCCL_ALGO={stacks('Ring')} NCCL_DEBUG={stacks('WARN')} NCCL_ALGO=Ring NCCL_DEBUG=WARN")


def rechecks(bench):
    bench.stack(STACK + DRIFT)
    bench.said("a node that drifts: one line on the terminal, and the tasks run", "-n", "2", "echo", "ran", out="ran ran", err=WARNING)
    bench.configure("recheck=off")
    bench.said("no line where the site wants none", "echo", "ran", out="ran")
    bench.configure("recheck=refuse")
    bench.said("or no task starts", "-n", "2", "echo", "ran", err=WARNING + "; the task is not started", rc=1)
    out = bench.folder / "refused"
    bench.cluster.run("sbatch", "--wait", "-w", "n1", "-o", str(out), "--wrap", "echo ran", check=False)
    check("the output of a batch job has the line", out.read_text() == WARNING + "; the task is not started\n", out.read_text())
    bench.stack(STACK.replace("enforce on\n", "") + DRIFT)
    bench.said("a pool that observes refuses nothing", "echo", "ran", out="ran", err=WARNING)
    bench.stack(STACK)
    bench.said("a node that conforms", "--stack", "sha256:aaaabbbb", "echo", "ran", out="ran")
    bench.said("another stack than the job asked for", "--stack", "silver", "echo", "ran", rc=1,
               err="lockstep: n1: stack: it is to run golden/1, and the job asks for silver; the task is not started")
    bench.stack(STACK, age=3600)
    bench.said("the agent is away", "echo", "ran", out="ran", err="lockstep: n1: not checked: lockstep-agent has had no answer from lockstepd for 180 s; tell the administrator (journalctl -u lockstep-agent on this node)")
    bench.configure("without-agent=refuse", "stale=60")
    bench.said("and the site wants an answer", "true", rc=1,
               err="lockstep: n1: not checked: lockstep-agent has had no answer from lockstepd for 60 s; tell the administrator (journalctl -u lockstep-agent on this node); the task is not started")
    bench.configure("recheck=refus")
    bench.stack("lockstep-stack-2\n")
    p = bench.srun("echo", "ran")
    check("a mistake in plugstack.conf and a file of another release stop nothing",
          p.stdout == "ran\n" and "argument 'recheck=refus' is unknown" in p.stderr and "another format than lockstep-stack-1" in p.stderr, p.stderr)
    (bench.run / "stack").unlink()
    os.mkfifo(bench.run / "stack", 0o600)
    began = time.monotonic()
    bench.said("a pipe in the place of the file", "echo", "ran", out="ran",
               err="lockstep: n1: not checked: " f"{bench.run}/stack is not a file that only its agent can write")
    print(f"     {time.monotonic() - began:.2f} s")
    (bench.run / "stack").unlink()
    bench.run.rmdir()
    bench.configure()
    bench.said("a node without an agent", "echo", "ran", out="ran")


def other_release(bench):
    """The same plugin, but for the release in its plugin_version."""
    symbols = subprocess.run(["nm", "-D", bench.plugin], check=True, stdout=subprocess.PIPE, text=True).stdout
    at = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" R plugin_version"))
    image = bytearray(bench.plugin.read_bytes())
    version = int.from_bytes(image[at:at + 4], "little")
    check("the plugin has the release of this Slurm", (version >> 16, version >> 8 & 255) == release(), hex(version))
    image[at:at + 4] = (version + (1 << 8)).to_bytes(4, "little")
    bench.plugin = bench.folder / "other.so"
    bench.plugin.write_bytes(image)
    bench.configure()
    p = bench.srun("--stack", "golden", "true")
    check("a plugin of another release is not loaded", p.returncode != 0 and "unrecognized option '--stack'" in p.stderr, p.stderr[:400])
    p = bench.srun("echo", "ran")
    check("and jobs run without it", p.returncode == 0 and p.stdout == "ran\n" and "ncompatible" in p.stderr, p.stderr[:400])


def main():
    plugin = pathlib.Path(sys.argv[1]).resolve()
    print("Slurm", ".".join(str(part) for part in release()))
    with tempfile.TemporaryDirectory(prefix="lks-spank-") as name:
        bench = Bench(pathlib.Path(name), plugin)
        extra = f"PrologSlurmctld={name}/prolog\nPlugStackConfig={name}/plugstack.conf\n"
        bench.others = [make_pyxis(bench.folder)]
        bench.configure()
        bench.stack(STACK)
        with Cluster(bench.folder / "slurm", nodes=2, gpus=0, extra=extra) as bench.cluster:
            options(bench)
            bench.others = []
            bench.configure()
            environment(bench)
            inheritance(bench)
            rechecks(bench)
            other_release(bench)
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
