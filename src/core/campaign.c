/* Changes as a whole: which wave is on, who may begin, what follows when a wave is over. */
#include "core/campaign.h"

#include "core/campaign_parts.h"
#include "core/endpoint.h"
#include "core/leave.h"
#include "core/mass.h"
#include "core/standing.h"

enum {
    UNITS_SLICE = 4096, /* units of a wave that are looked at at once */
    BARRED_MAX = 256,   /* of them one after the other that wait: so will those behind */
};
#define ABSENT_MAX    (3600 * LKS_SECOND) /* that the last units of a wave are waited for */
#define TRY_AGAIN_MAX (600 * LKS_SECOND)  /* behind a resume, for a person to try nodes again */
#define S(s)          LKS_STR_ARG(s)

/* Whether this tick is to look at it: one just before may have done so, and nothing happened. */
static bool is_to_look(const struct lks_deciding *d, const struct lks_state_change *c)
{
    return c->looked == 0 || c->looked >= d->now.mono;
}

/* Records ----------------------------------------------------------------------------------- */

static void move(struct lks_deciding *d, const struct lks_state_change *c,
                 enum lks_change_state state, struct lks_str reason)
{
    lks_deciding_add(d, LKS_RECORD_CHANGE_MOVED)->change_moved =
        (struct lks_rec_change_moved){.change = c->id, .state = state, .reason = reason};
}

static void move_wave(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave,
                      enum lks_wave_state state, lks_ms until, struct lks_str text)
{
    lks_deciding_add(d, LKS_RECORD_WAVE)->wave = (struct lks_rec_wave){
        .change = c->id, .index = wave, .state = state, .until = until, .text = text};
}

static void alarm(struct lks_deciding *d, const struct lks_state_change *c, struct lks_str text)
{
    char owner[LKS_CHANGE_OWNER_SIZE];
    struct lks_str subject = lks_deciding_copy(d, lks_change_owner(c->id, owner));
    (void)lks_deciding_alarm(d, LKS_ALARM_CHANGE, subject, text);
}

/* Nobody else begins from here on; who is under way goes on to its end, or back. Nothing failed, so
 * what is done stays as it is, and a person decides. */
static void stop(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave,
                 enum lks_wave_state state, struct lks_str why)
{
    move_wave(d, c, wave, state, 0, why);
    move(d, c, LKS_CHANGE_HALTED, why);
    alarm(d, c, why);
}

/* The same for a failure: where the change says so, all of it goes back. */
static void halt(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave,
                 struct lks_str why)
{
    stop(d, c, wave, LKS_WAVE_HALTED, why);
    if (c->rolls_back)
        move(d, c, LKS_CHANGE_ROLLING_BACK, LKS_STR("it was halted, and is rolled back at once"));
}

/* Who may begin ----------------------------------------------------------------------------- */

/* Why a unit does not begin now. Some reasons pass by themselves, or by a person's word; for others
 * it is left out when nobody else of its wave is left; and what it was planned from may be gone. */
enum bar { BAR_NONE, BAR_WAITS, BAR_ABSENT, BAR_OTHER };

struct unit_look {
    struct lks_deciding *d;
    const struct lks_state_change *c;
    const struct lks_unit *u;
    struct lks_downs *downs;
    bool back;
    bool spared; /* its domain can do without those of it that are away */
    struct lks_crowded crowded;
};

static const struct lks_node *node_of(const struct unit_look *l, const struct lks_member *m)
{
    return &l->d->state->nodes[m->node];
}

static bool is_here(const struct lks_node *n)
{
    return n->asset != 0 || (n->enrolled && n->liveness == LKS_LIVE);
}

/* Freezes and MASS: also of who goes back. */
static bool is_stopped(const struct unit_look *l, const struct lks_member *m)
{
    uint32_t pool = node_of(l, m)->pool;
    return lks_state_frozen(l->d->state, m->node) ||
           (pool < l->d->state->pool_count && lks_deciding_waits(l->d, pool));
}

/* Its time, windows of the change and of its pool, by the clock of its site. Back it goes at any.
 */
static bool is_untimely(const struct unit_look *l, const struct lks_member *m)
{
    lks_ms next = 0;
    return !l->back &&
           !lks_plan_may_begin(l->d->state, l->d->book, l->c, m->node, l->d->now.wall, &next);
}

