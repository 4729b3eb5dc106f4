/* Firmware: every device of a class, each held against the most specific pin it has. */
#include "core/compat/parts.h"
#include "core/conform/conform_judge.h"

enum { TEXT_MAX = 64 * 1024, PARTS_SHOWN_MAX = 4 };

/* Which pin is whose ------------------------------------------------------------------------ */

/* The side of a redundant pair that a device is on: "psu 1 side a" is on side a, and all of an
 * asset are on its own. */
static struct lks_str side_of(const struct lks_judge *j, const struct lks_reading *r)
{
    static const char mark[] = " side ";
    size_t len = sizeof(mark) - 1;
    if (r->of.len <= len || memcmp(r->of.ptr + r->of.len - len - 1, mark, len) != 0)
        return j->side;
    return (struct lks_str){r->of.ptr + r->of.len - 1, 1};
}

/* How much a pin says about a device: more is more specific. -1 where it is about others. What
 * could not be read does not always tell its part, and may be any. */
static int closeness(const struct lks_judge *j, const struct lks_component *c,
                     const struct lks_reading *r)
{
    bool unknown = r->state == LKS_UNMEASURED && r->part.len == 0;
    if (c->part.len > 0 && !unknown && !lks_str_eq(c->part, r->part))
        return -1;
    if (c->side.len > 0 && !unknown && !lks_str_eq(c->side, side_of(j, r)))
        return -1;
    return unknown ? 0 : 2 * (c->part.len > 0) + (c->side.len > 0);
}

/* The closest that any pin of the class comes to `r`. */
static int closest(const struct lks_judge *j, struct lks_str name, const struct lks_reading *r)
{
    const struct lks_stack *stack = j->stack;
    int best = -1;
    for (size_t i = 0; i < stack->component_count; i++) {
        const struct lks_component *c = &stack->components[i];
        int now = lks_str_eq(c->name, name) ? closeness(j, c, r) : -1;
        best = now > best ? now : best;
    }
    return best;
}

/* Says that there is no such device at all. */
static bool is_none(const struct lks_reading *r)
{
    return r->state == LKS_ABSENT && r->of.len == 0;
}

/* The devices that `c` is the pin of. */
static struct lks_readings own(struct lks_judge *j, const struct lks_component *c,
                               const struct lks_readings *all)
{
    struct lks_readings mine = {.list = lks_arena_array(&j->out->arena, all->count + 1,
                                                        sizeof(const struct lks_reading *))};
    if (mine.list == NULL) {
        j->out->failed = LKS_E_LIMIT;
        return mine;
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct lks_reading *r = all->list[i];
        int now = closeness(j, c, r);
        if (!is_none(r) && now >= 0 && now == closest(j, c->name, r))
            mine.list[mine.count++] = r;
    }
    return mine;
}

/* Devices without a pin --------------------------------------------------------------------- */

/* How many devices of a kind of firmware the class expects; 0 where it says none, or nothing; -1
 * where a class has no word for them. */
static int64_t expected(const struct lks_class *class, struct lks_str name)
{
    struct lks_str bare = lks_component_bare(name);
    const struct {
        const char *firmware;
        int64_t count;
    } rows[] = {
        {"vbios", class->gpus},          {"inforom", class->gpus}, {"gsp", class->gpus},
        {"ifwi", class->gpus},           {"nic", class->nics},     {"nvme", class->nvmes},
        {"nvswitch", class->nvswitches},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        if (lks_str_is(bare, rows[i].firmware))
            return rows[i].count;
    }
    return -1;
}

static bool some_class_has(const struct lks_stack *stack, struct lks_str name)
{
    for (size_t i = 0; i < stack->class_count; i++) {
        if (expected(stack->classes[i], name) > 0)
            return true;
    }
    return false;
}

/* Whether some pin of the class is about the part that `r` is of, on whichever side. */
static bool is_pinned_part(const struct lks_stack *stack, struct lks_str name,
                           const struct lks_reading *r)
{
    bool unknown = r->state == LKS_UNMEASURED && r->part.len == 0;
    for (size_t i = 0; i < stack->component_count; i++) {
        const struct lks_component *c = &stack->components[i];
        if (lks_str_eq(c->name, name) &&
            (unknown || c->part.len == 0 || lks_str_eq(c->part, r->part)))
            return true;
    }
    return false;
}

static bool is_among(const struct lks_readings *list, struct lks_str part)
{
    for (size_t i = 0; i < list->count; i++) {
        if (lks_str_eq(list->list[i]->part, part))
            return true;
    }
    return false;
}

/* The parts of `list`, each once: "MZ-1, MZ-2 and others". */
static struct lks_str shown_parts(struct lks_judge *j, const struct lks_readings *list)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    size_t shown = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct lks_readings before = {list->list, i};
        struct lks_str part = list->list[i]->part;
        if (is_among(&before, part))
            continue;
        if (shown == PARTS_SHOWN_MAX) {
            lks_buf_add(&text, LKS_STR(" and others"));
            break;
        }
        part = part.len > 0 ? part : LKS_STR("a part without a number");
        lks_buf_addf(&text, "%s%" LKS_STR_FMT, shown > 0 ? ", " : "", LKS_STR_ARG(part));
        shown++;
    }
    lks_buf_addf(&text, " on %zu of the devices", list->count);
    return lks_conform_copy(j, &text);
}

