/*
 * Updating a component of a switch tray:
 *
 *     LIST      which versions there are
 *     FETCH     the tray fetches the image itself, and FETCHING follows that
 *     ACTIONS   which jobs there are by now
 *     INSTALL   and INSTALLING follows that; one component after the other
 *     REBOOT    where a component wants it
 *     LIST      until it agrees, three times
 *
 * To fetch a file twice is harmless. To install twice is not: an installation whose answer was lost
 * is looked for among the jobs and in the versions, and begun again only with proof that it never
 * arrived: the tray still knows every job that it knew before, ours to fetch among them, none is
 * new, and nothing changed.
 *
 * To go on beside an installation that still writes is worse than both. A job that was found may be
 * another's, so the jobs are read again when it has ended, until none runs; and after one whose end
 * was not seen nothing more is started or restarted, unless its component runs what was asked for.
 * In any case no installation is started and nothing is restarted while any job of the tray runs.
 */
#include "drivers/bmc/nvos_update.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define AGREE_TIMES 3
#define POLL        (5 * LKS_SECOND)
#define AGAIN       (2 * LKS_SECOND)
#define MINUTE      (60 * LKS_SECOND)
#define GRACE       (120 * LKS_SECOND)
#define LAST_LOOK   (600 * LKS_SECOND)
#define SETTLE      (30 * LKS_SECOND)
#define LOOK_MAX    4 /* looks for an installation that was not answered, half a minute apart */
#define LOOK_EVERY  (30 * LKS_SECOND)
#define TRIES_MAX   3  /* to fetch, to install what provably never arrived, to restart */
#define GONE_MAX    3  /* a new job may not be there yet */
#define BLANK_MAX   18 /* a job that was read before and is not to be read now goes on meanwhile */
#define GONE_WAIT   (10 * LKS_SECOND)
#define HOLD_EVERY  (10 * LKS_SECOND)
#define HOLDS_MAX   18 /* looks in vain before jobs that cannot be seen count for nothing */

static void end(struct lks_nvos_update *u, enum lks_bmc_outcome outcome, const char *fmt, ...)
    LKS_PRINTF(3, 4);
static void end(struct lks_nvos_update *u, enum lks_bmc_outcome outcome, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(u->text, sizeof(u->text), fmt, ap);
    va_end(ap);
    lks_str_make_printable(u->text); /* whatever the tray said in it */
    u->outcome = outcome;
    lks_conversation_end(&u->r.head);
}

static const char *held_by(const struct lks_nvos_update *u)
{
    return u->held ? ", waiting for a job of the tray to end" : "";
}

/* An image that was fetched and lies there changes nothing. */
static bool may_have_changed(const struct lks_nvos_update *u)
{
    return u->installs > 0 || u->reboots > 0;
}

static void look(struct lks_nvos_update *u, unsigned purpose, lks_ms when)
{
    u->purpose = purpose;
    lks_conversation_go(&u->r.head, LKS_NVOS_LIST, when);
}

static void look_at_jobs(struct lks_nvos_update *u, unsigned purpose, lks_ms when)
{
    u->purpose = purpose;
    lks_conversation_go(&u->r.head, LKS_NVOS_ACTIONS, when);
}

/* Sending ----------------------------------------------------------------------------------- */

/* Of the job that is followed from now on nothing is known yet. */
static void name_job(struct lks_nvos_update *u, const char *name, bool sought)
{
    snprintf(u->job, sizeof(u->job), "%s", name);
    u->sought = sought;
    u->shown = false;
    u->gone = u->percent = 0;
}

static void send_fetch(struct lks_nvos_update *u, lks_ms now)
{
    u->sent = LKS_NVOS_SENT_FETCH;
    name_job(u, "", false);
    lks_conversation_go_checkpoint(&u->r.head, LKS_NVOS_FETCH, now);
}

static void send_install(struct lks_nvos_update *u, lks_ms now)
{
    u->sent = LKS_NVOS_SENT_INSTALL;
    u->installs++;
    u->taken = false;
    name_job(u, "", false);
    lks_conversation_go_checkpoint(&u->r.head, LKS_NVOS_INSTALL, now);
}

