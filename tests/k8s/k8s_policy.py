#!/usr/bin/env python3
"""The chart's policies in a real API server: pods that are accepted, refused, warned about and changed; gangs that the real scheduler
places on one digest; and what lockstep's own account may change of a node.

    k8s_policy.py

Nodes have the labels that lockstepd publishes, set here by the administrator. No lockstepd runs.
"""
import http.client
import json
import pathlib
import re
import ssl
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "tests" / "real")]
import k8s_cluster  # noqa: E402
from k8s_cluster import GPU, Refused  # noqa: E402
from lockstep_here import Tally, check, wait  # noqa: E402

OPEN, TRAIN = "open", "train"  # namespaces: without and with the label
VERDICT, DIGEST, DRAIN = "lockstep.dev/verdict", "lockstep.dev/digest", "lockstep.dev/drain"
OLD, NEW = "0123456789ab", "ba9876543210"
CONFORMING = {"a1": OLD, "a2": OLD, "a3": OLD, "a4": OLD, "b1": NEW, "b2": NEW, "b3": NEW, "b4": NEW}
OTHERS = {"d1": (OLD, "drift"), "u1": (NEW, "unknown")}
GPUS = 8
GANG = 4
GANGS = 3
TRIES = 10
GATHER = 10  # pods that fill all nodes


def pod(limits=None, init=None, **spec):
    container = {"name": "c", "image": "x", "resources": {"limits": limits or {}}}
    more = {"initContainers": [{"name": "i", "image": "x", "resources": {"limits": init}}]} if init else {}
    return {"containers": [container], **more, **spec}


def gpu_pod(**spec):
    return pod({GPU: "1"}, **spec)


def required(*terms):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": k, "operator": o, "values": v} for k, o, v in term]} for term in terms]}}}


CONFORMS = {"nodeSelector": {VERDICT: "conform"}}
CLAIM = {"resourceClaims": [{"name": "g", "resourceClaimName": "g"}]}
ZONE = ("topology.kubernetes.io/zone", "In", ["a"])

# Pods with the name of the row: the spec, and a part of the refusal, or None.
PODS = {
    "without a GPU": (pod(), None),
    "without a GPU, which names another vendor's device": (pod({"example.com/nic": "1"}), None),
    "with no GPU in number": (pod({GPU: "0"}), None),
    "with a GPU": (gpu_pod(), "must select nodes that conform"),
    "with a device of a DeviceClass": (pod({"deviceclass.resource.kubernetes.io/gpu.nvidia.com": "1"}), "must select nodes that conform"),
    "with a MIG device": (pod({"nvidia.com/mig-1g.10gb": "1"}), "must select nodes that conform"),
    "with a GPU of AMD": (pod({"amd.com/gpu": "8"}), "must select nodes that conform"),
    "with a GPU in an init container": (pod(init={GPU: "1"}), "must select nodes that conform"),
    "with a claim": (pod(**CLAIM), "must select nodes that conform"),
    "that selects conforming nodes": (gpu_pod(**CONFORMS), None),
    "with a claim that selects conforming nodes": (pod(**CLAIM, **CONFORMS), None),
    "that selects a digest": (gpu_pod(nodeSelector={DIGEST: OLD}), None),
    "that selects nodes with drift": (gpu_pod(nodeSelector={VERDICT: "drift"}), "must select nodes that conform"),
    "with an affinity to conforming nodes": (gpu_pod(affinity=required([(VERDICT, "In", ["conform"])])), None),
    "with an affinity to digests": (gpu_pod(affinity=required([(DIGEST, "In", [OLD, NEW])])), None),
    "with an affinity to conforming nodes of a zone": (gpu_pod(affinity=required([ZONE, (VERDICT, "In", ["conform"])])), None),
    "with an alternative that does not ask": (
        gpu_pod(affinity=required([(VERDICT, "In", ["conform"])], [ZONE])), "must select nodes that conform"),
    "with an affinity to unknown nodes as well": (
        gpu_pod(affinity=required([(VERDICT, "In", ["conform", "unknown"])])), "must select nodes that conform"),
    "with an affinity against drift": (gpu_pod(affinity=required([(VERDICT, "NotIn", ["drift"])])), "must select nodes that conform"),
    "that only prefers conforming nodes": (gpu_pod(affinity={"nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {
            "matchExpressions": [{"key": VERDICT, "operator": "In", "values": ["conform"]}]}}]}}), "must select nodes that conform"),
    "that names its node": (gpu_pod(nodeName="a1", **CONFORMS), "spec.nodeName passes by the scheduler"),
    "without a GPU that names its node": (pod(nodeName="a1"), "spec.nodeName passes by the scheduler"),
    "that tolerates the drain": (
        gpu_pod(tolerations=[{"key": DRAIN, "operator": "Exists"}], **CONFORMS), "tolerates lockstep.dev/drain"),
    "that tolerates every taint": (gpu_pod(tolerations=[{"operator": "Exists"}], **CONFORMS), "name the keys"),
    "that tolerates every NoSchedule": (
        gpu_pod(tolerations=[{"operator": "Exists", "effect": "NoSchedule"}], **CONFORMS), "tolerates lockstep.dev/drain"),
    "that tolerates every NoExecute": (gpu_pod(tolerations=[{"operator": "Exists", "effect": "NoExecute"}], **CONFORMS), None),
    "that tolerates GPUs": (gpu_pod(tolerations=[{"key": GPU, "operator": "Exists"}], **CONFORMS), None),
    "with as much as a pod has": (
        {"containers": [{"name": f"c{i}", "image": "x", "resources": {"limits": {f"example.com/r{j}": "1" for j in range(50)}}}
                        for i in range(100)],
         "tolerations": [{"key": f"example.com/t{i}", "operator": "Exists"} for i in range(200)]}, None),
}


