#include "core/conform/conform.h"

#include "base/vec.h"
#include "core/compat/parts.h"
#include "core/conform/basis.h"
#include "core/conform/conform_judge.h"

/* A row for each pin a stack can have, with texts. */
#define CONFORM_BYTES_MAX ((size_t)64 << 20)

const char *lks_conform_verdict_name(enum lks_verdict verdict)
{
    static const char *const names[] = {
        [LKS_CONFORMS] = "conforms",
        [LKS_WITH_IMAGE] = "with image",
        [LKS_DRIFT] = "drift",
        [LKS_NOT_MEASURED] = "not measured",
    };
    LKS_ASSERT((size_t)verdict < LKS_COUNT(names));
    return names[verdict];
}

const char *lks_conform_cause_name(enum lks_cause cause)
{
    static const char *const names[LKS_CAUSE_COUNT] = {
        [LKS_CAUSE_NONE] = "",
        [LKS_CAUSE_OTHER_VERSION] = "other version",
        [LKS_CAUSE_OTHER_BUILD] = "different build",
        [LKS_CAUSE_HALF_UPGRADED] = "half upgraded",
        [LKS_CAUSE_COPIES] = "skew between copies",
        [LKS_CAUSE_PARTIAL] = "some devices",
        [LKS_CAUSE_SETTING] = "setting changed",
        [LKS_CAUSE_PENDING] = "pending",
        [LKS_CAUSE_MISSING] = "not there",
        [LKS_CAUSE_DEVICE_MISSING] = "device missing",
        [LKS_CAUSE_UNWANTED] = "should not be there",
        [LKS_CAUSE_UNMEASURED] = "unmeasured",
        [LKS_CAUSE_BANDS] = "bands disagree",
        [LKS_CAUSE_SCHEDULER] = "scheduler differs",
    };
    LKS_ASSERT((size_t)cause < LKS_CAUSE_COUNT);
    return names[cause];
}

void lks_conform_fini(struct lks_conformance *c)
{
    lks_arena_fini(&c->arena);
    *c = (struct lks_conformance){0};
}

static bool make_room(struct lks_conformance *c)
{
    if (LKS_VEC_RESERVE_IN(&c->arena, c->rows, c->room, c->count + 1, NULL) != LKS_OK)
        c->failed = LKS_E_LIMIT;
    return c->count < c->room;
}

struct lks_judgement *lks_conform_row(struct lks_judge *j, const struct lks_judgement *row)
{
    if (!make_room(j->out))
        return NULL;
    struct lks_judgement *added = &j->out->rows[j->out->count++];
    *added = *row;
    if (row->value.ptr == NULL)
        added->value = row->actual;
    /* Two bands that contradict each other are worse than a value that was not read. */
    if (row->verdict == LKS_NOT_MEASURED && lks_str_starts(row->actual, LKS_BASIS_DISAGREE)) {
        added->verdict = LKS_DRIFT;
        added->cause = LKS_CAUSE_BANDS;
    }
    j->out->drifted += added->verdict == LKS_DRIFT;
    j->out->unmeasured += added->verdict == LKS_NOT_MEASURED;
    return added;
}

/* An asset answers for the firmware that it has and that one version of holds for all of the domain
 * or site; whatever else the stack pins is of nodes. */
static void judge_asset(struct lks_judge *j)
{
    for (size_t i = 0; i < j->stack->component_count; i++) {
        const struct lks_component *c = &j->stack->components[i];
        bool other_side = c->side.len > 0 && j->side.len > 0 && !lks_str_eq(c->side, j->side);
        if (lks_component_is_firmware(c->name) && lks_conform_elsewhere(j, c) && !other_side &&
            lks_conform_called(j, c->name).count > 0)
            lks_conform_firmware(j, c);
    }
}

/* Software first, then firmware: each is sorted by name. */
static void judge_components(struct lks_judge *j)
{
    for (int firmware = 0; firmware <= 1; firmware++) {
        for (size_t i = 0; i < j->stack->component_count; i++) {
            const struct lks_component *c = &j->stack->components[i];
            if (lks_component_is_firmware(c->name) != (firmware == 1))
                continue;
            if (firmware)
                lks_conform_firmware(j, c);
            else
                lks_conform_component(j, c);
        }
    }
}

enum lks_code lks_conform(const struct lks_facts *facts, const struct lks_stack *stack,
                          const struct lks_tuple *tuple, struct lks_conformance *out,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_conform_fini) struct lks_conformance c = {0};
    struct lks_judge j = {.facts = facts, .stack = stack, .tuple = tuple, .out = &c};
    lks_arena_init(&c.arena, CONFORM_BYTES_MAX);
    j.asset = lks_conform_called(&j, LKS_STR("asset")).count > 0;
    struct lks_readings side = lks_conform_called(&j, LKS_STR("asset.side"));
    j.side = side.count > 0 ? side.list[0]->value : LKS_STR("");
    c.class = lks_conform_class(&j);
    if (j.asset) {
        judge_asset(&j);
    } else {
        judge_components(&j);
        lks_conform_settings(&j);
        lks_conform_tuning(&j);
        lks_conform_devices(&j);
        lks_conform_scheduler(&j);
    }
    if (c.failed != LKS_OK)
        return lks_arena_fail(&c.arena, err);
    *out = LKS_MOVE(c);
    return LKS_OK;
}
