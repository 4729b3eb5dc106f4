#include "drivers/store/memory_tasks.h"

#include "base/vec.h"

#include <stdlib.h>

enum { TEXTS_MAX_BYTES = 1 << 30 };

struct lks_memory_task {
    bool there, wanted;
    uint32_t site;
    lks_ms every, due;
    uint32_t failures;
    uint32_t holder;
    lks_ms until; /* of the lease; 0: it is free */
};

void lks_memory_tasks_init(struct lks_memory_tasks *t)
{
    *t = (struct lks_memory_tasks){0};
    lks_intern_init(&t->texts, TEXTS_MAX_BYTES);
}

void lks_memory_tasks_fini(struct lks_memory_tasks *t)
{
    lks_intern_fini(&t->texts);
    free(t->at);
    *t = (struct lks_memory_tasks){0};
}

void lks_memory_taken_fini(struct lks_memory_taken *taken)
{
    free(taken->ids);
    *taken = (struct lks_memory_taken){0};
}

static enum lks_code want(struct lks_memory_tasks *t, const struct lks_store_task *task, lks_ms now,
                          struct lks_err *err)
{
    uint32_t id = 0, site = 0;
    enum lks_code code = lks_intern_id(&t->texts, task->name, &id, err);
    if (code == LKS_OK)
        code = lks_intern_id(&t->texts, task->site, &site, err);
    if (code != LKS_OK)
        return code;
    if (LKS_VEC_RESERVE(t->at, t->cap, (size_t)id + 1, err) != LKS_OK)
        return err->code;
    struct lks_memory_task *at = &t->at[id];
    if (!at->there)
        *at = (struct lks_memory_task){.due = task->due, .failures = task->failures};
    else if (at->due > now + task->every)
        at->due = now + task->every;
    at->there = at->wanted = true;
    at->site = site;
    at->every = task->every;
    return LKS_OK;
}

enum lks_code lks_memory_tasks_sync(struct lks_memory_tasks *t, const struct lks_store_task *tasks,
                                    size_t count, lks_ms now, struct lks_err *err)
{
    enum lks_code code = LKS_OK;
    for (size_t i = 0; i < count && code == LKS_OK; i++)
        code = want(t, &tasks[i], now, err);
    for (size_t id = 0; id < t->cap; id++) {
        if (code == LKS_OK && !t->at[id].wanted)
            t->at[id] = (struct lks_memory_task){0};
        t->at[id].wanted = false;
    }
    return code;
}

static double lateness(const struct lks_memory_task *task, lks_ms now)
{
    return (double)(now - task->due) / (double)task->every;
}

struct order {
    const struct lks_memory_tasks *tasks;
    lks_ms now;
};

static int compare(const void *a, const void *b, void *ctx)
{
    const uint32_t *x = a, *y = b;
    const struct order *order = ctx;
    double x_late = lateness(&order->tasks->at[*x], order->now);
    double y_late = lateness(&order->tasks->at[*y], order->now);
    if (x_late != y_late)
        return x_late > y_late ? -1 : 1;
    return lks_str_cmp(lks_intern_text(&order->tasks->texts, *x),
                       lks_intern_text(&order->tasks->texts, *y));
}

/* Those that are due in their order; and how many are leased at each site, and in all. */
static size_t list_due(const struct lks_memory_tasks *t, lks_ms now, uint32_t *due, size_t *leased,
                       size_t *all)
{
    size_t count = 0;
    for (uint32_t id = 0; id < t->cap; id++) {
        const struct lks_memory_task *task = &t->at[id];
        if (task->there && task->until > now) {
            leased[task->site]++;
            (*all)++;
        } else if (task->there && task->due <= now) {
            due[count++] = id;
        }
    }
    if (count > 1)
        qsort_r(due, count, sizeof(due[0]), compare, &(struct order){t, now});
    return count;
}

enum lks_code lks_memory_tasks_take(struct lks_memory_tasks *t, const struct lks_store_claim *claim,
                                    struct lks_memory_taken *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_memory_taken_fini) struct lks_memory_taken taken = {0};
    uint32_t holder = 0;
    size_t all = 0;
    enum lks_code code = lks_intern_id(&t->texts, claim->holder, &holder, err);
    if (code != LKS_OK)
        return code;
    size_t *leased = calloc(lks_intern_count(&t->texts), sizeof(*leased));
    taken.ids = calloc(t->cap + 1, sizeof(*taken.ids));
    if (leased == NULL || taken.ids == NULL) {
        free(leased);
        return lks_fail_nomem(err);
    }
    size_t due = list_due(t, claim->now, taken.ids, leased, &all);
    for (size_t i = 0; i < due && taken.count < claim->max && all < claim->all_max; i++) {
        struct lks_memory_task *task = &t->at[taken.ids[i]];
        if (leased[task->site] >= claim->site_max)
            continue;
        leased[task->site]++;
        all++;
        task->holder = holder;
        task->until = claim->until;
        taken.ids[taken.count++] = taken.ids[i];
    }
    free(leased);
    *out = LKS_MOVE(taken);
    return LKS_OK;
}

void lks_memory_tasks_give(const struct lks_memory_tasks *t, const struct lks_memory_taken *taken,
                           lks_store_task_fn *fn, void *ctx)
{
    for (size_t i = 0; i < taken->count; i++) {
        const struct lks_memory_task *task = &t->at[taken->ids[i]];
        fn(ctx, &(struct lks_store_task){.name = lks_intern_text(&t->texts, taken->ids[i]),
                                         .site = lks_intern_text(&t->texts, task->site),
                                         .every = task->every,
                                         .due = task->due,
                                         .failures = task->failures});
    }
}

enum lks_code lks_memory_task_done(struct lks_memory_tasks *t, struct lks_str holder,
                                   struct lks_str name, lks_ms due, uint32_t failures,
                                   struct lks_err *err)
{
    uint32_t id = 0;
    bool known = lks_intern_find(&t->texts, name, &id) && id < t->cap && t->at[id].until > 0;
    if (!known || !lks_str_eq(lks_intern_text(&t->texts, t->at[id].holder), holder))
        return lks_store_done_refused(holder, name, err);
    t->at[id].until = 0;
    t->at[id].due = due;
    t->at[id].failures = failures;
    return LKS_OK;
}
