#include "core/compat/compat.h"

#include "base/buf.h"
#include "base/near.h"
#include "core/compat/parts.h"

static const struct reason {
    const char *name, *verdict, *about;
} reasons[] = {
    [LKS_NATIVE] = {"NATIVE", "yes", "the driver supports the toolkit in full"},
    [LKS_BACKWARD] = {"BACKWARD", "yes", "the driver belongs to a later major than the toolkit"},
    [LKS_MINOR] = {"MINOR", "limited", "runs inside the tested window, with limits"},
    [LKS_FORWARD] = {"FORWARD", "limited", "runs through the cuda-compat package"},
    [LKS_UNKNOWN] = {"UNKNOWN", "unknown", "no row of the tables answers"},
    [LKS_NO_DRIVER] = {"NO_DRIVER", "no", "the driver is not good enough for GPU or toolkit"},
    [LKS_NO_ARCH] = {"NO_ARCH", "no", "driver or toolkit does not support the architecture"},
    [LKS_NO_MODULE] = {"NO_MODULE", "no", "wrong flavour of kernel modules"},
};

static const struct reason *row_of(enum lks_reason reason)
{
    LKS_ASSERT((size_t)reason < LKS_COUNT(reasons));
    return &reasons[reason];
}

const char *lks_compat_reason_name(enum lks_reason reason)
{
    return row_of(reason)->name;
}

const char *lks_compat_reason_verdict(enum lks_reason reason)
{
    return row_of(reason)->verdict;
}

const char *lks_compat_reason_about(enum lks_reason reason)
{
    return row_of(reason)->about;
}

/* Boards ------------------------------------------------------------------------------------ */

/* Product names as people and tools write them: the vendor in front, '-' or '_' for blanks, and
 * only the beginning ("H100 SXM5"). */
static bool product_starts(struct lks_str product, struct lks_str name)
{
    static const char *const prefixes[] = {"NVIDIA ", "Tesla ", "AMD ", "Instinct "};
    for (size_t i = 0; i < LKS_COUNT(prefixes); i++) {
        struct lks_str prefix = lks_str_from(prefixes[i]);
        struct lks_str head = {name.ptr, name.len < prefix.len ? name.len : prefix.len};
        if (lks_str_eq_nocase(head, prefix))
            name = (struct lks_str){name.ptr + prefix.len, name.len - prefix.len};
        if (lks_str_starts(product, prefixes[i]))
            product = (struct lks_str){product.ptr + prefix.len, product.len - prefix.len};
    }
    if (name.len == 0 || name.len > product.len)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i] == '-' || name.ptr[i] == '_' ? ' ' : name.ptr[i];
        char p = product.ptr[i] == '-' ? ' ' : product.ptr[i];
        if (!lks_str_eq_nocase((struct lks_str){&c, 1}, (struct lks_str){&p, 1}))
            return false;
    }
    return name.len == product.len || strchr(" /", product.ptr[name.len]) != NULL;
}

static bool is_product(const struct lks_gpu *gpu, struct lks_str name)
{
    return lks_str_eq_nocase(gpu->product, name);
}

/* "NVIDIA H100 80GB HBM3", as nvidia-smi has it. */
static bool is_tool_name(const struct lks_gpu *gpu, struct lks_str name)
{
    struct lks_str rest = gpu->names, each;
    for (bool more = rest.len > 0; more;) {
        more = lks_str_cut(rest, '|', &each, &rest);
        if (lks_str_eq_nocase(lks_str_trim(each), name))
            return true;
    }
    return false;
}

static bool is_family(const struct lks_gpu *gpu, struct lks_str name)
{
    return lks_str_eq_nocase(gpu->family, name);
}

static bool is_product_start(const struct lks_gpu *gpu, struct lks_str name)
{
    return product_starts(gpu->product, name);
}

/* 2330, 0x2330, or as lspci has it, 10de:2330. */
static bool has_pci_id(const struct lks_gpu *gpu, struct lks_str name)
{
    const char *vendor = gpu->vendor == LKS_VENDOR_AMD ? "1002:" : "10de:";
    if (lks_str_starts(name, vendor))
        name = (struct lks_str){name.ptr + strlen(vendor), name.len - strlen(vendor)};
    else if (lks_str_starts(name, "0x"))
        name = (struct lks_str){name.ptr + 2, name.len - 2};
    return lks_facts_words_have(gpu->pci_ids, name);
}

