#include "cli/shared/render.h"

#include "base/time.h"
#include "codec/format/http.h"

#include <inttypes.h>
#include <string.h>

enum { VALUE_MAX = 64 << 20, UNIT_MAX = 32 };

/* Values ------------------------------------------------------------------------------------ */

const struct lks_doc *lks_render_find(const struct lks_doc *doc, struct lks_str path)
{
    struct lks_str part;
    while (doc != NULL && path.len > 0 && path.ptr[0] == '^') {
        path = (struct lks_str){path.ptr + 1, path.len - 1};
        doc = doc->parent != NULL ? doc->parent->parent : NULL;
    }
    while (doc != NULL && path.len > 0 && !lks_str_is(path, ".")) {
        lks_str_cut(path, '.', &part, &path);
        doc = lks_doc_find(doc->kind == LKS_DOC_LIST ? doc->first : doc, part);
    }
    return doc;
}

void lks_render_value(struct lks_buf *out, const struct lks_doc *value)
{
    if (value == NULL || value->kind == LKS_DOC_NULL)
        return;
    switch (value->kind) {
    case LKS_DOC_BOOL:
        lks_buf_add(out, value->truth ? LKS_STR("yes") : LKS_STR("no"));
        break;
    case LKS_DOC_NUMBER:
        lks_buf_addf(out, "%" PRId64, value->number);
        break;
    case LKS_DOC_TEXT:
        lks_buf_add(out, value->text);
        break;
    case LKS_DOC_LIST:
    case LKS_DOC_MAP:
        for (const struct lks_doc *i = value->first; i != NULL; i = i->next) {
            if (i != value->first)
                lks_buf_add(out, LKS_STR(", "));
            if (value->kind == LKS_DOC_MAP)
                lks_buf_addf(out, "%" LKS_STR_FMT " ", LKS_STR_ARG(i->key));
            lks_render_value(out, i);
        }
        break;
    case LKS_DOC_NULL:
        break;
    }
}

static uint64_t number_of(const struct lks_doc *value)
{
    uint64_t sum = 0;
    if (value == NULL || value->kind == LKS_DOC_NUMBER)
        return value != NULL && value->number > 0 ? (uint64_t)value->number : 0;
    if (value->kind == LKS_DOC_LIST)
        return value->count;
    for (const struct lks_doc *i = value->first; i != NULL; i = i->next)
        sum += i->kind == LKS_DOC_NUMBER ? (uint64_t)i->number : 0;
    return sum;
}

/* The sum of the members whose paths are in `paths`, separated by '+'. */
static uint64_t sum_of(const struct lks_doc *map, struct lks_str paths)
{
    struct lks_str path;
    uint64_t sum = 0;
    while (paths.len > 0) {
        lks_str_cut(paths, '+', &path, &paths);
        sum += number_of(lks_render_find(map, path));
    }
    return sum;
}

uint64_t lks_render_number(const struct lks_doc *map, const char *path)
{
    return sum_of(map, lks_str_from(path));
}

static bool is_true(const struct lks_doc *map, struct lks_str path)
{
    const struct lks_doc *value = lks_render_find(map, path);
    if (value != NULL && (value->kind == LKS_DOC_BOOL || value->kind == LKS_DOC_TEXT))
        return value->truth || value->text.len > 0;
    return sum_of(map, path) > 0 || (value != NULL && value->count > 0);
}

bool lks_render_truth(const struct lks_doc *map, const char *path)
{
    return is_true(map, lks_str_from(path));
}

/* Forms ------------------------------------------------------------------------------------- */

/* The position in a form, its document and arguments, and the output. */
struct reader {
    const char *at;
    const struct lks_render *of;
    struct lks_buf *out;
};

