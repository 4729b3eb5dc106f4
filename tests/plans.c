#include "tests/plans.h"

#include "core/firmware/endpoint.h"
#include "core/rows/node.h"
#include "core/rows/registry.h"
#include "core/state/lookup.h"
#include "tests/facts.h"
#include "tests/test.h"

enum { TEXT_MAX = 64 << 20 };

void plans_begin(struct plans *p, const char *manifest)
{
    *p = (struct plans){0};
    lks_asked_init(&p->a);
    lks_buf_init(&p->text, TEXT_MAX);
    struct lks_event event = {.by = LKS_STR("kim"), .fleet = {.accept = true}};
    (void)lks_asked_fleet(&p->a, manifest, &event);
    if (p->a.decision.refused.code != LKS_OK)
        lks_assert_failed(p->a.decision.refused.msg, __FILE__, __LINE__);
    for (uint32_t i = 0; i < p->a.state.node_count; i++) {
        if (p->a.state.nodes[i].asset == 0)
            lks_asked_live(&p->a, lks_state_name(&p->a.state, i).ptr);
    }
    p->book = (struct lks_book){.facts = lks_test_facts(), .manifest = &p->a.manifest};
    p->set.list = p->list;
}

void plans_end(struct plans *p)
{
    lks_plan_fini(&p->plan);
    for (size_t i = 0; i < p->set.count; i++)
        lks_bundle_fini(&p->bundles[i]);
    lks_buf_fini(&p->text);
    lks_asked_fini(&p->a);
}

void plans_bundle(struct plans *p, const char *json)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf digests = LKS_BUF(TEXT_MAX);
    struct lks_bundle *b = &p->bundles[p->set.count];
    struct lks_err err = {0};
    if (lks_bundle_parse(lks_str_from(json), "bundle.json", lks_test_facts(), b, &err) != LKS_OK)
        lks_assert_failed(err.msg, __FILE__, __LINE__);
    p->list[p->set.count++] = b;
    lks_bundle_digests(b, &digests);
    struct lks_record bundle = {.kind = LKS_RECORD_BUNDLE,
                                .bundle = {.digest = lks_str_from(b->digest),
                                           .name = b->name,
                                           .version = b->version,
                                           .manifest = lks_str_from(b->digest),
                                           .signer = LKS_STR("site"),
                                           .key = LKS_STR("k"),
                                           .artifacts = lks_buf_view(&digests),
                                           .by = LKS_STR("kim")}};
    for (size_t i = 0; i < b->count; i++) {
        struct lks_record artifact = {.kind = LKS_RECORD_ARTIFACT,
                                      .artifact = {.digest = b->artifacts[i].digest,
                                                   .name = b->artifacts[i].name,
                                                   .size = b->artifacts[i].size,
                                                   .by = LKS_STR("kim")}};
        lks_asked_apply(&p->a, &artifact);
    }
    lks_asked_apply(&p->a, &bundle);
}

struct lks_str plans_stack(const struct plans *p, const char *name)
{
    const struct lks_state *s = &p->a.state;
    for (uint32_t i = 0; i < s->stack_count; i++) {
        if (lks_str_is(lks_state_text(s, s->stacks[i].name), name))
            return lks_state_text(s, s->stacks[i].digest);
    }
    return LKS_STR("");
}

bool plans_make(struct plans *p, const struct lks_plan_wish *wish)
{
    lks_plan_fini(&p->plan);
    p->err = (struct lks_err){0};
    p->code = lks_plan_make(&p->a.state, &p->book, &p->set, p->a.now.wall, wish, &p->plan, &p->err);
    return p->code == LKS_OK;
}

/* Telling ----------------------------------------------------------------------------------- */

static const char *const step_words[LKS_DO_COUNT] = {
    "stage", "leave", "apply", "flash", "activate", "reboot", "check", "accept", "return"};

