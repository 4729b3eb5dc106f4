#include "codec/package/aptconf.h"

#include <stdio.h>
#include <string.h>

enum token { TOKEN_END, TOKEN_WORD, TOKEN_TEXT, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_SEMICOLON };

struct parser {
    struct lks_str rest;
    unsigned line;
    lks_aptconf_fn *fn;
    void *ctx;
    char name[LKS_APTCONF_NAME_MAX]; /* of the open blocks, "A::B" */
    size_t len[LKS_APTCONF_DEPTH_MAX];
    size_t depth;
};

static char head(const struct parser *p)
{
    return p->rest.len > 0 ? p->rest.ptr[0] : '\0';
}

static bool is_among(char c, const char *chars)
{
    return c != '\0' && strchr(chars, c) != NULL;
}

static bool starts(const struct parser *p, const char *text)
{
    return lks_str_starts(p->rest, text);
}

static struct lks_str advance(struct parser *p, size_t n)
{
    struct lks_str passed = {p->rest.ptr, n};
    p->line += (unsigned)lks_str_count(passed, '\n');
    p->rest = (struct lks_str){p->rest.ptr + n, p->rest.len - n};
    return passed;
}

static void skip_past(struct parser *p, const char *end)
{
    ptrdiff_t at = lks_str_find(p->rest, lks_str_from(end));
    (void)advance(p, at < 0 ? p->rest.len : (size_t)at + strlen(end));
}

/* "#clear" and "#include" are statements; any other '#' begins a comment. */
static bool at_comment(const struct parser *p)
{
    return starts(p, "//") || (head(p) == '#' && !starts(p, "#clear") && !starts(p, "#include"));
}

static void skip_blanks(struct parser *p)
{
    for (;;) {
        if (at_comment(p))
            skip_past(p, "\n");
        else if (starts(p, "/*"))
            skip_past(p, "*/");
        else if (is_among(head(p), " \t\r\n\f\v"))
            (void)advance(p, 1);
        else
            return;
    }
}

static enum lks_code fail(const struct parser *p, struct lks_err *err, const char *what)
{
    return lks_fail(err, LKS_E_INVALID, "line %u: %s", p->line, what);
}

static enum lks_code take_text(struct parser *p, struct lks_str *value, struct lks_err *err)
{
    for (size_t i = 1; i < p->rest.len && p->rest.ptr[i] != '\n'; i++) {
        if (p->rest.ptr[i] == '"') {
            struct lks_str quoted = advance(p, i + 1);
            *value = (struct lks_str){quoted.ptr + 1, quoted.len - 2};
            return LKS_OK;
        }
    }
    return fail(p, err, "the quote that starts here is never closed");
}

static enum lks_code next_token(struct parser *p, enum token *token, struct lks_str *value,
                                struct lks_err *err)
{
    static const char marks[] = "{};";
    static const enum token tokens[] = {TOKEN_OPEN, TOKEN_CLOSE, TOKEN_SEMICOLON};
    skip_blanks(p);
    *token = TOKEN_END;
    if (p->rest.len == 0)
        return LKS_OK;
    const char *mark = head(p) != '\0' ? strchr(marks, head(p)) : NULL;
    if (mark != NULL) {
        *token = tokens[mark - marks];
        (void)advance(p, 1);
        return LKS_OK;
    }
    *token = TOKEN_TEXT;
    if (head(p) == '"')
        return take_text(p, value, err);
    *token = TOKEN_WORD;
    size_t len = 0;
    while (len < p->rest.len && !is_among(p->rest.ptr[len], " \t\r\n\f\v{};\""))
        len++;
    *value = advance(p, len);
    return LKS_OK;
}

