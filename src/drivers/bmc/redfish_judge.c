/* What was found, and what follows from it. */
#include "drivers/bmc/bmc_version.h"
#include "drivers/bmc/redfish_update.h"

#include <stdio.h>

#define AGREE_EVERY  (5 * LKS_SECOND)
#define LOOK_EVERY   (10 * LKS_SECOND) /* while it does not agree */
#define SETTLE       (60 * LKS_SECOND) /* time to show what was applied at once */
#define BOOT_SLACK   (5 * LKS_SECOND)  /* a start time that is computed varies a little */
#define MINUTE       (60 * LKS_SECOND)
#define WAIT_LEAST   10 /* minutes, for staging and for a reset */
#define DISAGREE_MAX 3  /* walks after a failed task */
#define WORDS_SIZE   (LKS_REDFISH_TEXT_SIZE + 64)

/* How long to wait before each look for something that was sent and not answered. */
static const lks_ms look_after[] = {30 * LKS_SECOND, 30 * LKS_SECOND, 60 * LKS_SECOND};

size_t lks_redfish_agreeing(const struct lks_redfish_update *u)
{
    size_t count = 0;
    for (size_t i = 0; i < u->target_count; i++)
        count +=
            lks_bmc_version_same(lks_str_from(u->targets[i].version), lks_str_from(u->version));
    return count;
}

size_t lks_redfish_staged_count(const struct lks_redfish_update *u)
{
    size_t count = 0;
    for (size_t i = 0; i < u->target_count; i++)
        count += u->targets[i].staged;
    return count;
}

size_t lks_redfish_reached(const struct lks_redfish_update *u)
{
    size_t count = 0;
    for (size_t i = 0; i < u->target_count; i++)
        count += u->targets[i].staged || lks_bmc_version_same(lks_str_from(u->targets[i].version),
                                                              lks_str_from(u->version));
    return count;
}

/* All entries that there were, none of them missing. */
static bool all_there(const struct lks_redfish_update *u)
{
    return u->target_count >= u->expected && u->target_count > 0 && u->unreadable == 0;
}

/* All of them run what is asked for or have it in their other bank. */
static bool all_reached(const struct lks_redfish_update *u)
{
    return all_there(u) && lks_redfish_reached(u) == u->target_count;
}

static const char *found(const struct lks_redfish_update *u)
{
    for (size_t i = 0; i < u->target_count; i++) {
        if (!lks_bmc_version_same(lks_str_from(u->targets[i].version), lks_str_from(u->version)))
            return u->targets[i].version[0] != '\0' ? u->targets[i].version : "no version";
    }
    return u->target_count > 0 ? u->targets[0].version : "nothing";
}

void lks_redfish_walked(struct lks_redfish_update *u, lks_ms now)
{
    if (u->late || u->purpose == LKS_RF_AGREE)
        lks_redfish_judge_agree(u, now);
    else if (u->purpose == LKS_RF_SURVEY)
        lks_redfish_plan(u, now);
    else
        lks_redfish_walk_tasks(u, now);
}

/* A service that has a state of its own is as good as a task, and was read long ago. */
void lks_redfish_tasks_walked(struct lks_redfish_update *u, lks_ms now)
{
    if (u->oem_state_now[0] == '\0') {
        lks_redfish_tasks_known(u, now);
        return;
    }
    u->state_asked = true;
    lks_conversation_go(&u->r.head, LKS_RF_SERVICE, now);
}

/* It was too busy for what was sent, and nothing new is there: then it may come again. */
static void judge_busy(struct lks_redfish_update *u, lks_ms now)
{
    char why[sizeof(u->why)];
    memcpy(why, u->why, sizeof(why));
    u->why[0] = '\0';
    if (u->fresh[0] != '\0' && (u->fresh_runs || u->old_known))
        lks_redfish_follow_fresh(u, now);
    else if (u->old_known && !u->tasks_read)
        lks_redfish_seek(u, now, now);
    else if (u->busy >= LKS_CONVERSATION_TRIES_MAX)
        lks_redfish_end(u, now, u->starts > 0 ? LKS_BMC_FAILED : LKS_BMC_REFUSED,
                        "the service stays busy: %s", why);
    else
        lks_conversation_go(&u->r.head, u->sent == LKS_RF_SENT_START ? LKS_RF_START : LKS_RF_UPLOAD,
                            now);
}

