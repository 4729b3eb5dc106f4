#include "executors/packages.h"

#include "executors/nextboot.h"

#include <stdlib.h>

static void packages_fini(struct lks_packages *w)
{
    free(w->list);
    *w = (struct lks_packages){0};
}

static enum lks_code look_at_files(const struct lks_packages_ops *ops, const struct lks_job *job,
                                   struct lks_packages *w, struct lks_err *err)
{
    w->list = calloc(job->order.count, sizeof(*w->list));
    if (w->list == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 0; i < job->order.count; i++) {
        const struct lks_order_item *item = &job->order.items[i];
        struct lks_package *p = &w->list[i];
        if (item->digest.len == 0)
            return lks_fail(err, LKS_E_INVALID, "%.*s: the order names no file for it",
                            LKS_STR_ARG(item->component));
        p->item = item;
        p->goes = item->value.len == 0;
        lks_executor_job_file(job, item, p->path);
        if (ops->ask(w, p, err) != LKS_OK)
            return err->code;
        w->count++;
    }
    return LKS_OK;
}

/* The first that is not as ordered, or NULL. */
static const struct lks_package *first_other(const struct lks_packages *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (!w->list[i].so)
            return &w->list[i];
    }
    return NULL;
}

static enum lks_code change(const struct lks_packages_ops *ops, struct lks_packages *w,
                            struct lks_str kernel, struct lks_err *err)
{
    if (lks_nextboot_keep(kernel, err) != LKS_OK || ops->change(w, err) != LKS_OK ||
        ops->look(w, err) != LKS_OK)
        return err->code;
    const struct lks_package *other = first_other(w);
    if (other != NULL)
        return lks_fail(err, LKS_E_REFUSED, "%.100s: afterwards it is: %.100s", other->name,
                        other->found);
    return LKS_OK;
}

enum lks_code lks_packages_run(const struct lks_packages_ops *ops, const struct lks_job *job,
                               struct lks_buf *said, struct lks_err *err)
{
    LKS_CLEANUP(packages_fini) struct lks_packages w = {0};
    struct lks_str kernel = lks_nextboot_of(&job->order);
    if (look_at_files(ops, job, &w, err) != LKS_OK || ops->look(&w, err) != LKS_OK)
        return err->code;
    bool so = first_other(&w) == NULL;
    if (so && lks_nextboot_is(kernel)) {
        lks_buf_addf(said, "already so: %zu packages", w.count);
        return LKS_OK;
    }
    if ((!so && change(ops, &w, kernel, err) != LKS_OK) || lks_nextboot_set(kernel, err) != LKS_OK)
        return err->code;
    lks_buf_addf(said, "%zu packages are as ordered%s", w.count,
                 ops->remark != NULL ? ops->remark() : "");
    lks_nextboot_say(kernel, said);
    return LKS_OK;
}
