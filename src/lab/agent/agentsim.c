/* lockstep-agentsim: the agent of a captured machine, which is acted on as if it were there. */
#include "agent/loop/start.h"
#include "agent/reading/inventory.h"
#include "agent/state/boot.h"
#include "base/commit.h"
#include "lab/agent/simulated.h"
#include "probe/root/probe.h"

/* Which version of the agent the tree says it has. */
static void read_agent(struct lks_probe *p)
{
    char line[LKS_ROOT_LINE_MAX];
    struct lks_err ignored = {0};
    if (p->root->live || lks_root_line(p->root, LKS_SIMULATED_AGENT, line, &ignored) != LKS_OK)
        lks_inventory_agent(p);
    else
        lks_probe_value(p, "platform.agent", LKS_STR(""), LKS_STR(""), lks_str_from(line),
                        LKS_SIMULATED_AGENT);
}

int main(int argc, char **argv)
{
    static const struct lks_captured captured = {
        .order = lks_simulated_order,
        .accept = lks_simulated_accept,
        .read_agent = read_agent,
        .reboot = lks_boot_renew,
    };
    const struct lks_start how = {
        .program = "lockstep-agentsim", .commit = LKS_COMMIT, .captured = &captured};
    return lks_start_agent(argc, argv, &how);
}
