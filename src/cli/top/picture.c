#include "cli/top/picture.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 8 << 20, CELL_MAX = 64 /* bytes: a character and its marks */ };

void lks_top_picture_fini(struct lks_top_picture *p)
{
    lks_buf_fini(&p->text);
    free(p->cells);
    *p = (struct lks_top_picture){0};
}

enum lks_code lks_top_picture_begin(struct lks_top_picture *p, unsigned width, unsigned height,
                                    struct lks_err *err)
{
    size_t count = (size_t)width * height;
    if (LKS_VEC_RESERVE(p->cells, p->room, count, err) != LKS_OK)
        return err->code;
    if (p->text.max == 0)
        lks_buf_init(&p->text, TEXT_BYTES);
    lks_buf_truncate(&p->text, 0);
    lks_buf_addc(&p->text, ' ');
    p->width = width;
    p->height = height;
    p->cursor = false;
    for (size_t i = 0; i < count; i++)
        p->cells[i] = (struct lks_top_cell){.len = 1, .columns = 1};
    return lks_buf_check(&p->text, err);
}

static struct lks_top_cell *cell_of(const struct lks_top_picture *p, unsigned row, unsigned column)
{
    return &p->cells[(size_t)row * p->width + column];
}

/* One character with its marks into the grid. A wide one that is overwritten by half leaves a
 * blank. */
static void set(struct lks_top_picture *p, unsigned row, unsigned column, unsigned columns,
                unsigned style, struct lks_str glyph)
{
    struct lks_top_cell *cell = cell_of(p, row, column);
    bool plain = p->utf8 || (glyph.len == 1 && (unsigned char)glyph.ptr[0] < 0x80);
    if (cell->columns == 0 && column > 0)
        cell[-1] = (struct lks_top_cell){.len = 1, .columns = 1, .style = cell[-1].style};
    if (cell[columns - 1].columns == 2 && column + columns < p->width)
        cell[columns] = (struct lks_top_cell){.len = 1, .columns = 1, .style = cell->style};
    *cell = (struct lks_top_cell){
        .at = (uint32_t)p->text.len, .columns = (uint8_t)columns, .style = (uint8_t)style};
    lks_buf_add(&p->text, plain ? glyph : LKS_STR("?"));
    cell->len = (uint16_t)(p->text.len - cell->at);
    for (unsigned i = 1; i < columns; i++)
        cell[i] = (struct lks_top_cell){.style = (uint8_t)style};
    if (!plain && columns == 2) {
        cell->columns = 1;
        cell[1] = (struct lks_top_cell){.len = 1, .columns = 1, .style = (uint8_t)style};
    }
}

/* The first character of `s` and the marks on it: its bytes, and its columns. */
static size_t glyph_of(struct lks_str s, unsigned *columns)
{
    size_t len = lks_term_fit(s, 1);
    *columns = 1;
    if (len == 0) {
        len = lks_term_fit(s, 2);
        *columns = 2;
    }
    return len;
}

unsigned lks_top_picture_put(struct lks_top_picture *p, unsigned row, unsigned column, unsigned end,
                             unsigned style, struct lks_str text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF(TEXT_BYTES);
    end = end < p->width ? end : p->width;
    if (row >= p->height || column >= end || text.len == 0)
        return column;
    lks_term_clean(&clean, text);
    struct lks_str rest = lks_buf_view(&clean);
    bool cut = lks_term_columns(rest) > end - column;
    unsigned stop = cut ? end - 1 : end, columns;
    while (rest.len > 0) {
        size_t len = glyph_of(rest, &columns);
        if (column + columns > stop)
            break;
        uint32_t point;
        size_t bare = lks_str_rune(rest, 0, &point);
        set(p, row, column, columns, style,
            (struct lks_str){rest.ptr, len <= CELL_MAX ? len : bare});
        column += columns;
        rest = (struct lks_str){rest.ptr + len, rest.len - len};
    }
    if (!cut)
        return column;
    for (; column < end - 1; column++)
        set(p, row, column, 1, style, LKS_STR(" "));
    set(p, row, column, 1, style, p->utf8 ? LKS_STR("…") : LKS_STR("~"));
    return end;
}

void lks_top_picture_fill(struct lks_top_picture *p, unsigned row, unsigned column, unsigned end,
                          unsigned style)
{
    for (; row < p->height && column < end && column < p->width; column++)
        set(p, row, column, 1, style, LKS_STR(" "));
}

void lks_top_picture_restyle(struct lks_top_picture *p, unsigned row, unsigned column, unsigned end,
                             unsigned style)
{
    for (; row < p->height && column < end && column < p->width; column++)
        cell_of(p, row, column)->style = (uint8_t)style;
}

struct lks_str lks_top_picture_at(const struct lks_top_picture *p, unsigned row, unsigned column,
                                  unsigned *style)
{
    const struct lks_top_cell *cell = cell_of(p, row, column);
    *style = cell->style;
    return (struct lks_str){p->text.ptr + cell->at, cell->len};
}

void lks_top_picture_line(const struct lks_top_picture *p, unsigned row, struct lks_buf *out)
{
    unsigned style;
    for (unsigned c = 0; c < p->width; c++)
        lks_buf_add(out, lks_top_picture_at(p, row, c, &style));
    while (out->len > 0 && out->ptr[out->len - 1] == ' ')
        lks_buf_truncate(out, out->len - 1);
}
