/* What holds after every decision about such a change, whatever goes wrong. */
#include "core/rows/change.h"
#include "core/rows/flash.h"
#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "tests/campaigns.h"
#include "tests/test.h"

#include <stdio.h>

const struct lks_node *campaign_state(const struct campaign *w, const struct campaign_node *n)
{
    uint32_t at = 0;
    LKS_ASSERT(lks_intern_find(&w->a.state.names, lks_str_from(n->name), &at));
    return &w->a.state.nodes[at];
}

bool campaign_is_out(const struct lks_node *n)
{
    return n->changing != 0 && (n->asset != 0 || n->drained_by != 0);
}

static bool is_of_domain(const struct campaign *w, struct lks_str name)
{
    for (unsigned i = 0; i < w->count; i++) {
        if (lks_str_is(name, w->nodes[i].name))
            return w->nodes[i].asset || i < w->plan.domain;
    }
    return false;
}

/* Promise 1: nothing is done to a node, or to an asset of its domain, before it is out of use. */
static void check_out(struct campaign *w, struct lks_str name)
{
    bool of_asset = name.len > 0 && name.ptr[0] == 's';
    for (unsigned i = 0; i < w->count; i++) {
        const struct campaign_node *n = &w->nodes[i];
        bool same = lks_str_is(name, n->name);
        bool beside =
            w->plan.domain > 0 && (n->asset || i < w->plan.domain) && is_of_domain(w, name);
        const struct lks_member *m = n->gone ? NULL : campaign_member(w, n->name);
        if (m == NULL || (!same && !beside) || m->state == LKS_MEMBER_SKIPPED)
            continue;
        if (!same && !of_asset && m->state == LKS_MEMBER_REVERTED)
            continue; /* one that was lost goes back behind the others, alone */
        if (!CHECK(campaign_is_out(campaign_state(w, n))) || !CHECK(n->asset || !n->busy))
            printf("   %s while %.*s is touched\n", n->name, LKS_STR_ARG(name));
    }
}

static bool disrupts(const struct lks_record *r)
{
    if (r->kind == LKS_RECORD_FLASH)
        return r->flash.act != LKS_BMC_STAGE && r->flash.act != LKS_BMC_ABORT;
    return r->kind == LKS_RECORD_COMMAND &&
           (lks_str_is(r->command.executor, "apt") || lks_str_is(r->command.executor, "reboot"));
}

/* Promise 6: those of a domain that serve have all of them the same. */
static void check_mixed(struct campaign *w)
{
    int serves = -1;
    for (unsigned i = 0; i < w->count && w->plan.domain > 0; i++) {
        const struct campaign_node *n = &w->nodes[i];
        const struct lks_node *s = campaign_state(w, n);
        if (i >= w->plan.domain || campaign_is_out(s) || !s->placed || s->held || !n->up)
            continue;
        int has = n->loaded * 2 + n->flashed;
        CHECK(serves < 0 || serves == has);
        serves = has;
    }
}

/* Promise 4: who returns by a change is all of A or all of B. */
static void check_return(struct campaign *w, struct lks_str name)
{
    for (unsigned i = 0; i < w->count; i++) {
        const struct campaign_node *n = &w->nodes[i];
        if (lks_str_is(name, n->name) && !n->asset)
            CHECK(n->loaded == n->flashed);
    }
}

/* Of two that are units of their own only one is taken out of use at a time. */
static void check_sides(const struct campaign *w)
{
    unsigned open = 0, out = 0;
    for (uint32_t i = 0; i < w->a.state.node_count; i++)
        out += w->a.state.nodes[i].side != 0 && w->a.state.nodes[i].changing != 0;
    CHECK(out <= 1 || w->plan.domain > 0);
    for (uint32_t i = 0; i < w->a.state.flash_count; i++) {
        const struct lks_state_flash *f = &w->a.state.flashes[i];
        open += !lks_state_flash_over(f) && w->a.state.nodes[f->node].side != 0;
    }
    CHECK(open <= 1 || w->plan.shelves < 2);
}

/* It has nothing of the target and only returns to service. */
static bool returns_as_it_was(struct campaign *w, const struct lks_member *m,
                              const struct lks_step *step)
{
    const struct campaign_node *n = campaign_node(w, lks_state_name(&w->a.state, m->node).ptr);
    return m->back && step->kind == LKS_DO_RETURN && !n->installed && !n->loaded && !n->flashed;
}

/* In a rollback a unit has no slot while it waits for a node that is not there, or for jobs since
 * ten minutes: others may start meanwhile (decision 0077). */
static bool has_no_slot(struct campaign *w, const struct lks_state_change *c,
                        const struct lks_unit *u)
{
    bool back = c->state == LKS_CHANGE_ROLLING_BACK || c->state == LKS_CHANGE_ABORTING;
    for (uint32_t i = 0; i < u->count && back; i++) {
        const struct lks_member *m = &c->members[u->first + i];
        const struct lks_node *n = &w->a.state.nodes[m->node];
        const struct lks_step *step = lks_member_step(c, m);
        if (lks_member_over(m) || m->state == LKS_MEMBER_PENDING || step == NULL)
            continue;
        bool drains =
            step->kind == LKS_DO_LEAVE && w->a.now.wall >= m->turned + 10 * CAMPAIGN_MINUTE;
        if (drains || (n->asset == 0 && n->liveness != LKS_LIVE) || returns_as_it_was(w, m, step))
            return true;
    }
    return false;
}

static void check_width(struct campaign *w, const struct lks_state_change *c)
{
    for (uint32_t i = 0; i < c->wave_count; i++) {
        uint32_t slots = c->waves[i].busy;
        for (uint32_t u = 0; u < c->unit_count; u++)
            slots -=
                c->units[u].wave == i && c->units[u].active > 0 && has_no_slot(w, c, &c->units[u]);
        CHECK(slots <= c->waves[i].width);
    }
}

void campaign_check_one_stack(struct campaign *w, const struct lks_decision *d)
{
    (void)d;
    check_mixed(w);
}

void campaign_check_promises(struct campaign *w, const struct lks_decision *d)
{
    const struct lks_state_change *c = campaign_change(w);
    for (size_t i = 0; i < d->count; i++) {
        const struct lks_record *r = &d->records[i];
        if (disrupts(r))
            check_out(w, r->kind == LKS_RECORD_FLASH ? r->flash.node : r->command.node);
        if (r->kind == LKS_RECORD_UNDRAINED)
            check_return(w, r->undrained.node);
    }
    check_width(w, c);
    check_mixed(w);
    check_sides(w);
}
