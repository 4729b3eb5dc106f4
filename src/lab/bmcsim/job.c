#include "lab/bmcsim/parts.h"

#include <stdio.h>
#include <stdlib.h>

#define FETCH 600          /* seconds that an image may take to be fetched */
#define IMAGE "update.bin" /* what messages call what was sent */

static struct lks_bmcsim_task *task_of(struct lks_bmcsim *b)
{
    return lks_bmcsim_task_find(b, b->job->task);
}

/* A message to the task, if it is still there. */
static void tell(struct lks_bmcsim *b, enum lks_bmcsim_message message, const char *a1,
                 const char *a2)
{
    struct lks_bmcsim_task *t = task_of(b);
    if (t != NULL)
        lks_bmcsim_task_tell(t, message, a1, a2);
}

void lks_bmcsim_job_drop(struct lks_bmcsim *b)
{
    if (b->job == NULL)
        return;
    lks_buf_fini(&b->job->image);
    lks_buf_fini(&b->job->uri);
    free(b->job);
    b->job = NULL;
}

bool lks_bmcsim_job_unit_written(const struct lks_bmcsim *b, const struct lks_bmcsim_unit *u)
{
    return b->job != NULL && b->job->phase == LKS_JOB_STAGE && &b->units[b->job->now] == u;
}

unsigned lks_bmcsim_job_percent(const struct lks_bmcsim *b)
{
    const struct lks_bmcsim_job *job = b->job;
    if (job->phase != LKS_JOB_STAGE || job->all == 0)
        return job->phase == LKS_JOB_WAIT ? 100 : 0;
    lks_ms all = job->ends - job->began, gone = b->now - job->began;
    unsigned part = all == 0 ? 0 : (unsigned)(gone * 100 / all);
    unsigned left = (unsigned)__builtin_popcountll(job->todo);
    unsigned percent = ((job->all - left - 1) * 100 + part) / job->all;
    return percent > 99 ? 99 : percent;
}

/* ---- Beginning ---- */

/* The redundant peer; -1: it has none. */
static int partner(const struct lks_bmcsim *b, unsigned unit)
{
    const struct lks_bmcsim_unit *u = &b->units[unit];
    if ((u->row->flags & LKS_ROW_PAIRED) == 0)
        return -1;
    unsigned at = (unsigned)(u->number - u->row->first);
    return (int)(at % 2 == 0 ? unit + 1 : unit - 1);
}

/* Whether `units` leaves every redundant pair one side that works. */
static bool keeps_redundancy(const struct lks_bmcsim *b, uint64_t units)
{
    for (unsigned i = 0; i < b->unit_count; i++) {
        int other = (units >> i & 1U) != 0 ? partner(b, i) : -1;
        if (other >= 0 &&
            ((units >> other & 1U) != 0 || b->units[other].bricked || b->units[other].activating))
            return false;
    }
    return true;
}

static void refuse_busy(struct lks_bmcsim_call *c)
{
    if (lks_bmcsim_fault_trouble(c->b, LKS_FAULT_MEMORY, NULL) != NULL)
        lks_bmcsim_reply_error(c, 500, LKS_MSG_NO_RESOURCES, "memory", NULL);
    else
        lks_bmcsim_reply_error(c, c->b->kind->busy,
                               c->b->kind->busy == 405 ? LKS_MSG_OEM_BUSY : LKS_MSG_IN_PROGRESS,
                               NULL, NULL);
}

/* Power or BMC fails while the upload comes in: there is no answer. */
static bool fails_meanwhile(struct lks_bmcsim *b)
{
    if (lks_bmcsim_fault_trouble(b, LKS_FAULT_POWER_LOSS, "upload") != NULL) {
        lks_bmcsim_reset_lose_power(b);
        return true;
    }
    if (lks_bmcsim_fault_trouble(b, LKS_FAULT_BMC_REBOOT, "upload") != NULL) {
        lks_bmcsim_tasks_forget(b);
        lks_bmcsim_reset(b, LKS_RESET_BMC);
        return true;
    }
    return false;
}

