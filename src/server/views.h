/* What the state knows, as JSON for people: the members of objects that a caller has begun. */
#ifndef LKS_SERVER_VIEWS_H
#define LKS_SERVER_VIEWS_H

#include "codec/json.h"
#include "core/cadence.h"

/* What a node's row in a list has. */
void lks_view_node(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                   lks_ms wall);
/* What there is to say of one node besides. */
void lks_view_node_more(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                        struct lks_now now);

/* How a node differs from its intent; lks_differs_words (forms.h) has the words. */
enum lks_differs {
    LKS_DIFFERS_DRIFT,
    LKS_DIFFERS_UNMEASURED,
    LKS_DIFFERS_DEVIATION, /* in what a deviation allows for now */
    LKS_DIFFERS_NOT,
    LKS_DIFFERS_COUNT
};
enum lks_differs lks_view_differs(const struct lks_state *s, uint32_t node);

/* The stack it should run: its name, if that is known, and its digest. */
void lks_view_intent(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                     const char *name_key, const char *digest_key);

/* How its readings compare with that: cause, since when, and up to `most` rows. */
void lks_view_drift(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                    size_t most);

/* Counts of a pool, which may be of a part of its nodes. */
struct lks_pool_counts {
    uint32_t nodes, enrolled;
    uint32_t liveness[LKS_LIVENESS_COUNT];
};
struct lks_pool_counts lks_pool_counts(const struct lks_state *s, uint32_t pool);
void lks_view_pool(struct lks_json_writer *w, const struct lks_state *s, uint32_t pool,
                   const struct lks_pool_counts *counts);
/* How far it is behind what is released, and how far it may be. */
void lks_view_cadence(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_book *book, const struct lks_pool_classes *classes,
                      uint32_t pool, lks_ms wall);
void lks_view_liveness(struct lks_json_writer *w, const uint32_t liveness[LKS_LIVENESS_COUNT]);

void lks_view_alarm(struct lks_json_writer *w, const struct lks_state *s,
                    const struct lks_state_alarm *alarm);
void lks_view_command(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_state_command *command);
void lks_view_binding(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_binding *binding, bool identity);
void lks_view_token(struct lks_json_writer *w, const struct lks_state *s,
                    const struct lks_api_token *token);

/* Members that are left out where there is nothing to say. */
void lks_view_text(struct lks_json_writer *w, const char *key, struct lks_str text);
void lks_view_time(struct lks_json_writer *w, const char *key, lks_ms time);
/* `next` of a list that goes on from a number; 0: it does not. */
void lks_view_next(struct lks_json_writer *w, uint64_t next);

#endif
