#include "cli/main/prefix.h"

#include "base/term/confirm.h"
#include "cli/main/complete.h"
#include "cli/shared/render.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 4096, QUESTION_MAX_BYTES = 12288, TYPED_MIN = 2, SHOWN_MAX = 3 };

/* A list of names, as far as it is about the one that was typed. */
struct search {
    const struct lks_complete_list *list;
    struct lks_str typed;
    struct lks_buf line;   /* of the item that is looked at */
    struct lks_buf also;   /* its other name */
    struct lks_buf *found; /* the name that was meant */
    struct lks_buf note;   /* about it, if its other name was typed; else empty */
    struct lks_buf shown;  /* the first names that could be meant */
    size_t count;          /* names that could be meant */
    bool is_known;
};

static void search_init(struct search *x, const struct lks_complete_list *list,
                        struct lks_str typed, struct lks_buf *found)
{
    *x = (struct search){.list = list, .typed = typed, .found = found};
    lks_buf_init(&x->line, NAME_MAX_BYTES);
    lks_buf_init(&x->also, NAME_MAX_BYTES);
    lks_buf_init(&x->note, NAME_MAX_BYTES);
    lks_buf_init(&x->shown, NAME_MAX_BYTES);
    lks_buf_init(found, NAME_MAX_BYTES);
}

static void search_fini(struct search *x)
{
    lks_buf_fini(&x->line);
    lks_buf_fini(&x->also);
    lks_buf_fini(&x->note);
    lks_buf_fini(&x->shown);
}

static bool begins_with(struct lks_str name, struct lks_str start)
{
    return name.len >= start.len && memcmp(name.ptr, start.ptr, start.len) == 0;
}

/* Whether the other name of the item starts with what was typed, or is it. */
static bool is_called(struct search *x, const struct lks_doc *item)
{
    lks_buf_truncate(&x->also, 0);
    if (x->list->also != NULL)
        lks_render(&x->also, x->list->also,
                   &(struct lks_render){.doc = item, .mode = LKS_RENDER_RAW});
    return x->also.len > 0 && begins_with(lks_buf_view(&x->also), x->typed);
}

static enum lks_code look(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct search *x = ctx;
    struct lks_str name, note;
    lks_buf_truncate(&x->line, 0);
    lks_render(&x->line, x->list->form, &(struct lks_render){.doc = item, .mode = LKS_RENDER_RAW});
    if (lks_buf_check(&x->line, err) != LKS_OK)
        return err->code;
    lks_str_cut(lks_buf_view(&x->line), '\t', &name, &note);
    x->is_known |= lks_str_eq(name, x->typed);
    bool begins = name.len > x->typed.len && begins_with(name, x->typed);
    bool called = !begins && is_called(x, item);
    if ((!begins && !called) || lks_str_eq(name, lks_buf_view(x->found)))
        return LKS_OK;
    if (++x->count <= SHOWN_MAX) {
        lks_buf_add(&x->shown, x->count > 1 ? LKS_STR(", ") : LKS_STR(""));
        lks_buf_add(&x->shown, name);
    }
    lks_buf_truncate(x->found, 0);
    lks_buf_add(x->found, name);
    lks_buf_truncate(&x->note, 0);
    lks_buf_add(&x->note, called ? note : LKS_STR(""));
    return lks_buf_check(x->found, err);
}

static bool search_list(struct lks_cli *cli, const struct lks_args *args, struct search *x)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    struct lks_err ignored = {0};
    return lks_remote_open(cli, args, &remote, &ignored) == LKS_OK &&
           lks_complete_live_each(&remote, x->list, look, x, &ignored) == LKS_OK && !x->is_known &&
           x->count > 0;
}

/* Whether a name that is cut short can stand here: not in a host list, and no number, because 1 is
 * a change of its own and not the start of 12. */
static bool is_short_name(struct lks_str typed)
{
    uint64_t number = 0;
    return typed.len >= TYPED_MIN && !lks_str_number(typed, UINT64_MAX, &number) &&
           lks_str_find(typed, LKS_STR("[")) < 0 && lks_str_find(typed, LKS_STR(",")) < 0;
}

/* Whether the error is about this word: messages have names in quotes. */
static bool is_about(const struct lks_err *err, struct lks_str typed)
{
    char quoted[LKS_ERR_MSG_MAX];
    snprintf(quoted, sizeof(quoted), "'%" LKS_STR_FMT "'", LKS_STR_ARG(typed));
    return strstr(err->msg, quoted) != NULL;
}

static const struct lks_complete_list *list_of(const struct lks_cli *cli, struct lks_str name,
                                               struct lks_str value)
{
    size_t count = 0;
    const struct lks_complete_source *source =
        lks_complete_table_find(cli->command, name, value, &count);
    return count > 0 && source->kind == LKS_COMPLETE_LIVE ? source->list : NULL;
}

