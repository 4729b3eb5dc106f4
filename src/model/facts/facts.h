/*
 * What is known about the parts: which driver knows which GPU, what a toolkit needs, when a branch
 * ends, which version closes which CVE. Facts are rows with a source and a status; nothing about a
 * product is written into code.
 *
 * They come from the tables in data/, built into the program, any of which a site may replace. One
 * bad cell refuses the whole load, with its file and line: half a table answers wrongly.
 */
#ifndef LKS_MODEL_FACTS_H
#define LKS_MODEL_FACTS_H

#include "base/arena.h"
#include "base/embedded.h"
#include "base/err.h"
#include "base/time.h"
#include "codec/format/docs.h"
#include "codec/notation/version.h"
#include "model/record/record_words.h"

#define LKS_DAY_NONE INT32_MIN

/* Boards of one family, case aside, and bytes of its name. The loader refuses more, so that core
 * can look at a whole family in an array of this size. */
#define LKS_FAMILY_BOARDS_MAX 16
#define LKS_FAMILY_LEN_MAX    63

enum lks_vendor { LKS_VENDOR_NVIDIA, LKS_VENDOR_AMD, LKS_VENDOR_ANY };
const char *lks_facts_vendor_name(enum lks_vendor vendor);

/* How far a row may be trusted. From an unconfirmed one nothing worse than a warning follows. */
enum lks_status { LKS_CONFIRMED, LKS_PARTLY, LKS_SIBLING, LKS_UNCONFIRMED };
const char *lks_facts_status_name(enum lks_status status);

/* First in every row. Texts are views of the tables and live as long as the facts. */
struct lks_fact {
    enum lks_status status;
    struct lks_str source;
    struct lks_str note;
};

enum lks_open_modules {
    LKS_OPEN_UNSTATED,
    LKS_OPEN_NO,
    LKS_OPEN_SUPPORTED,
    LKS_OPEN_REQUIRED,
    LKS_OPEN_INBOX, /* AMD: in the kernel or by DKMS, there is no other flavour */
};

struct lks_gpu {
    struct lks_fact fact;
    enum lks_vendor vendor;
    struct lks_str product;
    struct lks_str family;
    struct lks_str architecture;
    struct lks_str target; /* compute capability 9.0, or gfx942 */
    int64_t memory_gb;
    int64_t nvlink_links;
    struct lks_str mig_profiles; /* blank-separated, empty when not known */
    struct lks_str pci_ids;
    struct lks_str names; /* what the vendor's tools call it, " | " between two */
    struct lks_str first_listed_driver;
    struct lks_str min_driver; /* R525, or an amdgpu version */
    int max_driver_branch;     /* 0: not limited */
    struct lks_str min_toolkit;
    int max_toolkit_major; /* 0: not limited */
    enum lks_open_modules open_modules;
    bool datacenter;
    bool grace;
    bool nvswitch; /* the row is a switch chip, not a GPU */
};

struct lks_branch {
    struct lks_fact fact;
    int number;          /* 580 */
    struct lks_str type; /* LTSB, PB, NFB, dev, or empty when not known */
    lks_day first_release;
    lks_day eol;
    lks_day eol_other; /* what a second source says, where it differs */
    struct lks_str latest;
    struct lks_str cuda;
    struct lks_str architectures;
    struct lks_str open_modules; /* no, available, default */
    struct lks_str min_kernel_open;
};

struct lks_driver {
    struct lks_fact fact;
    struct lks_str version;
    int branch;
    lks_day date;
    bool datacenter;
};

struct lks_toolkit { /* a CUDA release */
    struct lks_fact fact;
    struct lks_str version;
    struct lks_str min_driver;       /* its own driver */
    struct lks_str minor_compat_min; /* the oldest one any release of the major runs on */
    int backward_from;               /* branch of the next major, 0 while there is none */
    bool bundles_driver;
};

struct lks_compat_package {
    struct lks_fact fact;
    struct lks_str package;
    struct lks_str cuda; /* major.minor */
    int branch;
    struct lks_str verdict; /* compatible, not-needed, not-compatible */
};

struct lks_cudnn {
    struct lks_fact fact;
    struct lks_str version;
    int cuda_major;
    struct lks_str cuda_versions;
    struct lks_str min_driver;
    struct lks_str targets;
};

struct lks_nccl {
    struct lks_fact fact;
    struct lks_str version;
    lks_day date;
    struct lks_str cuda_majors;
    int64_t sm_min, sm_max; /* 35, 90, 120; 0 when not known */
    bool rank_check;
};

struct lks_ctk { /* a release of the NVIDIA container toolkit */
    struct lks_fact fact;
    struct lks_str version;
    lks_day date;
};