static void tell_steps(struct plans *p)
{
    const struct lks_plan *plan = &p->plan;
    for (size_t i = 0; i < plan->step_count; i++) {
        const struct lks_rec_plan_step *s = &plan->steps[i];
        if (s->index == 0)
            lks_buf_addf(&p->text, "%srecipe %llu:", i > 0 ? "\n" : "",
                         (unsigned long long)s->recipe);
        lks_buf_addf(&p->text, " %s@%llu", step_words[s->kind], (unsigned long long)s->rank);
        if (s->kind == LKS_DO_APPLY)
            lks_buf_addf(&p->text, "(%" LKS_STR_FMT " %" LKS_STR_FMT ")", LKS_STR_ARG(s->executor),
                         LKS_STR_ARG(s->component));
        else if (s->version.len > 0)
            lks_buf_addf(&p->text, "(%" LKS_STR_FMT " %" LKS_STR_FMT ")", LKS_STR_ARG(s->component),
                         LKS_STR_ARG(s->version));
        lks_buf_addf(&p->text, s->missing.len > 0 ? "%s[no %.*s]" : "%s", s->one_way ? "!" : "",
                     LKS_STR_ARG(s->missing));
    }
    lks_buf_addf(&p->text, "%s", plan->step_count > 0 ? "\n" : "");
}

static void tell_waves(struct plans *p)
{
    static const char *const kinds[] = {"lab", "canary", "ring"};
    for (size_t i = 0; i < p->plan.wave_count; i++) {
        const struct lks_rec_plan_wave *w = &p->plan.waves[i];
        lks_buf_addf(&p->text, "wave %llu: %s of %" LKS_STR_FMT ", %llu at a time",
                     (unsigned long long)w->index, kinds[w->kind],
                     LKS_STR_ARG(w->pool.len > 0 ? w->pool : LKS_STR("several")),
                     (unsigned long long)w->width);
        lks_buf_addf(&p->text, w->controls.len > 0 ? ", beside %" LKS_STR_FMT "\n" : "%.*s\n",
                     LKS_STR_ARG(w->controls));
    }
}

static void tell_parts(struct plans *p)
{
    for (size_t i = 0; i < p->plan.part_count; i++) {
        const struct lks_rec_plan_part *part = &p->plan.parts[i];
        lks_buf_addf(&p->text, "part of wave %llu: %" LKS_STR_FMT " by recipe %llu%s%s%.*s\n",
                     (unsigned long long)part->wave, LKS_STR_ARG(part->hosts),
                     (unsigned long long)part->recipe, part->proves ? ", proves" : "",
                     part->domain.len > 0 ? ", domain " : "", LKS_STR_ARG(part->domain));
    }
}

struct lks_str plans_tell(struct plans *p, unsigned what)
{
    static const char *const notes[] = {"uncovered", "one way",  "external", "capacity",
                                        "warning",   "evidence", "left-out", "jobs"};
    lks_buf_truncate(&p->text, 0);
    if (p->code != LKS_OK) {
        lks_buf_addf(&p->text, "%s: %s\n", lks_err_code_info(p->code)->text, p->err.msg);
        return lks_buf_view(&p->text);
    }
    if ((what & PLANS_STEPS) != 0)
        tell_steps(p);
    if ((what & PLANS_WAVES) != 0)
        tell_waves(p);
    if ((what & PLANS_PARTS) != 0)
        tell_parts(p);
    for (size_t i = 0; (what & PLANS_NOTES) != 0 && i < p->plan.note_count; i++)
        lks_buf_addf(&p->text, "%s: %" LKS_STR_FMT "\n", notes[p->plan.notes[i].kind],
                     LKS_STR_ARG(p->plan.notes[i].text));
    return lks_buf_view(&p->text);
}

bool plans_waves(const struct plans *p, int64_t *wave_of, uint32_t *unit_of, uint32_t *units)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_str domain = LKS_STR("");
    bool good = true;
    lks_arena_init(&arena, TEXT_MAX);
    *units = 0;
    for (uint32_t i = 0; i < p->a.state.node_count; i++)
        wave_of[i] = -1;
    for (size_t i = 0; i < p->plan.part_count; i++) {
        const struct lks_rec_plan_part *part = &p->plan.parts[i];
        struct lks_hostlist hosts = {0};
        struct lks_err err = {0};
        good &= lks_hostlist_parse(part->hosts, &arena, &hosts, &err) == LKS_OK;
        bool same = part->domain.len > 0 && lks_str_eq(part->domain, domain);
        *units += part->domain.len > 0 && !same ? 1 : 0;
        domain = part->domain;
        for (size_t h = 0; h < hosts.count; h++) {
            uint32_t node = lks_state_node(&p->a.state, hosts.names[h]);
            good &= node != LKS_NO_NODE && wave_of[node] < 0;
            if (node == LKS_NO_NODE)
                return false;
            *units += part->domain.len == 0;
            wave_of[node] = (int64_t)part->wave;
            unit_of[node] = *units - 1;
        }
    }
    return good;
}
