/* What is said to the controller, each as one exchange: heartbeats, reports, questions for mail and
 * for the next certificate. */
#include "agent/loop/agent.h"
#include "agent/reading/inventory.h"
#include "codec/format/json.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define PROTOCOL_HEADER "Lockstep-Protocol: 1\r\n"
#define BYTES_TYPE      "application/octet-stream"
#define JSON_TYPE       "application/json"
#define RENEW_AGAIN_MS  (600 * LKS_SECOND) /* after a renewed certificate was no good */

static void end_at_once(int number)
{
    (void)number;
    lks_agent_notices_remove();
    _exit(0);
}

void lks_agent_exchange_mortal(bool on)
{
    sigset_t set;
    struct sigaction action = {.sa_handler = end_at_once};
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigprocmask(on ? SIG_UNBLOCK : SIG_BLOCK, &set, NULL);
}

/* The controller whose turn it is, of `text`, where blanks stand between them. */
static size_t choose(const char *text, unsigned turn, char out[LKS_ANSWER_URL_MAX])
{
    struct lks_str items[LKS_AGENT_CONTROLLERS_MAX] = {0}, rest = lks_str_from(text), item;
    size_t count = 0;
    for (bool more = true; more && count < LKS_COUNT(items);) {
        more = lks_str_cut(rest, ' ', &item, &rest);
        if (item.len > 0)
            items[count++] = item;
    }
    struct lks_str chosen = count > 0 ? items[turn % count] : LKS_STR("");
    snprintf(out, LKS_ANSWER_URL_MAX, "%" LKS_STR_FMT, LKS_STR_ARG(chosen));
    return count;
}

static enum lks_code make_client(struct lks_agent *a, struct lks_err *err)
{
    char server[LKS_ANSWER_URL_MAX];
    (void)choose(a->controller.agents, a->turn, server);
    char ca[LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX];
    char key[LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX];
    char certificate[LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX];
    lks_ms patience = a->controller.heartbeat;
    patience = patience < LKS_AGENT_EXCHANGE_MIN_MS ? LKS_AGENT_EXCHANGE_MIN_MS : patience;
    patience = patience < LKS_AGENT_EXCHANGE_MS ? patience : LKS_AGENT_EXCHANGE_MS;
    const struct lks_client_options options = {
        .server = server,
        .ca = lks_statedir_path(&a->dir, LKS_IDENTITY_CA, ca),
        .key = lks_statedir_path(&a->dir, lks_identity_key_file(&a->identity), key),
        .certificate =
            lks_statedir_path(&a->dir, lks_identity_certificate_file(&a->identity), certificate),
        .timeout_ms = (int)patience,
        .body_max = LKS_ANSWER_MAX,
    };
    return lks_client_new(&options, &a->client, err);
}

static void drop_client(struct lks_agent *a)
{
    lks_client_free(a->client);
    a->client = NULL;
}

/* One that is away, or does not lead: the next try goes to another. */
static void pass_on(struct lks_agent *a)
{
    char ignored[LKS_ANSWER_URL_MAX];
    if (choose(a->controller.agents, 0, ignored) < 2)
        return;
    a->turn++;
    drop_client(a);
}

static enum lks_code judge(const struct lks_http_answer *answer, const char *path,
                           struct lks_err *err)
{
    static const struct lks_err_known known[] = {
        {401, LKS_E_DENIED, "; this node's certificate is not taken: enrol it anew"},
        {403, LKS_E_DENIED, "; this node's certificate is not taken: enrol it anew"},
        {426, LKS_E_DENIED, "; this agent is too old for that controller"},
        {400, LKS_E_REFUSED, ""},
        {404, LKS_E_REFUSED, ""},
        {409, LKS_E_REFUSED, ""},
        {413, LKS_E_REFUSED, ""},
        {422, LKS_E_REFUSED, ""},
    };
    char detail[LKS_ANSWER_DETAIL_SIZE];
    if (answer->status / 100 == 2)
        return LKS_OK;
    lks_answer_problem(lks_buf_view(&answer->body), detail);
    const struct lks_err_known *f = lks_err_find(known, LKS_COUNT(known), answer->status);
    return lks_fail(err, f != NULL ? f->code : LKS_E_UNAVAILABLE, "%s: %d %s%s", path,
                    answer->status, detail, f != NULL ? f->text : "");
}

