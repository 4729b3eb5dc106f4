/* Any bytes at all as a line on the admission socket: what is taken has all that a question needs,
 * and written down again is the same question; what is refused is refused with one line. */
#include "codec/format/json.h"
#include "codec/notation/hostlist.h"
#include "core/admission/admit.h"
#include "server/form/admit_line.h"
#include "server/form/asks.h"

#include <stdint.h>

#define TEXT_MAX (16 * LKS_ADMIT_LINE_MAX)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_nodes(struct lks_str text)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist hosts = {0};
    struct lks_err err = {0};
    size_t count = 0;
    lks_arena_init(&arena, (size_t)256 << 20);
    if (lks_hostlist_count(text, &count, &err) == LKS_OK && count < 4096) {
        LKS_ASSERT(lks_hostlist_parse(text, &arena, &hosts, &err) == LKS_OK);
        LKS_ASSERT(hosts.count == count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs once = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs twice = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf first = LKS_BUF(TEXT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf second = LKS_BUF(TEXT_MAX);
    const void *asked = NULL, *again = NULL;
    struct lks_err err = {0};
    struct lks_str line = {size > 0 ? (const char *)data : "", size};
    if (lks_admit_line(line, &once, &asked, &err) != LKS_OK) {
        LKS_ASSERT(asked == NULL && err.msg[0] != '\0');
        LKS_ASSERT(lks_str_printable(lks_str_from(err.msg)));
        return 0;
    }
    const struct lks_ask_admit *ask = asked;
    const struct lks_admit_image *images = ask->images.items;
    LKS_ASSERT(ask->job.len > 0 && ask->where.nodes.len > 0);
    for (size_t i = 0; i < ask->images.count; i++)
        LKS_ASSERT(images[i].ref.len > 0);
    check_nodes(ask->where.nodes);
    LKS_ASSERT(lks_json_canonical(once.first, &first, &err) == LKS_OK);
    if (first.len > LKS_ADMIT_LINE_MAX)
        return 0;
    LKS_ASSERT(lks_admit_line(lks_buf_view(&first), &twice, &again, &err) == LKS_OK);
    LKS_ASSERT(lks_json_canonical(twice.first, &second, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&first), lks_buf_view(&second)));
    return 0;
}
