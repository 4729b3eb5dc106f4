#include "core/registry/book.h"
#include "core/registry/store.h"
#include "core/rules/decide.h"
#include "tests/facts.h"
#include "tests/manifests.h"
#include "tests/test.h"

#include <stdio.h>

enum { MANY = 100, TEXT_MAX = 4096 };

/* A stack, which is another for each number. */
static void write_stack(struct lks_buf *out, const char *name, unsigned number)
{
    lks_buf_addf(
        out,
        LKS_STACK("%s", "nvidia", "hgx-h100-8",
                  "  kernel: {version: '6.8.%u'}\n"
                  "  driver: {version: '580.126.20', modules: open}\n"
                  "  fabric-manager: {version: '580.126.20'}\n  cuda: {version: '13.0.2'}\n"
                  "  nccl: {version: '2.28.9'}\n  container-toolkit: {version: '1.19.1'}\n"),
        name, number);
}

static void parse(const struct lks_buf *text, struct lks_manifest *out)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_manifest_parse("s.yaml", lks_buf_view(text), lks_test_facts(), NULL, out,
                                  &err) == LKS_OK);
}

/* A file with this one stack. */
static void make(unsigned number, struct lks_manifest *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    write_stack(&text, "gold", number);
    parse(&text, out);
}

/* Many stand side by side, and each is found by its digest. */
static void test_many(void)
{
    LKS_CLEANUP(lks_registry_store_fini) struct lks_registry_store registry = {0};
    struct lks_err err = {0};
    char digests[MANY][LKS_DIGEST_SIZE];
    lks_registry_store_init(&registry);
    for (unsigned i = 0; i < MANY; i++) {
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        make(i, &m);
        memcpy(digests[i], m.stacks[0].digest, sizeof(digests[i]));
        CHECK(lks_registry_store_stack(&registry, lks_str_from(digests[i])) == NULL);
        CHECK_CODE(lks_registry_store_put(&registry, lks_str_from(digests[i]), &m, &err), LKS_OK);
        CHECK_INT(m.stack_count, 0);
    }
    for (unsigned i = 0; i < MANY; i++) {
        const struct lks_stack *stack =
            lks_registry_store_stack(&registry, lks_str_from(digests[i]));
        char kernel[16];
        snprintf(kernel, sizeof(kernel), "6.8.%u", i);
        if (CHECK(stack != NULL))
            CHECK_STR(lks_stack_version(stack, "kernel"), kernel);
    }
}

/* What is there stays where it is, since others point to it. */
static void test_twice(void)
{
    LKS_CLEANUP(lks_registry_store_fini) struct lks_registry_store registry = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest first = {0}, again = {0}, other = {0};
    struct lks_err err = {0};
    char digest[LKS_DIGEST_SIZE];
    make(1, &first);
    make(1, &again);
    make(2, &other);
    memcpy(digest, first.stacks[0].digest, sizeof(digest));
    lks_registry_store_init(&registry);
    CHECK_CODE(lks_registry_store_put(&registry, lks_str_from(digest), &first, &err), LKS_OK);
    const struct lks_stack *stack = lks_registry_store_stack(&registry, lks_str_from(digest));
    CHECK_CODE(lks_registry_store_put(&registry, lks_str_from(digest), &again, &err), LKS_OK);
    CHECK(lks_registry_store_stack(&registry, lks_str_from(digest)) == stack);
    CHECK_INT(again.stack_count, 0);
    CHECK_CODE(lks_registry_store_put(&registry, lks_str_from(digest), &other, &err),
               LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "holds no stack sha256:");
    CHECK_INT(other.stack_count, 1);
}

static void make_two(unsigned one, unsigned other, struct lks_manifest *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
    write_stack(&text, "gold", one);
    lks_buf_addf(&text, "---\n");
    write_stack(&text, "silver", other);
    parse(&text, out);
}

/* A file of several stacks is taken whole: nobody has to read it again for the next of them. What
 * was there before stays. */
static void test_file(void)
{
    LKS_CLEANUP(lks_registry_store_fini) struct lks_registry_store registry = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest first = {0}, next = {0};
    struct lks_err err = {0};
    char gold[LKS_DIGEST_SIZE], silver[LKS_DIGEST_SIZE];
    make_two(1, 2, &first);
    memcpy(gold, first.stacks[0].digest, sizeof(gold));
    memcpy(silver, first.stacks[1].digest, sizeof(silver));
    lks_registry_store_init(&registry);
    CHECK_CODE(lks_registry_store_put(&registry, lks_str_from(gold), &first, &err), LKS_OK);
    const struct lks_stack *stack = lks_registry_store_stack(&registry, lks_str_from(gold));
    CHECK(lks_registry_store_stack(&registry, lks_str_from(silver)) != NULL);
    make_two(1, 3, &next);
    memcpy(silver, next.stacks[1].digest, sizeof(silver));
    CHECK_CODE(lks_registry_store_put(&registry, lks_str_from(silver), &next, &err), LKS_OK);
    CHECK(lks_registry_store_stack(&registry, lks_str_from(silver)) != NULL);
    CHECK(lks_registry_store_stack(&registry, lks_str_from(gold)) == stack);
}

/* The registry and the fleet's own file, either of which may not be there. */
static void test_book(void)
{
    LKS_CLEANUP(lks_registry_store_fini) struct lks_registry_store registry = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest published = {0}, beside = {0};
    struct lks_err err = {0};
    char digest[LKS_DIGEST_SIZE];
    make(1, &published);
    make(2, &beside);
    memcpy(digest, published.stacks[0].digest, sizeof(digest));
    struct lks_book book = {.facts = lks_test_facts()};
    CHECK(lks_book_stack(&book, lks_str_from(digest)) == NULL);
    lks_registry_store_init(&registry);
    CHECK_CODE(lks_registry_store_put(&registry, lks_str_from(digest), &published, &err), LKS_OK);
    book.registry = &registry;
    CHECK(lks_book_stack(&book, lks_str_from(digest)) != NULL);
    CHECK(lks_book_stack(&book, lks_str_from(beside.stacks[0].digest)) == NULL);
    book.manifest = &beside;
    CHECK(lks_book_stack(&book, lks_str_from(beside.stacks[0].digest)) == &beside.stacks[0]);
    CHECK(lks_book_stack(&book, LKS_STR("")) == NULL);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"registry store: many stacks", test_many},
        {"registry store: the same twice", test_twice},
        {"registry store: a file of several", test_file},
        {"book: the registry and the fleet's file", test_book},
        {0},
    });
}
