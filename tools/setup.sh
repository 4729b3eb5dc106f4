#!/bin/sh
# Installs the Debian packages a target needs, by name, if any is missing:
#
#     setup.sh build|demo|test|lint|real|bench|cross...
#
# As root, or through sudo. Quick when there is nothing to do. Services that packages bring are neither
# started nor enabled: only their programs are wanted. What was installed before is left as it is.
set -eu

libraries='libcurl4-openssl-dev libjansson-dev liblzma-dev libsqlite3-dev libssl-dev libyaml-dev libzstd-dev zlib1g-dev'

# The daemon's own; it is not part of the portable build.
daemon='libgnutls28-dev libmicrohttpd-dev libpq-dev libuv1-dev'

# Packages that bring a service of their name.
services='postgresql prometheus prometheus-node-exporter'

packages_of() {
    case $1 in
    build) echo gcc libc6-dev meson ninja-build pkg-config "$libraries" "$daemon" ;;
    demo) echo curl prometheus ;;
    test) echo clang libclang-rt-14-dev patch ;;
    lint) echo clang-format clang-tidy cppcheck shellcheck git ;;
    real) echo curl postgresql prometheus python3-jsonschema python3-sushy python3-yaml redfishtool \
        rpm slurm-client ;;
    bench) echo postgresql prometheus-node-exporter python3 python3-sushy ;;
    cross) echo gcc-x86-64-linux-gnu "$libraries" |
        sed 's/\(lib[^ ]*\|zlib1g\)-dev/&:amd64/g' ;;
    *)
        echo "setup.sh: no group '$1'; one of: build demo test lint real bench cross" >&2
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
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
    command -v sudo >/dev/null || {
        echo "setup.sh: needs these packages, and neither root nor sudo to install them:$missing" >&2
        exit 5
    }
fi

# While packages are installed, who asks may start no service; a machine that says something itself is not
# spoken over.
policy=${SETUP_POLICY:-/usr/sbin/policy-rc.d}
silence() {
    [ ! -e "$policy" ] || return 0
    trap '$as_root rm -f "$policy"' EXIT
    trap 'exit 1' HUP INT TERM
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
    $as_root chmod 755 "$policy"
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
silence
case $missing in *:amd64*) $as_root dpkg --add-architecture amd64 ;; esac
# shellcheck disable=SC2086  # package names are words
{
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $missing >/dev/null
    disable $missing
}
