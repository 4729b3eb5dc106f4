/* Requests of `top`, in threads of their own: a daemon that does not answer never holds up a key.
 * The screen says what it wants; answers come as events. Pauses have a thread and a connection of
 * their own, so that no request for data holds one up. */
#ifndef LKS_CLI_TOP_FETCH_H
#define LKS_CLI_TOP_FETCH_H

#include "cli/top/model.h"

#include <signal.h>

enum lks_top_event_kind {
    LKS_TOP_EVENT_ANSWER,
    LKS_TOP_EVENT_LOST,    /* lockstepd does not answer: `text` has why */
    LKS_TOP_EVENT_DONE,    /* an act was carried out, */
    LKS_TOP_EVENT_REFUSED, /* or was not */
};

struct lks_top_event {
    enum lks_top_event_kind kind;
    enum lks_code code; /* of LKS_TOP_EVENT_REFUSED */
    struct lks_top_answer answer;
    char text[2 * LKS_TOP_TEXT_MAX];
    struct lks_top_event *next;
};
void lks_top_fetch_event_free(struct lks_top_event **e);

struct lks_top_fetch;

/* A want is asked for every `interval` times its own number. */
enum lks_code lks_top_fetch_start(struct lks_cli *cli, const struct lks_args *args, lks_ms interval,
                                  struct lks_top_fetch **out, struct lks_err *err) LKS_MUST_CHECK;

/* Ends the threads, after the pauses that a person confirmed: the answer to each is waited for as
 * long as a request may take, or until `*interrupted`. The error stream has how each ended; the
 * failure is that of the last one that was not acknowledged. Requests for data are not waited for;
 * `cli->at_once` is set where one is still in progress. */
enum lks_code lks_top_fetch_stop(struct lks_top_fetch **f, struct lks_cli *cli,
                                 const volatile sig_atomic_t *interrupted,
                                 struct lks_err *err) LKS_MUST_CHECK;

/* Readable while there are events. */
int lks_top_fetch_fd(const struct lks_top_fetch *f);

/* What is asked for from now on; `now`: all of it at once. */
void lks_top_fetch_want(struct lks_top_fetch *f, const struct lks_top_want *wants, size_t count,
                        bool now);

/* Pauses are sent in this order. An event has how each ended. */
void lks_top_fetch_pause(struct lks_top_fetch *f, uint64_t change, const char *reason);

/* The next event, which the caller frees; NULL: there is none. */
struct lks_top_event *lks_top_fetch_take(struct lks_top_fetch *f);

#endif
