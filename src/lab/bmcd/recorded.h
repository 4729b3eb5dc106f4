/*
 * A recorded tree, served read-only: DIR/redfish/v1/.../index.json for each resource, as DMTF's
 * mock-ups and captures of real services have it. Every login is taken.
 */
#ifndef LKS_BMCD_RECORDED_H
#define LKS_BMCD_RECORDED_H

#include "lab/bmcsim/bmcsim.h"

/* Whether it is one. */
enum lks_code lks_recorded_check(const char *dir, struct lks_err *err) LKS_MUST_CHECK;

void lks_recorded_ask(const char *dir, const struct lks_bmcsim_request *request,
                      struct lks_bmcsim_reply *out);

#endif
