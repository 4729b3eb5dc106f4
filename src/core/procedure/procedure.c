#include "base/real.h"
#include "codec/notation/hostlist.h"
#include "core/compat/stackdiff.h"
#include "core/fold/dump_plan.h"
#include "core/governance/govern.h"
#include "core/procedure/procedure_parts.h"
#include "core/rows/pool.h"
#include "core/state/state.h"

#include <math.h>

enum {
    HOSTS_TOLD = 1000, /* bytes of a host list */
    FROMS_TOLD = 16,   /* stacks that nodes come from */
    CURRENCY_MAX = 16, /* bytes */
    KIND_BYTES = 4,    /* of a record in front of its body */
    LENGTH_BYTES = 8,  /* of the body */
    BYTE_BITS = 8,
};

#define DIGEST_BYTES_MAX ((size_t)256 << 20)

/* What a plan is called --------------------------------------------------------------------- */

struct hashing {
    struct lks_buf all, body;
};

static void add_number(struct lks_buf *out, uint64_t number, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        lks_buf_addc(out, (char)(number >> (i * BYTE_BITS)));
}

/* A later version of a kind adds fields at the end, which are zero where they were not set: without
 * the zeroes at its end a record is the same bytes in all versions. Orders of executors are in it
 * by the digests that steps name. */
static enum lks_code add_record(void *ctx, lks_ms time, const struct lks_record *r,
                                struct lks_err *err)
{
    struct hashing *h = ctx;
    (void)time;
    if (r->kind == LKS_RECORD_PLAN_ORDER)
        return LKS_OK;
    lks_buf_truncate(&h->body, 0);
    lks_record_pack(r, &h->body);
    if (lks_buf_check(&h->body, err) != LKS_OK)
        return err->code;
    struct lks_str body = lks_buf_view(&h->body);
    while (body.len > 0 && body.ptr[body.len - 1] == 0)
        body.len--;
    add_number(&h->all, r->kind, KIND_BYTES);
    add_number(&h->all, body.len, LENGTH_BYTES);
    lks_buf_add(&h->all, body);
    return lks_buf_check(&h->all, err);
}

enum lks_code lks_procedure_plan_digest(const struct lks_state *s, const struct lks_state_change *c,
                                        char out[LKS_DIGEST_SIZE], struct lks_err *err)
{
    struct hashing h = {0};
    struct lks_dump d = {.s = s, .emit = add_record, .ctx = &h, .err = err};
    lks_buf_init(&h.all, DIGEST_BYTES_MAX);
    lks_buf_init(&h.body, LKS_RECORD_BODY_MAX);
    lks_dump_plan(&d, c);
    enum lks_code code = d.code;
    if (code == LKS_OK)
        code = lks_digest_text(lks_buf_view(&h.all), out, err);
    lks_buf_fini(&h.all);
    lks_buf_fini(&h.body);
    return code;
}

/* Helpers ----------------------------------------------------------------------------------- */

bool lks_procedure_price_parse(struct lks_str text, struct lks_price *out)
{
    struct lks_str number, rest;
    double hour = 0;
    if (text.len == 0) {
        *out = (struct lks_price){0};
        return true;
    }
    (void)lks_str_cut(text, ' ', &number, &rest);
    rest = lks_str_trim(rest);
    if (!lks_real_parse(number, &hour) || !(hour > 0) || hour > LKS_PRICE_MAX ||
        rest.len > CURRENCY_MAX || !lks_str_printable(rest))
        return false;
    *out = (struct lks_price){hour, rest};
    return true;
}

struct lks_str lks_procedure_text(const struct lks_procedure_work *w, lks_text text)
{
    return lks_state_text(w->s, text);
}

struct lks_str lks_procedure_hosts(struct lks_procedure_work *w, const struct lks_str *names,
                                   size_t count)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = LKS_BUF(LKS_HOSTLIST_BYTES_MAX);
    struct lks_err err = {0};
    if (count == 0)
        return LKS_STR("");
    if (lks_hostlist_fold(names, count, &list, &err) == LKS_OK && list.len <= HOSTS_TOLD)
        return lks_document_copy(w->p, lks_buf_view(&list));
    return lks_document_text(w->p, "%zu of them: lockstep change show %llu --nodes all", count,
                             (unsigned long long)w->c->id);
}

