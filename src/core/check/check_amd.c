/* Rules about AMD's software. Whether driver and ROCm go together is asked by the compat rule. */
#include "core/check/check_rules.h"

static const struct lks_rocm *pinned_rocm(const struct lks_checking *c)
{
    struct lks_str version = lks_stack_version(c->stack, "rocm");
    return version.len > 0 ? lks_compat_rocm(c->facts, version) : NULL;
}

enum lks_code lks_check_rocm_parts(struct lks_checking *c)
{
    const struct lks_rocm *rocm = pinned_rocm(c);
    if (rocm == NULL)
        return LKS_OK;
    const struct {
        const char *name;
        struct lks_str carried;
    } parts[] = {{"rccl", rocm->rccl}, {"miopen", rocm->miopen}};
    for (size_t i = 0; i < LKS_COUNT(parts); i++) {
        struct lks_str pinned = lks_stack_version(c->stack, parts[i].name);
        if (pinned.len == 0 || parts[i].carried.len == 0 ||
            lks_version_covers(parts[i].carried, pinned))
            continue;
        LKS_NOTE_FINDING(
            c, LKS_WARNING, lks_str_from(parts[i].name), &rocm->fact,
            "%" LKS_STR_FMT " is not the one of ROCm %" LKS_STR_FMT ", which is %" LKS_STR_FMT,
            LKS_STR_ARG(pinned), LKS_STR_ARG(rocm->version), LKS_STR_ARG(parts[i].carried));
        lks_report_remedy(c->out, "pin %s \"%" LKS_STR_FMT "\"", parts[i].name,
                          LKS_STR_ARG(parts[i].carried));
    }
    return LKS_OK;
}

/* One of "01.25.06.04/01.25.03.12+": a '+' behind a version means that one or a later one. */
static bool firmware_listed(struct lks_str versions, struct lks_str pinned)
{
    while (versions.len > 0) {
        struct lks_str each;
        lks_str_cut(versions, '/', &each, &versions);
        bool or_later = each.len > 0 && each.ptr[each.len - 1] == '+';
        each.len -= or_later;
        int order = lks_version_cmp(pinned, each, LKS_VERSION_FIRMWARE);
        if (order == 0 || (or_later && order > 0))
            return true;
    }
    return false;
}

static void check_bundle(struct lks_checking *c, const struct lks_rocm *rocm,
                         const struct lks_component *bundle, const struct lks_gpu *gpu)
{
    struct lks_str rest = rocm->firmware, entry;
    while (lks_str_word(&rest, &entry)) {
        struct lks_str family, versions;
        if (!lks_str_cut(entry, '=', &family, &versions) || !lks_str_eq(family, gpu->family) ||
            firmware_listed(versions, bundle->version))
            continue;
        LKS_NOTE_FINDING(c, LKS_WARNING, bundle->name, &rocm->fact,
                         "%" LKS_STR_FMT " is not among the bundles ROCm %" LKS_STR_FMT
                         " names for %" LKS_STR_FMT " (%" LKS_STR_FMT ")",
                         LKS_STR_ARG(bundle->version), LKS_STR_ARG(rocm->version),
                         LKS_STR_ARG(family), LKS_STR_ARG(versions));
    }
}

enum lks_code lks_check_rocm_firmware(struct lks_checking *c)
{
    const struct lks_rocm *rocm = pinned_rocm(c);
    for (size_t i = 0; i < c->stack->component_count && rocm != NULL; i++) {
        const struct lks_component *bundle = &c->stack->components[i];
        if (!lks_str_is(bundle->name, "firmware/pldm-bundle") || bundle->version.len == 0)
            continue;
        for (size_t j = 0; j < c->board_count; j++)
            check_bundle(c, rocm, bundle, c->boards[j]);
    }
    return LKS_OK;
}
