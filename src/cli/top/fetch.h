/* Requests of `top`, in a thread of their own: a daemon that does not answer never holds up a key.
 * The screen says what it wants; answers come as events. */
#ifndef LKS_CLI_TOP_FETCH_H
#define LKS_CLI_TOP_FETCH_H

#include "cli/top/model.h"

enum lks_top_event_kind {
    LKS_TOP_EVENT_ANSWER,
    LKS_TOP_EVENT_LOST,    /* lockstepd does not answer: `text` has why */
    LKS_TOP_EVENT_DONE,    /* an act was carried out, */
    LKS_TOP_EVENT_REFUSED, /* or was not */
};

struct lks_top_event {
    enum lks_top_event_kind kind;
    struct lks_top_answer answer;
    char text[2 * LKS_TOP_TEXT_MAX];
    struct lks_top_event *next;
};
void lks_top_fetch_event_free(struct lks_top_event **e);

struct lks_top_fetch;

/* A want is asked for every `interval` times its own number. */
enum lks_code lks_top_fetch_start(struct lks_cli *cli, const struct lks_args *args, lks_ms interval,
                                  struct lks_top_fetch **out, struct lks_err *err) LKS_MUST_CHECK;

/* Ends the thread. A request that lockstepd never answers is not waited for: the program ends, and
 * the thread with it. */
void lks_top_fetch_stop(struct lks_top_fetch **f);

/* Readable while there are events. */
int lks_top_fetch_fd(const struct lks_top_fetch *f);

/* What is asked for from now on; `now`: all of it at once. */
void lks_top_fetch_want(struct lks_top_fetch *f, const struct lks_top_want *wants, size_t count,
                        bool now);

void lks_top_fetch_pause(struct lks_top_fetch *f, uint64_t change, const char *reason);

/* The next event, which the caller frees; NULL: there is none. */
struct lks_top_event *lks_top_fetch_take(struct lks_top_fetch *f);

#endif