enum lks_code lks_agent_exchange(struct lks_agent *a, const char *method, const char *path,
                                 const char *type, struct lks_str body, struct lks_http_answer *out,
                                 struct lks_err *err)
{
    if (a->client == NULL && make_client(a, err) != LKS_OK)
        return err->code;
    lks_agent_exchange_mortal(true);
    enum lks_code code =
        lks_client_exchange(a->client, method, path, type, body, PROTOCOL_HEADER, out, err);
    lks_agent_exchange_mortal(false);
    if (code == LKS_OK)
        code = judge(out, path, err);
    if (code == LKS_E_UNAVAILABLE || code == LKS_E_TIMEOUT)
        pass_on(a);
    return code;
}

/* Heartbeats --------------------------------------------------------------------------------- */

/* A heartbeat or two may get lost: what happened is told of for longer than that. */
static void look_at_events(struct lks_agent *a)
{
    const uint64_t bits = LKS_HEALTH_XID | LKS_HEALTH_LINK_DOWN | LKS_HEALTH_XIDS_KNOWN |
                          LKS_HEALTH_LINKS_KNOWN | ~(uint64_t)LKS_HEALTH_BITS;
    const struct lks_now now = {.wall = (lks_ms)lks_agent_wall(), .mono = lks_agent_now()};
    lks_ms hold = 3 * a->controller.heartbeat;
    hold = hold > LKS_EVENTS_HOLD_MS ? hold : LKS_EVENTS_HOLD_MS;
    a->health =
        (a->health & ~bits) | lks_agent_events_look(&a->events, a->options->root, now, hold);
    lks_agent_health(a, LKS_HEALTH_LOAD, lks_load_on(&a->load));
}

static enum lks_code pack_beat(struct lks_agent *a, struct lks_buf *out, struct lks_err *err)
{
    uint64_t seq = a->link.seq + 1;
    /* Well before they run out: a full disk may have room again until then. */
    if (seq + LKS_SEQ_JUMP / 2 > a->reserved) {
        if (lks_boot_seq_reserve(&a->dir, a->boot, seq + LKS_SEQ_JUMP, err) == LKS_OK)
            a->reserved = seq + LKS_SEQ_JUMP;
        else if (seq > a->reserved)
            return err->code;
    }
    lks_agent_health(a, LKS_HEALTH_SPOOL_FULL, a->spool.dropped);
    look_at_events(a);
    struct lks_beat beat = {
        .protocol = LKS_BEAT_PROTOCOL,
        .seq = seq,
        .health = a->health,
        .sent = (lks_ms)lks_agent_wall(),
        .head_seq = a->heads.newest.seq,
        .spooled = a->spool.count,
    };
    memcpy(beat.head_hash, a->heads.newest.hash, sizeof(beat.head_hash));
    bool whole = lks_boot_bytes(lks_str_from(a->boot), beat.boot) &&
                 (a->tuple[0] == '\0' || lks_inventory_digest(lks_str_from(a->tuple), beat.tuple));
    LKS_ASSERT(whole);
    lks_buf_init(out, LKS_BEAT_BYTES_MAX);
    lks_heartbeat_pack(&beat, out);
    return lks_buf_check(out, err);
}

static void see_head(struct lks_agent *a, const char *head)
{
    enum lks_heads_seen seen = LKS_HEADS_KNOWN;
    struct lks_err err = {0};
    if (head[0] == '\0')
        return;
    if (lks_heads_see(&a->heads, lks_str_from(head), &seen, &err) != LKS_OK)
        lks_agent_note(a, LKS_LEVEL_WARNING, "a head of the journal was not kept", "why", err.msg);
    else if (seen == LKS_HEADS_CONTRADICTION)
        lks_agent_note(a, LKS_LEVEL_ERROR, "the journal contradicts what it was before", "head",
                       head);
    lks_agent_health(a, LKS_HEALTH_WITNESS, a->heads.contradicted);
}

