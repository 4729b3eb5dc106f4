/* Whether the approvals that a change needs can be reached at all: by which credentials people who
 * may approve could vote, and how many of them are independent of each other and of its proposer.
 */
#include "core/governance/govern.h"
#include "core/governance/relaxed.h"
#include "core/rows/credential.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

#define TEXT_MAX ((size_t)1 << 20)

/* Voices that could be heard at one place. */
struct reach {
    const struct lks_state *s;
    const struct lks_state_change *c;
    uint32_t node;
    lks_ms wall;
    struct lks_backing voices[LKS_BACKING_VOICES];
    uint64_t rivals[LKS_BACKING_VOICES];
    uint32_t count;
    struct lks_arena arena; /* owns the lists of minters */
    bool many;              /* there are more than are looked at */
};

/* The same person with the same people behind them adds nothing. */
static bool is_covered(const struct reach *r, struct lks_backing who)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (lks_access_same_person(r->voices[i].by, who.by) &&
            (r->voices[i].minters.len == 0 || lks_str_eq(r->voices[i].minters, who.minters)))
            return true;
    }
    return false;
}

static void add_voice(struct reach *r, struct lks_str identity, struct lks_str minters)
{
    const struct lks_state *s = r->s;
    uint32_t pool = s->nodes[r->node].pool;
    struct lks_backing who = {identity, minters};
    struct lks_sight sight = lks_access_sight(s, identity, LKS_MAY_APPROVE);
    if (!lks_access_sees(s, &sight, r->node) || is_covered(r, who) ||
        lks_backing_shared(who, lks_govern_proposer(s, r->c)))
        return;
    if (lks_relaxed_pending(s, pool, r->wall) &&
        lks_backing_shared(who,
                           (struct lks_backing){lks_state_text(s, s->pools[pool].lowered_by),
                                                lks_state_text(s, s->pools[pool].lowered_minters)}))
        return;
    r->many |= r->count == LKS_BACKING_VOICES;
    who.minters = r->many ? who.minters : lks_arena_copy(&r->arena, minters);
    if (r->many || (minters.len > 0 && who.minters.len == 0))
        r->many = true; /* or there is no memory: nothing is said of those */
    else
        r->voices[r->count++] = who;
}

static void add_token(struct reach *r, const struct lks_api_token *token)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BACKING_TEXT_MAX);
    lks_backing_token(r->s, token, &text);
    add_voice(r, lks_state_text(r->s, token->identity),
              text.len > 0 ? lks_buf_view(&text) : LKS_STR(""));
}

static void add_person(struct reach *r, const struct lks_state_person *person)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BACKING_TEXT_MAX);
    lks_backing_made(r->s, &person->made, &text);
    add_voice(r, lks_state_text(r->s, person->identity),
              text.len > 0 ? lks_buf_view(&text) : LKS_STR(""));
}

/* Peers of the socket have no credential that ends. */
static void add_peer(struct reach *r, const struct lks_binding *b)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BACKING_TEXT_MAX);
    struct lks_str identity = lks_state_text(r->s, b->identity);
    if (!lks_str_starts(identity, "unix:") || !lks_access_role_may(b->role, LKS_MAY_APPROVE))
        return;
    lks_backing_minters(r->s, identity, identity, &text);
    add_voice(r, identity, text.len > 0 ? lks_buf_view(&text) : LKS_STR(""));
}

/* How many could approve at r->node; UINT32_MAX: more than are looked at. */
static uint32_t count_at(struct reach *r, const struct lks_str *apart, size_t count)
{
    const struct lks_state *s = r->s;
    r->count = 0;
    r->many = false;
    for (size_t i = 0; i < count; i++)
        add_voice(r, apart[i], LKS_STR(""));
    for (uint32_t i = 0; i < s->binding_count; i++)
        add_peer(r, &s->bindings[i]);
    for (uint32_t i = 0; i < s->token_count; i++) {
        if (s->tokens[i].expires == 0 || s->tokens[i].expires > r->wall)
            add_token(r, &s->tokens[i]);
    }
    for (uint32_t i = 0; i < s->person_count; i++) {
        if (s->persons[i].certificate.expires > r->wall)
            add_person(r, &s->persons[i]);
    }
    lks_backing_rivals(r->voices, r->count, r->rivals);
    uint64_t all = r->count == LKS_BACKING_VOICES ? UINT64_MAX : (UINT64_C(1) << r->count) - 1;
    uint32_t found = lks_backing_most(r->rivals, all);
    return r->many && found < r->c->quorum ? UINT32_MAX : found;
}

struct lks_tally lks_govern_reach(const struct lks_state *s, const struct lks_state_change *c,
                                  lks_ms wall, const struct lks_str *apart, size_t count)
{
    struct lks_tally t = {.needed = c->quorum, .given = c->quorum};
    struct reach r = {.s = s, .c = c, .wall = wall};
    const struct lks_node *last = NULL;
    lks_arena_init(&r.arena, TEXT_MAX);
    for (uint32_t i = 0; i < c->member_count && t.given > 0; i++) {
        const struct lks_node *n = &s->nodes[c->members[i].node];
        if (!n->placed || (last != NULL && last->pool == n->pool && last->site == n->site))
            continue;
        last = n;
        r.node = c->members[i].node;
        uint32_t found = count_at(&r, apart, count);
        if (found >= t.given)
            continue;
        t.given = found;
        t.where = lks_access_scope_of_node(s, r.node);
    }
    lks_arena_fini(&r.arena);
    return t;
}