class Answer:
    """Of a request whose warnings count."""

    def __init__(self, cluster, method, path, body):
        c = http.client.HTTPSConnection("127.0.0.1", cluster.ports["api"], timeout=k8s_cluster.REQUEST_SECONDS,
                                        context=ssl.create_default_context(cafile=cluster.path("ca.crt")))
        c.request(method, path, json.dumps(body), {"Authorization": "Bearer " + cluster.tokens["admin"],
                                                   "Content-Type": "application/json"})
        r = c.getresponse()
        self.warnings = "; ".join(r.headers.get_all("Warning") or [])
        self.status, self.json = r.status, json.loads(r.read())
        c.close()

    @property
    def text(self):
        return self.json.get("message", "")


def create(cluster, spec, namespace=TRAIN, labels=None, name="p", dry=True):
    return Answer(cluster, "POST", f"/api/v1/namespaces/{namespace}/pods" + ("?dryRun=All" if dry else ""), {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}}, "spec": spec})


def set_policy(cluster, holds, **policy):
    """The API server takes a policy over after a moment."""
    cluster.install({"policy": policy})
    wait(f"the API server has the policies {policy}", holds)


def is_refused(cluster, spec, **how):
    return create(cluster, spec, **how).status == 422


def check_compiled(cluster):
    """The API server's own check of types in the expressions."""
    path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/"
    for name in ("lockstep-own", "lockstep-pods"):
        wait(f"{name}: the types are checked", lambda name=name: "typeChecking" in cluster.get(path + name).get("status", {}))
        warnings = cluster.get(path + name)["status"]["typeChecking"].get("expressionWarnings", [])
        check(f"{name}: the types are right", not warnings, warnings)


def check_deny(cluster):
    set_policy(cluster, lambda: is_refused(cluster, gpu_pod()), pods=True)
    check_compiled(cluster)
    for name, (spec, why) in PODS.items():
        a = create(cluster, spec)
        ok = a.status == 201 if why is None else a.status == 422 and why in a.text
        check(f"{'accepted' if why is None else 'refused'}: a pod {name}", ok, (a.status, a.text))
    a = create(cluster, gpu_pod(nodeName="a1"), namespace=OPEN)
    check("accepted: any pod in a namespace without the label", a.status == 201, a.text)
    cluster.kubectl("label", "namespace", "kube-system", "lockstep.dev/admission=enabled")
    a = create(cluster, gpu_pod(nodeName="a1"), namespace="kube-system")
    check("accepted: any pod in a namespace of the system, whatever its label", a.status == 201, a.text)
    cluster.kubectl("label", "namespace", "kube-system", "lockstep.dev/admission-")