/* "A::B" and "C" are "A::B::C"; nothing for a name is an element of the list "A::B::". */
static enum lks_code full_name(const struct parser *p, struct lks_str name,
                               char out[LKS_APTCONF_NAME_MAX], struct lks_err *err)
{
    size_t outer = p->depth > 0 ? p->len[p->depth - 1] : 0;
    int len = snprintf(out, LKS_APTCONF_NAME_MAX, "%.*s%s%" LKS_STR_FMT, (int)outer, p->name,
                       outer > 0 ? "::" : "", LKS_STR_ARG(name));
    if (len >= LKS_APTCONF_NAME_MAX || strlen(out) != outer + (outer > 0 ? 2 : 0) + name.len)
        return fail(p, err, "a name that is none");
    return LKS_OK;
}

static enum lks_code open_block(struct parser *p, struct lks_str name, struct lks_err *err)
{
    char full[LKS_APTCONF_NAME_MAX];
    if (name.len == 0)
        return fail(p, err, "a block without a name");
    if (p->depth == LKS_APTCONF_DEPTH_MAX)
        return fail(p, err, "blocks within blocks, too deep");
    if (full_name(p, name, full, err) != LKS_OK)
        return err->code;
    memcpy(p->name, full, sizeof(full));
    p->len[p->depth++] = strlen(full);
    return LKS_OK;
}

/* The words and texts of one statement, up to the mark that ends it. */
struct statement {
    struct lks_str name, value;
    size_t parts;
    bool directive; /* #clear or #include */
};

static enum lks_code add_part(struct parser *p, struct statement *s, enum token token,
                              struct lks_str part, struct lks_err *err)
{
    if (s->parts == 0 && token == TOKEN_WORD && lks_str_starts(part, "#"))
        s->directive = true;
    if (s->parts == 0 && token == TOKEN_TEXT && p->depth == 0)
        return fail(p, err, "a value without a name");
    if (s->parts > 1)
        return fail(p, err, "more than a name and a value");
    if (s->directive && token == TOKEN_TEXT && lks_str_is(s->name, "#clear"))
        return fail(p, err, "a name in quotes");
    if (s->parts == 0 && token == TOKEN_WORD)
        s->name = part;
    else
        s->value = part;
    s->parts++;
    return LKS_OK;
}

static enum lks_code end_statement(struct parser *p, const struct statement *s, struct lks_err *err)
{
    char full[LKS_APTCONF_NAME_MAX];
    if (s->parts == 0)
        return LKS_OK; /* "};" and stray semicolons */
    bool clear = s->directive && lks_str_is(s->name, "#clear");
    if (s->directive && !clear)
        return LKS_OK;
    if (full_name(p, clear ? s->value : s->name, full, err) != LKS_OK)
        return err->code;
    p->fn(p->ctx, clear ? LKS_APTCONF_CLEAR : LKS_APTCONF_SET, lks_str_from(full),
          clear ? LKS_STR("") : s->value);
    return LKS_OK;
}

static enum lks_code close_block(struct parser *p, const struct statement *s, struct lks_err *err)
{
    if (p->depth == 0)
        return fail(p, err, "a brace that closes nothing");
    if (s->parts > 0)
        return fail(p, err, "a setting without a semicolon");
    p->depth--;
    return LKS_OK;
}

enum lks_code lks_aptconf_parse(struct lks_str text, lks_aptconf_fn *fn, void *ctx,
                                struct lks_err *err)
{
    struct parser p = {.rest = text, .line = 1, .fn = fn, .ctx = ctx};
    struct statement s = {0};
    for (;;) {
        enum token token;
        struct lks_str value = {0};
        enum lks_code code = next_token(&p, &token, &value, err);
        if (code == LKS_OK && (token == TOKEN_WORD || token == TOKEN_TEXT)) {
            code = add_part(&p, &s, token, value, err);
        } else if (code == LKS_OK && token == TOKEN_END) {
            return s.parts > 0 || p.depth > 0 ? fail(&p, err, "ends in the middle") : LKS_OK;
        } else if (code == LKS_OK) {
            code = token == TOKEN_OPEN    ? open_block(&p, s.name, err)
                   : token == TOKEN_CLOSE ? close_block(&p, &s, err)
                                          : end_statement(&p, &s, err);
            s = (struct statement){0};
        }
        if (code != LKS_OK)
            return code;
    }
}
