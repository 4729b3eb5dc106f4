#!/usr/bin/env python3
"""Type the examples of help (src/cli/main/examples.c), in their order and in one folder, with a controller
of their own and a locale that does not exist: without a terminal, and on terminals of 80 and 200 columns.

    help_examples.py BUILD_DIR

Rows marked PARSED are not run; tests/test_help.c checks that they are command lines.
"""

import fcntl
import os
import pathlib
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

SOURCE = pathlib.Path(__file__).resolve().parent.parent
WAIT_S = 60  # for events that always come
ROW = re.compile(r'\b(HERE|SERVER)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+),')

FLEET = """lockstep: 1
kind: Fleet
name: lab
pools: {train: {posture: dev}, serve: {posture: dev}}
nodes:
  - {hosts: "gpu[001-004]", pool: train, class: hgx-h200-8}
  - {hosts: "gpu017", pool: serve, class: hgx-h200-8}
"""
PINNED = """lockstep: 1
kind: Fleet
name: lab
pools: {train: {posture: dev, stack: earlier}, serve: {posture: dev}}
nodes:
  - {hosts: "gpu001", pool: train, class: hgx-h200-8}
  - {hosts: "gpu017", pool: serve, class: hgx-h200-8}
"""
BUNDLE = """lockstep: 1
kind: Bundle
name: hotfix
version: "2026.11"
files:
  - {file: nic.pldm, component: nic, image: 1}
"""
NODES = "name,pool,class\ngpu001,train,hgx-h200-8\ngpu002,train,hgx-h200-8\ngpu017,serve,hgx-h200-8\n"
# Exit statuses other than 0: the answer is no, ...
STATUSES = {
    "lockstep conform --stack stack.yaml --root reference": (1,),
    "lockstep stack diff stack.yaml next.yaml": (1,),
    "lockstep stack diff h200-train next.yaml": (1,),
    "lockstep advisories stack.yaml": (1,),
    "lockstep fleet apply fleet.yaml --dry-run": (1,),
    # ... or depends on this machine.
    "lockstep doctor": (0, 1),
}
# What is typed before an example: a change needs a pool that is pinned to another stack.
BEFORE = {
    "lockstep change propose --to h200-train --pool train --reason CHG-1205 --dry-run": (
        "sed 's/^name: h200-train$/name: earlier/; s/persistence: true/persistence: false/' stack.yaml >earlier.yaml",
        "{ echo --- && cat earlier.yaml; } >>pinned.yaml",
        "lockstep fleet apply pinned.yaml --yes",
    ),
}


def examples():
    text = (SOURCE / "src/cli/main/examples.c").read_text()
    text = text[text.index("lks_examples[] = {") :]
    for run, literals in ROW.findall(text):
        yield run, "lockstep " + "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')


def prepare(folder):
    shutil.copy(SOURCE / "examples/h200-train.yaml", folder / "stack.yaml")
    shutil.copy(SOURCE / "examples/h200-train-next.yaml", folder / "next.yaml")
    for file in (SOURCE / "examples/firmware").iterdir():
        shutil.copy(file, folder)
    shutil.copytree(SOURCE / "tests/roots/h200", folder / "reference", symlinks=True)
    (folder / "fleet.yaml").write_text(FLEET)
    (folder / "pinned.yaml").write_text(PINNED)
    (folder / "bundle.yaml").write_text(BUNDLE)
    (folder / "nodes.csv").write_text(NODES)


def start_controller(folder, env):
    data = folder / "data"
    init = ["lockstepd", "init", "--data", str(data), "--people", "127.0.0.1:0", "--agents", "127.0.0.1:0"]
    subprocess.run(init, env=env, check=True, stdout=subprocess.DEVNULL)
    shutil.copy(data / "seal.key", folder / "seal.key")
    log = open(folder / "lockstepd.log", "wb")
    run = ["lockstepd", "run", "--config", str(data / "lockstepd.yaml")]
    daemon = subprocess.Popen(run, env=env, stdout=log, stderr=log)
    end = time.monotonic() + WAIT_S
    while subprocess.run(["lockstep", "fleet", "show"], env=env, capture_output=True).returncode != 0:
        if daemon.poll() is not None or time.monotonic() > end:
            sys.exit("lockstepd did not start:\n" + (folder / "lockstepd.log").read_text())
        time.sleep(0.05)
    return daemon


def type_on_terminal(line, columns, env, folder):
    """The exit status and the output of a line on a terminal; a question is answered with yes."""
    terminal, inner = os.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        os.close(terminal)
        os.setsid()
        fcntl.ioctl(inner, termios.TIOCSCTTY, 0)
        for stream in range(3):
            os.dup2(inner, stream)
        os.execvpe("/bin/sh", ["sh", "-c", line], env)
    os.close(inner)
    os.write(terminal, b"yes\n")
    said = b""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and select.select([terminal], [], [], WAIT_S)[0]:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(terminal)  # ends what still runs, by SIGHUP
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


def type_line(line, columns, env, folder):
    if columns:
        return type_on_terminal(line, columns, env, folder)
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(["/bin/sh", "-c", line], env=env, cwd=folder, **streams)
    return done.returncode, done.stdout


def story(build, columns):
    failed = passed = 0
    with tempfile.TemporaryDirectory(prefix="lks-help-") as name:
        folder = pathlib.Path(name)
        env = {
            "PATH": f"{build}:/usr/bin:/bin",
            "HOME": name,
            "XDG_STATE_HOME": name + "/state",
            "LC_ALL": "xx_YY.bad",
            "TERM": "xterm",
            "PAGER": "cat",
            "LOCKSTEP_SERVER": f"unix:{name}/data/lockstepd.sock",
        }
        prepare(folder)
        daemon = start_controller(folder, env)
        try:
            for line in (step for _, example in examples() for step in (*BEFORE.get(example, ()), example)):
                status, said = type_line(line, columns, env, folder)
                text = said.decode(errors="replace")
                bad = status not in STATUSES.get(line, (0,)) or (not columns and "\x1b" in text)
                failed += bad
                passed += not bad
                if bad:
                    print(f"FAIL {columns or 'no'} columns: {line}: exit status {status}\n{text}")
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(WAIT_S)
    return passed, failed


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    results = [story(build, columns) for columns in (0, 80, 200)]
    passed, failed = (sum(numbers) for numbers in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or passed < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
