#!/usr/bin/env python3
"""Check that two listings of the same states have equal content: by records, and by columns.

    listings.py TEST_GOLDEN DIR...

TEST_GOLDEN prints both listings of the state after each row of a golden journal.

1. Each record has its row in the listing by columns: one line of the table of that kind which has,
   with the names of the row and the lines of the rows it is in, all values of the record and the
   time it is to be applied at.
2. Each value in the listing by columns is a value or time of some record, but for columns that
   follow from others and the counters that a record with a higher number sets.
3. Where the records change from one row of the journal to the next, so do the columns.

The listing by columns leaves out what is zero: false, 0, empty, and the first name of an enum.
"""
import datetime
import json
import re
import subprocess
import sys

# Of each kind, the table that has its row; the table of what is in a list of a change is "change.".
TABLES = {
    "begun": "journal", "limits": "journal", "fleet": "journal", "led": "journal",
    "signed": "journal", "ticket-told": "journal", "pool": "pool", "lowered": "pool",
    "placed": "node", "enrolled": "node", "certified": "node", "token": "node", "tuple": "node",
    "out-of-band": "node", "parts": "node", "liveness": "node", "booted": "node", "noted": "node",
    "endpoint": "node", "intake": "node", "accepted": "node", "held": "node", "condition": "node",
    "drift": "node", "drained": "node", "basis": "basis", "verdict": "verdict",
    "deviation": "deviation", "deviation-agreed": "deviation", "deviation-ended": "deviation",
    "alarm": "alarm", "alarm-released": "alarm", "command": "command", "command-ended": "command",
    "published": "stack", "stepped": "stack", "image": "image", "artifact": "artifact",
    "barred": "barred", "override": "override", "granted": "binding", "api-token": "token",
    "person-certified": "person", "key-pinned": "key", "bundle": "bundle",
    "bundle-revoked": "bundle", "flash": "flash", "flash-saved": "flash", "flash-ended": "flash",
    "flash-resolved": "flash", "ticket-due": "ticket_due", "reset": "reset",
    "revert-proven": "proven", "change": "change", "change-moved": "change",
    "change-voted": "change.vote", "glass-broken": "change", "reviewed": "change",
    "waived": "change.waiver", "forecast": "change", "measured": "change.measure",
    "gate-looked": "change.look", "wave-limit": "change.wave", "wave": "change.wave",
    "member": "change.member", "plan-step": "change.recipe.step", "plan-wave": "change.wave",
    "plan-order": "change.order", "plan-note": "change.note", "plan-metric": "change.metric",
    "plan-gate": "change.gate",
}
# The first name of an enum, which stands for zero.
FIRST = {
    ("granted", "role"): "viewer", ("command-ended", "outcome"): "done", ("alarm", "alarm"): "mass",
    ("liveness", "state"): "unseen", ("flash", "act"): "update", ("change", "what"): "stack",
    ("plan-step", "does"): "stage", ("plan-step", "revert"): "update", ("plan-wave", "for"): "lab",
    ("member", "failure"): "none", ("member", "state"): "pending", ("wave", "state"): "planned",
    ("plan-metric", "what"): "mean", ("plan-metric", "better"): "higher",
    ("plan-metric", "unit"): "node", ("plan-metric", "source"): "prometheus",
    ("plan-note", "about"): "uncovered", ("gate-looked", "verdict"): "pass",
    ("drift", "cause"): "unknown", ("verdict", "judged"): "unjudged",
    ("change-moved", "state"): "proposed", ("ticket-due", "state"): "proposed",
    ("ticket-due", "change"): "", ("flash-ended", "outcome"): "open",
}
# Members that say which column the record is about, or which the listing by records invented.
ABOUT = {
    ("tuple", "judged"), ("condition", "condition"), ("condition", "on"), ("noted", "note"),
    ("noted", "on"), ("stepped", "step"), ("reset", "step"), ("held", "on"), ("frozen", "on"),
}
BITS = {"skew": 1, "replay": 2, "witness": 4, "contradiction": 8}
ACTS = {"alarm": 1, "drain": 2, "propose": 4}
STAGES = ["candidate", "lab", "canary", "released", "retired"]
BARS = ("unknown stale unmeasured drift unhealthy changing unattested unchecked held intake drained"
        " deviation domain disagrees posture stack image behind canary").split()
DERIVED = set(
    "placed_count liveness alarms_open commands_open flashes_open changes_open glasses nodes pin"
    " deviations_due enrolled uses gpus change pending flashing first_unit last_unit next members"
    " busy failed hard first count over active begun states queued".split())
