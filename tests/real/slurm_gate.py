#!/usr/bin/env python3
"""Jobs of a real Slurm on 16 nodes that a campaign moves to the next stack: which start, where, and what their owners see. lockstepd
and the bridge are stopped and killed on the way, while jobs are submitted.

    slurm_gate.py BUILD_DIR [SLURM_BUILD_DIR]      the programs; those of a release of Slurm, where they are built elsewhere

slurmctld has job_submit/lockstep and PrologSlurmctld, jobs have the SPANK plugin, and lockstepd reaches Slurm by its bridge. The agents and BMCs are simulated (`lockstep sim up`), Slurm is real, and the programs between them too. Slurm tries a refused job
again after 120 s; the test has it tried at once. Slurm's own times are printed, and decide nothing.
"""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests"))
from lockstep_here import Lockstep, Tally, WAIT_S, check, program, wait  # pylint: disable=wrong-import-position
from slurm_bridge import Bridge  # pylint: disable=wrong-import-position
from slurm_cluster import Cluster, plugins, release  # pylint: disable=wrong-import-position
from slurm_prolog import Jobs  # pylint: disable=wrong-import-position

NODES = 16
GPUS = 4 * NODES
SPEED = 100  # of BMCs, and of lockstepd's waits between two questions to a BMC or to Slurm
PART = 5  # nodes that are changed before the change is paused; those in progress finish
GANGS = 3  # of the mixed pool
PHASE_S = 6  # under load, with lockstepd or the bridge in some state
PROLOG_S = 2  # then a prolog has no answer
LOAD_PER_S = 5  # jobs

# What makes the next stack, and a change to it that two others approve.
CHANGE = """
set -eu
. tools/change-story.sh
invite
sign
bundle today 25.04 "" ""
bundle next 25.08 "" ""
publish next "the next stack" 25.08
lockstep change propose --to next --pool train --soak 1s --reason "the next stack"
approve 1 "read the plan"
"""
FEATURES = "lks0,lks1,lks2"
EXTRA = """PrologSlurmctld={0}/prolog
JobSubmitPlugins=lockstep
PluginDir={0}/plugins
PlugStackConfig={0}/plugstack.conf
"""
Story = collections.namedtuple("Story", "fleet cluster bridge prolog jobs")


def has_ended(pid):
    """Also if nothing reaped it yet."""
    try:
        return not pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return True


