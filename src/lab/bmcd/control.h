/*
 * The control socket: HTTP on a Unix socket, for tests and rehearsals.
 *
 *     GET  /bmcs                 the truth about all: versions, flashes, transfers begun ...
 *     GET  /bmcs/NAME            the same of one
 *     POST /bmcs/NAME/fault      {"fault": "revert", "at": "", "amount": 0, "times": 1}
 *     POST /bmcs/NAME/power      {"lost": "staging"}: power is lost in the next phase of that name
 */
#ifndef LKS_BMCD_CONTROL_H
#define LKS_BMCD_CONTROL_H

#include "lab/bmcd/box.h"

struct lks_control {
    struct lks_box **boxes;
    size_t count;
    struct lks_httpd *httpd;
};

enum lks_code lks_control_open(struct lks_control *c, uv_loop_t *loop, const char *path,
                               struct lks_err *err) LKS_MUST_CHECK;
void lks_control_close(struct lks_control *c);

#endif
