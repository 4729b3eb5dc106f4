/*
 * Configuration files of apt, as apt.conf(5) has them:
 *
 *     APT::Periodic::Unattended-Upgrade "1";
 *     Unattended-Upgrade { Package-Blacklist { "linux-"; "nvidia"; }; };
 *     #clear Unattended-Upgrade::Package-Blacklist;
 *
 * Handed on one setting at a time, each with its whole name. Names are compared without regard to
 * case; the last setting of a name counts. What stands in a list has a name that ends in "::".
 */
#ifndef LKS_CODEC_APTCONF_H
#define LKS_CODEC_APTCONF_H

#include "base/err.h"
#include "base/str.h"

#define LKS_APTCONF_NAME_MAX  512 /* bytes of a whole name */
#define LKS_APTCONF_DEPTH_MAX 16

enum lks_aptconf_act {
    LKS_APTCONF_SET,   /* `name` is `value` */
    LKS_APTCONF_CLEAR, /* `name` and all below it are gone; there is no value */
};

/* Views are valid during the call. */
typedef void lks_aptconf_fn(void *ctx, enum lks_aptconf_act act, struct lks_str name,
                            struct lks_str value);

/* Fails with "line N: ..." at the first thing apt would not take; what stood before was handed on.
 * Files that are included are not looked at: nothing that matters here includes any. */
enum lks_code lks_aptconf_parse(struct lks_str text, lks_aptconf_fn *fn, void *ctx,
                                struct lks_err *err) LKS_MUST_CHECK;

#endif