/* Another change has it; the one of this member is not yet there. */
static bool is_taken(const struct unit_look *l, const struct lks_member *m)
{
    uint64_t other = node_of(l, m)->change;
    return other != 0 && other != l->c->id;
}

static bool is_elsewhere(const struct unit_look *l, const struct lks_member *m)
{
    lks_text intent = lks_state_intent(l->d->state, m->node);
    if (l->back)
        return l->c->stack != 0 && intent != 0 && intent != l->c->stack;
    return lks_member_elsewhere(l->d->state, l->c, m);
}

static bool is_apart(const struct unit_look *l, const struct lks_member *m)
{
    bool first = m == &l->c->members[l->u->first];
    return !l->back && first && lks_unit_apart(l->d->state, l->c, l->u);
}

/* A person keeps it, and may be at work on it. Whoever began goes on. */
static bool is_held(const struct unit_look *l, const struct lks_member *m)
{
    return !l->back && node_of(l, m)->held;
}

/* The way back was not gone yet on its hardware, and it is not the one to go it. */
static bool is_unproven(const struct unit_look *l, const struct lks_member *m)
{
    const struct lks_node *n = node_of(l, m);
    if (l->back || m->proves || !lks_path_reversible(&l->c->recipes[m->recipe]))
        return false;
    return lks_state_proven(l->d->state, n->asset != 0 ? n->asset : n->class, m->from,
                            l->c->stack != 0 ? l->c->stack : l->c->name) == NULL;
}

static bool is_pair_down(const struct unit_look *l, const struct lks_member *m)
{
    return lks_member_pair(l->d, l->c, m, l->downs) == LKS_PAIR_DOWN;
}

static bool is_pair_kept(const struct unit_look *l, const struct lks_member *m)
{
    return lks_member_pair(l->d, l->c, m, l->downs) == LKS_PAIR_KEPT;
}

/* Its own unit leaves use with it. */
static bool is_around(const struct unit_look *l, const struct lks_member *m)
{
    return !l->back && lks_domain_used(l->d->state, l->c, m->node) != LKS_NO_NODE;
}

/* One row a question, and what people are told meanwhile. */
static const struct {
    bool (*asks)(const struct unit_look *l, const struct lks_member *m);
    enum bar bar;
    const char *why;
} bars[] = {
    {is_stopped, BAR_WAITS, "so many of its pool turned at once that acts wait"},
    {is_taken, BAR_ABSENT, "another change has it"},
    {is_elsewhere, BAR_OTHER, "it is elsewhere by now"},
    {is_apart, BAR_ABSENT, "others of its domain are not in this change, and do not run its stack"},
    {is_around, BAR_ABSENT, "nodes of its domain are in use, and not in this change"},
    {is_unproven, BAR_WAITS, "nobody showed the way back on its hardware yet"},
    {is_untimely, BAR_WAITS, "outside its windows"},
    {is_pair_down, BAR_WAITS, "the other side of its pair is under way"},
    {is_pair_kept, BAR_ABSENT, "the other side of its pair is held, or kept out of use"},
    {is_held, BAR_ABSENT, "a person holds it"},
};

static enum bar bar_of(const struct unit_look *l, const struct lks_member *m)
{
    for (size_t i = 0; i < LKS_COUNT(bars); i++) {
        if (bars[i].asks(l, m))
            return bars[i].bar;
    }
    return BAR_NONE;
}

/* Whom it is about: those that wait, or those that are done and go back. */
static bool is_meant(const struct unit_look *l, const struct lks_member *m)
{
    return m->state == (l->back ? LKS_MEMBER_DONE : LKS_MEMBER_PENDING);
}

