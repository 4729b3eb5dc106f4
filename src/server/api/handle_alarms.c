#include "core/rows/alarm.h"
#include "server/api/handle.h"
#include "server/auth/rows.h"
#include "server/form/views.h"

/* Nodes that one request looks at. */
enum { ALARM_NODES = 1000000 };

static bool shows_alarm(struct lks_rows_walk *walk, const void *row)
{
    const struct lks_state_alarm *a = row;
    int open = LKS_ASKED(walk->call, lks_query_alarms)->open;
    if (open >= 0 && (a->released == 0) != open)
        return false;
    walk->work += walk->sight.all ? 1 : lks_authz_alarm_nodes(walk->authz, a);
    return lks_authz_may_alarm(walk->authz, walk->call, a);
}

void lks_handle_alarms(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows alarms = {
        .view = &lks_view_alarms, .shows = shows_alarm, .work_max = ALARM_NODES};
    lks_rows_page(authz, call, &alarms);
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
