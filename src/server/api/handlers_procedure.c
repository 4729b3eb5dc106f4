/* The method of procedure of a change, for programs and for people. */
#include "core/procedure/procedure.h"
#include "server/api/handlers.h"
#include "server/api/routes.h"
#include "server/auth/desk.h"

/* False, and the answer written, where there is none. The caller owes lks_paper_fini(). */
static bool make(const struct lks_desk *desk, struct lks_call *call, struct lks_paper *out)
{
    const struct lks_state_change *c = lks_desk_change(desk, call);
    struct lks_price price = {0};
    struct lks_err err = {0};
    if (c == NULL) {
        lks_call_problem(call, LKS_E_NOT_FOUND, "there is no such change");
        return false;
    }
    if (!lks_price_parse(lks_call_text(call, "gpu_hour"), &price)) {
        lks_call_problem(call, LKS_E_INVALID, "gpu_hour: no price such as '2.5 EUR'");
        return false;
    }
    if (lks_procedure_make(desk->state, lks_engine_book(desk->engine), c, &price, out, &err) ==
        LKS_OK)
        return true;
    lks_call_problem_err(call, &err);
    return false;
}

void lks_handle_change_procedure(struct lks_desk *desk, struct lks_call *call)
{
    LKS_CLEANUP(lks_paper_fini) struct lks_paper paper = {0};
    if (!make(desk, call, &paper))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_paper_json(&paper, &w);
    lks_json_end(&w, '}');
}

void lks_handle_change_paper(struct lks_desk *desk, struct lks_call *call)
{
    LKS_CLEANUP(lks_paper_fini) struct lks_paper paper = {0};
    if (!make(desk, call, &paper))
        return;
    lks_buf_truncate(&call->out, 0);
    lks_paper_markdown(&paper, &call->out);
    call->status = 200;
    call->type = call->route->answer_type;
}
