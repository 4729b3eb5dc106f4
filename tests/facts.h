/* The built-in facts for tests, loaded once. */
#ifndef LKS_TESTS_FACTS_H
#define LKS_TESTS_FACTS_H

#include "model/facts/facts.h"

const struct lks_facts *lks_test_facts(void);

#endif
