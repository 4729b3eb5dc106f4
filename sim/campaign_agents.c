/* Agents: heartbeats, reports, commands that run once at the most; and the lives of machines. */
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>

#define AGAIN_AFTER (8 * LKS_SECOND)
#define READ_EVERY  16 /* heartbeats between two readings that nobody asked for */

/* Reports -------------------------------------------------------------------------------------- */

const struct cam_report *cam_report(const struct cam_machine *m, uint64_t number)
{
    for (unsigned i = 0; i < m->report_count; i++) {
        const struct cam_report *r = &m->reports[(m->first_report + i) % CAM_REPORTS];
        if (r->number == number)
            return r;
    }
    return NULL;
}

static void push(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    if (m->report_count == 0 || !m->agent_up)
        return;
    uint64_t number = m->reports[m->first_report].number;
    struct lks_message msg = {.kind = CAM_PUSH, .node = i, .life = m->life, .number = number};
    m->pushing = true;
    cam_send(w, msg);
    msg.kind = CAM_AGAIN;
    cam_post(w, msg, AGAIN_AFTER);
}

/* What would only repeat the newest report is not said again; where there is no room for another
 * tuple the newest one waits for the next reading. */
static void add_report(struct cam *w, uint32_t i, struct cam_report r)
{
    struct cam_machine *m = &w->machines[i];
    unsigned last = (m->first_report + m->report_count - 1) % CAM_REPORTS;
    if (m->report_count == CAM_REPORTS ||
        (m->report_count > 0 && m->reports[last].command == r.command && r.command != 0))
        return;
    r.number = ++m->report_number;
    m->reports[(m->first_report + m->report_count++) % CAM_REPORTS] = r;
    if (!m->pushing)
        push(w, i);
}

void cam_agent_reads(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    m->measured = true;
    m->read = m->truth;
    add_report(w, i,
               (struct cam_report){.truth = m->truth, .boot = m->boot, .taken = cam_now(w).wall});
}

static void add_result(struct cam *w, uint32_t i, uint64_t command, enum lks_outcome outcome)
{
    add_report(w, i, (struct cam_report){.command = command, .outcome = outcome});
}

void cam_agent_pushed(struct cam *w, uint32_t i, uint64_t number)
{
    struct cam_machine *m = &w->machines[i];
    if (m->report_count == 0 || m->reports[m->first_report].number != number)
        return;
    m->first_report = (m->first_report + 1) % CAM_REPORTS;
    m->report_count--;
    m->pushing = false;
    push(w, i);
}

void cam_agent_again(struct cam *w, uint32_t i, uint64_t number)
{
    const struct cam_machine *m = &w->machines[i];
    if (m->report_count > 0 && m->reports[m->first_report].number == number)
        push(w, i);
}

/* Heartbeats ----------------------------------------------------------------------------------- */

static void beat_later(struct cam *w, uint32_t i, lks_ms after)
{
    cam_post(w, (struct lks_message){.kind = CAM_BEAT, .node = i, .life = w->machines[i].life},
             after);
}

void cam_agent_begin(struct cam *w, uint32_t i)
{
    beat_later(w, i, cam_between(w, 1, w->heartbeat));
    cam_agent_reads(w, i);
}

void cam_agent_beat(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    if (!m->agent_up)
        return;
    m->seq++;
    if (m->seq % READ_EVERY == 0 && m->read != m->truth && m->running == 0)
        cam_agent_reads(w, i);
    cam_send(
        w, (struct lks_message){
               .kind = CAM_HEARD, .node = i, .life = m->life, .number = m->seq, .value = m->boot});
    beat_later(w, i, w->heartbeat - w->heartbeat / 16 + lks_rng_below(&w->rng, w->heartbeat / 8));
}

/* Commands ------------------------------------------------------------------------------------- */

