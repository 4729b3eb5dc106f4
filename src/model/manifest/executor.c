#include "model/manifest/executor.h"

#include "base/compiler.h"

static const struct executor {
    const char *name;
    bool reads, checks, reboots;
} executors[] = {
    {.name = LKS_EXECUTOR_INVENTORY, .reads = true},
    {.name = LKS_EXECUTOR_IDLE, .reads = true},
    {.name = LKS_EXECUTOR_REBOOT, .reboots = true},
    {.name = LKS_EXECUTOR_ACCEPT, .checks = true},
};

static struct executor find(struct lks_str name)
{
    for (size_t i = 0; i < LKS_COUNT(executors); i++) {
        if (lks_str_is(name, executors[i].name))
            return executors[i];
    }
    return (struct executor){0};
}

bool lks_executor_reads(struct lks_str name)
{
    return find(name).reads;
}

bool lks_executor_changes(struct lks_str name)
{
    struct executor e = find(name);
    return !e.reads && !e.checks;
}

bool lks_executor_reboots(struct lks_str name)
{
    return find(name).reboots;
}
