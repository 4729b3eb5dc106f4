#include "agent/loop/answers.h"

#include "codec/format/json.h"
#include "model/schema/schema.h"
#include "trust/x509.h"

#include <stdio.h>

#define SOURCE "the controller's answer"

static enum lks_code parse(struct lks_str json, struct lks_docs *docs, const struct lks_doc **top,
                           struct lks_err *err)
{
    if (json.len > LKS_ANSWER_MAX)
        return lks_fail(err, LKS_E_LIMIT, SOURCE " has more than %zu bytes", LKS_ANSWER_MAX);
    if (lks_docs_init(docs, SOURCE, err) != LKS_OK || lks_json_parse(json, docs, err) != LKS_OK)
        return err->code;
    if (docs->first == NULL || docs->first->kind != LKS_DOC_MAP)
        return lks_fail(err, LKS_E_INVALID, SOURCE " is not an object");
    *top = docs->first;
    return LKS_OK;
}

/* A text of 1 to `size` - 1 printable bytes. */
static enum lks_code take_text(const struct lks_doc *top, const char *key, char *out, size_t size,
                               struct lks_err *err)
{
    struct lks_str text = lks_doc_text(top, key);
    if (text.len == 0 || text.len >= size || !lks_str_printable(text))
        return lks_fail(err, LKS_E_INVALID, SOURCE ": %s: a text of 1 to %zu bytes is needed", key,
                        size - 1);
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return LKS_OK;
}

static enum lks_code take_key(const struct lks_doc *top, const char *key,
                              struct lks_public_key *out, struct lks_err *err)
{
    char text[LKS_KEY_TEXT_SIZE];
    if (take_text(top, key, text, sizeof(text), err) != LKS_OK)
        return err->code;
    if (lks_key_public_parse(lks_str_from(text), out, err) != LKS_OK)
        return lks_wrap(err, SOURCE ": %s", key);
    return LKS_OK;
}

static enum lks_code take_pem(const struct lks_doc *top, const char *key, struct lks_buf *out,
                              struct lks_err *err)
{
    struct lks_str text = lks_doc_text(top, key);
    if (text.len == 0 || text.len > LKS_X509_PEM_MAX)
        return lks_fail(err, LKS_E_INVALID, SOURCE ": %s: a certificate is needed", key);
    lks_buf_init(out, LKS_X509_PEM_MAX);
    lks_buf_add(out, text);
    return lks_buf_check(out, err);
}

static bool is_name(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!word && (i == 0 || strchr("._-", c) == NULL))
            return false;
    }
    return s.len > 0;
}

static bool is_journal(const char *id)
{
    return strlen(id) == LKS_JOURNAL_ID_SIZE - 1 &&
           strspn(id, "0123456789abcdef") == LKS_JOURNAL_ID_SIZE - 1;
}

static enum lks_code take_heartbeat(const struct lks_doc *top, lks_ms *out, struct lks_err *err)
{
    const struct lks_doc *beat = lks_doc_member(top, "heartbeat_ms");
    if (beat == NULL || beat->kind != LKS_DOC_NUMBER || beat->number < LKS_HEARTBEAT_MIN_MS ||
        beat->number > LKS_HEARTBEAT_MAX_MS)
        return lks_fail(err, LKS_E_INVALID, SOURCE ": heartbeat_ms: not from %d to %d",
                        LKS_HEARTBEAT_MIN_MS, LKS_HEARTBEAT_MAX_MS);
    *out = (lks_ms)beat->number;
    return LKS_OK;
}

static enum lks_code take_controller(const struct lks_doc *top, struct lks_controller *out,
                                     struct lks_err *err)
{
    struct lks_controller c = {0};
    if (take_text(top, "node", c.node, sizeof(c.node), err) != LKS_OK ||
        take_text(top, "journal", c.journal, sizeof(c.journal), err) != LKS_OK ||
        take_key(top, "journal_key", &c.journal_key, err) != LKS_OK ||
        take_key(top, "command_key", &c.command_key, err) != LKS_OK ||
        take_text(top, "agents", c.agents, sizeof(c.agents), err) != LKS_OK ||
        take_heartbeat(top, &c.heartbeat, err) != LKS_OK)
        return err->code;
    if (!is_name(lks_str_from(c.node)) || !is_journal(c.journal) ||
        !lks_str_starts(lks_str_from(c.agents), "https://"))
        return lks_fail(err, LKS_E_INVALID, SOURCE ": a name, a journal or an address is not one");
    *out = c;
    return LKS_OK;
}

