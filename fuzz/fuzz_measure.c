/*
 * Any monitoring system at all: the first byte says by which label nodes are known and the status
 * of the answer, the rest is its body.
 *
 * Whatever is said: the conversation ends or waits; names are sorted, each is there once and can be
 * printed; values are numbers; each of them is found by its name.
 */
#include "port/measures.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NOW UINT64_C(1763200000000)

static void check(const struct lks_measures *m)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct lks_measure_point *p = &m->points[i];
        double value = 0;
        LKS_ASSERT(p->name.len > 0 && lks_str_printable(p->name) && isfinite(p->value));
        LKS_ASSERT(i == 0 || lks_str_cmp(m->points[i - 1].name, p->name) < 0);
        LKS_ASSERT(lks_measures_find(m, p->name, &value) && value == p->value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int statuses[] = {200, 200, 200, 400, 401, 503};
    const struct lks_measure_driver *driver = &lks_measure_prometheus;
    uint8_t how = size > 0 ? data[0] : 0;
    const struct lks_measure_wish wish = {
        .query = LKS_STR("up"),
        .at = NOW,
        .label = (how & 1) != 0 ? LKS_STR("host") : LKS_STR(""),
        .deadline = NOW + 60 * LKS_SECOND,
    };
    const struct lks_http_response answer = {
        .status = statuses[(how >> 1) % LKS_COUNT(statuses)],
        .body = {size > 0 ? (const char *)data + 1 : "", size > 0 ? size - 1 : 0},
    };
    struct lks_err err = {0};
    struct lks_measures said;
    struct lks_talk talk;
    void *value = calloc(1, driver->talk->size);
    LKS_ASSERT(value != NULL);
    lks_measures_init(&said);
    lks_conversation_talk_init(&talk);
    LKS_ASSERT(driver->begin(value, &wish, &said, &err) == LKS_OK);
    lks_conversation_next(driver->talk, value, NOW, &talk);
    LKS_ASSERT(talk.kind == LKS_TALK_SEND);
    lks_conversation_feed(driver->talk, value, NOW, &answer);
    lks_conversation_next(driver->talk, value, NOW, &talk);
    LKS_ASSERT(talk.kind != LKS_TALK_SEND);
    check(&said);
    lks_conversation_talk_fini(&talk);
    lks_measures_fini(&said);
    free(value);
    return 0;
}
