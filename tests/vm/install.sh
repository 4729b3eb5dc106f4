#!/bin/sh
# Run in a machine, from the disk with lockstep's programs: install.sh NAME PORT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
name=$1 port=$2
echo "$name" >/etc/hostname
hostname "$name"
cp -r "$here/root/." /
systemd-sysusers
ldconfig
systemd-tmpfiles --create lockstep.conf
echo "LOCKSTEP_AGENT_OPTIONS=\"--controller https://controller.example:$port --ca /etc/lockstep/ca.crt --token-file /var/lib/lockstep-agent/token\"" \
    >/etc/lockstep/agent.conf
# The kernel that runs is as a step of lockstep leaves one.
apt-mark hold "linux-image-$(uname -r)" >/dev/null
install -o lockstep-agent -m 0600 "$here/$name.token" /var/lib/lockstep-agent/token
systemctl daemon-reload
systemctl --quiet enable lockstep-helper.socket lockstep-agent.service
sync
systemctl start lockstep-helper.socket
systemctl start --no-block lockstep-agent.service