enum lks_code lks_answer_controller_parse(struct lks_str json, struct lks_controller *out,
                                          struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *top = NULL;
    if (parse(json, &docs, &top, err) != LKS_OK)
        return err->code;
    return take_controller(top, out, err);
}

void lks_answer_controller_json(const struct lks_controller *c, struct lks_buf *out)
{
    char command[LKS_KEY_TEXT_SIZE], journal[LKS_KEY_TEXT_SIZE];
    struct lks_json_writer w = {.out = out};
    lks_key_public_text(&c->command_key, command);
    lks_key_public_text(&c->journal_key, journal);
    lks_json_write(&w,
                   "{'agents': '%s', 'command_key': '%s', 'heartbeat_ms': %lu, 'journal': '%s', "
                   "'journal_key': '%s', 'node': '%s'}",
                   c->agents, command, c->heartbeat, c->journal, journal, c->node);
}

enum lks_code lks_answer_enroll(struct lks_str json, struct lks_controller *controller,
                                struct lks_buf *certificate, struct lks_buf *ca,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *top = NULL;
    if (parse(json, &docs, &top, err) != LKS_OK ||
        take_pem(top, "certificate", certificate, err) != LKS_OK ||
        take_pem(top, "ca", ca, err) != LKS_OK)
        return err->code;
    return take_controller(top, controller, err);
}

static enum lks_code take_bool(const struct lks_doc *top, const char *key, bool *out,
                               struct lks_err *err)
{
    const struct lks_doc *d = lks_doc_member(top, key);
    if (d != NULL && d->kind != LKS_DOC_BOOL)
        return lks_fail(err, LKS_E_INVALID, SOURCE ": %s: not true or false", key);
    *out = d != NULL && d->truth;
    return LKS_OK;
}

enum lks_code lks_answer_beat(struct lks_str json, struct lks_beat_answer *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *top = NULL;
    struct lks_beat_answer a = {0};
    if (parse(json, &docs, &top, err) != LKS_OK || take_bool(top, "mail", &a.mail, err) != LKS_OK ||
        take_bool(top, "changing", &a.changing, err) != LKS_OK ||
        take_bool(top, "barred", &a.barred, err) != LKS_OK)
        return err->code;
    if (lks_doc_member(top, "head") != NULL &&
        take_text(top, "head", a.head, sizeof(a.head), err) != LKS_OK)
        return err->code;
    if (lks_doc_member(top, "heartbeat_ms") != NULL &&
        take_heartbeat(top, &a.heartbeat, err) != LKS_OK)
        return err->code;
    const struct lks_doc *time = lks_doc_member(top, "time");
    if (time == NULL || time->kind != LKS_DOC_NUMBER || time->number < 0)
        return lks_fail(err, LKS_E_INVALID, SOURCE ": time: not a number of milliseconds");
    a.time = (lks_ms)time->number;
    *out = a;
    return LKS_OK;
}

static enum lks_code take_commands(const struct lks_doc *list, struct lks_mail *mail,
                                   struct lks_err *err)
{
    if (list == NULL || list->kind != LKS_DOC_LIST)
        return lks_fail(err, LKS_E_INVALID, SOURCE ": commands: not a list");
    for (const struct lks_doc *d = list->first; d != NULL; d = d->next) {
        if (d->kind != LKS_DOC_TEXT)
            return lks_fail(err, LKS_E_INVALID, SOURCE ": commands: not a list of texts");
        if (mail->count < LKS_MAIL_COMMANDS_MAX) /* the others come again */
            mail->commands[mail->count++] = d->text;
    }
    return LKS_OK;
}

