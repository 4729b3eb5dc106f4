"""A virtual machine under emulation: qemu, its monitor, and the guest agent that runs commands in it."""

import base64
import json
import os
import shutil
import socket
import subprocess
import time

# One boot takes 20 seconds of CPU under emulation, and several times that on busy cores.
BOOT_S = 900
FIRMWARE = "/usr/share/OVMF"


class Failure(Exception):
    """Something is not as it should be: the message says what."""


def wait_for(what, seconds, ask, every=1.0):
    """The first answer of ask() that is true; a Failure that names `what` after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Failure(f"{what}: not within {seconds} seconds")
        time.sleep(every)


class Machine:
    """One machine in a folder of its own. Its disk is an overlay: the image stays as it is."""

    def __init__(self, name, folder, image, payload=None, memory=1024):
        self.name, self.folder, self.memory = name, folder, memory
        self.payload, self.process, self.serial = payload, None, 0
        os.makedirs(folder, exist_ok=True)
        self.disk = os.path.join(folder, "disk.qcow2")
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", image[1], "-b", image[0], self.disk],
                       check=True)
        self.variables = os.path.join(folder, "vars.fd")

    def path(self, name):
        """The path of a file in the machine's folder."""
        return os.path.join(self.folder, name)

    def arguments(self, extra):
        """The command line of qemu."""
        if not os.path.exists(self.variables):
            shutil.copy(f"{FIRMWARE}/OVMF_VARS_4M.fd", self.variables)
        drive = "if=none,cache=unsafe,discard=unmap"
        arguments = [
            "qemu-system-x86_64", "-name", self.name,
            "-machine", "q35,smm=off,vmport=off", "-accel", "tcg,thread=multi,tb-size=256", "-cpu", "max",
            "-m", str(self.memory), "-nodefaults", "-no-user-config", "-display", "none",
            "-serial", f"file:{self.path('serial.log')}",
            "-qmp", f"unix:{self.path('qmp')},server=on,wait=off",
            "-chardev", f"socket,path={self.path('qga')},server=on,wait=off,id=qga",
            "-device", "virtio-serial-pci",
            "-device", "virtserialport,chardev=qga,name=org.qemu.guest_agent.0",
            "-device", "virtio-rng-pci",
            "-netdev", "user,id=net,ipv6=off", "-device", "virtio-net-pci,netdev=net,romfile=",
            "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={FIRMWARE}/OVMF_CODE_4M.fd",
            "-drive", f"if=pflash,unit=1,format=raw,file={self.variables}",
            "-fw_cfg", "name=opt/org.tianocore/IPv4PXESupport,string=n",
            "-fw_cfg", "name=opt/org.tianocore/IPv6PXESupport,string=n",
            "-drive", f"{drive},id=disk,format=qcow2,file={self.disk}",
            "-device", "virtio-blk-pci,drive=disk,bootindex=1",
        ]
        if self.payload:
            arguments += ["-drive", f"{drive},id=more,format=raw,readonly=on,file={self.payload}",
                          "-device", "virtio-blk-pci,drive=more"]
        return arguments + extra

    def start(self, *extra):
        """Power it on."""
        with open(self.path("qemu.log"), "ab") as log:
            self.process = subprocess.Popen(self.arguments(list(extra)), stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        wait_for(f"{self.name}: qemu", 60, lambda: os.path.exists(self.path("qmp")), 0.1)

    def stop(self):
        """Power it off, as it is."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def ended(self):
        """Whether it powered itself off."""
        return self.process is not None and self.process.poll() is not None

    def monitor(self, command):
        """One command of the monitor, such as system_reset."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(self.path("qmp"))
            lines = s.makefile("r")
            lines.readline()
            for execute in ("qmp_capabilities", command):
                s.sendall(json.dumps({"execute": execute}).encode() + b"\n")
                while True:
                    answer = json.loads(lines.readline())
                    if "error" in answer:
                        raise Failure(f"{self.name}: {command}: {answer['error']}")
                    if "return" in answer:
                        break

    def ask(self, calls, timeout):
        """Calls of the guest agent on one connection, and their answers; None where it does not answer."""
        answers = []
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(timeout)
                s.connect(self.path("qga"))
                lines = s.makefile("rb")
                self.serial += 1
                number = (os.getpid() << 16 | self.serial) & 0x7FFFFFFF
                # What an interrupted connection left half-way ends with the byte 0xff.
                s.sendall(b"\xff" + json.dumps({"execute": "guest-sync", "arguments": {"id": number}}).encode()
                          + b"\n")
                while True:
                    line = lines.readline()
                    if not line:
                        return None
                    try:
                        if json.loads(line.lstrip(b"\xff")).get("return") == number:
                            break
                    except ValueError:
                        continue
                for name, arguments in calls:
                    s.sendall(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
                    line = lines.readline()
                    if not line:
                        return None
                    answers.append(json.loads(line))
        except (OSError, ValueError):
            return None
        return answers

    def answers(self):
        """Whether the guest agent is there."""
        return self.ask([("guest-ping", {})], 5) is not None

    def await_up(self, seconds=BOOT_S):
        """Wait until it has booted."""
        wait_for(f"{self.name}: a boot", seconds, self.answers)

    def run(self, command, seconds=600, check=True):
        """A command of the shell in the machine: its output."""
        started = wait_for(f"{self.name}: the guest agent", BOOT_S, lambda: self.ask(
            [("guest-exec", {"path": "/bin/sh", "arg": ["-c", command], "capture-output": True})], 30))
        if "error" in started[0]:
            raise Failure(f"{self.name}: {command}: {started[0]['error']}")
        pid = started[0]["return"]["pid"]

        def status():
            answer = self.ask([("guest-exec-status", {"pid": pid})], 30)
            if answer is not None and "error" in answer[0]:
                raise Failure(f"{self.name}: {command}: it was lost: {answer[0]['error']}")
            return answer is not None and answer[0]["return"].get("exited") and answer[0]["return"]

        result = wait_for(f"{self.name}: {command}", seconds, status, 0.5)
        out, err = (base64.b64decode(result.get(k, "")).decode(errors="replace") for k in ("out-data", "err-data"))
        if check and result.get("exitcode") != 0:
            raise Failure(f"{self.name}: {command}: status {result.get('exitcode')}: {out}{err}")
        return out.strip()

    def try_run(self, command):
        """The output of a short command, or None while the machine does not answer."""
        try:
            return self.run(command, 60, check=False) if self.answers() else None
        except Failure:
            return None
