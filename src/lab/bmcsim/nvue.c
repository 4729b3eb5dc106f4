/*
 * A switch tray: no Redfish, but the REST of its operating system.
 *
 *     GET  /nvue_v1/platform                              what it is
 *     GET  /nvue_v1/platform/firmware[/C]                 versions by component
 *     GET  /nvue_v1/platform/firmware/C/files             images that lie ready
 *     POST /nvue_v1/platform/firmware/C                   {"@fetch": ... "remote-url"}
 *     POST /nvue_v1/platform/firmware/C/files/F           {"@install": ... "force", "skip-reboot"}
 *                                                         or {"@delete": ...}
 *     GET  /nvue_v1/action[/N]                            jobs
 *     GET  /nvue_v1/system[/version]                      name, operating system
 *     POST /nvue_v1/system                                {"@reboot": ...}, {"@power-cycle": ...}
 *
 * An action is {"@name": {"state": "start", "parameters": {...}}}; its answer is the number of a
 * job and nothing else.
 */
#include "codec/format/http.h"
#include "lab/bmcsim/parts.h"

#include <stdio.h>
#include <stdlib.h>

#define API "/nvue_v1"

static void problem(struct lks_bmcsim_call *c, int status, const char *title, const char *detail)
{
    lks_buf_truncate(&c->reply->body, 0);
    struct lks_json_writer w = {.out = &c->reply->body};
    c->reply->status = status;
    c->reply->type = "application/problem+json";
    lks_json_write(&w, "{'detail': '%s', 'status': %d, 'title': '%s', 'type': 'about:blank'}",
                   detail, status, title);
}

static void missing(struct lks_bmcsim_call *c)
{
    problem(c, 404, "Not Found", "There is nothing of that name.");
}

