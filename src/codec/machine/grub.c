#include "base/buf.h"
#include "codec/machine/grub_text.h"

/* Truth as far as it is known before the boot. */
enum truth { NO, YES, MAYBE };

struct entry {
    struct lks_str title, id, kernel;
    struct lks_str body; /* its commands, run when it is chosen; empty where `kernel` says it all */
    size_t parent;       /* index + 1 of the submenu it is in; 0: the menu */
    bool submenu;
    bool maybe;     /* only known at boot whether it is there */
    bool ambiguous; /* starts one of several kernels */
};

struct function {
    struct lks_str name, body;
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
    struct lks_grub_text text;
    struct lks_str env;
    const struct lks_boot_entry *bls;
    size_t bls_count;

    struct entry *entries;
    size_t entry_count;
    struct function functions[LKS_BOOT_FUNCTIONS_MAX];
    size_t function_count;
    size_t read_again; /* bytes of bodies that were read because something runs them */
    struct block blocks[LKS_BOOT_DEPTH_MAX];
    size_t depth;
    size_t menu; /* index + 1 of the submenu we are in */
};

/* The environment block is loaded first of all. */
static enum lks_code load_env(struct script *s, struct lks_err *err)
{
    struct lks_str env = s->env;
    for (bool more = true; more;) {
        struct lks_str line, key, value;
        more = lks_str_cut(env, '\n', &line, &env);
        if (line.len == 0 || line.ptr[0] == '#' || !lks_str_cut(line, '=', &key, &value))
            continue;
        if (lks_grub_assign(&s->text, key, (struct lks_grub_word){.text = value}, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

static bool command_is(const struct script *s, const char *name)
{
    return s->text.count > 0 && lks_str_is(s->text.words[0].text, name);
}

static bool opens_block(const struct script *s)
{
    return s->text.count > 0 && lks_str_is(s->text.words[s->text.count - 1].text, "{");
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
    return lks_str_ends(path, "/grubenv") ? truth_of(s->env.len > 0) : MAYBE;
}

static enum truth primary(const struct script *s, const struct lks_grub_word *w, size_t n)
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
static enum truth evaluate(const struct script *s, const struct lks_grub_word *w, size_t n)
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
    size_t n = s->text.count;
    if (n < 3 || n == LKS_BOOT_WORDS_MAX || !lks_str_is(s->text.words[1].text, "[") ||
        !lks_str_is(s->text.words[n - 1].text, "]"))
        return MAYBE;
    for (size_t i = 2; i + 1 < n; i++) {
        if (lks_str_is(s->text.words[i].text, "]"))
            return MAYBE;
    }
    return evaluate(s, s->text.words + 2, n - 3);
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
                    LKS_STR_ARG(s->text.words[0].text));
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

/* Read over the commands up to the brace that closes the block just opened. */
static enum lks_code skip_body(struct script *s, struct lks_str *body, struct lks_err *err)
{
    const char *begin = s->text.rest.ptr;
    for (size_t depth = 1; depth > 0;) {
        if (lks_grub_read(&s->text, err) != LKS_OK)
            return err->code;
        if (s->text.count == 0)
            return lks_fail(err, LKS_E_INVALID, "a block that never ends");
        if (command_is(s, "}"))
            depth--;
        else if (opens_block(s))
            depth++;
    }
    *body = (struct lks_str){begin, (size_t)(s->text.rest.ptr - begin) - 1};
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
    for (size_t i = 1; i < s->text.count; i++) {
        struct lks_str word = s->text.words[i].text;
        bool value = false;
        for (size_t k = 0; k < LKS_COUNT(with_value); k++)
            value = value || lks_str_is(word, with_value[k]);
        if (value && i + 1 < s->text.count) {
            i++;
            e->id = lks_str_is(word, "--id") ? s->text.words[i].text : e->id;
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
    if (!e.submenu && skip_body(s, &e.body, err) != LKS_OK)
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
        struct entry e = {.title = b->title,
                          .id = b->id,
                          .kernel = b->kernel,
                          .parent = s->menu,
                          .maybe = running(s) == MAYBE};
        if (add_entry(s, &e, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* Whether a word sets a variable, and which. */
static bool assignment(struct lks_str word, struct lks_str *name, struct lks_str *value)
{
    if (!lks_str_cut(word, '=', name, value))
        return false;
    for (size_t i = 0; i < name->len; i++) {
        if (!lks_grub_is_name(name->ptr[i]))
            return false;
    }
    return name->len > 0;
}

/* NAME=VALUE, perhaps behind `set`. Which value it has is only known at boot where it is only known
 * then whether it is set. A submenu's own settings are not those of the menu. */
static enum lks_code set_variable(struct script *s, const struct lks_grub_word *w,
                                  struct lks_err *err)
{
    struct lks_str name, value;
    if (s->menu != 0 || !assignment(w->text, &name, &value))
        return LKS_OK;
    struct lks_grub_word fresh = {.text = value, .unknown = w->unknown},
                         old = lks_grub_value(&s->text, name);
    if (running(s) == MAYBE && (old.unknown || !lks_str_eq(old.text, value)))
        fresh.unknown = true;
    return lks_grub_assign(&s->text, name, fresh, err);
}

static enum lks_code unset_variable(struct script *s, struct lks_err *err)
{
    if (s->menu != 0 || s->text.count < 2)
        return LKS_OK;
    return lks_grub_assign(&s->text, s->text.words[1].text,
                           (struct lks_grub_word){.unknown = running(s) == MAYBE}, err);
}

/* From here on only the boot knows its value. */
static enum lks_code forget(struct script *s, struct lks_str name, struct lks_err *err)
{
    return s->menu == 0
               ? lks_grub_assign(&s->text, name, (struct lks_grub_word){.unknown = true}, err)
               : LKS_OK;
}

/* `for NAME in ...`: which of them it is changes from round to round. */
static enum lks_code loop_variable(struct script *s, struct lks_err *err)
{
    return s->text.count < 2 ? LKS_OK : forget(s, s->text.words[1].text, err);
}

/* `search --set=NAME` and its kin put what they find into a variable. */
static enum lks_code forget_results(struct script *s, struct lks_err *err)
{
    for (size_t i = 1; i < s->text.count; i++) {
        struct lks_str word = s->text.words[i].text, name, value;
        bool next = lks_str_is(word, "--set") || lks_str_is(word, "-s") ||
                    (i == 1 && command_is(s, "read"));
        if (lks_str_starts(word, "--set=") && lks_str_cut(word, '=', &name, &value))
            name = value;
        else if (next && command_is(s, "read"))
            name = word;
        else if (next && i + 1 < s->text.count)
            name = s->text.words[i + 1].text;
        else
            continue;
        /* regexp has NUMBER:NAME */
        if (lks_str_cut(name, ':', &value, &word))
            name = word;
        if (forget(s, name, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* Functions and bodies ------------------------------------------------------------------------ */

/* The word that names the command, behind `if`, `while` and the like. */
static size_t command_at(const struct script *s)
{
    static const char *const before[] = {"if", "elif", "while", "until", "!"};
    size_t at = 0;
    for (size_t i = 0; i < LKS_COUNT(before) && at + 1 < s->text.count; i++)
        at += lks_str_is(s->text.words[at].text, before[i]);
    return at;
}

/* What runs commands that are not in this text, and what of a function adds to the menu. */
static const struct foreign {
    const char *name;
    const char *why;
    bool adds; /* in its place it is understood */
} foreigns[] = {
    {"configfile", "it hands over to another file", false},
    {"legacy_configfile", "it hands over to another file", false},
    {"syslinux_configfile", "it hands over to another file", false},
    {"normal", "it hands over to another file", false},
    {"source", "it runs another file", false},
    {".", "it runs another file", false},
    {"legacy_source", "it runs another file", false},
    {"syslinux_source", "it runs another file", false},
    {"extract_entries_source", "it runs another file", false},
    {"extract_entries_configfile", "it runs another file", false},
    {"eval", "it runs commands that are put together at boot", false},
    {"menuentry", "a function adds to its menu", true},
    {"submenu", "a function adds to its menu", true},
    {"blscfg", "a function adds to its menu", true},
};

static const struct foreign *find_foreign(struct lks_str name)
{
    for (size_t i = 0; i < LKS_COUNT(foreigns); i++) {
        if (lks_str_is(name, foreigns[i].name))
            return &foreigns[i];
    }
    return NULL;
}

/* Files that may be run: custom.cfg, which our caller looks for, and where it may be missing
 * user.cfg, which is there for a password. */
static bool may_run(const struct script *s, size_t at)
{
    bool source =
        lks_str_is(s->text.words[at].text, "source") || lks_str_is(s->text.words[at].text, ".");
    if (!source || at + 1 >= s->text.count)
        return false;
    struct lks_str file = s->text.words[at + 1].text;
    return lks_str_ends(file, "/custom.cfg") ||
           (running(s) == MAYBE && lks_str_ends(file, "/user.cfg"));
}

static enum lks_code define(struct script *s, struct lks_err *err)
{
    struct function f = {.name = s->text.count > 1 ? s->text.words[1].text : (struct lks_str){0}};
    /* The brace may stand on a line of its own. */
    if (!opens_block(s) && lks_grub_read(&s->text, err) != LKS_OK)
        return err->code;
    if (!opens_block(s))
        return lks_fail(err, LKS_E_INVALID, "a function without its block");
    if (skip_body(s, &f.body, err) != LKS_OK)
        return err->code;
    if (running(s) == NO)
        return LKS_OK;
    if (s->function_count == LKS_BOOT_FUNCTIONS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d functions", LKS_BOOT_FUNCTIONS_MAX);
    s->functions[s->function_count++] = f;
    return LKS_OK;
}

/* The kernel of an entry. Which device it is on changes nothing about its name. */
static void take_kernel(struct entry *e, const struct lks_grub_word *path)
{
    struct lks_str device, rest;
    bool on_device =
        lks_str_starts(path->text, "(") && lks_str_cut(path->text, ')', &device, &rest);
    if (path->unknown && (!on_device || path->known_from > device.len))
        e->ambiguous = true;
    if (e->kernel.len > 0 && !lks_str_eq(e->kernel, path->text))
        e->ambiguous = true;
    e->kernel = path->text;
}

static enum lks_code call(struct script *s, struct lks_str name, struct entry *e, size_t depth,
                          struct lks_err *err);

/* A command of a function, or of the entry `e` or a function it calls: what it sets is forgotten,
 * as bodies are not followed. */
static enum lks_code weigh(struct script *s, struct entry *e, size_t depth, struct lks_err *err)
{
    size_t at = command_at(s);
    struct lks_str name = s->text.words[at].text, variable, value;
    const struct foreign *foreign = find_foreign(name);
    bool kernel =
        lks_str_is(name, "linux") || lks_str_is(name, "linux16") || lks_str_is(name, "linuxefi");
    if (foreign != NULL && e == NULL)
        return lks_fail(err, LKS_E_REFUSED, "%s", foreign->why);
    if (foreign != NULL)
        e->ambiguous = true;
    if (kernel && e != NULL && at + 1 < s->text.count)
        take_kernel(e, &s->text.words[at + 1]);
    bool set = lks_str_is(name, "set") && at + 1 < s->text.count;
    bool named = (lks_str_is(name, "unset") || lks_str_is(name, "for")) && at + 1 < s->text.count;
    if (assignment(s->text.words[set ? at + 1 : at].text, &variable, &value) &&
        forget(s, variable, err) != LKS_OK)
        return err->code;
    if ((named && forget(s, s->text.words[at + 1].text, err) != LKS_OK) ||
        forget_results(s, err) != LKS_OK)
        return err->code;
    return call(s, name, e, depth, err);
}

static enum lks_code read_body(struct script *s, struct lks_str body, struct entry *e, size_t depth,
                               struct lks_err *err)
{
    struct lks_str rest = s->text.rest;
    if (depth == LKS_BOOT_DEPTH_MAX || body.len > LKS_BOOT_CFG_MAX - s->read_again)
        return lks_fail(err, LKS_E_LIMIT, "functions that run too much");
    s->read_again += body.len;
    s->text.rest = body;
    enum lks_code code = lks_grub_read(&s->text, err);
    while (code == LKS_OK && s->text.count > 0) {
        code = weigh(s, e, depth, err);
        if (code == LKS_OK)
            code = lks_grub_read(&s->text, err);
    }
    s->text.rest = rest;
    return code;
}

/* Of functions with the same name any may be the one. */
static enum lks_code call(struct script *s, struct lks_str name, struct entry *e, size_t depth,
                          struct lks_err *err)
{
    for (size_t i = 0; i < s->function_count; i++) {
        if (lks_str_eq(s->functions[i].name, name) &&
            read_body(s, s->functions[i].body, e, depth + 1, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* The script ---------------------------------------------------------------------------------- */

static enum lks_code obey(struct script *s, struct lks_err *err)
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
        {"function", define, true},
    };
    for (size_t i = 0; i < LKS_COUNT(commands); i++) {
        if (command_is(s, commands[i].name))
            return commands[i].always || running(s) != NO ? commands[i].run(s, err) : LKS_OK;
    }
    if (opens_block(s))
        return skip_body(s, &(struct lks_str){0}, err);
    if (running(s) == NO)
        return LKS_OK;
    bool set = command_is(s, "set") && s->text.count > 1;
    return set_variable(s, &s->text.words[set ? 1 : 0], err);
}

/* One command, and what it leads to. */
static enum lks_code run_command(struct script *s, struct lks_err *err)
{
    size_t at = command_at(s);
    struct lks_str name = s->text.words[at].text;
    const struct foreign *foreign = find_foreign(name);
    bool refused = foreign != NULL && !foreign->adds && !may_run(s, at);
    if (obey(s, err) != LKS_OK)
        return err->code;
    if (running(s) == NO)
        return LKS_OK;
    if (refused)
        return lks_fail(err, LKS_E_REFUSED, "%s", foreign->why);
    if (forget_results(s, err) != LKS_OK)
        return err->code;
    return call(s, name, NULL, 0, err);
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

static enum lks_code choose(struct script *s, struct lks_grub_choice *out, struct lks_err *err)
{
    struct lks_grub_word wanted = lks_grub_value(&s->text, LKS_STR("default"));
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
    struct lks_str next = lks_bootcfg_grub_env(s->env, LKS_STR("next_entry"));
    struct entry taken = *e;
    if (taken.body.len > 0 && read_body(s, taken.body, &taken, 0, err) != LKS_OK)
        return err->code;
    if (taken.ambiguous)
        return lks_fail(err, LKS_E_REFUSED,
                        "only known at boot which kernel '%" LKS_STR_FMT "' starts",
                        LKS_STR_ARG(taken.title));
    *out = (struct lks_grub_choice){wanted.text, taken.title, taken.kernel,
                                    next.len > 0 && lks_str_eq(next, wanted.text)};
    return LKS_OK;
}

static enum lks_code read_script(struct script *s, struct lks_err *err)
{
    if (load_env(s, err) != LKS_OK)
        return err->code;
    for (bool more = true; more;) {
        if (lks_grub_read(&s->text, err) != LKS_OK)
            return err->code;
        more = s->text.count > 0;
        if (more && run_command(s, err) != LKS_OK)
            return err->code;
    }
    return s->depth > 0 ? lks_fail(err, LKS_E_INVALID, "a block that never ends") : LKS_OK;
}

/* The script, read to its end; NULL says that `err` has the reason. */
static struct script *open_script(struct lks_str cfg, struct lks_str env,
                                  const struct lks_boot_entry *bls, size_t bls_count,
                                  struct lks_arena *arena, struct lks_err *err)
{
    struct script *s = NULL;
    if (cfg.len > LKS_BOOT_CFG_MAX)
        (void)!lks_fail(err, LKS_E_LIMIT, "larger than %zu bytes", LKS_BOOT_CFG_MAX);
    else if ((s = lks_arena_alloc(arena, sizeof(*s))) == NULL)
        (void)!lks_arena_fail(arena, err);
    if (s == NULL)
        return NULL;
    *s = (struct script){
        .text = {.rest = cfg, .arena = arena}, .env = env, .bls = bls, .bls_count = bls_count};
    s->text.vars = lks_arena_array(arena, LKS_BOOT_VARS_MAX, sizeof(*s->text.vars));
    s->entries = lks_arena_array(arena, LKS_BOOT_ENTRIES_MAX, sizeof(*s->entries));
    if (s->text.vars == NULL || s->entries == NULL) {
        (void)!lks_arena_fail(arena, err);
        return NULL;
    }
    return read_script(s, err) == LKS_OK ? s : NULL;
}

enum lks_code lks_grub_default(struct lks_str cfg, struct lks_str env,
                               const struct lks_boot_entry *bls, size_t bls_count,
                               struct lks_arena *arena, struct lks_grub_choice *out,
                               struct lks_err *err)
{
    struct script *s = open_script(cfg, env, bls, bls_count, arena, err);
    return s != NULL ? choose(s, out, err) : err->code;
}

/* The entry of a kernel ---------------------------------------------------------------------- */

/* An entry that is made for this release, and not for whichever kernel is the newest: its own name
 * says so. */
static bool is_named(const struct entry *e, struct lks_str release)
{
    return lks_str_find(e->id, release) >= 0 || lks_str_find(e->title, release) >= 0;
}

/* Whether it is there, and starts this kernel whatever the boot finds. */
static enum lks_code starts_release(struct script *s, const struct entry *e, struct lks_str release,
                                    bool *out, struct lks_err *err)
{
    struct entry taken = *e;
    *out = false;
    if (taken.submenu || taken.maybe || !is_named(e, release))
        return LKS_OK;
    if (taken.body.len > 0 && read_body(s, taken.body, &taken, 0, err) != LKS_OK)
        return err->code;
    *out = !taken.ambiguous && lks_str_eq(lks_bootcfg_release(taken.kernel), release);
    return LKS_OK;
}

static void add_part(struct lks_buf *out, struct lks_str name)
{
    for (size_t i = 0; i < name.len; i++)
        lks_buf_add(out, name.ptr[i] == '>' ? LKS_STR(">>") : (struct lks_str){name.ptr + i, 1});
}

/* "SUBMENU>ENTRY", by ids and else by titles. */
static enum lks_code add_path(const struct script *s, const struct entry *e, size_t depth,
                              struct lks_buf *out, struct lks_err *err)
{
    if (depth == LKS_BOOT_DEPTH_MAX)
        return lks_fail(err, LKS_E_LIMIT, "submenus within each other");
    if (e->parent > 0) {
        if (add_path(s, &s->entries[e->parent - 1], depth + 1, out, err) != LKS_OK)
            return err->code;
        lks_buf_add(out, LKS_STR(">"));
    }
    add_part(out, e->id.len > 0 ? e->id : e->title);
    return lks_buf_check(out, err);
}

/* The script has to take its saved entry, and to start this kernel then. */
static enum lks_code check_saved(struct lks_str cfg, const struct lks_boot_entry *bls,
                                 size_t bls_count, struct lks_str path, struct lks_str release,
                                 struct lks_arena *arena, struct lks_err *err)
{
    struct lks_grub_choice choice = {0};
    struct lks_str env =
        lks_arena_format(arena, "saved_entry=%" LKS_STR_FMT "\n", LKS_STR_ARG(path));
    if (env.ptr == NULL)
        return lks_arena_fail(arena, err);
    if (lks_grub_default(cfg, env, bls, bls_count, arena, &choice, err) != LKS_OK)
        return err->code;
    if (!lks_str_eq(choice.wanted, path))
        return lks_fail(err, LKS_E_REFUSED,
                        "its default is '%" LKS_STR_FMT
                        "' and not the saved entry; set GRUB_DEFAULT=saved in /etc/default/grub "
                        "and make grub.cfg again",
                        LKS_STR_ARG(choice.wanted));
    if (!lks_str_eq(lks_bootcfg_release(choice.kernel), release))
        return lks_fail(err, LKS_E_REFUSED, "entry '%" LKS_STR_FMT "' starts another kernel",
                        LKS_STR_ARG(path));
    return LKS_OK;
}

enum lks_code lks_grub_entry_of(struct lks_str cfg, const struct lks_boot_entry *bls,
                                size_t bls_count, struct lks_str release, struct lks_arena *arena,
                                struct lks_str *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf path = LKS_BUF(LKS_BOOT_PATH_MAX);
    struct script *s = open_script(cfg, (struct lks_str){0}, bls, bls_count, arena, err);
    bool found = false;
    size_t at = 0;
    if (s == NULL)
        return err->code;
    for (; at < s->entry_count && !found && release.len > 0; at++) {
        if (starts_release(s, &s->entries[at], release, &found, err) != LKS_OK)
            return err->code;
    }
    if (!found)
        return lks_fail(err, LKS_E_NOT_FOUND, "no entry starts kernel %" LKS_STR_FMT,
                        LKS_STR_ARG(release));
    if (add_path(s, &s->entries[at - 1], 0, &path, err) != LKS_OK)
        return err->code;
    if (!lks_str_printable(lks_buf_view(&path)))
        return lks_fail(err, LKS_E_INVALID,
                        "the entry of kernel %" LKS_STR_FMT " has no plain name",
                        LKS_STR_ARG(release));
    *out = lks_arena_copy(arena, lks_buf_view(&path));
    if (out->ptr == NULL)
        return lks_arena_fail(arena, err);
    return check_saved(cfg, bls, bls_count, *out, release, arena, err);
}
