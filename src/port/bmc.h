/*
 * A management endpoint, as the engine and the command line see it: something that says which
 * firmware there is, and that takes an image for it. Both are conversations (port/conversation.h);
 * a driver speaks one protocol, Redfish or a switch tray's own.
 *
 * An update ends in one of few ways, and "done" is said by the inventory alone, read again three
 * times: neither by an accepted upload nor by a task that calls itself completed. Where it cannot
 * be told what became of what was sent, it ends as UNKNOWN, which waits for a person.
 */
#ifndef LKS_PORT_BMC_H
#define LKS_PORT_BMC_H

#include "base/arena.h"
#include "model/facts/facts.h"
#include "model/record/record.h"
#include "port/conversation.h"

#define LKS_BMC_ITEMS_MAX   1024
#define LKS_BMC_MEMORY_MAX  ((size_t)4 << 20) /* of one inventory */
#define LKS_BMC_VERSION_MAX 127
#define LKS_BMC_NAME_MAX    127

/* Never saved, never logged. `token` is of a session that is open already, or empty; where `keep`
 * is set the session stays open at the end and lks_bmc_driver.token() says which. */
struct lks_bmc_secret {
    char user[128];
    char password[256];
    char token[1024];
    bool keep;
};

enum lks_bmc_bank {
    LKS_BANK_ACTIVE, /* what runs */
    LKS_BANK_STAGED, /* what will run after the right reset */
    LKS_BANK_BACKUP, /* what ran before, or a copy kept beside */
    LKS_BANK_GOLDEN, /* the last resort that is never updated with the others */
    LKS_BANK_COUNT
};
extern const char *const lks_bank_words[]; /* "active", "staged", "backup", "golden", NULL */

enum lks_bmc_told { LKS_TOLD_NOT, LKS_TOLD_NO, LKS_TOLD_YES };

/* One entry of an inventory. Texts live in the inventory's arena. */
struct lks_bmc_item {
    struct lks_str id, uri, name;
    struct lks_str version; /* empty: it has none, or says none */
    struct lks_str class;   /* of components.csv, by data/firmware-names.csv; empty: unknown */
    struct lks_str of;      /* which of several: "gpu 3", "psu 1"; empty: there is one */
    struct lks_str software_id, manufacturer, released, lowest;
    struct lks_str related; /* the first of its related items */
    struct lks_str health;  /* Status.Health, or empty */
    enum lks_bmc_bank bank;
    enum lks_bmc_told updateable, write_protected;
    bool switches; /* a bank that does not run: the service offers to switch to it */
};

struct lks_bmc_inventory {
    struct lks_arena arena; /* owns all texts and items */
    struct lks_bmc_item *items;
    size_t count, room;
    struct lks_str vendor; /* by the names of data/firmware-names.csv: "hgx", "dell" ... */
    struct lks_str product, model, serial, power; /* of the service and its system; or empty */
    uint32_t missing;                             /* entries that are listed and cannot be read */
    uint32_t requests;                            /* that it took */
    struct lks_str notes; /* what the service does against the standard, in lines */
};
void lks_bmc_inventory_init(struct lks_bmc_inventory *i);
void lks_bmc_inventory_fini(struct lks_bmc_inventory *i);

/* What is asked for. Texts are copied by begin(). */
struct lks_bmc_intent {
    enum lks_bmc_act act;
    struct lks_str component; /* a class: "bmc", "bios", "vbios"; or an entry's id */
    struct lks_str version;   /* what its entries will say; all of the class, or the one entry */
    struct lks_http_file image;
    uint64_t image_size;
    struct lks_str image_name; /* the file's name, for services that look at it */
    struct lks_str apply_time; /* of Redfish's words; empty: by what the service offers */
    struct lks_str pull;       /* where the service itself could fetch the image; or empty */
    bool force;                /* an older version is meant */
    bool one_way;              /* its irreversibility was acknowledged */
    bool write_protected;      /* write protection that entries report is overridden */
    lks_ms deadline;           /* wall */
};

/* How far it is, for people and records. Views of the value. */
struct lks_bmc_status {
    enum lks_bmc_outcome outcome;
    const char *phase;    /* "reading", "uploading", "waiting for the task", "activating", ... */
    unsigned percent;     /* 0-100 of the whole */
    uint32_t uploads;     /* that were begun */
    bool pulls;           /* the next request has the endpoint fetch the image by itself */
    struct lks_str found; /* the version that was read last; empty: none yet */
    struct lks_str task;  /* where the task is, or empty */
    struct lks_str via;   /* "MultipartHttpPushUri", "SimpleUpdate", ...; empty: nothing sent */
    struct lks_str text;  /* why it ended so: one line */
};

struct lks_bmc_driver {
    const char *name; /* "redfish", "nvos" */

    /* Reading. The value holds pointers: it fills `out`, which outlives it, and starts over after
     * a restart. */
    const struct lks_conversation_ops *read;
    void (*read_begin)(void *value, const struct lks_facts *facts,
                       const struct lks_bmc_secret *secret, lks_ms deadline,
                       struct lks_bmc_inventory *out);

    /* Updating. The value has save() and load(). After a restart: begin again with the same intent
     * and fresh secrets, load what was saved last, feed NULL. */
    const struct lks_conversation_ops *update;
    enum lks_code (*update_begin)(void *value, const struct lks_facts *facts,
                                  const struct lks_bmc_secret *secret,
                                  const struct lks_bmc_intent *intent, struct lks_err *err);
    void (*update_status)(const void *value, struct lks_bmc_status *out);

    /* The token of the session that `value` (of either kind) left open, or "". */
    const char *(*token)(const void *value);
};

extern const struct lks_bmc_driver lks_bmc_redfish; /* drivers/bmc/redfish.c */
extern const struct lks_bmc_driver lks_bmc_nvos;    /* drivers/bmc/nvos.c */

/* The driver by name; NULL: there is none. "" is Redfish. */
const struct lks_bmc_driver *lks_bmc_driver(struct lks_str name);

/* An inventory as a tuple of `node`: a reading "firmware/CLASS" of each active entry (class
 * "unknown" where it is not known; its device is what stays of its id when the version changes),
 * beside it the staged and backup banks, and what the service says of itself. Finished by the
 * caller. */
struct lks_tuple;
void lks_bmc_inventory_tuple(const struct lks_bmc_inventory *i, struct lks_str node, int64_t taken,
                             struct lks_tuple *out);

/* The same as JSON into the object being written: vendor, product, ..., "components" with one
 * element an entry. */
struct lks_json_writer;
void lks_bmc_inventory_json(const struct lks_bmc_inventory *i, struct lks_json_writer *w);

#endif
