#include "lab/bmcsim/parts.h"

#include <stdio.h>
#include <stdlib.h>

#define LATE   (5 * LKS_SECOND) /* before a new task of some services can be found */
#define JOB_ID 400000000000U    /* what job numbers of some services begin with */

static bool ended(const struct lks_bmcsim_task *t)
{
    return t->state >= LKS_TASK_COMPLETED;
}

struct lks_bmcsim_task *lks_bmcsim_task_new(struct lks_bmcsim *b, bool forwarded)
{
    if (b->tasks == NULL)
        b->tasks = calloc(LKS_BMCSIM_TASKS_MAX, sizeof(*b->tasks));
    if (b->tasks == NULL)
        return NULL;
    if (b->task_count == LKS_BMCSIM_TASKS_MAX) {
        memmove(b->tasks, b->tasks + 1, (LKS_BMCSIM_TASKS_MAX - 1) * sizeof(*b->tasks));
        b->task_count--;
    }
    struct lks_bmcsim_task *t = &b->tasks[b->task_count++];
    *t = (struct lks_bmcsim_task){.number = b->last_task++,
                                  .forwarded = forwarded && b->kind->task_prefix != NULL,
                                  .state = LKS_TASK_RUNNING,
                                  .started = b->now};
    t->stuck = lks_bmcsim_fault_trouble(b, LKS_FAULT_TASK_STUCK, NULL) != NULL;
    char id[LKS_BMCSIM_ID_SIZE];
    lks_bmcsim_task_id(b, t, id);
    lks_bmcsim_task_tell(t, LKS_MSG_TASK_STARTED, id, NULL);
    return t;
}

struct lks_bmcsim_task *lks_bmcsim_task_find(struct lks_bmcsim *b, uint32_t number)
{
    for (size_t i = 0; i < b->task_count; i++)
        if (b->tasks[i].number == number)
            return &b->tasks[i];
    return NULL;
}

void lks_bmcsim_task_id(const struct lks_bmcsim *b, const struct lks_bmcsim_task *t,
                        char out[LKS_BMCSIM_ID_SIZE])
{
    char id[LKS_BMCSIM_ID_SIZE];
    if ((b->kind->flags & LKS_HAS_LATE_TASK) != 0)
        (void)snprintf(id, sizeof(id), "JID_%llu", JOB_ID + (unsigned long long)t->number);
    else
        lks_bmcsim_inventory_numbered(b->kind->task_format, t->number, id);
    (void)snprintf(out, LKS_BMCSIM_ID_SIZE, "%s%.100s", t->forwarded ? b->kind->task_prefix : "",
                   id);
}

void lks_bmcsim_task_tell(struct lks_bmcsim_task *t, enum lks_bmcsim_message message,
                          const char *a1, const char *a2)
{
    if (t->told_count == LKS_BMCSIM_TOLD_MAX) { /* what began it stays, what came last too */
        memmove(t->told + 1, t->told + 2, (LKS_BMCSIM_TOLD_MAX - 2) * sizeof(t->told[0]));
        t->told_count--;
    }
    struct lks_bmcsim_told *told = &t->told[t->told_count++];
    *told = (struct lks_bmcsim_told){.message = message};
    (void)snprintf(told->args[0], sizeof(told->args[0]), "%.63s", a1 != NULL ? a1 : "");
    (void)snprintf(told->args[1], sizeof(told->args[1]), "%.63s", a2 != NULL ? a2 : "");
}

void lks_bmcsim_task_end(struct lks_bmcsim *b, struct lks_bmcsim_task *t, bool good)
{
    uint32_t flags = b->kind->flags;
    char id[LKS_BMCSIM_ID_SIZE];
    if (t->stuck)
        return;
    if (!good && lks_bmcsim_fault_trouble(b, LKS_FAULT_TASK_LIES, NULL) != NULL) {
        t->told_count = 1;
        good = true;
    }
    lks_bmcsim_task_id(b, t, id);
    t->failed = !good;
    t->percent = 100;
    t->ended = b->now;
    t->state = good || t->critical || (flags & LKS_HAS_CRITICAL) != 0 ? LKS_TASK_COMPLETED
                                                                      : LKS_TASK_EXCEPTION;
    if ((flags & LKS_HAS_CRITICAL) != 0)
        lks_bmcsim_task_tell(t, good ? LKS_MSG_OEM_JOB_DONE : LKS_MSG_OEM_JOB_FAILED, NULL, NULL);
    bool told_good = good || t->critical;
    lks_bmcsim_task_tell(t, told_good ? LKS_MSG_TASK_COMPLETED : LKS_MSG_TASK_ABORTED, id, NULL);
}

