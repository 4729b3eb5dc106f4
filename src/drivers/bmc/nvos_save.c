/* What of an update of a switch tray survives a restart. */
#include "codec/format/json_fields.h"
#include "drivers/bmc/nvos_update.h"

#define AT(field) LKS_JSON_AT(lks_nvos_update, field)

static const struct lks_json_field saved_fields[] = {
    {"sent", LKS_JSON_NUMBER, AT(sent), .max = LKS_NVOS_SENT_REBOOT},
    {"installs", LKS_JSON_NUMBER, AT(installs)},
    {"reboots", LKS_JSON_NUMBER, AT(reboots)},
    {"again", LKS_JSON_NUMBER, AT(again)},
    {"expected", LKS_JSON_NUMBER, AT(expected), .max = LKS_NVOS_TARGETS_MAX},
    {"rebooted", LKS_JSON_NUMBER, AT(rebooted), .max = LKS_DOC_NUMBER_MAX},
    {"outcome", LKS_JSON_NUMBER, AT(outcome), .max = LKS_BMC_OUTCOME_COUNT - 1},
    {"turn", LKS_JSON_CHARS, AT(turn), .later = true},
    {"job", LKS_JSON_CHARS, AT(job), .later = true},
    {"before", LKS_JSON_CHARS, AT(before), .later = true},
    {"kind", LKS_JSON_CHARS, AT(kind), .later = true},
    {"text", LKS_JSON_CHARS, AT(text), .later = true},
    {"why", LKS_JSON_CHARS, AT(why), .later = true},
    {"lost", LKS_JSON_FLAG, AT(lost)},
    {"sought", LKS_JSON_FLAG, AT(sought)},
    {"taken", LKS_JSON_FLAG, AT(taken), .later = true},
    {"reboot_heard", LKS_JSON_FLAG, AT(reboot_heard)},
    {"jobs_known", LKS_JSON_FLAG, AT(jobs_known)},
    {"jobs", LKS_JSON_HASHES, AT(jobs), .count_at = offsetof(struct lks_nvos_update, job_count)},
};

void lks_nvos_save(const void *value, struct lks_buf *out)
{
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_fields_write(&w, saved_fields, LKS_COUNT(saved_fields), value);
    lks_json_end(&w, '}');
}

enum lks_code lks_nvos_load(void *value, struct lks_str saved, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_nvos_update *u = value, fresh = *u;
    if (lks_docs_init(&docs, "saved update", err) != LKS_OK ||
        lks_json_parse(saved, &docs, err) != LKS_OK)
        return err->code;
    if (!lks_json_fields_read(docs.first, saved_fields, LKS_COUNT(saved_fields), &fresh))
        return lks_fail(err, LKS_E_INVALID, "a saved update that cannot be read");
    fresh.r.head.step = LKS_NVOS_LIST;
    fresh.purpose = fresh.sent == LKS_NVOS_SENT_NOTHING ? LKS_NVOS_SURVEY : LKS_NVOS_SEEK;
    *u = fresh;
    return LKS_OK;
}