/* A domain can do without members that are away, as many as it has spares. */
static enum bar unit_bar(const struct unit_look *l)
{
    uint32_t away = 0, late = 0, meant = 0;
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        const struct lks_node *n = node_of(l, m);
        if (!lks_member_over(m) && m->state != LKS_MEMBER_PENDING)
            return BAR_WAITS; /* a person tried one of it again */
        if (!is_meant(l, m) || !n->placed)
            continue;
        enum bar bar = bar_of(l, m);
        if (bar != BAR_NONE)
            return bar;
        meant++;
        away += !is_here(n);
        late += n->liveness == LKS_LATE;
    }
    if (away == 0)
        return BAR_NONE;
    if (late > 0)
        return BAR_WAITS; /* it turns live or lost within a moment */
    uint32_t spares = l->u->domain == 0 ? 0 : lks_domain_spares(l->d, l->u->domain);
    return away <= spares && away < meant ? BAR_NONE : BAR_ABSENT;
}

/* The same, beside what other changes have of its pools now. */
static enum bar bar_beside(struct unit_look *l, uint32_t begun)
{
    enum bar bar = unit_bar(l);
    if (bar != BAR_NONE)
        return bar;
    return lks_unit_crowds(l->d, l->c, l->u, begun, &l->crowded) != NULL ? BAR_WAITS : BAR_NONE;
}

/* Beginning --------------------------------------------------------------------------------- */

static void say_skipped(struct lks_deciding *d, const struct lks_look *k, const char *why)
{
    struct lks_rec_member r = lks_member_record(k);
    r.state = LKS_MEMBER_SKIPPED;
    r.text = lks_str_from(why);
    lks_member_list(d, k, r);
}

/* A node alone that runs the target already is left alone. */
static bool has_it(const struct unit_look *l, const struct lks_look *k)
{
    if (l->u->count > 1 || l->c->stack == 0 || k->n->asset != 0 || k->n->whole == 0 ||
        k->n->tuple_boot != k->n->boot)
        return false;
    uint32_t v = lks_state_verdict_find(k->s, k->n->whole, l->c->stack);
    return v != 0 && k->s->verdicts[v].judged == LKS_JUDGED_CONFORMS;
}

static void begin_there(const struct unit_look *l, const struct lks_look *k)
{
    if (!k->n->placed) {
        say_skipped(l->d, k, "it is not in the fleet any more");
    } else if (!is_here(k->n)) {
        /* It may come back at any time, and not beside the others as it is now. */
        lks_member_fence(l->d, k, LKS_MEMBER_FENCED, LKS_FAILURE_NONE, false,
                         LKS_STR("it is not heard of, and its domain does without it"));
    } else if (has_it(l, k)) {
        say_skipped(l->d, k, "it has it already");
    } else {
        struct lks_rec_member r = {.state = LKS_MEMBER_WAITING, .attempt = 1};
        r.step = lks_path_there(k, 0);
        lks_member_list(l->d, k, r);
    }
}

/* It leaves use once more, and all of it is undone. */
static void begin_back(const struct unit_look *l, const struct lks_look *k)
{
    if (!k->n->placed) {
        say_skipped(l->d, k, "it is not in the fleet any more");
        return;
    }
    uint32_t leave = lks_path_find(k->r, LKS_DO_LEAVE);
    if (!is_here(k->n)) { /* it did not even leave use */
        struct lks_member at = *k->m;
        struct lks_look there = *k;
        at.step = leave;
        there.m = &at;
        lks_member_fence(
            l->d, &there, LKS_MEMBER_FENCED, l->spared ? LKS_FAILURE_NONE : LKS_FAILURE_LOST, true,
            l->spared ? LKS_STR("it is not heard of, and its domain goes back without it")
                      : LKS_STR("it is not heard of, and could not be taken back"));
        return;
    }
    struct lks_rec_member r = {.state = LKS_MEMBER_WAITING,
                               .attempt = 1,
                               .back = true,
                               .text = LKS_STR("the change is rolled back")};
    r.step = leave < k->r->count ? leave : lks_path_back(k, k->r->count, true);
    lks_member_list(l->d, k, r);
}

static void begin_unit(const struct unit_look *l)
{
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        struct lks_look k = lks_look_at(l->d->state, l->c, m);
        if (!is_meant(l, m))
            continue;
        lks_downs_add(l->d, l->downs, m->node);
        if (l->back)
            begin_back(l, &k);
        else
            begin_there(l, &k);
    }
}

