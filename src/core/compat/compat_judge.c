#include "core/compat/boards.h"
#include "core/compat/compat.h"
#include "core/compat/parts.h"

/* Branches from which open modules exist at all (R515). */
enum { OPEN_MODULES_FROM = 515 };

struct case_ {
    const struct lks_facts *facts;
    const struct lks_compat_question *q;
    const struct lks_gpu *gpu;
    struct lks_report *rules; /* or NULL */
    int branch;
    const struct lks_toolkit *toolkit;
    const struct lks_rocm *rocm;
};

#define SUBJECT(c) ((c)->gpu->product)

/* Note one step of the reasoning. */
#define NOTE(c, rule, severity, fact, ...)                                                         \
    do {                                                                                           \
        if ((c)->rules != NULL)                                                                    \
            lks_report_add((c)->rules, (rule), (severity), SUBJECT(c), (fact), __VA_ARGS__);       \
    } while (0)

/* A step that can only object: true when it does, with the answer in `out`. */
typedef bool step_fn(const struct case_ *c, enum lks_reason *out);

/* A no that rests on an unconfirmed fact is not one: then the answer is unknown. */
static enum lks_reason refusal(const struct case_ *c, const struct lks_fact *fact,
                               enum lks_reason reason)
{
    if (fact->status != LKS_UNCONFIRMED)
        return reason;
    NOTE(c, "known", LKS_WARNING, fact, "%s would follow from this, and nothing else says so",
         lks_compat_reason_name(reason));
    return LKS_UNKNOWN;
}

static bool refuse(const struct case_ *c, const struct lks_fact *fact, enum lks_reason reason,
                   enum lks_reason *out)
{
    *out = refusal(c, fact, reason);
    return true;
}

const struct lks_toolkit *lks_compat_toolkit(const struct lks_facts *facts, struct lks_str version)
{
    const struct lks_toolkit *first = NULL;
    bool has_patch =
        lks_str_find(version, LKS_STR(".")) >= 0 &&
        memchr(version.ptr, '.', version.len) != memrchr(version.ptr, '.', version.len);
    for (size_t i = 0; i < facts->toolkits.count; i++) {
        const struct lks_toolkit *row = &facts->toolkits.rows[i];
        bool fits = has_patch ? lks_dotted_cmp(row->version, version) == 0
                              : lks_version_covers(version, row->version);
        if (fits && (first == NULL || lks_dotted_cmp(row->version, first->version) < 0))
            first = row;
    }
    return first;
}

static const struct lks_toolkit *first_of_major(const struct lks_facts *facts, int major)
{
    const struct lks_toolkit *first = NULL;
    for (size_t i = 0; i < facts->toolkits.count; i++) {
        const struct lks_toolkit *row = &facts->toolkits.rows[i];
        if (lks_version_major(row->version) == major &&
            (first == NULL || lks_dotted_cmp(row->version, first->version) < 0))
            first = row;
    }
    LKS_ASSERT(first != NULL); /* asked only of the major of a row there is */
    return first;
}

const struct lks_rocm *lks_compat_rocm(const struct lks_facts *facts, struct lks_str version)
{
    const struct lks_rocm *first = NULL;
    for (size_t i = 0; i < facts->rocms.count; i++) {
        const struct lks_rocm *row = &facts->rocms.rows[i];
        if (lks_version_covers(version, row->version) &&
            (first == NULL || lks_dotted_cmp(row->version, first->version) < 0))
            first = row;
    }
    return first;
}

/* What the boards themselves ask for, beyond the order of the codes: never more than a warning. */
static void note_floors(const struct case_ *c, const char *component)
{
    for (size_t i = 0; i < c->facts->edges.count; i++) {
        const struct lks_edge *edge = &c->facts->edges.rows[i];
        struct lks_range range;
        struct lks_err ignored = {0};
        if (edge->component.len > 0 || !lks_str_is(edge->other, component) ||
            !lks_board_in_families(c->gpu, edge->gpus) ||
            lks_version_range_parse(edge->other_range, LKS_VERSION_DOTTED, &range, &ignored) !=
                LKS_OK)
            continue;
        bool inside = lks_version_range_has(&range, c->q->driver, LKS_VERSION_DOTTED);
        if (inside == (edge->kind == LKS_CONFLICTS))
            NOTE(c, "platform-floor", LKS_WARNING, &edge->fact,
                 "%" LKS_STR_FMT " %s %s %" LKS_STR_FMT "%s%" LKS_STR_FMT,
                 LKS_STR_ARG(c->gpu->family),
                 edge->kind == LKS_CONFLICTS ? "should not run with" : "wants", component,
                 LKS_STR_ARG(edge->other_range), edge->condition.len > 0 ? " where " : "",
                 LKS_STR_ARG(edge->condition));
    }
}

