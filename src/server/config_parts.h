/* For server/config*.c: where the value of a key lies. */
#ifndef LKS_SERVER_CONFIG_PARTS_H
#define LKS_SERVER_CONFIG_PARTS_H

#include "server/config.h"

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
           key->type == LKS_CONFIG_PEOPLE;
}

#endif
