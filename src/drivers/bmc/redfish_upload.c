/* The requests that begin an update. */
#include "codec/format/json.h"
#include "drivers/bmc/redfish_update.h"

#include <stdio.h>

/* Nothing is known yet of what is about to be sent. */
static void forget_task(struct lks_redfish_update *u)
{
    u->task[0] = u->fault[0] = '\0';
    u->task_over = u->task_failed = u->task_lost = u->task_found = u->only_running = false;
    u->taken = u->task_ended = false;
    u->looks = u->busy = 0;
}

void lks_redfish_send_upload(struct lks_redfish_update *u, lks_ms now)
{
    u->sent = LKS_RF_SENT_UPLOAD;
    u->uploads++;
    forget_task(u);
    lks_conversation_go_checkpoint(&u->r.head, LKS_RF_UPLOAD, now);
}

void lks_redfish_send_start(struct lks_redfish_update *u, lks_ms now)
{
    u->sent = LKS_RF_SENT_START;
    u->starts++;
    forget_task(u);
    lks_conversation_go_checkpoint(&u->r.head, LKS_RF_START, now);
}

/* Parameters -------------------------------------------------------------------------------- */

/* What an entry belongs to, for a service that wants this named; NULL: not known. */
static const char *related_of(const struct lks_redfish_update *u,
                              const struct lks_redfish_target *t)
{
    const struct lks_redfish_manners *m = lks_redfish_manners(u->r.vendor);
    if (m->targets != LKS_RF_TARGETS_RELATED)
        return NULL;
    if (t->related[0] != '\0')
        return t->related;
    return strcmp(u->kind, "bios") == 0  ? m->bios_target
           : strcmp(u->kind, "bmc") == 0 ? m->bmc_target
                                         : NULL;
}

static void put_targets(const struct lks_redfish_update *u, const char *key,
                        struct lks_json_writer *w)
{
    enum lks_redfish_targets rule = lks_redfish_manners(u->r.vendor)->targets;
    const char *before = NULL;
    if (rule == LKS_RF_TARGETS_OMIT || (rule == LKS_RF_TARGETS_ONE && u->target_count > 1))
        return;
    lks_json_begin(w, key, '[');
    for (size_t i = 0; i < u->target_count && rule != LKS_RF_TARGETS_EMPTY; i++) {
        const char *related = related_of(u, &u->targets[i]);
        /* Several entries of one thing: it is named once. */
        if (related == NULL || before == NULL || strcmp(related, before) != 0)
            lks_json_cstr(w, NULL, related != NULL ? related : u->targets[i].uri);
        before = related;
    }
    lks_json_end(w, ']');
}

/* Settings stay; a second copy is not made on the way. */
static void put_supermicro(const struct lks_redfish_update *u, struct lks_json_writer *w)
{
    bool is_bios = strcmp(u->kind, "bios") == 0, is_bmc = strcmp(u->kind, "bmc") == 0;
    if (is_bios)
        lks_json_write(w, "'Supermicro': {'BIOS': {'PreserveME': true, 'PreserveNVRAM': true, "
                          "'PreserveSMBIOS': true, 'BackupBIOS': false}}");
    if (is_bmc)
        lks_json_write(w, "'Supermicro': {'BMC': {'PreserveCfg': true, 'PreserveSdr': true, "
                          "'PreserveSsl': true, 'BackupBMC': false}}");
}

static void put_oem(const struct lks_redfish_update *u, struct lks_json_writer *w)
{
    const struct lks_redfish_manners *m = lks_redfish_manners(u->r.vendor);
    bool option = m->stage_option && u->act == LKS_BMC_STAGE;
    if (!m->empty_oem && !m->preserve && !option)
        return;
    lks_json_begin(w, "Oem", '{');
    if (m->preserve)
        put_supermicro(u, w);
    if (option)
        lks_json_write(w, "'Nvidia': {'UpdateOption': 'StageOnly'}");
    lks_json_end(w, '}');
}

/* Which devices, whether older versions too, and when the image is to run. */
static void put_wanted(const struct lks_redfish_update *u, struct lks_json_writer *w)
{
    bool force = u->force && lks_redfish_manners(u->r.vendor)->force;
    put_targets(u, "Targets", w);
    lks_json_write(w, "'ForceUpdate'?: %s, '@Redfish.OperationApplyTime': '%s'",
                   LKS_JSON_TRUTH(force), u->apply);
}

static void put_parameters(const struct lks_redfish_update *u, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    put_wanted(u, &w);
    put_oem(u, &w);
    lks_json_end(&w, '}');
}

/* Bodies ------------------------------------------------------------------------------------ */

/* The boundary may not occur in the image: its own digest does not. */
static const char *boundary(const struct lks_redfish_update *u)
{
    const char *hex = strchr(u->image.digest, ':');
    return hex != NULL ? hex + 1 : "lockstep-image";
}

