/* Any bytes at all: a manifest that is accepted is accepted again with the same digests. What is
 * hashed of a stack is canonical JSON, and read as a manifest it is the same stack. */
#include "base/buf.h"
#include "codec/format/json.h"
#include "model/manifest/manifest.h"
#include "tests/facts.h"

#include <stdint.h>

enum { OUT_MAX = 64 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_text(struct lks_docs *docs, struct lks_doc *top, const char *key, const char *text)
{
    struct lks_doc *doc = lks_doc_add_text(docs, top, lks_str_from(text));
    LKS_ASSERT(doc != NULL);
    doc->key = lks_str_from(key);
}

/* The identity says only that something is absent; a manifest says why. */
static void give_reasons(struct lks_doc *entries)
{
    for (struct lks_doc *pin = entries != NULL ? entries->first : NULL; pin != NULL;
         pin = pin->next) {
        for (struct lks_doc *item = pin->first; item != NULL; item = item->next) {
            if (!lks_str_is(item->key, "absent"))
                continue;
            item->kind = LKS_DOC_TEXT;
            item->text = LKS_STR("for a reason");
        }
    }
}

/* Put back into the identity of a stack what a manifest has to have. */
static void complete(struct lks_docs *docs)
{
    struct lks_doc *top = docs->first;
    for (struct lks_doc *item = top->first; item != NULL; item = item->next) {
        if (lks_str_is(item->key, "components") || lks_str_is(item->key, "firmware"))
            give_reasons(item);
    }
    struct lks_doc *number = lks_doc_add(docs, top, LKS_DOC_NUMBER);
    LKS_ASSERT(number != NULL);
    number->key = LKS_STR("lockstep");
    number->number = 1;
    add_text(docs, top, "kind", "Stack");
    add_text(docs, top, "name", "again");
    add_text(docs, top, "version", "1");
}

static void check_stack(const struct lks_stack *stack, const struct lks_manifest *library)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = LKS_BUF(OUT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = LKS_BUF(OUT_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(OUT_MAX);
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest again = {0};
    struct lks_err err = {0};
    LKS_ASSERT(lks_stack_canonical(stack, &once, &err) == LKS_OK);
    LKS_ASSERT(lks_docs_init(&docs, "identity", &err) == LKS_OK);
    LKS_ASSERT(lks_json_parse(lks_buf_view(&once), &docs, &err) == LKS_OK);
    LKS_ASSERT(lks_json_canonical(docs.first, &twice, &err) == LKS_OK);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));

    complete(&docs);
    LKS_ASSERT(lks_json_canonical(docs.first, &text, &err) == LKS_OK);
    LKS_ASSERT(lks_manifest_parse("again", lks_buf_view(&text), lks_test_facts(), library, &again,
                                  &err) == LKS_OK);
    LKS_ASSERT(again.stack_count == 1);
    LKS_ASSERT(strcmp(again.stacks[0].digest, stack->digest) == 0);
}

/* A linter refuses what a reader does, and says among its errors what the reader says. */
static void check_lint(struct lks_str text, const struct lks_err *why)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    static struct lks_doc_faults faults;
    struct lks_err err = {0};
    bool good =
        lks_manifest_lint("fuzz", text, lks_test_facts(), NULL, &faults, &m, &err) == LKS_OK;
    LKS_ASSERT(good == (why->code == LKS_OK) && good == (faults.count == 0));
    bool said = good || faults.more > 0;
    for (size_t i = 0; i < faults.count && !said; i++)
        said = strcmp(faults.list[i].err.msg, why->msg) == 0;
    LKS_ASSERT(said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest same = {0};
    struct lks_err err = {0};
    struct lks_str text = {size > 0 ? (const char *)data : "", size};
    (void)lks_manifest_parse("fuzz", text, lks_test_facts(), NULL, &m, &err);
    check_lint(text, &err);
    if (err.code != LKS_OK) {
        LKS_ASSERT(lks_str_starts(lks_str_from(err.msg), "fuzz:"));
        if (lks_manifest_parse_kept("fuzz", text, lks_test_facts(), &same, &err) == LKS_OK)
            LKS_ASSERT(same.stack_count + same.class_count + same.fleet_count == same.docs.count);
        return 0;
    }
    LKS_ASSERT(m.stack_count + m.class_count + m.fleet_count == m.docs.count);
    LKS_ASSERT(lks_manifest_parse_kept("fuzz", text, lks_test_facts(), &same, &err) == LKS_OK);
    LKS_ASSERT(same.stack_count == m.stack_count);
    for (size_t i = 0; i < m.stack_count; i++) {
        LKS_ASSERT(strcmp(m.stacks[i].digest, same.stacks[i].digest) == 0);
        check_stack(&m.stacks[i], &m);
    }
    return 0;
}
