/*
 * Published stacks and bundles as people name them: by digest, by the beginning of one
 * ("sha256:aaa3" or "aaa3", at least four digits), or by name. A name that several have is refused
 * with the list of them; retired stacks and revoked bundles count only where no other has the name.
 */
#ifndef LKS_CORE_NAMED_H
#define LKS_CORE_NAMED_H

#include "base/compiler.h"
#include "base/err.h"

#include <stdbool.h>

struct lks_state;
struct lks_state_bundle;
struct lks_state_stack;
struct lks_str;

#define LKS_NAMED_DIGITS_MIN 4

/* Whether `text` is a digest's beginning, and so the digest's. */
bool lks_named_begins(struct lks_str text, struct lks_str digest);

/* NOT_FOUND, with the nearest name, and INVALID, with the candidates, where it is not one. */
enum lks_code lks_named_stack(const struct lks_state *s, struct lks_str text,
                              const struct lks_state_stack **out,
                              struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_named_bundle(const struct lks_state *s, struct lks_str text,
                               const struct lks_state_bundle **out,
                               struct lks_err *err) LKS_MUST_CHECK;

#endif
