#include "codec/bootcfg.h"

/* Truth as far as it is known before the boot. */
enum truth { NO, YES, MAYBE };

struct word {
    struct lks_str text; /* unknown parts left out */
    bool unknown;        /* some of it is only known at boot */
};

struct var {
    struct lks_str name;
    struct word value;
};

struct entry {
    struct lks_str title, id, kernel;
    size_t parent; /* index + 1 of the submenu it is in; 0: the menu */
    bool submenu;
    bool maybe;     /* only known at boot whether it is there */
    bool ambiguous; /* starts one of several kernels */
};

/* An open `if`, loop or submenu. */
struct block {
    enum { IF, LOOP, SUBMENU } kind;
    enum truth outer; /* whether the block as a whole is run */
    enum truth now;   /* whether the present branch is */
    enum truth taken; /* whether one of its branches was or is */
    size_t menu;      /* the menu outside of it */
};

struct script {
    struct lks_str rest;
    struct lks_arena *arena;
    struct lks_str env;
    const struct lks_boot_entry *bls;
    size_t bls_count;

    struct word words[LKS_BOOT_WORDS_MAX]; /* of the present command */
    size_t count;

    struct var *vars;
    size_t var_count;
    struct entry *entries;
    size_t entry_count;
    struct block blocks[LKS_BOOT_DEPTH_MAX];
    size_t depth;
    size_t menu; /* index + 1 of the submenu we are in */
};

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Variables ---------------------------------------------------------------------------------- */

/* What GRUB sets by itself. All features a script asks for are those of the GRUB that made it. */
static bool set_at_boot(struct lks_str name)
{
    static const char *const names[] = {
        "prefix",        "root",     "cmdpath", "config_file", "config_directory",
        "grub_platform", "grub_cpu", "chosen",  "lang",        "locale_dir"};
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        if (lks_str_is(name, names[i]))
            return true;
    }
    return lks_str_starts(name, "net_") || lks_str_starts(name, "pxe_");
}

static struct word value_of(const struct script *s, struct lks_str name)
{
    for (size_t i = 0; i < s->var_count; i++) {
        if (lks_str_eq(s->vars[i].name, name))
            return s->vars[i].value;
    }
    if (lks_str_starts(name, "feature_"))
        return (struct word){LKS_STR("y"), false};
    return (struct word){.unknown = set_at_boot(name)};
}