struct lks_str lks_procedure_step_text(struct lks_procedure_work *w, const struct lks_step *step)
{
    struct lks_str of = lks_procedure_text(w, step->component);
    return lks_document_text(w->p, "%s%s%" LKS_STR_FMT, lks_step_kind_titles[step->kind],
                             of.len > 0 ? " " : "", LKS_STR_ARG(of));
}

/* Steps of all recipes, those that a table says the same of once. */
void lks_procedure_list(struct lks_procedure_work *w, lks_procedure_alike alike)
{
    w->step_count = 0;
    for (uint32_t r = 0; r < w->c->recipe_count; r++) {
        for (uint32_t i = 0; w->by_recipe[r] > 0 && i < w->c->recipes[r].count; i++) {
            const struct lks_step *step = &w->c->recipes[r].steps[i];
            uint32_t at = 0;
            while (at < w->step_count && !alike(w->steps[at].step, step))
                at++;
            if (at == LKS_PROCEDURE_ROWS)
                continue;
            if (at == w->step_count)
                w->steps[w->step_count++] = (struct lks_procedure_step){.step = step};
            else if (w->steps[at].recipe == r)
                continue; /* counted */
            w->steps[at].recipe = r;
            w->steps[at].members += w->by_recipe[r];
        }
    }
}

/* Counting ---------------------------------------------------------------------------------- */

static void count_member(struct lks_procedure_work *w, const struct lks_member *m)
{
    const struct lks_node *n = &w->s->nodes[m->node];
    uint32_t wave = w->c->units[m->unit].wave;
    lks_size_add(w->s, w->book, m->node, &w->whole);
    if (wave < w->c->wave_count)
        lks_size_add(w->s, w->book, m->node, &w->by_wave[wave]);
    if (n->pool < w->s->pool_count)
        lks_size_add(w->s, w->book, m->node, &w->by_pool[n->pool]);
    if (m->recipe >= w->c->recipe_count)
        return;
    w->by_recipe[m->recipe]++;
    w->kinds[m->recipe] = n->asset != 0 ? n->asset : n->class;
}

static bool count(struct lks_procedure_work *w)
{
    struct lks_arena *a = &w->p->memory;
    const struct lks_state_change *c = w->c;
    w->by_wave = lks_arena_array(a, (size_t)c->wave_count + 1, sizeof(*w->by_wave));
    w->by_pool = lks_arena_array(a, (size_t)w->s->pool_count + 1, sizeof(*w->by_pool));
    w->by_recipe = lks_arena_array(a, (size_t)c->recipe_count + 1, sizeof(*w->by_recipe));
    w->kinds = lks_arena_array(a, (size_t)c->recipe_count + 1, sizeof(*w->kinds));
    w->takes = lks_arena_array(a, (size_t)c->recipe_count + 1, sizeof(*w->takes));
    w->steps = lks_arena_array(a, LKS_PROCEDURE_ROWS, sizeof(*w->steps));
    if (w->by_wave == NULL || w->by_pool == NULL || w->by_recipe == NULL || w->kinds == NULL ||
        w->takes == NULL || w->steps == NULL)
        return lks_arena_fail(a, w->err) == LKS_OK;
    for (uint32_t i = 0; i < c->member_count; i++)
        count_member(w, &c->members[i]);
    for (uint32_t i = 0; i < c->unit_count; i++) {
        w->whole.units++;
        if (c->units[i].wave < c->wave_count)
            w->by_wave[c->units[i].wave].units++;
    }
    for (uint32_t r = 0; r < c->recipe_count; r++) {
        for (uint32_t i = 0; i < c->recipes[r].count; i++)
            w->takes[r] += lks_plan_usual(&c->recipes[r].steps[i]);
    }
    return true;
}

/* The change itself ------------------------------------------------------------------------- */

