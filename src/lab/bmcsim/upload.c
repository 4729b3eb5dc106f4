#include "lab/bmcsim/parts.h"

#include <stdio.h>
#include <stdlib.h>

#define INVENTORY "/redfish/v1/UpdateService/FirmwareInventory/"

static struct lks_bmcsim_wish ordinary(const struct lks_bmcsim *b)
{
    bool later = (b->kind->flags & LKS_HAS_ON_RESET) != 0;
    return (struct lks_bmcsim_wish){.apply = later ? LKS_APPLY_ON_RESET : LKS_APPLY_IMMEDIATE};
}

void lks_bmcsim_upload_accepted(struct lks_bmcsim_call *c, const struct lks_bmcsim_task *task)
{
    char id[LKS_BMCSIM_ID_SIZE], path[LKS_BMCSIM_PATH_SIZE];
    uint32_t flags = c->b->kind->flags;
    lks_bmcsim_task_id(c->b, task, id);
    c->reply->status = 202;
    lks_bmcsim_reply_header(c, "Location", "/redfish/v1/TaskService/TaskMonitors/%s", id);
    if ((flags & LKS_HAS_NO_BODY) != 0)
        return;
    lks_bmcsim_reply_header(c, "Retry-After", "%u", 30U);
    (void)snprintf(path, sizeof(path), "/redfish/v1/TaskService/Tasks/%s", id);
    (void)lks_bmcsim_route_render(c->b, lks_str_from(path), 0, &c->reply->body);
    if ((flags & LKS_HAS_TWO_STEPS) != 0) { /* this one says it in a word of its own */
        lks_buf_truncate(&c->reply->body, c->reply->body.len - 1);
        lks_buf_add(&c->reply->body, LKS_STR(",\"Accepted\":{\"code\":\"Base.1.18.Accepted\"}}"));
    }
}

/* ---- Targets ---- */

/* The units that a target stands for; false: it is none. */
static bool target_units(struct lks_bmcsim *b, struct lks_str uri, uint64_t *out)
{
    bool board =
        b->personality == LKS_BMCSIM_HGX && lks_str_is(uri, "/redfish/v1/Chassis/HGX_Chassis_0");
    bool manager = lks_str_starts(uri, "/redfish/v1/Managers/") &&
                   lks_str_is(lks_str_last(uri, '/'), b->kind->manager);
    uint64_t units = 0;
    for (unsigned i = 0; i < b->unit_count; i++) {
        const struct lks_bmcsim_unit *u = &b->units[i];
        struct lks_bmcsim_entry entry;
        bool fits = board && strncmp(u->id, "HGX_", 4) == 0;
        if (u->row->target != NULL)
            fits = lks_str_is(uri, u->row->target);
        else if (manager)
            fits = u->row->reset == LKS_RESET_BMC;
        else if (!fits && lks_str_starts(uri, INVENTORY))
            for (size_t e = 0; !fits && lks_bmcsim_inventory_entry_at(b, e, &entry); e++)
                fits = entry.unit == i && entry.bank == LKS_SIM_ACTIVE &&
                       lks_str_is(lks_str_last(uri, '/'), entry.id);
        if (fits && (u->row->flags & LKS_ROW_FIXED) == 0)
            units |= UINT64_C(1) << i;
    }
    *out |= units;
    return units != 0;
}

/* Units of the board and others are updated by different controllers: never in one request. */
static bool mixed(const struct lks_bmcsim *b, uint64_t units)
{
    bool board = false, other = false;
    for (unsigned i = 0; i < b->unit_count; i++) {
        if ((units >> i & 1U) == 0)
            continue;
        bool hgx = strncmp(b->units[i].id, "HGX_", 4) == 0;
        board = board || hgx;
        other = other || !hgx;
    }
    return board && other;
}

