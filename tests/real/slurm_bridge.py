#!/usr/bin/env python3
"""lockstep-slurm-bridge against a real Slurm: drains and their owners, jobs, epochs, and slurmctld going away.

    slurm_bridge.py BUILD_DIR [PART...]      all parts, or these: reads, drains, jobs, ...

Beside the release of Slurm that is installed, tools/slurm-root.sh runs this with a later one.
"""
import http.client
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from slurm_cluster import Cluster  # pylint: disable=wrong-import-position

OURS = "lockstep:change:17"
OTHER = "lockstep:change:18"
STALE = 6  # seconds: how long the bridge answers without slurmctld
HELD = 600  # tenths of a second that an epilog may be held

passed = failed = 0


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": " + str(why)), flush=True)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("bridge", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask_on(connection, method, path, body=None, revision=None, epoch=1, headers=None):
    headers = dict(headers or {})
    if revision is not None:
        headers["If-Match"] = f'"{revision}"'
    if method != "GET" and epoch is not None:
        headers["Lockstep-Epoch"] = str(epoch)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        try:
            return answer.status, json.loads(text or b"null"), answer.headers
        except ValueError as fault:
            raise ValueError(f"{method} {path}: status {answer.status} with {text[:200]}") from fault
    finally:
        connection.close()


class Bridge:
    def __init__(self, build, folder, conf, more=()):
        self.program = os.path.join(build, "lockstep-slurm-bridge")
        self.folder, self.conf, self.more = folder, conf, list(more)
        self.socket = os.path.join(folder, "bridge.sock")
        self.process, self.ready = None, []
        known = os.path.join(folder, "leaks")  # libslurm 22.05 itself leaks the answer to a requeue
        with open(known, "w", encoding="utf-8") as f:
            f.write("leak:slurm_requeue2\n")
        self.environment = dict(os.environ, LSAN_OPTIONS="print_suppressions=0:suppressions=" + known)
        self.start()

    def start(self):
        with open(os.path.join(self.folder, "bridge.log"), "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "--state", os.path.join(self.folder, "bridge"), "--listen", "unix:" + self.socket,
                 "--slurm-conf", self.conf, "--stale", str(STALE)] + self.more,
                stdout=subprocess.PIPE, stderr=log, text=True, env=self.environment)
        self.ready = self.process.stdout.readline().split()
        assert self.ready[:1] == ["ready"], "the bridge did not start: see " + log.name

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        code = self.process.wait(120)
        self.process.stdout.close()
        return code

    def ask(self, method, path, body=None, **how):
        return ask_on(UnixConnection(self.socket), method, path, body, **how)[:2]

    def node(self, name):
        return self.ask("GET", "/v1/nodes/" + name)[1]

    def write(self, method, name, verb, body, revision, **how):
        """For the revision that is given, or as lockstepd does: the node is read again where it has changed since."""
        for _ in range(10):
            at = self.node(name).get("revision", 1) if revision is None else revision
            answer = self.ask(method, f"/v1/nodes/{name}/{verb}", body, revision=at, **how)
            if revision is not None or answer[0] != 409 or "another revision" not in answer[1]["error"]:
                break
        return answer

    def drain(self, name, owner=OURS, reason="driver 580", revision=None, takes=None, **how):
        body = {"owner": owner, "reason": reason, "checkpoint": False} | ({"from": takes} if takes else {})
        return self.write("PUT", name, "drain", body, revision, **how)

    def release(self, name, owner=OURS, revision=None, **how):
        return self.write("POST", name, "release", {"owner": owner}, revision, **how)

    def settled(self, c, name):
        """The node once the bridge shows what Slurm's own command does: a reading may be a second old."""
        def agree():
            status, n = self.ask("GET", "/v1/nodes/" + name)
            return status == 200 and bool(n["drain"]) == ("DRAIN" in c.node(name)["State"]) and n
        return c.wait(name + " is shown as it is", agree, 60)


def submit(c, *how, script="exec sleep 5"):
    """The id of a batch job."""
    return c.run("sbatch", "--parsable", "-o", "/dev/null", "-D", "/", *how, "--wrap", script).stdout.split(";")[0].strip()


def job_state(c, job):
    words = c.run("scontrol", "-o", "show", "job", job, check=False).stdout.split()
    return next((w.split("=")[1] for w in words if w.startswith("JobState=")), "")


# What holds.

def reads(c, b):
    c.wait("slurmctld was pinged", lambda: b.ask("GET", "/v1/health")[1]["primary"])
    status, health = b.ask("GET", "/v1/health")
    check("health: the cluster and its controllers", status == 200 and health["cluster"] == "real" and
          health["warning"] == "" and
          health["slurm"].startswith(c.run("scontrol", "--version").stdout.split()[-1]) and health["backup"] is None,
          health)
    status, all_nodes = b.ask("GET", "/v1/nodes")
    check("all nodes are listed", [n["node"] for n in all_nodes["nodes"]] == c.nodes, all_nodes)
    n = b.node("n1")
    check("an idle node", n["accepts"] and n["drain"] is None and n["jobs"] == [] and n["state"] == "idle" and
          not n["down"] and n["responding"] and n["features"] == ["stack_a", "stack_b"], n)
    check("its GPUs", n["gres"] == (f"gpu:h200:{c.gpus}" if c.gpus else ""), n["gres"])
    check("a node that Slurm does not have", b.ask("GET", "/v1/nodes/n99")[0] == 404)
    revision = b.node("n1")["revision"]
    time.sleep(1.2)
    check("a revision stays while nothing changes", b.node("n1")["revision"] == revision)
    for method, path, want in (("GET", "/v1/nothing", 404), ("PUT", "/v1/nodes/n1", 405), ("GET", "/v1/nodes/-x", 400)):
        check(f"{method} {path} is refused", b.ask(method, path)[0] == want)