static void put_part(const struct lks_redfish_update *u, struct lks_http_request *out,
                     const char *name, const char *type)
{
    lks_buf_addf(&out->body, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n", boundary(u),
                 name);
    if (type != NULL)
        lks_buf_addf(&out->body, "Content-Type: %s\r\n", type);
    lks_buf_add(&out->body, LKS_STR("\r\n"));
}

/* The name is the file's own, without what would end it early. */
static void put_file(const struct lks_redfish_update *u, struct lks_http_request *out,
                     const char *part)
{
    char name[sizeof(u->image_name)];
    snprintf(name, sizeof(name), "%s", u->image_name[0] != '\0' ? u->image_name : "image.bin");
    for (char *c = name; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || strchr("\"\\/", *c) != NULL)
            *c = '_';
    }
    lks_buf_addf(&out->body,
                 "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
                 "Content-Type: application/octet-stream\r\n\r\n",
                 boundary(u), part, name);
    out->file = u->image;
    out->file_at = out->body.len;
    lks_buf_addf(&out->body, "\r\n--%s--\r\n", boundary(u));
}

static void ask_multipart(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "POST", lks_str_from(u->multipart), out);
    lks_http_request_header(out, "Content-Type", "multipart/form-data; boundary=%s", boundary(u));
    put_part(u, out, "UpdateParameters", "application/json");
    put_parameters(u, &out->body);
    lks_buf_add(&out->body, LKS_STR("\r\n"));
    put_file(u, out, "UpdateFile");
}

static void ask_push(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "POST", lks_str_from(u->push), out);
    lks_http_request_header(out, "Content-Type", "application/octet-stream");
    out->file = u->image;
}

/* HPE's form wants the session a second time, as a field and as a cookie. */
static void ask_form(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask(&u->r, "POST", lks_str_from(u->push), out);
    lks_http_request_header(out, "Content-Type", "multipart/form-data; boundary=%s", boundary(u));
    lks_http_request_header(out, "Cookie", "sessionKey=%s", u->r.secret.token);
    put_part(u, out, "sessionKey", NULL);
    lks_buf_addf(&out->body, "%s\r\n", u->r.secret.token);
    put_part(u, out, "parameters", NULL);
    struct lks_json_writer w = {.out = &out->body};
    lks_json_write(&w,
                   "{'UpdateRepository': false, 'UpdateTarget': true, 'ETag': '%s', 'Section': 0}",
                   u->image.digest);
    lks_buf_add(&out->body, LKS_STR("\r\n"));
    put_file(u, out, "files[]");
}

static void ask_pull(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    bool tls = strncmp(u->pull, "https://", 8) == 0;
    lks_redfish_ask_json(&u->r, "POST", lks_str_from(u->simple), out);
    struct lks_json_writer w = {.out = &out->body};
    lks_json_write(&w, "{'ImageURI': '%s', 'TransferProtocol': '%s'", u->pull,
                   tls ? "HTTPS" : "HTTP");
    put_wanted(u, &w);
    lks_json_end(&w, '}');
}

void lks_redfish_ask_upload(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    static lks_redfish_asker *const askers[] = {
        [LKS_RF_NO_WAY] = ask_multipart, [LKS_RF_MULTIPART] = ask_multipart,
        [LKS_RF_PUSH] = ask_push,        [LKS_RF_FORM] = ask_form,
        [LKS_RF_PULL] = ask_pull,
    };
    askers[u->way](u, out);
}

/* Answers ----------------------------------------------------------------------------------- */

/* The body may be the task, or else the header says where it is; AMI names it in a message. */
bool lks_redfish_keep_task(struct lks_redfish_update *u, const struct lks_doc *doc,
                           const struct lks_http_response *answer)
{
    struct lks_str task = {"", 0};
    if (lks_doc_member(doc, "TaskState") != NULL ||
        lks_str_find(lks_bmc_json_text(doc, "@odata.type"), LKS_STR("#Task.")) >= 0)
        task = lks_bmc_json_path(doc, "@odata.id");
    bool shown = task.len > 0;
    if (task.len == 0)
        task = lks_http_response_location(answer);
    const struct lks_doc *messages = lks_doc_member(doc, "Messages");
    if (task.len == 0 && messages != NULL && messages->first != NULL) {
        const struct lks_doc *args = lks_doc_member(messages->first, "MessageArgs");
        if (args != NULL && args->first != NULL && args->first->kind == LKS_DOC_TEXT)
            task = lks_bmc_json_path(args->first, "");
    }
    if (task.len == 0)
        task = lks_bmc_json_link(doc, "Task");
    lks_redfish_keep(u->task, sizeof(u->task), task);
    return shown;
}

