#!/usr/bin/env python3
"""Changes of kernels on booted virtual machines, one with GRUB and one with systemd-boot:

    run.py BUILD PORTABLE [SCENARIO...]

Two machines run under emulation, each with a real agent; the controller runs here and is asked for by
loopback alone. Images are made once and kept in $XDG_CACHE_HOME/lockstep/vm. As root, on Debian 12.
"""

import glob
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from controller import Controller
from machine import BOOT_S, Failure, Machine, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("grub", "sdboot")
STEP_S = 3600
DROP_IN = "/usr/share/lockstep/helper-executors.conf"
ENDS = ["done", "halted", "rolled back"]

# What only the running machine can do: its boot loader's configuration.
FIRST_START = {
    "grub": "grub-install --target=x86_64-efi --efi-directory=/boot/efi --no-nvram --removable && update-grub",
    "sdboot": 'bootctl install --no-variables && kernel-install add "$(uname -r)" "/boot/vmlinuz-$(uname -r)"',
}


def say(text):
    """A line with the time since the start."""
    print(f"{time.monotonic() - BEGUN:6.0f} s  {text}", flush=True)


BEGUN = time.monotonic()


# Images ---------------------------------------------------------------------------------------------


def first_start(folder, kind):
    """Boot an image without its boot loader, have the machine set that up, and keep what it wrote."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        machine = Machine(kind, scratch, (f"{folder}/{kind}.img", "raw"))
        machine.start("-kernel", f"{folder}/vmlinuz", "-initrd", f"{folder}/initrd", "-append",
                      "root=LABEL=root rw console=ttyS0 quiet loglevel=3")
        try:
            machine.await_up()
            machine.run(FIRST_START[kind] + " && sync", 1800)
            machine.run("(sleep 1; systemctl poweroff) >/dev/null 2>&1 &")
            wait_for(f"{kind}: power off", BOOT_S, machine.ended)
        finally:
            machine.stop()
        subprocess.run(["qemu-img", "commit", "-q", machine.disk], check=True)
    say(f"{kind}: its boot loader is set up")


def images():
    """The folder with both images; made where there is none for these scripts."""
    key = hashlib.sha256()
    for name in ("image.sh", "nvidia.c", "run.py"):
        with open(os.path.join(HERE, name), "rb") as file:
            text = file.read()
            key.update(text if name != "run.py" else repr(FIRST_START).encode())
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(cache, "lockstep", "vm", key.hexdigest()[:16])
    if os.path.exists(os.path.join(folder, "done")):
        return folder
    say(f"making images in {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    subprocess.run(["sh", os.path.join(HERE, "image.sh"), folder], check=True)
    together([lambda kind=kind: first_start(folder, kind) for kind in KINDS])
    with open(os.path.join(folder, "done"), "w", encoding="utf-8"):
        return folder


def together(tasks):
    """Run all at once; the first failure is ours."""
    failures = []

    def guarded(task):
        try:
            task()
        except (Failure, OSError, subprocess.SubprocessError, KeyError, ValueError) as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(task,), daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


# The machines ---------------------------------------------------------------------------------------


def put(root, path, source, mode=0o644):
    """A file of the machine, copied from here."""
    path = root + path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(source, path)
    os.chmod(path, mode)


def unit(root, source, name):
    """A unit of systemd with the folders of a package put in."""
    with open(source, encoding="utf-8") as file:
        text = file.read().replace("@bindir@", "/usr/bin").replace("@libexecdir@", "/usr/libexec")
    path = f"{root}/usr/lib/systemd/system/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Test:
    """Controller and machines of one run."""

    def __init__(self, build, portable):
        self.build, self.portable = build, portable
        self.images = images()
        with open(f"{self.images}/kernels", encoding="utf-8") as file:
            self.old, self.new, self.driver = file.read().split()
        self.folder = tempfile.mkdtemp(prefix="lockstep-vm-")
        self.controller = Controller(build, self.folder)
        self.machines = {}

    def payload(self):
        """A disk with lockstep's programs, their units and the keys of this run."""
        tree = os.path.join(self.folder, "payload")
        root = os.path.join(tree, "root")
        source = os.path.dirname(os.path.dirname(HERE))
        for name in ("lockstep-agent", "lockstep-helper"):
            put(root, f"/usr/bin/{name}", f"{self.portable}/{name}", 0o755)
        for name in ("accept", "apt", "hook", "image", "settings"):
            put(root, f"/usr/libexec/lockstep/executors/{name}", f"{self.portable}/executors/{name}", 0o755)
        put(root, "/usr/libexec/lockstep/executors/reboot", f"{source}/executors/reboot", 0o755)
        for name in ("lockstep-agent.service", "lockstep-helper.service"):
            unit(root, f"{source}/packaging/{name}.in", name)
        unit(root, f"{source}/packaging/lockstep-helper.socket", "lockstep-helper.socket")
        put(root, "/usr/lib/sysusers.d/lockstep.conf", f"{source}/packaging/lockstep.sysusers")
        put(root, "/usr/lib/tmpfiles.d/lockstep.conf", f"{source}/packaging/lockstep.tmpfiles")
        put(root, DROP_IN, f"{source}/packaging/helper-executors.conf")
        put(root, "/etc/lockstep/ca.crt", f"{self.controller.data}/ca.crt")
        put(root, "/etc/lockstep/command.pub", f"{self.controller.data}/command.pub")
        # The library that passes for NVML has the name that the driver's has, and one GPU.
        put(root, f"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.{self.driver}", f"{self.build}/tests/libstub_nvml_one.so")
        os.symlink(f"libnvidia-ml.so.{self.driver}", f"{root}/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1")
        put(root, "/etc/lockstep/executors.enabled", self.controller.write("enabled", "reboot\napt\naccept\n"))
        put(tree, "/install.sh", os.path.join(HERE, "install.sh"), 0o755)
        for kind in KINDS:
            put(tree, f"/{kind}.token", self.controller.write("token", self.token(kind)))
        disk = os.path.join(self.folder, "payload.img")
        subprocess.run(["mkfs.ext4", "-q", "-F", "-L", "payload", "-d", tree, disk, "200M"], check=True,
                       stderr=subprocess.DEVNULL)
        return disk

    def token(self, node):
        """What a node enrols with."""
        return self.controller.json("node", "enroll", node, "--ttl", "12h")["token"] + "\n"

    def set_up(self):
        """Controller, machines, and both conform."""
        self.controller.start()
        self.controller.fleet(KINDS, self.old, self.driver)
        self.controller.bundle([(path, next(k for k in (self.old, self.new) if k in path))
                                for path in sorted(glob.glob(f"{self.images}/debs/*.deb"))])
        for name, kernel in (("old", self.old), ("new", self.new)):
            self.controller.publish(name, kernel, self.driver)
        disk = self.payload()
        for kind in KINDS:
            self.machines[kind] = Machine(kind, os.path.join(self.folder, kind), (f"{self.images}/{kind}.img", "raw"),
                                          disk)
        together([lambda kind=kind: self.install(kind) for kind in KINDS])

    def install(self, kind):
        """Boot a machine and install the agent."""
        machine = self.machines[kind]
        machine.start()
        machine.await_up()
        say(f"{kind}: booted by its boot loader")
        machine.run("mkdir -p /mnt/payload && mount -o ro LABEL=payload /mnt/payload && "
                    f"/mnt/payload/install.sh {kind} {self.controller.people}; umount /mnt/payload")
        self.await_conforming(kind)
        self.check_reading(kind)
        drop_ins = "/etc/systemd/system/lockstep-helper.service.d"
        machine.run(f"mkdir {drop_ins} && cp {DROP_IN} {drop_ins}/executors.conf && systemctl daemon-reload && "
                    "systemctl stop lockstep-helper.service")
        say(f"{kind}: conforms to the old stack")

    def check_reading(self, kind):
        """Agent and helper, each in the sandbox of its unit, read what root reads without one."""
        read = self.machines[kind].run(f"lockstep-agent --read --node {kind}")
        digest, sent = read.split()[1], self.controller.node(kind)["tuple"]
        if digest != sent:
            path = self.controller.write(f"{kind}.read", read)
            raise Failure(f"{kind}: the agent sent {sent}; root reads {digest}: {path}")

    def await_conforming(self, kind):
        """Wait until a node is in service and as its pool's stack says."""
        def conforms():
            node = self.controller.node(kind)
            return node.get("liveness") == "live" and node.get("judged") == "conforms"
        try:
            wait_for(f"{kind}: conforms", BOOT_S, conforms, 3)
        except Failure as failure:
            raise Failure(f"{failure}\n{self.controller.ask('node', 'show', kind)}") from failure

    def other(self, kernel):
        """The kernel that is not this one."""
        return self.old if kernel == self.new else self.new

    def stack_of(self, kernel):
        """The stack that pins a kernel."""
        return "new" if kernel == self.new else "old"

    def kernel(self, kind):
        """The kernel that runs."""
        return self.machines[kind].run("uname -r")

    def boots(self, kind, kernel):
        """How often a kernel was booted."""
        return self.machines[kind].run("last -w -x reboot | awk '$1 == \"reboot\" { print $4 }'").split().count(kernel)

    def check_kernel(self, kind, wanted):
        """It runs, and the controller read it."""
        runs = self.kernel(kind)
        if runs != wanted:
            raise Failure(f"{kind}: runs kernel {runs} and not {wanted}")

    def await_change(self, number, states, seconds=STEP_S):
        """Wait until a change is in one of these states, and show it where it does not come there."""
        shown = []

        def there():
            change = self.controller.change(number)
            line = self.progress(change)
            if line not in shown[-1:]:
                shown.append(line)
                say(f"change {number}: {line}")
            return change["state"] in states and change
        try:
            return wait_for(f"change {number}: {' or '.join(states)}", seconds, there, 3)
        except Failure as failure:
            raise Failure(f"{failure}\n{self.controller.ask('change', 'show', number)}") from failure

    def end_change(self, number):
        """The state that a change ends in, rolled back by hand where it halted."""
        if self.await_change(number, ENDS)["state"] == "halted":
            self.controller.ask("change", "rollback", number, "--reason", "a test")
        return self.await_change(number, ["done", "rolled back"])["state"]

    def member(self, number):
        """The node of a change: what it does, and how that goes."""
        return self.controller.json("change", "show", number, "--nodes", "all")["items"][0]

    def progress(self, change):
        """A change in a line."""
        m = self.member(str(change["id"]))
        back = " back" if m["back"] else ""
        return f"{change['state']}; {m['node']} {m['state']}, {m.get('doing', '-')}{back} {m.get('text', '')}".strip()

    def tear_down(self):
        """End everything that was started."""
        for machine in self.machines.values():
            machine.stop()
        self.controller.stop()


