/*
 * The rows of the tables in data/: for each a struct, and for each column of the table a line with
 * what may stand there and the field that it becomes. facts.h makes the structs of this list and
 * facts_tables.c the tables; each defines ROW, COLUMN, CHOICE_COLUMN, FIELD and END before it
 * includes this file, which has no guard for that reason.
 *
 * A column is called as its field, except with _AS. A column that is a KEY or that rows NEED is
 * never empty, and no two rows have the same keys.
 */

#define KEY_AS(row, kind, field, cname)  COLUMN(row, kind, field, cname, true, .key = true)
#define KEY(row, kind, field)            KEY_AS(row, kind, field, #field)
#define NEED_AS(row, kind, field, cname) COLUMN(row, kind, field, cname, true, .key = false)
#define NEED(row, kind, field)           NEED_AS(row, kind, field, #field)
#define MAY(row, kind, field)            COLUMN(row, kind, field, #field, false, .key = false)
#define CHOICE_AS(row, type, field, cname, words)                                                  \
    CHOICE_COLUMN(row, type, field, cname, true, .values = (words))
#define CHOICE(row, type, field, words) CHOICE_AS(row, type, field, #field, words)
/* Words that stay text are compared by programs and read by scripts, so their lists are closed: one
 * that is misspelled would silently be none of those anyone asks for. */