class Fleet(Lockstep):
    """lockstepd, agents and BMCs of `lockstep sim up`, whose nodes are one pool. lockstepd is started again, as a daemon of the
    test."""
    sched = "slurm"

    def __init__(self, build, folder):
        super().__init__(build, folder, [f"sim{i:04}" for i in range(1, NODES + 1)])
        self.place = folder / "fleet"
        self.env["LOCKSTEP_SERVER"] = f"unix:{self.place}/controller/lockstepd.sock"

    def must(self, *command):
        said = subprocess.run(command, env=self.env, cwd=SOURCE, capture_output=True, text=True, timeout=WAIT_S, check=False)
        if said.returncode:
            raise RuntimeError(f"{command[:3]}: {said.stdout}{said.stderr}")
        return said.stdout

    def up(self, fleet):
        root = self.folder / "gb200"
        self.must(f"{self.build}/tests/plant", "tests/roots/synthetic-gb200.tree", str(root))
        self.must("lockstep", "sim", "up", str(self.place), "--root", str(root), "--nodes", str(NODES), "--flash", "hmc=25.04",
                  "--heartbeat-ms", "500", "--bmc-speed", str(SPEED))
        wait(f"all {NODES} nodes conform", lambda: len(self.items("node", "ls", "--judged", "conforms")) >= NODES)
        self.end_first()
        self.start_lockstepd()
        self.set_pool(fleet)

    def end_first(self):
        """The lockstepd of `sim up`; the next one has a bridge, and a machine that is busy makes no node late."""
        lines = [line.split() for line in (self.place / "pids").read_text().splitlines()]
        pid = next(int(line[0]) for line in lines if line[2] == "lockstepd")
        os.kill(pid, signal.SIGTERM)
        wait("the first lockstepd ends", lambda: has_ended(pid))
        config = self.place / "controller/lockstepd.yaml"
        limits = "limits:\n  call_nodes: 100\n  validity_ms: 500\n  staleness_ms: 500\n"
        text = re.sub("late_ms: .*", "late_ms: 30000", re.sub("lost_ms: .*", "lost_ms: 90000", config.read_text()))
        config.write_text(text.replace("limits:\n", limits) + "rate: {people_per_s: 10000, burst: 10000}\n" + self.sched_config())

    def sched_config(self):
        return f'slurm: {{bridges: ["*=unix:{self.folder}/bridge.sock"]}}\n'

    def start_lockstepd(self):
        self.start("lockstepd", "lockstepd", "run", "--config", str(self.place / "controller/lockstepd.yaml"))
        wait("lockstepd answers", lambda: self.run("fleet", "show").returncode == 0)

    def set_pool(self, enforce, more=""):
        text = (self.place / "fleet.yaml").read_text().replace("pool: serve", "pool: train")
        text = re.sub("^  serve: .*\n", "", text, flags=re.M)
        self.apply(re.sub("headroom: [0-9]*", f'headroom: 4, sched: {self.sched}, enforce: "{enforce}"{more}', text))

    def down(self):
        super().down()
        subprocess.run(["lockstep", "sim", "down", str(self.place)], env=self.env, stdout=subprocess.DEVNULL, check=False)

    def print_change(self):
        for command in (("change", "show", "1"), ("change", "show", "1", "--nodes", "all"), ("alarm", "ls")):
            said = self.run(*command)
            print(said.stdout + said.stderr)

    def items(self, *command):
        said = self.run(*command, "--json")
        return said["items"] if isinstance(said, dict) else []  # no answer: ask again

    def on(self, stack):
        """The nodes that should run a stack and do."""
        nodes = [self.node(name) for name in self.nodes]
        return {n["name"] for n in nodes if n["judged"] == "conforms" and n["stack"] == stack}

    def set_dcgm(self, node, before, after):
        status = self.place / f"agents/{node}/root/var/lib/dpkg/status"
        status.write_text(status.read_text().replace(before, after))
        said = self.run("node", "command", node, "inventory", "--wait", "--reason", "test")
        check(f"{node} is read", said.returncode == 0, said.stderr)

    def change(self):
        return self.run("change", "show", "1", "--json")

    def parts(self):
        """How many nodes of the change are in each state."""
        return collections.Counter(item["state"] for item in self.items("change", "show", "1", "--nodes", "all"))


class Prolog:
    """PrologSlurmctld with the options of the scene. A job may have a file with its images, as a site that knows them. Each run
    leaves its exit status behind."""

    def __init__(self, fleet, slurm):
        self.fleet, self.slurm, self.log = fleet, slurm, fleet.folder / "prologs"
        self.log.touch()
        self.set("--seconds 60")

    def set(self, *options):
        folder, build = self.fleet.folder, self.fleet.build
        program(folder / "prolog", f"""\
export SLURM_CONF={self.slurm}/slurm.conf
{build}/slurm-prolog --lockstep {build}/lockstep {' '.join(options)} -- \\
    --server {self.fleet.env["LOCKSTEP_SERVER"]} $(cat {folder}/images-$SLURM_JOB_NAME 2>/dev/null) 2>>{folder}/prolog.log
status=$?
echo "$SLURM_JOB_ID $status" >>{self.log}
exit $status
""")

    def of(self, job):
        return [int(line.split()[1]) for line in self.log.read_text().splitlines() if line.split()[0] == job]


def nodes_of(story, job):
    """The nodes that a job ran on, one name for each."""
    return set(story.cluster.run("scontrol", "show", "hostnames", story.jobs.show(job, "NodeList")).stdout.split())


def run_again(story, job):
    """Done; a job that was refused is tried again at once."""
    if story.jobs.show(job, "Reason") == "BeginTime":
        story.jobs.try_again(job)
    return story.jobs.is_done(job)


