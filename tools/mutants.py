#!/usr/bin/env python3
"""Counts the faults that the tests find: a mutant is one small fault, planted in a copy of the sources.

    SEED=1 MUTANTS=400 python3 tools/mutants.py [ROOT]

Writes ROOT/docs/mutants.md. One build holds all mutants, each behind a switch; the number of the mutant
that is on comes from the environment. Each test runs once without a mutant, which tells the mutants that it
reaches. Then it runs with each of these that no faster test found: a mutant is found if a test fails or hangs.

The state is in CACHE (~/.cache/lockstep/mutants): a run that was stopped continues where it was, and after
a change of the tree a pair of mutant and test runs again only if the test's program changed. The test that
found each mutant is in ROOT/tests/mutants/found.csv, and comes first in the next run, on any machine.

Further variables: JOBS (tests at a time), LIMIT (seconds: slower tests are left out), FRESH=1 (forget the results),
TIME (seconds: then no further test starts, and the page says how many mutants are not run to the end),
TESTS (a pattern: only tests with such a name; the page says so), ONLY (ids of the page: only these mutants run),
KEPT=1 (mutants in found.csv count as found and do not run; the page says how many), SANITIZED (options of a
second build, in which tests run with the mutants that are left), SOURCES (words for the page: of which commit).
Needs python3-clang; docs/decisions/0104-mutants.md has the reasons.
"""
import concurrent.futures
import csv
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import mutants_places
from mutants_places import FOLDERS, Mutant

SUITES = {"unit", "sim"}
# No other test reaches the store in PostgreSQL and what several controllers say to each other.
REAL = {"real store postgres", "real controllers"}
# All seeds of a simulator would take minutes for each mutant.
ARGUMENTS = {"campaign seeds": ["from", "1", "100"]}
# A mutant may allocate or write without end.
MEMORY = 8 << 30
FILE_SIZE = 2 << 30

# --- the copy and its build -----------------------------------------------------------------------------


def update(path, data, mode=0o644):
    """Write what differs, so that ninja builds only that."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(data)
    path.chmod(mode)


def copy(root, tree, skipped):
    """The tree as git lists it, except the files that get mutants."""
    listed = subprocess.check_output(["git", "-C", root, "ls-files", "-coz", "--exclude-standard"])
    names = {n for n in listed.decode().split("\0") if n and (root / n).exists()}
    for name in names - skipped:
        from_, to = root / name, tree / name
        if from_.is_symlink():
            if not to.is_symlink():
                to.parent.mkdir(parents=True, exist_ok=True)
                to.symlink_to(os.readlink(from_))
        else:
            update(to, from_.read_bytes(), from_.stat().st_mode & 0o777)
    names |= {f"{name}.h" for name in skipped}
    for path in tree.rglob("*"):
        name = str(path.relative_to(tree))
        if not path.is_dir() and name not in names and not name.startswith((".git/", "build/", "build-sanitized/")):
            path.unlink()
    if not (tree / ".git").exists():  # for the files that tests ask git for
        subprocess.run(["git", "init", "-q", tree], check=True)


def quietly(*command, **variables):
    env = dict(os.environ, **variables)
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.stdout.write(done.stdout.decode(errors="replace")[-4000:])
        raise SystemExit(f"mutants: {command[0]} failed")


def set_up(tree, build, *options, **variables):
    """A build directory with the options of all files and the generated headers, which a parser needs."""
    if not (build / "build.ninja").exists():
        quietly("meson", "setup", str(build), str(tree), *options, **variables)
    quietly("ninja", "-C", str(build), "build.ninja")
    listed = subprocess.check_output(["ninja", "-C", build, "-t", "targets", "all"]).decode()
    generated = re.findall(r"^(.*\.h): CUSTOM_COMMAND", listed, flags=re.M)
    if generated:
        quietly("ninja", "-C", str(build), *generated)


# --- the tests ------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Test:
    """A test as meson starts it. The digest is that of the programs it consists of."""

    name: str
    command: list
    env: dict
    workdir: str
    digest: str
    seconds: float = 0.0
    reached: frozenset = frozenset()
    problem: str = ""
    learned: bool = False
    sanitized: bool = False


def tests_of(build, jobs, names=None):
    """The tests, or those of these names, and what they need is built; a script of the tree is not."""

    def introspect(what):
        return json.loads(subprocess.check_output(["meson", "introspect", build, what]))

    files = {t["id"]: t["filename"] for t in introspect("--targets")}
    listed = introspect("--tests")
    listed = [t for t in listed if SUITES & {s.split(":")[-1] for s in t["suite"]} or t["name"] in REAL]
    listed = [t for t in listed if re.search(os.environ.get("TESTS", ""), t["name"])]
    listed = [t for t in listed if names is None or t["name"] in names]
    if not listed:
        return []
    parts = {t["name"]: [t["cmd"][0], *(f for id_ in t["depends"] for f in files[id_])] for t in listed}
    built = sorted({os.path.relpath(f, build) for some in parts.values() for f in some})
    quietly("ninja", "-C", str(build), "-j", str(jobs), *(f for f in built if not f.startswith("..")))
    digests = {f: hashlib.sha256((build / f).read_bytes()).hexdigest() for f in built}
    tests = []
    for t in listed:
        own = "".join(digests[os.path.relpath(f, build)] for f in parts[t["name"]])
        digest = hashlib.sha256(own.encode()).hexdigest()[:16]
        command = t["cmd"] + ARGUMENTS.get(t["name"], [])
        tests.append(Test(t["name"], command, t["env"], t["workdir"] or str(build), digest))
    return tests


def limits(sanitized):
    """Soft ones: a test may set its own and take them back."""
    # ASan maps more than any limit of data; it has a limit of its own.
    for what, most in (("CORE", 0), ("FSIZE", FILE_SIZE), *([] if sanitized else [("DATA", MEMORY)])):
        kind = getattr(resource, f"RLIMIT_{what}")
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def sweep(mark):
    """End what a run left behind, sessions of their own included: the mark is in its environment."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue


def run(test, seconds, mutant=None, reached=None):
    """'passed', 'failed' or 'hung', and for how long it ran."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    scratch = tempfile.mkdtemp(prefix="m", dir=memory)
    os.chmod(scratch, 0o1777)  # as /tmp is: PostgreSQL runs as another user
    mark = f"LKS_MUTANTS_RUN={scratch}"
    env = dict(os.environ, **test.env, TMPDIR=scratch, LKS_MUTANTS_RUN=scratch)
    if test.sanitized:
        env["ASAN_OPTIONS"] = f"hard_rss_limit_mb={MEMORY >> 20}"
    if mutant is not None:
        env["LKS_MUTANT"] = str(mutant)
    if reached:
        env["LKS_MUTANTS_REACHED"] = str(reached)
    start = time.monotonic()
    try:
        done = subprocess.run(
            test.command, env=env, cwd=test.workdir, timeout=seconds, start_new_session=True,
            preexec_fn=lambda: limits(test.sanitized),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        result = "passed" if done.returncode in (0, 77) else "failed"
    except subprocess.TimeoutExpired:
        result = "hung"
    took = time.monotonic() - start
    sweep(mark.encode())
    shutil.rmtree(scratch, ignore_errors=True)
    return result, took


class Log:
    """Lines of JSON that survive a kill: a half-written last line is ignored."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()

    def read(self):
        if not self.path.exists():
            return
        for line in self.path.read_text().splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue

    def write(self, row):
        with self.lock, self.path.open("a") as out:
            out.write("\n" + json.dumps(row))


def learn(test, count, limit, state, log, known):
    """Time and reach of a test, from the log or from one run."""
    row = known.get((test.name, test.digest))
    if not row or (row["result"] == "hung" and row["seconds"] < limit):
        handle, path = tempfile.mkstemp(dir=state)
        os.ftruncate(handle, max(count, 1))
        os.close(handle)
        result, took = run(test, limit, reached=path)
        reached = [n for n, b in enumerate(pathlib.Path(path).read_bytes()) if b]
        os.unlink(path)
        row = {"test": test.name, "digest": test.digest, "result": result, "seconds": took, "reached": reached}
        known[test.name, test.digest] = row
        log.write(row)
        print(f"{result:7} {took:7.1f} s  {test.name}: reaches {len(reached)}", flush=True)
    test.seconds, test.reached = row["seconds"], frozenset(row["reached"])
    test.problem = {"passed": "", "failed": "fails without a mutant"}.get(
        row["result"], f"takes over {limit:g} s")  # fmt: skip
    test.learned = True


