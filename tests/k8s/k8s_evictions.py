#!/usr/bin/env python3
"""A change of 16 nodes of a real Kubernetes in a pool with `drain_jobs: requeue`, under a stream of Jobs that would run for hours.

    k8s_evictions.py BUILD_DIR

The control plane is real, and lockstepd has the rights and the policy of the Helm chart. The kubelets (kwok), agents and BMCs are simulated. Pods with GPUs are evicted: of Jobs, which finish elsewhere, and of a Deployment whose PodDisruptionBudget allows one at a
time. A pod whose budget never allows it, and one without a controller, hold their nodes until a person does something. What lockstepd
did is read from the audit log of the API server. In k8s_campaign.py the pool has no such posture, and no pod is evicted.
"""
import pathlib
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "tests" / "real"), str(SOURCE / "tests" / "k8s")]
import k8s_cluster  # noqa: E402
from k8s_campaign import (CHANGES, EVICTION, MARK, US, Every, Jobs, KubeFleet, check_rights, containers,  # noqa: E402
                          marks_of, moment, others, right, start_others)
from lockstep_here import Tally, check, wait  # noqa: E402
from slurm_gate import CHANGE, GPUS, NODES  # noqa: E402

GPUS_OF_A_NODE = 4
FIRST, LAST = "sim0001", "sim0016"  # of the first and the last wave: the pods that hold them hold no other node
REPLICAS = 4  # of the Deployment
HOURS = 8 * 3600  # that a Job takes, until the test has it end
JOBS_EACH_S = 1
JOBS_MAX = 8
ALL_GPUS = {k8s_cluster.GPU: str(GPUS_OF_A_NODE)}
SPACE = "/api/v1/namespaces/default"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


class LongJobs(Jobs):
    """Jobs that end only when the test says so, up to a number of them."""

    def __init__(self, cluster):
        super().__init__(cluster)
        self.submitted = 0

    def submit(self):
        if self.submitted >= JOBS_MAX:
            return
        self.submitted += 1
        kwok = "pod-complete.stage.kwok.x-k8s.io/"
        self.cluster.ask("POST", "/apis/batch/v1/namespaces/default/jobs", {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": f"train-{self.submitted}"},
            "spec": {"backoffLimit": 1000, "template": {
                "metadata": {"labels": {"app": "train"},
                             "annotations": {kwok + "delay": f"{HOURS}s", kwok + "jitter-delay": f"{HOURS}s"}},
                "spec": {"restartPolicy": "Never", "containers": containers(ALL_GPUS)}}}})

    def end_all(self):
        """As their own end would be: their pods succeed."""
        for pod in self.pods():
            if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]:
                self.cluster.ask("PATCH", f"{SPACE}/pods/{pod['metadata']['name']}/status",
                                 {"status": {"phase": "Succeeded"}}, kind="application/merge-patch+json")


def budget(cluster, name, spec):
    cluster.ask("POST", BUDGETS, {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
                                  "spec": {"selector": {"matchLabels": {"app": name}}, **spec}})


def start_pods(cluster):
    """All of them use the GPUs of a whole node."""
    def pod(on):
        return {"nodeSelector": {"kubernetes.io/hostname": on} if on else {}, "containers": containers(ALL_GPUS)}

    def of(name, kind, replicas, on=None):
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
                "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                         "template": {"metadata": {"labels": {"app": name}}, "spec": pod(on)}}}
    cluster.ask("POST", "/apis/apps/v1/namespaces/default/statefulsets", of("never", "StatefulSet", 1, LAST))
    cluster.ask("POST", SPACE + "/pods", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "labels": {"app": "bare"}},
                                          "spec": pod(FIRST)})
    wait("pods run on two nodes", lambda: len(running(cluster, "never", "bare")) == 2)
    cluster.ask("POST", "/apis/apps/v1/namespaces/default/deployments", of("serve", "Deployment", REPLICAS))
    budget(cluster, "serve", {"maxUnavailable": 1})
    budget(cluster, "never", {"minAvailable": 1})
    wait("pods with GPUs run", lambda: len(running(cluster, "serve", "never", "bare")) == REPLICAS + 2)


def running(cluster, *apps):
    pods = cluster.get(f"{SPACE}/pods?labelSelector=app+in+({','.join(apps)})")["items"]
    return [p for p in pods if p["status"]["phase"] == "Running" and "deletionTimestamp" not in p["metadata"]]


def held(fleet):
    """Nodes of the change that are not done, with what they wait for."""
    return {i["node"]: i.get("text", "") for i in fleet.items("change", "show", "1", "--nodes", "all") if i["state"] != "done"}


def acts(fleet):
    return {a["job"].split("#")[0]: a for a in fleet.change().get("job_acts", [])}


def check_listed(fleet, cluster):
    """The plan has the jobs of Kubernetes."""
    wait("change show lists the pods with GPUs", lambda: fleet.change().get("jobs", {}).get("listed") and
         sum(r["jobs"] for r in fleet.change()["jobs"]["rows"]) >= REPLICAS + 2)
    rows = fleet.change()["jobs"]["rows"]
    check("and how many may be requeued: not the one without a controller", sum(r["jobs"] - r["requeue"] for r in rows) == 1, rows)
    shown = fleet.run("change", "show", "1").stdout
    check("the plan says what happens to pods", "PodDisruptionBudgets allow it" in " ".join(shown.split()), shown)
    check("a pod is not evicted before the start", not evictions(cluster))
    waves = {i["node"]: i["wave"] for i in fleet.items("change", "show", "1", "--nodes", "all")}
    check("the nodes that are held are first and last", waves[FIRST] == 0 and waves[LAST] == max(waves.values()), waves)