/* It did not run before anything was sent. What it does cannot be given up by its address. */
static void take_service(struct lks_redfish_update *u)
{
    if (!lks_redfish_service_runs(u) || u->act == LKS_BMC_ABORT)
        return;
    lks_redfish_keep(u->running, sizeof(u->running), lks_str_from(u->r.update_service));
    if (u->purpose == LKS_RF_SURVEY || u->fresh_runs)
        return;
    lks_redfish_keep(u->fresh, sizeof(u->fresh), lks_str_from(u->r.update_service));
    u->fresh_runs = true;
}

void lks_redfish_tasks_known(struct lks_redfish_update *u, lks_ms now)
{
    take_service(u);
    if (u->purpose == LKS_RF_SURVEY) {
        u->old_known = u->old_known && u->tasks_read;
        u->old_listed = u->old_count;
        lks_redfish_begin_act(u, now);
    } else if (u->purpose == LKS_RF_CLEAR && u->sent == LKS_RF_SENT_CANCEL) {
        lks_redfish_given_up(u, now);
    } else if (u->purpose == LKS_RF_CLEAR) {
        lks_redfish_clear(u, now);
    } else if (u->purpose == LKS_RF_BUSY) {
        judge_busy(u, now);
    } else {
        lks_redfish_judge_sought(u, now);
    }
}

/* Something was sent and not answered ------------------------------------------------------- */

/* The service is asked anew from its root: it may have restarted, and we may have. */
void lks_redfish_seek(struct lks_redfish_update *u, lks_ms now, lks_ms when)
{
    (void)now;
    u->purpose = LKS_RF_SEEK;
    u->booted_now[0] = '\0';
    lks_conversation_go(&u->r.head, LKS_RF_ROOT, when);
}

static bool knows_old(const struct lks_redfish_update *u)
{
    for (size_t i = 0; i < u->old_listed; i++) {
        if (!u->old_there[i])
            return false;
    }
    return true;
}

/* Did the service start anew since before? Only a service that says when it started, or that still
 * knows its old tasks, can prove that it did not; one that forgot them has forgotten ours, too,
 * whatever it says of the machine that it runs on. */
static bool stayed_up(const struct lks_redfish_update *u)
{
    lks_ms then, since;
    if (!knows_old(u))
        return false;
    if (u->booted[0] != '\0' && u->booted_now[0] != '\0') {
        if (!lks_time_parse(lks_str_from(u->booted), &then) ||
            !lks_time_parse(lks_str_from(u->booted_now), &since))
            return strcmp(u->booted, u->booted_now) == 0;
        return then > since ? then - since <= BOOT_SLACK : since - then <= BOOT_SLACK;
    }
    return u->old_listed > 0;
}

static uint64_t hash_entry(const char *key, const char *version)
{
    char both[LKS_REDFISH_KEY_SIZE + LKS_REDFISH_VERSION_SIZE];
    snprintf(both, sizeof(both), "%s\n%s", key, version);
    return lks_redfish_hash(lks_str_from(both));
}

/* In whatever order they are listed. Of a long list only what has the key of an entry is read each
 * time. */
void lks_redfish_hash_entries(const struct lks_redfish_update *u, uint64_t out[2])
{
    out[0] = out[1] = 0;
    for (size_t i = 0; i < u->target_count; i++) {
        const struct lks_redfish_target *t = &u->targets[i];
        out[0] += hash_entry(t->key, t->version);
        for (size_t k = 0; k < u->bank_count; k++) {
            if (strcmp(u->banks[k].key, t->key) == 0)
                out[1] += hash_entry(t->key, u->banks[k].version);
        }
    }
}

