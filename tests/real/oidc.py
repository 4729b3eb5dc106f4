#!/usr/bin/python3
"""People log in to a real lockstepd with a real Dex.

    oidc.py BUILD_DIR DEX_DIR

The second has the program `dex` and its pages `web` (tools/dex.sh). The script types the code as a
person would, and follows pages as a browser does; Dex's mock connector names the person and one group. Then the provider goes away, comes
back with other keys, and changes them on its own.
"""

import html
import http.cookiejar
import json
import os
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

FLEET = """\
lockstep: 1
kind: Fleet
name: real
pools: {train: {posture: pre-training}, odd: {posture: dev}}
nodes:
  - {hosts: gpu001, pool: train, class: hgx-h200-8}
  - {hosts: gpu002, pool: odd, class: hgx-h200-8}
"""

DEX = """\
issuer: {issuer}
storage: {{type: memory}}
web: {{https: "127.0.0.1:{port}", tlsCert: {folder}/crt.pem, tlsKey: {folder}/key.pem}}
frontend: {{dir: {web}}}
expiry: {{signingKeys: 30s, idTokens: 10m, deviceRequests: 5m}}
oauth2: {{skipApprovalScreen: true}}
connectors: [{{type: mockCallback, id: mock, name: Mock}}]
staticClients:
  - {{id: lockstep, name: lockstep, secret: "{secret}", 
     redirectURIs: [/dex/device/callback, "https://localhost:{people}/v1/login/callback"]}}
"""

OIDC = """
controller: {{url: "https://localhost:{people}"}}
oidc:
  issuer: {issuer}
  ca: {folder}/crt.pem
  client_secret: file:{folder}/secret
  roles: [authors=operator@train]
"""

SECRET = "not a secret & more"
PERSON = "user:kilgore@kilgore.trout"

passed = failed = 0


def check(name, ok, why=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else ": " + str(why)), flush=True)
    return bool(ok)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, seconds=600):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.2)
    return None


