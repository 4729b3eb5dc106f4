#include "drivers/sched/kubernetes_truth.h"

#include "core/actions/sched_truth.h"
#include "drivers/sched/sched_said.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ODD "?" /* stands for a value that lockstep never writes */

/* The names --------------------------------------------------------------------------------- */

/* One row a verdict: its label is the feature without "lks-". */
static const struct verdict {
    const char *label, *status, *reason;
} verdicts[] = {
    {"conform", "True", "StackConforms"},
    {"drift", "False", "StackDiffers"},
    {"unknown", "Unknown", "NoVerdict"},
};

static const struct verdict *find_verdict(struct lks_str label)
{
    for (size_t i = 0; i < LKS_COUNT(verdicts); i++) {
        if (lks_str_is(label, verdicts[i].label))
            return &verdicts[i];
    }
    return NULL;
}

static bool is_verdict(struct lks_str value)
{
    return find_verdict(value) != NULL;
}

static bool is_digest(struct lks_str value)
{
    bool good = value.len == LKS_SCHED_TRUTH_HEX;
    for (size_t i = 0; i < value.len && good; i++)
        good = (value.ptr[i] >= '0' && value.ptr[i] <= '9') ||
               (value.ptr[i] >= 'a' && value.ptr[i] <= 'f');
    return good;
}

static bool is_slot(struct lks_str value)
{
    size_t prefix = strlen(LKS_SCHED_TRUTH_SLOT_PREFIX);
    return lks_str_starts(value, LKS_SCHED_TRUTH_SLOT_PREFIX) && value.len == prefix + 1 &&
           value.ptr[prefix] >= '0' && value.ptr[prefix] <= '9';
}

/* One row a label: the feature is its value behind the prefix. */
enum { DIGEST, VERDICT, SLOT };
static const struct {
    const char *key, *prefix;
    bool (*is)(struct lks_str value);
} labels[LKS_KUBERNETES_TRUTH_LABELS] = {
    [DIGEST] = {"lockstep.dev/digest", LKS_SCHED_TRUTH_PREFIX, is_digest},
    [VERDICT] = {"lockstep.dev/verdict", LKS_SCHED_TRUTH_PREFIX, is_verdict},
    [SLOT] = {"lockstep.dev/slot", "", is_slot},
};

/* The values of a truth's labels; empty: it has none. */
static void split(const struct lks_sched_truth *truth, struct lks_str out[])
{
    struct lks_str word, features = lks_str_from(truth->features);
    memset(out, 0, sizeof(*out) * LKS_KUBERNETES_TRUTH_LABELS);
    for (bool more = features.len > 0; more;) {
        more = lks_str_cut(features, ',', &word, &features);
        for (size_t i = 0; i < LKS_COUNT(labels); i++) {
            size_t len = strlen(labels[i].prefix);
            struct lks_str value = {word.ptr + len, word.len - len};
            if (lks_str_starts(word, labels[i].prefix) && labels[i].is(value))
                out[i] = value;
        }
    }
}

/* What is shown ----------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

void lks_kubernetes_truth_metadata(const struct lks_doc *metadata, struct lks_kubernetes_truth *out)
{
    char words[LKS_KUBERNETES_TRUTH_LABELS][LKS_KUBERNETES_TRUTH_VALUE + 8];
    const struct lks_doc *map = lks_doc_member(metadata, "labels");
    size_t count = 0, len = 0;
    for (size_t i = 0; i < LKS_COUNT(labels); i++) {
        const struct lks_doc *label = lks_doc_member(map, labels[i].key);
        struct lks_str value = lks_doc_text(map, labels[i].key);
        out->labelled[i] = label != NULL;
        if (label != NULL && labels[i].is(value))
            snprintf(words[count++], sizeof(words[0]), "%s%" LKS_STR_FMT, labels[i].prefix,
                     LKS_STR_ARG(value));
        else if (label != NULL)
            snprintf(words[count++], sizeof(words[0]), ODD);
    }
    qsort(words, count, sizeof(words[0]), compare);
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(out->is.features + len, sizeof(out->is.features) - len, "%s%s",
                                i > 0 ? "," : "", words[i]);
    const struct lks_doc *annotations = lks_doc_member(metadata, "annotations");
    struct lks_str digest = lks_doc_text(annotations, LKS_KUBERNETES_TRUTH_ANNOTATION);
    out->annotated = lks_doc_member(annotations, LKS_KUBERNETES_TRUTH_ANNOTATION) != NULL;
    bool odd = out->annotated && (digest.len == 0 || digest.len > LKS_SCHED_DIGEST_MAX);
    lks_sched_said_keep(out->is.digest, sizeof(out->is.digest), odd ? LKS_STR(ODD) : digest);
    lks_sched_said_keep(out->uid, sizeof(out->uid), lks_doc_text(metadata, "uid"));
}

/* The row of the verdict in the labels; NULL: they have none. */
static const struct verdict *verdict_of(const struct lks_sched_truth *truth)
{
    struct lks_str values[LKS_KUBERNETES_TRUTH_LABELS];
    split(truth, values);
    return find_verdict(values[VERDICT]);
}

