/*
 * Which BMCs there are: their names, personalities, places and addresses. All are on loopback
 * addresses that follow each other, on one port.
 */
#ifndef LKS_BMCD_LAYOUT_H
#define LKS_BMCD_LAYOUT_H

#include "base/arena.h"
#include "base/buf.h"
#include "lab/bmcsim/bmcsim.h"

#define LKS_LAYOUT_MAX     10000 /* BMCs of one process */
#define LKS_LAYOUT_URL_MAX 48

struct lks_layout_bmc {
    struct lks_str name;
    struct lks_str rack; /* and domain; empty: none */
    enum lks_bmcsim_personality personality;
    const char *revision; /* of its hardware: "A" */
};

struct lks_layout {
    struct lks_arena arena; /* owns the BMCs and their names */
    struct lks_layout_bmc *bmcs;
    size_t count;
    const char **revisions; /* of hardware, in turn */
    size_t revision_count;
    uint32_t first; /* address, as a number */
    unsigned port;
};

/* What was asked for. `sets` are "PERSONALITY=HOSTS"; without any there are `count` of the listed
 * personalities in turn, or so many racks. */
struct lks_layout_wish {
    const char *listen;        /* "127.64.0.1:7500"; port 0: any */
    const char *personalities; /* "hgx,openbmc" */
    const char *rack;          /* "nvl72" or NULL */
    uint64_t count;
    const char *const *sets;
    size_t set_count;
    const char *revisions; /* "A,A,A,B": of their hardware, in turn; NULL: so */
};

enum lks_code lks_layout_make(const struct lks_layout_wish *wish, struct lks_layout *out,
                              struct lks_err *err) LKS_MUST_CHECK;
void lks_layout_fini(struct lks_layout *p);

/* "127.64.0.1" */
void lks_layout_address(const struct lks_layout *p, size_t i, char out[LKS_LAYOUT_URL_MAX]);
/* "https://127.64.0.1:7500" */
void lks_layout_url(const struct lks_layout *p, size_t i, char out[LKS_LAYOUT_URL_MAX]);

/* A personality by its word. */
enum lks_code lks_layout_personality(struct lks_str word, enum lks_bmcsim_personality *out,
                                     struct lks_err *err) LKS_MUST_CHECK;

/* A fleet of them as a manifest: switch trays and power shelves are assets, the others nodes of the
 * hardware class `class`. `ca` and `login` are absolute paths. */
enum lks_code lks_layout_fleet(const struct lks_layout *p, const char *class, const char *ca,
                               const char *login, struct lks_buf *out,
                               struct lks_err *err) LKS_MUST_CHECK;

#endif
