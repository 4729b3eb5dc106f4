#include "tests/facts.h"

#include <stdio.h>
#include <stdlib.h>

static struct lks_facts facts;

static void unload(void)
{
    lks_facts_fini(&facts);
}

const struct lks_facts *lks_test_facts(void)
{
    struct lks_err err = {0};
    if (facts.gpus.count > 0)
        return &facts;
    if (lks_facts_load(lks_embedded_data, NULL, 0, &facts, &err) != LKS_OK) {
        printf("the built-in facts do not load: %s\n", err.msg);
        exit(1);
    }
    atexit(unload);
    return &facts;
}
