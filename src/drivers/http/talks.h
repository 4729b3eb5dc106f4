/*
 * Many conversations (port/conversation.h) at a time, in one thread, over one lks_curl.
 *
 * A peer is asked one thing at a time, however many conversations there are with it, and all of
 * them together no more than the limits say. A peer that is a program made for it gets several
 * requests at a time (`lanes`), and takes no place from those that are not. A peer that does not
 * answer is asked more and more seldom by all conversations, and by one at a time. Where a
 * conversation has to be durable its owner is told what to save, and it goes on when the owner says
 * so:
 *
 *     lks_talks_add()      a dialog, with room for the driver's value
 *     (begin the value, and load what was saved)
 *     lks_talks_start()
 *         checkpoint()     save this; then lks_talks_resume()
 *         heard()          an answer was taken in
 *         ended()          the value can be looked at once more; then the dialog is gone
 *
 * All functions but lks_talks_wake() belong to the thread that turns.
 */
#ifndef LKS_DRIVERS_HTTP_TALKS_H
#define LKS_DRIVERS_HTTP_TALKS_H

#include "drivers/http/curl.h"
#include "port/conversation.h"

#define LKS_TALKS_MAX         65536 /* dialogs at a time; a power of two */
#define LKS_TALKS_SITES_MAX   4096
#define LKS_TALKS_LANES_MAX   LKS_CURL_LANES_MAX
#define LKS_TALKS_BACKOFF_MAX (60 * LKS_SECOND)

struct lks_talks;
struct lks_dialog;

struct lks_talks_options {
    struct lks_curl_options curl;
    unsigned all_max;        /* exchanges at a time; 0: 256 */
    unsigned site_max;       /* of these, with one site; 0: 64 */
    lks_ms (*clock)(void *); /* wall time that never decreases; NULL: the system's, held so */
    void *clock_ctx;
    void *ctx; /* of the functions below */

    /* `saved` is borrowed. lks_talks_resume() may be called at once. */
    void (*checkpoint)(void *ctx, struct lks_dialog *d, struct lks_str saved);
    void (*heard)(void *ctx, struct lks_dialog *d); /* or NULL */
    /* Code LKS_OK: the driver is done, and its value says with what. Else it failed: `why` also
     * says what kept the peer from being reached, where that is the reason. */
    void (*ended)(void *ctx, struct lks_dialog *d, const struct lks_err *why);
};

struct lks_dialog_options {
    struct lks_curl_peer peer; /* texts are copied */
    uint32_t site;             /* whose limit counts, below LKS_TALKS_SITES_MAX */
    unsigned lanes; /* exchanges with this peer at a time, at most LKS_TALKS_LANES_MAX; 0: one. With
                       more than one, the limits of sites and of all do not apply */
    bool impatient; /* it ends at once where the peer cannot be reached to begin with */
    const struct lks_conversation_ops *ops;
    void *ctx; /* the owner's own, for lks_talks_ctx() */
};

enum lks_code lks_talks_new(const struct lks_talks_options *options, struct lks_talks **out,
                            struct lks_err *err) LKS_MUST_CHECK;
/* Dialogs in progress end without a call. */
void lks_talks_free(struct lks_talks *t);

/* The clock that all times of the conversations are on. */
lks_ms lks_talks_now(struct lks_talks *t);

/* A dialog whose value is all zeroes: to be begun by its driver before it starts. LIMIT: there are
 * LKS_TALKS_MAX already. */
enum lks_code lks_talks_add(struct lks_talks *t, const struct lks_dialog_options *options,
                            struct lks_dialog **out, struct lks_err *err) LKS_MUST_CHECK;
void *lks_talks_value(struct lks_dialog *d);
void *lks_talks_ctx(const struct lks_dialog *d);

/* It may begin, in the next turn. `restored`: its value was loaded, and the answer that was being
 * waited for will not come. */
void lks_talks_start(struct lks_talks *t, struct lks_dialog *d, bool restored);

/* What it gave to checkpoint() is durable. */
void lks_talks_resume(struct lks_talks *t, struct lks_dialog *d);

/* Drop it; ended() is not called. A request in progress is cut. Also for one that was added and
 * never started. */
void lks_talks_cancel(struct lks_talks *t, struct lks_dialog *d);

/* How much of the body of the request in progress was sent, of how much; zeroes: none is. */
void lks_talks_sent(const struct lks_dialog *d, uint64_t *sent, uint64_t *total);

/* Why the last exchange that came to nothing did; code LKS_OK: there was none, or one was answered
 * since. */
const struct lks_err *lks_talks_trouble(const struct lks_dialog *d);

/* The token of a session with `url` that was left open, or ""; and remember another ("" forgets).
 * Kept in memory alone, and wiped. */
const char *lks_talks_token(const struct lks_talks *t, const char *url);
void lks_talks_keep(struct lks_talks *t, const char *url, const char *token);

/* Go on with all of them, and wait at the most `wait` for something to happen. */
enum lks_code lks_talks_turn(struct lks_talks *t, lks_ms wait, struct lks_err *err) LKS_MUST_CHECK;

/* From any thread: a turn that waits returns, or the next one does. */
void lks_talks_wake(struct lks_talks *t);

/* Dialogs that were added and did not end. */
size_t lks_talks_count(const struct lks_talks *t);

#endif
