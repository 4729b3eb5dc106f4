#include "core/rows/alarm.h"
#include "core/state/state.h"
#include "server/api/handle.h"
#include "server/auth/authz.h"
#include "server/form/views.h"

/* Newest first: `after` is the number of the last one of the page before. */
void lks_handle_alarms(struct lks_authz *authz, struct lks_call *call)
{
    const struct lks_state *s = authz->state;
    struct lks_authz_page page;
    const struct lks_query_alarms *ask = LKS_ASKED(call, lks_query_alarms);
    if (!lks_authz_page_begin(call, &ask->page, &page))
        return;
    for (uint32_t i = s->alarm_count; i-- > 0 && page.next == 0;) {
        const struct lks_state_alarm *a = &s->alarms[i];
        if (a->id >= page.after || (ask->open >= 0 && (a->released == 0) != ask->open) ||
            !lks_authz_may_alarm(authz, call, a))
            continue;
        lks_view_row_item(&page.w, &lks_view_alarms, LKS_USE_LISTED, s, a);
        if (--page.left == 0 && i > 0)
            page.next = a->id;
    }
    lks_authz_page_end(&page);
}

void lks_handle_alarm_release(struct lks_authz *authz, struct lks_call *call)
{
    struct lks_event event = {
        .kind = LKS_EVENT_ALARM_RELEASE,
        .reason = LKS_ASKED(call, lks_ask_reason)->reason,
        .alarm = lks_authz_id(call),
    };
    lks_authz_record(authz, call, &event);
}
