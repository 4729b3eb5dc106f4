/* A PLDM package in a file: its header, its signature, and one pass over all its bytes, which are
 * never in memory at once. */
#ifndef LKS_CLI_PLDM_FILE_H
#define LKS_CLI_PLDM_FILE_H

#include "pldm/trailer.h"

struct lks_pldm_file {
    const char *path; /* the caller's */
    int fd;           /* good while `path` is set */
    uint64_t size;
    struct lks_pldm_package package; /* read leniently */
    char tail[LKS_PLDM_TRAILER_BYTES];
    bool trailed;                    /* it ends with a signature trailer */
    struct lks_err trailer_fault;    /* OK: `trailer` was read */
    struct lks_pldm_trailer trailer; /* views of `tail` */
    struct lks_pldm_pass pass;       /* owns the digests in `sums` */
    struct lks_pldm_sums sums;
};

/* Read header and trailer, then all of it once. `path` has to stay. Messages name it. */
enum lks_code lks_pldm_file_load(const char *path, struct lks_pldm_file *out,
                                 struct lks_err *err) LKS_MUST_CHECK;
void lks_pldm_file_fini(struct lks_pldm_file *f);

/* Whether the image of component `index` is itself a package, and which. */
bool lks_pldm_file_nested(const struct lks_pldm_file *f, size_t index,
                          struct lks_pldm_package *out);

#endif
