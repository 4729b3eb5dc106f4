/*
 * Where calls are decided: the engine and what handlers may use beside it. Everything here happens
 * on the state thread, and nothing here waits.
 */
#ifndef LKS_SERVER_AUTHZ_H
#define LKS_SERVER_AUTHZ_H

#include "core/actions/sched_book.h"
#include "core/admission/refused.h"
#include "core/view/view_row.h"
#include "engine/engine.h"
#include "server/auth/decisions.h"
#include "server/base/config.h"
#include "server/base/rate.h"
#include "server/call/call.h"
#include "server/call/route.h"
#include "server/form/asks.h"
#include "server/form/metrics.h"

/* Names in one question: a host list can stand for more, and others wait meanwhile. */
#define LKS_AUTHZ_HOSTS_MAX 131072

/* Of a pool: jobs that asked since the last record of it, and by reason those that were refused or
 * would have been. */
struct lks_authz_observed {
    uint64_t asked;
    uint64_t refused[LKS_BAR_COUNT];
    uint64_t question; /* the last that was counted here, */
    uint32_t bars;     /* and its reasons, as bits */
};

/* Management endpoints as the fleet's file has them, read when it changes: handle_sweep.c. */
struct lks_authz_endpoint;
struct lks_config;
struct lks_state_alarm;
struct lks_state_change;
struct lks_authz_sweeps {
    struct lks_arena arena;
    struct lks_authz_endpoint *items; /* in the arena; sorted by name */
    size_t count;
    lks_text manifest; /* the file they are of */
    bool known;
};

/* What we sign, as DSSE calls it. */
#define LKS_ADMISSION_TYPE "application/vnd.lockstep.admission+json"
#define LKS_STACK_TYPE     "application/vnd.lockstep.stack+json"

struct lks_authz {
    struct lks_daemon *daemon;
    struct lks_engine *engine;
    const struct lks_state *state;
    struct lks_now now;      /* its wall never decreases, */
    lks_ms wall;             /* and this is what the clock says */
    struct lks_rate rate;    /* of people, by identity */
    struct lks_rate reports; /* of what a node makes us write, by its name */
    struct lks_rate admits;  /* of questions whether jobs may start, by identity */
    struct lks_rate starts;  /* of reports that some did without an answer, a minute's */
    struct lks_metrics metrics;
    struct lks_decisions decisions;
    struct lks_authz_observed *observed; /* owned; by pool */
    uint32_t observed_room;
    struct lks_refused refused; /* the same, by user, image and node */
    uint64_t questions;         /* that were counted */
    lks_ms observed_at;         /* mono, when it was last recorded */
    struct lks_authz_sweeps sweeps;
    struct lks_sched_book sched;           /* what schedulers said, while this controller leads */
    const struct lks_config *sched_config; /* whose bridges were compared with the fleet's sites */
    lks_ms *drafts; /* owned; by pool: mono, when a change was last to be drafted; 0: never */
    uint32_t draft_room;
    uint64_t epoch;     /* counts up when a certificate may have ended */
    uint64_t first_row; /* the oldest that is kept; rows are trimmed at a start alone */
    bool draining;
    bool following; /* another controller leads: reads and questions are answered, no more */
    lks_ms behind;  /* how old what we know may be; 0: we lead */
};

/* Decide one call: who asks, may they, and what comes of it. Afterwards it has an answer, or work
 * to do for one, and `needs`; or it wants to be called again (false). */
bool lks_authz_decide(struct lks_authz *authz, struct lks_call *call);

/* Make a turn of `event` for `call`, whose `needs` then tells what must be durable. False when the
 * answer is no; it is then written. `d` is initialised here and owed lks_decision_fini(). */
bool lks_authz_turn(struct lks_authz *authz, struct lks_call *call, struct lks_event *event,
                    const struct lks_store_blob *blob, struct lks_decision *d);

/* Allow one call a minute to the caller's identity, by `rate`, which has one a second; root is not
 * limited. False: it is answered with 429. */
bool lks_authz_charge_minute(const struct lks_authz *authz, struct lks_call *call,
                             struct lks_rate *rate);

/* Say in the event who asks and by which credential, as lks_authz_turn() does. */
void lks_authz_sign(const struct lks_call *call, struct lks_event *event);

/* The same where the answer is {"seq"}. */
void lks_authz_record(struct lks_authz *authz, struct lks_call *call, struct lks_event *event);

/* The same for what was read of a node: the body is kept under its digest. False: it is refused. */
bool lks_authz_report(struct lks_authz *authz, struct lks_call *call, struct lks_event *event);

/* How many nodes a decision reached outside a change, as members of an answer; nothing where it
 * reached none. */
void lks_authz_touched(struct lks_json_writer *w, const struct lks_touched *touched);

/* For a handler that needs its route's prepare() once more, now that it has seen the state: it is
 * handled again afterwards. */
