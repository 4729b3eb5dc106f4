#!/usr/bin/env python3
"""Submissions to a real slurmctld, for `make bench`:

    submit.py DIR PLUGIN DOWN JOBS

Two nodes have a slurmd, DOWN more are known and down. JOBS jobs on two nodes are submitted by eight clients at a time, once
without the plugin and once with it and a policy of all nodes. Prints "none" where this machine has no Slurm, else
"P99_US JOBS_PER_S" of the first and of the second; the times are those that slurmctld logs for each request.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import slurm_cluster  # noqa: E402

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch")
CLIENTS = 8
BASIS, PRIME, MASK = 0xcbf29ce484222325, 0x100000001b3, (1 << 64) - 1
DOWN_NODE = "NodeName=n[3-{last}] NodeAddr=127.0.0.1 CPUs=8 Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=4000 " \
    "Feature=lks0,lks1,lks2 State=DOWN\nPartitionName=many Nodes=n[3-{last}] State=UP\n"


class Cluster(slurm_cluster.Cluster):
    def all_idle(self):
        """Those with a slurmd."""
        states = self.run("sinfo", "-h", "-N", "-n", ",".join(self.nodes), "-o", "%T", check=False).stdout.split()
        return len(states) >= len(self.nodes) and set(states) == {"idle"}


def write_policy(path, down):
    """As src/submit/policy.h has it: the two partitions, and as many stacks and images as a large site has."""
    digest = "sha256:%064x"
    body = f"pool train on open 86400 2.27.3 2.21.5\nstack train 0 {down} {digest % 1} h200-1 1\nstack train 1 2 {digest % 2} h200-2 1\n"
    body += f"partition many 0 train {down} 0 {down} 0 0\n" + "".join(
        f"image 2.27.3 registry.example.com/team{i % 50}/image:{i}\n" for i in range(1000))
    confirmed = f"{int(time.time() * 1000)}"
    total = BASIS
    for byte in (confirmed + "\n" + body).encode():
        total = (total ^ byte) * PRIME & MASK
    path.write_text(f"lockstep-policy 1 {confirmed} {len(body)} {total:016x}\n{body}", encoding="ascii")


def run(folder, plugin, down, jobs, policy):
    places = folder / "plugins"
    extra = DOWN_NODE.format(last=down + 2)
    if policy is not None:
        places.mkdir()
        for name in os.listdir(slurm_cluster.plugins()):
            (places / name).symlink_to(pathlib.Path(slurm_cluster.plugins()) / name)
        shutil.copy(plugin, places / "job_submit_lockstep.so")
        os.environ["LOCKSTEP_POLICY"] = str(policy)
        extra += f"JobSubmitPlugins=lockstep\nPluginDir={places}\n"
    command = ["sbatch", "--hold", "-p", "many", "-N", "2", "-o", "/dev/null", "-D", "/", "--wrap", "true"]
    with Cluster(folder / "slurm", nodes=2, gpus=0, extra=extra, features="lks0,lks1,lks2") as c:
        began, running = time.monotonic(), []
        for _ in range(jobs):
            if len(running) == CLIENTS and running.pop(0).wait() != 0:
                sys.exit("submit.py: sbatch failed")
            running.append(subprocess.Popen(command, env=c.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        if any([p.wait() != 0 for p in running]):
            sys.exit("submit.py: sbatch failed")
        took = time.monotonic() - began
        log = (folder / "slurm" / "log" / "slurmctld.log").read_text(encoding="utf-8", errors="replace")
        stamped = c.run("squeue", "-h", "-o", "%f").stdout.count("[lks0|lks1|lks2]")
    if policy is not None and stamped != jobs:
        sys.exit(f"submit.py: {stamped} of {jobs} jobs have slots")
    times = sorted(int(us) for us in re.findall(r"_slurm_rpc_submit_batch_job: JobId=\S+ .*usec=(\d+)", log))
    return times[len(times) * 99 // 100], jobs / took


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    folder, plugin, down, jobs = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if os.getuid() != 0 or not all(shutil.which(p) for p in PROGRAMS) or not os.access(plugin, os.R_OK):
        print("none", flush=True)
        return
    policy = folder / "policy"
    write_policy(policy, down)
    figures = []
    for place, with_policy in (("without", None), ("with", policy)):
        (folder / place).mkdir()
        figures += run(folder / place, plugin, down, jobs, with_policy)
    print(*(f"{figure:.1f}" for figure in figures), flush=True)


if __name__ == "__main__":
    main()
