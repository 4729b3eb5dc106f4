/* The reference pages of the control plane: records, roles, configuration, API. */
#include "core/state/access.h"
#include "model/record/record.h"
#include "server/api/routes.h"
#include "server/auth/authz.h"
#include "server/base/config.h"
#include "tools/docgen.h"

/* The journal ------------------------------------------------------------------------------- */

static const char *const record_types[] = {
    [LKS_RECORD_TEXT] = "text",   [LKS_RECORD_NUMBER] = "number", [LKS_RECORD_TIME] = "time",
    [LKS_RECORD_TRUTH] = "truth", [LKS_RECORD_WORD] = "word",
};

static void put_record(struct lks_buf *page, const struct lks_record_info *info)
{
    lks_buf_addf(
        page, "\n## %s\n\nKind %u, version %u. %s\n\n| field | type | meaning |\n|---|---|---|\n",
        info->word, (unsigned)info->kind, lks_record_version(info), info->about);
    for (size_t i = 0; i < info->count; i++) {
        const struct lks_record_field *f = &info->fields[i];
        lks_buf_addf(page, "| `%s` | %s | ", f->key, record_types[f->type]);
        lks_docgen_cell(page, f->about);
        lks_buf_addf(page, "%s", f->hidden ? " Never printed." : "");
        for (size_t w = 0; f->words != NULL && f->words[w] != NULL; w++)
            lks_buf_addf(page, "%s%s", w > 0 ? ", " : ": ", f->words[w]);
        lks_buf_addf(page, " |\n");
    }
}

void lks_docgen_journal(struct lks_buf *page)
{
    lks_docgen_banner(page, "src/model/record/record.c");
    lks_buf_addf(page,
                 "# Records of the journal\n\n"
                 "What `lockstep journal export` and `GET /v1/journal` print, a line for each "
                 "record: `seq`, `time`, `kind` and the fields below. Texts, numbers and times "
                 "that are empty or zero are left out.\n");
    for (size_t i = 0; i < lks_record_info_count; i++)
        put_record(page, &lks_record_infos[i]);
}

/* Access ------------------------------------------------------------------------------------ */

void lks_docgen_access(struct lks_buf *page)
{
    lks_docgen_banner(page, "src/core/state/access.c");
    lks_buf_addf(page,
                 "# Who may do what\n\n"
                 "A role is given to an identity with `lockstep access grant`, everywhere or "
                 "in a site, a pool or both. Routes say which permission they need, and where "
                 "([api.md](api.md)).\n\n"
                 "Identities are shown by credentials. `lockstep access ls` lists each with "
                 "who made it and when it ends; where two people have to agree, credentials "
                 "that one person made count as that person's "
                 "([governance.md](../governance.md)).\n\n"
                 "| credential | identity | made by | good for |\n|---|---|---|---|\n"
                 "| API token | the name it was made for | an admin | `tls.user_hours`, or as "
                 "stated up to `tls.user_days`; its holder renews it |\n"
                 "| certificate of a person | `user:NAME` | an admin | the same |\n"
                 "| peer of the Unix socket | `unix:UID` | nobody; whoever granted its roles "
                 "counts as minter | while its roles last |\n"
                 "| message of a ticket system | by `tickets.people` | nobody | one vote "
                 "|\n\n| role |");
    for (int p = LKS_MAY_READ; p < LKS_PERMISSION_COUNT; p++)
        lks_buf_addf(page, " %s |", lks_permission_words[p]);
    lks_buf_addf(page, "\n|---|");
    for (int p = LKS_MAY_READ; p < LKS_PERMISSION_COUNT; p++)
        lks_buf_addf(page, "---|");
    for (int r = 0; r < LKS_ROLE_COUNT; r++) {
        lks_buf_addf(page, "\n| %s |", lks_role_words[r]);
        for (int p = LKS_MAY_READ; p < LKS_PERMISSION_COUNT; p++)
            lks_buf_addf(page, " %s |",
                         lks_access_role_may((enum lks_role)r, (enum lks_permission)p) ? "yes"
                                                                                       : "");
    }
    lks_buf_addf(page, "\n");
}