static void add_pools(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {
        {"pool", "pool"},        {"posture", "posture"}, {"criticality", "criticality"},
        {"enforce", "enforces"}, {"nodes", "nodes"},     {"gpus", "GPUs"},
        {"assets", "assets"},    {"of", "of its nodes"}, {"frozen", "frozen now"},
    };
    lks_document_table(w->p, "pools", "Pools", "None of them is in a pool.", columns,
                       LKS_COUNT(columns));
    for (uint32_t i = 0; i < w->s->pool_count; i++) {
        const struct lks_state_pool *pool = &w->s->pools[i];
        const struct lks_change_size *size = &w->by_pool[i];
        if (size->nodes + size->assets == 0)
            continue;
        const struct lks_cell row[] = {
            lks_cell_text(lks_procedure_text(w, pool->name)),
            lks_cell_text(lks_procedure_text(w, pool->posture)),
            lks_cell_count(pool->criticality),
            lks_cell_text(lks_procedure_text(w, pool->enforce)),
            lks_cell_count(size->nodes),
            lks_cell_count(size->gpus),
            lks_cell_count(size->assets),
            lks_cell_count(pool->nodes),
            lks_cell_truth(pool->frozen || w->s->frozen),
        };
        lks_document_row(w->p, row);
    }
}

/* Those that its members come from, each once, in the order of their digests; 0: all told. */
static uint32_t list_froms(const struct lks_procedure_work *w, struct lks_str out[FROMS_TOLD])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->c->index.from_count; i++) {
        struct lks_str from = lks_procedure_text(w, w->c->index.froms[i]);
        uint32_t at = count;
        while (at > 0 && lks_str_cmp(out[at - 1], from) > 0)
            at--;
        if (at == FROMS_TOLD)
            continue;
        count += count < FROMS_TOLD;
        for (uint32_t k = count - 1; k > at; k--)
            out[k] = out[k - 1];
        out[at] = from;
    }
    return count;
}

static uint64_t members_from(const struct lks_procedure_work *w, struct lks_str from)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < w->c->member_count; i++)
        count += lks_str_eq(lks_procedure_text(w, w->c->members[i].from), from);
    return count;
}

static void add_froms(struct lks_procedure_work *w, const struct lks_str *froms, uint32_t count)
{
    static const struct lks_document_column columns[] = {
        {"name", "from"}, {"digest", "digest"}, {"members", "nodes and assets"}};
    lks_document_table(w->p, "from", "Stacks they come from",
                       "The stack that they run is not "
                       "known.",
                       columns, LKS_COUNT(columns));
    for (uint32_t i = 0; i < count; i++) {
        const struct lks_stack *stack = lks_book_stack(w->book, froms[i]);
        bool digest = lks_digest_valid(froms[i]);
        const struct lks_cell row[] = {
            lks_cell_text(stack != NULL ? stack->name
                          : digest      ? LKS_STR("")
                                        : froms[i]),
            lks_cell_code(digest ? froms[i] : LKS_STR("")),
            lks_cell_count(members_from(w, froms[i])),
        };
        lks_document_row(w->p, row);
    }
    if (w->c->index.from_count > count)
        lks_document_row(w->p, (const struct lks_cell[]){lks_cell_text(LKS_STR("and others")),
                                                         lks_cell_text(LKS_STR("")),
                                                         lks_cell_text(LKS_STR(""))});
}

static void add_difference(struct lks_procedure_work *w, const struct lks_stack *from,
                           const struct lks_difference *d)
{
    const struct lks_cell row[] = {
        lks_cell_text(from->name),
        lks_cell_text(lks_document_copy(w->p, d->subject)),
        lks_cell_text(lks_document_copy(w->p, d->from)),
        lks_cell_text(lks_document_copy(w->p, d->to)),
        lks_cell_text(lks_str_from(d->direction)),
        lks_cell_text(lks_document_copy(w->p, d->class)),
        lks_cell_text(lks_document_copy(w->p, d->reboot)),
        lks_cell_text(lks_document_copy(w->p, d->revert)),
        lks_cell_truth(d->one_way),
    };
    lks_document_row(w->p, row);
}

