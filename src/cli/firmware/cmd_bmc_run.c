/* Carrying an update out, and what is kept of it meanwhile: see cmd_bmc_update.h. */
#include "base/file.h"
#include "base/term/progress.h"
#include "cli/firmware/cmd_bmc_update.h"
#include "codec/format/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { TURN_MS = 100, QUICK_MS = 5, UPLOAD_SHARE = 10, WHOLE = 100 };

#define FOLDER "updates"

static void put(char *out, size_t size, struct lks_str value)
{
    size_t len = value.len < size ? value.len : size - 1;
    memcpy(out, value.len > 0 ? value.ptr : "", len);
    out[len] = '\0';
}

void lks_bmc_update_fini(struct lks_bmc_update *u)
{
    if (u->fd > 0)
        close(u->fd - 1);
    for (size_t i = 0; i < u->lock_count; i++)
        close(u->locks[i] - 1);
    lks_docs_fini(&u->record);
    *u = (struct lks_bmc_update){0};
}

/* What is kept ------------------------------------------------------------------------------ */

static enum lks_code make_folder(const struct lks_bmc_update *u, struct lks_err *err)
{
    char path[PATH_MAX];
    if (lks_path_join(path, u->at->state, FOLDER, err) != LKS_OK)
        return err->code;
    return lks_path_make(path, err);
}

static enum lks_code lock_one(struct lks_bmc_update *u, const char *url, struct lks_err *err)
{
    char path[PATH_MAX], folder[PATH_MAX], name[LKS_CURL_URL_MAX + 1], file[sizeof(name) + 8];
    lks_bmc_at_name(url, name);
    snprintf(file, sizeof(file), "%s.lock", name);
    if (lks_path_join(folder, u->at->state, FOLDER, err) != LKS_OK ||
        lks_path_join(path, folder, file, err) != LKS_OK)
        return err->code;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return lks_file_fail(err, path);
    u->locks[u->lock_count++] = fd + 1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return LKS_OK;
    return errno == EWOULDBLOCK
               ? lks_fail(err, LKS_E_REFUSED, "%s: another update of it runs already", u->at->url)
               : lks_file_fail(err, path);
}

static enum lks_code fail_unknown(const struct lks_bmc_update *u, const char *path,
                                  struct lks_err *err)
{
    return lks_fail(err, LKS_E_REFUSED,
                    "%s: the outcome of its last update is unknown: inspect the device, and then "
                    "remove %s, which lists what was sent",
                    u->at->url, path);
}

static int is_left(const struct dirent *entry)
{
    struct lks_str name = lks_str_from(entry->d_name);
    return lks_str_ends(name, ".json") || lks_str_ends(name, ".unknown");
}

/* Does a record of an update tell of one of our addresses? */
static bool is_ours(const struct lks_bmc_update *u, const struct lks_doc *record)
{
    struct lks_str url = lks_doc_text(record, "url"), all = lks_doc_text(record, "addresses"), one;
    for (size_t i = 0; i < u->at->address_count; i++) {
        struct lks_str rest = all;
        if (lks_str_is(url, u->at->addresses[i]))
            return true;
        while (lks_str_word(&rest, &one)) {
            if (lks_str_is(one, u->at->addresses[i]))
                return true;
        }
    }
    return false;
}

/* One that has not ended, or has an unknown outcome: of the same endpoint under another name. */
static enum lks_code check_left(const struct lks_bmc_update *u, const char *folder,
                                const char *file, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BMC_STATE_MAX);
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err ignored = {0};
    char path[PATH_MAX];
    size_t len = strlen(u->at->name);
    if (strncmp(file, u->at->name, len) == 0 && file[len] == '.' &&
        strrchr(file, '.') == file + len)
        return LKS_OK; /* its own */
    if (lks_path_join(path, folder, file, &ignored) != LKS_OK ||
        lks_file_read_plain(path, &text, &ignored) != LKS_OK ||
        lks_docs_init(&docs, path, &ignored) != LKS_OK ||
        lks_json_parse(lks_buf_view(&text), &docs, &ignored) != LKS_OK || !is_ours(u, docs.first))
        return LKS_OK;
    if (lks_str_ends(lks_str_from(file), ".unknown"))
        return fail_unknown(u, path, err);
    return lks_fail(err, LKS_E_REFUSED,
                    "%s: an update of it has not ended that was started as %" LKS_STR_FMT
                    "; finish it by that name first",
                    u->at->url, LKS_STR_ARG(lks_doc_text(docs.first, "url")));
}

