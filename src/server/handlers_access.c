#include "core/govern.h"
#include "server/daemon.h"
#include "server/desk.h"
#include "server/handlers.h"
#include "server/issue.h"
#include "server/views.h"

enum { DAY_SECONDS = 86400 };

void lks_handle_access(struct lks_desk *desk, struct lks_call *call)
{
    const struct lks_state *s = desk->state;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_begin(&w, "bindings", '[');
    for (uint32_t i = 0; i < s->binding_count; i++) {
        lks_json_begin(&w, NULL, '{');
        lks_view_binding(&w, s, &s->bindings[i], true);
        lks_json_end(&w, '}');
    }
    lks_json_end(&w, ']');
    lks_json_begin(&w, "tokens", '[');
    for (uint32_t i = 0; i < s->token_count; i++) {
        lks_json_begin(&w, NULL, '{');
        lks_view_token(&w, s, &s->tokens[i]);
        lks_json_end(&w, '}');
    }
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
}

/* A binding, from a body or a query: both have the same members. */
static void change_role(struct lks_desk *desk, struct lks_call *call, enum lks_event_kind kind,
                        const struct lks_doc *from)
{
    uint64_t role = 0;
    bool ok = lks_word_find(lks_role_words, lks_doc_text(from, "role"), &role);
    LKS_ASSERT(ok); /* the form knows the words */
    struct lks_event event = {
        .kind = kind,
        .grant = {.identity = lks_doc_text(from, "identity"),
                  .site = lks_doc_text(from, "site"),
                  .pool = lks_doc_text(from, "pool"),
                  .role = (enum lks_role)role},
    };
    lks_desk_record(desk, call, &event);
}

void lks_handle_grant(struct lks_desk *desk, struct lks_call *call)
{
    change_role(desk, call, LKS_EVENT_GRANT, call->body);
}

void lks_handle_ungrant(struct lks_desk *desk, struct lks_call *call)
{
    change_role(desk, call, LKS_EVENT_UNGRANT, call->query);
}

void lks_handle_token(struct lks_desk *desk, struct lks_call *call)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    uint8_t chance[LKS_TOKEN_CHANCE];
    char text[LKS_TOKEN_TEXT_MAX], hash[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    struct lks_str id = lks_doc_text(call->body, "id");
    if (lks_secrets_chance(chance, sizeof(chance), &err) != LKS_OK ||
        lks_token_make(LKS_TOKEN_API, id, chance, text, hash, &err) != LKS_OK) {
        lks_call_problem_err(call, &err);
        return;
    }
    const struct lks_doc *ttl = lks_doc_member(call->body, "ttl_seconds");
    struct lks_event event = {
        .kind = LKS_EVENT_API_TOKEN,
        .api_token = {.id = id,
                      .identity = lks_doc_text(call->body, "identity"),
                      .hash = lks_str_from(hash),
                      .expires =
                          ttl != NULL ? desk->now.wall + (uint64_t)ttl->number * LKS_SECOND : 0},
    };
    if (!lks_desk_turn(desk, call, &event, NULL, &d))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_json_cstr(&w, "token", text);
    lks_view_time(&w, "expires", event.api_token.expires);
    lks_json_end(&w, '}');
}

void lks_handle_token_gone(struct lks_desk *desk, struct lks_call *call)
{
    struct lks_event event = {
        .kind = LKS_EVENT_API_TOKEN_GONE,
        .api_token = {.id = lks_call_path(call, "id")},
    };
    lks_desk_record(desk, call, &event);
}

void lks_prepare_certificate(struct lks_call *call)
{
    const struct lks_doc *ttl = lks_doc_member(call->body, "ttl_seconds");
    int64_t most = (int64_t)lks_daemon_config(call->daemon)->user_days * DAY_SECONDS;
    int64_t seconds = ttl != NULL && ttl->number < most ? ttl->number : most;
    lks_issue(call, LKS_X509_USER, lks_doc_text(call->body, "name"), seconds);
}

/* As a token: whoever proposed a change makes nobody who can approve it. */
void lks_handle_certificate(struct lks_desk *desk, struct lks_call *call)
{
    char identity[LKS_CALL_IDENTITY_SIZE];
    struct lks_str name = lks_doc_text(call->body, "name");
    (void)snprintf(identity, sizeof(identity), "user:%" LKS_STR_FMT, LKS_STR_ARG(name));
    const struct lks_state_change *own =
        lks_govern_own(desk->state, lks_str_from(call->identity), lks_str_from(identity));
    if (own != NULL) {
        lks_call_problem(call, LKS_E_REFUSED,
                         "%s proposed change %llu, which could be approved by way of %s: somebody "
                         "else has to certify them, or they when it is over",
                         call->identity, (unsigned long long)own->id, identity);
        return;
    }
    struct lks_json_writer w = lks_call_json(call);
    lks_json_text(&w, "certificate", lks_buf_view(&call->issued));
    lks_json_text(&w, "ca", lks_buf_view(&lks_daemon_secrets(call->daemon)->ca));
    lks_json_end(&w, '}');
}
