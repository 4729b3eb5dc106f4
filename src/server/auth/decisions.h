/*
 * The log of admissions: every no, and some of the yeses, counted by job and reason.
 *
 * Questions come again and again, so what is kept is not each of them but one entry for a job, a
 * reason and whether it could start all the same, with how often, when first and when last. Entries
 * are bounded: the one that was used longest ago of a few makes room. What is new of them leaves
 * every now and then as lines of JSON, for a set of files that is bounded too; the newest of these
 * are read at a start, so that a restart forgets little.
 *
 * No journal: a decision changes nothing, and thousands of schedulers ask. What does change
 * something, a job that starts or an override, is a record.
 */
#ifndef LKS_SERVER_DECISIONS_H
#define LKS_SERVER_DECISIONS_H

#include "base/buf.h"
#include "base/time.h"
#include "core/admission/admit.h"

#define LKS_DECISIONS_MAX      4096 /* entries */
#define LKS_DECISIONS_TEXT_MAX ((size_t)1 << 20)
#define LKS_DECISIONS_NODES    8 /* that an entry names */

struct lks_decided {
    uint64_t id;  /* counts up as entries come; 0: free */
    uint64_t key; /* hash of the next three */
    char job[LKS_ADMIT_JOB_MAX + 1], user[LKS_ADMIT_USER_MAX + 1];
    enum lks_bar bar; /* LKS_BAR_COUNT: a yes without a reason */
    bool admitted;
    uint64_t count;
    uint64_t fresh; /* of these, since it was last written down */
    lks_ms first, last;
    lks_ms fresh_first;
    char pool[128], nodes[512], text[512]; /* of the last time */
};

struct lks_decisions {
    struct lks_decided *entries; /* owned; LKS_DECISIONS_MAX of them */
    uint64_t next_id, seed;
    uint64_t sample;     /* one of so many yeses is noted; 0: none */
    uint64_t yeses;      /* so far */
    uint64_t dropped;    /* lines that found no room */
    struct lks_buf text; /* lines that wait to be taken */
};

/* `seed` keeps jobs that share a place from being chosen. On success the caller owes _fini. */
enum lks_code lks_decisions_init(struct lks_decisions *d, uint64_t sample, uint64_t seed,
                                 struct lks_err *err) LKS_MUST_CHECK;
void lks_decisions_fini(struct lks_decisions *d);

/* An answer was given, about a job of `user`; empty: the question named none. */
void lks_decisions_note(struct lks_decisions *d, struct lks_str job, struct lks_str user,
                        const struct lks_admit *a);

/* What is new, as lines; false: nothing. On true `out` is the caller's to end. */
bool lks_decisions_take(struct lks_decisions *d, struct lks_buf *out);

/* Lines as they were written; those that are none of ours are passed over. */
void lks_decisions_load(struct lks_decisions *d, struct lks_str lines);

/* The entries with numbers below `below`, the greatest first; how many. */
size_t lks_decisions_list(const struct lks_decisions *d, uint64_t below,
                          const struct lks_decided *out[LKS_DECISIONS_MAX]);

/* The members of an entry, into the object being written. */
void lks_decisions_json(struct lks_json_writer *w, const struct lks_decided *e);

/* The files: numbered, the newest grows until it is large enough, the oldest goes. */
struct lks_decision_files {
    char dir[1024];
    uint64_t bytes, count;   /* most of one, most of them */
    uint64_t oldest, newest; /* there are; 0: none */
};

/* Look what there is; the directory is made. */
enum lks_code lks_decision_files_open(struct lks_decision_files *f, const char *dir, uint64_t bytes,
                                      uint64_t count, struct lks_err *err) LKS_MUST_CHECK;

/* Append `lines` to the newest, and begin another where that has enough. A line is in one file. */
enum lks_code lks_decision_files_add(struct lks_decision_files *f, struct lks_str lines,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* The last two of them, the older first. */
enum lks_code lks_decision_files_read(const struct lks_decision_files *f, struct lks_buf *out,
                                      struct lks_err *err) LKS_MUST_CHECK;

#endif