def drains(c, b):
    first = b.node("n1")
    status, n = b.drain("n1", reason="driver 580 -> 590")
    check("drain an idle node", status == 200 and n["drain"]["owner"] == OURS and not n["accepts"] and
          n["drain"]["reason"] == "driver 580 -> 590" and n["revision"] > first["revision"], n)
    shown = c.node("n1")
    check("Slurm shows the drain and its owner", shown["State"] == "IDLE+DRAIN" and
          shown["Reason"].startswith(OURS + " driver 580 -> 590"), shown)
    status, again = b.drain("n1")
    check("the same drain again is done already", status == 200 and again["revision"] == n["revision"], again)
    status, why = b.drain("n1", owner=OTHER)
    check("a drain of another change is refused", status == 409 and OURS in why["error"], why)
    status, why = b.drain("n1", owner=OTHER, takes="lockstep:change:3")
    check("and the drain of a third one is not taken over", status == 409 and OURS in why["error"], why)
    status, n = b.drain("n1", owner=OTHER, reason="kim: bad fan, journal row 812", takes=OURS)
    shown = c.node("n1")
    check("the drain of one owner is taken over by the next", status == 200 and n["drain"]["owner"] == OTHER and
          not n["accepts"] and shown["Reason"].startswith(OTHER + " kim: bad fan, journal row 812"), (n, shown))
    check("and back", b.drain("n1", takes=OTHER)[0] == 200 and "DRAIN" in c.node("n1")["State"])
    status, why = b.release("n1", owner=OTHER)
    check("another change does not end it", status == 409 and c.node("n1")["State"] == "IDLE+DRAIN", why)
    status, why = b.release("n1", revision=first["revision"])
    check("a stale revision is refused, and told the new one", status == 409 and
          why["revision"] == b.node("n1")["revision"] and c.node("n1")["State"] == "IDLE+DRAIN", why)
    status, n = b.release("n1")
    check("its owner ends it", status == 200 and n["drain"] is None, n)
    c.wait("n1 is idle again", lambda: b.node("n1")["accepts"])
    status, why = b.release("n1")
    check("a node that is not drained is not released", status == 409, why)
    check("an unknown node cannot be drained", b.drain("n99")[0] == 404)


def foreign_drains(c, b):
    c.run("scontrol", "update", "nodename=n2", "state=drain", "reason=bad fan")
    n = c.wait("the foreign drain is seen", lambda: (b.node("n2")["drain"] and b.node("n2")))
    user = c.run("id", "-un").stdout.strip()
    check("a person's drain is the person's", n["drain"]["owner"] == user and n["drain"]["reason"] == "bad fan", n)
    user_takes = b.drain("n2", takes=user)[0], b.drain("n2", takes=OURS)[0]
    check("not by a request that names the person either", user_takes == (400, 409), user_takes)
    check("it is not taken over", b.drain("n2")[0] == 409 and c.node("n2")["Reason"].startswith("bad fan"))
    for owner in (OURS, user):
        check(f"nor released as {owner}", b.release("n2", owner=owner)[0] in (400, 409) and
              c.node("n2")["State"] == "IDLE+DRAIN")
    c.run("scontrol", "update", "nodename=n2", "state=resume")
    c.run("scontrol", "update", "nodename=n2", "state=fail", "reason=bad cable")
    c.wait("the state is seen", lambda: "fail" in b.node("n2")["state"])
    n = b.node("n2")
    check("FAIL is shown as its user's drain", n["drain"] and n["drain"]["owner"] == user and n["drain"]["reason"] == "bad cable" and
          not n["accepts"], n)
    check("a node in FAIL is left alone", b.drain("n2")[0] == 409 and "FAIL" in c.node("n2")["State"])
    c.run("scontrol", "update", "nodename=n2", "state=resume")
    c.run("scontrol", "update", "nodename=n2", "state=down", "reason=bad DIMM")
    n = c.wait("down is seen", lambda: (b.node("n2")["down"] and b.node("n2")))
    check("a node that is down is not drained", n["drain"] is None and not n["accepts"] and n["reason"] == "bad DIMM", n)
    status, n = b.drain("n2")
    check("it can be drained", status == 200 and n["down"] and n["drain"]["owner"] == OURS, n)
    status, n = b.drain("n2", owner=OTHER, takes=OURS)
    check("and taken over", status == 200 and n["down"] and n["drain"]["owner"] == OTHER, n)
    check("and back", b.drain("n2", takes=OTHER)[0] == 200)
    status, n = b.release("n2")
    shown = c.node("n2")
    check("the end of the drain leaves it down, for its old reason", status == 200 and n["down"] and
          n["drain"] is None and shown["State"].startswith("DOWN") and shown["Reason"].startswith("bad DIMM ["), shown)
    c.run("scontrol", "update", "nodename=n2", "state=resume")
    c.wait_idle()
    # slurmctld leaves the reason alone when a drained node goes down.
    c.run("scontrol", "update", "nodename=n2", "state=down", "reason=" + b.drain("n2")[1]["reason"])
    n = c.wait("down is seen", lambda: (b.node("n2")["down"] and b.node("n2")))
    check("a node that goes down under the drain is still drained", n["drain"] and n["drain"]["owner"] == OURS, n)
    status, n = b.release("n2")
    check("the end of the drain ends that, too", status == 200 and not n["down"] and n["drain"] is None, n)
    c.wait_idle()


def reboots(c, b):
    """Slurm's own reboot ends lockstep's drain: before, the node is not empty, though no job runs there."""
    c.run("scontrol", "reboot", "nextstate=resume", "n3")
    c.wait("the reboot begins", lambda: "reboot_issued" in b.node("n3")["state"])
    status, n = b.drain("n3")
    check("a node that Slurm reboots is drained, and is not empty", status == 200 and n["drain"]["owner"] == OURS and
          [j["id"] for j in n["jobs"]] == ["?"] and "reboots the node" in n["jobs"][0]["name"], n)
    c.stop("slurmd-n3")
    c.start_slurmd("n3", "-b")
    c.wait("the reboot is over, and slurmctld ended the drain", lambda: (m := b.node("n3"))["drain"] is None and m["accepts"] and not m["jobs"])


def reasons(c, b):
    for name, given in (("quotes and UTF-8", "it's \"new\" für ü"), ("a long one", "x" * 250), ("empty", "")):
        status, n = b.drain("n3", reason=given)
        kept = n["drain"]["reason"]
        check(f"a reason: {name}", status == 200 and n["drain"]["owner"] == OURS and given.startswith(kept) and
              (len(given) > 200 or kept == given), n)
        b.release("n3")
    status, n = b.drain("n3", reason="a\nb\x1b[31m")
    check("control characters do not reach Slurm", status == 200 and n["drain"]["reason"] == "a?b?[31m", n)
    b.release("n3")
    check("too long for Slurm", b.drain("n3", reason="x" * 256)[0] == 400)
    for owner in ("change:17", "lockstep:", "lockstep:a b", ""):
        check(f"an owner '{owner}' is refused", b.drain("n3", owner=owner)[0] == 400)
    c.wait_idle()


