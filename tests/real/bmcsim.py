#!/usr/bin/python3
"""Other people's Redfish clients against lockstep-bmcsim, and ours beside them.

    bmcsim.py BUILD_DIR

redfishtool, python3-sushy, curl and `lockstep bmc inventory` see the same firmware, which is what
the control socket calls the truth; every resource of every tree keeps DMTF's conventions; and an
update by sushy (SimpleUpdate) and one by curl alone (multipart) become true.
"""

import http.server
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import requests
import sushy

KINDS = ["openbmc", "hgx", "supermicro", "dell", "hpe", "shelf"]
FIRST = f"127.{60 + os.getpid() % 40}.{os.getpid() % 200}.1"
INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory"
RESOURCES_MAX = 400
NO_VERSION = ["Not Present", "N/A"]  # words in its place, which others repeat and we do not

# What a user's environment says of proxies and authorities is not meant for these.
for variable in [v for v in os.environ if v.lower().endswith(("_proxy", "_ca_bundle", "ssl_cert_file"))]:
    del os.environ[variable]

passed = failed = 0


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": " + str(why)[:600]))
    return ok


def wait_for(what, seconds=600):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.1)
    return None


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=600, **more)


class Bmcs:
    """A running lockstep-bmcsim."""

    def __init__(self, build, folder):
        self.program = f"{build}/lockstep-bmcsim"
        self.lockstep = f"{build}/lockstep"
        self.folder = folder
        self.ca = f"{folder}/bmcs/ca.pem"
        self.login = f"{folder}/bmcs/login"
        self.socket = f"{folder}/control"
        self.process = subprocess.Popen(
            [self.program, "--dir", f"{folder}/bmcs", "--listen", f"{FIRST}:0", "--count",
             str(len(KINDS) + 1), "--personality", ",".join(KINDS + ["switch"]), "--control",
             self.socket, "--speed", "1000"], stdout=subprocess.PIPE, text=True)
        first = self.process.stdout.readline().split()[1]
        self.port = first.rsplit(":", 1)[1]
        with open(self.login, encoding="utf-8") as f:
            self.user, self.password = f.readline().strip().split(":", 1)

    def url(self, kind):
        number = (KINDS + ["switch"]).index(kind)
        return f"https://{FIRST[:-1]}{1 + number}:{self.port}"

    def name(self, kind):
        return f"bmc{(KINDS + ['switch']).index(kind) + 1:04}"

    def truth(self, kind):
        answer = run("curl", "-sf", "--unix-socket", self.socket, f"http://x/bmcs/{self.name(kind)}")
        return json.loads(answer.stdout)

    def device(self, kind, name):
        """The only device of a class."""
        return [d for d in self.truth(kind)["devices"] if d["class"] == name][0]

    def package(self, kind, name, version):
        path = f"{self.folder}/{kind}-{name}-{version}.fwpkg"
        done = run(self.program, "make-package", "--personality", kind, "--class", name, "--version",
                   version, "--size", "20000", "--output", path)
        check(f"{kind}: a package", done.returncode == 0, done.stderr)
        return path


# Inventories, each as {(id, version)}.

def by_redfishtool(bmcs, kind):
    host = bmcs.url(kind).removeprefix("https://")
    words = ["redfishtool", "-r", host, "-S", "Always", "-u", bmcs.user, "-p", bmcs.password, "-A"]
    listed = run(*words, "Session", "raw", "GET", INVENTORY)
    if listed.returncode != 0:
        return listed.stderr + listed.stdout
    entries = set()
    for member in json.loads(listed.stdout)["Members"]:
        got = run(*words, "Basic", "raw", "GET", member["@odata.id"])
        if got.returncode != 0:
            return got.stderr + got.stdout
        entry = json.loads(got.stdout)
        entries.add((entry["Id"], entry.get("Version")))
    return entries