COUNTERS = {"next_alarm", "next_command", "next_deviation", "next_flash", "next_change", "seq"}
BACKWARDS = {"state", "step", "failure"}  # of a member at a step that does not exist
NEVER = str(2**64 - 1)
DAY = 24 * 3600 * 1000
COLUMN = re.compile(r' ([a-z_]+)(\[\d+\])?=("(?:[^"\\]|\\.)*"|[^ ]*)')


class Row:
    """A line by columns: table, own name, columns, and all values with those of the rows above."""

    def __init__(self, line, known):
        start = COLUMN.search(line)
        self.head = line[:start.start()] if start else line
        rest = line[len(self.head):]
        found = COLUMN.findall(rest)
        assert sum(len(a + b + c) + 2 for a, b, c in found) == len(rest), line
        self.columns = [(name, index, plain(value)) for name, index, value in found]
        path = re.match(r'([a-z_]+(?:\[\d+\])?)(?: ("(?:[^"\\]|\\.)*"|[^ ]+?))?((?:\.[a-z_]+\[\d+\])*)$',
                        self.head)
        self.name = plain(path.group(2) or "")
        self.table = re.sub(r"\[\d+\]", "", path.group(1) + path.group(3))
        self.values = {value for _, _, value in self.columns} | {self.name}
        self.values |= set(re.findall(r"\[(\d+)\]", self.head)) if path.group(3) else set()
        above = self.head.rpartition(".")[0] if path.group(3) else ""
        self.values |= known[above].values if above else set()
        known[self.head] = self

    def has(self, name, value, index=""):
        return (name, index, value) in self.columns


def plain(text):
    return json.loads(text) if text.startswith('"') else text