static void skip_unit(const struct unit_look *l)
{
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        struct lks_look k = lks_look_at(l->d->state, l->c, m);
        if (is_meant(l, m))
            say_skipped(l->d, &k,
                        is_taken(l, m)       ? "another change keeps it"
                        : is_held(l, m)      ? "a person held it for too long"
                        : is_pair_kept(l, m) ? "the other side of its pair was held, or kept out "
                                               "of use, for too long"
                        : is_around(l, m)    ? "nodes of its domain that are not in this change "
                                               "were in use for too long"
                        : is_elsewhere(l, m) ? "it should run another stack by now than the one "
                                               "that this was planned from"
                                             : "it, or its domain, was not there in time");
    }
}

static bool has_meant(const struct unit_look *l)
{
    for (uint32_t i = 0; i < l->u->count; i++) {
        if (is_meant(l, &l->c->members[l->u->first + i]))
            return true;
    }
    return false;
}

/* Nobody begins outside its time. */
static bool is_its_time(const struct lks_deciding *d, const struct lks_state_change *c)
{
    return d->now.wall >= c->not_before && (c->not_after == 0 || d->now.wall < c->not_after);
}

/* It begins once somebody showed the way back: whoever is away cannot wait for it, too. */
static bool waits_for_proof(const struct unit_look *l)
{
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        if (is_meant(l, m) && node_of(l, m)->placed && is_unproven(l, m))
            return true;
    }
    return false;
}

/* Why a member that is meant does not begin; an empty text: nothing about it keeps it. */
static struct lks_str why_not(const struct unit_look *l, const struct lks_member *m)
{
    char at[LKS_TIME_TEXT_SIZE];
    const struct lks_state *s = l->d->state;
    const struct lks_node *n = node_of(l, m);
    lks_ms next = UINT64_MAX;
    size_t b = 0;
    while (b < LKS_COUNT(bars) && !bars[b].asks(l, m))
        b++;
    if (b == LKS_COUNT(bars))
        return is_here(n) ? LKS_STR("") : LKS_STR("not heard of");
    if (bars[b].asks == is_held)
        return lks_deciding_text(l->d, "held by %" LKS_STR_FMT ": %" LKS_STR_FMT,
                                 S(lks_state_text(s, n->held_by)),
                                 S(lks_state_text(s, n->held_reason)));
    if (bars[b].asks == is_stopped && lks_state_frozen(s, m->node))
        return LKS_STR("frozen");
    if (bars[b].asks != is_untimely ||
        lks_plan_may_begin(s, l->d->book, l->c, m->node, l->d->now.wall, &next) ||
        next == UINT64_MAX)
        return lks_str_from(bars[b].why);
    return lks_deciding_text(l->d, "%s, which open at %s", bars[b].why, lks_time_text(next, at));
}

/* Of the first of its unit that has a reason: "n1: frozen". */
struct lks_str lks_unit_barred(struct lks_deciding *d, const struct lks_state_change *c,
                               const struct lks_unit *u, bool back)
{
    struct lks_downs downs = {0};
    const struct unit_look l = {.d = d, .c = c, .u = u, .downs = &downs, .back = back};
    for (uint32_t i = 0; i < u->count; i++) {
        const struct lks_member *m = &c->members[u->first + i];
        bool meant = is_meant(&l, m) && node_of(&l, m)->placed;
        struct lks_str why = meant ? why_not(&l, m) : LKS_STR("");
        if (why.len > 0)
            return lks_deciding_text(d, "%" LKS_STR_FMT ": %" LKS_STR_FMT,
                                     S(lks_state_name(d->state, m->node)), S(why));
    }
    return LKS_STR("");
}

/* Why a unit that is meant did not begin, by the first of it that says so. */
static struct lks_str why_waits(const struct unit_look *l)
{
    struct lks_str barred = lks_unit_barred(l->d, l->c, l->u, l->back);
    if (barred.len > 0)
        return lks_deciding_text(l->d, LKS_WAVE_WAITS "%" LKS_STR_FMT, S(barred));
    const char *crowds = lks_unit_crowds(l->d, l->c, l->u, 0, NULL);
    return lks_deciding_text(l->d, LKS_WAVE_WAITS "%s",
                             crowds != NULL ? crowds : "for others of its wave");
}

