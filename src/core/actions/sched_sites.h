/*
 * What schedulers are asked about whole sites, in the memory of the controller that leads: the list
 * of jobs, while a node of the site is wanted or a person asks, and requests about single jobs, in
 * the order they were made. Nothing of it is journaled.
 */
#ifndef LKS_CORE_SCHED_SITES_H
#define LKS_CORE_SCHED_SITES_H

#include "core/actions/sched.h"
#include "core/rows/now.h"
#include "core/sched/jobs.h"

struct lks_admit_policy_how;
struct lks_book;

#define LKS_SCHED_SITES_MAX       256
#define LKS_SCHED_SITES_SCAN      (5 * LKS_SECOND)  /* nodes are looked through for wanted sites */
#define LKS_SCHED_SITES_LIST      (30 * LKS_SECOND) /* a list of jobs is asked for again after */
#define LKS_SCHED_SITES_ASKED     (60 * LKS_SECOND) /* so long after a person asked for it */
#define LKS_SCHED_SITES_RETRY_MAX (300 * LKS_SECOND)
#define LKS_SCHED_SITES_RUNS      (10 * LKS_SECOND) /* runs that ended are asked for again after */
#define LKS_SCHED_SITES_ORDERS    4096              /* requests about jobs that wait, of a site */

/* A request that waits for its turn. */
struct lks_sched_order {
    struct lks_sched_order *next;
    struct lks_sched_site_wish wish; /* its texts are behind the struct, in the same memory */
};

/* A site of one scheduler. */
struct lks_sched_site {
    struct lks_str site, sched; /* owned by `texts` of the list */
    bool wanted;                /* a node of it is drained, or is to be */
    lks_ms asked_for;           /* mono: a person asks for its jobs, until then */
    lks_ms asked_until;         /* mono: its jobs are being asked for, until then at most */
    lks_ms due;                 /* mono: they are not asked for before */
    uint64_t search;            /* that found them due last, by its number */
    lks_ms failing_since;       /* wall: since when no list came; 0: the last one did */
    uint32_t failures;          /* one after the other, */
    uint32_t turn;              /* and in all: each makes it the turn of the site's next bridge */
    struct lks_sched_jobs jobs; /* the last list, owned */
    char trouble[LKS_SCHED_REASON_MAX + 1]; /* of the last failure */
    struct lks_sched_order *orders, **last; /* owned; the first is next */
    lks_ms runs_due;                        /* mono: runs that ended are not asked for before */
    lks_ms runs_asked_until;                /* mono: they are being asked for, until then at most */
    uint64_t runs_search;                   /* that found them due last */
    uint32_t runs_failures;                 /* one after the other, */
    uint32_t runs_turn;                     /* and in all */
    lks_ms runs_failing_since;              /* wall; 0: the last answer came */
    char runs_trouble[LKS_SCHED_REASON_MAX + 1];
    uint32_t order_count;
    /* What lockstep says of nodes (core/actions/sched_truth.h). */
    lks_ms publish_due;      /* mono: nothing is published before */
    lks_ms publishing_until; /* mono: requests are in progress, until then at most, */
    uint32_t publishing;     /* so many; */
    bool publish_failed;     /* one of them failed, */
    bool publish_odd;        /* a node of one did, */
    bool publish_more;       /* and nodes are left that did not fit in */
    uint64_t publish_search; /* that found it due last */
    lks_ms configured;       /* the scheduler's clock: when it read its configuration */
    uint32_t publish_failures;
    bool compared;       /* what its nodes show with what they should: at that time */
    uint32_t behind;     /* nodes showed something else, */
    uint32_t oldest;     /* this one for the longest, */
    lks_ms behind_since; /* mono: since then; */
    uint32_t unheard;    /* and nodes were not answered about yet */
    char publish_trouble[LKS_SCHED_REASON_MAX + 1];

    bool takes_policy; /* of submissions: an answer about a node said so */

