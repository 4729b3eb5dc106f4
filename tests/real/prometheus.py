#!/usr/bin/python3
"""A real Prometheus scrapes a real lockstepd over TLS, and finds what the controller knows.

    prometheus.py BUILD_DIR
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

FLEET = """\
lockstep: 1
kind: Fleet
name: real
sites:
  lab: {}
pools:
  train: {posture: pre-training}
  odd: {posture: dev}
nodes:
  - {hosts: "gpu[001-003]", pool: train, class: hgx-h200-8, site: lab, rack: r1}
  - {hosts: "gpu004", pool: odd, class: hgx-h200-8, site: lab, rack: 'a"b\\\\c'}
"""

QUESTIONS = [
    ("the target is up", "up", "1"),
    ("every node has a series to join with", "count(lockstep_node_info)", "4"),
    ("it carries the pool", 'count(lockstep_node_info{pool="train"})', "3"),
    ("liveness by pool", 'lockstep_nodes{pool="train",liveness="unseen"}', "3"),
    ("the journal has rows", "lockstep_journal_seq > bool 3", "1"),
    ("commits are a histogram", "lockstep_commit_seconds_count > bool 0", "1"),
    ("a join works", 'count(lockstep_node_info * on (pool) group_left lockstep_pool_acts_wait)', "4"),
]

passed = failed = 0


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": " + str(why)))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, seconds=600):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value is not None:
            return value
        time.sleep(0.2)
    return None


def ask(port, query):
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            result = json.load(answer)["data"]["result"]
    except OSError:
        return None
    return result[0]["value"][1] if result else None


def start_controller(build, data, port):
    run = lambda *words: subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    run(f"{build}/lockstepd", "init", "--data", data, "--people", f"127.0.0.1:{port}",
        "--agents", f"127.0.0.1:{free_port()}")
    daemon = subprocess.Popen([f"{build}/lockstepd", "run", "--config", f"{data}/lockstepd.yaml"],
                              stderr=subprocess.DEVNULL)
    with open(f"{data}/../fleet.yaml", "w", encoding="utf-8") as f:
        f.write(FLEET)
    apply = [f"{build}/lockstep", "fleet", "apply", "--server", f"unix:{data}/lockstepd.sock",
             f"{data}/../fleet.yaml"]
    done = wait_for(lambda: subprocess.run(apply, capture_output=True).returncode == 0 or None)
    check("a controller with a fleet", done)
    return daemon


def start_prometheus(folder, data, people, port):
    with open(f"{folder}/prometheus.yml", "w", encoding="utf-8") as f:
        f.write(f"""\
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: lockstep
    scheme: https
    authorization: {{credentials_file: {data}/admin.token}}
    tls_config: {{ca_file: {data}/ca.crt, server_name: localhost}}
    static_configs: [{{targets: ['127.0.0.1:{people}']}}]
""")
    return subprocess.Popen(
        ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/tsdb",
         f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    build = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="lks-prometheus-")
    started = []
    try:
        people, port = free_port(), free_port()
        started.append(start_controller(build, f"{folder}/data", people))
        started.append(start_prometheus(folder, f"{folder}/data", people, port))
        check("Prometheus scrapes it", wait_for(lambda: ask(port, "up") == "1" or None),
              "it is never up")
        for name, query, want in QUESTIONS:
            got = wait_for(lambda: ask(port, query))
            check(name, got == want, f"{query} is {got}, expected {want}")
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(timeout=600)
        shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
