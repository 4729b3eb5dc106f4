#include "model/facts_tables.h"

#include <stddef.h>

const char *const lks_facts_statuses[] = {"confirmed", "partly", "sibling", "unconfirmed", NULL};

static const char *const vendors[] = {"nvidia", "amd", "any", NULL};
static const char *const open_modules[] = {"",  "no", "supported", "required", "inbox-or-dkms",
                                           NULL};
static const char *const kinds[] = {"software", "firmware", NULL};
static const char *const schemes[] = {"dotted", "debian", "vbios", "firmware", NULL};
static const char *const edge_kinds[] = {"requires", "conflicts", NULL};

#define COLUMN(row, cname, kind, field, need, ...)                                                 \
    {                                                                                              \
        .name = (cname), .cell = LKS_CELL_##kind, .offset = offsetof(struct row, field),           \
        .required = (need), __VA_ARGS__                                                            \
    }
#define NEED(row, cname, kind, field)  COLUMN(row, cname, kind, field, true, .values = NULL)
#define MAY(row, cname, kind, field)   COLUMN(row, cname, kind, field, false, .values = NULL)
#define WORD(row, cname, field, words) COLUMN(row, cname, CHOICE, field, true, .values = (words))
#define VERSION(row, cname, field, sch)                                                            \
    COLUMN(row, cname, VERSION, field, true, .scheme = LKS_VERSION_##sch)
#define MAY_VERSION(row, cname, field, sch)                                                        \
    COLUMN(row, cname, VERSION, field, false, .scheme = LKS_VERSION_##sch)

/* Every row says how far it is to be trusted and where it was read. */
#define FACT(row)                                                                                  \
    WORD(row, "status", fact.status, lks_facts_statuses), NEED(row, "source", TEXT, fact.source)
#define FACT_NOTE(row) FACT(row), MAY(row, "note", TEXT, fact.note)

static const struct lks_facts_column gpu_columns[] = {
    FACT_NOTE(lks_gpu),
    WORD(lks_gpu, "vendor", vendor, vendors),
    NEED(lks_gpu, "product", TEXT, product),
    NEED(lks_gpu, "family", TEXT, family),
    NEED(lks_gpu, "architecture", TEXT, architecture),
    MAY(lks_gpu, "target", TEXT, target),
    MAY(lks_gpu, "memory_gb", NUMBER, memory_gb),
    MAY(lks_gpu, "nvlink_links", NUMBER, nvlink_links),
    MAY(lks_gpu, "mig_profiles", WORDS, mig_profiles),
    MAY(lks_gpu, "pci_ids", WORDS, pci_ids),
    MAY_VERSION(lks_gpu, "first_listed_driver", first_listed_driver, DOTTED),
    MAY_VERSION(lks_gpu, "min_driver", min_driver, DOTTED),
    MAY(lks_gpu, "max_driver_branch", BRANCH, max_driver_branch),
    MAY_VERSION(lks_gpu, "min_toolkit", min_toolkit, DOTTED),
    MAY(lks_gpu, "max_toolkit_major", BRANCH, max_toolkit_major),
    COLUMN(lks_gpu, "open_modules", CHOICE, open_modules, false, .values = open_modules),
    NEED(lks_gpu, "datacenter", BOOL, datacenter),
    NEED(lks_gpu, "grace", BOOL, grace),
    NEED(lks_gpu, "nvswitch", BOOL, nvswitch),
};

static const struct lks_facts_column branch_columns[] = {
    FACT(lks_branch),
    NEED(lks_branch, "branch", BRANCH, number),
    MAY(lks_branch, "type", TEXT, type),
    MAY(lks_branch, "first_release", DAY, first_release),
    MAY(lks_branch, "eol", DAY, eol),
    MAY(lks_branch, "eol_other", DAY, eol_other),
    MAY_VERSION(lks_branch, "latest", latest, DOTTED),
    MAY_VERSION(lks_branch, "cuda", cuda, DOTTED),
    NEED(lks_branch, "architectures", WORDS, architectures),
    NEED(lks_branch, "open_modules", TEXT, open_modules),
    MAY_VERSION(lks_branch, "min_kernel_open", min_kernel_open, DOTTED),
};

static const struct lks_facts_column driver_columns[] = {
    FACT(lks_driver),
    VERSION(lks_driver, "version", version, DOTTED),
    NEED(lks_driver, "branch", BRANCH, branch),
    MAY(lks_driver, "date", DAY, date),
    NEED(lks_driver, "datacenter", BOOL, datacenter),
};

static const struct lks_facts_column toolkit_columns[] = {
    FACT_NOTE(lks_toolkit),
    VERSION(lks_toolkit, "cuda", version, DOTTED),
    VERSION(lks_toolkit, "min_driver", min_driver, DOTTED),
    VERSION(lks_toolkit, "minor_compat_min", minor_compat_min, DOTTED),
    MAY(lks_toolkit, "backward_from", BRANCH, backward_from),
    NEED(lks_toolkit, "bundles_driver", BOOL, bundles_driver),
};

static const struct lks_facts_column compat_columns[] = {
    FACT(lks_compat_package),
    NEED(lks_compat_package, "package", TEXT, package),
    VERSION(lks_compat_package, "cuda", cuda, DOTTED),
    NEED(lks_compat_package, "branch", BRANCH, branch),
    NEED(lks_compat_package, "verdict", TEXT, verdict),
};

static const struct lks_facts_column cudnn_columns[] = {
    FACT_NOTE(lks_cudnn),
    VERSION(lks_cudnn, "cudnn", version, DOTTED),
    NEED(lks_cudnn, "cuda_major", BRANCH, cuda_major),
    NEED(lks_cudnn, "cuda_versions", WORDS, cuda_versions),
    MAY_VERSION(lks_cudnn, "min_driver", min_driver, DOTTED),
    MAY(lks_cudnn, "targets", WORDS, targets),
};

static const struct lks_facts_column nccl_columns[] = {
    FACT_NOTE(lks_nccl),
    VERSION(lks_nccl, "nccl", version, DOTTED),
    MAY(lks_nccl, "date", DAY, date),
    MAY(lks_nccl, "cuda_majors", WORDS, cuda_majors),
    MAY(lks_nccl, "sm_min", NUMBER, sm_min),
    MAY(lks_nccl, "sm_max", NUMBER, sm_max),
    NEED(lks_nccl, "rank_check", BOOL, rank_check),
};

static const struct lks_facts_column ctk_columns[] = {
    FACT_NOTE(lks_ctk),
    VERSION(lks_ctk, "version", version, DOTTED),
    MAY(lks_ctk, "date", DAY, date),
};

static const struct lks_facts_column dcgm_columns[] = {
    FACT_NOTE(lks_dcgm),
    VERSION(lks_dcgm, "dcgm", version, DOTTED),
    MAY_VERSION(lks_dcgm, "min_driver", min_driver, DOTTED),
    MAY_VERSION(lks_dcgm, "min_driver_nvswitch", min_driver_nvswitch, DOTTED),
};

static const struct lks_facts_column operator_columns[] = {
    FACT_NOTE(lks_operator),
    VERSION(lks_operator, "operator", version, DOTTED),
    MAY(lks_operator, "date", DAY, date),
    MAY(lks_operator, "support", TEXT, support),
    MAY_VERSION(lks_operator, "driver", driver, DOTTED),
    MAY(lks_operator, "listed_drivers", WORDS, listed_drivers),
    MAY_VERSION(lks_operator, "toolkit", toolkit, DOTTED),
    MAY_VERSION(lks_operator, "dcgm", dcgm, DOTTED),
};

static const struct lks_facts_column image_columns[] = {
    FACT_NOTE(lks_image),
    NEED(lks_image, "tag", TEXT, tag),
    NEED(lks_image, "image", TEXT, image),
    MAY_VERSION(lks_image, "cuda", cuda, DOTTED),
    MAY_VERSION(lks_image, "cudnn", cudnn, DOTTED),
    MAY_VERSION(lks_image, "nccl", nccl, DOTTED),
    MAY(lks_image, "torch", TEXT, torch),
    MAY_VERSION(lks_image, "driver", driver, DOTTED),
};

static const struct lks_facts_column rocm_columns[] = {
    FACT_NOTE(lks_rocm),
    VERSION(lks_rocm, "rocm", version, DOTTED),
    MAY(lks_rocm, "date", DAY, date),
    MAY_VERSION(lks_rocm, "rccl", rccl, DOTTED),
    MAY_VERSION(lks_rocm, "miopen", miopen, DOTTED),
    MAY(lks_rocm, "amdgpu", WORDS, amdgpu),
    MAY(lks_rocm, "amdgpu_older", WORDS, amdgpu_older),
    MAY(lks_rocm, "older_gpus", WORDS, older_gpus),
    MAY(lks_rocm, "targets", WORDS, targets),
    MAY(lks_rocm, "gpus", WORDS, gpus),
    MAY(lks_rocm, "firmware", TEXT, firmware),
};

static const struct lks_facts_column rocm_window_columns[] = {
    FACT(lks_rocm_window),
    NEED(lks_rocm_window, "amdgpu", TEXT, amdgpu),
    NEED(lks_rocm_window, "rocm", WORDS, rocm),
};

static const struct lks_facts_column xid_columns[] = {
    FACT_NOTE(lks_xid),
    NEED(lks_xid, "xid", NUMBER, number),
    MAY(lks_xid, "mnemonic", TEXT, mnemonic),
    MAY(lks_xid, "description", TEXT, description),
    MAY(lks_xid, "category", TEXT, category),
    MAY(lks_xid, "severity", TEXT, severity),
    MAY(lks_xid, "immediate_action", TEXT, immediate_action),
    MAY(lks_xid, "investigatory_action", TEXT, investigatory_action),
    MAY(lks_xid, "applies_a100", TEXT, applies_a100),
    MAY(lks_xid, "applies_h100", TEXT, applies_h100),
    MAY(lks_xid, "applies_b100", TEXT, applies_b100),
    MAY(lks_xid, "applies_gb200", TEXT, applies_gb200),
    MAY(lks_xid, "xid154_since", TEXT, xid154_since),
};

static const struct lks_facts_column sxid_columns[] = {
    FACT(lks_sxid),
    NEED(lks_sxid, "sxid", NUMBER, number),
    MAY(lks_sxid, "mnemonic", TEXT, mnemonic),
    MAY(lks_sxid, "unit", TEXT, unit),
    MAY(lks_sxid, "fatality", TEXT, fatality),
    MAY(lks_sxid, "recommended_action", TEXT, recommended_action),
    MAY(lks_sxid, "fm_guide_class", TEXT, fm_guide_class),
    MAY(lks_sxid, "fm_guide_title", TEXT, fm_guide_title),
};

static const struct lks_facts_column action_columns[] = {
    FACT(lks_xid_action),
    NEED(lks_xid_action, "action", TEXT, action),
    NEED(lks_xid_action, "actor", TEXT, actor),
    NEED(lks_xid_action, "meaning", TEXT, meaning),
    NEED(lks_xid_action, "disruption", TEXT, disruption),
};

static const struct lks_facts_column nvlink5_columns[] = {
    FACT(lks_xid_nvlink5),
    NEED(lks_xid_nvlink5, "xid", NUMBER, number),
    NEED(lks_xid_nvlink5, "unit", TEXT, unit),
    MAY(lks_xid_nvlink5, "intrinfo_v1", TEXT, intrinfo_v1),
    MAY(lks_xid_nvlink5, "intrinfo_v2", TEXT, intrinfo_v2),
    MAY(lks_xid_nvlink5, "error_status", TEXT, error_status),
    NEED(lks_xid_nvlink5, "action", TEXT, action),
    MAY(lks_xid_nvlink5, "intrinfo_v1_action2", TEXT, intrinfo_v1_action2),
    MAY(lks_xid_nvlink5, "intrinfo_v2_action2", TEXT, intrinfo_v2_action2),
    MAY(lks_xid_nvlink5, "action2", TEXT, action2),
    MAY(lks_xid_nvlink5, "investigatory_action", TEXT, investigatory_action),
    MAY(lks_xid_nvlink5, "severity", TEXT, severity),
    MAY(lks_xid_nvlink5, "cause", TEXT, cause),
};

static const struct lks_facts_column update_columns[] = {
    FACT(lks_update_class),
    NEED(lks_update_class, "class", TEXT, name),
    NEED(lks_update_class, "transport", TEXT, transport),
    NEED(lks_update_class, "window", TEXT, window),
    NEED(lks_update_class, "disruption", TEXT, disruption),
    NEED(lks_update_class, "revert", TEXT, revert),
    NEED(lks_update_class, "risk", NUMBER, risk),
    NEED(lks_update_class, "if_wrong", TEXT, if_wrong),
};

static const struct lks_facts_column change_columns[] = {
    FACT(lks_change_class),
    NEED(lks_change_class, "class", TEXT, name),
    NEED(lks_change_class, "example", TEXT, example),
    NEED(lks_change_class, "approval", TEXT, approval),
    NEED(lks_change_class, "pattern", TEXT, pattern),
    NEED(lks_change_class, "revert", TEXT, revert),
    NEED(lks_change_class, "standby", TEXT, standby),
};

static const struct lks_facts_column posture_columns[] = {
    FACT_NOTE(lks_posture),
    NEED(lks_posture, "posture", TEXT, name),
    NEED(lks_posture, "production", BOOL, production),
    NEED(lks_posture, "sync", TEXT, sync),
    NEED(lks_posture, "pinning", TEXT, pinning),
    NEED(lks_posture, "injection", TEXT, injection),
    NEED(lks_posture, "cadence", TEXT, cadence),
    NEED(lks_posture, "mixed_in_job", TEXT, mixed_in_job),
    NEED(lks_posture, "strict_unresolved", BOOL, strict_unresolved),
};

static const struct lks_facts_column component_columns[] = {
    FACT(lks_component_kind),
    NEED(lks_component_kind, "name", TEXT, name),
    WORD(lks_component_kind, "vendor", vendor, vendors),
    WORD(lks_component_kind, "kind", sort, kinds),
    WORD(lks_component_kind, "scheme", scheme, schemes),
    NEED(lks_component_kind, "update_class", TEXT, update_class),
    NEED(lks_component_kind, "reboot", TEXT, reboot),
    NEED(lks_component_kind, "scope", TEXT, scope),
    MAY(lks_component_kind, "aliases", WORDS, aliases),
    NEED(lks_component_kind, "summary", TEXT, summary),
};

static const struct lks_facts_column setting_columns[] = {
    FACT(lks_setting_kind),
    NEED(lks_setting_kind, "name", TEXT, name),
    NEED(lks_setting_kind, "reboot", TEXT, reboot),
    NEED(lks_setting_kind, "revert", TEXT, revert),
    NEED(lks_setting_kind, "summary", TEXT, summary),
};

static const struct lks_facts_column edge_columns[] = {
    FACT_NOTE(lks_edge),
    NEED(lks_edge, "id", TEXT, id),
    WORD(lks_edge, "kind", kind, edge_kinds),
    MAY(lks_edge, "component", TEXT, component),
    MAY(lks_edge, "range", TEXT, range),
    NEED(lks_edge, "other", TEXT, other),
    MAY(lks_edge, "other_range", TEXT, other_range),
    MAY(lks_edge, "gpus", WORDS, gpus),
    MAY(lks_edge, "condition", TEXT, condition),
};

#define TABLE(filename, member, row, cols)                                                         \
    {                                                                                              \
        .file = (filename), .rows_offset = offsetof(struct lks_facts, member),                     \
        .row_size = sizeof(struct row), .columns = (cols), .column_count = LKS_COUNT(cols)         \
    }

const struct lks_facts_table lks_facts_tables[] = {
    TABLE("gpus.csv", gpus, lks_gpu, gpu_columns),
    TABLE("driver-branches.csv", branches, lks_branch, branch_columns),
    TABLE("driver-versions.csv", drivers, lks_driver, driver_columns),
    TABLE("cuda.csv", toolkits, lks_toolkit, toolkit_columns),
    TABLE("cuda-compat.csv", compat_packages, lks_compat_package, compat_columns),
    TABLE("cudnn.csv", cudnns, lks_cudnn, cudnn_columns),
    TABLE("nccl.csv", nccls, lks_nccl, nccl_columns),
    TABLE("container-toolkit.csv", ctks, lks_ctk, ctk_columns),
    TABLE("dcgm.csv", dcgms, lks_dcgm, dcgm_columns),
    TABLE("gpu-operator.csv", operators, lks_operator, operator_columns),
    TABLE("ngc-pytorch.csv", images, lks_image, image_columns),
    TABLE("rocm.csv", rocms, lks_rocm, rocm_columns),
    TABLE("rocm-window.csv", rocm_windows, lks_rocm_window, rocm_window_columns),
    TABLE("xid.csv", xids, lks_xid, xid_columns),
    TABLE("sxid.csv", sxids, lks_sxid, sxid_columns),
    TABLE("xid-actions.csv", xid_actions, lks_xid_action, action_columns),
    TABLE("xid-nvlink5.csv", xid_nvlink5, lks_xid_nvlink5, nvlink5_columns),
    TABLE("update-classes.csv", update_classes, lks_update_class, update_columns),
    TABLE("change-classes.csv", change_classes, lks_change_class, change_columns),
    TABLE("postures.csv", postures, lks_posture, posture_columns),
    TABLE("components.csv", components, lks_component_kind, component_columns),
    TABLE("settings.csv", settings, lks_setting_kind, setting_columns),
    TABLE("requires.csv", edges, lks_edge, edge_columns),
};
const size_t lks_facts_table_count = LKS_COUNT(lks_facts_tables);