static enum lks_code check_names(const struct lks_bmc_update *u, struct lks_err *err)
{
    char folder[PATH_MAX];
    struct dirent **files = NULL;
    if (lks_path_join(folder, u->at->state, FOLDER, err) != LKS_OK)
        return err->code;
    int count = scandir(folder, &files, is_left, alphasort);
    enum lks_code code = count < 0 ? lks_file_fail(err, folder) : LKS_OK;
    for (int i = 0; i < count; i++) {
        if (code == LKS_OK)
            code = check_left(u, folder, files[i]->d_name, err);
        free(files[i]);
    }
    free(files);
    return code;
}

enum lks_code lks_bmc_update_lock(struct lks_bmc_update *u, struct lks_err *err)
{
    char unknown[PATH_MAX];
    lks_bmc_at_resolve(u->at);
    if (make_folder(u, err) != LKS_OK || lock_one(u, u->at->url, err) != LKS_OK ||
        lks_bmc_at_path(u->at, FOLDER, "unknown", unknown, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < u->at->address_count; i++) {
        if (strcmp(u->at->addresses[i], u->at->url) != 0 &&
            lock_one(u, u->at->addresses[i], err) != LKS_OK)
            return err->code;
    }
    if (access(unknown, F_OK) == 0)
        return fail_unknown(u, unknown, err);
    return check_names(u, err);
}

/* All that is needed to say later what this was, and to go on with it. */
static void write_record(const struct lks_bmc_update *u, lks_ms now, struct lks_str saved,
                         struct lks_buf *json)
{
    struct lks_json_writer w = {.out = json};
    char time[LKS_TIME_TEXT_SIZE], addresses[sizeof(u->at->addresses)];
    for (size_t i = 0, n = 0; i < u->at->address_count; i++)
        n += (size_t)snprintf(addresses + n, sizeof(addresses) - n, "%s%s", i > 0 ? " " : "",
                              u->at->addresses[i]);
    lks_json_write(&w,
                   "{'url'?: '%s', 'addresses'?: '%s', 'driver'?: '%s', 'act'?: '%s', "
                   "'component'?: '%s', 'version'?: '%s', 'from'?: '%s', 'digest'?: '%s', "
                   "'file'?: '%s', 'folder'?: '%s', 'bundle'?: '%s', 'began'?: '%s'",
                   u->at->url, u->at->address_count > 0 ? addresses : "", u->at->driver->name,
                   lks_bmc_act_words[u->intent.act], u->component, u->version, u->from,
                   u->intent.image.digest, u->file, u->folder, u->bundle,
                   lks_time_text(u->began, time));
    lks_json_write(&w,
                   "'size': %lu, 'one_way': %s, 'write_protected'?: '%.*s', 'now': %lu, "
                   "'saved': '%.*s'}",
                   u->intent.image_size, LKS_JSON_TRUTH(u->one_way),
                   LKS_STR_ARG(u->write_protected), now, LKS_STR_ARG(saved));
    lks_buf_addc(json, '\n');
}

static enum lks_code save(const struct lks_bmc_update *u, lks_ms now, struct lks_str saved,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(LKS_BMC_STATE_MAX);
    write_record(u, now, saved, &json);
    return lks_bmc_at_write(u->at, FOLDER, "json", &json, err);
}

/* Is it what is asked for now? */
static bool is_same(const struct lks_bmc_update *u, const struct lks_doc *record)
{
    return lks_str_is(lks_doc_text(record, "url"), u->at->url) &&
           lks_str_is(lks_doc_text(record, "act"), lks_bmc_act_words[u->intent.act]) &&
           lks_str_is(lks_doc_text(record, "component"), u->component) &&
           lks_str_is(lks_doc_text(record, "driver"), u->at->driver->name) &&
           lks_str_is(lks_doc_text(record, "digest"), u->intent.image.digest);
}

/* The later of a time that was kept and `least`. */
static lks_ms time_of(const struct lks_doc *record, const char *key, lks_ms least)
{
    const struct lks_doc *kept = lks_doc_member(record, key);
    bool later = kept != NULL && kept->kind == LKS_DOC_NUMBER && kept->number > 0 &&
                 (lks_ms)kept->number > least;
    return later ? (lks_ms)kept->number : least;
}

enum lks_code lks_bmc_update_load(struct lks_bmc_update *u, struct lks_err *err)
{
    enum lks_code code = lks_bmc_at_read(u->at, FOLDER, "json", &u->record, err);
    if (code == LKS_E_NOT_FOUND)
        return LKS_OK;
    if (code != LKS_OK)
        return code;
    const struct lks_doc *r = u->record.first;
    struct lks_str component = lks_doc_text(r, "component"), act = lks_doc_text(r, "act");
    if (!is_same(u, r))
        return lks_fail(err, LKS_E_REFUSED,
                        "%s: another update has not ended (%" LKS_STR_FMT " of %" LKS_STR_FMT
                        " with %" LKS_STR_FMT "); finish it with its own arguments first",
                        u->at->url, LKS_STR_ARG(act), LKS_STR_ARG(component),
                        LKS_STR_ARG(lks_doc_text(r, "folder")));
    u->saved = lks_doc_text(r, "saved");
    if (u->saved.len == 0) /* to begin anew could be to send it twice */
        return lks_doc_fail(&u->record, r, err,
                            "has no checkpoint, and an update may be in progress");
    put(u->from, sizeof(u->from), lks_doc_text(r, "from"));
    put(u->version, sizeof(u->version), lks_doc_text(r, "version"));
    u->intent.version = lks_str_from(u->version);
    if (u->write_protected.len == 0)
        u->write_protected = lks_doc_text(r, "write_protected");
    u->intent.write_protected = u->write_protected.len > 0;
    lks_ms span = u->intent.deadline - u->now; /* it is given its time anew */
    u->now = time_of(r, "now", u->now);
    u->intent.deadline = u->now + span;
    (void)lks_time_parse(lks_doc_text(r, "began"), &u->began);
    return LKS_OK;
}

static bool is_one_way(const struct lks_doc *d)
{
    const struct lks_doc *told = lks_doc_member(d, "one_way");
    return told != NULL && told->kind == LKS_DOC_BOOL && told->truth;
}

bool lks_bmc_update_recall(struct lks_bmc_update *u, struct lks_str component)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err ignored = {0};
    if (lks_bmc_at_read(u->at, FOLDER, "json", &docs, &ignored) != LKS_OK)
        return false;
    const struct lks_doc *r = docs.first, *size = lks_doc_member(r, "size");
    bool same = lks_str_is(lks_doc_text(r, "folder"), u->folder) &&
                lks_str_is(lks_doc_text(r, "act"), lks_bmc_act_words[u->intent.act]) &&
                (component.len == 0 || lks_str_eq(lks_doc_text(r, "component"), component));
    if (!same || size == NULL || size->kind != LKS_DOC_NUMBER || size->number <= 0)
        return false;
    put(u->component, sizeof(u->component), lks_doc_text(r, "component"));
    put(u->version, sizeof(u->version), lks_doc_text(r, "version"));
    put(u->file, sizeof(u->file), lks_doc_text(r, "file"));
    put(u->bundle, sizeof(u->bundle), lks_doc_text(r, "bundle"));
    put(u->intent.image.digest, sizeof(u->intent.image.digest), lks_doc_text(r, "digest"));
    u->intent.image.length = u->intent.image_size = (uint64_t)size->number;
    u->one_way = is_one_way(r);
    return true;
}

