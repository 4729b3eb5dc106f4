/* Rules about NVIDIA's software. */
#include "base/vec.h"
#include "core/check/check_rules.h"

static struct lks_str version(const struct lks_checking *c, const char *name)
{
    return lks_stack_version(c->stack, name);
}

/* compat ------------------------------------------------------------------------------------ */

static void note_answer(struct lks_checking *c, const struct lks_compat_question *q,
                        const struct lks_compat_answer *a)
{
    static const enum lks_severity severities[] = {
        [LKS_NATIVE] = LKS_INFO,     [LKS_BACKWARD] = LKS_INFO,   [LKS_MINOR] = LKS_WARNING,
        [LKS_FORWARD] = LKS_WARNING, [LKS_UNKNOWN] = LKS_WARNING, [LKS_NO_DRIVER] = LKS_ERROR,
        [LKS_NO_ARCH] = LKS_ERROR,   [LKS_NO_MODULE] = LKS_ERROR,
    };
    static const struct lks_finding nothing = {.source = {"", 0}, .text = {"", 0}};
    const struct lks_finding *last =
        a->rules.count > 0 ? &a->rules.findings[a->rules.count - 1] : &nothing;
    struct lks_fact fact = {.source = last->source};
    LKS_NOTE_FINDING(
        c, severities[a->reason], a->board != NULL ? a->board->product : q->gpu, &fact,
        "driver %" LKS_STR_FMT " with toolkit %" LKS_STR_FMT ": %s: %s (%" LKS_STR_FMT ")",
        LKS_STR_ARG(q->driver), LKS_STR_ARG(q->toolkit), lks_compat_reason_name(a->reason),
        lks_compat_reason_about(a->reason), LKS_STR_ARG(last->text));
    if (a->remedy.len > 0)
        lks_report_remedy(c->out, "%" LKS_STR_FMT, LKS_STR_ARG(a->remedy));
    for (size_t i = 0; i < a->rules.count; i++) {
        const struct lks_finding *f = &a->rules.findings[i];
        struct lks_fact source = {.source = f->source};
        /* Floors of the platform are edges, of which the rule for those speaks. */
        bool elsewhere = f == last || strcmp(f->rule, "platform-floor") == 0;
        if (f->severity == LKS_WARNING && !elsewhere)
            LKS_NOTE_FINDING(c, LKS_WARNING, f->subject, &source, "%" LKS_STR_FMT,
                             LKS_STR_ARG(f->text));
    }
}

/* The abilities of a family's best board mean little to a site with another board of it. */
static void note_others(struct lks_checking *c, const struct lks_compat_answer *a)
{
    for (size_t i = 0; i < a->other_count; i++)
        LKS_NOTE_FINDING(
            c, LKS_INFO, a->others[i].gpu->product, NULL,
            "this board answers %s (%s); evaluated is %" LKS_STR_FMT ", which is supported best",
            lks_compat_reason_name(a->others[i].reason),
            lks_compat_reason_verdict(a->others[i].reason), LKS_STR_ARG(a->board->product));
}

enum lks_code lks_check_compat(struct lks_checking *c)
{
    for (size_t i = 0; i < c->gpu_count; i++) {
        struct lks_compat_question q = lks_compat_of_stack(c->stack, c->gpus[i]);
        if (q.driver.len == 0 || q.toolkit.len == 0) {
            LKS_NOTE_FINDING(c, LKS_WARNING, c->gpus[i], NULL,
                             "driver or toolkit is absent, so their compatibility is unknown");
            return LKS_OK;
        }
        LKS_CLEANUP(lks_compat_answer_fini) struct lks_compat_answer answer = {0};
        lks_compat_ask(c->facts, &q, &answer);
        if (lks_report_check(&answer.rules, c->err) != LKS_OK)
            return c->err->code;
        note_answer(c, &q, &answer);
        note_others(c, &answer);
    }
    return LKS_OK;
}

/* driver-family ----------------------------------------------------------------------------- */

