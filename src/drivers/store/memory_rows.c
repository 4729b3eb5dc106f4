#include "drivers/store/memory_rows.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

bool lks_memory_rows_reserve(struct lks_memory_rows *rows, size_t more)
{
    return LKS_VEC_RESERVE(rows->at, rows->cap, rows->count + more, NULL) == LKS_OK;
}

bool lks_memory_rows_add(struct lks_memory_rows *rows, const struct lks_row *row)
{
    struct lks_memory_row kept = {.row = *row, .bytes = malloc(row->body.len + 1)};
    if (kept.bytes == NULL)
        return false;
    if (row->body.len > 0)
        memcpy(kept.bytes, row->body.ptr, row->body.len);
    kept.row.body.ptr = kept.bytes;
    rows->at[rows->count++] = kept;
    return true;
}

void lks_memory_rows_truncate(struct lks_memory_rows *rows, size_t count)
{
    while (rows->count > count)
        free(rows->at[--rows->count].bytes);
}

void lks_memory_rows_fini(struct lks_memory_rows *rows)
{
    lks_memory_rows_truncate(rows, 0);
    free(rows->at);
    *rows = (struct lks_memory_rows){0};
}

size_t lks_memory_rows_from(const struct lks_memory_rows *rows, uint64_t seq)
{
    size_t at;
    LKS_VEC_PLACE(at, rows->count, rows->at[at].row.seq < seq);
    return at;
}

static int compare_rows(const void *a, const void *b)
{
    const struct lks_memory_row *x = a, *y = b;
    return (x->row.seq > y->row.seq) - (x->row.seq < y->row.seq);
}

void lks_memory_rows_sort(struct lks_memory_rows *rows)
{
    for (size_t i = 1; i < rows->count && rows->touched; i++) {
        if (rows->at[i - 1].row.seq > rows->at[i].row.seq) {
            qsort(rows->at, rows->count, sizeof(rows->at[0]), compare_rows);
            return;
        }
    }
}

void lks_memory_rows_forget(struct lks_memory_rows *rows, size_t end)
{
    for (size_t i = 0; i < end; i++)
        free(rows->at[i].bytes);
    if (end > 0)
        memmove(rows->at, rows->at + end, (rows->count - end) * sizeof(rows->at[0]));
    rows->count -= end;
}