static bool read_targets(struct lks_bmcsim_call *c, const struct lks_doc *list,
                         struct lks_bmcsim_wish *wish)
{
    struct lks_bmcsim *b = c->b;
    if (list->kind != LKS_DOC_LIST) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_TYPE, "given", "Targets");
        return false;
    }
    if ((b->kind->flags & LKS_HAS_ONE_TARGET) != 0 && list->count > 1) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_VALUE, "more than one", "Targets");
        return false;
    }
    for (const struct lks_doc *d = list->first; d != NULL; d = d->next) {
        char text[LKS_BMCSIM_PATH_SIZE];
        (void)snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(d->text));
        if (d->kind != LKS_DOC_TEXT || !target_units(b, d->text, &wish->targets)) {
            lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_VALUE, text, "Targets");
            return false;
        }
    }
    if (b->personality == LKS_BMCSIM_HGX && mixed(b, wish->targets)) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_INVALID_OBJECT, "Target", NULL);
        return false;
    }
    wish->targeted = list->count > 0;
    if (!wish->targeted && b->personality == LKS_BMCSIM_HGX) { /* the empty list: the BMC tray */
        for (unsigned i = 0; i < b->unit_count; i++)
            if (strncmp(b->units[i].id, "HGX_", 4) != 0)
                wish->targets |= UINT64_C(1) << i;
        wish->targeted = true;
    }
    return true;
}

/* ---- UpdateParameters ---- */

static bool read_apply(struct lks_bmcsim_call *c, struct lks_str word, struct lks_bmcsim_wish *wish)
{
    for (unsigned i = 0; lks_bmcsim_apply_words[i] != NULL; i++) {
        if (lks_str_is(word, lks_bmcsim_apply_words[i]) && (c->b->kind->applies >> i & 1U) != 0) {
            wish->apply = (enum lks_bmcsim_apply)i;
            return true;
        }
    }
    char text[64];
    (void)snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(word));
    lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_VALUE, text, "@Redfish.OperationApplyTime");
    return false;
}

static bool read_option(struct lks_bmcsim_call *c, const struct lks_doc *oem,
                        struct lks_bmcsim_wish *wish)
{
    const struct lks_doc *nvidia = lks_doc_member(oem, "Nvidia");
    struct lks_str option = lks_doc_text(nvidia, "UpdateOption");
    wish->stage_only = c->b->personality == LKS_BMCSIM_HGX && lks_str_is(option, "StageOnly");
    if (option.len == 0 || wish->stage_only || lks_str_is(option, "StageAndActivate"))
        return true;
    lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_VALUE, "UpdateOption", "Oem.Nvidia");
    return false;
}

static bool unknown_key(struct lks_bmcsim_call *c, struct lks_str key)
{
    static const char *const known[] = {
        "Targets", "@Redfish.OperationApplyTime", "ForceUpdate", "Stage", "Oem", NULL};
    size_t most = (c->b->kind->flags & LKS_HAS_FEW_KEYS) != 0 ? 2 : LKS_COUNT(known) - 1;
    for (size_t i = 0; i < most; i++)
        if (lks_str_is(key, known[i]))
            return false;
    char text[64];
    (void)snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(key));
    lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_UNKNOWN, text, NULL);
    return true;
}

/* What is asked for, from the parameters of a push or an action. False: the answer is written. */
static bool read_parameters(struct lks_bmcsim_call *c, const struct lks_doc *map,
                            struct lks_bmcsim_wish *wish)
{
    const struct lks_doc *targets = lks_doc_member(map, "Targets");
    const struct lks_doc *force = lks_doc_member(map, "ForceUpdate");
    const struct lks_doc *stage = lks_doc_member(map, "Stage");
    struct lks_str apply = lks_doc_text(map, "@Redfish.OperationApplyTime");
    if (targets == NULL && (c->b->kind->flags & LKS_HAS_MUST_TARGET) != 0) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_MISSING, "Targets", NULL);
        return false;
    }
    if (targets != NULL && !read_targets(c, targets, wish))
        return false;
    if (apply.len > 0 && !read_apply(c, apply, wish))
        return false;
    wish->force = force != NULL && force->truth;
    if (!read_option(c, lks_doc_member(map, "Oem"), wish))
        return false;
    wish->stage_only = wish->stage_only || (stage != NULL && stage->truth);
    return true;
}

/* ---- Pushes ---- */

static const struct lks_bmcsim_part *part_named(const struct lks_bmcsim_part *parts, int count,
                                                const char *name)
{
    for (int i = 0; i < count; i++)
        if (lks_str_is(parts[i].name, name))
            return &parts[i];
    return NULL;
}

static void begin(struct lks_bmcsim_call *c, const struct lks_bmcsim_wish *wish,
                  struct lks_str image)
{
    const struct lks_bmcsim_task *task = lks_bmcsim_job_begin(c, wish, image, (struct lks_str){0});
    if (task != NULL)
        lks_bmcsim_upload_accepted(c, task);
}