    /* Reservations for windows of changes (core/actions/sched_book.h). */
    struct lks_sched_reservations reserved; /* lockstep's, as listed last; owned */
    bool reserve_fresh;                     /* nothing was changed since */
    lks_ms reserve_due;                     /* mono: it is not looked at before */
    lks_ms reserve_list;                    /* mono: the list is old then */
    lks_ms reserving_until;                 /* mono: requests are in progress, until then at most */
    uint32_t reserving;                     /* so many */
    uint64_t reserve_search;                /* that found these due */
    uint32_t reserve_wanted;                /* reservations, when it was last looked at */
    uint32_t reserve_failures;              /* since all was as it should be */
    char reserve_trouble[LKS_SCHED_REASON_MAX + 1];
};

/* A bridge as the configuration has it. Site "*": all sites. */
struct lks_sched_sites_bridge {
    struct lks_str site, sched, url;
};

/* A bridge that is told the policy of submissions. It writes a file on its own host, so each bridge
 * of a site is told: the one of a backup slurmctld as well. */
struct lks_sched_sites_policy {
    struct lks_sched_sites_bridge bridge;   /* owned by `texts` of the list */
    lks_ms due;                             /* mono: it is not told before, */
    lks_ms until;                           /* mono: a request is in progress, until then at most */
    uint64_t search;                        /* that found it due last */
    lks_ms written;                         /* wall: when it wrote its file last; 0: never */
    bool fileless;                          /* its last answer: it has no file for it */
    char trouble[LKS_SCHED_REASON_MAX + 1]; /* of the last request, or why there was none; empty: it
                                               succeeded */
};

/* All zero is the beginning. */
struct lks_sched_sites {
    struct lks_sched_site **items; /* owned, each too: they stay where they are */
    uint32_t count, room;
    struct lks_sched_sites_policy *policies; /* owned */
    uint32_t policy_count, policy_room;
    struct lks_intern texts;
    lks_ms scan;       /* mono: when nodes are looked through again */
    lks_ms slots;      /* mono: stacks without a slot are looked for again then */
    uint64_t searches; /* for nodes and sites that are due */
    uint64_t asked;    /* conversations that began, and */
    uint64_t failed;
};
void lks_sched_sites_fini(struct lks_sched_sites *b);

struct lks_sched_site_due {
    struct lks_str site, sched;
    uint32_t turn;      /* of the site's bridges */
    struct lks_str url; /* of the bridge; empty: that whose turn it is */
    struct lks_sched_site_wish wish;
};

/* What is to be asked now, at most `max`. Texts are copied to `arena`. Epoch, deadline and the
 * memory of a list are the caller's. An order that was given out is gone from the book. */
