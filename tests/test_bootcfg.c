#include "codec/machine/bootcfg.h"

#include "base/buf.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>

/* What grub-mkconfig begins with, in short. */
#define HEAD(fallback)                                                                             \
    "if [ -s $prefix/grubenv ]; then\n  set have_grubenv=true\n  load_env\nfi\n"                   \
    "if [ \"${next_entry}\" ] ; then\n   set default=\"${next_entry}\"\n   set next_entry=\n"      \
    "   save_env next_entry\n   set boot_once=true\nelse\n   set default=\"" fallback "\"\nfi\n"   \
    "if [ x\"${feature_menuentry_id}\" = xy ]; then\n  menuentry_id_option=\"--id\"\nelse\n"       \
    "  menuentry_id_option=\"\"\nfi\nexport menuentry_id_option\n"                                 \
    "function recordfail {\n  set recordfail=1\n"                                                  \
    "  if [ -n \"${have_grubenv}\" ]; then if [ -z \"${boot_once}\" ]; then save_env recordfail; " \
    "fi; fi\n}\n"                                                                                  \
    "if loadfont $font ; then\n  set gfxmode=auto\nfi\n"

/* clang-format off */
#define ENTRY(title, id, kernel)                                                                   \
    "menuentry '" title "' --class os $menuentry_id_option '" id "' {\n\trecordfail\n"             \
    "\tif [ x$grub_platform = xxen ]; then insmod xzio; fi\n\tset root='hd0,gpt2'\n"               \
    "\tlinux\t" kernel " root=UUID=6d6f ro  quiet\n\tinitrd /boot/initrd.img\n}\n"

#define TWO ENTRY("a", "a", "/vmlinuz-1.1") ENTRY("b", "b", "/vmlinuz-1.0")

#define UBUNTU                                                                                     \
    ENTRY("Ubuntu", "simple", "/boot/vmlinuz-6.8.0-90-generic")                                    \
    "submenu 'Advanced options' $menuentry_id_option 'advanced' {\n"                               \
    ENTRY("Linux 6.8.0-90", "k90", "/boot/vmlinuz-6.8.0-90-generic")                               \
    ENTRY("Linux 6.8.0-90 (recovery)", "k90r", "/boot/vmlinuz-6.8.0-90-generic")                   \
    ENTRY("Linux 6.8.0-60", "k60", "/boot/vmlinuz-6.8.0-60-generic")                               \
    "}\nif [ \"$grub_platform\" = \"efi\" ]; then\n" ENTRY("Firmware", "fw", "/none") "fi\n"       \
    ENTRY("Memory test", "mt", "/boot/memtest86+x64.bin")

#define ENV(lines) "# GRUB Environment Block\n" lines "###############\n"