/* The next component that does not have it yet, or what follows the last. Nothing more is begun
 * where one went wrong or may still be writing. */
static void go_on(struct lks_nvos_update *u, lks_ms now)
{
    bool stop = u->lost || u->why[0] != '\0';
    while (!stop && lks_nvos_has_it(u, u->at))
        u->at++;
    if (!stop)
        snprintf(u->turn, sizeof(u->turn), "%s",
                 u->at < u->target_count ? u->targets[u->at].id : "");
    u->looks = u->agreed = u->proved = u->tries = u->absent = 0;
    u->since = now;
    if (!stop && u->at < u->target_count)
        send_fetch(u, now);
    else
        look(u, LKS_NVOS_AGREE, now);
}

/* The installation of the component whose turn it is has ended, or is lost. */
static void after_job(struct lks_nvos_update *u, lks_ms now, bool lost)
{
    u->lost = u->lost || lost;
    u->at += !u->lost && u->at < u->target_count;
    go_on(u, now);
}

/* The survey -------------------------------------------------------------------------------- */

static bool refuse(struct lks_nvos_update *u)
{
    const struct lks_firmware_update *row = lks_facts_firmware(u->facts, lks_str_from(u->kind));
    if (u->left_out > 0)
        end(u, LKS_BMC_REFUSED,
            "the tray has more than %d entries of %s, or one with an id of more than %zu "
            "characters; name one of them by its id",
            LKS_NVOS_TARGETS_MAX, u->component, sizeof(u->turn) - 1);
    else if (u->target_count == 0)
        end(u, LKS_BMC_REFUSED, "the tray has no component %s", u->component);
    else if (lks_nvos_agreeing(u) == u->target_count)
        end(u, LKS_BMC_SAME, "%s runs %s already", u->component, u->targets[0].version);
    else if (u->kind[0] == '\0')
        end(u, LKS_BMC_REFUSED, LKS_REDFISH_NO_CLASS, u->component);
    else if (!u->force && lks_nvos_newer(u) != NULL)
        end(u, LKS_BMC_REFUSED, "%s is older than %s, which it has; ask for it with force",
            u->version, lks_nvos_newer(u));
    else if (row != NULL && row->one_way && !u->one_way)
        end(u, LKS_BMC_REFUSED,
            "a new version of %s is irreversible; acknowledge that with "
            "--one-way (in the API: one_way)",
            u->component);
    else if (lks_nvos_file_name(u).len == 0)
        end(u, LKS_BMC_REFUSED,
            "a switch tray fetches its image itself; set bmc.pull, or give "
            "--pull");
    else
        return false;
    return true;
}

static void hear_survey(struct lks_nvos_update *u, lks_ms now)
{
    if (refuse(u))
        return;
    u->at = 0;
    u->expected = u->target_count;
    snprintf(u->before, sizeof(u->before), "%s", lks_nvos_found(u));
    go_on(u, now);
}

/* Jobs of others ran when this one was to be installed: what did they leave to do? */
static void hear_held(struct lks_nvos_update *u, lks_ms now)
{
    if (u->installs == 0 && refuse(u))
        return;
    if (lks_nvos_has_it(u, u->at))
        go_on(u, now);
    else
        look_at_jobs(u, LKS_NVOS_KNOW, now);
}

/* Judging ----------------------------------------------------------------------------------- */

/* What a reset of this component may take. */
static lks_ms allowed_time(const struct lks_nvos_update *u)
{
    const struct lks_firmware_update *row = lks_facts_firmware(u->facts, lks_str_from(u->kind));
    int64_t minutes = row != NULL ? 3 * row->activate_min : 0;
    return (lks_ms)(minutes > 10 ? minutes : 10) * MINUTE;
}

