#include "sim/world.h"

#include <inttypes.h>
#include <stdio.h>

#define CERTIFICATE_LIFE (15 * 60 * LKS_SECOND)

void sim_agent_fini(struct sim_agent *a)
{
    lks_at_most_once_fini(&a->once);
    lks_buf_fini(&a->ledger);
}

void sim_agent_poke(struct sim *s, uint32_t agent)
{
    struct sim_agent *a = &s->agents[agent];
    a->wake_at = s->mono;
    sim_post(s, (struct sim_message){.kind = SIM_WAKE, .agent = agent, .life = a->life}, 0);
}

/* A node's own clock does not jump with the controller's. */
static lks_ms node_wall(const struct sim *s, const struct sim_agent *a)
{
    return (lks_ms)((int64_t)sim_now(s).wall - s->wall_offset + a->skew);
}

/* Reports -------------------------------------------------------------------------------------- */

static bool same_report(const struct sim_report *a, const struct sim_report *b)
{
    if (a->kind != b->kind)
        return false;
    return a->kind == SIM_REPORT_RESULT
               ? a->command == b->command
               : a->boot == b->boot && a->variant == b->variant && a->board == b->board;
}

/* What would only repeat the newest report is not said again. */
static void spool(struct sim *s, uint32_t agent, struct sim_report report)
{
    struct sim_agent *a = &s->agents[agent];
    uint32_t count = a->link.spooled;
    if (count == SIM_SPOOL_MAX || (count > 0 && same_report(&a->spool[count - 1], &report)))
        return;
    report.number = ++a->reports;
    a->spool[count] = report;
    a->link.spooled++;
}

static void spool_tuple(struct sim *s, uint32_t agent)
{
    struct sim_agent *a = &s->agents[agent];
    a->measured = true;
    spool(s, agent,
          (struct sim_report){.kind = SIM_REPORT_TUPLE,
                              .boot = a->boot,
                              .variant = a->variant,
                              .board = a->board,
                              .taken = node_wall(s, a)});
}

static void spool_result(struct sim *s, uint32_t agent, uint64_t id, enum lks_outcome outcome)
{
    spool(s, agent,
          (struct sim_report){.kind = SIM_REPORT_RESULT, .command = id, .outcome = outcome});
}

/* Lives ---------------------------------------------------------------------------------------- */

static void save_ledger(struct sim_agent *a)
{
    lks_buf_fini(&a->ledger);
    lks_buf_init(&a->ledger, (size_t)1 << 20);
    lks_at_most_once_print(&a->once, &a->ledger);
    LKS_ASSERT(a->ledger.failed == LKS_OK);
}

/* A process starts and has what is on its disk: certificate, spool, ledger, the last number. */
static void start(struct sim *s, uint32_t agent, uint64_t seq)
{
    struct sim_agent *a = &s->agents[agent];
    struct lks_err err = {0};
    uint32_t spooled = a->link.spooled;
    a->up = true;
    a->life++;
    a->waiting = 0;
    a->running = 0;
    lks_link_init(&a->link, s->mono, 10 * LKS_SECOND, a->certificate != 0, &s->rng);
    a->link.seq = seq;
    a->link.spooled = spooled;
    lks_at_most_once_fini(&a->once);
    if (a->ledger.len > 0)
        LKS_ASSERT(lks_at_most_once_parse(lks_buf_view(&a->ledger), &a->once, &err) == LKS_OK);
    spool_tuple(s, agent);
    sim_agent_poke(s, agent);
}

static void stop(struct sim *s, uint32_t agent, lks_ms pause)
{
    struct sim_agent *a = &s->agents[agent];
    a->up = false;
    a->life++;
    a->waiting = 0;
    sim_post(s, (struct sim_message){.kind = SIM_AGENT, .agent = agent, .life = a->life}, pause);
}

void sim_agent_turn(struct sim *s, uint32_t agent)
{
    struct sim_agent *a = &s->agents[agent];
    sim_say(s, "%s: the agent %s", a->name, a->up ? "stops" : "starts");
    if (a->up)
        stop(s, agent, sim_between(s, 1, 60 * LKS_SECOND));
    else
        start(s, agent, a->link.seq);
}

/* The machine gets other software, starts anew, or comes back from repair with another board. */
void sim_agent_machine(struct sim *s, uint32_t agent)
{
    struct sim_agent *a = &s->agents[agent];
    unsigned what = (unsigned)lks_rng_below(&s->rng, 3);
    if (what == 0) {
        a->variant = (unsigned)lks_rng_below(&s->rng, SIM_VARIANTS);
        sim_say(s, "%s: now runs variant %u", a->name, a->variant);
        if (a->up) {
            spool_tuple(s, agent);
            sim_agent_poke(s, agent);
        }
        return;
    }
    if (what == 2 && a->board + 1 < SIM_BOARDS)
        a->board++;
    a->boot++;
    a->measured = false;
    a->link.seq = 0;
    sim_say(s, "%s: boots, board %u", a->name, a->board);
    stop(s, agent, sim_between(s, 10 * LKS_SECOND, 200 * LKS_SECOND));
}