/* What an upload left staged has changed before its start was sent. */
static bool nothing_changed(const struct lks_redfish_update *u)
{
    uint64_t now[2];
    lks_redfish_hash_entries(u, now);
    return now[0] == u->entries[0] && (u->sent == LKS_RF_SENT_START || now[1] == u->entries[1]);
}

/* Is it proved that what was sent did not arrive? NULL: yes; else what is missing. */
static const char *no_proof(const struct lks_redfish_update *u)
{
    bool forgets = lks_redfish_manners(u->r.vendor)->forgets_tasks;
    if (u->taken)
        return "the service reported that it accepted it";
    if (u->fresh_runs || u->fresh_blank || u->others_run)
        return "there is a task that may be it";
    if (!u->tasks_read || !u->old_known)
        return "the service does not list its tasks";
    if (!all_there(u))
        return "not every entry of the inventory can be read";
    if (!nothing_changed(u))
        return "the inventory says another thing than before";
    if (!stayed_up(u))
        return "the service may have restarted since, and forgotten it";
    if (forgets && (strcmp(u->oem_state, "Idle") != 0 || strcmp(u->oem_state_now, "Idle") != 0))
        return "the service does not say whether it took it";
    return NULL;
}

/* Why the end of what was sent is not known: the words that a reason starts with. */
static const char *unheard(const struct lks_redfish_update *u, const char *what,
                           char out[WORDS_SIZE])
{
    if (u->fault[0] != '\0')
        snprintf(out, WORDS_SIZE, "the service answered %s with %s", what, u->fault);
    else
        snprintf(out, WORDS_SIZE, "no answer to %s", what);
    return out;
}

static void send_again(struct lks_redfish_update *u, lks_ms now)
{
    char words[WORDS_SIZE];
    const char *missing = no_proof(u);
    if (missing != NULL)
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN,
                        "%s, and whether it arrived is unknown: %s; inspect the device, it has %s",
                        u->taken ? "nothing is to be seen of what was sent"
                                 : unheard(u, "what was sent", words),
                        missing, found(u));
    else if (u->uploads >= LKS_REDFISH_UPLOADS_MAX || u->starts >= LKS_REDFISH_UPLOADS_MAX)
        lks_redfish_end(u, now, LKS_BMC_FAILED, "it was sent %u times and never arrived: %s",
                        u->sent == LKS_RF_SENT_START ? u->starts : u->uploads,
                        unheard(u, "the last", words));
    else if (u->sent == LKS_RF_SENT_START)
        lks_redfish_send_start(u, now);
    else
        lks_redfish_send_upload(u, now);
}

static bool begins(const struct lks_redfish_update *u)
{
    return u->sent == LKS_RF_SENT_UPLOAD || u->sent == LKS_RF_SENT_START;
}

bool lks_redfish_has_task(const struct lks_redfish_update *u)
{
    return begins(u) || (u->sent == LKS_RF_SENT_RESET && u->acted && u->resets == 0);
}

/* Where nothing else led to it, it may be foreign. A task of which the list reports another thing
 * than itself is not asked without a pause. */
void lks_redfish_follow_fresh(struct lks_redfish_update *u, lks_ms now)
{
    bool found = u->task[0] == '\0' || u->task_found;
    bool again = strcmp(u->task, u->fresh) == 0;
    lks_redfish_follow(u, lks_str_from(u->fresh), true, again ? now + LKS_REDFISH_POLL : now);
    u->task_found = found;
}

/* What an upload leaves staged says nothing of the start behind it. */
static bool has_arrived(const struct lks_redfish_update *u)
{
    if (u->sent == LKS_RF_SENT_UPLOAD)
        return lks_redfish_reached(u) > u->had_reached;
    return lks_redfish_agreeing(u) > u->had;
}