/* Whether `c` is the last pin of its class, and one of them wants a version. */
static bool ends_class(const struct lks_stack *stack, const struct lks_component *c)
{
    bool wanted = false;
    for (size_t i = 0; i < stack->component_count; i++) {
        const struct lks_component *each = &stack->components[i];
        if (!lks_str_eq(each->name, c->name))
            continue;
        if (each > c)
            return false;
        wanted = wanted || each->version.len > 0;
    }
    return wanted;
}

/* Devices of parts that no pin is about: the stack was not tested with them. */
static void judge_unpinned(struct lks_judge *j, const struct lks_component *c,
                           const struct lks_readings *all)
{
    struct lks_readings others = {.list = lks_arena_array(&j->out->arena, all->count + 1,
                                                          sizeof(const struct lks_reading *))};
    if (others.list == NULL) {
        j->out->failed = LKS_E_LIMIT;
        return;
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct lks_reading *r = all->list[i];
        if (r->state == LKS_MEASURED && !is_pinned_part(j->stack, c->name, r))
            others.list[others.count++] = r;
    }
    if (others.count == 0)
        return;
    (void)lks_conform_row(
        j, &(struct lks_judgement){
               .subject = c->name,
               .pinned = LKS_STR("no other part"),
               .actual = shown_parts(j, &others),
               .of = others.count == 1 ? others.list[0]->of : (struct lks_str){"", 0},
               .verdict = LKS_DRIFT,
               .cause = LKS_CAUSE_UNWANTED,
               .evidence = others.list[0]->evidence,
           });
}

/* Nothing there that the pin is about. That may be as it should be: the devices are of other parts,
 * which have pins of their own or a row of the class, or the class has no such device. */
static void judge_none(struct lks_judge *j, const struct lks_pin *pin,
                       const struct lks_readings *all)
{
    const struct lks_class *class = j->out->class;
    struct lks_judgement row = {
        .subject = pin->subject,
        .pinned = pin->pinned,
        .actual = LKS_STR("absent"),
        .value = {"", 0},
        .of = {"", 0},
        .verdict = LKS_CONFORMS,
        .evidence = all->list[0]->evidence,
    };
    bool none = all->count == 1 && is_none(all->list[0]);
    /* A class that says nothing of a device does not excuse its absence; one that stands beside
     * another which has it does. */
    bool excused = class != NULL && expected(class, pin->pin->name) == 0 &&
                   some_class_has(j->stack, pin->pin->name);
    bool wanted = none && !excused;
    if (!none)
        row.actual = pin->pin->part.len > 0 ? LKS_STR("no device of this part")
                                            : LKS_STR("no device that has no closer pin");
    if (wanted && pin->pin->version.len > 0) {
        row.verdict = LKS_DRIFT;
        row.cause = LKS_CAUSE_MISSING;
    }
    (void)lks_conform_row(j, &row);
}

/* No reading of the class tells sides, so none can be told to be of the pin's. */
static bool is_sideless(const struct lks_judge *j, const struct lks_component *c,
                        const struct lks_readings *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (side_of(j, all->list[i]).len > 0 || is_none(all->list[i]))
            return false;
    }
    return c->side.len > 0;
}

/* Judging ----------------------------------------------------------------------------------- */

/* Versions of firmware are ordered by their numbers, and equal only to the letter: "EDA53W0Q" is
 * not "EDA53W00Q". */
static bool holds_firmware(const struct lks_pin *pin, const struct lks_reading *r)
{
    bool same = lks_str_eq(pin->pin->version, r->value) ? true
                : pin->scheme == LKS_VERSION_FIRMWARE
                    ? lks_str_eq_nocase(pin->pin->version, r->value)
                    : lks_version_cmp(pin->pin->version, r->value, pin->scheme) == 0;
    return same ||
           (pin->window != NULL && lks_version_range_has(pin->window, r->value, pin->scheme));
}

static bool holds_nothing(const struct lks_pin *pin, const struct lks_reading *r)
{
    (void)pin;
    (void)r;
    return false;
}

/* The pin `c`, of whose class `all` are the devices. */
static void judge_pin(struct lks_judge *j, const struct lks_component *c,
                      const struct lks_readings *all)
{
    struct lks_range range;
    bool wanted = c->version.len > 0;
    struct lks_pin pin = {
        .subject = c->label,
        .pinned = lks_conform_pinned(j, c),
        .holds = wanted ? holds_firmware : holds_nothing,
        .absent_holds = !wanted,
        .changed = wanted ? LKS_CAUSE_OTHER_VERSION : LKS_CAUSE_UNWANTED,
        .gone = LKS_CAUSE_MISSING,
        .pin = c,
        .window = lks_conform_window(j, c, &range),
        .scheme = lks_facts_scheme(j->facts, c->name),
    };
    struct lks_readings mine = own(j, c, all);
    if (all->count > 0 && mine.count == 0 && !is_sideless(j, c, all)) {
        judge_none(j, &pin, all);
        return;
    }
    struct lks_judgement *row = lks_conform_readings(j, &pin, &mine);
    if (row != NULL && row->verdict == LKS_DRIFT && !wanted)
        row->cause = LKS_CAUSE_UNWANTED;
    if (row != NULL && wanted)
        lks_conform_each_gpu(j, row, all);
    if (row != NULL && row->verdict == LKS_CONFORMS && wanted)
        lks_conform_build(j, c);
}

void lks_conform_firmware(struct lks_judge *j, const struct lks_component *c)
{
    struct lks_readings all = lks_conform_called(j, c->name);
    if (all.count == 0 && lks_conform_elsewhere(j, c))
        return;
    judge_pin(j, c, &all);
    if (ends_class(j->stack, c))
        judge_unpinned(j, c, &all);
}