def advertised(c, b):
    """What lockstepd compares with the stack: configured, in use, and a node that registers with less."""
    if not c.gpus:
        print("skipped: GPUs of Slurm are devices, and to make them needs root")
        return
    job = submit(c, "-w", "n6", "--gres=gpu:h200:2", script="exec sleep 60")
    n = c.wait("GPUs are in use", lambda: (m := b.node("n6"))["gres_used"].startswith("gpu:h200:2") and m)
    check("a job's GPUs are in use", n["gres"] == f"gpu:h200:{c.gpus}" and "(IDX:" in n["gres_used"], n)
    c.run("scancel", job)
    c.wait("GPUs are free again", lambda: b.node("n6")["gres_used"].startswith("gpu:h200:0"))
    path = os.path.join(os.path.dirname(c.conf), "gres.conf")
    with open(path, encoding="utf-8") as f:
        before = f.read()
    fewer = f"NodeName=n6 Name=gpu Type=h200 File={c.dir}/gpu[0-{c.gpus - 2}]\n"
    others = before.split("\n", 1)[1].replace("Name=gpu", "NodeName=n[1-5,7-8] Name=gpu")
    for text, state in (("AutoDetect=off\n" + fewer + others, True), (before, False)):
        c.write("gres.conf", text)
        c.stop("slurmd-n6")
        c.start_slurmd("n6")
        n = c.wait("it registered", lambda s=state: ("invalid_registration" in (m := b.node("n6"))["state"]) == s and m)
        check("a node that registered with less" if state else "and with all of them again",
              n["gres"] == f"gpu:h200:{c.gpus}" and n["accepts"] is False or not state, n)
    c.run("scontrol", "update", "nodename=n6", "state=resume", check=False)
    c.wait("it is idle", lambda: b.node("n6")["accepts"])


def jobs(c, b):
    gpus = ["--gres=gpu:4"] if c.gpus else []
    job = submit(c, "-w", "n4,n5", "-N2", "-t", "10", "-J", "train", *gpus)
    n = c.wait("the job runs", lambda: (job_state(c, job) == "RUNNING" and b.node("n4")["jobs"] and b.node("n4")))
    on = n["jobs"][0]
    now = time.time() * 1000
    check("a job on its node", on["id"] == job and on["kind"] == "batch" and on["name"] == "train" and on["nodes"] == 2 and
          abs(on["started"] - now) < 600000 and on["ends"] - on["started"] == 600000 and on["requeue"], on)
    if c.gpus:
        check("its GPUs, on both nodes", on["gpus"] == 8, on)
    listed = [j for j in b.ask("GET", "/v1/jobs")[1]["jobs"] if j["id"] == job]
    check("in the list of jobs", listed and listed[0]["nodes"] == "n[4-5]" and listed[0]["state"] == "running" and
          listed[0]["partition"] == "main", listed)
    status, n = b.drain("n4")
    check("a node with a job is drained, and the job goes on", status == 200 and n["drain"]["owner"] == OURS and
          n["jobs"][0]["id"] == job and not n["accepts"] and job_state(c, job) == "RUNNING", n)
    c.wait("the job ends by itself", lambda: job_state(c, job) == "COMPLETED")
    c.wait("nothing runs there", lambda: b.node("n4")["jobs"] == [])
    check("the drain is still ours", b.node("n4")["drain"]["owner"] == OURS)
    late = submit(c, "-w", "n4", script="exit 0")
    time.sleep(3)
    check("no new job starts on the drained node", job_state(c, late) == "PENDING", job_state(c, late))
    b.release("n4")
    c.wait("it starts behind the drain", lambda: job_state(c, late) == "COMPLETED")


def job_names(c, b):
    array = submit(c, "-w", "n6", "--array=3-4", script="exec sleep 60")
    het = submit(c, "-w", "n7", "-N1", ":", "-w", "n8", "-N1", script="exec sleep 60")
    c.wait("they run", lambda: len(b.node("n6")["jobs"]) == 2 and b.node("n7")["jobs"] and b.node("n8")["jobs"])
    squeue = lambda node: sorted(c.run("squeue", "-h", "-w", node, "-o", "%i").stdout.split())
    for node in ("n6", "n7", "n8"):
        mine = sorted(j["id"] for j in b.node(node)["jobs"])
        check(f"ids as Slurm prints them: {mine}", mine == squeue(node), squeue(node))
    c.run("scancel", array, het)
    c.wait("they are gone", lambda: not any(b.node(n)["jobs"] for n in ("n6", "n7", "n8")))


def heterogeneous(c, b):
    """A job of two components is signalled and requeued as a whole, by the number that they share."""
    marks = [c.path(f"component{i}") for i in range(2)]
    trap = f"trap 'echo > {c.path('component')}$SLURM_PROCID' USR1; touch {c.path('ready')}$SLURM_PROCID; while true; do sleep 0.2; done"
    job = submit(c, "-w", "n7", "-N1", "-n1", ":", "-w", "n8", "-N1", "-n1", script=f'srun --het-group=0,1 sh -c "{trap}"'.replace("$", "\\$"))

    def parts():
        return {j["id"]: j["started"] for j in b.ask("GET", "/v1/jobs")[1]["jobs"] if j["id"].startswith(job + "+") and j["started"]}

    runs = c.wait("both components are listed", lambda: (p := parts()) if len(p := parts()) == 2 else None)
    c.wait("both steps run", lambda: all(os.path.exists(c.path(f"ready{i}")) for i in range(2)))
    now = runs[job + "+0"]
    status, why = b.ask("POST", f"/v1/jobs/{job}/signal", {"signal": "USR1", "started": now - 1000})
    check("a signal for another run of the job", status == 409 and why["started"] == now, why)
    status, why = b.ask("POST", f"/v1/jobs/{job}/signal", {"signal": "USR1", "started": now})
    check("a signal to the whole job", status == 200, why)
    c.wait("each component got it", lambda: all(os.path.exists(m) for m in marks))
    status, why = b.ask("POST", f"/v1/jobs/{job}+1/requeue", {"started": runs[job + "+1"]})
    check("Slurm refuses to requeue a component", status == 404, why)
    check("the job still runs", len(parts()) == 2)
    status, why = b.ask("POST", f"/v1/jobs/{job}/requeue", {"started": now})
    check("the whole job is requeued", status == 200, why)
    c.wait("no component runs", lambda: not parts() and not any(b.node(n)["jobs"] for n in ("n7", "n8")))
    words = c.run("scontrol", "-o", "show", "job", job).stdout
    check("each component waits, and was restarted once", words.count("JobState=PENDING") == 2 and words.count("Restarts=1") == 2, words)
    status, why = b.ask("POST", f"/v1/jobs/{job}/requeue", {"started": now})
    check("the same request again does nothing", status == 409 and why["started"] is None, why)
    c.run("scancel", job)


def completing(c, b):
    hold = c.path("hold")
    with open(hold, "w", encoding="utf-8"):
        pass
    job = submit(c, "-w", "n6", script="exit 0")
    n = c.wait("the job is completing", lambda: ("completing" in b.node("n6")["state"] and b.node("n6")))
    check("a job whose epilog runs still runs", [j["id"] for j in n["jobs"]] == [job], n)
    os.unlink(hold)
    c.wait("it has ended", lambda: b.node("n6")["jobs"] == [])


