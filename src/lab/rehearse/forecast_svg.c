/* The picture of a forecast: how long it takes, and for each pool what stays in use and the largest
 * gang that can start, over time. It needs no font, script or style from elsewhere. */
#include "lab/rehearse/forecast.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { WIDTH = 860, LEFT = 80, RIGHT = 24, PLOT = WIDTH - LEFT - RIGHT, HIGH = 150, GAP = 74 };
#define TOP       64.0
#define BLUE      "#1f5fa8"
#define GREEN     "#2f7d4f"
#define HOUR_MS   3600000.0
#define POOLS_MAX 6 /* that are drawn; a table has all of them */

static void add_text(struct lks_buf *out, double x, double y, const char *anchor, const char *more,
                     const char *text)
{
    lks_buf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor, more);
    for (; *text != '\0'; text++) {
        static const char *const escapes[] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;"};
        unsigned char c = (unsigned char)*text;
        if (c < LKS_COUNT(escapes) && escapes[c] != NULL)
            lks_buf_addf(out, "%s", escapes[c]);
        else
            lks_buf_addc(out, c < ' ' ? '?' : *text);
    }
    lks_buf_addf(out, "</text>\n");
}

static void add_textf(struct lks_buf *out, double x, double y, const char *anchor, const char *more,
                      const char *fmt, ...) LKS_PRINTF(6, 7);

static void add_textf(struct lks_buf *out, double x, double y, const char *anchor, const char *more,
                      const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    add_text(out, x, y, anchor, more, text);
}

/* A plot's place and what its edges stand for. */
struct plot {
    double top, from, to, most;
};

static double x_of(const struct plot *p, double hours)
{
    double whole = p->to > p->from ? p->to - p->from : 1;
    return LEFT + PLOT * (hours - p->from) / whole;
}

static double y_of(const struct plot *p, double value)
{
    return p->top + HIGH - (p->most > 0 ? HIGH * value / p->most : 0);
}

/* A round number: about `parts` of them make the whole. */
static double step_of(double whole, double parts)
{
    double rough = whole / parts, power = 1;
    if (!(rough > 0))
        return 1;
    power = pow(10, floor(log10(rough)));
    return power * (rough / power < 1.5   ? 1
                    : rough / power < 3.5 ? 2
                    : rough / power < 7.5 ? 5
                                          : 10);
}

static void add_frame(struct lks_buf *out, const struct plot *p, const char *title,
                      const char *below)
{
    double bottom = p->top + HIGH, step = step_of(p->to - p->from, 8);
    add_text(out, LEFT, p->top - 10, "start", " font-weight=\"bold\"", title);
    lks_buf_addf(out, "<path d=\"M%d %.1fV%.1fH%d\" fill=\"none\" stroke=\"#888\"/>\n", LEFT,
                 p->top, bottom, LEFT + PLOT);
    int last = (int)floor(p->to / step + 1e-3);
    for (int i = (int)ceil(p->from / step); i <= last; i++) {
        double h = i * step;
        lks_buf_addf(out, "<path d=\"M%.1f %.1fv4\" stroke=\"#888\"/>\n", x_of(p, h), bottom);
        add_textf(out, x_of(p, h), bottom + 17, "middle", "", "%g", h);
    }
    add_text(out, LEFT + PLOT, bottom + 32, "end", " fill=\"#555\"", below);
    step = step_of(p->most, 4);
    for (int i = 0; i * step <= p->most; i++) {
        double v = i * step;
        lks_buf_addf(out, "<path d=\"M%d %.1fh%d\" stroke=\"#ddd\"/>\n", LEFT, y_of(p, v), PLOT);
        add_textf(out, LEFT - 8, y_of(p, v) + 4, "end", "", "%g", v);
    }
}