/* NVIDIA ------------------------------------------------------------------------------------ */

static bool has_rows(struct case_ *c)
{
    c->branch = lks_version_major(c->q->driver);
    c->toolkit = lks_compat_toolkit(c->facts, c->q->toolkit);
    if (c->toolkit == NULL)
        NOTE(c, "known", LKS_WARNING, NULL, "no row for CUDA %" LKS_STR_FMT,
             LKS_STR_ARG(c->q->toolkit));
    bool known = lks_version_valid(c->q->driver, LKS_VERSION_DOTTED) &&
                 lks_facts_branch(c->facts, c->branch) != NULL;
    if (!known)
        NOTE(c, "known", LKS_WARNING, NULL, "no row for the branch of driver %" LKS_STR_FMT,
             LKS_STR_ARG(c->q->driver));
    return known && c->toolkit != NULL;
}

/* The first driver that knows the board, as far as it matters for this branch, or an empty view
 * when this driver does. Lists of known boards begin with R515; below it the branch alone decides.
 * A board listed first in some branch is in all later ones. */
static struct lks_str first_driver_needed(const struct case_ *c)
{
    const struct lks_gpu *gpu = c->gpu;
    if (gpu->min_driver.len > 0 && c->branch < lks_version_major(gpu->min_driver))
        return gpu->min_driver;
    if (gpu->first_listed_driver.len > 0 && c->branch >= OPEN_MODULES_FROM &&
        lks_dotted_cmp(c->q->driver, gpu->first_listed_driver) < 0)
        return gpu->first_listed_driver;
    return (struct lks_str){"", 0};
}

static bool judge_driver_knows(const struct case_ *c, enum lks_reason *out)
{
    const struct lks_gpu *gpu = c->gpu;
    const struct lks_branch *branch = lks_facts_branch(c->facts, c->branch);
    struct lks_str first = first_driver_needed(c);
    bool ended = gpu->max_driver_branch > 0 && c->branch > gpu->max_driver_branch;
    if (first.len > 0) {
        NOTE(c, "driver-knows-gpu", LKS_INFO, &gpu->fact,
             "driver %" LKS_STR_FMT
             " does not know the board; the first that does is %" LKS_STR_FMT,
             LKS_STR_ARG(c->q->driver), LKS_STR_ARG(first));
        return refuse(c, &gpu->fact, LKS_NO_DRIVER, out);
    }
    if (!ended && !lks_facts_words_have(branch->architectures, gpu->architecture)) {
        NOTE(c, "driver-knows-gpu", LKS_INFO, &branch->fact, "R%d is older than %" LKS_STR_FMT,
             c->branch, LKS_STR_ARG(gpu->architecture));
        return refuse(c, &branch->fact, LKS_NO_DRIVER, out);
    }
    if (!ended)
        NOTE(c, "driver-knows-gpu", LKS_INFO, &gpu->fact,
             "driver %" LKS_STR_FMT " knows the board%s", LKS_STR_ARG(c->q->driver),
             lks_facts_driver(c->facts, c->q->driver) == NULL
                 ? " by its branch; the version itself is in no table"
                 : "");
    return false;
}

static bool judge_architecture(const struct case_ *c, enum lks_reason *out)
{
    const struct lks_gpu *gpu = c->gpu;
    if (gpu->max_driver_branch > 0 && c->branch > gpu->max_driver_branch) {
        NOTE(c, "architecture", LKS_INFO, &gpu->fact,
             "%" LKS_STR_FMT " ends with driver branch R%d", LKS_STR_ARG(gpu->architecture),
             gpu->max_driver_branch);
        return refuse(c, &gpu->fact, LKS_NO_ARCH, out);
    }
    if (gpu->max_toolkit_major > 0 &&
        lks_version_major(c->toolkit->version) > gpu->max_toolkit_major) {
        NOTE(c, "architecture", LKS_INFO, &gpu->fact,
             "%" LKS_STR_FMT " ends with CUDA %d; CUDA %" LKS_STR_FMT " no longer targets it",
             LKS_STR_ARG(gpu->architecture), gpu->max_toolkit_major,
             LKS_STR_ARG(c->toolkit->version));
        return refuse(c, &gpu->fact, LKS_NO_ARCH, out);
    }
    if (gpu->min_toolkit.len > 0 && lks_dotted_cmp(c->toolkit->version, gpu->min_toolkit) < 0)
        NOTE(c, "architecture", LKS_WARNING, &gpu->fact,
             "CUDA %" LKS_STR_FMT " has no native code for %" LKS_STR_FMT " (from %" LKS_STR_FMT
             " on); only programs that carry PTX start",
             LKS_STR_ARG(c->toolkit->version), LKS_STR_ARG(gpu->target),
             LKS_STR_ARG(gpu->min_toolkit));
    else
        NOTE(c, "architecture", LKS_INFO, &gpu->fact, "driver and toolkit support %" LKS_STR_FMT,
             LKS_STR_ARG(gpu->architecture));
    return false;
}