void lks_redfish_judge_sought(struct lks_redfish_update *u, lks_ms now)
{
    bool any = begins(u) && !u->only_running;
    /* A foreign task may have ended, and ours not be in the list yet. */
    bool may_show = begins(u) && u->task_over && u->task_found && u->looks < LKS_COUNT(look_after);
    if (lks_redfish_has_task(u) && u->fresh[0] != '\0' && (u->fresh_runs || any)) {
        lks_redfish_follow_fresh(u, now);
    } else if (lks_redfish_has_task(u) && !u->task_over && u->task[0] != '\0') {
        lks_conversation_go(&u->r.head, LKS_RF_FOLLOW, now);
    } else if (!may_show && begins(u) && u->busy > 0 && u->task_found && !has_arrived(u)) {
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN,
                        "the service reported that it is busy, a task that may be foreign ended, "
                        "and there is no trace of what was sent; inspect the device, it has %s",
                        found(u));
    } else if (!may_show && (!begins(u) || u->task_over || has_arrived(u))) {
        u->task_lost = u->task_lost || (begins(u) && !u->task_over); /* its end was not seen */
        u->task_over = true;
        lks_redfish_after_task(u, now);
    } else if (u->looks < LKS_COUNT(look_after)) {
        lks_redfish_seek(u, now, now + look_after[u->looks++]);
    } else {
        u->looks = 0;
        send_again(u, now);
    }
}

/* Does the inventory agree? ----------------------------------------------------------------- */

void lks_redfish_after_task(struct lks_redfish_update *u, lks_ms now)
{
    bool whole = !u->task_lost || all_reached(u);
    bool verified = u->sent == LKS_RF_SENT_UPLOAD && !u->task_failed && whole &&
                    strcmp(u->apply, "OnStartUpdateRequest") == 0;
    lks_redfish_add_old(u, lks_str_from(u->task));
    u->agreed = u->disagreed = 0;
    u->since = now;
    if (verified && u->act == LKS_BMC_UPDATE && lks_redfish_agreeing(u) == 0)
        lks_redfish_send_start(u, now);
    else
        lks_redfish_walk(u, LKS_RF_AGREE, now);
}

lks_ms lks_redfish_allowed(const struct lks_redfish_update *u, bool activation)
{
    const struct lks_firmware_update *row = lks_facts_firmware(u->facts, lks_str_from(u->kind));
    int64_t minutes = 0;
    if (row != NULL)
        minutes = 3 * (activation ? row->activate_min : row->stage_min);
    return (lks_ms)(minutes > WAIT_LEAST ? minutes : WAIT_LEAST) * MINUTE;
}

/* The version before cannot come back where the lowest that is supported has risen above it. */
static const char *way_back(const struct lks_redfish_update *u, char out[LKS_REDFISH_TEXT_SIZE])
{
    enum lks_version_scheme scheme = lks_facts_scheme(u->facts, lks_str_from(u->kind));
    out[0] = '\0';
    if (lks_bmc_version_older(lks_str_from(u->before), lks_str_from(u->lowest), scheme))
        snprintf(out, LKS_REDFISH_TEXT_SIZE,
                 "; it cannot be reverted to %.64s: the lowest version it takes is now %.64s",
                 u->before, u->lowest);
    return out;
}

static void done(struct lks_redfish_update *u, lks_ms now)
{
    char back[LKS_REDFISH_TEXT_SIZE], but[LKS_REDFISH_TEXT_SIZE + 32] = "";
    if (u->task_failed)
        snprintf(but, sizeof(but), "; its task had reported: %s", u->why);
    lks_redfish_end(u, now, LKS_BMC_DONE, "%zu of %zu entries of %s say %s, %d times in a row%s%s",
                    u->target_count, u->target_count, u->component, u->version,
                    LKS_REDFISH_AGREE_TIMES, way_back(u, back), but);
}

static void staged(struct lks_redfish_update *u, lks_ms now)
{
    bool shown = u->bank_count > 0;
    lks_redfish_end(u, now, LKS_BMC_STAGED, "%s waits for its activation%s", u->version,
                    shown ? "" : ", as its task says; the inventory shows no staged bank");
}

static void failed_task(struct lks_redfish_update *u, lks_ms now)
{
    size_t agreeing = lks_redfish_agreeing(u);
    if (++u->disagreed < DISAGREE_MAX)
        lks_redfish_walk(u, LKS_RF_AGREE, now + LOOK_EVERY);
    else
        lks_redfish_end(u, now, LKS_BMC_FAILED, "%s; %zu of %zu entries say %s, the others %s",
                        u->why, agreeing, u->target_count, u->version, found(u));
}

