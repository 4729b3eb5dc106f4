/* One value, spelled in many ways. */
#include "tests/stacks_parts.h"

enum { MEMBERS_MAX = 64 };

struct speller {
    struct lks_rng *rng;
    struct lks_buf *out;
    struct lks_docs extra; /* what is added to the value without meaning anything */
    bool json;
    int indent;
};

static bool maybe(struct speller *s, unsigned percent)
{
    return lks_rng_percent(s->rng, percent);
}

static void put_note(struct speller *s, struct lks_doc *parent, const char *key, unsigned percent)
{
    static const char *const notes[] = {
        "tested", "see the wiki: page 7",   "# no comment", "it's", "on",
        "12.10",  "caf\xc3\xa9 \"quoted\"", "a\\b"};
    if (maybe(s, percent))
        stack_put_quoted(&s->extra, parent, key, notes[lks_rng_below(s->rng, LKS_COUNT(notes))]);
}

static struct lks_doc *clone(struct speller *s, struct lks_doc *parent, const struct lks_doc *doc)
{
    struct lks_doc *copy = lks_doc_add(&s->extra, parent, doc->kind);
    LKS_ASSERT(copy != NULL);
    copy->key = doc->key;
    copy->text = doc->text;
    copy->quoted = doc->quoted;
    copy->truth = doc->truth;
    copy->number = doc->number;
    for (const struct lks_doc *child = doc->first; child != NULL; child = child->next)
        clone(s, copy, child);
    return copy;
}

/* What an entry can say without saying anything. */
static void decorate_pin(struct speller *s, struct lks_doc *pin, bool software)
{
    put_note(s, pin, "note", 30);
    struct lks_doc *absent = stack_find(pin, "absent");
    if (absent != NULL) {
        stack_take_out(pin, absent);
        put_note(s, pin, "absent", 100);
        return;
    }
    if (software && stack_find(pin, "scope") == NULL && maybe(s, 30))
        stack_put_text(&s->extra, pin, "scope", "node");
    if (stack_find(pin, "owner") == NULL && maybe(s, 30))
        stack_put_text(&s->extra, pin, "owner", software ? "package" : "bundle");
    if (stack_find(pin, "build") == NULL && maybe(s, 20))
        stack_put(&s->extra, pin, "build", LKS_DOC_MAP);
    struct lks_doc *artifacts = stack_find(pin, "artifacts");
    if (artifacts != NULL && maybe(s, 30)) /* a set holds each thing once */
        clone(s, artifacts, artifacts->first);
}

static void decorate_maps(struct speller *s, struct lks_doc *top)
{
    static const char *const empties[] = {"windows", "settings", "tuning"};
    for (size_t i = 0; i < LKS_COUNT(empties); i++) {
        if (stack_find(top, empties[i]) == NULL && maybe(s, 30))
            stack_put(&s->extra, top, empties[i], LKS_DOC_MAP);
    }
    if (stack_find(top, "firmware") == NULL && maybe(s, 30))
        stack_put_set(&s->extra, top, "firmware");
    struct lks_doc *settings = stack_find(top, "settings"), *tuning = stack_find(top, "tuning");
    static const char *const groups[] = {"clocks", "partition", "nic", "bios", "other"};
    for (size_t i = 0; settings != NULL && i < LKS_COUNT(groups); i++) {
        if (stack_find(settings, groups[i]) == NULL && maybe(s, 20))
            stack_put(&s->extra, settings, groups[i], LKS_DOC_MAP);
    }
    struct lks_doc *nic = stack_find(settings, "nic");
    if (nic != NULL && nic->count == 0 && maybe(s, 50))
        stack_put(&s->extra, nic, "options", LKS_DOC_MAP);
    if (tuning != NULL && stack_find(tuning, "env") == NULL && maybe(s, 30))
        stack_put(&s->extra, tuning, "env", LKS_DOC_MAP);
    struct lks_doc *table = stack_find(tuning, "table");
    if (table != NULL)
        put_note(s, table, "name", 50);
}