static void envelope_of(const struct cam *w, uint32_t i, const struct cam_command *c,
                        struct lks_envelope *out)
{
    uint8_t bytes[16];
    *out = (struct lks_envelope){
        .id = c->id, .epoch = 1, .attempt = c->attempt, .expires = c->expires};
    memcpy(out->journal, w->options.journal, sizeof(out->journal));
    (void)snprintf(out->node, sizeof(out->node), "%s", w->machines[c->node].name);
    cam_boot_bytes(i, c->boot, bytes);
    lks_heartbeat_boot_text(bytes, out->boot);
    (void)snprintf(out->executor, sizeof(out->executor), "%s", c->executor);
}

/* A large fleet has no room for ledgers: the newest number is all that is kept. */
static enum lks_at_most_once_verdict judge(struct cam *w, uint32_t i, const struct cam_command *c,
                                           struct lks_at_most_once_entry *entry)
{
    struct cam_machine *m = &w->machines[i];
    struct lks_envelope e;
    struct lks_err err = {0};
    const char *why = "";
    if (w->nodes >= CAM_FLEET_LARGE) {
        *entry = (struct lks_at_most_once_entry){
            .ended = m->ended_command == c->id && m->running == 0, .outcome = m->ended_outcome};
        if (c->id <= m->ended_command)
            return LKS_AT_MOST_ONCE_REPEAT;
        m->ended_command = c->id;
        m->ended_outcome = LKS_OUTCOME_UNKNOWN;
        return c->boot == m->boot ? LKS_AT_MOST_ONCE_RUN : LKS_AT_MOST_ONCE_REFUSE;
    }
    char boot[LKS_BOOT_TEXT_SIZE];
    uint8_t bytes[16];
    cam_boot_bytes(i, m->boot, bytes);
    lks_heartbeat_boot_text(bytes, boot);
    envelope_of(w, i, c, &e);
    enum lks_at_most_once_verdict verdict = lks_at_most_once_judge(
        &m->once, &e, lks_str_from(m->name), lks_str_from(boot), cam_now(w).wall, entry, &why);
    if (verdict == LKS_AT_MOST_ONCE_RUN && m->running == 0)
        LKS_ASSERT(lks_at_most_once_begin(&m->once, &e, &err) == LKS_OK);
    return verdict;
}

/* What it was at may be done, or not. */
static void interrupt(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    if (m->running != 0)
        cam_work_cut(w, i, &w->commands[m->running]);
    m->running = 0;
    m->agent_up = m->pushing = false;
    m->life++;
}

/* Its agent ends, and does not start again for long, if ever. */
static void die(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    cam_say(w, "%s: the agent dies%s", m->name, m->dead_for == UINT64_MAX ? " for good" : "");
    interrupt(w, i);
    m->dead = true;
    if (m->dead_for != UINT64_MAX)
        cam_post(w, (struct lks_message){.kind = CAM_AGENT, .node = i, .life = m->life},
                 m->dead_for);
}

static void run(struct cam *w, uint32_t i, struct cam_command *c)
{
    struct cam_machine *m = &w->machines[i];
    c->ran++;
    cam_require(w, c->ran == 1, "promise 8", "%s: command %" PRIu64 " runs once at the most",
                m->name, c->id);
    m->running = c->id;
    lks_ms takes = cam_work_begin(w, i, c);
    cam_say(w, "%s: runs command %" PRIu64 " (%s)", m->name, c->id, c->executor);
    if (!m->up || !m->agent_up)
        return;
    if (cam_doomed(w, i, true)) {
        die(w, i);
        return;
    }
    cam_post(
        w, (struct lks_message){.kind = CAM_EXECUTED, .node = i, .life = m->life, .number = c->id},
        takes);
}

