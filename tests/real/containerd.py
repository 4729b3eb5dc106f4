#!/usr/bin/env python3
"""The images of a real containerd, read while ctr writes to its databases.

    containerd.py BUILD_DIR

Images are imported into two namespaces, and the inventory of that root is compared with `ctr images ls`: at rest, under a stream of new
and removed names, after containerd was killed, from a capture, and at another root that config.toml sets.
"""
import hashlib
import io
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

from lockstep_here import Tally, check, wait

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent

INSIDE = "LKS_CONTAINERD_INSIDE"
HERE, OTHER = ("amd64", "arm64") if platform.machine() == "x86_64" else ("arm64", "amd64")
OLD, NEW = "2.26.2", "2.28.9"
BASE, TRAIN, EVAL, MULTI, PLAIN = (f"registry.lab/{name}" for name in ("base:1", "train:7", "eval:7", "multi:1", "plain:"))
MOVING, GONE = "registry.lab/moving:", "registry.lab/gone:"
DEFAULT = "var/lib/containerd"
INVENTORIES = 30  # under the streams
STREAMS = 4
WRITES_MAX = 5000
PLAINS = 300  # names of an image without libraries, so that the database has pages of many kinds
OCI = "application/vnd.oci.image."


def run(*command, fails=False, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)
    if done.returncode and not fails:
        raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")
    return done


# Images -----------------------------------------------------------------------------------------------------------------------------


def library(folder, version):
    """A shared library with the text that NCCL of this version has."""
    path = folder / f"libnccl-{version}.so"
    text = f'const char lks_version[] = "NCCL version {version}+cuda12.8"; const char *get(void) {{ return lks_version; }}\n'
    run("gcc", "-shared", "-fPIC", "-Wl,-soname,libnccl.so.2", "-x", "c", "-o", str(path), "-", input=text)
    return path.read_bytes()


def layer(content, name="libnccl.so.2"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        info = tarfile.TarInfo(f"usr/lib/x86_64-linux-gnu/{name}")
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


class Layout:
    """An OCI image layout, as `ctr images import` takes it."""

    def __init__(self):
        self.blobs, self.manifests = {}, []

    def add(self, kind, content, **more):
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        self.blobs[digest] = content
        return {"mediaType": OCI + kind, "digest": digest, "size": len(content), **more}

    def manifest(self, layers, architecture=HERE):
        config = {"architecture": architecture, "os": "linux", "config": {"Env": ["TOKEN=secret"]},
                  "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(x).hexdigest() for x in layers]}}
        return self.add("manifest.v1+json", {
            "schemaVersion": 2, "mediaType": OCI + "manifest.v1+json", "config": self.add("config.v1+json", config),
            "layers": [self.add("layer.v1.tar", x) for x in layers]}, platform={"architecture": architecture, "os": "linux"})

    def index(self, *manifests):
        return self.add("index.v1+json", {"schemaVersion": 2, "mediaType": OCI + "index.v1+json", "manifests": manifests})

    def name(self, name, target):
        self.manifests.append({**target, "annotations": {"io.containerd.image.name": name}})

    def write(self, path):
        index = {"schemaVersion": 2, "manifests": self.manifests}
        files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": json.dumps(index).encode()}
        files.update({"blobs/sha256/" + d.split(":")[1]: content for d, content in self.blobs.items()})
        with tarfile.open(path, "w") as tar:
            for name, content in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))


def make_images(folder):
    """base has the old NCCL, train and eval the new one in a layer above it, multi the old one for this machine alone."""
    old, new = layer(library(folder, OLD)), layer(library(folder, NEW))
    images = Layout()
    images.name(BASE, images.manifest([old]))
    images.name(TRAIN, images.manifest([old, new]))
    images.name(EVAL, images.manifest([old, new, layer(b"", "eval")]))
    images.name(PLAIN + "0", images.manifest([layer(b"", "plain")]))
    images.name(MULTI, images.index(images.manifest([new], OTHER), images.manifest([old])))
    path = folder / "images.tar"
    images.write(path)
    return path


# containerd -------------------------------------------------------------------------------------------------------------------------


