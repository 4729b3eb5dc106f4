/* What of an update survives a restart. The service is asked anew; what is kept is what it cannot
 * tell: what was sent, and how things were before. */
#include "codec/format/json.h"
#include "drivers/bmc/redfish_update.h"

#include <inttypes.h>
#include <stdio.h>

enum { SCHEMA = 1 };

/* Texts by name. */
struct text {
    const char *name;
    size_t at, size;
};
#define TEXT(name, field)                                                                          \
    {                                                                                              \
        name, offsetof(struct lks_redfish_update, field),                                          \
            sizeof(((struct lks_redfish_update *)NULL)->field)                                     \
    }
static const struct text texts[] = {
    TEXT("version", version),
    TEXT("apply", apply),
    TEXT("task", task),
    TEXT("before", before),
    TEXT("kind", kind),
    TEXT("booted", booted),
    TEXT("oem_state", oem_state),
    TEXT("reset_at", reset_at),
    TEXT("reset_type", reset_type),
    TEXT("why", why),
    TEXT("text", text),
};

static void save_hashes(struct lks_json_writer *w, const char *name, const uint64_t *hashes,
                        size_t count)
{
    lks_json_begin(w, name, '[');
    for (size_t i = 0; i < count; i++) {
        char hash[17];
        snprintf(hash, sizeof(hash), "%016" PRIx64, hashes[i]);
        lks_json_cstr(w, NULL, hash);
    }
    lks_json_end(w, ']');
}

void lks_redfish_save(const void *value, struct lks_buf *out)
{
    const struct lks_redfish_update *u = value;
    struct lks_json_writer w = {.out = out};
    lks_json_begin(&w, NULL, '{');
    lks_json_int(&w, "schema", SCHEMA);
    lks_json_int(&w, "sent", (int64_t)u->sent);
    lks_json_int(&w, "way", (int64_t)u->way);
    lks_json_int(&w, "uploads", u->uploads);
    lks_json_int(&w, "starts", u->starts);
    lks_json_int(&w, "resets", u->resets);
    lks_json_int(&w, "busy", u->busy);
    lks_json_int(&w, "expected", (int64_t)u->expected);
    lks_json_int(&w, "had", (int64_t)u->had);
    lks_json_int(&w, "had_reached", (int64_t)u->had_reached);
    lks_json_int(&w, "old_listed", (int64_t)u->old_listed);
    lks_json_int(&w, "activated", (int64_t)u->activated);
    lks_json_int(&w, "outcome", (int64_t)u->outcome);
    lks_json_bool(&w, "acted", u->acted);
    lks_json_bool(&w, "reset_heard", u->reset_heard);
    lks_json_bool(&w, "task_over", u->task_over);
    lks_json_bool(&w, "task_failed", u->task_failed);
    lks_json_bool(&w, "task_lost", u->task_lost);
    lks_json_bool(&w, "task_shown", u->task_shown);
    lks_json_bool(&w, "task_found", u->task_found);
    lks_json_bool(&w, "task_ended", u->task_ended);
    lks_json_bool(&w, "taken", u->taken);
    lks_json_bool(&w, "waited", u->waited);
    lks_json_bool(&w, "only_running", u->only_running);
    lks_json_bool(&w, "firmware_only", u->firmware_only);
    lks_json_bool(&w, "reset_told", u->reset_told);
    lks_json_bool(&w, "old_known", u->old_known);
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        lks_json_cstr(&w, texts[i].name, (const char *)u + texts[i].at);
    save_hashes(&w, "tasks", u->old_tasks, u->old_count);
    save_hashes(&w, "passed", u->passed, u->passed_count);
    save_hashes(&w, "staying", u->staying, u->staying_count);
    save_hashes(&w, "entries", u->entries, LKS_COUNT(u->entries));
    lks_json_end(&w, '}');
}

static bool load_number(const struct lks_doc *doc, const char *name, uint64_t max, uint64_t *out)
{
    uint64_t number = lks_bmc_json_number(doc, name, UINT64_MAX);
    *out = number;
    return number <= max;
}

/* What was saved before there was such a word says neither: then it is true. */
static bool load_true(const struct lks_doc *doc, const char *name)
{
    return lks_doc_member(doc, name) == NULL || lks_bmc_json_true(doc, name);
}

static bool load_hashes(const struct lks_doc *list, uint64_t *hashes, size_t most, size_t *count)
{
    *count = 0;
    if (list == NULL || list->kind != LKS_DOC_LIST || list->count > most)
        return false;
    for (const struct lks_doc *one = list->first; one != NULL; one = one->next) {
        if (one->kind != LKS_DOC_TEXT || !lks_str_hex(one->text, UINT64_MAX, &hashes[*count]))
            return false;
        (*count)++;
    }
    return true;
}

