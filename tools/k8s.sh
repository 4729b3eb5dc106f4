#!/bin/sh
# Builds the programs of a real Kubernetes control plane, and prints the folder that has them:
#
#     k8s.sh
#
# etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, helm and kwok, which pretends to be the kubelets of nodes,
# are built from the Go modules that tests/k8s/go.mod pins. The folder is ~/.cache/lockstep/k8s (LKS_K8S), where stages.yaml is beside
# them: how kwok's nodes and pods behave. Nothing is built where the folder's stamp has the same pins and the same Go. The first
# build takes five to ten minutes of two cores and 4 GiB of disk. Exit status 77 with a line "missing ...": there is no Go for it.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
place=${LKS_K8S:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep/k8s}
cd "$here/tests/k8s"

missing() {
    echo "missing $1" >&2
    exit 77
}

needed=$(sed -n 's/^go //p' go.mod)
how="install Go $needed or later (https://go.dev/dl) and have 'go' in PATH"
command -v go >/dev/null || missing "go: the tests with Kubernetes build it from Go modules; $how"
version=$(go env GOVERSION 2>/dev/null) || version=none # fails where go.mod wants a later one
[ "$(printf '%s\n' "$needed" "${version#go}" | sort -V | head -n 1)" = "$needed" ] ||
    missing "go: the Go of this machine ($(command -v go)) is older than what tests/k8s/go.mod needs; $how"

release=$(sed -n 's/^[[:blank:]]*k8s.io\/kubernetes v\([0-9.]*\).*/\1/p' go.mod)
key="$(cat go.mod go.sum "$here/tools/k8s.sh" | sha256sum | cut -c1-16) $version"
mkdir -p "$place"
exec 9>"$place/lock"
flock 9
if [ "$(cat "$place/stamp" 2>/dev/null)" != "$key" ]; then
    echo "k8s.sh: building Kubernetes $release in $place, once: minutes" >&2
    rm -f "$place/stamp"
    flags='-s -w'
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        minor=${release#*.}
        flags="$flags -X $package.gitVersion=v$release -X $package.gitMajor=${release%%.*} -X $package.gitMinor=${minor%%.*}"
        flags="$flags -X $package.gitTreeState=clean -X $package.gitCommit=module"
    done
    # helm renders and lints for this release where no cluster is asked.
    for package in helm.sh/helm/v3/pkg/chartutil helm.sh/helm/v3/pkg/lint/rules; do
        flags="$flags -X $package.k8sVersionMajor=${release%%.*} -X $package.k8sVersionMinor=${minor%%.*}"
    done
    # More than two compilers at once need more memory than small machines have.
    GOFLAGS='-buildvcs=false -trimpath -mod=readonly -p=2' CGO_ENABLED=0 GOGC=400 nice -n 10 \
        go build -gcflags=all=-dwarf=false -ldflags "$flags" -o "$place/" tool >"$place/log" 2>&1 || {
        cat "$place/log" >&2
        echo "k8s.sh: no build of Kubernetes $release: see above; if a module cannot be fetched, see 'go env GOPROXY'" >&2
        exit 1
    }
    mv "$place/server" "$place/etcd" # the module's folder has that name
    stages=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
    # Nodes become ready and renew their Lease. Pods run; those of Jobs end after the time that an annotation has.
    for file in node/fast/node-initialize node/heartbeat-with-lease/node-heartbeat-with-lease pod/fast/pod-ready pod/fast/pod-delete \
        pod/general/pod-complete; do
        cat "$stages/$file.yaml"
        printf '\n---\n'
    done >"$place/stages.yaml"
    echo "$key" >"$place/stamp"
fi
echo "$place"
