/*
 * Nodes, as members of a JSON object that the caller has begun. `node show` and `journal at` both
 * render by these functions, one from the state of now and one from the fold up to a moment, so
 * that they cannot differ.
 */
#ifndef LKS_CORE_VIEW_H
#define LKS_CORE_VIEW_H

#include "base/time.h"
#include "core/view/view_row.h"

struct lks_state;

/* Of a text in an answer that may be longer than a line. */
#define LKS_VIEW_LINES_MAX ((int64_t)64 << 10)

extern const struct lks_view lks_view_nodes, lks_view_resets;
/* view_lists.c */
extern const struct lks_view lks_view_deviations, lks_view_alarms, lks_view_commands,
    lks_view_stacks, lks_view_images, lks_view_artifacts, lks_view_keys, lks_view_bundles,
    lks_view_flashes, lks_view_overrides, lks_view_bindings, lks_view_tokens, lks_view_persons,
    lks_view_runs;
/* All of them. */
extern const struct lks_view *const lks_views[];
extern const size_t lks_view_count;

/* Members of a node with the uses LISTED (its row in a list), SHOWN (what the journal knows
 * besides) and LIVE (what heartbeats alone know). */
void lks_view_node(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                   struct lks_now now, unsigned use);

/* Forms of members of a node. */
extern const struct lks_form lks_view_wrong_form, lks_view_drained_form;

/* Where a node's intent comes from. */
enum lks_intent_from {
    LKS_INTENT_POOL,   /* its pool's pin */
    LKS_INTENT_DOMAIN, /* an asset: what the pools of its domain pin */
    LKS_INTENT_CHANGE, /* a change's target, from the moment the node begins */
    LKS_INTENT_COUNT
};
extern const char *const lks_intent_words[];

/* How a node differs from its intent; lks_differs_words (forms.h) has the words. */
enum lks_differs {
    LKS_DIFFERS_DRIFT,
    LKS_DIFFERS_UNMEASURED,
    LKS_DIFFERS_DEVIATION, /* in what a deviation allows for now */
    LKS_DIFFERS_NOT,
    LKS_DIFFERS_COUNT
};
enum lks_differs lks_view_differs(const struct lks_state *s, uint32_t node);

/* How a node's conformance is shown: lks_judged_words, and "deviation" for drift that deviations
 * cover, as in lists of drift. The number is a place in these words. */
extern const char *const lks_view_judged_words[];
unsigned lks_view_judged(const struct lks_state *s, uint32_t node);

/* The stack it should run: its name, if that is known, and its digest. */
void lks_view_intent(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                     const char *name_key, const char *digest_key);

/* How it differs now, in a line that is added to `out`; nothing where that is not known. */
void lks_view_drift_line(const struct lks_state *s, uint32_t node, struct lks_buf *out);

/* How its readings compare with that: cause, since when, and up to `most` rows. */
void lks_view_drift(struct lks_json_writer *w, const struct lks_state *s, uint32_t node,
                    size_t most);

/* Words with blanks between them, as a list. */
void lks_view_words(struct lks_json_writer *w, const char *key, struct lks_str words);

/* Members that are left out where there is nothing to say. */
void lks_view_text(struct lks_json_writer *w, const char *key, struct lks_str text);
void lks_view_time(struct lks_json_writer *w, const char *key, lks_ms time);

#endif
