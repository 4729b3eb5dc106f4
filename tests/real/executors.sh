#!/bin/sh
# The executors for real, as root: apt, settings, hook, image, accept and firmware in a root of their
# own, which is this machine's with everything that is written going to memory. Real dpkg and apt
# install packages that are made here; no network is there to be asked. Each executor is killed at
# random moments and run again, and has to come to the same end.
#
#     executors.sh BUILD [ROUNDS]
set -u

build=$(cd "$1" && pwd)
rounds=${2:-12}

# Exit status 77 is a skip: no root, or no namespaces.
if [ "${LKS_INSIDE:-}" != yes ]; then
    [ "$(id -u)" -eq 0 ] || { echo "needs root" && exit 77; }
    unshare -m true 2>/dev/null || { echo "needs namespaces of its own" && exit 77; }
    place=$(mktemp -d)
    LKS_INSIDE=yes unshare -m -n sh "$0" "$build" "$rounds" "$place"
    status=$?
    rmdir "$place"
    exit $status
fi

place=$3
mount --make-rprivate / 2>/dev/null
mount -t tmpfs -o size=1g none "$place" || exit 77
mkdir "$place/upper" "$place/work" "$place/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" "$place/root" || {
    echo "needs overlays" && exit 77
}
root=$place/root
mount --rbind /proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 77
mount -t tmpfs none "$root/tmp" || exit 77
# What is built may lie on another file system than the root.
mkdir -p "$root/opt/executors"
cp "$build"/executors/* "$root/opt/executors/" 2>/dev/null
mkdir -p "$root/opt/depot" "$root/opt/made"

passed=0
failed=0
inside() {
    chroot "$root" "$@"
}

# expect NAME WANTED GOT
expect() {
    # shellcheck disable=SC2254  # it is a pattern
    case $3 in
    $2) passed=$((passed + 1)) ;;
    *)
        failed=$((failed + 1))
        echo "FAIL $1: '$3' is not '$2'"
        ;;
    esac
}

# store FILE: into the depot; prints its digest.
store() {
    hex=$(sha256sum "$1" | cut -c1-64)
    mkdir -p "$root/opt/depot/sha256/$(echo "$hex" | cut -c1-2)"
    cp "$1" "$root/opt/depot/sha256/$(echo "$hex" | cut -c1-2)/$(echo "$hex" | cut -c3-)"
    echo "sha256:$hex"
}

# Items of an order: a file with a value, or a value alone. A value of nothing is not written.
with_file() {
    printf '{"component":"%s","digest":"%s","file":"%s"%s}' "$1" "$(store "$root/opt/made/$2")" "$2" \
        "${3:+,\"value\":\"$3\"}"
}
with_value() {
    printf '{"component":"%s"%s}' "$1" "${2:+,\"value\":\"$2\"}"
}

# order EXECUTOR HOOK ITEM...: prints the digests that a command would name.
order() {
    executor=$1 hook=$2
    shift 2
    items=
    for item; do items="$items${items:+,}$item"; done
    printf '{"executor":"%s",%s"items":[%s],"lockstep":1}' "$executor" "${hook:+\"hook\":\"$hook\",}" \
        "$items" >"$root/opt/order"
    echo "$(store "$root/opt/order") $(echo "$items" | grep -o 'sha256:[0-9a-f]*' | sort -u | tr '\n' ' ')"
}

# execute EXECUTOR DIGESTS
execute() {
    # shellcheck disable=SC2086  # digests are words
    inside env LOCKSTEP_DEPOT=/opt/depot "/opt/executors/$1" $2 2>&1
}

# killed EXECUTOR DIGESTS ROUND MS: run it, and end it after a moment of up to so many milliseconds.
killed() {
    # shellcheck disable=SC2086  # digests are words
    chroot "$root" env LOCKSTEP_DEPOT=/opt/depot "/opt/executors/$1" $2 >/dev/null 2>&1 &
    victim=$! # itself: neither chroot nor env is a process of its own
    sleep "$(printf '%d.%03d' $(($3 * 7919 % $4 / 1000)) $(($3 * 7919 % $4 % 1000)))"
    kill -KILL "$victim" 2>/dev/null
    wait "$victim" 2>/dev/null
}

# Packages: made here, with a configuration file and a script that takes its time.
package() {
    name=$1 version=$2 depends=$3
    tree=$root/opt/tree
    rm -rf "$tree"
    mkdir -p "$tree/DEBIAN" "$tree/usr/share/$name" "$tree/etc"
    printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: t <t@example.org>\n%sDescription: t\n' \
        "$name" "$version" "${depends:+Depends: $depends
}" >"$tree/DEBIAN/control"
    echo "$version ${4:-}" >"$tree/usr/share/$name/version"
    echo "setting=$version" >"$tree/etc/$name.conf"
    echo "/etc/$name.conf" >"$tree/DEBIAN/conffiles"
    printf '#!/bin/sh\nsleep 0.05\n' >"$tree/DEBIAN/postinst"
    chmod 755 "$tree/DEBIAN/postinst"
    (cd "$tree" && find usr etc -type f -exec md5sum {} + >DEBIAN/md5sums)
    dpkg-deb -b "$tree" "$root/opt/made/${name}_$version${4:-}.deb" >/dev/null
}
state() {
    # shellcheck disable=SC2016  # dpkg-query's own variables
    inside dpkg-query -W -f '${Package}=${Version}=${db:Status-Abbrev} ' 'lks-test-*' 2>/dev/null | tr -s ' '
}

package lks-test-a 1.0 ""
package lks-test-a 2.0 ""
package lks-test-a 2.0 "" -rebuilt
package lks-test-b 1.0 "lks-test-a (= 1.0)"
package lks-test-b 2.0 "lks-test-a (= 2.0)"
package lks-test-c 1.0 "lks-test-missing"
old=$(order apt "" "$(with_file a lks-test-a_1.0.deb 1)" "$(with_file b lks-test-b_1.0.deb 1)")
new=$(order apt "" "$(with_file a lks-test-a_2.0.deb 2)" "$(with_file b lks-test-b_2.0.deb 2)")
gone=$(order apt "" "$(with_file a lks-test-a_2.0.deb)" "$(with_file b lks-test-b_2.0.deb)")
is_old='lks-test-a=1.0=hi lks-test-b=1.0=hi '
is_new='lks-test-a=2.0=hi lks-test-b=2.0=hi '

expect "packages, installed" "2 packages are as ordered" "$(execute apt "$old")"
expect "packages, held" "$is_old" "$(state)"
expect "packages, again" "already so: 2 packages" "$(execute apt "$old")"
echo "setting=mine" >"$root/etc/lks-test-a.conf"
expect "packages, newer" "2 packages are as ordered" "$(execute apt "$new")"
expect "packages, newer and held" "$is_new" "$(state)"
expect "a file of the administrator's stays" "setting=mine" "$(cat "$root/etc/lks-test-a.conf")"
expect "packages, taken back" "2 packages are as ordered" "$(execute apt "$old")"
expect "packages, older and held" "$is_old" "$(state)"

alone=$(order apt "" "$(with_file a lks-test-a_2.0.deb 2)")
expect "a package that another one needs as it is" "*" "$(execute apt "$alone")"
expect "nothing was touched" "$is_old" "$(state)"
missing=$(order apt "" "$(with_file c lks-test-c_1.0.deb 1)")
expect "a dependency that is not there" "apt-get: status 100: *" "$(execute apt "$missing")"
expect "nothing was touched again" "$is_old" "$(state)"

expect "packages, newer again" "2 packages are as ordered" "$(execute apt "$new")"
rebuilt=$(order apt "" "$(with_file a lks-test-a_2.0-rebuilt.deb 2)" "$(with_file b lks-test-b_2.0.deb 2)")
expect "the same version of other bits" "2 packages are as ordered" "$(execute apt "$rebuilt")"
expect "they are those" "2.0 -rebuilt" "$(cat "$root/usr/share/lks-test-a/version")"
expect "packages, gone" "2 packages are as ordered" "$(execute apt "$gone")"
expect "packages, gone again" "already so: 2 packages" "$(execute apt "$gone")"

round=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    case $((round % 3)) in 0) want=$gone ;; 1) want=$old ;; *) want=$new ;; esac
    killed apt "$want" $round 1800
done
expect "after $rounds kills" "* 2 packages*" " $(execute apt "$old" | sed 's/^/ /;s/already so:/ /')"
expect "packages after them" "$is_old" "$(state)"
expect "dpkg finds nothing to complain of" "" "$(inside dpkg --audit)"

# Bits that are not what was signed.
hex=$(sha256sum "$root/opt/made/lks-test-a_2.0.deb" | cut -c1-64)
echo x >>"$root/opt/depot/sha256/$(echo "$hex" | cut -c1-2)/$(echo "$hex" | cut -c3-)"
expect "bits that were changed" "sha256:$(echo "$hex" | cut -c1-12)*" "$(execute apt "$new")"
store "$root/opt/made/lks-test-a_2.0.deb" >/dev/null
expect "bits that the command does not name" "the order names *, which the command does not" \
    "$(execute apt "${new%% *}" | sed 's/sha256:[0-9a-f.]*/X/')"
