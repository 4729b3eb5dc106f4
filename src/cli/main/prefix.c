#include "cli/main/prefix.h"

#include "base/term/confirm.h"
#include "cli/main/complete.h"
#include "cli/shared/remote.h"
#include "cli/shared/render.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 4096, TYPED_MIN = 2 };

/* A list of names, as far as it is about the one that was typed. */
struct search {
    const struct lks_complete_list *list;
    struct lks_str typed;
    struct lks_buf line;   /* of the item that is looked at */
    struct lks_buf *found; /* the name that starts so */
    bool is_known, is_many;
};

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
    if (name.len <= x->typed.len || memcmp(name.ptr, x->typed.ptr, x->typed.len) != 0 ||
        lks_str_eq(name, lks_buf_view(x->found)))
        return LKS_OK;
    x->is_many |= x->found->len > 0;
    lks_buf_truncate(x->found, 0);
    lks_buf_add(x->found, name);
    return lks_buf_check(x->found, err);
}

/* Whether one name of the list starts with what was typed; it is in `found` then. */
static bool search_list(struct lks_cli *cli, const struct lks_args *args,
                        const struct lks_complete_list *list, struct lks_str typed,
                        struct lks_buf *found)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    struct search x = {.list = list, .typed = typed, .found = found};
    struct lks_err ignored = {0};
    lks_buf_init(&x.line, NAME_MAX_BYTES);
    lks_buf_init(found, NAME_MAX_BYTES);
    lks_remote_path_init(&path, list->path);
    path.has_query = strchr(list->path, '?') != NULL;
    bool known = lks_remote_open(cli, args, &remote, &ignored) == LKS_OK &&
                 lks_remote_list(&remote, &path, "after", 0, look, &x, &ignored) == LKS_OK;
    lks_buf_fini(&x.line);
    return known && !x.is_known && !x.is_many && found->len > 0;
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

/* Show which name was meant; a person agrees to it before anything is done. The command decides
 * whether that is asked, not the request that missed: acts start with requests that read. */
static enum lks_code agree(struct lks_cli *cli, const char *typed, struct lks_str name,
                           struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf clean = LKS_BUF(NAME_MAX_BYTES);
    struct lks_err why = *err;
    char question[NAME_MAX_BYTES * 3];
    if (!lks_confirm_possible(&cli->term))
        return lks_fail(err, why.code, "%s %s takes the whole name where there is no terminal",
                        why.msg, cli->command->name);
    lks_term_clean(&clean, name);
    if (lks_buf_check(&clean, err) != LKS_OK)
        return err->code;
    if (cli->command->group == LKS_LOOK) {
        fprintf(cli->err, "lockstep: '%s' is '%s'\n", typed, clean.ptr);
        return LKS_OK;
    }
    snprintf(question, sizeof(question), "'%s' is '%s'. Run '%s' with '%s'?", typed, clean.ptr,
             cli->command->name, clean.ptr);
    return lks_confirm(cli->err, question, "give the whole name", err);
}

enum lks_code lks_prefix_complete(struct lks_cli *cli, struct lks_args *args,
                                  struct lks_prefix *names, struct lks_err *err)
{
    const char **place = NULL;
    const struct lks_complete_list *list = find_word(cli, args, err, &place);
    if (names->count == LKS_PREFIX_MAX || cli->wrote || list == NULL ||
        !is_short_name(lks_str_from(*place)))
        return err->code;
    struct lks_buf *name = &names->names[names->count++];
    struct lks_err why = *err;
    bool found = search_list(cli, args, list, lks_str_from(*place), name);
    *err = why;
    if (!found)
        return err->code;
    if (agree(cli, *place, lks_buf_view(name), err) != LKS_OK)
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