def signals(c, b):
    def started():
        listed = c.wait("the run is listed", lambda: [j["started"] for j in b.ask("GET", "/v1/jobs")[1]["jobs"]
                                                      if j["id"] == job and j["started"]])
        return listed[0]

    mark = c.path("marked")
    job = submit(c, "-w", "n5", script=f"trap 'echo > {mark}' USR1; while true; do sleep 0.2; done")
    c.wait("the job runs", lambda: job_state(c, job) == "RUNNING")
    time.sleep(1)
    status, why = b.ask("POST", f"/v1/jobs/{job}/signal", {"signal": "USR1", "batch": True})
    check("a signal to a job", status == 200, why)
    c.wait("the job got it", lambda: os.path.exists(mark))
    os.unlink(mark)
    now = started()
    status, why = b.ask("POST", f"/v1/jobs/{job}/signal", {"signal": "USR1", "batch": True, "started": now - 1000})
    check("a signal for another run", status == 409 and why["started"] == now and "has ended" in why["error"], why)
    status, why = b.ask("POST", f"/v1/jobs/{job}/signal", {"signal": "USR1", "batch": True, "started": now})
    check("a signal for this run", status == 200, why)
    c.wait("the job got this signal, too", lambda: os.path.exists(mark))
    check("KILL is not offered", b.ask("POST", f"/v1/jobs/{job}/signal", {"signal": "KILL"})[0] == 400)
    check("a job that is not there", b.ask("POST", "/v1/jobs/999999/signal", {"signal": "USR1"})[0] == 404)
    c.run("scancel", "--full", job)
    job = submit(c, "-w", "n5", script="exec sleep 60")
    c.wait("the job runs", lambda: job_state(c, job) == "RUNNING")
    now = started()
    status, why = b.ask("POST", f"/v1/jobs/{job}/requeue", {"started": now + 1000})
    check("a requeue of another run", status == 409 and why["started"] == now, why)
    check("the job still runs", job_state(c, job) == "RUNNING")
    status, why = b.ask("POST", f"/v1/jobs/{job}/requeue", {"started": now})
    check("a job is requeued", status == 200, why)
    c.wait("it waits again", lambda: job_state(c, job) == "PENDING")
    status, why = b.ask("POST", f"/v1/jobs/{job}/requeue", {"started": now})
    check("the same request again", status == 409 and why["started"] is None and "has ended" in why["error"], why)
    # A launch beside what is left of the last run fails, and the job is held.
    c.wait("nothing of it is left there", lambda: c.node("n5")["State"] == "IDLE")
    c.run("scontrol", "update", f"jobid={job}", "starttime=now")
    c.wait("it runs again", lambda: job_state(c, job) == "RUNNING")
    for verb, more in (("signal", {"signal": "TERM", "batch": True}), ("requeue", {})):
        status, why = b.ask("POST", f"/v1/jobs/{job}/{verb}", dict(more, started=now))
        check(f"a {verb} that comes late", status == 409 and why["started"] > now, why)
    check("it was restarted once", "Restarts=1" in c.run("scontrol", "-o", "show", "job", job).stdout)
    check("a job that is not there has no run", b.ask("POST", "/v1/jobs/999999/requeue", {"started": now})[0] == 404)
    status, why = b.ask("POST", f"/v1/jobs/{job}/requeue")
    check("a controller of before names no run", status == 200, why)
    c.wait("it waits once more", lambda: job_state(c, job) == "PENDING")
    c.run("scancel", job)


def reservations(c, b):
    c.run("scontrol", "create", "reservation", "reservationname=window", "nodes=n8", "users=root", "starttime=now",
          "duration=30", "flags=maint,ignore_jobs")
    n = c.wait("the reservation is seen", lambda: (b.node("n8")["reservation"] and b.node("n8")))
    r = n["reservation"]
    check("a reservation of the node", r["name"] == "window" and r["maint"] and r["users"] == ["root"] and
          r["until"] - r["from"] == 1800000, r)
    c.wait("Slurm calls it maintenance", lambda: "+maintenance" in b.node("n8")["state"])
    check("of no other node", b.node("n7")["reservation"] is None)
    c.run("scontrol", "delete", "reservationname=window")
    c.wait("it is gone", lambda: b.node("n8")["reservation"] is None)


