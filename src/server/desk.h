/*
 * Where calls are decided: the engine and what handlers may use beside it. Everything here happens
 * on the state thread, and nothing here waits.
 */
#ifndef LKS_SERVER_DESK_H
#define LKS_SERVER_DESK_H

#include "engine/engine.h"
#include "server/call.h"
#include "server/metrics.h"
#include "server/rate.h"

struct lks_desk {
    struct lks_daemon *daemon;
    struct lks_engine *engine;
    const struct lks_state *state;
    struct lks_now now;
    struct lks_rate rate;    /* of people, by identity */
    struct lks_rate reports; /* of what a node makes us write, by its name */
    struct lks_metrics metrics;
    uint64_t epoch;     /* counts up when a certificate may have ended */
    uint64_t first_row; /* the oldest that is kept; rows are let go at a start alone */
    bool draining;
};

/* Decide one call: who asks, may they, and what comes of it. Afterwards it has an answer, or work
 * to do for one, and `needs`; or it wants to be called again (false). */
bool lks_desk_decide(struct lks_desk *desk, struct lks_call *call);

/* Make a turn of `event` for `call`, whose `needs` then tells what must be durable. False when the
 * answer is no; it is then written. `d` is initialised here and owed lks_decision_fini(). */
bool lks_desk_turn(struct lks_desk *desk, struct lks_call *call, struct lks_event *event,
                   const struct lks_store_blob *blob, struct lks_decision *d);

/* The same where the answer is {"seq"}. */
void lks_desk_record(struct lks_desk *desk, struct lks_call *call, struct lks_event *event);

/* Hear a heartbeat of a node. One of a node that is not enrolled any more shows nothing; nor does
 * one of a node whose heartbeats fill the journal. */
enum lks_code lks_desk_hear(struct lks_desk *desk, uint32_t node, const struct lks_beat *beat,
                            struct lks_err *err) LKS_MUST_CHECK;

/* Both rates, from the configuration. */
enum lks_code lks_desk_rates_init(struct lks_desk *desk, uint64_t per_s, uint64_t burst,
                                  uint64_t seed, struct lks_err *err) LKS_MUST_CHECK;
void lks_desk_rates_set(struct lks_desk *desk, uint64_t per_s, uint64_t burst);

/* Whether the caller may do what the route asks for, at a place. */
bool lks_desk_may(const struct lks_desk *desk, const struct lks_call *call,
                  enum lks_permission permission, struct lks_scope scope);

/* The same at each of many nodes, for lists: looked up once. */
struct lks_desk_view {
    const struct lks_state *state;
    struct lks_sight sight;
    bool all;
};
struct lks_desk_view lks_desk_sight(const struct lks_desk *desk, const struct lks_call *call);
bool lks_desk_sees(const struct lks_desk_view *v, uint32_t node);

/* Where an alarm is about. */
struct lks_scope lks_desk_alarm_scope(const struct lks_state *s, const struct lks_state_alarm *a);

/* The one node that {name} names; LKS_NO_NODE, and the answer written, where it is a list. */
uint32_t lks_desk_node(const struct lks_desk *desk, struct lks_call *call);

#endif
