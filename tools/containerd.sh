#!/bin/sh
# Prints the folder that has containerd and ctr of this machine's Debian:
#
#     containerd.sh
#
# The package is unpacked and not installed: it would bring a service, and take the place of another containerd. The folder is
# ~/.cache/lockstep/containerd (LKS_CONTAINERD), made once. Exit status 77 with a line "missing ...": it cannot be had here.
set -eu

place=${LKS_CONTAINERD:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep/containerd}
mkdir -p "$place"
exec 9>"$place/lock"
flock 9

missing() {
    echo "missing network: apt of this machine has no package containerd: $(tail -n 1 "$place/log")"
    exit 77
}

# The lists of apt may be older than the mirror.
fetch() (
    cd "$place/new"
    apt-get -qq download containerd >"$place/log" 2>&1 || { apt-get -qq update && apt-get -qq download containerd; } >"$place/log" 2>&1
)

if [ ! -x "$place/root/usr/bin/ctr" ]; then
    rm -rf --one-file-system "$place/new" "$place/root"
    mkdir "$place/new"
    fetch || missing
    dpkg-deb --extract "$place/new/"containerd_*.deb "$place/new/root"
    mv "$place/new/root" "$place/root"
    rm -rf --one-file-system "$place/new"
fi
echo "$place/root/usr/bin"