# Scenarios ------------------------------------------------------------------------------------------


def there_and_back(test):
    """A change to the other kernel with real reboots. Its node is a canary, which exercises the rollback: there, back,
    and there again."""
    def one(kind):
        machine = test.machines[kind]
        before = test.kernel(kind)
        number = test.controller.propose(test.stack_of(test.other(before)), kind)
        test.await_change(number, ["done"])
        boots = machine.run("last -w -x -n 3 reboot | awk '$1 == \"reboot\" { print $4 }'").split()
        if boots != [test.other(before), before, test.other(before)]:
            raise Failure(f"{kind}: its last boots, newest first, were of {' '.join(boots)}")
        test.check_kernel(kind, test.other(before))
        test.await_conforming(kind)
        say(f"{kind}: there, back and there again: {' '.join(boots)}")
    together([lambda kind=kind: one(kind) for kind in KINDS])


def module_missing(test):
    """DKMS cannot build the driver's module for the kernel that would boot next, whose headers are not there: the
    node does not reboot into it, and the change is rolled back."""
    def one(kind):
        machine = test.machines[kind]
        before = test.kernel(kind)
        other = test.other(before)
        boots = test.boots(kind, other)
        headers = f"/lib/modules/{other}/build"
        machine.run(f"mv {headers} {headers}.away && {{ dkms remove nvidia/{test.driver} -k {other} || true; }}")
        number = test.controller.propose(test.stack_of(other), kind)
        state = test.await_change(number, ENDS)["state"]
        text = test.member(number).get("text", "")
        if state == "done" or "nvidia" not in text or other not in text:
            raise Failure(f"{kind}: change {number} is {state}, and of module and kernel it says '{text}'")
        test.end_change(number)
        if test.boots(kind, other) != boots:
            raise Failure(f"{kind}: it was rebooted into {other}")
        test.await_conforming(kind)
        machine.run(f"mv {headers}.away {headers} && dkms install nvidia/{test.driver} -k {other}")
        say(f"{kind}: not rebooted into {other}, which lacks the module: {text}")
    together([lambda kind=kind: one(kind) for kind in KINDS])