enum lks_code lks_check_driver_family(struct lks_checking *c)
{
    static const char *const members[] = {"fabric-manager", "imex", "nscq"};
    static const struct lks_fact fact = {
        .source = LKS_STR_C(
            "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html"),
    };
    struct lks_str driver = version(c, "driver");
    for (size_t i = 0; i < LKS_COUNT(members); i++) {
        const struct lks_component *member = lks_stack_find(c->stack, members[i]);
        if (member == NULL || driver.len == 0 || lks_str_eq(member->version, driver))
            continue;
        LKS_NOTE_FINDING(c, LKS_ERROR, member->name, &fact,
                         "version %" LKS_STR_FMT " must equal driver %" LKS_STR_FMT
                         "; GPUs show up but CUDA does not start (error 802)",
                         LKS_STR_ARG(member->version), LKS_STR_ARG(driver));
        lks_report_remedy(c->out, "pin %s \"%" LKS_STR_FMT "\"", members[i], LKS_STR_ARG(driver));
    }
    for (size_t i = 0; i < c->stack->class_count; i++) {
        const struct lks_class *class = c->stack->classes[i];
        if (class->vendor != LKS_VENDOR_NVIDIA || class->nvlink_domain <= class->gpus ||
            lks_stack_find(c->stack, "imex") != NULL)
            continue;
        LKS_NOTE_FINDING(c, LKS_WARNING, class->name, NULL,
                         "the NVLink domain spans %lld nodes, and imex is not pinned",
                         (long long)(class->nvlink_domain / class->gpus));
        lks_report_remedy(c->out, "pin imex \"%" LKS_STR_FMT "\"", LKS_STR_ARG(driver));
    }
    return LKS_OK;
}

/* kernel ------------------------------------------------------------------------------------ */

enum lks_code lks_check_kernel(struct lks_checking *c)
{
    const struct lks_component *driver = lks_stack_find(c->stack, "driver");
    struct lks_str kernel = version(c, "kernel");
    if (driver == NULL || kernel.len == 0 || !lks_str_is(driver->modules, "open"))
        return LKS_OK;
    const struct lks_branch *branch =
        lks_facts_branch(c->facts, lks_version_major(driver->version));
    if (branch == NULL || branch->min_kernel_open.len == 0 ||
        lks_version_cmp(kernel, branch->min_kernel_open, LKS_VERSION_DEBIAN) >= 0)
        return LKS_OK;
    LKS_NOTE_FINDING(c, LKS_ERROR, LKS_STR("kernel"), &branch->fact,
                     "%" LKS_STR_FMT " is older than %" LKS_STR_FMT
                     ", the floor of the open modules of R%d",
                     LKS_STR_ARG(kernel), LKS_STR_ARG(branch->min_kernel_open), branch->number);
    lks_report_remedy(c->out, "use kernel %" LKS_STR_FMT " or later",
                      LKS_STR_ARG(branch->min_kernel_open));
    return LKS_OK;
}

/* nccl -------------------------------------------------------------------------------------- */

static const struct lks_nccl *find_nccl(const struct lks_facts *facts, struct lks_str v)
{
    return LKS_VEC_FIND(facts->nccls.rows, facts->nccls.count, row,
                        lks_dotted_cmp(row->version, v) == 0);
}

/* 9.0 as NCCL's makefile counts it: 90. */
static int64_t sm_of(const struct lks_gpu *gpu)
{
    struct lks_str major, minor;
    uint64_t a, b;
    if (!lks_str_cut(gpu->target, '.', &major, &minor) || !lks_str_number(major, 999, &a) ||
        !lks_str_number(minor, 9, &b))
        return 0;
    return (int64_t)(a * 10 + b);
}

static void check_nccl_gpus(struct lks_checking *c, const struct lks_nccl *row)
{
    for (size_t i = 0; i < c->board_count; i++) {
        int64_t sm = sm_of(c->boards[i]);
        if (sm == 0 || row->sm_max == 0)
            continue;
        if (sm < row->sm_min)
            LKS_NOTE_FINDING(c, LKS_ERROR, c->boards[i]->product, &row->fact,
                             "NCCL %" LKS_STR_FMT " is built from sm_%lld on, the board is sm_%lld",
                             LKS_STR_ARG(row->version), (long long)row->sm_min, (long long)sm);
        /* Within a generation (10.0, 10.3) code is shared; beyond it only PTX could help. */
        if (sm / 10 > row->sm_max / 10)
            LKS_NOTE_FINDING(c, LKS_WARNING, c->boards[i]->product, &row->fact,
                             "NCCL %" LKS_STR_FMT " is built up to sm_%lld, the board is sm_%lld",
                             LKS_STR_ARG(row->version), (long long)row->sm_max, (long long)sm);
    }
}