void lks_kubernetes_truth_condition(const struct lks_doc *condition,
                                    struct lks_kubernetes_truth *out)
{
    struct lks_str since = lks_doc_text(condition, "lastTransitionTime");
    struct lks_str message = lks_doc_text(condition, "message");
    struct lks_str status = lks_doc_text(condition, "status");
    const struct verdict *v = verdict_of(&out->is);
    lks_ms at;
    if (!lks_str_is(lks_doc_text(condition, "type"), LKS_KUBERNETES_TRUTH_CONDITION))
        return;
    bool same = v != NULL && lks_str_is(status, v->status) && message.len > 0 &&
                message.len <= LKS_SCHED_NOTE_MAX &&
                lks_str_is(lks_doc_text(condition, "reason"), v->reason);
    out->conditioned = true;
    lks_sched_said_keep(out->status, sizeof(out->status), status);
    if (since.len < sizeof(out->since) && lks_time_parse(since, &at))
        lks_sched_said_keep(out->since, sizeof(out->since), since);
    lks_sched_said_keep(out->is.note, sizeof(out->is.note), same ? message : LKS_STR(ODD));
}

bool lks_kubernetes_truth_extra(const struct lks_kubernetes_truth *shown,
                                const struct lks_sched_truth *truth)
{
    struct lks_str values[LKS_KUBERNETES_TRUTH_LABELS];
    bool extra = shown->annotated && truth->digest[0] == '\0';
    split(truth, values);
    for (size_t i = 0; i < LKS_COUNT(labels); i++)
        extra = extra || (shown->labelled[i] && values[i].len == 0);
    return extra;
}

bool lks_kubernetes_truth_labelled(const struct lks_kubernetes_truth *shown,
                                   const struct lks_sched_truth *truth)
{
    return strcmp(shown->is.features, truth->features) == 0 &&
           strcmp(shown->is.digest, truth->digest) == 0;
}

bool lks_kubernetes_truth_shown(const struct lks_kubernetes_truth *shown,
                                const struct lks_sched_truth *truth)
{
    return lks_kubernetes_truth_labelled(shown, truth) && strcmp(shown->is.note, truth->note) == 0;
}

/* What is written --------------------------------------------------------------------------- */

void lks_kubernetes_truth_write(const struct lks_sched_truth *truth, struct lks_json_writer *w)
{
    struct lks_str values[LKS_KUBERNETES_TRUTH_LABELS];
    split(truth, values);
    lks_json_begin(w, "labels", '{');
    for (size_t i = 0; i < LKS_COUNT(labels); i++)
        lks_json_some(w, labels[i].key, values[i]);
    lks_json_end(w, '}');
    lks_json_begin(w, "annotations", '{');
    lks_json_some(w, LKS_KUBERNETES_TRUTH_ANNOTATION, lks_str_from(truth->digest));
    lks_json_end(w, '}');
}

void lks_kubernetes_truth_clear(const struct lks_kubernetes_truth *shown,
                                const struct lks_sched_truth *truth, struct lks_json_writer *w)
{
    struct lks_str values[LKS_KUBERNETES_TRUTH_LABELS];
    split(truth, values);
    lks_json_begin(w, "labels", '{');
    for (size_t i = 0; i < LKS_COUNT(labels); i++) {
        if (shown->labelled[i] && values[i].len == 0)
            lks_json_null(w, labels[i].key);
    }
    lks_json_end(w, '}');
    lks_json_begin(w, "annotations", '{');
    if (shown->annotated && truth->digest[0] == '\0')
        lks_json_null(w, LKS_KUBERNETES_TRUTH_ANNOTATION);
    lks_json_end(w, '}');
}

void lks_kubernetes_truth_write_condition(const struct lks_kubernetes_truth *shown,
                                          const struct lks_sched_truth *truth, lks_ms now,
                                          struct lks_json_writer *w)
{
    const struct verdict *v = verdict_of(truth);
    char text[LKS_TIME_TEXT_SIZE];
    LKS_ASSERT(v != NULL);
    bool stays =
        shown->conditioned && shown->since[0] != '\0' && strcmp(shown->status, v->status) == 0;
    lks_json_write(w,
                   "{'type': '" LKS_KUBERNETES_TRUTH_CONDITION
                   "', 'status': '%s', 'reason': '%s', 'message': '%s', 'lastTransitionTime': '%s'",
                   v->status, v->reason, truth->note,
                   stays ? shown->since : lks_time_text(now, text));
    lks_json_end(w, '}');
}
