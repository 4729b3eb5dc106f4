#include "cli/shared/ask.h"

#include "cli/shared/commands.h"
#include "cli/shared/listing.h"
#include "cli/shared/render.h"

#include <inttypes.h>
#include <string.h>

enum { LINE_MAX_BYTES = 1 << 20, FORM_MAX = 128, MILLION = 1000000, PERCENT = 10000 };

/* Members ----------------------------------------------------------------------------------- */

/* "1%", "0.05%" or "0.01" as millionths of the whole. */
static enum lks_code read_share(const struct lks_args *args, const char *option, uint64_t *out,
                                struct lks_err *err)
{
    struct lks_str text = lks_args_str(args, option), number = text, whole, part;
    uint64_t high = 0, low = 0, unit = MILLION;
    if (text.len > 0 && text.ptr[text.len - 1] == '%') {
        number.len--;
        unit = PERCENT;
    }
    bool point = lks_str_cut(number, '.', &whole, &part);
    bool good =
        lks_str_number(whole, 100, &high) && (!point || lks_str_number(part, MILLION, &low));
    uint64_t value = high * unit;
    for (size_t i = 0; i < part.len; i++)
        unit /= 10;
    value += low * unit;
    if (!good || (low > 0 && unit == 0) || value == 0 || value > MILLION)
        return lks_fail(err, LKS_E_USAGE,
                        "%s: '%" LKS_STR_FMT "' is not a share such as 1%% or 0.5%%", option,
                        LKS_STR_ARG(text));
    *out = value;
    return LKS_OK;
}

static enum lks_code read_count(const struct lks_args *args, const char *option, uint64_t most,
                                uint64_t *out, struct lks_err *err)
{
    const char *text = lks_args_get(args, option);
    if (lks_str_number(lks_str_from(text), most, out))
        return LKS_OK;
    return lks_fail(err, LKS_E_USAGE, "%s: '%s' is not a number from 0 to %" PRIu64, option, text,
                    most);
}

static enum lks_code read_number(const struct lks_args *args, const struct lks_ask_member *m,
                                 uint64_t *out, struct lks_err *err)
{
    if (m->kind == LKS_ASK_NUMBER)
        return lks_listing_number(args, m->from, m->most, 0, out, err);
    if (m->kind == LKS_ASK_COUNT)
        return read_count(args, m->from, m->most, out, err);
    return m->kind == LKS_ASK_SPAN ? lks_listing_span(args, m->from, out, err)
                                   : read_share(args, m->from, out, err);
}

/* A text is an option, an argument, or a form of both. */
static enum lks_code read_text(const struct lks_args *args, const struct lks_ask_member *m,
                               struct lks_buf *out, struct lks_err *err)
{
    bool plain = m->from[0] == '-' || (m->from[0] >= '1' && m->from[0] <= '9');
    char form[FORM_MAX];
    if (m->need != NULL && lks_listing_need(args, m->from, m->need, err) != LKS_OK)
        return err->code;
    snprintf(form, sizeof(form), plain ? "{%s}" : "%s", m->from);
    lks_render(out, form, &(struct lks_render){.args = args, .mode = LKS_RENDER_RAW});
    return lks_buf_check(out, err);
}

static void put_list(const struct lks_args *args, const struct lks_ask_member *m,
                     struct lks_json_writer *w)
{
    lks_json_begin(w, m->key, '[');
    for (size_t i = (size_t)(m->from[0] - '1'); i < args->positional_count; i++)
        lks_json_cstr(w, NULL, args->positional[i]);
    lks_json_end(w, ']');
}

/* An option that was given. */
static enum lks_code put_option(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_ask_member *m, struct lks_json_writer *w,
                                struct lks_err *err)
{
    char time[LKS_TIME_TEXT_SIZE];
    uint64_t number = 0;
    lks_ms moment = 0;
    if (m->kind == LKS_ASK_TIME) {
        if (lks_listing_until(cli, args, m->from, time, err) != LKS_OK)
            return err->code;
        lks_json_some(w, m->key, lks_str_from(time));
    } else if (m->kind == LKS_ASK_MOMENT) {
        if (lks_listing_moment(cli, args, m->from, &moment, err) != LKS_OK)
            return err->code;
        lks_json_cstr(w, m->key, lks_time_text(moment, time));
    } else if (m->kind == LKS_ASK_FLAG) {
        lks_json_bool(w, m->key, true);
    } else {
        if (read_number(args, m, &number, err) != LKS_OK)
            return err->code;
        if (number > 0 || m->kind == LKS_ASK_COUNT)
            lks_json_int(w, m->key, (int64_t)number);
    }
    return LKS_OK;
}

