/* An alarm: open until a person or its cause ends it. */
#ifndef LKS_ROWS_ALARM_H
#define LKS_ROWS_ALARM_H

#include "base/time.h"
#include "core/rows/text.h"
#include "model/record/record_words.h"

#define LKS_STATE_ALARMS_MAX 50000 /* at this many, older closed ones are dropped */

struct lks_state_alarm {
    uint64_t id;
    enum lks_alarm_kind kind;
    lks_text subject, text;
    lks_ms raised;
    lks_ms released; /* 0: open */
    lks_text by, reason;
};

#endif