def reserving(c, b):
    """Reservations that lockstep makes: jobs that would run into one do not start, and those of others stay."""
    name, path = "lockstep_change_17+pool+site", "/v1/reservations/lockstep_change_17+pool+site"
    now = lambda: int(time.time()) * 1000
    shown = lambda which=name: c.run("scontrol", "-o", "show", "reservation", which, check=False).stdout
    listed = lambda: {r["name"]: r for r in b.ask("GET", "/v1/reservations")[1]["reservations"]}

    def put(nodes, start, end, at=path, epoch=7):
        return b.ask("PUT", at, {"nodes": nodes, "from": start, "until": end}, epoch=epoch)
    start = now() + 1800000
    end = start + 3600000
    busy = submit(c, "-w", "n4", "-t", "600", script="exec sleep 60")
    c.wait("a job runs on a node", lambda: job_state(c, busy) == "RUNNING")
    status, answer = put("n[3-4]", start, end)
    check("a reservation is made, also on a node with a job that is longer", status == 200 and
          [(r["name"], r["nodes"], r["from"], r["until"], r["maint"], r["own"]) for r in answer["reservations"]] ==
          [(name, "n[3-4]", start, end, True, True)], (status, answer))
    check("for maintenance, and jobs are ignored", "Flags=MAINT,IGNORE_JOBS" in shown(), shown())
    check("the job goes on", job_state(c, busy) == "RUNNING")
    check("it is listed", listed().get(name, {}).get("nodes") == "n[3-4]", listed())
    crosses, fits = submit(c, "-w", "n3", "-t", "60", script="exit 0"), submit(c, "-w", "n3", "-t", "10", script="exit 0")
    c.wait("a job that ends before the window runs", lambda: job_state(c, fits) == "COMPLETED", 60)
    time.sleep(5)
    check("a job whose limit crosses its start does not start", job_state(c, crosses) == "PENDING", job_state(c, crosses))
    before = b.node("n3")["revision"]
    check("the same again sends nothing", put("n3,n4", start, end)[0] == 200 and b.node("n3")["revision"] == before)
    status, answer = put("n4", start, end)
    check("a node is taken out", status == 200 and answer["reservations"][0]["nodes"] == "n4", answer)
    c.wait("and the job starts there", lambda: job_state(c, crosses) == "COMPLETED", 60)
    status, answer = put("n[3-4]", start + 600000, end + 600000)
    check("a start is moved", status == 200 and answer["reservations"][0]["from"] == start + 600000, answer)
    status, answer = put("n[3-4]", now() - 3600000, end)
    check("to now", status == 200 and abs(answer["reservations"][0]["from"] - now()) < 60000, (status, answer))
    c.wait("it has started", lambda: "+maintenance" in b.node("n3")["state"], 60)
    status, answer = put("n3", now() - 7200000, end - 600000)
    check("one that has started loses a node and gets another end", status == 200 and
          answer["reservations"][0]["nodes"] == "n3" and answer["reservations"][0]["until"] == end - 600000, (status, answer))
    status, n = b.drain("n3", epoch=7)
    check("a node in it is drained", status == 200 and n["drain"]["owner"] == OURS and "+maintenance" in n["state"], n)
    check("and released", b.release("n3", epoch=7)[0] == 200)
    status, answer = put("n3", start, end)
    check("one that has started is put off", status == 200 and answer["reservations"][0]["from"] == start, (status, answer))
    status, why = put("n3", now() - 7200000, now() - 3600000)
    check("an end in the past is refused", status == 400 and "past" in why["error"], why)
    status, why = put("n3,n99", start, end)
    check("a node that Slurm does not have is refused", status in (404, 409) and "reservation" in why["error"] and
          listed()[name]["nodes"] == "n3", (status, why))
    status, why = put("n3", start, end, epoch=6)
    check("an earlier epoch is refused", status == 409 and why["epoch"] == 7, why)
    check("a name without the prefix is refused", put("n3", start, end, at="/v1/reservations/window")[0] == 400)
    c.run("scontrol", "create", "reservation", "reservationname=window", "nodes=n3", "users=root", "starttime=now",
          "duration=30", "flags=maint,ignore_jobs")
    c.run("scontrol", "create", "reservation", "reservationname=lockstep_change_18", "nodes=n5", "users=nobody",
          "starttime=now+1hour", "duration=30", "flags=maint,ignore_jobs")
    other = shown("window"), shown("lockstep_change_18")
    c.wait("both are listed", lambda: {"window", "lockstep_change_18"} <= set(listed()))
    check("and are not lockstep's", not listed()["window"]["own"] and not listed()["lockstep_change_18"]["own"], listed())
    for act in (lambda: put("n6", start, end, at="/v1/reservations/lockstep_change_18"),
                lambda: b.ask("DELETE", "/v1/reservations/lockstep_change_18", epoch=7)):
        status, why = act()
        check("one of another user is left alone", status == 409 and "nobody" in why["error"] and
              (shown("window"), shown("lockstep_change_18")) == other, (status, why))
    check("none without the prefix can be named", b.ask("DELETE", "/v1/reservations/window", epoch=7)[0] == 400)
    c.run("scontrol", "delete", "reservationname=window")
    status, answer = put("n3", start, end)
    late = submit(c, "-w", "n3", "-t", "60", script="exit 0")
    time.sleep(5)
    check("a job waits", status == 200 and job_state(c, late) == "PENDING", job_state(c, late))
    status, answer = b.ask("DELETE", path, epoch=7)
    check("the reservation is deleted", status == 200 and answer == {"reservations": []} and
          "ReservationName=" not in shown(), answer)
    c.wait("and the job starts", lambda: job_state(c, late) == "COMPLETED", 60)
    check("deleted again: nothing is sent", b.ask("DELETE", path, epoch=7) == (200, {"reservations": []}))
    c.run("scontrol", "delete", "reservationname=lockstep_change_18")
    c.run("scancel", busy)
    c.wait_idle()


def epochs(c, b):
    check("no epoch, no write", b.drain("n1", epoch=None)[0] == 400)
    check("a later epoch", b.drain("n1", epoch=7)[0] == 200)
    status, why = b.release("n1", epoch=6)
    check("an earlier one is refused", status == 409 and why["epoch"] == 7 and "docs/slurm.md" in why["error"], why)
    before = b.node("n1")["revision"]
    b.end()
    b.start()
    check("the drain is ours behind a restart", b.node("n1")["drain"]["owner"] == OURS)
    check("revisions rise over it", b.node("n1")["revision"] > before)
    status, why = b.release("n1", epoch=6)
    check("the epoch is kept over it", status == 409 and why["epoch"] == 7 and
          b.ask("GET", "/v1/health")[1]["epoch"] == 7, why)
    check("and the one that leads writes", b.release("n1", epoch=7)[0] == 200)
    second = subprocess.run([b.program, "--state", os.path.join(b.folder, "bridge"), "--slurm-conf", c.conf,
                             "--listen", "unix:" + b.socket + "2"], stderr=subprocess.PIPE, text=True, timeout=60,
                            check=False)
    check("a second bridge with this state does not start", second.returncode == 1 and
          "another lockstep-slurm-bridge" in second.stderr, second.stderr)
    c.wait_idle()


def many(c, b):
    """All nodes at once: one request to slurmctld drains them."""
    def at_once(verb, epoch=7):
        answers = {}

        def one(node):
            answers[node] = verb(node, epoch=epoch)
        threads = [threading.Thread(target=one, args=(node,)) for node in c.nodes]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return answers
    answers = at_once(b.drain)
    good = [n for n, (status, body) in answers.items() if status == 200 and body["node"] == n and body["drain"]["owner"] == OURS]
    check("all nodes are drained at once", sorted(good) == c.nodes, answers)
    check("as Slurm sees it", set(c.run("sinfo", "-h", "-N", "-o", "%T").stdout.split()) == {"drained"})
    answers = at_once(b.release)
    check("and released", all(status == 200 and body["drain"] is None for status, body in answers.values()), answers)
    c.wait_idle()