def attempt(test, number):
    """The result of a test with a mutant, which neither chance nor a busy machine decides; None: they do."""
    patience = 20 + 8 * test.seconds
    result, _ = run(test, patience, number)
    if result == "failed":
        result, _ = run(test, patience, number)
    if result == "passed" or run(test, patience)[0] == "passed":
        return result
    return run(test, 10 * patience, number)[0] if result == "hung" else None


class Results:
    """What the log knows of these tests: pairs that passed, mutants found, and those found before a change."""

    def __init__(self, log, tests, before):
        now = {(t.name, t.digest) for t in tests}
        self.log, self.found, self.passed, self.before = log, {}, {}, set(before)
        for row in log.read():
            if (row["test"], row["digest"]) in now and row["result"] == "passed":
                self.passed.setdefault(row["mutant"], set()).add(row["test"])
            elif (row["test"], row["digest"]) in now:
                self.found[row["mutant"]] = (row["result"], row["test"])
            elif row["result"] != "passed":
                self.before.add((row["mutant"], row["test"]))

    def is_open(self, name, test):
        return name not in self.found and test.name not in self.passed.get(name, ())

    def add(self, name, test, result):
        self.log.write({"mutant": name, "test": test.name, "digest": test.digest, "result": result})
        if result == "passed":
            self.passed.setdefault(name, set()).add(test.name)
        else:
            self.found[name] = (result, test.name)


@dataclasses.dataclass
class Run:
    """What all tests of a run have in common. Before: the pairs of mutant and test of an earlier run's finds."""

    mutants: list
    numbers: dict
    same: dict
    before: set
    state: pathlib.Path
    jobs: int
    limit: float
    until: float


def learn_all(run_, tests):
    """Times and reach of the tests, as far as there is time."""
    log = Log(run_.state / "reached.jsonl")
    known = {(r["test"], r["digest"]): r for r in log.read()}
    times = {r["test"]: r["seconds"] for r in known.values()}

    def learned(test):
        if (test.name, test.digest) in known or time.monotonic() < run_.until:
            learn(test, len(run_.numbers), run_.limit, run_.state, log, known)

    with concurrent.futures.ThreadPoolExecutor(run_.jobs) as pool:
        list(pool.map(learned, sorted(tests, key=lambda t: times.get(t.name, 0))))


def judge(run_, tests):
    """The mutants that tests find, {name: (how, test)}, and the names of those that were not run to the end.

    The next pair of mutant and test is the one that most likely finds something in its time, so a run that is
    stopped has found most of what it can find: a test that found the mutant before a change of the tree, then fast
    tests and mutants that few tests have missed. Equivalent mutants come last.
    """
    results = Results(Log(run_.state / "results.jsonl"), tests, run_.before)
    numbers, until = run_.numbers, run_.until
    pairs = [
        (m, t)
        for m in run_.mutants
        for t in tests
        if numbers[m.name()] in t.reached and not t.problem and results.is_open(m.name(), t)
    ]
    lock = threading.Lock()

    def cost(pair):
        name = pair[0].name()
        missed = len(results.passed.get(name, ()))
        return (name, pair[1].name) not in results.before, pair[0].key() in run_.same, pair[1].seconds * (1 + missed)

    def work(_):
        while time.monotonic() < until:
            with lock:
                pairs[:] = [p for p in pairs if p[0].name() not in results.found]
                if not pairs:
                    return
                m, test = pairs.pop(min(range(len(pairs)), key=lambda n: cost(pairs[n])))
            result = attempt(test, numbers[m.name()])
            if result:
                results.add(m.name(), test, result)
            if result != "passed":
                print(f"{result or 'unclear':8} {m.file}:{m.line} {m.was} -> {m.now or 'nothing'}"
                      f" {test.name}"[:160], flush=True)  # fmt: skip

    with concurrent.futures.ThreadPoolExecutor(run_.jobs) as pool:
        list(pool.map(work, range(run_.jobs)))
    return results.found, left(run_.mutants, numbers, tests, results)