void lks_bmcsim_tasks_forget(struct lks_bmcsim *b)
{
    b->task_count = 0;
}

void lks_bmcsim_tasks_activated(struct lks_bmcsim *b, unsigned unit, bool good)
{
    uint64_t bit = UINT64_C(1) << unit;
    for (size_t i = 0; i < b->task_count; i++) {
        struct lks_bmcsim_task *t = &b->tasks[i];
        if ((t->awaiting & bit) == 0)
            continue;
        t->awaiting &= ~bit;
        t->failed = t->failed || !good;
        if (t->awaiting == 0 && !ended(t))
            lks_bmcsim_task_end(b, t, !t->failed);
    }
}

/* A task that a client can see. */
static struct lks_bmcsim_task *visible(struct lks_bmcsim *b, struct lks_str id)
{
    for (size_t i = 0; i < b->task_count; i++) {
        struct lks_bmcsim_task *t = &b->tasks[i];
        char own[LKS_BMCSIM_ID_SIZE];
        lks_bmcsim_task_id(b, t, own);
        if (!lks_str_is(id, own) || t->lost)
            continue;
        lks_ms late = b->speed == 0 ? 0 : LATE / b->speed;
        bool young = (b->kind->flags & LKS_HAS_LATE_TASK) != 0 && b->now < t->started + late;
        return young ? NULL : t;
    }
    return NULL;
}

bool lks_bmcsim_task_get_service(struct lks_bmcsim_call *c)
{
    char now[LKS_TIME_TEXT_SIZE];
    lks_bmcsim_reply_head(c, "TaskService.v1_2_0.TaskService", "TaskService", "Task service");
    lks_json_write(&c->w,
                   "'DateTime': '%s', 'ServiceEnabled': true, "
                   "'CompletedTaskOverWritePolicy': 'Oldest', "
                   "'LifeCycleEventOnTaskStateChange': false, " LKS_BMCSIM_ENABLED ", "
                   "'Tasks': {'@odata.id': '/redfish/v1/TaskService/Tasks'}",
                   lks_time_text(c->b->now, now));
    return true;
}

bool lks_bmcsim_task_get_all(struct lks_bmcsim_call *c)
{
    size_t count = 0;
    lks_bmcsim_reply_collection(c, "Task", "Tasks");
    for (size_t i = 0; i < c->b->task_count; i++) {
        char id[LKS_BMCSIM_ID_SIZE];
        lks_bmcsim_task_id(c->b, &c->b->tasks[i], id);
        if (visible(c->b, lks_str_from(id)) == NULL)
            continue;
        lks_bmcsim_reply_member(c, "/redfish/v1/TaskService/Tasks/%s", id);
        count++;
    }
    lks_bmcsim_reply_collection_end(c, count);
    return true;
}

static const char *task_status(const struct lks_bmcsim *b, const struct lks_bmcsim_task *t)
{
    if (!t->failed || t->critical)
        return "OK";
    if ((b->kind->flags & LKS_HAS_CRITICAL) != 0)
        return "Critical";
    if ((b->kind->flags & LKS_HAS_OK) != 0)
        return "OK";
    return (b->kind->flags & LKS_HAS_MONITOR_ONCE) != 0 ? "Warning" : "Critical";
}

static void messages(struct lks_json_writer *w, const struct lks_bmcsim *b,
                     const struct lks_bmcsim_task *t)
{
    lks_json_begin(w, "Messages", '[');
    for (size_t i = 0; i < t->told_count; i++) {
        const char *const args[3] = {t->told[i].args[0], t->told[i].args[1], NULL};
        lks_json_begin(w, NULL, '{');
        if (lks_bmcsim_fault_trouble_on(b, LKS_FAULT_SEVERITY, NULL) != NULL)
            lks_bmcsim_message_write_old(w, b->kind, t->told[i].message, args);
        else
            lks_bmcsim_message_write(w, b->kind, t->told[i].message, args);
        lks_json_end(w, '}');
    }
    lks_json_end(w, ']');
}

