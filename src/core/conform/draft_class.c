/* The hardware class of a draft: one that is built in where it is the machine to the last count,
 * else one that says what was counted. */
#include "core/compat/compat.h"
#include "core/conform/draft_parts.h"
#include "core/conform/node_readings.h"
#include "model/facts/class.h"

/* What is counted, in the order of a class. 0 is what a class says by not saying it. */
enum count { GPUS, NVLINKS, NVSWITCHES, NICS, NIC_GBPS, NVMES, MEMORY, COUNTS };

static const struct {
    const char *reading;
    int64_t max; /* as the table of a class has it */
} counts[COUNTS] = {
    [GPUS] = {"devices.gpus", 64},
    [NVLINKS] = {"devices.nvlinks_up", 64},
    [NVSWITCHES] = {"devices.nvswitches", 64},
    [NICS] = {"devices.nics", 64},
    [NIC_GBPS] = {"devices.nic_gbps", 6400},
    [NVMES] = {"devices.nvmes", 128},
    [MEMORY] = {"devices.memory_gib", 1 << 20},
};

struct machine {
    int64_t n[COUNTS];
    bool known[COUNTS]; /* it was measured, and is the same on all devices */
    struct lks_str gpu; /* as a class names it */
    const struct lks_reading *memory;
};

/* Why a count is not there is told with all else that is left out. */
static void count_devices(const struct lks_draft *d, struct machine *m)
{
    for (size_t i = 0; i < COUNTS; i++) {
        uint64_t number;
        struct lks_accord_of of = lks_draft_accord(d, lks_str_from(counts[i].reading));
        m->known[i] = of.accord == LKS_ACCORD_ONE &&
                      lks_str_number(of.value, (uint64_t)counts[i].max, &number);
        m->n[i] = m->known[i] ? (int64_t)number : 0;
        m->memory = i == MEMORY ? of.first : m->memory;
    }
}

static size_t narrow(const struct lks_gpu **boards, size_t count, const struct lks_gpu *const *by,
                     size_t by_count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool both = false;
        for (size_t j = 0; j < by_count; j++)
            both = both || by[j] == boards[i];
        if (both)
            boards[kept++] = boards[i];
    }
    return kept;
}

/* The one board the PCI id and the name speak of; NULL where it cannot be told. */
static const struct lks_gpu *find_board(const struct lks_draft *d, struct lks_str id,
                                        struct lks_str product)
{
    const struct lks_gpu *boards[LKS_COMPAT_BOARDS_MAX], *called[LKS_COMPAT_BOARDS_MAX];
    size_t count = lks_compat_boards(d->facts, id, boards, LKS_COUNT(boards));
    size_t named = lks_compat_boards(d->facts, product, called, LKS_COUNT(called));
    if (count == 0)
        return named == 1 ? called[0] : NULL;
    if (count > 1)
        count = narrow(boards, count, called, named);
    return count == 1 ? boards[0] : NULL;
}

/* Whether the machine's PCI id is one the tables have for what the class calls `gpu`. */
static bool has_id(const struct lks_draft *d, struct lks_str gpu, struct lks_str id)
{
    const struct lks_gpu *boards[LKS_COMPAT_BOARDS_MAX], *with_id[LKS_COMPAT_BOARDS_MAX];
    size_t count = lks_compat_boards(d->facts, gpu, boards, LKS_COUNT(boards));
    size_t found = lks_compat_boards(d->facts, id, with_id, LKS_COUNT(with_id));
    return narrow(boards, count, with_id, found) > 0;
}

/* A class is held against the PCI ids where a table knows its boards, else against the names. */
static void check_read(struct lks_draft *d, struct lks_str gpu)
{
    const struct lks_gpu *board;
    bool by_id = lks_compat_boards(d->facts, gpu, &board, 1) > 0;
    struct lks_str reading = by_id ? LKS_STR("gpu.pci_id") : LKS_STR("gpu.product");
    struct lks_accord_of of = lks_draft_accord(d, reading);
    if (of.accord == LKS_ACCORD_UNMEASURED)
        LKS_DRAFT_REFUSE(d, "not-measured", reading,
                         "%" LKS_STR_FMT " of %" LKS_STR_FMT " could not be read: %" LKS_STR_FMT
                         " (%" LKS_STR_FMT ")",
                         LKS_STR_ARG(reading), LKS_STR_ARG(of.first->of),
                         LKS_STR_ARG(of.first->value), LKS_STR_ARG(of.first->evidence));
    else if (of.accord != LKS_ACCORD_ONE || lks_str_trim(gpu).len == 0)
        LKS_DRAFT_REFUSE(d, "not-measured", reading,
                         "these GPUs cannot be identified: %" LKS_STR_FMT " was not read",
                         LKS_STR_ARG(reading));
    else if (by_id && !has_id(d, gpu, of.value)) {
        LKS_DRAFT_REFUSE(d, "not-known", reading,
                         "no row of gpus.csv has %" LKS_STR_FMT " with the PCI id %" LKS_STR_FMT,
                         LKS_STR_ARG(gpu), LKS_STR_ARG(of.value));
        lks_report_remedy(d->report, "add the id to a copy of gpus.csv, given with --data");
    }
}