expect "an order for another executor" "the order is for executor apt" "$(execute settings "$old")"
expect "no order" "it is given the digest of an order and its artifacts" "$(execute apt "")"
ln -sf /etc/shadow "$root/opt/depot/sha256/$(echo "$hex" | cut -c1-2)/$(echo "$hex" | cut -c3-)"
expect "a link in the depot" "* is not in the agent's depot" "$(execute apt "$new")"
rm "$root/opt/depot/sha256/$(echo "$hex" | cut -c1-2)/$(echo "$hex" | cut -c3-)"
store "$root/opt/made/lks-test-a_2.0.deb" >/dev/null
expect "nothing of it was installed" "$is_old" "$(state)"

# Settings. GRUB is not there in a container; what stands in for it puts its words where it would.
mkdir -p "$root/boot/grub" "$root/etc/default" "$root/usr/local/sbin"
cat >"$root/usr/local/sbin/update-grub" <<'GRUB'
#!/bin/sh
GRUB_CMDLINE_LINUX=quiet
for f in /etc/default/grub.d/*.cfg; do [ -f "$f" ] && . "$f"; done
sleep 0.05
printf 'menuentry x {\n\tlinux /boot/vmlinuz root=/dev/sda %s\n}\n' "$GRUB_CMDLINE_LINUX" >/boot/grub/grub.cfg.new
mv /boot/grub/grub.cfg.new /boot/grub/grub.cfg
GRUB
chmod 755 "$root/usr/local/sbin/update-grub"
line=$(order settings "" "$(with_value settings.kernel_cmdline '[\"iommu=pt\",\"hugepages=16\"]')")
no_line=$(order settings "" "$(with_value settings.kernel_cmdline)")
expect "parameters of the kernel" "1 of 1 settings changed, 1 in force after the next boot" "$(execute settings "$line")"
expect "they are in GRUB's file" "*quiet iommu=pt hugepages=16" "$(grep linux "$root/boot/grub/grub.cfg")"
expect "parameters, again" "already so: 1 settings, 1 in force after the next boot" "$(execute settings "$line")"
# shellcheck disable=SC2016  # the shell is not to see it
expect "a parameter for the shell" "settings.kernel_cmdline: a parameter with '\$' cannot be set" \
    "$(execute settings "$(order settings "" "$(with_value settings.kernel_cmdline '[\"a=$(id)\"]')")")"
mv "$root/usr/local/sbin/update-grub" "$root/opt/update-grub"
printf '#!/bin/sh\nexit 1\n' >"$root/usr/local/sbin/update-grub"
chmod 755 "$root/usr/local/sbin/update-grub"
expect "taken back, and GRUB does not hear of it" "settings.kernel_cmdline: update-grub: status 1: *" "$(execute settings "$no_line")"
cp "$root/opt/update-grub" "$root/usr/local/sbin/update-grub"
expect "taken back, and it does" "1 of 1 settings changed*" "$(execute settings "$no_line")"
expect "nothing of them is left" "0 no" "$(grep -c iommu "$root/boot/grub/grub.cfg") $([ -f "$root/etc/default/grub.d/zz-lockstep.cfg" ] || echo no)"
cat >"$root/usr/local/sbin/update-grub" <<'GRUB'
#!/bin/sh
printf 'menuentry x {\n\tlinux /boot/vmlinuz quiet amd_iommu=pt\n}\n' >/boot/grub/grub.cfg
GRUB
part=$(order settings "" "$(with_value settings.kernel_cmdline '[\"iommu=pt\"]')")
expect "a parameter that is the end of another" "settings.kernel_cmdline: *" "$(execute settings "$part")"
mv "$root/opt/update-grub" "$root/usr/local/sbin/update-grub"
expect "parameters, once more" "*1 settings*, 1 in force after the next boot" "$(execute settings "$line")"
expect "parameters, taken back" "1 of 1 settings changed*" "$(execute settings "$no_line")"
expect "they are gone from GRUB's file" "*quiet *" "$(grep -c iommu "$root/boot/grub/grub.cfg") quiet "

mkdir -p "$root/etc/apt/apt.conf.d"
off=$(order settings "" "$(with_value settings.unattended_upgrades false)")
expect "upgrades, off" "*1 settings*" "$(execute settings "$off")"
expect "upgrades, off again" "already so: 1 settings" "$(execute settings "$off")"
variable=$(order settings "" "$(with_value tuning.env.NCCL_ALGO Tree)")
printf 'NCCL_DEBUG=WARN\nNCCL_ALGO=Ring\n' >"$root/etc/nccl.conf"
expect "a variable of NCCL" "1 of 1 settings changed" "$(execute settings "$variable")"
expect "the others stay" "NCCL_DEBUG=WARN NCCL_ALGO=Tree " "$(tr '\n' ' ' <"$root/etc/nccl.conf")"
expect "a setting that nobody knows" "settings.bios.NPS: no such setting" \
    "$(execute settings "$(order settings "" "$(with_value settings.bios.NPS 1)")")"
expect "a value that is none" "settings.unattended_upgrades: 'maybe' is no value for it*" \
    "$(execute settings "$(order settings "" "$(with_value settings.unattended_upgrades maybe)")")"
expect "it was not tried" "already so: 1 settings" "$(execute settings "$off")"
expect "a limit that is none" "settings.power_limit_w: 'maybe' is no value for it*" \
    "$(execute settings "$(order settings "" "$(with_value settings.power_limit_w maybe)")")"
expect "what a boot loses" "nothing is kept" "$(execute settings --boot)"
limit=$(order settings "" "$(with_value settings.power_limit_w 700)")
expect "a limit that cannot be set" "settings.power_limit_w: *" "$(execute settings "$limit")"
expect "it is not kept" "nothing is kept" "$(execute settings --boot)"
cp "$root/opt/order" "$root/var/lib/lockstep-executors/settings.json"
expect "a limit that was kept and cannot be set" "settings.power_limit_w: *" "$(execute settings "$limit")"
expect "it is not kept any more" "nothing is kept" "$(execute settings --boot)"
cp "$root/opt/order" "$root/var/lib/lockstep-executors/settings.json"
expect "an order is judged by what it names" "already so: *" "$(execute settings "$variable")"
rm -f "$root/var/lib/lockstep-executors/settings.json"
round=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    case $((round % 2)) in 0) want=$line ;; *) want=$no_line ;; esac
    killed settings "$want" $round 700
done
expect "settings after $rounds kills" "*1 settings*" "$(execute settings "$line")"
expect "parameters after them" "*quiet iommu=pt hugepages=16" "$(grep linux "$root/boot/grub/grub.cfg")"
expect "a file for everybody to read" 644 "$(stat -c %a "$root/etc/nccl.conf")"

# The same where grubby has the entries.
mv "$root/usr/local/sbin/update-grub" "$root/opt/update-grub"
if [ -z "$(inside sh -c 'command -v update-grub')" ]; then
    echo "ro quiet" >"$root/opt/args"
    cat >"$root/usr/local/sbin/grubby" <<'GRUBBY'
#!/bin/sh
case $1,$2 in
--info=ALL,*) printf 'index=0\nkernel="/boot/vmlinuz"\nargs="%s"\n' "$(cat /opt/args)" ;;
*,--args=*) echo "$(cat /opt/args) ${2#--args=}" >/opt/args ;;
*,--remove-args=*)
    for gone in ${2#--remove-args=}; do
        args=
        for word in $(cat /opt/args); do [ "$word" = "$gone" ] || args="$args$word "; done
        echo "$args" >/opt/args
    done
    ;;
esac
GRUBBY
    chmod 755 "$root/usr/local/sbin/grubby"
    gone_line=$(order settings "" '{"before":"[\"iommu=pt\",\"hugepages=16\"]","component":"settings.kernel_cmdline"}')
    expect "parameters by grubby" "1 of 1 settings changed, 1 in force after the next boot" "$(execute settings "$line")"
    expect "parameters by grubby, there" "ro quiet iommu=pt hugepages=16" "$(cat "$root/opt/args")"
    expect "parameters by grubby, again" "already so: 1 settings*" "$(execute settings "$line")"
    expect "parameters by grubby, back" "1 of 1 settings changed*" "$(execute settings "$gone_line")"
    expect "parameters by grubby, gone" "ro quiet *" "$(cat "$root/opt/args") "
    expect "parameters by grubby, back again" "already so: 1 settings*" "$(execute settings "$gone_line")"
    rm "$root/usr/local/sbin/grubby"
fi
mv "$root/opt/update-grub" "$root/usr/local/sbin/update-grub"

# Which kernel boots next, there and back: packages that stand for two kernels, whose scripts write the
# menu as update-grub does, and GRUB's own program for its saved default.
if [ -n "$(inside sh -c 'command -v grub-editenv')" ]; then
    rm -rf "${root:?}"/boot/* "$root/usr/local/sbin/update-grub"
    mkdir -p "$root/boot/grub"
    cat >"$root/usr/local/sbin/menu" <<'MENU'
#!/bin/sh
# grub.cfg as grub-mkconfig lays it out: the newest kernel first, then each by its name.
. /etc/default/grub
[ "$GRUB_DEFAULT" = saved ] && GRUB_DEFAULT='${saved_entry}'
entry() {
    printf "menuentry '%s' \$menuentry_id_option '%s' {\n\tlinux /boot/vmlinuz-%s ro\n}\n" "$1" "$2" "$3"
}
{
    printf 'if [ -s $prefix/grubenv ]; then\n  load_env\nfi\n'
    printf 'if [ "${next_entry}" ]; then\n  set default="${next_entry}"\n  set next_entry=\n  save_env next_entry\n'
    printf 'else\n  set default="%s"\nfi\nmenuentry_id_option="--id"\n' "$GRUB_DEFAULT"
    kernels=$(ls /boot | sed -n 's/^vmlinuz-//p' | sort -rV)
    entry Debian gnulinux-simple-6d6f "$(echo "$kernels" | head -n 1)"
    echo "submenu 'Advanced options' \$menuentry_id_option 'gnulinux-advanced-6d6f' {"
    for k in $kernels; do
        entry "Debian, with Linux $k" "gnulinux-$k-advanced-6d6f" "$k"
        entry "Debian, with Linux $k (recovery mode)" "gnulinux-$k-recovery-6d6f" "$k"
    done
    echo "}"
} >/boot/grub/grub.cfg.new
mv /boot/grub/grub.cfg.new /boot/grub/grub.cfg
MENU
    chmod 755 "$root/usr/local/sbin/menu"
    echo GRUB_DEFAULT=0 >"$root/etc/default/grub"
    kernel() {
        tree=$root/opt/tree
        rm -rf "$tree"
        mkdir -p "$tree/DEBIAN" "$tree/boot" "$tree/lib/modules/$1"
        printf 'Package: lks-test-image-%s\nVersion: 1\nArchitecture: all\nMaintainer: t <t@example.org>\nDescription: t\n' \
            "$1" >"$tree/DEBIAN/control"
        echo "$1" >"$tree/boot/vmlinuz-$1"
        echo "$1" >"$tree/lib/modules/$1/modules.dep"
        printf '#!/bin/sh\nsleep 0.05\n/usr/local/sbin/menu\n' >"$tree/DEBIAN/postinst"
        chmod 755 "$tree/DEBIAN/postinst"
        dpkg-deb -b "$tree" "$root/opt/made/kernel-$1.deb" >/dev/null
    }
    # next: the release that GRUB's saved entry names.
    next() {
        inside grub-editenv /boot/grub/grubenv list | sed -n 's/^saved_entry=.*>gnulinux-\(.*\)-advanced-6d6f$/\1/p'
    }
    kernel 6.1.0-53-amd64
    kernel 6.1.0-54-amd64
    old=$(order apt "" "$(with_file kernel kernel-6.1.0-53-amd64.deb 6.1.0-53-amd64)")
    new=$(order apt "" "$(with_file kernel kernel-6.1.0-54-amd64.deb 6.1.0-54-amd64)")
    expect "a kernel without a boot loader" "kernel 6.1.0-53-amd64 cannot be made the default: no boot loader says *" \
        "$(execute apt "$old")"
    inside dpkg -i /opt/made/kernel-6.1.0-53-amd64.deb >/dev/null
    inside apt-mark hold lks-test-image-6.1.0-53-amd64 >/dev/null
    expect "the one that boots anyway" "already so: 1 packages" "$(execute apt "$old")"
    expect "a default that is not saved" "kernel 6.1.0-54-amd64 cannot be made the default: /boot/grub/grub.cfg: its \
default is '0' and not the saved entry; set GRUB_DEFAULT=saved in /etc/default/grub and make grub.cfg again" \
        "$(execute apt "$new")"
    expect "its package was not touched" "no" "$([ -e "$root/boot/vmlinuz-6.1.0-54-amd64" ] || echo no)"
    echo GRUB_DEFAULT=saved >"$root/etc/default/grub"
    inside menu
    expect "a newer kernel" "1 packages are as ordered, and the next boot starts kernel 6.1.0-54-amd64" \
        "$(execute apt "$new")"
    expect "a newer kernel boots next" 6.1.0-54-amd64 "$(next)"
    expect "a newer kernel, again" "already so: 1 packages" "$(execute apt "$new")"
    expect "the older kernel" "1 packages are as ordered, and the next boot starts kernel 6.1.0-53-amd64" \
        "$(execute apt "$old")"
    expect "the older kernel boots next" 6.1.0-53-amd64 "$(next)"
    inside grub-editenv /boot/grub/grubenv set next_entry=0
    expect "what was asked for one boot" "1 packages are as ordered, and *-53-amd64" "$(execute apt "$old")"
    expect "it is not asked for any more" "" "$(inside grub-editenv /boot/grub/grubenv list | grep next_entry=0)"
    inside dpkg --purge --force-all lks-test-image-6.1.0-54-amd64 >/dev/null 2>&1
    inside menu
    round=0
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        case $((round % 2)) in 0) want=$old ;; *) want=$new ;; esac
        killed apt "$want" $round 900
        case $(next) in
        6.1.0-53-amd64 | 6.1.0-54-amd64) ;;
        *) expect "a kernel boots next after kill $round" "one of both" "$(next)" ;;
        esac
    done
    expect "kernels after $rounds kills" "*1 packages*" "$(execute apt "$old")"
    expect "the next boot after them" 6.1.0-53-amd64 "$(next)"
else
    echo "GRUB's programs are not installed: the kernel of the next boot was not set"
fi

# Hooks.
mkdir -p "$root/etc/lockstep/hooks" "$root/etc/lockstep/accept.d"
cat >"$root/etc/lockstep/hooks/site-nccl" <<'HOOK'
#!/bin/sh
set -eu
version=$(sed 's/.*"value":"\([^"]*\)".*/\1/' "$1")
[ "$(cat /opt/nccl 2>/dev/null)" != "$version" ] || { echo "already so: $version" && exit 0; }
cat "$2"/*.txt >/opt/nccl.new
sleep 0.05
mv /opt/nccl.new /opt/nccl
echo "installed $version"
HOOK
chmod 755 "$root/etc/lockstep/hooks/site-nccl"
printf '2.28.3' >"$root/opt/made/nccl.txt"
printf '2.27.7' >"$root/opt/made/older.txt"
hook=$(order hook site-nccl "$(with_file nccl nccl.txt 2.28.3)")
hook_back=$(order hook site-nccl "$(with_file nccl older.txt 2.27.7)")
expect "a hook" "installed 2.28.3" "$(execute hook "$hook")"
expect "a hook, again" "already so: 2.28.3" "$(execute hook "$hook")"
expect "a hook, back" "installed 2.27.7" "$(execute hook "$hook_back")"
expect "a hook that is not there" "/etc/lockstep/hooks/other: No such file or directory" \
    "$(execute hook "$(order hook other "$(with_value nccl 1)")")"
expect "the image by its hook" "/etc/lockstep/hooks/image: No such file or directory" \
    "$(execute image "$(order image image "$(with_value kernel 1)")")"
round=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    case $((round % 2)) in 0) want=$hook ;; *) want=$hook_back ;; esac
    killed hook "$want" $round 200
done
expect "a hook after $rounds kills" "*2.28.3" "$(execute hook "$hook")"
expect "what it left" "2.28.3" "$(cat "$root/opt/nccl")"
chmod 777 "$root/etc/lockstep/hooks/site-nccl"
expect "a hook that anyone may change" "*/etc/lockstep/hooks/site-nccl*" "$(execute hook "$hook")"

