#!/usr/bin/env python3
"""Other people's readers of JSON, YAML and JSON Schema judge what we read and write.

    documents.py PATH_OF_LOCKSTEP

Run from the root of the checkout. Prints "N passed, N failed" last.
"""
import glob
import hashlib
import json
import subprocess
import sys

import jsonschema
import yaml

LOCKSTEP = sys.argv[1]
SCHEMAS = {
    "Stack": "docs/schema/stack.json",
    "HardwareClass": "docs/schema/hardware-class.json",
    "Fleet": "docs/schema/fleet.json",
    "Bundle": "docs/schema/bundle.json",
}
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print(f"FAIL {what} {detail}")


def run(*args):
    return subprocess.run([LOCKSTEP, *args], capture_output=True, check=False)


def documents(path):
    with open(path, encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def schema_of(kind):
    with open(SCHEMAS[kind], encoding="utf-8") as file:
        return json.load(file)


for path in sorted(glob.glob("examples/*.yaml")) + ["data/classes.yaml"]:
    for number, document in enumerate(documents(path)):
        validator = jsonschema.Draft202012Validator(schema_of(document["kind"]))
        errors = [error.message for error in validator.iter_errors(document)]
        check(f"{path} document {number} fits the JSON Schema", not errors, errors)

for kind in SCHEMAS:
    jsonschema.Draft202012Validator.check_schema(schema_of(kind))
    stray = {"lockstep": 1, "kind": kind, "name": "x", "verson": "1"}
    fits = jsonschema.Draft202012Validator(schema_of(kind)).is_valid(stray)
    check(f"the JSON Schema of {kind} refuses an unknown key", not fits)

for path in sorted(glob.glob("examples/*.yaml")):
    stacks = [d for d in documents(path) if d["kind"] == "Stack"]
    for stack in stacks:
        canonical = run("stack", "digest", "--canonical", "--stack", stack["name"], path).stdout
        digest = run("stack", "digest", "--stack", stack["name"], path).stdout.decode().strip()
        check(f"{path}: the digest is the SHA-256 of the canonical bytes",
              digest == "sha256:" + hashlib.sha256(canonical).hexdigest())
        again = json.dumps(json.loads(canonical), sort_keys=True, separators=(",", ":"),
                           ensure_ascii=False).encode()
        check(f"{path}: another writer of canonical JSON agrees", canonical == again)
        # The same manifest, written anew by another program as JSON.
        as_json = subprocess.run([LOCKSTEP, "stack", "digest", "-"], capture_output=True,
                                 input=json.dumps(stack).encode(), check=False)
        check(f"{path}: the digest survives a rewrite as JSON",
              as_json.stdout.decode().strip() == digest, as_json.stderr.decode())

for args in (["compat", "--driver", "580.126.20", "--cuda", "13.0", "--gpu", "H100"],
             ["stack", "check", "examples/h200-train.yaml"], ["stack", "classes"],
             ["advisories", "examples/h200-train.yaml"], ["lifecycle"], ["xid", "79"],
             ["stack", "diff", "examples/h200-train.yaml", "examples/h200-train-next.yaml"]):
    answer = run(*args, "--json").stdout
    try:
        json.loads(answer)
        check(f"{args[0]} --json", True)
    except ValueError as error:
        check(f"{' '.join(args)} --json is JSON", False, error)

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0 or passed == 0)
