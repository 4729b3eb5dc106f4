/* A command to the agent of a node. */
#ifndef LKS_ROWS_COMMAND_H
#define LKS_ROWS_COMMAND_H

#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#include <stdbool.h>

#define LKS_STATE_COMMANDS_MAX 100000 /* at this many, older ended ones are dropped */

struct lks_state_command {
    uint64_t id;
    uint32_t node;
    lks_text boot, executor, digests, by, reason;
    uint64_t attempt;
    lks_ms sent, expires;
    bool ended;
    enum lks_outcome outcome;
    lks_text text;
};

#endif