size_t lks_compat_boards(const struct lks_facts *facts, struct lks_str name,
                         const struct lks_gpu **out, size_t max)
{
    /* The narrowest reading that finds anything is the one meant. */
    static bool (*const readings[])(const struct lks_gpu *gpu, struct lks_str name) = {
        is_product, is_tool_name, is_family, is_product_start, has_pci_id};
    size_t count = 0;
    bool id = lks_str_find(name, LKS_STR(":")) >= 0; /* no product is called so */
    for (size_t r = id ? LKS_COUNT(readings) - 1 : 0; r < LKS_COUNT(readings) && count == 0; r++) {
        for (size_t i = 0; i < facts->gpus.count && count < max; i++) {
            const struct lks_gpu *gpu = &facts->gpus.rows[i];
            if (!gpu->nvswitch && readings[r](gpu, name))
                out[count++] = gpu;
        }
    }
    return count;
}

const struct lks_gpu *lks_compat_foreign(const struct lks_facts *facts, struct lks_str name,
                                         enum lks_vendor vendor)
{
    const struct lks_gpu *boards[LKS_COMPAT_BOARDS_MAX];
    size_t count = lks_compat_boards(facts, name, boards, LKS_COUNT(boards));
    for (size_t i = 0; i < count; i++) {
        if (boards[i]->vendor != vendor)
            return boards[i];
    }
    return NULL;
}

/* Remedies ---------------------------------------------------------------------------------- */

/* Smaller is better: yes, limited, unknown, no. */
static int rank(enum lks_reason reason)
{
    return reason <= LKS_BACKWARD ? 0 : reason <= LKS_FORWARD ? 1 : reason == LKS_UNKNOWN ? 2 : 3;
}

struct search {
    const struct lks_facts *facts;
    const struct lks_compat_question *q;
    const struct lks_gpu *gpu;
    enum lks_reason now;
    struct lks_report *rules;
};

static bool better(const struct search *s, const struct lks_compat_question *q)
{
    return rank(lks_compat_judge(s->facts, q, s->gpu, NULL)) < rank(s->now);
}

/* The smallest package that reaches the toolkit. */
static struct lks_str try_package(const struct search *s)
{
    const struct lks_compat_package *best = NULL;
    struct lks_compat_question q = *s->q;
    for (size_t i = 0; i < s->facts->compat_packages.count; i++) {
        const struct lks_compat_package *p = &s->facts->compat_packages.rows[i];
        q.compat_package = p->cuda;
        if (better(s, &q) && (best == NULL || lks_dotted_cmp(p->cuda, best->cuda) < 0))
            best = p;
    }
    if (best == NULL || s->gpu->vendor != LKS_VENDOR_NVIDIA)
        return (struct lks_str){"", 0};
    return lks_report_text(s->rules, "install %" LKS_STR_FMT, LKS_STR_ARG(best->package));
}

/* Modules of the other flavour belong to the same driver. */
static struct lks_str try_modules(const struct search *s)
{
    struct lks_compat_question q = *s->q;
    bool open = lks_str_is(q.modules, "open");
    q.modules = open ? LKS_STR("proprietary") : LKS_STR("open");
    if (s->now != LKS_NO_MODULE || !better(s, &q))
        return (struct lks_str){"", 0};
    return lks_report_text(s->rules, "use the %s kernel modules of this driver",
                           open ? "proprietary" : "open");
}

/* Walk over the toolkits: the newest that answers yes, else the newest that answers better. */
static struct lks_str try_toolkit(const struct search *s)
{
    bool amd = s->gpu->vendor == LKS_VENDOR_AMD;
    size_t count = amd ? s->facts->rocms.count : s->facts->toolkits.count;
    struct lks_str best = {"", 0};
    int best_rank = rank(s->now);
    struct lks_compat_question q = *s->q;
    for (size_t i = 0; i < count; i++) {
        q.toolkit = amd ? s->facts->rocms.rows[i].version : s->facts->toolkits.rows[i].version;
        int r = rank(lks_compat_judge(s->facts, &q, s->gpu, NULL));
        if (r < best_rank ||
            (r == best_rank && best.len > 0 && lks_dotted_cmp(q.toolkit, best) > 0)) {
            best = q.toolkit;
            best_rank = r;
        }
    }
    if (best.len == 0)
        return best;
    return lks_report_text(s->rules, "use %s %" LKS_STR_FMT, amd ? "ROCm" : "CUDA",
                           LKS_STR_ARG(best));
}