void sim_agent_init(struct sim *s, uint32_t agent)
{
    struct sim_agent *a = &s->agents[agent];
    (void)snprintf(a->name, sizeof(a->name), "n%06" PRIu32, agent + 1);
    a->boot = 1;
    a->skew = (int64_t)lks_rng_below(&s->rng, 4000) - 2000;
    start(s, agent, 0);
}

/* Asking --------------------------------------------------------------------------------------- */

static void compose_beat(struct sim *s, uint32_t agent, struct sim_letter *l)
{
    const struct sim_agent *a = &s->agents[agent];
    struct lks_beat *beat = &l->beat;
    beat->protocol = LKS_BEAT_PROTOCOL;
    sim_boot_bytes(agent, a->boot, beat->boot);
    l->report.boot = a->boot;
    beat->seq = a->link.seq + 1;
    if (a->measured)
        sim_tuple_digest(a->variant, a->board, beat->tuple);
    beat->sent = node_wall(s, a);
    beat->head_seq = a->head_seq;
    memcpy(beat->head_hash, a->head_hash, sizeof(beat->head_hash));
    beat->spooled = a->link.spooled;
}

/* Somebody copied the token, and is quick. */
static void try_impostor(struct sim *s, uint32_t agent, struct sim_letter l)
{
    struct sim_agent *a = &s->agents[agent];
    if (a->impostor_tried || !lks_rng_percent(&s->rng, 20))
        return;
    a->impostor_tried = true;
    l.request = 0;
    l.fresh = ++s->next_certificate;
    sim_send(s, SIM_REQUEST, agent, a->life, &l);
}

static void ask(struct sim *s, uint32_t agent, enum lks_link_act act)
{
    struct sim_agent *a = &s->agents[agent];
    struct sim_letter l = {.request = ++s->next_request, .act = act, .sent = s->mono};
    l.certificate = a->certificate;
    if (act == LKS_LINK_ENROLL || act == LKS_LINK_RENEW)
        l.fresh = ++s->next_certificate;
    if (act == LKS_LINK_ENROLL)
        l.token = a->token;
    if (act == LKS_LINK_BEAT)
        compose_beat(s, agent, &l);
    if (act == LKS_LINK_PUSH)
        l.report = a->spool[0];
    a->waiting = l.request;
    a->waiting_act = act;
    a->sent = l;
    if (act == LKS_LINK_ENROLL)
        try_impostor(s, agent, l);
    sim_send(s, SIM_REQUEST, agent, a->life, &l);
    sim_post(s,
             (struct sim_message){
                 .kind = SIM_TIMEOUT, .agent = agent, .life = a->life, .number = l.request},
             SIM_ANSWER_WITHIN);
}

void sim_agent_wake(struct sim *s, uint32_t agent, lks_ms due)
{
    struct sim_agent *a = &s->agents[agent];
    lks_ms at = 0;
    if (!a->up || a->waiting != 0 || due != a->wake_at)
        return;
    enum lks_link_act act = lks_link_next(&a->link, s->mono, &at);
    if (act == LKS_LINK_ENROLL && a->token == 0)
        return; /* a person brings one */
    if (act != LKS_LINK_WAIT) {
        ask(s, agent, act);
    } else if (at != UINT64_MAX) {
        a->wake_at = at;
        sim_post(s, (struct sim_message){.kind = SIM_WAKE, .agent = agent, .life = a->life},
                 at - s->mono);
    }
}

/* Answers -------------------------------------------------------------------------------------- */

/* Whether the agent goes on living: it may stop before a command was written down as begun, and
 * between that and its end. */
static bool survives(struct sim *s, uint32_t agent)
{
    if (!lks_rng_percent(&s->rng, s->weather.agent_restarts / 4))
        return true;
    sim_agent_turn(s, agent);
    return false;
}

static bool run(struct sim *s, uint32_t agent, const struct lks_envelope *e)
{
    struct sim_agent *a = &s->agents[agent];
    struct lks_err err = {0};
    if (a->running != 0)
        return true;
    LKS_ASSERT(lks_at_most_once_begin(&a->once, e, &err) == LKS_OK);
    if (!survives(s, agent))
        return false;
    save_ledger(a);
    if (!survives(s, agent))
        return false;
    struct sim_command *c = &s->commands[e->id];
    c->ran++;
    sim_say(s, "%s: runs command %" PRIu64, a->name, e->id);
    sim_require(s, c->ran == 1, "a command runs once at the most");
    a->running = e->id;
    sim_post(s,
             (struct sim_message){
                 .kind = SIM_EXECUTED, .agent = agent, .life = a->life, .number = e->id},
             sim_between(s, 0, 20 * LKS_SECOND));
    return true;
}

