/* What the package managers of a machine say is installed: dpkg and rpm, whichever there are. */
#ifndef LKS_PROBE_PACKAGES_H
#define LKS_PROBE_PACKAGES_H

#include "model/facts/facts.h"
#include "probe/root/root.h"

#define LKS_PACKAGES_DPKG_MAX ((size_t)64 << 20) /* bytes of its status file */
#define LKS_PACKAGES_MAX      65536              /* packages of one database */

/* One package. Views are valid during the call they are handed to. */
struct lks_installed {
    struct lks_str name;
    struct lks_str version;  /* as its manager writes it: "1:4.5.3-1", "3:580.95.05-1.el9" */
    struct lks_str upstream; /* "4.5.3", "580.95.05" */
    struct lks_str full;     /* with the revision: "4.5.3-1", and without a distribution's mark */
    struct lks_str state;    /* "installed", or what dpkg calls it: "half-configured" ... */
    bool held;               /* not to be upgraded, by dpkg's word */
    const char *fault;       /* NULL, or what is wrong with the entry; the name may be empty then */
};
typedef void lks_installed_fn(void *ctx, const struct lks_installed *package);

/* Each hands on every package of its database and says in `where` which file it read. NOT_FOUND
 * where there is none. On failure what was handed on is not all. */
typedef enum lks_code lks_packages_read(struct lks_root *root, lks_installed_fn *fn, void *ctx,
                                        char where[LKS_ROOT_PATH_MAX],
                                        struct lks_err *err) LKS_MUST_CHECK;
lks_packages_read lks_packages_dpkg;
lks_packages_read lks_packages_rpm;

/* Which component a package tells of, by packages.csv; NULL: none. `manager` is "dpkg" or "rpm". */
const struct lks_package_kind *lks_packages_kind(const struct lks_facts *facts, const char *manager,
                                                 struct lks_str name);

/* The release within a version of AMD's: 6.16.6.30200100 is of 30.20.1, and 6.2.4.50702 of 5.7.2.
 * False where there is none. */
#define LKS_PACKAGES_RELEASE_SIZE 32
bool lks_packages_release(struct lks_str upstream, char out[LKS_PACKAGES_RELEASE_SIZE]);

#endif
