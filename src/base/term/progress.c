#include "base/term/progress.h"

enum {
    DRAW_MS = 100,
    LINE_MS = 10000,
    BAR_MAX = 30,
    BAR_MIN = 5,
    TEXT_MAX = 4096,
};

void lks_progress_init(struct lks_progress *p, FILE *out, const struct lks_term *term,
                       const char *label, uint64_t total)
{
    *p = (struct lks_progress){.out = out, .label = label, .term = *term, .total = total};
}

/* Rounded down: 100 % is said only of what is finished. */
static unsigned percent(const struct lks_progress *p)
{
    if (p->done >= p->total)
        return 100;
    bool large = p->total > UINT64_MAX / 100;
    uint64_t share = large ? p->done / (p->total / 100) : p->done * 100 / p->total;
    return share > 99 ? 99 : (unsigned)share;
}

/* 1234567 as 1,234,567. */
static void add_number(struct lks_buf *b, uint64_t n)
{
    char text[32];
    size_t at = sizeof(text);
    for (unsigned digits = 0; digits == 0 || n > 0; digits++, n /= 10) {
        if (digits > 0 && digits % 3 == 0)
            text[--at] = ',';
        text[--at] = (char)('0' + n % 10);
    }
    lks_buf_add(b, (struct lks_str){text + at, sizeof(text) - at});
}

static void add_counts(struct lks_buf *b, const struct lks_progress *p)
{
    add_number(b, p->done);
    lks_buf_addc(b, '/');
    add_number(b, p->total);
}

static void add_elapsed(struct lks_buf *b, const struct lks_progress *p, lks_ms now)
{
    lks_ms ms = p->started && now > p->began ? now - p->began : 0;
    add_number(b, ms / 1000);
    lks_buf_addf(b, ".%u s", (unsigned)(ms / 100 % 10));
}

/* Once a tenth is done: before that an estimate is not possible. */
static bool tells_left(const struct lks_progress *p)
{
    return p->left > 0 && p->done > 0 && p->done < p->total && p->done >= p->total / 10;
}

static void add_left(struct lks_buf *b, const struct lks_progress *p)
{
    unsigned long long s = (p->left + 500) / 1000;
    if (s >= 600)
        lks_buf_addf(b, "%llu min left", (s + 30) / 60);
    else
        lks_buf_addf(b, "%llu s left", s);
}

static void add_bar(struct lks_buf *b, const struct lks_progress *p, size_t width)
{
    size_t full = width * percent(p) / 100;
    lks_buf_addc(b, '[');
    lks_buf_pad(b, '#', (ptrdiff_t)full);
    lks_buf_pad(b, '.', (ptrdiff_t)(width - full));
    lks_buf_addf(b, "] ");
}

/* Assemble the line for a terminal. What does not fit is left out, the least telling first: the
 * bar, the label, the counts but for the time that is left, that too. The last column stays free,
 * since some terminals move on to the next line as soon as it is written. */
static void add_drawing(struct lks_buf *b, const struct lks_progress *p, struct lks_str label,
                        struct lks_str counts, struct lks_str left)
{
    size_t room = p->term.width == 0 ? SIZE_MAX : p->term.width - 1;
    size_t short_len = strlen("100 %");
    size_t counts_len = strlen("  ") + counts.len;
    if (short_len + counts_len > room) {
        counts = left;
        counts_len = strlen("  ") + left.len;
    }
    size_t label_len = lks_term_columns(label) + 1;
    size_t frame = strlen("[] ");

    bool with_counts = counts.len > 0 && short_len + counts_len <= room;
    bool with_label = with_counts && short_len + counts_len + label_len <= room;
    if (with_label) {
        lks_buf_addf(b, "%" LKS_STR_FMT " ", LKS_STR_ARG(label));
        size_t bar = room - short_len - counts_len - label_len;
        if (bar >= frame + BAR_MIN)
            add_bar(b, p, bar - frame > BAR_MAX ? BAR_MAX : bar - frame);
    }
    lks_buf_addf(b, "%3u %%", percent(p));
    if (with_counts)
        lks_buf_addf(b, "  %" LKS_STR_FMT, LKS_STR_ARG(counts));
}

/* Draw over the line that is there, with blanks where it was longer: escape sequences that erase
 * are not understood everywhere. */
static void draw(struct lks_progress *p, lks_ms now, bool last)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0}, label = {0}, counts = {0}, left = {0};
    lks_buf_init(&line, TEXT_MAX);
    lks_buf_init(&label, TEXT_MAX);
    lks_buf_init(&counts, TEXT_MAX);
    lks_buf_init(&left, TEXT_MAX);
    lks_term_clean(&label, lks_str_from(p->label));
    add_counts(&counts, p);
    if (tells_left(p)) {
        add_left(&left, p);
        lks_buf_addf(&counts, ", ");
        lks_buf_add(&counts, lks_buf_view(&left));
    }
    if (last) {
        lks_buf_addf(&counts, "  ");
        add_elapsed(&counts, p, now);
    }
    add_drawing(&line, p, lks_buf_view(&label), lks_buf_view(&counts), lks_buf_view(&left));

    size_t columns = lks_term_columns(lks_buf_view(&line));
    if (columns < p->columns)
        lks_buf_pad(&line, ' ', (ptrdiff_t)(p->columns - columns));
    p->columns = columns;
    fprintf(p->out, "\r%" LKS_STR_FMT "%s", LKS_STR_ARG(lks_buf_view(&line)), last ? "\n" : "");
    fflush(p->out);
}

static void print_line(const struct lks_progress *p, lks_ms now, bool last)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(TEXT_MAX);
    lks_term_clean(&line, lks_str_from(p->label));
    lks_buf_addf(&line, ": %u %%, ", percent(p));
    add_counts(&line, p);
    if (tells_left(p)) {
        lks_buf_addf(&line, ", ");
        add_left(&line, p);
    }
    if (last) {
        lks_buf_addf(&line, ", ");
        add_elapsed(&line, p, now);
    }
    fprintf(p->out, "%" LKS_STR_FMT "\n", LKS_STR_ARG(lks_buf_view(&line)));
    fflush(p->out);
}

void lks_progress_at(struct lks_progress *p, uint64_t done, lks_ms now)
{
    p->done = done;
    bool first = !p->started;
    if (first) {
        p->started = true;
        p->began = now;
        p->printed = now;
    }
    lks_ms since = now > p->printed ? now - p->printed : 0;
    unsigned tenths = percent(p) / 10;
    bool due = p->term.tty ? first || since >= DRAW_MS : tenths > p->tenths || since >= LINE_MS;
    /* The end is left for the closing line, which says more. */
    if (!due || (!p->term.tty && done >= p->total))
        return;

    p->printed = now;
    p->tenths = tenths;
    if (p->term.tty)
        draw(p, now, false);
    else
        print_line(p, now, false);
}

void lks_progress_end(struct lks_progress *p, lks_ms now)
{
    if (p->term.tty)
        draw(p, now, true);
    else
        print_line(p, now, true);
}