def refused(story, what, job, reason):
    """It waits, did not run, and has the reason."""
    wait(f"{what}: refused before it starts", lambda: story.prolog.of(job)[-1:] == [1])
    wait("its owner sees why", lambda: re.search(reason, story.jobs.show(job, "AdminComment")))
    wait("and it waits", lambda: story.jobs.show(job, "JobState") == "PENDING")
    check("none of it ran", not story.jobs.ran(job))


def submit(story, *options, script="true"):
    """What sbatch says, which may refuse the job."""
    return story.cluster.run("sbatch", "--parsable", "-o", "/dev/null", *options, "--wrap", script, check=False)


def refused_at_submit(story, what, text, *options, script="true"):
    """Once the bridge has written the policy, and slurmctld has read it."""
    def is_refused():
        said = submit(story, "--hold", *options, script=script)
        if said.returncode == 0:
            story.cluster.run("scancel", said.stdout.strip())
        return said.returncode != 0 and re.search(text, said.stderr)
    wait(f"{what}: refused at submit, with the reason", is_refused)


def what_can_never_start(story):
    """A stack that the pool does not have, and two images with different NCCL; while the pool observes, only the log has them."""
    mixed = "true srun --container-image=site/train:1\ntrue srun --container-image=site/train:2"
    log = pathlib.Path(story.cluster.path("log", "slurmctld.log"))

    def is_logged():
        said = submit(story, "--hold", "--stack", "silver")
        story.cluster.run("scancel", said.stdout.strip() or "0", check=False)
        return "would be refused: lockstep: no node of pool 'train' runs the stack 'silver'" in log.read_text(errors="replace")
    wait("while the pool observes, slurmctld's log has a job for a stack that it does not have", is_logged)
    said = submit(story, "--hold", "--stack", "silver")
    check("and Slurm takes the job", said.returncode == 0, said.stderr)
    story.cluster.run("scancel", said.stdout.strip())
    story.fleet.set_pool("on")
    refused_at_submit(story, "a job for it", "no node of pool 'train' runs the stack 'silver'; its stacks: golden", "--stack", "silver")
    refused_at_submit(story, "a job with two images", "NCCL 2.28.[79].*NCCL 2.28.[79]", "-N", "2", script=mixed)
    story.fleet.set_pool("observe")


def skewed(story):
    """A package of another version on one node."""
    fleet, jobs = story.fleet, story.jobs
    fleet.set_dcgm("sim0003", "1:4.5.3-1", "1:4.5.4-1")
    wait("sim0003 differs from its stack", lambda: fleet.node("sim0003").get("judged") == "drift")
    job = jobs.submit("-w", "sim[0001-0003]")
    wait("while the pool observes, a job starts on a skewed set", lambda: jobs.is_done(job))
    observed = fleet.items("admit", "--observed")
    check("and it is counted", [i["refused"].get("drift") for i in observed] == [1], observed)
    fleet.set_pool("on")
    job = jobs.submit("-w", "sim[0001-0003]")
    refused(story, "where it enforces, the job", job, r"^lockstep: no: drift sim0003: .*dcgm.*: 4\.5\.4, pinned 4\.5\.3")
    states = [story.cluster.node(n)["State"] for n in ("sim0001", "sim0003")]
    check("Slurm drains no node for it", not any("DRAIN" in s for s in states), states)
    fleet.set_pool("on", ", drain_refused: true")
    drained(story, "sim0003", "lockstep:refused it does not run the stack of its pool")
    check("lockstep drains that one alone", "DRAIN" not in story.cluster.node("sim0001")["State"])
    fleet.set_dcgm("sim0003", "1:4.5.4-1", "1:4.5.3-1")
    wait("sim0003 runs its stack again", lambda: fleet.node("sim0003").get("judged") == "conforms")
    wait("and so does the job", lambda: run_again(story, job))