static bool find_unit(const struct lks_bmcsim *b, struct lks_str id, unsigned *out)
{
    for (unsigned i = 0; i < b->unit_count; i++) {
        if (lks_str_is(id, b->units[i].id)) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* ---- Files ---- */

/* A name as it stands, or as a path has to spell it. */
static bool is_called(const struct lks_bmcsim_file *file, struct lks_str said)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf spelled = {0};
    lks_buf_init(&spelled, 3 * sizeof(file->name));
    lks_http_escape(&spelled, lks_str_from(file->name));
    return lks_str_is(said, file->name) || lks_str_eq(said, lks_buf_view(&spelled));
}

static struct lks_bmcsim_file *find_file(struct lks_bmcsim *b, unsigned unit, struct lks_str name)
{
    for (size_t i = b->file_count; i > 0; i--)
        if (b->files[i - 1].unit == unit && is_called(&b->files[i - 1], name))
            return &b->files[i - 1];
    return NULL;
}

static void drop_file(struct lks_bmcsim *b, struct lks_bmcsim_file *file)
{
    size_t at = (size_t)(file - b->files);
    lks_buf_fini(&file->bytes);
    memmove(file, file + 1, (b->file_count - at - 1) * sizeof(*file));
    b->file_count--;
}

/* A file of the same name is replaced; the oldest makes room. */
void lks_bmcsim_nvue_file_keep(struct lks_bmcsim *b)
{
    struct lks_bmcsim_job *job = b->job;
    struct lks_bmcsim_task *task = lks_bmcsim_task_find(b, job->task);
    if (b->files == NULL)
        b->files = calloc(LKS_BMCSIM_FILES_MAX, sizeof(*b->files));
    bool kept = b->files != NULL;
    if (kept) {
        struct lks_bmcsim_file *same = find_file(b, job->now, lks_str_from(job->file));
        if (same != NULL || b->file_count == LKS_BMCSIM_FILES_MAX)
            drop_file(b, same != NULL ? same : b->files);
        struct lks_bmcsim_file *f = &b->files[b->file_count++];
        *f = (struct lks_bmcsim_file){.unit = job->now};
        f->bytes = LKS_MOVE(job->image);
        (void)snprintf(f->name, sizeof(f->name), "%s", job->file);
    }
    if (task != NULL)
        lks_bmcsim_task_end(b, task, kept);
    lks_bmcsim_job_drop(b);
}

/* ---- Reading ---- */

static void write_unit(struct lks_bmcsim *b, struct lks_json_writer *w, unsigned unit,
                       const char *key)
{
    struct lks_bmcsim_entry entry;
    const struct lks_bmcsim_unit *u = &b->units[unit];
    for (size_t i = 0; lks_bmcsim_inventory_entry_at(b, i, &entry) && entry.unit != unit; i++)
        ;
    lks_json_begin(w, key, '{');
    lks_json_write(w,
                   "'actual-firmware': '%s', 'part-number': '920-9K36F-SIM', "
                   "'serial-number': '%s', 'type': '%s', 'installed-firmware'?: '%s'}",
                   u->bricked ? "N/A" : entry.version, b->name, u->row->class, u->staged);
    if ((u->row->flags & LKS_ROW_FIXED) == 0)
        (void)lks_bmcsim_fault_trouble(b, LKS_FAULT_WRONG_VERSION, NULL);
}

static void write_job(struct lks_bmcsim *b, struct lks_json_writer *w,
                      const struct lks_bmcsim_task *t, const char *key)
{
    bool over = t->state >= LKS_TASK_COMPLETED;
    bool good = over && !t->failed;
    const struct lks_bmcsim_told *told = &t->told[t->told_count - 1];
    bool runs = b->job != NULL && b->job->task == t->number && !t->stuck;
    lks_json_begin(w, key, '{');
    lks_json_write(w,
                   "'detail': '%s', 'http_status': %d, 'issue': [], 'percentage': '%u', "
                   "'state': '%s', 'status': '%s', 'timeout': 3600, 'type': ''}",
                   good ? "The action is done." : lks_bmcsim_messages[told->message].key,
                   over && !good ? 500 : 200, runs ? lks_bmcsim_job_percent(b) : t->percent,
                   good   ? "action_success"
                   : over ? "action_error"
                          : "running",
                   good   ? "Action succeeded"
                   : over ? "Action failed"
                          : "Running");
}

static void get_actions(struct lks_bmcsim_call *c, struct lks_str id)
{
    struct lks_bmcsim *b = c->b;
    uint64_t number = 0;
    if (id.len > 0) {
        const struct lks_bmcsim_task *t = lks_str_number(id, UINT32_MAX, &number)
                                              ? lks_bmcsim_task_find(b, (uint32_t)number)
                                              : NULL;
        if (t == NULL || t->lost)
            missing(c);
        else
            write_job(b, &c->w, t, NULL);
        return;
    }
    lks_json_begin(&c->w, NULL, '{');
    for (size_t i = 0; i < b->task_count; i++) {
        char key[16];
        (void)snprintf(key, sizeof(key), "%u", b->tasks[i].number);
        if (!b->tasks[i].lost)
            write_job(b, &c->w, &b->tasks[i], key);
    }
    lks_json_end(&c->w, '}');
}

static void get_files(struct lks_bmcsim_call *c, unsigned unit)
{
    lks_json_begin(&c->w, NULL, '{');
    for (size_t i = 0; i < c->b->file_count; i++)
        if (c->b->files[i].unit == unit)
            lks_json_write(&c->w, "'%s': {'path': '/host/fw-images/%s/%s'}", c->b->files[i].name,
                           c->b->units[unit].id, c->b->files[i].name);
    lks_json_end(&c->w, '}');
}

static void get_platform(struct lks_bmcsim_call *c)
{
    lks_json_write(&c->w,
                   "{'system-mac': '02:00:00:00:00:01', 'manufacturer': '%s', "
                   "'product-name': '%s', 'serial-number': 'SN-%s', "
                   "'part-number': '920-9K36F-SIM', 'hw-revision': '%s'}",
                   c->b->kind->vendor, c->b->kind->model, c->b->name, c->b->revision);
}

static void get_system(struct lks_bmcsim_call *c, bool version)
{
    if (version)
        lks_json_write(&c->w, "{'image': 'nvos-25.02.2141', 'kernel': '6.1.0'}");
    else
        lks_json_write(&c->w,
                       "{'hostname': '%s', 'product-name': 'nvos', "
                       "'product-release': '25.02.2141', 'status': 'System is ready'}",
                       c->b->name);
}

static void get_firmware(struct lks_bmcsim_call *c, struct lks_str component, struct lks_str rest)
{
    unsigned unit;
    if (component.len == 0) {
        lks_json_begin(&c->w, NULL, '{');
        for (unsigned i = 0; i < c->b->unit_count; i++)
            write_unit(c->b, &c->w, i, c->b->units[i].id);
        lks_json_end(&c->w, '}');
        return;
    }
    bool found = find_unit(c->b, component, &unit);
    if (found && rest.len == 0)
        write_unit(c->b, &c->w, unit, NULL);
    else if (found && lks_str_is(rest, "files"))
        get_files(c, unit);
    else
        missing(c);
}

/* ---- Acting ---- */

static void answer_job(struct lks_bmcsim_call *c, uint32_t number)
{
    lks_buf_truncate(&c->reply->body, 0);
    c->reply->status = 200;
    lks_buf_addf(&c->reply->body, "%u", number);
}

static bool truth(const struct lks_doc *parameters, const char *key)
{
    const struct lks_doc *d = lks_doc_member(parameters, key);
    return d != NULL && d->kind == LKS_DOC_BOOL && d->truth;
}

static void fetch(struct lks_bmcsim_call *c, unsigned unit, const struct lks_doc *parameters)
{
    struct lks_str uri = lks_doc_text(parameters, "remote-url");
    struct lks_str name = lks_str_last(uri, '/');
    if (name.len == 0 || name.len >= LKS_BMCSIM_ID_SIZE) {
        problem(c, 400, "Bad Request", "remote-url is missing or names no file.");
        return;
    }
    struct lks_bmcsim_wish wish = {.targets = UINT64_C(1) << unit, .targeted = true};
    const struct lks_bmcsim_task *task = lks_bmcsim_job_begin(c, &wish, (struct lks_str){0}, uri);
    if (task == NULL)
        return;
    c->b->job->now = unit;
    (void)snprintf(c->b->job->file, sizeof(c->b->job->file), "%" LKS_STR_FMT, LKS_STR_ARG(name));
    answer_job(c, task->number);
}

static void install(struct lks_bmcsim_call *c, unsigned unit, const struct lks_bmcsim_file *file,
                    const struct lks_doc *parameters)
{
    struct lks_bmcsim_wish wish = {
        .targets = UINT64_C(1) << unit,
        .targeted = true,
        .force = truth(parameters, "force"),
        .apply = truth(parameters, "skip-reboot") ? LKS_APPLY_ON_RESET : LKS_APPLY_IMMEDIATE,
    };
    const struct lks_bmcsim_task *task =
        lks_bmcsim_job_begin(c, &wish, lks_buf_view(&file->bytes), (struct lks_str){0});
    if (task != NULL)
        answer_job(c, task->number);
}

static void remove_file(struct lks_bmcsim_call *c, struct lks_bmcsim_file *file)
{
    struct lks_bmcsim *b = c->b;
    drop_file(b, file);
    struct lks_bmcsim_task *task = lks_bmcsim_task_new(b, false);
    if (task == NULL)
        return;
    lks_bmcsim_task_end(b, task, true);
    answer_job(c, task->number);
}

static void post_firmware(struct lks_bmcsim_call *c, struct lks_str component, struct lks_str rest)
{
    unsigned unit;
    struct lks_str folder, name;
    const struct lks_doc *get = lks_doc_member(c->body, "@fetch");
    const struct lks_doc *put = lks_doc_member(c->body, "@install");
    const struct lks_doc *del = lks_doc_member(c->body, "@delete");
    lks_str_cut(rest, '/', &folder, &name);
    if (!find_unit(c->b, component, &unit)) {
        missing(c);
    } else if (rest.len == 0 && get != NULL) {
        fetch(c, unit, lks_doc_member(get, "parameters"));
    } else if (lks_str_is(folder, "files") && (put != NULL || del != NULL)) {
        struct lks_bmcsim_file *file = find_file(c->b, unit, name);
        if (file == NULL)
            missing(c);
        else if (put != NULL)
            install(c, unit, file, lks_doc_member(put, "parameters"));
        else
            remove_file(c, file);
    } else {
        problem(c, 400, "Bad Request", "There is no such action here.");
    }
}

static void post_system(struct lks_bmcsim_call *c)
{
    bool cold = lks_doc_member(c->body, "@power-cycle") != NULL;
    struct lks_bmcsim_task *task = NULL;
    if (!cold && lks_doc_member(c->body, "@reboot") == NULL) {
        problem(c, 400, "Bad Request", "There is no such action here.");
        return;
    }
    task = lks_bmcsim_task_new(c->b, false);
    if (task == NULL) {
        problem(c, 500, "Internal Server Error", "no memory");
        return;
    }
    answer_job(c, task->number);
    lks_bmcsim_reset(c->b, cold ? LKS_RESET_AC : LKS_RESET_HOST);
}

static void post(struct lks_bmcsim_call *c)
{
    struct lks_str rest = {c->path.ptr + strlen(API), c->path.len - strlen(API)}, component;
    if (c->body == NULL)
        problem(c, 400, "Bad Request", "An action is JSON.");
    else if (lks_str_is(rest, "/system"))
        post_system(c);
    else if (lks_str_starts(rest, "/platform/firmware/")) {
        rest = (struct lks_str){rest.ptr + 19, rest.len - 19};
        lks_str_cut(rest, '/', &component, &rest);
        post_firmware(c, component, rest);
    } else {
        missing(c);
    }
}

static void get(struct lks_bmcsim_call *c)
{
    struct lks_str rest = {c->path.ptr + strlen(API), c->path.len - strlen(API)}, component = {0};
    c->reply->status = 200;
    c->w = (struct lks_json_writer){.out = &c->reply->body};
    if (lks_str_is(rest, "/platform")) {
        get_platform(c);
    } else if (lks_str_is(rest, "/system") || lks_str_is(rest, "/system/version")) {
        get_system(c, lks_str_is(rest, "/system/version"));
    } else if (lks_str_is(rest, "/action")) {
        get_actions(c, component);
    } else if (lks_str_starts(rest, "/action/")) {
        get_actions(c, (struct lks_str){rest.ptr + 8, rest.len - 8});
    } else if (lks_str_is(rest, "/platform/firmware")) {
        get_firmware(c, component, component);
    } else if (lks_str_starts(rest, "/platform/firmware/")) {
        rest = (struct lks_str){rest.ptr + 19, rest.len - 19};
        lks_str_cut(rest, '/', &component, &rest);
        get_firmware(c, component, rest);
    } else {
        missing(c);
    }
}

void lks_bmcsim_nvue(struct lks_bmcsim_call *c)
{
    struct lks_str method = lks_str_from(c->request->method);
    if (!lks_str_starts(c->path, API "/")) { /* whatever else is asked: a web server's own page */
        c->reply->status = 404;
        c->reply->type = "text/html";
        lks_buf_add(&c->reply->body, LKS_STR("<html><h1>404 Not Found</h1></html>\n"));
        return;
    }
    if (!lks_bmcsim_session_allowed(c)) {
        problem(c, 401, "Unauthorized", "Give a user name and a password.");
        return;
    }
    if (lks_str_is(method, "GET") || lks_str_is(method, "HEAD"))
        get(c);
    else if (lks_str_is(method, "POST"))
        lks_bmcsim_route_with_json(c, post);
    else
        problem(c, 405, "Method Not Allowed", "Only GET and POST are taken.");
}
