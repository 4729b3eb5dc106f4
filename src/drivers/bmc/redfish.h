/*
 * What the two conversations of the Redfish driver share: who is logged in, what the service root
 * says, and how an entry of an inventory reads. For drivers/bmc/redfish*.c alone.
 *
 * Authentication is no step of its own: a step that needs it and finds no token asks for a session
 * first. So the beginning, a session that ran out and a restart are one case.
 */
#ifndef LKS_DRIVERS_BMC_REDFISH_H
#define LKS_DRIVERS_BMC_REDFISH_H

#include "core/firmware/firmware_names.h"
#include "drivers/bmc/bmc_json.h"
#include "port/bmc.h"

#define LKS_REDFISH_URI_SIZE   256               /* of a resource that is remembered */
#define LKS_REDFISH_LOGINS_MAX 4                 /* in a row that let us do nothing */
#define LKS_REDFISH_PATIENCE   (60 * LKS_SECOND) /* for an answer that is no upload's */
#define LKS_REDFISH_TEXT_SIZE  384               /* of a reason */

typedef char lks_redfish_uri[LKS_REDFISH_URI_SIZE];

enum lks_redfish_expand { LKS_EXPAND_NOT, LKS_EXPAND_DOT, LKS_EXPAND_LEVELS, LKS_EXPAND_ALL };

struct lks_redfish {
    struct lks_conversation head;
    struct lks_bmc_secret secret;
    lks_redfish_uri session; /* ours to close */
    unsigned logins;         /* since one was of use */
    bool basic;              /* the service has no sessions */
    bool has_root;           /* what follows was read */
    lks_redfish_uri root, sessions, update_service, tasks, systems, managers, chassis;
    enum lks_redfish_expand expand;
    char vendor[32]; /* by the names of data/firmware-names.csv */
    char product[LKS_BMC_NAME_MAX + 1];
    uint32_t requests;
    struct lks_err failed; /* waits for the session to be closed */
};

void lks_redfish_begin(struct lks_redfish *r, const struct lks_bmc_secret *secret, lks_ms deadline);

/* Copy into an array of that size, or leave it empty and say no where it does not fit whole. */
bool lks_redfish_keep(char *out, size_t size, struct lks_str value);

/* Requests ---------------------------------------------------------------------------------- */

/* Has a log-in to come before the step? It, and what became of it. */
bool lks_redfish_wants_login(const struct lks_redfish *r);
void lks_redfish_ask_login(const struct lks_redfish *r, struct lks_http_request *out);
void lks_redfish_hear_login(struct lks_redfish *r, lks_ms now,
                            const struct lks_http_response *answer);

/* Method and path, and who asks. */
void lks_redfish_ask(const struct lks_redfish *r, const char *method, struct lks_str path,
                     struct lks_http_request *out);

/* The same with a JSON body, which is to be added. */
void lks_redfish_ask_json(const struct lks_redfish *r, const char *method, struct lks_str path,
                          struct lks_http_request *out);

/* A collection with its members inside, where the service can do that. */
void lks_redfish_ask_expanded(const struct lks_redfish *r, struct lks_str path,
                              struct lks_http_request *out);

/* The end, by way of the step `logout` where there is a session of ours to close; a failure that is
 * set is told only then. */
void lks_redfish_finish(struct lks_redfish *r, lks_ms now, uint32_t logout);
void lks_redfish_ask_logout(const struct lks_redfish *r, struct lks_http_request *out);
void lks_redfish_hear_logout(struct lks_redfish *r);

/* Answers that mean the same at every step: a session that ran out, a busy service. True: it was
 * settled, and the step comes again. */
bool lks_redfish_hear_common(struct lks_redfish *r, lks_ms now,
                             const struct lks_http_response *answer);

/* Some services only answer for their root with, or without, a slash at its end. True: it is asked
 * for at another path from now on. */
bool lks_redfish_moved(struct lks_redfish *r, const struct lks_http_response *answer);

/* The service root; false: not to be used, and why. */
bool lks_redfish_hear_root(struct lks_redfish *r, const struct lks_doc *root, struct lks_err *err);

/* Answers ----------------------------------------------------------------------------------- */

/* The document of an answer with status 200 to 299 that is no error message; NULL: there is none.
 * `docs` is initialised here and owed lks_docs_fini() in any case. */
const struct lks_doc *lks_redfish_read(const struct lks_http_response *answer,
                                       struct lks_docs *docs);

/* The answer, or NULL where it says as little as none: a page for people with a good status, which
 * a web server shows that has lost its service behind it. */
const struct lks_http_response *lks_redfish_heard(const struct lks_http_response *answer);

/* Whether it is nothing, or JSON. */
bool lks_redfish_readable(const struct lks_http_response *answer);

/* What a service says went wrong, as one line: the messages of its error, or its status. */
void lks_redfish_error(const struct lks_http_response *answer, char out[LKS_REDFISH_TEXT_SIZE]);

/* The part of a message id that stays the same over registries: "UpdateInProgress". */
struct lks_str lks_redfish_message_key(const struct lks_doc *message);

/* What a service says, as a part of a longer line: without the full stop at its end. */
struct lks_str lks_redfish_clause(struct lks_str text);

/* Why an entry of unknown class is not updated, whatever the driver. */
#define LKS_REDFISH_NO_CLASS                                                                       \
    "%s is of unknown class, so how it is updated and comes to run is not known; add a row for "   \
    "it to firmware-names.csv (see data/README.md)"

/* Entries ----------------------------------------------------------------------------------- */

/* An entry of an inventory. Views of `doc`, of the facts and of `key`. */
struct lks_redfish_entry {
    struct lks_bmc_item item;        /* without `of` */
    struct lks_str of;               /* the kind of device it is one of */
    int index;                       /* which; -1: it does not say */
    struct lks_str key;              /* its id without what changes with the version */
    struct lks_str staged;           /* the version that is staged in the same entry, or empty */
    struct lks_str activate, cancel; /* actions of the entry itself, or empty */
};
void lks_redfish_entry(const struct lks_facts *facts, struct lks_str vendor,
                       const struct lks_doc *doc, struct lks_redfish_entry *out);

/* "gpu 3", "psu 1", or what tells it from its like; empty: there is one. */
#define LKS_REDFISH_OF_SIZE 128
void lks_redfish_entry_of(const struct lks_redfish_entry *e, char out[LKS_REDFISH_OF_SIZE]);

/* The key of an entry by what its address says alone. */
struct lks_str lks_redfish_uri_key(const struct lks_facts *facts, struct lks_str vendor,
                                   struct lks_str uri);

/* The conversations, for drivers/bmc/redfish.c. */
extern const struct lks_conversation_ops lks_redfish_read_ops, lks_redfish_update_ops;
void lks_redfish_read_begin(void *value, const struct lks_facts *facts,
                            const struct lks_bmc_secret *secret, lks_ms deadline,
                            struct lks_bmc_inventory *out);
enum lks_code lks_redfish_update_begin(void *value, const struct lks_facts *facts,
                                       const struct lks_bmc_secret *secret,
                                       const struct lks_bmc_intent *intent, struct lks_err *err);
void lks_redfish_update_status(const void *value, struct lks_bmc_status *out);

#endif
