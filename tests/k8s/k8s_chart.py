#!/usr/bin/env python3
"""The Helm chart: rendered, refused with wrong values, accepted by a real API server, installed and removed.

    k8s_chart.py BUILD_DIR

What the agent reads without the root helper is compared as well: captured machines are read with the chart's mounts alone, and this
machine by the real agent in a root that has nothing else.
"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / "tests"), str(SOURCE / "tests" / "real")]
import k8s_cluster  # noqa: E402
from k8s_cluster import CHART  # noqa: E402
from lockstep_here import Tally, check, wait  # noqa: E402

RBAC = SOURCE / "examples" / "kubernetes" / "rbac.yaml"
CONFIG = SOURCE / "examples" / "kubernetes" / "lockstepd.yaml"
ROOTS = SOURCE / "tests" / "roots"
MUTATE = ("--api-versions", "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy")
SECONDS = 120
UID = 870
GPU_NODE, CPU_NODE = "g1", "c1"
# A container has these without the chart: its own, or those of the kernel. The programs' answers are in a captured tree.
OWN = ("/proc", "/sys", "/dev", "/lockstep")
MORE = ["/var/lib/dkms", "/run/cdi", "/var/log"]  # agent.reads
LINKS = {"lib": "usr/lib", "lib64": "usr/lib64", "bin": "usr/bin", "sbin": "usr/sbin"}  # of the image

INSIDE = {"inside": True, "image": "registry.example/lockstep:1", "config": {"configMap": "lockstepd"}, "sealKeySecret": "seal"}
AGENT = {"enabled": True, "image": "registry.example/agent:1", "controller": "https://ctl.example:7443", "caConfigMap": "ca"}
READER = {**AGENT, "helper": False}
VALUES = {
    "the defaults": {},
    "rights of a user with a certificate": {"controller": {"user": "lockstepd"}},
    "agents with the helper": {"agent": {**AGENT, "tokenSecret": "token", "runtimeClassName": "nvidia"}},
    "agents that only read": {"agent": {**READER, "packages": "rpm", "reads": ["/var/lib/dkms"]}},
    "lockstepd in the cluster": {"controller": {**INSIDE, "names": ["ctl.example"], "service": {"type": "LoadBalancer"}}},
    "its configuration in a Secret": {"controller": {**INSIDE, "config": {"secret": "lockstepd"}, "userNamespace": False}},
    "policies that deny": {"policy": {"pods": True, "mutate": True}},
    "policies that observe": {"policy": {"pods": True, "mode": "observe", "own": False}},
    "everything": {"controller": {**INSIDE, "volume": {"storageClassName": "fast"}}, "agent": AGENT,
                   "policy": {"pods": True, "mutate": True}, "imagePullSecrets": [{"name": "registry"}]},
}
# Values, and where and what the line about them names.
WRONG = {
    "a value that the chart does not have": ({"agents": {}}, "agents"),
    "an agent without an image": ({"agent": {**AGENT, "image": ""}}, "/agent/image"),
    "an agent without the CA": ({"agent": {**AGENT, "caConfigMap": ""}}, "/agent/caConfigMap"),
    "an address without its port": ({"agent": {**AGENT, "controller": "https://ctl.example"}}, "/agent/controller"),
    "an agent as root": ({"agent": {**AGENT, "uid": 0}}, "/agent/uid"),
    "another package manager": ({"agent": {**READER, "packages": "pacman"}}, "/agent/packages"),
    "a folder that the agent does not read": ({"agent": {**READER, "reads": ["/"]}}, "/agent/reads/0"),
    "an updateStrategy that does not exist": ({"agent": {"updateStrategy": "Recreate"}}, "/agent/updateStrategy"),
    "lockstepd without an image": ({"controller": {**INSIDE, "image": ""}}, "/controller/image"),
    "lockstepd without a seal key": ({"controller": {**INSIDE, "sealKeySecret": ""}}, "/controller/sealKeySecret"),
    "lockstepd without a configuration": ({"controller": {**INSIDE, "config": {}}}, "/controller/config"),
    "two configurations": ({"controller": {**INSIDE, "config": {"configMap": "a", "secret": "b"}}}, "/controller/config"),
    "a credential in the values": ({"controller": {"token": "eyJhbGciOi"}}, "token"),
    "a mode that does not exist": ({"policy": {"mode": "warn"}}, "/policy/mode"),
    "text for yes or no": ({"policy": {"pods": "yes"}}, "/policy/pods"),
}


def helm(cluster, *arguments, values=None):
    """(exit status, output, errors), without the cluster."""
    made = subprocess.run([cluster.programs / "helm", *arguments, *(() if values is None else ("--values", "-"))], text=True,
                          input=json.dumps(values), capture_output=True, timeout=SECONDS, env=dict(os.environ, HOME=cluster.path()))
    return made.returncode, made.stdout, made.stderr


def render(cluster, values):
    status, text, why = helm(cluster, "template", "lockstep", str(CHART), "--namespace", "lockstep", *MUTATE, values=values)
    if status != 0:
        raise RuntimeError(why)
    return text


def objects(cluster, text):
    """As the API server would store them, by (kind, name)."""
    made = json.loads(cluster.kubectl("apply", "--dry-run=server", "-f", "-", "-o", "json", text=text))
    return {(o["kind"], o["metadata"]["name"]): o for o in made.get("items", [made])}


def check_values(cluster):
    for name, values in VALUES.items():
        status, said, why = helm(cluster, "lint", "--strict", str(CHART), values=values)
        check("helm lint: " + name, status == 0, said + why)
        made = objects(cluster, render(cluster, values))
        check("the API server takes " + name, len(made) >= 3, sorted(made))
    for name, (values, where) in WRONG.items():
        status, _, why = helm(cluster, "template", "lockstep", str(CHART), values=values)
        lines = [line for line in why.splitlines() if where in line]
        check("refused: " + name, status != 0 and len(lines) >= 1, why)
    status, _, why = helm(cluster, "template", "lockstep", str(CHART), "--kube-version", "1.35.0", values={"policy": {"mutate": True}})
    check("refused: to change pods before Kubernetes 1.36", status != 0 and "policy.mutate" in why and "1.36" in why, why)


# Rights.

def rights(o):
    """Of an object what grants something."""
    return {k: v for k, v in o.items() if k not in ("metadata", "status")}


def check_rights(cluster):
    plain = objects(cluster, RBAC.read_text())
    chart = objects(cluster, render(cluster, {"policy": {"own": False}}))
    check("examples/kubernetes/rbac.yaml makes the namespace and what the chart makes",
          set(plain) == set(chart) | {("Namespace", "lockstep")}, (sorted(plain), sorted(chart)))
    for key, o in chart.items():
        check(f"{key[0]} {key[1]} is the same in both", rights(plain[key]) == rights(o), (rights(plain[key]), rights(o)))
    bound = objects(cluster, render(cluster, {"controller": {"user": "kim"}}))["ClusterRoleBinding", "lockstep"]["subjects"]
    check("the role is bound to the user of a certificate instead", [s["name"] for s in bound] == ["kim"], bound)


# Pods.

def pod_specs(made):
    return {key: o["spec"]["template"]["spec"] for key, o in made.items() if key[0] in ("DaemonSet", "StatefulSet")}


def check_pods(cluster):
    for values in ({"controller": INSIDE, "agent": AGENT}, {"agent": READER}):
        for (kind, name), spec in pod_specs(objects(cluster, render(cluster, values))).items():
            containers = spec["containers"] + spec.get("initContainers", [])
            contexts = [c["securityContext"] for c in containers]
            check(f"{kind} {name} has no privileges", all(
                c["capabilities"] == {"drop": ["ALL"]} and not c["allowPrivilegeEscalation"] and c["readOnlyRootFilesystem"]
                and not c.get("privileged") for c in contexts), contexts)
            check(f"{kind} {name} gets no token by itself", spec["automountServiceAccountToken"] is False)
            mounts = {m["name"]: m for c in containers for m in c["volumeMounts"]}
            writable = [n for n, m in mounts.items() if not m.get("readOnly")]
            check(f"{kind} {name} writes to its own folders alone", set(writable) <= {"state", "data", "run"}, writable)
            if kind == "DaemonSet":
                check(f"{kind} {name} runs as its user", spec["securityContext"]["runAsUser"] == UID
                      and spec["securityContext"]["runAsNonRoot"], spec["securityContext"])
                check(f"{kind} {name} sees the processes of the node", spec.get("hostPID") is True)
                kept = [t for t in spec["tolerations"] if t.get("key") == "lockstep.dev/drain" and t["operator"] == "Exists"]
                check(f"{kind} {name} stays on a drained node", kept, spec["tolerations"])


def install(cluster):
    """A DaemonSet's pod comes up on a node that is drained, and on no node without GPUs. What was installed can be removed."""
    cluster.add_nodes([GPU_NODE, CPU_NODE])
    cluster.patch("/api/v1/nodes/" + GPU_NODE, {
        "metadata": {"labels": {"nvidia.com/gpu.present": "true"}},
        "spec": {"unschedulable": True, "taints": [{"key": "lockstep.dev/drain", "effect": "NoSchedule"}]}})
    cluster.install({"agent": AGENT})
    pods = "/api/v1/namespaces/lockstep/pods"
    wait("the agent runs on the drained node with GPUs", lambda: [
        p["spec"]["nodeName"] for p in cluster.get(pods)["items"] if p["status"]["phase"] == "Running"] == [GPU_NODE])
    check("and on no other", len(cluster.get(pods)["items"]) == 1)
    said = cluster.helm("get", "notes", "lockstep", "--namespace", "lockstep")
    check("the notes name the next steps", "agent.runtimeClassName" in said and "kubectl create token lockstep" in said, said)
    cluster.helm("uninstall", "lockstep", "--namespace", "lockstep", "--wait")
    left = [o for kind in ("daemonsets.apps", "clusterroles", "clusterrolebindings", "validatingadmissionpolicies")
            for o in cluster.kubectl("get", kind, "--all-namespaces", "-o", "name").split() if o.split("/")[1].startswith("lockstep")]
    check("nothing is left after helm uninstall", not left, left)


