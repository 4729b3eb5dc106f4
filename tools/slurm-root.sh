#!/bin/sh
# Runs a command in a root of Debian 13, beside a Slurm that is newer than the one of Debian 12:
#
#     slurm-root.sh BUILD_DIR COMMAND [ARGUMENT...]
#
# The root is made once and kept in ~/.cache/lockstep/slurm (LKS_SLURM_ROOTS), with the mirror of this machine's own apt. In
# it the checkout is /srv, which cannot be written to, and /build has lockstep-slurm-bridge and plugins, built against the root's
# Slurm; BUILD_DIR/slurm-24.11 keeps that. BUILD_DIR is /mnt: its other programs run in the root as well, and it cannot be
# written to there. The command has processes, mounts and a loopback interface of its own, and what it leaves
# running ends with it. Exit status 77 with a line "missing ...": there can be no such root here.
set -eu

release=trixie
packages='gcc libc6-dev libgnutls28-dev libjansson-dev libmicrohttpd-dev libslurm-dev libssl-dev libuv1-dev libyaml-dev
meson munge ninja-build openssl pkg-config python3 slurm-client slurm-wlm-basic-plugins slurm-wlm-jwt-plugin slurmctld
slurmd slurmrestd libcurl4t64 libncursesw6 libpq5 libsqlite3-0'
place=${LKS_SLURM_ROOTS:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep/slurm}
root=$place/$release

missing() {
    echo "missing $1"
    exit 77
}

# The mirror that apt has for Debian itself.
# shellcheck disable=SC2016  # apt fills it in
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null |
        sort -u | head -n 1
}

make_root() {
    from=$(mirror)
    [ -n "$from" ] || missing "network: apt of this machine has no mirror of Debian"
    command -v mmdebstrap >/dev/null || missing "network: mmdebstrap is not installed (tools/setup.sh real)"
    proxy=
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    rm -rf --one-file-system "$root" "$root.new"
    echo "slurm-root.sh: making a root of Debian $release in $place, once" >&2
    mmdebstrap --quiet --mode=root --variant=apt --skip=check/empty \
        --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' --aptopt='Acquire::Languages "none"' \
        --aptopt='APT::Install-Recommends "false"' ${proxy:+--aptopt="Acquire::http::Proxy \"$proxy\""} \
        --include="$(echo "$packages" | tr '\n' ' ')" "$release" "$root.new" "$from" >"$place/log" 2>&1 || {
        rm -rf --one-file-system "$root.new"
        missing "network: no root of Debian $release from $from: $(grep '^E:' "$place/log" | tail -n 1)"
    }
    mkdir "$root.new/build"
    printf '127.0.0.1 localhost slurm\n' >"$root.new/etc/hosts"
    echo "$packages" >"$root.new/packages"
    mv "$root.new" "$root"
}

# In namespaces of its own: mount what the root needs, build, and run.
inside() {
    tree=$1 build=$2 programs=$3
    shift 3
    hostname slurm
    ip link set lo up
    ip address add 127.0.0.2/32 dev lo # glibc resolves no names for Slurm where 127.0.0.1 is the only address
    mount --bind "$tree" "$root/srv"
    mount -o remount,bind,ro "$root/srv"
    mount --bind "$build" "$root/build"
    mount --bind "$programs" "$root/mnt"
    mount -o remount,bind,ro "$root/mnt"
    mount --rbind /dev "$root/dev"
    mount -t proc none "$root/proc"
    mount -t sysfs none "$root/sys"
    mount -t tmpfs none "$root/tmp"
    chmod 1777 "$root/tmp"
    export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/tmp LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
    # shellcheck disable=SC2016  # for the shell of the root
    exec chroot "$root" sh -c 'cd /srv && {
        [ -e /build/build.ninja ] || meson setup /build /srv -Dbridge_only=true -Dslurm=enabled
        ninja -C /build lockstep-slurm-bridge plugins/slurm/job_submit_lockstep.so plugins/slurm/spank_lockstep.so
    } >/build/log 2>&1 || { cat /build/log; exit 1; }
    flock -u 9
    exec 9>&-
    exec "$@"' sh "$@"
}

if [ "$1" = --inside ]; then
    shift
    inside "$@"
fi
[ "$(id -u)" -eq 0 ] || missing "root: a root of Debian $release needs it"
unshare --mount --net --pid --uts --fork ip link set lo up 2>/dev/null ||
    missing "root: this machine allows no namespaces, or has no 'ip'"
build=$1
shift
mkdir -p "$place" "$build/slurm-24.11"
exec 9>"$place/lock" # until all is built: commands run side by side
flock 9
[ "$(cat "$root/packages" 2>/dev/null)" = "$packages" ] || make_root
prolog=$build/slurm-prolog # it needs no library of Slurm
[ ! -e "$prolog" ] || cmp -s "$prolog" "$build/slurm-24.11/slurm-prolog" || cp --remove-destination "$prolog" "$build/slurm-24.11"
here=$(cd "$(dirname "$0")" && pwd)
exec unshare --mount --net --pid --uts --fork --kill-child "$here/slurm-root.sh" --inside "$(dirname "$here")" \
    "$(cd "$build/slurm-24.11" && pwd)" "$(cd "$build" && pwd)" "$@"
