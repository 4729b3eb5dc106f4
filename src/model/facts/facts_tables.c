#include "model/facts/facts_tables.h"

#include <stddef.h>

const char *const lks_facts_statuses[] = {"confirmed", "partly", "sibling", "unconfirmed", NULL};

static const char *const vendors[] = {"nvidia", "amd", "any", NULL};
static const char *const gpu_vendors[] = {"nvidia", "amd", NULL};
static const char *const open_modules[] = {"",  "no", "supported", "required", "inbox-or-dkms",
                                           NULL};
static const char *const kinds[] = {"software", "firmware", NULL};
static const char *const schemes[] = {"dotted", "debian", "vbios", "firmware", NULL};
static const char *const package_says[] = {"version", "full", "three", "two", "name", "code", NULL};
static const char *const edge_kinds[] = {"requires", "conflicts", NULL};
const char *const lks_drain_way_words[] = {"wait-job", "out-of-rotation", "opportunistic",
                                           "per-job", NULL};
const char *const lks_change_covers_words[] = {"window", "all", "plant", "advisory", NULL};
const char *const lks_drain_then_words[] = {"hold", "skip", NULL};

/* Words that stay text are compared by programs and read by scripts, so their lists are closed: one
 * that is misspelled would silently be none of those anyone asks for. */
#define COLUMN(row, cname, kind, field, need, ...)                                                 \
    {                                                                                              \
        .name = (cname), .cell = LKS_CELL_##kind, .offset = offsetof(struct row, field),           \
        .required = (need), __VA_ARGS__                                                            \
    }
#define NEED(row, cname, kind, field)    COLUMN(row, cname, kind, field, true, .key = false)
#define MAY(row, cname, kind, field)     COLUMN(row, cname, kind, field, false, .key = false)
#define KEY(row, cname, kind, field)     COLUMN(row, cname, kind, field, true, .key = true)
#define CHOICE(row, cname, field, words) COLUMN(row, cname, CHOICE, field, true, .values = (words))
#define WORD(row, cname, field, ...)                                                               \
    COLUMN(row, cname, WORD, field, true, .values = LKS_WORDS(__VA_ARGS__))
#define MAY_WORD(row, cname, field, ...)                                                           \
    COLUMN(row, cname, WORD, field, false, .values = LKS_WORDS(__VA_ARGS__))
