#include "port/sched.h"

/* What stands in a path of its own. */
static bool is_name(struct lks_str s)
{
    bool good = s.len > 0 && s.len <= LKS_SCHED_NODE_MAX && s.ptr[0] != '.';
    for (size_t i = 0; i < s.len && good; i++) {
        char c = s.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    }
    return good;
}

enum lks_code lks_sched_check(const struct lks_sched_wish *wish, struct lks_err *err)
{
    bool owned = wish->verb != LKS_SCHED_LOOK;
    if (!is_name(wish->node))
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is no name of a node",
                        LKS_STR_ARG(wish->node));
    if ((owned && wish->owner.len == 0) || wish->owner.len > LKS_SCHED_OWNER_MAX ||
        !lks_str_printable(wish->owner))
        return lks_fail(err, LKS_E_INVALID,
                        "the owner of a drain is a line of 1 to %d bytes, not '%" LKS_STR_FMT "'",
                        LKS_SCHED_OWNER_MAX, LKS_STR_ARG(wish->owner));
    return LKS_OK;
}

/* Digits, then "_TASK" of an array or "+OFFSET" of a heterogeneous job. */
static bool is_job(struct lks_str id)
{
    bool good = id.len > 0 && id.len <= LKS_SCHED_JOB_MAX;
    for (size_t i = 0; i < id.len && good; i++) {
        char c = id.ptr[i];
        good = (c >= '0' && c <= '9') || (i > 0 && (c == '_' || c == '+'));
    }
    return good;
}

static enum lks_code check_told(const struct lks_sched_site_wish *wish, struct lks_err *err)
{
    if (wish->told_count == 0 || wish->told_count > LKS_SCHED_TOLD_MAX)
        return lks_fail(err, LKS_E_INVALID, "a request publishes 1 to %d nodes",
                        LKS_SCHED_TOLD_MAX);
    for (uint32_t i = 0; i < wish->told_count; i++) {
        if (!is_name(wish->told[i].node))
            return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is no name of a node",
                            LKS_STR_ARG(wish->told[i].node));
    }
    return LKS_OK;
}

/* What stands in a path; '+' is between the parts of a name of ours. */
static bool is_reservation(struct lks_str name)
{
    bool good =
        lks_str_starts(name, LKS_SCHED_RESERVATION_MARK) && name.len <= LKS_SCHED_RESERVATION_NAME;
    for (size_t i = 0; i < name.len && good; i++)
        good =
            name.ptr[i] == '+' || is_name((struct lks_str){name.ptr + i, 1}) || name.ptr[i] == '.';
    return good;
}

static enum lks_code check_reservation(const struct lks_sched_site_wish *wish, struct lks_err *err)
{
    const struct lks_sched_reservation *r = &wish->reservation;
    if (!is_reservation(r->name))
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is no name of a reservation",
                        LKS_STR_ARG(r->name));
    if (wish->verb == LKS_SCHED_SITE_RESERVE && (r->nodes.len == 0 || r->until <= r->from))
        return lks_fail(err, LKS_E_INVALID,
                        "reservation %" LKS_STR_FMT " has no nodes, or ends before it starts",
                        LKS_STR_ARG(r->name));
    return LKS_OK;
}

enum lks_code lks_sched_check_site(const struct lks_sched_site_wish *wish, struct lks_err *err)
{
    static const struct lks_str_named signals[] = {
        {"USR1", 1}, {"USR2", 1}, {"HUP", 1}, {"TERM", 1}};
    if (wish->verb == LKS_SCHED_SITE_JOBS || wish->verb == LKS_SCHED_SITE_LEAD ||
        wish->verb == LKS_SCHED_SITE_RESERVATIONS || wish->verb == LKS_SCHED_SITE_RUNS ||
        wish->verb == LKS_SCHED_SITE_POLICY)
        return LKS_OK;
    if (wish->verb == LKS_SCHED_SITE_RESERVE || wish->verb == LKS_SCHED_SITE_UNRESERVE)
        return check_reservation(wish, err);
    if (wish->verb == LKS_SCHED_SITE_PUBLISH)
        return check_told(wish, err);
    if (!is_job(wish->job))
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is no id of a job",
                        LKS_STR_ARG(wish->job));
    if (wish->started == 0 || wish->started > LKS_TIME_MAX)
        return lks_fail(err, LKS_E_INVALID,
                        "a request about job %" LKS_STR_FMT " names the start of a run",
                        LKS_STR_ARG(wish->job));
    if (wish->verb == LKS_SCHED_SITE_SIGNAL &&
        lks_str_lookup(wish->signal, signals, LKS_COUNT(signals), 0) == 0)
        return lks_fail(err, LKS_E_INVALID,
                        "'%" LKS_STR_FMT "' is none of the signals USR1, USR2, HUP and TERM",
                        LKS_STR_ARG(wish->signal));
    return LKS_OK;
}