static bool judge_modules(const struct case_ *c, enum lks_reason *out)
{
    bool open = lks_str_is(c->q->modules, "open");
    bool proprietary = lks_str_is(c->q->modules, "proprietary");
    bool open_exists = c->branch >= OPEN_MODULES_FROM;
    const char *why = NULL;
    if (open && !open_exists)
        why = "open modules exist from R515 on";
    else if (open && c->gpu->open_modules == LKS_OPEN_NO)
        why = "the board does not run with open modules";
    else if ((proprietary || !open_exists) && c->gpu->open_modules == LKS_OPEN_REQUIRED)
        why = "the board runs with open modules only";
    if (why == NULL)
        return false;
    NOTE(c, "modules", LKS_INFO, &c->gpu->fact, "%s", why);
    return refuse(c, &c->gpu->fact, LKS_NO_MODULE, out);
}

/* What the tables say of the named package on this branch; NULL when it is no target. */
static const struct lks_compat_package *find_package(const struct case_ *c)
{
    for (size_t i = 0; i < c->facts->compat_packages.count; i++) {
        const struct lks_compat_package *p = &c->facts->compat_packages.rows[i];
        if (p->branch == c->branch && lks_dotted_cmp(p->cuda, c->q->compat_package) == 0)
            return p;
    }
    return NULL;
}

/* Packages stay behind after an upgrade of the driver. Being first on the library path, such a one
 * puts an older libcuda in the place of the driver's own, whatever the answer is without it. */
static void note_stale_package(const struct case_ *c)
{
    if (c->q->compat_package.len == 0)
        return;
    const struct lks_compat_package *p = find_package(c);
    if (p == NULL)
        NOTE(c, "compat-package", LKS_WARNING, NULL,
             "R%d is no target of cuda-compat %" LKS_STR_FMT "; remove the package", c->branch,
             LKS_STR_ARG(c->q->compat_package));
    else if (!lks_str_is(p->verdict, "compatible"))
        NOTE(c, "compat-package", LKS_WARNING, &p->fact,
             "%" LKS_STR_FMT " on R%d: %" LKS_STR_FMT "; remove the package",
             LKS_STR_ARG(p->package), c->branch, LKS_STR_ARG(p->verdict));
}

/* The first two numbers of the package's version are all it has. */
static bool package_reaches_toolkit(const struct case_ *c)
{
    return lks_dotted_cmp(c->q->compat_package, c->toolkit->version) >= 0 ||
           lks_version_covers(c->q->compat_package, c->toolkit->version);
}

/* Why a stale one does not help was told by note_stale_package(). */
static bool package_helps(const struct case_ *c)
{
    const struct lks_compat_package *p = c->q->compat_package.len > 0 ? find_package(c) : NULL;
    if (p == NULL || !lks_str_is(p->verdict, "compatible"))
        return false;
    if (!c->gpu->datacenter)
        NOTE(c, "compat-package", LKS_INFO, &c->gpu->fact,
             "forward compatibility is for data-center boards");
    else if (!package_reaches_toolkit(c))
        NOTE(c, "compat-package", LKS_INFO, &p->fact,
             "%" LKS_STR_FMT " is older than CUDA %" LKS_STR_FMT, LKS_STR_ARG(p->package),
             LKS_STR_ARG(c->toolkit->version));
    else {
        NOTE(c, "compat-package", LKS_INFO, &p->fact,
             "%" LKS_STR_FMT " may be used on R%d, first on the library path",
             LKS_STR_ARG(p->package), c->branch);
        return true;
    }
    return false;
}

