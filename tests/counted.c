#include "tests/counted.h"

#include "base/heap.h"
#include "core/campaign/campaign.h"
#include "core/rows/change_index.h"
#include "core/rows/command.h"
#include "core/rows/flash.h"
#include "core/state/state.h"
#include "tests/test.h"

/* When something is to be decided about it, asked anew. */
static bool check_due(const struct lks_state *s, uint32_t n)
{
    const struct lks_state_change *c = lks_state_change(s, s->nodes[n].change);
    const struct lks_member *m = c == NULL ? NULL : lks_state_change_member(c, n);
    const struct lks_heap *h = &s->members_due;
    uint32_t place = n < h->cap ? h->places[n] : 0;
    lks_ms kept = place == 0 ? UINT64_MAX : h->entries[place - 1].at;
    return CHECK(s->nodes[n].change == 0 || m != NULL) &&
           CHECK_INT(kept, m == NULL ? UINT64_MAX : lks_campaign_due(s, c, m));
}

static bool holds(const struct lks_member *m)
{
    return m->state == LKS_MEMBER_WAITING || m->state == LKS_MEMBER_ASKED ||
           m->state == LKS_MEMBER_READING || m->state == LKS_MEMBER_FENCED ||
           m->state == LKS_MEMBER_HANDS || m->state == LKS_MEMBER_UNKNOWN;
}

/* Which change has a node and what it is pinned to, by looking at all members. */
static bool check_bound(const struct lks_state *s, uint32_t n)
{
    uint64_t has = 0;
    lks_text pin = 0;
    lks_ms last = 0;
    for (uint32_t i = 0; i < s->change_count; i++) {
        const struct lks_state_change *c = &s->changes[i];
        for (uint32_t k = 0; k < c->member_count; k++) {
            const struct lks_member *m = &c->members[k];
            if (m->node == n && holds(m) && has == 0)
                has = c->id;
            if (m->node == n && m->state == LKS_MEMBER_DONE && c->state < LKS_CHANGE_OVER &&
                c->stack != 0 && m->since >= last) {
                last = m->since;
                pin = c->stack;
            }
        }
    }
    return CHECK_INT(s->nodes[n].change, has) && CHECK_INT(s->nodes[n].pin, pin);
}

static bool check_units(const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    uint32_t busy = 0, failed = 0, members[LKS_MEMBER_STATE_COUNT] = {0}, last = 0, next = 0,
             hard = 0;
    bool good = true;
    for (uint32_t u = w->first_unit; u != 0; u = c->units[u - 1].next) {
        const struct lks_unit *unit = &c->units[u - 1];
        uint32_t over = 0, active = 0, begun = 0;
        for (uint32_t i = 0; i < unit->count; i++) {
            const struct lks_member *m = &c->members[unit->first + i];
            good = good && m->unit == u - 1 && c->places[m->node] == unit->first + i + 1;
            good = good && lks_change_comes_from(c, m->from);
            members[m->state]++;
            next = next == 0 && m->state == LKS_MEMBER_PENDING ? u : next;
            over += m->state >= LKS_MEMBER_OVER;
            active += m->state > LKS_MEMBER_PENDING && m->state < LKS_MEMBER_OVER;
            begun += m->begun != 0;
            bool fails = m->state >= LKS_MEMBER_REVERTED && m->state <= LKS_MEMBER_UNKNOWN &&
                         m->failure != LKS_FAILURE_NONE;
            failed += fails;
            hard += fails && lks_failure_rules[m->failure].hard;
        }
        good = good && (unit->domain == 0 || lks_change_unit(c, wave, unit->domain) == u);
        good = good && unit->wave == wave && unit->over == over && unit->active == active &&
               unit->begun == (begun > 0) && unit->count > 0;
        busy += active > 0;
        last = u;
    }
    return CHECK(good) && CHECK_INT(w->last_unit, last) && CHECK_INT(w->next, next) &&
           CHECK_INT(w->busy, busy) && CHECK_INT(w->failed, failed) && CHECK_INT(w->hard, hard) &&
           CHECK(memcmp(members, w->members, sizeof(members)) == 0);
}

bool lks_counted_changes(const struct lks_state *s)
{
    uint32_t open = 0;
    bool good = true;
    for (uint32_t i = 0; i < s->change_count && good; i++) {
        const struct lks_state_change *c = &s->changes[i];
        uint32_t failed = 0, members = 0;
        open += c->state < LKS_CHANGE_OVER;
        for (uint32_t w = 0; w < c->wave_count && good; w++) {
            good = check_units(c, w);
            failed += c->waves[w].failed;
        }
        for (size_t k = 0; k < LKS_MEMBER_STATE_COUNT; k++)
            members += c->states[k];
        good = good && CHECK_INT(c->failed, failed) && CHECK_INT(c->member_count, members);
    }
    for (uint32_t n = 0; n < s->node_count && good; n++)
        good = check_bound(s, n) && check_due(s, n);
    return good && CHECK_INT(s->changes_open, open);
}

/* Commands and updates ---------------------------------------------------------------------- */

/* The newest update of a node before that place, by looking at all: place + 1. */
static uint32_t newest(const struct lks_state *s, uint32_t node, uint32_t place)
{
    while (place > 0 && s->flashes[place - 1].node != node)
        place--;
    return place;
}

static bool check_flashes(const struct lks_state *s)
{
    uint32_t open = 0, flashing = 0, kept = 0;
    lks_ms due = UINT64_MAX;
    bool linked = true;
    for (uint32_t i = 0; i < s->flash_count; i++) {
        const struct lks_state_flash *f = &s->flashes[i];
        flashing += !lks_state_flash_over(f);
        open += f->outcome == LKS_BMC_OPEN;
        linked = linked && f->before == newest(s, f->node, i);
        if (f->outcome == LKS_BMC_OPEN && lks_state_flash_due(f) < due)
            due = lks_state_flash_due(f);
    }
    for (uint32_t n = 0; n < s->node_count; n++) {
        kept += s->nodes[n].flashing;
        linked = linked && s->nodes[n].flash == newest(s, n, s->flash_count);
    }
    return CHECK_INT(s->flashes_open, open) && CHECK_INT(kept, flashing) && CHECK(linked) &&
           CHECK(s->flashes_due <= due && (s->flashes_moved || s->flashes_due == due));
}

static bool check_commands_due(const struct lks_state *s)
{
    lks_ms due = UINT64_MAX;
    for (uint32_t i = 0; i < s->command_count; i++) {
        lks_ms over = lks_state_command_over(s, &s->commands[i]);
        if (!s->commands[i].ended && over < due)
            due = over;
    }
    return CHECK(s->commands_due <= due && (s->commands_moved || s->commands_due == due));
}

bool lks_counted_work(const struct lks_state *s)
{
    return check_flashes(s) && check_commands_due(s);
}