static enum lks_code forget(const struct lks_bmc_update *u, struct lks_err *err)
{
    char path[PATH_MAX];
    if (lks_bmc_at_path(u->at, FOLDER, "json", path, err) != LKS_OK)
        return err->code;
    if (unlink(path) == 0)
        return lks_file_sync_parent(path, err);
    return errno == ENOENT ? LKS_OK : lks_file_fail(err, path);
}

/* Out of the way of nothing: it stays in the way of the next update until a person removes it. */
static enum lks_code mark_unknown(const struct lks_bmc_update *u, struct lks_err *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    if (lks_bmc_at_path(u->at, FOLDER, "json", from, err) != LKS_OK ||
        lks_bmc_at_path(u->at, FOLDER, "unknown", to, err) != LKS_OK)
        return err->code;
    if (rename(from, to) == 0)
        return lks_file_sync_parent(to, err);
    return errno == ENOENT ? LKS_OK : lks_file_fail(err, from);
}

/* What was there before -------------------------------------------------------------------- */

const struct lks_doc *lks_bmc_update_prior(const struct lks_bmc_update *u, struct lks_docs *docs)
{
    struct lks_err err;
    if (lks_bmc_at_read(u->at, FOLDER, "prior", docs, &err) != LKS_OK) {
        lks_docs_fini(docs); /* and not what is there of it */
        return NULL;
    }
    const struct lks_doc *found = lks_doc_member(docs->first, u->component);
    return found != NULL && found->kind == LKS_DOC_MAP ? found : NULL;
}

