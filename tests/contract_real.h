/*
 * A side of the contract of schedulers (sched_contract.h) that is real: a script starts and kills
 * the parts, and tells the truth that answers are held against; requests go over the product's own
 * HTTP client. The script says "ready RELEASE TOKEN [URL CA]", and answers a line to each line;
 * tests/real/slurm_contract.py has the commands.
 *
 * The contract's clock is a number here, too: a job that ends in half an hour is ended when the
 * contract's time is there. Only while a part is away does time pass as it does for lockstepd, but
 * faster.
 */
#ifndef LKS_TESTS_CONTRACT_REAL_H
#define LKS_TESTS_CONTRACT_REAL_H

#include "tests/sched_contract.h"

enum { CONTRACT_REAL_MISSING = 77 };

/* The token that the script told; and what the first job of BUSY is called. */
extern char contract_real_token[], contract_real_job[];

/* Run the script; `url` is that of the peer where the script does not say it. False: there is none
 * here, and the script has said why. */
bool contract_real_start(const char *const argv[], const char *url);

void contract_real_close(void);

/* Run the contract, end the script, and return the exit status. */
int contract_real_run(const struct contract_side *side);

void *contract_real_begin(enum scene scene, lks_ms now);
void contract_real_end(void *model);
const char *contract_real_node(const void *model);
void contract_real_take(void *model, const struct lks_http_request *request,
                        struct lks_schedsim_reply *out);
void contract_real_pass(void *model, lks_ms now);
void contract_real_other(void *model, const char *owner);
void contract_real_restart(void *model);
void contract_real_kill(void *model, enum contract_kill kill);
void contract_real_settle(void *model, enum contract_kill next);
struct truth contract_real_truth(const void *model);
unsigned contract_real_writes(const void *model);

#define CONTRACT_REAL                                                                              \
    .job = contract_real_job, .idle = true, .no_faults = "its parts are killed",                   \
    .no_stale = "it gives no old answer when one is wanted", .begin = contract_real_begin,         \
    .end = contract_real_end, .node = contract_real_node, .take = contract_real_take,              \
    .pass = contract_real_pass, .other = contract_real_other, .restart = contract_real_restart,    \
    .kill = contract_real_kill, .settle = contract_real_settle, .truth = contract_real_truth,      \
    .writes = contract_real_writes

#endif