/* A window that holds a second version lets two of them meet in one job. */
static void check_nccl_window(struct lks_checking *c, const struct lks_component *nccl,
                              const struct lks_fact *fact)
{
    struct lks_range range;
    struct lks_err ignored = {0};
    if (nccl->window.len == 0 ||
        lks_version_range_parse(nccl->window, LKS_VERSION_DOTTED, &range, &ignored) != LKS_OK)
        return;
    if (range.count == 1 && range.terms[0].op == LKS_RANGE_EQ)
        return;
    LKS_NOTE_FINDING(c, LKS_ERROR, nccl->name, fact,
                     "the window %" LKS_STR_FMT
                     " lets two versions meet in one job, which fails or hangs it",
                     LKS_STR_ARG(nccl->window));
    lks_report_remedy(c->out, "remove the window: the pin is the only version");
}

enum lks_code lks_check_nccl(struct lks_checking *c)
{
    const struct lks_component *rccl = lks_stack_find(c->stack, "rccl");
    const struct lks_component *nccl = lks_stack_find(c->stack, "nccl");
    if (rccl != NULL)
        check_nccl_window(c, rccl, NULL);
    if (nccl == NULL)
        return LKS_OK;
    const struct lks_nccl *row = find_nccl(c->facts, nccl->version);
    check_nccl_window(c, nccl, row != NULL ? &row->fact : NULL);
    if (row == NULL) {
        LKS_NOTE_FINDING(c, LKS_INFO, nccl->name, NULL, "no row for NCCL %" LKS_STR_FMT,
                         LKS_STR_ARG(nccl->version));
        return LKS_OK;
    }
    struct lks_str cuda = version(c, "cuda"), major, rest;
    lks_str_cut(cuda, '.', &major, &rest);
    if (cuda.len > 0 && row->cuda_majors.len > 0 && !lks_facts_words_have(row->cuda_majors, major))
        LKS_NOTE_FINDING(
            c, LKS_ERROR, nccl->name, &row->fact,
            "NCCL %" LKS_STR_FMT " is built for CUDA %" LKS_STR_FMT ", the stack has %" LKS_STR_FMT,
            LKS_STR_ARG(nccl->version), LKS_STR_ARG(row->cuda_majors), LKS_STR_ARG(cuda));
    if (!row->rank_check)
        LKS_NOTE_FINDING(c, LKS_WARNING, nccl->name, &row->fact,
                         "before 2.23.4 ranks do not compare versions: a mix hangs or corrupts "
                         "instead of failing");
    check_nccl_gpus(c, row);
    return LKS_OK;
}

/* cudnn ------------------------------------------------------------------------------------- */

/* The lowest of the listed compute capabilities. */
static struct lks_str least_target(struct lks_str targets)
{
    struct lks_str least = {"", 0}, each;
    while (lks_str_word(&targets, &each)) {
        if (least.len == 0 || lks_dotted_cmp(each, least) < 0)
            least = each;
    }
    return least;
}

/* The row that speaks of this board: the one that lists it with the lowest floor, else any. */
static const struct lks_cudnn *row_for(const struct lks_checking *c, struct lks_str cudnn,
                                       int major, const struct lks_gpu *gpu)
{
    const struct lks_cudnn *best = NULL;
    for (size_t i = 0; i < c->facts->cudnns.count; i++) {
        const struct lks_cudnn *row = &c->facts->cudnns.rows[i];
        if (!lks_version_covers(row->version, cudnn) || row->cuda_major != major)
            continue;
        bool lists = lks_facts_words_have(row->targets, gpu->target);
        bool best_lists = best != NULL && lks_facts_words_have(best->targets, gpu->target);
        if (best == NULL ||
            (lists && (!best_lists || lks_dotted_cmp(row->min_driver, best->min_driver) < 0)))
            best = row;
    }
    return best;
}