static const struct {
    const char *name;
    const char *cfg;
    const char *env;
    const char *choice; /* "TITLE: LINUX", with "once " in front; or the message */
} grubs[] = {
    {"first entry", HEAD("0") UBUNTU, "", "Ubuntu: /boot/vmlinuz-6.8.0-90-generic"},
    {"no environment", HEAD("${saved_entry}") UBUNTU, "", "Ubuntu: /boot/vmlinuz-6.8.0-90-generic"},
    {"saved by id", HEAD("${saved_entry}") UBUNTU, ENV("saved_entry=advanced>k60\n"),
     "Linux 6.8.0-60: /boot/vmlinuz-6.8.0-60-generic"},
    {"saved by title", HEAD("${saved_entry}") UBUNTU,
     ENV("saved_entry=Advanced options>Linux 6.8.0-60\n"),
     "Linux 6.8.0-60: /boot/vmlinuz-6.8.0-60-generic"},
    {"by place", HEAD("1>2") UBUNTU, "", "Linux 6.8.0-60: /boot/vmlinuz-6.8.0-60-generic"},
    {"place and id", HEAD("1>k60") UBUNTU, "", "Linux 6.8.0-60: /boot/vmlinuz-6.8.0-60-generic"},
    {"a place that is not there is the first", HEAD("1>60") UBUNTU, "",
     "Linux 6.8.0-90: /boot/vmlinuz-6.8.0-90-generic"},
    {"a submenu alone starts its first", HEAD("advanced") UBUNTU, "",
     "Linux 6.8.0-90: /boot/vmlinuz-6.8.0-90-generic"},
    {"what is not there is the first", HEAD("gone>away") UBUNTU, "",
     "Ubuntu: /boot/vmlinuz-6.8.0-90-generic"},
    {"for the next boot", HEAD("${saved_entry}") UBUNTU,
     ENV("saved_entry=0\nnext_entry=advanced>k60\n"),
     "once Linux 6.8.0-60: /boot/vmlinuz-6.8.0-60-generic"},
    {"place behind an entry that may not be there", HEAD("3") UBUNTU, "",
     "only known at boot whether 'Memory test' is the entry"},
    {"an entry that may not be there", HEAD("fw") UBUNTU, "",
     "only known at boot whether 'Firmware' is the entry"},
    {"id behind it", HEAD("mt") UBUNTU, "", "Memory test: /boot/memtest86+x64.bin"},
    {"counting down",
     HEAD("0")
     "if [ -n \"${boot_counter}\" -a \"${boot_success}\" = \"0\" ]; then\n"
     "  if  [ \"${boot_counter}\" = \"0\" -o \"${boot_counter}\" = \"-1\" ]; then\n"
     "    set default=1\n  fi\nfi\n" TWO,
     ENV("boot_counter=0\nboot_success=0\n"), "b: /vmlinuz-1.0"},
    {"not counting",
     HEAD("0")
     "if [ -n \"${boot_counter}\" -a \"${boot_success}\" = \"0\" ]; then\n set default=1\nfi\n" TWO,
     ENV("boot_success=0\n"), "a: /vmlinuz-1.1"},
    {"default by the platform",
     "set default=0\nif [ \"$grub_platform\" = \"efi\" ]; then set default=1; fi\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"the same default whatever it is",
     "set default=0\nif [ \"$grub_platform\" = \"efi\" ]; then set default=0; fi\n" TWO, "",
     "a: /vmlinuz-1.1"},
    {"default by a key", "if keystatus --shift; then default=1; else default=0; fi\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"elif",
     "if [ \"$x\" = 1 ]; then default=0; elif [ \"$x\" = 2 ]; then default=b; else default=c; fi\n"
     TWO, ENV("x=2\n"), "b: /vmlinuz-1.0"},
    {"else",
     "if [ \"$x\" = 1 ]; then default=0; elif [ \"$x\" = 2 ]; then default=0; else default=b; fi\n"
     TWO, ENV("x=3\n"), "b: /vmlinuz-1.0"},
    {"unset", "set default=b\nunset default\n" TWO, "", "a: /vmlinuz-1.1"},
    {"not empty", "if [ ! -z \"$x\" ]; then default=b; fi\n" TWO, ENV("x=1\n"), "b: /vmlinuz-1.0"},
    {"not the same", "if [ \"$x\" != 2 ]; then default=b; fi\n" TWO, ENV("x=1\n"),
     "b: /vmlinuz-1.0"},
    {"an entry that is not there",
     "if [ a = b ]; then\n" ENTRY("c", "c", "/c") "submenu s {\n" ENTRY("d", "d", "/d") "}\nfi\n"
     TWO, "", "a: /vmlinuz-1.1"},
    {"a submenu's own default", "set default=0\nsubmenu s {\nset default=1\n" TWO "}\n", "",
     "a: /vmlinuz-1.1"},
    {"two kernels in one entry",
     "menuentry m {\nif [ -f /a ]; then linux /vmlinuz-1; else linux /vmlinuz-2; fi\n}\n", "",
     "only known at boot which kernel 'm' starts"},
    {"another system", "menuentry 'Windows' {\n chainloader +1\n}\n", "", "Windows: "},
    {"a mark in a title", "set default='a>>b'\n" ENTRY("c", "c", "/c") ENTRY("a>b", "x", "/x"), "",
     "a>b: /x"},
    {"quotes and escapes",
     "set default=\"say \\\"hi\\\"\"\nmenuentry 'no' {\n}\nmenuentry say\\ \\\"hi\\\" \\\n {\n"
     "linuxefi '/vm linuz-1' # end\n}\n",
     "", "say \"hi\": /vm linuz-1"},
    {"a loop", "for i in a b; do\n default=$i\ndone\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"another file", "search --set=root x\nconfigfile $prefix/grub.cfg\n", "",
     "it hands over to another file"},
    {"another file is run", "source $prefix/late.cfg\n" TWO, "", "it runs another file"},
    {"by its short name", ". /boot/late.cfg\n" TWO, "", "it runs another file"},
    {"perhaps", "if [ -f /late.cfg ]; then source /late.cfg; fi\n" TWO, "",
     "it runs another file"},
    {"as a condition", "if source /late.cfg; then true; fi\n" TWO, "", "it runs another file"},
    {"never", "if [ a = b ]; then source /late.cfg; fi\n" TWO, "", "a: /vmlinuz-1.1"},
    {"custom.cfg is the caller's",
     "if [ -f  ${config_directory}/custom.cfg ]; then\n  source ${config_directory}/custom.cfg\n"
     "elif [ -z \"${config_directory}\" -a -f  $prefix/custom.cfg ]; then\n"
     "  source $prefix/custom.cfg\nfi\nsource /boot/grub/custom.cfg\n" TWO, "", "a: /vmlinuz-1.1"},
    {"only as a whole name", "source /boot/grub/mycustom.cfg\n" TWO, "", "it runs another file"},
    {"user.cfg for a password", "if [ -f ${prefix}/user.cfg ]; then\n  source ${prefix}/user.cfg\n"
     "  if [ -n \"${GRUB2_PASSWORD}\" ]; then\n    set superusers=\"root\"\n  fi\nfi\n" TWO, "",
     "a: /vmlinuz-1.1"},
    {"user.cfg without asking", "source $prefix/user.cfg\n" TWO, "", "it runs another file"},
    {"a text is run", "eval \"set default=1\"\n" TWO, "",
     "it runs commands that are put together at boot"},
    {"a function sets the default", "function f { set default=1 }\nf\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"over lines", "function f\n{\n default=1\n}\nset default=0\nf\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"by what it is given", "function f { set default=$1; }\nf 1\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"a function takes it away", "function f { unset default; }\nset default=1\nf\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"a function of a function", "function f { g; }\nfunction g { default=1; }\nf\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"a function as a condition", "function f { default=1; }\nif ! f; then true; fi\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"a function behind elif",
     "function f { default=1; }\nif [ a = b ]; then true; elif f; then true; fi\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"a function decides a condition",
     "function f { x=1; }\nf\nif [ \"$x\" = 1 ]; then default=1; fi\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"a function nobody calls", "function f { set default=1; }\n" TWO, "", "a: /vmlinuz-1.1"},
    {"a function is called in vain",
     "function f { set default=1; }\nif [ a = b ]; then f; fi\n" TWO, "", "a: /vmlinuz-1.1"},
    {"a function before it is there", "f\nfunction f { set default=1; }\n" TWO, "",
     "a: /vmlinuz-1.1"},
    {"its value is given later", "function f { set default=1; }\nf\nset default=b\n" TWO, "",
     "b: /vmlinuz-1.0"},
    {"a function adds an entry", "function f {\n" TWO "}\nf\n" TWO, "",
     "a function adds to its menu"},
    {"a function runs a file", "function f { source /x; }\nf\n" TWO, "", "it runs another file"},
    {"a function that never ends", "function f { f; }\nf\n" TWO, "", "functions that run too much"},
    {"a function of nothing", "function f\nset x=1\n", "", "a function without its block"},
    {"default from a search", "search --set=default x\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"default from a pattern", "regexp --set 1:default x y\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"default from the keyboard", "read default\n" TWO, "",
     "which entry is the default is only known at boot"},
    {"a kernel of the platform", ENTRY("a", "a", "/vmlinuz-$grub_cpu"), "",
     "only known at boot which kernel 'a' starts"},
    {"a kernel that is all unknown", ENTRY("a", "a", "$chosen"), "",
     "only known at boot which kernel 'a' starts"},
    {"a device of the platform", ENTRY("a", "a", "($root)/vmlinuz-1"), "", "a: ()/vmlinuz-1"},
    {"a device and more", ENTRY("a", "a", "($root)/$cmdpath/vmlinuz-1"), "",
     "only known at boot which kernel 'a' starts"},
    {"a kernel that is named later", ENTRY("a", "a", "/vmlinuz-$v") "set v=2\n", "",
     "a: /vmlinuz-2"},
    {"a kernel that the entry names", "menuentry a {\nset v=2\nlinux /vmlinuz-$v\n}\nv=1\n", "",
     "only known at boot which kernel 'a' starts"},
    {"a kernel of a function", "function f { linux /vmlinuz-2; }\nmenuentry a {\nf\n}\n", "",
     "a: /vmlinuz-2"},
    {"another kernel of a function",
     "function f { linux /vmlinuz-2; }\nmenuentry a {\nlinux /vmlinuz-1\nf\n}\n", "",
     "only known at boot which kernel 'a' starts"},
    {"an entry that runs a file", "menuentry a {\nlinux /vmlinuz-1\nsource /x\n}\n", "",
     "only known at boot which kernel 'a' starts"},
    {"another entry is left alone", TWO ENTRY("c", "c", "/vmlinuz-$grub_cpu"), "",
     "a: /vmlinuz-1.1"},
    {"empty", "", "", "a menu without entries"},
    {"only blanks", " \n\t;;\n# x", "", "a menu without entries"},
    {"an empty submenu", "submenu s {\n}\n", "", "a menu without entries"},
    {"a block left open", "if [ a ]; then\n", "", "a block that never ends"},
    {"an entry left open", "menuentry a {\n linux /x\n", "", "a block that never ends"},
    {"a quote left open", "menuentry 'a {\n}\n", "", "a menu entry without its block"},
    {"fi too many", "fi\n", "", "'fi' without its beginning"},
    {"else too many", "else\n", "", "'else' without its beginning"},
    {"done for fi", "if [ a ]; then\ndone\n", "", "'done' without its beginning"},
    {"no block", "menuentry a\n", "", "a menu entry without its block"},
};
/* clang-format on */

static void describe(const struct lks_grub_choice *c, char out[512])
{
    snprintf(out, 512, "%s%" LKS_STR_FMT ": %" LKS_STR_FMT, c->once ? "once " : "",
             LKS_STR_ARG(c->title), LKS_STR_ARG(c->kernel));
}

static void test_grub(void)
{
    for (size_t i = 0; i < LKS_COUNT(grubs); i++) {
        lks_test_case("%s", grubs[i].name);
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_grub_choice choice = {0};
        struct lks_err err = {0};
        char got[512];
        lks_arena_init(&arena, LKS_BOOT_MEMORY_MAX);
        enum lks_code code = lks_grub_default(
            lks_str_from(grubs[i].cfg), lks_str_from(grubs[i].env), NULL, 0, &arena, &choice, &err);
        describe(&choice, got);
        CHECK_STR(lks_str_from(code == LKS_OK ? got : err.msg), grubs[i].choice);
    }
}

/* Entries of the Boot Loader Specification ---------------------------------------------------- */

static const struct {
    const char *file, *text;
} confs[] = {
    {"4f1c-0-rescue.conf", "title Rescue\nversion 0-rescue\nlinux /vmlinuz-0-rescue-4f1c\n"},
    {"4f1c-5.14.0-427.13.1.el9_4.x86_64.conf",
     "# made by kernel-install\ntitle Red Hat (5.14.0-427.13.1)\nversion "
     "5.14.0-427.13.1.el9_4.x86_64\nlinux /vmlinuz-5.14.0-427.13.1.el9_4.x86_64\noptions a b\n"},
    {"4f1c-5.14.0-427.9.1.el9_4.x86_64.conf",
     "title Red Hat (5.14.0-427.9.1)\r\nlinux\t/vmlinuz-5.14.0-427.9.1.el9_4.x86_64\r\n"},
};

static size_t load_confs(struct lks_boot_entry *out)
{
    for (size_t i = 0; i < LKS_COUNT(confs); i++)
        lks_bootcfg_entry_parse(lks_str_from(confs[i].file), lks_str_from(confs[i].text), &out[i]);
    return LKS_COUNT(confs);
}

/* The entry of a kernel ---------------------------------------------------------------------- */

/* As grub-mkconfig names them: the newest first under no release, then each under its own. */
#define LINUX(release, kind)                                                                       \
    ENTRY("Debian, with Linux " release kind, "gnulinux-" release kind "-6d6f",                    \
          "/boot/vmlinuz-" release)
#define DEBIAN                                                                                     \
    ENTRY("Debian", "gnulinux-simple-6d6f", "/boot/vmlinuz-6.1.0-54-amd64")                        \
    "submenu 'Advanced > options' $menuentry_id_option 'gnulinux-advanced-6d6f' {\n" LINUX(        \
        "6.1.0-54-amd64", "") LINUX("6.1.0-54-amd64", " recovery")                                 \
        LINUX("6.1.0-5-amd64", "") "}\n"

static const struct {
    const char *name, *cfg, *release;
    const char *want; /* the path, or the message */
} of_kernels[] = {
    {"the newest by its own name", HEAD("${saved_entry}") DEBIAN, "6.1.0-54-amd64",
     "gnulinux-advanced-6d6f>gnulinux-6.1.0-54-amd64-6d6f"},
    {"an older one", HEAD("${saved_entry}") DEBIAN, "6.1.0-5-amd64",
     "gnulinux-advanced-6d6f>gnulinux-6.1.0-5-amd64-6d6f"},
    {"one that is not there", HEAD("${saved_entry}") DEBIAN, "6.1.0-53-amd64",
     "no entry starts kernel 6.1.0-53-amd64"},
    {"no kernel", HEAD("${saved_entry}") DEBIAN, "", "no entry starts kernel "},
    {"a default that is not saved", HEAD("0") DEBIAN, "6.1.0-5-amd64",
     "its default is '0' and not the saved entry; set GRUB_DEFAULT=saved in /etc/default/grub and "
     "make grub.cfg again"},
    {"entries of their own files", HEAD("${saved_entry}") "blscfg\n", "5.14.0-427.9.1.el9_4.x86_64",
     "4f1c-5.14.0-427.9.1.el9_4.x86_64"},
    {"by titles, with a mark",
     HEAD("${saved_entry}") "submenu 'a > b' {\nmenuentry 'Linux 6.2.0' {\nlinux "
                            "/vmlinuz-6.2.0\n}\n}\n",
     "6.2.0", "a >> b>Linux 6.2.0"},
    {"one that may not be there",
     HEAD("${saved_entry}") "if [ \"$grub_platform\" = \"efi\" ]; then\n" LINUX("6.2.0", "") "fi\n",
     "6.2.0", "no entry starts kernel 6.2.0"},
    {"one whose name lies", HEAD("${saved_entry}") ENTRY("6.2.0", "6.2.0", "/vmlinuz-6.3.0"),
     "6.2.0", "no entry starts kernel 6.2.0"},
    {"another file", "source /late.cfg\n" DEBIAN, "6.1.0-5-amd64", "it runs another file"},
    {"a name that no block takes",
     HEAD("${saved_entry}") "menuentry '6.2.0\nx' {\nlinux /vmlinuz-6.2.0\n}\n", "6.2.0",
     "the entry of kernel 6.2.0 has no plain name"},
};

static void test_of_kernel(void)
{
    for (size_t i = 0; i < LKS_COUNT(of_kernels); i++) {
        lks_test_case("%s", of_kernels[i].name);
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_boot_entry entries[LKS_COUNT(confs)];
        struct lks_err err = {0};
        struct lks_str got = {0};
        lks_arena_init(&arena, LKS_BOOT_MEMORY_MAX);
        enum lks_code code =
            lks_grub_entry_of(lks_str_from(of_kernels[i].cfg), entries, load_confs(entries),
                              lks_str_from(of_kernels[i].release), &arena, &got, &err);
        CHECK_STR(code == LKS_OK ? got : lks_str_from(err.msg), of_kernels[i].want);
    }
}

static int by_menu(const void *a, const void *b)
{
    return lks_bootcfg_entry_cmp(a, b);
}

static void test_bls(void)
{
    struct lks_boot_entry e[LKS_COUNT(confs)];
    size_t count = load_confs(e);
    CHECK_STR(e[1].id, "4f1c-5.14.0-427.13.1.el9_4.x86_64");
    CHECK_STR(e[1].version, "5.14.0-427.13.1.el9_4.x86_64");
    CHECK_STR(e[2].kernel, "/vmlinuz-5.14.0-427.9.1.el9_4.x86_64");
    qsort(e, count, sizeof(e[0]), by_menu);
    CHECK_STR(e[0].title, "Red Hat (5.14.0-427.13.1)");
    CHECK_STR(e[1].title, "Red Hat (5.14.0-427.9.1)");
    CHECK_STR(e[2].title, "Rescue");

    static const char cfg[] = HEAD("${saved_entry}") "insmod blscfg\nblscfg\n";
    static const struct {
        const char *env, *kernel;
    } rows[] = {
        {"", "/vmlinuz-5.14.0-427.13.1.el9_4.x86_64"},
        {ENV("saved_entry=4f1c-5.14.0-427.9.1.el9_4.x86_64\nboot_success=0\n"),
         "/vmlinuz-5.14.0-427.9.1.el9_4.x86_64"},
        {ENV("saved_entry=gone\n"), "/vmlinuz-5.14.0-427.13.1.el9_4.x86_64"},
        {ENV("saved_entry=2\n"), "/vmlinuz-0-rescue-4f1c"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].env);
        LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
        struct lks_grub_choice choice = {0};
        struct lks_err err = {0};
        lks_arena_init(&arena, LKS_BOOT_MEMORY_MAX);
        CHECK_CODE(lks_grub_default(lks_str_from(cfg), lks_str_from(rows[i].env), e, count, &arena,
                                    &choice, &err),
                   LKS_OK);
        CHECK_STR(choice.kernel, rows[i].kernel);
    }
}

