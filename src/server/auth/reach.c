#include "server/auth/reach.h"

#include "core/governance/govern.h"
#include "server/base/daemon.h"
#include "server/form/views.h"

#include <stdio.h>
#include <stdlib.h>

enum { TEXT_BYTES = 1024 };

/* Those whom a ticket system speaks for. */
static size_t people_of(const struct lks_config *config, struct lks_str *out)
{
    for (size_t i = 0; i < config->tickets_people.count; i++)
        out[i] = lks_str_last(config->tickets_people.items[i], '=');
    return config->tickets_people.count;
}

/* Whether approvers come from the OpenID provider: how many there are it alone knows. */
static bool may_log_in(const struct lks_config *config)
{
    for (size_t i = 0; i < config->oidc_roles.count; i++) {
        struct lks_str role = lks_str_last(config->oidc_roles.items[i], '=');
        if (lks_str_starts(role, lks_role_words[LKS_ROLE_APPROVER]))
            return true;
    }
    return false;
}

static void put_text(struct lks_json_writer *w, const struct lks_tally *t)
{
    char text[TEXT_BYTES];
    bool pool = t->where.pool.len > 0, site = t->where.site.len > 0;
    (void)snprintf(text, sizeof(text),
                   "%u of %u approvals can be reached%s%" LKS_STR_FMT "%s%" LKS_STR_FMT
                   ": more approvers are needed there whose credentials neither the proposer nor "
                   "one person minted ('lockstep access ls' shows minters)",
                   t->given, t->needed, pool ? " for pool " : "",
                   LKS_STR_ARG(pool ? t->where.pool : LKS_STR("")), site ? " at site " : "",
                   LKS_STR_ARG(site ? t->where.site : LKS_STR("")));
    lks_json_cstr(w, "text", text);
}

void lks_reach_view(struct lks_json_writer *w, const struct lks_authz *authz,
                    const struct lks_state_change *c)
{
    const struct lks_config *config = lks_daemon_config(authz->daemon);
    if (c->state != LKS_CHANGE_PROPOSED || may_log_in(config))
        return;
    struct lks_str *people = calloc(config->tickets_people.count + 1, sizeof(*people));
    if (people == NULL)
        return; /* it is a warning, and the answer is worth more */
    size_t count = people_of(config, people);
    struct lks_tally t = lks_govern_reach(authz->state, c, authz->now.wall, people, count);
    free(people);
    if (lks_tally_complete(&t))
        return;
    lks_json_begin(w, "unreachable", '{');
    lks_json_int(w, "needed", t.needed);
    lks_json_int(w, "reachable", t.given);
    lks_view_text(w, "pool", t.where.pool);
    lks_view_text(w, "site", t.where.site);
    put_text(w, &t);
    lks_json_end(w, '}');
}
