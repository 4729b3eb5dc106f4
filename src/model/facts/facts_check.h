/* What the cells of a table cannot tell one by one: keys that appear twice, unknown names, ranges
 * of the wrong numbering. For model/facts/facts.c alone. */
#ifndef LKS_MODEL_FACTS_CHECK_H
#define LKS_MODEL_FACTS_CHECK_H

#include "base/intern.h"
#include "model/facts/facts_tables.h"

/* Where a row stands. */
struct lks_place {
    const char *file; /* how messages call it; the caller's */
    unsigned line;
};

/* Of every row of every table, in the order of lks_facts_tables; the arrays are the facts'. They
 * are of use while the tables are loaded and not afterwards. */
struct lks_places {
    const struct lks_place *of[LKS_FACTS_TABLES_MAX];
};

/* The names that rows may refer to, by what they name. */
struct lks_names {
    const struct lks_facts *facts;
    struct lks_intern of[LKS_REF_COUNT];
};

/* Check the tables, all of which are loaded, with one another, and collect their names. Messages
 * begin "FILE: line N: COLUMN: ". `names` is empty before; the caller owes lks_facts_names_fini()
 * in any case. */
enum lks_code lks_facts_check(const struct lks_facts *facts, const struct lks_places *places,
                              struct lks_names *names, struct lks_err *err) LKS_MUST_CHECK;
void lks_facts_names_fini(struct lks_names *names);

/* Whether `name` may stand where a `ref` is named. The message has no place in front. */
enum lks_code lks_facts_names_check(const struct lks_names *names, enum lks_ref ref,
                                    struct lks_str name, struct lks_err *err) LKS_MUST_CHECK;

/* The same of a driver branch. */
enum lks_code lks_facts_check_branch(const struct lks_facts *facts, int number,
                                     struct lks_err *err) LKS_MUST_CHECK;

#endif