static struct lks_str try_amdgpu(const struct search *s)
{
    const struct lks_rocm *rocm = lks_compat_rocm(s->facts, s->q->toolkit);
    struct lks_str rest = rocm != NULL ? rocm->amdgpu : (struct lks_str){"", 0}, each;
    struct lks_compat_question q = *s->q;
    while (lks_str_word(&rest, &q.driver)) {
        each = q.driver;
        if (each.len > 2 && lks_str_is((struct lks_str){each.ptr + each.len - 2, 2}, ".x"))
            q.driver.len -= 2;
        if (better(s, &q))
            return lks_report_text(s->rules, "use amdgpu %" LKS_STR_FMT, LKS_STR_ARG(each));
    }
    return (struct lks_str){"", 0};
}

/* A branch that lives longer is the better advice; within one, the smallest step. */
static bool is_better_driver(const struct lks_facts *facts, const struct lks_driver *a,
                             const struct lks_driver *b)
{
    const struct lks_branch *mine = lks_facts_branch(facts, a->branch);
    const struct lks_branch *other = lks_facts_branch(facts, b->branch);
    lks_day ends = mine != NULL ? mine->eol : LKS_DAY_NONE;
    lks_day other_ends = other != NULL ? other->eol : LKS_DAY_NONE;
    return ends != other_ends ? ends > other_ends : lks_dotted_cmp(a->version, b->version) < 0;
}

static struct lks_str try_driver(const struct search *s)
{
    if (s->gpu->vendor == LKS_VENDOR_AMD)
        return try_amdgpu(s);
    const struct lks_driver *best = NULL;
    int best_rank = rank(s->now);
    struct lks_compat_question q = *s->q;
    for (size_t i = 0; i < s->facts->drivers.count; i++) {
        const struct lks_driver *d = &s->facts->drivers.rows[i];
        q.driver = d->version;
        if (!d->datacenter)
            continue;
        int r = rank(lks_compat_judge(s->facts, &q, s->gpu, NULL));
        if (r < best_rank ||
            (r == best_rank && best != NULL && is_better_driver(s->facts, d, best))) {
            best = d;
            best_rank = r;
        }
    }
    if (best == NULL)
        return (struct lks_str){"", 0};
    return lks_report_text(s->rules, "use driver %" LKS_STR_FMT, LKS_STR_ARG(best->version));
}

/* Where one change is not enough, what the board takes at all. */
static struct lks_str describe_board(const struct search *s)
{
    const struct lks_gpu *gpu = s->gpu;
    bool amd = gpu->vendor == LKS_VENDOR_AMD;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(512);
    lks_buf_addf(&text, "no single change helps; this board takes");
    size_t empty = text.len;
    struct lks_str first = gpu->min_driver.len > 0 ? gpu->min_driver : gpu->first_listed_driver;
    if (first.len > 0)
        lks_buf_addf(&text, " %s %" LKS_STR_FMT " or later,", amd ? "amdgpu" : "driver",
                     LKS_STR_ARG(first));
    if (gpu->max_driver_branch > 0)
        lks_buf_addf(&text, " drivers up to R%d,", gpu->max_driver_branch);
    if (gpu->min_toolkit.len > 0)
        lks_buf_addf(&text, " %s %" LKS_STR_FMT " or later,", amd ? "ROCm" : "CUDA",
                     LKS_STR_ARG(gpu->min_toolkit));
    if (gpu->max_toolkit_major > 0)
        lks_buf_addf(&text, " %s up to %d,", amd ? "ROCm" : "CUDA", gpu->max_toolkit_major);
    if (gpu->open_modules == LKS_OPEN_REQUIRED || gpu->open_modules == LKS_OPEN_NO)
        lks_buf_addf(&text, " %s modules,",
                     gpu->open_modules == LKS_OPEN_NO ? "proprietary" : "open");
    if (text.len == empty)
        return (struct lks_str){"", 0};
    lks_buf_truncate(&text, text.len - 1);
    return lks_report_text(s->rules, "%" LKS_STR_FMT, LKS_STR_ARG(lks_buf_view(&text)));
}

