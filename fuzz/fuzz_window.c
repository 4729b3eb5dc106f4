/* Any text, the first line as a time zone and the rest as maintenance windows: what is open, or
 * closed, stays so until the moment that is told, and is the other way then. */
#include "codec/time/windows.h"

#include "base/err.h"

#include <stdint.h>

enum { MOMENTS = 12, STEP_HOURS = 53 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str zone, rest;
    struct lks_windows w;
    struct lks_tz tz;
    struct lks_err err = {0};
    (void)lks_str_cut((struct lks_str){(const char *)data, size}, '\n', &zone, &rest);
    if (lks_tz_parse(zone, &tz, &err) != LKS_OK || lks_windows_parse(rest, &w, &err) != LKS_OK)
        return 0;
    LKS_ASSERT(w.count <= LKS_WINDOWS_MAX);
    for (size_t i = 0; i < w.count; i++)
        LKS_ASSERT(w.list[i].days != 0 && w.list[i].from < w.list[i].until);
    for (lks_ms i = 0; i < MOMENTS; i++) {
        lks_ms now = (UINT64_C(1774600000) + i * STEP_HOURS * 3600) * LKS_SECOND, next = 0;
        bool open = lks_windows_open(&w, &tz, now, &next);
        LKS_ASSERT(next > now && (w.count > 0 || (open && next == LKS_WINDOW_NEVER)));
        if (next == LKS_WINDOW_NEVER)
            continue;
        LKS_ASSERT(lks_windows_open(&w, &tz, next, NULL) != open);
        LKS_ASSERT(lks_windows_open(&w, &tz, next - 1, NULL) == open);
        LKS_ASSERT(lks_windows_open(&w, &tz, now + (next - now) / 2, NULL) == open);
    }
    return 0;
}