static enum lks_code assign(struct script *s, struct lks_str name, struct word value,
                            struct lks_err *err)
{
    for (size_t i = 0; i < s->var_count; i++) {
        if (lks_str_eq(s->vars[i].name, name)) {
            s->vars[i].value = value;
            return LKS_OK;
        }
    }
    if (s->var_count == LKS_BOOT_VARS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d variables", LKS_BOOT_VARS_MAX);
    s->vars[s->var_count++] = (struct var){name, value};
    return LKS_OK;
}

/* The environment block is loaded first of all. */
static enum lks_code load_env(struct script *s, struct lks_err *err)
{
    struct lks_str env = s->env;
    for (bool more = true; more;) {
        struct lks_str line, key, value;
        more = lks_str_cut(env, '\n', &line, &env);
        if (line.len == 0 || line.ptr[0] == '#' || !lks_str_cut(line, '=', &key, &value))
            continue;
        if (assign(s, key, (struct word){value, false}, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* Words -------------------------------------------------------------------------------------- */

struct making {
    char *bytes;
    size_t len, room;
    bool unknown, quoted, failed;
};

static void put(struct script *s, struct making *m, struct lks_str bytes)
{
    if (m->len + bytes.len > m->room) {
        size_t room = 2 * (m->len + bytes.len) + 32;
        char *fresh = lks_arena_alloc(s->arena, room);
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

static char take(struct script *s)
{
    char c = s->rest.ptr[0];
    s->rest = (struct lks_str){s->rest.ptr + 1, s->rest.len - 1};
    return c;
}

static bool next_is(const struct script *s, char c)
{
    return s->rest.len > 0 && s->rest.ptr[0] == c;
}

/* Behind a '$': NAME, {NAME}, or one character such as '?', which only a run can tell. */
static void put_variable(struct script *s, struct making *m)
{
    bool braces = next_is(s, '{');
    if (braces)
        (void)take(s);
    size_t n = 0;
    while (n < s->rest.len && is_name(s->rest.ptr[n]))
        n++;
    struct lks_str name = {s->rest.ptr, n};
    s->rest = (struct lks_str){s->rest.ptr + n, s->rest.len - n};
    if (n == 0 && s->rest.len > 0 && !braces && !is_blank(s->rest.ptr[0]) && !next_is(s, '\n') &&
        !next_is(s, '"'))
        (void)take(s);
    if (braces && next_is(s, '}'))
        (void)take(s);
    struct word value = n > 0 ? value_of(s, name) : (struct word){.unknown = true};
    m->unknown = m->unknown || value.unknown;
    put(s, m, value.text);
}

static void put_quoted(struct script *s, struct making *m, char quote)
{
    m->quoted = true;
    while (s->rest.len > 0) {
        char c = take(s);
        if (c == quote)
            return;
        if (quote == '"' && c == '$') {
            put_variable(s, m);
            continue;
        }
        bool escape = quote == '"' && c == '\\' && s->rest.len > 0 &&
                      strchr("$\"\\", s->rest.ptr[0]) != NULL && s->rest.ptr[0] != '\0';
        if (escape)
            c = take(s);
        put(s, m, (struct lks_str){&c, 1});
    }
}

static void read_word(struct script *s, struct making *m)
{
    if (next_is(s, '{') || next_is(s, '}')) {
        char brace = take(s);
        put(s, m, (struct lks_str){&brace, 1});
        return;
    }
    while (s->rest.len > 0 && !is_blank(s->rest.ptr[0]) && !next_is(s, '\n') && !next_is(s, ';')) {
        char c = take(s);
        if (c == '\'' || c == '"') {
            put_quoted(s, m, c);
        } else if (c == '$') {
            put_variable(s, m);
        } else {
            if (c == '\\' && s->rest.len > 0)
                c = take(s);
            if (c != '\n')
                put(s, m, (struct lks_str){&c, 1});
        }
    }
}

static void skip_blanks(struct script *s)
{
    for (;;) {
        if (s->rest.len > 0 && is_blank(s->rest.ptr[0])) {
            (void)take(s);
        } else if (s->rest.len > 1 && s->rest.ptr[0] == '\\' && s->rest.ptr[1] == '\n') {
            (void)take(s);
            (void)take(s);
        } else {
            break;
        }
    }
    if (next_is(s, '#')) {
        while (s->rest.len > 0 && !next_is(s, '\n'))
            (void)take(s);
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

/* The words up to the end of the line, a ';', or a word that ends a command by itself. Words past
 * the limit are read and forgotten. None at the end of the script. */
static enum lks_code read_command(struct script *s, struct lks_err *err)
{
    s->count = 0;
    while (s->rest.len > 0) {
        skip_blanks(s);
        if (s->rest.len == 0)
            break;
        if (next_is(s, '\n') || next_is(s, ';')) {
            (void)take(s);
            if (s->count > 0)
                break;
            continue;
        }
        struct making m = {0};
        read_word(s, &m);
        if (m.failed)
            return lks_arena_fail(s->arena, err);
        if (m.len == 0 && !m.quoted && !m.unknown)
            continue;
        struct word word = {{m.bytes, m.len}, m.unknown};
        if (s->count < LKS_BOOT_WORDS_MAX)
            s->words[s->count++] = word;
        bool first = s->count == 1 || lks_str_is(word.text, "{");
        if (first && !m.quoted && stands_alone(word.text))
            break;
    }
    return LKS_OK;
}

static bool command_is(const struct script *s, const char *name)
{
    return s->count > 0 && lks_str_is(s->words[0].text, name);
}

static bool opens_block(const struct script *s)
{
    return s->count > 0 && lks_str_is(s->words[s->count - 1].text, "{");
}

/* Conditions --------------------------------------------------------------------------------- */

static enum truth both(enum truth a, enum truth b)
{
    if (a == NO || b == NO)
        return NO;
    return a == YES && b == YES ? YES : MAYBE;
}

static enum truth opposite(enum truth a)
{
    return a == MAYBE ? MAYBE : a == YES ? NO : YES;
}

static enum truth either(enum truth a, enum truth b)
{
    return opposite(both(opposite(a), opposite(b)));
}

static enum truth truth_of(bool yes)
{
    return yes ? YES : NO;
}

/* Of files only the environment block is known, wherever GRUB finds it. */
static enum truth file_test(const struct script *s, struct lks_str path)
{
    static const char name[] = "/grubenv";
    size_t len = sizeof(name) - 1;
    if (path.len < len || memcmp(path.ptr + path.len - len, name, len) != 0)
        return MAYBE;
    return truth_of(s->env.len > 0);
}

static enum truth primary(const struct script *s, const struct word *w, size_t n)
{
    if (n > 1 && lks_str_is(w[0].text, "!"))
        return opposite(primary(s, w + 1, n - 1));
    if (n == 2 &&
        (lks_str_is(w[0].text, "-s") || lks_str_is(w[0].text, "-f") || lks_str_is(w[0].text, "-e")))
        return file_test(s, w[1].text);
    for (size_t i = 0; i < n; i++) {
        if (w[i].unknown)
            return MAYBE;
    }
    if (n <= 1)
        return truth_of(n == 1 && w[0].text.len > 0);
    if (n == 2 && lks_str_is(w[0].text, "-n"))
        return truth_of(w[1].text.len > 0);
    if (n == 2 && lks_str_is(w[0].text, "-z"))
        return truth_of(w[1].text.len == 0);
    if (n == 3 && (lks_str_is(w[1].text, "=") || lks_str_is(w[1].text, "==")))
        return truth_of(lks_str_eq(w[0].text, w[2].text));
    if (n == 3 && lks_str_is(w[1].text, "!="))
        return truth_of(!lks_str_eq(w[0].text, w[2].text));
    return MAYBE;
}

/* Tests joined by -a, those joined by -o. */
static enum truth evaluate(const struct script *s, const struct word *w, size_t n)
{
    enum truth any = NO, all = YES;
    size_t from = 0;
    for (size_t i = 0; i <= n; i++) {
        bool end = i == n, other = !end && lks_str_is(w[i].text, "-o");
        if (!end && !other && !lks_str_is(w[i].text, "-a"))
            continue;
        all = both(all, primary(s, w + from, i - from));
        from = i + 1;
        if (end || other) {
            any = either(any, all);
            all = YES;
        }
    }
    return any;
}

/* Of `if` and `elif`, whose command is a test or something only a boot can tell. */
static enum truth condition(const struct script *s)
{
    size_t n = s->count;
    if (n < 3 || n == LKS_BOOT_WORDS_MAX || !lks_str_is(s->words[1].text, "[") ||
        !lks_str_is(s->words[n - 1].text, "]"))
        return MAYBE;
    for (size_t i = 2; i + 1 < n; i++) {
        if (lks_str_is(s->words[i].text, "]"))
            return MAYBE;
    }
    return evaluate(s, s->words + 2, n - 3);
}

/* Running ------------------------------------------------------------------------------------ */

static enum truth running(const struct script *s)
{
    return s->depth > 0 ? s->blocks[s->depth - 1].now : YES;
}

static enum lks_code push(struct script *s, struct block block, struct lks_err *err)
{
    if (s->depth == LKS_BOOT_DEPTH_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d blocks within each other",
                        LKS_BOOT_DEPTH_MAX);
    s->blocks[s->depth++] = block;
    return LKS_OK;
}

static enum lks_code unmatched(const struct script *s, struct lks_err *err)
{
    return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' without its beginning",
                    LKS_STR_ARG(s->words[0].text));
}

static enum lks_code begin_if(struct script *s, struct lks_err *err)
{
    enum truth outer = running(s), yes = condition(s);
    return push(s, (struct block){IF, outer, both(outer, yes), yes, s->menu}, err);
}

/* `elif` and `else` */
static enum lks_code other_branch(struct script *s, struct lks_err *err)
{
    struct block *top = s->depth > 0 ? &s->blocks[s->depth - 1] : NULL;
    if (top == NULL || top->kind != IF)
        return unmatched(s, err);
    enum truth yes = command_is(s, "else") ? YES : condition(s);
    top->now = both(top->outer, both(opposite(top->taken), yes));
    top->taken = either(top->taken, yes);
    return LKS_OK;
}

static enum lks_code begin_loop(struct script *s, struct lks_err *err)
{
    enum truth outer = running(s);
    return push(s, (struct block){LOOP, outer, both(outer, MAYBE), MAYBE, s->menu}, err);
}

static enum lks_code end_block(struct script *s, struct lks_err *err)
{
    struct block *top = s->depth > 0 ? &s->blocks[s->depth - 1] : NULL;
    const char *const ends[] = {[IF] = "fi", [LOOP] = "done", [SUBMENU] = "}"};
    if (top == NULL || !command_is(s, ends[top->kind]))
        return unmatched(s, err);
    s->menu = top->menu;
    s->depth--;
    return LKS_OK;
}

/* Read over the commands up to the brace that closes the one just opened. Of a menu entry they say
 * which kernel it starts. */
static enum lks_code read_body(struct script *s, struct entry *e, struct lks_err *err)
{
    for (size_t depth = 1; depth > 0;) {
        if (read_command(s, err) != LKS_OK)
            return err->code;
        if (s->count == 0)
            return lks_fail(err, LKS_E_INVALID, "a block that never ends");
        if (command_is(s, "}"))
            depth--;
        else if (opens_block(s))
            depth++;
        bool kernel =
            command_is(s, "linux") || command_is(s, "linux16") || command_is(s, "linuxefi");
        if (e == NULL || !kernel || s->count < 2)
            continue;
        e->ambiguous =
            e->ambiguous || (e->kernel.len > 0 && !lks_str_eq(e->kernel, s->words[1].text));
        e->kernel = s->words[1].text;
    }
    return LKS_OK;
}

static enum lks_code add_entry(struct script *s, const struct entry *e, struct lks_err *err)
{
    if (s->entry_count == LKS_BOOT_ENTRIES_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d entries", LKS_BOOT_ENTRIES_MAX);
    s->entries[s->entry_count++] = *e;
    return LKS_OK;
}

/* menuentry TITLE [--class X] [--id ID] ... { */
static void entry_names(const struct script *s, struct entry *e)
{
    static const char *const with_value[] = {"--id", "--class", "--users", "--hotkey", "--source"};
    for (size_t i = 1; i < s->count; i++) {
        struct lks_str word = s->words[i].text;
        bool value = false;
        for (size_t k = 0; k < LKS_COUNT(with_value); k++)
            value = value || lks_str_is(word, with_value[k]);
        if (value && i + 1 < s->count) {
            i++;
            e->id = lks_str_is(word, "--id") ? s->words[i].text : e->id;
        } else if (e->title.len == 0 && !lks_str_starts(word, "--") && !lks_str_is(word, "{")) {
            e->title = word;
        }
    }
}

static enum lks_code begin_entry(struct script *s, struct lks_err *err)
{
    enum truth now = running(s);
    struct entry e = {
        .parent = s->menu, .submenu = command_is(s, "submenu"), .maybe = now == MAYBE};
    if (!opens_block(s))
        return lks_fail(err, LKS_E_INVALID, "a menu entry without its block");
    entry_names(s, &e);
    if (!e.submenu && read_body(s, &e, err) != LKS_OK)
        return err->code;
    if (now != NO && add_entry(s, &e, err) != LKS_OK)
        return err->code;
    if (!e.submenu)
        return LKS_OK;
    /* Its entries are there if it is there at all. */
    struct block block = {SUBMENU, now, now == NO ? NO : YES, YES, s->menu};
    s->menu = now == NO ? s->menu : s->entry_count;
    return push(s, block, err);
}

static enum lks_code add_bls(struct script *s, struct lks_err *err)
{
    for (size_t i = 0; i < s->bls_count; i++) {
        const struct lks_boot_entry *b = &s->bls[i];
        struct entry e = {b->title, b->id, b->kernel, s->menu, false, running(s) == MAYBE, false};
        if (add_entry(s, &e, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* NAME=VALUE, perhaps behind `set`. Which value it has is only known at boot where it is only known
 * then whether it is set. A submenu's own settings are not those of the menu. */
static enum lks_code set_variable(struct script *s, const struct word *w, struct lks_err *err)
{
    struct lks_str name, value;
    if (s->menu != 0 || !lks_str_cut(w->text, '=', &name, &value) || name.len == 0)
        return LKS_OK;
    for (size_t i = 0; i < name.len; i++) {
        if (!is_name(name.ptr[i]))
            return LKS_OK;
    }
    struct word fresh = {value, w->unknown}, old = value_of(s, name);
    if (running(s) == MAYBE && (old.unknown || !lks_str_eq(old.text, value)))
        fresh.unknown = true;
    return assign(s, name, fresh, err);
}

static enum lks_code unset_variable(struct script *s, struct lks_err *err)
{
    if (s->menu != 0 || s->count < 2)
        return LKS_OK;
    return assign(s, s->words[1].text, (struct word){.unknown = running(s) == MAYBE}, err);
}

/* `for NAME in ...`: which of them it is changes from round to round. */
static enum lks_code loop_variable(struct script *s, struct lks_err *err)
{
    if (s->menu != 0 || s->count < 2)
        return LKS_OK;
    return assign(s, s->words[1].text, (struct word){.unknown = true}, err);
}

static enum lks_code run_command(struct script *s, struct lks_err *err)
{
    static const struct {
        const char *name;
        enum lks_code (*run)(struct script *s, struct lks_err *err);
        bool always; /* also where the script does not come by */
    } commands[] = {
        {"if", begin_if, true},           {"elif", other_branch, true},
        {"else", other_branch, true},     {"fi", end_block, true},
        {"do", begin_loop, true},         {"done", end_block, true},
        {"}", end_block, true},           {"menuentry", begin_entry, true},
        {"submenu", begin_entry, true},   {"blscfg", add_bls, false},
        {"unset", unset_variable, false}, {"for", loop_variable, false},
    };
    for (size_t i = 0; i < LKS_COUNT(commands); i++) {
        if (command_is(s, commands[i].name))
            return commands[i].always || running(s) != NO ? commands[i].run(s, err) : LKS_OK;
    }
    if (opens_block(s))
        return read_body(s, NULL, err);
    if (running(s) == NO)
        return LKS_OK;
    if (command_is(s, "configfile"))
        return lks_fail(err, LKS_E_REFUSED, "it hands over to another file");
    bool set = command_is(s, "set") && s->count > 1;
    return set_variable(s, &s->words[set ? 1 : 0], err);
}

/* Choosing ----------------------------------------------------------------------------------- */

/* Whether the first part of `wanted` is `name`. A '>' parts a submenu from what is in it; two stand
 * for one that belongs to the name. */
static bool part_is(struct lks_str name, struct lks_str wanted)
{
    size_t n = 0;
    for (size_t i = 0; i < wanted.len; i++, n++) {
        bool mark = wanted.ptr[i] == '>';
        bool doubled = mark && i + 1 < wanted.len && wanted.ptr[i + 1] == '>';
        if (mark && !doubled)
            break;
        i += doubled;
        if (n >= name.len || name.ptr[n] != wanted.ptr[i])
            return false;
    }
    return n == name.len && n > 0;
}

static struct lks_str after_part(struct lks_str wanted)
{
    for (size_t i = 0; i < wanted.len; i++) {
        if (wanted.ptr[i] != '>')
            continue;
        if (i + 1 < wanted.len && wanted.ptr[i + 1] == '>')
            i++;
        else
            return (struct lks_str){wanted.ptr + i + 1, wanted.len - i - 1};
    }
    return (struct lks_str){0};
}

/* The entry of the menu `parent` that `wanted` names, by its place or by its name; as GRUB does,
 * the first when it names none. */
static enum lks_code find_entry(const struct script *s, size_t parent, struct lks_str wanted,
                                const struct entry **out, struct lks_err *err)
{
    struct lks_str digits;
    uint64_t place = UINT64_MAX, at = 0;
    (void)lks_str_cut(wanted, '>', &digits, &(struct lks_str){0});
    bool by_place = lks_str_number(digits, UINT32_MAX, &place);
    const struct entry *first = NULL, *found = NULL;
    bool shaky = false; /* an entry before it may be there or not */
    for (size_t i = 0; i < s->entry_count && found == NULL; i++) {
        const struct entry *e = &s->entries[i];
        if (e->parent != parent)
            continue;
        first = first != NULL ? first : e;
        if (by_place ? at == place : part_is(e->title, wanted) || part_is(e->id, wanted))
            found = e;
        else
            shaky = shaky || e->maybe;
        at++;
    }
    if (first == NULL)
        return lks_fail(err, LKS_E_NOT_FOUND, "a menu without entries");
    const struct entry *e = found != NULL ? found : first;
    if (e->maybe || (by_place && found != NULL && shaky))
        return lks_fail(err, LKS_E_REFUSED,
                        "only known at boot whether '%" LKS_STR_FMT "' is the entry",
                        LKS_STR_ARG(e->title));
    *out = e;
    return LKS_OK;
}

static enum lks_code choose(const struct script *s, struct lks_grub_choice *out,
                            struct lks_err *err)
{
    struct word wanted = value_of(s, LKS_STR("default"));
    if (wanted.unknown)
        return lks_fail(err, LKS_E_REFUSED, "which entry is the default is only known at boot");
    const struct entry *e = NULL;
    struct lks_str rest = wanted.text;
    for (size_t menu = 0; e == NULL || e->submenu;) {
        if (find_entry(s, menu, rest, &e, err) != LKS_OK)
            return err->code;
        menu = (size_t)(e - s->entries) + 1;
        rest = after_part(rest);
    }
    if (e->ambiguous)
        return lks_fail(err, LKS_E_REFUSED,
                        "only known at boot which kernel '%" LKS_STR_FMT "' starts",
                        LKS_STR_ARG(e->title));
    struct lks_str next = lks_grub_env(s->env, LKS_STR("next_entry"));
    *out = (struct lks_grub_choice){wanted.text, e->title, e->kernel,
                                    next.len > 0 && lks_str_eq(next, wanted.text)};
    return LKS_OK;
}

enum lks_code lks_grub_default(struct lks_str cfg, struct lks_str env,
                               const struct lks_boot_entry *bls, size_t bls_count,
                               struct lks_arena *arena, struct lks_grub_choice *out,
                               struct lks_err *err)
{
    if (cfg.len > LKS_BOOT_CFG_MAX)
        return lks_fail(err, LKS_E_LIMIT, "larger than %zu bytes", LKS_BOOT_CFG_MAX);
    struct script *s = lks_arena_alloc(arena, sizeof(*s));
    if (s == NULL)
        return lks_arena_fail(arena, err);
    *s = (struct script){
        .rest = cfg, .arena = arena, .env = env, .bls = bls, .bls_count = bls_count};
    s->vars = lks_arena_array(arena, LKS_BOOT_VARS_MAX, sizeof(*s->vars));
    s->entries = lks_arena_array(arena, LKS_BOOT_ENTRIES_MAX, sizeof(*s->entries));
    if (s->vars == NULL || s->entries == NULL)
        return lks_arena_fail(arena, err);
    if (load_env(s, err) != LKS_OK)
        return err->code;
    for (bool more = true; more;) {
        if (read_command(s, err) != LKS_OK)
            return err->code;
        more = s->count > 0;
        if (more && run_command(s, err) != LKS_OK)
            return err->code;
    }
    if (s->depth > 0)
        return lks_fail(err, LKS_E_INVALID, "a block that never ends");
    return choose(s, out, err);
}