static bool refused(struct lks_bmcsim_call *c, const struct lks_bmcsim_wish *wish,
                    struct lks_str image, struct lks_str uri)
{
    struct lks_bmcsim *b = c->b;
    const struct lks_bmcsim_trouble *no = lks_bmcsim_fault_trouble(b, LKS_FAULT_REFUSE, NULL);
    bool turning = b->power == LKS_POWER_GOING_ON || b->power == LKS_POWER_GOING_OFF;
    if (no != NULL)
        lks_bmcsim_reply_error(c, (int)no->amount, LKS_MSG_UNAVAILABLE, "30", NULL);
    else if (fails_meanwhile(b))
        c->reply->status = 0;
    else if (b->job != NULL)
        refuse_busy(c);
    else if (turning && (b->kind->flags & LKS_HAS_FORM) != 0)
        lks_bmcsim_reply_error(c, 400, LKS_MSG_IN_USE, NULL, NULL);
    else if (image.len == 0 && uri.len == 0)
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_MISSING, "UpdateFile", NULL);
    else if (image.len > b->kind->max_image || image.len > LKS_BMCSIM_IMAGE_MAX)
        lks_bmcsim_reply_error(c, 413, LKS_MSG_TOO_LARGE, NULL, NULL);
    else if (wish->targeted && !keeps_redundancy(b, wish->targets))
        lks_bmcsim_reply_error(c, 409, LKS_MSG_TARGETS_CONFLICT, "Targets", "the redundant side");
    else
        return false;
    return true;
}

static void enter(struct lks_bmcsim *b, enum lks_bmcsim_phase phase, unsigned seconds)
{
    b->job->phase = phase;
    b->job->began = b->now;
    b->job->ends = phase == LKS_JOB_WAIT ? LKS_BMCSIM_NEVER : b->now + lks_bmcsim_span(b, seconds);
}

/* Whether the update goes on to the HGX board: its task says so. */
static bool forwarded(const struct lks_bmcsim *b, const struct lks_bmcsim_wish *wish)
{
    for (size_t i = 0; i < b->unit_count; i++)
        if ((wish->targets >> i & 1U) != 0 && strncmp(b->units[i].id, "HGX_", 4) == 0)
            return true;
    return false;
}

struct lks_bmcsim_task *lks_bmcsim_job_begin(struct lks_bmcsim_call *c,
                                             const struct lks_bmcsim_wish *wish,
                                             struct lks_str image, struct lks_str uri)
{
    struct lks_bmcsim *b = c->b;
    if (refused(c, wish, image, uri))
        return NULL;
    struct lks_bmcsim_task *task = lks_bmcsim_task_new(b, forwarded(b, wish));
    b->job = task != NULL ? calloc(1, sizeof(*b->job)) : NULL;
    if (b->job == NULL) {
        lks_bmcsim_reply_error(c, 500, LKS_MSG_INTERNAL, NULL, NULL);
        return NULL;
    }
    b->job->wish = *wish;
    b->job->task = task->number;
    lks_buf_init(&b->job->image, LKS_BMCSIM_IMAGE_MAX);
    lks_buf_init(&b->job->uri, (size_t)LKS_BMCSIM_PATH_SIZE * 8);
    lks_buf_add(&b->job->image, image);
    lks_buf_add(&b->job->uri, uri);
    bool fetch = image.len == 0;
    enter(b, fetch ? LKS_JOB_FETCH : LKS_JOB_VERIFY, fetch ? FETCH : b->kind->verify);
    if (fetch && b->speed == 0)
        b->job->ends = b->now + FETCH * LKS_SECOND; /* the owner that fetches takes real time */
    b->updates++;
    b->hpe_state = "Uploading";
    b->hpe_result = LKS_MSG_IN_PROGRESS;
    return task;
}

bool lks_bmcsim_job_wants(const struct lks_bmcsim *b, struct lks_str *uri)
{
    if (b->job == NULL || b->job->phase != LKS_JOB_FETCH || b->job->image.len > 0)
        return false;
    *uri = lks_buf_view(&b->job->uri);
    return true;
}

/* ---- Ending ---- */

/* The state that HPE's own object shows: a reset that is still needed counts as an error there. */
static void hpe_end(struct lks_bmcsim *b, bool good)
{
    bool reset = false;
    for (unsigned i = 0; i < b->unit_count; i++)
        reset = reset ||
                ((b->job->staged >> i & 1U) != 0 && (b->units[i].row->flags & LKS_ROW_SELF) == 0 &&
                 b->units[i].row->reset != LKS_RESET_AUTO);
    b->hpe_state = good && !reset ? "Complete" : "Error";
    b->hpe_result = !good   ? LKS_MSG_OEM_BAD_IMAGE
                    : reset ? LKS_MSG_OEM_RESET_REQUIRED
                            : LKS_MSG_SUCCESS;
}

/* What becomes of a staged unit without further requests. */
enum fate { FATE_WAITS, FATE_ITSELF, FATE_BMC, FATE_HOST };
static enum fate fate_of(const struct lks_bmcsim *b, const struct lks_bmcsim_unit *u)
{
    const struct lks_bmcsim_wish *wish = &b->job->wish;
    bool now = wish->apply != LKS_APPLY_ON_RESET && (b->kind->flags & LKS_HAS_REBOOTS) != 0;
    if (wish->stage_only)
        return FATE_WAITS;
    if (u->row->reset == LKS_RESET_AUTO)
        return FATE_ITSELF;
    if (u->row->reset == LKS_RESET_BMC)
        return now || (u->row->flags & LKS_ROW_SELF) != 0 ? FATE_BMC : FATE_WAITS;
    return now && u->row->reset == LKS_RESET_HOST ? FATE_HOST : FATE_WAITS;
}

