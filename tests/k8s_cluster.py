#!/usr/bin/env python3
"""A real Kubernetes control plane on this machine: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, and kwok, which
pretends to be the kubelets of nodes with GPUs.

    k8s_cluster.py DIR [NODES]      start one in DIR, print "ready DIR/admin.kubeconfig", end it with SIGTERM or SIGINT

Tests use the class:

    with Cluster(folder) as c:
        c.add_nodes(["g1", "g2"])
        c.get("/api/v1/nodes/g1")

The programs are those of tools/k8s.sh. Everything listens on loopback alone, at ports that were free. A part ends at the latest with
the thread that started it, and no other process is ended.
"""
import ctypes
import json
import os
import pathlib
import secrets
import shutil
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from slurm_cluster import Cluster as SlurmCluster, free_ports  # noqa: E402

PR_SET_PDEATHSIG = 1
COMMAND_SECONDS = 120
REQUEST_SECONDS = 20
TOKEN_SECONDS = 3600
CHART = pathlib.Path(__file__).resolve().parent.parent / "packaging" / "helm" / "lockstep"
TOOL = pathlib.Path(__file__).resolve().parent.parent / "tools" / "k8s.sh"
PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
USERS = {"admin": "system:masters", "system:kube-controller-manager": "", "system:kube-scheduler": ""}
LOCKSTEPD = "system:serviceaccount:lockstep:lockstep"
GPU = "nvidia.com/gpu"