static void add_differences(struct lks_procedure_work *w, const struct lks_str *froms,
                            uint32_t count)
{
    static const struct lks_document_column columns[] = {
        {"from", "from"},         {"what", "what"},         {"old", "old"},
        {"new", "new"},           {"change", "change"},     {"class", "class of update"},
        {"reboot", "interrupts"}, {"way_back", "rollback"}, {"one_way", "irreversible"},
    };
    const struct lks_stack *to = lks_book_stack(w->book, lks_procedure_text(w, w->c->stack));
    lks_document_table(w->p, "differences", "Differences",
                       "Nothing that the registry knows: the steps below say all of it.", columns,
                       LKS_COUNT(columns));
    for (uint32_t i = 0; to != NULL && i < count; i++) {
        const struct lks_stack *from = lks_book_stack(w->book, froms[i]);
        struct lks_stackdiff diff = {0};
        struct lks_err err = {0};
        if (from == NULL || lks_stackdiff_make(w->book->facts, from, to, &diff, &err) != LKS_OK)
            continue;
        for (size_t k = 0; k < diff.count && k < LKS_PROCEDURE_ROWS; k++)
            add_difference(w, from, &diff.differences[k]);
        lks_stackdiff_fini(&diff);
    }
}

static void add_facts(struct lks_procedure_work *w, const char *digest)
{
    const struct lks_state_change *c = w->c;
    struct lks_document *p = w->p;
    lks_document_fact(p, "id", "Change", lks_cell_count(c->id));
    lks_document_fact(p, "plan", "Plan", lks_cell_code(lks_document_copy(p, lks_str_from(digest))));
    lks_document_fact(p, "state", "State",
                      lks_cell_text(lks_str_from(lks_change_state_words[c->state])));
    lks_document_fact(p, "class", "Class", lks_cell_text(lks_procedure_text(w, c->class)));
    lks_document_fact(p, "advisory", "Closes", lks_cell_text(lks_procedure_text(w, c->advisory)));
    lks_document_fact(p, "by", "Proposed by", lks_cell_text(lks_procedure_text(w, c->by)));
    lks_document_fact(p, "proposed", "Proposed at", lks_cell_time(c->proposed));
    lks_document_fact(p, "reason", "Because", lks_cell_text(lks_procedure_text(w, c->reason)));
    lks_document_fact(p, "nodes", "Nodes", lks_cell_count(w->whole.nodes));
    lks_document_fact(p, "gpus", "GPUs", lks_cell_count(w->whole.gpus));
    lks_document_fact(p, "assets", "Assets", lks_cell_count(w->whole.assets));
    lks_document_fact(p, "hosts", "Asked for", lks_cell_text(lks_procedure_text(w, c->hosts)));
    lks_document_fact(p, "to", c->kind == LKS_CHANGE_AGENT ? "To agent" : "To stack",
                      lks_cell_text(lks_procedure_text(w, c->name)));
    lks_document_fact(p, "to_digest", "Its digest", lks_cell_text(lks_procedure_text(w, c->stack)));
}

/* Who stands behind it ---------------------------------------------------------------------- */

static void add_votes(struct lks_procedure_work *w)
{
    static const struct lks_document_column columns[] = {
        {"by", "who"},     {"yes", "approves"},      {"reason", "why"},    {"at", "when"},
        {"ends", "until"}, {"counts", "counts now"}, {"ticket", "ticket"},
    };
    lks_document_table(w->p, "votes", "Votes", "There are no votes yet.", columns,
                       LKS_COUNT(columns));
    for (uint32_t i = 0; i < w->c->vote_count; i++) {
        const struct lks_vote *v = &w->c->votes[i];
        const struct lks_cell row[] = {
            lks_cell_text(lks_procedure_text(w, v->by)),
            lks_cell_truth(v->yes),
            lks_cell_text(lks_procedure_text(w, v->reason)),
            lks_cell_time(v->at),
            lks_cell_time(w->c->approval_age != 0 ? v->at + w->c->approval_age : 0),
            lks_cell_truth(lks_govern_counts(w->s, w->c, v, w->s->clock)),
            lks_cell_text(lks_procedure_text(w, v->ticket)),
        };
        lks_document_row(w->p, row);
    }
}