/* Units that wait for a reset keep the task of some services open. */
static void await(struct lks_bmcsim *b, struct lks_bmcsim_task *t, unsigned unit)
{
    struct lks_bmcsim_unit *u = &b->units[unit];
    uint32_t flags = b->kind->flags;
    u->held = b->job->wish.stage_only;
    if (t == NULL)
        return;
    if ((b->job->told >> unit & 1U) == 0)
        lks_bmcsim_task_tell(t, LKS_MSG_AWAIT_ACTIVATE, u->staged, u->id);
    bool stopping = (flags & LKS_HAS_STOPPING) != 0 && u->row->reset != LKS_RESET_BMC;
    bool pending = (flags & LKS_HAS_CRITICAL) != 0;
    if (!stopping && !pending)
        return;
    t->awaiting |= UINT64_C(1) << unit;
    if (!t->stuck)
        t->state = stopping ? LKS_TASK_STOPPING : LKS_TASK_PENDING;
}

static void finish(struct lks_bmcsim *b)
{
    struct lks_bmcsim_job *job = b->job;
    struct lks_bmcsim_task *t = task_of(b);
    bool good = job->broken == 0;
    uint64_t itself = 0;
    bool bmc = false, host = false;
    for (unsigned i = 0; i < b->unit_count; i++) {
        if ((job->staged >> i & 1U) == 0)
            continue;
        enum fate fate = fate_of(b, &b->units[i]);
        bmc = bmc || fate == FATE_BMC;
        host = host || fate == FATE_HOST;
        if (fate == FATE_WAITS)
            await(b, t, i);
        else if (fate != FATE_BMC && t != NULL)
            t->awaiting |= UINT64_C(1) << i;
        if (fate == FATE_ITSELF)
            itself |= UINT64_C(1) << i;
    }
    hpe_end(b, good);
    if (t != NULL)
        t->failed = !good;
    if (t != NULL && t->awaiting == 0)
        lks_bmcsim_task_end(b, t, good);
    lks_bmcsim_job_drop(b);
    lks_bmcsim_reset_activate(b, itself, LKS_RESET_AUTO);
    if (host)
        lks_bmcsim_reset(b, LKS_RESET_HOST);
    if (bmc)
        lks_bmcsim_reset(b, LKS_RESET_BMC);
}

/* It fails as a whole, before any device was touched. */
static void fail(struct lks_bmcsim *b, enum lks_bmcsim_message why)
{
    tell(b, why, IMAGE, "the BMC");
    b->job->broken = 1;
    finish(b);
}

void lks_bmcsim_job_abort(struct lks_bmcsim *b)
{
    if (b->job == NULL)
        return;
    if (b->job->phase == LKS_JOB_STAGE) { /* what was being written is no image any more */
        struct lks_bmcsim_unit *u = &b->units[b->job->now];
        u->staged[0] = '\0';
        u->held = false;
        if ((u->row->flags & LKS_ROW_SINGLE) == 0)
            u->backup[0] = '\0';
    }
    struct lks_bmcsim_task *t = task_of(b);
    if (t != NULL)
        lks_bmcsim_task_end(b, t, false);
    lks_bmcsim_job_drop(b);
}

/* ---- In between ---- */

static void stage_next(struct lks_bmcsim *b)
{
    struct lks_bmcsim_job *job = b->job;
    if (job->todo == 0) {
        finish(b);
        return;
    }
    job->now = (unsigned)__builtin_ctzll(job->todo);
    job->todo &= job->todo - 1;
    struct lks_bmcsim_unit *u = &b->units[job->now];
    u->begun++;
    tell(b, LKS_MSG_TRANSFERRING, IMAGE, u->id);
    enter(b, LKS_JOB_STAGE, u->row->staging);
    job->cut = lks_bmcsim_fault_trouble_on(b, LKS_FAULT_POWER_LOSS, "staging") != NULL ||
               lks_bmcsim_fault_trouble_on(b, LKS_FAULT_BMC_REBOOT, "staging") != NULL;
    if (job->cut)
        job->ends = job->began + (job->ends - job->began) / 2;
    struct lks_bmcsim_task *t = task_of(b);
    if (t != NULL && lks_bmcsim_fault_trouble(b, LKS_FAULT_TASK_LOST, NULL) != NULL)
        t->lost = true;
}

