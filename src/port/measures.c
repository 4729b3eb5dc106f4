#include "port/measures.h"

#include "base/vec.h"

#include <inttypes.h>

#define STEPS 60 /* samples of a window; where there are fewer, some count more than once */

const char *const lks_measure_login_words[] = {"none", "basic", "bearer", NULL};

void lks_measures_init(struct lks_measures *m)
{
    *m = (struct lks_measures){0};
    lks_arena_init(&m->arena, LKS_MEASURE_MEMORY_MAX);
}

void lks_measures_fini(struct lks_measures *m)
{
    lks_arena_fini(&m->arena);
    *m = (struct lks_measures){0};
}

/* The place of the first that is not before `name`. */
static size_t place_of(const struct lks_measures *m, struct lks_str name)
{
    size_t at;
    LKS_VEC_PLACE(at, m->count, lks_str_cmp(m->points[at].name, name) < 0);
    return at;
}

static const struct lks_measure_point *search(const struct lks_measures *m, struct lks_str name)
{
    size_t at = place_of(m, name);
    return at < m->count && lks_str_eq(m->points[at].name, name) ? &m->points[at] : NULL;
}

/* "gpu7.site.example" where the fleet says "gpu7": the first name that begins so. Two that do are
 * two machines of one name, and neither is meant. */
static const struct lks_measure_point *search_longer(const struct lks_measures *m,
                                                     struct lks_str name)
{
    const struct lks_measure_point *found = NULL;
    for (size_t i = place_of(m, name); i < m->count; i++) {
        struct lks_str at = m->points[i].name;
        if (at.len <= name.len || memcmp(at.ptr, name.ptr, name.len) != 0)
            break;
        if (at.ptr[name.len] != '.')
            continue; /* "gpu7-a" sorts before "gpu7.site", "gpu70" behind it */
        if (found != NULL)
            return NULL;
        found = &m->points[i];
    }
    return found;
}

bool lks_measures_find(const struct lks_measures *m, struct lks_str node, double *out)
{
    struct lks_str bare = node, rest;
    const struct lks_measure_point *p = search(m, node);
    if (p == NULL && lks_str_cut(node, '.', &bare, &rest))
        p = search(m, bare);
    else if (p == NULL)
        p = search_longer(m, node);
    if (p == NULL)
        return false;
    *out = p->value;
    return true;
}

static void add_window(lks_ms window, struct lks_buf *out)
{
    lks_ms seconds = window / LKS_SECOND;
    lks_buf_addf(out, "%" PRIu64 "s", seconds > 0 ? seconds : 1);
}

void lks_measure_query(struct lks_str query, bool counts, lks_ms window, struct lks_buf *out)
{
    static const struct lks_str mark = LKS_STR_C("$window");
    bool marked = lks_str_find(query, mark) >= 0;
    if (!marked)
        lks_buf_add(out, counts ? LKS_STR("increase((") : LKS_STR("quantile_over_time(0.5, ("));
    for (ptrdiff_t at = lks_str_find(query, mark); at >= 0; at = lks_str_find(query, mark)) {
        lks_buf_add(out, (struct lks_str){query.ptr, (size_t)at});
        add_window(window, out);
        query.ptr += (size_t)at + mark.len;
        query.len -= (size_t)at + mark.len;
    }
    lks_buf_add(out, query);
    if (marked)
        return;
    lks_buf_add(out, LKS_STR(")["));
    add_window(window, out);
    lks_buf_add(out, LKS_STR(":"));
    add_window(window / STEPS, out);
    lks_buf_add(out, LKS_STR("])"));
}