static void send_reboot(struct lks_nvos_update *u, lks_ms now)
{
    u->sent = LKS_NVOS_SENT_REBOOT;
    u->reboots++;
    u->rebooted = now;
    u->reboot_heard = false;
    lks_conversation_go_checkpoint(&u->r.head, LKS_NVOS_REBOOT, now);
}

/* What is not listed may well have it. */
static enum lks_bmc_outcome failed(const struct lks_nvos_update *u)
{
    return u->target_count < u->expected ? LKS_BMC_UNKNOWN : LKS_BMC_FAILED;
}

/* It is installed, for all that is known, and does not run yet. */
static void judge_installed(struct lks_nvos_update *u, lks_ms now)
{
    bool waits = u->rebooted == 0 ? now - u->since < SETTLE : now - u->rebooted < allowed_time(u);
    if (u->rebooted == 0 && u->act == LKS_BMC_STAGE)
        end(u, LKS_BMC_STAGED, "%s waits for a restart of the tray", u->version);
    else if (waits)
        look(u, LKS_NVOS_AGREE, now + POLL);
    else if (u->rebooted == 0 || (!u->reboot_heard && u->reboots < TRIES_MAX))
        look_at_jobs(u, LKS_NVOS_CLEAR, now);
    else if (!u->reboot_heard)
        end(u, LKS_BMC_UNKNOWN, "no answer to a restart, and it runs %s and not %s",
            lks_nvos_found(u), u->version);
    else
        end(u, failed(u), "after the restart it still runs %s and not %s", lks_nvos_found(u),
            u->version);
}

/* How an installation ended was not seen: it may still be writing, and nothing is restarted. That
 * its component runs it is the proof that it ended: a tray may restart by itself and forget its
 * jobs. What was only to be staged is where the versions say so after the time that it may take. */
static void judge_lost(struct lks_nvos_update *u, lks_ms now)
{
    bool runs = u->target_count == u->expected && lks_nvos_runs_it(u, u->at);
    u->proved = runs ? u->proved + 1 : 0;
    if (u->proved >= AGREE_TIMES) {
        u->lost = false;
        go_on(u, now);
    } else if (runs || now - u->since < allowed_time(u)) {
        look(u, LKS_NVOS_AGREE, now + POLL);
    } else if (u->act == LKS_BMC_STAGE && lks_nvos_all_installed(u)) {
        judge_installed(u, now);
    } else {
        end(u, LKS_BMC_UNKNOWN, "its job vanished, and the tray has %s", lks_nvos_found(u));
    }
}

static void judge(struct lks_nvos_update *u, lks_ms now)
{
    bool all = u->target_count >= u->expected && u->target_count > 0;
    if (all && lks_nvos_agreeing(u) == u->target_count) {
        if (++u->agreed >= AGREE_TIMES)
            end(u, LKS_BMC_DONE, "%zu of %zu entries of %s say %s, %d times in a row",
                u->target_count, u->target_count, u->component, u->version, AGREE_TIMES);
        else
            look(u, LKS_NVOS_AGREE, now + POLL);
        return;
    }
    u->agreed = 0;
    if (u->late)
        end(u, LKS_BMC_UNKNOWN, "not finished by its deadline%s; the tray has %s", held_by(u),
            lks_nvos_found(u));
    else if (u->lost && (u->rebooted == 0 || !lks_nvos_all_installed(u)))
        judge_lost(u, now);
    else if (u->why[0] != '\0' && now - u->since >= SETTLE)
        end(u, failed(u), "%s; %zu of %zu entries say %s, the others %s", u->why,
            lks_nvos_agreeing(u), u->target_count, u->version, lks_nvos_found(u));
    else if (u->why[0] != '\0')
        look(u, LKS_NVOS_AGREE, now + POLL);
    else
        judge_installed(u, now);
}