static void verified(struct lks_bmcsim *b)
{
    struct lks_bmcsim_job *job = b->job;
    uint64_t todo = 0;
    enum lks_bmcsim_message why = lks_bmcsim_flash_targets(b, job, &todo);
    if (why == LKS_MSG_SUCCESS && !keeps_redundancy(b, todo))
        why = LKS_MSG_TARGETS_CONFLICT;
    if (lks_bmcsim_fault_trouble(b, LKS_FAULT_CRITICAL, NULL) != NULL) {
        struct lks_bmcsim_task *failed = task_of(b);
        if (failed != NULL)
            failed->critical = true;
        why = LKS_MSG_OEM_JOB_FAILED;
    }
    if (why != LKS_MSG_SUCCESS) {
        fail(b, why);
        return;
    }
    job->todo = todo;
    job->all = (unsigned)__builtin_popcountll(todo);
    b->hpe_state = "Updating";
    if (job->wish.apply != LKS_APPLY_ON_START) {
        stage_next(b);
        return;
    }
    struct lks_bmcsim_task *t = task_of(b);
    tell(b, LKS_MSG_AWAIT_UPDATE, IMAGE, "the BMC");
    if (t != NULL)
        lks_bmcsim_task_end(b, t, true);
    enter(b, LKS_JOB_WAIT, 0);
}

void lks_bmcsim_job_start(struct lks_bmcsim *b)
{
    struct lks_bmcsim_task *t = lks_bmcsim_task_new(b, false);
    if (t == NULL)
        return;
    b->job->task = t->number;
    stage_next(b);
}

/* Power or BMC went in the middle of it. */
static void cut_short(struct lks_bmcsim *b)
{
    bool power = lks_bmcsim_fault_trouble(b, LKS_FAULT_POWER_LOSS, "staging") != NULL;
    if (!power)
        (void)lks_bmcsim_fault_trouble(b, LKS_FAULT_BMC_REBOOT, "staging");
    lks_bmcsim_job_abort(b);
    if (!power)
        lks_bmcsim_tasks_forget(b);
    if (power)
        lks_bmcsim_reset_lose_power(b);
    else
        lks_bmcsim_reset(b, LKS_RESET_BMC);
}

/* One that is ready says so while the next is written. */
static void tell_ready(struct lks_bmcsim *b, unsigned unit)
{
    struct lks_bmcsim_unit *u = &b->units[unit];
    if (b->job == NULL || (b->job->staged >> unit & 1U) == 0 || fate_of(b, u) != FATE_WAITS)
        return;
    b->job->told |= UINT64_C(1) << unit;
    tell(b, LKS_MSG_AWAIT_ACTIVATE, u->staged, u->id);
}

static void staged(struct lks_bmcsim *b)
{
    struct lks_bmcsim_job *job = b->job;
    unsigned unit = job->now;
    struct lks_bmcsim_unit *u = &b->units[unit];
    char version[LKS_BMCSIM_VERSION_SIZE] = "";
    enum lks_bmcsim_message why = lks_bmcsim_flash(b, job, job->now, version);
    if (why == LKS_MSG_SUCCESS) {
        u->flashes++;
        (void)snprintf(u->staged, sizeof(u->staged), "%s", version);
        if ((u->row->flags & LKS_ROW_SINGLE) == 0)
            u->backup[0] = '\0'; /* the other bank has the new image now */
        u->held = false;
        job->staged |= UINT64_C(1) << job->now;
        tell(b, LKS_MSG_UPDATE_SUCCESSFUL, u->id, version);
    } else if (why == LKS_MSG_SKIPPED_SAME) {
        tell(b, why, u->id, version);
    } else {
        job->broken |= UINT64_C(1) << job->now;
        tell(b, why, version[0] != '\0' ? version : IMAGE, u->id);
    }
    stage_next(b);
    tell_ready(b, unit);
}

void lks_bmcsim_job_step(struct lks_bmcsim *b)
{
    switch (b->job->phase) {
    case LKS_JOB_FETCH:
        fail(b, LKS_MSG_TRANSFER_FAILED);
        break;
    case LKS_JOB_VERIFY:
        verified(b);
        break;
    case LKS_JOB_WAIT:
        break;
    case LKS_JOB_STAGE:
        if (b->job->cut)
            cut_short(b);
        else
            staged(b);
        break;
    }
}

void lks_bmcsim_job_fetched(struct lks_bmcsim *b, lks_ms now, struct lks_str bytes)
{
    struct lks_str uri;
    lks_bmcsim_tick(b, now);
    if (!lks_bmcsim_job_wants(b, &uri))
        return;
    lks_buf_add(&b->job->image, bytes);
    if (bytes.len == 0 || b->job->image.failed != LKS_OK)
        fail(b, LKS_MSG_TRANSFER_FAILED);
    else if (b->job->file[0] != '\0')
        lks_bmcsim_nvue_file_keep(b);
    else
        enter(b, LKS_JOB_VERIFY, b->kind->verify);
    lks_bmcsim_plan(b);
}
