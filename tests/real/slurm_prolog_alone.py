#!/usr/bin/env python3
"""slurm-prolog, run by the slurmctld of another release, with a script in the place of lockstep that refuses n2 and questions with two
images: what is asked about heterogeneous jobs, and that a refused job starts elsewhere once n2 is drained. Each component of a
heterogeneous job has an image of its own, which the prolog's script sets in the place of the SPANK plugin.

    slurm_prolog_alone.py SLURM_PROLOG
"""
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lockstep_here import Tally, check, program, wait  # pylint: disable=wrong-import-position
from slurm_cluster import Cluster, release  # pylint: disable=wrong-import-position


def main():
    print("Slurm", ".".join(str(part) for part in release()))
    with tempfile.TemporaryDirectory(prefix="lks-prolog-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        asked, log = folder / "asked", folder / "log"
        asked.touch()
        log.touch()
        program(folder / "lockstep", f"echo \"$*\" >>{asked}\ncase $* in\n"
                "*n2*) echo 'no: drift n2: x'; exit 1 ;;\n*--image*--image*) echo 'no: image img1 ranks 1: x'; exit 1 ;;\nesac\necho yes\n")
        program(folder / "prolog", f"""\
export SLURM_CONF={folder}/slurm/slurm.conf
[ -z "$SLURM_HET_JOB_ID" ] || export SPANK_LOCKSTEP_IMAGE=img$SLURM_HET_JOB_OFFSET
{pathlib.Path(sys.argv[1]).resolve()} --retry 60 --state {folder}/state --lockstep {folder}/lockstep 2>>{log}
status=$?
echo "job $SLURM_JOB_ID status $status" >>{log}
exit $status
""")
        with Cluster(folder / "slurm", nodes=3, gpus=0, extra=f"PrologSlurmctld={folder}/prolog\n") as cluster:
            def update(node, state):
                cluster.run("scontrol", "update", f"nodename={node}", f"state={state}", "reason=test")

            def shows(job, text):
                return text in cluster.run("scontrol", "show", "job", job).stdout

            update("n1", "drain")
            job = cluster.run("sbatch", "--parsable", "-N1", "-x", "n3", "-o", "/dev/null", "--wrap", "true").stdout.strip()
            wait("a job on the node that drifts is refused", lambda: f"job {job} status 1\n" in log.read_text())
            wait("its owner sees why", lambda: shows(job, "AdminComment=lockstep: no: drift n2: x"))
            update("n1", "resume")
            update("n2", "drain")
            began = time.monotonic()
            wait("once that node is drained, it starts elsewhere at once", lambda: shows(job, "JobState=COMPLETED"))
            check("and does not wait for 120 s", time.monotonic() - began < 100, time.monotonic() - began)
            print(f"     {time.monotonic() - began:.1f} s")
            update("n2", "resume")
            job = cluster.run("sbatch", "--parsable", "-w", "n1", "-o", "/dev/null", ":", "-w", "n2", "--wrap", "true").stdout.strip()
            wait("the first component of a heterogeneous job is asked about with all nodes",
                 lambda: f"--job {job} --nodes n1,n2 --image img0=0-0" in asked.read_text())
            wait("and refused", lambda: f"job {job} status 1\n" in log.read_text() and shows(job, "JobState=PENDING"))
            cluster.run("scancel", job)
            job = cluster.run("sbatch", "--parsable", "-w", "n1", "-o", "/dev/null", ":", "-w", "n3", "--wrap", "true").stdout.strip()
            both = f"--job {job} --nodes n1,n3 --image img0=0 --image img1=1 "
            wait("two components are asked about together, with the ranks of their images", lambda: both in asked.read_text())
            wait("its owner sees why they are refused", lambda: shows(job, "AdminComment=lockstep: no: image img1 ranks 1: x"))
            wait("it waits", lambda: shows(job, "JobState=PENDING"))
            before = asked.read_text().count(both)
            cluster.run("scontrol", "update", f"jobid={job}", "starttime=now")
            wait("its next start is refused, too", lambda: asked.read_text().count(both) > before)
            wait("and it waits", lambda: shows(job, "JobState=PENDING"))
            kept = sorted(f.name for f in (folder / "state/.components").iterdir())
            check("each start has a file for each component", f"{job}.0.1" in kept and f"{job}.1.0" in kept, kept)
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
