#include "server/form/views_change.h"

#include "codec/notation/hostlist.h"
#include "core/fold/dump_plan.h"
#include "core/governance/govern.h"
#include "core/plan/drain.h"
#include "core/rows/pool.h"
#include "core/state/state.h"
#include "model/manifest/manifest.h"

#include <stdio.h>

enum { SKETCH_MEMORY_MAX = 1 << 30 };

/* Sizes ------------------------------------------------------------------------------------- */

static void count_member(const struct lks_state *s, const struct lks_book *book, uint32_t node,
                         uint64_t wave, uint64_t recipe, struct lks_change_sketch *k)
{
    lks_size_add(s, book, node, &k->whole);
    if (wave < k->wave_count) {
        lks_size_add(s, book, node, &k->by_wave[wave]);
        k->canaries += k->waves[wave].kind == LKS_WAVE_CANARY && s->nodes[node].asset == 0;
    }
    if (recipe < k->recipe_count)
        k->by_recipe[recipe]++;
}

static void count_units(struct lks_change_sketch *k, uint64_t wave, uint32_t units)
{
    k->whole.units += units;
    if (wave < k->wave_count)
        k->by_wave[wave].units += units;
}

/* From the state ---------------------------------------------------------------------------- */

static struct lks_rec_change asked_of(const struct lks_state *s, const struct lks_state_change *c)
{
    struct lks_rec_change asked = lks_dump_change(s, c);
    asked.quorum = c->quorum; /* of a change without a class, too */
    return asked;
}

/* Room for all of it. */
static enum lks_code make_room(struct lks_change_sketch *k, size_t steps, size_t waves,
                               size_t notes, size_t orders, struct lks_err *err)
{
    struct lks_arena *a = &k->memory;
    lks_arena_init(a, SKETCH_MEMORY_MAX);
    k->steps = lks_arena_array(a, steps + 1, sizeof(*k->steps));
    k->waves = lks_arena_array(a, waves + 1, sizeof(*k->waves));
    k->notes = lks_arena_array(a, notes + 1, sizeof(*k->notes));
    k->orders = lks_arena_array(a, orders + 1, sizeof(*k->orders));
    k->by_wave = lks_arena_array(a, waves + 1, sizeof(*k->by_wave));
    k->by_recipe = lks_arena_array(a, steps + 1, sizeof(*k->by_recipe));
    bool all = k->steps != NULL && k->waves != NULL && k->notes != NULL && k->orders != NULL &&
               k->by_wave != NULL && k->by_recipe != NULL;
    return all ? LKS_OK : lks_arena_fail(a, err);
}

static void list_plan(const struct lks_state *s, const struct lks_state_change *c,
                      struct lks_change_sketch *k)
{
    for (uint32_t r = 0; r < c->recipe_count; r++) {
        for (uint32_t i = 0; i < c->recipes[r].count; i++)
            k->steps[k->step_count++] = lks_dump_step(s, c, r, i);
    }
    for (uint32_t i = 0; i < c->note_count; i++)
        k->notes[k->note_count++] = (struct lks_rec_plan_note){
            .kind = c->notes[i].kind, .text = lks_state_text(s, c->notes[i].text)};
    for (uint32_t i = 0; i < c->order_count; i++)
        k->orders[k->order_count++] = (struct lks_rec_plan_order){
            .digest = lks_state_text(s, c->orders[i].digest),
            .text = lks_state_text(s, c->orders[i].text),
        };
    k->recipe_count = c->recipe_count;
}

enum lks_code lks_view_change_sketch_of(const struct lks_state *s, const struct lks_book *book,
                                        const struct lks_state_change *c, bool plan,
                                        struct lks_change_sketch *out, struct lks_err *err)
{
    size_t steps = 0;
    *out = (struct lks_change_sketch){.change = asked_of(s, c)};
    for (uint32_t i = 0; plan && i < c->recipe_count; i++)
        steps += c->recipes[i].count > 0 ? c->recipes[i].count : 1;
    if (make_room(out, steps, c->wave_count, plan ? c->note_count : 0, plan ? c->order_count : 0,
                  err) != LKS_OK)
        return err->code;
    for (uint32_t i = 0; i < c->wave_count; i++)
        out->waves[out->wave_count++] = lks_dump_wave(s, c, i);
    if (plan)
        list_plan(s, c, out);
    for (uint32_t i = 0; i < c->unit_count; i++)
        count_units(out, c->units[i].wave, 1);
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        count_member(s, book, m->node, c->units[m->unit].wave, m->recipe, out);
    }
    return LKS_OK;
}

