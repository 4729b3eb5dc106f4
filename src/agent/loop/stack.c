#include "agent/loop/stack.h"

#include "agent/loop/agent.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static enum lks_code refresh(struct lks_agent *a, struct lks_err *err)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(LKS_NODE_STACK_BYTES_MAX);
    struct lks_node_stack stack = {0};
    if (lks_agent_exchange(a, "GET", "/v1/agent/stack", NULL, LKS_STR(""), &answer, err) !=
            LKS_OK ||
        lks_answer_stack(lks_buf_view(&answer.body), &stack, err) != LKS_OK)
        return err->code;
    lks_node_stack_pack(&stack, &bytes);
    if (lks_buf_check(&bytes, err) != LKS_OK)
        return err->code;
    return lks_statedir_write(&a->notices.dir, LKS_NODE_STACK_FILE, lks_buf_view(&bytes), err);
}

static lks_ms next(const struct lks_agent *a, bool fails, bool barred)
{
    lks_ms beats = LKS_AGENT_STACK_AGAIN_BEATS * a->controller.heartbeat;
    if (fails)
        return beats < LKS_AGENT_STACK_AGAIN_MS ? beats : LKS_AGENT_STACK_AGAIN_MS;
    return barred ? LKS_AGENT_STACK_BARRED_MS : LKS_AGENT_STACK_MS;
}

/* A file that could not be made anew gets old, and its readers notice. */
void lks_agent_stack_beat(struct lks_agent *a, bool barred)
{
    struct lks_agent_stack *s = &a->stack;
    struct lks_err err = {0};
    lks_ms now = lks_agent_now();
    if (a->notices.fd == 0)
        return;
    if (now < s->due && barred == s->barred) {
        if (!s->failed)
            (void)utimensat(a->notices.dir.fd, LKS_NODE_STACK_FILE, NULL, AT_SYMLINK_NOFOLLOW);
        return;
    }
    bool fails = refresh(a, &err) != LKS_OK;
    if (fails && !s->failed)
        lks_agent_note(a, LKS_LEVEL_WARNING, "jobs of this node do not learn of its stack", "why",
                       err.msg);
    s->failed = fails;
    s->barred = barred;
    lks_ms again = next(a, fails, barred);
    s->due = now + again / 2 + lks_rng_below(&a->rng, again / 2);
}