def check_update(cluster):
    """Of a pod that exists, Kubernetes lets a client change labels, and add tolerations."""
    path = f"/api/v1/namespaces/{TRAIN}/pods/gated"
    create(cluster, gpu_pod(schedulingGates=[{"name": "example.com/wait"}], **CONFORMS), name="gated", dry=False)
    there = cluster.get(path)["spec"]["tolerations"]

    def why(body):
        try:
            cluster.patch(path, body)
            return ""
        except k8s_cluster.Refused as fault:
            return str(fault)
    refused = why({"spec": {"tolerations": [*there, {"key": DRAIN, "operator": "Exists"}]}})
    check("refused: a pod that is to tolerate drains later", "tolerates lockstep.dev/drain" in refused, refused)
    for what, body in (("a label", {"metadata": {"labels": {"x": "y"}}}), ("another toleration", {
            "spec": {"tolerations": [*there, {"key": GPU, "operator": "Exists"}]}})):
        check(f"accepted: a pod gets {what} later", why(body) == "", why(body))
    cluster.ask("DELETE", path)


def daemon(name, limits):
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"tolerations": [{"operator": "Exists"}], "containers": [
                    {"name": "c", "image": "x", "resources": {"limits": limits}}]}}}}


def check_controllers(cluster):
    """Pods that controllers make: a DaemonSet without GPUs runs on all nodes; one with GPUs is refused like all others."""
    sets = f"/apis/apps/v1/namespaces/{TRAIN}/daemonsets"
    cluster.ask("POST", sets, daemon("logs", {}))
    count = len(CONFORMING) + len(OTHERS)
    wait("a DaemonSet without GPUs runs on all nodes", lambda: cluster.get(sets + "/logs")["status"]["numberReady"] == count)
    cluster.ask("POST", sets, daemon("burn", {GPU: "1"}))
    events = f"/api/v1/namespaces/{TRAIN}/events?fieldSelector=reason%3DFailedCreate"
    wait("the events of one with GPUs have the refusal", lambda: any(
        e["involvedObject"]["name"] == "burn" and "lockstep-pods" in e["message"] for e in cluster.get(events)["items"]))
    check("and it has no pod", cluster.get(sets + "/burn")["status"]["currentNumberScheduled"] == 0)
    for name in ("logs", "burn"):
        cluster.ask("DELETE", f"{sets}/{name}")
    wait("its pods are gone", lambda: not cluster.get(f"/api/v1/namespaces/{TRAIN}/pods")["items"])


def check_observe(cluster):
    set_policy(cluster, lambda: not is_refused(cluster, gpu_pod()), pods=True, mode="observe")
    a = create(cluster, gpu_pod(), dry=False, name="observed")
    check("observed: a pod with a GPU is accepted with a warning", a.status == 201 and "must select nodes" in a.warnings, a.warnings)
    noted = [e for e in cluster.audit() if e["objectRef"].get("name") == "observed" and e["verb"] == "create"]
    key = "validation.policy.admission.k8s.io/validation_failure"
    check("and the audit log has why", noted and "lockstep-pods" in noted[0].get("annotations", {}).get(key, ""), noted)
    a = create(cluster, gpu_pod(**CONFORMS))
    check("observed: a pod that conforms has no warning", a.status == 201 and not a.warnings, a.warnings)
    cluster.ask("DELETE", f"/api/v1/namespaces/{TRAIN}/pods/observed?gracePeriodSeconds=0")


# Pods that are changed.

def selector_of(a):
    return a.json.get("spec", {}).get("nodeSelector", {})


