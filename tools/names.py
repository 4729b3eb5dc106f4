#!/usr/bin/env python3
"""Checks that the name of a public function leads to its file (docs/decisions/0085-names.md).

    names.py [DIR]      checks DIR/src, by default of the checkout this runs in

A function that src/FOLDER/ROOM/FILE.c defines for others is called lks_ and the first word of FILE, or lks_, the
room or the folder, and that word. A plural in the name of a file admits its singular: tasks.c has lks_task_new().
The commands of src/cli may leave out the cmd_ of their files. No two files define the same name, though no
program may link both.
"""
import glob
import os
import re
import sys

# Names that lead to no file, each with its reason. A row that is not needed any more is a fault, too.
EXCEPTIONS = {
    "lks_fail": "base/err.c: two of three functions call it, and it reads as a verb",
    "lks_fail_nomem": "base/err.c: the same for want of memory",
    "lks_wrap": "base/err.c: the same for a failure of a callee",
    "lks_assert_failed": "base/err.c: called by LKS_ASSERT alone",
}

# Words that the names of files do not use, and the field's term for each (docs/glossary.md).
FILE_WORDS = {
    "desk": "authz",
    "emptied": "drained",
    "errand": "subtask",
    "glance": "recheck",
    "keeper": "supervisor",
    "lowered": "relaxed",
    "own": "internal",
    "paper": "document",
    "pulse": "heartbeat",
    "shelf": "store",
    "shelving": "store",
    "standing": "status",
    "teller": "notifier",
    "thrift": "memory",
    "watcher": "poller",
}

COMMENT = re.compile(r"/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.S)
# A definition ends with a brace in the first column, and starts behind a blank line, an end or a directive.
HEAD = re.compile(r"(?:\A|(?<=[\n;}]))((?:[^\n;{}#]*\n)+)\{$", re.M)
ATTRIBUTE = re.compile(r"\b(?:LKS_[A-Z_]+|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)")


def public(text):
    """(line, name) of each function of a source that others can call."""
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    for match in HEAD.finditer(text):
        head = re.split(r"\n[ \t]*\n", match.group(1))[-1]
        line = text.count("\n", 0, match.end() - 1) + 1 - head.count("\n")
        name = re.search(r"\b(\w+)\s*\(", ATTRIBUTE.sub(" ", head))
        if name and not re.search(r"\bstatic\b", head) and name.group(1) != "main":
            yield line, name.group(1)


def forms(word):
    """A word of a file's name, and its singular where it is a plural."""
    found = {word}
    if word.endswith("s"):
        found.add(word[:-1])
    if word.endswith("es"):
        found.add(word[:-2])
    if word.endswith("ies"):
        found.add(word[:-3] + "y")
    return found


def leads(path, name):
    """Whether the name of a function leads to its file, a path below src."""
    *folders, file = path[:-len(".c")].split("/")
    stem = file.split("_")
    starts = forms(stem[0])
    if folders[0] == "cli" and stem[0] == "cmd" and len(stem) > 1:
        starts |= forms(stem[1])
    words = name.split("_")
    if words[0] != "lks":
        return False
    return any(words[1:2] == [start] or words[1:3] == [folder, start] for start in starts for folder in folders)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
    src = os.path.join(root, "src")
    sources = sorted(glob.glob(os.path.join(src, "**", "*.[ch]"), recursive=True))
    faults, functions, needed, homes = [], 0, set(), {}
    for source in sources:
        path = os.path.relpath(source, src)
        for word in os.path.basename(path)[:-2].split("_"):
            if word in FILE_WORDS:
                faults.append(f"src/{path}: the word for '{word}' is '{FILE_WORDS[word]}'")
        if not path.endswith(".c"):
            continue
        with open(source, encoding="utf-8") as text:
            for line, name in public(text.read()):
                functions += 1
                if homes.setdefault(name, path) != path:
                    faults.append(f"src/{path}:{line}: src/{homes[name]} has {name}(), too")
                if leads(path, name):
                    continue
                if name in EXCEPTIONS:
                    needed.add(name)
                    continue
                stem = os.path.basename(path)[:-2].removeprefix("cmd_")
                faults.append(f"src/{path}:{line}: {name}() does not lead to its file; call it lks_{stem}_...")
    faults += [f"tools/names.py: no exception is needed for {name}()" for name in EXCEPTIONS
               if name not in needed and len(sys.argv) < 2]
    if functions == 0:
        faults.append("no functions here")
    print("\n".join(faults + [f"{functions} functions", f"{0 if faults else 1} passed, {len(faults)} failed"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