static void decorate(struct speller *s, struct lks_doc *top)
{
    stack_put_number(&s->extra, top, "lockstep", 1);
    stack_put_text(&s->extra, top, "kind", "Stack");
    stack_put_text(&s->extra, top, "name", maybe(s, 50) ? "gold" : "silver-7");
    stack_put_quoted(&s->extra, top, "version", maybe(s, 50) ? "1" : "2026.10");
    put_note(s, top, "description", 50);
    struct lks_doc *evidence =
        maybe(s, 50) ? stack_put(&s->extra, top, "evidence", LKS_DOC_LIST) : NULL;
    for (uint64_t n = lks_rng_below(s->rng, 3); n > 0 && evidence != NULL; n--) {
        struct lks_doc *item = stack_put(&s->extra, evidence, "", LKS_DOC_MAP);
        put_note(s, item, "what", 100);
        put_note(s, item, "by", 50);
        if (maybe(s, 50))
            stack_put_quoted(&s->extra, item, "date", maybe(s, 50) ? "2026-11-15" : "2026-10");
        stack_put_quoted(&s->extra, item, "url", "https://wiki.example.com/stacks/7");
    }
    for (struct lks_doc *pin = stack_find(top, "components")->first; pin != NULL; pin = pin->next)
        decorate_pin(s, pin, true);
    struct lks_doc *firmware = stack_find(top, "firmware");
    for (struct lks_doc *pin = firmware != NULL ? firmware->first : NULL; pin != NULL;
         pin = pin->next)
        decorate_pin(s, pin, false);
    decorate_maps(s, top);
}

/* The children of `doc`, in another order where order means nothing. */
static size_t children(struct speller *s, const struct lks_doc *doc, const struct lks_doc **out)
{
    size_t n = 0;
    for (const struct lks_doc *child = doc->first; child != NULL; child = child->next) {
        LKS_ASSERT(n < MEMBERS_MAX);
        out[n++] = child;
    }
    bool free_order = doc->kind == LKS_DOC_MAP || doc->truth;
    for (size_t i = n; free_order && i > 1; i--) {
        size_t j = (size_t)lks_rng_below(s->rng, i);
        const struct lks_doc *swap = out[i - 1];
        out[i - 1] = out[j];
        out[j] = swap;
    }
    return n;
}

static bool is_plain(struct lks_str text)
{
    bool letter = text.len > 3 && text.ptr[0] >= 'a' && text.ptr[0] <= 'z';
    for (size_t i = 0; i < text.len; i++)
        letter = letter && strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", text.ptr[i]) != NULL;
    return letter && !lks_str_is(text, "true") && !lks_str_is(text, "false") &&
           !lks_str_is(text, "null");
}

static void put_double(struct speller *s, struct lks_str text)
{
    lks_buf_addc(s->out, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"' || c == '\\')
            lks_buf_addf(s->out, "\\%c", c);
        else if ((unsigned char)c < 0x80 && maybe(s, 3))
            lks_buf_addf(s->out, "\\u%04x", (unsigned)c);
        else
            lks_buf_addc(s->out, c);
    }
    lks_buf_addc(s->out, '"');
}

static void put_string(struct speller *s, struct lks_str text, bool quotes)
{
    uint64_t style = s->json ? 0 : lks_rng_below(s->rng, 3);
    if (style == 2 && !quotes && is_plain(text)) {
        lks_buf_add(s->out, text);
    } else if (style == 1) {
        lks_buf_addc(s->out, '\'');
        for (size_t i = 0; i < text.len; i++)
            lks_buf_pad(s->out, text.ptr[i], text.ptr[i] == '\'' ? 2 : 1);
        lks_buf_addc(s->out, '\'');
    } else {
        put_double(s, text);
    }
}

