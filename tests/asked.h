/* A control plane without a journal, for tests of decisions: a state, a time, and what became of
 * the last event, as text.
 *
 *     held node=g1 by=kim reason=broken fan     one line a record: kind, then fields that say
 *     unheld node=g2 by=kim                     something, words as words
 *     refused: no node 'g3' in the fleet        or the answer was no
 */
#ifndef LKS_TESTS_ASKED_H
#define LKS_TESTS_ASKED_H

#include "core/rules/decide.h"
#include "core/state/state.h"
#include "model/manifest/manifest.h"

struct lks_asked {
    struct lks_state state;
    struct lks_decision decision;
    struct lks_now now;
    struct lks_manifest manifest; /* that was applied last */
    char digest[LKS_DIGEST_SIZE]; /* of its text */
    bool unreleased;              /* stacks beside a fleet are not released before it is applied */
    struct lks_buf text;
};

/* Nothing here fails quietly: what should not happen aborts. */
void lks_asked_init(struct lks_asked *a);
void lks_asked_fini(struct lks_asked *a);

/* A record as such a line. */
void lks_asked_tell(const struct lks_record *record, struct lks_buf *out);

/* Make a record true, as if it had been decided. */
void lks_asked_apply(struct lks_asked *a, const struct lks_record *record);

/* The node is enrolled, has booted and is live. */
void lks_asked_live(struct lks_asked *a, const char *node);

/* Decide and tell; the records are not applied. The text is good until the next one. */
struct lks_str lks_asked_dry(struct lks_asked *a, const struct lks_event *event);

/* The same, and its records become true. */
struct lks_str lks_asked(struct lks_asked *a, const struct lks_event *event);

/* The stacks of a manifest that are not in the registry yet are published and released, as if that
 * had been decided. */
void lks_asked_release(struct lks_asked *a, const struct lks_manifest *manifest);

/* Apply a fleet given as a manifest, whose stacks are released first; `event` may carry more, or be
 * NULL. It becomes `a->manifest` unless it is refused. */
struct lks_str lks_asked_fleet(struct lks_asked *a, const char *manifest,
                               const struct lks_event *event);

#endif
