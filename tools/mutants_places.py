"""The places for tools/mutants.py: finds them with libclang, chooses by seed, and plants mutants there."""
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import shlex

import clang.cindex
from clang.cindex import CursorKind as Kind

FOLDERS = ("core", "engine", "trust", "drivers", "server")
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
}  # fmt: skip
COMPARED = {"<", "<=", ">", ">=", "==", "!="}
# Calls that stay: leaks are looked for by the sanitizers, and log lines are no promise.
STAYING = re.compile(r"(^|_)(log|logs|logf|free|fini|clear|close|unref)(_|$)|^va_")

# Stands for the switch until its number is known; no source has such a byte.
SWITCH = "\1"
# A file with mutants includes them as a system header, in which warnings are no errors.
INCLUDE = '#include "%s.h"\n'
HEAD = (
    "#pragma GCC system_header\n"
    "extern unsigned char *lks_mutants_reached; extern int lks_mutant_on; "
    "static inline int lks_mutant(int n) "
    "{ if (lks_mutants_reached) lks_mutants_reached[n] = 1; return n == lks_mutant_on; }\n"
    '#line 1 "%s"\n'
)
# The same in each file that has mutants; the linker keeps one. Children inherit the environment.
TAIL = """
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((weak)) unsigned char *lks_mutants_reached;
__attribute__((weak)) int lks_mutant_on = -1;
__attribute__((weak, constructor)) void lks_mutants_start(void)
{
    const char *on = getenv("LKS_MUTANT"), *path = getenv("LKS_MUTANTS_REACHED");
    if (on)
        lks_mutant_on = atoi(on);
    if (!path || lks_mutants_reached)
        return;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *map = fd < 0 ? MAP_FAILED : mmap(0, %d, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED)
        lks_mutants_reached = map;
    if (fd >= 0)
        close(fd);
}
"""


@dataclasses.dataclass
class Mutant:
    """One fault. The place is named by function, text and count, which outlive a change of lines."""

    file: str
    function: str
    was: str
    now: str
    nth: int
    line: int
    start: int
    end: int
    code: str  # what stands in its place

    def key(self):
        return (self.file, self.function, self.was, self.now, str(self.nth))

    def name(self):
        return "\0".join(self.key())

    def id(self):
        """The name for people: the number of a mutant is another one in each cache."""
        return hashlib.sha256(self.name().encode()).hexdigest()[:10]


def flat(text):
    """The text as one line; comments are /* */."""
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", " ", text, flags=re.S)).strip()


