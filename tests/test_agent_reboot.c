/* What a node's agent looks at before it reboots. */
#include "tests/fake_controller.h"
#include "tests/test.h"

#include <unistd.h>

#define MODULE "/root/var/lib/dkms/nvidia/580/6.8.0-91-generic/x86_64/module/nvidia.ko"

static void build(struct fake *f)
{
    lks_tree_file(&f->tree, MODULE, "");
}

static void forget_kernel(struct fake *f)
{
    CHECK(unlink(fake_path(f, "root/boot/vmlinuz")) == 0);
}

/* A module that DKMS did not build for the next kernel bars a reboot, until it is built. A next
 * kernel that is not known bars none. */
static void test_hazard(void)
{
    static const struct {
        const char *name, *outcome;
        void (*before)(struct fake *f);
    } rows[] = {
        {"not built", "refused", NULL},
        {"built", "done", build},
        {"the next kernel is not known", "done", forget_kernel},
    };
    struct fake f;
    fake_start(&f);
    lks_tree_link(&f.tree, "/root/boot/vmlinuz", "vmlinuz-6.8.0-91-generic");
    lks_tree_file(&f.tree, "/root/var/lib/dkms/nvidia/580/6.8.0-90-generic/x86_64/module/nvidia.ko",
                  "");
    pid_t pid = fake_agent(&f, NULL);
    CHECK(fake_until(&f, fake_settled));
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        unsigned boots = f.boots;
        if (rows[i].before != NULL)
            rows[i].before(&f);
        uint64_t id = fake_command(&f, "reboot", NULL);
        CHECK(fake_until(&f, fake_all_ended));
        f.beats = 0;
        CHECK(fake_until(&f, fake_three_beats));
        CHECK_STR(lks_str_from(f.outcome[id - 1]), rows[i].outcome);
        CHECK_INT(f.boots - boots, strcmp(rows[i].outcome, "done") == 0 ? 1 : 0);
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
