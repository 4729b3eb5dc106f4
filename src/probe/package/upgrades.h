/* Whether a package manager upgrades on its own, and what it would leave alone. One file for each
 * kind of package manager; probe_upgrades.c puts them together. */
#ifndef LKS_PROBE_UPGRADES_H
#define LKS_PROBE_UPGRADES_H

#include "base/buf.h"
#include "probe/package/packages.h"
#include "probe/root/probe.h"

#define LKS_UPGRADES_PATTERNS_MAX 64
#define LKS_UPGRADES_NAMES_MAX    256

/* The packages that must not change under a running node. */
enum lks_upgrades_group { LKS_UPGRADES_KERNEL, LKS_UPGRADES_DRIVER, LKS_UPGRADES_GROUP_COUNT };

struct lks_upgrades_package {
    enum lks_upgrades_group group;
    struct lks_str name;
    bool held;
};

/* Patterns that a configuration has in a list; texts are the probe's arena's. */
struct lks_upgrades_patterns {
    struct lks_str list[LKS_UPGRADES_PATTERNS_MAX];
    size_t count;
};

struct lks_upgrades {
    struct lks_probe *p;
    struct lks_upgrades_package packages[LKS_UPGRADES_NAMES_MAX]; /* of this manager */
    size_t count;
    bool tool; /* the package that upgrades is installed */

    /* What was found out. */
    bool armed;
    char why[1024];      /* what arms it, or why it is not armed */
    char evidence[1024]; /* where that was read */
    bool unknown;        /* it cannot be told, for the reason in `failed` */
    struct lks_err failed;
    struct lks_upgrades_patterns kept;    /* names it leaves alone */
    struct lks_upgrades_patterns allowed; /* if there are any: it upgrades these alone */
    struct lks_upgrades_patterns origins, origin_patterns; /* where upgrades may come from */
    bool (*fits)(struct lks_str pattern, struct lks_str name, bool *clear);
    const char *kept_by; /* "blacklisted", "excluded or locked" */
};

/* Note why it is not armed, or what arms it. */
void lks_probe_upgrades_say(struct lks_upgrades *u, bool armed, const char *evidence,
                            const char *fmt, ...) LKS_PRINTF(4, 5);

void lks_probe_upgrades_pattern(struct lks_upgrades *u, struct lks_upgrades_patterns *patterns,
                                struct lks_str pattern);

enum lks_upgrades_unit { LKS_UNIT_OFF, LKS_UNIT_ENABLED, LKS_UNIT_MASKED };

/* What systemd's directories say of a unit; `where` is the link that says so, or empty. */
enum lks_upgrades_unit lks_probe_upgrades_unit(struct lks_probe *p, const char *unit,
                                               char where[LKS_ROOT_PATH_MAX]);

void lks_upgrades_apt(struct lks_upgrades *u);
void lks_upgrades_dnf(struct lks_upgrades *u);

#endif