static const struct {
    const char *name, *a, *a_text, *b, *b_text;
} orders[] = {
    {"no attempts left is last", "a+1.conf", "version 1\n", "b+0-3.conf", "sort-key a\n"},
    {"a sort key is first", "a.conf", "sort-key z\n", "b.conf", "version 9\n"},
    {"sort keys by letter", "a.conf", "sort-key a\nversion 1\n", "b.conf",
     "sort-key b\nversion 2\n"},
    {"newer of a key first", "a.conf", "sort-key a\nversion 6.10.1\n", "b.conf",
     "sort-key a\nversion 6.9.3\n"},
    {"names by version", "arch-6.10.conf", "", "arch-6.9.conf", ""},
    {"a candidate is older", "a.conf", "sort-key a\nversion 6.1\n", "b.conf",
     "sort-key a\nversion 6.1~rc1\n"},
    {"of two candidates the newer", "a.conf", "sort-key a\nversion 6.1~rc10\n", "b.conf",
     "sort-key a\nversion 6.1~rc9\n"},
    {"a candidate by name", "arch_x-6.1.conf", "", "arch_x-6.1~rc1.conf", ""},
    {"a longer one is newer", "a-6.1.1.conf", "", "a-6.1.conf", ""},
    {"a patched one is newer", "a-6.1^2.conf", "", "a-6.1.conf", ""},
    {"a release of it is newer", "a-6.1-1.conf", "", "a-6.1.conf", ""},
    {"a point before a patch", "a-6.1.1.conf", "", "a-6.1^1.conf", ""},
    {"zeroes in front", "a-6.010.conf", "", "a-6.9.conf", ""},
    {"numbers of any length", "a-99999999999999999999999.conf", "",
     "a-99999999999999999999998.conf", ""},
    {"a number before letters", "a-6.1.0.conf", "", "a-6.1.x.conf", ""},
    {"letters", "a-6.1.b.conf", "", "a-6.1.a.conf", ""},
    {"more letters", "a-6.1.ab.conf", "", "a-6.1.a.conf", ""},
    {"the same but for a mark", "a_6.1.conf", "", "a+6.1.conf", ""},
};