def by_sushy(bmcs, kind):
    service = sushy.Sushy(bmcs.url(kind), bmcs.user, bmcs.password, verify=bmcs.ca)
    members = service.get_update_service().firmware_inventory.get_members()
    return {(m.identity, m.version) for m in members}


def curl(bmcs, kind, path, *more):
    url = path if path.startswith("https:") else bmcs.url(kind) + path
    return run("curl", "-sS", "--cacert", bmcs.ca, "-u", f"{bmcs.user}:{bmcs.password}", *more, url)


def by_curl(bmcs, kind):
    entries = set()
    for member in json.loads(curl(bmcs, kind, INVENTORY).stdout)["Members"]:
        entry = json.loads(curl(bmcs, kind, member["@odata.id"]).stdout)
        entries.add((entry["Id"], entry.get("Version")))
    return entries


def by_lockstep(bmcs, kind, *more):
    done = run(bmcs.lockstep, "bmc", "inventory", bmcs.url(kind), "--ca", bmcs.ca, "--credentials",
               f"file:{bmcs.login}", "--json", *more)
    if done.returncode != 0:
        return done.stderr
    return {(c["id"], c.get("version")) for c in json.loads(done.stdout)["components"]}


def compare_switch(bmcs):
    """A switch tray has no Redfish; its own REST says the same to curl and to us."""
    firmware = json.loads(curl(bmcs, "switch", "/nvue_v1/platform/firmware").stdout)
    seen = {(name, entry["actual-firmware"]) for name, entry in firmware.items()}
    truth = {(d["id"], d["active"]) for d in bmcs.truth("switch")["devices"]}
    check("switch: curl sees the truth", seen == truth and len(seen) >= 4, sorted(seen ^ truth))
    ours = by_lockstep(bmcs, "switch", "--driver", "nvos")
    check("switch: lockstep sees it too", ours == seen,
          ours if isinstance(ours, str) else sorted(ours ^ seen))


def compare_inventories(bmcs, kind):
    seen = by_sushy(bmcs, kind)
    check(f"{kind}: sushy sees firmware", len(seen) >= 4, seen)
    for name, ask in [("redfishtool", by_redfishtool), ("curl", by_curl), ("lockstep", by_lockstep)]:
        other = ask(bmcs, kind)
        same = {(i, None if v in NO_VERSION else v) for i, v in seen} if name == "lockstep" else seen
        check(f"{kind}: {name} sees the {len(seen)} entries that sushy sees", other == same,
              other if isinstance(other, str) else sorted(other ^ same, key=str))
    versions = {version for _, version in seen}
    missing = [d for d in bmcs.truth(kind)["devices"] if d["active"] not in versions]
    check(f"{kind}: and they are the truth", not missing, missing)


# Conventions.

ONLY_LINKS = ("/redfish/v1/$metadata", "/redfish/v1/odata")


