#!/bin/sh
# Runs a command with a loopback interface of its own, so that nothing else takes the ports that it chose:
#
#     apart.sh COMMAND [ARGUMENT...]
#
# Without root, or where a machine allows no namespaces, the command runs as it is. "apart.sh --can" tells which.
set -eu

can() {
    [ "$(id -u)" -eq 0 ] && unshare --net true 2>/dev/null
}

if [ "$1" = --can ]; then
    can
    exit
fi
# glibc resolves no names for Slurm where 127.0.0.1 is the only address.
# shellcheck disable=SC2016  # for the shell inside
can && exec unshare --net sh -c 'ip link set lo up && ip address add 127.0.0.2/32 dev lo && exec "$@"' sh "$@"
exec "$@"
