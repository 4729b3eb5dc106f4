#!/usr/bin/env python3
"""Admission of pods by lockstepd, asked by a real kube-apiserver over mutual TLS, and pods that a real kube-scheduler places.

    k8s_admission.py BUILD_DIR

The configurations of the webhooks are those of examples/kubernetes. The test labels nodes as lockstep would. Kubelets are kwok's, and
nodes have no agents: what lockstepd refuses for is a hold, and an image with another NCCL.
"""
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "tests" / "real")]
import k8s_cluster  # noqa: E402
from lockstep_here import Lockstep, Tally, check, wait  # noqa: E402
from slurm_cluster import free_ports  # noqa: E402

NODES = ["g1", "g2", "g3", "g4"]
DIGESTS = {"g1": "aaaaaaaaaaaa", "g2": "aaaaaaaaaaaa", "g3": "bbbbbbbbbbbb", "g4": "bbbbbbbbbbbb"}
CLIENT = "kube-apiserver"
OPEN = "ml"  # the namespace that opts in
GPU = k8s_cluster.GPU
KWOK = "pod-complete.stage.kwok.x-k8s.io/"  # pods of Jobs run until the test ends them
GOOD, OLD = "reg/good:1", "reg/old:1"
ENV = {"NCCL_IB_GID_INDEX": "3", "NCCL_IB_TC": "106", "NCCL_IB_QPS_PER_CONNECTION": "4"}  # of the stack
DENIED = re.compile(r"denied the request: lockstep does not admit this pod: pool train: ")


class Cluster(k8s_cluster.Cluster):
    """The API server shows a certificate to webhooks."""

    def make_files(self):
        super().make_files()
        self.make_certificate("client", f"/CN={CLIENT}")
        for name, content in (
                ("webhooks", {"apiVersion": "v1", "kind": "Config", "users": [
                    {"name": "*", "user": {"client-certificate": self.path("client.crt"),
                                           "client-key": self.path("client.key")}}]}),
                ("admission", {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": [
                    {"name": plugin, "configuration": {
                        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "WebhookAdmissionConfiguration",
                        "kubeConfigFile": self.path("webhooks.yaml")}}
                    for plugin in ("ValidatingAdmissionWebhook", "MutatingAdmissionWebhook")]})):
            (self.dir / (name + ".yaml")).write_text(json.dumps(content))

    def command(self, part):
        more = [f"--admission-control-config-file={self.path('admission.yaml')}"] if part == "kube-apiserver" else []
        return super().command(part) + more

    def create(self, thing, *arguments):
        """As a person does; what kubectl prints on both streams, and its status."""
        return subprocess.run([self.programs / "kubectl", "--kubeconfig", self.path("admin.kubeconfig"), "create", "-f", "-",
                               *arguments], input=json.dumps(thing), text=True, capture_output=True,
                              timeout=k8s_cluster.COMMAND_SECONDS, check=False)

    def pod(self, name, namespace=OPEN):
        return self.get(f"/api/v1/namespaces/{namespace}/pods/{name}")

    def is_running(self, name, namespace=OPEN):
        return self.pod(name, namespace)["status"].get("phase") == "Running"


class Site(Lockstep):
    def __init__(self, build, folder, cluster):
        super().__init__(build, folder, [])
        self.cluster = cluster
        self.port = free_ports(1)[0]

    def set_pool(self, enforce):
        stack = (SOURCE / "examples" / "h200-train.yaml").read_text()
        self.apply(f"""{stack}
---
lockstep: 1
kind: Fleet
name: here
sites: {{here: {{}}}}
pools:
  train: {{posture: dev, stack: h200-train, sched: kubernetes, enforce: "{enforce}"}}
nodes:
  - {{hosts: "g[1-4]", pool: train, class: hgx-h200-8, site: here}}
""")

    def up(self, fleet):
        data = self.folder / "data"
        self.must("lockstepd", "init", "--data", str(data), "--people", "127.0.0.1:0", "--agents", "127.0.0.1:0")
        with open(data / "lockstepd.yaml", "a", encoding="utf-8") as config:
            config.write(f"webhook: {{listen: '127.0.0.1:{self.port}', client_ca: {self.cluster.path('ca.crt')}}}\n")
        self.start_lockstepd()
        self.set_pool(fleet)
        for image, nccl in ((GOOD, "2.28.9"), (OLD, "2.20.5")):
            self.must("lockstep", "image", "add", image, "--nccl", nccl, "--cuda", "13.0.2", "--cudnn", "9.17.0", "--reason", "test")

    def must(self, *command):
        return subprocess.run(command, env=self.env, cwd=SOURCE, check=True, capture_output=True, text=True).stdout

    def configure(self, name):
        """The webhooks' configuration of that file, as docs/kubernetes.md fills it in."""
        text = (SOURCE / "examples" / "kubernetes" / name).read_text()
        bundle = subprocess.run(["base64", "-w0", self.folder / "data/ca.crt"], check=True, capture_output=True, text=True).stdout
        text = text.replace("LOCKSTEPD/", f"localhost:{self.port}/").replace("caBundle: CA_BUNDLE", "caBundle: " + bundle)
        place = self.folder / name
        place.write_text(text)
        self.cluster.kubectl("apply", "-f", str(place))

    def asked(self):
        """How many requests API servers sent."""
        said = self.must("curl", "-sS", "--unix-socket", str(self.folder / "data/lockstepd.sock"), "http://localhost/metrics")
        return int(re.search(r'^lockstep_http_requests_total{listener="webhook"} (\d+)$', said, re.M).group(1))

    def observed(self, *by):
        return self.run("admit", "--observed", *by, "--json")["items"]