def links_of(value):
    """Everything that a resource refers to by its address."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "@odata.id" and isinstance(item, str):
                yield item
            else:
                yield from links_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from links_of(item)


def resource_faults(path, answer):
    """What is wrong with one resource."""
    if answer.status_code != 200:
        return f"{path}: {answer.status_code}"
    body = answer.json()
    if answer.headers.get("OData-Version") != "4.0":
        return f"{path}: no OData-Version: 4.0"
    if "application/json" not in answer.headers.get("Content-Type", ""):
        return f"{path}: {answer.headers.get('Content-Type')}"
    if body.get("@odata.id", "").rstrip("/") != path.rstrip("/"):
        return f"{path}: calls itself {body.get('@odata.id')}"
    if not body.get("@odata.type", "").startswith("#"):
        return f"{path}: has no type"
    if not body.get("Name"):
        return f"{path}: has no name"
    if "Members" in body:
        if body.get("Members@odata.count") != len(body["Members"]):
            return f"{path}: counts wrong"
    elif not body.get("Id"):
        return f"{path}: has no id"
    return None


def crawl(bmcs, kind):
    with requests.Session() as session:
        session.verify, session.auth = bmcs.ca, (bmcs.user, bmcs.password)
        wanted, seen, faults = ["/redfish/v1/"], set(), []
        while wanted and len(seen) < RESOURCES_MAX:
            path = wanted.pop().split("#")[0]
            if path.rstrip("/") in seen or path in ONLY_LINKS:
                continue
            seen.add(path.rstrip("/"))
            answer = session.get(bmcs.url(kind) + path, timeout=600)
            fault = resource_faults(path, answer)
            faults += [fault] if fault else []
            if answer.status_code == 200:
                wanted += links_of(answer.json())
    check(f"{kind}: its {len(seen)} resources keep the conventions",
          not faults and 10 < len(seen) < RESOURCES_MAX, faults[:5])


def is_error(answer):
    try:
        info = answer.json()["error"]["@Message.ExtendedInfo"]
        return all(i["MessageId"].count(".") == 3 and i["Message"] for i in info)
    except (KeyError, ValueError):
        return False


def check_manners(bmcs, kind):
    get = lambda path, **more: requests.get(bmcs.url(kind) + path, verify=bmcs.ca, timeout=600, **more)
    who = {"auth": (bmcs.user, bmcs.password)}
    check(f"{kind}: /redfish", get("/redfish").json().get("v1") == "/redfish/v1/", get("/redfish").text)
    check(f"{kind}: the root is for everyone", get("/redfish/v1/").status_code == 200)
    stranger = get(INVENTORY)
    check(f"{kind}: nothing else is", stranger.status_code == 401 and is_error(stranger), stranger.text)
    wrong = get(INVENTORY, auth=(bmcs.user, "wrong"))
    check(f"{kind}: nor for a wrong password", wrong.status_code == 401, wrong.status_code)
    missing = get("/redfish/v1/Nothing", **who)
    check(f"{kind}: what is not there", missing.status_code == 404 and is_error(missing), missing.text)
    made = requests.post(bmcs.url(kind) + "/redfish/v1/SessionService/Sessions", verify=bmcs.ca,
                         json={"UserName": bmcs.user, "Password": bmcs.password}, timeout=600)
    token = {"X-Auth-Token": made.headers.get("X-Auth-Token", "")}
    check(f"{kind}: a session", made.status_code in (200, 201) and get(INVENTORY, headers=token).ok,
          made.text)
    place = made.headers.get("Location", "").removeprefix(bmcs.url(kind))
    gone = requests.delete(bmcs.url(kind) + place, verify=bmcs.ca, headers=token, timeout=600)
    check(f"{kind}: that ends", gone.ok and get(INVENTORY, headers=token).status_code == 401,
          gone.status_code)


# Updates.

def follow(bmcs, kind, monitor):
    """Until the task says that it is over, or is forgotten; bounded."""
    def over():
        got = curl(bmcs, kind, monitor, "-o", "/dev/null", "-w", "%{http_code}")
        return got.stdout not in ("202", "000", "503")
    return wait_for(over)


def update_by_curl(bmcs):
    """A multipart upload to the HGX board's BMC tray, and the restart that makes it run."""
    kind, version = "hgx", "2.4.1"
    package = bmcs.package(kind, "bmc", version)
    service = json.loads(curl(bmcs, kind, "/redfish/v1/UpdateService").stdout)
    entry = bmcs.device(kind, "bmc")["id"]
    parameters = json.dumps({"Targets": [f"{INVENTORY}/{entry}"]})
    sent = curl(bmcs, kind, service["MultipartHttpPushUri"], "-D", "-", "-F",
                f"UpdateParameters={parameters};type=application/json", "-F",
                f"UpdateFile=@{package};type=application/octet-stream")
    monitor = [line.split(": ", 1)[1] for line in sent.stdout.splitlines()
               if line.lower().startswith("location: ")]
    if not check("curl: the upload is taken", " 202" in sent.stdout.splitlines()[0] and monitor,
                 sent.stdout + sent.stderr):
        return
    check("curl: its task ends", follow(bmcs, kind, monitor[0].strip()))
    manager = json.loads(curl(bmcs, kind, "/redfish/v1/Managers").stdout)["Members"][0]["@odata.id"]
    reset = json.loads(curl(bmcs, kind, manager).stdout)["Actions"]["#Manager.Reset"]["target"]
    curl(bmcs, kind, reset, "-H", "Content-Type: application/json", "-d",
         '{"ResetType":"ForceRestart"}')
    done = wait_for(lambda: bmcs.device(kind, "bmc")["active"] == version)
    check("curl: the new version runs, flashed once",
          done and bmcs.device(kind, "bmc")["flashes"] == 1, bmcs.device(kind, "bmc"))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def update_by_sushy(bmcs, kind):
    """The BMC fetches the image from us."""
    version = "3.1.0"
    package = bmcs.package(kind, "bios", version)
    handler = lambda *more: Quiet(*more, directory=bmcs.folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        service = sushy.Sushy(bmcs.url(kind), bmcs.user, bmcs.password, verify=bmcs.ca)
        address = f"http://127.0.0.1:{server.server_port}/{os.path.basename(package)}"
        try:
            service.get_update_service().simple_update(address)
        except sushy.exceptions.ResourceNotFoundError:
            pass  # it looked when the task was over, and gone with that
        staged = lambda: version in (bmcs.device(kind, "bios")["staged"],
                                     bmcs.device(kind, "bios")["active"])
        check(f"sushy: {kind} fetched and took it", wait_for(staged), bmcs.device(kind, "bios"))
        server.shutdown()
    system = service.get_system()
    if bmcs.device(kind, "bios")["active"] != version:
        system.reset_system(sushy.RESET_TYPE_FORCE_RESTART)
    done = wait_for(lambda: bmcs.device(kind, "bios")["active"] == version)
    check(f"sushy: {kind} runs the new version, flashed once",
          done and bmcs.device(kind, "bios")["flashes"] == 1, bmcs.device(kind, "bios"))
    check(f"sushy: {kind} says so", version in {v for _, v in by_sushy(bmcs, kind)})


def vanish(bmcs, kind="openbmc"):
    """A client that goes away in the middle of an upload changes nothing."""
    before = bmcs.truth(kind)
    context = ssl.create_default_context(cafile=bmcs.ca)
    host, port = bmcs.url(kind).removeprefix("https://").split(":")
    path = json.loads(curl(bmcs, kind, "/redfish/v1/UpdateService").stdout)["HttpPushUri"]
    with socket.create_connection((host, int(port)), timeout=600) as plain:
        with context.wrap_socket(plain, server_hostname=host) as wire:
            wire.sendall(f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 900000\r\n"
                         "Content-Type: application/octet-stream\r\n\r\n".encode() + b"x" * 600000)
    time.sleep(0.5)
    check("a vanished client changes nothing", bmcs.truth(kind) == before, bmcs.truth(kind))
    check("and nothing hangs", curl(bmcs, kind, INVENTORY).returncode == 0)


def main():
    folder = tempfile.mkdtemp(prefix="lks-bmcsim-")
    bmcs = Bmcs(os.path.abspath(sys.argv[1]), folder)
    try:
        for kind in KINDS:
            compare_inventories(bmcs, kind)
            crawl(bmcs, kind)
            check_manners(bmcs, kind)
        compare_switch(bmcs)
        vanish(bmcs)
        update_by_curl(bmcs)
        for kind in ["supermicro", "dell", "hpe"]:
            update_by_sushy(bmcs, kind)
    finally:
        bmcs.process.terminate()
        status = bmcs.process.wait(timeout=600)
        shutil.rmtree(folder)
    check("it ends when it is told", status == 0, status)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