/* A wave of which nobody is under way says what for it waits; `waits`: the first that does. */
static void tell_waiting(struct unit_look *l, uint32_t wave, const struct lks_unit *waits)
{
    struct lks_str now = lks_state_text(l->d->state, l->c->waves[wave].text), text = LKS_STR("");
    if (waits == NULL && !lks_str_starts(now, LKS_WAVE_WAITS))
        return;
    if (waits != NULL) {
        l->u = waits;
        text = why_waits(l);
    }
    if (!lks_str_eq(text, now))
        move_wave(l->d, l->c, wave, LKS_WAVE_BEGUN, 0, text);
}

/* Units of the wave that may begin do, as many as it is wide, and as there is room in a decision.
 * How many of those that were looked at are only away. */
static uint32_t begin_units(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    struct lks_downs downs = {0};
    struct unit_look l = {.d = d, .c = c, .downs = &downs};
    const struct lks_unit *waits = NULL;
    uint32_t busy = w->busy, width = lks_ramp_room(c, wave);
    uint32_t seen = 0, absent = 0, shown = 0, meant = 0, barred = 0, begun = 0;
    for (uint32_t u = w->next != 0 ? w->next : w->first_unit;
         u != 0 && busy < width && seen < UNITS_SLICE && barred < BARRED_MAX &&
         lks_deciding_room(d);
         u = l.u->next, seen++) {
        l.u = &c->units[u - 1];
        if (!has_meant(&l))
            continue;
        enum bar bar = bar_beside(&l, begun);
        meant++;
        barred = bar == BAR_WAITS ? barred + 1 : 0;
        absent += bar == BAR_ABSENT;
        waits = waits == NULL && (bar == BAR_WAITS || bar == BAR_ABSENT) ? l.u : waits;
        shown += bar == BAR_WAITS && waits_for_proof(&l);
        if (bar == BAR_OTHER)
            skip_unit(&l);
        if (bar == BAR_NONE) {
            begin_unit(&l);
            busy++;
            begun += l.u->count;
        }
    }
    tell_waiting(&l, wave, busy == 0 ? waits : NULL);
    return busy == 0 && absent + shown == meant ? absent : 0;
}

/* Nobody else of the wave is left, and they were waited for. */
static void skip_units(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    struct lks_downs downs = {0};
    struct unit_look l = {.d = d, .c = c, .downs = &downs};
    for (uint32_t u = w->next != 0 ? w->next : w->first_unit; u != 0 && lks_deciding_room(d);
         u = l.u->next) {
        l.u = &c->units[u - 1];
        if (has_meant(&l) && unit_bar(&l) == BAR_ABSENT)
            skip_unit(&l);
    }
}

/* Waves ------------------------------------------------------------------------------------- */

/* How many of a wave, or of a whole change, are under way. */
static uint32_t moving(const uint32_t members[LKS_MEMBER_STATE_COUNT])
{
    uint32_t count = 0;
    for (uint32_t i = LKS_MEMBER_WAITING; i <= (uint32_t)LKS_MEMBER_READING; i++)
        count += members[i];
    return count;
}

/* Whether this one is to show the way back for the other. */
static bool shows_for(const struct lks_state *s, const struct lks_member *m,
                      const struct lks_member *of)
{
    const struct lks_node *a = &s->nodes[m->node], *b = &s->nodes[of->node];
    return m->proves && m->from == of->from && a->class == b->class && a->asset == b->asset;
}

/* Whether somebody of this class, from this stack, is on the way to show that there is one back. */
static bool is_being_shown(const struct lks_state *s, const struct lks_state_change *c,
                           const struct lks_member *of, uint32_t wave)
{
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        if (!lks_member_over(m) && c->units[m->unit].wave <= wave && shows_for(s, m, of))
            return true;
    }
    return false;
}

/* What a person can do where the way back was not shown: whoever was left alone is not tried again.
 */
static struct lks_str way_out(struct lks_deciding *d, const struct lks_state_change *c,
                              const struct lks_member *of)
{
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        if (shows_for(d->state, m, of) && lks_member_over(m) && m->state != LKS_MEMBER_SKIPPED)
            return lks_deciding_text(
                d, "resume it and try %" LKS_STR_FMT " again, or abort it: what is done stays",
                S(lks_state_name(d->state, m->node)));
    }
    return LKS_STR("who was to show it was left alone: abort it, what is done stays, and propose "
                   "another one");
}

