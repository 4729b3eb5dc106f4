#!/usr/bin/env python3
"""Type the command blocks of README.md and docs as they are printed: without a terminal, and on terminals of 80
and 200 columns, in a locale that does not exist.

    blocks.py BUILD_DIR [real] [PAGE...]

With "real" the pages whose set-ups need a program that only 'make test-real' installs (REAL), and without it the others.

A comment above a block states how it is typed, for this and all blocks below it on the page:

    <!-- typed: controller fleet -->       in one shell, after these set-ups (tests/docs/setups.sh)
    <!-- not typed: needs a real BMC -->   not at all; this counts for the next block alone

A block without either fails. Generated pages are left out: tests/help_examples.py types the examples of help.

Each page has a shell in a folder of its own, with links to the checkout's examples and tests. Absolute paths are
below that folder, and hosts and addresses are loopback addresses of the page. In a block with '$ ' the lines without
it are output: without a terminal it has to come, in that order, with blanks and line ends as one blank; "..." is
anything, and a date or time is any. A line whose comment names another person is typed with a token of theirs. A
command that follows something is interrupted when its output came.
"""

import concurrent.futures
import dataclasses
import fcntl
import os
import pathlib
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
LIMIT_S = 600  # for what always comes
WORKERS = 4
STARTED = "^ready|msg=listening|msg=.the machine"
COMMENT = re.compile(r"<!-- (typed|not typed): (.*?) -->", re.S)
REAL = {"slurm"}  # set-ups
NAMES = r"lockstep[a-z-]*|curl|scontrol|sbatch|squeue|openssl|export|make|systemctl|systemd-\w+"
PROGRAM = re.compile(rf"(\$|#|controller#) |({NAMES}) [\w/'$&-]|secret=")
PATHS = ("/var/lib/lockstep", "/collected/", "/srv/", "/tmp/")
PEOPLE = (("another person", "lee"), ("and one more", "ann"), ("an approver", "lee"))
FOLLOWS = re.compile(r" --(follow|watch)\b|^lockstep top$")
# What shows the state of something that changes by itself: typed again until its output comes.
SHOWS = re.compile(r"(lockstep (scheduler ls|node show|change show|doctor)|scontrol show|squeue|curl) ?")
# Exit statuses other than 0: 1 is the answer no, and 3 a manifest that is refused.
STATUSES = {
    "lockstep stack lint examples/broken/lint-unquoted-version.yaml": 3,
    "lockstep stack check examples/broken/driver-family.yaml": 1,
    "lockstep stack diff examples/h200-train.yaml examples/h200-train-next.yaml": 1,
    "lockstep compat --driver 535.216.01 --cuda 13.0 --gpu V100": 1,
    "lockstep advisories examples/h200-train.yaml": 1,
    "lockstep pldm verify nic.fwpkg --key vendor.pem": 1,
    "lockstep drift": 1,
    "lockstep fleet apply --dry-run fleet.yaml": 1,
}


@dataclasses.dataclass
class Block:
    page: str
    line: int
    lines: list
    setups: tuple = ()  # before this block
    reason: str = ""  # why it is not typed

    def commands(self):
        """Pairs of a command, with its further lines and here-document, and the lines that are printed behind it."""
        printed = any(line.startswith(("$ ", "controller# ")) for line in self.lines)
        pairs, end = [], None
        for line in self.lines:
            start = re.match(r"(?:\$|controller#) ", line) if printed else re.match(r"(?=\S)", line)
            if pairs and (end or not finished(pairs[-1][0])) and not pairs[-1][1]:
                pairs[-1][0] += "\n" + line
                end = None if line == end else end
            elif start:
                pairs.append([line[start.end() :], []])
                here = re.search(r"<<'(\w+)'$", line)
                end = here.group(1) if here else None
            elif line.strip():
                pairs[-1][1].append(line.strip())
        return pairs