/* A tray that restarts may list its components one after the other. */
static void wait_for_turn(struct lks_nvos_update *u, lks_ms now)
{
    enum lks_bmc_outcome outcome = may_have_changed(u) ? LKS_BMC_UNKNOWN : LKS_BMC_REFUSED;
    if (++u->absent * HOLD_EVERY < allowed_time(u))
        look(u, u->purpose, now + HOLD_EVERY);
    else if (u->at < u->target_count)
        end(u, outcome, "the tray lists %zu of %zu entries", u->target_count, u->expected);
    else
        end(u, outcome, "the tray does not list %s",
            u->turn[0] != '\0' ? u->turn : "the component that it was at");
}

/* Something was begun, and its answer lost, or we were restarted. To fetch again is harmless. */
static void seek(struct lks_nvos_update *u, lks_ms now)
{
    if (u->sent == LKS_NVOS_SENT_REBOOT)
        look(u, LKS_NVOS_AGREE, now);
    else if (lks_nvos_is_partial(u))
        wait_for_turn(u, now);
    else if (u->purpose == LKS_NVOS_KNOW)
        hear_held(u, now);
    else if (u->sent == LKS_NVOS_SENT_FETCH)
        go_on(u, now);
    else if (u->job[0] != '\0')
        lks_conversation_go(&u->r.head, LKS_NVOS_INSTALLING, now);
    else
        look_at_jobs(u, LKS_NVOS_SEEK, now);
}

/* Is it proved that the installation was not begun? */
static bool never_arrived(const struct lks_nvos_update *u)
{
    return !u->taken && u->jobs_known && u->job_count > 0 && u->old_seen == u->job_count &&
           u->at < u->target_count && u->target_count >= u->expected;
}

/* The job that was found has ended, or the component has what is asked for: is that all? `calm`:
 * the jobs were read, and none runs that was not there before. */
static void hear_rest(struct lks_nvos_update *u, lks_ms now, bool calm)
{
    if (!calm && ++u->looks < LOOK_MAX) {
        look_at_jobs(u, u->purpose, now + LOOK_EVERY);
        return;
    }
    after_job(u, now, !calm);
}

static void hear_sought(struct lks_nvos_update *u, lks_ms now, bool calm)
{
    if (u->fresh[0] != '\0') {
        name_job(u, u->fresh, true);
        lks_conversation_go_checkpoint(&u->r.head, LKS_NVOS_INSTALLING, now);
    } else if (u->purpose == LKS_NVOS_REST || lks_nvos_has_it(u, u->at)) {
        hear_rest(u, now, calm);
    } else if (++u->looks < LOOK_MAX) {
        look(u, LKS_NVOS_SEEK, now + LOOK_EVERY);
    } else if (never_arrived(u) && u->again < TRIES_MAX) {
        u->looks = 0;
        u->again++;
        send_install(u, now);
    } else {
        end(u, LKS_BMC_UNKNOWN, "%s, and no job of it%s; inspect the tray, it has %s",
            u->taken ? "the installation was taken" : "no good answer to the installation",
            u->jobs_known ? "" : " can be seen", lks_nvos_found(u));
    }
}

/* Steps ------------------------------------------------------------------------------------- */

static void hear_list(struct lks_nvos_update *u, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    char why[LKS_REDFISH_TEXT_SIZE];
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    if (doc == NULL && u->sent != LKS_NVOS_SENT_NOTHING) {
        lks_conversation_go(&u->r.head, LKS_NVOS_LIST, now + POLL);
        return;
    }
    if (doc == NULL) {
        lks_redfish_error(answer, why);
        lks_conversation_fail(&u->r.head, LKS_E_INVALID, "the firmware cannot be listed: %s", why);
        return;
    }
    lks_nvos_read_targets(u, doc);
    if (u->late || u->purpose == LKS_NVOS_AGREE)
        judge(u, now);
    else if (u->purpose == LKS_NVOS_SURVEY)
        hear_survey(u, now);
    else
        seek(u, now);
}

/* True where a job runs, which is waited for until the deadline, or where that cannot be seen,
 * which is looked at again before it counts for nothing. */
static bool hold(struct lks_nvos_update *u, lks_ms now)
{
    if (!u->busy && (!u->blank || u->holds >= HOLDS_MAX))
        return false;
    u->held = true;
    u->holds += !u->busy;
    look_at_jobs(u, u->purpose, now + HOLD_EVERY);
    return true;
}