def in_the_middle(test, kind, number, step):
    """Whether a change is in a step on its way there; of apply, in the work of the package manager."""
    m = test.member(number)
    if m.get("doing") != step or m["back"] or m["state"] not in ("asked", "reading"):
        return False
    return step != "apply" or bool(test.machines[kind].try_run("pgrep -x dpkg"))


def cut_power(test, kind, left):
    """One change; the machine is reset in the middle of each step that is left, and the change ends as it says."""
    machine = test.machines[kind]
    before = test.kernel(kind)
    other = test.other(before)
    if "apply" in left:  # so that there is something to install
        machine.run(f"! dpkg -s linux-image-{other} || "
                    f"{{ apt-mark unhold linux-image-{other} && dpkg --purge linux-image-{other}; }}")
    number = test.controller.propose(test.stack_of(other), kind)
    begun = list(left)

    def ended():
        for step in list(left):
            if in_the_middle(test, kind, number, step):
                machine.monitor("system_reset")
                left.remove(step)
                say(f"{kind}: reset in the middle of {step}")
        return test.controller.change(number)["state"] in ENDS
    wait_for(f"change {number}: an end", STEP_S, ended, 0.5)
    if left == begun:
        raise Failure(f"{kind}: change {number} ended before a step of {' '.join(left)} could be interrupted")
    state = test.end_change(number)
    test.check_kernel(kind, other if state == "done" else before)
    test.await_conforming(kind)
    say(f"{kind}: change {number} was interrupted in {' and '.join(s for s in begun if s not in left)} and is {state}")


def hard_reset(test):
    """The power goes in the middle of each step; the node is at the end where the journal says it is."""
    def one(kind):
        left = ["apply", "reboot", "check"]
        while left:
            cut_power(test, kind, left)
    together([lambda kind=kind: one(kind) for kind in KINDS])


SCENARIOS = {"there-and-back": there_and_back, "module-missing": module_missing, "hard-reset": hard_reset}


def main():
    """Run what was asked for."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended
    build, portable, *names = sys.argv[1:]
    test = Test(os.path.abspath(build), os.path.abspath(portable))
    failed = 0
    say(f"kernels {test.old} and {test.new}, in {test.folder}")
    try:
        test.set_up()
        for name in names or SCENARIOS:
            SCENARIOS[name](test)
            say(f"ok   {name}")
    except Failure as failure:
        failed = 1
        say(f"FAIL {failure}")
    finally:
        test.tear_down()
    if not failed:
        shutil.rmtree(test.folder)
    print(f"{len(names or SCENARIOS) if not failed else 0} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