/* From the cheapest to the dearest. */
static struct lks_str find_remedy(const struct search *s)
{
    static struct lks_str (*const ways[])(const struct search *s) = {
        try_modules, try_package, try_toolkit, try_driver, describe_board};
    struct lks_str remedy = {"", 0};
    for (size_t i = 0; i < LKS_COUNT(ways) && remedy.len == 0 && rank(s->now) > 0; i++)
        remedy = ways[i](s);
    return remedy;
}

/* Asking ------------------------------------------------------------------------------------ */

static void note_unknown_gpu(const struct lks_facts *facts, struct lks_str name,
                             struct lks_report *rules)
{
    char hint[LKS_NEAR_HINT_SIZE];
    struct lks_near near = lks_near_to(name);
    for (size_t i = 0; i < facts->gpus.count; i++) {
        if (!facts->gpus.rows[i].nvswitch)
            lks_near_try(&near, facts->gpus.rows[i].family);
    }
    lks_report_add(rules, "known", LKS_WARNING, name, NULL, "no row for this GPU%s",
                   lks_near_hint(&near, hint));
}

struct lks_compat_question lks_compat_of_stack(const struct lks_stack *stack, struct lks_str gpu)
{
    bool amd = stack->vendor == LKS_VENDOR_AMD;
    const struct lks_component *driver = lks_stack_find(stack, amd ? "amdgpu" : "driver");
    return (struct lks_compat_question){
        .driver = driver != NULL ? driver->version : (struct lks_str){"", 0},
        .toolkit = lks_stack_version(stack, amd ? "rocm" : "cuda"),
        .gpu = gpu,
        .modules = driver != NULL ? driver->modules : (struct lks_str){"", 0},
        .compat_package = lks_stack_version(stack, "cuda-compat"),
    };
}

/* The boards a question can mean, each with its reason, and which of them is supported best. */
struct candidates {
    const struct lks_gpu *boards[LKS_COMPAT_BOARDS_MAX];
    enum lks_reason reasons[LKS_COMPAT_BOARDS_MAX];
    size_t count, best;
};

static void judge_all(const struct lks_facts *facts, const struct lks_compat_question *question,
                      struct candidates *out)
{
    out->best = 0;
    out->count = lks_compat_boards(facts, question->gpu, out->boards, LKS_COUNT(out->boards));
    for (size_t i = 0; i < out->count; i++) {
        out->reasons[i] = lks_compat_judge(facts, question, out->boards[i], NULL);
        if (out->reasons[i] < out->reasons[out->best])
            out->best = i;
    }
}

const struct lks_gpu *lks_compat_best(const struct lks_facts *facts,
                                      const struct lks_compat_question *question)
{
    struct candidates found;
    judge_all(facts, question, &found);
    return found.count > 0 ? found.boards[found.best] : NULL;
}

void lks_compat_ask(const struct lks_facts *facts, const struct lks_compat_question *question,
                    struct lks_compat_answer *out)
{
    struct candidates found;
    judge_all(facts, question, &found);
    *out = (struct lks_compat_answer){.reason = LKS_UNKNOWN, .remedy = {"", 0}};
    lks_report_init(&out->rules);
    if (found.count == 0) {
        note_unknown_gpu(facts, question->gpu, &out->rules);
        return;
    }
    out->board = found.boards[found.best];
    out->reason = lks_compat_judge(facts, question, out->board, &out->rules);
    for (size_t i = 0; i < found.count; i++) {
        if (found.reasons[i] == out->reason)
            continue;
        out->others[out->other_count].gpu = found.boards[i];
        out->others[out->other_count++].reason = found.reasons[i];
    }
    struct search s = {facts, question, out->board, out->reason, &out->rules};
    out->remedy = find_remedy(&s);
}

void lks_compat_answer_fini(struct lks_compat_answer *answer)
{
    lks_report_fini(&answer->rules);
    *answer = (struct lks_compat_answer){0};
}