/* What begins or restarts something is sent where no job runs. What those did that ran is read anew
 * before. */
static void hear_clear(struct lks_nvos_update *u, lks_ms now, const struct lks_doc *list)
{
    bool install = u->purpose == LKS_NVOS_KNOW;
    lks_nvos_see_jobs(u, list);
    if (hold(u, now))
        return;
    if (u->held) {
        u->held = false;
        u->since = now;
        look(u, install ? LKS_NVOS_KNOW : LKS_NVOS_AGREE, now);
    } else if (install) {
        lks_nvos_know_jobs(u, list);
        send_install(u, now);
    } else {
        send_reboot(u, now);
    }
}

static void hear_actions(struct lks_nvos_update *u, lks_ms now,
                         const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    if (u->purpose == LKS_NVOS_KNOW || u->purpose == LKS_NVOS_CLEAR) {
        hear_clear(u, now, doc);
        return;
    }
    lks_nvos_find_jobs(u, doc);
    hear_sought(u, now, doc != NULL && !u->fresh_runs);
}

/* The answer to what begins a job is its name, bare, in quotes, or in an object. */
static bool keep_job(struct lks_nvos_update *u, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    struct lks_str name = {"", 0};
    if (answer->status < 200 || answer->status > 299)
        return false;
    if (lks_docs_init(&docs, "answer", &err) != LKS_OK ||
        lks_bmc_json_parse(answer->body, &docs, &err) != LKS_OK)
        name = lks_str_trim(answer->body);
    else if (docs.first->kind == LKS_DOC_TEXT)
        name = docs.first->text;
    else if (docs.first->kind == LKS_DOC_NUMBER)
        return snprintf(u->job, sizeof(u->job), "%" PRId64, docs.first->number) > 0;
    else
        name = lks_bmc_json_text(docs.first, "id");
    for (size_t i = 0; i < name.len; i++) {
        if (!lks_str_printable(name) || name.ptr[i] == '/' || name.ptr[i] == ' ')
            return false;
    }
    return lks_redfish_keep(u->job, sizeof(u->job), name);
}

static void refused(struct lks_nvos_update *u, const struct lks_http_response *answer)
{
    char why[LKS_REDFISH_TEXT_SIZE];
    bool first = u->installs == (u->r.head.step == LKS_NVOS_INSTALL) + u->again;
    lks_redfish_error(answer, why);
    end(u, first ? LKS_BMC_REFUSED : LKS_BMC_FAILED, "the tray refused it: %s", why);
}

static void hear_fetch(struct lks_nvos_update *u, lks_ms now,
                       const struct lks_http_response *answer)
{
    if (!keep_job(u, answer)) {
        refused(u, answer);
        return;
    }
    lks_conversation_go_checkpoint(&u->r.head, LKS_NVOS_FETCHING, now + POLL);
}

static void hear_install(struct lks_nvos_update *u, lks_ms now,
                         const struct lks_http_response *answer)
{
    if (answer->status >= 400) {
        refused(u, answer);
        return;
    }
    u->taken = answer->status < 300;
    if (keep_job(u, answer))
        lks_conversation_go(&u->r.head, LKS_NVOS_INSTALLING, now + POLL);
    else
        look(u, LKS_NVOS_SEEK, now + POLL);
    u->r.head.checkpoint = true;
}

/* Keep how far a job is, and what it says of itself. */
static enum lks_nvos_job job_state(struct lks_nvos_update *u, const struct lks_doc *doc, char *why,
                                   size_t size)
{
    struct lks_str state = lks_bmc_json_text(doc, "state");
    struct lks_str said = lks_bmc_json_text(doc, "status");
    uint64_t percent = lks_bmc_json_number(doc, "percentage", u->percent);
    lks_str_number(lks_bmc_json_text(doc, "percentage"), 100, &percent);
    u->percent = percent <= 100 ? (unsigned)percent : u->percent;
    if (said.len == 0)
        said = lks_bmc_json_text(doc, "detail");
    snprintf(why, size, "%" LKS_STR_FMT "%s%.*s", LKS_STR_ARG(state), said.len > 0 ? ": " : "",
             (int)(said.len < 200 ? said.len : 200), said.ptr);
    return lks_nvos_state_of(doc);
}

