/* The method of procedure of a change, for programs and for people. */
#include "core/procedure/procedure.h"
#include "core/rows/change.h"
#include "core/state/lookup.h"
#include "server/api/handle.h"
#include "server/api/routes.h"
#include "server/auth/authz.h"
#include "server/form/views_change.h"

/* False, and the answer written, where there is none. The caller owes lks_document_fini(). */
static bool make(struct lks_authz *authz, struct lks_call *call, struct lks_job_cost *jobs,
                 struct lks_document *out)
{
    const struct lks_state_change *c = lks_state_change(authz->state, lks_authz_id(call));
    struct lks_price price = {0};
    struct lks_err err = {0};
    LKS_ASSERT(c != NULL); /* its scope was looked at */
    if (!lks_procedure_price_parse(LKS_ASKED(call, lks_query_procedure)->gpu_hour, &price)) {
        lks_call_problem(call, LKS_E_INVALID, "gpu_hour: no price such as '2.5 EUR'");
        return false;
    }
    const struct lks_view_jobs v = {authz->state, lks_engine_book(authz->engine),
                                    &authz->sched.sites, authz->now};
    bool begun = c->state != LKS_CHANGE_PROPOSED && c->state != LKS_CHANGE_APPROVED;
    if (lks_procedure_make(v.state, v.book, c, &price, out, &err) == LKS_OK &&
        (begun || lks_view_jobs_cost(&v, NULL, c, jobs, &err) == LKS_OK)) {
        lks_procedure_jobs(out, v.state, jobs);
        if (lks_document_check(out, &err) == LKS_OK)
            return true;
    }
    lks_call_problem_err(call, &err);
    return false;
}

void lks_handle_change_procedure(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_job_cost_fini) struct lks_job_cost jobs = {0};
    LKS_CLEANUP(lks_document_fini) struct lks_document document = {0};
    if (!make(authz, call, &jobs, &document))
        return;
    struct lks_json_writer w = lks_call_json(call);
    lks_document_json(&document, &w);
    lks_json_end(&w, '}');
}

void lks_handle_change_paper(struct lks_authz *authz, struct lks_call *call)
{
    LKS_CLEANUP(lks_job_cost_fini) struct lks_job_cost jobs = {0};
    LKS_CLEANUP(lks_document_fini) struct lks_document document = {0};
    if (!make(authz, call, &jobs, &document))
        return;
    lks_buf_truncate(&call->out, 0);
    lks_document_markdown(&document, &call->out);
    call->status = 200;
    call->type = call->route->answer_type;
}