static void put_scalar(struct speller *s, const struct lks_doc *doc)
{
    if (doc->kind == LKS_DOC_TEXT)
        put_string(s, doc->text, doc->quoted);
    else if (doc->kind == LKS_DOC_NUMBER)
        lks_buf_addf(s->out, "%lld", (long long)doc->number);
    else
        lks_buf_add(s->out, doc->truth ? LKS_STR("true") : LKS_STR("false"));
}

static void put_flow(struct speller *s, const struct lks_doc *doc)
{
    if (doc->kind != LKS_DOC_MAP && doc->kind != LKS_DOC_LIST) {
        put_scalar(s, doc);
        return;
    }
    const struct lks_doc *order[MEMBERS_MAX];
    size_t n = children(s, doc, order);
    lks_buf_addc(s->out, doc->kind == LKS_DOC_MAP ? '{' : '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            lks_buf_add(s->out, maybe(s, 10) ? LKS_STR(",\n                  ") : LKS_STR(", "));
        if (doc->kind == LKS_DOC_MAP) {
            put_string(s, order[i]->key, false);
            lks_buf_add(s->out, LKS_STR(": "));
        }
        put_flow(s, order[i]);
    }
    lks_buf_addc(s->out, doc->kind == LKS_DOC_MAP ? '}' : ']');
}

static void put_remark(struct speller *s, int column)
{
    if (maybe(s, 10))
        lks_buf_addc(s->out, '\n');
    if (maybe(s, 10)) {
        lks_buf_pad(s->out, ' ', column);
        lks_buf_add(s->out, LKS_STR("# key: 'value' [and so on\n"));
    }
}

/* The value behind "key:" or "-", in flow or as a block further in. */
static void put_block(struct speller *s, const struct lks_doc *doc, int column)
{
    bool nested = (doc->kind == LKS_DOC_MAP || doc->kind == LKS_DOC_LIST) && doc->count > 0;
    if (!nested || maybe(s, 30)) {
        lks_buf_addc(s->out, ' ');
        put_flow(s, doc);
        lks_buf_add(s->out, maybe(s, 10) ? LKS_STR("  # remark\n") : LKS_STR("\n"));
        return;
    }
    lks_buf_add(s->out, maybe(s, 10) ? LKS_STR(" # remark\n") : LKS_STR("\n"));
    const struct lks_doc *order[MEMBERS_MAX];
    size_t n = children(s, doc, order);
    for (size_t i = 0; i < n; i++) {
        put_remark(s, column);
        lks_buf_pad(s->out, ' ', column);
        if (doc->kind == LKS_DOC_MAP) {
            put_string(s, order[i]->key, false);
            lks_buf_addc(s->out, ':');
        } else {
            lks_buf_addc(s->out, '-');
        }
        put_block(s, order[i], column + s->indent);
    }
}

static void add_returns(struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf plain = *out;
    lks_buf_init(out, plain.max);
    for (size_t i = 0; i < plain.len; i++) {
        if (plain.ptr[i] == '\n')
            lks_buf_addc(out, '\r');
        lks_buf_addc(out, plain.ptr[i]);
    }
}

void lks_test_stack_spell(const struct lks_docs *stack, struct lks_rng *rng, struct lks_buf *out)
{
    struct lks_err err = {0};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs extra = {0};
    LKS_ASSERT(lks_docs_init(&extra, "spelled", &err) == LKS_OK);
    lks_buf_init(out, 1024 * 1024);
    struct speller s = {.rng = rng, .out = out, .extra = extra};
    s.json = maybe(&s, 20);
    s.indent = 1 + (int)lks_rng_below(rng, 6);
    struct lks_doc *top = clone(&s, NULL, stack->first);
    decorate(&s, top);
    if (s.json) {
        put_flow(&s, top);
    } else {
        lks_buf_add(out, LKS_STR("# a stack\n---"));
        put_block(&s, top, 0);
        lks_buf_add(out, maybe(&s, 20) ? LKS_STR("...\n") : LKS_STR(""));
    }
    if (maybe(&s, 20))
        add_returns(out);
    extra = s.extra;
    LKS_ASSERT(lks_buf_check(out, &err) == LKS_OK);
}
