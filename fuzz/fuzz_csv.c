/* Any bytes at all: a table that is accepted can be written again, every field in quotes, and reads
 * back as the same table. */
#include "base/buf.h"
#include "codec/format/csv.h"

#include <stdint.h>

enum { MEMORY_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_row(struct lks_buf *out, const struct lks_str *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lks_buf_add(out, i > 0 ? LKS_STR(",\"") : LKS_STR("\""));
        for (size_t j = 0; j < fields[i].len; j++)
            lks_buf_pad(out, fields[i].ptr[j], fields[i].ptr[j] == '"' ? 2 : 1);
        lks_buf_addc(out, '"');
    }
    lks_buf_addc(out, '\n');
}

/* False where the table is refused. */
static bool rewrite(struct lks_str text, struct lks_buf *out)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_csv csv;
    struct lks_err err = {0};
    bool more = true;
    lks_arena_init(&arena, MEMORY_MAX);
    lks_buf_init(out, MEMORY_MAX);
    enum lks_code code = lks_csv_open(&csv, text, &arena, &err);
    for (bool header = true; code == LKS_OK && more; header = false) {
        add_row(out, header ? csv.names : csv.fields, csv.columns);
        LKS_ASSERT(csv.line > 0 && csv.line < csv.next_line + (csv.rest.len == 0));
        code = lks_csv_next(&csv, &more, &err);
    }
    LKS_ASSERT(code == LKS_OK || lks_str_starts(lks_str_from(err.msg), "line "));
    return code == LKS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = {0};
    if (!rewrite((struct lks_str){(const char *)data, size}, &once))
        return 0;
    LKS_ASSERT(rewrite(lks_buf_view(&once), &twice));
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
    return 0;
}