class Containerd:
    """A containerd whose root is DEFAULT in a tree of its own, without CRI."""

    def __init__(self, programs, folder):
        self.programs, self.folder, self.tree, self.daemon = programs, folder, folder / "tree", None
        (folder / "config.toml").write_text(f'version = 2\nroot = "{self.tree / DEFAULT}"\nstate = "{folder / "state"}"\n'
                                            'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
                                            f'[grpc]\n  address = "{folder / "socket"}"\n')

    def ctr(self, space, *command, fails=False):
        return run(str(self.programs / "ctr"), "-a", str(self.folder / "socket"), "-n", space, *command, fails=fails)

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.daemon = subprocess.Popen([str(self.programs / "containerd"), "-c", str(self.folder / "config.toml")], stdout=log,
                                           stderr=log)
        wait("containerd answers", lambda: self.ctr("default", "version", fails=True).returncode == 0)

    def stop(self, how=signal.SIGTERM):
        if self.daemon:
            self.daemon.send_signal(how)
            self.daemon.wait(60)
            self.daemon = None

    def images(self):
        """Names and digests of all namespaces, without those of the plain image, that are a bare digest, or that stand beside a tag."""
        listed = set()
        for space in ("default", "k8s.io"):
            rows = [line.split() for line in self.ctr(space, "images", "ls").stdout.splitlines()[1:]]
            names = [(row[0], row[2]) for row in rows if not row[0].startswith(("sha256:", PLAIN))]
            tagged = {digest for name, digest in names if "@" not in name}
            listed |= {(name, digest) for name, digest in names if "@" not in name or digest not in tagged}
        return listed


class Reader:
    """`lockstep inventory` of a tree."""

    def __init__(self, build, tree):
        self.lockstep, self.tree = build / "lockstep", tree

    def read(self, *options, tree=None):
        """Images as {(name, digest): version}, and why there are no others."""
        said = run(str(self.lockstep), "inventory", "--root", str(tree or self.tree), "--json", *options)
        readings = json.loads(said.stdout)["readings"]
        images = {(r["of"], r["part"]): r["value"] for r in readings if r["name"] == "image.nccl"}
        skipped = [r["value"] for r in readings if r["name"] == "search.skipped" and r["of"].startswith("images of ")]
        return images, skipped


# Scenes -----------------------------------------------------------------------------------------------------------------------------


def versions(images):
    """The NCCL that each has to have, by its name."""
    known = {BASE: OLD, TRAIN: NEW, EVAL: NEW, MULTI: OLD}
    return {(name, digest): known.get(name.split("@")[0], images.get((name, digest))) for name, digest in images}


def at_rest(containerd, reader):
    images, skipped = reader.read()
    listed = containerd.images()
    check("ctr lists images of both namespaces", len(listed) >= 5, listed)
    check("the inventory has the names and digests that ctr lists", set(images) == listed, f"{images} {listed}")
    check("each has the NCCL of its upper layer", images == versions(images), images)
    check("nothing was left out", not skipped, skipped)
    return images


def import_all(containerd, archive):
    for space in ("k8s.io", "default"):
        containerd.ctr(space, "images", "import", str(archive))
    digests = dict(containerd.images())
    config = "sha256:" + "0" * 64
    # CRI has two more names for each image, and one without a tag.
    for source, name in ((TRAIN, config), (TRAIN, f"{TRAIN}@{digests[TRAIN]}"), (EVAL, f"registry.lab/pinned@{digests[EVAL]}")):
        containerd.ctr("k8s.io", "images", "tag", source, name)
    containerd.ctr("k8s.io", "images", "tag", PLAIN + "0", *(f"{PLAIN}{i:03}" for i in range(PLAINS)))
    containerd.ctr("k8s.io", "images", "rm", EVAL)


class Streams:
    """New, moved and removed names, one after the other in each of several threads, until they are told to end."""

    def __init__(self, containerd):
        self.containerd, self.ended, self.counts, self.failed = containerd, threading.Event(), [0] * STREAMS, []
        self.threads = [threading.Thread(target=self.write, args=(i,)) for i in range(STREAMS)]

    def write(self, number):
        moving, gone = f"{MOVING}{number}", f"{GONE}{number}"
        steps = [("tag", "--force", BASE, moving), ("tag", "--force", BASE, gone), ("tag", "--force", TRAIN, moving), ("rm", gone)]
        try:
            while not self.ended.is_set() and self.counts[number] < WRITES_MAX:
                self.containerd.ctr("k8s.io", "images", *steps[self.counts[number] % len(steps)])
                self.counts[number] += 1
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            self.failed.append(error)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join()


def is_state(images, before, digests):
    """All that stays, and of each name that changes at most one image, with the library of that image."""
    extra = {key: value for key, value in images.items() if key not in before}
    right = {digests[BASE]: OLD, digests[TRAIN]: NEW}
    names = [name for name, _ in extra]
    return {key: value for key, value in images.items() if key in before} == before and len(set(names)) == len(names) and \
        all(name.startswith((MOVING, GONE)) and right.get(digest) == version for (name, digest), version in extra.items())