static void test_order(void)
{
    for (size_t i = 0; i < LKS_COUNT(orders); i++) {
        lks_test_case("%s", orders[i].name);
        struct lks_boot_entry a, b;
        lks_bootcfg_entry_parse(lks_str_from(orders[i].a), lks_str_from(orders[i].a_text), &a);
        lks_bootcfg_entry_parse(lks_str_from(orders[i].b), lks_str_from(orders[i].b_text), &b);
        CHECK(lks_bootcfg_entry_cmp(&a, &b) < 0);
        CHECK(lks_bootcfg_entry_cmp(&b, &a) > 0);
        CHECK_INT(lks_bootcfg_entry_cmp(&a, &a), 0);
    }
}

static const struct {
    const char *file, *id;
    bool bad;
} names[] = {
    {"a.conf", "a", false},
    {"a+3.conf", "a", false},
    {"a+2-1.conf", "a", false},
    {"a+0-3.conf", "a", true},
    {"6.8.0+b1.conf", "6.8.0+b1", false},
    {"a+-1.conf", "a+-1", false},
    {"a+1-.conf", "a+1-", false},
    {"plain", "plain", false},
};

static void test_names(void)
{
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        lks_test_case("%s", names[i].file);
        struct lks_boot_entry e;
        lks_bootcfg_entry_parse(lks_str_from(names[i].file), LKS_STR(""), &e);
        CHECK_STR(e.id, names[i].id);
        CHECK(e.bad == names[i].bad);
    }
}

