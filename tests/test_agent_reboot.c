/* What a node's agent looks at before it reboots. */
#include "tests/fake_controller.h"
#include "tests/test.h"

/* A module that DKMS did not build for the next kernel bars a reboot, until it is built. */
static void test_hazard(void)
{
    struct fake f;
    fake_start(&f);
    lks_tree_link(&f.tree, "/root/boot/vmlinuz", "vmlinuz-6.8.0-91-generic");
    lks_tree_file(&f.tree, "/root/var/lib/dkms/nvidia/580/6.8.0-90-generic/x86_64/module/nvidia.ko",
                  "");
    pid_t pid = fake_agent(&f, NULL);
    CHECK(fake_until(&f, fake_settled));
    for (int built = 0; built < 2; built++) {
        lks_test_case("%s", built ? "built" : "not built");
        unsigned boots = f.boots;
        if (built)
            lks_tree_file(&f.tree,
                          "/root/var/lib/dkms/nvidia/580/6.8.0-91-generic/x86_64/module/nvidia.ko",
                          "");
        uint64_t id = fake_command(&f, "reboot", NULL);
        CHECK(fake_until(&f, fake_all_ended));
        f.beats = 0;
        CHECK(fake_until(&f, fake_three_beats));
        CHECK_STR(lks_str_from(f.outcome[id - 1]), built ? "done" : "refused");
        CHECK_INT(f.boots - boots, built ? 1 : 0);
    }
    fake_agent_end(&f, pid);
    fake_stop(&f);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a reboot into a kernel without its module", test_hazard},
        {0},
    });
}