def run_change(fleet, cluster):
    fleet.env.update(bin=str(fleet.build), nodes=str(NODES), scratch=str(fleet.folder), fleet=str(fleet.place))
    fleet.must("sh", "-c", CHANGE)
    check_listed(fleet, cluster)
    fleet.must("lockstep", "change", "start", "1", "--nodes", str(NODES), "--gpus", str(GPUS), "--reason", "test")
    wait("the first node waits for the pod without a controller", lambda: "the first is default/bare" in held(fleet)[FIRST])
    check("which is not evicted", "default/bare" not in acts(fleet) and running(cluster, "bare"))
    cluster.ask("DELETE", SPACE + "/pods/bare")
    wait("half of the nodes are changed", lambda: fleet.parts()["done"] >= NODES // 2)
    wait("all nodes but one are changed", lambda: fleet.parts()["done"] == NODES - 1)
    check("the one with a pod whose budget never allows it is left", set(held(fleet)) == {LAST}, held(fleet))
    wait("the node names the budget", lambda: "The disruption budget never needs 1" in held(fleet)[LAST])
    act = acts(fleet)["default/never-0"]
    check("change show names it", act["state"] == "asked" and "disruption budget never" in act["text"], act)
    check("and its pod runs", running(cluster, "never"))
    cluster.ask("DELETE", BUDGETS + "/never")
    wait("without that budget the node is changed", lambda: fleet.parts()["done"] == NODES)
    check("the eviction is done", acts(fleet)["default/never-0"]["state"] == "done", acts(fleet)["default/never-0"])
    wait("the change is done", lambda: fleet.change()["state"] == "done")
    wait(f"all {NODES} nodes run the next stack", lambda: len(fleet.on("next")) == NODES)
    wait("no drain is left", lambda: not any(marks_of(n) for n in cluster.get("/api/v1/nodes")["items"]))


def evictions(cluster):
    return [e for e in cluster.audit() if e["user"]["username"] == US and e["objectRef"].get("subresource") == "eviction"]


def drained(cluster):
    """For each node, the times of our drains and releases."""
    found = {}
    for e in cluster.audit():
        annotations = e.get("requestObject", {}).get("metadata", {}).get("annotations", {})
        if e["user"]["username"] == US and e["verb"] == "patch" and e["responseStatus"]["code"] == 200 and MARK in annotations:
            drains = annotations[MARK] is not None
            found.setdefault(e["objectRef"]["name"], []).append((moment(e["stageTimestamp"]), drains))
    return found


def check_audit(cluster, bound):
    """`bound`: for each pod, by its uid, its node and what it belongs to, as the test saw it."""
    ours = [e for e in cluster.audit() if e["user"]["username"] == US]
    what = {right(e) for e in ours if e["verb"] not in ("get", "list", "watch")}
    check("lockstepd changed nodes and evicted pods, and nothing else", what == CHANGES | {EVICTION}, what)
    check_rights(cluster, ours)
    asked = evictions(cluster)
    uids = [e["requestObject"]["deleteOptions"]["preconditions"]["uid"] for e in asked if e["responseStatus"]["code"] == 201]
    check(f"{len(uids)} pods were evicted, each once and by its uid", uids and len(uids) == len(set(uids)), uids)
    apps = [bound[uid][1] for uid in uids if uid in bound]
    check("pods of Jobs, of the Deployment and the StatefulSet", set(apps) == {"train", "serve", "never"}, apps)
    check("no other was asked for", {e["objectRef"]["name"].split("-")[0] for e in asked} <= {"train", "serve", "never"})
    check("budgets did not always allow it", [e for e in asked if e["responseStatus"]["code"] == 429])
    windows, outside = drained(cluster), []
    for e in asked:
        uid, at = e["requestObject"]["deleteOptions"]["preconditions"]["uid"], moment(e["stageTimestamp"])
        before = [drains for when, drains in windows.get(bound.get(uid, ("",))[0], []) if when <= at]
        outside += [] if uid not in bound or before[-1:] == [True] else [(uid, at)]
    check("only from nodes that lockstep drained then", not outside, outside)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="lks-k8s-") as name, k8s_cluster.Cluster(pathlib.Path(name) / "k8s") as cluster:
        folder = pathlib.Path(name)
        fleet, jobs, bound = KubeFleet(build, folder, cluster), LongJobs(cluster), {}

        def see():
            for pod in cluster.get(SPACE + "/pods")["items"]:
                if pod["spec"].get("nodeName"):
                    bound[pod["metadata"]["uid"]] = (pod["spec"]["nodeName"], pod["metadata"].get("labels", {}).get("app"))
        cluster.add_nodes(fleet.nodes, gpus=GPUS_OF_A_NODE)
        cluster.install({})
        fleet.set_token()
        start_others(cluster)
        start_pods(cluster)
        before = others(cluster)
        with fleet.running("observe"):
            try:
                fleet.set_pool("observe", ", drain_jobs: requeue")
                with Every(0.3, see), Every(JOBS_EACH_S, jobs.submit):
                    run_change(fleet, cluster)
                wait("the pods of all Jobs run, those of evicted ones elsewhere",
                     lambda: len(running(cluster, "train")) == jobs.submitted)
                jobs.end_all()
                wait("and end well", jobs.are_done)
                check("the Deployment has all its pods", len(running(cluster, "serve")) == REPLICAS)
                check("pods without GPUs stayed where they were", others(cluster) == before)
                check_audit(cluster, bound)
            except BaseException:
                fleet.print_change()
                raise
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
