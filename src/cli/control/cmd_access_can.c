/* access can-i: whether the caller, or another person, may do something. lockstepd decides, by the
 * rules of the act itself. */
#include "base/near.h"
#include "cli/control/acts.h"
#include "cli/shared/ask.h"
#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/render.h"

#include <string.h>

enum { NAME_MAX_BYTES = 128 };

static const struct lks_act *find_two(const char *first, const char *second)
{
    char command[NAME_MAX_BYTES];
    int len = snprintf(command, sizeof(command), "%s %s", first, second);
    return len > 0 && len < NAME_MAX_BYTES ? lks_acts_of_command(command) : NULL;
}

/* The act of the leading arguments, as "hold node" or "node hold"; `used` is how many they are. */
static const struct lks_act *find_act(const struct lks_args *args, size_t *used)
{
    const char *const *given = args->positional;
    const struct lks_act *act = NULL;
    *used = 2;
    if (args->positional_count > 1) {
        act = find_two(given[1], given[0]);
        if (act == NULL)
            act = find_two(given[0], given[1]);
    }
    if (act != NULL)
        return act;
    *used = 1;
    return lks_acts_of_command(given[0]);
}

static enum lks_code fail_unknown(const struct lks_args *args, struct lks_err *err)
{
    char said[NAME_MAX_BYTES], hint[LKS_NEAR_HINT_SIZE];
    bool two = args->positional_count > 1;
    (void)snprintf(said, sizeof(said), "%s%s%s", two ? args->positional[1] : "", two ? " " : "",
                   args->positional[0]);
    struct lks_near near = lks_near_to(lks_str_from(said));
    for (size_t i = 0; i < lks_act_count; i++) {
        if (lks_acts[i].command != NULL)
            lks_near_try(&near, lks_str_from(lks_acts[i].command));
    }
    return lks_fail(err, LKS_E_USAGE,
                    "access can-i: there is no command '%s' that asks a controller%s; VERB and "
                    "OBJECT are the words of a command, such as 'start change' or 'hold node'",
                    said, lks_near_hint(&near, hint));
}

/* "operator in site a, pool b" of a role. */
#define ROLE                                                                                       \
    "{role}[ in site {site}[, pool {pool}]| in pool {pool}][ by login {login}, until {expires}]"

static enum lks_code tell(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_remote_answer *answer, struct lks_err *err)
{
    const struct lks_doc *doc = answer->doc;
    cli->no = !lks_render_truth(doc, "yes");
    if (lks_args_has(args, "--json"))
        return lks_listing_thing(cli, args, answer, err);
    lks_render_print(cli->out,
                     "[no: {refused}|{yes?}yes: {identity} may {permission}|no: {identity} may not "
                     "{permission}]"
                     "[{where=the whole fleet} for the whole fleet][{root?}, as root on the "
                     "controller's own socket]\n",
                     doc);
    lks_render_each(cli->out, "grants", "[{^yes?}by|{^refused:}by|elsewhere]: " ROLE "\n", doc,
                    NULL);
    lks_render_print(cli->out, "[an admin can run: {command}\n]", doc);
    lks_render_print(cli->out,
                     "[{unknown?}note: {identity} has no role, token or certificate[; did you mean "
                     "'{nearest}'?]; 'lockstep access ls' lists those that have\n]",
                     doc);
    return LKS_OK;
}

static void put_query(const struct lks_args *args, const struct lks_act *act, size_t used,
                      struct lks_remote_path *path)
{
    static const struct {
        const char *key, *option;
    } options[] = {{"pool", "--pool"}, {"site", "--site"}, {"identity", "--as"}};
    lks_remote_path_query(path, "act", lks_str_from(act->route));
    if (args->positional_count > used)
        lks_remote_path_query(path, "name", lks_str_from(args->positional[used]));
    for (size_t i = 0; i < LKS_COUNT(options); i++) {
        if (lks_args_has(args, options[i].option))
            lks_remote_path_query(path, options[i].key, lks_args_str(args, options[i].option));
    }
}

enum lks_code lks_cmd_access_can_i(struct lks_cli *cli, const struct lks_args *args,
                                   struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    size_t used = 0;
    const struct lks_act *act = find_act(args, &used);
    if (act == NULL || args->positional_count > used + 1)
        return fail_unknown(args, err);
    lks_remote_question_init(&q, "GET", "/v1/access/can");
    put_query(args, act, used, &q.path);
    if (lks_remote_question_ask(cli, args, &q, err) != LKS_OK)
        return err->code;
    return tell(cli, args, &q.answer, err);
}
