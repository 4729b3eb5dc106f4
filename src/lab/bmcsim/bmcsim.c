#include "lab/bmcsim/parts.h"

#include <stdio.h>
#include <stdlib.h>

lks_ms lks_bmcsim_span(const struct lks_bmcsim *b, unsigned seconds)
{
    return b->speed == 0 ? 0 : seconds * LKS_SECOND / b->speed;
}

/* What a unit begins with: what was asked for its class, what it always has, or what all have. */
static struct lks_str version_of(const struct lks_bmcsim *b, const struct lks_bmcsim_row *row,
                                 const char *versions)
{
    struct lks_str rest = lks_str_from(versions != NULL ? versions : ""), item, class, version;
    for (bool more = rest.len > 0; more;) {
        more = lks_str_cut(rest, ',', &item, &rest);
        if (lks_str_cut(item, '=', &class, &version) && lks_str_is(class, row->class))
            return version;
    }
    return lks_str_from(row->fixed != NULL ? row->fixed : b->version);
}

static void add_units(struct lks_bmcsim *b, const struct lks_bmcsim_options *o)
{
    for (size_t r = 0; r < b->kind->row_count; r++) {
        const struct lks_bmcsim_row *row = &b->kind->rows[r];
        for (uint8_t n = 0; n < row->count; n++) {
            struct lks_bmcsim_unit *u = &b->units[b->unit_count++];
            struct lks_str version = version_of(b, row, o->versions);
            *u = (struct lks_bmcsim_unit){.row = row, .number = (uint8_t)(row->first + n)};
            char id[LKS_BMCSIM_ID_SIZE];
            lks_bmcsim_inventory_numbered(row->id, u->number, id);
            (void)snprintf(u->id, sizeof(u->id), "%.47s", id);
            (void)snprintf(u->active, sizeof(u->active), "%" LKS_STR_FMT, LKS_STR_ARG(version));
            memcpy(u->golden, u->active, sizeof(u->golden));
            if ((row->flags & (LKS_ROW_ONE_WAY | LKS_ROW_RAISES)) != 0)
                (void)snprintf(u->lowest, sizeof(u->lowest), "%s", u->active);
        }
    }
}

static bool fill(struct lks_bmcsim *b, const struct lks_bmcsim_options *o, lks_ms now)
{
    size_t units = 0;
    b->kind = &lks_bmcsim_kinds[o->personality];
    b->personality = o->personality;
    for (size_t r = 0; r < b->kind->row_count; r++)
        units += b->kind->rows[r].count;
    LKS_ASSERT(units > 0 && units <= LKS_BMCSIM_DEVICES_MAX);
    b->now = now;
    b->due = LKS_BMCSIM_NEVER;
    b->speed = o->speed;
    b->rng.state = o->seed;
    b->power = LKS_POWER_ON;
    b->power_ends = LKS_BMCSIM_NEVER;
    const char *revision = o->hardware_revision != NULL ? o->hardware_revision : "A";
    (void)snprintf(b->name, sizeof(b->name), "%s", o->name != NULL ? o->name : "machine");
    (void)snprintf(b->revision, sizeof(b->revision), "%s", revision);
    (void)snprintf(b->version, sizeof(b->version), "%s", o->version != NULL ? o->version : "1.0.0");
    b->user = strdup(o->user != NULL ? o->user : "root");
    b->password = strdup(o->password != NULL ? o->password : "");
    b->units = calloc(units, sizeof(*b->units));
    if (b->user == NULL || b->password == NULL || b->units == NULL)
        return false;
    add_units(b, o);
    return true;
}

enum lks_code lks_bmcsim_new(const struct lks_bmcsim_options *options, lks_ms now,
                             struct lks_bmcsim **out, struct lks_err *err)
{
    if (options->personality >= LKS_BMCSIM_PERSONALITIES)
        return lks_fail(err, LKS_E_INVALID, "there is no personality %u",
                        (unsigned)options->personality);
    struct lks_bmcsim *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return lks_fail_nomem(err);
    if (!fill(b, options, now)) {
        lks_bmcsim_free(b);
        return lks_fail_nomem(err);
    }
    *out = b;
    return LKS_OK;
}

void lks_bmcsim_free(struct lks_bmcsim *b)
{
    if (b == NULL)
        return;
    lks_bmcsim_job_drop(b);
    for (size_t i = 0; i < b->file_count; i++)
        lks_buf_fini(&b->files[i].bytes);
    free(b->files);
    free(b->units);
    free(b->sessions);
    free(b->tasks);
    free(b->troubles);
    free(b->user);
    free(b->password);
    free(b);
}

/* ---- Time ---- */