static const struct {
    const char *path, *release;
} releases[] = {
    {"/boot/vmlinuz-6.8.0-90-generic", "6.8.0-90-generic"},
    {"/vmlinuz-5.14.0-427.13.1.el9_4.x86_64", "5.14.0-427.13.1.el9_4.x86_64"},
    {"()/@/boot/vmlinuz-6.1.0-30-amd64", "6.1.0-30-amd64"},
    {"/4f1c/6.8.0-60-generic/linux", "6.8.0-60-generic"},
    {"vmlinuz-6.8.0-1012-nvidia-64k", "6.8.0-1012-nvidia-64k"},
    {"/boot/Image-6.6.1", "6.6.1"},
    {"6.8.0-60-generic", "6.8.0-60-generic"},
    {"/vmlinuz-linux", ""},
    {"/boot/vmlinuz", ""},
    {"/vmlinuz", ""},
    {"/vmlinuz-0-rescue-4f1c", ""},
    {"/boot/memtest86+x64.bin", ""},
    {"/boot/vmlinuz-6.8 x", ""},
    {"", ""},
    {"/", ""},
};

static void test_releases(void)
{
    for (size_t i = 0; i < LKS_COUNT(releases); i++) {
        lks_test_case("%s", releases[i].path);
        CHECK_STR(lks_bootcfg_release(lks_str_from(releases[i].path)), releases[i].release);
    }
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf cfg = LKS_BUF(2 * LKS_BOOT_CFG_MAX);
    struct lks_grub_choice choice = {0};
    struct lks_err err = {0};
    struct lks_str env = {0};
    lks_arena_init(&arena, 8 * LKS_BOOT_MEMORY_MAX);
    for (unsigned i = 0; i <= LKS_BOOT_DEPTH_MAX; i++)
        lks_buf_addf(&cfg, "if [ a ]; then\n");
    CHECK_CODE(lks_grub_default(lks_buf_view(&cfg), env, NULL, 0, &arena, &choice, &err),
               LKS_E_LIMIT);
    lks_buf_truncate(&cfg, 0);
    for (unsigned i = 0; i <= LKS_BOOT_VARS_MAX; i++)
        lks_buf_addf(&cfg, "v%u=1\n", i);
    CHECK_CODE(lks_grub_default(lks_buf_view(&cfg), env, NULL, 0, &arena, &choice, &err),
               LKS_E_LIMIT);
    CHECK_CODE(lks_grub_default(LKS_STR("menuentry a {\n}\n"), lks_buf_view(&cfg), NULL, 0, &arena,
                                &choice, &err),
               LKS_E_LIMIT);
    lks_buf_truncate(&cfg, 0);
    for (unsigned i = 0; i <= LKS_BOOT_ENTRIES_MAX; i++)
        lks_buf_addf(&cfg, "menuentry a {\n}\n");
    CHECK_CODE(lks_grub_default(lks_buf_view(&cfg), env, NULL, 0, &arena, &choice, &err),
               LKS_E_LIMIT);
    lks_buf_truncate(&cfg, 0);
    lks_buf_pad(&cfg, ' ', (ptrdiff_t)LKS_BOOT_CFG_MAX + 1);
    CHECK_CODE(lks_grub_default(lks_buf_view(&cfg), env, NULL, 0, &arena, &choice, &err),
               LKS_E_LIMIT);
    LKS_CLEANUP(lks_arena_fini) struct lks_arena small = {0};
    lks_arena_init(&small, 4096);
    CHECK_CODE(lks_grub_default(LKS_STR("a"), env, NULL, 0, &small, &choice, &err), LKS_E_LIMIT);
}

