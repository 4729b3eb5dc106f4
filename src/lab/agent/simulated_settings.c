/* Settings of a simulated machine: what its tree answers from now on. */
#include "codec/format/json.h"
#include "lab/agent/simulated.h"

#include <stdio.h>

#define NVML_FILE    "/lockstep/nvml.csv"
#define CMDLINE_FILE "/proc/cmdline"

enum { ANSWER_MAX = 128 };

/* What a library answers, by the number that stands for the value. */
struct answer {
    const char *setting;
    const char *call;
    const char *value, *shown; /* the answer for this value; NULL: any, as a number, times 1000 */
};

static const struct answer answers[] = {
    {"settings.power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", NULL, NULL},
    {"settings.persistence", "nvmlDeviceGetPersistenceMode", "true", "0 1"},
    {"settings.persistence", "nvmlDeviceGetPersistenceMode", "false", "0 0"},
    {"settings.ecc", "nvmlDeviceGetEccMode", "true", "0 current=1 pending=1"},
    {"settings.ecc", "nvmlDeviceGetEccMode", "false", "0 current=0 pending=0"},
    {"settings.compute_mode", "nvmlDeviceGetComputeMode", "default", "0 0"},
    {"settings.compute_mode", "nvmlDeviceGetComputeMode", "prohibited", "0 2"},
    {"settings.compute_mode", "nvmlDeviceGetComputeMode", "exclusive-process", "0 3"},
};

static bool is_answer_of(struct lks_str line, const char *call)
{
    size_t len = strlen(call);
    return line.len > len + 2 && line.ptr[0] == '"' && memcmp(line.ptr + 1, call, len) == 0 &&
           line.ptr[len + 1] == ' ';
}

/* Every line of the table that answers `call` answers `shown` now. */
static enum lks_code answer_all(const char *root, const char *call, const char *shown,
                                struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf after = LKS_BUF(LKS_SIMULATED_MAX);
    if (lks_simulated_read(root, NVML_FILE, &text, err) != LKS_OK)
        return err->code;
    for (struct lks_str rest = lks_buf_view(&text), line, key, tail; rest.len > 0;) {
        lks_str_cut(rest, '\n', &line, &rest);
        lks_str_cut(line, ',', &key, &tail);
        if (is_answer_of(line, call))
            lks_buf_addf(&after, "%" LKS_STR_FMT ",ok,\"%s\"\n", LKS_STR_ARG(key), shown);
        else
            lks_buf_addf(&after, "%" LKS_STR_FMT "\n", LKS_STR_ARG(line));
    }
    if (lks_buf_check(&after, err) != LKS_OK)
        return err->code;
    return lks_simulated_write(root, NVML_FILE, lks_buf_view(&after), err);
}

static const struct answer *find_answer(const struct lks_order_item *item)
{
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        const struct answer *a = &answers[i];
        if (lks_str_is(item->component, a->setting) &&
            (a->value == NULL || lks_str_is(item->value, a->value)))
            return a;
    }
    return NULL;
}

static enum lks_code parse_list(struct lks_str json, struct lks_docs *docs, struct lks_err *err)
{
    if (lks_docs_init(docs, "kernel_cmdline", err) != LKS_OK ||
        (json.len > 0 && lks_json_parse(json, docs, err) != LKS_OK))
        return err->code;
    return LKS_OK;
}

static bool lists(const struct lks_docs *docs, struct lks_str word)
{
    const struct lks_doc *list = docs->first;
    bool listed = list != NULL && list->kind == LKS_DOC_LIST;
    for (const struct lks_doc *d = listed ? list->first : NULL; d != NULL; d = d->next) {
        if (lks_str_has_word(d->text, word))
            return true;
    }
    return false;
}

/* Without the words that were there for the sake of `before`, and with those of `value` behind. */
static enum lks_code set_cmdline(const char *root, const struct lks_order_item *item,
                                 struct lks_err *err)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs wanted = {0}, before = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf after = LKS_BUF(LKS_SIMULATED_MAX);
    struct lks_str line, rest, word;
    if (parse_list(item->value, &wanted, err) != LKS_OK ||
        parse_list(item->before, &before, err) != LKS_OK ||
        lks_simulated_read(root, CMDLINE_FILE, &text, err) != LKS_OK)
        return err->code;
    lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    while (lks_str_word(&line, &word)) {
        if (!lists(&before, word) && !lists(&wanted, word))
            lks_buf_addf(&after, "%s%" LKS_STR_FMT, after.len > 0 ? " " : "", LKS_STR_ARG(word));
    }
    const struct lks_doc *list = wanted.first;
    bool listed = list != NULL && list->kind == LKS_DOC_LIST;
    for (const struct lks_doc *d = listed ? list->first : NULL; d != NULL; d = d->next)
        lks_buf_addf(&after, " %" LKS_STR_FMT, LKS_STR_ARG(d->text));
    lks_buf_addc(&after, '\n');
    if (lks_buf_check(&after, err) != LKS_OK)
        return err->code;
    return lks_simulated_write(root, CMDLINE_FILE, lks_buf_view(&after), err);
}

enum lks_code lks_simulated_setting(const char *root, const struct lks_order_item *item,
                                    struct lks_err *err)
{
    char shown[ANSWER_MAX];
    if (lks_str_is(item->component, "settings.kernel_cmdline"))
        return set_cmdline(root, item, err);
    if (item->value.len == 0)
        return LKS_OK; /* no stack sets it any more */
    const struct answer *a = find_answer(item);
    if (a == NULL)
        return lks_fail(err, LKS_E_REFUSED, "a simulated machine cannot be set so");
    if (a->shown != NULL)
        return answer_all(root, a->call, a->shown, err);
    snprintf(shown, sizeof(shown), "0 %" LKS_STR_FMT "000", LKS_STR_ARG(item->value));
    return answer_all(root, a->call, shown, err);
}
