#!/usr/bin/env python3
"""lockstep's verdicts on the nodes of a real Kubernetes: labels, an annotation and a condition, by which kubectl and kube-scheduler
choose nodes.

    k8s_truth.py BUILD_DIR

The control plane is real, and lockstepd has the rights of the Helm chart. Sixteen nodes have simulated agents, so their verdicts change;
LKS_K8S_NODES (200) more nodes of the fleet have none, and are "unknown". lockstepd and kube-apiserver are killed on the way.
"""
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import signal
import ssl
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from k8s_campaign import ACCOUNT, US, KubeFleet, containers  # noqa: E402
import k8s_cluster  # noqa: E402
from lockstep_here import Tally, check, wait  # noqa: E402
import lockstep_here  # noqa: E402

MORE = int(os.environ.get("LKS_K8S_NODES", "200"))
PREFIX = "lockstep.dev/"
KEYS = ("digest", "verdict", "slot")
CONDITION = "LockstepConforms"
DRIFTS = "sim0003"
CONNECTIONS = 4
PAGE = 500
SMALL = {"cpu": "8", "memory": "16Gi", "pods": "110"}


def labels(node):
    return {k: node["metadata"]["labels"][PREFIX + k] for k in KEYS if PREFIX + k in node["metadata"].get("labels", {})}


def condition(node):
    """Status, reason, message and time; None where there is none."""
    found = [c for c in node["status"].get("conditions", []) if c["type"] == CONDITION]
    return found[0] if found else None


def annotation(node):
    return node["metadata"].get("annotations", {}).get(PREFIX + "digest")


def shows(node, verdict, status):
    return labels(node).get("verdict") == verdict and (condition(node) or {}).get("status") == status


class Story:
    def __init__(self, fleet, cluster):
        self.fleet, self.cluster = fleet, cluster

    def node(self, name):
        return self.cluster.get("/api/v1/nodes/" + name)

    def wait_shows(self, name, verdict, status):
        wait(f"{name} shows '{verdict}'", lambda: shows(self.node(name), verdict, status))

    def kubectl_nodes(self, selector):
        return {line.split("/")[1] for line in self.cluster.kubectl("get", "nodes", "-l", selector, "-o", "name").split()}


def first_verdicts(story):
    fleet = story.fleet
    wait("all nodes show that they conform", lambda: story.kubectl_nodes(PREFIX + "verdict=conform") == set(fleet.nodes))
    digest = fleet.node("sim0001")["stack_digest"]
    node = story.node("sim0001")
    check("the label is the short digest", labels(node) == {"digest": digest[7:19], "verdict": "conform", "slot": "lks0"}, labels(node))
    check("the annotation is the whole digest", annotation(node) == digest, annotation(node))
    said = condition(node)
    check("the condition is True, with a reason and a line", said["status"] == "True" and said["reason"] == "StackConforms" and
          said["message"] == "the node runs its stack", said)
    managers = {m["manager"] for m in node["metadata"]["managedFields"] if PREFIX in json.dumps(m["fieldsV1"])}
    check("they are of the field manager 'lockstep-truth'", managers == {"lockstep-truth"}, managers)
    return digest


def drift_and_back(story):
    fleet, before = story.fleet, condition(story.node(DRIFTS))
    fleet.set_dcgm(DRIFTS, "1:4.5.3-1", "1:4.5.4-1")
    story.wait_shows(DRIFTS, "drift", "False")
    said = condition(story.node(DRIFTS))
    check("its condition has what differs, and its own time",
          said["reason"] == "StackDiffers" and "dcgm" in said["message"] and "4.5.3" in said["message"] and
          said["lastTransitionTime"] >= before["lastTransitionTime"], said)
    same = condition(story.node("sim0001"))
    check("kubectl shows why", "StackDiffers" in story.cluster.kubectl("describe", "node", DRIFTS))
    return same