# What the agent reads without the helper.

def folders(cluster, values):
    spec = pod_specs(objects(cluster, render(cluster, {"agent": {**READER, **values}})))["DaemonSet", "lockstep-agent"]
    paths = {v["name"]: v["hostPath"]["path"] for v in spec["volumes"] if "hostPath" in v and v["name"].startswith("host-")}
    mounts = {m["name"]: m["mountPath"] for m in spec["containers"][0]["volumeMounts"]}
    check("folders of the node have their own place in the container", all(mounts[n] == p for n, p in paths.items()), mounts)
    return list(paths.values())


def copy(tree, paths, to):
    """The part of a captured tree that is below these paths, with links of the image."""
    to.mkdir()
    for path in paths:
        at, there = tree / path.lstrip("/"), to / path.lstrip("/")
        there.parent.mkdir(parents=True, exist_ok=True)
        if at.is_dir():
            shutil.copytree(at, there, symlinks=True, dirs_exist_ok=True)
    if (tree / "lib").is_dir() and not (tree / "lib").is_symlink():  # captured as /lib, and /usr/lib on the machine
        shutil.copytree(tree / "lib", to / "lib", symlinks=True)
    return to


def readings(build, tree):
    made = subprocess.run([build / "lockstep", "inventory", "--root", tree, "--json"], capture_output=True, text=True, timeout=SECONDS)
    return {json.dumps({k: v for k, v in r.items() if k != "evidence"}, sort_keys=True)
            for r in json.loads(made.stdout)["readings"]}