def drained(story, name, reason):
    wait(f"{name} is drained: {reason}", lambda: "DRAIN" in story.cluster.node(name)["State"] and
         story.cluster.node(name).get("Reason", "").startswith(reason))


def unhealthy(story):
    """Slurm would give the node to one job after the other."""
    fleet, jobs = story.fleet, story.jobs
    fleet.must("lockstep", "node", "condition", "sim0002", "unhealthy", "--reason", "Xid 79")
    drained(story, "sim0002", "lockstep:refused it is not healthy")
    job = jobs.submit("-N", "2")
    wait("a job starts on other nodes", lambda: run_again(story, job))
    check("and sim0002 is not among them", "sim0002" not in nodes_of(story, job))
    fleet.must("lockstep", "node", "condition", "sim0002", "unhealthy", "--off", "--reason", "replaced")
    wait("sim0002 returns when it is healthy", lambda: "DRAIN" not in story.cluster.node("sim0002")["State"])
    fleet.set_pool("on")


def mixed_images(story):
    """The ranks of a job bring two builds of NCCL, and nothing of it is in its request."""
    (story.fleet.folder / "images-mixed").write_text("--image site/train:1=0-1 --image site/train:2=2-3")
    job = story.jobs.submit("-J", "mixed", "-N", "4", "-w", "sim[0001-0004]")
    refused(story, "a job with two builds of NCCL", job, r"^lockstep: no: image .*ranks 2-3: .*2\.28\.7")
    (story.fleet.folder / "images-mixed").write_text("--image site/train:1=0-3")
    wait("with one build it runs", lambda: run_again(story, job))


def to_the_middle(story):
    """A change of the pool, started with a job of all nodes in the queue, and paused in the middle."""
    fleet, jobs = story.fleet, story.jobs
    keep = fleet.folder / "keep"
    keep.touch()
    busy = story.cluster.run("sbatch", "--parsable", "--exclusive", "-w", "sim0016", "-o", "/dev/null", "--wrap",
                             f"while [ -e {keep} ]; do sleep 0.2; done").stdout.strip()
    wait("a job runs on one node", lambda: jobs.show(busy, "JobState") == "RUNNING")
    queued = jobs.submit("-N", str(NODES), "--exclusive", "--nice=100000")
    fleet.env.update(bin=str(fleet.build), nodes=str(NODES), scratch=str(fleet.folder), fleet=str(fleet.place))
    fleet.must("sh", "-c", CHANGE)
    fleet.must("lockstep", "change", "start", "1", "--nodes", str(NODES), "--gpus", str(GPUS), "--reason", "test")
    wait("the change is in progress", lambda: fleet.parts()["pending"] < NODES)
    keep.unlink()
    wait("the first node is changed", lambda: fleet.parts()["done"] >= 1)
    wait("a part of the nodes is changed", lambda: fleet.parts()["done"] >= PART)
    fleet.must("lockstep", "change", "pause", "1", "--reason", "in the middle")
    wait("the change is paused, and no node is changed", lambda: set(fleet.parts()) <= {"pending", "waiting", "done"})
    wait("the job that was there first ended", lambda: jobs.is_done(busy))
    wait("no node is drained", lambda: not re.search("drain", story.cluster.run("sinfo", "-h", "-o", "%T").stdout))
    return queued