/* Nobody is left who could show the way back on the hardware of the one that waits for it: promise
 * 5 keeps it from ever beginning, and a person has to know. */
static const struct lks_member *never_shown(struct lks_deciding *d,
                                            const struct lks_state_change *c, uint32_t wave)
{
    struct unit_look l = {.d = d, .c = c};
    uint32_t seen = 0;
    const struct lks_wave *w = &c->waves[wave];
    if (w->busy > 0 || w->members[LKS_MEMBER_PENDING] == 0)
        return NULL;
    for (uint32_t u = w->next != 0 ? w->next : w->first_unit; u != 0 && seen < UNITS_SLICE;
         u = l.u->next, seen++) {
        l.u = &c->units[u - 1];
        for (uint32_t i = 0; i < l.u->count; i++) {
            const struct lks_member *m = &c->members[l.u->first + i];
            if (m->state == LKS_MEMBER_PENDING && node_of(&l, m)->placed && is_unproven(&l, m))
                return is_being_shown(d->state, c, m, wave) ? NULL : m;
        }
    }
    return NULL;
}

/* What keeps a wave from ever going on by itself; an empty text: nothing. */
static struct lks_str stuck_text(struct lks_deciding *d, const struct lks_state_change *c,
                                 uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    char left[LKS_COUNT_TEXT_SIZE];
    if (w->members[LKS_MEMBER_PENDING] > 0 && w->busy == 0 && lks_change_late(c, d->now.wall))
        return lks_deciding_text(d, "its time is over, and " LKS_CHANGE_LATE_TEXT,
                                 lks_count_text(c->states[LKS_MEMBER_PENDING], "node", left));
    bool just = c->moved > c->started && d->now.wall < c->moved + TRY_AGAIN_MAX;
    const struct lks_member *m = just ? NULL : never_shown(d, c, wave);
    if (m == NULL)
        return LKS_STR("");
    const struct lks_node *n = &d->state->nodes[m->node];
    return lks_deciding_text(d,
                             "nobody showed the way back on %" LKS_STR_FMT ": %" LKS_STR_FMT
                             " does not begin before somebody did; %" LKS_STR_FMT,
                             S(lks_state_text(d->state, n->asset != 0 ? n->asset : n->class)),
                             S(lks_state_name(d->state, m->node)), S(way_out(d, c, m)));
}

static void run_begun(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    struct lks_gate_said said = lks_gate_judge(d, c, wave);
    if (said.verdict == LKS_GATE_HALT) {
        halt(d, c, wave, said.text);
        return;
    }
    struct lks_str held = lks_ramp_grow(d, c, wave);
    if (held.len > 0) {
        stop(d, c, wave, LKS_WAVE_HALTED, held);
        return;
    }
    if (w->members[LKS_MEMBER_PENDING] == 0 && moving(w->members) == 0) {
        lks_ms until = w->soak < UINT64_MAX - d->now.wall ? d->now.wall + w->soak : UINT64_MAX;
        move_wave(d, c, wave, LKS_WAVE_SOAKS, until, LKS_STR("all are over"));
        return;
    }
    struct lks_str stuck = stuck_text(d, c, wave);
    if (stuck.len > 0)
        stop(d, c, wave, LKS_WAVE_HALTED, stuck);
    else if (w->members[LKS_MEMBER_PENDING] > 0 && is_its_time(d, c) &&
             begin_units(d, c, wave) > 0 && d->now.wall >= w->since + ABSENT_MAX)
        skip_units(d, c, wave);
}

static void run_soaking(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    struct lks_gate_said said = lks_gate_judge(d, c, wave);
    if (w->members[LKS_MEMBER_PENDING] + moving(w->members) > 0) {
        /* One joined, or is tried again. */
        move_wave(d, c, wave, LKS_WAVE_BEGUN, 0, LKS_STR("not all are over"));
        return;
    }
    switch (said.verdict) {
    case LKS_GATE_PASS:
        move_wave(d, c, wave, LKS_WAVE_PASSED, 0,
                  lks_deciding_text(d, "%u done", w->members[LKS_MEMBER_DONE]));
        break;
    case LKS_GATE_EXTEND:
    case LKS_GATE_COUNT:
        break;
    case LKS_GATE_HOLD:
        stop(d, c, wave, LKS_WAVE_HELD, said.text);
        break;
    case LKS_GATE_HALT:
        halt(d, c, wave, said.text);
        break;
    }
}

