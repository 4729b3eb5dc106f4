#include "tests/asked.h"

#include "core/campaign/state_apply.h"
#include "core/fold/transition.h"
#include "core/registry/book.h"
#include "core/state/lookup.h"
#include "tests/facts.h"

#include <string.h>

enum { START = 1000000, TEXT_MAX = 64 << 20 };

void lks_asked_init(struct lks_asked *a)
{
    struct lks_err err = {0};
    *a = (struct lks_asked){.now = {START, START}};
    LKS_ASSERT(lks_state_init(&a->state, 1, &err) == LKS_OK);
    lks_decision_init(&a->decision);
    lks_buf_init(&a->text, TEXT_MAX);
}

void lks_asked_fini(struct lks_asked *a)
{
    lks_state_fini(&a->state);
    lks_decision_fini(&a->decision);
    lks_manifest_fini(&a->manifest);
    lks_buf_fini(&a->text);
}

void lks_asked_apply(struct lks_asked *a, const struct lks_record *record)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_state_apply(&a->state, a->state.seq + 1, a->now.wall, record, &err) == LKS_OK);
}

void lks_asked_live(struct lks_asked *a, const char *node)
{
    struct lks_str name = lks_str_from(node);
    const struct lks_record records[] = {
        {.kind = LKS_RECORD_ENROLLED, .enrolled = {.node = name, .fingerprint = LKS_STR("f")}},
        {.kind = LKS_RECORD_BOOTED, .booted = {.node = name, .boot = LKS_STR("b1")}},
        {.kind = LKS_RECORD_LIVENESS, .liveness = {.node = name, .state = LKS_LIVE}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(a, &records[i]);
}

static void tell_field(struct lks_buf *out, const struct lks_record_field *f, const void *in)
{
    const char *at = (const char *)in + f->offset;
    struct lks_str text = {"", 0};
    uint64_t number = 0;
    if (f->type == LKS_RECORD_TEXT)
        memcpy(&text, at, sizeof(text));
    else if (f->type == LKS_RECORD_TRUTH)
        number = *(const bool *)at;
    else
        memcpy(&number, at, sizeof(number));
    if (text.len > 0 && memchr(text.ptr, '\t', text.len) != NULL)
        text = LKS_STR("..."); /* lines with fields: what they are is for other tests */
    if (text.len > 0)
        lks_buf_addf(out, " %s=%" LKS_STR_FMT, f->key, LKS_STR_ARG(text));
    else if (f->type == LKS_RECORD_WORD)
        lks_buf_addf(out, " %s=%s", f->key, f->words[number]);
    else if (number != 0)
        lks_buf_addf(out, " %s=%llu", f->key, (unsigned long long)number);
}

void lks_asked_tell(const struct lks_record *record, struct lks_buf *out)
{
    const struct lks_record_info *info = lks_record_info((unsigned)record->kind);
    LKS_ASSERT(info != NULL);
    lks_buf_addf(out, "%s", info->word);
    for (size_t f = 0; f < info->count; f++) {
        bool own = (record->kind == LKS_RECORD_HELD || record->kind == LKS_RECORD_DRAINED) &&
                   strcmp(info->fields[f].key, "row") == 0; /* it follows from the others */
        if (!own)
            tell_field(out, &info->fields[f], &record->begun);
    }
    lks_buf_addc(out, '\n');
}

static struct lks_str tell(struct lks_asked *a)
{
    const struct lks_decision *d = &a->decision;
    lks_buf_truncate(&a->text, 0);
    if (d->refused.code != LKS_OK) {
        LKS_ASSERT(d->count == 0);
        lks_buf_addf(&a->text, "%s: %s", lks_err_code_info(d->refused.code)->text, d->refused.msg);
    }
    for (size_t i = 0; i < d->count; i++)
        lks_asked_tell(&d->records[i], &a->text);
    LKS_ASSERT(a->text.failed == LKS_OK);
    return a->text.ptr != NULL ? lks_buf_view(&a->text) : LKS_STR("");
}

struct lks_str lks_asked_dry(struct lks_asked *a, const struct lks_event *event)
{
    struct lks_err err = {0};
    struct lks_book book = {.facts = lks_test_facts()};
    if (a->manifest.fleet_count > 0)
        book.manifest = &a->manifest;
    LKS_ASSERT(lks_decide(&a->state, &book, a->now, event, &a->decision, &err) == LKS_OK);
    return tell(a);
}

struct lks_str lks_asked(struct lks_asked *a, const struct lks_event *event)
{
    struct lks_str text = lks_asked_dry(a, event);
    for (size_t i = 0; i < a->decision.count; i++) {
        lks_transition_assert(&a->state, &a->decision.records[i]); /* as the engine does */
        lks_asked_apply(a, &a->decision.records[i]);
    }
    return text;
}

void lks_asked_release(struct lks_asked *a, const struct lks_manifest *manifest)
{
    for (size_t i = 0; i < manifest->stack_count; i++) {
        const struct lks_stack *stack = &manifest->stacks[i];
        struct lks_str digest = lks_str_from(stack->digest);
        const struct lks_record records[] = {
            {.kind = LKS_RECORD_PUBLISHED, .published = {.digest = digest, .name = stack->name}},
            {.kind = LKS_RECORD_STEPPED, .stepped = {.digest = digest, .step = LKS_STEP_RELEASED}},
        };
        bool known = lks_state_stack(&a->state, digest) != NULL;
        for (size_t r = 0; r < LKS_COUNT(records) && !known; r++)
            lks_asked_apply(a, &records[r]);
    }
}

struct lks_str lks_asked_fleet(struct lks_asked *a, const char *manifest,
                               const struct lks_event *event)
{
    struct lks_manifest parsed = {0};
    struct lks_err err = {0};
    struct lks_event e = event != NULL ? *event : (struct lks_event){.by = LKS_STR("kim")};
    if (lks_manifest_parse("fleet.yaml", lks_str_from(manifest), lks_test_facts(), NULL, &parsed,
                           &err) != LKS_OK)
        lks_assert_failed(err.msg, __FILE__, __LINE__);
    LKS_ASSERT(lks_digest_text(lks_str_from(manifest), a->digest, &err) == LKS_OK);
    if (!a->unreleased)
        lks_asked_release(a, &parsed);
    e.kind = LKS_EVENT_FLEET;
    e.fleet.manifest = &parsed;
    e.fleet.digest = lks_str_from(a->digest);
    struct lks_str text = lks_asked(a, &e);
    bool taken = a->decision.refused.code == LKS_OK;
    struct lks_manifest *gone = taken ? &a->manifest : &parsed;
    lks_manifest_fini(gone);
    if (taken)
        a->manifest = parsed;
    return text;
}
