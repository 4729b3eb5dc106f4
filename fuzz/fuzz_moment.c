/* Any text, the first line as a time zone and the rest as a moment: what is read lies between 1970
 * and 9999, reads back from its exact form, and a calendar time shows on clocks of the zone. */
#include "codec/time/moment.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str zone, rest, rule;
    struct lks_tz tz;
    struct lks_err err = {0};
    struct lks_moment_of of = {.now = UINT64_C(1794700000000), .zone = &tz};
    char text[LKS_MOMENT_TEXT_SIZE], exact[LKS_TIME_TEXT_SIZE];
    lks_ms at, again;
    if (lks_tz_footer((struct lks_str){(const char *)data, size}, &rule))
        LKS_ASSERT(rule.len <= LKS_TZ_TEXT_MAX);
    (void)lks_str_cut((struct lks_str){(const char *)data, size}, '\n', &zone, &rest);
    if (lks_tz_parse(zone, &tz, &err) != LKS_OK)
        return 0;
    err = (struct lks_err){0};
    if (lks_moment_parse(rest, &of, &at, &err) != LKS_OK) {
        LKS_ASSERT(err.code == LKS_E_INVALID && err.msg[0] != '\0');
        return 0;
    }
    LKS_ASSERT(at <= LKS_TIME_MAX);
    LKS_ASSERT(lks_moment_parse(lks_str_from(lks_time_text(at, exact)), &of, &again, &err) ==
                   LKS_OK &&
               again == at);
    (void)lks_moment_text(at, &tz, text);
    if (at < 2 * (lks_ms)86400 * LKS_SECOND || at > LKS_TIME_MAX - 2 * (lks_ms)86400 * LKS_SECOND)
        return 0; /* a zone may be a day away */
    if (tz.standard % 60 == 0 && tz.summer % 60 == 0)
        LKS_ASSERT(lks_moment_parse(lks_str_from(text), &of, &again, &err) == LKS_OK &&
                   again == at - at % LKS_SECOND);
    return 0;
}
