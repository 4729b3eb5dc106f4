#!/bin/sh
# Installs the Debian packages a target needs, by name, if any is missing:
#
#     setup.sh build|demo|test|lint|real|bench|cross...
#
# As root, or through sudo. Quick when there is nothing to do.
set -eu

libraries='libcurl4-openssl-dev libjansson-dev liblzma-dev libsqlite3-dev libssl-dev libyaml-dev libzstd-dev zlib1g-dev'

# The daemon's own; it is not part of the portable build.
daemon='libgnutls28-dev libmicrohttpd-dev libpq-dev libuv1-dev'

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
echo "installing:$missing"
case $missing in *:amd64*) $as_root dpkg --add-architecture amd64 ;; esac
# shellcheck disable=SC2086  # package names are words
{
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