bool lks_bmc_update_staged_one_way(const struct lks_bmc_update *u, struct lks_str name)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err ignored = {0};
    if (lks_bmc_at_read(u->at, FOLDER, "prior", &docs, &ignored) != LKS_OK)
        return false;
    for (const struct lks_doc *d = docs.first->first; d != NULL; d = d->next) {
        if (lks_str_eq(d->key, name) && is_one_way(lks_doc_member(d, "staged")))
            return true;
    }
    return false;
}

/* An image, as far as it is known where it came from. Views. */
struct image {
    struct lks_str version, digest, folder, file;
    bool one_way;
};

static struct image image_of(const struct lks_doc *d)
{
    return (struct image){lks_doc_text(d, "version"), lks_doc_text(d, "digest"),
                          lks_doc_text(d, "folder"), lks_doc_text(d, "file"), is_one_way(d)};
}

static void write_image(struct lks_json_writer *w, const struct image *i)
{
    lks_json_write(w,
                   "'version'?: '%.*s', 'digest'?: '%.*s', 'folder'?: '%.*s', 'file'?: '%.*s', "
                   "'one_way'?: %s",
                   LKS_STR_ARG(i->version), LKS_STR_ARG(i->digest), LKS_STR_ARG(i->folder),
                   LKS_STR_ARG(i->file), LKS_JSON_TRUTH(i->one_way));
}

static void write_other(struct lks_json_writer *w, const char *key, const struct image *i)
{
    if (i->version.len == 0)
        return;
    lks_json_begin(w, key, '{');
    write_image(w, i);
    lks_json_end(w, '}');
}

/* What was brought now: from the bundle, or what is known to have been staged or to lie beside. */
static struct image brought(const struct lks_bmc_update *u, const char *found,
                            const struct lks_doc *prior)
{
    struct image i = {.version = lks_str_from(found[0] != '\0' ? found : u->version)};
    static const char *const known[] = {"staged", "before"};
    if (u->bundle[0] != '\0')
        return (struct image){i.version, lks_str_from(u->intent.image.digest),
                              lks_str_from(u->folder), lks_str_from(u->file), u->one_way};
    for (size_t k = 0; k < LKS_COUNT(known); k++) {
        struct image other = image_of(lks_doc_member(prior, known[k]));
        if (lks_str_eq(other.version, i.version))
            return other;
    }
    return i;
}

/* What runs, what it took the place of, and what waits to be activated. */
static void write_installed(const struct lks_bmc_update *u, const struct lks_bmc_result *r,
                            const struct lks_doc *prior, struct lks_json_writer *w)
{
    struct image now = image_of(prior), before = image_of(lks_doc_member(prior, "before"));
    struct image staged = {0};
    if (r->outcome == LKS_BMC_STAGED) {
        staged = brought(u, u->version, prior);
    } else if (u->intent.act != LKS_BMC_ABORT) {
        bool known = lks_str_is(now.version, u->from);
        before = known ? now : (struct image){.version = lks_str_from(u->from)};
        now = brought(u, r->found, prior);
    }
    lks_json_begin(w, u->component, '{');
    write_image(w, &now);
    write_other(w, "before", &before);
    write_other(w, "staged", &staged);
    lks_json_end(w, '}');
}

static enum lks_code keep_prior(const struct lks_bmc_update *u, const struct lks_bmc_result *result,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = {0}, other = {0};
    struct lks_json_writer w = {.out = &json};
    const struct lks_doc *prior = lks_bmc_update_prior(u, &docs);
    lks_buf_init(&json, LKS_BMC_STATE_MAX);
    lks_buf_init(&other, LKS_BMC_STATE_MAX);
    lks_json_begin(&w, NULL, '{');
    for (const struct lks_doc *d = docs.first != NULL ? docs.first->first : NULL; d != NULL;
         d = d->next) {
        char key[LKS_BMC_NAME_MAX + 1];
        put(key, sizeof(key), d->key);
        if (lks_str_is(d->key, u->component))
            continue;
        lks_buf_truncate(&other, 0);
        if (lks_json_canonical(d, &other, err) != LKS_OK)
            return err->code;
        lks_json_raw(&w, key, lks_buf_view(&other));
    }
    write_installed(u, result, prior, &w);
    lks_json_end(&w, '}');
    lks_buf_addc(&json, '\n');
    return lks_bmc_at_write(u->at, FOLDER, "prior", &json, err);
}