#define WORD(row, field, ...)                                                                      \
    COLUMN(row, WORD, field, #field, true, .values = LKS_WORDS(__VA_ARGS__))
#define MAY_WORD(row, field, ...)                                                                  \
    COLUMN(row, WORD, field, #field, false, .values = LKS_WORDS(__VA_ARGS__))
/* A name by which other rows call this one. */
#define KEY_NAME_AS(row, field, cname, what)                                                       \
    COLUMN(row, TEXT, field, cname, true, .key = true, .defines = LKS_REF_##what)
#define KEY_NAME(row, field, what) KEY_NAME_AS(row, field, #field, what)
#define NAME(row, field, what)     COLUMN(row, TEXT, field, #field, true, .defines = LKS_REF_##what)
/* A place where they do. */
#define REF(row, kind, field, what) COLUMN(row, kind, field, #field, true, .refers = LKS_REF_##what)
#define MAY_REF(row, kind, field, what)                                                            \
    COLUMN(row, kind, field, #field, false, .refers = LKS_REF_##what)

/* clang-format off */

ROW(gpu)
    FACT_NOTE(gpu)
    CHOICE(gpu, enum lks_vendor, vendor, gpu_vendors)
    KEY(gpu, TEXT, product)
    NAME(gpu, family, FAMILY)
    NAME(gpu, architecture, ARCHITECTURE)
    MAY(gpu, TEXT, target) /* compute capability 9.0, or gfx942 */
    MAY(gpu, NUMBER, memory_gb)
    MAY(gpu, NUMBER, nvlink_links)
    MAY(gpu, WORDS, mig_profiles) /* blank-separated, empty when not known */
    MAY(gpu, WORDS, pci_ids)
    MAY(gpu, TEXT, names) /* what the vendor's tools call it, " | " between two */
    MAY(gpu, VERSION, first_listed_driver)
    MAY(gpu, VERSION, min_driver) /* R525, or an amdgpu version */
    MAY_REF(gpu, BRANCH, max_driver_branch, BRANCH) /* 0: not limited */
    MAY(gpu, VERSION, min_toolkit)
    MAY(gpu, BRANCH, max_toolkit_major) /* 0: not limited */
    CHOICE_COLUMN(gpu, enum lks_open_modules, open_modules, "open_modules", false,
                  .values = open_modules)
    NEED(gpu, BOOL, datacenter)
    NEED(gpu, BOOL, grace)
    NEED(gpu, BOOL, nvswitch) /* the row is a switch chip, not a GPU */
END;

ROW(branch)
    FACT(branch)
    KEY_AS(branch, BRANCH, number, "branch") /* 580 */
    MAY_WORD(branch, type, "LTSB", "PB", "NFB", "dev") /* empty when not known */
    MAY(branch, DAY, first_release)
    MAY(branch, DAY, eol)
    MAY(branch, DAY, eol_other) /* what a second source says, where it differs */
    MAY(branch, VERSION, latest)
    MAY(branch, VERSION, cuda)
    REF(branch, WORDS, architectures, ARCHITECTURE)
    WORD(branch, open_modules, "no", "available", "default")
    MAY(branch, VERSION, min_kernel_open)
END;

ROW(driver)
    FACT(driver)
    KEY(driver, VERSION, version)
    REF(driver, BRANCH, branch, BRANCH)
    MAY(driver, DAY, date)
    NEED(driver, BOOL, datacenter)
END;

/* A CUDA release. */
ROW(toolkit)
    FACT_NOTE(toolkit)
    KEY_AS(toolkit, VERSION, version, "cuda")
    NEED(toolkit, VERSION, min_driver) /* its own driver */
    NEED(toolkit, VERSION, minor_compat_min) /* the oldest one any release of the major runs on */
    /* branch of the next major, 0 while there is none */
    MAY_REF(toolkit, BRANCH, backward_from, BRANCH)
    NEED(toolkit, BOOL, bundles_driver)
END;

ROW(compat_package)
    FACT(compat_package)
    NEED(compat_package, TEXT, package)
    KEY(compat_package, VERSION, cuda) /* major.minor */
    COLUMN(compat_package, BRANCH, branch, "branch", true, .key = true, .refers = LKS_REF_BRANCH)
    WORD(compat_package, verdict, "compatible", "not-needed", "not-compatible")
END;

ROW(cudnn)
    FACT_NOTE(cudnn)
    NEED_AS(cudnn, VERSION, version, "cudnn")
    NEED(cudnn, BRANCH, cuda_major)
    NEED(cudnn, PATTERNS, cuda_versions)
    MAY(cudnn, VERSION, min_driver)
    MAY(cudnn, WORDS, targets)
END;

ROW(nccl)
    FACT_NOTE(nccl)
    KEY_AS(nccl, VERSION, version, "nccl")
    MAY(nccl, DAY, date)
    MAY(nccl, PATTERNS, cuda_majors)
    MAY(nccl, NUMBER, sm_min) /* 35, 90, 120; 0 when not known */
    MAY(nccl, NUMBER, sm_max)
    NEED(nccl, BOOL, rank_check)
END;

/* A release of the NVIDIA container toolkit. */
ROW(ctk)
    FACT_NOTE(ctk)
    KEY(ctk, VERSION, version)
    MAY(ctk, DAY, date)
END;

ROW(dcgm)
    FACT_NOTE(dcgm)
    KEY_AS(dcgm, VERSION, version, "dcgm")
    MAY(dcgm, VERSION, min_driver)
    MAY(dcgm, VERSION, min_driver_nvswitch)
END;

/* A release of the NVIDIA GPU Operator. */
ROW(operator)
    FACT_NOTE(operator)
    KEY_AS(operator, VERSION, version, "operator")
    MAY(operator, DAY, date)
    MAY_WORD(operator, support, "supported", "deprecated", "end-of-support")
    MAY(operator, VERSION, driver)
    MAY(operator, PATTERNS, listed_drivers)
    MAY(operator, VERSION, toolkit)
    MAY(operator, VERSION, dcgm)
END;

/* A published container image. */
ROW(image)
    FACT_NOTE(image)
    KEY(image, TEXT, tag)
    NEED(image, TEXT, image)
    MAY(image, VERSION, cuda)
    MAY(image, VERSION, cudnn)
    MAY(image, VERSION, nccl)
    MAY(image, TEXT, torch)
    MAY(image, VERSION, driver)
END;

ROW(rocm)
    FACT_NOTE(rocm)
    KEY_AS(rocm, VERSION, version, "rocm")
    MAY(rocm, DAY, date)
    MAY(rocm, VERSION, rccl)
    MAY(rocm, VERSION, miopen)
    MAY(rocm, PATTERNS, amdgpu) /* patterns of drivers named as supported */
    MAY(rocm, PATTERNS, amdgpu_older) /* more of them, for the families of older_gpus */
    MAY_REF(rocm, WORDS, older_gpus, FAMILY)
    MAY(rocm, WORDS, targets)
    MAY_REF(rocm, WORDS, gpus, FAMILY)
    MAY(rocm, WORDS, firmware)
END;

ROW(rocm_window)
    FACT(rocm_window)
    KEY(rocm_window, PATTERN, amdgpu)
    NEED(rocm_window, PATTERNS, rocm)
END;

ROW(xid)
    FACT_NOTE(xid)
    KEY_AS(xid, NUMBER, number, "xid")
    MAY(xid, TEXT, mnemonic)
    MAY(xid, TEXT, description)
    MAY(xid, TEXT, category)
    MAY_WORD(xid, severity, "fatal-node", "fatal-gpu", "fatal-vm", "app", "info", "decode",
             "operator", "unrated", "unused")
    MAY_REF(xid, TEXT, immediate_action, ACTION)
    MAY_REF(xid, TEXT, investigatory_action, ACTION)
    MAY_WORD(xid, applies_a100, "yes", "no")
    MAY_WORD(xid, applies_h100, "yes", "no")
    MAY_WORD(xid, applies_b100, "yes", "no")
    MAY_WORD(xid, applies_gb200, "yes", "no")
    MAY(xid, TEXT, xid154_since)
END;

ROW(sxid)
    FACT(sxid)
    KEY_AS(sxid, NUMBER, number, "sxid")
    MAY(sxid, TEXT, mnemonic)
    MAY(sxid, TEXT, unit)
    MAY_WORD(sxid, fatality, "fatal", "non-fatal")
    MAY_REF(sxid, TEXT, recommended_action, ACTION)
    MAY_WORD(sxid, fm_guide_class, "non-fatal", "potentially-fatal", "always-fatal")
    MAY(sxid, TEXT, fm_guide_title)
END;

ROW(xid_action)
    FACT(xid_action)
    KEY_NAME(xid_action, action, ACTION)
    NEED(xid_action, TEXT, actor)
    NEED(xid_action, TEXT, meaning)
    WORD(xid_action, disruption, "no", "service", "service-if", "gpu", "gpu-if", "gpu-or-fabric",
         "vm", "node", "node-out", "fabric", "hands", "change", "by-154", "by-bits", "by-table")
END;

ROW(xid_nvlink5)
    FACT(xid_nvlink5)
    NEED_AS(xid_nvlink5, NUMBER, number, "xid")
    NEED(xid_nvlink5, TEXT, unit)
    MAY(xid_nvlink5, BITS, intrinfo_v1)
    MAY(xid_nvlink5, BITS, intrinfo_v2)
    MAY(xid_nvlink5, HEX, error_status)
    REF(xid_nvlink5, TEXT, action, ACTION)
    MAY(xid_nvlink5, BITS, intrinfo_v1_action2)
    MAY(xid_nvlink5, BITS, intrinfo_v2_action2)
    MAY_REF(xid_nvlink5, TEXT, action2, ACTION)
    MAY_REF(xid_nvlink5, TEXT, investigatory_action, ACTION)
    MAY_WORD(xid_nvlink5, severity, "non-fatal", "link-fatal", "fatal")
    COLUMN(xid_nvlink5, WORDS, cause, "cause", false, .values = LKS_WORDS("hw", "sw", "fw"))
END;

/* What taking a new version of something means for the machine. */
ROW(update_class)
    FACT(update_class)
    KEY_NAME_AS(update_class, name, "class", UPDATE_CLASS)
    COLUMN(update_class, WORDS, transport, "transport", true,
           .values = LKS_WORDS("in-band", "redfish", "pldm", "controller"))
    NEED(update_class, TEXT, window)
    WORD(update_class, disruption, "none", "service", "reboot", "reset", "domain", "power")
    WORD(update_class, revert, "cheap", "banks", "reflash", "vendor", "one-way")
    NEED(update_class, NUMBER, risk)
    NEED(update_class, TEXT, if_wrong)
END;

/* How the firmware of a class is updated, and what that costs. */
ROW(firmware_update)
    FACT(firmware_update)
    COLUMN(firmware_update, TEXT, component, "component", true, .key = true,
           .refers = LKS_REF_COMPONENT)
    COLUMN(firmware_update, WORDS, transport, "transport", true,
           .values = LKS_WORDS("redfish", "pldm", "in-band", "nvos", "controller"))
    WORD(firmware_update, banks, "two", "one", "none")
    NEED(firmware_update, NUMBER, stage_min)
    NEED(firmware_update, NUMBER, activate_min)
    WORD(firmware_update, staging, "drained", "running")
    /* what makes it run */
    WORD(firmware_update, reset, "none", "bmc", "device", "reboot", "dc", "ac", "domain")
    NEED(firmware_update, TEXT, loses) /* who loses what meanwhile */
    WORD(firmware_update, revert, "switch", "reflash", "vendor", "spare")
    NEED(firmware_update, BOOL, one_way)
    /* what a failure takes along */
    WORD(firmware_update, blast, "device", "node", "chassis", "domain", "rack")
    NEED(firmware_update, BOOL, pair) /* one redundant side at a time */
    NEED(firmware_update, NUMBER, order) /* from the reversible to the irreversible */
    MAY_REF(firmware_update, WORDS, after, COMPONENT) /* components that go first */
    MAY(firmware_update, TEXT, exception)
END;

/* What a management service calls some firmware. */
ROW(firmware_alias)
    FACT(firmware_alias)
    COLUMN(firmware_alias, WORD, vendor, "vendor", true, .key = true,
           .values = LKS_WORDS("any", "supermicro", "dell", "hpe", "lenovo", "nvos"))
    WORD(firmware_alias, field, "id", "name", "software_id", "related", "description",
         "manufacturer", "device")
    KEY(firmware_alias, TEXT, pattern) /* codec/notation/glob.h, and '|' before the key */
    MAY_REF(firmware_alias, TEXT, component, COMPONENT) /* empty: known, and none of ours */
    MAY(firmware_alias, TEXT, of)
    WORD(firmware_alias, bank, "active", "staged", "backup", "golden")
END;

ROW(change_class)
    FACT(change_class)
    KEY_AS(change_class, TEXT, name, "class")
    NEED(change_class, TEXT, example)
    WORD(change_class, approval, "pre-authorised", "board", "emergency-board", "full-board")
    WORD(change_class, pattern, "rolling", "rings", "accelerated", "one-side")
    WORD(change_class, revert, "repin", "banks", "tested", "none")
    CHOICE(change_class, enum lks_change_covers, covers, lks_change_covers_words)
    NEED(change_class, NUMBER, quorum) /* people who approve it, for each pool */
    NEED(change_class, NUMBER, proposal_days) /* until it is over */
    NEED(change_class, NUMBER, approval_days) /* until it is over */
    NEED(change_class, NUMBER, review_hours) /* until one that began without them is reviewed */
    NEED(change_class, WORDS, rings) /* rising percents of a pool, the last is 100 */
    NEED(change_class, NUMBER, canary_soak) /* percent of the usual time */
    NEED(change_class, NUMBER, ring_soak) /* likewise */
    NEED(change_class, NUMBER, width) /* percent of the slots */
    WORD(change_class, one_way, "refused", "spares")
    NEED(change_class, BOOL, standby) /* a person stands by on site, by name */
END;

/* What a gate may measure, by a name that sites use. */
ROW(gate_preset)
    FACT(gate_preset)
    KEY_AS(gate_preset, TEXT, name, "metric")
    CHOICE(gate_preset, enum lks_metric_kind, kind, lks_metric_kind_words)
    CHOICE(gate_preset, enum lks_metric_better, better, lks_metric_better_words)
    CHOICE(gate_preset, enum lks_metric_unit, unit, lks_metric_unit_words)
    MAY(gate_preset, REAL, margin) /* percent; 0: none */
    MAY(gate_preset, REAL, sigma) /* percent; 0: not known */
    NEED(gate_preset, BOOL, critical)
    CHOICE(gate_preset, enum lks_metric_source, from, lks_metric_source_words)
    MAY(gate_preset, TEXT, query)
    NEED(gate_preset, TEXT, about)
END;

ROW(posture)
    FACT_NOTE(posture)
    KEY_AS(posture, TEXT, name, "posture")
    NEED(posture, BOOL, production)
    WORD(posture, sync, "yes", "no", "trainer")
    WORD(posture, pinning, "strict", "trainer-strict", "per-service", "loose", "per-job")
    WORD(posture, injection, "host-image", "hybrid", "operator")
    WORD(posture, cadence, "scheduled", "trainer-first", "rolling", "opportunistic", "lagging")
    WORD(posture, mixed_in_job, "never", "trainer-never", "replicas", "tolerated", "dev-only")
    NEED(posture, BOOL, strict_unresolved)
    CHOICE(posture, enum lks_drain_way, leave, lks_drain_way_words)
    NEED(posture, NUMBER, leave_minutes) /* of one try */
    NEED(posture, NUMBER, leave_tries)
    CHOICE(posture, enum lks_drain_then, leave_then, lks_drain_then_words)
    CHOICE(posture, enum lks_drain_jobs, leave_jobs, lks_drain_jobs_words)
    MAY_WORD(posture, leave_signal, "USR1", "USR2", "HUP", "TERM") /* with leave_jobs requeue */
    MAY(posture, NUMBER, leave_grace_minutes) /* behind the signal; 0: ten */
    NEED(posture, NUMBER, cadence_days) /* that a pool may be behind what is released */
END;

/* A component lockstep knows by name. Others are allowed; these are understood. */
ROW(component_kind)
    FACT(component_kind)
    KEY_NAME(component_kind, name, COMPONENT)
    CHOICE(component_kind, enum lks_vendor, vendor, vendors)
    CHOICE_AS(component_kind, enum lks_component_sort, sort, "kind", kinds)
    CHOICE(component_kind, enum lks_version_scheme, scheme, schemes)
    REF(component_kind, TEXT, update_class, UPDATE_CLASS)
    WORD(component_kind, reboot, "no", "service", "node", "domain")
    WORD(component_kind, scope, "node", "chassis", "domain", "site")
    /* other spellings, which are refused with this name as the answer */
    MAY(component_kind, WORDS, aliases)
    NEED(component_kind, TEXT, summary)
END;

/* A kind of package that tells of a component. */
ROW(package_kind)
    FACT(package_kind)
    REF(package_kind, TEXT, component, COMPONENT)
    COLUMN(package_kind, WORD, manager, "manager", true, .key = true,
           .values = LKS_WORDS("dpkg", "rpm"))
    KEY(package_kind, TEXT, pattern) /* of its name, see codec/notation/glob.h */
    CHOICE(package_kind, enum lks_package_says, says, package_says)
    NEED(package_kind, BOOL, alone) /* counts only where no other tells of the component */
    MAY(package_kind, TEXT, link) /* leads to the one of several that counts, or empty */
END;

/* What changing a setting means. */
ROW(setting_kind)
    FACT(setting_kind)
    KEY_NAME(setting_kind, name, SETTING)
    WORD(setting_kind, reboot, "no", "service", "reset", "node")
    WORD(setting_kind, revert, "cheap", "reboot")
    NEED(setting_kind, TEXT, summary)
END;

/* When `component` is in `range`, `other` has to be (or must not be) in `other_range`. */
ROW(edge)
    FACT_NOTE(edge)
    KEY(edge, TEXT, id)
    CHOICE(edge, enum lks_edge_kind, kind, edge_kinds)
    MAY_REF(edge, TEXT, component, COMPONENT)
    MAY(edge, TEXT, range)
    REF(edge, TEXT, other, COMPONENT)
    MAY(edge, TEXT, other_range)
    MAY_REF(edge, WORDS, gpus, FAMILY) /* families it is limited to, empty for all */
    MAY(edge, TEXT, condition) /* what a manifest cannot tell; its result is at most a warning */
    FIELD(bool, site) /* of LKS_FACTS_SITE_EDGES: the site itself asks for it */
END;

/* clang-format on */

#undef KEY_AS
#undef KEY
#undef NEED_AS
#undef NEED
#undef MAY
#undef CHOICE_AS
#undef CHOICE
#undef WORD
#undef MAY_WORD
#undef KEY_NAME_AS
#undef KEY_NAME
#undef NAME
#undef REF
#undef MAY_REF
#undef ROW
#undef FACT
#undef FACT_NOTE
#undef COLUMN
#undef CHOICE_COLUMN
#undef FIELD
#undef END