class Site:
    """A lockstepd, a Dex, and where they are."""

    def __init__(self, build, dex, folder):
        self.build, self.dex, self.folder = build, dex, folder
        self.port, self.people = free_port(), free_port()
        self.issuer = f"https://localhost:{self.port}/dex"
        self.provider = self.controller = None
        self.token = f"{folder}/token"

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(f"{self.folder}/{name}", 0o600)

    def run(self, *words):
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def prepare(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                        f"{self.folder}/key.pem", "-out", f"{self.folder}/crt.pem", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                       check=True, stderr=subprocess.DEVNULL)
        self.write("secret", SECRET + "\n")
        self.write("fleet.yaml", FLEET)
        self.write("dex.yaml", DEX.format(issuer=self.issuer, port=self.port, folder=self.folder,
                                          people=self.people, web=f"{self.dex}/web", secret=SECRET))

    def keys(self):
        context = ssl.create_default_context(cafile=f"{self.folder}/crt.pem")
        try:
            with urllib.request.urlopen(f"{self.issuer}/keys", timeout=5, context=context) as answer:
                return [key["kid"] for key in json.load(answer)["keys"]]
        except (OSError, urllib.error.URLError):
            return None

    def start_provider(self):
        with open(f"{self.folder}/dex.log", "ab") as log:
            self.provider = subprocess.Popen([f"{self.dex}/dex", "serve", f"{self.folder}/dex.yaml"],
                                             stdout=log, stderr=log)
        return wait_for(self.keys)

    def stop_provider(self):
        self.provider.terminate()
        self.provider.wait()

    def start_controller(self):
        data = f"{self.folder}/data"
        self.run(f"{self.build}/lockstepd", "init", "--data", data, "--people",
                 f"127.0.0.1:{self.people}", "--agents", f"127.0.0.1:{free_port()}")
        with open(f"{data}/lockstepd.yaml", "a", encoding="utf-8") as f:
            f.write(OIDC.format(issuer=self.issuer, folder=self.folder, people=self.people))
        config = f"{data}/lockstepd.yaml"
        said = self.run(f"{self.build}/lockstepd", "--check", "--config", config)
        check("lockstepd --check takes the configuration", said.returncode == 0, said.stderr)
        with open(f"{self.folder}/lockstepd.log", "ab") as log:
            self.controller = subprocess.Popen([f"{self.build}/lockstepd", "--config", config],
                                               stdout=log, stderr=log)
        return wait_for(lambda: self.ask("fleet", "apply", f"{self.folder}/fleet.yaml", "--accept",
                                         token=f"{data}/admin.token").returncode == 0)

    def words(self, command, token):
        return [f"{self.build}/lockstep", *command, "--server", f"https://localhost:{self.people}",
                "--ca", f"{self.folder}/data/ca.crt", "--token-file", token or self.token]

    def ask(self, *command, token=None):
        return self.run(*self.words(command, token))

    def browser(self):
        context = ssl.create_default_context(cafile=f"{self.folder}/crt.pem")
        context.load_verify_locations(cafile=f"{self.folder}/data/ca.crt")
        return urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=context),
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def type_code(self, address):
        """As a person with a browser: open the page, send its form, be led through the connector."""
        opener = self.browser()
        code = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)["user_code"][0]
        with opener.open(address, timeout=60) as page:
            text = page.read().decode()
        action = re.search(r'<form[^>]*action="([^"]*)"', text)
        target = urllib.parse.urljoin(address, action.group(1) if action else "device/auth/verify_code")
        form = urllib.parse.urlencode({"user_code": code}).encode()
        with opener.open(target, form, timeout=60) as page:
            return page.read().decode()

    def log_in(self):
        """Status of `lockstep login`, what it said, and the page that the person saw last."""
        process = subprocess.Popen(self.words(["login", "--json"], None), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        page, line = "", process.stderr.readline()
        address = re.search(r"or open (\S+)", line)
        if address:
            page = self.type_code(address.group(1))
        out, err = process.communicate(timeout=600)
        return process.returncode, out, line + err, page

    def end(self):
        for process in (self.controller, self.provider):
            if process is not None and process.poll() is None:
                process.terminate()
                process.wait()


def check_login(site):
    status, out, err, page = site.log_in()
    if not check("a person logs in with Dex", status == 0, err + page[-2000:]):
        return
    told = json.loads(out)
    check("with the name that Dex gives", told["identity"] == PERSON, told)
    check("with the role of the group", told["roles"] == ["operator@train"], told)
    held = site.ask("node", "hold", "gpu001", "--reason", "r")
    check("the role holds in its pool", held.returncode == 0, held.stderr)
    held = site.ask("node", "hold", "gpu002", "--reason", "r")
    check("and in no other", held.returncode == 5, held.stderr)


def lead_on(opener, address):
    """Open a page, and what it leads to: its text."""
    with opener.open(address, timeout=60) as page:
        text = page.read().decode()
    target = html.unescape(re.search(r'content="0;url=([^"]*)"', text).group(1))
    try:
        with opener.open(urllib.parse.urljoin(page.geturl(), target), timeout=60) as page:
            return page.read().decode()
    except urllib.error.HTTPError as e:
        return f"{e.url}: {e.code} {e.read().decode()}"


def check_browser(site):
    """From lockstepd to Dex, back to lockstepd, and on with the cookie."""
    opener, server = site.browser(), f"https://localhost:{site.people}"
    text = lead_on(opener, f"{server}/v1/login")
    if not check("Dex leads back to lockstepd", "/v1/whoami" in text, text[-2000:]):
        return
    with opener.open(f"{server}/v1/whoami", timeout=60) as page:
        told = json.load(page)
    check("and the cookie is the person's", told["identity"] == PERSON, told)
    for origin, want in (("https://evil.example", 401), (server, 200)):
        ask = urllib.request.Request(f"{server}/v1/logout", method="POST", headers={"Origin": origin})
        try:
            with opener.open(ask, timeout=60) as page:
                status = page.status
        except urllib.error.HTTPError as e:
            status = e.code
        check(f"logout from a page of {origin.split(':')[1]}", status == want, status)


def check_away(site):
    """Those with a login go on, and no new person gets in."""
    site.stop_provider()
    released = site.ask("node", "release", "gpu001", "--force", "--reason", "r")
    check("an open login goes on without the provider", released.returncode == 0, released.stderr)
    kept = site.token
    site.token = f"{site.folder}/other"
    status, _, err, _ = site.log_in()
    check("no login without the provider", status == 4 and "go on" in err, err)
    check("and no token", not os.path.exists(site.token))
    site.token = kept


def check_keys(site):
    """Dex keeps its keys in memory: each start makes others."""
    check("the provider comes back with other keys", site.start_provider())
    # lockstepd reads the keys again for an unknown one once a minute at most, and Dex changes them twice a minute.
    check("a login with keys that were not known", wait_for(lambda: site.log_in()[0] == 0))
    first = site.keys()
    check("the provider changes its keys", wait_for(lambda: site.keys() not in (None, first)))
    check("a login after that", wait_for(lambda: site.log_in()[0] == 0))


def check_end(site):
    out = site.ask("logout")
    check("logout", out.returncode == 0 and not os.path.exists(site.token), out.stderr)


def main():
    build, dex = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="lks-oidc-") as folder:
        site = Site(build, dex, folder)
        try:
            site.prepare()
            if check("Dex starts", site.start_provider()) and \
                    check("lockstepd starts", site.start_controller()):
                check_login(site)
                check_browser(site)
                check_away(site)
                check_keys(site)
                check_end(site)
            if failed:
                for name in ("dex.log", "lockstepd.log"):
                    with open(f"{folder}/{name}", encoding="utf-8", errors="replace") as f:
                        print(f"{name}:\n" + f.read()[-4000:])
        finally:
            site.end()
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