/* The list of the argument or option that has the unknown name, and where `args` has it. */
static const struct lks_complete_list *find_word(struct lks_cli *cli, struct lks_args *args,
                                                 const struct lks_err *err, const char ***place)
{
    const struct lks_complete_list *list = NULL;
    struct lks_str value;
    for (size_t i = 0; list == NULL && i < args->positional_count; i++) {
        *place = &args->positional[i];
        if (is_about(err, lks_str_from(**place)) &&
            lks_complete_table_argument(cli->command, i, &value))
            list = list_of(cli, LKS_STR(""), value);
    }
    for (size_t i = 0; list == NULL && i < args->given_count; i++) {
        *place = &args->given[i].value;
        if (is_about(err, lks_str_from(**place)))
            list = list_of(cli, lks_args_name(args->given[i].option),
                           lks_complete_table_value(args->given[i].option));
    }
    return list;
}

/* lockstepd lists names that start so; other names of things it does not know. */
static enum lks_code fail_several(const struct search *x, struct lks_err *err)
{
    struct lks_err why = *err;
    char more[32] = "";
    if (x->list->also == NULL)
        return err->code;
    if (x->count > SHOWN_MAX)
        (void)snprintf(more, sizeof(more), " and %zu more", x->count - SHOWN_MAX);
    return lks_fail(err, why.code, "%s; '%" LKS_STR_FMT "' can be %.*s%s", why.msg,
                    LKS_STR_ARG(x->typed), (int)x->shown.len, x->shown.ptr, more);
}

/* "'gpu01' is 'gpu017'", "'h200' is '7' (running: h200-train)". */
static void put_meaning(const struct search *x, struct lks_buf *out)
{
    lks_buf_addf(out, "'%" LKS_STR_FMT "' is '", LKS_STR_ARG(x->typed));
    lks_term_clean(out, lks_buf_view(x->found));
    lks_buf_addc(out, '\'');
    if (x->note.len == 0)
        return;
    lks_buf_add(out, LKS_STR(" ("));
    lks_term_clean(out, lks_buf_view(&x->note));
    lks_buf_addc(out, ')');
}

/* A question ends with its mark; other messages go on behind a semicolon. */
static enum lks_code fail_short(const struct lks_cli *cli, struct lks_err *err)
{
    struct lks_err why = *err;
    bool asks = lks_str_ends(lks_str_from(why.msg), "?");
    return lks_fail(err, why.code, "%s%s %s takes the whole name where there is no terminal",
                    why.msg, asks ? "" : ";", cli->command->name);
}

/* Show which name was meant; a person agrees to it before anything is done. The command decides
 * whether that is asked, not the request that missed: acts start with requests that read. */
static enum lks_code agree(struct lks_cli *cli, const struct search *x, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(QUESTION_MAX_BYTES);
    if (!lks_confirm_possible(&cli->term))
        return fail_short(cli, err);
    put_meaning(x, &text);
    if (cli->command->group != LKS_LOOK) {
        lks_buf_addf(&text, ". Run '%s' with '", cli->command->name);
        lks_term_clean(&text, lks_buf_view(x->found));
        lks_buf_add(&text, LKS_STR("'?"));
    }
    if (lks_buf_check(&text, err) != LKS_OK)
        return err->code;
    if (cli->command->group != LKS_LOOK)
        return lks_confirm(cli->err, text.ptr, "give the whole name", err);
    fprintf(cli->err, "lockstep: %s\n", text.ptr);
    return LKS_OK;
}

enum lks_code lks_prefix_complete(struct lks_cli *cli, struct lks_args *args,
                                  struct lks_prefix *names, struct lks_err *err)
{
    LKS_CLEANUP(search_fini) struct search x = {0};
    const char **place = NULL;
    const struct lks_complete_list *list = find_word(cli, args, err, &place);
    if (names->count == LKS_PREFIX_MAX || cli->wrote || list == NULL ||
        !is_short_name(lks_str_from(*place)))
        return err->code;
    struct lks_buf *name = &names->names[names->count++];
    search_init(&x, list, lks_str_from(*place), name);
    if (!search_list(cli, args, &x))
        return err->code;
    if (x.count > 1)
        return fail_several(&x, err);
    if (agree(cli, &x, err) != LKS_OK)
        return err->code;
    *place = name->ptr;
    *err = (struct lks_err){0};
    return LKS_OK;
}

void lks_prefix_fini(struct lks_prefix *names)
{
    for (size_t i = 0; i < names->count; i++)
        lks_buf_fini(&names->names[i]);
    *names = (struct lks_prefix){0};
}