/* True where what shows nothing of a job is no end of it yet. */
static bool ask_again(struct lks_nvos_update *u, lks_ms now, const struct lks_http_response *answer)
{
    unsigned patience = u->shown && answer->status < 300 ? BLANK_MAX : GONE_MAX;
    if (++u->gone >= patience)
        return false;
    lks_conversation_go(&u->r.head, u->r.head.step, now + GONE_WAIT);
    return true;
}

/* To fetch again is harmless. To install what may not be there in full is not. */
static void after_fetch(struct lks_nvos_update *u, lks_ms now, enum lks_nvos_job state,
                        const char *why)
{
    bool first = u->installs == u->again;
    if (state == LKS_NVOS_LOST && ++u->tries < TRIES_MAX) {
        send_fetch(u, now);
    } else if (state == LKS_NVOS_DONE) {
        look_at_jobs(u, LKS_NVOS_KNOW, now);
    } else {
        end(u, first ? LKS_BMC_REFUSED : LKS_BMC_FAILED, "the tray %s the image: %s",
            state == LKS_NVOS_LOST ? "does not say whether it fetched" : "could not fetch", why);
    }
}

/* A job that ends in a restart of the tray may be called an error by it: the versions tell. */
static void after_install(struct lks_nvos_update *u, lks_ms now, enum lks_nvos_job state,
                          const char *why)
{
    lks_nvos_add_job(u, lks_str_from(u->job));
    if (state == LKS_NVOS_FAILED)
        snprintf(u->why, sizeof(u->why), "%s", why);
    if (u->sought && state != LKS_NVOS_LOST) {
        u->looks = 0;
        look_at_jobs(u, LKS_NVOS_REST, now + LOOK_EVERY);
        return;
    }
    after_job(u, now, state == LKS_NVOS_LOST);
}

static void hear_job(struct lks_nvos_update *u, lks_ms now, const struct lks_http_response *answer)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    char why[LKS_REDFISH_TEXT_SIZE] = "";
    const struct lks_doc *doc = lks_redfish_read(answer, &docs);
    enum lks_nvos_job state = doc != NULL ? job_state(u, doc, why, sizeof(why)) : LKS_NVOS_LOST;
    if (state == LKS_NVOS_LOST && ask_again(u, now, answer))
        return;
    if (state == LKS_NVOS_LOST)
        lks_redfish_error(answer, why);
    if (state == LKS_NVOS_RUNS) {
        u->shown = true;
        u->gone = 0;
        lks_conversation_go(&u->r.head, u->r.head.step, now + POLL);
    } else if (u->r.head.step == LKS_NVOS_FETCHING) {
        after_fetch(u, now, state, why);
    } else {
        after_install(u, now, state, why);
    }
}

static void hear_reboot(struct lks_nvos_update *u, lks_ms now,
                        const struct lks_http_response *answer)
{
    char why[LKS_REDFISH_TEXT_SIZE];
    if (answer->status < 300) {
        u->reboot_heard = true;
        look(u, LKS_NVOS_AGREE, now + 2 * POLL);
        u->r.head.checkpoint = true;
        return;
    }
    lks_redfish_error(answer, why);
    end(u, LKS_BMC_STAGED, "%s is installed and waits for a restart, which was refused: %s",
        u->version, why);
}