enum lks_code lks_sched_sites_due(struct lks_sched_sites *b, const struct lks_state *s, lks_ms mono,
                                  uint32_t max, struct lks_arena *arena,
                                  struct lks_sched_site_due *out, uint32_t *count,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* The list of jobs came: what is in `jobs` moves to the book. `speed` divides what is waited. */
void lks_sched_sites_listed(struct lks_sched_sites *b, struct lks_str site, struct lks_str sched,
                            struct lks_sched_jobs *jobs, struct lks_now now, uint64_t speed);

/* It did not come. The last list stays, with its age. */
void lks_sched_sites_failed(struct lks_sched_sites *b, struct lks_str site, struct lks_str sched,
                            const char *why, struct lks_now now, uint64_t speed);

/* A person or a plan asks for the jobs of a site: they are listed now, and again for a while. */
enum lks_code lks_sched_sites_ask(struct lks_sched_sites *b, struct lks_str site,
                                  struct lks_str sched, lks_ms mono,
                                  struct lks_err *err) LKS_MUST_CHECK;

/* Have a job signalled or requeued, once. The outcome comes to lks_sched_runner_site_said(), with
 * the wish's tag. LIMIT: too many wait already. */
enum lks_code lks_sched_sites_order(struct lks_sched_sites *b, struct lks_str site,
                                    struct lks_str sched, const struct lks_sched_site_wish *wish,
                                    struct lks_err *err) LKS_MUST_CHECK;

/* Sites whose runs of jobs that ended are to be asked for now, as lks_sched_sites_due(). */
enum lks_code lks_sched_sites_runs_due(struct lks_sched_sites *b, const struct lks_state *s,
                                       lks_ms mono, uint32_t max, struct lks_arena *arena,
                                       struct lks_sched_site_due *out, uint32_t *count);

/* They came (`why` is LKS_OK; `more`: others are to be asked for at once), or did not. Whether that
 * is news: they did not come before, or the other way round. */
bool lks_sched_sites_runs_told(struct lks_sched_sites *b, struct lks_str site, struct lks_str sched,
                               const struct lks_err *why, bool more, struct lks_now now,
                               uint64_t speed);

/* Lists, runs, verdicts and reservations that this search found due were not asked: they are due
 * again. An order is sent again when a later list shows its run. */
void lks_sched_sites_unasked(struct lks_sched_sites *b, uint64_t search);

/* The list of jobs is asked for, and the last answer had none: `trouble` has the reason. */
bool lks_sched_sites_unlisted(const struct lks_sched_site *site, lks_ms mono);

/* NULL: nothing is known of the site. */
const struct lks_sched_site *lks_sched_sites_find(const struct lks_sched_sites *b,
                                                  struct lks_str site, struct lks_str sched);

/* The same, for the files of the book. */
struct lks_sched_site *lks_sched_sites_get(const struct lks_sched_sites *b, struct lks_str site,
                                           struct lks_str sched);

/* One look for bridges that are told the policy of submissions now. Bridges of one site and
 * scheduler get one text, which is written once. `texts` and `count` are zero before. */
#define LKS_SCHED_SITES_POLICY                                                                     \
    (30 * LKS_SECOND)                 /* between two of a bridge: it confirms the last             \
                                       */
#define LKS_SCHED_SITES_POLICIES 1024 /* bridges */
#define LKS_SCHED_SITES_TEXTS    8    /* texts of a look: each reads all nodes */
struct lks_sched_sites_policy_look {
    const struct lks_book *book;
    const struct lks_admit_policy_how *how;
    lks_ms mono;
    uint64_t speed; /* divides what is waited */
    struct lks_sched_sites_policy_text {
        struct lks_str site, sched, body; /* in the arena of the look */
        struct lks_err why;               /* there is no text: its code is not LKS_OK */
    } texts[LKS_SCHED_SITES_TEXTS];
    uint32_t count;
};

/* Whether this bridge is told the policy now, and the request; it follows lks_sched_sites_due().
 * The bridge counts as asked until lks_sched_sites_policy_told(). If the text cannot be written,
 * `trouble` has the reason, and the bridge is due again as after a request. A bridge whose text
 * the look has no place for is due with the next look. Bridges that the memory has no place for
 * are not told. */
bool lks_sched_sites_policy_due(struct lks_sched_sites *b, const struct lks_state *s,
                                struct lks_sched_sites_policy_look *look,
                                const struct lks_sched_sites_bridge *bridge,
                                struct lks_arena *arena, struct lks_sched_site_due *out);

/* What came of it. `written`: the bridge has a file for it, and wrote that. */
void lks_sched_sites_policy_told(struct lks_sched_sites *b,
                                 const struct lks_sched_sites_bridge *bridge,
                                 const struct lks_err *why, bool written, struct lks_now now,
                                 uint64_t speed);

/* NULL: it was never told. */
const struct lks_sched_sites_policy *
lks_sched_sites_policy_find(const struct lks_sched_sites *b,
                            const struct lks_sched_sites_bridge *bridge);

/* Whether a bridge for that site, "*" for all, has a node to drain or may get one: a node is there,
 * or the fleet has no nodes yet. */
bool lks_sched_sites_known(const struct lks_state *s, struct lks_str site);

/* Nodes of all sites that showed another truth when they were last compared. */
uint64_t lks_sched_sites_behind(const struct lks_sched_sites *b);

/* Reservations of lockstep at all sites, as listed last; and those that are wanted. */
uint64_t lks_sched_sites_reserved(const struct lks_sched_sites *b, uint64_t *wanted);

/* The list of the site's jobs that came last, whatever its age; NULL: none came. */
const struct lks_sched_jobs *lks_sched_sites_jobs(const struct lks_sched_sites *b,
                                                  struct lks_str site, struct lks_str sched);

#endif