def place_pod(story, digest):
    """kube-scheduler takes nodes of the digest that conform, and no other."""
    def pod(name, selector):
        story.cluster.ask("POST", "/api/v1/namespaces/default/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"nodeSelector": {PREFIX + k: v for k, v in selector.items()}, "containers": containers({k8s_cluster.GPU: "1"})}})

    def where(name):
        return story.cluster.get("/api/v1/namespaces/default/pods/" + name)["spec"].get("nodeName")
    pod("fits", {"digest": digest[7:19], "verdict": "conform"})
    pod("drifts", {"digest": digest[7:19], "verdict": "drift"})
    pod("none", {"digest": "0" * 12})
    wait("a pod with the digest is placed", lambda: where("fits"))
    check("on a node that conforms", where("fits") != DRIFTS, where("fits"))
    wait("one that asks for a node that differs gets that", lambda: where("drifts") == DRIFTS)
    check("one with another digest waits", where("none") is None)
    for name in ("fits", "drifts", "none"):
        story.cluster.ask("DELETE", "/api/v1/namespaces/default/pods/" + name)


def others_write(story, digest):
    """A person, other managers, and a node that is made again."""
    cluster, full = story.cluster, {"digest": digest[7:19], "verdict": "conform", "slot": "lks0"}
    cluster.kubectl("label", "node", "sim0001", "--overwrite", PREFIX + "verdict=drift", "example.com/zone=a")
    cluster.kubectl("label", "node", "sim0002", PREFIX + "digest-")
    cluster.kubectl("annotate", "node", "sim0002", "--overwrite", PREFIX + "digest=sha256:0")
    wait("a person's label is undone", lambda: labels(story.node("sim0001")) == full)
    wait("one that a person removed is back", lambda: labels(story.node("sim0002")) == full)
    wait("and the annotation", lambda: annotation(story.node("sim0002")) == digest)
    cluster.ask("PATCH", "/api/v1/nodes/sim0005?fieldManager=kim&force=true", {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "sim0005", "labels": {PREFIX + "slot": "kim", "example.com/a": "b"}}},
        kind="application/apply-patch+yaml")
    wait("a key that another manager took is taken back", lambda: labels(story.node("sim0005")) == full)
    check("other labels stay", story.node("sim0001")["metadata"]["labels"]["example.com/zone"] == "a" and
          story.node("sim0005")["metadata"]["labels"]["example.com/a"] == "b")
    since = condition(story.node("sim0006"))["lastTransitionTime"]
    cluster.ask("PATCH", "/api/v1/nodes/sim0006/status?fieldManager=kim", {
        "status": {"conditions": [{"type": CONDITION, "status": "True", "reason": "StackConforms", "message": "kim was here",
                                   "lastTransitionTime": since}]}}, kind="application/strategic-merge-patch+json")
    wait("the message of a condition is undone", lambda: condition(story.node("sim0006"))["message"] == "the node runs its stack")
    check("and its time stays, as its status did", condition(story.node("sim0006"))["lastTransitionTime"] == since)
    check("conditions of others stay", any(c["type"] == "Ready" for c in story.node("sim0006")["status"]["conditions"]))
    cluster.ask("DELETE", "/api/v1/nodes/sim0007")
    cluster.add_nodes(["sim0007"], gpus=4)
    wait("a node that was deleted and made again shows its verdict", lambda: labels(story.node("sim0007")) == full)


def kills(story, same):
    fleet, cluster = story.fleet, story.cluster
    cluster.kill("kube-apiserver")
    fleet.set_dcgm(DRIFTS, "1:4.5.4-1", "1:4.5.3-1")
    wait("lockstep has the new verdict", lambda: fleet.node(DRIFTS).get("judged") == "conforms")
    fleet.stop("lockstepd", signal.SIGKILL)
    cluster.start("kube-apiserver")
    wait("kube-apiserver answers again", cluster.is_ready)
    cluster.kubectl("label", "node", "sim0008", "--overwrite", PREFIX + "verdict=drift")
    fleet.start_lockstepd()
    story.wait_shows(DRIFTS, "conform", "True")
    wait("what a person changed meanwhile is undone", lambda: labels(story.node("sim0008")).get("verdict") == "conform")
    check("a condition that did not change has its time", condition(story.node("sim0001")) == same)


def row(story):
    return next(i for i in story.fleet.items("scheduler", "ls") if i["scheduler"] == "kubernetes")


def withdrawn(story):
    """`publish: no` removes everything, and nodes whose pool leaves Kubernetes show nothing."""
    def show_nothing():
        return not any(labels(n) or condition(n) or annotation(n) for n in story.cluster.get("/api/v1/nodes")["items"])

    def all_conform():
        return story.kubectl_nodes(PREFIX + "verdict=conform") == set(fleet.nodes)
    fleet, config = story.fleet, story.fleet.place / "controller/lockstepd.yaml"
    check("scheduler ls counts the nodes that show their verdict", row(story)["published"] == len(fleet.nodes), row(story))
    text = config.read_text()
    config.write_text(text.replace("kubernetes:\n", 'kubernetes:\n  publish: "no"\n'))
    fleet.daemons["lockstepd"].send_signal(signal.SIGHUP)
    wait("with publish: no, no node shows anything", show_nothing)
    config.write_text(text)
    fleet.daemons["lockstepd"].send_signal(signal.SIGHUP)
    wait("and again with publish: yes", all_conform)
    fleet.sched = "none"
    fleet.set_pool("observe")
    wait("when the pool leaves Kubernetes, no node shows anything", show_nothing)
    fleet.sched = "kubernetes"
    fleet.set_pool("observe")
    wait("and again when it is back", all_conform)