def finished(command):
    """Whether the command needs no further line: no open quote, no backslash at its end."""
    quotes = re.sub(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", "", command)
    return not command.endswith("\\") and "'" not in quotes and '"' not in quotes


def blocks(page, text):
    """The indented blocks of a page that have commands, each with what the comments above it say."""
    found, at, setups, typed, reason, before = [], None, (), False, "", ""
    for number, line in enumerate(re.sub(COMMENT, one_line, text).split("\n") + ["end"], 1):
        comment = COMMENT.match(line.strip())
        indent = len(line) - len(line.lstrip())
        if comment and comment.group(1) == "typed":
            typed, setups, reason = True, setups + tuple(comment.group(2).split()), ""
        elif comment:
            reason = " ".join(comment.group(2).split())
        if at is None and indent >= 4 and not before:
            at, depth = Block(page, number, [line[indent:]]), indent
        elif at is not None and (indent >= depth or not line.strip()):
            at.lines.append(line[depth:])
        elif at is not None:
            if PROGRAM.match(at.lines[0]):
                at.setups, at.reason = setups, reason or ("" if typed else "?")
                found.append(at)
                setups, reason = (), ""
            at = None
        before = "" if comment else line.strip()
    return found


def one_line(comment):
    """The comment in one line, with as many line ends behind it as it had."""
    return " ".join(comment.group(0).split()) + "\n" * comment.group(0).count("\n")


def pattern(printed, numbers_vary=False):
    """What the printed lines say about the output."""
    text = " ".join(" ".join(printed).split())
    parts = [re.escape(part) for part in re.split(r" ?\.\.\. ?", text)]
    said = ".*".join(parts)
    if numbers_vary:
        return re.sub(r"\d+(\\\.\d+)?", r"\\d+(\\.\\d+)?", said)
    return re.sub(r"\d{4}\\-\d\d\\-\d\d(T[\d:]+(\\\.\d+)?Z)?", r"\\d{4}-\\d\\d-\\d\\d\\S*", said)


class Place:
    """The paths, hosts and addresses of pages, as they are in the folder of a run."""

    def __init__(self, folder):
        octets = f"127.{random.randint(65, 250)}.{random.randint(1, 250)}"
        self.real = {path: folder + path for path in PATHS}
        self.real.update({"127.64.77.": octets + ".", "127.64.0.1": octets + ".9", "0.0.0.0:": octets + ".1:"})
        self.real["controller.example"] = octets + ".1"
        self.printed = {real: printed for printed, real in self.real.items()}

    def inside(self, text):
        return re.sub("|".join(map(re.escape, self.real)), lambda found: self.real[found.group()], text)

    def outside(self, text):
        return re.sub("|".join(map(re.escape, self.printed)), lambda found: self.printed[found.group()], text)


class Shell:
    """One bash that is given a command at a time, on a terminal or with a pipe for its output."""

    def __init__(self, folder, build, columns, place):
        self.folder, self.place, self.columns, self.count = folder, place, columns, 0
        env = {"PATH": f"{folder}/build:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder, "TERM": "xterm", "PAGER": "cat"}
        env.update({f"XDG_{kind}_HOME": f"{folder}/.{kind}" for kind in ("STATE", "CACHE", "CONFIG")})
        for name in PATHS:
            os.makedirs(os.path.dirname(folder + name), exist_ok=True)
        os.symlink(build, folder + "/build")
        for name in ("examples", "tests"):
            os.symlink(SOURCE / name, os.path.join(folder, name))
        script, self.script = os.pipe()
        self.output, inner = os.openpty() if columns else os.pipe()
        if columns:
            fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            modes = termios.tcgetattr(inner)
            modes[3] &= ~termios.ECHO
            termios.tcsetattr(inner, termios.TCSANOW, modes)
        else:
            env["COLUMNS"] = "100"
        stdin = inner if columns else subprocess.DEVNULL
        self.bash = subprocess.Popen(
            ["bash", "--norc", "--noprofile", f"/dev/fd/{script}"], cwd=folder, env=env, stdin=stdin, stdout=inner,
            stderr=inner, pass_fds=[script], start_new_session=True,
            preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if columns else None)
        os.close(script)
        os.close(inner)
        self.setup("{ export LC_ALL=xx_YY.bad; } 2>/dev/null; trap : INT")
        self.setup(place.inside((SOURCE / "tests/docs/setups.sh").read_text()))

    def setup(self, lines, log="."):
        """Lines of the test's own; the end of what they log is shown if they fail."""
        self.write(f"set -e\n{lines}\nset +e\nprintf '\\001%s\\002' 0\n")
        if self.wait(None)[0] != 0:
            log = pathlib.Path(self.folder, log)
            said = log.read_text(errors="replace")[-4000:] if log.is_file() else ""
            raise RuntimeError(f"the set-up failed: {lines[:200]}\n{said}")

    def write(self, text):
        os.write(self.script, text.encode())

    def wait(self, until):
        """The exit status that the shell reports, and the output before it. `until` sees the output as it grows."""
        said, end = b"", time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            if not select.select([self.output], [], [], 0.2)[0]:
                if self.bash.poll() is not None:
                    break
                continue
            try:
                part = os.read(self.output, 65536)
            except OSError:
                part = b""
            if not part:
                break
            said += part
            done = re.search(rb"\001(\d+)\002", said)
            if done:
                return int(done.group(1)), said[: done.start()].decode(errors="replace")
            if until:
                until(said.decode(errors="replace"))
        return -1, said.decode(errors="replace")

    def interrupt(self, number):
        """Send the signal to the command in the foreground: the newest child of the shell."""
        with open(f"/proc/{self.bash.pid}/task/{self.bash.pid}/children", encoding="ascii") as file:
            children = file.read().split()
        if children:
            os.kill(int(children[-1]), number)

    def keys(self, text):
        if self.columns:
            os.write(self.output, text.encode())

    def type(self, command, printed):
        """The exit status of a command and what it printed. A program in the background has started."""
        self.count += 1
        if command.endswith("&"):
            return self.background(command)
        person = next((name for text, name in PEOPLE if f"# {text}" in command.replace("  ", " ")), None)
        state = {"sent": False}

        def until(said):
            if state["sent"]:
                return
            if self.columns and command == "lockstep top":
                state["sent"] = "quit" in said
                self.keys("q" if state["sent"] else "")
            elif FOLLOWS.search(command) and said.strip() and (
                self.columns or re.search(pattern(printed), self.seen(said))
            ):
                state["sent"] = True
                self.interrupt(signal.SIGINT)

        if "lockstep top" not in command:
            self.keys("yes\n")
        self.write(self.place.inside(f"{'as ' + person + ' ' if person else ''}{command}\nprintf '\\001%s\\002' $?\n"))
        status, said = self.wait(until)
        if state["sent"] and status == 128 + signal.SIGINT:
            status = 0
        return status, said

    def seen(self, said):
        return " ".join(self.place.outside(said).split())

    def background(self, command):
        out = f"{self.folder}/.out{self.count}"
        started = f"grep -Eq '{STARTED}' {out}"
        enough = f"{started} || ! kill -0 $! || [ $((tries += 1)) -gt {LIMIT_S * 20} ]"
        wait = f"tries=0; until {enough}; do sleep 0.05; done"
        self.write(f"{{ {self.place.inside(command)}\n}} >{out} 2>&1 </dev/null\n{wait}\n")
        self.write(f"kill -0 $! && {started}\nprintf '\\001%s\\002' $?\n")
        status, said = self.wait(None)
        return status, said + pathlib.Path(out).read_text(errors="replace")

    def end(self):
        """End the shell and what it started, which is all in its process group; 'sim up' has groups of its own."""
        if self.bash.poll() is None:
            self.write(f"[ ! -e {self.folder}/slurm.pid ] || kill $(cat {self.folder}/slurm.pid)\n")
            self.write(f"while [ -e /proc/$(cat {self.folder}/slurm.pid 2>/dev/null || echo none) ]; do sleep 0.1; done\n")
            self.write(f"[ ! -e {self.folder}/tmp/fleet/pids ] || lockstep sim down {self.folder}/tmp/fleet\n")
            self.write("printf '\\001%s\\002' 0\n")
            self.wait(None)
        os.killpg(self.bash.pid, signal.SIGKILL)
        self.bash.wait()
        os.close(self.script)
        os.close(self.output)


def story(page, parts, build, columns):
    """Type the blocks of a page; the number that were good, and a text for each that was not."""
    folder = tempfile.mkdtemp(prefix="lks-docs-")
    passed, faults, vary = 0, [], False
    shell = Shell(folder, build, columns, Place(folder))
    try:
        for block in parts:
            vary = vary or "numbers-vary" in block.setups
            for name in block.setups:
                shell.setup(f"exec 8>&1 9>&2 >setup.log 2>&1\n{name}\nexec >&8 2>&9 8>&- 9>&-", "setup.log")
            for command, printed in [] if block.reason else block.commands():
                end = time.monotonic() + LIMIT_S
                while True:
                    status, said = shell.type(command, printed)
                    good = status == STATUSES.get(command, 0) and ("\x1b" not in said or columns)
                    good = good and (columns or re.search(pattern(printed, vary), shell.seen(said)))
                    if good or status < 0 or not SHOWS.match(command) or not is_real(parts) or time.monotonic() > end:
                        break
                    time.sleep(0.2)
                passed += bool(good)
                if not good:
                    expected = "" if columns or not printed else "\nand it does not have:\n" + "\n".join(printed)
                    faults.append(f"{page}:{block.line}, {columns or 'no'} columns: {command}\n"
                                  f"exit status {status}, output:\n{shell.place.outside(said)}{expected}")
                if status < 0:
                    raise RuntimeError("the command did not end, and no further one was typed")
    except RuntimeError as failure:
        faults.append(f"{page}, {columns or 'no'} columns: {failure}")
    finally:
        shell.end()
        shutil.rmtree(folder, ignore_errors=True)
    return passed, faults


def is_real(found):
    return any(REAL & set(block.setups) for block in found)


def pages(chosen):
    paths = [SOURCE / "README.md", SOURCE / "packaging/README.md"] + sorted((SOURCE / "docs").glob("**/*.md"))
    for path in paths:
        name, text = str(path.relative_to(SOURCE)), path.read_text()
        if name.startswith("docs/decisions/") or text.startswith("<!-- Generated") or (chosen and name not in chosen):
            continue
        found = blocks(name, text)
        if found:
            yield name, found


def main():
    build, chosen = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    real = chosen[:1] == ["real"]
    chosen = chosen[real:]
    passed, faults, stories = 0, [], []
    for page, found in pages(chosen):
        faults += [f"{page}:{b.line}: no comment says how this block is typed" for b in found if b.reason == "?"]
        if is_real(found) == real and any(not block.reason for block in found):
            stories += [(page, found, build, columns) for columns in (0, 80, 200)]
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        for good, bad in pool.map(lambda args: story(*args), stories):
            passed, faults = passed + good, faults + bad
    for fault in faults:
        print("FAIL " + fault)
    print(f"{passed} passed, {len(faults)} failed")
    return 1 if faults or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
