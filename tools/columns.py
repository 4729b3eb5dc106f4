#!/usr/bin/env python3
"""Every member of a struct that the state keeps is a column, or an index that is named here.

A member that is neither would be forgotten by snapshots and by comparisons. Run from the root of the
checkout, or with another root as the argument; prints what is wrong and exits with 1.
"""
import pathlib
import re
import sys

# Members by which things are found. They follow from columns, or belong to this moment.
INDEXES = {
    "lks_state": "limits texts passing names nodes pulses node_count node_room pool_names pools "
    "pool_count pool_room basis_digests bases basis_room verdicts verdict_count verdict_room "
    "verdict_free deviations deviation_count deviation_room stacks stack_count stack_room images "
    "image_count image_room artifacts artifact_count artifact_room keys key_count key_room bundles "
    "bundle_count bundle_room flashes flash_count flash_room changes change_count change_room "
    "proven proven_count proven_room touched touched_count touched_room members_due tickets resets runs "
    "barred barred_count barred_room overrides override_count override_room standing bindings "
    "binding_count binding_room tokens token_count token_room persons person_count person_room "
    "alarms alarm_count alarm_room commands command_count command_room outband_ends deadlines mass "
    "runs refusals turns seen commands_due flashes_due commands_moved flashes_moved heads head_count",
    "lks_state_pool": "known observed",
    "lks_node": "placed whole_next whole_before verdict flash certificates",
    "lks_state_basis": "len first verdict",
    "lks_state_verdict": "next",
    "lks_deviation": "nodes",
    "lks_state_flash": "before saved_len",
    "lks_barred": "certificate",
    "lks_binding": "made",
    "lks_api_token": "made roles role_count",
    "lks_state_person": "certificate made",
    "lks_state_change": "glass waivers waiver_count votes vote_count recipes recipe_count "
    "recipe_room waves wave_count wave_room units unit_count unit_room members member_count "
    "member_room places place_room notes note_count note_room orders order_count order_room "
    "metrics metric_count metric_room gates gate_count gate_room measures measure_count "
    "measure_room measured measured_room looks look_count look_room jobs job_count "
    "job_room index forecast looked",
}
# Structs within rows, of which each member is a column of the row.
WITHIN = {
    "limits": "lks_limits",
    "glass": "lks_glass",
    "forecast": "lks_change_forecast",
    "made": "lks_made",
    "certificate": "lks_certificate",
}


def members(text, struct):
    """The names of the members of a struct, as its declaration has them."""
    found = re.search(r"^struct " + struct + r" \{\n(.*?)^\};", text, re.S | re.M)
    if found is None:
        return None
    body = re.sub(r"/\*.*?\*/", "", found[1], flags=re.S)
    names = []
    for declaration in body.split(";"):
        for part in declaration.split(","):
            words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[[^]]*\]", "", part))
            if words:
                names.append(words[-1])
    return names


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    rooms = ("src/core/rows", "src/core/state")
    headers = "".join(p.read_text() for room in rooms for p in sorted((root / room).glob("*.h")))
    tables = "".join(p.read_text() for p in sorted((root / "src/core/entity").glob("entities_*.c")))
    settable = (root / "src/core/entity/settable.h").read_text()
    made = re.search(r"#define MADE\b.*?\n\n", tables, re.S)
    faults = []
    seen = 0
    for struct, body in re.findall(r"#define ROW struct (\w+)\n(.*?)#undef ROW", tables, re.S):
        names = members(headers, struct)
        if names is None:
            faults.append(f"{struct}: no such struct in src/core/rows or src/core/state")
            continue
        if re.search(r"\bMADE\(", body) and made:
            body += made[0]
        if "LKS_SETTABLE_NODE(" in body:
            body += re.search(r"#define LKS_SETTABLE_NODE\b.*?\n\n", settable, re.S)[0]
        if ".column_count" not in body and "COLUMNS(" not in body:
            continue
        seen += 1
        indexes = INDEXES.get(struct, "").split()
        for name in names:
            is_column = re.search(r"[(, ]" + name + r"[,)\[]", body) is not None
            for inner in members(headers, WITHIN[name]) if name in WITHIN else []:
                if not re.search(r"\b" + name + r"(\[0\])?\." + inner + r"\b", body):
                    faults.append(f"{struct}: {name}.{inner} is no column")
            if name in indexes or is_column:
                continue
            faults.append(f"{struct}: {name} is neither a column nor an index")
        for name in indexes:
            if name not in names:
                faults.append(f"{struct}: has no member {name}, which is named as an index")
    if seen == 0:
        faults.append("no tables were found")
    for fault in faults:
        print(f"src/core/entity: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