/* The argument or the option that `path` names; NULL where it is a member's, or was not given. */
static const char *given(const struct reader *r, struct lks_str path)
{
    const struct lks_args *args = r->of->args;
    char option[UNIT_MAX];
    bool place = path.ptr[0] >= '1' && path.ptr[0] <= '9';
    size_t index = place ? (size_t)(path.ptr[0] - '1') : SIZE_MAX;
    if (args == NULL)
        return NULL;
    if (path.ptr[0] != '-')
        return index < args->positional_count ? args->positional[index] : NULL;
    snprintf(option, sizeof(option), "%" LKS_STR_FMT, LKS_STR_ARG(path));
    return lks_args_get(args, option);
}

static size_t place_of(const struct lks_doc *item)
{
    size_t place = 0;
    for (const struct lks_doc *i = item->parent->first; i != item; i = i->next)
        place++;
    return place;
}

/* An argument, an option or a member; false where it is missing or empty. */
static bool put_value(const struct reader *r, struct lks_str path)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(VALUE_MAX);
    const char *word = given(r, path);
    if (word != NULL)
        lks_buf_add(&text, lks_str_from(word));
    else if (lks_str_is(path, "@"))
        lks_buf_addf(&text, "%zu", place_of(r->of->doc));
    else
        lks_render_value(&text, lks_render_find(r->of->doc, path));
    void (*const put[])(struct lks_buf * out, struct lks_str text) = {
        [LKS_RENDER_CLEAN] = lks_term_clean,
        [LKS_RENDER_RAW] = lks_buf_add,
        [LKS_RENDER_URL] = lks_http_escape,
    };
    put[r->of->mode](r->out, lks_buf_view(&text));
    return text.len > 0;
}

/* Whether a member, or the text itself that gets a colour, is `text`. */
static bool is_text(const struct reader *r, struct lks_str path, struct lks_str text)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(VALUE_MAX);
    if (lks_str_is(path, "."))
        return lks_str_eq(r->of->self, text);
    lks_render_value(&shown, lks_render_find(r->of->doc, path));
    return lks_str_eq(lks_buf_view(&shown), text);
}

static void put_count(const struct reader *r, uint64_t count, struct lks_str unit)
{
    char one[UNIT_MAX], text[LKS_COUNT_TEXT_SIZE];
    if (unit.len == 0) {
        lks_buf_addf(r->out, "%" PRIu64, count);
        return;
    }
    snprintf(one, sizeof(one), "%" LKS_STR_FMT, LKS_STR_ARG(unit));
    lks_buf_add(r->out, lks_str_from(lks_str_count_text(count, one, text)));
}

static bool put_span(const struct reader *r, uint64_t ms)
{
    char text[LKS_SPAN_TEXT_SIZE];
    if (ms > 0)
        lks_buf_add(r->out, lks_str_from(lks_time_span_text(ms, text)));
    return ms > 0;
}

/* From one time to another; 0 where one of them is missing, or they are the other way round. */
static uint64_t between(const struct lks_doc *doc, struct lks_str from, struct lks_str to)
{
    const struct lks_doc *ends[] = {lks_render_find(doc, from), lks_render_find(doc, to)};
    lks_ms at[2] = {0};
    for (size_t i = 0; i < LKS_COUNT(ends); i++) {
        if (ends[i] == NULL || ends[i]->kind != LKS_DOC_TEXT ||
            !lks_time_parse(ends[i]->text, &at[i]))
            return 0;
    }
    return at[1] > at[0] ? at[1] - at[0] : 0;
}

/* What is between two braces. */
static bool put_member(const struct reader *r, struct lks_str inside)
{
    const struct lks_doc *doc = r->of->doc;
    size_t len = 0;
    while (len < inside.len && strchr("#~?!:=<", inside.ptr[len]) == NULL)
        len++;
    struct lks_str path = {inside.ptr, len};
    if (len == inside.len)
        return put_value(r, path);
    struct lks_str more = {inside.ptr + len + 1, inside.len - len - 1};
    switch (inside.ptr[len]) {
    case '#':
        put_count(r, sum_of(doc, path), more);
        return true;
    case '~':
        return put_span(r, more.len > 0 ? between(doc, path, more) : sum_of(doc, path));
    case '?':
        return is_true(doc, path) || given(r, path) != NULL;
    case '!':
        return more.len > 0 ? !is_text(r, path, more)
                            : !is_true(doc, path) && given(r, path) == NULL;
    case ':':
        return lks_render_find(doc, path) != NULL;
    case '<':
        return sum_of(doc, path) < sum_of(doc, more);
    default:
        return is_text(r, path, more);
    }
}

