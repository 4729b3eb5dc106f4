#include "probe/gpu/nvidia_gpu.h"

#include "probe/root/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MAX      128
#define EVIDENCE_MAX  48
#define PARAMS        "/proc/driver/nvidia/params"
#define PARAMS_MAX    65536
#define PROFILES_MAX  24
#define INSTANCES_MAX 16
#define NOT_SUPPORTED 3 /* NVML's code */

const char *const lks_nvidia_gpu_readings[] = {
    "gpu.product",
    "gpu.serial",
    "gpu.uuid",
    "gpu.pci_id",
    "gpu.subsystem_id",
    "gpu.board_part",
    "gpu.module_id",
    "firmware/vbios",
    "firmware/inforom",
    "firmware/gsp",
    "settings.mig.mode",
    "settings.mig.profiles",
    "settings.ecc",
    "settings.persistence",
    "settings.power_limit_w",
    "settings.compute_mode",
    "settings.memory_mode",
    "settings.clocks.locked",
    "settings.clocks.graphics_mhz",
    "settings.clocks.memory_mhz",
    "devices.nvlinks_up",
    "gpu.mig_pending",
    "gpu.ecc_pending",
    "gpu.clocks",
    "gpu.throttle",
    "gpu.remapped_rows",
    "gpu.remap_pending",
    "gpu.remap_failed",
    "gpu.retired_pages",
    "gpu.nvlinks",
    "gpu.recovery_action",
    "gpu.fabric_state",
    "gpu.processes",
    NULL,
};

/* The one being read, with what several readings share. */
struct reader {
    struct lks_probe *p;
    struct lks_nvml *n;
    struct lks_nvml_gpu *gpu;
    struct lks_str of;
    struct lks_str board; /* part number, for firmware */
    bool mig;             /* the GPU is divided */
};

static void value(const struct reader *r, const char *name, const char *text, const char *evidence)
{
    bool firmware = strncmp(name, "firmware/", 9) == 0;
    lks_probe_value(r->p, name, r->of, firmware ? r->board : LKS_STR(""), lks_str_from(text),
                    evidence);
}

static void failed(const struct reader *r, const char *name, const char *evidence,
                   const struct lks_err *err)
{
    lks_probe_failed(r->p, name, r->of, evidence, err);
}

/* Readings that are one answer --------------------------------------------------------------- */

static bool show_text(const char *text, char out[TEXT_MAX])
{
    return snprintf(out, TEXT_MAX, "%s", text) < TEXT_MAX;
}