bool lks_bmcsim_task_get(struct lks_bmcsim_call *c)
{
    static const char *const words[] = {[LKS_TASK_NEW] = "New",
                                        [LKS_TASK_RUNNING] = "Running",
                                        [LKS_TASK_STOPPING] = "Stopping",
                                        [LKS_TASK_PENDING] = "Pending",
                                        [LKS_TASK_COMPLETED] = "Completed",
                                        [LKS_TASK_EXCEPTION] = "Exception",
                                        [LKS_TASK_CANCELLED] = "Cancelled"};
    const struct lks_bmcsim_task *t = visible(c->b, c->arg[0]);
    if (t == NULL)
        return false;
    char id[LKS_BMCSIM_ID_SIZE], from[LKS_TIME_TEXT_SIZE], to[LKS_TIME_TEXT_SIZE];
    bool runs = c->b->job != NULL && c->b->job->task == t->number && !t->stuck;
    lks_bmcsim_task_id(c->b, t, id);
    lks_bmcsim_reply_head(c, "Task.v1_7_2.Task", id, "Update task");
    lks_json_write(
        &c->w,
        "'TaskState': '%s', 'TaskStatus': '%s', 'PercentComplete': %u, "
        "'StartTime': '%s', 'EndTime'?: '%s', 'HidePayload': true, "
        "'TaskMonitor': '/redfish/v1/TaskService/TaskMonitors/%s'",
        words[t->state], task_status(c->b, t), runs ? lks_bmcsim_job_percent(c->b) : t->percent,
        lks_time_text(t->started, from), ended(t) ? lks_time_text(t->ended, to) : "", id);
    messages(&c->w, c->b, t);
    return true;
}

/* The monitor's manners at the end are the personality's: 200 with the task, 204 once whatever
 * came of it, or gone. */
void lks_bmcsim_task_get_monitor(struct lks_bmcsim_call *c)
{
    uint32_t flags = c->b->kind->flags;
    struct lks_bmcsim_task *t = visible(c->b, c->arg[0]);
    if (t == NULL || (ended(t) && ((flags & LKS_HAS_MONITOR_GONE) != 0 ||
                                   ((flags & LKS_HAS_MONITOR_ONCE) != 0 && t->answered)))) {
        lks_bmcsim_reply_error(c, 404, LKS_MSG_NOT_FOUND, "TaskMonitor", "asked for");
        return;
    }
    char path[LKS_BMCSIM_PATH_SIZE], id[LKS_BMCSIM_ID_SIZE];
    lks_bmcsim_task_id(c->b, t, id);
    if (ended(t) && (flags & LKS_HAS_MONITOR_ONCE) != 0) {
        t->answered = true;
        lks_bmcsim_reply_success(c, 204);
        return;
    }
    (void)snprintf(path, sizeof(path), "/redfish/v1/TaskService/Tasks/%s", id);
    (void)lks_bmcsim_route_render(c->b, lks_str_from(path), 0, &c->reply->body);
    c->reply->status = ended(t) ? 200 : 202;
    if (!ended(t)) {
        lks_bmcsim_reply_header(c, "Location", "/redfish/v1/TaskService/TaskMonitors/%s", id);
        lks_bmcsim_reply_header(c, "Retry-After", "%u", 30U);
    }
}

void lks_bmcsim_task_delete(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    struct lks_bmcsim_task *t = visible(b, c->arg[0]);
    if (t == NULL) {
        lks_bmcsim_reply_error(c, 404, LKS_MSG_NOT_FOUND, "Task", "asked for");
        return;
    }
    if (!ended(t)) {
        lks_bmcsim_reply_error(c, 409, LKS_MSG_IN_USE, NULL, NULL);
        return;
    }
    size_t at = (size_t)(t - b->tasks);
    memmove(t, t + 1, (b->task_count - at - 1) * sizeof(*t));
    b->task_count--;
    lks_bmcsim_reply_success(c, 204);
}