struct lks_dcgm {
    struct lks_fact fact;
    struct lks_str version;
    struct lks_str min_driver;
    struct lks_str min_driver_nvswitch;
};

struct lks_operator { /* a release of the NVIDIA GPU Operator */
    struct lks_fact fact;
    struct lks_str version;
    lks_day date;
    struct lks_str support;
    struct lks_str driver;
    struct lks_str listed_drivers;
    struct lks_str toolkit;
    struct lks_str dcgm;
};

struct lks_image { /* a published container image */
    struct lks_fact fact;
    struct lks_str tag;
    struct lks_str image;
    struct lks_str cuda, cudnn, nccl, torch, driver;
};

struct lks_rocm {
    struct lks_fact fact;
    struct lks_str version;
    lks_day date;
    struct lks_str rccl, miopen;
    struct lks_str amdgpu;       /* patterns of drivers named as supported */
    struct lks_str amdgpu_older; /* more of them, for the families of older_gpus */
    struct lks_str older_gpus;
    struct lks_str targets;
    struct lks_str gpus;
    struct lks_str firmware;
};

struct lks_rocm_window {
    struct lks_fact fact;
    struct lks_str amdgpu; /* pattern */
    struct lks_str rocm;   /* patterns */
};

struct lks_xid {
    struct lks_fact fact;
    int64_t number;
    struct lks_str mnemonic, description, category, severity;
    struct lks_str immediate_action, investigatory_action;
    struct lks_str applies_a100, applies_h100, applies_b100, applies_gb200;
    struct lks_str xid154_since;
};

struct lks_sxid {
    struct lks_fact fact;
    int64_t number;
    struct lks_str mnemonic, unit, fatality, recommended_action;
    struct lks_str fm_guide_class, fm_guide_title;
};

struct lks_xid_action {
    struct lks_fact fact;
    struct lks_str action, actor, meaning, disruption;
};

struct lks_xid_nvlink5 {
    struct lks_fact fact;
    int64_t number;
    struct lks_str unit;
    struct lks_str intrinfo_v1, intrinfo_v2, error_status, action;
    struct lks_str intrinfo_v1_action2, intrinfo_v2_action2, action2;
    struct lks_str investigatory_action, severity, cause;
};

/* What taking a new version of something means for the machine. */
struct lks_update_class {
    struct lks_fact fact;
    struct lks_str name, transport, window, disruption, revert, if_wrong;
    int64_t risk;
};

/* How the firmware of a class is updated, and what that costs. */
struct lks_firmware_update {
    struct lks_fact fact;
    struct lks_str component;
    struct lks_str transport; /* words: redfish pldm in-band nvos controller */
    struct lks_str banks;     /* two, one, none */
    int64_t stage_min, activate_min;
    struct lks_str staging; /* drained, running */
    struct lks_str reset;   /* what makes it run: none, bmc, device, reboot, dc, ac, domain */
    struct lks_str loses;   /* who loses what meanwhile */
    struct lks_str revert;  /* switch, reflash, vendor, spare */
    bool one_way;
    struct lks_str blast; /* what a failure takes along: device, node, chassis, domain, rack */
    bool pair;            /* one redundant side at a time */
    int64_t order;        /* from the reversible to the irreversible */
    struct lks_str after; /* components that go first */
    struct lks_str exception;
};

/* What a management service calls some firmware. */
struct lks_firmware_alias {
    struct lks_fact fact;
    struct lks_str vendor, field,
        pattern;              /* pattern: codec/notation/glob.h, and '|' before the key */
    struct lks_str component; /* empty: known, and none of ours */
    struct lks_str of, bank;
};

/* What a plan does to be of a class of change, from the least on. */
enum lks_change_covers {
    LKS_COVERS_WINDOW, /* software alone, every version inside the tested window */
    LKS_COVERS_ALL,
    LKS_COVERS_PLANT,    /* power or fabric */
    LKS_COVERS_ADVISORY, /* never found, only asked for: it closes a published vulnerability */
};
extern const char *const lks_change_covers_words[]; /* "window" ... "advisory", NULL */

#define LKS_CHANGE_QUORUM_MAX 16
#define LKS_CHANGE_RINGS_MAX  32 /* parts of a pool that come one after the other */

struct lks_change_class {
    struct lks_fact fact;
    struct lks_str name, example, approval, pattern, revert;
    enum lks_change_covers covers;
    int64_t quorum;                        /* people who approve it, for each pool */
    int64_t proposal_days, approval_days;  /* until these are over */
    int64_t review_hours;                  /* until one that began without them is reviewed */
    struct lks_str rings;                  /* rising percents of a pool, the last is 100 */
    int64_t canary_soak, ring_soak, width; /* percents: of the usual time, of that, of the room */
    struct lks_str one_way;                /* refused, or spares */
    bool standby;                          /* a person stands by on site, by name */
};

