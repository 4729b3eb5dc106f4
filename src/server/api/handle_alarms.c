#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/form/forms.h"
#include "server/form/views.h"

/* Newest first: `after` is the number of the last one of the page before. */
void lks_handle_alarms(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    struct lks_str after = lks_call_text(call, "after");
    uint64_t below = UINT64_MAX, left = lks_call_number(call, "limit", LKS_LIST_DEFAULT);
    int open = lks_call_truth(call, "open");
    if (after.len > 0 && !lks_str_number(after, UINT64_MAX, &below)) {
        lks_call_problem(call, LKS_E_INVALID, "query: after: is not the `next` of a page");
        return;
    }
    char next[24] = "";
    struct lks_json_writer w = lks_call_json(call);
    lks_json_begin(&w, "items", '[');
    for (uint32_t i = s->alarm_count; i-- > 0 && next[0] == '\0';) {
        const struct lks_state_alarm *a = &s->alarms[i];
        if (a->id >= below || (open >= 0 && (a->released == 0) != open) ||
            !lks_authz_may_alarm(authz, call, a))
            continue;
        lks_json_begin(&w, NULL, '{');
        lks_view_alarm(&w, s, a);
        lks_json_end(&w, '}');
        if (--left == 0 && i > 0)
            snprintf(next, sizeof(next), "%llu", (unsigned long long)a->id);
    }
    lks_json_end(&w, ']');
    lks_view_text(&w, "next", lks_str_from(next));
    lks_json_end(&w, '}');
}

void lks_handle_alarm_release(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {
        .kind = LKS_EVENT_ALARM_RELEASE,
        .reason = lks_doc_text(call->body, "reason"),
    };
    bool ok = lks_str_number(lks_call_path(call, "id"), UINT64_MAX, &event.alarm);
    LKS_ASSERT(ok); /* its scope was looked at */
    lks_authz_record(authz, call, &event);
}