/* A heartbeat was taken: what that says about a renewed certificate. */
static enum lks_code judge_trial(struct lks_agent *a, struct lks_err *err)
{
    bool anew = false, was_renewed = a->identity.renewed, was_on_trial = a->identity.on_trial;
    if (lks_identity_worked(&a->dir, &a->identity, &anew, err) != LKS_OK)
        return err->code;
    if (anew)
        drop_client(a);
    if (was_renewed && !was_on_trial && !a->identity.renewed) {
        lks_agent_note(a, LKS_LEVEL_ERROR, "the renewed certificate is not taken; given up", NULL,
                       NULL);
        a->link.renew_at = lks_agent_now() + RENEW_AGAIN_MS;
    }
    return LKS_OK;
}

/* The controller wants heartbeats more or less often than before. What cannot be written now is
 * heard again after the next start. The client is made anew, since its patience follows. */
static void adopt(struct lks_agent *a, lks_ms heartbeat)
{
    struct lks_err err = {0};
    char text[32];
    if (heartbeat == 0 || heartbeat == a->controller.heartbeat)
        return;
    a->controller.heartbeat = heartbeat;
    drop_client(a);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)heartbeat);
    lks_agent_note(a, LKS_LEVEL_INFO, "heartbeats have another interval", "ms", text);
    if (lks_agent_enroll_keep(a, &a->controller, &err) != LKS_OK)
        lks_agent_note(a, LKS_LEVEL_WARNING, "the interval of heartbeats was not kept", "why",
                       err.msg);
}

/* While a command runs there is no sense in asking for more of them. */
static bool is_free(const struct lks_agent *a)
{
    return a->command == 0 && !a->fetch.errand.active;
}

static enum lks_code beat(struct lks_agent *a, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    struct lks_beat_answer said = {0};
    if (pack_beat(a, &body, err) != LKS_OK)
        return err->code;
    if (lks_agent_exchange(a, "POST", "/v1/agent/beat", BYTES_TYPE, lks_buf_view(&body), &answer,
                           err) != LKS_OK ||
        lks_answer_beat(lks_buf_view(&answer.body), &said, err) != LKS_OK) {
        if (lks_identity_failed(&a->identity))
            drop_client(a);
        return err->code;
    }
    lks_agent_health(a, LKS_HEALTH_CLOCK_STEPPED, false);
    see_head(a, said.head);
    adopt(a, said.heartbeat);
    a->link.mail = said.mail && is_free(a);
    lks_agent_notices_beat(a, said.changing);
    lks_agent_stack_beat(a, said.barred);
    if (!said.mail)
        lks_load_want(a, "");
    return judge_trial(a, err);
}

/* Reports ------------------------------------------------------------------------------------ */

static enum lks_code push(struct lks_agent *a, struct lks_err *err)
{
    static const struct lks_str_pair ways[] = {
        [LKS_SPOOL_TUPLE] = {"PUT", "/v1/agent/tuple"},
        [LKS_SPOOL_RESULT] = {"POST", "/v1/agent/result"},
    };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    enum lks_spool_kind kind = LKS_SPOOL_TUPLE;
    if (a->notices.pending)
        return lks_agent_notices_push(a, err);
    enum lks_code code = lks_spool_oldest(&a->spool, &kind, &body, err);
    if (code == LKS_E_NOT_FOUND) /* all that was left was damaged */
        return LKS_OK;
    if (code == LKS_OK)
        code = lks_agent_exchange(a, ways[kind].name, ways[kind].value, JSON_TYPE,
                                  lks_buf_view(&body), &answer, err);
    if (code == LKS_E_REFUSED) {
        lks_agent_note(a, LKS_LEVEL_ERROR, "the controller will not have a report; it is dropped",
                       "why", err->msg);
        code = LKS_OK;
    }
    if (code == LKS_OK)
        code = lks_spool_done(&a->spool, err);
    /* What was done is seldom the last step: the next one is asked for rather than waited for. */
    if (code == LKS_OK && kind == LKS_SPOOL_RESULT)
        a->link.mail = is_free(a);
    lks_buf_fini(&body);
    (void)malloc_trim(0);
    return code;
}