static void check_cudnn_gpu(struct lks_checking *c, const struct lks_cudnn *row,
                            const struct lks_gpu *gpu)
{
    struct lks_str driver = version(c, "driver");
    if (row->targets.len > 0 && !lks_facts_words_have(row->targets, gpu->target)) {
        bool too_old = lks_dotted_cmp(gpu->target, least_target(row->targets)) < 0;
        LKS_NOTE_FINDING(c, too_old ? LKS_ERROR : LKS_WARNING, gpu->product, &row->fact,
                         "cuDNN %" LKS_STR_FMT " for CUDA %d does not list compute capability "
                         "%" LKS_STR_FMT,
                         LKS_STR_ARG(row->version), row->cuda_major, LKS_STR_ARG(gpu->target));
    }
    if (driver.len > 0 && row->min_driver.len > 0 && lks_dotted_cmp(driver, row->min_driver) < 0) {
        LKS_NOTE_FINDING(c, LKS_ERROR, LKS_STR("cudnn"), &row->fact,
                         "cuDNN %" LKS_STR_FMT " on %" LKS_STR_FMT " needs driver %" LKS_STR_FMT,
                         LKS_STR_ARG(row->version), LKS_STR_ARG(gpu->product),
                         LKS_STR_ARG(row->min_driver));
        lks_report_remedy(c->out, "use driver %" LKS_STR_FMT " or later",
                          LKS_STR_ARG(row->min_driver));
    }
}

static bool cudnn_known(const struct lks_facts *facts, struct lks_str cudnn)
{
    for (size_t i = 0; i < facts->cudnns.count; i++) {
        if (lks_version_covers(facts->cudnns.rows[i].version, cudnn))
            return true;
    }
    return false;
}

enum lks_code lks_check_cudnn(struct lks_checking *c)
{
    struct lks_str cudnn = version(c, "cudnn"), cuda = version(c, "cuda");
    if (cudnn.len == 0 || cuda.len == 0)
        return LKS_OK;
    if (!cudnn_known(c->facts, cudnn)) {
        LKS_NOTE_FINDING(c, LKS_INFO, LKS_STR("cudnn"), NULL, "no row for cuDNN %" LKS_STR_FMT,
                         LKS_STR_ARG(cudnn));
        return LKS_OK;
    }
    int major = lks_version_major(cuda);
    for (size_t i = 0; i < c->board_count; i++) {
        const struct lks_cudnn *row = row_for(c, cudnn, major, c->boards[i]);
        if (row == NULL) {
            LKS_NOTE_FINDING(c, LKS_ERROR, LKS_STR("cudnn"), NULL,
                             "cuDNN %" LKS_STR_FMT " has no build for CUDA %d", LKS_STR_ARG(cudnn),
                             major);
            lks_report_remedy(c->out, "take a cuDNN release that lists CUDA %d", major);
            return LKS_OK;
        }
        check_cudnn_gpu(c, row, c->boards[i]);
    }
    return LKS_OK;
}

/* cdmm -------------------------------------------------------------------------------------- */

static bool setting_is(const struct lks_checking *c, const char *path, const char *text)
{
    const struct lks_doc *doc = lks_stack_setting(c->stack, path);
    return doc != NULL && doc->kind == LKS_DOC_TEXT && lks_str_is(doc->text, text);
}

static bool setting_on(const struct lks_checking *c, const char *path)
{
    const struct lks_doc *doc = lks_stack_setting(c->stack, path);
    return doc != NULL && doc->kind == LKS_DOC_BOOL && doc->truth;
}

static const struct lks_fact cdmm_fact = {
    .source = LKS_STR_C(
        "https://github.com/NVIDIA/cloud-native-docs/blob/main/gpu-operator/release-notes.rst"),
};

static void check_cdmm_board(struct lks_checking *c, const struct lks_gpu *gpu)
{
    bool declared = lks_stack_setting(c->stack, "memory_mode") != NULL;
    const struct lks_component *driver = lks_stack_find(c->stack, "driver");
    if (declared && !gpu->grace) {
        LKS_NOTE_FINDING(c, LKS_ERROR, gpu->product, &cdmm_fact,
                         "memory_mode is a setting of Grace systems, and this board is none");
        lks_report_remedy(c->out, "remove memory_mode");
    }
    if (!declared && gpu->grace && driver != NULL && lks_str_is(driver->owner, "gpu-operator") &&
        lks_dotted_cmp(driver->version, LKS_STR("580.65.06")) >= 0) {
        LKS_NOTE_FINDING(c, LKS_WARNING, gpu->product, &cdmm_fact,
                         "driver containers turn CDMM on by default from 580.65.06; the stack does "
                         "not say which memory_mode it wants");
        lks_report_remedy(c->out, "set memory_mode: cdmm or numa");
    }
}

