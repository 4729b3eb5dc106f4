/* Names whose values must never be shown: not in a message, not in a log, not in a dump. */
#ifndef LKS_BASE_SECRET_H
#define LKS_BASE_SECRET_H

#include "base/str.h"

/* True for password, api_key, HF_TOKEN and their like, whatever the case. */
bool lks_secret_key(struct lks_str key);

#endif