def container(image=GOOD, gpus=8, **more):
    limits = {GPU: str(gpus), "cpu": str(8 * gpus)} if gpus else {"cpu": "1"}  # by its CPUs, the scheduler spreads a Job
    return dict({"name": "c", "image": image, "resources": {"limits": limits}}, **more)


def pod(name, *containers, namespace=OPEN, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
            "spec": dict({"restartPolicy": "Never", "containers": list(containers)}, **spec)}


def gang(name, pods, gpus, namespace=OPEN):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace},
            "spec": {"completions": pods, "parallelism": pods, "completionMode": "Indexed", "backoffLimit": 0,
                     "template": {"metadata": {"annotations": {KWOK + "delay": "1h", KWOK + "jitter-delay": "1h"}},
                                  "spec": {"restartPolicy": "Never", "containers": [container(gpus=gpus)]}}}}


def daemons(name, namespace=OPEN):
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container(OLD, gpus=1)]}}}}


def pods_of(cluster, label, namespace=OPEN):
    return cluster.get(f"/api/v1/namespaces/{namespace}/pods?labelSelector={label}")["items"]


def prepare(cluster):
    cluster.add_nodes(NODES)
    for node in NODES:
        cluster.patch("/api/v1/nodes/" + node, {"metadata": {"labels": {
            "lockstep.dev/digest": DIGESTS[node], "lockstep.dev/verdict": "conform"}}})
    cluster.kubectl("create", "namespace", OPEN)
    for namespace in (OPEN, "kube-system"):  # the second is excluded whatever its labels
        cluster.kubectl("label", "namespace", namespace, "lockstep.dev/admission=enabled")


def until_called(site, cluster):
    """An API server calls a new webhook within a moment: dry runs show when."""
    before = site.asked()

    def is_called():
        cluster.create(pod("probe", container()), "--dry-run=server")
        return site.asked() > before
    wait("the API server calls lockstepd", is_called)


def observe(site, cluster):
    site.configure("webhook-observe.yaml")
    until_called(site, cluster)
    check("dry runs are not counted", not site.observed(), site.observed())
    said = cluster.create(pod("old", container(OLD)))
    check("while the pool observes, a pod with another NCCL is created", said.returncode == 0, said.stderr)
    check("and kubectl shows a warning", re.search(r"Warning: lockstep: would refuse this pod if it enforced: pool train: image "
                                                   r"reg/old:1: .*2\.20\.5.*2\.28\.9", said.stderr), said.stderr)
    check("it is counted", [i["refused"] for i in site.observed()] == [{"image": 1}], site.observed())
    by = [(i["user"], i["pool"]) for i in site.observed("--by", "user")]
    check("by user", by == [("admin", "train")], by)
    wait("and runs", lambda: cluster.is_running("old"))
    check("nothing was added to it", not set(ENV) & {e["name"] for e in cluster.pod("old")["spec"]["containers"][0].get("env", [])})
    before = site.asked()
    said = cluster.create(pod("cpu", container(gpus=0), initContainers=[container(gpus=0, name="i")]))
    cluster.create(pod("elsewhere", container(OLD), namespace="default"))
    cluster.create(pod("system", container(OLD), namespace="kube-system"))
    check("pods without GPUs, of other and of system namespaces are not asked about", said.returncode == 0 and site.asked() == before)
    for what, thing in (("in an init container", pod("probe", container(gpus=0), initContainers=[container(name="i")])),
                        ("by a claim", pod("probe", container(gpus=0), resourceClaims=[{"name": "g", "resourceClaimName": "g"}]))):
        before = site.asked()
        said = cluster.create(thing, "--dry-run=server")
        check(f"a pod that uses GPUs {what} is", said.returncode == 0 and site.asked() == before + 1, said.stderr)
    for name, namespace in (("old", OPEN), ("cpu", OPEN), ("elsewhere", "default"), ("system", "kube-system")):
        cluster.kubectl("delete", "pod", name, "-n", namespace, "--wait=true")