bool lks_redfish_switch_lost(const struct lks_redfish_update *u)
{
    return u->act == LKS_BMC_SWITCH && u->resets == 0 && !u->reset_heard && u->bank_count == 0 &&
           u->backup_activate[0] != '\0' && all_there(u);
}

/* A reset was sent, and there is still another version. */
static void judge_activated(struct lks_redfish_update *u, lks_ms now)
{
    char words[WORDS_SIZE];
    if (u->act == LKS_BMC_SWITCH && u->resets == 0 && u->task_failed) {
        failed_task(u, now);
        return;
    }
    bool only_acted = u->acted && u->resets == 0;
    /* Two that were answered and changed nothing are enough. */
    uint32_t most = u->reset_heard ? 2 : LKS_REDFISH_RESETS_MAX;
    bool did_not_happen = all_there(u) && (lks_redfish_staged_count(u) > 0 || !u->reset_heard);
    /* What is gone after an action may be restarting by itself. */
    bool shows = only_acted && all_there(u);
    if (now - u->activated < (shows ? SETTLE : lks_redfish_allowed(u, true)))
        lks_redfish_walk(u, LKS_RF_AGREE, now + LOOK_EVERY);
    else if (lks_redfish_switch_lost(u) && u->switches >= LKS_REDFISH_RESETS_MAX)
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN, "%s, and it runs %s and not %s",
                        unheard(u, "the switch of banks", words), found(u), u->version);
    else if (shows || (did_not_happen && u->resets < most))
        lks_redfish_activate(u, now); /* perhaps for a second time; no flash is repeated */
    else if (!all_there(u))
        lks_redfish_end(
            u, now, LKS_BMC_UNKNOWN, "after the %s %zu of %zu entries of %s are to be read",
            only_acted ? "activation" : "reset", u->target_count, u->expected, u->component);
    else if (!u->reset_heard && u->resets > 0)
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN, "%s, and it runs %s and not %s",
                        unheard(u, "a reset", words), found(u), u->version);
    else
        lks_redfish_end(u, now, LKS_BMC_FAILED, "after the reset it still runs %s and not %s",
                        found(u), u->version);
}

/* The end of the task is unknown. What it did may still show. */
static void judge_lost(struct lks_redfish_update *u, lks_ms now)
{
    if (now - u->since < lks_redfish_allowed(u, false))
        lks_redfish_walk(u, LKS_RF_AGREE, now + LOOK_EVERY);
    else
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN,
                        "its task vanished, %s is to be seen in %zu of %zu entries, and the device "
                        "has %s",
                        u->version, lks_redfish_reached(u), u->expected, found(u));
}

/* All that was to be staged is. Where no task of its own said so, one may have come into the list
 * since. */
static void judge_staged(struct lks_redfish_update *u, lks_ms now)
{
    if (u->task_ended || u->cleared > u->since)
        staged(u, now);
    else
        lks_redfish_activate(u, now);
}

/* The task is over, nothing was reset yet, and not all entries agree. What is applied at once gets
 * its time to show, and so does a task where none was seen to end. */
static void judge_applied(struct lks_redfish_update *u, lks_ms now)
{
    bool at_once = strcmp(u->apply, "Immediate") == 0 && u->reset_at[0] == '\0';
    bool all_staged = u->bank_count == 0 || lks_redfish_staged_count(u) >= u->target_count;
    bool unseen = begins(u) && !u->task_ended;
    bool settling = now - u->since < SETTLE;
    if (u->task_failed)
        failed_task(u, now);
    else if (u->task_lost && !all_reached(u))
        judge_lost(u, now);
    else if (u->act == LKS_BMC_STAGE && all_there(u) && all_staged && !(unseen && settling))
        judge_staged(u, now);
    else if ((at_once || unseen || !all_there(u) || !all_staged) && settling)
        lks_redfish_walk(u, LKS_RF_AGREE, now + LOOK_EVERY);
    else if (u->act == LKS_BMC_STAGE)
        lks_redfish_end(u, now, LKS_BMC_FAILED, "its task ended, and the staged version is %s",
                        u->bank_count > 0 ? u->banks[0].version : "not to be read");
    else
        lks_redfish_activate(u, now);
}