static bool known_keys(struct lks_bmcsim_call *c, const struct lks_doc *map)
{
    for (const struct lks_doc *d = map->first; d != NULL; d = d->next)
        if (unknown_key(c, d->key))
            return false;
    return true;
}

static struct lks_str content_type(const struct lks_bmcsim_call *c)
{
    return lks_http_header(c->request->head, "content-type");
}

static int read_parts(const struct lks_bmcsim_call *c,
                      struct lks_bmcsim_part parts[LKS_BMCSIM_PARTS_MAX])
{
    return lks_bmcsim_multipart(content_type(c), c->request->body, parts);
}

static void push_multipart(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim_part parts[LKS_BMCSIM_PARTS_MAX];
    int count = read_parts(c, parts);
    const struct lks_bmcsim_part *json = part_named(parts, count, "UpdateParameters");
    const struct lks_bmcsim_part *file = part_named(parts, count, "UpdateFile");
    if (!lks_str_starts(content_type(c), "multipart/form-data")) {
        lks_bmcsim_reply_error(c, 415, LKS_MSG_MEDIA_TYPE, "that was sent", NULL);
        return;
    }
    if (c->request->body.len > c->b->kind->max_image + LKS_BMCSIM_JSON_MAX) {
        lks_bmcsim_reply_error(c, 413, LKS_MSG_TOO_LARGE, NULL, NULL);
        return;
    }
    if (count < 0 || json == NULL || file == NULL) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_MISSING,
                               json == NULL ? "UpdateParameters" : "UpdateFile", NULL);
        return;
    }
    if (c->b->personality == LKS_BMCSIM_HGX &&
        !lks_str_is(file->type, "application/octet-stream")) {
        lks_bmcsim_reply_error(c, 415, LKS_MSG_MEDIA_TYPE, "of UpdateFile", NULL);
        return;
    }
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err;
    struct lks_bmcsim_wish wish = ordinary(c->b);
    if (json->body.len > LKS_BMCSIM_JSON_MAX || lks_docs_init(&docs, "body", &err) != LKS_OK ||
        lks_json_parse(json->body, &docs, &err) != LKS_OK || docs.first->kind != LKS_DOC_MAP)
        lks_bmcsim_reply_error(c, 400, LKS_MSG_MALFORMED_JSON, NULL, NULL);
    else if (known_keys(c, docs.first) && read_parameters(c, docs.first, &wish))
        begin(c, &wish, file->body);
}

/* The image alone as the body; what it is for was set before, or is the BMC. */
static void push_plain(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    if (!lks_str_is(content_type(c), "application/octet-stream")) {
        lks_bmcsim_reply_error(c, 415, LKS_MSG_MEDIA_TYPE, "that was sent", NULL);
        return;
    }
    struct lks_bmcsim_wish wish = {
        .apply = LKS_APPLY_IMMEDIATE, .targeted = b->push_targeted, .targets = b->push_targets};
    if (!wish.targeted && b->personality == LKS_BMCSIM_OPENBMC)
        wish.targeted = target_units(b, LKS_STR("/redfish/v1/Managers/bmc"), &wish.targets);
    if (!wish.targeted && (b->kind->flags & LKS_HAS_MUST_TARGET) != 0) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_MISSING, "HttpPushUriTargets", NULL);
        return;
    }
    begin(c, &wish, c->request->body);
}

/* A form with the session's key, parameters and files; how it goes on shows in the service. */
static void push_form(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim_part parts[LKS_BMCSIM_PARTS_MAX];
    int count = read_parts(c, parts);
    const struct lks_bmcsim_part *key = part_named(parts, count, "sessionKey");
    const struct lks_bmcsim_part *file = part_named(parts, count, "files[]");
    if (file == NULL)
        file = part_named(parts, count, "file");
    if (key == NULL || !lks_bmcsim_session_token_good(c->b, key->body)) {
        lks_bmcsim_reply_error(c, 401, LKS_MSG_NO_SESSION, NULL, NULL);
        return;
    }
    if (file == NULL) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_MISSING, "files[]", NULL);
        return;
    }
    struct lks_bmcsim_wish wish = ordinary(c->b);
    if (lks_bmcsim_job_begin(c, &wish, file->body, (struct lks_str){0}) != NULL)
        lks_bmcsim_reply_success(c, 200);
}

