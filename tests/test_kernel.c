#include "probe/root/probes.h"
#include "tests/heard.h"
#include "tests/test.h"

#define GUID "-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"

/* A whole machine ---------------------------------------------------------------------------- */

static void server(const struct lks_tree *t)
{
    lks_tree_file(t, "/proc/sys/kernel/osrelease", "6.8.0-60-generic\n");
    lks_tree_file(t, "/proc/cmdline",
                  "BOOT_IMAGE=/vmlinuz-6.8.0-60-generic root=UUID=6d6f ro  iommu=pt "
                  "dyndbg=\"file drivers/a.c +p\" -- single quiet\n");
    lks_tree_file(t, "/etc/os-release",
                  "PRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\nNAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\n"
                  "ID=ubuntu\nID_LIKE=debian\n");
    lks_tree_file(t, "/boot/grub/grub.cfg",
                  "if [ \"${next_entry}\" ] ; then\n set default=\"${next_entry}\"\nelse\n"
                  " set default=\"0\"\nfi\nmenuentry 'Ubuntu' {\n"
                  "\tlinux\t/vmlinuz-6.8.0-90-generic root=UUID=6d6f ro\n}\n");
    lks_tree_file(t, "/boot/vmlinuz-6.8.0-60-generic", "");
    lks_tree_file(t, "/boot/vmlinuz-6.8.0-90-generic", "");
    lks_tree_file(t, "/var/lib/dkms/nvidia/580.95.05/6.8.0-60-generic/x86_64/module/nvidia.ko.zst",
                  "");
    lks_tree_file(t, "/var/lib/dkms/nvidia/570.1/6.8.0-90-generic/x86_64/log/make.log", "");
    lks_tree_link(t, "/var/lib/dkms/nvidia/580.95.05/source", "/usr/src/nvidia-580.95.05");
    lks_tree_link(t, "/var/lib/dkms/nvidia/kernel-6.8.0-60-generic-x86_64",
                  "580.95.05/6.8.0-60-generic/x86_64");
    lks_tree_file(t, "/var/lib/dkms/gdrdrv/2.5/6.8.0-90-generic/x86_64/module/gdrdrv.ko", "");
    lks_tree_file(t, "/var/lib/dkms/gdrdrv/original_module/x", "");
    lks_tree_file(t, "/var/lib/dkms/mok.key", "secret");
    lks_tree_file(t, "/etc/nccl.conf",
                  "# site settings\nNCCL_IB_HCA=mlx5\nNCCL_DEBUG=WARN\n\nnothing here\n"
                  "NCCL_DEBUG=INFO\nNCCL_ALGO =Ring\nMY_TOKEN=abc\nNCCL_IB_TC=\n");
    lks_tree_file(t, "/proc/sys/vm/swappiness", "10\n");
    lks_tree_file(t, "/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n");
    lks_tree_file(t, "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    lks_tree_file(t, "/sys/two", "1\n2\n");
    lks_tree_file(t, "/etc/shadow", "x");
}

static const char server_said[] =
    "kernel=6.8.0-60-generic < /proc/sys/kernel/osrelease\n"
    "settings.kernel_cmdline=BOOT_IMAGE=/vmlinuz-6.8.0-60-generic root=UUID=6d6f ro iommu=pt "
    "dyndbg=\"file drivers/a.c +p\" < /proc/cmdline\n"
    "platform.os=ubuntu 24.04 < /etc/os-release\n"
    "platform.next_kernel=6.8.0-90-generic < /boot/grub/grub.cfg: default '0'\n"
    "platform.dkms@dkms gdrdrv=gdrdrv/2.5 built < /var/lib/dkms/gdrdrv/2.5/6.8.0-90-generic\n"
    "platform.dkms@dkms nvidia=nvidia/570.1 not built for 6.8.0-90-generic < "
    "/var/lib/dkms/nvidia/570.1/6.8.0-90-generic\n"
    "platform.dkms@dkms nvidia=nvidia/580.95.05 not built for 6.8.0-90-generic < "
    "/var/lib/dkms/nvidia/580.95.05/6.8.0-90-generic\n"
    "tuning.env.NCCL_IB_HCA=mlx5 < /etc/nccl.conf\n"
    "tuning.env.NCCL_DEBUG=WARN < /etc/nccl.conf\n"
    "tuning.env.NCCL_ALGO?line 7: NCCL takes the blanks for a part of the name < "
    "/etc/nccl.conf\n"
    "tuning.env.MY_TOKEN?line 8: resembles a secret, not kept < /etc/nccl.conf\n"
    "tuning.env.NCCL_IB_TC= < /etc/nccl.conf\n"
    "settings.other./proc/sys/vm/swappiness=10 < /proc/sys/vm/swappiness\n"
    "settings.other./proc/sys/net/ipv4/tcp_rmem=4096 131072 6291456 < "
    "/proc/sys/net/ipv4/tcp_rmem\n"
    "settings.other./sys/kernel/mm/transparent_hugepage/enabled=always [madvise] never < "
    "/sys/kernel/mm/transparent_hugepage/enabled\n"
    "settings.other./proc/sys/gone~ < /proc/sys/gone\n"
    "settings.other./sys/two?/sys/two: is not one line of text < /sys/two\n"
    "settings.other./sys/../etc/shadow?/sys/../etc/shadow: goes up < "
    "/sys/../etc/shadow\n"
    "settings.other./etc/shadow?only files of /proc/sys and /sys are read < "
    "/etc/shadow\n";

static void test_server(void)
{
    LKS_CLEANUP(lks_heard_fini) struct lks_heard heard = {0};
    struct lks_str files[] = {LKS_STR("/proc/sys/vm/swappiness"),
                              LKS_STR("/proc/sys/net/ipv4/tcp_rmem"),
                              LKS_STR("/sys/kernel/mm/transparent_hugepage/enabled"),
                              LKS_STR("/proc/sys/gone"),
                              LKS_STR("/sys/two"),
                              LKS_STR("/sys/../etc/shadow"),
                              LKS_STR("/etc/shadow")};
    struct lks_names also = {files, LKS_COUNT(files)};
    struct lks_probe_options options = {.also = &also};
    struct lks_tree tree = lks_tree_new();
    server(&tree);
    lks_hear_tree(lks_probe_kernel, &tree, &options, &heard);
    CHECK_STR(lks_buf_view(&heard.full), server_said);
    lks_tree_free(&tree);
}

/* One reading at a time ---------------------------------------------------------------------- */

#define F(path, content)                                                                           \
    {                                                                                              \
        path, LKS_STR_C(content)                                                                   \
    }
#define BLS       "/boot/loader/entries/"
#define SAVED     "set default=\"${saved_entry}\"\nblscfg\n"
#define VAR(name) "/sys/firmware/efi/efivars/" name GUID

/* clang-format off */
static const struct {
    const char *name;
    struct lks_tree_entry files[8];
    const char *want;
} rows[] = {
    {"no /proc", {{0}}, "kernel~ < /proc/sys/kernel/osrelease"},
    {"a kernel that is noise", {F("/proc/sys/kernel/osrelease", "\x01\xff\n")},
     "kernel?/proc/sys/kernel/osrelease: does not hold a line of text < "
     "/proc/sys/kernel/osrelease"},
    {"a kernel not for us", {F("/lockstep/failed.csv", "key,code,value\n"
      "/proc/sys/kernel/osrelease,denied,osrelease: not permitted\n")},
     "kernel?osrelease: not permitted < /proc/sys/kernel/osrelease"},

    {"no command line", {{0}}, "settings.kernel_cmdline~ < /proc/cmdline"},
    {"nothing at all", {F("/proc/cmdline", ""), F("/etc/os-release", "")},
      "settings.kernel_cmdline= < /proc/cmdline"},
    {"empty files", {F("/boot/grub/grub.cfg", ""), F("/boot/grub/grubenv", ""),
      F("/boot/loader/loader.conf", ""), F(BLS "a.conf", ""), F("/etc/nccl.conf", ""),
      F(VAR("LoaderInfo"), "")},
      "platform.next_kernel?/boot/grub/grub.cfg: a menu without entries < /boot"},
    {"an empty command line", {F("/proc/cmdline", "\n")},
      "settings.kernel_cmdline= < /proc/cmdline"},
    {"init alone", {F("/proc/cmdline", "-- a b\n")}, "settings.kernel_cmdline= < /proc/cmdline"},
    {"dashes within a word", {F("/proc/cmdline", "a --b c--\td -- e")},
     "settings.kernel_cmdline=a --b c-- d < /proc/cmdline"},
    {"dashes in quotes", {F("/proc/cmdline", "a=\"b -- c\" d \"e f\" -- g")},
     "settings.kernel_cmdline=a=\"b -- c\" d \"e f\" < /proc/cmdline"},
    {"a quote left open", {F("/proc/cmdline", "a \"b -- c\n")},
     "settings.kernel_cmdline=a \"b -- c < /proc/cmdline"},
    {"not text", {F("/proc/cmdline", "a \x1b[2J\n")},
     "settings.kernel_cmdline?/proc/cmdline: does not hold text < /proc/cmdline"},

    {"the other os-release", {F("/usr/lib/os-release", "ID='rocky'\nVERSION_ID=\"9.4\"\n")},
     "platform.os=rocky 9.4 < /usr/lib/os-release"},
    {"without a version", {F("/etc/os-release", "NAME=Arch\nID=arch\n")},
     "platform.os=arch < /etc/os-release"},
    {"escapes", {F("/etc/os-release", "ID=\"a\\\"b\"\nVERSION_ID=1\\ 2\n")},
     "platform.os=a\"b 1 2 < /etc/os-release"},
    {"without an id", {F("/etc/os-release", "VERSION_ID=1\n")},
     "platform.os?/etc/os-release: does not say which it is < /etc/os-release"},
    {"noise", {F("/etc/os-release", "\x80\x00\xffID=\x01\nID=\xff\xfe\n")},
     "platform.os?/etc/os-release: does not say which it is < /etc/os-release"},
    {"a quote that stays open", {F("/etc/os-release", "ID=\"ubuntu\n")},
     "platform.os?/etc/os-release: does not say which it is < /etc/os-release"},
    {"no os-release", {{0}}, "platform.os~ < /usr/lib/os-release"},

    {"no /boot", {{0}}, "platform.next_kernel~ < /boot"},
    {"no kernel in /boot", {F("/boot/config-6.8.0", "")}, "platform.next_kernel~ < /boot"},
    {"/boot not for us",
      {F("/lockstep/list.csv", "key,code,value\n/boot,denied,/boot: not permitted\n")},
     "platform.next_kernel?/boot: not permitted < /boot"},
    {"Red Hat, saved", {F("/boot/grub2/grub.cfg", SAVED),
      F("/boot/grub2/grubenv", "# GRUB Environment Block\nsaved_entry=m-5.14.0-427.9.1.el9_4\n###"),
      F(BLS "m-5.14.0-427.9.1.el9_4.conf", "title A\nlinux /vmlinuz-5.14.0-427.9.1.el9_4\n"),
      F(BLS "m-5.14.0-427.13.1.el9_4.conf", "title B\nlinux /vmlinuz-5.14.0-427.13.1.el9_4\n")},
     "platform.next_kernel=5.14.0-427.9.1.el9_4 < /boot/grub2/grub.cfg: default "
     "'m-5.14.0-427.9.1.el9_4'"},
    {"Red Hat, the newest", {F("/boot/efi/EFI/redhat/grub.cfg", SAVED),
      F("/boot/efi/EFI/BOOT/x", ""),
      F(BLS "m-5.14.0-427.9.1.el9_4.conf", "linux /vmlinuz-5.14.0-427.9.1.el9_4\n"),
      F(BLS "m-5.14.0-427.13.1.el9_4.conf", "linux /vmlinuz-5.14.0-427.13.1.el9_4\n"),
      F(BLS "m-0-rescue.conf", "linux /vmlinuz-0-rescue-m\n")},
     "platform.next_kernel=5.14.0-427.13.1.el9_4 < /boot/efi/EFI/redhat/grub.cfg: default ''"},
    {"once",
      {F("/boot/grub/grub.cfg", "set default=$next_entry\nmenuentry a {\n linux /vmlinuz-1.0\n}\n"
      "menuentry b {\n linux /vmlinuz-2.0\n}\n"), F("/boot/grub/grubenv", "next_entry=b\n")},
     "platform.next_kernel=2.0 < /boot/grub/grub.cfg: default 'b' for the next boot"},
    {"by a link", {F("/boot/grub/grub.cfg", "menuentry a {\n linux /boot/vmlinuz\n}\n"),
      F("/boot/vmlinuz@", "vmlinuz-6.1.0-30-amd64")},
     "platform.next_kernel=6.1.0-30-amd64 < /boot/grub/grub.cfg: default ''"},
    {"grub.cfg not for us", {F("/lockstep/failed.csv", "key,code,value\n"
      "/boot/grub/grub.cfg,denied,grub.cfg: not permitted\n"), F("/boot/grub/grub.cfg", ""),
      F("/boot/vmlinuz@", "vmlinuz-6.8.0-90-generic")},
     "platform.next_kernel=6.8.0-90-generic < /boot/vmlinuz, a link (grub.cfg: not permitted)"},
    {"grubenv not for us", {F("/lockstep/failed.csv", "key,code,value\n"
      "/boot/grub/grubenv,denied,grubenv: not permitted\n"),
      F("/boot/grub/grub.cfg", "menuentry a {\n}\n"),
      F("/boot/vmlinuz-6.8.0-90-generic", ""), F("/lib/modules/6.8.0-90-generic/x", "")},
     "platform.next_kernel=6.8.0-90-generic < newest installed under /boot (/boot/grub/grub.cfg: "
     "grubenv: not permitted)"},
    {"a script of its own", {F("/boot/grub/grub.cfg", "menuentry a {\n linux /vmlinuz-1.0\n}\n"),
      F("/boot/grub/custom.cfg", ""), F("/boot/vmlinuz@", "vmlinuz-6.8.0-90-generic")},
     "platform.next_kernel=6.8.0-90-generic < /boot/vmlinuz, a link (/boot/grub/grub.cfg: "
     "custom.cfg beside it may change the default)"},
    {"newest with modules", {F("/boot/vmlinuz-6.8.0-9-generic", ""),
      F("/boot/vmlinuz-6.8.0-60-generic", ""),
      F("/boot/vmlinuz-6.8.0-90-generic", ""), F("/lib/modules/6.8.0-9-generic/x", ""),
      F("/lib/modules/6.8.0-60-generic/x", ""), F("/lib/modules/6.11.0/x", "")},
     "platform.next_kernel=6.8.0-60-generic < newest installed under /boot (no entries for a "
     "boot loader)"},
    {"no modules", {F("/boot/vmlinuz-6.8.0-9-generic", "")},
     "platform.next_kernel?no entries for a boot loader < /boot"},
    {"another system", {F("/boot/grub/grub.cfg", "menuentry 'Windows' {\n chainloader +1\n}\n")},
     "platform.next_kernel?/boot/grub/grub.cfg: entry 'Windows' names no kernel's "
     "release < /boot"},
    {"grub.cfg that is noise", {F("/boot/grub/grub.cfg", "\xff\x00\x01 if { } fi\n")},
     "platform.next_kernel?/boot/grub/grub.cfg: 'fi' without its beginning < /boot"},

    {"systemd-boot, the newest", {F("/boot/efi/loader/entries/m-6.8.0-60-generic.conf",
      "version 6.8.0-60-generic\nlinux /m/6.8.0-60-generic/linux\n"),
      F("/boot/efi/loader/entries/m-6.8.0-90-generic.conf",
      "version 6.8.0-90-generic\nlinux /m/6.8.0-90-generic/linux\n")},
     "platform.next_kernel=6.8.0-90-generic < loader/entries/m-6.8.0-90-generic.conf: default "
     "''"},
    {"systemd-boot, a pattern", {F("/efi/loader/loader.conf", "timeout 3\ndefault *-60-*\n"),
      F("/efi/loader/entries/m-6.8.0-60-generic.conf", "linux /m/6.8.0-60-generic/linux\n"),
      F("/efi/loader/entries/m-6.8.0-90-generic.conf", "linux /m/6.8.0-90-generic/linux\n")},
     "platform.next_kernel=6.8.0-60-generic < loader/entries/m-6.8.0-60-generic.conf: default "
     "'*-60-*'"},
    {"systemd-boot, once", {F("/efi/loader/loader.conf", "default a.conf\n"),
      F(VAR("LoaderInfo"), "\x06\0\0\0s\0y\0s\0t\0e\0m\0d\0-\0b\0o\0o\0t\0 \0\x32\0\0\0"),
      F(VAR("LoaderEntryOneShot"), "\x06\0\0\0b\0.\0c\0o\0n\0f\0\0\0"),
      F("/efi/loader/entries/a.conf", "version 6.8.1\n"),
      F("/efi/loader/entries/b.conf", "version 6.8.2\n"), F("/boot/grub/grub.cfg", "fi")},
     "platform.next_kernel=6.8.2 < loader/entries/b.conf: default 'b.conf'"},
    {"systemd-boot, the last one", {F("/efi/loader/loader.conf", "default @saved\n"),
      F(VAR("LoaderEntryLastBooted"), "\x06\0\0\0b\0"),
      F("/efi/loader/entries/a.conf", "version 6.8.1\nsort-key a\n"),
      F("/efi/loader/entries/b.conf", "version 6.8.2\nsort-key b\n")},
     "platform.next_kernel=6.8.2 < loader/entries/b.conf: default 'b'"},
    {"unified images", {F("/boot/EFI/Linux/a.efi", ""),
      F("/efi/loader/entries/a.conf", "version 6.8.1\n")},
     "platform.next_kernel?EFI/Linux: unified kernel images are not read < "
     "/boot"},

    {"no DKMS", {{0}}, "platform.dkms~ < /var/lib/dkms"},
    {"DKMS without modules", {F("/var/lib/dkms/dkms_dbversion", "2")},
      "platform.dkms~ < /var/lib/dkms"},
    {"for a kernel that is not known", {F("/var/lib/dkms/nvidia/580/x", "")},
     "platform.dkms@dkms nvidia?nvidia/580: the next kernel is not known < /boot"},
    {"an older version beside", {F("/boot/vmlinuz@", "vmlinuz-6.8.0-90-generic"),
      F("/var/lib/dkms/nvidia/570/x", ""),
      F("/var/lib/dkms/nvidia/580/6.8.0-90-generic/x86_64/module/nvidia.ko.xz", "")},
     "platform.dkms@dkms nvidia=nvidia/570 beside another that is built < "
     "/var/lib/dkms/nvidia/570/6.8.0-90-generic"},
    {"no module but its log", {F("/boot/vmlinuz@", "vmlinuz-6.8.0-90-generic"),
      F("/var/lib/dkms/nvidia/580/6.8.0-90-generic/x86_64/module/nvidia.ko.log", "")},
     "platform.dkms@dkms nvidia=nvidia/580 not built for 6.8.0-90-generic < "
     "/var/lib/dkms/nvidia/580/6.8.0-90-generic"},
    {"nccl.conf not for us", {F("/lockstep/failed.csv", "key,code,value\n"
      "/etc/nccl.conf,denied,nccl.conf: not permitted\n")},
     "tuning.env.*?nccl.conf: not permitted < /etc/nccl.conf"},
};
/* clang-format on */

static void test_rows(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_tree tree = lks_tree_new();
        lks_tree_entries(&tree, rows[i].files, LKS_COUNT(rows[i].files));
        CHECK_HEARD_LINE(lks_probe_kernel, &tree, rows[i].want);
        lks_tree_free(&tree);
    }
}

