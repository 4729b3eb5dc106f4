/* Any bytes at all as the `after` of a sorted list, by a text and by a number: what is read and
 * written again reads the same. */
#include "base/buf.h"
#include "core/view/view_sort.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_cursor(const struct lks_view_sort *sort, struct lks_str text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf written = LKS_BUF(1 << 20);
    struct lks_view_key key, again_key;
    struct lks_str position, again_position;
    if (!lks_view_sort_read_cursor(sort, text, &key, &position))
        return;
    lks_view_sort_put_cursor(sort, &key, position, &written);
    bool again =
        lks_view_sort_read_cursor(sort, lks_buf_view(&written), &again_key, &again_position);
    LKS_ASSERT(written.failed == LKS_OK && again);
    LKS_ASSERT(lks_str_eq(position, again_position) && key.number == again_key.number &&
               lks_str_eq(key.text, again_key.text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lks_str text = {(const char *)data, size};
    check_cursor(&(struct lks_view_sort){.asked = LKS_STR("rack"), .text = true}, text);
    check_cursor(&(struct lks_view_sort){.asked = LKS_STR("-raised"), .down = true}, text);
    return 0;
}
