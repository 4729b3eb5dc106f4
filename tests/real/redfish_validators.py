#!/usr/bin/python3
"""DMTF's validators against every personality of lockstep-bmcsim that has Redfish.

    redfish_validators.py BUILD_DIR

The protocol validator always runs. The service validator needs DMTF's schemas (DSP8010, the *.xml of
its folder csdl): it runs where LKS_REDFISH_SCHEMAS or the folder lockstep/redfish-schemas of the
user's cache holds them. A failure that is not in the table below is a fault of the simulator; so is
a row of the table that is no longer seen.
"""

import csv
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import bmcsim  # noqa: E402  (beside this file; it has no place for compiled modules)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# What a personality is meant to do wrong, since machines do: (personality, validator, what it reports
# as a regular expression, why).
DELIBERATE = [
    ("supermicro", "service", r"/ReleaseDate \(T00:00:00Z\)",
     "firmware entries of GPUs have a release date that is none"),
]

# Assertions that once failed: each is tested and passes, not only absent from the failures.
MUST_PASS = {
    "PROTO_STD_URI_VERSION", "REQ_HEADERS_ODATA_VERSION", "REQ_POST_CREATE_TO_MEMBERS_PROP",
    "RESP_HEADERS_LINK_REL_DESCRIBED_BY", "SEC_PRIV_SUPPORT_PREDEFINED_ROLES",
}
PASSED_MIN = 200

# Discovery is multicast to the whole network, which is no place for a test, and has nothing to find.
PROTOCOL = """
from redfish_protocol_validator import console_scripts, utils
utils.discover_ssdp = lambda **_: {}
console_scripts.main()
"""
SERVICE = "from redfish_service_validator.console_scripts import main; main()"
SECONDS = 900


def environment():
    """Where the validators are installed; made here unless `make test-real` said so."""
    place = os.environ.get("LKS_REDFISH_VALIDATORS")
    if not place:
        made = [f"{ROOT}/tools/venv.sh", f"{ROOT}/tools/redfish-validators.txt"]
        place = subprocess.run(made, check=True, capture_output=True, text=True).stdout.strip()
    return f"{place}/bin/python"


def schemas():
    """The folder with DMTF's schemas, or None."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    place = os.environ.get("LKS_REDFISH_SCHEMAS") or f"{cache}/lockstep/redfish-schemas"
    return place if os.path.exists(f"{place}/ServiceRoot_v1.xml") else None


def start(bmcs, kind, name, words):
    folder = f"{bmcs.folder}/{name}-{kind}"
    os.mkdir(folder)
    words = words + ["--rhost", bmcs.url(kind), "--user", bmcs.user, "--password", bmcs.password,
                     "--report-dir", folder]
    with open(f"{folder}/out", "wb") as out:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=folder)


def finish(process):
    try:
        return process.wait(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def judge(kind, validator, failures):
    """Compare failures with the table, both ways."""
    meant = [row[2] for row in DELIBERATE if row[:2] == (kind, validator)]
    faults = sorted({f for f in failures if not any(re.search(m, f) for m in meant)})
    stale = [m for m in meant if not any(re.search(m, f) for f in failures)]
    bmcsim.check(f"{kind}: the {validator} validator finds no fault that is not meant", not faults,
                 f"{len(faults)}: {faults[:10]}")
    bmcsim.check(f"{kind}: and those that are meant for the {validator} validator", not stale, stale)


def protocol(bmcs, kind, status):
    reports = glob.glob(f"{bmcs.folder}/protocol-{kind}/*.tsv")
    rows = []
    if reports:
        with open(reports[0], encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f, delimiter="\t"))
    passed = {row["Assertion"] for row in rows if row["Result"] == "PASS"}
    count = sum(row["Result"] == "PASS" for row in rows)
    skipped = sum(row["Result"] == "NOT_TESTED" for row in rows)
    print(f"{kind}: {count} assertions of the protocol validator pass, {skipped} are not tested")
    bmcsim.check(f"{kind}: the protocol validator tests something",
                 status in (0, 1) and count >= PASSED_MIN and MUST_PASS <= passed,
                 f"status {status}, {count} pass, not {sorted(MUST_PASS - passed)}")
    judge(kind, "protocol", [f"{row['Assertion']} {row['Method']} {row['URI']}: {row['Message']}"
                             for row in rows if row["Result"] == "FAIL"])


def service(bmcs, kind, status):
    logs = glob.glob(f"{bmcs.folder}/service-{kind}/*/*.log")
    with open(logs[0], encoding="utf-8") as f:
        failures = re.findall(r" - ERROR - FAIL - (.*)", f.read())
    with open(f"{bmcs.folder}/service-{kind}/out", encoding="utf-8") as f:
        said = f.read()
    count = sum(int(n) for n in re.findall(r"^  - Pass: (\d+),", said, re.MULTILINE))
    print(f"{kind}: {count} checks of the service validator pass")
    bmcsim.check(f"{kind}: the service validator tests something",
                 status in (0, 1) and count >= PASSED_MIN, f"status {status}, {count} pass")
    judge(kind, "service", failures)


def main():
    folder = tempfile.mkdtemp(prefix="lks-validators-")
    python, place = environment(), schemas()
    bmcs = bmcsim.Bmcs(os.path.abspath(sys.argv[1]), folder)
    words = {"protocol": [python, "-c", PROTOCOL, "--ca-bundle", bmcs.ca, "--report-type", "tsv",
                          "--avoid-http-redirect"],
             "service": [python, "-c", SERVICE, "--schema_directory", str(place), "--skipschema",
                         "--nooemcheck", "--authtype", "Basic"]}
    if place is None:
        print("the service validator is left out: no schemas of DMTF in LKS_REDFISH_SCHEMAS or in "
              "lockstep/redfish-schemas of the cache")
        del words["service"]
    try:
        for name, report in [("protocol", protocol), ("service", service)]:
            if name not in words:
                continue
            runs = [(kind, start(bmcs, kind, name, words[name])) for kind in bmcsim.KINDS]
            for kind, run in runs:
                report(bmcs, kind, finish(run))
    finally:
        bmcs.process.terminate()
        status = bmcs.process.wait(timeout=600)
        shutil.rmtree(folder)
    bmcsim.check("the BMCs end when they are told", status == 0, status)
    print(f"{bmcsim.passed} passed, {bmcsim.failed} failed")
    return bmcsim.failed != 0


sys.exit(main())
