/* A fleet in lines, for tests of admission, on top of tests/asked.h. Each line is a few words, the
 * first of them what becomes true:
 *
 *     pool NAME POSTURE ENFORCE STACK [attested] [check=MS] [deviations] [drains] [on_drift=WORD]
 *          [sched=WORD]
 *                                          STACK "-": none; drains: `drain_refused`
 *     publish STACK
 *     nodes HOSTS POOL [DOMAIN]            enrolled, booted and live
 *     asset NAME DOMAIN
 *     verdict BASIS STACK NAME=VALUE...    NAME=VALUE!PIN differs, NAME=?!PIN was not measured
 *     run HOSTS BASIS                      reported so in this boot
 *     outband NAME BASIS
 *     late, lost, live, reboot, remove, hold, intake, drain, unhealthy, healthy NODE
 *     changing NODE STACK                  "-": to no stack
 *     drift NODE CAUSE                     the tick took note of it
 *     attested NODE MS, checked NODE MS    from the start on
 *     deviation HOSTS SUBJECT
 *     override JOB HOSTS MS
 *     image REF NAME=VERSION...            nccl, rccl, cudnn, cuda, digest; "by=node:NAME": seen
 *                                          by agents, and not alike
 *
 * A stack that is not in the manifest has the digest of its name. */
#ifndef LKS_TESTS_JOBS_H
#define LKS_TESTS_JOBS_H

#include "model/manifest/manifest.h"
#include "tests/asked.h"

struct lks_jobs {
    struct lks_asked asked;
    struct lks_manifest stacks;
    lks_ms start;
};

/* `manifest` has the stacks that the book knows, or is NULL. Nothing here fails quietly. */
void lks_jobs_init(struct lks_jobs *j, const char *manifest);
void lks_jobs_fini(struct lks_jobs *j);

void lks_jobs_tell(struct lks_jobs *j, const char *lines);

/* The digest of a stack by its name. */
void lks_jobs_digest(const struct lks_jobs *j, struct lks_str name, char out[LKS_DIGEST_SIZE]);

struct lks_book lks_jobs_book(const struct lks_jobs *j);

#endif