def in_the_middle(story, queued):
    """The pool runs two stacks."""
    fleet, jobs, cluster = story.fleet, story.jobs, story.cluster
    old, new = fleet.on("golden"), fleet.on("next")
    size = min(len(old), len(new))
    print(f"     {len(old)} nodes on the stack before, {len(new)} on the next")
    check("the pool is mixed", size > 1 and len(old | new) == NODES, (old, new))
    job = jobs.submit("-w", f"{min(old)},{min(new)}", "--constraint=lks-conform")
    refused(story, "a job on nodes of both stacks", job, "^lockstep: no: disagrees ")
    cluster.run("scancel", job)
    for stack, nodes in (("golden", old), ("next", new)):
        digest = fleet.node(min(nodes))["stack_digest"].removeprefix("sha256:")[:12]
        wait(f"Slurm shows which nodes run '{stack}'", lambda d=digest, n=nodes: showing(cluster, f"lks-{d}", "lks-conform") == n)
        job = jobs.submit("-N", str(size), "--exclusive", f"--constraint=lks-{digest}&lks-conform")
        wait(f"a gang that asks for '{stack}' runs", lambda j=job: run_again(story, j))
        check(f"on nodes of '{stack}' alone", nodes_of(story, job) <= nodes, nodes_of(story, job))
    for _ in range(GANGS):
        job = jobs.submit("-N", str(size), "--exclusive")
        wait("a gang that asks for nothing runs", lambda j=job: jobs.is_done(j))
        on = nodes_of(story, job)
        check("on nodes of one stack, without a refusal", (on <= old or on <= new) and story.prolog.of(job) == [0], on)
    check("the job of all nodes did not start", not jobs.ran(queued))


def showing(cluster, *features):
    lines = cluster.run("sinfo", "-h", "-N", "-o", "%N %b").stdout.splitlines()
    return {line.split()[0] for line in lines if set(features) <= set(line.split()[1].split(","))}


# lockstepd and the bridge are away.

class Load:
    """Jobs of one node, several a second, until the end of the block."""

    def __init__(self, story):
        self.story, self.ids, self.failed, self.enough = story, [], [], threading.Event()

    def submit(self):
        while not self.enough.is_set():
            try:
                self.ids.append(self.story.jobs.submit("-N", "1"))
            except subprocess.SubprocessError as fault:
                self.failed.append(fault)
            self.enough.wait(1 / LOAD_PER_S)

    def __enter__(self):
        self.thread = threading.Thread(target=self.submit)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.enough.set()
        self.thread.join()


def own_times(cluster):
    """What slurmctld says of itself since it was asked to count anew."""
    said = cluster.run("sdiag").stdout
    words = {"a cycle {} us": r"Main schedule statistics.*?Mean cycle:\s+(\d+)", "of {} jobs": r"Last queue length:\s+(\d+)",
             "a submission {} us": r"REQUEST_SUBMIT_BATCH_JOB\s.*?ave_time:(\d+)"}
    found = {text: re.search(pattern, said, re.S) for text, pattern in words.items()}
    return ", ".join(text.format(m.group(1)) for text, m in found.items() if m)


def phase(story, what):
    """Jobs are submitted for some time: those, and the ones that ran."""
    cluster = story.cluster
    cluster.run("sdiag", "--reset")
    with Load(story) as load:
        time.sleep(PHASE_S)
        ran = [job for job in load.ids if story.jobs.ran(job)]
        states = cluster.run("sinfo", "-h", "-N", "-o", "%T").stdout.split()
    print(f"     {what}: {len(ran)} of {len(load.ids)} jobs ran so far; the means of slurmctld: {own_times(cluster)}")
    check(f"{what}: submissions go on", not load.failed and len(load.ids) > 1, load.failed[:1])
    check("slurmctld answers, and every slurmd answers it", len(states) == NODES and not any(
        re.search(r"down|\*|unk", state) for state in states), states)
    return load.ids, ran


def wait_some_ran(story, submitted):
    wait("and jobs start", lambda: any(story.jobs.ran(job) for job in submitted))


def wait_all_ran(story, submitted):
    left = list(submitted)

    def ran():
        left[:] = [job for job in left if not run_again(story, job)]
        return not left
    wait(f"all {len(submitted)} jobs run", ran)
    twice = [job for job in submitted if (story.fleet.folder / f"ran-{job}").read_text() != "x\n"]
    check("and none more than once", not twice, twice)


def bridge_away(story):
    """Nothing that a job waits for."""
    bridge = story.bridge
    submitted, _ = phase(story, "as usual")
    for what, how in (("the bridge is stopped", signal.SIGSTOP), ("the bridge is killed", signal.SIGKILL)):
        bridge.process.send_signal(how)
        ids, _ = phase(story, what)
        wait_some_ran(story, ids)
        bridge.process.send_signal(signal.SIGCONT)
        submitted += ids
    bridge.end()
    bridge.start()
    wait_all_ran(story, submitted)


