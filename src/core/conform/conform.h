/*
 * Does this node run that stack: every pin against what was read, each with its evidence.
 *
 * Conforms means: every pinned component equal, every windowed one inside its tested window, every
 * setting and every expected device count equal. What was not measured does not conform.
 */
#ifndef LKS_CORE_CONFORM_H
#define LKS_CORE_CONFORM_H

#include "core/compat/report.h"
#include "model/manifest/stack.h"
#include "model/tuple/tuple.h"

enum lks_verdict {
    LKS_CONFORMS,
    LKS_WITH_IMAGE, /* owner image and no image on this node: judged when a job brings one */
    LKS_DRIFT,
    LKS_NOT_MEASURED,
};

/* Why, where it can be told from one tuple; the words are part of the output. */
enum lks_cause {
    LKS_CAUSE_NONE,
    LKS_CAUSE_OTHER_VERSION,  /* "other version" */
    LKS_CAUSE_OTHER_BUILD,    /* "different build": same version, other bytes */
    LKS_CAUSE_HALF_UPGRADED,  /* "half upgraded": loaded, on disk, library, package disagree */
    LKS_CAUSE_COPIES,         /* "skew between copies" */
    LKS_CAUSE_PARTIAL,        /* "some devices": some of the devices have it, some do not */
    LKS_CAUSE_SETTING,        /* "setting changed" */
    LKS_CAUSE_PENDING,        /* "pending": the wanted mode waits for a reset or reboot */
    LKS_CAUSE_MISSING,        /* "not there" */
    LKS_CAUSE_DEVICE_MISSING, /* "device missing" */
    LKS_CAUSE_UNWANTED,       /* "should not be there" */
    LKS_CAUSE_UNMEASURED,     /* "unmeasured" */
    LKS_CAUSE_BANDS,          /* "bands disagree": in-band and out-of-band readings differ */
    LKS_CAUSE_SCHEDULER,      /* "scheduler differs": it advertises something else */
    LKS_CAUSE_COUNT
};
const char *
lks_conform_verdict_name(enum lks_verdict verdict); /* "conforms", "with image", "drift", ... */
const char *lks_conform_cause_name(enum lks_cause cause);

/* One judged pin. Texts live in the conformance's arena, the stack or the tuple. */
struct lks_judgement {
    struct lks_str subject; /* "driver", "firmware/vbios[PN]", "settings.ecc", "devices.gpus" */
    struct lks_str pinned;
    struct lks_str actual; /* as people read it: "580.95.05", "mig enabled on 2 of 8 GPUs" */
    struct lks_str
        value;         /* what nodes are compared in: the same, or empty where nothing is there */
    struct lks_str of; /* the device it fails on, where it is one */
    enum lks_verdict verdict;
    enum lks_cause cause;
    struct lks_str evidence;
};

struct lks_conformance {
    struct lks_arena arena;
    struct lks_judgement *rows; /* in the order of the stack */
    size_t count, room;
    size_t drifted, unmeasured;
    const struct lks_class *class; /* of the stack's classes, the one the node was held against */
    enum lks_code failed;
};

void lks_conform_fini(struct lks_conformance *c);

/* Judge all of it. Of several hardware classes the one that fits best is taken. */
enum lks_code lks_conform(const struct lks_facts *facts, const struct lks_stack *stack,
                          const struct lks_tuple *tuple, struct lks_conformance *out,
                          struct lks_err *err) LKS_MUST_CHECK;

static inline bool lks_conformance_yes(const struct lks_conformance *c)
{
    return c->drifted == 0 && c->unmeasured == 0;
}

#endif
