/* Which published vulnerabilities a stack or a machine has, and which version closes each. */
#ifndef LKS_CORE_ADVISORY_H
#define LKS_CORE_ADVISORY_H

#include "model/manifest/stack.h"

enum lks_exposure {
    LKS_EXPOSED, /* its version is in the affected range */
    LKS_UNFIXED, /* its branch had ended when it was published: neither evaluated nor fixed */
    LKS_BY_HAND, /* the bulletin's words cannot be compared by a program */
};
const char *lks_advisory_exposure_code(enum lks_exposure exposure);  /* for programs: by-hand */
const char *lks_advisory_exposure_about(enum lks_exposure exposure); /* for people: check by hand */

struct lks_open_advisory {
    const struct lks_advisory *advisory;
    const struct lks_affected *affected; /* NULL when UNFIXED */
    const struct lks_component *component;
    enum lks_exposure exposure;
};

struct lks_advisory_list {
    struct lks_open_advisory *open; /* owned; by exposure, then highest score first */
    size_t count;
    size_t exposed; /* how many of them, from the first on, are EXPOSED */
};

/* Something that is pinned or was measured, and the boards it serves. */
struct lks_advisory_subject {
    struct lks_str name, version;
    const struct lks_gpu *const *boards;
    size_t board_count;
};

/* Whether the vulnerability affects it, and how; `affected` is the entry of the bulletin that says
 * so, NULL when UNFIXED. */
bool lks_advisory_reaches(const struct lks_facts *facts, const struct lks_advisory *advisory,
                          const struct lks_advisory_subject *subject,
                          const struct lks_affected **affected, enum lks_exposure *exposure);

enum lks_code lks_advisory_list_of(const struct lks_facts *facts, const struct lks_stack *stack,
                                   struct lks_advisory_list *out,
                                   struct lks_err *err) LKS_MUST_CHECK;
void lks_advisory_list_fini(struct lks_advisory_list *list);

/* The first component by which the stack is EXPOSED to the vulnerability, and the entry that says
 * so; NULL: none. */
const struct lks_component *lks_advisory_exposes(const struct lks_facts *facts,
                                                 const struct lks_advisory *advisory,
                                                 const struct lks_stack *stack,
                                                 const struct lks_affected **affected);

/* True when `list` has a vulnerability of this id the stack is exposed to. */
bool lks_advisory_list_has(const struct lks_advisory_list *list, struct lks_str id);

/* Ten times the base score: 84 for "8.4", 0 where none was given. */
int lks_advisory_score(const struct lks_advisory *advisory);

#endif