def value_of(kind, key, value):
    """A member of a record as the listing by columns writes it; empty: it is left out."""
    if isinstance(value, bool):
        return "1" if value else ""
    if isinstance(value, int):
        return str(value) if value else ""
    if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value):
        then = datetime.datetime.fromisoformat(value[:-1] + "+00:00")
        epoch = datetime.datetime.fromtimestamp(0, datetime.timezone.utc)
        return str((then - epoch) // datetime.timedelta(milliseconds=1))
    if (kind, key) in ABOUT or FIRST.get((kind, key)) == value:
        return ""
    if (kind, key) == ("pool", "on_drift"):
        return str(sum(ACTS[word] for word in value.split()))
    return value


def hosts(text):
    """The names of a host list."""
    names = []
    for part in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", text):
        ranges = re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", part)
        for one in ranges.group(2).split(",") if ranges else [""]:
            low, _, high = one.partition("-")
            for number in range(int(low), int(high or low) + 1) if ranges else [None]:
                names.append(f"{ranges[1]}{number:0{len(low)}}{ranges[3]}" if ranges else part)
    return names


class State:
    def __init__(self, text):
        records, columns = text.split("\ncolumns\n")
        self.records = records.split("\n", 1)[1]
        self.columns = columns
        self.title, _, rest = records.partition("\n")
        self.clock = self.title.split()[-1]
        known = {}
        self.rows = [Row(line, known) for line in columns.rstrip("\n").split("\n")]
        self.said = [(time, json.loads(record))
                     for time, record in (line.split(" ", 1) for line in rest.split("\n"))]
        self.moved = {record["change"]: record for _, record in self.said
                      if record["kind"] == "change-moved"}

    def some(self, table, test):
        return any(row.table == table and test(row) for row in self.rows)

    def special(self, time, kind, record):
        """Records that are not one row: whether the columns have them; None: of another kind."""
        if kind in ("mass", "alarm-released") and NEVER in map(str, record.values()):
            return True  # invented, to make a pool forget
        if kind == "mass" and record.get("what"):
            return self.some("turn", lambda row: {record["what"], time} <= row.values)
        if kind == "mass":
            return self.some("pool", lambda row: row.name == record["pool"] and
                             row.has("mass_alarm", str(record["alarm"])))
        if kind == "observed" and "pool" not in record:
            return self.some("journal", lambda row: row.has("jobs", str(record["asked"])))
        if kind == "observed":
            index = f"[{BARS.index(record['bar'])}]"
            return self.some("pool.observed", lambda row: record["pool"] in row.values and
                             (int(time) < DAY or row.has("day", str(int(time) // DAY))) and
                             ("asked" not in record or row.has("asked", str(record["asked"]))) and
                             ("refused" not in record or
                              row.has("refused", str(record["refused"]), index)))
        if kind == "frozen":
            table = "pool" if record.get("pool") else "journal"
            want = {record.get(key, "") for key in ("pool", "by", "reason")} | {time}
            return self.some(table, lambda row: want - {""} <= row.values and row.has("frozen", "1"))
        if kind == "ticket-heard":
            table = "change.vote" if "change" in record else "ticket_heard"
            want = {value_of(kind, key, value) for key, value in record.items() if key != "kind"}
            return self.some(table, lambda row: want - {""} <= row.values)
        if kind == "plan-part":
            return self.part(record)
        if kind == "reset" and not record.get("node"):
            return self.some("journal", lambda row: any(n == "resets_given" and int(v) >=
                             record["command"] for n, _, v in row.columns))
        return None

    def part(self, record):
        """Each host is a member whose unit is in that wave and domain."""
        units = {row.head: row for row in self.rows if row.table == "change.unit"}
        for host in hosts(record["hosts"]):
            found = False
            for row in self.rows:
                if row.table != "change.member" or not row.has("node", host):
                    continue
                unit = next((v for n, _, v in row.columns if n == "unit"), "0")
                unit = units[f"{row.head.split('.')[0]}.unit[{unit}]"]
                found |= (str(record["change"]) in row.values and
                          record.get("from", "") in row.values | {""} and
                          row.has("proves", "1") == record.get("proves", False) and
                          ("recipe" not in record or row.has("recipe", str(record["recipe"]))) and
                          ("wave" not in record or unit.has("wave", str(record["wave"]))) and
                          ("domain" not in record or unit.has("domain", record["domain"])))
            if not found:
                return False
        return True

    def wanted(self, time, record):
        kind = record["kind"]
        want = {value_of(kind, key, value) for key, value in record.items() if key != "kind"}
        if time not in (self.clock, "0"):
            want.add(time)
        if kind == "parts" and record.get("board") == "-":
            want.discard("-")  # invented: other parts were there before
        if kind == "noted":
            want.add("notes")
        if kind == "change-moved" and self.moved.get(record["change"]) is not record:
            want.discard("running")  # it says only when the change first ran
        return want - {""}

    def has_record(self, time, record):
        kind = record["kind"]
        known = self.special(time, kind, record)
        if known is not None:
            return known
        want = self.wanted(time, record)

        def fits(row):
            have = row.values
            if kind == "noted":
                have = have | {"notes" for n, _, v in row.columns
                               if n == "notes" and int(v) & BITS[record["note"]]}
            if kind == "stepped" and record.get("evidence"):
                index = f"[{STAGES.index(record['step'])}]"
                return want <= have and row.has("evidence", record["evidence"], index)
            return want <= have
        if self.some(TABLES[kind], fits):
            return True
        if kind != "member":
            return False
        early = {value_of(kind, key, value) for key, value in record.items()
                 if key not in BACKWARDS | {"kind", "back"}} | {time}
        return self.some("change.member", lambda row: early - {""} <= row.values)

    def extra(self):
        """Values by columns that no record has."""
        said = {time for time, _ in self.said} | {self.clock}
        for time, record in self.said:
            kind = record["kind"]
            said |= {value_of(kind, key, value) for key, value in record.items()}
            said |= set(hosts(record["hosts"])) if kind == "plan-part" else set()
            said |= {record["step"]} if kind == "stepped" else set()
            said |= {"1"} if kind in ("enrolled", "intake", "accepted", "held") else set()
            said |= {str(int(time) // DAY)} if kind == "observed" else set()
        for row in self.rows:
            for name, index, value in row.columns:
                if name in DERIVED | COUNTERS or value in said:
                    continue
                if row.table == "node" and name == "notes":
                    continue  # the sum of those in records, each of which was found
                if row.table == "change.member" and name == "unit":
                    continue  # found from its wave and domain
                if name == "resets_given":
                    continue  # counted from records
                yield f"{row.head}: {name}{index}={value}"


def main():
    faults = 0
    for one in sys.argv[2:]:
        out = subprocess.run([sys.argv[1], "listings", one], capture_output=True, check=True).stdout
        states = [State(text) for text in re.split(r"(?m)^row ", out.decode())[1:]]
        count = 0
        for before, state in zip([None] + states, states):
            missing = [f"{time} {record}" for time, record in state.said
                       if not state.has_record(time, record)]
            extra = list(state.extra())
            same = (before is not None and before.records != state.records and
                    before.columns == state.columns)
            for line in missing + extra + (["only the records change"] if same else []):
                print(f"{one}, row {state.title}: {line}")
                faults += 1
            count += len(state.said)
        print(f"{one}: {len(states)} states, {count} records")
    return 1 if faults > 0 else 0


sys.exit(main())