/* What a class calls these GPUs: our name for the board, else the vendor's, else the PCI id. */
static struct lks_str name_gpu(struct lks_draft *d)
{
    struct lks_accord_of id = lks_draft_accord(d, LKS_STR("gpu.pci_id"));
    struct lks_accord_of product = lks_draft_accord(d, LKS_STR("gpu.product"));
    const struct lks_gpu *board = find_board(d, id.value, product.value);
    struct lks_str name = board != NULL                      ? board->product
                          : product.accord == LKS_ACCORD_ONE ? product.value
                                                             : id.value;
    check_read(d, name);
    return name;
}

/* What is built in, by all appearances: what was counted in the kernel's blocks, rounded up as far
 * as it conforms. Another node of the same build may count a little more. */
static int64_t built_in(const struct lks_reading *memory, int64_t counted)
{
    enum { LARGEST_MODULE = 64 };
    for (int64_t module = LARGEST_MODULE; module > 1; module /= 2) {
        int64_t whole = (counted + module - 1) / module * module;
        if (lks_node_has_memory(memory, whole))
            return whole;
    }
    return counted;
}

static bool is_machine(const struct lks_class *c, enum lks_vendor vendor, const struct machine *m)
{
    const int64_t stated[COUNTS] = {
        [GPUS] = c->gpus,         [NVLINKS] = c->nvlinks_up, [NVSWITCHES] = c->nvswitches,
        [NICS] = c->nics,         [NIC_GBPS] = c->nic_gbps,  [NVMES] = c->nvmes,
        [MEMORY] = c->memory_gib,
    };
    for (size_t i = 0; i < COUNTS; i++) {
        bool memory = i == MEMORY && m->known[MEMORY] && stated[i] > 0;
        if (memory ? !lks_node_has_memory(m->memory, stated[i]) : stated[i] != m->n[i])
            return false;
    }
    return c->vendor == vendor && lks_str_eq(c->gpu, m->gpu);
}

/* A count that the class now compares the machine with is marked as stated. A count of 0 is not:
 * the class cannot distinguish it from one that was not stated. */
static void mark_said(struct lks_draft *d, const struct machine *m)
{
    for (size_t i = 0; i < COUNTS; i++) {
        bool with_nics = i != NIC_GBPS && i != NICS ? true : m->known[NICS] && m->known[NIC_GBPS];
        if (m->n[i] > 0 && with_nics)
            lks_draft_said(d, lks_str_from(counts[i].reading));
    }
}

static void put_count(struct lks_buf *out, const char *key, const struct machine *m, enum count c)
{
    if (m->n[c] > 0)
        lks_buf_addf(out, "%s: %lld\n", key, (long long)m->n[c]);
}

static void put_class(struct lks_draft *d, const struct machine *m)
{
    struct lks_buf *out = &d->class;
    d->class_name = LKS_DRAFT_TEXT(d, "%" LKS_STR_FMT LKS_DRAFT_CLASS, LKS_STR_ARG(d->name));
    lks_buf_addf(out, "lockstep: 1\nkind: HardwareClass\nname: ");
    lks_buf_quote(out, d->class_name);
    lks_buf_addf(out, "\nvendor: %s\ngpu: {product: ", lks_facts_vendor_name(d->vendor));
    lks_buf_quote(out, m->gpu);
    lks_buf_addf(out, ", count: %lld", (long long)m->n[GPUS]);
    if (m->n[NVLINKS] > 0)
        lks_buf_addf(out, ", nvlinks_up: %lld", (long long)m->n[NVLINKS]);
    lks_buf_addf(out, "}\n");
    put_count(out, "nvswitches", m, NVSWITCHES);
    if (m->n[NICS] > 0 && m->n[NIC_GBPS] > 0)
        lks_buf_addf(out, "nics: {count: %lld, gbps: %lld}\n", (long long)m->n[NICS],
                     (long long)m->n[NIC_GBPS]);
    put_count(out, "nvmes", m, NVMES);
    if (m->n[MEMORY] > 0)
        lks_buf_addf(out, "memory_gib: %lld\n", (long long)built_in(m->memory, m->n[MEMORY]));
    lks_buf_addf(out, "---\n");
}

void lks_draft_class(struct lks_draft *d)
{
    struct machine m = {0};
    count_devices(d, &m);
    m.gpu = name_gpu(d);
    d->nvswitch = d->vendor == LKS_VENDOR_NVIDIA && m.n[NVSWITCHES] > 0;
    if (m.n[GPUS] == 0)
        LKS_DRAFT_REFUSE(d, "not-measured", LKS_STR("devices.gpus"),
                         "a class has 1 to %lld GPUs, and that is not what was counted",
                         (long long)counts[GPUS].max);
    mark_said(d, &m);
    d->gpus = m.n[GPUS];
    for (size_t i = 0; i < d->facts->classes.count; i++) {
        if (is_machine(&d->facts->classes.rows[i], d->vendor, &m)) {
            d->class_name = d->facts->classes.rows[i].name;
            return;
        }
    }
    put_class(d, &m);
}
