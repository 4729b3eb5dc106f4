#!/usr/bin/env python3
"""A change of 16 nodes of a real Kubernetes, under a stream of Jobs that use GPUs. kube-apiserver and lockstepd are killed on the way.

    k8s_campaign.py BUILD_DIR

The control plane is real, and lockstepd has the rights and the policy of the Helm chart with tokens that are renewed all the time. The
kubelets (kwok), agents and BMCs are simulated. One node is cordoned by a person, and drains when the person ends that. What lockstepd
did is read from the audit log of the API server, and what ran from the pods.
"""
import datetime
import itertools
import pathlib
import signal
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "tests" / "real")]
import k8s_cluster  # noqa: E402
from lockstep_here import Tally, check, wait  # noqa: E402
from slurm_gate import CHANGE, GPUS, NODES, Fleet  # noqa: E402

MARK = "lockstep.dev/drain"
US = k8s_cluster.LOCKSTEPD
ACCOUNT = ("lockstep", "lockstep")
GPUS_OF_A_NODE = 4
JOB_SECONDS = 2
JOBS_EACH_S = 0.4
TOKEN_EACH_S = 5
AWAY_S = 5  # how long kube-apiserver is away
KILL_SERVER, KILL_LOCKSTEPD = 3, 8  # when so many nodes are done
CHANGES = {("patch", "", "nodes"), ("patch", "", "nodes/status")}
EVICTION = ("create", "", "pods/eviction")  # k8s_evictions.py uses it
CORDONED = "sim0016"  # by a person
DRAINED = "its scheduler says that nothing runs there"
# The controllers' informers may be behind a drain by a moment: a pod is bound for as long after it. lockstepd waits a minute for that, by
# its own clock, which is fast here: so such a pod says nothing about what lockstepd saw.
LAG_S = 3


class KubeFleet(Fleet):
    sched = "kubernetes"

    def __init__(self, build, folder, cluster):
        super().__init__(build, folder)
        self.cluster = cluster

    def sched_config(self):
        return (f'kubernetes:\n  bridges: ["*={self.cluster.url}"]\n  ca: {self.cluster.path("ca.crt")}\n'
                f"  token_file: {self.folder}/token\n")

    def set_token(self):
        new = self.folder / "token.new"
        new.write_text(self.cluster.account_token(*ACCOUNT, seconds=600))
        new.chmod(0o600)
        new.rename(self.folder / "token")


class Every:
    """Does something again and again until the end of the block; requests that no server answers are let pass."""

    def __init__(self, seconds, act):
        self.seconds, self.act, self.enough, self.fault = seconds, act, threading.Event(), None

    def go_on(self):
        while not self.enough.wait(self.seconds):
            try:
                self.act()
            except k8s_cluster.Refused as fault:
                self.fault = fault

    def __enter__(self):
        self.thread = threading.Thread(target=self.go_on)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.enough.set()
        self.thread.join()


def containers(limits):
    return [{"name": "c", "image": "x", "resources": {"limits": limits}}]


class Jobs:
    """A stream of Jobs, each a pod with all GPUs of a node."""

    def __init__(self, cluster):
        self.cluster, self.numbers = cluster, itertools.count(1)

    def submit(self):
        kwok = "pod-complete.stage.kwok.x-k8s.io/"
        self.cluster.ask("POST", "/apis/batch/v1/namespaces/default/jobs", {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": f"train-{next(self.numbers)}"},
            "spec": {"backoffLimit": 0, "template": {
                "metadata": {"labels": {"app": "train"},
                             "annotations": {kwok + "delay": f"{JOB_SECONDS}s", kwok + "jitter-delay": f"{JOB_SECONDS}s"}},
                "spec": {"restartPolicy": "Never", "containers": containers({k8s_cluster.GPU: str(GPUS_OF_A_NODE)})}}}})

    def all(self):
        return self.cluster.get("/apis/batch/v1/namespaces/default/jobs")["items"]

    def pods(self):
        return self.cluster.get("/api/v1/namespaces/default/pods?labelSelector=app%3Dtrain")["items"]

    def are_done(self):
        return all(job["status"].get("succeeded") == 1 for job in self.all())