def truth(c, b):
    """What lockstep says of nodes: features and a digest, beside those of others."""
    def put(*groups, **how):
        return b.ask("PUT", "/v1/truth", {"truth": [
            {"nodes": n, "features": f, "digest": d} for n, f, d in groups]}, epoch=how.get("epoch", 7))

    def features(node, which="ActiveFeatures"):
        return c.node(node).get(which, "").split(",")
    ours, digest = ["lks-0123456789ab", "lks-conform"], "sha256:" + "0123456789ab" * 5 + "0123"
    c.run("scontrol", "update", "nodename=n3", "activefeatures=stack_b", "extra=of a person")
    status, answer = put(("n[1-8]", ours, digest))
    check("all nodes at once", status == 200 and answer == {"failed": [], "shown": 8}, answer)
    check("features of others stay, and active stays apart from available",
          features("n1") == ["stack_a", "stack_b"] + ours and features("n3") == ["stack_b"] + ours and
          features("n3", "AvailableFeatures") == ["stack_a", "stack_b"] + ours, c.node("n3"))
    check("the digest is in extra", c.node("n1")["Extra"] == "lockstep:" + digest, c.node("n1"))
    check("in comment where a person has extra", c.node("n3")["Extra"] == "of a person" and
          c.node("n3")["Comment"] == "lockstep:" + digest, c.node("n3"))
    n = b.node("n3")
    check("a node shows what is published", n["truth"] == {"features": ours, "slots": True, "shown": True, "digest": digest}, n)
    job = submit(c, "-C", "lks-0123456789ab&lks-conform", script="exit 0")
    c.wait("a job that asks for them runs", lambda: job_state(c, job) == "COMPLETED", 60)
    before = b.node("n2")["revision"]
    status, answer = put(("n[1-8]", ours, digest))
    check("the same again changes nothing", status == 200 and answer["shown"] == 8 and b.node("n2")["revision"] == before,
          answer)
    status, answer = put(("n[1-2],n99", ["lks-0123456789ab", "lks-drift"], digest))
    check("a node that Slurm does not have fails alone", status == 200 and answer["shown"] == 2 and
          [f["node"] for f in answer["failed"]] == ["n99"] and
          features("n1") == ["stack_a", "stack_b", "lks-0123456789ab", "lks-drift"] and
          features("n4") == ["stack_a", "stack_b"] + ours, answer)
    check("an earlier epoch is refused", put(("n1", [], ""), epoch=6)[0] == 409)
    configured = b.node("n1")["configured"]
    time.sleep(1.1)
    c.run("scontrol", "reconfigure")
    c.wait("the bridge sees that slurmctld read its configuration", lambda: b.node("n1")["configured"] > configured, 60)
    check("slurmctld has forgotten the features, and the bridge shows it", features("n1") == ["stack_a", "stack_b"] and
          b.node("n1")["truth"]["features"] == [] and b.node("n1")["truth"]["digest"] == digest, b.node("n1"))
    check("they are set again", put(("n[1-8]", ours, digest))[1]["shown"] == 8 and features("n5")[-2:] == ours)
    check("and removed", put(("n[1-8]", [], ""))[1]["shown"] == 8 and features("n1") == ["stack_a", "stack_b"] and
          features("n3") == ["stack_a", "stack_b"] and "Extra" not in c.node("n1") and "Comment" not in c.node("n3") and
          c.node("n3")["Extra"] == "of a person", c.node("n3"))
    c.run("scontrol", "update", "nodename=n3", "extra=")


