#!/usr/bin/python3
"""schemathesis makes requests of the OpenAPI document, as admin, viewer and nobody, at the same time.

    openapi.py TEST_REAL_REQUESTS SECONDS

The first is the program that fills a lockstepd, says where it is, and ends it. Every answer has a
status and a form that the document gives, and none is a server error.
"""

import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CHECKS = ("not_a_server_error,status_code_conformance,content_type_conformance,"
          "response_headers_conformance,response_schema_conformance,unsupported_method")
MAIN = "from schemathesis.cli import schemathesis; schemathesis()"

passed = failed = 0


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": " + str(why)), flush=True)


def environment():
    """Where schemathesis is installed; made here unless `make test-real` said so."""
    place = os.environ.get("LKS_SCHEMATHESIS")
    if place is None:
        made = [f"{ROOT}/tools/venv.sh", f"{ROOT}/tools/schemathesis.txt"]
        place = subprocess.run(made, check=True, capture_output=True, text=True).stdout.strip()
    return f"{place}/bin/python"


def serve(program):
    """The program, and what it says of the lockstepd that it runs."""
    process = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, cwd=ROOT)
    for line in process.stdout:
        if line.startswith("serving "):
            return process, json.loads(line[len("serving "):])
        print(line, end="")
    process.wait()
    return process, None


def fetch_document(where, path):
    request = urllib.request.Request(f"{where['server']}/v1/openapi.json",
                                     headers={"Authorization": f"Bearer {where['tokens']['admin']}"})
    context = ssl.create_default_context(cafile=where["ca"])
    with urllib.request.urlopen(request, timeout=60, context=context) as answer:
        document = answer.read()
    with open(path, "wb") as f:
        f.write(document)


def start(python, role, where, folder, seconds):
    token = where["tokens"].get(role)
    words = [python, "-c", MAIN, "--config-file", f"{folder}/config.toml", "run",
             f"{folder}/openapi.json", "--url", where["server"],
             "--tls-verify", where["ca"], "--max-time", str(seconds), "--checks", CHECKS,
             "--phases", "coverage,fuzzing", "--include-tag", "people", "--exclude-operation-id", "events",
             "--exclude-operation-id", "backup", "--continue-on-failure", "--warnings", "off",
             "--suppress-health-check", "all", "--request-timeout", "60", "--no-color"]
    if token is not None:
        words += ["--header", f"Authorization: Bearer {token}"]
    env = dict(os.environ, LKS_KNOWN=f"{folder}/known.json", SCHEMATHESIS_HOOKS="openapi_hooks",
               PYTHONPATH=HERE, PYTHONDONTWRITEBYTECODE="1")
    with open(f"{folder}/{role}.out", "wb") as out:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env,
                                cwd=folder)


def finish(role, process, folder, seconds):
    try:
        status = process.wait(timeout=seconds + 300)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    with open(f"{folder}/{role}.out", encoding="utf-8", errors="replace") as f:
        said = f.read()
    cases = re.search(r"^ *(\d+) generated", said, re.MULTILINE)
    count = int(cases.group(1)) if cases else 0
    print(f"{role}: {count} requests")
    check(f"schemathesis as {role}", status == 0 and count > 0, f"it ended with {status}")
    if status != 0 or count == 0:
        print(said[-20000:])


def main():
    program, seconds = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    python = environment()
    process, where = serve(program)
    check("a lockstepd with some of everything", where is not None, "it did not start")
    with tempfile.TemporaryDirectory(prefix="lks-schemathesis-") as folder:
        if where is not None:
            fetch_document(where, f"{folder}/openapi.json")
            with open(f"{folder}/known.json", "w", encoding="utf-8") as f:
                json.dump(where["known"], f)
            open(f"{folder}/config.toml", "w", encoding="utf-8").close()
            runs = [(role, start(python, role, where, folder, seconds))
                    for role in ("admin", "viewer", "nobody")]
            for role, run in runs:
                finish(role, run, folder, seconds)
    process.stdin.close()
    print(process.stdout.read(), end="")
    check("lockstepd ends without a report", process.wait() == 0)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
