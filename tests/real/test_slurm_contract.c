/*
 * The contract of schedulers (tests/sched_contract.h) with a real Slurm: the driver of the bridge
 * asks a real bridge, that of slurmrestd a real slurmrestd, over the product's own HTTP client. The
 * parts are started and killed by tests/real/slurm_contract.py, and the truth that the answers are
 * held against is Slurm's own.
 *
 *     test_real_slurm_contract bridge|bridge-later|slurmrestd-later BUILD_ROOT
 *
 * "later" is the Slurm of Debian 13, in the root that tools/slurm-root.sh makes.
 */
#include "tests/contract_real.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 256 };

#define REAL                                                                                       \
    .sched = "slurm", .person = "root",                                                            \
    .no_scene = {[TRAINS] = CONTRACT_NO_CHECKPOINT,                                                \
                 [SERVES] = CONTRACT_NO_SERVICES,                                                  \
                 [NEEDS_ALL] = CONTRACT_NO_SERVICES},                                              \
    .mishaps_at = 3, .kills_at = 3, CONTRACT_REAL

static struct contract_side bridge = {.name = "bridge", .driver = &lks_sched_bridge, REAL};
static const struct contract_side rest = {.name = "slurmrestd",
                                          .driver = &lks_sched_slurmrestd,
                                          .user = "root",
                                          .token = contract_real_token,
                                          .no_revisions = CONTRACT_NO_REVISIONS,
                                          .no_epochs = CONTRACT_NO_EPOCHS,
                                          .site_refused = "use lockstep-slurm-bridge",
                                          REAL};

/* The bridge is asked in full with one release, and less often with the other. */
static const struct contract_side *side_of(const char *kind)
{
    if (strcmp(kind, "bridge-later") == 0)
        bridge.mishaps_at = bridge.kills_at = 2;
    return strstr(kind, "slurmrestd") != NULL ? &rest : &bridge;
}

/* A folder for each kind: the kinds run side by side, and each has its peer's socket there. False:
 * there is none here, and the script has said why. */
static bool start(const char *kind, const char *build)
{
    bool later = strstr(kind, "-later") != NULL;
    const char *peer = strstr(kind, "slurmrestd") != NULL ? "slurmrestd" : "bridge";
    char program[PATH_SIZE], place[PATH_SIZE - 16], url[PATH_SIZE], inside[64];
    snprintf(program, sizeof(program), "%s/lockstep-slurm-bridge", build);
    snprintf(place, sizeof(place), "%s%s/contract-%s", build, later ? "/slurm-24.11" : "", peer);
    snprintf(inside, sizeof(inside), "/build/contract-%s", peer);
    snprintf(url, sizeof(url), "unix:%s/peer", place);
    const char *const here[] = {"python3", "tests/real/slurm_contract.py", peer, place, program,
                                NULL};
    const char *const root[] = {"tools/slurm-root.sh",
                                build,
                                "python3",
                                "/srv/tests/real/slurm_contract.py",
                                peer,
                                inside,
                                "/build/lockstep-slurm-bridge",
                                NULL};
    return contract_real_start(later ? root : here, url);
}

int main(int argc, char **argv)
{
    LKS_ASSERT(argc == 3);
    if (start(argv[1], argv[2]))
        return contract_real_run(side_of(argv[1]));
    contract_real_close();
    return CONTRACT_REAL_MISSING;
}