def start_others(cluster):
    """Pods without GPUs, which nothing may touch: of a Deployment whose budget allows no disruption, and of a DaemonSet."""
    def of(kind, more):
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": kind.lower()},
                "spec": {"selector": {"matchLabels": {"app": kind}}, **more,
                         "template": {"metadata": {"labels": {"app": kind}}, "spec": {"containers": containers({"cpu": "1"})}}}}
    cluster.ask("POST", "/apis/apps/v1/namespaces/default/deployments", of("Deployment", {"replicas": NODES}))
    cluster.ask("POST", "/apis/apps/v1/namespaces/default/daemonsets", of("DaemonSet", {}))
    cluster.ask("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all"},
        "spec": {"minAvailable": NODES, "selector": {"matchLabels": {"app": "Deployment"}}}})
    wait("pods without GPUs run on all nodes", lambda: len(others(cluster)) == 2 * NODES)


def others(cluster):
    """By their ids, those that run and do not end."""
    pods = cluster.get("/api/v1/namespaces/default/pods?labelSelector=app+in+(Deployment,DaemonSet)")["items"]
    return {p["metadata"]["uid"] for p in pods if p["status"]["phase"] == "Running" and "deletionTimestamp" not in p["metadata"]}


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def marks_of(node):
    """What is left of a drain."""
    spec, annotations = node["spec"], node["metadata"].get("annotations", {})
    return [name for name, there in (("cordon", spec.get("unschedulable")), ("annotation", MARK in annotations),
                                     ("taint", any(t["key"] == MARK for t in spec.get("taints", [])))) if there]


def run_change(fleet, cluster):
    fleet.env.update(bin=str(fleet.build), nodes=str(NODES), scratch=str(fleet.folder), fleet=str(fleet.place))
    fleet.must("sh", "-c", CHANGE)
    cluster.patch("/api/v1/nodes/" + CORDONED, {"spec": {"unschedulable": True}}, manager="kim")
    fleet.must("lockstep", "change", "start", "1", "--nodes", str(NODES), "--gpus", str(GPUS), "--reason", "test")
    wait("some nodes are changed", lambda: fleet.parts()["done"] >= KILL_SERVER)
    cluster.kill("kube-apiserver")
    time.sleep(AWAY_S)
    check("while kube-apiserver is away, lockstepd answers", fleet.change()["state"] == "running")
    cluster.start("kube-apiserver")
    wait("kube-apiserver answers again", lambda: cluster.is_ready())
    # One that lost its watch binds pods by what it knew before, for up to a minute. lockstepd waits for that by its own clock, which
    # is fast here.
    cluster.kill("kube-scheduler")
    cluster.start("kube-scheduler")
    wait("more nodes are changed", lambda: fleet.parts()["done"] >= KILL_LOCKSTEPD)
    fleet.stop("lockstepd", signal.SIGKILL)
    fleet.start_lockstepd()
    wait("all other nodes are changed", lambda: fleet.parts()["done"] >= NODES - 1)
    node = cluster.get("/api/v1/nodes/" + CORDONED)
    check("the node that a person cordoned is as the person left it", marks_of(node) == ["cordon"], marks_of(node))
    cluster.patch("/api/v1/nodes/" + CORDONED, {"spec": {"unschedulable": None}}, manager="kim")
    wait("with the end of that cordon it is changed as well", lambda: fleet.parts()["done"] == NODES)
    wait("the change is done", lambda: fleet.change()["state"] == "done")
    wait(f"all {NODES} nodes run the next stack", lambda: len(fleet.on("next")) == NODES)
    wait("no drain is left", lambda: not any(marks_of(n) for n in cluster.get("/api/v1/nodes")["items"]))


def drains(cluster):
    """For each node the times between which lockstepd had it drained, by the audit log."""
    found = {name: [] for name in (n["metadata"]["name"] for n in cluster.get("/api/v1/nodes")["items"])}
    for e in cluster.audit():
        if e["user"]["username"] != US or e["verb"] != "patch" or e["responseStatus"]["code"] != 200:
            continue
        at, node, written = moment(e["stageTimestamp"]), e["objectRef"]["name"], e["requestObject"]["metadata"]
        if MARK not in written.get("annotations", {}):
            continue  # a verdict
        if written["annotations"][MARK] is None:
            found[node][-1][1] = at
        elif not found[node] or found[node][-1][1] is not None:
            found[node].append([at, None])
    return found


