#!/usr/bin/env python3
"""The peer of tests/k8s/test_k8s_contract.c: a real Kubernetes control plane with two nodes, g1 and g2, and a service account with
the rights of examples/kubernetes/rbac.yaml.

    k8s_contract.py FOLDER

Prints "ready RELEASE TOKEN URL CA". Then a line on standard input is a command, as for tests/real/slurm_contract.py, and each is
answered with a line. "bridge" stands for kube-apiserver, "scheduler" for etcd. The truth is the API server's.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import k8s_cluster  # noqa: E402

NODE = "g1"
PATH = "/api/v1/nodes/" + NODE
SETS = "/apis/apps/v1/namespaces/default/statefulsets"
POD = "/api/v1/namespaces/default/pods/train-0"
MARK = "lockstep.dev/drain"
WHY = "example.com/why"
SPOT = {"key": "example.com/spot", "value": "yes", "effect": "NoSchedule"}  # of another owner: it stays
PERSON = "kim"
RBAC = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "kubernetes" / "rbac.yaml"
AWAY_SECONDS = 0.4  # between a kill and the next start
PARTS = {"bridge": ("kube-apiserver",), "scheduler": ("etcd",), "both": ("etcd", "kube-apiserver")}
CONTROLLERS = ("kube-controller-manager", "kube-scheduler", "kwok")
LOG_SECONDS = 0.1  # until the audit log has what was answered


class Side:
    def __init__(self, cluster):
        self.cluster = cluster
        self.job = None
        self.worker = concurrent.futures.ThreadPoolExecutor(1)  # one thread: parts end with the thread that started them
        self.away = None

    def node(self):
        return self.cluster.get(PATH)

    def change(self, cordon, marks, why):
        body = {"metadata": {"annotations": {WHY: why}}, "spec": {"unschedulable": cordon}}
        if not marks:
            body["metadata"]["annotations"][MARK] = None
            body["spec"]["taints"] = [SPOT]
        self.cluster.patch(PATH, body, manager=PERSON)

    def begin(self, how=""):
        self.change(None, False, None)
        if how == "job":
            self.cluster.ask("POST", SETS, {
                "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "train"},
                "spec": {"selector": {"matchLabels": {"app": "train"}}, "template": {
                    "metadata": {"labels": {"app": "train"}},
                    "spec": {"nodeSelector": {"kubernetes.io/hostname": NODE},
                             "tolerations": [{"key": SPOT["key"], "operator": "Exists"}],
                             "containers": [{"name": "c", "image": "x", "resources": {"limits": {k8s_cluster.GPU: "8"}}}]}}}})
            self.job = "default/train-0"
            self.cluster.wait("the pod runs", self.runs)
        return f"job {self.job or '-'}"

    def runs(self):
        pod = self.cluster.find(POD)
        return pod is not None and pod["status"]["phase"] == "Running"

    def finish(self):
        """With its pod, which may wait for the node since it was evicted."""
        if self.job:
            self.cluster.ask("DELETE", SETS + "/train?propagationPolicy=Background")
            self.cluster.wait("the pod is gone", lambda: self.cluster.find(POD) is None)
        self.job = None
        return "done"

    def drain(self):
        self.change(None, False, None)
        self.change(True, True, "broken fan")
        return "done"

    def resume(self):
        self.change(None, False, None)
        return "done"

    def forget(self):
        """No part of Kubernetes forgets a drain; a person may remove it."""
        return self.resume()

    def kill(self, what):
        for part in PARTS[what]:
            self.cluster.kill(part)

        def start():
            time.sleep(AWAY_SECONDS)
            for part in PARTS[what]:
                self.cluster.start(part)
        self.away = self.worker.submit(start)
        return "done"

    def answers(self):
        try:
            return self.cluster.is_ready() and self.node()
        except k8s_cluster.Refused:
            return False

    def settle(self, _how=""):
        if self.away:
            self.away.result()
        self.cluster.wait("the API server answers", self.answers)
        if self.away and self.job:  # a scheduler ends where its cache is wrong, and the others wait ever longer
            for part in CONTROLLERS:
                self.cluster.kill(part)
                self.cluster.start(part)
        self.away = None
        return "done"

    def truth(self):
        node = self.node()
        taints = [t["key"] for t in node["spec"].get("taints", [])]
        assert SPOT["key"] in taints, "the taint of another owner is gone"
        annotations = node["metadata"].get("annotations", {})
        mark = json.loads(annotations.get(MARK, "{}")) if MARK in taints else {}
        cordon = node["spec"].get("unschedulable", False)
        managers = [f["manager"] for f in node["metadata"]["managedFields"] if "f:unschedulable" in f["fieldsV1"].get("f:spec", {})]
        busy = any(p["status"]["phase"] in ("Pending", "Running") for p in self.cluster.pods_on(NODE))
        closed = cordon or MARK in taints
        owner = mark.get("owner") or (managers[0] if closed and managers else "-")
        return f"{closed:d} {busy:d} {owner} {annotations.get(WHY, '') if closed and not mark else mark.get('reason', '')}"

    def writes(self):
        time.sleep(LOG_SECONDS)
        return f"""writes {sum(
            e["verb"] == "patch" and e["objectRef"]["name"] == NODE and e["responseStatus"]["code"] == 200
            and e["user"]["username"] == "system:serviceaccount:lockstep:lockstep" for e in self.cluster.audit())}"""

    def end(self):
        self.settle()
        self.finish()
        self.change(None, False, None)
        return "done"

    def take(self, line):
        verb, *more = line.split()
        return getattr(self, verb)(*more)


def serve(cluster):
    cluster.add_nodes([NODE, "g2"])
    cluster.kubectl("apply", "-f", RBAC)
    token = cluster.account_token("lockstep", "lockstep")
    side = Side(cluster)
    cluster.wait("the account may read nodes", lambda: may_read(cluster, token))
    side.begin()
    print("ready", cluster.get("/version")["gitVersion"], token, cluster.url, cluster.path("ca.crt"), flush=True)
    for line in iter(sys.stdin.readline, ""):
        print(side.take(line.strip()), flush=True)
    if side.away:
        side.away.result()


def may_read(cluster, token):
    try:
        return cluster.get(PATH, token=token)
    except k8s_cluster.Refused:
        return False


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    place = pathlib.Path(sys.argv[1]).resolve()
    place.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-k8s-"))
    try:
        with k8s_cluster.Cluster(folder / "cluster") as cluster:
            serve(cluster)
    finally:
        for log in (folder / "cluster").glob("*.log"):
            shutil.copy(log, place)
        shutil.rmtree(folder)


if __name__ == "__main__":
    os.umask(0o077)
    main()