void sim_agent_executed(struct sim *s, uint32_t agent, uint64_t command)
{
    struct sim_agent *a = &s->agents[agent];
    struct sim_command *c = &s->commands[command];
    c->finished = true;
    c->outcome = lks_rng_percent(&s->rng, 85) ? LKS_OUTCOME_DONE : LKS_OUTCOME_FAILED;
    a->running = 0;
    lks_at_most_once_end(&a->once, command, c->outcome, LKS_STR("as simulated"));
    save_ledger(a);
    spool_result(s, agent, command, c->outcome);
    sim_agent_poke(s, agent);
}

static void obey(struct sim *s, uint32_t agent, const struct sim_letter *l)
{
    struct sim_agent *a = &s->agents[agent];
    for (unsigned i = 0; i < l->command_count; i++) {
        const struct lks_envelope *e = &s->commands[l->commands[i]].envelope;
        struct lks_at_most_once_entry entry = {0};
        const char *why = "";
        char boot[LKS_BOOT_TEXT_SIZE];
        uint8_t bytes[16];
        sim_boot_bytes(agent, a->boot, bytes);
        lks_heartbeat_boot_text(bytes, boot);
        enum lks_at_most_once_verdict verdict = lks_at_most_once_judge(
            &a->once, e, lks_str_from(a->name), lks_str_from(boot), node_wall(s, a), &entry, &why);
        if (verdict == LKS_AT_MOST_ONCE_RUN && !run(s, agent, e))
            return;
        if (verdict == LKS_AT_MOST_ONCE_REPEAT && entry.ended)
            spool_result(s, agent, e->id, entry.outcome);
        if (verdict == LKS_AT_MOST_ONCE_REFUSE)
            spool_result(s, agent, e->id, LKS_OUTCOME_REFUSED);
    }
    if (l->want_tuple)
        spool_tuple(s, agent);
}

/* Without a certificate that is known, a person has to bring a token. */
static void lose_certificate(struct sim *s, uint32_t agent)
{
    struct sim_agent *a = &s->agents[agent];
    a->certificate = a->token = 0;
    a->link.enrolled = false;
    sim_post(s, (struct sim_message){.kind = SIM_PERSON, .agent = agent, .number = 1},
             sim_between(s, LKS_SECOND, 60 * LKS_SECOND));
}

static void use_answer(struct sim *s, uint32_t agent, const struct sim_letter *l)
{
    struct sim_agent *a = &s->agents[agent];
    if (l->act == LKS_LINK_ENROLL || l->act == LKS_LINK_RENEW) {
        a->certificate = a->sent.fresh;
        a->link.renew_at = lks_link_renew_at(s->mono, s->mono + CERTIFICATE_LIFE, &s->rng);
    } else if (l->act == LKS_LINK_BEAT) {
        a->link.mail = l->mail;
        if (l->head_seq > a->head_seq) {
            a->head_seq = l->head_seq;
            memcpy(a->head_hash, l->head_hash, sizeof(a->head_hash));
        }
    } else if (l->act == LKS_LINK_PUSH) {
        memmove(&a->spool[0], &a->spool[1], a->link.spooled * sizeof(a->spool[0]));
    } else if (l->act == LKS_LINK_FETCH) {
        obey(s, agent, l);
    }
}

void sim_agent_answer(struct sim *s, uint32_t agent, const struct sim_letter *l)
{
    struct sim_agent *a = &s->agents[agent];
    if (!a->up || l->request == 0 || l->request != a->waiting)
        return;
    a->waiting = 0;
    if (l->ok || (l->refused && l->act == LKS_LINK_PUSH)) {
        /* A report that was refused will be refused again: it makes room for the next. */
        lks_link_done(&a->link, s->mono, l->act, &s->rng);
        use_answer(s, agent, l);
    } else {
        lks_link_failed(&a->link, s->mono, l->act, l->refused || l->denied, &s->rng);
        sim_require(s, !l->denied || a->sent.certificate <= a->excused || l->act == LKS_LINK_ENROLL,
                    "a certificate of ours stays good");
        if (l->denied || (l->refused && l->act == LKS_LINK_ENROLL))
            lose_certificate(s, agent);
    }
    if (a->up)
        sim_agent_poke(s, agent);
}

void sim_agent_timeout(struct sim *s, uint32_t agent, uint64_t request)
{
    struct sim_agent *a = &s->agents[agent];
    if (!a->up || a->waiting != request)
        return;
    a->waiting = 0;
    lks_link_failed(&a->link, s->mono, a->waiting_act, false, &s->rng);
    sim_agent_poke(s, agent);
}
