#include "tests/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

struct lks_str lks_test_facts_text(const char *name)
{
    for (const struct lks_embedded *e = lks_embedded_data; e->name != NULL; e++) {
        if (strcmp(e->name, name) == 0)
            return e->bytes;
    }
    printf("there is no built-in table %s\n", name);
    exit(1);
}

enum lks_code lks_test_facts_load(const char *name, struct lks_str text, struct lks_facts *out,
                                  struct lks_err *err)
{
    char shown[64];
    snprintf(shown, sizeof(shown), "site/%s", name);
    struct lks_facts_file file = {name, shown, text};
    return lks_facts_load(lks_embedded_data, &file, 1, out, err);
}
