"""A real lockstepd with real agents on captured machines, for tests beside a real Slurm; and how such tests count and wait."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
ROOT = SOURCE / "tests/roots/h200"
WAIT_S = 120


class Tally:
    passed = failed = 0

    @classmethod
    def end(cls):
        """Print it; the exit status."""
        print(f"{cls.passed} passed, {cls.failed} failed")
        return 1 if cls.failed else 0


def check(name, ok, why=""):
    Tally.passed, Tally.failed = Tally.passed + bool(ok), Tally.failed + (not ok)
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {why}"), flush=True)


def wait(what, holds):
    end = time.monotonic() + WAIT_S
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {WAIT_S} s: {what}")
        time.sleep(0.05)
    check(what, True)


def program(path, text):
    """A script that is replaced as a whole, because Slurm may run it at any moment."""
    new = path.with_name(path.name + ".new")
    new.write_text("#!/bin/sh\n" + text)
    new.chmod(0o755)
    new.rename(path)


class Lockstep:
    """lockstepd, and an agent for each node. A node has the captured machine ROOT, or another in `roots`."""

    def __init__(self, build, folder, nodes, roots=None):
        self.build, self.folder, self.nodes, self.roots = build, folder, nodes, roots or {}
        self.env = dict(os.environ, PATH=f"{build}:/usr/sbin:/usr/bin:/sbin:/bin", HOME=str(folder), PAGER="cat",
                        LOCKSTEP_SERVER=f"unix:{folder}/data/lockstepd.sock")
        self.daemons = {}

    def start(self, name, *command):
        with open(self.folder / (name + ".log"), "ab") as log:
            self.daemons[name] = subprocess.Popen(command, env=self.env, stdout=log, stderr=log)

    def stop(self, name, how=signal.SIGTERM):
        daemon = self.daemons.pop(name)
        daemon.send_signal(how)
        daemon.wait(WAIT_S)

    def run(self, *command):
        said = subprocess.run(["lockstep", *command], env=self.env, capture_output=True, text=True, timeout=WAIT_S,
                              check=False)
        return json.loads(said.stdout) if said.returncode == 0 and "--json" in command else said

    def start_lockstepd(self):
        self.start("lockstepd", "lockstepd", "run", "--config", str(self.folder / "data/lockstepd.yaml"))
        wait("lockstepd answers", lambda: self.run("fleet", "show").returncode == 0)

    def apply(self, fleet):
        (self.folder / "fleet.yaml").write_text(fleet)
        said = self.run("fleet", "apply", str(self.folder / "fleet.yaml"), "--yes", "--accept")
        check("the fleet's file is applied", said.returncode == 0, said.stderr)

    def up(self, fleet):
        data = self.folder / "data"
        subprocess.run(["lockstepd", "init", "--data", str(data), "--people", "127.0.0.1:0", "--agents", "127.0.0.1:0"],
                       env=self.env, check=True, stdout=subprocess.DEVNULL)
        with open(data / "lockstepd.yaml", "a", encoding="utf-8") as config:
            config.write("limits: {heartbeat_ms: 500}\n")
        self.start_lockstepd()
        self.apply(fleet)
        for node in self.nodes:
            (self.folder / f"token-{node}").write_text(self.run("node", "enroll", node, "--json")["token"])
            self.start_agent(node)

    @contextlib.contextmanager
    def running(self, fleet):
        try:
            self.up(fleet)
            yield
        except BaseException:
            self.print_logs()
            raise
        finally:
            self.down()

    def start_agent(self, node):
        log = (self.folder / "lockstepd.log").read_text()
        port = re.search(r"people_port=(\d+)", log).group(1)
        self.start(f"agent-{node}", "lockstep-agent", "--state", str(self.folder / f"agent-{node}"), "--controller",
                   f"https://localhost:{port}", "--ca", str(self.folder / "data/ca.crt"), "--token-file",
                   str(self.folder / f"token-{node}"), "--node", node, "--root", str(self.roots.get(node, ROOT)), "--quick",
                   "--log-level", "debug", "--run", str(self.folder / f"run-{node}"))

    def down(self):
        for name in sorted(self.daemons):
            self.stop(name)

    def node(self, name):
        return self.run("node", "show", name, "--json")

    def print_logs(self):
        for log in sorted(self.folder.glob("*.log")):
            print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}")
