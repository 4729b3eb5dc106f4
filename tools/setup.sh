#!/bin/sh
# Installs the Debian packages a target needs, by name, if any is missing:
#
#     setup.sh build|demo|test|lint|mutants|real|k8s|vm|bench|cross...
#
# As root, or through sudo. Quick when there is nothing to do. Services that packages bring are neither
# started nor enabled: only their programs are wanted. What was installed before is left as it is.
set -eu

libraries='libcurl4-openssl-dev libjansson-dev liblzma-dev libncurses-dev libsqlite3-dev libssl-dev libyaml-dev libzstd-dev zlib1g-dev'

# The daemon's own; it is not part of the portable build.
daemon='libgnutls28-dev libmicrohttpd-dev libpq-dev libuv1-dev'

# What the bridge to Slurm is built with. The rest is built without it, where no archive has it.
optional=libslurm-dev

# A cluster of a real Slurm.
slurm='libslurm-dev munge slurm-wlm-basic-plugins slurm-wlm-jwt-plugin slurmctld slurmd slurmrestd'

# Packages that bring a service of their name.
services='munge postgresql prometheus prometheus-node-exporter slurmctld slurmd slurmrestd'

packages_of() {
    case $1 in
    build) echo gcc libc6-dev meson ninja-build pkg-config "$libraries" "$daemon" "$optional" ;;
    demo) echo curl prometheus python3 slurm-client "$slurm" ;;
    test) echo clang fish git libclang-rt-14-dev man-db mandoc patch tmux tzdata zsh ;;
    lint) echo clang-format clang-tidy cppcheck shellcheck git ;;
    mutants) echo git python3-clang ;;
    real) echo curl git grub-common iproute2 mmdebstrap openssl postgresql prometheus python3-jsonschema python3-sushy \
        python3-venv python3-yaml redfishtool rpm slurm-client "$slurm" ;;
    k8s) echo openssl python3 ;;
    vm) echo dosfstools e2fsprogs fdisk mmdebstrap ovmf python3 qemu-system-x86 qemu-utils ;;
    bench) echo postgresql prometheus-node-exporter python3 python3-sushy ;;
    cross) echo gcc-x86-64-linux-gnu "$libraries" |
        sed 's/\(lib[^ ]*\|zlib1g\)-dev/&:amd64/g' ;;
    *)
        echo "setup.sh: no group '$1'; one of: build demo test lint mutants real k8s vm bench cross" >&2
        return 2
        ;;
    esac
}

wanted=
for group in "$@"; do
    wanted="$wanted $(packages_of "$group")"
done

missing=
for package in $wanted; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
    *' installed') ;;
    *) missing="$missing $package" ;;
    esac
done

# as_root is what a command that needs root begins with. False: there is no way.
as_root=
may() {
    [ "$(id -u)" -ne 0 ] || return 0
    as_root=sudo
    command -v sudo >/dev/null
}

# While packages are installed, who asks may start no service; a machine that says something itself is not
# spoken over. Ours has a line with the number of its run: that of one that was killed goes with the next.
policy=${SETUP_POLICY:-/usr/sbin/policy-rc.d}
mark='# lockstep: while packages are installed by tools/setup.sh, process'
silence() {
    printf '#!/bin/sh\n%s %s\nexit 101\n' "$mark" "$$" | $as_root tee "$policy.lockstep" >/dev/null
    $as_root chmod 755 "$policy.lockstep"
    $as_root ln -T "$policy.lockstep" "$policy" 2>/dev/null || true # whole at once, and never over another's
    $as_root rm -f "$policy.lockstep"
}

# Whether what is there is ours, of this run or of one that is no more.
is_ours() {
    [ -f "$policy" ] && [ ! -L "$policy" ] || return 1
    run=$(sed -n "s|^$mark \([0-9][0-9]*\)\$|\1|p" "$policy")
    [ -n "$run" ] || return 1
    [ "$run" = "$$" ] || ! tr '\0' ' ' 2>/dev/null <"/proc/$run/cmdline" | grep -q 'setup\.sh'
}
speak() {
    ! is_ours || $as_root rm -f "$policy"
}

# The build goes on without it, and says so: left_out WHY. Tests of a real Slurm do not.
left_out() {
    echo "setup.sh: lockstep-slurm-bridge is not built: $optional is not installed, and $1" >&2
    case " $* " in *' real '*) return 5 ;; esac
    missing=$(echo "$missing " | sed "s/ $optional / /; s/ \$//")
}
if [ "$missing" = " $optional" ] && ! may; then
    left_out "there is neither root nor sudo to install it" "$@"
fi

if [ -z "$missing" ]; then
    if is_ours; then
        may || {
            echo "setup.sh: a run that was killed left $policy, and no service starts: remove it as root" >&2
            exit 0
        }
        speak
    fi
    exit 0
fi
may || {
    echo "setup.sh: needs these packages, and neither root nor sudo to install them:$missing" >&2
    exit 5
}

# They are not to start with the machine either: disable PACKAGE...
disable() {
    command -v systemctl >/dev/null || return 0
    for package in "$@"; do
        case " $services " in
        *" $package "*) $as_root systemctl --quiet disable "$package.service" >/dev/null 2>&1 || true ;;
        esac
    done
}

echo "installing:$missing"
trap speak EXIT
trap 'exit 1' HUP INT TERM
silence
case $missing in *:amd64*) $as_root dpkg --add-architecture amd64 ;; esac
# shellcheck disable=SC2086  # package names are words
{
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    case "$missing " in
    *" $optional "*) apt-cache show "$optional" >/dev/null 2>&1 || left_out 'no archive of this machine has it' "$@" ;;
    esac
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $missing >/dev/null
    disable $missing
}