def enforce(site, cluster):
    site.set_pool("on")
    site.configure("webhook-enforce.yaml")
    wait("the API server has pods changed", lambda: "affinity" in json.loads(
        cluster.create(pod("probe", container()), "--dry-run=server", "-o", "json").stdout)["spec"])
    said = cluster.create(pod("old", container(OLD)))
    check("where it enforces, the pod is refused with the reason", said.returncode != 0 and DENIED.search(said.stderr) and
          re.search(r"image reg/old:1: .*brings NCCL 2\.20\.5", said.stderr), said.stderr)
    site.must("lockstep", "node", "hold", "g1", "--reason", "a fan is loud")
    said = cluster.create(pod("there", container(), nodeName="g1"))
    check("and so is one that names a node on hold", said.returncode != 0 and DENIED.search(said.stderr) and
          "a fan is loud" in said.stderr, said.stderr)
    site.must("lockstep", "node", "release", "g1", "--reason", "test")
    said = cluster.create(pod("unknown", container(), nodeSelector={"lockstep.dev/digest": "0123456789ab"}))
    check("and one for a stack that there is not", "no stack of the fleet has the digest '0123456789ab'" in said.stderr, said.stderr)


def environment(cluster):
    own = {"name": "NCCL_IB_TC", "value": "7"}
    said = cluster.create(pod("env", container(env=[own]), container(gpus=0, name="side")))
    check("a pod that fits is created", said.returncode == 0 and not said.stderr, said.stderr)
    used, side = cluster.pod("env")["spec"]["containers"]
    check("it has the NCCL environment of the stack, and its own value wins",
          {e["name"]: e["value"] for e in used["env"]} == dict(ENV, NCCL_IB_TC="7"), used["env"])
    check("a container without GPUs has none", not side.get("env"), side)
    wait("it runs", lambda: cluster.is_running("env"))
    cluster.kubectl("delete", "pod", "env", "-n", OPEN, "--wait=true")


def place(cluster, name, pods, gpus, namespace=OPEN):
    """The nodes on which the pods of a gang run."""
    said = cluster.create(gang(name, pods, gpus, namespace))
    check(f"Job {namespace}/{name} is created", said.returncode == 0, said.stderr)
    label = f"batch.kubernetes.io/job-name%3D{name}"

    def nodes():
        return {p["spec"].get("nodeName") for p in pods_of(cluster, label, namespace) if p["spec"].get("nodeName")}
    wait(f"its {pods} pods have nodes", lambda: sum(bool(p["spec"].get("nodeName")) for p in pods_of(cluster, label, namespace)) == pods)
    found = nodes()
    cluster.kubectl("delete", "job", name, "-n", namespace, "--wait=true", "--cascade=foreground")
    return found


def gangs(cluster):
    """The pool is mixed."""
    nodes = place(cluster, "free", 4, 4, namespace="default")
    check("elsewhere a gang of 4 spreads over both digests", len({DIGESTS[n] for n in nodes}) == 2, nodes)
    nodes = place(cluster, "train", 4, 4)
    check("in the namespace it lands on one digest", len({DIGESTS[n] for n in nodes}) == 1, nodes)
    for node in ("g1", "g2"):
        cluster.patch("/api/v1/nodes/" + node, {"metadata": {"labels": {"lockstep.dev/verdict": "drift"}}})
    nodes = place(cluster, "pair", 2, 8)
    check("and on nodes that conform", nodes == {"g3", "g4"}, nodes)


def killed(site, cluster):
    """Nothing that does not use GPUs in an open namespace waits for lockstepd."""
    site.stop("lockstepd", signal.SIGKILL)
    said = cluster.create(pod("late", container()))
    check("without lockstepd a pod with GPUs is refused where the policy is Fail", said.returncode != 0 and
          "failed calling webhook" in said.stderr, said.stderr)
    for name, thing in (("cpu", pod("cpu", container(gpus=0))), ("system", pod("system", container(OLD, gpus=1), namespace="kube-system"))):
        said = cluster.create(thing)
        namespace = thing["metadata"]["namespace"]
        check(f"pod {name} in {namespace} is created", said.returncode == 0, said.stderr)
        wait("and runs", lambda n=name, s=namespace: cluster.is_running(n, s))
    cluster.create(daemons("monitor"))
    wait("pods of a DaemonSet with GPUs run on all nodes", lambda: len(
        [p for p in pods_of(cluster, "app%3Dmonitor") if p["status"].get("phase") == "Running"]) == len(NODES))
    cluster.kubectl("delete", "mutatingwebhookconfiguration", "lockstep")
    site.configure("webhook-observe.yaml")
    wait("with the policy Ignore the pod is created", lambda: cluster.create(pod("late", container(gpus=1))).returncode == 0)
    wait("and runs", lambda: cluster.is_running("late"))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="lks-k8s-") as name, Cluster(pathlib.Path(name) / "k8s") as cluster:
        site = Site(build, pathlib.Path(name), cluster)
        prepare(cluster)
        with site.running("observe"):
            observe(site, cluster)
            enforce(site, cluster)
            environment(cluster)
            gangs(cluster)
            killed(site, cluster)
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