def refusals(c, b):
    """Refusals that come from below the bridge have its form."""
    def raw(text):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(60)
            s.connect(b.socket)
            s.sendall(text)
            s.shutdown(socket.SHUT_WR)
            answer = b""
            while part := s.recv(65536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), json.loads(body)
    for name, text, want in (
            ("a path that leaves its place", b"GET /v1/../x HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n", 400),
            ("a body that is too large", b"PUT /v1/truth HTTP/1.1\r\nHost: b\r\nLockstep-Epoch: 7\r\n"
             b"Content-Length: 9999999\r\nConnection: close\r\n\r\n", 413)):
        status, body = raw(text)
        check(f"{name} is refused with an error", status == want and list(body) == ["error"], (status, body))
    status, body = raw(b"POST /v1/jobs/1/requeue HTTP/1.1\r\nHost: b\r\nLockstep-Epoch: 7\r\nLockstep-Epoch: 9\r\n"
                       b"Content-Length: 0\r\nConnection: close\r\n\r\n")
    check("two epochs are refused", status == 400 and "twice" in body["error"] and
          b.ask("GET", "/v1/health")[1]["epoch"] == 7, body)
    status, body = raw(b"POST /v1/nodes/n1/release HTTP/1.1\r\nHost: b\r\nLockstep-Epoch: 7\r\nIf-Match: \"1\"\r\n"
                       b"If-Match: \"2\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    check("two revisions are refused", status == 400 and "twice" in body["error"], body)


def two_bridges(c, b):
    """A leader that gave its epoch to both bridges: the one before it is refused by both."""
    os.mkdir(folder := os.path.join(b.folder, "second"), 0o755)
    other = Bridge(os.path.dirname(b.program), folder, c.conf)
    try:
        check("both bridges write", b.drain("n1", epoch=7)[0] == 200 and other.release("n1", epoch=7)[0] == 200)
        check("a later leader gives its epoch to both",
              [x.ask("PUT", "/v1/epoch", epoch=8) for x in (b, other)] == [(200, {"epoch": 8})] * 2)
        for x in (b, other):
            status, why = x.drain("n1", epoch=7)
            check("the leader before it is refused", status == 409 and why["epoch"] == 8, why)
            check("and cannot give its own", x.ask("PUT", "/v1/epoch", epoch=7)[0] == 409)
        check("no drain was made", "DRAIN" not in c.node("n1")["State"])
    finally:
        other.end()
    b.end()  # the parts behind this one write with epoch 7
    with open(os.path.join(b.folder, "bridge", "bridge.json"), encoding="utf-8") as f:
        kept = json.load(f)
    with open(os.path.join(b.folder, "bridge", "bridge.json"), "w", encoding="utf-8") as f:
        json.dump(dict(kept, epoch=7), f)
    b.start()


CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *out) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) next = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = next(clock, out);
    if (clock == CLOCK_REALTIME) out->tv_sec += AHEAD;
    return failed;
}
int gettimeofday(struct timeval *out, void *zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
"""


def clock_back(c, b):
    """A slurmctld whose clock is slower than that of the one before: it calls unchanged what changed since."""
    library = c.path("clock.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-DAHEAD=600", "-x", "c", "-o", library, "-"], input=CLOCK, text=True, check=True,
                   timeout=60)
    up = lambda: c.run("scontrol", "ping", check=False).returncode == 0
    ahead = ["env", "LD_PRELOAD=" + library]
    for before, seen in ((ahead, True), ((), False)):
        c.stop("slurmctld")
        c.start_slurmctld(before)
        c.wait("slurmctld answers", up)
        if seen:
            c.wait("a drain is made", lambda: b.drain("n1", epoch=7)[0] == 200)
            drained = time.time() * 1000
            c.wait("all nodes were read", lambda: b.ask("GET", "/v1/nodes")[1].get("as_of", 0) > drained)
            n = b.settled(c, "n1")
            check("the bridge shows a drain", n["drain"]["owner"] == OURS)
            check("a node that has not registered is not empty", n["jobs"] or not n["state"].startswith("unknown"), n)
    c.wait("the node registered", lambda: c.node("n1")["State"] == "IDLE+DRAIN")
    c.run("scontrol", "update", "nodename=n1", "state=resume")
    try:
        c.wait("its end is shown", lambda: not b.node("n1").get("drain", True), 15)
        check("its end is shown although slurmctld calls it unchanged", True)
    except TimeoutError as late:
        check("its end is shown although slurmctld calls it unchanged", False, (late, b.node("n1"), c.node("n1")))
    c.wait_idle()


def controller_lost(c, b):
    """slurmctld is killed while drains are asked for, and comes back with what it saved."""
    seen, stop = [], threading.Event()

    def toggle():
        while not stop.is_set():
            status, n = b.ask("GET", "/v1/nodes/n3")
            if status == 200:
                act = b.release if n["drain"] else b.drain
                status = act("n3", revision=n["revision"], epoch=7)[0]
            seen.append(status)
    thread = threading.Thread(target=toggle)
    thread.start()
    time.sleep(1)
    c.stop("slurmctld", signal.SIGKILL)
    time.sleep(2)
    c.start_slurmctld()
    c.wait("slurmctld answers", lambda: c.run("scontrol", "ping", check=False).returncode == 0)
    c.wait("the bridge does", lambda: seen and seen[-1] == 200)
    stop.set()
    thread.join()
    check("only answers that say so", set(seen) <= {200, 409, 503, 504}, set(seen))
    n = b.settled(c, "n3")
    check("a drain that is there is ours", not n["drain"] or n["drain"]["owner"] == OURS, n)
    c.run("scancel", "-u", c.run("id", "-un").stdout.strip())  # one that has ended may run again in what was saved
    for name in c.nodes:  # a drain that had ended may be there again in what was saved
        if b.settled(c, name)["drain"]:
            check("and ends the drain of " + name, b.release(name, epoch=7)[0] == 200)
    c.wait_idle()


def controller_hangs(c, b):
    before = b.node("n1")
    c.daemons["slurmctld"].send_signal(signal.SIGSTOP)
    try:
        time.sleep(1.2)
        began = time.monotonic()
        status, n = b.ask("GET", "/v1/nodes/n1")
        check("a read answers from what was seen last, with its time", status == 200 and
              n["as_of"] - before["as_of"] < 1500 and n["revision"] == before["revision"], n)
        status, why = b.drain("n1", revision=before["revision"], epoch=7)
        check("a write says that slurmctld is silent", status in (503, 504), why)
        c.wait("the reading is too old", lambda: b.ask("GET", "/v1/nodes/n1")[0] == 503)
        connection = UnixConnection(b.socket)
        status, why, headers = ask_on(connection, "GET", "/v1/nodes/n1")
        check("then reads say so", status == 503 and why["error"] and headers["Retry-After"], why)
        check("health answers all the while", b.ask("GET", "/v1/health")[0] == 200)
        check("no read waits long", time.monotonic() - began < 600)
    finally:
        c.daemons["slurmctld"].send_signal(signal.SIGCONT)
    c.wait("the bridge reads again", lambda: b.ask("GET", "/v1/nodes/n1")[0] == 200)
    time.sleep(2)  # what was sent before the silence may come through now
    n = b.settled(c, "n1")
    check("it shows what became of the write", not n["drain"] or n["drain"]["owner"] == OURS, n)
    if n["drain"]:
        b.release("n1", epoch=7)
    c.wait_idle()


def bridge_killed(c, b):
    rng = random.Random(7)
    last = 0
    for i in range(12):
        n = b.node("n6")
        thread = threading.Thread(target=lambda r=n["revision"]: quiet(lambda: b.drain("n6", revision=r, epoch=7)))
        thread.start()
        time.sleep(rng.uniform(0, 0.02))
        b.end(signal.SIGKILL)
        thread.join()
        b.start()
        n = b.settled(c, "n6")
        ok = n["revision"] > last and (not n["drain"] or n["drain"]["owner"] == OURS)
        last = n["revision"]
        status, after = b.drain("n6", epoch=7)
        ok = ok and status == 200 and after["drain"]["owner"] == OURS
        ok = ok and b.release("n6", epoch=7)[0] == 200
        if not ok:
            break
    check("a bridge that is killed in the middle of a drain", ok, (i, n, after))
    c.wait_idle()


def quiet(act):
    try:
        act()
    except (OSError, http.client.HTTPException, ValueError, KeyError):
        pass


def reconfigured(c, b):
    b.drain("n7", epoch=7)
    c.run("scontrol", "reconfigure")
    n = c.wait("a reading behind it", lambda: (b.ask("GET", "/v1/nodes/n7")[0] == 200 and b.node("n7")))
    check("a drain stays over scontrol reconfigure", n["drain"] and n["drain"]["owner"] == OURS, n)
    check("and is ended", b.release("n7", epoch=7)[0] == 200)
    with open(c.conf, encoding="utf-8") as f:
        text = f.read()
    c.write("slurm.conf", "\n".join(line for line in text.splitlines() if not line.startswith("NodeName=n8 ")).replace(
        ",n8 ", " ") + "\n")
    c.stop("slurmd-n8")
    c.stop("slurmctld")
    c.start_slurmctld()
    c.wait("slurmctld answers", lambda: c.run("scontrol", "ping", check=False).returncode == 0)
    c.wait("a node that was removed is not found", lambda: b.ask("GET", "/v1/nodes/n8")[0] == 404)
    check("the others are", b.node("n7")["node"] == "n7")


# Who may ask.

STRANGER = """
import http.client, os, socket, sys
os.setgid(65534); os.setuid(65534)
s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(sys.argv[1])
s.sendall(b"GET /v1/nodes HTTP/1.1\\r\\nHost: b\\r\\nConnection: close\\r\\n\\r\\n")
print(s.recv(4096).split()[1].decode())
"""

HOLDER = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
every = []
for _ in range(300):
    s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(sys.argv[1]); every.append(s)
print("held", flush=True)
sys.stdin.read()
"""


def strangers(c, b):
    if os.getuid() != 0:
        print("skipped: another user needs root")
        return
    answer = c.run(sys.executable, "-c", STRANGER, b.socket, check=False)
    check("another user is refused at the socket", answer.stdout.strip() == "403", answer)
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, b.socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True)
    try:
        held = holder.stdout.readline().strip()
        check("another user cannot hold all connections", held == "held" and b.ask("GET", "/v1/health")[0] == 200, held)
    finally:
        holder.communicate(timeout=60)


