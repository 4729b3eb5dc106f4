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

void lks_handle_events(struct lks_desk *desk, struct lks_call *call)
{
    uint64_t now = lks_engine_seq(desk->engine) + 1;
    uint64_t from = lks_call_number(call, "from", call->last_event);
    call->from = from == 0 || from > now ? now : from;
    call->stream = true;
}

void lks_handle_backup(struct lks_desk *desk, struct lks_call *call)
{
    (void)desk;
    call->work = lks_read_backup;
}
