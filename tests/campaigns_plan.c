/* The plan of such a change, as records. */
#include "core/plan/plan.h"
#include "tests/campaigns.h"

enum { RECIPE_SHELF = 1 };

static struct lks_rec_plan_step flash_step(const struct campaign_plan *p, bool shelf)
{
    bool image = shelf || !p->no_image_back;
    return (struct lks_rec_plan_step){
        .kind = p->stages && !shelf ? LKS_DO_ACTIVATE : LKS_DO_FLASH,
        .component = shelf ? LKS_STR("power-shelf") : LKS_STR("bmc"),
        .version = shelf ? LKS_STR("2.0") : LKS_STR("25.03.01"),
        .before = shelf ? LKS_STR("1.0") : LKS_STR("25.02.11"),
        .bundle = LKS_STR(CAMPAIGN_BUNDLE),
        .image = shelf ? LKS_STR(CAMPAIGN_SHELF_B) : LKS_STR(CAMPAIGN_IMAGE_B),
        .bundle_back = image ? LKS_STR(CAMPAIGN_BUNDLE) : LKS_STR(""),
        .image_back = shelf   ? LKS_STR(CAMPAIGN_SHELF_A)
                      : image ? LKS_STR(CAMPAIGN_IMAGE_A)
                              : LKS_STR(""),
        .revert = p->switches && !shelf ? LKS_BMC_SWITCH : LKS_BMC_UPDATE,
        .one_way = p->one_way && !shelf,
        .missing = lks_str_from(p->missing != NULL && !shelf ? p->missing : ""),
        .layer = 2,
        .rank = shelf && p->shelf_first ? 0 : 4,
    };
}

static void add_step(struct campaign *w, uint64_t recipe, uint64_t *index,
                     struct lks_rec_plan_step step)
{
    step.change = w->change;
    step.recipe = recipe;
    step.index = (*index)++;
    step.limit = step.limit > 0 ? step.limit : 10 * CAMPAIGN_MINUTE;
    step.retries = w->plan.retries;
    campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_STEP, .plan_step = step});
}

static void add_node_recipe(struct campaign *w)
{
    struct lks_rec_plan_step flash = flash_step(&w->plan, false), stage = flash;
    uint64_t at = 0;
    stage.kind = LKS_DO_STAGE;
    stage.layer = stage.rank = 0;
    if (w->plan.stages)
        add_step(w, 0, &at, stage);
    const struct lks_rec_plan_step steps[] = {
        {.kind = LKS_DO_LEAVE,
         .limit = CAMPAIGN_HOUR,
         .jobs = w->plan.requeues ? LKS_DRAIN_JOBS_REQUEUE : LKS_DRAIN_JOBS_WAIT,
         .signal = w->plan.requeues ? LKS_STR("USR1") : LKS_STR(""),
         .grace = w->plan.requeues ? 10 * CAMPAIGN_MINUTE : 0},
        {.kind = LKS_DO_APPLY,
         .rank = 1,
         .layer = 1,
         .component = LKS_STR("driver fabric-manager"),
         .executor = LKS_STR("apt"),
         .order = LKS_STR(CAMPAIGN_ORDER_B),
         .order_back = LKS_STR(CAMPAIGN_ORDER_A),
         .artifacts = LKS_STR(CAMPAIGN_PACKAGE_B),
         .artifacts_back = LKS_STR(CAMPAIGN_PACKAGE_A)},
        {.kind = LKS_DO_REBOOT, .rank = 2, .executor = LKS_STR("reboot")},
        {.kind = LKS_DO_CHECK, .rank = 3, .layer = 1},
        flash,
        {.kind = LKS_DO_CHECK, .rank = 5, .layer = 2},
        {.kind = LKS_DO_ACCEPT, .rank = 6, .executor = LKS_STR("accept")},
        {.kind = LKS_DO_RETURN, .rank = 7},
    };
    for (size_t i = 0; i < LKS_COUNT(steps); i++)
        add_step(w, 0, &at, steps[i]);
}

static void add_shelf_recipe(struct campaign *w)
{
    lks_ms leaves = w->plan.shelf_leaves != 0 ? w->plan.shelf_leaves : CAMPAIGN_HOUR;
    const struct lks_rec_plan_step steps[] = {
        {.kind = LKS_DO_LEAVE, .limit = leaves},
        flash_step(&w->plan, true),
        {.kind = LKS_DO_CHECK, .rank = 5, .layer = 2},
        {.kind = LKS_DO_ACCEPT, .rank = 6},
        {.kind = LKS_DO_RETURN, .rank = 7},
    };
    uint64_t at = 0;
    for (size_t i = 0; i < LKS_COUNT(steps); i++)
        add_step(w, RECIPE_SHELF, &at, steps[i]);
}

/* Our own agent is changed while the node is in use. */
static void add_agent_recipe(struct campaign *w)
{
    const struct lks_rec_plan_step steps[] = {
        {.kind = LKS_DO_APPLY,
         .rank = 1,
         .layer = 1,
         .component = LKS_STR("platform.agent"),
         .executor = LKS_STR("apt"),
         .order = LKS_STR(CAMPAIGN_ORDER_B),
         .order_back = LKS_STR(CAMPAIGN_ORDER_A),
         .artifacts = LKS_STR(CAMPAIGN_PACKAGE_B),
         .artifacts_back = LKS_STR(CAMPAIGN_PACKAGE_A)},
        {.kind = LKS_DO_CHECK, .rank = 1, .layer = 1},
        {.kind = LKS_DO_RETURN, .rank = 7},
    };
    uint64_t at = 0;
    for (size_t i = 0; i < LKS_COUNT(steps); i++)
        add_step(w, 0, &at, steps[i]);
}

