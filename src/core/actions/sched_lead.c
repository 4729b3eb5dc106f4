#include "core/actions/sched_lead.h"

#include "base/vec.h"
#include "core/actions/sched.h"
#include "core/decision/event_node.h"

#include <stdio.h>
#include <stdlib.h>

#define URLS_MAX ((size_t)1 << 20)

const char *const lks_sched_lead_words[] = {"none",    "waiting", "confirmed",
                                            "failing", "refused", NULL};
_Static_assert(LKS_COUNT(lks_sched_lead_words) == LKS_SCHED_LEAD_STATE_COUNT + 1,
               "a name for each");

void lks_sched_lead_fini(struct lks_sched_lead *l)
{
    lks_intern_fini(&l->urls);
    free(l->bridges);
    *l = (struct lks_sched_lead){0};
}

/* NULL: there is no memory, or there are too many. It is tried again. */
static struct lks_sched_lead_bridge *get(struct lks_sched_lead *l, struct lks_str url)
{
    uint32_t id = 0, before = lks_intern_count(&l->urls);
    if (l->urls.bytes.max == 0)
        lks_intern_init(&l->urls, URLS_MAX);
    if (LKS_VEC_RESERVE_MAX(l->bridges, l->room, before + (size_t)1, LKS_SCHED_LEAD_MAX, NULL) !=
            LKS_OK ||
        lks_intern_id(&l->urls, url, &id, &(struct lks_err){0}) != LKS_OK)
        return NULL;
    if (id == before)
        l->bridges[id] = (struct lks_sched_lead_bridge){0};
    return &l->bridges[id];
}

bool lks_sched_lead_due(struct lks_sched_lead *l, struct lks_str url, uint64_t epoch, lks_ms mono)
{
    struct lks_sched_lead_bridge *b = epoch > 0 ? get(l, url) : NULL;
    if (b == NULL || b->epoch >= epoch || mono < b->due)
        return false;
    b->due = mono + LKS_SCHED_LEAD_ASKED;
    return true;
}

bool lks_sched_lead_told(struct lks_sched_lead *l, struct lks_str url, uint64_t epoch,
                         const struct lks_err *why, struct lks_now now, uint64_t speed)
{
    struct lks_sched_lead_bridge *b = get(l, url);
    bool done = why->code == LKS_OK;
    if (b == NULL)
        return false;
    bool news = b->failing == done;
    if (done || !b->failing || b->told != epoch)
        b->failing_since = now.wall;
    b->told = epoch;
    b->failing = !done;
    b->refused = !done && !lks_err_code_info(why->code)->transient;
    snprintf(b->trouble, sizeof(b->trouble), "%s", why->msg);
    if (done)
        b->epoch = epoch;
    b->due = now.mono + LKS_SCHED_LEAD_AGAIN / speed;
    return news;
}

/* What people are told ----------------------------------------------------------------------- */

const struct lks_sched_lead_bridge *lks_sched_lead_find(const struct lks_sched_lead *l,
                                                        struct lks_str url)
{
    uint32_t id = 0;
    return lks_intern_find(&l->urls, url, &id) && id < l->room ? &l->bridges[id] : NULL;
}

enum lks_sched_lead_state lks_sched_lead_state(const struct lks_sched_lead *l, struct lks_str url,
                                               uint64_t epoch)
{
    const struct lks_sched_lead_bridge *b = lks_sched_lead_find(l, url);
    if (epoch == 0)
        return LKS_SCHED_LEAD_NONE;
    if (b != NULL && b->epoch >= epoch)
        return LKS_SCHED_LEAD_CONFIRMED;
    if (b == NULL || b->told != epoch || !b->failing)
        return LKS_SCHED_LEAD_WAITING;
    return b->refused ? LKS_SCHED_LEAD_REFUSED : LKS_SCHED_LEAD_FAILING;
}

/* A refusal by the epoch that another controller has, by the certificate, or by an older bridge:
 * what this leader wants is not done there. */
static struct lks_str text_of(struct lks_arena *arena, const struct lks_sched_lead_bridge *b)
{
    char since[LKS_TIME_TEXT_SIZE];
    return lks_arena_format(
        arena,
        "the bridge %s the epoch of this leader since %s: %s; %s, until it confirms the epoch; "
        "'lockstep doctor' has what to do",
        b->refused ? "refuses" : "does not confirm", lks_time_text(b->failing_since, since),
        b->trouble,
        b->refused ? "no drain, return or verdict of this leader is written through it"
                   : "an earlier leader can still write through it");
}

static bool is_listed(const struct lks_sched_lead_named *list, size_t count, struct lks_str name)
{
    for (size_t i = 0; i < count; i++) {
        if (lks_str_eq(list[i].name, name))
            return true;
    }
    return false;
}

/* Such a subject has '=', and no node has. */
static bool find_orphan(const struct lks_state *s, const struct lks_sched_lead_named *list,
                        size_t count, struct lks_event_sched_alarm *out)
{
    uint32_t at = 0;
    struct lks_str subject, site, url;
    while (lks_sched_alarm_next(s, LKS_ALARM_BRIDGE, &at, &subject)) {
        if (!lks_str_cut(subject, '=', &site, &url) || is_listed(list, count, subject))
            continue;
        *out = (struct lks_event_sched_alarm){.kind = LKS_ALARM_BRIDGE,
                                              .over = true,
                                              .subject = subject,
                                              .text = LKS_STR("no epoch is given to it any more")};
        return true;
    }
    return false;
}

bool lks_sched_lead_alarm(const struct lks_sched_lead *l, const struct lks_state *s,
                          const struct lks_sched_lead_named *list, size_t count, uint64_t epoch,
                          struct lks_now now, struct lks_arena *arena,
                          struct lks_event_sched_alarm *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct lks_sched_lead_bridge *b = lks_sched_lead_find(l, list[i].url);
        enum lks_sched_lead_state state = lks_sched_lead_state(l, list[i].url, epoch);
        bool over = state == LKS_SCHED_LEAD_NONE || state == LKS_SCHED_LEAD_CONFIRMED;
        bool raised = state == LKS_SCHED_LEAD_REFUSED ||
                      (state == LKS_SCHED_LEAD_FAILING &&
                       now.wall >= b->failing_since + LKS_SCHED_LEAD_SILENT);
        if ((!over && !raised) || lks_sched_alarm_open(s, LKS_ALARM_BRIDGE, list[i].name) == raised)
            continue;
        *out = (struct lks_event_sched_alarm){
            .kind = LKS_ALARM_BRIDGE,
            .over = over,
            .subject = list[i].name,
            .text = over ? LKS_STR("the bridge has the epoch of this leader") : text_of(arena, b)};
        return !arena->out_of_memory;
    }
    return find_orphan(s, list, count, out);
}