def gang_of(a):
    """The labels by which the pod has to be on the digest of others."""
    terms = a.json.get("spec", {}).get("affinity", {}).get("podAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])
    return [t["labelSelector"]["matchLabels"] for t in terms if t["topologyKey"] == DIGEST]


JOB = {"batch.kubernetes.io/controller-uid": "u1", "batch.kubernetes.io/job-name": "j", "batch.kubernetes.io/job-completion-index": "3"}
JOBSET = {**JOB, "jobset.sigs.k8s.io/jobset-uid": "s1"}
LWS = {"leaderworkerset.sigs.k8s.io/group-key": "g1", "leaderworkerset.sigs.k8s.io/name": "l"}
# Labels of a pod with GPUs, and those of the gang that it becomes part of.
GANG_LABELS = {
    "no controller": ({}, None),
    "a Job without indexes": ({k: v for k, v in JOB.items() if "index" not in k}, None),
    "an indexed Job": (JOB, {"batch.kubernetes.io/controller-uid": "u1"}),
    "a JobSet": (JOBSET, {"jobset.sigs.k8s.io/jobset-uid": "s1"}),
    "a LeaderWorkerSet": (LWS, {"leaderworkerset.sigs.k8s.io/group-key": "g1"}),
    "an indexed Job that is no gang": ({**JOB, "lockstep.dev/gang": "false"}, None),
}
NEAR = {"labelSelector": {"matchLabels": {"app": "data"}}, "topologyKey": "kubernetes.io/hostname"}


def check_mutate(cluster):
    drained = gpu_pod(tolerations=[{"operator": "Exists"}])
    set_policy(cluster, lambda: selector_of(create(cluster, gpu_pod())) == CONFORMS["nodeSelector"] and
               gang_of(create(cluster, gpu_pod(), labels=JOB)) and is_refused(cluster, drained), pods=True, mutate=True)
    a = create(cluster, gpu_pod())
    check("changed: a pod with a GPU is accepted, and selects conforming nodes", a.status == 201 and
          selector_of(a) == CONFORMS["nodeSelector"], (a.status, a.text))
    check("as it is: a pod without a GPU", selector_of(create(cluster, pod(), labels=JOB)) == {} and
          gang_of(create(cluster, pod(), labels=JOB)) == [])
    a = create(cluster, gpu_pod(nodeSelector={"disk": "nvme"}, affinity=required([ZONE], [("rack", "In", ["r1"])])))
    check("changed: the selector and affinity of the user stay", selector_of(a) == {"disk": "nvme", VERDICT: "conform"} and
          a.json["spec"].get("affinity") == required([ZONE], [("rack", "In", ["r1"])]), a.json.get("spec"))
    a = create(cluster, gpu_pod(nodeSelector={VERDICT: "drift"}))
    check("refused: a verdict that the user asks for is not replaced", a.status == 422, a.text)
    a = create(cluster, drained)
    check("refused: what the change does not cure", a.status == 422 and "name the keys" in a.text, a.text)
    for name, (labels, gang) in GANG_LABELS.items():
        a = create(cluster, gpu_pod(), labels=labels)
        check(f"gang of a pod of {name}", a.status == 201 and gang_of(a) == ([gang] if gang else []), (a.text, gang_of(a)))
    for name, affinity in {"none": {}, "one to nodes": required([ZONE]), "one to pods": {"podAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": NEAR}]}},
            "a required one to pods": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [NEAR]}}}.items():
        a = create(cluster, gpu_pod(affinity=affinity), labels=JOB)
        got = a.json.get("spec", {}).get("affinity", {})
        kept = got.get("podAffinity", {}).pop("requiredDuringSchedulingIgnoredDuringExecution", [])
        asked = json.loads(json.dumps(affinity)).get("podAffinity", {}).pop("requiredDuringSchedulingIgnoredDuringExecution", [])
        check(f"a gang's pod keeps its affinity: {name}", kept[:-1] == asked and len(kept) == len(asked) + 1 and
              all(got.get(k, {}) == v for k, v in affinity.items() if k != "podAffinity"), a.json)


def job(name, count, namespace, gpus=GPUS):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace},
            "spec": {"completions": count, "parallelism": count, "completionMode": "Indexed", "backoffLimit": 0, "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"restartPolicy": "Never", "containers": [
                    {"name": "c", "image": "x", "resources": {"limits": {GPU: str(gpus)}}}]}}}}


def place(cluster, name, count, namespace):
    """The nodes that the real scheduler gives the pods of an indexed Job, which is removed after that."""
    jobs, pods = f"/apis/batch/v1/namespaces/{namespace}/jobs", f"/api/v1/namespaces/{namespace}/pods?labelSelector=app%3D{name}"
    cluster.ask("POST", jobs, job(name, count, namespace))

    def running():
        return [p["spec"]["nodeName"] for p in cluster.get(pods)["items"] if p["status"]["phase"] == "Running"]
    wait(f"{count} pods of {namespace}/{name} run", lambda: len(running()) == count)
    nodes = running()
    cluster.ask("DELETE", f"{jobs}/{name}?propagationPolicy=Background")
    wait(f"the pods of {name} are gone", lambda: not cluster.get(pods)["items"])
    return nodes