/* The deadline is over: what is not proved now is not known. */
static void judge_late(struct lks_redfish_update *u, lks_ms now)
{
    if (u->task_failed && all_there(u))
        lks_redfish_end(u, now, LKS_BMC_FAILED, "%s; it has %s", u->why, found(u));
    else
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN,
                        "not finished by its deadline (%s%s); the device has %s",
                        u->task_over ? "the task ended" : "the task did not end",
                        u->activated > 0 ? ", the reset was sent" : "", found(u));
}

/* Nothing is staged, and the tasks were read: one that runs on would stage it again. */
void lks_redfish_given_up(struct lks_redfish_update *u, lks_ms now)
{
    bool read = u->tasks_read || !u->old_known;
    if (read && u->running[0] == '\0')
        lks_redfish_end(u, now, LKS_BMC_DONE, "nothing of %s is staged any more; it runs %s",
                        u->component, found(u));
    else if (!u->late && now - u->since < lks_redfish_allowed(u, false))
        lks_redfish_walk(u, LKS_RF_AGREE, now + LOOK_EVERY);
    else
        lks_redfish_end(
            u, now, LKS_BMC_UNKNOWN, "it was given up, and %s; nothing is staged, and it runs %s",
            read ? "a task of an update still runs" : "the tasks cannot be read any more",
            found(u));
}

/* An entry that cannot be read may be the one that is staged. */
static void judge_cancelled(struct lks_redfish_update *u, lks_ms now)
{
    bool read = all_there(u) && u->missed == 0 && !u->listed_over && !u->miscounted;
    bool gone = read && u->bank_count == 0;
    u->agreed = gone ? u->agreed + 1 : 0;
    if (u->agreed >= LKS_REDFISH_AGREE_TIMES)
        lks_redfish_activate(u, now); /* it is only looked at the tasks */
    else if (gone)
        lks_redfish_walk(u, LKS_RF_AGREE, now + AGREE_EVERY);
    else if (u->late)
        judge_late(u, now);
    else if (!all_there(u) || now - u->since < SETTLE)
        lks_redfish_walk(u, LKS_RF_AGREE, now + LOOK_EVERY);
    else if (u->bank_count == 0)
        lks_redfish_end(u, now, LKS_BMC_UNKNOWN,
                        "it was given up, and whether it is still staged is unknown: not every "
                        "entry of the inventory can be read; it runs %s",
                        found(u));
    else if (!u->reset_heard && u->resets < LKS_REDFISH_RESETS_MAX)
        lks_redfish_cancel_again(u, now);
    else
        lks_redfish_end(u, now, LKS_BMC_FAILED, "%s is still staged", u->version);
}

/* A task that moved of late is at it, whatever the inventory says already; one that has stood still
 * for as long as the slowest device may take says nothing any more. */
static bool still_moves(const struct lks_redfish_update *u, lks_ms now)
{
    bool open = lks_redfish_has_task(u) && u->task[0] != '\0' && !u->task_over;
    return open && (u->task_still == 0 || now - u->task_still < lks_redfish_allowed(u, false));
}

void lks_redfish_judge_agree(struct lks_redfish_update *u, lks_ms now)
{
    if (u->sent == LKS_RF_SENT_CANCEL) {
        judge_cancelled(u, now);
        return;
    }
    if (all_there(u) && lks_redfish_agreeing(u) == u->target_count &&
        !(u->late && still_moves(u, now))) {
        if (++u->agreed >= LKS_REDFISH_AGREE_TIMES) {
            done(u, now);
            return;
        }
        lks_redfish_walk(u, LKS_RF_AGREE, now + AGREE_EVERY);
        return;
    }
    u->agreed = 0;
    if (u->late)
        judge_late(u, now);
    else if (u->activated > 0)
        judge_activated(u, now);
    else
        judge_applied(u, now);
}