enum lks_code lks_check_cdmm(struct lks_checking *c)
{
    if (setting_is(c, "memory_mode", "cdmm")) {
        if (setting_is(c, "mig.mode", "enabled")) {
            LKS_NOTE_FINDING(c, LKS_ERROR, LKS_STR("settings.memory_mode"), &cdmm_fact,
                             "cdmm and MIG exclude each other");
            lks_report_remedy(c->out, "set memory_mode: numa, or mig mode disabled");
        }
        if (setting_on(c, "gds")) {
            LKS_NOTE_FINDING(c, LKS_ERROR, LKS_STR("settings.memory_mode"), &cdmm_fact,
                             "cdmm and GPUDirect Storage exclude each other");
            lks_report_remedy(c->out, "set memory_mode: numa, or gds: false");
        }
    }
    for (size_t i = 0; i < c->board_count; i++)
        check_cdmm_board(c, c->boards[i]);
    return LKS_OK;
}

/* mig --------------------------------------------------------------------------------------- */

/* The compute slices of a profile: 3 of "3g.71gb". */
static uint64_t slices_of(struct lks_str profile)
{
    struct lks_str head, rest;
    uint64_t slices = 0;
    if (!lks_str_cut(profile, 'g', &head, &rest) || !lks_str_number(head, 8, &slices))
        return 0;
    return slices;
}

static uint64_t most_slices(struct lks_str profiles)
{
    uint64_t most = 0;
    struct lks_str each;
    while (lks_str_word(&profiles, &each)) {
        if (slices_of(each) > most)
            most = slices_of(each);
    }
    return most;
}

static void check_mig_board(struct lks_checking *c, const struct lks_doc *profiles,
                            const struct lks_gpu *gpu)
{
    if (gpu->mig_profiles.len == 0) {
        LKS_NOTE_FINDING(c, LKS_WARNING, gpu->product, &gpu->fact,
                         "no MIG profile is known for this board");
        return;
    }
    uint64_t used = 0;
    const struct lks_doc *first = profiles != NULL ? profiles->first : NULL;
    for (const struct lks_doc *item = first; item != NULL; item = item->next) {
        used += slices_of(item->text);
        if (lks_facts_words_have(gpu->mig_profiles, item->text))
            continue;
        LKS_NOTE_FINDING(c, LKS_ERROR, gpu->product, &gpu->fact,
                         "no MIG profile '%" LKS_STR_FMT "'; there are %" LKS_STR_FMT,
                         LKS_STR_ARG(item->text), LKS_STR_ARG(gpu->mig_profiles));
    }
    uint64_t most = most_slices(gpu->mig_profiles);
    if (used > most)
        LKS_NOTE_FINDING(c, LKS_ERROR, gpu->product, &gpu->fact,
                         "the MIG profiles take %llu slices, and the board has %llu",
                         (unsigned long long)used, (unsigned long long)most);
}

enum lks_code lks_check_mig(struct lks_checking *c)
{
    if (!setting_is(c, "mig.mode", "enabled"))
        return LKS_OK;
    for (size_t i = 0; i < c->board_count; i++)
        check_mig_board(c, lks_stack_setting(c->stack, "mig.profiles"), c->boards[i]);
    return LKS_OK;
}

/* Container toolkit ------------------------------------------------------------------------- */

enum lks_code lks_check_toolkit_library(struct lks_checking *c)
{
    static const struct lks_fact fact = {
        .source = LKS_STR_C("https://github.com/NVIDIA/cloud-native-docs/blob/main/"
                            "container-toolkit/release-notes.md"),
    };
    struct lks_str toolkit = version(c, "container-toolkit");
    struct lks_str library = version(c, "libnvidia-container");
    if (toolkit.len == 0 || library.len == 0 || lks_dotted_cmp(toolkit, library) == 0)
        return LKS_OK;
    bool strict = lks_dotted_cmp(toolkit, LKS_STR("1.18.0")) >= 0;
    LKS_NOTE_FINDING(c, strict ? LKS_ERROR : LKS_WARNING, LKS_STR("libnvidia-container"), &fact,
                     "version %" LKS_STR_FMT " beside container-toolkit %" LKS_STR_FMT
                     "; from 1.18.0 on they must be equal",
                     LKS_STR_ARG(library), LKS_STR_ARG(toolkit));
    lks_report_remedy(c->out, "pin libnvidia-container \"%" LKS_STR_FMT "\"", LKS_STR_ARG(toolkit));
    return LKS_OK;
}

/* Only where packages bring both: a driver of an image or of GPU Operator is not in reach of CUDA's
 * package, and a toolkit in an image brings none. */