/* What a gate may measure, by a name that sites use. */
struct lks_gate_preset {
    struct lks_fact fact;
    struct lks_str name, query, about;
    enum lks_metric_kind kind;
    enum lks_metric_better better;
    enum lks_metric_unit unit;
    enum lks_metric_source from;
    double margin, sigma; /* percent; 0: none, not known */
    bool critical;
};

/* How a node drains before something is done to it: what is waited for, */
enum lks_drain_way {
    LKS_DRAIN_JOB,      /* the job's end, or its next checkpoint */
    LKS_DRAIN_ROTATION, /* requests go elsewhere, those that were begun are answered */
    LKS_DRAIN_CHANCE,   /* a moment at which it happens to be idle */
    LKS_DRAIN_EACH,     /* the end of each job; none is asked to stop */
};
extern const char *const lks_drain_way_words[]; /* "wait-job" ... "per-job", NULL */

/* and what becomes of it when that did not come in time, for the last time. */
enum lks_drain_then {
    LKS_DRAIN_HOLD, /* it stays out of service, and a person is asked */
    LKS_DRAIN_SKIP, /* it returns to service as is, and is named */
};
extern const char *const lks_drain_then_words[]; /* "hold", "skip", NULL */

struct lks_posture {
    struct lks_fact fact;
    struct lks_str name, sync, pinning, injection, cadence, mixed_in_job;
    bool production;
    bool strict_unresolved;
    enum lks_drain_way leave;
    int64_t leave_minutes, leave_tries; /* of one try; how many */
    enum lks_drain_then leave_then;
    int64_t cadence_days; /* that a pool may be behind what is released */
};

enum lks_component_sort { LKS_SOFTWARE, LKS_FIRMWARE };

/* A component lockstep knows by name. Others are allowed; these are understood. */
struct lks_component_kind {
    struct lks_fact fact;
    struct lks_str name;
    enum lks_vendor vendor;
    enum lks_component_sort sort;
    enum lks_version_scheme scheme;
    struct lks_str update_class;
    struct lks_str reboot; /* no, service, node, domain */
    struct lks_str scope;
    struct lks_str aliases; /* other spellings, which are refused with this name as the answer */
    struct lks_str summary;
};

/* What a package's version says about a component's. */
enum lks_package_says {
    LKS_SAYS_VERSION, /* all of it, without epoch and revision */
    LKS_SAYS_FULL,    /* without epoch */
    LKS_SAYS_THREE,   /* its first numbers */
    LKS_SAYS_TWO,
    LKS_SAYS_NAME, /* nothing: the numbers stand in the package's name */
    LKS_SAYS_CODE, /* its fourth number, two digits a part */
};

/* A kind of package that tells of a component. */
struct lks_package_kind {
    struct lks_fact fact;
    struct lks_str component;
    struct lks_str manager; /* dpkg or rpm */
    struct lks_str pattern; /* of its name, see codec/notation/glob.h */
    enum lks_package_says says;
    bool alone;          /* counts only where no other tells of the component */
    struct lks_str link; /* leads to the one of several that counts, or empty */
};

/* What changing a setting means. */
struct lks_setting_kind {
    struct lks_fact fact;
    struct lks_str name;
    struct lks_str reboot;
    struct lks_str revert;
    struct lks_str summary;
};

enum lks_edge_kind { LKS_REQUIRES, LKS_CONFLICTS };

/* When `component` is in `range`, `other` has to be (or must not be) in `other_range`. */
struct lks_edge {
    struct lks_fact fact;
    struct lks_str id;
    enum lks_edge_kind kind;
    struct lks_str component, range;
    struct lks_str other, other_range;
    struct lks_str gpus;      /* families it is limited to, empty for all */
    struct lks_str condition; /* what a manifest cannot tell; its result is at most a warning */
    bool site;                /* of LKS_FACTS_SITE_EDGES: the site itself asks for it */
};

struct lks_affected {
    struct lks_str component;
    struct lks_str branch; /* R550: only that branch; or words a person understands */
    struct lks_str range;  /* empty: to be checked by hand, see condition */
    struct lks_str fixed;
    struct lks_str condition;
    struct lks_str gpus; /* blank-separated families */
};

struct lks_advisory {
    struct lks_fact fact;
    struct lks_str id, vendor, component, severity, summary, cvss, cwe;
    lks_day published;
    struct lks_affected *affected;
    size_t affected_count;
};

#define LKS_ROWS(type)                                                                             \
    struct {                                                                                       \
        type *rows;                                                                                \
        size_t count;                                                                              \
    }

struct lks_class; /* model/facts/class.h */

