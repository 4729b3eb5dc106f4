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

/* What may be done to jobs on a node that drains: enum lks_drain_jobs, in record_words.h. The
 * signal that a job gets before it is requeued, and how long it has then, where nothing else is
 * said. */
#define LKS_DRAIN_SIGNAL        "USR1"
#define LKS_DRAIN_GRACE_MINUTES 10
#define LKS_DRAIN_GRACE_MAX     1440 /* minutes */

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

enum lks_component_sort { LKS_SOFTWARE, LKS_FIRMWARE };

/* What a package's version says about a component's. */
enum lks_package_says {
    LKS_SAYS_VERSION, /* all of it, without epoch and revision */
    LKS_SAYS_FULL,    /* without epoch */
    LKS_SAYS_THREE,   /* its first numbers */
    LKS_SAYS_TWO,
    LKS_SAYS_NAME, /* nothing: the numbers stand in the package's name */
    LKS_SAYS_CODE, /* its fourth number, two digits a part */
};

enum lks_edge_kind { LKS_REQUIRES, LKS_CONFLICTS };

/* The structs of the rows. Texts are views. */
#define LKS_FACTS_TEXT     struct lks_str
#define LKS_FACTS_VERSION  struct lks_str
#define LKS_FACTS_PATTERN  struct lks_str
#define LKS_FACTS_PATTERNS struct lks_str
#define LKS_FACTS_WORD     struct lks_str
#define LKS_FACTS_WORDS    struct lks_str
#define LKS_FACTS_BITS     struct lks_str
#define LKS_FACTS_HEX      struct lks_str
#define LKS_FACTS_BRANCH   int
#define LKS_FACTS_DAY      lks_day
#define LKS_FACTS_NUMBER   int64_t
#define LKS_FACTS_REAL     double
#define LKS_FACTS_BOOL     bool

#define ROW(row)                             struct lks_##row {
#define FACT(row)                            struct lks_fact fact;
#define FACT_NOTE(row)                       struct lks_fact fact;
#define COLUMN(row, kind, field, ...)        LKS_FACTS_##kind field;
#define CHOICE_COLUMN(row, type, field, ...) type field;
#define FIELD(type, field)                   type field;
#define END                                  }
#include "model/facts/facts_rows.h"

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

/* The tables, in the order in which they are loaded: file, member of struct lks_facts, row. */
#define LKS_FACTS_TABLES(TABLE)                                                                    \
    TABLE("gpus.csv", gpus, gpu)                                                                   \
    TABLE("driver-branches.csv", branches, branch)                                                 \
    TABLE("driver-versions.csv", drivers, driver)                                                  \
    TABLE("cuda.csv", toolkits, toolkit)                                                           \
    TABLE("cuda-compat.csv", compat_packages, compat_package)                                      \
    TABLE("cudnn.csv", cudnns, cudnn)                                                              \
    TABLE("nccl.csv", nccls, nccl)                                                                 \
    TABLE("container-toolkit.csv", ctks, ctk)                                                      \
    TABLE("dcgm.csv", dcgms, dcgm)                                                                 \
    TABLE("gpu-operator.csv", operators, operator)                                                 \
    TABLE("ngc-pytorch.csv", images, image)                                                        \
    TABLE("rocm.csv", rocms, rocm)                                                                 \
    TABLE("rocm-window.csv", rocm_windows, rocm_window)                                            \
    TABLE("xid.csv", xids, xid)                                                                    \
    TABLE("sxid.csv", sxids, sxid)                                                                 \
    TABLE("xid-actions.csv", xid_actions, xid_action)                                              \
    TABLE("xid-nvlink5.csv", xid_nvlink5, xid_nvlink5)                                             \
    TABLE("update-classes.csv", update_classes, update_class)                                      \
    TABLE("change-classes.csv", change_classes, change_class)                                      \
    TABLE("gate-metrics.csv", gate_presets, gate_preset)                                           \
    TABLE("postures.csv", postures, posture)                                                       \
    TABLE("components.csv", components, component_kind)                                            \
    TABLE("settings.csv", settings, setting_kind)                                                  \
    TABLE("requires.csv", edges, edge)                                                             \
    TABLE("packages.csv", packages, package_kind)                                                  \
    TABLE("firmware-updates.csv", firmware_updates, firmware_update)                               \
    TABLE("firmware-names.csv", firmware_names, firmware_alias)

struct lks_class; /* model/facts/class.h */

struct lks_facts {
    struct lks_arena arena; /* owns all rows and a copy of every table's text */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define TABLE(file, member, row) LKS_ROWS(struct lks_##row) member;
    LKS_FACTS_TABLES(TABLE)
#undef TABLE
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
