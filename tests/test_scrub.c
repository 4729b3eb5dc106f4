/* What a scrubbed capture may still say. */
#include "probe/root/scrub.h"
#include "tests/test.h"
#include "tests/tree.h"
#include "tests/tuples.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const struct {
    const char *name, *readings, *file, *before, *after;
} rows[] = {
    {"a serial", "gpu.serial@gpu 1=SN123456\n", "/a", "x SN123456 y\n", "x 00000000 y\n"},
    {"in another case", "nic.mac@nic 1=aa:bb:cc:dd:ee:ff\n", "/a", "AA:BB:CC:DD:EE:FF",
     "00:00:00:00:00:00"},
    {"not inside another word", "gpu.serial@gpu 1=1234\n", "/a", "a1234b 1234", "a1234b 0000"},
    {"one with a blank, escaped", "nic.serial@nic 1=MT12 34AB\n", "/lockstep/vpd.csv",
     "sn=MT12%2034AB", "sn=0000%200000"},
    {"what is no secret", "firmware/vbios@gpu 1=96.00.A5\n", "/a", "96.00.A5", "96.00.A5"},
    {"the host in its own file", "kernel=6.8\n", "/proc/sys/kernel/hostname", "n1\n", "00\n"},
    {"a short name elsewhere", "kernel=6.8\n", "/a", "n1\n", "n1\n"},
    {"an address of the host", "settings.kernel_cmdline=quiet ip=10.9.8.7::255.0.0.0 iommu=pt\n",
     "/proc/mounts", "addr=10.9.8.7,iommu=pt", "addr=00.0.0.0,iommu=pt"},
    {"a password", "settings.kernel_cmdline=password=hunter2\n", "/proc/cmdline",
     "password=hunter2 quiet", "password=0000000 quiet"},
    {"the kernel's name is none", "settings.kernel_cmdline=BOOT_IMAGE=/vmlinuz-6.8.0-71-generic\n",
     "/a", "vmlinuz-6.8.0-71-generic", "vmlinuz-6.8.0-71-generic"},
    {"a login in an address", "kernel=6.8\n", "/etc/apt/apt.conf.d/proxy",
     "Proxy \"http://me:pw1@proxy:3128/\";", "Proxy \"http://00:000@proxy:3128/\";"},
    {"an address without one", "kernel=6.8\n", "/a", "http://host/a@b", "http://host/a@b"},
};

static void check_row(size_t i)
{
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple tuple = {0};
    struct lks_err err = {0};
    lks_test_case("%s", rows[i].name);
    lks_test_tuple(rows[i].readings, &tuple);
    tuple.node = LKS_STR("n1");
    lks_tree_file(&tree, rows[i].file, rows[i].before);
    int dir = open(tree.path, O_RDONLY | O_DIRECTORY);
    CHECK_CODE(lks_scrub(dir, &tuple, &err), LKS_OK);
    char path[256], text[256] = "";
    snprintf(path, sizeof(path), "%s%s", tree.path, rows[i].file);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0);
    CHECK_STR(lks_str_from(text), rows[i].after);
    close(fd);
    close(dir);
    lks_tree_free(&tree);
}

static void test_scrub(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++)
        check_row(i);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"scrub: what is left", test_scrub},
        {0},
    });
}