/* The end ----------------------------------------------------------------------------------- */

static uint32_t kept_out(const struct lks_state_change *c)
{
    return c->states[LKS_MEMBER_FENCED] + c->states[LKS_MEMBER_HANDS] +
           c->states[LKS_MEMBER_UNKNOWN];
}

static void complete(struct lks_deciding *d, const struct lks_state_change *c)
{
    if (lks_campaign_absorb(d, c))
        return;
    uint32_t kept = kept_out(c);
    /* Where nobody arrived it is not what was asked for. */
    bool none = c->states[LKS_MEMBER_DONE] == 0 && c->states[LKS_MEMBER_REVERTED] + kept > 0;
    lks_campaign_pin(d, c);
    move(d, c, none ? LKS_CHANGE_ROLLED_BACK : LKS_CHANGE_DONE,
         lks_deciding_text(d, "%u done, %u back, %u left alone, %u kept out of use",
                           c->states[LKS_MEMBER_DONE], c->states[LKS_MEMBER_REVERTED],
                           c->states[LKS_MEMBER_SKIPPED], kept));
}

static void begin_wave(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    char at[LKS_TIME_TEXT_SIZE];
    struct lks_str stuck = stuck_text(d, c, wave);
    if (stuck.len > 0)
        stop(d, c, wave, LKS_WAVE_HALTED, stuck);
    else if (is_its_time(d, c) && !lks_deciding_lacks(d, c, wave))
        move_wave(d, c, wave, LKS_WAVE_BEGUN, 0, LKS_STR(""));
    else if (c->waves[wave].text == 0)
        move_wave(d, c, wave, LKS_WAVE_PLANNED, 0,
                  lks_deciding_text(d, LKS_WAVE_WAITS "nobody begins before %s",
                                    lks_time_text(c->not_before, at)));
}

static void run(struct lks_deciding *d, const struct lks_state_change *c)
{
    uint32_t wave = 0;
    enum lks_queue queue = lks_campaign_queue(d, c);
    if (queue == LKS_QUEUE_BEGUN)
        return;
    while (wave < c->wave_count && c->waves[wave].state == LKS_WAVE_PASSED &&
           moving(c->waves[wave].members) == 0)
        wave++;
    if (wave == c->wave_count) {
        if (queue == LKS_QUEUE_EMPTY)
            complete(d, c);
        return;
    }
    switch (c->waves[wave].state) {
    case LKS_WAVE_PLANNED:
        begin_wave(d, c, wave);
        break;
    case LKS_WAVE_BEGUN:
        run_begun(d, c, wave);
        break;
    case LKS_WAVE_SOAKS:
        run_soaking(d, c, wave);
        break;
    case LKS_WAVE_HELD: /* whoever resumed it has decided */
        move_wave(d, c, wave, LKS_WAVE_PASSED, 0, LKS_STR("a person let it pass"));
        break;
    case LKS_WAVE_HALTED: /* it may have been so before it began: a resume is no approval */
        if (c->waves[wave].members[LKS_MEMBER_PENDING] == 0 || !lks_deciding_lacks(d, c, wave))
            move_wave(d, c, wave, LKS_WAVE_BEGUN, 0, LKS_STR("a person let it go on"));
        break;
    case LKS_WAVE_PASSED: /* a person tried one of it again */
        move_wave(d, c, wave, LKS_WAVE_BEGUN, 0, LKS_STR("not all are over"));
        break;
    case LKS_WAVE_STATE_COUNT:
        break;
    }
}

/* Back -------------------------------------------------------------------------------------- */

/* A unit of which all that was done can be undone, with nobody of its domain left behind, and not
 * beside a side that is kept. */