/* Running ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

struct run {
    struct lks_bmc_update *u;
    struct lks_talks *talks;
    struct lks_dialog *dialog; /* NULL: it ended */
    struct lks_bmc_result *result;
    struct lks_err failed;  /* what was to be saved could not be */
    struct lks_err missing; /* what has to be sent is not here any more */
    bool saved;             /* a checkpoint exists: of this run, or of one before */
    struct lks_progress bar;
    lks_ms since; /* on the monotonic clock, when it was u->now */
};

static lks_ms monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (lks_ms)t.tv_sec * 1000 + (lks_ms)t.tv_nsec / 1000000;
}

/* From the last that was written down, or from the wall's time, whichever is later: it never
 * decreases, over restarts too. */
static lks_ms run_clock(void *ctx)
{
    const struct run *r = ctx;
    return r->u->now + (monotonic() - r->since) * r->u->speed;
}

static void note_status(struct run *r, struct lks_bmc_status *status)
{
    struct lks_bmc_result *out = r->result;
    r->u->at->driver->update_status(lks_talks_value(r->dialog), status);
    out->outcome = status->outcome;
    out->uploads = status->uploads;
    put(out->found, sizeof(out->found), status->found);
    put(out->via, sizeof(out->via), status->via);
    put(out->task, sizeof(out->task), status->task);
    put(out->text, sizeof(out->text), status->text);
    lks_str_make_printable(out->found); /* as the endpoint says it */
    lks_str_make_printable(out->task);
    lks_str_make_printable(out->text);
}

static void on_checkpoint(void *ctx, struct lks_dialog *d, struct lks_str saved)
{
    struct run *r = ctx;
    if (save(r->u, lks_talks_now(r->talks), saved, &r->failed) != LKS_OK)
        return;
    r->saved = true;
    lks_talks_resume(r->talks, d);
}

static void on_ended(void *ctx, struct lks_dialog *d, const struct lks_err *why)
{
    struct run *r = ctx;
    struct lks_bmc_status status;
    (void)d;
    note_status(r, &status);
    r->result->why = *why;
    if (why->code == LKS_OK && status.outcome == LKS_BMC_OPEN)
        (void)!lks_fail(&r->result->why, LKS_E_IO, "the driver ended without a verdict");
    r->dialog = NULL;
}