def under_writes(containerd, reader, before):
    """A database that changes all the time may be given up, in words, but no image is ever another."""
    digests = {name: digest for name, digest in before if name in (BASE, TRAIN)}
    whole, wrong, states = 0, [], set()
    with Streams(containerd) as streams:
        for _ in range(INVENTORIES):
            images, skipped = reader.read()
            if not images and skipped and all("changed each" in why for why in skipped):
                continue
            good = not skipped and is_state(images, before, digests)
            whole += good
            wrong += [] if good else [(images, skipped)]
            states.add(tuple(sorted(images)))
    check("ctr wrote all the time", all(streams.counts) and not streams.failed, streams.failed)
    check(f"no inventory has a wrong image, of {INVENTORIES} beside {sum(streams.counts)} writes", not wrong, wrong[:1])
    check(f"{whole} of them have all images", whole > 0)
    print(f"     {len(states)} different states were read")


def killed(containerd, reader):
    """What the databases have when containerd dies is what it has after its next start."""
    with Streams(containerd) as streams:
        wait("ctr writes", lambda: all(count >= 5 for count in streams.counts))
        containerd.stop(signal.SIGKILL)
    images, skipped = reader.read()
    containerd.start()
    check("after a kill the inventory has what containerd has after its next start",
          set(images) == containerd.images() and not skipped, f"{images} {skipped}")


def captured(containerd, reader, folder):
    """A capture has the answers, and neither databases nor configurations of images."""
    capture = folder / "capture"
    images, _ = reader.read("--capture", str(capture), "--scrub")
    again, skipped = reader.read(tree=capture)
    check("a capture has the same images", again == images and not skipped, f"{again} {skipped}")
    check("a capture has no file of containerd", not (capture / DEFAULT).exists(), list(capture.rglob("*.db")))
    secret = [path for path in capture.rglob("*") if path.is_file() and b"secret" in path.read_bytes()]
    check("a capture has nothing of the images' configurations", not secret, secret)
    check("containerd has the same images still", set(images) == containerd.images())


def moved(containerd, reader):
    images, _ = reader.read()
    containerd.stop()
    root, other = containerd.tree / DEFAULT, containerd.tree / "data/containerd"
    other.parent.mkdir()
    root.rename(other)
    check("without its root there are no images", reader.read() == ({}, []))
    (containerd.tree / "etc/containerd").mkdir(parents=True)
    (containerd.tree / "etc/containerd/config.toml").write_text('version = 2\nroot = "/data/containerd"\n[plugins]\n')
    check("the root that config.toml sets has them", reader.read() == (images, []), images)
    shutil.rmtree(containerd.tree / "etc")
    root.symlink_to("/data/containerd")
    check("so has a root that is a link", reader.read() == (images, []), images)


def scenes(build, programs, folder):
    (folder / "tree/var/lib").mkdir(parents=True)
    archive = make_images(folder)
    containerd = Containerd(programs, folder)
    reader = Reader(build, containerd.tree)
    try:
        containerd.start()
        import_all(containerd, archive)
        images = at_rest(containerd, reader)
        under_writes(containerd, reader, images)
        killed(containerd, reader)
        captured(containerd, reader, folder)
        moved(containerd, reader)
    except BaseException:
        print((folder / "log").read_text(errors="replace")[-3000:])
        raise
    finally:
        containerd.stop()


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if os.getuid() != 0:
        print("missing root: containerd mounts layers")
        return 77
    apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if INSIDE not in os.environ and run(*apart, "true", fails=True).returncode:
        print("missing root: this machine allows no namespaces")
        return 77
    if INSIDE not in os.environ:
        # Layers are mounted in a file system in memory, whatever this machine has, and all ends with us.
        os.environ[INSIDE] = "1"
        os.execvp(apart[0], [*apart, sys.executable, *sys.argv])
    found = run(str(SOURCE / "tools/containerd.sh"), fails=True)
    if found.returncode:
        print(found.stdout + found.stderr)
        return found.returncode
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lks-") as folder:
        run("mount", "-t", "tmpfs", "none", folder)
        try:
            scenes(build, pathlib.Path(found.stdout.strip()), pathlib.Path(folder))
        finally:
            run("umount", "--lazy", folder)
    print(f"     {time.monotonic() - started:.0f} s")
    return Tally.end()


if __name__ == "__main__":
    sys.exit(main())
