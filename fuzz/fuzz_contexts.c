/* Any bytes as the file of contexts: a file that is accepted has contexts that a command can use,
 * and a current one that is among them. */
#include "cli/shared/context.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_context_fini) struct lks_contexts contexts = {0};
    struct lks_err err = {0};
    const struct lks_doc *found = NULL;
    LKS_ASSERT(lks_docs_init(&contexts.docs, "fuzz", &err) == LKS_OK);
    struct lks_str text = {size > 0 ? (const char *)data : "", size};
    if (lks_context_parse(text, &contexts.docs, &err) != LKS_OK)
        return 0;
    const struct lks_doc *list = lks_doc_member(contexts.docs.first, "contexts");
    for (const struct lks_doc *c = list->first; c != NULL; c = c->next) {
        LKS_ASSERT(lks_context_address(lks_doc_text(c, "server")));
        LKS_ASSERT(lks_context_find(&contexts, lks_doc_text(c, "name"), &found, &err) == LKS_OK);
        LKS_ASSERT(found == c);
    }
    struct lks_str current = lks_context_current(&contexts);
    LKS_ASSERT(current.len == 0 || lks_context_find(&contexts, current, &found, &err) == LKS_OK);
    return 0;
}