def check_gangs(cluster):
    nodes = place(cluster, "fill", GATHER, OPEN)
    check(f"without the label {GATHER} pods are on all nodes", sorted(nodes) == sorted([*CONFORMING, *OTHERS]), nodes)
    digests = []
    for i in range(GANGS):
        nodes = place(cluster, f"gang{i}", GANG, TRAIN)
        digests.append({CONFORMING.get(n, "none") for n in nodes})
        check(f"gang {i}: {GANG} pods on one digest of conforming nodes, in a pool with two", len(digests[-1]) == 1 and
              "none" not in digests[-1], nodes)
    # Three nodes of each digest are left: the gang waits as a whole on one, rather than run on both.
    for node in ("a1", "b1"):
        cluster.patch("/api/v1/nodes/" + node, {"metadata": {"labels": {VERDICT: "drift"}}})
    cluster.ask("POST", f"/apis/batch/v1/namespaces/{TRAIN}/jobs", job("large", GANG, TRAIN))
    pods = f"/api/v1/namespaces/{TRAIN}/pods?labelSelector=app%3Dlarge"

    def waiting():
        return [p for p in cluster.get(pods)["items"] if any(
            c["type"] == "PodScheduled" and c["status"] == "False" for c in p["status"].get("conditions", []))]

    def on():
        return {CONFORMING[p["spec"]["nodeName"]] for p in cluster.get(pods)["items"] if "nodeName" in p["spec"]}
    wait("of a gang of 4 where each digest has 3 nodes, one pod waits", lambda: len(waiting()) == 1)
    check("and the others are on one digest", len(on()) == 1, on())
    digest = next(iter(on()))
    cluster.patch("/api/v1/nodes/" + ("a1" if digest == OLD else "b1"), {"metadata": {"labels": {VERDICT: "conform"}}})
    wait("it starts when a fourth node conforms", lambda: not waiting() and len(cluster.get(pods)["items"]) == GANG)
    check("on the same digest", on() == {digest}, on())


# What lockstep may change of a node.

OURS = "lockstep.dev/slot"
SPOT = {"key": "example.com/spot", "value": "yes", "effect": "NoSchedule"}
OUR_TAINT = {"key": DRAIN, "effect": "NoSchedule"}
READY = {"type": "Ready", "status": "False", "reason": "x", "message": "x"}
OUR_CONDITION = {"type": "LockstepConforms", "status": "True", "reason": "x", "message": "x"}


def without(taint):
    return lambda taints: [t for t in taints if t["key"] != taint["key"]]


# (body of the merge patch, of the status, refused with). A list is made from what the node has: controllers change it as well.
WRITES = {
    "its labels": ({"metadata": {"labels": {OURS: "lks1"}}}, False, None),
    "the removal of its label": ({"metadata": {"labels": {OURS: None}}}, False, None),
    "its annotations": ({"metadata": {"annotations": {DRAIN: "{}", DIGEST: "sha256:0"}}}, False, None),
    "a cordon": ({"spec": {"unschedulable": True}}, False, None),
    "the end of a cordon": ({"spec": {"unschedulable": None}}, False, None),
    "its taint": ({"spec": {"taints": lambda taints: [*taints, OUR_TAINT]}}, False, None),
    "the end of its taint": ({"spec": {"taints": without(OUR_TAINT)}}, False, None),
    "its condition": ({"status": {"conditions": lambda all: [*all, OUR_CONDITION]}}, True, None),
    "another label": ({"metadata": {"labels": {"pool": "x"}}}, False, "no label"),
    "the removal of another label": ({"metadata": {"labels": {"kubernetes.io/hostname": None}}}, False, "no label"),
    "another label through the status": ({"metadata": {"labels": {"pool": "x"}}}, True, "no label"),
    "a label like its own": ({"metadata": {"labels": {"xlockstep.dev/slot": "x"}}}, False, "no label"),
    "another annotation": ({"metadata": {"annotations": {"example.com/why": "x"}}}, False, "no annotation"),
    "the removal of another annotation": ({"metadata": {"annotations": {"example.com/large-1": None}}}, False, "no annotation"),
    "a finalizer": ({"metadata": {"finalizers": ["example.com/f"]}}, False, "no finalizer"),
    "the removal of another taint": ({"spec": {"taints": without(SPOT)}}, False, "no taint"),
    "a change of another taint": (
        {"spec": {"taints": lambda taints: [*without(SPOT)(taints), {**SPOT, "value": "no"}]}}, False, "no taint"),
    "another taint": (
        {"spec": {"taints": lambda taints: [*taints, {"key": "x", "effect": "NoExecute"}]}}, False, "no taint"),
    "the provider of the node": ({"spec": {"providerID": "x"}}, False, "unschedulable and taints alone"),
    "another condition": (
        {"status": {"conditions": lambda all: [READY if c["type"] == "Ready" else c for c in all]}}, True, "no condition"),
    "the loss of all conditions": ({"status": {"conditions": []}}, True, "no condition"),
    "the capacity of the node": ({"status": {"capacity": {GPU: "9"}}}, True, "condition LockstepConforms alone"),
    "the addresses of the node": ({"status": {"addresses": [{"type": "Hostname", "address": "x"}]}}, True, "LockstepConforms alone"),
}


