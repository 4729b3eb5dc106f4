#!/usr/bin/env python3
"""Heterogeneous jobs that mix images with different NCCL, in a real slurmctld that runs the prologs of all components at once, with a
real lockstepd and three agents.

    slurm_prolog_images.py BUILD_DIR

The stack has both versions in its tested window, so that each image may run by itself, and only a job that mixes them is refused.
"""
import pathlib
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests"))
from lockstep_here import Lockstep, ROOT, Tally, check, wait  # pylint: disable=wrong-import-position
from slurm_cluster import Cluster  # pylint: disable=wrong-import-position
from slurm_prolog import Jobs, Prologs  # pylint: disable=wrong-import-position
from slurm_spank import make_pyxis  # pylint: disable=wrong-import-position

FLEET = """---
lockstep: 1
kind: Fleet
name: lab
pools: {train: {posture: %s, stack: golden, enforce: "%s", sched: slurm}}
nodes: [{hosts: "n[1-3]", pool: train, class: golden-class}]
"""
OLD, NEW, SAME = "registry.lab/train:1", "registry.lab/train:2", "registry.lab/eval:2"
ROUNDS = 5  # the order of the prologs is Slurm's


def stack(lockstep):
    drafted = lockstep.run("stack", "init", "--root", str(ROOT), "--quick", "--name", "golden").stdout
    return drafted + 'windows: {nccl: ">=2.27.3 <2.29"}\n'


def fleet(lockstep, posture, enforce):
    return stack(lockstep) + FLEET % (posture, enforce)


def release(lockstep):
    """Pools whose ranks have to agree take only stacks that were released."""
    file = lockstep.folder / "golden.yaml"
    file.write_text(stack(lockstep))
    said = lockstep.run("stack", "publish", str(file))
    check("the stack is published", said.returncode == 0, said.stderr)
    for stage in ("lab", "canary", "released"):
        said = lockstep.run("stack", "promote", "golden", stage, "--evidence", "test")
        check(f"the stack is promoted: {stage}", said.returncode == 0, said.stderr)
    for image, nccl in ((OLD, "2.27.3"), (NEW, "2.28.3"), (SAME, "2.28.3")):
        said = lockstep.run("image", "add", image, "--nccl", nccl)
        check(f"{image} has NCCL {nccl}", said.returncode == 0, said.stderr)


class Mixed:
    """Jobs of two components: the first on n1 and n2, the second on n3."""

    def __init__(self, jobs, prologs):
        self.jobs, self.prologs = jobs, prologs

    def submit(self, first, second):
        return self.jobs.submit("-w", "n[1-2]", "--container-image", first, ":", "-w", "n3", "--container-image", second)

    def statuses(self, job):
        return sorted(s for part in (job, str(int(job) + 1)) for s in self.prologs.of(part))

    def runs(self, what, first, second):
        job = self.submit(first, second)
        wait(what, lambda: self.jobs.is_done(job))
        check("both components were asked about, once each", self.statuses(job) == [0, 0], self.statuses(job))

    def refused(self, what, first, second, expected):
        job = self.submit(first, second)
        wait(what, lambda: 1 in self.statuses(job))
        wait("its owner sees the image and its ranks", lambda: expected in self.jobs.show(job, "AdminComment"))
        wait("it waits", lambda: self.jobs.show(job, "JobState") == "PENDING")
        check("none of it ran", not self.jobs.ran(job))
        return job


def scene(lockstep, jobs, prologs):
    mixed = Mixed(jobs, prologs)
    no = f"lockstep: no: image {NEW} ranks 2: brings NCCL 2.28.3, where {OLD} brings NCCL 2.27.3"
    mixed.runs("where the pool observes, a job with two NCCL runs", OLD, NEW)
    wait("and it is counted", lambda: any(i["refused"].get("image", 0) >= 1
                                          for i in lockstep.run("admit", "--observed", "--json")["items"]))
    lockstep.apply(fleet(lockstep, "pre-training", "on"))
    mixed.runs("where the pool enforces, a job with two images of one NCCL runs", NEW, SAME)
    mixed.runs("and one with one image", NEW, NEW)
    for i in range(ROUNDS):
        job = mixed.refused(f"a job with two NCCL is refused ({i + 1})", OLD, NEW, no)
        if i < ROUNDS - 1:
            jobs.cluster.run("scancel", job)
    jobs.try_again(job)
    wait("it is refused again when Slurm tries again", lambda: mixed.statuses(job).count(1) >= 2)
    wait("and waits", lambda: jobs.show(job, "JobState") == "PENDING")
    check("none of it ran", not jobs.ran(job))
    said = lockstep.run("admit", "--job", job, "--nodes", "n1,n2,n3", "--override", "INC-7: a test of NCCL", "--until", "1h")
    check("an override for the job is taken", said.returncode == 0, said)
    jobs.try_again(job)
    wait("an override of the first component and all nodes lets it start", lambda: jobs.is_done(job))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="lks-images-") as name:
        folder = pathlib.Path(name)
        prologs = Prologs(build, folder)
        prologs.write(f"--state {folder}/state")
        (folder / "plugstack.conf").write_text(f"optional {make_pyxis(folder)}\n"
                                               f"optional {build}/plugins/slurm/spank_lockstep.so run={folder}/run-n1\n")
        extra = f"PrologSlurmctld={folder}/prolog\nPlugStackConfig={folder}/plugstack.conf\n"
        lockstep = Lockstep(build, folder, ["n1", "n2", "n3"])
        with lockstep.running(fleet(lockstep, "dev", "observe")), \
                Cluster(folder / "slurm", nodes=3, extra=extra) as cluster:
            release(lockstep)
            lockstep.apply(fleet(lockstep, "pre-training", "observe"))
            for node in lockstep.nodes:
                wait(f"{node} conforms", lambda n=node: lockstep.node(n).get("judged") == "conforms")
            scene(lockstep, Jobs(cluster, folder), prologs)
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