#define VERSION(row, cname, field, sch)                                                            \
    COLUMN(row, cname, VERSION, field, true, .scheme = LKS_VERSION_##sch)
#define MAY_VERSION(row, cname, field, sch)                                                        \
    COLUMN(row, cname, VERSION, field, false, .scheme = LKS_VERSION_##sch)
#define KEY_VERSION(row, cname, field, sch)                                                        \
    COLUMN(row, cname, VERSION, field, true, .scheme = LKS_VERSION_##sch, .key = true)
/* A key by which other rows call this one, and a place where they do. */
#define KEY_NAME(row, cname, field, what)                                                          \
    COLUMN(row, cname, TEXT, field, true, .key = true, .defines = LKS_REF_##what)
#define NAME(row, cname, field, what)                                                              \
    COLUMN(row, cname, TEXT, field, true, .defines = LKS_REF_##what)
#define REF(row, cname, kind, field, what)                                                         \
    COLUMN(row, cname, kind, field, true, .refers = LKS_REF_##what)
#define MAY_REF(row, cname, kind, field, what)                                                     \
    COLUMN(row, cname, kind, field, false, .refers = LKS_REF_##what)

/* Every row says how far it is to be trusted and where it was read. */
#define FACT(row)                                                                                  \
    CHOICE(row, "status", fact.status, lks_facts_statuses), NEED(row, "source", TEXT, fact.source)
#define FACT_NOTE(row) FACT(row), MAY(row, "note", TEXT, fact.note)

static const struct lks_facts_column gpu_columns[] = {
    FACT_NOTE(lks_gpu),
    CHOICE(lks_gpu, "vendor", vendor, gpu_vendors),
    KEY(lks_gpu, "product", TEXT, product),
    NAME(lks_gpu, "family", family, FAMILY),
    NAME(lks_gpu, "architecture", architecture, ARCHITECTURE),
    MAY(lks_gpu, "target", TEXT, target),
    MAY(lks_gpu, "memory_gb", NUMBER, memory_gb),
    MAY(lks_gpu, "nvlink_links", NUMBER, nvlink_links),
    MAY(lks_gpu, "mig_profiles", WORDS, mig_profiles),
    MAY(lks_gpu, "pci_ids", WORDS, pci_ids),
    MAY(lks_gpu, "names", TEXT, names),
    MAY_VERSION(lks_gpu, "first_listed_driver", first_listed_driver, DOTTED),
    MAY_VERSION(lks_gpu, "min_driver", min_driver, DOTTED),
    MAY_REF(lks_gpu, "max_driver_branch", BRANCH, max_driver_branch, BRANCH),
    MAY_VERSION(lks_gpu, "min_toolkit", min_toolkit, DOTTED),
    MAY(lks_gpu, "max_toolkit_major", BRANCH, max_toolkit_major),
    COLUMN(lks_gpu, "open_modules", CHOICE, open_modules, false, .values = open_modules),
    NEED(lks_gpu, "datacenter", BOOL, datacenter),
    NEED(lks_gpu, "grace", BOOL, grace),
    NEED(lks_gpu, "nvswitch", BOOL, nvswitch),
};

static const struct lks_facts_column branch_columns[] = {
    FACT(lks_branch),
    KEY(lks_branch, "branch", BRANCH, number),
    MAY_WORD(lks_branch, "type", type, "LTSB", "PB", "NFB", "dev"),
    MAY(lks_branch, "first_release", DAY, first_release),
    MAY(lks_branch, "eol", DAY, eol),
    MAY(lks_branch, "eol_other", DAY, eol_other),
    MAY_VERSION(lks_branch, "latest", latest, DOTTED),
    MAY_VERSION(lks_branch, "cuda", cuda, DOTTED),
    REF(lks_branch, "architectures", WORDS, architectures, ARCHITECTURE),
    WORD(lks_branch, "open_modules", open_modules, "no", "available", "default"),
    MAY_VERSION(lks_branch, "min_kernel_open", min_kernel_open, DOTTED),
};

static const struct lks_facts_column driver_columns[] = {
    FACT(lks_driver),
    KEY_VERSION(lks_driver, "version", version, DOTTED),
    REF(lks_driver, "branch", BRANCH, branch, BRANCH),
    MAY(lks_driver, "date", DAY, date),
    NEED(lks_driver, "datacenter", BOOL, datacenter),
};

static const struct lks_facts_column toolkit_columns[] = {
    FACT_NOTE(lks_toolkit),
    KEY_VERSION(lks_toolkit, "cuda", version, DOTTED),
    VERSION(lks_toolkit, "min_driver", min_driver, DOTTED),
    VERSION(lks_toolkit, "minor_compat_min", minor_compat_min, DOTTED),
    MAY_REF(lks_toolkit, "backward_from", BRANCH, backward_from, BRANCH),
    NEED(lks_toolkit, "bundles_driver", BOOL, bundles_driver),
};

static const struct lks_facts_column compat_columns[] = {
    FACT(lks_compat_package),
    NEED(lks_compat_package, "package", TEXT, package),
    KEY_VERSION(lks_compat_package, "cuda", cuda, DOTTED),
    COLUMN(lks_compat_package, "branch", BRANCH, branch, true, .key = true,
           .refers = LKS_REF_BRANCH),
    WORD(lks_compat_package, "verdict", verdict, "compatible", "not-needed", "not-compatible"),
};

static const struct lks_facts_column cudnn_columns[] = {
    FACT_NOTE(lks_cudnn),
    VERSION(lks_cudnn, "cudnn", version, DOTTED),
    NEED(lks_cudnn, "cuda_major", BRANCH, cuda_major),
    NEED(lks_cudnn, "cuda_versions", PATTERNS, cuda_versions),
    MAY_VERSION(lks_cudnn, "min_driver", min_driver, DOTTED),
    MAY(lks_cudnn, "targets", WORDS, targets),
};

static const struct lks_facts_column nccl_columns[] = {
    FACT_NOTE(lks_nccl),
    KEY_VERSION(lks_nccl, "nccl", version, DOTTED),
    MAY(lks_nccl, "date", DAY, date),
    MAY(lks_nccl, "cuda_majors", PATTERNS, cuda_majors),
    MAY(lks_nccl, "sm_min", NUMBER, sm_min),
    MAY(lks_nccl, "sm_max", NUMBER, sm_max),
    NEED(lks_nccl, "rank_check", BOOL, rank_check),
};

static const struct lks_facts_column ctk_columns[] = {
    FACT_NOTE(lks_ctk),
    KEY_VERSION(lks_ctk, "version", version, DOTTED),
    MAY(lks_ctk, "date", DAY, date),
};

static const struct lks_facts_column dcgm_columns[] = {
    FACT_NOTE(lks_dcgm),
    KEY_VERSION(lks_dcgm, "dcgm", version, DOTTED),
    MAY_VERSION(lks_dcgm, "min_driver", min_driver, DOTTED),
    MAY_VERSION(lks_dcgm, "min_driver_nvswitch", min_driver_nvswitch, DOTTED),
};

static const struct lks_facts_column operator_columns[] = {
    FACT_NOTE(lks_operator),
    KEY_VERSION(lks_operator, "operator", version, DOTTED),
    MAY(lks_operator, "date", DAY, date),
    MAY_WORD(lks_operator, "support", support, "supported", "deprecated", "end-of-support"),
    MAY_VERSION(lks_operator, "driver", driver, DOTTED),
    MAY(lks_operator, "listed_drivers", PATTERNS, listed_drivers),
    MAY_VERSION(lks_operator, "toolkit", toolkit, DOTTED),
    MAY_VERSION(lks_operator, "dcgm", dcgm, DOTTED),
};

static const struct lks_facts_column image_columns[] = {
    FACT_NOTE(lks_image),
    KEY(lks_image, "tag", TEXT, tag),
    NEED(lks_image, "image", TEXT, image),
    MAY_VERSION(lks_image, "cuda", cuda, DOTTED),
    MAY_VERSION(lks_image, "cudnn", cudnn, DOTTED),
    MAY_VERSION(lks_image, "nccl", nccl, DOTTED),
    MAY(lks_image, "torch", TEXT, torch),
    MAY_VERSION(lks_image, "driver", driver, DOTTED),
};

static const struct lks_facts_column rocm_columns[] = {
    FACT_NOTE(lks_rocm),
    KEY_VERSION(lks_rocm, "rocm", version, DOTTED),
    MAY(lks_rocm, "date", DAY, date),
    MAY_VERSION(lks_rocm, "rccl", rccl, DOTTED),
    MAY_VERSION(lks_rocm, "miopen", miopen, DOTTED),
    MAY(lks_rocm, "amdgpu", PATTERNS, amdgpu),
    MAY(lks_rocm, "amdgpu_older", PATTERNS, amdgpu_older),
    MAY_REF(lks_rocm, "older_gpus", WORDS, older_gpus, FAMILY),
    MAY(lks_rocm, "targets", WORDS, targets),
    MAY_REF(lks_rocm, "gpus", WORDS, gpus, FAMILY),
    MAY(lks_rocm, "firmware", WORDS, firmware),
};

static const struct lks_facts_column rocm_window_columns[] = {
    FACT(lks_rocm_window),
    KEY(lks_rocm_window, "amdgpu", PATTERN, amdgpu),
    NEED(lks_rocm_window, "rocm", PATTERNS, rocm),
};

static const struct lks_facts_column xid_columns[] = {
    FACT_NOTE(lks_xid),
    KEY(lks_xid, "xid", NUMBER, number),
    MAY(lks_xid, "mnemonic", TEXT, mnemonic),
    MAY(lks_xid, "description", TEXT, description),
    MAY(lks_xid, "category", TEXT, category),
    MAY_WORD(lks_xid, "severity", severity, "fatal-node", "fatal-gpu", "fatal-vm", "app", "info",
             "decode", "operator", "unrated", "unused"),
    MAY_REF(lks_xid, "immediate_action", TEXT, immediate_action, ACTION),
    MAY_REF(lks_xid, "investigatory_action", TEXT, investigatory_action, ACTION),
    MAY_WORD(lks_xid, "applies_a100", applies_a100, "yes", "no"),
    MAY_WORD(lks_xid, "applies_h100", applies_h100, "yes", "no"),
    MAY_WORD(lks_xid, "applies_b100", applies_b100, "yes", "no"),
    MAY_WORD(lks_xid, "applies_gb200", applies_gb200, "yes", "no"),
    MAY(lks_xid, "xid154_since", TEXT, xid154_since),
};

static const struct lks_facts_column sxid_columns[] = {
    FACT(lks_sxid),
    KEY(lks_sxid, "sxid", NUMBER, number),
    MAY(lks_sxid, "mnemonic", TEXT, mnemonic),
    MAY(lks_sxid, "unit", TEXT, unit),
    MAY_WORD(lks_sxid, "fatality", fatality, "fatal", "non-fatal"),
    MAY_REF(lks_sxid, "recommended_action", TEXT, recommended_action, ACTION),
    MAY_WORD(lks_sxid, "fm_guide_class", fm_guide_class, "non-fatal", "potentially-fatal",
             "always-fatal"),
    MAY(lks_sxid, "fm_guide_title", TEXT, fm_guide_title),
};

static const struct lks_facts_column action_columns[] = {
    FACT(lks_xid_action),
    KEY_NAME(lks_xid_action, "action", action, ACTION),
    NEED(lks_xid_action, "actor", TEXT, actor),
    NEED(lks_xid_action, "meaning", TEXT, meaning),
    WORD(lks_xid_action, "disruption", disruption, "no", "service", "service-if", "gpu", "gpu-if",
         "gpu-or-fabric", "vm", "node", "node-out", "fabric", "hands", "change", "by-154",
         "by-bits", "by-table"),
};

static const struct lks_facts_column nvlink5_columns[] = {
    FACT(lks_xid_nvlink5),
    NEED(lks_xid_nvlink5, "xid", NUMBER, number),
    NEED(lks_xid_nvlink5, "unit", TEXT, unit),
    MAY(lks_xid_nvlink5, "intrinfo_v1", BITS, intrinfo_v1),
    MAY(lks_xid_nvlink5, "intrinfo_v2", BITS, intrinfo_v2),
    MAY(lks_xid_nvlink5, "error_status", HEX, error_status),
    REF(lks_xid_nvlink5, "action", TEXT, action, ACTION),
    MAY(lks_xid_nvlink5, "intrinfo_v1_action2", BITS, intrinfo_v1_action2),
    MAY(lks_xid_nvlink5, "intrinfo_v2_action2", BITS, intrinfo_v2_action2),
    MAY_REF(lks_xid_nvlink5, "action2", TEXT, action2, ACTION),
    MAY_REF(lks_xid_nvlink5, "investigatory_action", TEXT, investigatory_action, ACTION),
    MAY_WORD(lks_xid_nvlink5, "severity", severity, "non-fatal", "link-fatal", "fatal"),
    COLUMN(lks_xid_nvlink5, "cause", WORDS, cause, false, .values = LKS_WORDS("hw", "sw", "fw")),
};

static const struct lks_facts_column update_columns[] = {
    FACT(lks_update_class),
    KEY_NAME(lks_update_class, "class", name, UPDATE_CLASS),
    COLUMN(lks_update_class, "transport", WORDS, transport, true,
           .values = LKS_WORDS("in-band", "redfish", "pldm", "controller")),
    NEED(lks_update_class, "window", TEXT, window),
    WORD(lks_update_class, "disruption", disruption, "none", "service", "reboot", "reset", "domain",
         "power"),
    WORD(lks_update_class, "revert", revert, "cheap", "banks", "reflash", "vendor", "one-way"),
    NEED(lks_update_class, "risk", NUMBER, risk),
    NEED(lks_update_class, "if_wrong", TEXT, if_wrong),
};

static const struct lks_facts_column firmware_update_columns[] = {
    FACT(lks_firmware_update),
    COLUMN(lks_firmware_update, "component", TEXT, component, true, .key = true,
           .refers = LKS_REF_COMPONENT),
    COLUMN(lks_firmware_update, "transport", WORDS, transport, true,
           .values = LKS_WORDS("redfish", "pldm", "in-band", "nvos", "controller")),
    WORD(lks_firmware_update, "banks", banks, "two", "one", "none"),
    NEED(lks_firmware_update, "stage_min", NUMBER, stage_min),
    NEED(lks_firmware_update, "activate_min", NUMBER, activate_min),
    WORD(lks_firmware_update, "staging", staging, "drained", "running"),
    WORD(lks_firmware_update, "reset", reset, "none", "bmc", "device", "reboot", "dc", "ac",
         "domain"),
    NEED(lks_firmware_update, "loses", TEXT, loses),
    WORD(lks_firmware_update, "revert", revert, "switch", "reflash", "vendor", "spare"),
    NEED(lks_firmware_update, "one_way", BOOL, one_way),
    WORD(lks_firmware_update, "blast", blast, "device", "node", "chassis", "domain", "rack"),
    NEED(lks_firmware_update, "pair", BOOL, pair),
    NEED(lks_firmware_update, "order", NUMBER, order),
    MAY_REF(lks_firmware_update, "after", WORDS, after, COMPONENT),
    MAY(lks_firmware_update, "exception", TEXT, exception),
};

static const struct lks_facts_column firmware_alias_columns[] = {
    FACT(lks_firmware_alias),
    COLUMN(lks_firmware_alias, "vendor", WORD, vendor, true, .key = true,
           .values = LKS_WORDS("any", "supermicro", "dell", "hpe", "lenovo", "nvos")),
    WORD(lks_firmware_alias, "field", field, "id", "name", "software_id", "related"),
    KEY(lks_firmware_alias, "pattern", TEXT, pattern),
    MAY_REF(lks_firmware_alias, "component", TEXT, component, COMPONENT),
    MAY(lks_firmware_alias, "of", TEXT, of),
    WORD(lks_firmware_alias, "bank", bank, "active", "staged", "backup", "golden"),
};

static const struct lks_facts_column change_columns[] = {
    FACT(lks_change_class),
    KEY(lks_change_class, "class", TEXT, name),
    NEED(lks_change_class, "example", TEXT, example),
    WORD(lks_change_class, "approval", approval, "pre-authorised", "board", "emergency-board",
         "full-board"),
    WORD(lks_change_class, "pattern", pattern, "rolling", "rings", "accelerated", "one-side"),
    WORD(lks_change_class, "revert", revert, "repin", "banks", "tested", "none"),
    CHOICE(lks_change_class, "covers", covers, lks_change_covers_words),
    NEED(lks_change_class, "quorum", NUMBER, quorum),
    NEED(lks_change_class, "proposal_days", NUMBER, proposal_days),
    NEED(lks_change_class, "approval_days", NUMBER, approval_days),
    NEED(lks_change_class, "review_hours", NUMBER, review_hours),
    NEED(lks_change_class, "rings", WORDS, rings),
    NEED(lks_change_class, "canary_soak", NUMBER, canary_soak),
    NEED(lks_change_class, "ring_soak", NUMBER, ring_soak),
    NEED(lks_change_class, "width", NUMBER, width),
    WORD(lks_change_class, "one_way", one_way, "refused", "spares"),
    NEED(lks_change_class, "standby", BOOL, standby),
};

static const struct lks_facts_column gate_columns[] = {
    FACT(lks_gate_preset),
    KEY(lks_gate_preset, "metric", TEXT, name),
    CHOICE(lks_gate_preset, "kind", kind, lks_metric_kind_words),
    CHOICE(lks_gate_preset, "better", better, lks_metric_better_words),
    CHOICE(lks_gate_preset, "unit", unit, lks_metric_unit_words),
    MAY(lks_gate_preset, "margin", REAL, margin),
    MAY(lks_gate_preset, "sigma", REAL, sigma),
    NEED(lks_gate_preset, "critical", BOOL, critical),
    CHOICE(lks_gate_preset, "from", from, lks_metric_source_words),
    MAY(lks_gate_preset, "query", TEXT, query),
    NEED(lks_gate_preset, "about", TEXT, about),
};

static const struct lks_facts_column posture_columns[] = {
    FACT_NOTE(lks_posture),
    KEY(lks_posture, "posture", TEXT, name),
    NEED(lks_posture, "production", BOOL, production),
    WORD(lks_posture, "sync", sync, "yes", "no", "trainer"),
    WORD(lks_posture, "pinning", pinning, "strict", "trainer-strict", "per-service", "loose",
         "per-job"),
    WORD(lks_posture, "injection", injection, "host-image", "hybrid", "operator"),
    WORD(lks_posture, "cadence", cadence, "scheduled", "trainer-first", "rolling", "opportunistic",
         "lagging"),
    WORD(lks_posture, "mixed_in_job", mixed_in_job, "never", "trainer-never", "replicas",
         "tolerated", "dev-only"),
    NEED(lks_posture, "strict_unresolved", BOOL, strict_unresolved),
    CHOICE(lks_posture, "leave", leave, lks_drain_way_words),
    NEED(lks_posture, "leave_minutes", NUMBER, leave_minutes),
    NEED(lks_posture, "leave_tries", NUMBER, leave_tries),
    CHOICE(lks_posture, "leave_then", leave_then, lks_drain_then_words),
    NEED(lks_posture, "cadence_days", NUMBER, cadence_days),
};

static const struct lks_facts_column component_columns[] = {
    FACT(lks_component_kind),
    KEY_NAME(lks_component_kind, "name", name, COMPONENT),
    CHOICE(lks_component_kind, "vendor", vendor, vendors),
    CHOICE(lks_component_kind, "kind", sort, kinds),
    CHOICE(lks_component_kind, "scheme", scheme, schemes),
    REF(lks_component_kind, "update_class", TEXT, update_class, UPDATE_CLASS),
    WORD(lks_component_kind, "reboot", reboot, "no", "service", "node", "domain"),
    WORD(lks_component_kind, "scope", scope, "node", "chassis", "domain", "site"),
    MAY(lks_component_kind, "aliases", WORDS, aliases),
    NEED(lks_component_kind, "summary", TEXT, summary),
};

static const struct lks_facts_column package_columns[] = {
    FACT(lks_package_kind),
    REF(lks_package_kind, "component", TEXT, component, COMPONENT),
    COLUMN(lks_package_kind, "manager", WORD, manager, true, .values = LKS_WORDS("dpkg", "rpm"),
           .key = true),
    KEY(lks_package_kind, "pattern", TEXT, pattern),
    CHOICE(lks_package_kind, "says", says, package_says),
    NEED(lks_package_kind, "alone", BOOL, alone),
    MAY(lks_package_kind, "link", TEXT, link),
};

static const struct lks_facts_column setting_columns[] = {
    FACT(lks_setting_kind),
    KEY_NAME(lks_setting_kind, "name", name, SETTING),
    WORD(lks_setting_kind, "reboot", reboot, "no", "service", "reset", "node"),
    WORD(lks_setting_kind, "revert", revert, "cheap", "reboot"),
    NEED(lks_setting_kind, "summary", TEXT, summary),
};

static const struct lks_facts_column edge_columns[] = {
    FACT_NOTE(lks_edge),
    KEY(lks_edge, "id", TEXT, id),
    CHOICE(lks_edge, "kind", kind, edge_kinds),
    MAY_REF(lks_edge, "component", TEXT, component, COMPONENT),
    MAY(lks_edge, "range", TEXT, range),
    REF(lks_edge, "other", TEXT, other, COMPONENT),
    MAY(lks_edge, "other_range", TEXT, other_range),
    MAY_REF(lks_edge, "gpus", WORDS, gpus, FAMILY),
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
    TABLE("gate-metrics.csv", gate_presets, lks_gate_preset, gate_columns),
    TABLE("postures.csv", postures, lks_posture, posture_columns),
    TABLE("components.csv", components, lks_component_kind, component_columns),
    TABLE("settings.csv", settings, lks_setting_kind, setting_columns),
    TABLE("requires.csv", edges, lks_edge, edge_columns),
    TABLE("packages.csv", packages, lks_package_kind, package_columns),
    TABLE("firmware-updates.csv", firmware_updates, lks_firmware_update, firmware_update_columns),
    TABLE("firmware-names.csv", firmware_names, lks_firmware_alias, firmware_alias_columns),
};
const size_t lks_facts_table_count = LKS_COUNT(lks_facts_tables);
_Static_assert(LKS_COUNT(lks_facts_tables) <= LKS_FACTS_TABLES_MAX, "a place for each table");

const char *lks_facts_rows(const struct lks_facts *facts, const struct lks_facts_table *table,
                           size_t *count)
{
    const char *at = (const char *)facts + table->rows_offset, *rows;
    memcpy(&rows, at, sizeof(rows));
    memcpy(count, at + sizeof(rows), sizeof(*count));
    return rows;
}
