/* A firmware update by a management endpoint. */
#ifndef LKS_ROWS_FLASH_H
#define LKS_ROWS_FLASH_H

#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#include <stdbool.h>

#define LKS_STATE_FLASHES_MAX 100000 /* at this many, older ended ones are dropped */

struct lks_state_flash {
    uint64_t id;
    uint32_t node;
    uint32_t before; /* the previous update of the same node: place + 1; 0: none is known */
    enum lks_bmc_act act;
    lks_text component, version, bundle, image, image_name, apply_time, by, reason;
    uint64_t size;
    bool force, one_way;
    bool revoked; /* its bundle was revoked: no further part of the update starts */
    lks_ms begun, deadline;
    char *saved; /* owned; NULL: nothing was sent yet, or it ended */
    uint32_t saved_len;
    lks_text phase;
    uint32_t percent;
    enum lks_bmc_outcome outcome; /* OPEN: it has not ended */
    lks_ms ended;
    lks_text found, text;
    uint64_t uploads;
    lks_ms resolved; /* UNKNOWN: when a person resolved it; 0: not yet */
    lks_text resolved_by, resolved_reason;
};

#endif