def make_certificates(folder, address="127.0.0.1"):
    """An authority, the bridge's certificate for this address, a controller's, and some that are refused."""
    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, timeout=60, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    os.makedirs(folder)
    for ca in ("ca", "strange"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=" + ca, "-addext", "keyUsage=critical,keyCertSign", "-keyout", ca + ".key", "-out", ca + ".pem")
    for name, ca, subject, use, names in (
            ("server", "ca", "bridge", "serverAuth", "IP:" + address), ("ctl", "ca", "ctl1", "clientAuth", "DNS:ctl1"),
            ("other", "ca", "ctl2", "clientAuth", "DNS:ctl2"), ("foreign", "strange", "ctl1", "clientAuth", "DNS:ctl1"),
            ("node", "ca", "ctl1", "clientAuth", "URI:urn:lockstep:node:ctl1")):
        with open(os.path.join(folder, name + ".ext"), "w", encoding="utf-8") as f:
            f.write(f"extendedKeyUsage={use}\nsubjectAltName={names}\nsubjectKeyIdentifier=hash\n"
                    "authorityKeyIdentifier=keyid\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + subject,
                "-keyout", name + ".key", "-out", name + ".csr")
        openssl("x509", "-req", "-in", name + ".csr", "-CA", ca + ".pem", "-CAkey", ca + ".key", "-CAcreateserial",
                "-days", "2", "-extfile", name + ".ext", "-out", name + ".pem")


def tls(c, b):
    certificates = os.path.join(b.folder, "pki")
    make_certificates(certificates)
    b.end()
    at = lambda name: os.path.join(certificates, name)
    b.more = ["--listen", "127.0.0.1:0", "--certificate", at("server.pem"), "--key", at("server.key"), "--ca", at("ca.pem"),
              "--client-name", "ctl1"]
    b.start()
    port = int(b.ready[2].rsplit(":", 1)[1])

    def status(name):
        context = ssl.create_default_context(cafile=at("ca.pem"))
        if name:
            context.load_cert_chain(at(name + ".pem"), at(name + ".key"))
        try:
            connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
            return ask_on(connection, "GET", "/v1/nodes")[0]
        except (OSError, http.client.HTTPException):
            return 0
    check("the controller's certificate", status("ctl") == 200, status("ctl"))
    for name, why in (("other", "another name"), ("foreign", "another CA"), ("node", "a node of the controller's name"),
                      (None, "no certificate")):
        check("refused: " + why, status(name) in (0, 403), status(name))
    try:
        plain = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        answer = ask_on(plain, "GET", "/v1/nodes")[0]
    except (OSError, http.client.HTTPException, ValueError):
        answer = 0
    check("no plain HTTP", answer != 200, answer)
    bare = subprocess.run([b.program, "--listen", "127.0.0.1:0", "--slurm-conf", c.conf], stderr=subprocess.PIPE,
                          text=True, timeout=60, check=False)
    check("a port without certificates is refused", bare.returncode == 2 and "--client-name" in bare.stderr, bare.stderr)
    check("SIGTERM ends it", b.end() == 0)


def failover(folder, build):
    """A backup slurmctld takes over from a primary that was killed, and gives way when the primary is there again."""
    if os.getuid() != 0:
        print("skipped: a second host name needs root")
        return
    os.mkdir(folder, 0o755)
    extra = "SlurmctldHost=127.0.0.2\nSlurmctldTimeout=4\nMessageTimeout=5\n"
    with Cluster(os.path.join(folder, "c"), nodes=2, extra=extra) as c:
        with open(c.conf, encoding="utf-8") as f:
            own = f.read().replace("slurmctld.pid", "backup.pid").replace("slurmctld.log", "backup.log")
        c.write("backup.conf", own)
        c.spawn("backup", ["unshare", "--uts", "sh", "-c", 'hostname 127.0.0.2 && exec "$@"', "sh", "slurmctld", "-D", "-f",
                           c.path("backup.conf")])
        b = Bridge(build, folder, c.conf)
        try:
            answering = lambda: [b.ask("GET", "/v1/health")[1][k] for k in ("primary", "backup")]
            c.wait("both controllers answer", lambda: answering() == [True, True], 120)
            check("a drain with both", b.drain("n1", epoch=7)[0] == 200)
            state = c.path("state", "node_state")
            c.wait("slurmctld saved it", lambda: os.path.exists(state) and OURS.encode() in open(state, "rb").read(), 60)
            c.stop("slurmctld", signal.SIGKILL)
            seen = []

            def done(act, name):
                seen.append(act(name, epoch=7)[0])
                return seen[-1] == 200
            c.wait("the backup drains", lambda: done(b.drain, "n2"), 120)
            check("the bridge goes on through the backup", set(seen) <= {200, 409, 503, 504} and
                  all("DRAIN" in c.node(n)["State"] and c.node(n)["Reason"].startswith(OURS) for n in ("n1", "n2")), seen)
            check("health says which of them answers", c.wait("the ping", lambda: answering() == [False, True], 120))
            check("and the backup ends a drain", b.release("n1", epoch=7)[0] == 200 and "DRAIN" not in c.node("n1")["State"])
            c.start_slurmctld()
            c.wait("the primary answers", lambda: answering() == [True, True], 120)
            c.wait("a drain ends through the primary", lambda: done(b.release, "n2") or not b.node("n2").get("drain", True), 120)
            check("no drain is left", not any("DRAIN" in c.node(n)["State"] for n in ("n1", "n2")), seen)
        finally:
            b.end()


# The last two leave the cluster or the bridge changed.
PARTS = (reads, advertised, drains, foreign_drains, reboots, reasons, jobs, job_names, heterogeneous, completing, signals, reservations, epochs, reserving, many, truth, refusals, two_bridges,
         strangers,
         clock_back, controller_lost, controller_hangs, bridge_killed, reconfigured, tls)


def main():
    build = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="lockstep-slurm-")
    os.chmod(folder, 0o755)
    epilog = os.path.join(folder, "epilog")
    with open(epilog, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\nfor i in $(seq {HELD}); do [ -e {folder}/c/hold ] || exit 0; sleep 0.1; done\nexit 0\n")
    os.chmod(epilog, 0o755)
    try:
        with Cluster(os.path.join(folder, "c"), nodes=8, extra=f"Epilog={epilog}\nRebootProgram=/bin/true\n") as c:
            b = Bridge(build, folder, c.conf)
            try:
                for part in PARTS:
                    if not sys.argv[2:] or part.__name__ in sys.argv[2:]:
                        part(c, b)
            except TimeoutError as fault:
                shown = [c.run(*how, check=False).stdout for how in (("squeue", "-o", "%i %T %r %N"), ("sinfo", "-N", "-o", "%N %T %E"))]
                raise TimeoutError(f"{fault}:\n" + "".join(shown)) from fault
            b.end()
            with open(os.path.join(folder, "bridge.log"), encoding="utf-8", errors="replace") as f:
                check("no sanitizer has reported anything", "Sanitizer" not in (log := f.read()) and "runtime error" not in log)
        if not sys.argv[2:] or "failover" in sys.argv[2:]:
            failover(os.path.join(folder, "failover"), build)
    except Exception as fault:  # pylint: disable=broad-except
        check("the test itself", False, f"{type(fault).__name__}: {fault}")
    if failed == 0:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        print("kept for a look:", folder)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
