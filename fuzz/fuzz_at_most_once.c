/* Any bytes at all: a ledger that can be read is written and read again as the same ledger, nothing
 * in it is still running, and none of its commands would be run once more. */
#include "core/agentlink/at_most_once.h"

#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refused(const struct lks_at_most_once *o, uint64_t id)
{
    struct lks_envelope e = {.id = id, .node = "n", .boot = "b", .epoch = o->epoch, .expires = 1};
    struct lks_at_most_once_entry entry = {0};
    const char *why = NULL;
    snprintf(e.journal, sizeof(e.journal), "%s", o->journal);
    LKS_ASSERT(lks_at_most_once_judge(o, &e, LKS_STR("n"), LKS_STR("b"), 0, &entry, &why) !=
               LKS_AT_MOST_ONCE_RUN);
}

static void check_same(const struct lks_at_most_once *a, const struct lks_at_most_once *b)
{
    LKS_ASSERT(strcmp(a->journal, b->journal) == 0);
    LKS_ASSERT(a->epoch == b->epoch && a->floor == b->floor && a->count == b->count);
    for (size_t i = 0; i < a->count; i++) {
        LKS_ASSERT(a->entries[i].id == b->entries[i].id && a->entries[i].ended);
        LKS_ASSERT(a->entries[i].outcome == b->entries[i].outcome);
        LKS_ASSERT(strcmp(a->entries[i].text, b->entries[i].text) == 0);
        check_refused(b, a->entries[i].id);
    }
    check_refused(b, a->floor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once o = {0};
    LKS_CLEANUP(lks_at_most_once_fini) struct lks_at_most_once again = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_AT_MOST_ONCE_TEXT_MAX);
    struct lks_err err = {0};
    if (lks_at_most_once_parse((struct lks_str){(const char *)data, size}, &o, &err) != LKS_OK) {
        LKS_ASSERT(o.entries == NULL && err.msg[0] != '\0');
        return 0;
    }
    lks_at_most_once_print(&o, &text);
    LKS_ASSERT(lks_at_most_once_parse(lks_buf_view(&text), &again, &err) == LKS_OK);
    check_same(&o, &again);
    return 0;
}
