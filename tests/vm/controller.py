"""A controller on this machine, and the commands that a person would give it."""

import json
import os
import socket
import subprocess

from machine import Failure, wait_for

STACK = """lockstep: 1
kind: HardwareClass
name: vm
vendor: nvidia
gpu: {{product: "H200 SXM 141GB", count: 1}}
---
lockstep: 1
kind: Stack
name: {name}
version: "1"
vendor: nvidia
hardware: [vm]
components:
  container-toolkit: {{absent: none}}
  cuda: {{absent: none}}
  nccl: {{absent: none}}
  driver: {{version: "{driver}", modules: open, owner: external}}
  kernel: {{version: "{kernel}"}}
"""
FLEET = """---
lockstep: 1
kind: Fleet
name: vm
pools:
{pools}nodes:
{nodes}"""


def free_port():
    """A port of this machine that is free now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Controller:
    """lockstepd on SQLite in a folder of its own."""

    def __init__(self, build, folder):
        self.build, self.folder, self.process = build, folder, None
        self.data = os.path.join(folder, "controller")
        self.people, self.agents = free_port(), free_port()
        self.approvers = []

    def start(self):
        """Make its data, start it, and have people who approve."""
        subprocess.run([f"{self.build}/lockstepd", "init", "--data", self.data, "--name", "controller.example",
                        "--name", "127.0.0.1", "--people", f"127.0.0.1:{self.people}",
                        "--agents", f"127.0.0.1:{self.agents}"], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(self.folder, "lockstepd.log"), "ab") as log:
            self.process = subprocess.Popen([f"{self.build}/lockstepd", "run", "--config",
                                             f"{self.data}/lockstepd.yaml"], stdout=log, stderr=log)
        wait_for("lockstepd", 120, lambda: self.try_json("node", "ls") is not None)
        for person in ("kim", "lee"):
            self.ask("access", "grant", person, "approver")
            token = self.json("access", "token", f"vm-{person}", person)["token"]
            path = os.path.join(self.folder, person)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
                file.write(token + "\n")
            self.approvers.append(path)
        key = os.path.join(self.folder, "site.pem")
        self.ask("trust", "key", "site", "--output", key)
        self.ask("trust", "add", "site", key + ".pub", "--reason", "the test signs what it installs")

    def stop(self):
        """End it."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()

    def command(self, words, check=True):
        """A command of the command line, as root on the controller's own socket."""
        return subprocess.run([f"{self.build}/lockstep", *words], check=check, capture_output=True, text=True,
                              env={**os.environ, "LOCKSTEP_SERVER": f"unix:{self.data}/lockstepd.sock"})

    def ask(self, *words):
        """What a command prints."""
        done = self.command(words, check=False)
        if done.returncode != 0:
            raise Failure(f"lockstep {' '.join(words)}: status {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def json(self, *words):
        """What a command answers to programs."""
        return json.loads(self.ask(*words, "--json"))

    def try_json(self, *words):
        """The same, or None where it fails."""
        done = self.command([*words, "--json"], check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def write(self, name, text):
        """A file in the test's folder: its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def fleet(self, nodes, kernel, driver):
        """A pool for each node, so that changes of one leave the others alone."""
        pools = "".join(f"  {node}: {{posture: dev, stack: old}}\n" for node in nodes)
        hosts = "".join(f"  - {{hosts: {node}, pool: {node}, class: vm}}\n" for node in nodes)
        text = STACK.format(name="old", driver=driver, kernel=kernel) + FLEET.format(pools=pools, nodes=hosts)
        self.ask("fleet", "apply", "--accept", self.write("fleet.yaml", text))

    def bundle(self, packages):
        """Sign packages of kernels and bring them to the controller: pairs of a file and its release."""
        folder = os.path.join(self.folder, "files")
        os.makedirs(folder)
        lines = ["lockstep: 1", "kind: Bundle", "name: kernels", 'version: "1"', "files:"]
        for path, release in packages:
            name = os.path.basename(path)
            os.symlink(path, os.path.join(folder, name))
            lines.append(f'  - {{file: "{name}", component: kernel, version: "{release}", kind: package}}')
        self.write("files/bundle.yaml", "\n".join(lines) + "\n")
        out = os.path.join(self.folder, "bundle")
        self.ask("bundle", "build", folder, "--output", out, "--sign", os.path.join(self.folder, "site.pem"))
        self.ask("bundle", "push", out)

    def publish(self, name, kernel, driver):
        """A stack that a pool can be led to."""
        path = self.write(f"{name}.yaml", STACK.format(name=name, driver=driver, kernel=kernel))
        self.ask("stack", "publish", path, "--stack", name, "--reason", "a test")

    def propose(self, stack, node):
        """A change of one node that is approved and started: its number."""
        proposed = self.json("change", "propose", "--to", stack, "--nodes", node, "--reason", "a test",
                             "--soak", "1s")
        number = str(proposed["id"])
        for token in self.approvers[:proposed["quorum"]]:
            self.ask("change", "approve", number, "--reason", "a test", "--server",
                     f"https://127.0.0.1:{self.people}", "--ca", f"{self.data}/ca.crt", "--token-file", token)
        self.ask("change", "start", number, "--reason", "a test", "--nodes", str(proposed["nodes"]),
                 "--gpus", str(proposed["gpus"]))
        return number

    def change(self, number):
        """How a change is."""
        return self.json("change", "show", number)

    def node(self, name):
        """How a node is."""
        return self.json("node", "show", name)