static bool can_go_back(const struct unit_look *l)
{
    if (lks_unit_left(l->d->state, l->c, l->u) != LKS_NO_NODE)
        return false;
    for (uint32_t i = 0; i < l->u->count; i++) {
        const struct lks_member *m = &l->c->members[l->u->first + i];
        const struct lks_recipe *r = &l->c->recipes[m->recipe];
        const struct lks_node *n = node_of(l, m);
        bool ours = !is_taken(l, m) && (l->c->stack == 0 || n->pin == l->c->stack);
        if (m->state == LKS_MEMBER_DONE && n->placed && (!ours || is_pair_kept(l, m)))
            return false; /* another change has it, or brought it elsewhere since */
        for (uint32_t step = 0; step < r->count && m->state == LKS_MEMBER_DONE; step++) {
            if (lks_step_one_way(&r->steps[step]))
                return false;
        }
    }
    return true;
}

/* Units of the wave go back, as many at a time as it is wide; false: none is left. */
static bool begin_wave_back(struct lks_deciding *d, const struct lks_state_change *c, uint32_t wave)
{
    const struct lks_wave *w = &c->waves[wave];
    struct lks_downs downs = {0};
    struct unit_look l = {.d = d, .c = c, .downs = &downs, .back = true};
    uint32_t busy = w->busy, width = w->width > 0 ? w->width : 1;
    uint32_t begun = 0;
    bool left = moving(w->members) > 0;
    if (w->members[LKS_MEMBER_DONE] == 0)
        return left;
    for (uint32_t u = w->first_unit; u != 0 && busy < width && lks_deciding_room(d);
         u = l.u->next) {
        l.u = &c->units[u - 1];
        if (!has_meant(&l) || !can_go_back(&l))
            continue;
        left = true;
        enum bar bar = bar_beside(&l, begun);
        if (bar == BAR_OTHER) {
            skip_unit(&l);
        } else if (bar == BAR_NONE || bar == BAR_ABSENT) {
            l.spared = bar == BAR_NONE;
            begin_unit(&l);
            busy++;
            begun += l.u->count;
        }
    }
    return left || busy >= width;
}

/* The last wave first. */
static void roll_back(struct lks_deciding *d, const struct lks_state_change *c)
{
    for (uint32_t w = c->wave_count; w-- > 0;) {
        if (begin_wave_back(d, c, w))
            return;
    }
    struct lks_str stays = lks_change_stays(d, c);
    struct lks_str text = lks_deciding_text(d, "%u back, %u could not go back%" LKS_STR_FMT,
                                            c->states[LKS_MEMBER_REVERTED],
                                            c->states[LKS_MEMBER_DONE] + kept_out(c), S(stays));
    move(d, c, LKS_CHANGE_ROLLED_BACK, text);
    if (stays.len > 0)
        alarm(d, c, text);
}

static void abort_change(struct lks_deciding *d, const struct lks_state_change *c)
{
    if (moving(c->states) == 0)
        move(d, c, LKS_CHANGE_ABORTED,
             lks_deciding_text(
                 d, "%u stay as they are, %u went back, %u did not begin, %u kept out of use",
                 c->states[LKS_MEMBER_DONE], c->states[LKS_MEMBER_REVERTED],
                 c->states[LKS_MEMBER_PENDING], kept_out(c)));
}

/* The tick ---------------------------------------------------------------------------------- */

void lks_decide_campaign_tick(struct lks_deciding *d)
{
    const struct lks_state *s = d->state;
    if (s->change_count == 0 || !lks_deciding_room(d) ||
        !lks_deciding_due(d, &s->members_due, d->now.wall, SIZE_MAX, lks_member_tick))
        return;
    size_t before = d->out->count;
    uint64_t turn = d->now.mono / (s->limits.heartbeat > 0 ? s->limits.heartbeat : 1);
    for (uint32_t i = 0; i < s->change_count && lks_deciding_room(d); i++) {
        /* Each is the first in its turn. */
        const struct lks_state_change *c = &s->changes[(i + turn) % s->change_count];
        if (d->out->count > before) { /* what one of them begins, the next one has to see */
            d->out->more = true;
            return;
        }
        if (!is_to_look(d, c))
            continue;
        if (c->state == LKS_CHANGE_RUNNING)
            run(d, c);
        else if (c->state == LKS_CHANGE_ROLLING_BACK)
            roll_back(d, c);
        else if (c->state == LKS_CHANGE_ABORTING)
            abort_change(d, c);
    }
}