static enum lks_code put_member(struct lks_cli *cli, const struct lks_args *args,
                                const struct lks_ask_member *m, struct lks_json_writer *w,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_DOC_BYTES_MAX);
    if (m->kind == LKS_ASK_UNLESS) {
        lks_json_bool(w, m->key, !lks_args_has(args, m->from));
        return LKS_OK;
    }
    if (m->kind != LKS_ASK_TEXT && m->kind != LKS_ASK_LIST) {
        if (m->need != NULL && lks_listing_need(args, m->from, m->need, err) != LKS_OK)
            return err->code;
        return lks_args_has(args, m->from) ? put_option(cli, args, m, w, err) : LKS_OK;
    }
    if (m->kind == LKS_ASK_LIST)
        put_list(args, m, w);
    else if (read_text(args, m, &text, err) != LKS_OK)
        return err->code;
    lks_json_some(w, m->key, lks_buf_view(&text));
    return LKS_OK;
}

enum lks_code lks_ask_write(struct lks_cli *cli, const struct lks_args *args,
                            const struct lks_ask_member *members, struct lks_json_writer *w,
                            struct lks_err *err)
{
    for (; members->key != NULL; members++) {
        if (put_member(cli, args, members, w, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* Requests ---------------------------------------------------------------------------------- */

/* A DELETE has no body: its members, which are texts, are parameters. */
static enum lks_code add_query(const struct lks_args *args, const struct lks_ask_member *members,
                               struct lks_remote_path *path, struct lks_err *err)
{
    for (; members->key != NULL; members++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_REMOTE_PATH_MAX);
        if (read_text(args, members, &text, err) != LKS_OK)
            return err->code;
        if (text.len > 0)
            lks_remote_path_query(path, members->key, lks_buf_view(&text));
    }
    return LKS_OK;
}

static void put_path(struct lks_question *q, const struct lks_args *args,
                     const struct lks_doc *about, const char *form)
{
    lks_render(&q->path.text, form,
               &(struct lks_render){.doc = about, .args = args, .mode = LKS_RENDER_URL});
    q->path.has_query = lks_str_find(lks_buf_view(&q->path.text), LKS_STR("?")) >= 0;
}

enum lks_code lks_ask_begin(struct lks_cli *cli, const struct lks_args *args,
                            const struct lks_ask *ask, struct lks_question *q, struct lks_err *err)
{
    lks_remote_question_init(q, ask->method, "");
    put_path(q, args, NULL, ask->path);
    if (ask->members == NULL)
        return LKS_OK;
    if (strcmp(ask->method, "DELETE") == 0)
        return add_query(args, ask->members, &q->path, err);
    lks_json_begin(&q->w, NULL, '{');
    if (lks_ask_write(cli, args, ask->members, &q->w, err) != LKS_OK)
        return err->code;
    lks_json_end(&q->w, '}');
    return LKS_OK;
}

enum lks_code lks_ask_send(struct lks_cli *cli, const struct lks_args *args,
                           const struct lks_ask *ask, struct lks_question *q, struct lks_err *err)
{
    if (lks_ask_begin(cli, args, ask, q, err) != LKS_OK)
        return err->code;
    return lks_remote_question_ask(cli, args, q, err);
}

enum lks_code lks_ask_get(struct lks_cli *cli, const struct lks_args *args, const char *path,
                          const struct lks_doc *about, struct lks_question *q, struct lks_err *err)
{
    lks_remote_question_init(q, "GET", "");
    put_path(q, args, about, path);
    return lks_remote_question_ask(cli, args, q, err);
}

enum lks_code lks_ask_done(struct lks_cli *cli, const struct lks_args *args,
                           const struct lks_remote_answer *answer, const char *form,
                           struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(LINE_MAX_BYTES);
    lks_render(&line, form, &(struct lks_render){.doc = answer->doc, .args = args});
    if (lks_buf_check(&line, err) != LKS_OK || lks_remote_object(answer, err) != LKS_OK)
        return err->code;
    if (line.len == 0)
        return lks_fail(err, LKS_E_INVALID, "the answer lacks what this command prints");
    return lks_listing_done(cli, args, answer, err, "%" LKS_STR_FMT,
                            LKS_STR_ARG(lks_buf_view(&line)));
}

enum lks_code lks_ask_run(struct lks_cli *cli, const struct lks_args *args,
                          const struct lks_ask *ask, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_question_fini) struct lks_question q = {0};
    if (lks_ask_send(cli, args, ask, &q, err) != LKS_OK)
        return err->code;
    if (ask->done == NULL)
        return lks_listing_thing(cli, args, &q.answer, err);
    return lks_ask_done(cli, args, &q.answer, ask->done, err);
}

/* Commands that are one request ------------------------------------------------------------- */

#define REASON LKS_ASK_MEMBERS(LKS_ASK_REASON)
#define NODE(verb, done)                                                                           \
    {                                                                                              \
        "node " verb, "POST", "/v1/nodes/{1}/" verb, REASON, "{1}: " done LKS_ASK_SIZE             \
    }
#define CHANGE(verb)                                                                               \
    {                                                                                              \
        "change " verb, "POST", "/v1/changes/{1}/" verb, REASON, LKS_ASK_CHANGED                   \
    }
#define FREEZE(verb, done)                                                                         \
    {                                                                                              \
        verb, "POST", "/v1/" verb,                                                                 \
            LKS_ASK_MEMBERS(LKS_ASK_OPTION("pool", "--pool"), LKS_ASK_REASON),                     \
            "[pool {--pool}|the fleet] [{already?}was frozen before, by {by}[ since {since}]: "    \
            "{reason}; nothing was recorded|is " done "]"                                          \
    }
#define EVIDENCE                                                                                   \
    LKS_ASK_NEEDED("evidence", "--evidence", "what it rests on; it is recorded for ever")
#define TTL                                                                                        \
    {                                                                                              \
        "ttl_seconds", "--ttl", LKS_ASK_SPAN, 0, NULL                                              \
    }

#define HOLDER "which reader holds the lease"
#define WHERE  LKS_ASK_OPTION("site", "--site"), LKS_ASK_OPTION("pool", "--pool")

#define SHOW(command, path)                                                                        \
    {                                                                                              \
        command, "GET", path, NULL, NULL                                                           \
    }

const struct lks_ask lks_ask_rows[] = {
    NODE("hold", "held"),
    {"node release", "POST", "/v1/nodes/{1}/release",
     LKS_ASK_MEMBERS(LKS_ASK_REASON, LKS_ASK_SWITCH("force", "--force")),
     "{1}: released" LKS_ASK_SIZE},
    NODE("replace", "other hardware may enrol under this name with a new token"),
    NODE("resolve", "resolved"),
    {"node approve", "POST", "/v1/nodes/{1}/reset/approve", REASON,
     "{1}: the reset is approved" LKS_ASK_SIZE},
    {"node review", "POST", "/v1/nodes/{1}/reset/review", REASON,
     "{1}: the reset is reviewed" LKS_ASK_SIZE},
    {"node enroll", "POST", "/v1/nodes/{1}/enroll", LKS_ASK_MEMBERS(TTL, LKS_ASK_REASON_MAY),
     "{token}"},
    {"node rm", "DELETE", "/v1/nodes/{1}", REASON, "{1}: removed" LKS_ASK_SIZE},
    {"alarm release", "POST", "/v1/alarms/{1}/release", REASON, "{1}: released" LKS_ASK_SIZE},
    {"deviation approve", "POST", "/v1/deviations/{1}/approve", REASON,
     "{1}: approved" LKS_ASK_SIZE},
    {"deviation close", "POST", "/v1/deviations/{1}/close", REASON, "{1}: closed" LKS_ASK_SIZE},
    {"bundle revoke", "POST", "/v1/bundles/{1}/revoke", REASON, "{1}: revoked" LKS_ASK_SIZE},
    {"trust rm", "DELETE", "/v1/trust/{1}", REASON,
     "{1}: removed; bundles that it verified stay valid; 'lockstep bundle revoke' revokes one"},
    {"access grant", "POST", "/v1/access",
     LKS_ASK_MEMBERS(LKS_ASK_OPTION("identity", "1"), LKS_ASK_OPTION("role", "2"), WHERE,
                     LKS_ASK_REASON_MAY),
     "{1}: {2}" LKS_ASK_WHERE},
    {"access token", "POST", "/v1/tokens",
     LKS_ASK_MEMBERS(LKS_ASK_OPTION("id", "1"), LKS_ASK_OPTION("identity", "2"), TTL,
                     LKS_ASK_REASON_MAY),
     "{token}"},
    {"access renew", "POST", "/v1/tokens/renew", NULL, "token {id} is good until {expires}"},
    CHANGE("approve"),
    CHANGE("reject"),
    CHANGE("withdraw"),
    CHANGE("review"),
    CHANGE("pause"),
    CHANGE("resume"),
    CHANGE("abort"),
    CHANGE("rollback"),
    {"change skip", "POST", "/v1/changes/{1}/skip",
     LKS_ASK_MEMBERS(LKS_ASK_REASON, LKS_ASK_OPTION("nodes", "2")), LKS_ASK_CHANGED},
    {"change waive", "POST", "/v1/changes/{1}/waive",
     LKS_ASK_MEMBERS(LKS_ASK_REASON, LKS_ASK_NEEDED("gate", "--gate", "which gate or metric"),
                     {"until", "--until", LKS_ASK_TIME, 0, "for how long"},
                     LKS_ASK_OPTION("pool", "--pool")),
     LKS_ASK_CHANGED},
    FREEZE("freeze", "frozen"),
    FREEZE("unfreeze", "no longer frozen"),
    {"stack promote", "POST", "/v1/stacks/{1}/promote",
     LKS_ASK_MEMBERS(LKS_ASK_OPTION("to", "2"), EVIDENCE), "{1}: {2}"},
    {"stack retire", "POST", "/v1/stacks/{1}/retire", LKS_ASK_MEMBERS(EVIDENCE), "{1}: retired"},
    {"node condition", "POST", "/v1/nodes/{1}/condition",
     LKS_ASK_MEMBERS(LKS_ASK_OPTION("condition", "2"), {"on", "--off", LKS_ASK_UNLESS, 0, NULL},
                     {"until", "--until", LKS_ASK_TIME, 0, NULL},
                     {"until", "--passed", LKS_ASK_MOMENT, 0, NULL},
                     LKS_ASK_OPTION("stack", "--stack"),
                     LKS_ASK_NEEDED("text", "--reason", LKS_ASK_WHY)),
     "{1}: [{--off?}no longer ]{2}" LKS_ASK_SIZE},
    SHOW("command show", "/v1/commands/{1}"),
    {"override add", "POST", "/v1/overrides",
     LKS_ASK_MEMBERS(LKS_ASK_OPTION("job", "1"), LKS_ASK_OPTION("nodes", "2"), LKS_ASK_REASON,
                     {"until", "--until", LKS_ASK_TIME, 0, "when the override ends"}),
     "job {1} is admitted on {2}, refused or not" LKS_ASK_SIZE},
    {"endpoint trust", "PUT", "/v1/endpoints/{1}",
     LKS_ASK_MEMBERS(LKS_ASK_OPTION("fingerprint", "2"), LKS_ASK_REASON),
     "{1}: the endpoint is known by {2}"},
    {"endpoint distrust", "PUT", "/v1/endpoints/{1}", REASON,
     "{1}: no certificate of the endpoint is trusted; 'lockstep endpoint trust' records one"},
    {"sweep fail", "POST", "/v1/sweeps/{1}/failed",
     LKS_ASK_MEMBERS(LKS_ASK_NEEDED("holder", "--holder", HOLDER),
                     LKS_ASK_NEEDED("text", "--reason", "what went wrong")),
     "{1}: [{done?}is tried again later|is not leased to {--holder}: nothing changed]"},
    {"sweep end", "DELETE", "/v1/nodes/{1}/outband", REASON,
     "{1}: what its endpoint reported is no longer valid" LKS_ASK_SIZE},
    {"image rm", "DELETE", "/v1/images",
     LKS_ASK_MEMBERS(LKS_ASK_OPTION("ref", "1"), LKS_ASK_REASON), "{1}: removed"},
    {"artifact collect", "POST", "/v1/artifacts/collect", NULL,
     "removed {gone#artifact}, {files#file} and {parts#incomplete upload}[{missing?}; "
     "{missing#artifact} of the journal missing on this controller: 'lockstep doctor DIR' names "
     "them]"},
    SHOW("bundle show", "/v1/bundles/{1}"),
    SHOW("journal head", "/v1/journal/head"),
};
const size_t lks_ask_row_count = LKS_COUNT(lks_ask_rows);

const struct lks_ask *lks_ask_of(const char *command)
{
    size_t i = 0;
    while (i < lks_ask_row_count && strcmp(lks_ask_rows[i].command, command) != 0)
        i++;
    LKS_ASSERT(i < lks_ask_row_count);
    return &lks_ask_rows[i];
}

enum lks_code lks_ask_cmd(struct lks_cli *cli, const struct lks_args *args, struct lks_err *err)
{
    return lks_ask_run(cli, args, lks_ask_of(cli->command->name), err);
}