void lks_authz_prepare_again(struct lks_call *call);

/* Hear a heartbeat of a node. One of a node that is not enrolled any more shows nothing; nor does
 * one of a node whose heartbeats fill the journal. */
enum lks_code lks_authz_hear(struct lks_authz *authz, uint32_t node, const struct lks_beat *beat,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Rates and the log of admissions, from the configuration. */
enum lks_code lks_authz_init(struct lks_authz *authz, const struct lks_config *config,
                             uint64_t seed, struct lks_err *err) LKS_MUST_CHECK;
void lks_authz_rates_set(struct lks_authz *authz, const struct lks_config *config);
/* All but the engine. */
void lks_authz_fini(struct lks_authz *authz);

/* Who asked for a job, or for a pod, and with which images; user may be empty. */
struct lks_authz_asked {
    struct lks_str job, user;
    const struct lks_admit_image *images;
    size_t image_count;
};
/* An answer was given: it counts in metrics, the log of admissions and what was observed. */
void lks_handle_admit_count(struct lks_authz *authz, const struct lks_authz_asked *asked,
                            const struct lks_admit *a);

/* Record what was observed since the last time, if that is a minute ago, or `now`. A follower keeps
 * it until it leads. */
void lks_handle_admit_observe(struct lks_authz *authz, bool now);

/* Whether the caller may do what the route asks for, at a place. */
bool lks_authz_may(const struct lks_authz *authz, const struct lks_call *call,
                   enum lks_permission permission, struct lks_scope scope);

/* Answer a call with whether a person may do something that is not done: yes or no, the roles that
 * give it, and the command that would give it. The rules are those of the act itself. An approval,
 * rejection or review of a thing that is named is decided as if it were given, and the refusal is
 * in the answer. What other acts refuse for other reasons, such as a freeze, is not asked. */
struct lks_authz_act {
    const struct lks_route *route;
    struct lks_str identity; /* of another person; empty: the caller */
    struct lks_str name;     /* what the path or the body would name; empty: a place as a whole, */
    struct lks_str pool, site; /* this one; empty: the fleet */
};
void lks_authz_can(struct lks_authz *authz, struct lks_call *call, const struct lks_authz_act *act);

/* Where the permission of a route has to hold, for the reference page; "" where it has no place. */
const char *lks_authz_where(enum lks_route_scope scope);

/* The same at each node of call->hosts that the fleet has. */
bool lks_authz_may_hosts(const struct lks_authz *authz, const struct lks_call *call,
                         enum lks_permission permission);

/* The same at each of many nodes, for lists: looked up once. */
struct lks_authz_view {
    const struct lks_state *state;
    struct lks_sight sight;
    bool all;
};
struct lks_authz_view lks_authz_sight(const struct lks_authz *authz, const struct lks_call *call);
bool lks_authz_sees(const struct lks_authz_view *v, uint32_t node);

/* Whether the caller may do what the route asks for where an alarm is about. */
bool lks_authz_may_alarm(const struct lks_authz *authz, const struct lks_call *call,
                         const struct lks_state_alarm *a);
/* The nodes that this looks at, at the most, where the caller does not see all. */
uint32_t lks_authz_alarm_nodes(const struct lks_authz *authz, const struct lks_state_alarm *a);

/* The number {id}; UINT64_MAX, which nothing has, where it is none. A handler finds what it names:
 * its scope was looked at, so it is there. */
uint64_t lks_authz_id(const struct lks_call *call);

/* Whether the caller may do what the route asks for at all nodes of a change. */
bool lks_authz_may_change(const struct lks_authz *authz, const struct lks_call *call,
                          const struct lks_state_change *c);

/* A page of a list whose items have numbers. */
struct lks_authz_page {
    struct lks_json_writer w;
    uint64_t after; /* of the last item of the page before; UINT64_MAX: this is the first page */
    uint64_t left;  /* items that it takes */
    uint64_t next;  /* where the next one starts; 0: nowhere, or not known yet */
};
/* False, and the answer written, where `after` is no number. */
bool lks_authz_page_begin(struct lks_call *call, const struct lks_ask_page *ask,
                          struct lks_authz_page *page);
void lks_authz_page_end(struct lks_authz_page *page);

/* Answer with a row of a table, as its view shows it: all that is LISTED or SHOWN. */
void lks_authz_row(const struct lks_authz *authz, struct lks_call *call,
                   const struct lks_view *view, const void *row);

/* Whether `end`, the member `key` of the body, can be the end of something that starts now. False,
 * and the answer written, where it is over by the journal's clock alone, which is ahead of the true
 * one after that was ahead. */
bool lks_authz_end(const struct lks_authz *authz, struct lks_call *call, const char *key,
                   lks_ms end);

/* The one node that {name} names; LKS_NO_NODE, and the answer written, where it is a list. */
uint32_t lks_authz_node(const struct lks_authz *authz, struct lks_call *call);

#endif
