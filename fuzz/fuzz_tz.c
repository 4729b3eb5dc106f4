/* Any text as a time zone: what is read has clocks that nobody's are further from, and shows the
 * same time until the turn that is told, and another from then on. */
#include "codec/time/tz.h"

#include <stdint.h>

enum { DAY = 86400, OFFSET_MAX = 2 * DAY, MOMENTS = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_tz tz;
    struct lks_err err = {0};
    if (lks_tz_parse((struct lks_str){(const char *)data, size}, &tz, &err) != LKS_OK) {
        LKS_ASSERT(err.code == LKS_E_INVALID && err.msg[0] != '\0');
        return 0;
    }
    for (int64_t i = 0; i < MOMENTS; i++) {
        int64_t at = i * 97 * DAY + i * 12345, turn = lks_tz_next_turn(&tz, at);
        int32_t offset = lks_tz_offset(&tz, at);
        LKS_ASSERT(offset > -OFFSET_MAX && offset < OFFSET_MAX);
        LKS_ASSERT(turn > at);
        if (turn < INT64_MAX)
            LKS_ASSERT(lks_tz_offset(&tz, turn - 1) == lks_tz_offset(&tz, at));
        else
            LKS_ASSERT(!tz.turns && lks_tz_offset(&tz, at + 400 * (int64_t)DAY) == offset);
    }
    return 0;
}
