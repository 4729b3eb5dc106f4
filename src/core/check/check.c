#include "core/check/check_rules.h"

#define QUOTED(x)  #x
#define TEXT_OF(x) QUOTED(x)

/* Cheap and deadly first. The broken examples in examples/ break one each. */
static const struct {
    struct lks_check_rule rule;
    lks_rule_fn *run;
} rules[] = {
    {{"compat", "driver, toolkit and modules run on every GPU of the hardware classes"},
     lks_check_compat},
    {{"driver-family", "fabric manager, IMEX and NSCQ have exactly the driver's version"},
     lks_check_driver_family},
    {{"kernel", "the kernel is new enough for the open modules"}, lks_check_kernel},
    {{"nccl", "one job has one NCCL, built for the CUDA major and the GPUs"}, lks_check_nccl},
    {{"cudnn", "cuDNN is built for the CUDA major, lists the GPUs and accepts the driver"},
     lks_check_cudnn},
    {{"cdmm", "driver-managed memory is for Grace, and excludes MIG and GPUDirect Storage"},
     lks_check_cdmm},
    {{"mig", "MIG profiles exist on the board and fit on it"}, lks_check_mig},
    {{"toolkit-library", "container toolkit and libnvidia-container have one version"},
     lks_check_toolkit_library},
    {{"bundled-driver", "packages of CUDA bring no other driver than the packaged one along"},
     lks_check_bundled_driver},
    {{"dcgm", "DCGM accepts the driver"}, lks_check_dcgm},
    {{"gpu-operator", "what GPU Operator owns is what that release carries"},
     lks_check_gpu_operator},
    {{"rocm-parts", "RCCL and MIOpen are those of the ROCm release"}, lks_check_rocm_parts},
    {{"rocm-firmware", "the firmware bundle is one the ROCm release names"},
     lks_check_rocm_firmware},
    {{"requires", "every requires and conflicts edge holds, the site's own included"},
     lks_check_edges},
    {{"lifecycle",
      "the driver branch is supported, and for " TEXT_OF(LKS_CHECK_EOL_DAYS) " days more"},
     lks_check_lifecycle},
    {{"last-branch", "hardware that can never leave its driver branch is named"},
     lks_check_last_branch},
    {{"unattended-upgrades", "no package manager replaces what is pinned"}, lks_check_unattended},
    {{"one-way", "irreversible firmware is named"}, lks_check_one_way},
    {{"spelling", "an unknown component is not a misspelled one"}, lks_check_spelling},
    {{"known-version", "driver and CUDA have versions that the tables know"},
     lks_check_known_version},
    {{"advisories", "no advisory is open"}, lks_check_advisories},
    {{"version-policy", "the stack is one the pools that pin it accept"}, lks_check_policy},
};

const struct lks_check_rule *lks_check_rule(size_t index)
{
    return index < LKS_COUNT(rules) ? &rules[index].rule : NULL;
}

enum lks_code lks_check_names(const struct lks_facts *facts, const struct lks_stack *stack,
                              struct lks_report *out, struct lks_err *err)
{
    const struct lks_check check = {.facts = facts, .stack = stack};
    struct lks_checking c = {.in = &check, .facts = facts, .stack = stack, .out = out, .err = err};
    c.rule = "spelling";
    if (lks_check_spelling(&c) != LKS_OK)
        return err->code;
    c.rule = "known-version";
    if (lks_check_known_version(&c) != LKS_OK)
        return err->code;
    return lks_report_check(out, err);
}

static void add_gpu(struct lks_checking *c, struct lks_str name)
{
    for (size_t i = 0; i < c->gpu_count; i++) {
        if (lks_str_eq(c->gpus[i], name))
            return;
    }
    c->gpus[c->gpu_count++] = name;
    struct lks_compat_question question = lks_compat_of_stack(c->stack, name);
    const struct lks_gpu *best = lks_compat_best(c->facts, &question);
    if (best != NULL && !lks_board_among(best, c->boards, c->board_count))
        c->boards[c->board_count++] = best;
}

enum lks_code lks_check_run(const struct lks_check *check, struct lks_report *out,
                            struct lks_err *err)
{
    struct lks_checking c = {
        .in = check, .facts = check->facts, .stack = check->stack, .out = out, .err = err};
    if (check->gpu.len > 0)
        add_gpu(&c, check->gpu);
    for (size_t i = 0; i < check->stack->class_count && check->gpu.len == 0; i++)
        add_gpu(&c, check->stack->classes[i]->gpu);
    for (size_t i = 0; i < LKS_COUNT(rules); i++) {
        c.rule = rules[i].rule.id;
        if (rules[i].run(&c) != LKS_OK)
            return err->code;
    }
    return lks_report_check(out, err);
}
