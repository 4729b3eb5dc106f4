#include "server/daemon.h"
#include "server/desk.h"
#include "server/handlers.h"
#include "server/reads.h"

void lks_handle_journal(struct lks_desk *desk, struct lks_call *call)
{
    (void)desk;
    call->from = lks_call_number(call, "from", 1);
    call->work = lks_read_journal;
}

void lks_handle_head(struct lks_desk *desk, struct lks_call *call)
{
    const struct lks_head *head = lks_engine_head(desk->engine);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf line = {0};
    lks_buf_init(&line, LKS_HEAD_TEXT_MAX);
    call->needs = 0; /* a head is told only when it is durable */
    struct lks_json_writer w = lks_call_json(call);
    if (head->seq != 0) {
        lks_head_text(head, &line);
        lks_json_text(&w, "head", lks_buf_view(&line));
    }
    lks_json_cstr(&w, "key", lks_daemon_secrets(call->daemon)->journal_public);
    lks_json_end(&w, '}');
}

/* A reader that resumes where there is nothing to resume from would miss rows and not know. */
void lks_handle_events(struct lks_desk *desk, struct lks_call *call)
{
    unsigned long long now = lks_engine_seq(desk->engine) + 1, first = desk->first_row;
    unsigned long long from = lks_call_number(call, "from", call->last_event);
    if (from == LKS_CALL_NO_EVENT)
        lks_call_problem(call, LKS_E_INVALID, "Last-Event-ID has to be the number of a row");
    else if (from > now)
        lks_call_problem(
            call, LKS_E_REFUSED,
            "row %llu is beyond the journal's end; the next one is %llu, and a journal "
            "that was restored is shorter: begin anew",
            from, now);
    else if (from != 0 && from < first)
        lks_call_problem(call, LKS_E_REFUSED,
                         "rows before %llu are not kept any more; begin with ?from=%llu", first,
                         first);
    else
        call->stream = true;
    call->from = from == 0 ? now : from;
}

void lks_handle_backup(struct lks_desk *desk, struct lks_call *call)
{
    (void)desk;
    call->work = lks_read_backup;
}

void lks_handle_state(struct lks_desk *desk, struct lks_call *call)
{
    (void)desk;
    call->work = lks_read_state;
}

static bool has_manifest(const struct lks_state *s, struct lks_str digest)
{
    if (lks_str_eq(lks_state_text(s, s->fleet_manifest), digest))
        return true;
    for (uint32_t i = 0; i < s->stack_count; i++)
        if (lks_str_eq(lks_state_text(s, s->stacks[i].manifest), digest))
            return true;
    for (uint32_t i = 0; i < s->bundle_count; i++)
        if (lks_str_eq(lks_state_text(s, s->bundles[i].manifest), digest))
            return true;
    return false;
}

void lks_handle_manifest(struct lks_desk *desk, struct lks_call *call)
{
    struct lks_str digest = lks_call_path(call, "digest");
    if (!lks_digest_valid(digest) || !has_manifest(desk->state, digest)) {
        lks_call_problem(call, LKS_E_NOT_FOUND,
                         "neither the fleet nor a stack or bundle has a manifest of this digest");
        return;
    }
    LKS_ASSERT(digest.len < sizeof(call->blob));
    memcpy(call->blob, digest.ptr, digest.len);
    call->work = lks_read_blob;
}