enum lks_code lks_check_bundled_driver(struct lks_checking *c)
{
    const struct lks_component *cuda = lks_stack_find(c->stack, "cuda");
    const struct lks_component *driver = lks_stack_find(c->stack, "driver");
    bool packaged = cuda != NULL && driver != NULL && lks_str_is(cuda->owner, "package") &&
                    lks_str_is(driver->owner, "package");
    const struct lks_toolkit *row = packaged ? lks_compat_toolkit(c->facts, cuda->version) : NULL;
    if (row == NULL || !row->bundles_driver ||
        lks_dotted_cmp(row->min_driver, driver->version) == 0)
        return LKS_OK;
    LKS_NOTE_FINDING(c, LKS_WARNING, cuda->name, &row->fact,
                     "the cuda meta package and the runfile of %" LKS_STR_FMT
                     " bring driver %" LKS_STR_FMT "; the stack pins %" LKS_STR_FMT,
                     LKS_STR_ARG(row->version), LKS_STR_ARG(row->min_driver),
                     LKS_STR_ARG(driver->version));
    lks_report_remedy(c->out, "install cuda-toolkit, not cuda, and hold the driver packages");
    return LKS_OK;
}

/* Management software ----------------------------------------------------------------------- */

enum lks_code lks_check_dcgm(struct lks_checking *c)
{
    struct lks_str dcgm = version(c, "dcgm"), driver = version(c, "driver");
    bool nvswitch = false;
    for (size_t i = 0; i < c->stack->class_count; i++)
        nvswitch = nvswitch || lks_class_has_nvswitch(c->stack->classes[i]);
    for (size_t i = 0; i < c->facts->dcgms.count && dcgm.len > 0 && driver.len > 0; i++) {
        const struct lks_dcgm *row = &c->facts->dcgms.rows[i];
        struct lks_str floor = nvswitch ? row->min_driver_nvswitch : row->min_driver;
        if (lks_dotted_cmp(lks_version_upstream(row->version), lks_version_upstream(dcgm)) != 0 ||
            floor.len == 0 || lks_dotted_cmp(driver, floor) >= 0)
            continue;
        LKS_NOTE_FINDING(c, LKS_ERROR, LKS_STR("dcgm"), &row->fact,
                         "DCGM %" LKS_STR_FMT " needs driver %" LKS_STR_FMT ", the stack has "
                         "%" LKS_STR_FMT,
                         LKS_STR_ARG(dcgm), LKS_STR_ARG(floor), LKS_STR_ARG(driver));
    }
    return LKS_OK;
}

static void check_carried(struct lks_checking *c, const struct lks_operator *row, const char *name,
                          struct lks_str carried, struct lks_str listed)
{
    const struct lks_component *component = lks_stack_find(c->stack, name);
    if (component == NULL || !lks_str_is(component->owner, "gpu-operator") || carried.len == 0 ||
        lks_dotted_cmp(component->version, carried) == 0 ||
        lks_facts_words_have(listed, component->version))
        return;
    LKS_NOTE_FINDING(c, LKS_WARNING, component->name, &row->fact,
                     "%" LKS_STR_FMT " is not what GPU Operator %" LKS_STR_FMT
                     " carries (%" LKS_STR_FMT "%s%" LKS_STR_FMT ")",
                     LKS_STR_ARG(component->version), LKS_STR_ARG(row->version),
                     LKS_STR_ARG(carried), listed.len > 0 ? "; listed " : "", LKS_STR_ARG(listed));
}

enum lks_code lks_check_gpu_operator(struct lks_checking *c)
{
    struct lks_str pinned = version(c, "gpu-operator");
    for (size_t i = 0; i < c->facts->operators.count && pinned.len > 0; i++) {
        const struct lks_operator *row = &c->facts->operators.rows[i];
        if (lks_dotted_cmp(row->version, pinned) != 0)
            continue;
        check_carried(c, row, "driver", row->driver, row->listed_drivers);
        check_carried(c, row, "container-toolkit", row->toolkit, (struct lks_str){"", 0});
        check_carried(c, row, "dcgm", row->dcgm, (struct lks_str){"", 0});
        if (lks_str_is(row->support, "end-of-support"))
            LKS_NOTE_FINDING(c, LKS_WARNING, LKS_STR("gpu-operator"), &row->fact,
                             "release %" LKS_STR_FMT " is no longer supported",
                             LKS_STR_ARG(pinned));
    }
    return LKS_OK;
}
