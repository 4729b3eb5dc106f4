/* What of an update of a switch tray survives a restart. */
#include "codec/format/json.h"
#include "drivers/bmc/nvos_update.h"

#include <inttypes.h>
#include <stdio.h>

void lks_nvos_save(const void *value, struct lks_buf *out)
{
    const struct lks_nvos_update *u = value;
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_int(&w, "sent", u->sent);
    lks_json_int(&w, "installs", u->installs);
    lks_json_int(&w, "reboots", u->reboots);
    lks_json_int(&w, "again", u->again);
    lks_json_int(&w, "expected", (int64_t)u->expected);
    lks_json_int(&w, "rebooted", (int64_t)u->rebooted);
    lks_json_int(&w, "outcome", (int64_t)u->outcome);
    lks_json_cstr(&w, "turn", u->turn);
    lks_json_cstr(&w, "job", u->job);
    lks_json_cstr(&w, "before", u->before);
    lks_json_cstr(&w, "kind", u->kind);
    lks_json_cstr(&w, "text", u->text);
    lks_json_cstr(&w, "why", u->why);
    lks_json_bool(&w, "lost", u->lost);
    lks_json_bool(&w, "sought", u->sought);
    lks_json_bool(&w, "taken", u->taken);
    lks_json_bool(&w, "reboot_heard", u->reboot_heard);
    lks_json_bool(&w, "jobs_known", u->jobs_known);
    lks_json_begin(&w, "jobs", '[');
    for (size_t i = 0; i < u->job_count; i++) {
        char hash[17];
        snprintf(hash, sizeof(hash), "%016" PRIx64, u->jobs[i]);
        lks_json_cstr(&w, NULL, hash);
    }
    lks_json_end(&w, ']');
    lks_json_end(&w, '}');
}

static bool load_jobs(struct lks_nvos_update *u, const struct lks_doc *list)
{
    u->job_count = 0;
    if (list == NULL || list->kind != LKS_DOC_LIST || list->count > LKS_NVOS_JOBS_MAX)
        return false;
    for (const struct lks_doc *one = list->first; one != NULL; one = one->next) {
        if (one->kind != LKS_DOC_TEXT ||
            !lks_str_hex(one->text, UINT64_MAX, &u->jobs[u->job_count++]))
            return false;
    }
    return true;
}

static bool load_numbers(struct lks_nvos_update *u, const struct lks_doc *doc)
{
    uint64_t sent = lks_bmc_json_number(doc, "sent", UINT64_MAX);
    uint64_t outcome = lks_bmc_json_number(doc, "outcome", UINT64_MAX);
    uint64_t expected = lks_bmc_json_number(doc, "expected", UINT64_MAX);
    uint64_t installs = lks_bmc_json_number(doc, "installs", UINT64_MAX);
    uint64_t reboots = lks_bmc_json_number(doc, "reboots", UINT64_MAX);
    uint64_t again = lks_bmc_json_number(doc, "again", UINT64_MAX);
    uint64_t rebooted = lks_bmc_json_number(doc, "rebooted", UINT64_MAX);
    if (sent > LKS_NVOS_SENT_REBOOT || outcome >= LKS_BMC_OUTCOME_COUNT ||
        expected > LKS_NVOS_TARGETS_MAX || installs > UINT16_MAX || reboots > UINT16_MAX ||
        again > UINT16_MAX || rebooted > LKS_DOC_NUMBER_MAX)
        return false;
    u->sent = (uint32_t)sent;
    u->outcome = (enum lks_bmc_outcome)outcome;
    u->expected = (size_t)expected;
    u->installs = (uint32_t)installs;
    u->reboots = (uint32_t)reboots;
    u->again = (uint32_t)again;
    u->rebooted = rebooted;
    return true;
}

static bool load_rest(struct lks_nvos_update *u, const struct lks_doc *doc)
{
    if (!load_numbers(u, doc))
        return false;
    u->jobs_known = lks_bmc_json_true(doc, "jobs_known");
    u->lost = lks_bmc_json_true(doc, "lost");
    u->sought = lks_bmc_json_true(doc, "sought");
    u->taken = lks_doc_member(doc, "taken") == NULL || lks_bmc_json_true(doc, "taken");
    u->reboot_heard = lks_bmc_json_true(doc, "reboot_heard");
    lks_redfish_keep(u->turn, sizeof(u->turn), lks_doc_text(doc, "turn"));
    lks_redfish_keep(u->job, sizeof(u->job), lks_doc_text(doc, "job"));
    lks_redfish_keep(u->before, sizeof(u->before), lks_doc_text(doc, "before"));
    lks_redfish_keep(u->kind, sizeof(u->kind), lks_doc_text(doc, "kind"));
    lks_redfish_keep(u->text, sizeof(u->text), lks_doc_text(doc, "text"));
    lks_redfish_keep(u->why, sizeof(u->why), lks_doc_text(doc, "why"));
    return load_jobs(u, lks_doc_member(doc, "jobs"));
}

enum lks_code lks_nvos_load(void *value, struct lks_str saved, struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_nvos_update *u = value, fresh = *u;
    if (lks_docs_init(&docs, "saved update", err) != LKS_OK ||
        lks_json_parse(saved, &docs, err) != LKS_OK)
        return err->code;
    if (!load_rest(&fresh, docs.first))
        return lks_fail(err, LKS_E_INVALID, "a saved update that cannot be read");
    fresh.r.head.step = LKS_NVOS_LIST;
    fresh.purpose = fresh.sent == LKS_NVOS_SENT_NOTHING ? LKS_NVOS_SURVEY : LKS_NVOS_SEEK;
    *u = fresh;
    return LKS_OK;
}