def left(mutants, numbers, tests, results):
    """The names of the mutants that are not found, and for which a test is left that reaches them or may do so."""
    reached = {n for t in tests if not t.problem for n in t.reached}

    def is_left(name):
        if os.environ.get("TESTS") and numbers[name] not in reached:
            return True
        reaching = [t for t in tests if numbers[name] in t.reached and not t.problem]
        return not all(t.learned for t in tests) or any(results.is_open(name, t) for t in reaching)

    return {m.name() for m in mutants if m.name() not in results.found and is_left(m.name())}


def judge_sanitized(run_, tests, tree, found):
    """As judge(), for the mutants that are left, in a build that sees reads past an array and leaks."""
    left_ = [m for m in run_.mutants if m.name() not in found and m.key() not in run_.same]
    reach = {run_.numbers[m.name()] for m in left_}
    plain = {t.name: t for t in tests if reach & t.reached and not t.problem}
    build = tree / "build-sanitized"
    if not build.exists() and time.monotonic() > run_.until:
        reached = {n for t in plain.values() for n in t.reached}
        return {}, {m.name() for m in left_ if run_.numbers[m.name()] in reached}
    set_up(tree, build, *shlex.split(os.environ["SANITIZED"]), CC=os.environ.get("CLANG", "clang"))
    again = tests_of(build, run_.jobs, plain)
    for test in again:  # what a test reaches is known, and sanitizers take about three times as long
        test.seconds, test.reached = 3 * plain[test.name].seconds, plain[test.name].reached
        test.sanitized = test.learned = True
    hits, unfinished = judge(dataclasses.replace(run_, mutants=left_), again)
    return {name: ("sanitized", test) for name, (_, test) in hits.items() if name not in found}, unfinished


# --- the report -----------------------------------------------------------------------------------------


def equivalents(root):
    path = root / "tests/mutants/equivalent.csv"
    if not path.exists():
        return {}
    with path.open(newline="") as lines:
        return {(r["file"], r["function"], r["was"], r["now"], r["nth"]): r["reason"] for r in csv.DictReader(lines)}


def kept(root, mutants):
    """The finds of earlier runs, {name: (how, test)}."""
    path = root / "tests/mutants/found.csv"
    if not path.exists():
        return {}
    with path.open(newline="") as lines:
        rows = {r["id"]: (r["how"], r["test"]) for r in csv.DictReader(lines)}
    return {m.name(): rows[m.id()] for m in mutants if m.id() in rows}


def keep(root, mutants, found):
    """Write the finds of this run and of earlier ones."""
    path = root / "tests/mutants/found.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["file", "function", "id", "how", "test"])
        for m in sorted(mutants, key=Mutant.key):
            if m.name() in found:
                rows.writerow([m.file, m.function, m.id(), *found[m.name()]])


