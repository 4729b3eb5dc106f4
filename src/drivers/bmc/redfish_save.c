/* What of an update survives a restart. The service is asked anew; what is kept is what it cannot
 * tell: what was sent, and how things were before. */
#include "codec/format/json_fields.h"
#include "drivers/bmc/redfish_update.h"

enum { SCHEMA = 1 };

#define AT(field)    LKS_JSON_AT(lks_redfish_update, field)
#define COUNT(field) .count_at = offsetof(struct lks_redfish_update, field)

static const struct lks_json_field saved_fields[] = {
    {"sent", LKS_JSON_NUMBER, AT(sent), .max = LKS_RF_SENT_CANCEL},
    {"way", LKS_JSON_NUMBER, AT(way), .max = LKS_RF_PULL},
    {"uploads", LKS_JSON_NUMBER, AT(uploads)},
    {"starts", LKS_JSON_NUMBER, AT(starts)},
    {"resets", LKS_JSON_NUMBER, AT(resets)},
    {"busy", LKS_JSON_NUMBER, AT(busy), .later = true},
    {"expected", LKS_JSON_NUMBER, AT(expected), .max = LKS_REDFISH_TARGETS_MAX},
    {"had", LKS_JSON_NUMBER, AT(had), .max = LKS_REDFISH_TARGETS_MAX, .later = true},
    {"had_reached", LKS_JSON_NUMBER, AT(had_reached), .max = LKS_REDFISH_TARGETS_MAX,
     .later = true},
    {"old_listed", LKS_JSON_NUMBER, AT(old_listed), .max = LKS_REDFISH_TASKS_MAX, .later = true},
    {"activated", LKS_JSON_NUMBER, AT(activated), .max = LKS_DOC_NUMBER_MAX},
    {"outcome", LKS_JSON_NUMBER, AT(outcome), .max = LKS_BMC_OUTCOME_COUNT - 1},
    {"acted", LKS_JSON_FLAG, AT(acted)},
    {"reset_heard", LKS_JSON_FLAG, AT(reset_heard)},
    {"task_over", LKS_JSON_FLAG, AT(task_over)},
    {"task_failed", LKS_JSON_FLAG, AT(task_failed)},
    {"task_lost", LKS_JSON_FLAG, AT(task_lost)},
    {"task_shown", LKS_JSON_FLAG, AT(task_shown)},
    {"task_found", LKS_JSON_FLAG, AT(task_found)},
    {"task_ended", LKS_JSON_FLAG, AT(task_ended)},
    {"taken", LKS_JSON_FLAG, AT(taken), .later = true},
    {"waited", LKS_JSON_FLAG, AT(waited), .later = true},
    {"only_running", LKS_JSON_FLAG, AT(only_running)},
    {"firmware_only", LKS_JSON_FLAG, AT(firmware_only)},
    {"reset_told", LKS_JSON_FLAG, AT(reset_told)},
    {"old_known", LKS_JSON_FLAG, AT(old_known)},
    {"version", LKS_JSON_CHARS, AT(version)},
    {"apply", LKS_JSON_CHARS, AT(apply)},
    {"task", LKS_JSON_CHARS, AT(task)},
    {"before", LKS_JSON_CHARS, AT(before)},
    {"kind", LKS_JSON_CHARS, AT(kind)},
    {"booted", LKS_JSON_CHARS, AT(booted)},
    {"oem_state", LKS_JSON_CHARS, AT(oem_state)},
    {"reset_at", LKS_JSON_CHARS, AT(reset_at)},
    {"reset_type", LKS_JSON_CHARS, AT(reset_type)},
    {"why", LKS_JSON_CHARS, AT(why)},
    {"fault", LKS_JSON_CHARS, AT(fault), .later = true},
    {"text", LKS_JSON_CHARS, AT(text)},
    {"tasks", LKS_JSON_HASHES, AT(old_tasks), COUNT(old_count)},
    {"passed", LKS_JSON_HASHES, AT(passed), COUNT(passed_count), .later = true},
    {"staying", LKS_JSON_HASHES, AT(staying), COUNT(staying_count), .later = true},
    {"entries", LKS_JSON_HASHES, AT(entries), .later = true},
};

void lks_redfish_save(const void *value, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_int(&w, "schema", SCHEMA);
    lks_json_fields_write(&w, saved_fields, LKS_COUNT(saved_fields), value);
    lks_json_end(&w, '}');
}

/* An update that an older version saved lacks some counts: each is then as its like. */
static bool load_fields(struct lks_redfish_update *u, const struct lks_doc *doc)
{
    if (lks_bmc_json_number(doc, "schema", UINT64_MAX) > SCHEMA ||
        !lks_json_fields_read(doc, saved_fields, LKS_COUNT(saved_fields), u))
        return false;
    if (lks_doc_member(doc, "had_reached") == NULL)
        u->had_reached = u->had;
    if (lks_doc_member(doc, "old_listed") == NULL)
        u->old_listed = u->old_count;
    return u->old_listed <= u->old_count;
}

/* Nothing is known of the service, and of the log-in: both are asked for again. */
enum lks_code lks_redfish_load(void *value, struct lks_str saved, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_redfish_update *u = value;
    if (lks_docs_init(&docs, "saved update", err) != LKS_OK ||
        lks_json_parse(saved, &docs, err) != LKS_OK)
        return err->code;
    struct lks_redfish_update fresh = *u;
    if (!load_fields(&fresh, docs.first))
        return lks_fail(err, LKS_E_INVALID, "a saved update that cannot be read");
    fresh.r.head.step = LKS_RF_ROOT;
    fresh.purpose = fresh.sent == LKS_RF_NOTHING ? LKS_RF_SURVEY : LKS_RF_SEEK;
    if (fresh.outcome != LKS_BMC_OPEN) /* it had ended, and only the session was open */
        fresh.r.head.step = LKS_RF_LOGOUT;
    *u = fresh;
    return LKS_OK;
}
