/* For server/base/config*.c: reading a configuration, and where the value of a key lies. */
#ifndef LKS_SERVER_CONFIG_PARTS_H
#define LKS_SERVER_CONFIG_PARTS_H

#include "codec/format/docs.h"
#include "server/base/config.h"

#define LKS_CONFIG_LABEL_MAX 63 /* of a host name, between two dots */

struct lks_config_reader {
    struct lks_docs *docs;
    struct lks_config *out;
    struct lks_err *err;
};

#define LKS_CONFIG_FAIL(r, at, ...) lks_doc_fail((r)->docs, (at), (r)->err, __VA_ARGS__)

/* What one value cannot tell: config_check.c. */
enum lks_code lks_config_check(struct lks_config_reader *r,
                               const struct lks_doc *top) LKS_MUST_CHECK;

static inline const void *lks_config_value(const struct lks_config *c,
                                           const struct lks_config_key *key)
{
    return (const char *)c + key->offset;
}

static inline void *lks_config_place(struct lks_config *c, const struct lks_config_key *key)
{
    return (char *)c + key->offset;
}

static inline bool lks_config_is_list(const struct lks_config_key *key)
{
    return key->type == LKS_CONFIG_HOSTS || key->type == LKS_CONFIG_MIRRORS ||
           key->type == LKS_CONFIG_BRIDGES || key->type == LKS_CONFIG_PEOPLE ||
           key->type == LKS_CONFIG_ROLES;
}

#endif