/* From a decision --------------------------------------------------------------------------- */

/* Who is in a part. Parts of one domain stand next to each other, and are one unit. */
static enum lks_code count_part(const struct lks_state *s, const struct lks_book *book,
                                const struct lks_rec_plan_part *part, struct lks_str *domain,
                                struct lks_change_sketch *k, struct lks_err *err)
{
    struct lks_hostlist hosts = {0};
    struct lks_arena scratch;
    lks_arena_init(&scratch, SKETCH_MEMORY_MAX);
    enum lks_code code = lks_hostlist_parse(part->hosts, &scratch, &hosts, err);
    for (size_t i = 0; code == LKS_OK && i < hosts.count; i++) {
        uint32_t node = lks_state_node(s, hosts.names[i]);
        if (node != LKS_NO_NODE)
            count_member(s, book, node, part->wave, part->recipe, k);
    }
    if (part->domain.len == 0)
        count_units(k, part->wave, (uint32_t)hosts.count);
    else if (!lks_str_eq(part->domain, *domain))
        count_units(k, part->wave, 1);
    *domain = part->domain;
    lks_arena_fini(&scratch);
    return code;
}

static void take(const struct lks_record *r, struct lks_change_sketch *k)
{
    if (r->kind == LKS_RECORD_PLAN_PART)
        k->parts[k->part_count++] = r->plan_part;
    if (r->kind == LKS_RECORD_PLAN_METRIC)
        k->metrics[k->metric_count++] = r->plan_metric;
    if (r->kind == LKS_RECORD_PLAN_GATE)
        k->gates[k->gate_count++] = r->plan_gate;
    if (r->kind == LKS_RECORD_CHANGE)
        k->change = r->change;
    if (r->kind == LKS_RECORD_PLAN_WAVE)
        k->waves[k->wave_count++] = r->plan_wave;
    if (r->kind == LKS_RECORD_PLAN_NOTE)
        k->notes[k->note_count++] = r->plan_note;
    if (r->kind == LKS_RECORD_PLAN_ORDER)
        k->orders[k->order_count++] = r->plan_order;
    if (r->kind != LKS_RECORD_PLAN_STEP)
        return;
    if (k->step_count == 0 || k->steps[k->step_count - 1].recipe != r->plan_step.recipe)
        k->recipe_count++;
    k->steps[k->step_count++] = r->plan_step;
}