static bool show_upper(const char *text, char out[TEXT_MAX])
{
    if (!show_text(text, out))
        return false;
    for (char *c = out; *c != '\0'; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    return true;
}

static bool show_one_of(const char *text, const char *const *names, size_t count,
                        char out[TEXT_MAX])
{
    uint64_t number = 0;
    return lks_str_number(lks_str_from(text), count - 1, &number) && show_text(names[number], out);
}

static bool show_bool(const char *text, char out[TEXT_MAX])
{
    static const char *const names[] = {"false", "true"};
    return show_one_of(text, names, LKS_COUNT(names), out);
}

static bool show_compute_mode(const char *text, char out[TEXT_MAX])
{
    static const char *const names[] = {"default", "exclusive-thread", "prohibited",
                                        "exclusive-process"};
    return show_one_of(text, names, LKS_COUNT(names), out);
}

static const struct {
    const char *name;
    enum lks_nvml_call call;
    bool (*show)(const char *text, char out[TEXT_MAX]);
} singles[] = {
    {"gpu.product", LKS_NVML_NAME, show_text},
    {"gpu.serial", LKS_NVML_SERIAL, show_text},
    {"gpu.uuid", LKS_NVML_UUID, show_text},
    {"gpu.module_id", LKS_NVML_MODULE_ID, show_text},
    {"firmware/vbios", LKS_NVML_VBIOS, show_upper},
    {"firmware/inforom", LKS_NVML_INFOROM, show_text},
    {"firmware/gsp", LKS_NVML_GSP, show_text},
    {"settings.persistence", LKS_NVML_PERSISTENCE, show_bool},
    {"settings.compute_mode", LKS_NVML_COMPUTE_MODE, show_compute_mode},
};

static void tell_single(const struct reader *r, const char *name, enum lks_nvml_call call,
                        bool (*show)(const char *text, char out[TEXT_MAX]))
{
    const char *evidence = lks_nvml_name(call);
    struct lks_nvml_answer answer;
    struct lks_err err;
    char shown[TEXT_MAX];
    if (lks_nvml_ask(r->n, call, r->gpu, 0, 0, &answer, &err) != LKS_OK)
        failed(r, name, evidence, &err);
    else if (answer.text[0] == '\0' || strcmp(answer.text, "N/A") == 0)
        lks_probe_absent(r->p, name, r->of, evidence);
    else if (show(answer.text, shown))
        value(r, name, shown, evidence);
    else
        lks_probe_unmeasured(r->p, name, r->of, evidence, "unexpected answer '%.100s'",
                             answer.text);
}

/* The board's number goes with its firmware, so it comes first. */
static void tell_board(struct reader *r)
{
    const char *evidence = lks_nvml_name(LKS_NVML_BOARD_PART);
    struct lks_nvml_answer answer;
    struct lks_err err;
    if (lks_nvml_ask(r->n, LKS_NVML_BOARD_PART, r->gpu, 0, 0, &answer, &err) != LKS_OK) {
        failed(r, "gpu.board_part", evidence, &err);
        return;
    }
    struct lks_str kept = lks_arena_copy(r->p->arena, lks_str_trim(lks_str_from(answer.text)));
    if (kept.len == 0 || kept.ptr == NULL || lks_str_is(kept, "N/A")) {
        lks_probe_absent(r->p, "gpu.board_part", r->of, evidence);
        return;
    }
    r->board = kept;
    lks_probe_value(r->p, "gpu.board_part", r->of, LKS_STR(""), kept, evidence);
}

static void tell_pci(const struct reader *r, const struct lks_nvml_answer *pci)
{
    static const struct {
        const char *name, *key;
    } ids[] = {{"gpu.pci_id", "device"}, {"gpu.subsystem_id", "subsystem"}};
    for (size_t i = 0; i < LKS_COUNT(ids); i++) {
        char id[10];
        struct lks_err err;
        const char *evidence = lks_nvml_name(LKS_NVML_PCI);
        if (lks_nvml_pci_id(pci, ids[i].key, id, &err) == LKS_OK)
            value(r, ids[i].name, id, evidence);
        else
            failed(r, ids[i].name, evidence, &err);
    }
}

/* Modes that are one thing now and perhaps another after a reset ----------------------------- */

static const struct mode {
    enum lks_nvml_call call;
    const char *current, *pending;
    const char *names[2];
} modes[] = {
    {LKS_NVML_MIG, "settings.mig.mode", "gpu.mig_pending", {"disabled", "enabled"}},
    {LKS_NVML_ECC, "settings.ecc", "gpu.ecc_pending", {"false", "true"}},
};

static enum lks_code ask_mode(const struct reader *r, const struct mode *m, uint64_t *current,
                              uint64_t *pending, struct lks_err *err)
{
    struct lks_nvml_answer answer;
    if (lks_nvml_ask(r->n, m->call, r->gpu, 0, 0, &answer, err) != LKS_OK ||
        lks_nvml_word_number(&answer, "current", current, err) != LKS_OK ||
        lks_nvml_word_number(&answer, "pending", pending, err) != LKS_OK)
        return err->code;
    if (*current > 1 || *pending > 1)
        return lks_fail(err, LKS_E_INVALID, "unexpected answer '%s'", answer.text);
    return LKS_OK;
}

static enum lks_code tell_mode(const struct reader *r, const struct mode *m, uint64_t *current,
                               struct lks_err *err)
{
    const char *evidence = lks_nvml_name(m->call);
    uint64_t pending = 0;
    if (ask_mode(r, m, current, &pending, err) != LKS_OK) {
        failed(r, m->current, evidence, err);
        failed(r, m->pending, evidence, err);
        return err->code;
    }
    value(r, m->current, m->names[*current], evidence);
    value(r, m->pending, m->names[pending], evidence);
    return LKS_OK;
}

/* GPU instances ------------------------------------------------------------------------------ */

/* NVML's profiles by their number; the text is what nvidia-smi appends. */
static const char *const profile_suffixes[] = {
    "", "",     "",     "",     "",    "",    "",        "+me",     "+me",
    "", "+gfx", "+gfx", "+gfx", "-me", "-me", "+me.all", "+me.all",
};

bool lks_nvidia_profile_name(unsigned profile, uint64_t slices, uint64_t memory_mb, uint64_t total,
                             char *out, size_t size)
{
    const uint64_t mib = (uint64_t)1 << 20, gib = (uint64_t)1 << 30;
    if (profile >= LKS_COUNT(profile_suffixes) || total == 0 || total > gib * gib ||
        memory_mb > gib)
        return false;
    /* Memory comes in eighths of the GPU's, and is named after that share of its whole GiB. */
    uint64_t eighths = (memory_mb * mib * 8 + total - 1) / total;
    uint64_t gb = (eighths * ((total + gib - 1) / gib) + 4) / 8;
    int n =
        snprintf(out, size, "%" PRIu64 "g.%" PRIu64 "gb%s", slices, gb, profile_suffixes[profile]);
    return n > 0 && (size_t)n < size;
}

struct instance {
    uint64_t start;
    char name[48];
};

struct instances {
    struct instance list[INSTANCES_MAX];
    size_t count;
    uint64_t total; /* bytes of the GPU's memory */
};

static enum lks_code profile_name(const struct lks_nvml_answer *profile, unsigned number,
                                  uint64_t total, char out[48], struct lks_err *err)
{
    struct lks_str name;
    uint64_t slices = 0, memory = 0;
    if (lks_nvml_word(profile, "name", &name, err) != LKS_OK ||
        lks_nvml_word_number(profile, "slices", &slices, err) != LKS_OK ||
        lks_nvml_word_number(profile, "memory", &memory, err) != LKS_OK)
        return err->code;
    if (name.len > 0 && name.len < 48)
        snprintf(out, 48, "%" LKS_STR_FMT, LKS_STR_ARG(name));
    else if (!lks_nvidia_profile_name(number, slices, memory, total, out, 48))
        return lks_fail(err, LKS_E_UNAVAILABLE, "GPU instances of a profile without a name: '%s'",
                        profile->text);
    return LKS_OK;
}

static enum lks_code add_instances(const struct reader *r, unsigned number, struct instances *found,
                                   struct lks_err *err)
{
    struct lks_nvml_answer profile, starts;
    enum lks_code code = lks_nvml_ask(r->n, LKS_NVML_PROFILE, r->gpu, number, 0, &profile, err);
    if (code == LKS_E_NOT_FOUND)
        return LKS_OK; /* not a profile of this GPU */
    uint64_t id = 0;
    if (code != LKS_OK || lks_nvml_word_number(&profile, "id", &id, err) != LKS_OK ||
        lks_nvml_ask(r->n, LKS_NVML_INSTANCES, r->gpu, (unsigned)id, 0, &starts, err) != LKS_OK)
        return err->code;
    struct lks_str rest = lks_str_from(starts.text), word;
    while (lks_str_word(&rest, &word)) {
        if (found->count >= INSTANCES_MAX)
            return lks_fail(err, LKS_E_LIMIT, "more than %d GPU instances", INSTANCES_MAX);
        struct instance *i = &found->list[found->count++];
        if (!lks_str_number(word, UINT32_MAX, &i->start))
            return lks_fail(err, LKS_E_INVALID, "unexpected answer '%s'", starts.text);
        if (profile_name(&profile, number, found->total, i->name, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static int instance_cmp(const void *a, const void *b)
{
    const struct instance *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static enum lks_code find_instances(const struct reader *r, struct instances *found,
                                    struct lks_err *err)
{
    if (lks_nvml_number(r->n, LKS_NVML_MEMORY, r->gpu, 0, 0, &found->total, err) != LKS_OK)
        return err->code;
    for (unsigned i = 0; i < PROFILES_MAX; i++) {
        if (add_instances(r, i, found, err) != LKS_OK)
            return err->code;
    }
    qsort(found->list, found->count, sizeof(found->list[0]), instance_cmp);
    return LKS_OK;
}

static void tell_profiles(const struct reader *r)
{
    const char *name = "settings.mig.profiles", *evidence = lks_nvml_name(LKS_NVML_INSTANCES);
    struct instances found = {0};
    struct lks_err err;
    if (find_instances(r, &found, &err) != LKS_OK) {
        lks_probe_unmeasured(r->p, name, r->of, evidence, "%s", err.msg);
        return;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_READING_VALUE_MAX);
    for (size_t i = 0; i < found.count; i++)
        lks_buf_addf(&text, "%s%s", i > 0 ? " " : "", found.list[i].name);
    if (text.len > 0)
        value(r, name, text.ptr, evidence);
    else
        lks_probe_absent(r->p, name, r->of, evidence);
}

static void tell_modes(struct reader *r)
{
    struct lks_err err;
    uint64_t enabled = 0, ecc = 0;
    enum lks_code code = tell_mode(r, &modes[0], &enabled, &err);
    if (code != LKS_OK)
        failed(r, "settings.mig.profiles", lks_nvml_name(LKS_NVML_MIG), &err);
    else if (enabled == 0)
        lks_probe_absent(r->p, "settings.mig.profiles", r->of, lks_nvml_name(LKS_NVML_MIG));
    else
        tell_profiles(r);
    r->mig = code == LKS_OK && enabled != 0;
    (void)tell_mode(r, &modes[1], &ecc, &err);
}

/* Power -------------------------------------------------------------------------------------- */

/* What counts is the limit in force: a management controller may have set a lower one than the
 * driver was asked for. */
static void tell_power(const struct reader *r)
{
    const char *name = "settings.power_limit_w";
    enum lks_nvml_call call = LKS_NVML_POWER_ENFORCED;
    struct lks_err err;
    uint64_t milliwatts = 0;
    enum lks_code code = lks_nvml_number(r->n, call, r->gpu, 0, 0, &milliwatts, &err);
    if (code == LKS_E_NOT_FOUND) {
        call = LKS_NVML_POWER_SET;
        code = lks_nvml_number(r->n, call, r->gpu, 0, 0, &milliwatts, &err);
    }
    if (code != LKS_OK) {
        failed(r, name, lks_nvml_name(call), &err);
        return;
    }
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, milliwatts / 1000 + (milliwatts % 1000 >= 500));
    value(r, name, text, lks_nvml_name(call));
}

/* Fields ------------------------------------------------------------------------------------- */

enum { BOARD, RELIABILITY, SBE, DBE, COR, UNC, PENDING, FAILURE, C2C, RECOVERY, FIELDS };

static const unsigned field_ids[FIELDS] = {
    [BOARD] = LKS_NVML_FI_BOARD_LIMIT,
    [RELIABILITY] = LKS_NVML_FI_RELIABILITY,
    [SBE] = LKS_NVML_FI_RETIRED_SBE,
    [DBE] = LKS_NVML_FI_RETIRED_DBE,
    [COR] = LKS_NVML_FI_REMAPPED_COR,
    [UNC] = LKS_NVML_FI_REMAPPED_UNC,
    [PENDING] = LKS_NVML_FI_REMAPPED_PENDING,
    [FAILURE] = LKS_NVML_FI_REMAPPED_FAILURE,
    [C2C] = LKS_NVML_FI_C2C_LINKS,
    [RECOVERY] = LKS_NVML_FI_RECOVERY_ACTION,
};

struct fields {
    struct lks_nvml_field list[FIELDS];
    struct lks_err err; /* of asking for them all */
    bool known;
};

static enum lks_code field(const struct fields *f, size_t i, uint64_t *out, struct lks_err *err)
{
    if (!f->known) {
        *err = f->err;
        return err->code;
    }
    if (lks_nvml_field_fail(&f->list[i], err) != LKS_OK)
        return err->code;
    *out = f->list[i].value;
    return LKS_OK;
}

/* Which of them: there are hundreds. */
static void field_evidence(size_t i, char out[EVIDENCE_MAX])
{
    snprintf(out, EVIDENCE_MAX, "%s %u", lks_nvml_name(LKS_NVML_FIELDS), field_ids[i]);
}

/* While a GPU is divided NVML claims that rows of its memory cannot be remapped at all. */
static void field_failed(const struct reader *r, size_t i, const char *name, const char *evidence,
                         const struct lks_err *err)
{
    if (r->mig && err->code == LKS_E_NOT_FOUND && i >= COR && i <= FAILURE)
        lks_probe_unmeasured(r->p, name, r->of, evidence,
                             "NVML does not tell while MIG is enabled");
    else
        failed(r, name, evidence, err);
}

static void tell_two(const struct reader *r, const struct fields *f, const char *name, size_t a,
                     size_t b, const char *name_a, const char *name_b)
{
    char evidence[EVIDENCE_MAX];
    field_evidence(a, evidence);
    struct lks_err err;
    uint64_t x = 0, y = 0;
    if (field(f, a, &x, &err) != LKS_OK || field(f, b, &y, &err) != LKS_OK) {
        field_failed(r, a, name, evidence, &err);
        return;
    }
    char text[96];
    snprintf(text, sizeof(text), "%s=%" PRIu64 " %s=%" PRIu64, name_a, x, name_b, y);
    value(r, name, text, evidence);
}

static void tell_flag(const struct reader *r, const struct fields *f, const char *name, size_t i)
{
    char evidence[EVIDENCE_MAX];
    field_evidence(i, evidence);
    struct lks_err err;
    uint64_t flag = 0;
    if (field(f, i, &flag, &err) == LKS_OK)
        value(r, name, flag != 0 ? "true" : "false", evidence);
    else
        field_failed(r, i, name, evidence, &err);
}

static void tell_recovery(const struct reader *r, const struct fields *f)
{
    static const char *const actions[] = {"none", "reset", "reboot", "drain-p2p",
                                          "drain-and-reset"};
    const char *name = "gpu.recovery_action";
    struct lks_err err;
    uint64_t action = 0;
    char text[32], evidence[EVIDENCE_MAX];
    field_evidence(RECOVERY, evidence);
    if (field(f, RECOVERY, &action, &err) != LKS_OK) {
        failed(r, name, evidence, &err);
        return;
    }
    snprintf(text, sizeof(text), "action-%" PRIu64, action);
    value(r, name, action < LKS_COUNT(actions) ? actions[action] : text, evidence);
}

static void tell_numa(const struct reader *r, const char *name)
{
    struct lks_err err;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(PARAMS_MAX);
    if (lks_root_read(r->p->root, PARAMS, PARAMS_MAX, &text, &err) != LKS_OK) {
        lks_probe_unmeasured(r->p, name, r->of, PARAMS, "%s", err.msg);
        return;
    }
    struct lks_str rest = lks_buf_view(&text), line, key;
    uint64_t numa = 0;
    while (rest.len > 0) {
        (void)lks_str_cut(rest, '\n', &line, &rest);
        if (lks_str_cut(line, ':', &key, &line) && lks_str_is(key, "EnableUserNUMAManagement") &&
            lks_str_number(lks_str_trim(line), UINT32_MAX, &numa)) {
            value(r, name, numa != 0 ? "numa" : "cdmm", PARAMS);
            return;
        }
    }
    lks_probe_unmeasured(r->p, name, r->of, PARAMS, "has no EnableUserNUMAManagement");
}

/* A GPU with C2C links is one with a Grace CPU. Its memory is a NUMA node of the kernel's unless
 * the module was told otherwise, or decided so for itself; either way this parameter says it. */
static void tell_memory_mode(const struct reader *r, const struct fields *f)
{
    const char *name = "settings.memory_mode";
    struct lks_err err = {0};
    uint64_t links = 0;
    char evidence[EVIDENCE_MAX];
    field_evidence(C2C, evidence);
    if (field(f, C2C, &links, &err) != LKS_OK) {
        failed(r, name, evidence, &err);
        return;
    }
    if (links == 0) {
        lks_probe_absent(r->p, name, r->of, evidence);
        return;
    }
    tell_numa(r, name);
}

static void ask_fields(const struct reader *r, struct fields *f, struct lks_clocks *clocks)
{
    *f = (struct fields){0};
    for (size_t i = 0; i < FIELDS; i++)
        f->list[i] = (struct lks_nvml_field){.id = field_ids[i]};
    clocks->looked = lks_clock_ms();
    f->known = lks_nvml_fields(r->n, r->gpu, f->list, FIELDS, &f->err) == LKS_OK;
    clocks->counters[0] = f->list[BOARD];
    clocks->counters[1] = f->list[RELIABILITY];
    if (!f->known)
        clocks->counters_err = f->err;
}

static void tell_fields(const struct reader *r, const struct fields *f)
{
    tell_two(r, f, "gpu.remapped_rows", COR, UNC, "correctable", "uncorrectable");
    tell_two(r, f, "gpu.retired_pages", SBE, DBE, "single-bit", "double-bit");
    tell_flag(r, f, "gpu.remap_pending", PENDING);
    tell_flag(r, f, "gpu.remap_failed", FAILURE);
    tell_recovery(r, f);
    tell_memory_mode(r, f);
}

/* NVLinks and the fabric --------------------------------------------------------------------- */

struct links {
    struct lks_nvml_field list[LKS_NVML_LINKS_MAX];
};

/* All at once where the driver can, else one by one. */
static enum lks_code ask_links(const struct reader *r, struct links *links, struct lks_err *err)
{
    for (unsigned i = 0; i < LKS_NVML_LINKS_MAX; i++)
        links->list[i] = (struct lks_nvml_field){
            .id = LKS_NVML_FI_LINK_STATE, .scope = i, .code = NOT_SUPPORTED};
    enum lks_code code = lks_nvml_fields(r->n, r->gpu, links->list, LKS_NVML_LINKS_MAX, err);
    if (code == LKS_OK && links->list[0].code == 0)
        return LKS_OK;
    if (code != LKS_OK && code != LKS_E_NOT_FOUND)
        return code;
    for (unsigned i = 0; i < LKS_NVML_LINKS_MAX; i++) {
        struct lks_nvml_field *f = &links->list[i];
        code = lks_nvml_number(r->n, LKS_NVML_LINK_STATE, r->gpu, i, 0, &f->value, err);
        if (code != LKS_OK)
            return code == LKS_E_NOT_FOUND ? LKS_OK : code;
        f->code = 0;
    }
    return LKS_OK;
}

static void tell_links(const struct reader *r)
{
    static const char *const states[] = {"down", "up", "sleep"};
    const char *evidence = lks_nvml_name(LKS_NVML_LINK_STATE);
    struct links links;
    struct lks_err err;
    if (ask_links(r, &links, &err) != LKS_OK) {
        lks_probe_unmeasured(r->p, "devices.nvlinks_up", r->of, evidence, "%s", err.msg);
        lks_probe_unmeasured(r->p, "gpu.nvlinks", r->of, evidence, "%s", err.msg);
        return;
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_READING_VALUE_MAX);
    unsigned up = 0;
    for (size_t i = 0; i < LKS_NVML_LINKS_MAX; i++) {
        const struct lks_nvml_field *f = &links.list[i];
        if (f->code != 0)
            continue;
        up += f->value != 0; /* a sleeping link is no broken one */
        lks_buf_addf(&text, "%s%s", text.len > 0 ? " " : "",
                     f->value < LKS_COUNT(states) ? states[f->value] : "unknown");
    }
    char count[16];
    snprintf(count, sizeof(count), "%u", up);
    value(r, "devices.nvlinks_up", count, evidence);
    if (text.len > 0)
        value(r, "gpu.nvlinks", text.ptr, evidence);
    else
        lks_probe_absent(r->p, "gpu.nvlinks", r->of, evidence);
}

static void tell_fabric(const struct reader *r)
{
    static const char *const states[] = {"", "not-started", "in-progress", "completed"};
    static const char *const healths[] = {"", " healthy", " unhealthy", " limited-capacity"};
    const char *name = "gpu.fabric_state", *evidence = lks_nvml_name(LKS_NVML_FABRIC);
    struct lks_nvml_answer answer;
    struct lks_err err;
    uint64_t state = 0, status = 0, health = 0;
    if (lks_nvml_ask(r->n, LKS_NVML_FABRIC, r->gpu, 0, 0, &answer, &err) != LKS_OK ||
        lks_nvml_word_number(&answer, "state", &state, &err) != LKS_OK ||
        lks_nvml_word_number(&answer, "status", &status, &err) != LKS_OK ||
        lks_nvml_word_number(&answer, "health", &health, &err) != LKS_OK) {
        failed(r, name, evidence, &err);
        return;
    }
    char text[TEXT_MAX], failure[32] = "";
    if (state == 0) {
        lks_probe_absent(r->p, name, r->of, evidence);
        return;
    }
    if (state == 3 && status != 0)
        snprintf(failure, sizeof(failure), " error=%" PRIu64, status);
    snprintf(text, sizeof(text), "%s%s%s", state < LKS_COUNT(states) ? states[state] : "unknown",
             failure, health < LKS_COUNT(healths) ? healths[health] : "");
    value(r, name, text, evidence);
}

static void tell_processes(const struct reader *r)
{
    const char *name = "gpu.processes", *evidence = lks_nvml_name(LKS_NVML_COMPUTE);
    struct lks_err err;
    uint64_t compute = 0, graphics = 0;
    if (lks_nvml_number(r->n, LKS_NVML_COMPUTE, r->gpu, 0, 0, &compute, &err) != LKS_OK) {
        failed(r, name, evidence, &err);
        return;
    }
    enum lks_code code = lks_nvml_number(r->n, LKS_NVML_GRAPHICS, r->gpu, 0, 0, &graphics, &err);
    if (code != LKS_OK && code != LKS_E_NOT_FOUND) {
        failed(r, name, lks_nvml_name(LKS_NVML_GRAPHICS), &err);
        return;
    }
    char text[64];
    if (graphics == 0)
        snprintf(text, sizeof(text), "%" PRIu64, compute);
    else
        snprintf(text, sizeof(text), "compute=%" PRIu64 " graphics=%" PRIu64, compute, graphics);
    value(r, name, text, evidence);
}

void lks_nvidia_gpu_tell(struct lks_probe *p, struct lks_nvml *n, struct lks_nvidia_gpu *gpu)
{
    struct reader r = {.p = p, .n = n, .gpu = &gpu->nvml, .of = lks_str_from(gpu->of)};
    struct fields fields;
    ask_fields(&r, &fields, &gpu->clocks);
    lks_nvidia_clocks_ask(n, &gpu->nvml, &gpu->clocks);
    tell_board(&r);
    tell_pci(&r, &gpu->pci);
    for (size_t i = 0; i < LKS_COUNT(singles); i++)
        tell_single(&r, singles[i].name, singles[i].call, singles[i].show);
    tell_modes(&r);
    tell_fields(&r, &fields);
    tell_power(&r);
    tell_links(&r);
    tell_fabric(&r);
    tell_processes(&r);
}