# Many nodes.

def on_connections(cluster, names, ask):
    """Requests over a few connections that stay open."""
    def run(part):
        context = ssl.create_default_context(cafile=cluster.path("ca.crt"))
        connection = http.client.HTTPSConnection("127.0.0.1", cluster.ports["api"], context=context, timeout=60)
        for name in part:
            method, path, body = ask(name)
            connection.request(method, path, json.dumps(body), {
                "Authorization": "Bearer " + cluster.tokens["admin"], "Content-Type": "application/json", "User-Agent": "tests"})
            answer = connection.getresponse()
            answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"{method} {path}: {answer.status}")
        connection.close()
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(run, [names[i::CONNECTIONS] for i in range(CONNECTIONS)]))


def new_node(name):
    return "POST", "/api/v1/nodes", {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
                                                         "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": SMALL, "capacity": SMALL}}


def many(story):
    """How many nodes have a verdict and the condition."""
    query, count, more = f"limit={PAGE}&labelSelector={PREFIX.replace('/', '%2F')}verdict", 0, ""
    while True:
        page = story.cluster.get(f"/api/v1/nodes?{query}{more}")
        count += sum(condition(n) is not None for n in page["items"])
        if not page["metadata"].get("continue"):
            return count
        more = "&continue=" + page["metadata"]["continue"]


def to_speed(fleet, speed):
    config = fleet.place / "controller/lockstepd.yaml"
    config.write_text(re.sub("speed: .*", f"speed: {speed}", config.read_text()))


def is_published(story, total):
    time.sleep(1)
    now = row(story)
    return now["published"] == total and now["behind"] == 0


def with_many(story):
    fleet, cluster, total = story.fleet, story.cluster, MORE + len(story.fleet.nodes)
    names = [f"more{i:04}" for i in range(1, MORE + 1)]
    begun = time.monotonic()
    on_connections(cluster, names, new_node)
    print(f"     {MORE} nodes are made in {time.monotonic() - begun:.0f} s")
    fleet.stop("lockstepd")
    to_speed(fleet, 1)
    fleet.start_lockstepd()
    text = (fleet.folder / "fleet.yaml").read_text()
    more = f'\nnodes:\n  - {{hosts: "more[0001-{MORE:04}]", pool: train, class: golden-class, site: here}}\n'
    fleet.apply(text.replace("\nnodes:\n", more))
    begun = time.monotonic()
    wait(f"all {total} nodes show a verdict, as scheduler ls has it", lambda: is_published(story, total))
    print(f"     that took {time.monotonic() - begun:.0f} s")
    check("and as the API server has it", many(story) == total)
    check("nodes without an agent are unknown", shows(story.node(names[-1]), "unknown", "Unknown"), labels(story.node(names[-1])))
    fleet.stop("lockstepd", signal.SIGKILL)
    changed = names[::10]
    on_connections(cluster, changed, lambda name: ("DELETE", "/api/v1/nodes/" + name, None))
    on_connections(cluster, changed, new_node)
    begun = time.monotonic()
    fleet.start_lockstepd()
    wait("after a restart all nodes show their verdicts again", lambda: is_published(story, total))
    print(f"     that took {time.monotonic() - begun:.0f} s")
    check("and as the API server has it", many(story) == total)


def check_rights(cluster):
    denied = [e for e in cluster.audit() if e["user"]["username"] == US and e["responseStatus"]["code"] == 403]
    check("its rights were enough", not denied, denied[:1])


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    lockstep_here.WAIT_S = 600 if MORE > 1000 else lockstep_here.WAIT_S
    with tempfile.TemporaryDirectory(prefix="lks-k8s-") as name, \
            k8s_cluster.Cluster(pathlib.Path(name) / "k8s", lease_seconds=240) as cluster:
        fleet = KubeFleet(build, pathlib.Path(name), cluster)
        story = Story(fleet, cluster)
        cluster.add_nodes(fleet.nodes, gpus=4)
        cluster.install({})
        (fleet.folder / "token").write_text(cluster.account_token(*ACCOUNT))
        (fleet.folder / "token").chmod(0o600)
        with fleet.running("observe"):
            digest = first_verdicts(story)
            same = drift_and_back(story)
            place_pod(story, digest)
            others_write(story, digest)
            kills(story, same)
            withdrawn(story)
            with_many(story)
            check_rights(cluster)
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