/* What was saved before they were is without the last ones: then no entry is as it was. */
static bool load_lists(struct lks_redfish_update *u, const struct lks_doc *doc)
{
    size_t entries;
    const struct {
        const char *name;
        uint64_t *hashes;
        size_t most, *count;
        bool later;
    } lists[] = {
        {"tasks", u->old_tasks, LKS_COUNT(u->old_tasks), &u->old_count, false},
        {"passed", u->passed, LKS_COUNT(u->passed), &u->passed_count, true},
        {"staying", u->staying, LKS_COUNT(u->staying), &u->staying_count, true},
        {"entries", u->entries, LKS_COUNT(u->entries), &entries, true},
    };
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        const struct lks_doc *list = lks_doc_member(doc, lists[i].name);
        if (list == NULL && lists[i].later)
            continue;
        if (!load_hashes(list, lists[i].hashes, lists[i].most, lists[i].count))
            return false;
    }
    u->had = (size_t)lks_bmc_json_number(doc, "had", 0);
    u->had_reached = (size_t)lks_bmc_json_number(doc, "had_reached", u->had);
    u->old_listed = (size_t)lks_bmc_json_number(doc, "old_listed", u->old_count);
    return u->had <= LKS_REDFISH_TARGETS_MAX && u->had_reached <= LKS_REDFISH_TARGETS_MAX &&
           u->old_listed <= u->old_count;
}

static bool load_texts(struct lks_redfish_update *u, const struct lks_doc *doc)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        const struct lks_doc *at = lks_doc_member(doc, texts[i].name);
        if (at == NULL || at->kind != LKS_DOC_TEXT || at->text.len >= texts[i].size)
            return false;
        lks_redfish_keep((char *)u + texts[i].at, texts[i].size, at->text);
    }
    return true;
}

static bool load_numbers(struct lks_redfish_update *u, const struct lks_doc *doc)
{
    uint64_t sent, way, uploads, starts, resets, expected, activated, outcome, schema;
    uint64_t busy = lks_bmc_json_number(doc, "busy", 0); /* what was saved before it was has none */
    bool good = load_number(doc, "schema", SCHEMA, &schema) &&
                load_number(doc, "sent", LKS_RF_SENT_CANCEL, &sent) &&
                load_number(doc, "way", LKS_RF_PULL, &way) &&
                load_number(doc, "uploads", UINT16_MAX, &uploads) &&
                load_number(doc, "starts", UINT16_MAX, &starts) &&
                load_number(doc, "resets", UINT16_MAX, &resets) &&
                load_number(doc, "expected", LKS_REDFISH_TARGETS_MAX, &expected) &&
                load_number(doc, "activated", LKS_DOC_NUMBER_MAX, &activated) &&
                load_number(doc, "outcome", LKS_BMC_OUTCOME_COUNT - 1, &outcome);
    if (!good || busy > UINT16_MAX)
        return false;
    u->sent = (enum lks_redfish_sent)sent;
    u->way = (enum lks_redfish_way)way;
    u->uploads = (uint32_t)uploads;
    u->starts = (uint32_t)starts;
    u->resets = (uint32_t)resets;
    u->expected = (size_t)expected;
    u->activated = activated;
    u->outcome = (enum lks_bmc_outcome)outcome;
    u->busy = (unsigned)busy;
    u->acted = lks_bmc_json_true(doc, "acted");
    u->reset_heard = lks_bmc_json_true(doc, "reset_heard");
    u->task_over = lks_bmc_json_true(doc, "task_over");
    u->task_failed = lks_bmc_json_true(doc, "task_failed");
    u->task_lost = lks_bmc_json_true(doc, "task_lost");
    u->task_shown = lks_bmc_json_true(doc, "task_shown");
    u->task_found = lks_bmc_json_true(doc, "task_found");
    u->task_ended = lks_bmc_json_true(doc, "task_ended");
    u->taken = load_true(doc, "taken");
    u->waited = load_true(doc, "waited");
    u->only_running = lks_bmc_json_true(doc, "only_running");
    u->firmware_only = lks_bmc_json_true(doc, "firmware_only");
    u->reset_told = lks_bmc_json_true(doc, "reset_told");
    u->old_known = lks_bmc_json_true(doc, "old_known");
    return true;
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
    if (!load_numbers(&fresh, docs.first) || !load_texts(&fresh, docs.first) ||
        !load_lists(&fresh, docs.first))
        return lks_fail(err, LKS_E_INVALID, "a saved update that cannot be read");
    fresh.r.head.step = LKS_RF_ROOT;
    fresh.purpose = fresh.sent == LKS_RF_NOTHING ? LKS_RF_SURVEY : LKS_RF_SEEK;
    if (fresh.outcome != LKS_BMC_OPEN) /* it had ended, and only the session was open */
        fresh.r.head.step = LKS_RF_LOGOUT;
    *u = fresh;
    return LKS_OK;
}