/* The image, as often as it is asked for. */
static int open_image(void *ctx, const char *digest, struct lks_err *err)
{
    struct run *r = ctx;
    int fd = -1;
    if (r->u->fd == 0)
        (void)!lks_fail(&r->missing, LKS_E_NOT_FOUND,
                        "%s/%s (%s) has to be sent again, and it is not there", r->u->folder,
                        r->u->file, digest);
    if (r->u->fd > 0 && strcmp(digest, r->u->intent.image.digest) == 0)
        fd = fcntl(r->u->fd - 1, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        (void)!lks_fail(err, LKS_E_NOT_FOUND, "%s: not in the bundle", digest);
    return fd;
}

static void show(struct run *r)
{
    struct lks_bmc_status status;
    uint64_t sent, total;
    if (r->dialog == NULL)
        return;
    note_status(r, &status);
    if (status.outcome != LKS_BMC_OPEN) /* decided: what is left is to log out */
        return;
    lks_talks_sent(r->dialog, &sent, &total);
    uint64_t at = status.percent;
    if (total > LKS_HTTP_BODY_MAX)
        at += sent * UPLOAD_SHARE / total;
    r->bar.label = status.phase;
    lks_progress_at(&r->bar, at < WHOLE ? at : WHOLE - 1, monotonic());
}

/* To begin anew could be to send it twice. */
static enum lks_code fail_checkpoint(const struct lks_bmc_update *u, struct lks_err *err)
{
    struct lks_err why = *err;
    char path[PATH_MAX];
    if (lks_bmc_at_path(u->at, FOLDER, "json", path, err) != LKS_OK)
        return err->code;
    return lks_fail(err, why.code,
                    "%s: the checkpoint of the update that did not end cannot be used (%s): "
                    "inspect the device, and then remove this file",
                    path, why.msg);
}

static enum lks_code begin(struct run *r, struct lks_err *err)
{
    struct lks_bmc_update *u = r->u;
    const struct lks_bmc_driver *driver = u->at->driver;
    struct lks_dialog_options options = {
        .peer = u->at->peer, .ops = driver->update, .impatient = u->saved.len == 0};
    if (lks_talks_add(r->talks, &options, &r->dialog, err) != LKS_OK)
        return err->code;
    void *value = lks_talks_value(r->dialog);
    if (driver->update_begin(value, u->facts, &u->at->secret, &u->intent, err) != LKS_OK)
        return err->code;
    if (u->saved.len > 0 && driver->update->load(value, u->saved, err) != LKS_OK)
        return fail_checkpoint(u, err);
    lks_talks_start(r->talks, r->dialog, u->saved.len > 0);
    return LKS_OK;
}

/* What ends us, also where the terminal goes; but not what our parent chose to ignore. */
static const int stops[] = {SIGINT, SIGTERM, SIGHUP};

static void catch_stops(struct sigaction before[LKS_COUNT(stops)])
{
    const struct sigaction stop = {.sa_handler = on_signal};
    interrupted = 0;
    for (size_t i = 0; i < LKS_COUNT(stops); i++) {
        sigaction(stops[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(stops[i], &stop, NULL);
    }
}

static enum lks_code turn_until_end(struct run *r, struct lks_err *err)
{
    struct sigaction before[LKS_COUNT(stops)];
    enum lks_code code = LKS_OK;
    catch_stops(before);
    while (code == LKS_OK && r->dialog != NULL && !interrupted && r->failed.code == LKS_OK &&
           r->missing.code == LKS_OK) {
        code = lks_talks_turn(r->talks, r->u->speed > 1 ? QUICK_MS : TURN_MS, err);
        show(r);
    }
    for (size_t i = 0; i < LKS_COUNT(stops); i++)
        sigaction(stops[i], &before[i], NULL);
    if (code == LKS_OK && r->failed.code != LKS_OK) {
        *err = r->failed;
        return lks_wrap(err, "stopped, because the checkpoint could not be written; the update "
                             "continues on the device, and the same command follows it");
    }
    if (code == LKS_OK && r->missing.code != LKS_OK)
        r->result->why = r->missing;
    else if (code == LKS_OK && r->dialog != NULL)
        (void)!lks_fail(&r->result->why, LKS_E_REFUSED, "interrupted");
    return code;
}

/* What stays of it. One that was not decided can be taken up again for as long as it may take;
 * after that its outcome is unknown, if something may have been sent: an image, a reset, a switch.
 * Before each of them there was a checkpoint. */
static enum lks_code settle(struct run *r, struct lks_err *err)
{
    struct lks_bmc_result *out = r->result;
    const struct lks_bmc_update *u = r->u;
    if (out->outcome == LKS_BMC_OPEN && lks_talks_now(r->talks) >= u->intent.deadline) {
        out->outcome = r->saved ? LKS_BMC_UNKNOWN : LKS_BMC_FAILED;
        snprintf(out->text, sizeof(out->text), "%s", out->why.msg);
    }
    if (out->outcome == LKS_BMC_UNKNOWN)
        return mark_unknown(u, err);
    if (out->outcome == LKS_BMC_OPEN)
        return LKS_OK;
    if ((out->outcome == LKS_BMC_DONE || out->outcome == LKS_BMC_STAGED) &&
        keep_prior(u, out, err) != LKS_OK)
        return err->code;
    return forget(u, err);
}

enum lks_code lks_bmc_update_run(struct lks_cli *cli, struct lks_bmc_update *u,
                                 struct lks_bmc_result *out, struct lks_err *err)
{
    struct run r = {.u = u, .result = out, .since = monotonic(), .saved = u->saved.len > 0};
    struct lks_term term;
    struct lks_talks_options options = {
        .curl = {.open = open_image, .ctx = &r},
        .clock = run_clock,
        .clock_ctx = &r,
        .ctx = &r,
        .checkpoint = on_checkpoint,
        .ended = on_ended,
    };
    *out = (struct lks_bmc_result){0};
    lks_term_of(cli->err, &term);
    lks_progress_init(&r.bar, cli->err, &term, "updating", WHOLE);
    if (lks_talks_new(&options, &r.talks, err) != LKS_OK)
        return err->code;
    enum lks_code code = begin(&r, err);
    if (code == LKS_OK) {
        code = turn_until_end(&r, err);
        r.bar.label = "updating";
        if (code == LKS_OK && out->outcome != LKS_BMC_OPEN && out->outcome <= LKS_BMC_SAME)
            lks_progress_at(&r.bar, WHOLE, monotonic());
        lks_progress_end(&r.bar, monotonic());
    }
    if (code == LKS_OK)
        code = settle(&r, err);
    lks_talks_free(r.talks);
    return code;
}
