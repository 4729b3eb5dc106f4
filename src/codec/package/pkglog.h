/*
 * What package managers write down of what they did: dpkg's log, and that of dnf and of what it
 * calls rpm with.
 *
 *     2026-11-15 03:12:09 upgrade openmpi-bin:amd64 4.1.6-7ubuntu2 4.1.7-1
 *     2026-11-15T03:12:09+0000 SUBDEBUG Upgrade: openmpi-4.1.7-1.x86_64
 *     2026-11-15T03:12:11+0000 SUBDEBUG Upgraded: openmpi-4.1.6-1.x86_64
 *
 * dnf has a line for what came and a later one for what it replaced. A log may be cut anywhere and
 * holds much else: a line that is not plainly of a change is passed over.
 */
#ifndef LKS_CODEC_PKGLOG_H
#define LKS_CODEC_PKGLOG_H

#include "base/str.h"

#define LKS_PKGLOG_LINE_MAX  512 /* bytes; a longer line is passed over */
#define LKS_PKGLOG_WORD_MAX  96  /* bytes of a name or a version, likewise */
#define LKS_PKGLOG_TEXT_SIZE 256

enum lks_pkglog_format { LKS_PKGLOG_DPKG, LKS_PKGLOG_DNF };

/* Views are of the log. */
struct lks_pkglog_change {
    struct lks_str date, clock; /* as written: "2026-11-15" and "03:12:09" or "03:12:09+0000" */
    const char *verb;           /* "install", "upgrade", "downgrade", "reinstall" or "remove" */
    struct lks_str name;        /* without the architecture */
    struct lks_str old, new;    /* versions; empty: there is none, or it is not said */
    bool replaced;              /* it says only what was replaced: `old` of a change before it */
};

/* Take lines off `*rest` up to the next that tells of a change; false: there is none. */
bool lks_pkglog_next(enum lks_pkglog_format format, struct lks_str *rest,
                     struct lks_pkglog_change *out);

/* Make `last`, the last change of a package or all zero, the one that holds after `next`, which is
 * of the same package. */
void lks_pkglog_follow(struct lks_pkglog_change *last, const struct lks_pkglog_change *next);

/* "2026-11-15 03:12:09 upgrade 4.1.6-7ubuntu2 -> 4.1.7-1"; one version where only one is said. */
void lks_pkglog_text(const struct lks_pkglog_change *change, char out[LKS_PKGLOG_TEXT_SIZE]);

/* The version that came with a change that is told in such words; empty for one that removed. */
struct lks_str lks_pkglog_came(struct lks_str text);

#endif