enum lks_code lks_view_change_sketch_tried(const struct lks_state *s, const struct lks_book *book,
                                           const struct lks_decision *d,
                                           struct lks_change_sketch *out, struct lks_err *err)
{
    struct lks_str domain = {0};
    *out = (struct lks_change_sketch){0};
    if (make_room(out, d->count, d->count, d->count, d->count, err) != LKS_OK)
        return err->code;
    out->parts = lks_arena_array(&out->memory, d->count + 1, sizeof(*out->parts));
    out->metrics = lks_arena_array(&out->memory, d->count + 1, sizeof(*out->metrics));
    out->gates = lks_arena_array(&out->memory, d->count + 1, sizeof(*out->gates));
    if (out->parts == NULL || out->metrics == NULL || out->gates == NULL)
        return lks_arena_fail(&out->memory, err);
    for (size_t i = 0; i < d->count; i++)
        take(&d->records[i], out);
    for (size_t i = 0; i < out->part_count; i++) {
        if (count_part(s, book, &out->parts[i], &domain, out, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

void lks_view_change_sketch_fini(struct lks_change_sketch *k)
{
    lks_arena_fini(&k->memory);
    *k = (struct lks_change_sketch){0};
}

/* Plans ------------------------------------------------------------------------------------- */

void lks_view_change_wish(struct lks_json_writer *w, const struct lks_change_sketch *k)
{
    const struct lks_rec_change *c = &k->change;
    lks_json_cstr(w, "kind", lks_change_kind_words[c->kind]);
    lks_view_text(w, "stack", c->stack);
    lks_view_text(w, "name", c->name);
    lks_view_text(w, "hosts", c->hosts);
    lks_json_int(w, "failures_max", (int64_t)c->failures_max);
    lks_json_bool(w, "rolls_back", c->rolls_back);
    lks_json_bool(w, "one_way", c->one_way);
    lks_view_time(w, "not_before", c->not_before);
    lks_view_time(w, "not_after", c->not_after);
    lks_view_text(w, "windows", c->windows);
    lks_view_text(w, "class", c->class);
    lks_view_text(w, "advisory", c->advisory);
    lks_json_int(w, "quorum", (int64_t)c->quorum);
    lks_view_time(w, "expires", c->expires);
    lks_json_bool(w, "needs_standby", c->standby);
}

void lks_view_change_size(struct lks_json_writer *w, const struct lks_change_sketch *k)
{
    lks_json_int(w, "nodes", k->whole.nodes);
    lks_json_int(w, "gpus", k->whole.gpus);
    lks_json_int(w, "assets", k->whole.assets);
    lks_json_int(w, "units", k->whole.units);
    lks_json_int(w, "canaries", k->canaries);
}

static void put_counts(struct lks_json_writer *w, const uint32_t counts[LKS_MEMBER_STATE_COUNT])
{
    static const char *const keys[LKS_MEMBER_STATE_COUNT] = {
        "pending",  "waiting", "asked",       "reading", "done",
        "reverted", "fenced",  "needs_hands", "unknown", "skipped"};
    lks_json_begin(w, "members", '{');
    for (size_t i = 0; i < LKS_MEMBER_STATE_COUNT; i++)
        lks_json_int(w, keys[i], counts[i]);
    lks_json_end(w, '}');
}

static void put_wave_state(struct lks_json_writer *w, const struct lks_state *s,
                           const struct lks_wave *wave)
{
    lks_json_cstr(w, "state", lks_wave_state_words[wave->state]);
    lks_view_time(w, "since", wave->since);
    lks_view_time(w, "until", wave->until);
    lks_view_text(w, "text", lks_state_text(s, wave->text));
    lks_json_int(w, "busy", wave->busy);
    lks_json_int(w, "failed", wave->failed);
    put_counts(w, wave->members);
}

void lks_view_change_waves(struct lks_json_writer *w, const struct lks_state *s,
                           const struct lks_change_sketch *k, const struct lks_state_change *c)
{
    lks_json_begin(w, "waves", '[');
    for (size_t i = 0; i < k->wave_count; i++) {
        const struct lks_rec_plan_wave *wave = &k->waves[i];
        lks_json_begin(w, NULL, '{');
        lks_json_int(w, "wave", (int64_t)wave->index);
        lks_json_cstr(w, "kind", lks_wave_kind_words[wave->kind]);
        lks_view_text(w, "pool", wave->pool);
        lks_json_int(w, "units", k->by_wave[i].units);
        lks_json_int(w, "nodes", k->by_wave[i].nodes);
        lks_json_int(w, "assets", k->by_wave[i].assets);
        lks_json_int(w, "width", (int64_t)wave->width);
        lks_view_text(w, "width_text", wave->width_text);
        lks_json_int(w, "soak_ms", (int64_t)wave->soak);
        lks_json_int(w, "failures_max", (int64_t)wave->failures_max);
        lks_view_text(w, "controls", wave->controls);
        if (c != NULL) {
            put_wave_state(w, s, &c->waves[i]);
            lks_view_change_gate(w, s, c, (uint32_t)i);
        }
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

static bool is_update(uint64_t kind)
{
    return kind == LKS_DO_STAGE || kind == LKS_DO_FLASH || kind == LKS_DO_ACTIVATE;
}

static void put_step(struct lks_json_writer *w, const struct lks_rec_plan_step *step)
{
    lks_json_begin(w, NULL, '{');
    lks_json_cstr(w, "kind", lks_step_kind_words[step->kind]);
    lks_json_int(w, "rank", (int64_t)step->rank);
    if (step->layer > 0)
        lks_json_int(w, "layer", (int64_t)step->layer);
    lks_view_text(w, "component", step->component);
    lks_view_text(w, "version", step->version);
    lks_view_text(w, "before", step->before);
    lks_view_text(w, "executor", step->executor);
    lks_view_text(w, "order", step->order);
    lks_view_text(w, "order_back", step->order_back);
    lks_view_text(w, "bundle", step->bundle);
    lks_view_text(w, "image", step->image);
    lks_view_text(w, "bundle_back", step->bundle_back);
    lks_view_text(w, "image_back", step->image_back);
    if (is_update(step->kind) && !step->one_way)
        lks_json_cstr(w, "revert", lks_bmc_act_words[step->revert]);
    lks_json_bool(w, "one_way", step->one_way);
    lks_view_text(w, "missing", step->missing);
    bool leaves = step->kind == LKS_DO_LEAVE;
    lks_json_int(w, "limit_ms",
                 (int64_t)(leaves ? lks_drain_longest(step->limit, step->retries) : step->limit));
    lks_json_int(w, "retries", (int64_t)step->retries);
    if (leaves)
        lks_json_cstr(w, "jobs", lks_drain_jobs_words[step->jobs]);
    if (step->jobs == LKS_DRAIN_JOBS_REQUEUE && step->signal.len > 0) {
        lks_view_text(w, "signal", step->signal);
        lks_json_int(w, "grace_ms", (int64_t)step->grace);
    }
    lks_json_end(w, '}');
}

static void put_recipes(struct lks_json_writer *w, const struct lks_change_sketch *k)
{
    lks_json_begin(w, "recipes", '[');
    for (size_t i = 0; i < k->step_count;) {
        uint64_t recipe = k->steps[i].recipe;
        lks_json_begin(w, NULL, '{');
        lks_json_int(w, "recipe", (int64_t)recipe);
        lks_json_int(w, "members", recipe < k->recipe_count ? k->by_recipe[recipe] : 0);
        lks_json_begin(w, "steps", '[');
        for (; i < k->step_count && k->steps[i].recipe == recipe; i++)
            put_step(w, &k->steps[i]);
        lks_json_end(w, ']');
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

void lks_view_change_plan(struct lks_json_writer *w, const struct lks_change_sketch *k)
{
    put_recipes(w, k);
    lks_json_begin(w, "notes", '[');
    for (size_t i = 0; i < k->note_count; i++) {
        lks_json_begin(w, NULL, '{');
        lks_json_cstr(w, "kind", lks_plan_note_words[k->notes[i].kind]);
        lks_json_text(w, "text", k->notes[i].text);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
    lks_json_begin(w, "orders", '[');
    for (size_t i = 0; i < k->order_count; i++) {
        lks_json_begin(w, NULL, '{');
        lks_json_text(w, "digest", k->orders[i].digest);
        lks_json_int(w, "size", (int64_t)k->orders[i].text.len);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

/* What was done once, if it was: when (`key`), by whom (KEY_by) and why (KEY_reason). */
static void view_deed(struct lks_json_writer *w, const struct lks_state *s, const char *key,
                      lks_ms at, lks_text by, lks_text reason)
{
    char name[48];
    lks_view_time(w, key, at);
    snprintf(name, sizeof(name), "%s_by", key);
    lks_view_text(w, name, lks_state_text(s, by));
    snprintf(name, sizeof(name), "%s_reason", key);
    lks_view_text(w, name, lks_state_text(s, reason));
}

/* How it stands ----------------------------------------------------------------------------- */

void lks_view_change_stands(struct lks_json_writer *w, const struct lks_state *s,
                            const struct lks_state_change *c)
{
    lks_json_cstr(w, "state", lks_change_state_words[c->state]);
    lks_view_by(w, s, c->by, c->reason);
    lks_view_time(w, "proposed", c->proposed);
    lks_view_time(w, "started", c->started);
    lks_view_text(w, "started_by", lks_state_text(s, c->started_by));
    view_deed(w, s, "moved", c->moved, c->moved_by, c->moved_reason);
    lks_view_text(w, "standby", lks_state_text(s, c->standby));
    lks_json_int(w, "total", c->member_count);
    lks_json_int(w, "failed", c->failed);
    put_counts(w, c->states);
}

/* At the time of the last record, so that the answer follows from records alone. */
void lks_view_change_approvals(struct lks_json_writer *w, const struct lks_state *s,
                               const struct lks_state_change *c)
{
    struct lks_tally t = lks_govern_tally(s, c, s->clock, NULL, LKS_STR(""));
    lks_json_begin(w, "approvals", '{');
    lks_json_int(w, "needed", t.needed);
    lks_json_int(w, "given", t.given);
    lks_view_text(w, "pool", t.where.pool);
    lks_view_text(w, "site", t.where.site);
    lks_json_end(w, '}');
}

void lks_view_change_glass(struct lks_json_writer *w, const struct lks_state *s,
                           const struct lks_state_change *c)
{
    const struct lks_glass *g = &c->glass;
    lks_json_begin(w, "waived", '[');
    for (uint32_t i = 0; i < c->waiver_count; i++) {
        lks_json_begin(w, NULL, '{');
        lks_json_text(w, "gate", lks_state_text(s, c->waivers[i].gate));
        lks_view_time(w, "until", c->waivers[i].until);
        lks_view_text(w, "pool", lks_state_text(s, c->waivers[i].pool));
        lks_view_by(w, s, c->waivers[i].by, c->waivers[i].reason);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
    if (g->at == 0)
        return;
    lks_json_begin(w, "break_glass", '{');
    lks_view_time(w, "at", g->at);
    lks_view_by(w, s, g->by, g->reason);
    lks_view_time(w, "review_until", g->until);
    view_deed(w, s, "reviewed", g->reviewed, g->reviewed_by, g->reviewed_reason);
    lks_json_end(w, '}');
}

void lks_view_change_votes(struct lks_json_writer *w, const struct lks_state *s,
                           const struct lks_state_change *c)
{
    lks_json_begin(w, "votes", '[');
    for (uint32_t i = 0; i < c->vote_count; i++) {
        lks_json_begin(w, NULL, '{');
        lks_json_bool(w, "yes", c->votes[i].yes);
        lks_view_by(w, s, c->votes[i].by, c->votes[i].reason);
        lks_view_time(w, "at", c->votes[i].at);
        if (c->approval_age != 0)
            lks_view_time(w, "ends", c->votes[i].at + c->approval_age);
        lks_view_text(w, "ticket", lks_state_text(s, c->votes[i].ticket));
        lks_view_text(w, "who", lks_state_text(s, c->votes[i].who));
        lks_view_text(w, "credential", lks_state_text(s, c->votes[i].credential));
        lks_view_people(w, "minters", lks_state_text(s, c->votes[i].minters));
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

/* From its first step to its end, of members that are over: what a rehearsal counts, too. */
static uint64_t actual_gpu_hours(const struct lks_state *s, const struct lks_book *book,
                                 const struct lks_state_change *c)
{
    uint64_t gpu_ms = 0;
    for (uint32_t i = 0; i < c->member_count; i++) {
        const struct lks_member *m = &c->members[i];
        if (lks_member_over(m) && m->begun != 0 && m->since > m->begun)
            gpu_ms += (m->since - m->begun) * lks_size_gpus(s, book, m->node);
    }
    return gpu_ms / (3600 * LKS_SECOND);
}

void lks_view_change_forecast(struct lks_json_writer *w, const struct lks_state *s,
                              const struct lks_book *book, const struct lks_state_change *c)
{
    const struct lks_change_forecast *f = &c->forecast;
    static const char *const took[] = {"took_low_ms", "took_middle_ms", "took_high_ms"};
    static const char *const lost[] = {"gpu_hours_low", "gpu_hours_middle", "gpu_hours_high"};
    if (f->runs == 0)
        return;
    lks_json_begin(w, "forecast", '{');
    lks_json_int(w, "runs", (int64_t)f->runs);
    for (size_t i = 0; i < LKS_COUNT(took); i++) {
        lks_json_int(w, took[i], (int64_t)f->took[i]);
        lks_json_int(w, lost[i], (int64_t)f->gpu_hours[i]);
    }
    lks_json_int(w, "kept_high", (int64_t)f->kept);
    lks_json_int(w, "reached_high", (int64_t)f->reached);
    lks_view_text(w, "by", lks_state_text(s, f->by));
    lks_view_time(w, "at", f->at);
    if (lks_change_over(c) && c->started != 0 && c->moved > c->started)
        lks_json_int(w, "actual_ms", (int64_t)(c->moved - c->started));
    lks_json_int(w, "actual_gpu_hours", (int64_t)actual_gpu_hours(s, book, c));
    lks_json_int(w, "actual_kept",
                 c->states[LKS_MEMBER_FENCED] + c->states[LKS_MEMBER_HANDS] +
                     c->states[LKS_MEMBER_UNKNOWN]);
    lks_json_end(w, '}');
}

void lks_view_change_row(struct lks_json_writer *w, const struct lks_state *s,
                         const struct lks_state_change *c)
{
    struct lks_change_sketch k = {.change = asked_of(s, c)};
    uint32_t passed = 0;
    for (uint32_t i = 0; i < c->wave_count; i++)
        passed += c->waves[i].state == LKS_WAVE_PASSED;
    lks_json_int(w, "id", (int64_t)c->id);
    lks_view_change_wish(w, &k);
    lks_view_change_stands(w, s, c);
    lks_json_int(w, "waves", c->wave_count);
    lks_json_int(w, "passed", passed);
}

static void put_step_of(struct lks_json_writer *w, const struct lks_state *s,
                        const struct lks_state_change *c, const struct lks_member *m)
{
    const struct lks_step *step = lks_member_step(c, m);
    lks_json_int(w, "step", m->step);
    lks_json_int(w, "steps", c->recipes[m->recipe].count);
    if (step != NULL && !lks_member_over(m) && m->state != LKS_MEMBER_PENDING) {
        lks_json_cstr(w, "doing", lks_step_kind_words[step->kind]);
        lks_view_text(w, "component", lks_state_text(s, step->component));
    }
    lks_json_bool(w, "back", m->back);
    lks_json_int(w, "pass", m->pass);
    lks_json_int(w, "attempt", m->attempt);
}

void lks_view_change_member(struct lks_json_writer *w, const struct lks_state *s,
                            const struct lks_state_change *c, uint32_t place, struct lks_str waits)
{
    const struct lks_member *m = &c->members[place];
    const struct lks_unit *unit = &c->units[m->unit];
    const struct lks_node *n = &s->nodes[m->node];
    lks_json_text(w, "node", lks_state_name(s, m->node));
    lks_view_text(w, "asset", lks_state_text(s, n->asset));
    if (n->pool < s->pool_count)
        lks_view_text(w, "pool", lks_state_text(s, s->pools[n->pool].name));
    lks_view_text(w, "domain", lks_state_text(s, unit->domain));
    lks_json_int(w, "wave", unit->wave);
    lks_json_int(w, "recipe", m->recipe);
    lks_view_text(w, "from", lks_state_text(s, m->from));
    lks_json_bool(w, "proves", m->proves);
    lks_json_cstr(w, "state", lks_member_state_words[m->state]);
    put_step_of(w, s, c, m);
    lks_view_time(w, "begun", m->begun);
    lks_view_time(w, "since", m->since);
    lks_view_time(w, "until", m->until);
    if (m->work != 0)
        lks_json_int(w, "work", (int64_t)m->work);
    if (m->failure != LKS_FAILURE_NONE)
        lks_json_cstr(w, "failure", lks_failure_words[m->failure]);
    lks_view_text(w, "text", m->text != 0 ? lks_state_text(s, m->text) : waits);
}
