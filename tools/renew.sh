#!/bin/sh
# Sets a build directory up again if libslurm was installed after it had been set up:
#
#     renew.sh BUILD_DIR
#
# Meson looks for libslurm once. A directory from before its installation would go on without
# lockstep-slurm-bridge and its tests, and nothing would say so. Quick when there is nothing to do.
set -eu

dir=$1

# As meson.build looks: the library to link, and its header.
found() {
    echo 'int main(void) { return 0; }' | ${CC-cc} -x c -include slurm/slurm.h -o /dev/null - -lslurm 2>/dev/null
}

! grep -q lockstep-slurm-bridge "$dir/build.ninja" || exit 0
! grep -q '"name": "slurm", "value": "disabled"' "$dir/meson-info/intro-buildoptions.json" || exit 0
found || exit 0
echo "setting up $dir again: libslurm is there now"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
meson setup --reconfigure "$dir" >"$log" 2>&1 || {
    cat "$log"
    exit 1
}
