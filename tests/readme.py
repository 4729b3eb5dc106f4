#!/usr/bin/env python3
"""Types the commands of README.md as they are printed, and compares the output with the printed one.

    readme.py BUILD_DIR

Run are the blocks of the sections below, in one shell, in a folder with the checkout's examples and tests. A line of
output that is printed has to come, in that order, with blanks and line ends counting as one blank; "..." is anything,
and a date is any date. A block with a line that starts with '# ' needs root and hardware, and is not run.
"""
import os
import re
import subprocess
import sys
import tempfile

SECTIONS = ("The first five minutes", "Firmware", "A fleet")
LIMIT_S = 600
STARTED = "^ready|msg=listening|msg=.the machine"
# Exit status 1 is the answer no, and 3 a manifest that is refused.
STATUSES = {
    "lockstep stack lint examples/broken/lint-unquoted-version.yaml": 3,
    "lockstep stack check examples/broken/driver-family.yaml": 1,
    "lockstep stack diff examples/h200-train.yaml examples/h200-train-next.yaml": 1,
    "lockstep compat --driver 535.216.01 --cuda 13.0 --gpu V100": 1,
    "lockstep advisories examples/h200-train.yaml": 1,
    "lockstep fleet apply --dry-run fleet.yaml": 1,
}
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def blocks(text, section):
    """The indented blocks of a section, as lists of lines without the indent."""
    body = text.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    found, lines = [], []
    for line in body.split("\n") + [""]:
        if line.startswith("    "):
            lines.append(line[4:])
        elif line == "" and lines:
            lines.append("")
        elif lines:
            found.append(lines)
            lines = []
    return [block for block in found if block[0].startswith(("$ ", "# "))]


def commands(block):
    """Pairs of a command, with its further lines and here-document, and the lines that are printed behind it."""
    pairs, end = [], None
    for line in block:
        if end is not None or (pairs and not pairs[-1][1] and pairs[-1][0].endswith("\\")):
            pairs[-1][0] += "\n" + line
            end = None if line == end else end
        elif line.startswith("$ "):
            pairs.append([line[2:], []])
            here = re.search(r"<<'(\w+)'$", line)
            end = here.group(1) if here else None
        elif line.strip():
            pairs[-1][1].append(line)
    return pairs


def pattern(printed):
    """What the printed lines say about the output."""
    text = " ".join(" ".join(printed).split())
    parts = [re.escape(part) for part in re.split(r" ?\.\.\. ?", text)]
    return re.sub(r"\d{4}\\-\d\d\\-\d\d", r"\\d{4}-\\d\\d-\\d\\d", ".*".join(parts))


class Shell:
    """One bash that is given a command at a time."""

    def __init__(self, folder, programs):
        env = dict(os.environ, HOME=folder, XDG_STATE_HOME=folder + "/state", XDG_CACHE_HOME=folder + "/cache",
                   XDG_CONFIG_HOME=folder + "/config",
                   LC_ALL="C.UTF-8", COLUMNS="100")
        for name in ("LOCKSTEP_SERVER", "LOCKSTEP_CONTEXT", "LOCKSTEP_CA", "LOCKSTEP_TOKEN_FILE", "LOCKSTEP_DATA"):
            env.pop(name, None)
        os.symlink(programs, folder + "/build")
        for name in ("examples", "tests"):
            os.symlink(os.path.join(HERE, name), os.path.join(folder, name))
        self.folder, self.count = folder, 0
        self.bash = subprocess.Popen(["bash", "--norc"], cwd=folder, env=env, stdin=subprocess.PIPE, text=True,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def type(self, command):
        """What it printed, on both streams, and its exit status. A program in the background has started."""
        self.count += 1  # a program in the background still writes to the file of its own command
        out, done = f"{self.folder}/.out{self.count}", self.folder + "/.done"
        os.mkfifo(done)
        started = f"grep -Eq '{STARTED}' {out} || ! kill -0 $! || [ $((tries += 1)) -gt {LIMIT_S * 20} ]"
        wait = f"\ntries=0; until {started}; do sleep 0.05; done\nkill -0 $! && grep -Eq '{STARTED}' {out}"
        wait = wait if command.endswith("&") else ""
        self.bash.stdin.write(f"{{ {command}\n}} >{out} 2>&1 </dev/null{wait}\necho $? >{done}\n")
        self.bash.stdin.flush()
        with open(done, encoding="utf-8") as file:
            status = int(file.read() or -1)
        os.unlink(done)
        with open(out, encoding="utf-8") as file:
            return status, file.read()

    def end(self):
        self.bash.stdin.write("kill $(jobs -p)\nwait\n")
        self.bash.stdin.close()
        self.bash.wait(LIMIT_S)


def main():
    programs = os.path.abspath(sys.argv[1])
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        text = file.read()
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(folder, programs)
        try:
            for section in SECTIONS:
                for block in blocks(text, section):
                    if any(line.startswith("# ") for line in block):
                        continue
                    for command, printed in commands(block):
                        status, output = shell.type(command)
                        good = status == STATUSES.get(command, 0)
                        if good and re.search(pattern(printed), " ".join(output.split())):
                            passed += 1
                            continue
                        failed += 1
                        print(f"FAIL {section}: $ {command}\nstatus {status}, output:\n{output}")
                        print("which does not have:\n" + "\n".join(printed))
        finally:
            shell.end()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
