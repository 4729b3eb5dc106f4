/* Any bytes as the file of a job's component: what is accepted names nodes and an image that can be
 * asked about, and is the file of what it says. */
#include "agent/hooks/prolog_components.h"
#include "base/buf.h"
#include "codec/notation/hostlist.h"
#include "codec/notation/image.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF((size_t)1 << 20);
    struct lks_str bytes = {size > 0 ? (const char *)data : "", size};
    struct lks_prolog_component c = {0};
    struct lks_err err = {0};
    size_t count = 0;
    if (lks_prolog_components_parse(bytes, &c, &err) != LKS_OK)
        return 0;
    LKS_ASSERT(lks_hostlist_count(c.nodes, &count, &err) == LKS_OK && count > 0);
    LKS_ASSERT(c.image.len == 0 || lks_image_passes(c.image));
    lks_buf_addf(&again, "%" LKS_STR_FMT "\n%" LKS_STR_FMT "\n", LKS_STR_ARG(c.nodes),
                 LKS_STR_ARG(c.image));
    LKS_ASSERT(lks_str_eq(lks_buf_view(&again), bytes));
    return 0;
}
