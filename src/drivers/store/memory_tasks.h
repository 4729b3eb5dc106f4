/* The tasks of a store in memory: what is due, and who has it. */
#ifndef LKS_DRIVERS_STORE_MEMORY_TASKS_H
#define LKS_DRIVERS_STORE_MEMORY_TASKS_H

#include "base/intern.h"
#include "port/store.h"

struct lks_memory_task;

struct lks_memory_tasks {
    struct lks_intern texts;    /* names, sites, holders */
    struct lks_memory_task *at; /* owned; by the name's id */
    size_t cap;
};

/* Names of what was taken, in the order in which it is handed out. */
struct lks_memory_taken {
    uint32_t *ids; /* owned */
    size_t count;
};

void lks_memory_tasks_init(struct lks_memory_tasks *t);
void lks_memory_tasks_fini(struct lks_memory_tasks *t);
void lks_memory_taken_fini(struct lks_memory_taken *taken);

/* As the port's functions of these names; what is given was checked. */
enum lks_code lks_memory_tasks_sync(struct lks_memory_tasks *t, const struct lks_store_task *tasks,
                                    size_t count, lks_ms now, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_memory_tasks_take(struct lks_memory_tasks *t, const struct lks_store_claim *claim,
                                    struct lks_memory_taken *out,
                                    struct lks_err *err) LKS_MUST_CHECK;
void lks_memory_tasks_give(const struct lks_memory_tasks *t, const struct lks_memory_taken *taken,
                           lks_store_task_fn *fn, void *ctx);
enum lks_code lks_memory_task_done(struct lks_memory_tasks *t, struct lks_str holder,
                                   struct lks_str name, lks_ms due, uint32_t failures,
                                   struct lks_err *err) LKS_MUST_CHECK;

#endif
