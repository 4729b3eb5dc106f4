/* Any bytes at all as lockstepd's configuration: what is accepted is dumped in a form that reads as
 * the same again, and what is refused leaves nothing behind. */
#include "server/base/config.h"

#include <stdint.h>

enum { DUMP_MAX = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_config_fini) struct lks_config once = {0};
    LKS_CLEANUP(lks_config_fini) struct lks_config twice = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf dump = LKS_BUF(DUMP_MAX);
    struct lks_err err = {0};
    struct lks_str text = {size > 0 ? (const char *)data : "", size};
    if (lks_config_parse("fuzz", text, &once, &err) != LKS_OK) {
        LKS_ASSERT(once.data.ptr == NULL && err.msg[0] != '\0');
        return 0;
    }
    lks_config_dump(&once, &dump);
    LKS_ASSERT(lks_buf_check(&dump, &err) == LKS_OK);
    LKS_ASSERT(lks_config_parse("dump", lks_buf_view(&dump), &twice, &err) == LKS_OK);
    for (size_t i = 0; i < lks_config_key_count; i++)
        LKS_ASSERT(lks_config_same(&once, &twice, &lks_config_keys[i]));
    return 0;
}