static bool put_until(struct reader *r);

/* The first alternative that is whole, if there is one. */
static void put_choice(struct reader *r)
{
    bool done = false;
    do {
        size_t begin = r->out->len;
        r->at++;
        bool whole = put_until(r);
        if (done || !whole)
            lks_buf_truncate(r->out, begin);
        done = done || whole;
    } while (*r->at == '|');
    LKS_ASSERT(*r->at == ']');
    r->at++;
}

/* As far as the end of the form or of an alternative; false where something of it is missing. */
static bool put_until(struct reader *r)
{
    bool whole = true;
    while (*r->at != '\0' && *r->at != '|' && *r->at != ']') {
        if (*r->at == '[') {
            put_choice(r);
        } else if (*r->at == '{') {
            const char *end = strchr(r->at, '}');
            LKS_ASSERT(end != NULL && end > r->at + 1);
            whole = put_member(r, (struct lks_str){r->at + 1, (size_t)(end - r->at) - 1}) && whole;
            r->at = end + 1;
        } else {
            lks_buf_addc(r->out, *r->at++);
        }
    }
    return whole;
}

void lks_render(struct lks_buf *out, const char *form, const struct lks_render *of)
{
    struct reader r = {.at = form, .of = of, .out = out};
    (void)put_until(&r);
    LKS_ASSERT(*r.at == '\0');
}

void lks_render_print(FILE *out, const char *form, const struct lks_doc *doc)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(VALUE_MAX);
    lks_render(&text, form, &(struct lks_render){.doc = doc});
    fwrite(text.ptr, 1, text.len, out);
}

void lks_render_each(FILE *out, const char *path, const char *form, const struct lks_doc *doc,
                     const struct lks_args *args)
{
    const char *dot = strchr(path, '.');
    struct lks_str part =
        dot != NULL ? (struct lks_str){path, (size_t)(dot - path)} : lks_str_from(path);
    const struct lks_doc *list = lks_doc_find(doc, part);
    for (const struct lks_doc *i = list != NULL ? list->first : NULL; i != NULL; i = i->next) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(VALUE_MAX);
        if (dot != NULL) {
            lks_render_each(out, dot + 1, form, i, args);
            continue;
        }
        lks_render(&text, form, &(struct lks_render){.doc = i, .args = args});
        fwrite(text.ptr, 1, text.len, out);
    }
}

enum lks_colour lks_render_colour(const char *form, const struct lks_doc *doc, struct lks_str self)
{
    static const struct lks_str_named names[] = {{"green", LKS_GREEN},
                                                 {"yellow", LKS_YELLOW},
                                                 {"red", LKS_RED},
                                                 {"bold", LKS_BOLD},
                                                 {"dim", LKS_DIM}};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf name = LKS_BUF(UNIT_MAX);
    lks_render(&name, form, &(struct lks_render){.doc = doc, .self = self});
    return (enum lks_colour)lks_str_lookup(lks_buf_view(&name), names, LKS_COUNT(names), LKS_PLAIN);
}

void lks_render_word(FILE *out, const struct lks_term *term, const char *colour, const char *form,
                     const struct lks_doc *doc)
{
    enum lks_colour in = lks_render_colour(colour, doc, LKS_STR(""));
    fputs(lks_term_on(term, in), out);
    lks_render_print(out, form, doc);
    fputs(lks_term_off(term, in), out);
}
