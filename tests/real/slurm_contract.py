#!/usr/bin/env python3
"""The peer of tests/real/test_slurm_contract.c: a real Slurm with two nodes, g1 and g2, and its bridge or slurmrestd.

    slurm_contract.py bridge|slurmrestd FOLDER [BRIDGE_PROGRAM]

The peer listens at FOLDER/peer. Prints "ready RELEASE TOKEN"; slurmrestd asks for the token, and the bridge for none ("-"). Then a line on standard input is a command, and each is answered with a
line. What it tells of the node g1 is Slurm's own state.

    begin, begin job      g1 is idle, or runs a job that goes on                          "job ID"
    finish                the job is over                                                  "done"
    drain, resume         a person does that to g1                                         "done"
    forget                slurmctld restarts without its state                             "done"
    kill bridge|scheduler|both     SIGKILL; a moment later they are started again          "done"
    settle, settle save   all parts run again; and slurmctld saved the state of g1         "done"
    truth                 "CLOSED BUSY OWNER REASON", numbers 0 or 1, and "-" for no owner
    writes                how often the drain of g1 was begun or ended, by slurmctld's log
    end                   no job, no drain, no epoch                                       "done"
"""
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import slurm_bridge  # noqa: E402
import slurm_cluster  # noqa: E402

NODE = "g1"
AWAY_SECONDS = 0.4  # between a kill and the next start


class Bridge:
    """lockstep-slurm-bridge."""
    def __init__(self, place, folder, cluster, program):
        self.socket, self.folder, self.cluster, self.program = place, folder, cluster, program
        self.process = None

    def start(self):
        with open(self.folder / "peer.log", "ab") as log:
            self.process = subprocess.Popen([self.program, "--listen", f"unix:{self.socket}", "--state", self.folder / "state",
                                             "--slurm-conf", self.cluster.conf], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        if not self.process.stdout.readline().startswith("ready"):
            sys.exit("slurm_contract.py: the bridge did not start: see peer.log")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, method, path, body=None, **how):
        return slurm_bridge.ask_on(slurm_bridge.UnixConnection(str(self.socket)), method, path, body, **how)[:2]

    def token(self):
        return "-"

    def epoch(self):
        return self.ask("GET", "/v1/health")[1]["epoch"]

    def shows(self):
        """Have it read the node again, which it does for a write of a revision that is gone: a reading may be a second old."""
        def reads():
            return self.ask("POST", f"/v1/nodes/{NODE}/release", {"owner": "lockstep:x"}, revision=1,
                            epoch=self.epoch())[0] == 409
        self.cluster.wait("the bridge reads the node", reads)

    def lists(self, job):
        """It reads jobs apart from nodes, once a second."""
        self.cluster.wait("the bridge lists the job", lambda: job in [
            str(item.get("id")) for item in self.ask("GET", "/v1/jobs")[1].get("jobs", [])])

    def forget(self):
        """The epoch of a leader that wrote."""
        if self.epoch() > 0:
            self.kill()
            shutil.rmtree(self.folder / "state")
            self.start()


class Slurmrestd(Bridge):
    """slurmrestd with tokens, as a user without rights: rest_auth/local takes no client of another process namespace, and
    slurmrestd takes no token where it runs as SlurmUser."""
    def token(self):
        said = self.cluster.run("scontrol", "token", "username=root", "lifespan=3600").stdout
        return said.strip().partition("=")[2]

    def start(self):
        self.socket.unlink(missing_ok=True)
        shutil.chown(self.socket.parent, "nobody")
        with open(self.folder / "peer.log", "ab") as log:
            self.process = subprocess.Popen(["slurmrestd", "-f", self.cluster.conf, "-a", "rest_auth/jwt", "-s",
                                             "openapi/slurmctld", f"unix:{self.socket}"], user="nobody", group="nogroup", extra_groups=[],
                                            env=dict(self.cluster.env, SLURM_JWT="daemon"), stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=log)
        self.cluster.wait("slurmrestd listens", lambda: self.socket.exists() or self.process.poll() is not None)

    def shows(self):
        def answers():
            login = {"X-SLURM-USER-NAME": "root", "X-SLURM-USER-TOKEN": self.token()}
            return self.ask("GET", "/slurm/v0.0.40/node/" + NODE, headers=login)[0] == 200
        self.cluster.wait("slurmrestd answers", answers)

    def lists(self, job):
        pass

    def forget(self):
        pass