struct lks_facts {
    struct lks_arena arena; /* owns all rows and a copy of every table's text */
    LKS_ROWS(struct lks_gpu) gpus;
    LKS_ROWS(struct lks_branch) branches;
    LKS_ROWS(struct lks_driver) drivers;
    LKS_ROWS(struct lks_toolkit) toolkits;
    LKS_ROWS(struct lks_compat_package) compat_packages;
    LKS_ROWS(struct lks_cudnn) cudnns;
    LKS_ROWS(struct lks_nccl) nccls;
    LKS_ROWS(struct lks_ctk) ctks;
    LKS_ROWS(struct lks_dcgm) dcgms;
    LKS_ROWS(struct lks_operator) operators;
    LKS_ROWS(struct lks_image) images;
    LKS_ROWS(struct lks_rocm) rocms;
    LKS_ROWS(struct lks_rocm_window) rocm_windows;
    LKS_ROWS(struct lks_xid) xids;
    LKS_ROWS(struct lks_sxid) sxids;
    LKS_ROWS(struct lks_xid_action) xid_actions;
    LKS_ROWS(struct lks_xid_nvlink5) xid_nvlink5;
    LKS_ROWS(struct lks_update_class) update_classes;
    LKS_ROWS(struct lks_change_class) change_classes;
    LKS_ROWS(struct lks_gate_preset) gate_presets;
    LKS_ROWS(struct lks_firmware_update) firmware_updates;
    LKS_ROWS(struct lks_firmware_alias) firmware_names;
    LKS_ROWS(struct lks_posture) postures;
    LKS_ROWS(struct lks_component_kind) components;
    LKS_ROWS(struct lks_package_kind) packages;
    LKS_ROWS(struct lks_setting_kind) settings;
    LKS_ROWS(struct lks_edge) edges;
    LKS_ROWS(struct lks_advisory) advisories;
    LKS_ROWS(struct lks_class) classes;
    struct lks_docs docs[2]; /* advisories and classes, whose rows are views of them */
};

/* A table that a site puts in the place of the built-in one of the same name. */
struct lks_facts_file {
    const char *name;  /* "cuda.csv" */
    const char *shown; /* how messages call it */
    struct lks_str text;
};

/* A site's own edges, which add to those of requires.csv. */
#define LKS_FACTS_SITE_EDGES "requires.site.csv"

/* The names of all tables, in loading order; NULL behind the last. */
const char *lks_facts_file_name(size_t index);

/* Load every table, from `site` where it is there and from `builtin` (which ends with an entry
 * without a name) where it is not. On success the caller owes lks_facts_fini(). */
enum lks_code lks_facts_load(const struct lks_embedded *builtin, const struct lks_facts_file *site,
                             size_t site_count, struct lks_facts *out,
                             struct lks_err *err) LKS_MUST_CHECK;
void lks_facts_fini(struct lks_facts *facts);

/* Look-ups; NULL where there is no such row. */
const struct lks_branch *lks_facts_branch(const struct lks_facts *facts, int number);
const struct lks_driver *lks_facts_driver(const struct lks_facts *facts, struct lks_str version);
const struct lks_advisory *lks_facts_advisory(const struct lks_facts *facts,
                                              struct lks_str id); /* in any case of letters */
const struct lks_component_kind *lks_facts_component(const struct lks_facts *facts,
                                                     struct lks_str name);
const struct lks_component_kind *lks_facts_component_alias(const struct lks_facts *facts,
                                                           struct lks_str alias);
const struct lks_setting_kind *lks_facts_setting(const struct lks_facts *facts,
                                                 struct lks_str name);
/* NULL: the table has no such class. */
const struct lks_change_class *lks_facts_change_class(const struct lks_facts *facts,
                                                      struct lks_str name);
/* The first that covers it; NULL: none does. */
const struct lks_change_class *lks_facts_change_covers(const struct lks_facts *facts,
                                                       enum lks_change_covers covers);

const struct lks_update_class *lks_facts_update_class(const struct lks_facts *facts,
                                                      struct lks_str name);
const struct lks_firmware_update *lks_facts_firmware(const struct lks_facts *facts,
                                                     struct lks_str component);
const struct lks_gate_preset *lks_facts_gate_preset(const struct lks_facts *facts,
                                                    struct lks_str name);
const struct lks_class *lks_facts_class(const struct lks_facts *facts, struct lks_str name);

/* How versions of `component` are ordered; unknown ones as firmware, which orders anything. */
enum lks_version_scheme lks_facts_scheme(const struct lks_facts *facts, struct lks_str component);

/* True when `word` is one of the blank-separated `words`. */
bool lks_facts_words_have(struct lks_str words, struct lks_str word);

#endif
