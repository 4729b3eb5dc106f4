/* The devices a hardware class expects, and which class a node is of. */
#include "core/compat/boards.h"
#include "core/compat/compat.h"
#include "core/conform/conform_judge.h"
#include "core/conform/node_readings.h"

#include <stdio.h>

/* The wrong GPUs weigh more than anything else that is wrong. */
enum { WRONG_GPU = 100 };

/* Numbers ----------------------------------------------------------------------------------- */

static bool number_of(const struct lks_reading *r, int64_t *out)
{
    uint64_t number;
    if (!lks_str_number(r->value, INT64_MAX, &number))
        return false;
    *out = (int64_t)number;
    return true;
}

static bool holds_number(const struct lks_pin *pin, const struct lks_reading *r)
{
    int64_t number;
    return number_of(r, &number) && number == pin->number;
}

static bool holds_memory(const struct lks_pin *pin, const struct lks_reading *r)
{
    return lks_node_has_memory(r, pin->number);
}

struct expectation {
    const char *name;
    int64_t count; /* 0: nothing is expected */
    bool (*holds)(const struct lks_pin *pin, const struct lks_reading *r);
    enum lks_cause less, more;
};

/* Too few is a device that is missing or down, too many one that the stack was not tested with. */
static void set_cause(struct lks_judgement *row, const struct expectation *e,
                      const struct lks_pin *pin, const struct lks_readings *readings)
{
    row->cause = e->less;
    for (size_t i = 0; i < readings->count; i++) {
        int64_t number;
        const struct lks_reading *r = readings->list[i];
        if (r->state != LKS_MEASURED || lks_conform_holds(pin, r) || !number_of(r, &number))
            continue;
        row->cause = number < pin->number ? e->less : e->more;
        break;
    }
}

static void judge_count(struct lks_judge *j, const struct expectation *e)
{
    if (e->count == 0)
        return;
    struct lks_pin pin = {
        .subject = lks_str_from(e->name),
        .pinned = lks_conform_text(j, "%lld", (long long)e->count),
        .holds = e->holds,
        .changed = e->less,
        .gone = LKS_CAUSE_DEVICE_MISSING,
        .number = e->count,
    };
    struct lks_readings readings = lks_conform_called(j, pin.subject);
    struct lks_judgement *row = lks_conform_readings(j, &pin, &readings);
    if (row != NULL && row->verdict == LKS_DRIFT && e->less != e->more)
        set_cause(row, e, &pin, &readings);
}

/* GPUs -------------------------------------------------------------------------------------- */

/* "10de:2335" is of a board with the id 2335. */
static bool holds_board(const struct lks_pin *pin, const struct lks_reading *r)
{
    static const char *const vendors[] = {
        [LKS_VENDOR_NVIDIA] = "10de", [LKS_VENDOR_AMD] = "1002", [LKS_VENDOR_ANY] = ""};
    struct lks_str vendor, device;
    if (lks_str_eq_nocase(pin->pinned, r->value))
        return true; /* the class names the id itself */
    if (!lks_str_cut(r->value, ':', &vendor, &device))
        return false;
    for (size_t i = 0; i < pin->board_count; i++) {
        if (lks_str_eq_nocase(vendor, lks_str_from(vendors[pin->boards[i]->vendor])) &&
            lks_facts_words_have(pin->boards[i]->pci_ids, device))
            return true;
    }
    return false;
}

/* "NVIDIA H200" is what a class may call H200 where no table knows the board. */
static bool holds_product(const struct lks_pin *pin, const struct lks_reading *r)
{
    if (r->value.len < pin->pinned.len || pin->pinned.len == 0)
        return false;
    size_t skip = r->value.len - pin->pinned.len;
    struct lks_str end = {r->value.ptr + skip, pin->pinned.len};
    return lks_str_eq_nocase(end, pin->pinned) && (skip == 0 || r->value.ptr[skip - 1] == ' ');
}

/* The product beside the PCI id, for those who do not know the numbers: that of a device which is
 * or is not what it should be, as the row says. */
static void name_product(struct lks_judge *j, const struct lks_pin *pin,
                         const struct lks_readings *ids, struct lks_judgement *row)
{
    size_t at = 0, count;
    while (at < ids->count &&
           lks_conform_holds(pin, ids->list[at]) != (row->verdict == LKS_CONFORMS))
        at++;
    const struct lks_reading *product = lks_tuple_range(j->tuple, LKS_STR("gpu.product"), &count);
    if (at == ids->count || lks_str_is(ids->list[at]->name, "gpu.product"))
        return; /* it is the name that was held against the class */
    for (size_t i = 0; i < count; i++) {
        if (product[i].state != LKS_MEASURED || !lks_str_eq(product[i].of, ids->list[at]->of))
            continue;
        row->actual = lks_conform_text(j, "%" LKS_STR_FMT " (%" LKS_STR_FMT ")",
                                       LKS_STR_ARG(product[i].value), LKS_STR_ARG(row->actual));
        return;
    }
}