/* By the time of the last record, so that it follows from records alone. */
static void add_signature(struct lks_procedure_work *w, struct lks_str as)
{
    const struct lks_cell row[] = {lks_cell_text(as), lks_cell_blank(), lks_cell_blank(),
                                   lks_cell_blank()};
    lks_document_row(w->p, row);
}

/* A line for each approval that its class needs, and for those who answer for it otherwise. */
static void add_signatures(struct lks_procedure_work *w, uint64_t needed)
{
    static const struct lks_document_column columns[] = {
        {"as", "signs as"}, {"name", "name"}, {"date", "date"}, {"signature", "signature"}};
    uint64_t lines = needed > 0 ? needed : 1;
    lks_document_table(w->p, "signatures", "Signatures", NULL, columns, LKS_COUNT(columns));
    add_signature(w, LKS_STR("proposer"));
    for (uint64_t i = 0; i < lines && i < LKS_PROCEDURE_ROWS; i++)
        add_signature(w, lks_document_text(w->p, "approver %llu of %llu", (unsigned long long)i + 1,
                                           (unsigned long long)lines));
    if (w->c->needs_standby)
        add_signature(w, LKS_STR("on standby at the site"));
}

static void add_approvals(struct lks_procedure_work *w, const char *digest)
{
    const struct lks_state_change *c = w->c;
    struct lks_tally t = lks_govern_tally(w->s, c, w->s->clock, NULL, LKS_STR(""));
    bool lacks = !lks_tally_complete(&t);
    lks_document_section(
        w->p, "approvals", "Approvals",
        "The proposer cannot approve it. Votes are counted for each pool and site, "
        "and end with their time or with the role that gave them.");
    lks_document_fact(w->p, "needed", "Needed", lks_cell_count(t.needed));
    lks_document_fact(w->p, "given", "Given", lks_cell_count(t.given));
    lks_document_fact(w->p, "pool", "Lacking in pool",
                      lks_cell_text(lacks ? t.where.pool : LKS_STR("")));
    lks_document_fact(w->p, "site", "Lacking at site",
                      lks_cell_text(lacks ? t.where.site : LKS_STR("")));
    lks_document_fact(w->p, "expires", "The proposal ends", lks_cell_time(c->expires));
    add_votes(w);
    lks_document_fact(w->p, "signed", "The signatures below are for plan",
                      lks_cell_code(lks_document_copy(w->p, lks_str_from(digest))));
    add_signatures(w, t.needed);
}

static void fill(struct lks_procedure_work *w, const char *digest)
{
    struct lks_str froms[FROMS_TOLD];
    uint32_t from_count = list_froms(w, froms);
    w->p->title = lks_document_text(w->p, "Method of procedure: change %llu to %" LKS_STR_FMT,
                                    (unsigned long long)w->c->id,
                                    LKS_STR_ARG(lks_procedure_text(w, w->c->name)));
    lks_procedure_summary(w, froms, from_count);
    lks_document_section(w->p, "change", "The change",
                         "The proposal, its nodes, and how it differs from what they run.");
    add_facts(w, digest);
    add_pools(w);
    add_froms(w, froms, from_count);
    add_differences(w, froms, from_count);
    lks_procedure_happens(w);
    lks_procedure_wrong(w);
    lks_procedure_back(w);
    lks_procedure_cost(w);
    lks_procedure_risk(w);
    add_approvals(w, digest);
}

enum lks_code lks_procedure_make(const struct lks_state *s, const struct lks_book *book,
                                 const struct lks_state_change *c, const struct lks_price *price,
                                 struct lks_document *out, struct lks_err *err)
{
    char digest[LKS_DIGEST_SIZE];
    struct lks_procedure_work w = {
        .s = s, .book = book, .c = c, .price = price, .p = out, .err = err};
    lks_document_init(out);
    if (lks_procedure_plan_digest(s, c, digest, err) != LKS_OK || !count(&w))
        return err->code;
    fill(&w, digest);
    return lks_document_check(out, err);
}
