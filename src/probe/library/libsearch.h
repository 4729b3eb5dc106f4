/*
 * The library search: every copy of the libraries we know by name, in the places of libplaces.h.
 *
 * What was found is one answer for each kind of place, so that a capture holds the findings and not
 * the directories of the machine and its users. A file counts once, however many names lead to it:
 * in the first of the places that has it, by its real path.
 */
#ifndef LKS_PROBE_LIBSEARCH_H
#define LKS_PROBE_LIBSEARCH_H

#include "base/intern.h"
#include "probe/library/libwalk.h"

#define LKS_LIBSEARCH_COPIES_MAX 2048
#define LKS_LIBSEARCH_LAYERS_MAX 2048
#define LKS_LIBSEARCH_BYTES_MAX  ((size_t)2 << 20) /* one kind's findings as text */

extern const struct lks_walk_limits lks_libsearch_limits; /* unless others are given */

struct lks_found {
    enum lks_place_kind kind;
    bool shadow;          /* a library of the driver where an injected one should be */
    struct lks_str name;  /* the component, or the library that shadows: "libcuda" */
    struct lks_str path;  /* to read it by */
    struct lks_str of;    /* as people know it; the same for what is no process's */
    struct lks_str users; /* process: which have it mapped; else empty */
};

struct lks_left_out {
    struct lks_str place, why;
};

/* All texts live in the arena of the search. */
struct lks_findings {
    struct lks_found *list;
    size_t count;
    struct lks_left_out *left_out;
    size_t left_out_count;
};

struct lks_seen;

struct lks_libsearch {
    struct lks_root *root;
    struct lks_arena *arena;
    struct lks_walk_limits limits;
    bool walking; /* the fields below are in use */
    struct lks_walk walk;
    struct lks_intern dirs; /* real paths of directories that were looked into */
    struct lks_seen *seen;  /* files that were found; in the arena */
    size_t copies, layers;
    enum lks_place_kind kind; /* that is being searched */
    struct lks_place
        containerd;      /* its layers where its root is configured, if there is a pattern */
    bool told;           /* in a directory the loader was told of */
    struct lks_buf *out; /* where its findings go */
};

/* `limits` NULL: lks_libsearch_limits. */
void lks_libsearch_init(struct lks_libsearch *s, struct lks_root *root, struct lks_arena *arena,
                        const struct lks_walk_limits *limits);
void lks_libsearch_fini(struct lks_libsearch *s);

/* Search the places of one kind. A file that an earlier kind had is not found again. */
enum lks_code lks_libsearch_kind(struct lks_libsearch *s, enum lks_place_kind kind,
                                 struct lks_findings *out, struct lks_err *err) LKS_MUST_CHECK;

/* Findings from their text; lks_libsearch_kind() has done it. */
enum lks_code lks_libsearch_findings_parse(struct lks_str text, struct lks_arena *arena,
                                           struct lks_findings *out,
                                           struct lks_err *err) LKS_MUST_CHECK;

/* Whether the search ended before it was through. */
bool lks_libsearch_cut_short(const struct lks_libsearch *s);

#endif