static void obey(struct cam *w, uint32_t i, uint64_t id)
{
    struct cam_machine *m = &w->machines[i];
    struct cam_command *c = id < w->command_room ? &w->commands[id] : NULL;
    struct lks_at_most_once_entry entry = {0};
    if (c == NULL || c->id != id || m->running != 0)
        return;
    if (cam_chance(w, w->weather.agent_stops / 8)) { /* before it was written down */
        cam_agent_turn(w, i);
        return;
    }
    if (cam_doomed(w, i, false)) {
        die(w, i);
        return;
    }
    enum lks_at_most_once_verdict verdict = judge(w, i, c, &entry);
    if (verdict == LKS_AT_MOST_ONCE_RUN)
        run(w, i, c);
    else if (verdict == LKS_AT_MOST_ONCE_REFUSE)
        add_result(w, i, id, LKS_OUTCOME_REFUSED);
    else if (entry.ended)
        add_result(w, i, id, entry.outcome);
}

void cam_agent_fetched(struct cam *w, uint32_t i, const struct lks_message *msg)
{
    if (msg->value != 0)
        cam_agent_reads(w, i);
    if (msg->number != 0)
        obey(w, i, msg->number);
}

void cam_agent_executed(struct cam *w, uint32_t i, uint64_t command)
{
    struct cam_machine *m = &w->machines[i];
    struct cam_command *c = &w->commands[command];
    if (m->running != command)
        return;
    m->running = 0;
    enum lks_outcome outcome = cam_work_end(w, i, c);
    if (!m->up)
        return; /* it did not live to tell */
    m->ended_outcome = outcome;
    if (w->nodes < CAM_FLEET_LARGE)
        lks_at_most_once_end(&m->once, command, outcome, CAM_SAID);
    c->finished = true;
    c->outcome = outcome;
    add_result(w, i, command, outcome);
    if (m->agent_up && cam_chance(w, w->weather.doubling / 4))
        add_result(w, i, command, outcome); /* it says so twice */
    if (c->kind == CAM_DO_REBOOT && outcome == LKS_OUTCOME_DONE)
        cam_machine_down(w, i, "reboots");
}

/* Lives ---------------------------------------------------------------------------------------- */

static void reload_ledger(struct cam_machine *m)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_AT_MOST_ONCE_TEXT_MAX);
    struct lks_err err = {0};
    if (m->once.count == 0)
        return;
    lks_at_most_once_print(&m->once, &text);
    lks_at_most_once_fini(&m->once);
    m->once = (struct lks_at_most_once){0};
    LKS_ASSERT(lks_at_most_once_parse(lks_buf_view(&text), &m->once, &err) == LKS_OK);
}

void cam_agent_turn(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    if (!m->up || (m->dead && m->dead_for == UINT64_MAX))
        return;
    m->dead = false;
    cam_say(w, "%s: the agent %s", m->name, m->agent_up ? "stops" : "starts");
    if (m->agent_up) {
        interrupt(w, i);
        lks_ms away = cam_takes(w, 4 * CAM_MINUTE);
        cam_post(w, (struct lks_message){.kind = CAM_AGENT, .node = i, .life = m->life}, away + 1);
        return;
    }
    m->life++;
    m->agent_up = true;
    reload_ledger(m);
    push(w, i);
    cam_agent_begin(w, i);
}

/* The machine is off; it comes back in another boot, unless it is beyond that. */
void cam_machine_down(struct cam *w, uint32_t i, const char *why)
{
    struct cam_machine *m = &w->machines[i];
    cam_say(w, "%s: %s", m->name, why);
    interrupt(w, i);
    cam_job_killed(w, i);
    m->up = m->measured = m->busy = false;
    if (!m->broken)
        cam_post(w, (struct lks_message){.kind = CAM_BOOT, .node = i, .life = m->life},
                 cam_takes(w, 4 * CAM_MINUTE) + LKS_SECOND);
}

void cam_machine_boot(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    if (m->up || m->broken)
        return;
    m->up = true;
    m->boot++;
    m->seq = 0;
    cam_say(w, "%s: is up, boot %" PRIu32, m->name, m->boot);
    cam_agent_turn(w, i);
}
