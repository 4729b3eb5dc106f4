#include "codec/machine/grub_text.h"

bool lks_grub_is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Variables ---------------------------------------------------------------------------------- */

/* What GRUB sets by itself, arguments of functions among it. All features a script asks for are
 * those of the GRUB that made it. */
static bool set_at_boot(struct lks_str name)
{
    static const char *const names[] = {
        "prefix",        "root",     "cmdpath", "config_file", "config_directory",
        "grub_platform", "grub_cpu", "chosen",  "lang",        "locale_dir"};
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        if (lks_str_is(name, names[i]))
            return true;
    }
    return lks_str_starts(name, "net_") || lks_str_starts(name, "pxe_") ||
           (name.ptr[0] >= '0' && name.ptr[0] <= '9');
}

struct lks_grub_word lks_grub_value(const struct lks_grub_text *t, struct lks_str name)
{
    for (size_t i = 0; i < t->var_count; i++) {
        if (lks_str_eq(t->vars[i].name, name))
            return t->vars[i].value;
    }
    if (lks_str_starts(name, "feature_"))
        return (struct lks_grub_word){.text = LKS_STR("y")};
    return (struct lks_grub_word){.unknown = set_at_boot(name)};
}

enum lks_code lks_grub_assign(struct lks_grub_text *t, struct lks_str name,
                              struct lks_grub_word value, struct lks_err *err)
{
    for (size_t i = 0; i < t->var_count; i++) {
        if (lks_str_eq(t->vars[i].name, name)) {
            t->vars[i].value = value;
            return LKS_OK;
        }
    }
    if (t->var_count == LKS_BOOT_VARS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d variables", LKS_BOOT_VARS_MAX);
    t->vars[t->var_count++] = (struct lks_grub_var){name, value};
    return LKS_OK;
}

/* Words -------------------------------------------------------------------------------------- */

struct making {
    char *bytes;
    size_t len, room, known_from;
    bool unknown, quoted, failed;
};

static void put(struct lks_grub_text *t, struct making *m, struct lks_str bytes)
{
    if (m->len + bytes.len > m->room) {
        size_t room = 2 * (m->len + bytes.len) + 32;
        char *fresh = lks_arena_alloc(t->arena, room);
        if (fresh == NULL) {
            m->failed = true;
            return;
        }
        if (m->len > 0)
            memcpy(fresh, m->bytes, m->len);
        m->bytes = fresh;
        m->room = room;
    }
    if (bytes.len > 0)
        memcpy(m->bytes + m->len, bytes.ptr, bytes.len);
    m->len += bytes.len;
}

static char take(struct lks_grub_text *t)
{
    char c = t->rest.ptr[0];
    t->rest = (struct lks_str){t->rest.ptr + 1, t->rest.len - 1};
    return c;
}

static bool next_is(const struct lks_grub_text *t, char c)
{
    return t->rest.len > 0 && t->rest.ptr[0] == c;
}

/* Behind a '$': NAME, {NAME}, or one character such as '?', which only a run can tell. */
static void put_variable(struct lks_grub_text *t, struct making *m)
{
    bool braces = next_is(t, '{');
    if (braces)
        (void)take(t);
    size_t n = 0;
    while (n < t->rest.len && lks_grub_is_name(t->rest.ptr[n]))
        n++;
    struct lks_str name = {t->rest.ptr, n};
    t->rest = (struct lks_str){t->rest.ptr + n, t->rest.len - n};
    if (n == 0 && t->rest.len > 0 && !braces && !is_blank(t->rest.ptr[0]) && !next_is(t, '\n') &&
        !next_is(t, '"'))
        (void)take(t);
    if (braces && next_is(t, '}'))
        (void)take(t);
    struct lks_grub_word value =
        n > 0 ? lks_grub_value(t, name) : (struct lks_grub_word){.unknown = true};
    put(t, m, value.text);
    m->unknown = m->unknown || value.unknown;
    m->known_from = value.unknown ? m->len : m->known_from;
}

static void put_quoted(struct lks_grub_text *t, struct making *m, char quote)
{
    m->quoted = true;
    while (t->rest.len > 0) {
        char c = take(t);
        if (c == quote)
            return;
        if (quote == '"' && c == '$') {
            put_variable(t, m);
            continue;
        }
        bool escape = quote == '"' && c == '\\' && t->rest.len > 0 &&
                      strchr("$\"\\", t->rest.ptr[0]) != NULL && t->rest.ptr[0] != '\0';
        if (escape)
            c = take(t);
        put(t, m, (struct lks_str){&c, 1});
    }
}

/* Braces are words of their own, wherever they stand. */
static bool ends_word(char c)
{
    return is_blank(c) || c == '\n' || c == ';' || c == '{' || c == '}';
}

static void read_word(struct lks_grub_text *t, struct making *m)
{
    if (next_is(t, '{') || next_is(t, '}')) {
        char brace = take(t);
        put(t, m, (struct lks_str){&brace, 1});
        return;
    }
    while (t->rest.len > 0 && !ends_word(t->rest.ptr[0])) {
        char c = take(t);
        if (c == '\'' || c == '"') {
            put_quoted(t, m, c);
        } else if (c == '$') {
            put_variable(t, m);
        } else {
            if (c == '\\' && t->rest.len > 0)
                c = take(t);
            if (c != '\n')
                put(t, m, (struct lks_str){&c, 1});
        }
    }
}

static void skip_blanks(struct lks_grub_text *t)
{
    for (;;) {
        if (t->rest.len > 0 && is_blank(t->rest.ptr[0])) {
            (void)take(t);
        } else if (t->rest.len > 1 && t->rest.ptr[0] == '\\' && t->rest.ptr[1] == '\n') {
            (void)take(t);
            (void)take(t);
        } else {
            break;
        }
    }
    if (next_is(t, '#')) {
        while (t->rest.len > 0 && !next_is(t, '\n'))
            (void)take(t);
    }
}

static bool stands_alone(struct lks_str word)
{
    static const char *const words[] = {"{", "}", "then", "else", "fi", "do", "done"};
    for (size_t i = 0; i < LKS_COUNT(words); i++) {
        if (lks_str_is(word, words[i]))
            return true;
    }
    return false;
}

enum lks_code lks_grub_read(struct lks_grub_text *t, struct lks_err *err)
{
    t->count = 0;
    while (t->rest.len > 0) {
        skip_blanks(t);
        if (t->rest.len == 0)
            break;
        if (next_is(t, '\n') || next_is(t, ';')) {
            (void)take(t);
            if (t->count > 0)
                break;
            continue;
        }
        if (next_is(t, '}') && t->count > 0)
            break; /* a command of its own */
        struct making m = {0};
        read_word(t, &m);
        if (m.failed)
            return lks_arena_fail(t->arena, err);
        if (m.len == 0 && !m.quoted && !m.unknown)
            continue;
        struct lks_grub_word word = {{m.bytes, m.len}, m.unknown, m.known_from};
        if (t->count < LKS_BOOT_WORDS_MAX)
            t->words[t->count++] = word;
        bool first = t->count == 1 || lks_str_is(word.text, "{");
        if (first && !m.quoted && stands_alone(word.text))
            break;
    }
    return LKS_OK;
}