/* A command line far beyond what a kernel takes, and one beyond what is read at all. */
static void test_long_cmdline(void)
{
    static const struct {
        size_t bytes;
        const char *want;
    } lengths[] = {
        {8192, NULL},
        {8193, "settings.kernel_cmdline?/proc/cmdline: longer than 8192 bytes < "
               "/proc/cmdline"},
        {65536, "settings.kernel_cmdline?/proc/cmdline: longer than 8192 bytes < "
                "/proc/cmdline"},
        {65537, "settings.kernel_cmdline?/proc/cmdline: larger than 65536 bytes < "
                "/proc/cmdline"},
    };
    for (size_t i = 0; i < LKS_COUNT(lengths); i++) {
        lks_test_case("%zu bytes", lengths[i].bytes);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(1 << 20);
        struct lks_tree tree = lks_tree_new();
        lks_buf_pad(&line, 'a', (ptrdiff_t)lengths[i].bytes);
        lks_tree_bytes(&tree, "/proc/cmdline", lks_buf_view(&line));
        if (lengths[i].want != NULL)
            CHECK_HEARD_LINE(lks_probe_kernel, &tree, lengths[i].want);
        else
            CHECK_HEARD_HAS(lks_probe_kernel, &tree, "aaa < /proc/cmdline\n");
        lks_tree_free(&tree);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a server", test_server},
        {"readings", test_rows},
        {"long command lines", test_long_cmdline},
        {0},
    });
}