static const struct {
    void (*hear)(struct lks_nvos_update *u, lks_ms now, const struct lks_http_response *answer);
    const char *phase;
    unsigned percent;
    enum lks_conversation_phase at;
} steps[] = {
    [LKS_NVOS_LIST] = {hear_list, "reading", 2, LKS_PHASE_READING},
    [LKS_NVOS_ACTIONS] = {hear_actions, "reading", 3, LKS_PHASE_READING},
    [LKS_NVOS_FETCH] = {hear_fetch, "uploading", 5, LKS_PHASE_SENDING},
    [LKS_NVOS_FETCHING] = {hear_job, "uploading", 10, LKS_PHASE_FOLLOWING},
    [LKS_NVOS_INSTALL] = {hear_install, "installing", 20, LKS_PHASE_SENDING},
    [LKS_NVOS_INSTALLING] = {hear_job, "waiting for the task", 20, LKS_PHASE_FOLLOWING},
    [LKS_NVOS_REBOOT] = {hear_reboot, "activating", 80, LKS_PHASE_RESETTING},
};

static enum lks_conversation_phase phase(const void *value)
{
    const struct lks_nvos_update *u = value;
    LKS_ASSERT(u->r.head.step < LKS_NVOS_STEP_COUNT);
    return steps[u->r.head.step].at;
}

/* Answers ----------------------------------------------------------------------------------- */

static void hear_nothing(struct lks_nvos_update *u, lks_ms now)
{
    uint32_t step = u->r.head.step;
    if (step == LKS_NVOS_INSTALL)
        look(u, LKS_NVOS_SEEK, now + POLL);
    else if (step == LKS_NVOS_REBOOT)
        look(u, LKS_NVOS_AGREE, now + 2 * POLL);
    else if (u->sent == LKS_NVOS_SENT_NOTHING)
        lks_conversation_retry(&u->r.head, now + (AGAIN << u->r.head.tries));
    else
        lks_conversation_go(&u->r.head, step, now + POLL);
}

/* What it is busy with may be what was asked for: that is looked for before it is sent again.
 * To fetch twice is harmless. */
static void hear_busy(struct lks_nvos_update *u, lks_ms now, const struct lks_http_response *answer)
{
    uint32_t step = u->r.head.step;
    if (step == LKS_NVOS_INSTALL || step == LKS_NVOS_REBOOT)
        hear_nothing(u, now);
    else if (step != LKS_NVOS_FETCH && u->sent != LKS_NVOS_SENT_NOTHING)
        lks_conversation_go(&u->r.head, step, now + POLL);
    else if (u->r.head.tries + 1 >= LKS_CONVERSATION_TRIES_MAX)
        refused(u, answer); /* all the time: it was not begun */
    else
        (void)lks_redfish_hear_common(&u->r, now, answer);
}

static void hear_step(struct lks_nvos_update *u, lks_ms now, const struct lks_http_response *answer)
{
    int status = answer != NULL ? answer->status : 0;
    if (status == 429 || status == 503)
        hear_busy(u, now, answer);
    else if (lks_redfish_hear_common(&u->r, now, answer))
        return;
    else if (answer == NULL || (status >= 500 && status != 501))
        hear_nothing(u, now);
    else
        steps[u->r.head.step].hear(u, now, answer);
}

/* The deadline is over. */
static void run_out(struct lks_nvos_update *u, lks_ms now)
{
    if (!may_have_changed(u)) {
        end(u, LKS_BMC_REFUSED, "the deadline came before anything was installed%s", held_by(u));
        return;
    }
    u->late = true;
    u->late_until = now + LAST_LOOK;
    u->r.head.deadline = u->late_until + GRACE;
    look(u, LKS_NVOS_AGREE, now);
}

/* Another machine may have taken over, with a clock that is behind: what lies ahead was just now.
 */
static void bound_times(struct lks_nvos_update *u, lks_ms now)
{
    u->rebooted = u->rebooted < now ? u->rebooted : now;
    u->since = u->since < now ? u->since : now;
}