/* Those that fit: a mirror is a favour. */
static void take_mirrors(const struct lks_doc *list, struct lks_mail *mail)
{
    size_t used = 0;
    bool listed = list != NULL && list->kind == LKS_DOC_LIST;
    for (const struct lks_doc *d = listed ? list->first : NULL; d != NULL; d = d->next) {
        bool good = d->kind == LKS_DOC_TEXT && lks_str_starts(d->text, "https://") &&
                    lks_str_printable(d->text) && memchr(d->text.ptr, ' ', d->text.len) == NULL;
        if (good && d->text.len + 2 < sizeof(mail->mirrors) - used)
            used += (size_t)snprintf(mail->mirrors + used, sizeof(mail->mirrors) - used,
                                     "%s%" LKS_STR_FMT, used > 0 ? " " : "", LKS_STR_ARG(d->text));
    }
}

/* The name of a file in one folder, and nothing that leads elsewhere; what is none is not run. */
static void take_load(struct lks_str name, struct lks_mail *mail)
{
    if (name.len < sizeof(mail->load) && lks_schema_is_name(name) && name.ptr[0] != '.')
        snprintf(mail->load, sizeof(mail->load), "%" LKS_STR_FMT, LKS_STR_ARG(name));
}

enum lks_code lks_answer_mail(struct lks_str json, struct lks_mail *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_answer_mail_fini) struct lks_mail mail = {0};
    const struct lks_doc *top = NULL;
    if (parse(json, &mail.docs, &top, err) != LKS_OK ||
        take_bool(top, "want_tuple", &mail.want_tuple, err) != LKS_OK ||
        take_commands(lks_doc_member(top, "commands"), &mail, err) != LKS_OK)
        return err->code;
    take_mirrors(lks_doc_member(top, "mirrors"), &mail);
    take_load(lks_doc_text(top, "load"), &mail);
    *out = LKS_MOVE(mail);
    return LKS_OK;
}

void lks_answer_mail_fini(struct lks_mail *mail)
{
    lks_docs_fini(&mail->docs);
    *mail = (struct lks_mail){0};
}

static enum lks_code take_stack_text(const struct lks_doc *top, const char *key,
                                     char out[LKS_NODE_STACK_TEXT_SIZE], struct lks_err *err)
{
    if (lks_doc_member(top, key) == NULL)
        return LKS_OK;
    return take_text(top, key, out, LKS_NODE_STACK_TEXT_SIZE, err);
}

enum lks_code lks_answer_stack(struct lks_str json, struct lks_node_stack *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *top = NULL;
    struct lks_node_stack s = {0};
    if (parse(json, &docs, &top, err) != LKS_OK ||
        take_bool(top, "enforces", &s.enforces, err) != LKS_OK ||
        take_stack_text(top, "digest", s.digest, err) != LKS_OK ||
        take_stack_text(top, "name", s.name, err) != LKS_OK ||
        take_stack_text(top, "version", s.version, err) != LKS_OK ||
        take_stack_text(top, "bar", s.bar, err) != LKS_OK ||
        take_stack_text(top, "why", s.why, err) != LKS_OK)
        return err->code;
    const struct lks_doc *env = lks_doc_member(top, "env");
    if (env == NULL || env->kind != LKS_DOC_MAP)
        return lks_fail(err, LKS_E_INVALID, SOURCE ": env: not an object");
    for (const struct lks_doc *d = env->first; d != NULL; d = d->next)
        (void)(d->kind == LKS_DOC_TEXT && lks_node_stack_add(&s, d->key, d->text));
    *out = s;
    return LKS_OK;
}

enum lks_code lks_answer_renew(struct lks_str json, struct lks_buf *certificate,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *top = NULL;
    if (parse(json, &docs, &top, err) != LKS_OK)
        return err->code;
    return take_pem(top, "certificate", certificate, err);
}

void lks_answer_problem(struct lks_str json, char out[LKS_ANSWER_DETAIL_SIZE])
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *top = NULL;
    struct lks_err ignored = {0};
    out[0] = '\0';
    if (parse(json, &docs, &top, &ignored) != LKS_OK)
        return;
    struct lks_str detail = lks_doc_text(top, "detail");
    if (detail.len < LKS_ANSWER_DETAIL_SIZE && lks_str_printable(detail))
        snprintf(out, LKS_ANSWER_DETAIL_SIZE, "%" LKS_STR_FMT, LKS_STR_ARG(detail));
}
