#!/usr/bin/env python3
"""Checks that the pages about the code name only files, folders and functions that exist.

    pages.py [DIR]      checks the pages of DIR, by default of the checkout this runs in

The pages are those of PAGES and each README.md below src. Checked are names of files and folders between
backquotes, paths that start with a folder of the checkout, targets of links, and every name that starts with lks_
or LKS_. A path counts from the root, from src, from the folder of the page or from one above it. A file without a
path is in the folder of the page or the root where the page is a room's, and anywhere for other pages. A * and a
word in capitals (NAME) stand for anything.
"""
import fnmatch
import glob
import os
import re
import sys

PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "data/README.md", "docs/rooms.md", "executors/README.md")

# Names of things that are not in the checkout, each with its reason. A row that is not needed any more is a fault, too.
EXCEPTIONS = {
    "firmware/CLASS": "a reading",
    "firmware/NAME": "a component of an advisory",
}

FILE = re.compile(r"\.(?:build|c|cross|csv|h|json|md|py|sh|txt|yaml)$")
SOURCES = ("src", "tests", "sim", "fuzz", "bench", "tools")
QUOTED = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")
FUNCTION = re.compile(r"\b(?:lks|LKS)_\w+(?:\(\))?")
COMMENT = re.compile(r"/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.S)


def pattern(name):
    """A name with a * for each word that stands for anything."""
    return re.sub(r"(?<![A-Za-z0-9])[A-Z]{2,}(?![A-Za-z0-9]|\.md)", "*", name)


def load(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Tree:
    """What there is: paths, and the names in the sources."""

    def __init__(self, root):
        self.root = root
        self.files, self.words, self.called = {}, set(), set()
        for top, folders, files in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(("build", ".git", "__"))]
            here = os.path.relpath(top, root)
            for name in files:
                self.files.setdefault(name, set()).add(here)
            if here.split("/")[0] in SOURCES:
                for name in files:
                    if name.endswith((".c", ".h")):
                        self.learn(load(os.path.join(top, name)))

    def learn(self, source):
        source = COMMENT.sub(" ", source)
        self.words.update(re.findall(r"\b(?:lks|LKS)_\w+", source))
        self.called.update(re.findall(r"\b(lks_\w+)\(", source))

    def has_word(self, name):
        known = self.called if name.endswith("()") else self.words
        wanted = name.removesuffix("()")
        wanted = pattern(wanted) if wanted.startswith("lks_") else wanted
        return wanted in known or ("*" in wanted and bool(fnmatch.filter(known, wanted)))

    def has_path(self, name, page):
        places, above = ["", "src"], os.path.dirname(page)
        while above:
            places.append(above)
            above = os.path.dirname(above)
        return any(glob.glob(os.path.join(self.root, place, pattern(name))) for place in places)

    def has_file(self, name, page):
        """A file by its name alone."""
        found = [home for file in fnmatch.filter(self.files, pattern(name)) for home in self.files[file]]
        room = os.path.dirname(page)
        return any(home in (room, ".") for home in found) if page.startswith("src/") else bool(found)

    def has(self, name, page):
        if name.lower().startswith("lks_"):
            return self.has_word(name)
        return self.has_path(name, page) if "/" in name else self.has_file(name, page)


def is_place(name):
    """Whether a quoted name is one of a file or a folder."""
    if not re.fullmatch(r"[\w.*-]+(?:/[\w.*-]+)*/?", name) or name.startswith("build"):
        return False
    return "/" in name or (FILE.search(name) is not None and not name.startswith("."))


def named(line, tops):
    """The names on a line of a page."""
    for quoted in QUOTED.findall(line):
        first = quoted.split()[0]
        if is_place(first):
            yield first
        elif line.startswith("May use:") and re.fullmatch(r"[a-z]+", first):
            yield first + "/"
    bare = QUOTED.sub(" ", LINK.sub(" ", line))
    for word in re.findall(r"(?<![\w./~-])[\w.-]+/[\w./*-]*\w", bare):
        if word.split("/")[0] in tops:
            yield word
    yield from FUNCTION.findall(line)


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    tree = Tree(root)
    tops = {name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name))}
    rooms = sorted(glob.glob("src/**/README.md", root_dir=root, recursive=True))
    pages = [page for page in PAGES if os.path.exists(os.path.join(root, page))]
    needed, names = set(), 0
    faults = [f"tools/pages.py: there is no {page}" for page in PAGES if page not in pages and len(sys.argv) < 2]
    for page in pages + rooms:
        for number, line in enumerate(load(os.path.join(root, page)).splitlines(), 1):
            here = os.path.join(root, os.path.dirname(page))
            missing = [to for to in LINK.findall(line) if not os.path.exists(os.path.join(here, to))]
            for name in named(line, tops):
                names += 1
                if tree.has(name, page):
                    continue
                if name in EXCEPTIONS:
                    needed.add(name)
                else:
                    missing.append(name)
            faults += [f"{page}:{number}: there is no {name}" for name in missing]
    faults += [f"tools/pages.py: no exception is needed for {name}" for name in EXCEPTIONS
               if name not in needed and len(sys.argv) < 2]
    if names == 0:
        faults.append("no names here")
    print("\n".join(faults + [f"{names} names", f"{0 if faults else 1} passed, {len(faults)} failed"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