# A hook that is killed with us leaves no second writer: whoever comes next waits for its children.
cat >"$root/etc/lockstep/hooks/site-slow" <<'HOOK'
#!/bin/sh
(sleep 1 && echo first >>/opt/order-of-work) &
wait
HOOK
cat >"$root/etc/lockstep/hooks/site-next" <<'HOOK'
#!/bin/sh
echo second >>/opt/order-of-work
sleep 5 &
HOOK
chmod 755 "$root/etc/lockstep/hooks/site-slow" "$root/etc/lockstep/hooks/site-next"
killed hook "$(order hook site-slow "$(with_value nccl 1)")" 1 500
expect "a hook behind one that was killed" "hook site-next is done" \
    "$(execute hook "$(order hook site-next "$(with_value nccl 1)")")"
expect "one writer at a time" "first second " "$(tr '\n' ' ' <"$root/opt/order-of-work")"
expect "what a hook leaves running holds nobody up" "hook site-next is done" \
    "$(execute hook "$(order hook site-next "$(with_value nccl 1)")")"

# Acceptance.
expect "no checks" "there are no acceptance checks in /etc/lockstep/accept.d" "$(execute accept "")"
printf '#!/bin/sh\nexit 0\n' >"$root/etc/lockstep/accept.d/10-first"
printf '#!/bin/sh\necho bandwidth is 3 GB/s\nexit 4\n' >"$root/etc/lockstep/accept.d/20-second"
echo "left by an editor" >"$root/etc/lockstep/accept.d/20-second~"
chmod 755 "$root/etc/lockstep/accept.d/10-first" "$root/etc/lockstep/accept.d/20-second"
expect "a check that says no" "20-second: status 4: bandwidth is 3 GB/s" "$(execute accept "")"
printf '#!/bin/sh\nexit 0\n' >"$root/etc/lockstep/accept.d/20-second"
expect "all say yes" "all 2 acceptance checks passed" "$(execute accept "")"
printf '#!/bin/sh\necho warm\necho metric gemm-tflops 688.25\necho metric sdc 0\n' >"$root/etc/lockstep/accept.d/20-second"
expect "what they measured" "all 2 acceptance checks passed; figures gemm-tflops=688.25 sdc=0" "$(execute accept "")"
printf '#!/bin/sh\necho metric gemm-tflops fast\n' >"$root/etc/lockstep/accept.d/20-second"
expect "a figure that is none" "20-second: it prints 'metric gemm-tflops fast'; *" "$(execute accept "")"
printf '#!/bin/sh\nexit 0\n' >"$root/etc/lockstep/accept.d/20-second"
chmod 666 "$root/etc/lockstep/accept.d/20-second"
expect "a check that is no program" "/etc/lockstep/accept.d/20-second: is not a plain program" "$(execute accept "")"