def write(cluster, name, token, body, status):
    """(status, text) of the answer; once more where a controller was faster."""
    path = f"/api/v1/nodes/{name}" + ("/status" if status else "")
    for _ in range(TRIES):
        node = cluster.get(f"/api/v1/nodes/{name}")
        patch = {part: {k: v(node[part].get(k, [])) if callable(v) else v for k, v in members.items()} for part, members in body.items()}
        patch.setdefault("metadata", {})["resourceVersion"] = node["metadata"]["resourceVersion"]
        try:
            cluster.ask("PATCH", path, patch, token=token, kind="application/merge-patch+json")
            return 200, ""
        except Refused as fault:
            if fault.status != 409:
                return fault.status, str(fault)
    return 409, "the node changes all the time"


def check_members(cluster):
    """Of a node as this release has it, each member of spec and status is in an expression, or is what lockstep changes."""
    schemas = cluster.get("/openapi/v3/api/v1")["components"]["schemas"]
    policy = cluster.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/lockstep-own")
    named = set(re.findall(r"\.\?(\w+)", " ".join(v["expression"] for v in policy["spec"]["validations"])))
    for part, ours in (("Spec", {"unschedulable"}), ("Status", set())):
        names = set(schemas["io.k8s.api.core.v1.Node" + part]["properties"])
        free = names - ours - named
        check(f"all {len(names)} members of a node's {part.lower()} are protected", not free, free)


def check_own(cluster):
    """With all rights in the cluster, so that the policy alone refuses."""
    node = "own"
    check_members(cluster)
    cluster.add_nodes([node])
    cluster.kubectl("create", "clusterrolebinding", "all", "--clusterrole=cluster-admin", "--serviceaccount=lockstep:lockstep")
    token = cluster.account_token("lockstep", "lockstep")
    # As much as a node of a large cluster has; each counts for the expression's budget.
    large = {f"example.com/large-{i}": "x" * 200 for i in range(1, 1001)}
    cluster.patch("/api/v1/nodes/" + node, {"metadata": {"annotations": large, "labels": {f"example.com/l{i}": "y" for i in range(200)}},
                                            "spec": {"taints": [SPOT]}})
    wait("the account has its rights", lambda: write(cluster, node, token, WRITES["its labels"][0], False)[0] == 200)
    for name, (body, status, why) in WRITES.items():
        code, text = write(cluster, node, token, body, status)
        check(f"{'accepted' if why is None else 'refused'}: lockstep writes {name}", code == 200 if why is None else
              code == 403 and "lockstep-own" in text and why in text, (code, text))
    try:
        cluster.ask("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}}, token=token)
        check("refused: lockstep creates a node", False)
    except Refused as fault:
        check("refused: lockstep creates a node", fault.status == 403 and "creates no node" in str(fault), fault)
    check("the administrator is not limited", write(cluster, node, None, WRITES["another label"][0], False)[0] == 200)
    cluster.kubectl("delete", "clusterrolebinding", "all")


def main():
    with tempfile.TemporaryDirectory(prefix="lks-k8s-") as name, k8s_cluster.Cluster(pathlib.Path(name) / "k8s") as cluster:
        cluster.add_nodes([*CONFORMING, *OTHERS], gpus=GPUS)
        for node, digest in CONFORMING.items():
            cluster.patch("/api/v1/nodes/" + node, {"metadata": {"labels": {DIGEST: digest, VERDICT: "conform"}}})
        for node, (digest, verdict) in OTHERS.items():
            cluster.patch("/api/v1/nodes/" + node, {"metadata": {"labels": {DIGEST: digest, VERDICT: verdict}}})
        for namespace in (OPEN, TRAIN):
            cluster.kubectl("create", "namespace", namespace)
        cluster.kubectl("label", "namespace", TRAIN, "lockstep.dev/admission=enabled")
        check_deny(cluster)
        check_update(cluster)
        check_controllers(cluster)
        check_observe(cluster)
        check_mutate(cluster)
        check_gangs(cluster)
        check_own(cluster)
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