/* Inside the major but older than the toolkit's own driver. */
static enum lks_reason judge_minor(const struct case_ *c)
{
    const struct lks_toolkit *t = c->toolkit;
    NOTE(c, "driver-toolkit", LKS_INFO, &t->fact,
         "CUDA %" LKS_STR_FMT " comes with driver %" LKS_STR_FMT "; from %" LKS_STR_FMT
         " on it runs with limits, without PTX JIT",
         LKS_STR_ARG(t->version), LKS_STR_ARG(t->min_driver), LKS_STR_ARG(t->minor_compat_min));
    if (!c->q->needs_ptx_jit)
        return LKS_MINOR;
    if (package_helps(c))
        return LKS_FORWARD;
    if (t->fact.status == LKS_UNCONFIRMED) {
        NOTE(c, "ptx-jit", LKS_WARNING, &t->fact, "PTX of this toolkit may not compile here");
        return LKS_MINOR;
    }
    NOTE(c, "ptx-jit", LKS_INFO, &t->fact, "PTX made by a newer toolkit cannot be compiled here");
    return LKS_NO_DRIVER;
}

static enum lks_reason judge_versions(const struct case_ *c)
{
    const struct lks_toolkit *t = c->toolkit;
    if (t->backward_from > 0 && c->branch >= t->backward_from) {
        NOTE(c, "driver-toolkit", LKS_INFO, &t->fact,
             "drivers of R%d and later run CUDA %d.x by backward compatibility", t->backward_from,
             lks_version_major(t->version));
        return LKS_BACKWARD;
    }
    if (lks_dotted_cmp(c->q->driver, t->min_driver) >= 0) {
        NOTE(c, "driver-toolkit", LKS_INFO, &t->fact,
             "CUDA %" LKS_STR_FMT " asks for driver %" LKS_STR_FMT " or later",
             LKS_STR_ARG(t->version), LKS_STR_ARG(t->min_driver));
        return LKS_NATIVE;
    }
    if (lks_dotted_cmp(c->q->driver, t->minor_compat_min) >= 0)
        return judge_minor(c);
    /* The floor is that of the major, which its first release states. */
    const struct lks_toolkit *first = first_of_major(c->facts, lks_version_major(t->version));
    NOTE(c, "driver-toolkit", LKS_INFO, &first->fact,
         "CUDA %d.x needs driver %" LKS_STR_FMT " or later", lks_version_major(t->version),
         LKS_STR_ARG(first->minor_compat_min));
    return package_helps(c) ? LKS_FORWARD : refusal(c, &first->fact, LKS_NO_DRIVER);
}

static enum lks_reason judge_nvidia(struct case_ *c)
{
    static step_fn *const steps[] = {judge_driver_knows, judge_architecture, judge_modules};
    enum lks_reason objection;
    if (!has_rows(c))
        return LKS_UNKNOWN;
    for (size_t i = 0; i < LKS_COUNT(steps); i++) {
        if (steps[i](c, &objection))
            return objection;
    }
    note_floors(c, "driver");
    note_stale_package(c);
    return judge_versions(c);
}

/* AMD --------------------------------------------------------------------------------------- */

static bool any_covers(struct lks_str patterns, struct lks_str version)
{
    struct lks_str each;
    while (lks_str_word(&patterns, &each)) {
        if (lks_version_covers(each, version))
            return true;
    }
    return false;
}

static bool judge_amd_arch(const struct case_ *c, enum lks_reason *out)
{
    const struct lks_gpu *gpu = c->gpu;
    if (gpu->min_toolkit.len > 0 && lks_dotted_cmp(c->rocm->version, gpu->min_toolkit) < 0) {
        NOTE(c, "architecture", LKS_INFO, &gpu->fact, "the board needs ROCm %" LKS_STR_FMT,
             LKS_STR_ARG(gpu->min_toolkit));
        return refuse(c, &gpu->fact, LKS_NO_ARCH, out);
    }
    if (gpu->max_toolkit_major > 0 &&
        lks_version_major(c->rocm->version) > gpu->max_toolkit_major) {
        NOTE(c, "architecture", LKS_INFO, &gpu->fact, "the board ends with ROCm %d",
             gpu->max_toolkit_major);
        return refuse(c, &gpu->fact, LKS_NO_ARCH, out);
    }
    if (c->rocm->targets.len > 0 && !lks_facts_words_have(c->rocm->targets, gpu->target)) {
        NOTE(c, "architecture", LKS_INFO, &c->rocm->fact,
             "ROCm %" LKS_STR_FMT " does not target %" LKS_STR_FMT, LKS_STR_ARG(c->rocm->version),
             LKS_STR_ARG(gpu->target));
        return refuse(c, &c->rocm->fact, LKS_NO_ARCH, out);
    }
    if (c->rocm->targets.len == 0) {
        NOTE(c, "known", LKS_WARNING, &c->rocm->fact,
             "the row of ROCm %" LKS_STR_FMT " lists no targets", LKS_STR_ARG(c->rocm->version));
        *out = LKS_UNKNOWN;
        return true;
    }
    NOTE(c, "architecture", LKS_INFO, &c->rocm->fact, "ROCm %" LKS_STR_FMT " targets %" LKS_STR_FMT,
         LKS_STR_ARG(c->rocm->version), LKS_STR_ARG(gpu->target));
    return false;
}