bool lks_bmcsim_upload_other(struct lks_bmcsim_call *c)
{
    const struct lks_bmcsim_kind *kind = c->b->kind;
    bool post = lks_str_is(lks_str_from(c->request->method), "POST");
    char cold[LKS_BMCSIM_PATH_SIZE] = "";
    if (kind->cold != NULL)
        (void)snprintf(cold, sizeof(cold), "/redfish/v1%s", kind->cold->path);
    bool multipart = kind->multipart != NULL && lks_str_is(c->path, kind->multipart);
    bool plain = kind->push != NULL && lks_str_is(c->path, kind->push);
    bool reset = cold[0] != '\0' && lks_str_is(c->path, cold);
    bool get = plain && lks_str_starts(c->path, "/redfish/v1/UpdateService/FirmwareInventory");
    if (!post && (multipart || reset || (plain && !get))) {
        lks_bmcsim_reply_header(c, "Allow", "POST");
        lks_bmcsim_reply_error(c, 405, LKS_MSG_NOT_ALLOWED, NULL, NULL);
    } else if (multipart && post) {
        push_multipart(c);
    } else if (plain && post) {
        if ((kind->flags & LKS_HAS_FORM) != 0)
            push_form(c);
        else
            push_plain(c);
    } else if (reset && post) {
        lks_bmcsim_route_with_json(c, lks_bmcsim_reset_post_cold);
    } else {
        return false;
    }
    return true;
}

/* ---- Actions ---- */

void lks_bmcsim_upload_post_simple(struct lks_bmcsim_call *c)
{
    struct lks_str uri = lks_doc_text(c->body, "ImageURI");
    struct lks_bmcsim_wish wish = ordinary(c->b);
    if (uri.len == 0)
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PARAMETER_MISSING, "UpdateService.SimpleUpdate",
                               "ImageURI");
    else if (!lks_str_starts(uri, "http://") && !lks_str_starts(uri, "https://"))
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PARAMETER_VALUE, "given", "ImageURI");
    else if (read_parameters(c, c->body, &wish)) {
        const struct lks_bmcsim_task *task =
            lks_bmcsim_job_begin(c, &wish, (struct lks_str){0}, uri);
        if (task != NULL)
            lks_bmcsim_upload_accepted(c, task);
    }
}

void lks_bmcsim_upload_post_start(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    if (b->job == NULL || b->job->phase != LKS_JOB_WAIT) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_IN_USE, NULL, NULL);
        return;
    }
    uint32_t number = b->last_task;
    lks_bmcsim_job_start(b);
    const struct lks_bmcsim_task *task = lks_bmcsim_task_find(b, number);
    if (task != NULL)
        lks_bmcsim_upload_accepted(c, task);
    else
        lks_bmcsim_reply_error(c, 500, LKS_MSG_INTERNAL, NULL, NULL);
}

void lks_bmcsim_upload_post_activate(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    struct lks_bmcsim_wish wish = {0};
    const struct lks_doc *targets = lks_doc_member(c->body, "Targets");
    if (targets == NULL) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PARAMETER_MISSING, "UpdateService.Activate",
                               "Targets");
        return;
    }
    if (!read_targets(c, targets, &wish))
        return;
    for (unsigned i = 0; i < b->unit_count; i++)
        if ((wish.targets >> i & 1U) != 0)
            b->units[i].held = false;
    lks_bmcsim_reply_success(c, 204);
}

void lks_bmcsim_upload_patch(struct lks_bmcsim_call *c)
{
    struct lks_bmcsim *b = c->b;
    const struct lks_doc *targets = lks_doc_member(c->body, "HttpPushUriTargets");
    struct lks_bmcsim_wish wish = {0};
    if (targets == NULL || b->kind->push == NULL || (b->kind->flags & LKS_HAS_FORM) != 0) {
        lks_bmcsim_reply_error(c, 400, LKS_MSG_PROPERTY_UNKNOWN, "that was sent", NULL);
        return;
    }
    if (targets->kind == LKS_DOC_LIST && targets->count == 0) {
        b->push_targeted = false;
        b->push_targets = 0;
    } else if (read_targets(c, targets, &wish)) {
        b->push_targeted = true;
        b->push_targets = wish.targets;
    } else {
        return;
    }
    lks_bmcsim_reply_success(c, 204);
}