static void add_part(struct campaign *w, uint64_t wave, const struct campaign_node *n, bool domain)
{
    bool proves = w->plan.proves && (domain || n->asset || n == &w->nodes[0]);
    campaign_record(w, &(struct lks_record){
                           .kind = LKS_RECORD_PLAN_PART,
                           .plan_part = {
                               .change = w->change,
                               .wave = wave,
                               .recipe = n->asset ? RECIPE_SHELF : 0,
                               .domain = domain ? LKS_STR("rack1") : LKS_STR(""),
                               .from = w->plan.agent ? LKS_STR("1.0") : lks_str_from(w->stack_a),
                               .proves = proves,
                               .hosts = lks_str_from(n->name),
                           }});
}

/* Units in their order: the domain, or the shelves alone; then nodes. */
static void add_unit(struct campaign *w, uint64_t wave, unsigned *next)
{
    const struct campaign_plan *p = &w->plan;
    if (*next == 0 && p->domain > 0) {
        for (unsigned i = 0; i < w->count; i++) {
            if (w->nodes[i].asset || i < p->domain)
                add_part(w, wave, &w->nodes[i], true);
        }
        *next = p->domain;
        return;
    }
    while (*next < w->count && p->domain > 0 && w->nodes[*next].asset)
        ++*next;
    if (*next < w->count)
        add_part(w, wave, &w->nodes[(*next)++], false);
}

static void add_waves(struct campaign *w)
{
    const struct campaign_plan *p = &w->plan;
    unsigned next = 0;
    for (unsigned i = 0; i == 0 || (i < CAMPAIGN_WAVES_MAX && p->waves[i] > 0); i++) {
        const char *controls = i == 0 ? p->controls : p->ring_controls[i];
        const struct lks_rec_plan_wave wave = {
            .change = w->change,
            .index = i,
            .kind = i == 0 ? LKS_WAVE_CANARY : LKS_WAVE_RING,
            .pool = LKS_STR("train"),
            .width = p->width > 0 ? p->width : w->count,
            .soak = p->soak,
            .failures_max = p->failures_max,
            .controls = lks_str_from(controls != NULL ? controls : ""),
        };
        campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_WAVE, .plan_wave = wave});
        unsigned units = p->waves[i] > 0 ? p->waves[i] : w->count;
        for (unsigned u = 0; u < units && next < w->count; u++)
            add_unit(w, i, &next);
    }
}

/* Where the plan does not prove it, the way back was gone before. */
static void prove(struct campaign *w, const char *class)
{
    campaign_record(
        w, &(struct lks_record){.kind = LKS_RECORD_REVERT_PROVEN,
                                .revert_proven = {
                                    .class = lks_str_from(class),
                                    .from = lks_str_from(w->plan.agent ? "1.0" : w->stack_a),
                                    .to = lks_str_from(w->plan.agent ? "2.0" : w->stack_b),
                                    .took = CAMPAIGN_MINUTE,
                                    .node = LKS_STR("n0"),
                                }});
}

void campaign_propose(struct campaign *w, uint64_t id)
{
    const struct campaign_plan *p = &w->plan;
    w->change = id;
    if (!p->proves) {
        prove(w, "hgx-h200-8");
        prove(w, "power-shelf");
    }
    campaign_record(w,
                    &(struct lks_record){
                        .kind = LKS_RECORD_CHANGE,
                        .change = {
                            .id = id,
                            .hosts = lks_str_from(p->pool ? LKS_PLAN_POOL "train" : "n[1-64]"),
                            .kind = p->agent ? LKS_CHANGE_AGENT : LKS_CHANGE_STACK,
                            .stack = lks_str_from(p->agent ? "" : w->stack_b),
                            .name = lks_str_from(p->agent ? "2.0" : "silver"),
                            .failures_max = p->failures_all > 0 ? p->failures_all : p->failures_max,
                            .rolls_back = p->rolls_back,
                            .one_way = p->one_way,
                            .not_before = p->not_before,
                            .not_after = p->not_after,
                            .windows = lks_str_from(p->windows != NULL ? p->windows : ""),
                            .by = LKS_STR("kim"),
                            .reason = LKS_STR("newer"),
                        }});
    if (p->agent)
        add_agent_recipe(w);
    else
        add_node_recipe(w);
    add_shelf_recipe(w);
    add_waves(w);
    static const char *const orders[] = {CAMPAIGN_ORDER_B, CAMPAIGN_ORDER_A};
    for (size_t i = 0; i < LKS_COUNT(orders); i++)
        campaign_record(w, &(struct lks_record){.kind = LKS_RECORD_PLAN_ORDER,
                                                .plan_order = {.change = id,
                                                               .digest = lks_str_from(orders[i]),
                                                               .text = LKS_STR("{}")}});
}
