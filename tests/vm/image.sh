#!/bin/sh
# Makes the disks that tests/vm/run.py starts its machines from, as root and without loop devices:
#
#     image.sh OUT
#
# OUT/grub.img and OUT/sdboot.img hold Debian with the kernel before the newest, its headers and those
# of the newest, DKMS with a module that stands for a GPU's driver, and the guest agent of qemu.
# OUT/debs has the packages of both kernels, OUT/kernels their releases. What only a running machine can
# do (the boot loader's configuration) run.py has the machine do at its first start.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=$1
driver=580.126.20
root=$out/root

say() {
    echo "image.sh: $*"
}

# shellcheck disable=SC2046  # two words
set -- $(apt-cache search '^linux-image-6\.1\.0-[0-9]+-cloud-amd64$' | sed 's/^linux-image-//;s/ .*//' |
    sort -V | tail -n 2)
[ $# -eq 2 ] || {
    echo "image.sh: the archive has no two cloud kernels 6.1 for amd64; run 'apt-get update' on Debian 12" >&2
    exit 1
}
old=$1 new=$2

make_root() {
    say "Debian with kernel $old"
    set --
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ ! -s "$file" ] || set -- "$@" "$file"
    done
    mmdebstrap --quiet --mode=root --variant=apt --skip=check/empty \
        --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "false"' \
        --include="linux-image-$old linux-headers-$old linux-headers-$new dkms gcc make libc6-dev \
        initramfs-tools zstd systemd-sysv udev dbus qemu-guest-agent iproute2 kmod pciutils procps \
        efibootmgr grub-efi-amd64-bin grub2-common systemd-boot" \
        bookworm "$root" "$@"
}

# The module: its source for DKMS, built for the kernel that the machine has.
add_module() {
    source=$root/usr/src/nvidia-$driver
    mkdir -p "$source"
    cp "$here/nvidia.c" "$source/"
    printf 'obj-m := nvidia.o\nccflags-y := -DSTANDIN_VERSION=\\"%s\\"\n' "$driver" >"$source/Makefile"
    cat >"$source/dkms.conf" <<DKMS
PACKAGE_NAME="nvidia"
PACKAGE_VERSION="$driver"
BUILT_MODULE_NAME[0]="nvidia"
DEST_MODULE_LOCATION[0]="/updates/dkms"
AUTOINSTALL="yes"
MAKE[0]="make -C /lib/modules/\$kernelver/build M=\$dkms_tree/nvidia/$driver/build modules"
CLEAN="true"
DKMS
    echo nvidia >"$root/etc/modules-load.d/nvidia.conf"
    chroot "$root" dkms install "nvidia/$driver" -k "$old" >"$out/dkms.log" 2>&1 || {
        cat "$out/dkms.log"
        exit 1
    }
}

customize() {
    say "what the machines have in common"
    rm -f "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
    echo node >"$root/etc/hostname"
    printf '127.0.0.1 localhost\n10.0.2.2 controller.example\n' >"$root/etc/hosts"
    printf '[Match]\nName=en* eth*\n[Network]\nDHCP=ipv4\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n' \
        >"$root/etc/systemd/network/10-any.network"
    chroot "$root" systemctl --quiet enable systemd-networkd.service
    chroot "$root" systemctl --quiet mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
        e2scrub_all.timer e2scrub_reap.service fstrim.timer getty@tty1.service \
        systemd-networkd-wait-online.service
    # Emulated machines are slow, and slower still on busy cores.
    mkdir -p "$root/etc/systemd/system.conf.d"
    printf '[Manager]\nDefaultTimeoutStartSec=900s\nDefaultTimeoutStopSec=900s\nDefaultDeviceTimeoutSec=900s\n' \
        >"$root/etc/systemd/system.conf.d/slow.conf"
    # Of the modules an initrd has those of a virtual machine alone.
    printf 'MODULES=list\nCOMPRESS=zstd\nRESUME=none\n' >"$root/etc/initramfs-tools/conf.d/lockstep"
    printf 'virtio_pci\nvirtio_blk\next4\n' >>"$root/etc/initramfs-tools/modules"
    chroot "$root" update-initramfs -u -k "$old" >/dev/null
    echo 'root=LABEL=root rw console=ttyS0 quiet loglevel=3 panic=5' >"$root/etc/kernel/cmdline"
    printf 'GRUB_DEFAULT=saved\nGRUB_TIMEOUT=0\nGRUB_TERMINAL=serial\nGRUB_DISABLE_OS_PROBER=true\n%s\n' \
        'GRUB_CMDLINE_LINUX="console=ttyS0 quiet loglevel=3 panic=5"' >"$root/etc/default/grub"
}

# disk NAME MOUNT_OF_ESP GONE...: the root without the files that are named, on a disk of its own.
disk() {
    name=$1 esp=$2
    shift 2
    say "$name.img"
    mkdir -p "$out/aside" "$root$esp"
    for file; do mv "$root/$file" "$out/aside/$(echo "$file" | tr / _)"; done
    printf 'LABEL=root / ext4 x-systemd.device-timeout=900s 0 1\nLABEL=ESP %s vfat umask=0077,x-systemd.device-timeout=900s 0 2\n' "$esp" >"$root/etc/fstab"
    printf '%s' "$name" | md5sum | cut -c1-32 >"$root/etc/machine-id"
    # A journal: without one a hard reset leaves a file system for a person to check.
    mkfs.ext4 -q -F -L root -J size=16 -O ^metadata_csum_seed,^orphan_file -d "$root" "$out/root.fs" 2200M
    truncate -s 250M "$out/esp.fs"
    mkfs.vfat -F 32 -n ESP "$out/esp.fs" >/dev/null
    rm -f "$out/$name.img"
    truncate -s 2452M "$out/$name.img"
    printf 'label: gpt\nsize=250M,type=U,name=ESP\nsize=2200M,type=L,name=root\n' | sfdisk -q "$out/$name.img"
    dd if="$out/esp.fs" of="$out/$name.img" bs=1M seek=1 conv=notrunc,sparse status=none
    dd if="$out/root.fs" of="$out/$name.img" bs=1M seek=251 conv=notrunc,sparse status=none
    rm -f "$out/root.fs" "$out/esp.fs"
    for file; do mv "$out/aside/$(echo "$file" | tr / _)" "$root/$file"; done
}

mkdir -p "$out/debs"
(cd "$out/debs" && apt-get -q download "linux-image-$old" "linux-image-$new" >/dev/null 2>&1)
printf '%s\n%s\n%s\n' "$old" "$new" "$driver" >"$out/kernels"
[ -e "$root/sbin/init" ] || make_root
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT
add_module
customize
umount "$root/proc"
trap - EXIT
cp "$root/boot/vmlinuz-$old" "$out/vmlinuz"
cp "$root/boot/initrd.img-$old" "$out/initrd"
disk grub /boot/efi etc/kernel/postinst.d/zz-systemd-boot etc/kernel/postrm.d/zz-systemd-boot
disk sdboot /efi etc/kernel/postinst.d/zz-update-grub etc/kernel/postrm.d/zz-update-grub
rm -rf --one-file-system "$root" "$out/aside"