static void test_function_limits(void)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf cfg = LKS_BUF(LKS_BOOT_CFG_MAX);
    struct lks_grub_choice choice = {0};
    struct lks_err err = {0};
    struct lks_str env = {0};
    lks_arena_init(&arena, LKS_BOOT_MEMORY_MAX);
    for (unsigned i = 0; i <= LKS_BOOT_FUNCTIONS_MAX; i++)
        lks_buf_addf(&cfg, "function f%u { x=1; }\n", i);
    CHECK_CODE(lks_grub_default(lks_buf_view(&cfg), env, NULL, 0, &arena, &choice, &err),
               LKS_E_LIMIT);
    lks_buf_truncate(&cfg, 0);
    lks_buf_addf(&cfg, "function f {\n#");
    lks_buf_pad(&cfg, 'x', (ptrdiff_t)LKS_BOOT_CFG_MAX / 4);
    lks_buf_addf(&cfg, "\n}\nf\nf\nf\nf\nf\n");
    CHECK_CODE(lks_grub_default(lks_buf_view(&cfg), env, NULL, 0, &arena, &choice, &err),
               LKS_E_LIMIT);
}

static void test_loader_conf(void)
{
    struct lks_str text = LKS_STR("timeout 3\n#default x\ndefault\t 4f1c-*\ndefault  b.conf \n");
    CHECK_STR(lks_bootcfg_loader_value(text, "default"), "b.conf");
    CHECK_STR(lks_bootcfg_loader_value(text, "timeout"), "3");
    CHECK_STR(lks_bootcfg_loader_value(text, "editor"), "");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"grub defaults", test_grub},
        {"the entry of a kernel", test_of_kernel},
        {"boot loader entries", test_bls},
        {"order of entries", test_order},
        {"names of entries", test_names},
        {"releases", test_releases},
        {"bootcfg limits", test_limits},
        {"limits of functions", test_function_limits},
        {"loader.conf", test_loader_conf},
        {0},
    });
}
