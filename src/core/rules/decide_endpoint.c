/* The certificates that management endpoints are known by. */
#include "core/firmware/endpoint.h"
#include "core/rules/decide_rules.h"
#include "core/state/state.h"

/* A person inspected what the endpoint shows and records it; from then on nothing is sent to a
 * server that shows something else. A repetition is no change. */
void lks_decide_endpoint(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    uint32_t node = lks_state_node(d->state, e->name);
    struct lks_str name = e->name, print = e->fingerprint;
    struct lks_endpoint endpoint = {0};
    if (!lks_decision_reason(d))
        return;
    if (node == LKS_NO_NODE)
        lks_decision_no_node(d, name);
    else if (!lks_endpoint_find(d->book, name, &endpoint))
        lks_decision_refuse(d, LKS_E_REFUSED,
                            "%" LKS_STR_FMT " has no management endpoint: give it a bmc in the "
                            "fleet's file",
                            LKS_STR_ARG(name));
    else if (print.len > 0 && !lks_digest_valid(print))
        lks_decision_refuse(d, LKS_E_INVALID,
                            "fingerprint: '%" LKS_STR_FMT "' is none; one is sha256: and 64 of 0-9 "
                            "a-f",
                            LKS_STR_ARG(print));
    else if (!lks_str_eq(lks_state_text(d->state, d->state->nodes[node].endpoint), print))
        lks_decision_add(d, LKS_RECORD_ENDPOINT)->endpoint = (struct lks_rec_endpoint){
            .node = name, .fingerprint = print, .by = e->by, .reason = lks_str_trim(e->reason)};
}
