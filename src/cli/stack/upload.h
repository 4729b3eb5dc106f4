/* Uploads of files to the depot of lockstepd, with progress. An upload that broke off resumes. */
#ifndef LKS_CLI_UPLOAD_H
#define LKS_CLI_UPLOAD_H

#include "base/term/progress.h"
#include "cli/shared/remote.h"

struct lks_upload {
    struct lks_remote remote;
    struct lks_progress progress;
    char *piece;
    uint64_t done; /* bytes of files that are there */
};

/* A file to upload. */
struct lks_upload_of {
    struct lks_str digest, name;
    uint64_t size;
    int fd;
};

/* The caller owes lks_upload_fini(), also after a failure. */
enum lks_code lks_upload_open(struct lks_upload *u, struct lks_cli *cli,
                              const struct lks_args *args, struct lks_err *err) LKS_MUST_CHECK;
void lks_upload_fini(struct lks_upload *u);

/* Show the progress of `total` bytes, from now until lks_upload_end(). */
void lks_upload_start(struct lks_upload *u, struct lks_cli *cli, uint64_t total);
void lks_upload_end(struct lks_upload *u);

/* Send what lockstepd does not have of it yet. */
enum lks_code lks_upload_file(struct lks_upload *u, const struct lks_upload_of *a,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