# Packages of Red Hat's kind, where rpm is installed. Debian's wants to be told that it may.
if command -v rpmbuild >/dev/null; then
    cat >"$root/usr/local/bin/rpm" <<'RPM'
#!/bin/sh
exec /usr/bin/rpm --force-debian "$@"
RPM
    chmod 755 "$root/usr/local/bin/rpm"
    mkdir -p "$root/etc/dnf/plugins" "$root/opt/spec"
    : >"$root/etc/dnf/plugins/versionlock.conf"
    echo "other-0:1-1.noarch" >"$root/etc/dnf/plugins/versionlock.list"
    rpm_package() {
        printf 'Name: %s\nVersion: %s\nRelease: 1\nSummary: t\nLicense: t\nBuildArch: noarch\n%s%%description\nt\n%%install\nmkdir -p %%{buildroot}/usr/share/%s\necho %s >%%{buildroot}/usr/share/%s/version\n%%files\n/usr/share/%s\n' \
            "$1" "$2" "${3:+Requires: $3
}" "$1" "$2" "$1" "$1" >"$root/opt/spec/$1.spec"
        inside rpmbuild -bb --define '_topdir /opt/rpm' "/opt/spec/$1.spec" >/dev/null 2>&1
        cp "$root/opt/rpm/RPMS/noarch/$1-$2-1.noarch.rpm" "$root/opt/made/"
    }
    rpms() {
        inside rpm -q --qf '%{NAME}=%{VERSION} ' lks-rpm-a lks-rpm-b 2>/dev/null
    }
    rpm_package lks-rpm-a 1.0 ""
    rpm_package lks-rpm-a 2.0 ""
    rpm_package lks-rpm-b 1.0 "lks-rpm-a = 1.0"
    rpm_package lks-rpm-b 2.0 "lks-rpm-a = 2.0"
    old=$(order dnf "" "$(with_file a lks-rpm-a-1.0-1.noarch.rpm 1)" "$(with_file b lks-rpm-b-1.0-1.noarch.rpm 1)")
    new=$(order dnf "" "$(with_file a lks-rpm-a-2.0-1.noarch.rpm 2)" "$(with_file b lks-rpm-b-2.0-1.noarch.rpm 2)")
    gone=$(order dnf "" "$(with_file a lks-rpm-a-2.0-1.noarch.rpm)" "$(with_file b lks-rpm-b-2.0-1.noarch.rpm)")
    # What rpm needs of a shell it looks for among its own packages, which Debian does not have.
    expect "rpm, installed" "2 packages are as ordered" "$(execute dnf "$old")"
    expect "rpm, again" "already so: 2 packages" "$(execute dnf "$old")"
    expect "rpm, newer" "2 packages are as ordered" "$(execute dnf "$new")"
    expect "rpm, as it says" "lks-rpm-a=2.0 lks-rpm-b=2.0 " "$(rpms)"
    expect "rpm, locked" "other-0:1-1.noarch lks-rpm-a-0:2.0-1.noarch lks-rpm-b-0:2.0-1.noarch " \
        "$(tr '\n' ' ' <"$root/etc/dnf/plugins/versionlock.list")"
    expect "rpm, one that another needs" "rpm: status *" \
        "$(execute dnf "$(order dnf "" "$(with_file a lks-rpm-a-1.0-1.noarch.rpm 1)")")"
    expect "rpm, nothing was touched" "lks-rpm-a=2.0 lks-rpm-b=2.0 " "$(rpms)"
    expect "rpm, taken back" "2 packages are as ordered" "$(execute dnf "$old")"
    round=0
    while [ $round -lt "$rounds" ]; do
        round=$((round + 1))
        case $((round % 2)) in 0) want=$old ;; *) want=$new ;; esac
        killed dnf "$want" $round 900
    done
    expect "rpm after $rounds kills" "*2 packages*" "$(execute dnf "$new")"
    expect "rpm, as it says after them" "lks-rpm-a=2.0 lks-rpm-b=2.0 " "$(rpms)"
    expect "rpm, gone" "2 packages are as ordered" "$(execute dnf "$gone")"
    expect "rpm, gone again" "already so: 2 packages" "$(execute dnf "$gone")"
    # Kernels stay beside each other, and the one of the order boots next.
    if [ -x "$root/usr/local/sbin/menu" ]; then
        rm -rf "${root:?}"/boot/*
        mkdir -p "$root/boot/grub"
        rpm_kernel() {
            printf 'Name: lks-rpm-kernel\nVersion: 6.2.0\nRelease: %s\nSummary: t\nLicense: t\nBuildArch: noarch\n%%description\nt\n%%install\nmkdir -p %%{buildroot}/boot\necho %s >%%{buildroot}/boot/vmlinuz-6.2.0-%s.noarch\n%%post -p <lua>\nos.execute("/usr/local/sbin/menu")\n%%files\n/boot/vmlinuz-6.2.0-%s.noarch\n' \
                "$1" "$1" "$1" "$1" >"$root/opt/spec/kernel.spec"
            inside rpmbuild -bb --define '_topdir /opt/rpm' /opt/spec/kernel.spec >/dev/null 2>&1
            cp "$root/opt/rpm/RPMS/noarch/lks-rpm-kernel-6.2.0-$1.noarch.rpm" "$root/opt/made/"
        }
        rpm_kernel 1
        rpm_kernel 2
        old=$(order dnf "" "$(with_file kernel lks-rpm-kernel-6.2.0-1.noarch.rpm 6.2.0-1.noarch)")
        new=$(order dnf "" "$(with_file kernel lks-rpm-kernel-6.2.0-2.noarch.rpm 6.2.0-2.noarch)")
        inside rpm -i --nodeps /opt/made/lks-rpm-kernel-6.2.0-1.noarch.rpm
        inside menu
        expect "rpm, a newer kernel" "1 packages are as ordered, and the next boot starts kernel 6.2.0-2.noarch" \
            "$(execute dnf "$new")"
        expect "rpm, a newer kernel boots next" 6.2.0-2.noarch "$(next)"
        expect "rpm, the older one stays" "vmlinuz-6.2.0-1.noarch vmlinuz-6.2.0-2.noarch " \
            "$(cd "$root/boot" && echo vmlinuz-*) "
        expect "rpm, the older kernel" "1 packages are as ordered, and the next boot starts kernel 6.2.0-1.noarch" \
            "$(execute dnf "$old")"
        expect "rpm, the older kernel boots next" 6.2.0-1.noarch "$(next)"
        expect "rpm, the older kernel, again" "already so: 1 packages" "$(execute dnf "$old")"
    fi
else
    echo "rpm is not installed: its executor was not tried"
fi

# Firmware, by tools that stand in for the vendors' and tell of devices that are files.
mkdir -p "$root/opt/sys/devices/0000:17:00.0" "$root/opt/sys/devices/0000:18:00.0" "$root/opt/nvme/nvme0"
for device in "$root"/opt/sys/devices/*; do
    echo 0x15b3 >"$device/vendor"
    echo 0x020700 >"$device/class"
    echo 28.39.1002 >"$device/firmware"
    echo MT_0000000838 >"$device/psid"
done
echo MT_0000000999 >"$root/opt/sys/devices/0000:18:00.0/psid"
echo "TESTDRIVE 3T" >"$root/opt/nvme/nvme0/model"
echo 1.0 >"$root/opt/nvme/nvme0/firmware"
mount -t sysfs none "$root/sys" 2>/dev/null
mount --bind "$root/opt/sys/devices" "$root/sys/bus/pci/devices" 2>/dev/null
mkdir -p "$root/sys/class/nvme" 2>/dev/null
cat >"$root/usr/local/bin/mstflint" <<'FLINT'
#!/bin/sh
case $1 in
-i) printf 'Image type: FS4\nFW Version: %s\nPSID: MT_0000000838\n' "$(cat "$2")" ;;
-d)
    d=/sys/bus/pci/devices/$2
    case $3 in
    q) printf 'FW Version: %s\nPSID: %s\n' "$(cat "$d/firmware")" "$(cat "$d/psid")" ;;
    -i) sleep 0.1 && { [ -f /opt/lies ] || cp "$4" "$d/firmware"; } ;;
    esac
    ;;
esac
FLINT
chmod 755 "$root/usr/local/bin/mstflint"
printf 28.43.2026 >"$root/opt/made/nic.bin"
nic=$(order firmware "" "$(with_file firmware/nic nic.bin 28.43.2026)")
if [ -f "$root/sys/bus/pci/devices/0000:17:00.0/psid" ]; then
    touch "$root/opt/lies"
    expect "a tool that claims to have written" "firmware/nic: 0000:17:00.0: afterwards it has 28.39.1002" "$(execute firmware "$nic")"
    rm "$root/opt/lies"
    expect "firmware of the adapter" "1 of 1 devices written" "$(execute firmware "$nic")"
    expect "firmware, again" "already so: 1 devices" "$(execute firmware "$nic")"
    expect "another kind of adapter was left alone" "28.39.1002" "$(cat "$root/opt/sys/devices/0000:18:00.0/firmware")"
    expect "a file of another version" "firmware/nic: nic.bin: holds version 28.43.2026" \
        "$(execute firmware "$(order firmware "" "$(with_file firmware/nic nic.bin 28.44)")")"
fi
cat >"$root/usr/local/bin/fwupdmgr" <<'FWUPD'
#!/bin/sh
case $1 in
get-details) echo '{"Devices":[{"Guid":["aaa"],"Version":"1.0","Releases":[{"Version":"2.0"}]}]}' ;;
get-devices)
    printf '{"Devices":[{"Guid":["bbb"],"Version":"2.0"},{"Guid":["aaa","ccc"],"Version":"%s","Releases":[{"Version":"2.0"}]}]}\n' \
        "$(cat /opt/cabinet)"
    ;;
get-history) printf '{"Devices":[{"Guid":["aaa"],"UpdateState":"%s","Releases":[{"Version":"2.0"}]}]}\n' "$(cat /opt/history)" ;;
install) [ -f /opt/lies ] || echo 2.0 >/opt/cabinet ;;
esac
FWUPD
chmod 755 "$root/usr/local/bin/fwupdmgr"
echo 1.0 >"$root/opt/cabinet"
echo failed >"$root/opt/history"
printf cabinet >"$root/opt/made/board.cab"
cabinet=$(order firmware "" "$(with_file firmware/bios board.cab 2.0)")
touch "$root/opt/lies"
expect "a cabinet that was not written, and another device that has it" \
    "firmware/bios: no device has 2.0 afterwards" "$(execute firmware "$cabinet")"
echo needs-reboot >"$root/opt/history"
expect "a cabinet that waits for a boot" "1 of 1 devices written" "$(execute firmware "$cabinet")"
rm "$root/opt/lies"
expect "a cabinet" "1 of 1 devices written" "$(execute firmware "$cabinet")"
expect "a cabinet, again" "already so: 1 devices" "$(execute firmware "$cabinet")"

if mount -t tmpfs none "$root/sys/class" 2>/dev/null; then
    mkdir -p "$root/sys/class/nvme"
    cp -r "$root/opt/nvme/nvme0" "$root/sys/class/nvme/"
    echo 2.0 >"$root/opt/slot"
    cat >"$root/usr/local/bin/nvme" <<'NVME'
#!/bin/sh
case $1 in
id-ctrl) printf 'mn : TESTDRIVE 3T\nfr : %s\n' "$(cat /sys/class/nvme/nvme0/firmware)" ;;
fw-log) printf 'afi : 0x1\nfrs1 : 0x302e32 (%s)\n' "$(cat /opt/slot)" ;;
fw-commit) [ -f /opt/lies ] || echo 2 >/opt/slot ;;
esac
NVME
    chmod 755 "$root/usr/local/bin/nvme"
    printf drive >"$root/opt/made/drive.bin"
    drive=$(order firmware "" "$(with_file firmware/nvme drive.bin 2)")
    touch "$root/opt/lies"
    expect "a drive that has a version which begins so" "firmware/nvme: /dev/nvme0: has no 2 afterwards" "$(execute firmware "$drive")"
    rm "$root/opt/lies"
    expect "a drive" "1 of 1 devices written" "$(execute firmware "$drive")"
fi
expect "firmware that no tool writes" "firmware/psu: no tool here writes it" \
    "$(execute firmware "$(order firmware "" "$(with_file firmware/psu nic.bin 1)")")"

# Two at once: the second one waits for the first.
printf '#!/bin/sh\nsleep 1\n' >"$root/etc/lockstep/accept.d/20-second"
chmod 755 "$root/etc/lockstep/accept.d/20-second"
chmod 755 "$root/etc/lockstep/hooks/site-nccl"
execute accept "" >"$root/opt/first" &
sleep 0.3
expect "the second one" "already so: 2.28.3" "$(execute hook "$hook")"
expect "behind the first one" "all 2 acceptance checks passed" "$(cat "$root/opt/first")"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
