/* The built-in facts for tests, loaded once. */
#ifndef LKS_TESTS_FACTS_H
#define LKS_TESTS_FACTS_H

#include "model/facts/facts.h"

const struct lks_facts *lks_test_facts(void);

/* The text of a built-in table; the test ends where there is none. */
struct lks_str lks_test_facts_text(const char *name);

/* Load with one table replaced by a site's. */
enum lks_code lks_test_facts_load(const char *name, struct lks_str text, struct lks_facts *out,
                                  struct lks_err *err) LKS_MUST_CHECK;

#endif