def programs():
    """The folder with the programs; ends the process with the reason where they cannot be built."""
    made = subprocess.run([TOOL], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        sys.exit(made.returncode)
    return pathlib.Path(made.stdout.strip())


class Refused(Exception):
    """An answer other than 2xx; `status` is its number, 0 where none came."""
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


class Cluster:
    wait = staticmethod(SlurmCluster.wait)

    def __init__(self, folder, lease_seconds=40):
        """Thousands of nodes need longer leases: kubelets that renew them often keep kube-apiserver busy."""
        self.lease_seconds = lease_seconds
        self.dir = pathlib.Path(folder).resolve()
        self.programs = programs()
        self.processes, self.tokens = {}, {}
        self.ports = dict(zip(("etcd", "peer", "api", "kcm", "scheduler", "kwok"), free_ports(6)))
        self.url = f"https://127.0.0.1:{self.ports['api']}"
        self.libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self):
        try:
            self.up()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *_):
        self.down()

    # Files.

    def path(self, *parts):
        return str(self.dir.joinpath(*parts))

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.dir, check=True, timeout=COMMAND_SECONDS, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def make_key(self, name):
        self.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", name + ".key")

    def make_certificate(self, name, subject, addresses=""):
        """Signed by the cluster's authority."""
        self.make_key(name)
        self.openssl("req", "-new", "-key", name + ".key", "-subj", subject, "-out", name + ".csr")
        (self.dir / (name + ".ext")).write_text(f"subjectAltName={addresses}\n" if addresses else "")
        self.openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
                     "-extfile", name + ".ext", "-out", name + ".crt")

    def make_files(self):
        self.make_key("ca")
        self.openssl("req", "-x509", "-new", "-key", "ca.key", "-subj", "/CN=test", "-days", "30", "-out", "ca.crt")
        self.make_certificate("apiserver", "/CN=apiserver", "IP:127.0.0.1,DNS:localhost")
        self.make_certificate("kubelet", "/O=system:masters/CN=apiserver-kubelet-client")
        self.openssl("genrsa", "-out", "accounts.key", "2048")
        self.openssl("rsa", "-in", "accounts.key", "-pubout", "-out", "accounts.pub")
        lines = ""
        for user, group in USERS.items():
            self.tokens[user] = secrets.token_hex(16)
            lines += f'{self.tokens[user]},{user},{user},"{group}"\n'
            self.write_kubeconfig(user.removeprefix("system:"), self.tokens[user])
        (self.dir / "tokens.csv").write_text(lines)

    def write_kubeconfig(self, name, token):
        (self.dir / (name + ".kubeconfig")).write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": self.url, "certificate-authority": self.path("ca.crt")}}],
            "users": [{"name": "u", "user": {"token": token}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))

    # Parts.

    def command(self, part):
        etcd, peer = (f"http://127.0.0.1:{self.ports[p]}" for p in ("etcd", "peer"))
        manager = [f"--cert-dir={self.dir}", "--bind-address=127.0.0.1", "--leader-elect=false", "--kube-api-qps=200",
                   "--kube-api-burst=400"]
        return [self.programs / part] + {
            "etcd": ["--data-dir", self.path("etcd"), "--unsafe-no-fsync", "--log-level", "warn", "--listen-client-urls", etcd,
                     "--advertise-client-urls", etcd, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                     "--initial-cluster", "default=" + peer],
            "kube-apiserver": [
                "--etcd-servers=" + etcd, "--bind-address=127.0.0.1", f"--secure-port={self.ports['api']}",
                "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
                "--authorization-mode=Node,RBAC", "--tls-cert-file=apiserver.crt", "--tls-private-key-file=apiserver.key",
                f"--cert-dir={self.dir}", "--client-ca-file=ca.crt", "--token-auth-file=tokens.csv", "--profiling=false",
                "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=accounts.pub",
                "--service-account-signing-key-file=accounts.key", "--kubelet-client-certificate=kubelet.crt",
                "--kubelet-client-key=kubelet.key", "--audit-log-path=audit.log", "--audit-policy-file=audit.json"],
            "kube-controller-manager": [
                "--node-monitor-grace-period=1h",  # a machine that is busy makes no node late
                "--kubeconfig=kube-controller-manager.kubeconfig", f"--secure-port={self.ports['kcm']}",
                "--use-service-account-credentials=true", "--service-account-private-key-file=accounts.key",
                "--root-ca-file=ca.crt", *manager],
            "kube-scheduler": ["--kubeconfig=kube-scheduler.kubeconfig", f"--secure-port={self.ports['scheduler']}", *manager],
            "kwok": ["--kubeconfig=admin.kubeconfig", "--manage-all-nodes=false",
                     "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-ip=127.0.0.1",
                     f"--node-lease-duration-seconds={self.lease_seconds}", f"--node-port={self.ports['kwok']}",
                     f"--server-address=127.0.0.1:{self.ports['kwok']}",
                     f"--config={self.programs / 'stages.yaml'}"],
        }[part]

    def start(self, part):
        with open(self.path(part + ".log"), "ab") as log:
            self.processes[part] = subprocess.Popen(
                self.command(part), cwd=self.dir, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=lambda: self.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))

    def kill(self, part, how=signal.SIGKILL):
        process = self.processes.pop(part, None)
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def is_ready(self):
        for part, process in self.processes.items():
            if process.poll() is not None:
                raise RuntimeError(f"{part} ended:\n" + pathlib.Path(self.path(part + ".log")).read_text(errors="replace")[-2000:])
        try:
            return self.raw("GET", "/readyz") == b"ok"
        except Refused:
            return False

    def wait_ready(self):
        self.wait("the API server is ready", self.is_ready, 120)

    def up(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        self.dir.mkdir(parents=True, mode=0o700)
        self.make_files()
        # Deletions and evictions of pods, and all writes of the user of the tests; with their bodies. Everything else that lockstepd
        # asks for, without.
        (self.dir / "audit.json").write_text(json.dumps({
            "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
            "rules": [{"level": "Request", "verbs": ["create", "update", "patch", "delete", "deletecollection"],
                       "resources": [{"group": "", "resources": ["pods", "pods/eviction", "nodes", "nodes/status"]}]},
                      {"level": "Metadata", "users": [LOCKSTEPD]},
                      {"level": "None"}]}))
        self.start("etcd")
        self.start("kube-apiserver")
        self.wait_ready()
        for part in PARTS[2:]:
            self.start(part)
        self.wait("the first service account is made",
                  lambda: self.find("/api/v1/namespaces/default/serviceaccounts/default") is not None, 120)

    def down(self):
        for part in reversed(PARTS):
            self.kill(part, signal.SIGTERM)

    # Requests.

    def raw(self, method, path, body=None, token=None, kind="application/json"):
        headers = {"Authorization": "Bearer " + (token or self.tokens["admin"]), "User-Agent": "tests"}
        if body is not None:
            headers["Content-Type"] = kind
        request = urllib.request.Request(self.url + path, method=method, headers=headers,
                                         data=None if body is None else json.dumps(body).encode())
        context = ssl.create_default_context(cafile=self.path("ca.crt"))
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS, context=context) as answer:
                return answer.read()
        except urllib.error.HTTPError as fault:
            raise Refused(fault.code, fault.read().decode(errors="replace")) from fault
        except OSError as fault:
            raise Refused(0, str(fault)) from fault

    def ask(self, method, path, body=None, **how):
        return json.loads(self.raw(method, path, body, **how))

    def get(self, path, **how):
        return self.ask("GET", path, **how)

    def find(self, path):
        """None where there is no such thing."""
        try:
            return self.get(path)
        except Refused as fault:
            if fault.status != 404:
                raise
            return None

    def patch(self, path, body, manager="tests"):
        return self.ask("PATCH", f"{path}?fieldManager={manager}", body, kind="application/merge-patch+json")

    def tool(self, name, arguments, text):
        made = subprocess.run([self.programs / name, "--kubeconfig", self.path("admin.kubeconfig"), *arguments],
                              timeout=COMMAND_SECONDS, text=True, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, HOME=str(self.dir)))
        if made.returncode != 0:
            raise RuntimeError(f"{name} {' '.join(arguments)}: {made.stderr or made.stdout}")
        return made.stdout

    def kubectl(self, *arguments, text=""):
        return self.tool("kubectl", arguments, text)

    def helm(self, *arguments, text=""):
        return self.tool("helm", arguments, text)

    def install(self, values, name="lockstep", namespace="lockstep"):
        """The chart, as `helm upgrade --install` leaves it."""
        self.helm("upgrade", "--install", name, str(CHART), "--namespace", namespace, "--create-namespace", "--values", "-",
                  text=json.dumps(values))

    def account_token(self, namespace, name, seconds=TOKEN_SECONDS):
        """A token of a service account, as the kubelet would renew it for a pod."""
        made = self.ask("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
                        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                         "spec": {"expirationSeconds": seconds}})
        return made["status"]["token"]

    # Nodes and pods.

    def add_nodes(self, names, gpus=8):
        resources = {"cpu": "192", "memory": "2Ti", "pods": "110", GPU: str(gpus)}
        for name in names:
            self.ask("POST", "/api/v1/nodes", {
                "apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
                             "labels": {"kubernetes.io/hostname": name}},
                "status": {"allocatable": resources, "capacity": resources}})
        self.wait("the nodes are ready", lambda: all(self.is_node_ready(name) for name in names))

    def is_node_ready(self, name):
        node = self.get("/api/v1/nodes/" + name)
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
        return ready and not any(t["key"].startswith("node.kubernetes.io/") for t in node["spec"].get("taints", []))

    def pods_on(self, node):
        return self.get(f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node}")["items"]

    def audit(self):
        """The requests that changed pods or nodes, in their order."""
        try:
            with open(self.path("audit.log"), encoding="utf-8") as log:
                return [json.loads(line) for line in log if line.endswith("}\n")]
        except FileNotFoundError:
            return []


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Cluster(sys.argv[1]) as c:
        c.add_nodes([f"n{i}" for i in range(1, 1 + (int(sys.argv[2]) if len(sys.argv) > 2 else 0))])
        print("ready", c.path("admin.kubeconfig"), flush=True)
        while True:
            signal.pause()


if __name__ == "__main__":
    os.umask(0o077)
    main()