def lockstepd_away(story):
    """The site's setting decides what starts."""
    fleet, prolog = story.fleet, story.prolog
    submitted = []

    def take(what, starts):
        ids, ran = phase(story, what)
        submitted.extend(ids)
        if starts:
            wait_some_ran(story, ids)
        else:
            check("and no job starts", not ran, ran)

    take("as usual", True)
    prolog.set(f"--seconds {PROLOG_S}")
    fleet.daemons["lockstepd"].send_signal(signal.SIGSTOP)
    take("lockstepd is stopped, and the site starts jobs without an answer", True)
    prolog.set(f"--seconds {PROLOG_S}", "--without-answer refuse")
    time.sleep(PROLOG_S + 1)  # prologs that began before that end
    take("lockstepd is stopped, and the site starts none", False)
    fleet.daemons["lockstepd"].send_signal(signal.SIGCONT)
    fleet.stop("lockstepd", signal.SIGKILL)
    take("lockstepd is killed", False)
    prolog.set("--seconds 60", "--without-answer refuse")
    fleet.start_lockstepd()
    wait("all nodes are heard", lambda: len(fleet.items("node", "ls", "--liveness", "live")) >= NODES)
    wait_all_ran(story, submitted)


def to_the_end(story, queued):
    fleet = story.fleet
    fleet.must("lockstep", "change", "resume", "1", "--reason", "to the end")
    wait("some more nodes are changed", lambda: fleet.parts()["done"] > PART + 6)
    wait("all nodes are changed", lambda: fleet.parts()["done"] == NODES)
    wait("the change is done", lambda: fleet.change()["state"] == "done")
    wait(f"all {NODES} nodes run the next stack", lambda: len(fleet.on("next")) == NODES)
    check("the job of all nodes waited for that", not story.jobs.ran(queued))
    wait("the job that was queued before the change runs after it", lambda: run_again(story, queued))
    wait("no node is drained or down", story.cluster.all_idle)


def put_plugins(folder, build):
    """Slurm's own, and those of lockstep; slurmctld gets the place of the policy from its environment."""
    (folder / "plugins").mkdir()
    for plugin in pathlib.Path(plugins()).iterdir():
        (folder / "plugins" / plugin.name).symlink_to(plugin)
    shutil.copy(build / "plugins/slurm/job_submit_lockstep.so", folder / "plugins")
    (folder / "plugstack.conf").write_text(f"optional {build}/plugins/slurm/spank_lockstep.so recheck=off\n")
    os.environ["LOCKSTEP_POLICY"] = str(folder / "policy")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    slurm_build = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else build).resolve()
    print("Slurm", ".".join(str(part) for part in release()))
    with tempfile.TemporaryDirectory(prefix="lks-gate-") as name:
        folder = pathlib.Path(name)
        fleet = Fleet(build, folder)
        prolog = Prolog(fleet, folder / "slurm")
        put_plugins(folder, slurm_build)
        cluster = Cluster(folder / "slurm", gpus=0, extra=EXTRA.format(folder), features=FEATURES)
        cluster.nodes = fleet.nodes
        with fleet.running("observe"), cluster:
            bridge = Bridge(str(slurm_build), name, cluster.conf, ["--policy", f"{folder}/policy"])
            story = Story(fleet, cluster, bridge, prolog, Jobs(cluster, folder))
            try:
                for image, nccl in (("site/train:1", "2.28.9"), ("site/train:2", "2.28.7")):
                    fleet.must("lockstep", "image", "add", image, "--nccl", nccl)
                what_can_never_start(story)
                skewed(story)
                unhealthy(story)
                mixed_images(story)
                bridge_away(story)
                queued = to_the_middle(story)
                in_the_middle(story, queued)
                lockstepd_away(story)
                to_the_end(story, queued)
            except BaseException:
                fleet.print_change()
                raise
            finally:
                bridge.end()
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