static void add_bars(struct lks_buf *out, const struct lks_forecast *f, double top)
{
    enum { BARS = LKS_COUNT(f->bars) };
    struct plot p = {.top = top, .from = f->bars_from, .to = f->bars_to};
    for (unsigned i = 0; i < BARS; i++)
        p.most = f->bars[i] > p.most ? f->bars[i] : p.most;
    add_frame(out, &p, "How long it takes: runs", "hours");
    double wide = (double)PLOT / BARS;
    for (unsigned i = 0; i < BARS; i++)
        lks_buf_addf(
            out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"" BLUE "\"/>\n",
            LEFT + i * wide + 1, y_of(&p, f->bars[i]), wide - 2,
            p.top + HIGH - y_of(&p, f->bars[i]));
}

/* From the low to the high of each point, and back; and the middle as a line. */
static void add_curve(struct lks_buf *out, const struct lks_forecast *f, const struct plot *p,
                      const uint32_t curve[][3], const char *colour)
{
    double hours = (double)f->point / HOUR_MS;
    lks_buf_addf(out, "<path d=\"");
    for (uint32_t i = 0; i < f->points; i++)
        lks_buf_addf(out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', x_of(p, (i + 0.5) * hours),
                     y_of(p, curve[i][2]));
    for (uint32_t i = f->points; i-- > 0;)
        lks_buf_addf(out, "L%.1f %.1f", x_of(p, (i + 0.5) * hours), y_of(p, curve[i][0]));
    lks_buf_addf(out, "Z\" fill=\"%s\" fill-opacity=\"0.22\"/>\n<path d=\"", colour);
    for (uint32_t i = 0; i < f->points; i++)
        lks_buf_addf(out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', x_of(p, (i + 0.5) * hours),
                     y_of(p, curve[i][1]));
    lks_buf_addf(out, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"/>\n", colour);
}

static void add_pool(struct lks_buf *out, const struct lks_forecast *f, uint32_t i, double top)
{
    const struct lks_forecast_pool *pool = &f->pools[i];
    char title[LKS_REHEARSE_NAME + 64];
    struct plot p = {.top = top,
                     .to = (double)f->point * f->points / HOUR_MS,
                     .most = pool->in_use > 0 ? pool->in_use : 1};
    (void)snprintf(title, sizeof(title), "Pool %s: nodes", pool->name);
    add_frame(out, &p, title, "hours since its start");
    add_curve(out, f, &p, f->in_use[i], BLUE);
    add_curve(out, f, &p, f->gang[i], GREEN);
    lks_buf_addf(out, "<path d=\"M%d %.1fh%d\" stroke=\"#a33\" stroke-dasharray=\"5 4\"/>\n", LEFT,
                 y_of(&p, pool->wanted), PLOT);
    add_textf(out, LEFT + 4, y_of(&p, pool->wanted) - 5, "start", " fill=\"#a33\"", "a gang of %u",
              pool->wanted);
    add_text(out, LEFT + PLOT - 150, top - 10, "end", " fill=\"" BLUE "\"", "in service");
    add_text(out, LEFT + PLOT, top - 10, "end", " fill=\"" GREEN "\"", "largest startable gang");
}

void lks_forecast_svg(const struct lks_forecast *f, const struct lks_forecast_about *about,
                      struct lks_buf *out)
{
    uint32_t pools = f->pool_count < POOLS_MAX ? f->pool_count : POOLS_MAX;
    double each = HIGH + GAP, high = TOP + 26 + each * (pools + 1);
    lks_buf_addf(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
                 "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
                 "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                 WIDTH, high, WIDTH, high);
    add_text(out, LEFT, 24, "start", " font-size=\"16\" font-weight=\"bold\"", about->title);
    add_textf(out, LEFT, 43, "start", " fill=\"#555\"",
              "%u runs; bands: 5 to 95 of 100 runs, line: the middle", f->plain);
    add_bars(out, f, TOP + 18);
    for (uint32_t i = 0; i < pools; i++)
        add_pool(out, f, i, TOP + 18 + each * (i + 1));
    lks_buf_addf(out, "</svg>\n");
}
