/* Alarms, and runs of jobs that ended. */
#include "codec/notation/hostlist.h"
#include "core/registry/book.h"
#include "core/rows/alarm.h"
#include "core/state/runs.h"
#include "core/state/state.h"
#include "core/view/view.h"
#include "server/api/handle.h"
#include "server/auth/rows.h"
#include "server/form/views.h"

#include <string.h>

#define HOSTS_MAX ((size_t)64 << 20)

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

/* Runs of jobs ------------------------------------------------------------------------------ */

/* Units of work of one request: each name of a list of nodes is one, and each list. */
enum { JOB_WORK = 200000 };

static bool read_hosts(struct lks_rows_walk *walk, const struct lks_run *run,
                       struct lks_arena *arena, struct lks_hostlist *out)
{
    struct lks_err err = {0};
    lks_arena_init(arena, HOSTS_MAX);
    walk->work += 1 + (uint64_t)run->nodes;
    return lks_hostlist_parse(lks_state_text(walk->authz->state, run->hosts), arena, out, &err) ==
           LKS_OK;
}

/* A run shows its nodes and their stacks: it is for those who may read all of them. */
static bool sees_run(struct lks_rows_walk *walk, const void *row)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    const struct lks_state *s = walk->authz->state;
    const struct lks_run *run = row;
    struct lks_hostlist hosts = {0};
    struct lks_scope scope = {.pool = lks_state_text(s, run->pool),
                              .site = lks_state_text(s, run->site)};
    if (walk->sight.all)
        return true;
    if (!lks_authz_may(walk->authz, walk->call, LKS_MAY_READ, scope))
        return false;
    if (run->hosts != 0 && !read_hosts(walk, run, &arena, &hosts))
        return false;
    for (size_t i = 0; i < hosts.count; i++) {
        uint32_t node = lks_state_node(s, hosts.names[i]);
        if (node != LKS_NO_NODE && s->nodes[node].placed && s->nodes[node].site == run->site &&
            !lks_authz_sees(&walk->sight, node))
            return false;
    }
    return true;
}

/* "17" is also its tasks, "17_3", and its parts, "17+1". */
static bool is_of(struct lks_str job, struct lks_str asked)
{
    bool starts = job.len > asked.len && memcmp(job.ptr, asked.ptr, asked.len) == 0;
    return lks_str_eq(job, asked) ||
           (starts && (job.ptr[asked.len] == '_' || job.ptr[asked.len] == '+'));
}

static bool ran_on(struct lks_rows_walk *walk, const struct lks_run *run, struct lks_str node)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist hosts = {0};
    if (!read_hosts(walk, run, &arena, &hosts))
        return false;
    for (size_t i = 0; i < hosts.count; i++) {
        if (lks_str_eq(hosts.names[i], node))
            return true;
    }
    return false;
}

/* Whether one of its stacks is the one that is asked for, by digest or name, and pins what is asked
 * for. */
static bool has_stack(const struct lks_rows_walk *walk, const struct lks_run *run,
                      const struct lks_query_jobs *ask)
{
    const struct lks_book *book = lks_engine_book(walk->authz->engine);
    struct lks_str rest = lks_state_text(walk->authz->state, run->digest), digest;
    while (lks_str_word(&rest, &digest)) {
        const struct lks_stack *stack = lks_book_stack(book, digest);
        bool named = ask->stack.len == 0 || lks_str_eq(digest, ask->stack) ||
                     (stack != NULL && lks_str_eq(stack->name, ask->stack));
        bool pins = ask->component.len == 0;
        for (size_t i = 0; stack != NULL && i < stack->component_count && !pins; i++)
            pins =
                lks_str_eq(stack->components[i].name, ask->component) &&
                (ask->version.len == 0 || lks_str_eq(stack->components[i].version, ask->version));
        if (named && pins)
            return true;
    }
    return false;
}

static bool has_names(const struct lks_rows_walk *walk, const struct lks_run *run,
                      const struct lks_query_jobs *ask)
{
    const struct {
        struct lks_str asked;
        lks_text has;
    } names[] = {{ask->user, run->user},
                 {ask->account, run->account},
                 {ask->partition, run->partition},
                 {ask->pool, run->pool},
                 {ask->site, run->site}};
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        if (names[i].asked.len > 0 &&
            !lks_str_eq(lks_state_text(walk->authz->state, names[i].has), names[i].asked))
            return false;
    }
    return true;
}

static bool shows_run(struct lks_rows_walk *walk, const void *row)
{
    const struct lks_query_jobs *ask = LKS_ASKED(walk->call, lks_query_jobs);
    const struct lks_run *run = row;
    if ((ask->since != 0 && run->ended < ask->since) ||
        (ask->until != 0 && run->started >= ask->until) ||
        (ask->interrupted >= 0 && lks_runs_interrupted(run->cause) != (ask->interrupted != 0)) ||
        (ask->id.len > 0 && !is_of(lks_state_text(walk->authz->state, run->job), ask->id)))
        return false;
    if (!has_names(walk, run, ask))
        return false;
    if ((ask->stack.len > 0 || ask->component.len > 0) && !has_stack(walk, run, ask))
        return false;
    return ask->node.len == 0 || ran_on(walk, run, ask->node);
}

static bool begin_jobs(struct lks_rows_walk *walk)
{
    const struct lks_query_jobs *ask = LKS_ASKED(walk->call, lks_query_jobs);
    if (ask->version.len == 0 || ask->component.len > 0)
        return true;
    lks_call_problem(walk->call, LKS_E_INVALID,
                     "query: version needs component, such as component=nccl");
    return false;
}

void lks_handle_jobs(struct lks_authz *authz, struct lks_call *call)
{
    static const struct lks_rows jobs = {.view = &lks_view_runs,
                                         .begin = begin_jobs,
                                         .sees = sees_run,
                                         .shows = shows_run,
                                         .work_max = JOB_WORK};
    lks_rows_page(authz, call, &jobs);
}