static bool named_by_rocm(const struct case_ *c)
{
    bool older = lks_facts_words_have(c->rocm->older_gpus, c->gpu->family);
    return any_covers(c->rocm->amdgpu, c->q->driver) ||
           (older && any_covers(c->rocm->amdgpu_older, c->q->driver));
}

/* True where some row speaks of this line of drivers at all. */
static bool driver_line_known(const struct case_ *c)
{
    for (size_t i = 0; i < c->facts->rocms.count; i++) {
        const struct lks_rocm *row = &c->facts->rocms.rows[i];
        if (any_covers(row->amdgpu, c->q->driver) || any_covers(row->amdgpu_older, c->q->driver))
            return true;
    }
    for (size_t i = 0; i < c->facts->rocm_windows.count; i++) {
        if (lks_version_covers(c->facts->rocm_windows.rows[i].amdgpu, c->q->driver))
            return true;
    }
    return false;
}

static enum lks_reason judge_amd_window(const struct case_ *c)
{
    for (size_t i = 0; i < c->facts->rocm_windows.count; i++) {
        const struct lks_rocm_window *w = &c->facts->rocm_windows.rows[i];
        if (!lks_version_covers(w->amdgpu, c->q->driver))
            continue;
        bool inside = any_covers(w->rocm, c->rocm->version);
        NOTE(c, "driver-userspace", LKS_INFO, &w->fact,
             "driver %" LKS_STR_FMT " takes user space %" LKS_STR_FMT, LKS_STR_ARG(w->amdgpu),
             LKS_STR_ARG(w->rocm));
        if (inside)
            return LKS_MINOR;
    }
    if (c->rocm->amdgpu.len == 0 || !driver_line_known(c)) {
        NOTE(c, "known", LKS_WARNING, &c->rocm->fact,
             "no row says which drivers ROCm %" LKS_STR_FMT " takes",
             LKS_STR_ARG(c->rocm->version));
        return LKS_UNKNOWN;
    }
    NOTE(c, "driver-userspace", LKS_INFO, &c->rocm->fact,
         "ROCm %" LKS_STR_FMT " names drivers %" LKS_STR_FMT, LKS_STR_ARG(c->rocm->version),
         LKS_STR_ARG(c->rocm->amdgpu));
    return refusal(c, &c->rocm->fact, LKS_NO_DRIVER);
}

static enum lks_reason judge_amd(struct case_ *c)
{
    c->rocm = lks_compat_rocm(c->facts, c->q->toolkit);
    if (c->rocm == NULL || !lks_version_valid(c->q->driver, LKS_VERSION_DOTTED)) {
        NOTE(c, "known", LKS_WARNING, NULL, "no row for ROCm %" LKS_STR_FMT,
             LKS_STR_ARG(c->q->toolkit));
        return LKS_UNKNOWN;
    }
    if (c->gpu->min_driver.len > 0 && lks_dotted_cmp(c->q->driver, c->gpu->min_driver) < 0) {
        NOTE(c, "driver-knows-gpu", LKS_INFO, &c->gpu->fact, "the board needs amdgpu %" LKS_STR_FMT,
             LKS_STR_ARG(c->gpu->min_driver));
        return refusal(c, &c->gpu->fact, LKS_NO_DRIVER);
    }
    enum lks_reason objection;
    if (judge_amd_arch(c, &objection))
        return objection;
    note_floors(c, "amdgpu");
    if (!named_by_rocm(c))
        return judge_amd_window(c);
    NOTE(c, "driver-userspace", LKS_INFO, &c->rocm->fact,
         "ROCm %" LKS_STR_FMT " names driver %" LKS_STR_FMT, LKS_STR_ARG(c->rocm->version),
         LKS_STR_ARG(c->q->driver));
    return LKS_NATIVE;
}

enum lks_reason lks_compat_judge(const struct lks_facts *facts,
                                 const struct lks_compat_question *question,
                                 const struct lks_gpu *gpu, struct lks_report *rules)
{
    struct case_ c = {.facts = facts, .q = question, .gpu = gpu, .rules = rules};
    return gpu->vendor == LKS_VENDOR_AMD ? judge_amd(&c) : judge_nvidia(&c);
}