def changing(fleet, node):
    """From the moment at which lockstepd took the node as drained, as the journal has it, until the node returned to service."""
    records = fleet.run("node", "history", node, "--limit", "0", "--json")["items"]
    return (min(moment(r["time"]) for r in records if r.get("text") == DRAINED),
            max(moment(r["time"]) for r in records if r["kind"] == "undrained"))


def right(e):
    """The right that a request needs, as (verb, group, resource): the resource with its subresource, as roles have it."""
    at = e["objectRef"]
    return e["verb"], at.get("apiGroup", ""), "/".join(at[k] for k in ("resource", "subresource") if k in at)


def check_rights(cluster, ours, spared=frozenset()):
    """The role has what lockstepd used and `spared`, and nothing else. A kube-apiserver that starts refuses known users for a moment:
    missing is what was never granted."""
    role = cluster.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/lockstep")
    granted = {(v, g, r) for rule in role["rules"] for v in rule["verbs"] for g in rule["apiGroups"] for r in rule["resources"]}
    used = {right(e) for e in ours if e["responseStatus"]["code"] != 403}
    denied = {right(e): e["responseStatus"] for e in ours if e["responseStatus"]["code"] == 403}
    check(f"lockstepd used {len(used)} of its {len(granted)} rights, as it should", granted - used == spared and used <= granted,
          (granted - used, used - granted))
    check("it lacked none, and its policy refused nothing", not any(
        r not in used or "ValidatingAdmissionPolicy" in status.get("message", "") for r, status in denied.items()), denied)


def check_audit(cluster):
    ours = [e for e in cluster.audit() if e["user"]["username"] == US]
    what = {right(e) for e in ours if e["verb"] not in ("get", "list", "watch")}
    check("lockstepd changed nodes and nothing else: no pod was deleted or evicted", what == CHANGES, what)
    check_rights(cluster, ours, {EVICTION})


def span(pod):
    """When it was bound, and when it ended; whole seconds."""
    bound = next(c["lastTransitionTime"] for c in pod["status"]["conditions"] if c["type"] == "PodScheduled")
    return moment(bound), moment(pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"])


def check_pods(fleet, cluster, jobs):
    pods, windows = jobs.pods(), drains(cluster)
    changed = {node: changing(fleet, node) for node in fleet.nodes}
    under, late, after = [], [], set()
    check("each node was drained once", all(len(w) == 1 and w[0][1] for w in windows.values()), windows)
    for pod in pods:
        node, (bound, ended) = pod["spec"]["nodeName"], span(pod)
        what = (pod["metadata"]["name"], node, bound, ended)
        begin, end = windows[node][0]
        late += [what] if begin + LAG_S < bound and bound + 1 < end else []
        under += [what] if bound + 1 <= begin and ended > changed[node][0] else []
        after |= {node} if bound > end else set()
    check("no pod with GPUs was bound to a node that was drained", not late, late)
    check("none was on a node that was changed", not under, (under, changed))
    check(f"all {len(pods)} pods of Jobs ended by themselves", len(pods) == len(jobs.all()) and
          all(p["status"]["phase"] == "Succeeded" for p in pods))
    check(f"{len(after)} nodes had a job after their return", after)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="lks-k8s-") as name, k8s_cluster.Cluster(pathlib.Path(name) / "k8s") as cluster:
        folder = pathlib.Path(name)
        fleet, jobs = KubeFleet(build, folder, cluster), Jobs(cluster)
        cluster.add_nodes(fleet.nodes, gpus=GPUS_OF_A_NODE)
        cluster.install({})
        fleet.set_token()
        start_others(cluster)
        before = others(cluster)
        with fleet.running("observe"):
            try:
                with Every(TOKEN_EACH_S, fleet.set_token), Every(JOBS_EACH_S, jobs.submit):
                    run_change(fleet, cluster)
                wait("all Jobs end well", jobs.are_done)
                check("pods without GPUs stayed where they were", others(cluster) == before)
                check_audit(cluster)
                check_pods(fleet, cluster, jobs)
            except BaseException:
                fleet.print_change()
                raise
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