def captured(build, scratch):
    trees = {"h200": ROOTS / "h200"}
    for tree in sorted(ROOTS.glob("synthetic-*.tree")):
        trees[tree.stem] = scratch / tree.stem
        subprocess.run([build / "tests/plant", tree, trees[tree.stem]], check=True, timeout=SECONDS)
    return trees


def check_captured(cluster, build, scratch):
    needed, all_paths = set(), set()
    of = {packages: folders(cluster, {"packages": packages, "reads": MORE}) for packages in ("dpkg", "rpm")}
    for name, tree in captured(build, scratch).items():
        paths = of["rpm" if (tree / "var/lib/rpm").is_dir() else "dpkg"]
        # /var/run is a link to /run, which a captured tree has no need of.
        at = {p: "/var/run/cdi" if p == "/run/cdi" else p for p in paths}
        whole = readings(build, tree)
        part = readings(build, copy(tree, [*OWN, *at.values()], scratch / (name + "-part")))
        check(f"{name}: the mounts are enough for all {len(whole)} readings", whole == part, sorted(whole ^ part)[:4])
        all_paths |= set(paths)
        for path in sorted(set(paths) - needed):
            rest = [*OWN, *(at[p] for p in paths if p != path)]
            if readings(build, copy(tree, rest, scratch / f"{name}-{path.replace('/', '-')}")) != whole:
                needed.add(path)
    check("each mount is needed to read some machine", needed == all_paths, sorted(all_paths - needed))