/* Boards that share a PCI id are told apart by their names. */
enum which { WANTED, ANOTHER, UNTOLD };

static enum which board_by_name(const struct lks_judge *j, const struct lks_pin *pin,
                                const struct lks_reading *id, const struct lks_reading *product)
{
    const struct lks_gpu *same[LKS_COMPAT_BOARDS_MAX], *named[LKS_COMPAT_BOARDS_MAX];
    size_t count = lks_compat_boards(j->facts, id->value, same, LKS_COUNT(same));
    size_t names = 0, wanted = 0, all = 0, others = 0;
    for (size_t i = 0; i < count; i++)
        others += !lks_board_among(same[i], pin->boards, pin->board_count);
    if (others == 0 || !lks_conform_holds(pin, id) || lks_str_eq_nocase(pin->pinned, id->value))
        return WANTED; /* or what the id itself says */
    if (product != NULL && product->state == LKS_MEASURED)
        names = lks_compat_boards(j->facts, product->value, named, LKS_COUNT(named));
    for (size_t i = 0; i < names; i++) {
        bool has_id = lks_board_among(named[i], same, count);
        all += has_id;
        wanted += has_id && lks_board_among(named[i], pin->boards, pin->board_count);
    }
    return all == 0 || (wanted > 0 && wanted < all) ? UNTOLD : wanted > 0 ? WANTED : ANOTHER;
}

static struct lks_reading *untold(struct lks_judge *j, const struct lks_reading *id)
{
    struct lks_reading *r = lks_arena_alloc(&j->out->arena, sizeof(*r));
    if (r == NULL) {
        j->out->failed = LKS_E_LIMIT;
        return NULL;
    }
    *r = *id;
    r->state = LKS_UNMEASURED;
    r->value = lks_conform_text(j,
                                "%" LKS_STR_FMT " is the id of several boards, and gpu.product "
                                "does not tell which",
                                LKS_STR_ARG(id->value));
    return r;
}

static bool says_the_same(const struct lks_reading *a, const struct lks_reading *b)
{
    return a == b ||
           (a != NULL && b != NULL && a->state == b->state && lks_str_eq(a->value, b->value));
}

/* In the place of ids that say too little, what the names say. Most GPUs are as the one before. */
static void ask_names(struct lks_judge *j, const struct lks_pin *pin, struct lks_readings *ids)
{
    const struct lks_reading *last_id = NULL, *last_product = NULL;
    enum which which = WANTED;
    for (size_t i = 0; i < ids->count; i++) {
        const struct lks_reading *id = ids->list[i];
        const struct lks_reading *product = lks_node_reading(j->tuple, "gpu.product", id->of);
        if (last_id == NULL || !says_the_same(last_id, id) || !says_the_same(last_product, product))
            which = board_by_name(j, pin, id, product);
        last_id = id;
        last_product = product;
        const struct lks_reading *instead = which == UNTOLD ? untold(j, id) : product;
        if (which != WANTED && instead != NULL)
            ids->list[i] = instead;
    }
}

static void judge_product(struct lks_judge *j, const struct lks_class *class)
{
    const struct lks_gpu *boards[LKS_COMPAT_BOARDS_MAX];
    struct lks_pin pin = {
        .subject = LKS_STR("devices.gpu"),
        .pinned = class->gpu,
        .changed = LKS_CAUSE_DEVICE_MISSING,
        .gone = LKS_CAUSE_DEVICE_MISSING,
        .boards = boards,
        .board_count = lks_compat_boards(j->facts, class->gpu, boards, LKS_COUNT(boards)),
    };
    struct lks_readings ids = lks_conform_called(j, LKS_STR("gpu.pci_id"));
    struct lks_readings products = lks_conform_called(j, LKS_STR("gpu.product"));
    bool by_id = pin.board_count > 0 || products.count == 0;
    pin.holds = by_id ? holds_board : holds_product;
    if (by_id)
        ask_names(j, &pin, &ids);
    struct lks_judgement *row = lks_conform_readings(j, &pin, by_id ? &ids : &products);
    if (row != NULL && by_id && row->verdict != LKS_NOT_MEASURED)
        name_product(j, &pin, &ids, row);
}