class Source:
    """A parsed file and the mutants it could have."""

    def __init__(self, path, name, args):
        self.name = name
        self.bytes = pathlib.Path(path).read_bytes()
        options = clang.cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        self.unit = clang.cindex.Index.create().parse(str(path), args=args, options=options)
        broken = [d.spelling for d in self.unit.diagnostics if d.severity >= 3]
        if broken:
            raise SystemExit(f"mutants: {name}: {broken[0]}; build the tree first")
        self.found = []
        self.seen = {}
        self.function = None
        self.macros = []
        for cursor in self.unit.cursor.get_children():
            if not cursor.location.file or cursor.location.file.name != str(path):
                continue
            if cursor.kind == Kind.MACRO_INSTANTIATION:
                self.macros.append(self.span(cursor))
            elif cursor.kind == Kind.FUNCTION_DECL and cursor.is_definition():
                self.function = cursor
                for child in cursor.get_children():
                    if child.kind == Kind.COMPOUND_STMT:
                        self.walk(child)

    @staticmethod
    def span(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def text(self, start, end):
        return self.bytes[start:end].decode()

    def add(self, cursor, now, code):
        start, end = self.span(cursor)
        was = flat(self.text(start, end))
        where = (self.function.spelling, was, now)
        self.seen[where] = self.seen.get(where, 0) + 1
        line = cursor.extent.start.line
        place = (self.function.spelling, was, now, self.seen[where], line, start, end)
        self.found.append(Mutant(self.name, *place, code))

    def walk(self, cursor, statement=False):
        """A cursor and all below it; a statement is one whose value is not used."""
        start, end = self.span(cursor)
        if any(a <= start and end <= b for a, b in self.macros):
            return
        kind = cursor.kind
        children = list(cursor.get_children())
        if kind == Kind.VAR_DECL:
            if cursor.storage_class == clang.cindex.StorageClass.STATIC:
                return
            if cursor.type.kind == clang.cindex.TypeKind.CONSTANTARRAY:
                children = [c for c in children if c.kind == Kind.INIT_LIST_EXPR]
        elif kind == Kind.CXX_UNARY_EXPR:  # sizeof
            return
        elif kind in (Kind.CASE_STMT, Kind.CSTYLE_CAST_EXPR):
            children = children[-1:]
        elif kind == Kind.INIT_LIST_EXPR and flat(self.text(start, end)) == "{0}":
            return
        elif kind == Kind.BINARY_OPERATOR:
            self.binary(cursor, children, statement)
        elif kind == Kind.COMPOUND_ASSIGNMENT_OPERATOR or kind == Kind.UNARY_OPERATOR:
            if statement:
                self.drop(cursor)
        elif kind == Kind.CALL_EXPR:
            if statement and not STAYING.search(cursor.spelling):
                self.drop(cursor)
        elif kind == Kind.INTEGER_LITERAL:
            text = self.text(start, end)
            self.add(cursor, f"{text} + 1", f"({text} + {SWITCH})")
        elif kind in (Kind.IF_STMT, Kind.CONDITIONAL_OPERATOR, Kind.WHILE_STMT):
            self.condition(children[0], kind != Kind.WHILE_STMT)
        elif kind == Kind.RETURN_STMT and children:
            self.returned(children[0])
        bodies = self.bodies(kind, children)
        for n, child in enumerate(children):
            self.walk(child, n in bodies)

    @staticmethod
    def bodies(kind, children):
        """Which children are statements of their own."""
        if kind == Kind.COMPOUND_STMT:
            return range(len(children))
        if kind in (Kind.IF_STMT, Kind.WHILE_STMT):
            return range(1, len(children))
        if kind in (Kind.FOR_STMT, Kind.CASE_STMT, Kind.DEFAULT_STMT):
            return (len(children) - 1,)
        return ()

    def operator(self, children):
        if len(children) != 2:
            return None
        between = flat(self.text(children[0].extent.end.offset, children[1].extent.start.offset))
        return between if between == "=" or between in OPERATORS else None

    def binary(self, cursor, children, statement):
        op = self.operator(children)
        if op == "=":
            if statement:
                self.drop(cursor)
        elif op:
            left, right = (self.operand(c) for c in children)
            now = f"{left} {OPERATORS[op]} {right}"
            self.add(cursor, now, f"({SWITCH} ? ({now}) : ({self.text(*self.span(cursor))}))")

    def operand(self, cursor):
        text = flat(self.text(*self.span(cursor)))
        return f"({text})" if cursor.kind in (Kind.BINARY_OPERATOR, Kind.CONDITIONAL_OPERATOR) else text

    def drop(self, cursor):
        self.add(cursor, "", f"({SWITCH} ? (void)0 : (void)({self.text(*self.span(cursor))}))")

    def condition(self, cursor, negated):
        text = self.text(*self.span(cursor))
        children = list(cursor.get_children())
        compared = cursor.kind == Kind.BINARY_OPERATOR and self.operator(children) in COMPARED
        if negated and not compared:
            self.add(cursor, f"!({flat(text)})", f"(!!({text}) ^ {SWITCH})")
        self.add(cursor, "false", f"(({text}) && !{SWITCH})")

    def returned(self, cursor):
        text = self.text(*self.span(cursor))
        result = self.function.result_type
        if result.kind == clang.cindex.TypeKind.BOOL and self.operator(list(cursor.get_children())) is None:
            self.add(cursor, f"!({flat(text)})", f"(!!({text}) ^ {SWITCH})")
        elif "lks_code" in result.spelling and "*" not in result.spelling:
            code = "LKS_E_INVALID" if text == "LKS_OK" else "LKS_OK"
            self.add(cursor, code, f"({SWITCH} ? ((void)({flat(text)}), {code}) : ({text}))")


def planted(data, mutants, numbers, name, count):
    """The bytes of a file with these mutants in it."""
    for m in sorted(mutants, key=lambda m: -m.start):
        code = m.code.replace(SWITCH, f"lks_mutant({numbers[m.name()]})")
        data = data[: m.start] + code.encode() + data[m.end :]
    return (HEAD % name).encode() + data + (TAIL % max(count, 1)).encode()


def arguments(build):
    """The options of each file that matter to a parser, by path."""
    known = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        args = ["-w", "-Werror=int-conversion", "-Werror=vla"]
        for word in words:
            if word.startswith("-I"):
                args.append("-I" + os.path.normpath(os.path.join(entry["directory"], word[2:])))
            elif word.startswith(("-D", "-std=")):
                args.append(word)
        known[os.path.normpath(os.path.join(entry["directory"], entry["file"]))] = args
    return known


def places(job):
    path, name, args = job
    return Source(path, name, args).found


def misfits(job):
    """Those of a file's mutants that do not compile, by themselves or beside the others."""
    path, args, mutants = job

    def compiles(some):
        data = planted(path.read_bytes(), some, {m.name(): 0 for m in some}, mutants[0].file, 1)
        text = [(str(path), data.decode())]
        unit = clang.cindex.Index.create().parse(str(path), args=args, unsaved_files=text)
        return not any(d.severity >= 3 for d in unit.diagnostics)

    if compiles(mutants):
        return []
    return [m.name() for m in mutants if not compiles([m])] or [mutants[-1].name()]


def pick(found, count):
    """The first ones, without those that overlap an earlier one."""
    chosen, spans = [], {}
    for mutant in found:
        taken = spans.setdefault(mutant.file, [])
        if len(chosen) < count and not any(mutant.start < b and a < mutant.end for a, b in taken):
            taken.append((mutant.start, mutant.end))
            chosen.append(mutant)
    return chosen


def choose(seed, count, root, args, jobs):
    """The mutants of this seed. A change of the sources leaves the choice elsewhere as it was."""
    work = []
    for folder in FOLDERS:
        for path in sorted((root / "src" / folder).rglob("*.c")):
            if str(path) in args:
                work.append((path, str(path.relative_to(root)), args[str(path)]))
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        found = [m for some in pool.map(places, work) for m in some]
        found.sort(key=lambda m: hashlib.sha256(f"{seed}\0{m.name()}".encode()).digest())
        checked, bad = {}, {""}
        while bad:
            by_file = {}
            for mutant in pick(found, count):
                by_file.setdefault(mutant.file, []).append(mutant)
            new = [f for f in by_file if checked.get(f) != by_file[f]]
            bad = {n for some in pool.map(misfits, [(root / f, args[str(root / f)], by_file[f]) for f in new])
                   for n in some}  # fmt: skip
            checked = by_file
            found = [m for m in found if m.name() not in bad]
    return pick(found, count), len(found)
