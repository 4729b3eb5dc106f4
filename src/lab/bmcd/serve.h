/* All BMCs of one process, from their start to SIGTERM. */
#ifndef LKS_BMCD_SERVE_H
#define LKS_BMCD_SERVE_H

#include "lab/bmcd/faults.h"
#include "lab/bmcd/layout.h"

#include <stdio.h>

struct lks_serve_options {
    struct lks_layout *layout;
    struct lks_faults faults;
    const char *user, *password_file; /* the file, or NULL: a password is made */
    const char *version, *versions;
    uint64_t seed, speed;
    const char *tree, *pull_ca, *control; /* or NULL */
    const char *dir;                      /* ca.pem and login are written there */
    const char *fleet_file, *class;       /* or NULL; the hardware class of nodes in it */
};

/* Prints "ready URL URL" once all of them answer. */
enum lks_code lks_serve_run(const struct lks_serve_options *options, FILE *out,
                            struct lks_err *err) LKS_MUST_CHECK;

#endif
