#include "server/form/views.h"
#include "core/rows/alarm.h"
#include "core/rows/command.h"
#include "core/rows/credential.h"
#include "core/rows/pool.h"
#include "core/rows/registry.h"
#include "core/state/heartbeat.h"
#include "core/state/lookup.h"
#include "core/state/state.h"

#include <stdio.h>

struct lks_pool_counts lks_view_pool_counts(const struct lks_state *s, uint32_t pool)
{
    const struct lks_state_pool *p = &s->pools[pool];
    struct lks_pool_counts c = {.nodes = p->nodes, .enrolled = p->enrolled};
    for (size_t i = 0; i < LKS_LIVENESS_COUNT; i++)
        c.liveness[i] = p->liveness[i];
    return c;
}

void lks_view_liveness(struct lks_json_writer *w, const uint32_t liveness[LKS_LIVENESS_COUNT])
{
    lks_json_begin(w, "liveness", '{');
    for (size_t i = 0; i < LKS_LIVENESS_COUNT; i++)
        lks_json_int(w, lks_liveness_words[i], liveness[i]);
    lks_json_end(w, '}');
}

void lks_view_pool(struct lks_json_writer *w, const struct lks_state *s, uint32_t pool,
                   const struct lks_pool_counts *counts)
{
    const struct lks_state_pool *p = &s->pools[pool];
    const struct lks_view_member texts[] = {{"enforce", p->enforce},
                                            {"sched", p->sched},
                                            {"stack", p->stack},
                                            {"stack_digest", p->stack_digest}};
    lks_json_text(w, "name", lks_state_text(s, p->name));
    lks_view_text(w, "posture", lks_state_text(s, p->posture));
    lks_json_int(w, "criticality", p->criticality);
    lks_view_texts(w, s, texts, LKS_COUNT(texts));
    lks_json_int(w, "nodes", counts->nodes);
    lks_json_int(w, "enrolled", counts->enrolled);
    lks_view_liveness(w, counts->liveness);
    lks_json_bool(w, "acts_wait", lks_state_acts_wait(s, pool));
    if (p->frozen || s->frozen)
        lks_json_bool(w, "frozen", true);
}

void lks_view_cadence(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_book *book, const struct lks_pool_classes *classes,
                      uint32_t pool, lks_ms wall)
{
    enum { DAY_MS = 24 * 3600 * 1000 };
    struct lks_cadence c = lks_cadence_of(s, book, classes, pool, wall);
    const struct lks_state_stack *to = c.to != NULL ? c.to : c.behind.to;
    if (to != NULL) {
        lks_view_text(w, "baseline", lks_state_text(s, to->name));
        lks_view_text(w, "baseline_digest", lks_state_text(s, to->digest));
        lks_view_time(w, "behind_since", c.behind.since);
    }
    if (c.limit != UINT64_MAX)
        lks_json_int(w, "cadence_days", (int64_t)(c.limit / DAY_MS));
}

void lks_view_texts(struct lks_json_writer *w, const struct lks_state *s,
                    const struct lks_view_member *members, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lks_view_text(w, members[i].key, lks_state_text(s, members[i].text));
}

void lks_view_by(struct lks_json_writer *w, const struct lks_state *s, lks_text by, lks_text reason)
{
    lks_view_text(w, "by", lks_state_text(s, by));
    lks_view_text(w, "reason", lks_state_text(s, reason));
}

void lks_view_deed(struct lks_json_writer *w, const struct lks_state *s, const char *key, lks_ms at,
                   lks_text by, lks_text reason)
{
    char name[48];
    lks_view_time(w, key, at);
    snprintf(name, sizeof(name), "%s_by", key);
    lks_view_text(w, name, lks_state_text(s, by));
    snprintf(name, sizeof(name), "%s_reason", key);
    lks_view_text(w, name, lks_state_text(s, reason));
}

void lks_view_alarm(struct lks_json_writer *w, const struct lks_state *s,
                    const struct lks_state_alarm *alarm)
{
    lks_json_int(w, "id", (int64_t)alarm->id);
    lks_json_cstr(w, "kind", lks_alarm_words[alarm->kind]);
    lks_view_text(w, "subject", lks_state_text(s, alarm->subject));
    lks_json_text(w, "text", lks_state_text(s, alarm->text));
    lks_view_time(w, "raised", alarm->raised);
    lks_view_time(w, "released", alarm->released);
    if (alarm->released != 0) {
        lks_view_by(w, s, alarm->by, alarm->reason);
    }
}

void lks_view_command(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_state_command *command)
{
    lks_json_int(w, "id", (int64_t)command->id);
    lks_json_text(w, "node", lks_state_name(s, command->node));
    lks_json_text(w, "executor", lks_state_text(s, command->executor));
    lks_json_bool(w, "ended", command->ended);
    if (command->ended) {
        lks_json_cstr(w, "outcome", lks_outcome_words[command->outcome]);
        lks_view_text(w, "text", lks_state_text(s, command->text));
    }
    lks_view_time(w, "sent", command->sent);
    lks_view_time(w, "expires", command->expires);
}

void lks_view_binding(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_binding *binding, bool identity)
{
    if (identity)
        lks_json_text(w, "identity", lks_state_text(s, binding->identity));
    lks_json_cstr(w, "role", lks_role_words[binding->role]);
    lks_view_text(w, "site", lks_state_text(s, binding->site));
    lks_view_text(w, "pool", lks_state_text(s, binding->pool));
}

void lks_view_words(struct lks_json_writer *w, const char *key, struct lks_str words)
{
    struct lks_str word;
    lks_json_begin(w, key, '[');
    while (lks_str_word(&words, &word))
        lks_json_text(w, NULL, word);
    lks_json_end(w, ']');
}

void lks_view_people(struct lks_json_writer *w, const char *key, struct lks_str people)
{
    if (people.len > 0)
        lks_view_words(w, key, people);
}

static void view_made(struct lks_json_writer *w, const struct lks_state *s,
                      const struct lks_made *made)
{
    lks_view_text(w, "minter", lks_state_text(s, made->by));
    lks_view_people(w, "minters", lks_state_text(s, made->minters));
}

void lks_view_token(struct lks_json_writer *w, const struct lks_state *s,
                    const struct lks_api_token *token)
{
    lks_json_text(w, "id", lks_state_text(s, token->id));
    lks_json_text(w, "identity", lks_state_text(s, token->identity));
    lks_view_time(w, "expires", token->expires);
    view_made(w, s, &token->made);
    lks_view_text(w, "issuer", lks_state_text(s, token->issuer));
    lks_view_people(w, "roles", lks_state_text(s, token->grants));
}

void lks_view_person(struct lks_json_writer *w, const struct lks_state *s,
                     const struct lks_state_person *person)
{
    char fingerprint[LKS_DIGEST_SIZE];
    lks_json_text(w, "serial", lks_state_text(s, person->serial));
    lks_json_text(w, "identity", lks_state_text(s, person->identity));
    lks_json_cstr(w, "fingerprint", lks_state_certificate_text(&person->certificate, fingerprint));
    lks_view_time(w, "expires", person->certificate.expires);
    view_made(w, s, &person->made);
}