/* Mail --------------------------------------------------------------------------------------- */

/* One command at a time: those behind it are listed again, and what is over is refused twice. */
static enum lks_code fetch(struct lks_agent *a, struct lks_err *err)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    LKS_CLEANUP(lks_answer_mail_fini) struct lks_mail mail = {0};
    if (lks_agent_exchange(a, "GET", "/v1/agent/mail", NULL, LKS_STR(""), &answer, err) != LKS_OK ||
        lks_answer_mail(lks_buf_view(&answer.body), &mail, err) != LKS_OK)
        return err->code;
    if (mail.want_tuple) {
        a->push_anyway = true;
        a->inventory_at = lks_agent_now();
    }
    snprintf(a->mirrors, sizeof(a->mirrors), "%s", mail.mirrors);
    lks_load_want(a, mail.load);
    for (size_t i = 0; i < mail.count && is_free(a); i++)
        lks_agent_command(a, mail.commands[i]);
    return LKS_OK;
}

/* The next certificate ----------------------------------------------------------------------- */

static void wipe(struct lks_buf *b)
{
    if (b->ptr != NULL)
        explicit_bzero(b->ptr, b->len);
    lks_buf_fini(b);
}

static void plan_renewal(struct lks_agent *a)
{
    const struct lks_x509_about *about = &a->identity.about_new;
    lks_ms wall = (lks_ms)lks_agent_wall(), now = lks_agent_now();
    lks_ms at = lks_link_renew_at((lks_ms)about->not_before * LKS_SECOND,
                                  (lks_ms)about->not_after * LKS_SECOND, &a->rng);
    a->link.renew_at = now + (at > wall ? at - wall : a->link.heartbeat);
}

static enum lks_code renew(struct lks_agent *a, struct lks_err *err)
{
    LKS_CLEANUP(wipe) struct lks_buf key = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = LKS_BUF(LKS_X509_PEM_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_X509_PEM_MAX * 2);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf certificate = {0};
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    lks_buf_init(&key, LKS_X509_PEM_MAX);
    if (lks_x509_key(&key, err) != LKS_OK ||
        lks_x509_request(lks_buf_view(&key), lks_str_from(a->controller.node), &request, err) !=
            LKS_OK)
        return err->code;
    struct lks_json_writer w = {.out = &body};
    lks_json_begin(&w, NULL, '{');
    lks_json_text(&w, "request", lks_buf_view(&request));
    lks_json_end(&w, '}');
    if (lks_buf_check(&body, err) != LKS_OK ||
        lks_agent_exchange(a, "POST", "/v1/agent/renew", JSON_TYPE, lks_buf_view(&body), &answer,
                           err) != LKS_OK ||
        lks_answer_renew(lks_buf_view(&answer.body), &certificate, err) != LKS_OK ||
        lks_identity_renew(&a->dir, &a->identity, lks_buf_view(&key), lks_buf_view(&certificate),
                           err) != LKS_OK)
        return err->code;
    lks_agent_note(a, LKS_LEVEL_INFO, "a renewed certificate is on trial", NULL, NULL);
    plan_renewal(a);
    drop_client(a);
    a->link.next_beat = lks_agent_now();
    return LKS_OK;
}

enum lks_code lks_agent_exchange_act(struct lks_agent *a, enum lks_link_act act,
                                     struct lks_err *err)
{
    static enum lks_code (*const exchanges[])(struct lks_agent *, struct lks_err *) = {
        [LKS_LINK_BEAT] = beat,
        [LKS_LINK_PUSH] = push,
        [LKS_LINK_FETCH] = fetch,
        [LKS_LINK_RENEW] = renew,
    };
    LKS_ASSERT((size_t)act < LKS_COUNT(exchanges) && exchanges[act] != NULL);
    return exchanges[act](a, err);
}