class Side:
    def __init__(self, cluster, peer):
        self.cluster, self.peer = cluster, peer
        self.job = None
        self.away = threading.Thread()

    def update(self, *how):
        self.cluster.run("scontrol", "update", "nodename=" + NODE, *how)
        self.peer.shows()

    def state(self):
        return self.cluster.node(NODE).get("State", "")

    def begin(self, how=""):
        if how == "job":
            self.cluster.wait("the node is idle", lambda: self.state() == "IDLE")
            self.job = slurm_bridge.submit(self.cluster, "-w", NODE, "-J", "train", script="exec sleep 600")
            self.cluster.wait("the job runs", lambda: slurm_bridge.job_state(self.cluster, self.job) == "RUNNING")
            self.peer.shows()
            self.peer.lists(self.job)
        return f"job {self.job or '-'}"

    def finish(self):
        if self.job:
            self.cluster.run("scancel", "--full", self.job, check=False)
            self.cluster.wait("the job is over", lambda: not re.search("ALLOC|MIXED|COMPL", self.state()))
            self.peer.shows()
        self.job = None
        return "done"

    def drain(self):
        self.update("state=drain", "reason=broken fan")
        return "done"

    def resume(self):
        self.update("state=resume")
        return "done"

    def forget(self):
        self.cluster.stop("slurmctld", signal.SIGKILL)
        self.cluster.spawn("slurmctld", ["slurmctld", "-D", "-c", "-f", self.cluster.conf])
        self.cluster.wait("the node is idle", lambda: self.state() == "IDLE")
        return self.settle()

    def kill(self, what):
        names = {"bridge": ("peer",), "scheduler": ("slurmctld",), "both": ("peer", "slurmctld")}[what]
        for name in names:
            if name == "peer":
                self.peer.kill()
            else:
                self.cluster.stop("slurmctld", signal.SIGKILL)

        def start():
            time.sleep(AWAY_SECONDS)
            for name in names:
                (self.peer.start if name == "peer" else self.cluster.start_slurmctld)()
        self.away = threading.Thread(target=start)
        self.away.start()
        return "done"

    def settle(self, how=""):
        if self.away.ident:
            self.away.join()
        self.cluster.wait("slurmctld answers", lambda: self.cluster.run("scontrol", "ping", check=False).returncode == 0)
        if how != "save":  # before a node registered it counts as busy
            self.cluster.wait("the node registered", lambda: "UNKNOWN" not in self.state())
        self.peer.shows()
        if how == "save":  # slurmctld does so within five seconds, and at once where it ends
            self.cluster.stop("slurmctld")
            self.cluster.start_slurmctld()
            self.settle()
        return "done"

    def truth(self):
        fields = self.cluster.node(NODE)
        state, reason = fields["State"], fields.get("Reason", "")
        text, _, user = reason.rpartition(" [")
        owner, _, why = text.partition(" ")
        if not owner.startswith("lockstep:"):
            owner, why = user.split("@")[0], text
        drained = "DRAIN" in state
        busy = bool(re.search("ALLOC|MIXED|COMPL", state))
        return f"{drained:d} {busy:d} {owner.removeprefix('lockstep:') if drained else '-'} {why if drained else ''}"

    def writes(self):
        """A request that is sent twice and changes nothing the second time counts once."""
        log = pathlib.Path(self.cluster.path("log", "slurmctld.log")).read_text(errors="replace")
        states = re.findall(rf"update_node: node {NODE} state set to (\S+)", log)
        ends = [bool(re.search("DRAIN", s)) for s in states]
        return f"writes {sum(a != b for a, b in zip([False] + ends, ends))}"

    def end(self):
        self.settle()
        self.finish()
        if "DRAIN" in self.state():  # of a node that did not register yet Slurm does so and calls it an error
            self.cluster.run("scontrol", "update", "nodename=" + NODE, "state=undrain", check=False)
        self.cluster.wait("the node is open", lambda: "DRAIN" not in self.state())
        self.peer.forget()
        self.peer.shows()
        return "done"

    def take(self, line):
        verb, *more = line.split()
        return getattr(self, verb)(*more)


def serve(side):
    side.peer.start()
    side.peer.shows()
    print("ready", ".".join(map(str, slurm_cluster.release())), side.peer.token(), flush=True)
    for line in iter(sys.stdin.readline, ""):
        print(side.take(line.strip()), flush=True)
    if side.away.ident:
        side.away.join()
    side.peer.kill()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    place = pathlib.Path(sys.argv[2]).resolve()
    place.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-contract-"))
    folder.chmod(0o755)
    key = folder / "jwt"
    key.write_bytes(os.urandom(32))
    key.chmod(0o600)
    extra = f"AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key={key}\n" if sys.argv[1] == "slurmrestd" else ""
    try:
        with slurm_cluster.Cluster(folder / "slurm", nodes=2, gpus=1, prefix="g", extra=extra) as cluster:
            kind = Slurmrestd if sys.argv[1] == "slurmrestd" else Bridge
            serve(Side(cluster, kind(place / "peer", folder, cluster, sys.argv[3] if len(sys.argv) > 3 else "")))
    finally:
        for name in ("peer.log", "slurm/log/slurmctld.log"):
            shutil.copy(folder / name, place)
        shutil.rmtree(folder)


if __name__ == "__main__":
    os.umask(0o022)
    main()