HOW = {"capture_output": True, "text": True, "timeout": SECONDS}


def in_root(root, paths, program, lines):
    """Run the lines in a mount namespace, with a root that has these folders of the machine, read-only, and the program."""
    mount = ["set -eu", "mount -t tmpfs none $ROOT"]
    mount += [f"mkdir -p $ROOT{p} && mount --bind {p} $ROOT{p} && mount -o remount,bind,ro $ROOT{p}" for p in paths]
    mount += [f"mkdir -p $ROOT{p} && mount --rbind {p} $ROOT{p}" for p in ("/proc", "/sys", "/dev")]
    mount += [f"[ -e $ROOT/{name} ] || ln -s {to} $ROOT/{name}" for name, to in LINKS.items()]
    mount += [f"mkdir -p $ROOT/lockstep && cp {program} $ROOT/lockstep/"]
    root.mkdir()
    return subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", "\n".join([*mount, *lines])],
                          env=dict(os.environ, ROOT=str(root)), **HOW)


def tuple_of(text):
    return {json.dumps({k: v for k, v in r.items() if k != "evidence"}, sort_keys=True)
            for r in json.loads(text.splitlines()[1])["readings"]}


def check_real_agent(cluster, build, scratch):
    """Real files, with the permissions that they have: what the mounts leave out, the agent's user could not read either."""
    more = [p for p in MORE if os.path.isdir(p)]
    agent = scratch / "lockstep-agent"
    shutil.copy(build / "lockstep-agent", agent)
    agent.chmod(0o755)
    outside = subprocess.run(["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", agent, "--read", "--quick"], **HOW)
    inside = in_root(scratch / "agent-root", folders(cluster, {"reads": more}), agent, [
        f"exec chroot --userspec={UID}:{UID} --groups= $ROOT /lockstep/lockstep-agent --read --quick"])
    check("the agent reads this machine with the chart's mounts", inside.returncode == 0 == outside.returncode,
          inside.stderr + outside.stderr)
    a, b = tuple_of(outside.stdout), tuple_of(inside.stdout)
    names = {json.loads(r)["name"] for r in a ^ b}
    check(f"all {len(a)} readings but the mounts of the machine are as without a container",
          names <= {"platform.disk_encryption"}, sorted(a ^ b)[:4])


def check_real_lockstepd(cluster, build, scratch):
    """The chart's commands with examples/kubernetes/lockstepd.yaml, as root without capabilities."""
    made = objects(cluster, render(cluster, {"controller": {**INSIDE, "names": ["ctl.example"]}}))
    spec = pod_specs(made)["StatefulSet", "lockstepd"]
    files = {"/etc/lockstep/config/lockstepd.yaml": CONFIG.read_text(), "/etc/lockstep/seal/seal.key": "7" * 64 + "\n",
             "/run/kubernetes/token": "t\n", "/run/kubernetes/ca.crt": pathlib.Path(cluster.path("ca.crt")).read_text()}
    lines = ["mkdir -p $ROOT/var/lib/lockstep $ROOT/run/lockstep", "umask 077"]
    for path, text in files.items():
        lines += [f"mkdir -p $(dirname $ROOT{path})", f"cat >$ROOT{path} <<'END'\n{text}END"]
    run = "chroot $ROOT env PATH=/lockstep:/usr/bin setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "
    start, serve = (shlex.join(c["command"]) for c in (spec["initContainers"][0], spec["containers"][0]))
    lines += [run + start, run + start + " # a later start", run + serve + " --check"]
    done = in_root(scratch / "lockstepd-root", ["/usr"], build / "lockstepd", lines)
    check("lockstepd starts with the chart's paths, and takes the example's configuration", done.returncode == 0, done.stderr)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="lks-k8s-") as name, k8s_cluster.Cluster(pathlib.Path(name) / "k8s") as cluster:
        scratch = pathlib.Path(name) / "scratch"
        scratch.mkdir()
        cluster.kubectl("create", "namespace", "lockstep")
        check_values(cluster)
        check_rights(cluster)
        check_pods(cluster)
        install(cluster)
        check_captured(cluster, build, scratch)
        if os.geteuid() == 0:
            pathlib.Path(name).chmod(0o711)
            scratch.chmod(0o755)
            check_real_agent(cluster, build, scratch)
            check_real_lockstepd(cluster, build, scratch)
        else:
            print("missing root: the programs do not run with the chart's mounts")
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