static lks_ms sooner(lks_ms a, lks_ms b)
{
    return a < b ? a : b;
}

void lks_bmcsim_plan(struct lks_bmcsim *b)
{
    lks_ms due = b->power_ends;
    if (b->boot_ends != 0)
        due = sooner(due, b->boot_ends);
    if (b->job != NULL)
        due = sooner(due, b->job->ends);
    for (size_t i = 0; i < b->unit_count; i++)
        if (b->units[i].activating)
            due = sooner(due, b->units[i].activated);
    b->due = due;
}

/* What is due now: devices first, then the BMC that has to be up to tell of them. */
static void step(struct lks_bmcsim *b)
{
    for (unsigned i = 0; i < b->unit_count; i++) {
        if (b->units[i].activating && b->units[i].activated <= b->now) {
            lks_bmcsim_reset_activated(b, i);
            return;
        }
    }
    if (b->boot_ends != 0 && b->boot_ends <= b->now)
        lks_bmcsim_reset_booted(b);
    else if (b->power_ends <= b->now)
        lks_bmcsim_reset_power_step(b);
    else if (b->job != NULL && b->job->ends <= b->now)
        lks_bmcsim_job_step(b);
}

void lks_bmcsim_tick(struct lks_bmcsim *b, lks_ms now)
{
    while (b->due <= now) {
        if (b->due > b->now)
            b->now = b->due;
        step(b);
        lks_bmcsim_plan(b);
    }
    if (now > b->now)
        b->now = now;
}

lks_ms lks_bmcsim_next(const struct lks_bmcsim *b)
{
    return b->due;
}

/* ---- Requests ---- */

static bool dead(const struct lks_bmcsim *b)
{
    if (b->boot_ends != 0)
        return true;
    for (size_t i = 0; i < b->unit_count; i++)
        if (b->units[i].bricked && b->units[i].row->reset == LKS_RESET_BMC)
            return true;
    return false;
}

/* As a web server does that has lost its service behind it for a moment. */
static void show_page(struct lks_bmcsim_reply *out)
{
    out->status = 200;
    lks_buf_truncate(&out->head, 0);
    lks_buf_truncate(&out->body, 0);
    lks_buf_addf(&out->body, "<html><body>Please log in.</body></html>\n");
}

void lks_bmcsim_ask(struct lks_bmcsim *b, lks_ms now, const struct lks_bmcsim_request *request,
                    struct lks_bmcsim_reply *out)
{
    lks_bmcsim_tick(b, now);
    struct lks_bmcsim_call call = {.b = b, .request = request, .reply = out};
    out->status = 0;
    if (dead(b) || request->cut)
        return;
    lks_bmcsim_route(&call);
    lks_bmcsim_plan(b);
    if (strcmp(request->method, "HEAD") == 0)
        lks_buf_truncate(&out->body, 0);
    if (lks_bmcsim_fault_turn_of(b, LKS_FAULT_DROP))
        out->status = 0;
    if (lks_bmcsim_fault_turn_of(b, LKS_FAULT_PAGE) && out->status >= 200 && out->status < 300)
        show_page(out);
    const struct lks_bmcsim_trouble *slow = lks_bmcsim_fault_trouble(b, LKS_FAULT_SLOW, NULL);
    if (slow != NULL)
        out->delay = slow->amount;
    if (out->status == 0 || out->head.failed != LKS_OK || out->body.failed != LKS_OK) {
        out->status = 0;
        lks_buf_truncate(&out->head, 0);
        lks_buf_truncate(&out->body, 0);
    }
}

/* ---- The truth ---- */

size_t lks_bmcsim_device_count(const struct lks_bmcsim *b)
{
    return b->unit_count;
}

void lks_bmcsim_device(const struct lks_bmcsim *b, size_t i, struct lks_bmcsim_device *out)
{
    LKS_ASSERT(i < b->unit_count);
    const struct lks_bmcsim_unit *u = &b->units[i];
    *out = (struct lks_bmcsim_device){
        .id = lks_str_from(u->id),
        .class = lks_str_from(u->row->class),
        .active = lks_str_from(u->bricked ? "" : u->active),
        .staged = lks_str_from(u->staged),
        .backup = lks_str_from(u->backup),
        .bricked = u->bricked,
        .one_way = (u->row->flags & LKS_ROW_ONE_WAY) != 0,
        .flashes = u->flashes,
        .begun = u->begun,
        .activations = u->activations,
    };
}

uint32_t lks_bmcsim_updates(const struct lks_bmcsim *b)
{
    return b->updates;
}

bool lks_bmcsim_certificate_changed(const struct lks_bmcsim *b)
{
    return b->certificate;
}