/* Adapters ---------------------------------------------------------------------------------- */

/* A node may have ports of another speed beside those of the fabric, for storage and management:
 * where all ports told their speed and as many as the class wants have its, that is the fabric. */
static bool judge_fabric(struct lks_judge *j, const struct lks_class *class)
{
    const struct lks_reading *ports = lks_tuple_find(j->tuple, "devices.nics");
    struct lks_readings speeds = lks_conform_called(j, LKS_STR("devices.nic_gbps"));
    int64_t all, number, fast = 0;
    if (class->nic_gbps == 0 || ports == NULL || ports->state != LKS_MEASURED ||
        !number_of(ports, &all) || (size_t)all != speeds.count || all <= class->nics)
        return false;
    for (size_t i = 0; i < speeds.count; i++) {
        const struct lks_reading *r = speeds.list[i];
        if (r->state != LKS_MEASURED || !number_of(r, &number))
            return false;
        fast += number == class->nic_gbps;
    }
    if (fast != class->nics)
        return false;
    (void)lks_conform_row(
        j, &(struct lks_judgement){
               .subject = LKS_STR("devices.nics"),
               .pinned = lks_conform_text(j, "%lld at %lld Gb/s", (long long)class->nics,
                                          (long long)class->nic_gbps),
               .actual = lks_conform_text(j, "%lld of %lld ports", (long long)fast, (long long)all),
               .verdict = LKS_CONFORMS,
               .evidence = ports->evidence,
           });
    return true;
}

/* Classes ----------------------------------------------------------------------------------- */

static void judge_class(struct lks_judge *j, const struct lks_class *class)
{
    judge_product(j, class);
    bool fabric = judge_fabric(j, class);
    const struct expectation all[] = {
        {"devices.gpus", class->gpus, holds_number, LKS_CAUSE_DEVICE_MISSING, LKS_CAUSE_UNWANTED},
        {"devices.nvlinks_up", class->nvlinks_up, holds_number, LKS_CAUSE_DEVICE_MISSING,
         LKS_CAUSE_UNWANTED},
        {"devices.nvswitches", class->nvswitches, holds_number, LKS_CAUSE_DEVICE_MISSING,
         LKS_CAUSE_UNWANTED},
        {"devices.nics", fabric ? 0 : class->nics, holds_number, LKS_CAUSE_DEVICE_MISSING,
         LKS_CAUSE_UNWANTED},
        {"devices.nic_gbps", fabric || class->nics == 0 ? 0 : class->nic_gbps, holds_number,
         LKS_CAUSE_SETTING, LKS_CAUSE_SETTING},
        {"devices.nvmes", class->nvmes, holds_number, LKS_CAUSE_DEVICE_MISSING, LKS_CAUSE_UNWANTED},
        {"devices.memory_gib", class->memory_gib, holds_memory, LKS_CAUSE_DEVICE_MISSING,
         LKS_CAUSE_UNWANTED},
    };
    for (size_t i = 0; i < LKS_COUNT(all); i++)
        judge_count(j, &all[i]);
}

/* How badly the node fits; what was not measured decides between classes that fit as well. */
struct misfit {
    size_t weight, unmeasured;
};

static struct misfit misfit(struct lks_judge *j, const struct lks_class *class)
{
    struct lks_conformance before = *j->out;
    judge_class(j, class);
    struct misfit m = {j->out->drifted - before.drifted, j->out->unmeasured - before.unmeasured};
    for (size_t i = before.count; i < j->out->count; i++) {
        const struct lks_judgement *row = &j->out->rows[i];
        if (row->verdict == LKS_DRIFT && lks_str_is(row->subject, "devices.gpu"))
            m.weight += WRONG_GPU;
    }
    j->out->count = before.count;
    j->out->drifted = before.drifted;
    j->out->unmeasured = before.unmeasured;
    return m;
}

const struct lks_class *lks_conform_class(struct lks_judge *j)
{
    const struct lks_class *best = NULL;
    struct misfit least = {0};
    if (j->stack->class_count == 1)
        return j->stack->classes[0];
    for (size_t i = 0; i < j->stack->class_count; i++) {
        struct misfit m = misfit(j, j->stack->classes[i]);
        bool less = m.weight < least.weight ||
                    (m.weight == least.weight && m.unmeasured < least.unmeasured);
        if (best == NULL || less) {
            best = j->stack->classes[i];
            least = m;
        }
    }
    return best;
}

void lks_conform_devices(struct lks_judge *j)
{
    if (j->out->class != NULL)
        judge_class(j, j->out->class);
}
