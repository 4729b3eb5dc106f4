/* What a node's agent looks at before it reboots. */
#include "tests/fake_controller.h"
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>

static pid_t start_agent(struct fake *f)
{
    static char people[64];
    snprintf(people, sizeof(people), "https://127.0.0.1:%u", lks_httpd_port(f->people));
    const char *argv[] = {LKS_AGENT_PROGRAM,
                          "--state",
                          fake_path(f, "state"),
                          "--controller",
                          people,
                          "--ca",
                          fake_path(f, "ca.crt"),
                          "--token-file",
                          fake_path(f, "token"),
                          "--root",
                          fake_path(f, "root"),
                          NULL};
    return fake_spawn(f, "log", argv);
}

static void end_agent(struct fake *f, pid_t pid)
{
    CHECK(kill(pid, SIGTERM) == 0);
    CHECK_INT(fake_wait(f, pid), 0);
}

static bool three_beats(const struct fake *f)
{
    return f->beats >= 3;
}

static bool settled(const struct fake *f)
{
    static const uint8_t none[LKS_HASH_BYTES];
    return f->tuples >= 1 && f->beats >= 2 && f->last.spooled == 0 &&
           memcmp(f->last.tuple, none, sizeof(none)) != 0;
}

static bool all_ended(const struct fake *f)
{
    for (size_t i = 0; i < f->command_count; i++) {
        if (!f->ended[i])
            return false;
    }
    return true;
}

/* A module that DKMS did not build for the next kernel bars a reboot, until it is built. */
static void test_hazard(void)
{
    struct fake f;
    fake_start(&f);
    lks_tree_link(&f.tree, "/root/boot/vmlinuz", "vmlinuz-6.8.0-91-generic");
    lks_tree_file(&f.tree, "/root/var/lib/dkms/nvidia/580/6.8.0-90-generic/x86_64/module/nvidia.ko",
                  "");
    pid_t pid = start_agent(&f);
    CHECK(fake_until(&f, settled));
    for (int built = 0; built < 2; built++) {
        lks_test_case("%s", built ? "built" : "not built");
        unsigned boots = f.boots;
        if (built)
            lks_tree_file(&f.tree,
                          "/root/var/lib/dkms/nvidia/580/6.8.0-91-generic/x86_64/module/nvidia.ko",
                          "");
        uint64_t id = fake_command(&f, "reboot", NULL);
        CHECK(fake_until(&f, all_ended));
        f.beats = 0;
        CHECK(fake_until(&f, three_beats));
        CHECK_STR(lks_str_from(f.outcome[id - 1]), built ? "done" : "refused");
        CHECK_INT(f.boots - boots, built ? 1 : 0);
    }
    end_agent(&f, pid);
    fake_stop(&f);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"a reboot into a kernel without its module", test_hazard},
        {0},
    });
}