/* Configuration ----------------------------------------------------------------------------- */

void lks_docgen_config(struct lks_buf *page)
{
    lks_docgen_banner(page, "src/server/base/config.c");
    lks_buf_addf(page, "# lockstepd.yaml\n\n"
                       "A key such as `http.idle_ms` stands as `idle_ms` inside the map `http`. "
                       "`lockstepd --dump-config` prints every value in effect. Those marked "
                       "reload follow SIGHUP; the others a restart.\n\n"
                       "| key | default | reload | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < lks_config_key_count; i++) {
        const struct lks_config_key *k = &lks_config_keys[i];
        lks_buf_addf(page, "| `%s` | %s%s%s | %s | ", k->key, k->fallback != NULL ? "`" : "",
                     k->fallback != NULL ? k->fallback : "has to be given",
                     k->fallback != NULL ? "`" : "", k->reloadable ? "yes" : "");
        lks_docgen_cell(page, k->about);
        for (size_t w = 0; k->words != NULL && k->words[w] != NULL; w++)
            lks_buf_addf(page, "%s%s", w > 0 ? ", " : ": ", k->words[w]);
        lks_buf_addf(page, " |\n");
    }
}

/* The API ----------------------------------------------------------------------------------- */

static void put_sorts(struct lks_buf *page, const struct lks_form *form)
{
    struct lks_field field;
    for (size_t i = 0; lks_schema_at(form, i, &field); i++)
        lks_buf_addf(page, "%s`%s`", i > 0 ? " " : " (", field.key);
    lks_buf_addf(page, ")");
}

static void put_fields(struct lks_buf *page, const char *label, const struct lks_form *form)
{
    struct lks_field field;
    if (form == NULL || !lks_schema_at(form, 0, &field))
        return;
    lks_buf_addf(page, "<br>%s:", label);
    for (size_t i = 0; lks_schema_at(form, i, &field); i++) {
        lks_buf_addf(page, "%s `%s`%s", i > 0 ? "," : "", field.key,
                     (field.flags & LKS_FIELD_REQUIRED) != 0 ? "" : "?");
        if (field.shape.type == LKS_TYPE_SORT)
            put_sorts(page, field.shape.form);
    }
}

static void put_routes(struct lks_buf *page, enum lks_listener listener)
{
    lks_buf_addf(page, "\n| route | permission | where | what |\n|---|---|---|---|\n");
    for (size_t i = 0; i < lks_route_count; i++) {
        const struct lks_route *r = &lks_routes[i];
        if (r->listener != listener)
            continue;
        lks_buf_addf(page, "| `%s %s` | %s | %s | ", r->method, r->path,
                     lks_permission_words[r->permission], lks_authz_where(r->scope));
        lks_docgen_cell(page, r->about);
        put_fields(page, "query", r->query);
        put_fields(page, "body", r->body);
        put_fields(page, "answer", r->answer);
        lks_buf_addf(page, " |\n");
    }
}

void lks_docgen_api(struct lks_buf *page)
{
    lks_docgen_banner(page, "src/server/api/routes.c");
    lks_buf_addf(
        page,
        "# The API\n\n"
        "HTTPS, by default on port 7443 for people and 7444 for agents, and the Unix "
        "socket. `GET /v1/openapi.json` is the same as an OpenAPI 3.1 document. Failures "
        "are problem details (RFC 9457) whose `detail` is one line. A list has `items` and, "
        "where there is more, `next`, which goes into `after`. `sort` takes one of the columns "
        "in parentheses, or `-` and the column for the reverse order. Rows without a value "
        "come first, or last with `-`. Give the same `sort` for every page.\n\n## For people\n");
    put_routes(page, LKS_LISTENER_PEOPLE);
    lks_buf_addf(page, "\n## For agents\n");
    put_routes(page, LKS_LISTENER_AGENTS);
}