/* The service took it. It becomes a task, or shows in the service's own state, or is just done. */
static void accepted(struct lks_redfish_update *u, lks_ms now,
                     const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    u->busy = 0; /* that was before */
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    lks_ms when = now + lks_http_response_retry(answer, LKS_REDFISH_POLL);
    bool shown = lks_redfish_keep_task(u, doc, answer);
    if (u->task[0] == '\0' && u->way == LKS_RF_FORM)
        lks_redfish_keep(u->task, sizeof(u->task), lks_str_from(u->r.update_service));
    if (u->task[0] != '\0') {
        lks_redfish_follow(u, lks_str_from(u->task), shown,
                           when < now + 30 * LKS_SECOND ? when : now + 30 * LKS_SECOND);
    } else if (answer->status == 202 || !lks_redfish_readable(answer)) {
        u->taken = true;
        lks_redfish_seek(u, now, now + LKS_REDFISH_POLL);
    } else { /* it says that it is done; a task that runs says otherwise */
        u->task_over = u->only_running = true;
        lks_redfish_seek(u, now, now);
    }
    u->r.head.checkpoint = true; /* without it, it would be as good as unanswered */
}

/* iLO answers what went well with an "error" that holds only good news. */
static bool is_good_news(const struct lks_doc *error)
{
    static const char *const good[] = {"Success",         "Accepted",      "Created",
                                       "ResetInProgress", "ResetRequired", "SystemResetRequired"};
    const struct lks_doc *list = lks_doc_member(error, "@Message.ExtendedInfo");
    const struct lks_doc *one = list != NULL && list->kind == LKS_DOC_LIST ? list->first : NULL;
    bool any = one != NULL, bad = false;
    for (; one != NULL; one = one->next) {
        struct lks_str key = lks_redfish_message_key(one);
        bool known = lks_str_is(lks_bmc_json_text(one, "MessageSeverity"), "OK") ||
                     lks_str_is(lks_bmc_json_text(one, "Severity"), "OK");
        for (size_t i = 0; i < LKS_COUNT(good); i++)
            known = known || lks_str_is(key, good[i]);
        bad = bad || !known;
    }
    return any && !bad;
}

/* An error may come with a status that says otherwise. */
static bool is_error(const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    if (answer->status < 200 || answer->status > 299)
        return true;
    if (lks_docs_init(&docs, "answer", &err) != LKS_OK ||
        lks_bmc_json_parse(answer->body, &docs, &err) != LKS_OK)
        return false;
    const struct lks_doc *error = lks_doc_member(docs.first, "error");
    return error != NULL && lks_doc_member(docs.first, "@odata.id") == NULL &&
           lks_http_response_location(answer).len == 0 && !is_good_news(error);
}

static void hear_begun(struct lks_redfish_update *u, lks_ms now,
                       const struct lks_http_response *answer)
{
    char why[LKS_REDFISH_TEXT_SIZE];
    if (!is_error(answer)) {
        accepted(u, now, answer);
        return;
    }
    lks_redfish_error(answer, why);
    bool again = u->uploads > 1 || u->starts > 0;
    lks_redfish_end(u, now, again ? LKS_BMC_FAILED : LKS_BMC_REFUSED, "the service refused it: %s",
                    why);
}

void lks_redfish_hear_upload(struct lks_redfish_update *u, lks_ms now,
                             const struct lks_http_response *answer)
{
    hear_begun(u, now, answer);
}

void lks_redfish_ask_start(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask_json(&u->r, "POST", lks_str_from(u->start), out);
    lks_buf_add(&out->body, LKS_STR("{}"));
}

void lks_redfish_hear_start(struct lks_redfish_update *u, lks_ms now,
                            const struct lks_http_response *answer)
{
    hear_begun(u, now, answer);
}

/* Before a plain push the service is told for whom it is. That changes no firmware. */

void lks_redfish_ask_patch(const struct lks_redfish_update *u, struct lks_http_request *out)
{
    lks_redfish_ask_json(&u->r, "PATCH", lks_str_from(u->r.update_service), out);
    if (u->etag[0] != '\0' && !lks_redfish_manners(u->r.vendor)->match_any)
        lks_http_request_header(out, "If-Match", "%s", u->etag);
    struct lks_json_writer w = {.out = &out->body};
    lks_json_begin(&w, NULL, '{');
    put_targets(u, "HttpPushUriTargets", &w);
    lks_json_write(&w, "'HttpPushUriOptions': {'HttpPushUriApplyTime': {'ApplyTime': '%s'}}}",
                   u->apply);
}

void lks_redfish_hear_patch(struct lks_redfish_update *u, lks_ms now,
                            const struct lks_http_response *answer)
{
    char why[LKS_REDFISH_TEXT_SIZE];
    if (answer->status == 412 && !u->etag_again) {
        u->etag_again = u->patching = true; /* it changed under us: read it once more */
        lks_conversation_go(&u->r.head, LKS_RF_SERVICE, now);
        return;
    }
    if (!is_error(answer)) {
        lks_redfish_send_upload(u, now);
        return;
    }
    lks_redfish_error(answer, why);
    lks_redfish_end(u, now, LKS_BMC_REFUSED, "the service does not take the targets: %s", why);
}