static void hear(void *value, lks_ms now, const struct lks_http_response *answer)
{
    struct lks_nvos_update *u = value;
    LKS_ASSERT(u->r.head.step < LKS_NVOS_STEP_COUNT);
    u->r.requests++;
    bound_times(u, now);
    if (u->outcome != LKS_BMC_OPEN)
        lks_conversation_end(&u->r.head); /* it had ended before a restart */
    else if (!u->late && now >= u->deadline)
        run_out(u, now);
    else if (u->late && now >= u->late_until)
        end(u, LKS_BMC_UNKNOWN, "not finished by its deadline, and the tray does not answer");
    else
        hear_step(u, now, lks_redfish_heard(answer));
    if (u->r.head.ended && u->r.head.err.code != LKS_OK && u->r.head.err.code != LKS_E_DENIED &&
        may_have_changed(u)) {
        struct lks_err err = u->r.head.err;
        u->r.head.err = (struct lks_err){0};
        end(u, LKS_BMC_UNKNOWN, "%s", err.msg);
    }
    if (!u->late && u->r.head.wait_until > u->deadline)
        u->r.head.wait_until = u->deadline;
}

/* Beginning --------------------------------------------------------------------------------- */

enum lks_code lks_nvos_update_begin(void *value, const struct lks_facts *facts,
                                    const struct lks_bmc_secret *secret,
                                    const struct lks_bmc_intent *intent, struct lks_err *err)
{
    struct lks_nvos_update *u = value;
    if (intent->act != LKS_BMC_UPDATE && intent->act != LKS_BMC_STAGE)
        return lks_fail(err, LKS_E_REFUSED, "a switch tray installs and restarts; it cannot '%s'",
                        lks_bmc_act_words[intent->act]);
    if (intent->component.len == 0 || intent->version.len == 0)
        return lks_fail(err, LKS_E_INVALID, "an update names component and version");
    if (intent->component.len >= sizeof(u->component) ||
        intent->version.len >= sizeof(u->version) || intent->pull.len >= sizeof(u->pull))
        return lks_fail(err, LKS_E_LIMIT, "a name of the update is too long");
    *u = (struct lks_nvos_update){.facts = facts,
                                  .act = intent->act,
                                  .force = intent->force,
                                  .one_way = intent->one_way,
                                  .deadline = intent->deadline};
    lks_nvos_begin(&u->r, secret, intent->deadline + GRACE);
    lks_redfish_keep(u->component, sizeof(u->component), intent->component);
    lks_redfish_keep(u->version, sizeof(u->version), intent->version);
    lks_redfish_keep(u->pull, sizeof(u->pull), intent->pull);
    return LKS_OK;
}

void lks_nvos_update_status(const void *value, struct lks_bmc_status *out)
{
    const struct lks_nvos_update *u = value;
    bool denied = u->r.head.err.code == LKS_E_DENIED && u->sent != LKS_NVOS_SENT_NOTHING;
    bool broke = u->r.head.ended && u->outcome == LKS_BMC_OPEN && !denied;
    unsigned percent = steps[u->r.head.step].percent;
    if (u->r.head.step == LKS_NVOS_INSTALLING)
        percent += u->percent / 2;
    if (u->rebooted > 0)
        percent = 85 + 4 * u->agreed;
    *out = (struct lks_bmc_status){
        .outcome = broke ? LKS_BMC_REFUSED : u->outcome,
        .phase = steps[u->r.head.step].phase,
        .percent = u->outcome != LKS_BMC_OPEN ? 100 : percent,
        .uploads = u->installs,
        .pulls = u->r.head.step == LKS_NVOS_FETCH,
        .found = lks_str_from(u->target_count > 0 ? lks_nvos_found(u) : u->before),
        .task = lks_str_from(u->job),
        .via = lks_str_from(u->sent != LKS_NVOS_SENT_NOTHING ? "fetch and install" : ""),
        .text = lks_str_from(u->text[0] != '\0' ? u->text : u->r.head.err.msg),
    };
}

const struct lks_conversation_ops lks_nvos_update_ops = {
    .name = "nvos-update",
    .size = sizeof(struct lks_nvos_update),
    .ask = lks_nvos_ask,
    .hear = hear,
    .phase = phase,
    .save = lks_nvos_save,
    .load = lks_nvos_load,
    .hears_all = true,
};
