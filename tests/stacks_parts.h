/* For tests/stacks*.c: the value, as documents of the codecs. In a text `quoted` says that it needs
 * quotes, in a list `truth` says that its order means nothing. */
#ifndef LKS_TESTS_STACKS_PARTS_H
#define LKS_TESTS_STACKS_PARTS_H

#include "tests/stacks.h"

/* Add a member; it is there, or the test ends. */
struct lks_doc *stack_put(struct lks_docs *docs, struct lks_doc *parent, const char *key,
                          enum lks_doc_kind kind);
struct lks_doc *stack_put_text(struct lks_docs *docs, struct lks_doc *parent, const char *key,
                               const char *text);
void stack_put_quoted(struct lks_docs *docs, struct lks_doc *parent, const char *key,
                      const char *text);
void stack_put_number(struct lks_docs *docs, struct lks_doc *parent, const char *key, int64_t n);
void stack_put_bool(struct lks_docs *docs, struct lks_doc *parent, const char *key, bool truth);
struct lks_doc *stack_put_set(struct lks_docs *docs, struct lks_doc *parent, const char *key);

/* The member of that name, or NULL. */
struct lks_doc *stack_find(const struct lks_doc *map, const char *key);

void stack_take_out(struct lks_doc *parent, const struct lks_doc *doc);

#endif