def cell(text, width=100):
    text = text if len(text) <= width else text[: width - 3] + "..."
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`" if text else "nothing"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows])


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def partial(total):
    """Mutants that are not run to the end are mostly survivors, so the last column alone would flatter."""
    whole = total[0] - total[1]
    return (
        f"A partial run: {total[2]} of {total[0]} mutants are not run to the end. If no test finds any of these,\n"
        f"{percent(total[3], whole)} of the mutants that are not equivalent are found."
    )


@dataclasses.dataclass
class Outcome:
    """What is known in the end. Old: the names of the mutants that only an earlier run found."""

    found: dict
    unfinished: set
    old: set


def counted(mutants, end, same):
    """The rows of the folders and of all: mutants, equivalent, not run, found, survived."""
    rows, total = [], [0] * 5
    for folder in FOLDERS:
        here = [m for m in mutants if m.file.split("/")[1] == folder]
        equal = sum(m.key() in same for m in here)
        open_ = sum(m.name() in end.unfinished and m.key() not in same for m in here)
        hits = sum(m.name() in end.found and m.key() not in same for m in here)
        counts = [len(here), equal, open_, hits, len(here) - equal - open_ - hits]
        total = [a + b for a, b in zip(total, counts)]
        rows.append([f"`src/{folder}`", *counts, percent(hits, hits + counts[4])])
    rows.append(["all", *total, percent(total[3], total[3] + total[4])])
    return rows, total


def notes(end, total, tests):
    """Sentences on how the run was restricted."""
    if total[2]:
        yield partial(total)
    if end.old:
        yield (
            f"{len(end.old)} of those found are rows of `tests/mutants/found.csv`, from runs before the one that\n"
            "wrote this page."
        )
    if os.environ.get("SOURCES"):
        yield f"Sources: {os.environ['SOURCES']}."
    if os.environ.get("TESTS"):
        yield f"`TESTS` named {len(tests)} of the tests; mutants that these do not reach did not run."


def report(seed, mutants, pool, end, same, tests, numbers):
    """The page, from what is known; the same results give the same page."""
    rows, total = counted(mutants, end, same)
    reached = {n for t in tests if not t.problem for n in t.reached}
    unequal = sorted((m for m in mutants if m.name() not in end.found and m.key() not in same), key=Mutant.key)

    def listed(some):
        return [
            [m.id(), f"`{m.file}`", f"`{m.function}`", cell(m.was), cell(m.now),
             "" if numbers[m.name()] in reached else "no"]
            for m in some
        ]  # fmt: skip

    head = ["id", "file", "function", "was", "now", "reached"]
    alive = listed(m for m in unequal if m.name() not in end.unfinished)
    open_ = listed(m for m in unequal if m.name() in end.unfinished)
    equal = [
        [f"`{m.file}`", f"`{m.function}`", cell(m.was), cell(m.now), same[m.key()]]
        for m in sorted(mutants, key=Mutant.key)
        if m.key() in same
    ]
    hows = [end.found[m.name()][0] for m in mutants if m.name() in end.found]
    left_out = [[t.name, t.problem] for t in tests if t.problem]
    parts = [
        "# Mutants",
        "Written by `make mutants` (`tools/mutants.py`). A mutant is one small fault in a copy of the\n"
        "sources; a test finds the mutant if it fails or hangs. [0104](decisions/0104-mutants.md) has the reasons.",
        f"Seed {seed}: {len(mutants)} of {pool} places. A test that hung found {hows.count('hung')} of the mutants.\n"
        f"Sanitizers found {hows.count('sanitized')} that no test finds without them.\n"
        f"{percent(total[1], total[0])} are called equivalent: no test can tell them from the original.",
        table(["folder", "mutants", "equivalent", "not run", "found", "survived", "found of those run"], rows),
        *notes(end, total, tests),
        "## Survivors",
        table(head, alive) if alive else "None.",
        *(["## Not run to the end", table(head, open_)] if open_ else []),
        "## Equivalent",
        "From `tests/mutants/equivalent.csv`.",
        table(["file", "function", "was", "now", "reason"], equal) if equal else "None.",
        "## Tests left out",
        table(["test", "reason"], left_out) if left_out else "None.",
    ]
    return "\n\n".join(parts) + "\n"


def renumbered(chosen, before):
    """Mutants keep their numbers, so that a file without a new mutant stays as it was built."""
    left = {m.name(): m for m in chosen}
    slots = [left.pop(m.name(), None) for m in before[: len(chosen)]]
    rest = iter(left.values())
    return [m or next(rest) for m in slots] + list(rest)


def plan(seed, count, root, tree, build, state, jobs):
    """The mutants, from the cache if neither the sources nor the way to choose changed."""
    sources = sorted(p for f in FOLDERS for p in (root / "src" / f).rglob("*.[ch]"))
    digest = hashlib.sha256(pathlib.Path(mutants_places.__file__).read_bytes())
    for path in sources:
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    cached = state / "plan.json"
    old = json.loads(cached.read_text()) if cached.exists() else {"digest": "", "mutants": []}
    if old["digest"] == digest.hexdigest():
        chosen, pool = [Mutant(**m) for m in old["mutants"]], old["pool"]
    else:
        # The copy tells the options of each file; the files are read where they are unchanged.
        copy(root, tree, {m["file"] for m in old["mutants"]})
        set_up(tree, build)

        def original(text):  # generated headers are in the build directory alone
            return text if str(build) in text else text.replace(str(tree), str(root), 1)

        options = mutants_places.arguments(build)
        args = {original(path): [original(arg) for arg in options[path]] for path in options}
        print(f"looking for places in {len(sources)} files", flush=True)
        chosen, pool = mutants_places.choose(seed, count, root, args, jobs)
        chosen = renumbered(chosen, [Mutant(**m) for m in old["mutants"]])
        rows = [dataclasses.asdict(m) for m in chosen]
        cached.write_text(json.dumps({"digest": digest.hexdigest(), "pool": pool, "mutants": rows}))
    return chosen, pool


def planted_tree(root, tree, mutants, numbers):
    """The copy with all mutants, each behind its switch."""
    files = {m.file for m in mutants}
    copy(root, tree, files)
    for name in files:
        here = [m for m in mutants if m.file == name]
        data = mutants_places.planted((root / name).read_bytes(), here, numbers, name, len(mutants))
        update(tree / f"{name}.h", data)
        update(tree / name, (mutants_places.INCLUDE % pathlib.Path(name).name).encode())


def asked(mutants, old):
    """The mutants that run: all, those that ONLY names, or with KEPT those that no earlier run found."""
    ids = set(re.split(r"[ ,]+", os.environ["ONLY"])) if os.environ.get("ONLY") else None
    unknown = (ids or set()) - {m.id() for m in mutants}
    if unknown:
        raise SystemExit(f"mutants: ONLY: no mutant of this seed has the id {min(unknown)}")
    skipped = old if os.environ.get("KEPT") else {}
    return [m for m in mutants if (ids is None or m.id() in ids) and m.name() not in skipped]


def outcome(run_, tests, tree, mutants, old):
    """Both stages, and what an earlier run found of the mutants that are not run."""
    learn_all(run_, tests)
    found, unfinished = judge(run_, tests)
    if os.environ.get("SANITIZED"):
        more, again = judge_sanitized(run_, tests, tree, found)
        found, unfinished = {**found, **more}, (unfinished | again) - more.keys()
    skipped = {m.name() for m in mutants} - {m.name() for m in run_.mutants}
    counted_old = {n: old[n] for n in skipped & old.keys()} if os.environ.get("KEPT") else {}
    found = {**counted_old, **found}  # results of tests that did not change count without a run
    return Outcome(found, (unfinished | skipped) - found.keys(), set(counted_old))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    seed, count = int(os.environ.get("SEED", "1")), int(os.environ.get("MUTANTS", "400"))
    jobs, limit = int(os.environ.get("JOBS", os.cpu_count() or 1)), float(os.environ.get("LIMIT", "120"))
    cache = pathlib.Path(os.environ.get("CACHE", os.path.expanduser("~/.cache/lockstep/mutants")))
    state = cache / f"{seed}-{count}"
    tree, build = state / "tree", state / "tree/build"  # as in a checkout: ccache knows most objects
    tree.mkdir(parents=True, exist_ok=True)
    if os.environ.get("FRESH"):
        for name in ("results.jsonl", "reached.jsonl"):
            (state / name).unlink(missing_ok=True)
    mutants, pool = plan(seed, count, root, tree, build, state, jobs)
    numbers = {m.name(): n for n, m in enumerate(mutants)}
    old, same = kept(root, mutants), equivalents(root)
    running = asked(mutants, old)
    planted_tree(root, tree, mutants, numbers)
    print(f"building {len(mutants)} mutants", flush=True)
    set_up(tree, build)
    tests = tests_of(build, jobs)
    until = time.monotonic() + float(os.environ.get("TIME", "inf"))
    before = {(name, test) for name, (_, test) in old.items()}
    end = outcome(Run(running, numbers, same, before, state, jobs, limit, until), tests, tree, mutants, old)
    for m in mutants:
        if m.key() in same and m.name() in end.found:
            print(f"mutants: {m.file}: {m.was}: called equivalent, and {end.found[m.name()][1]} finds it")
    survived = {m.name() for m in running} - end.found.keys() - end.unfinished
    keep(root, mutants, {n: row for n, row in {**old, **end.found}.items() if n not in survived})
    page = report(seed, mutants, pool, end, same, tests, numbers)
    (root / "docs").mkdir(exist_ok=True)
    (root / "docs/mutants.md").write_text(page)
    print(re.search(r"\| all .*", page).group(0))


if __name__ == "__main__":
    main()
