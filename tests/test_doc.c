#include "codec/format/docs.h"

#include "base/buf.h"
#include "tests/test.h"

static struct lks_doc *add(struct lks_docs *docs, struct lks_doc *parent, enum lks_doc_kind kind,
                           const char *key, uint32_t line, uint32_t column)
{
    struct lks_doc *doc = lks_doc_add(docs, parent, kind);
    LKS_ASSERT(doc != NULL);
    doc->key = lks_str_from(key);
    doc->line = line;
    doc->column = column;
    return doc;
}

static void open_docs(struct lks_docs *docs)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_docs_init(docs, "f.yaml", &err), LKS_OK);
}

static void test_build(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    open_docs(&docs);
    struct lks_doc *map = add(&docs, NULL, LKS_DOC_MAP, "", 1, 1);
    struct lks_doc *list = add(&docs, map, LKS_DOC_LIST, "list", 1, 1);
    char text[] = "580";
    struct lks_doc *first = lks_doc_add_text(&docs, list, lks_str_from(text));
    text[0] = 'x'; /* the document has its own copy */
    add(&docs, list, LKS_DOC_NULL, "", 2, 3);
    add(&docs, NULL, LKS_DOC_NULL, "", 4, 1);

    CHECK_INT(docs.count, 2);
    CHECK(docs.first == map && docs.last == map->next && docs.last->next == NULL);
    CHECK_INT(map->count, 1);
    CHECK_INT(list->count, 2);
    CHECK(list->first == first && list->last == first->next && list->last->next == NULL);
    CHECK(map->parent == NULL && list->parent == map && first->parent == list);
    CHECK_STR(first->text, "580");
    CHECK_STR(docs.source, "f.yaml");
}

static void test_look_up(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    open_docs(&docs);
    struct lks_doc *map = add(&docs, NULL, LKS_DOC_MAP, "", 1, 1);
    add(&docs, map, LKS_DOC_NUMBER, "count", 1, 1);
    struct lks_doc *name = lks_doc_add_text(&docs, map, LKS_STR("gold"));
    name->key = LKS_STR("name");

    CHECK(lks_doc_member(map, "name") == name);
    CHECK(lks_doc_member(map, "nam") == NULL);
    CHECK(lks_doc_member(NULL, "name") == NULL);
    CHECK(lks_doc_member(name, "name") == NULL);
    CHECK(lks_doc_find(map, LKS_STR("name")) == name);
    CHECK(lks_doc_find(map, (struct lks_str){"names", 4}) == name);
    CHECK(lks_doc_find(map, LKS_STR("names")) == NULL);
    CHECK(lks_doc_find(NULL, LKS_STR("name")) == NULL);
    CHECK(lks_doc_find(name, LKS_STR("name")) == NULL);
    CHECK_STR(lks_doc_text(map, "name"), "gold");
    CHECK_STR(lks_doc_text(map, "count"), ""); /* is there, and is no text */
    CHECK_STR(lks_doc_text(map, "missing"), "");
    CHECK_STR(lks_doc_text(NULL, "name"), "");
}

static const struct {
    const char *name;
    struct {
        const char *key;
        uint32_t line, column;
    } members[4];
    const char *message; /* NULL when all is well */
} key_rows[] = {
    {"none", {{0}}, NULL},
    {"one", {{"a", 1, 1}}, NULL},
    {"two different", {{"a", 1, 1}, {"b", 2, 1}}, NULL},
    {"one begins another", {{"a", 1, 1}, {"ab", 2, 1}}, NULL},
    {"the later line is to blame",
     {{"a", 1, 1}, {"b", 2, 1}, {"a", 3, 1}},
     "f.yaml:3:1: a: this key is already there, on line 1"},
    {"the later column is to blame",
     {{"a", 1, 1}, {"a", 1, 7}},
     "f.yaml:1:7: a: this key is already there, on line 1"},
    {"the first of three that repeats",
     {{"a", 1, 1}, {"a", 9, 1}, {"a", 5, 1}},
     "f.yaml:5:1: a: this key is already there, on line 1"},
    {"where there are no lines", {{"a", 0, 0}, {"a", 0, 0}}, "f.yaml: a: this key is given twice"},
};

static void test_keys(void)
{
    for (size_t i = 0; i < LKS_COUNT(key_rows); i++) {
        lks_test_case("%s", key_rows[i].name);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        open_docs(&docs);
        struct lks_doc *map = add(&docs, NULL, LKS_DOC_MAP, "", 1, 1);
        for (size_t j = 0; j < 4 && key_rows[i].members[j].key != NULL; j++)
            add(&docs, map, LKS_DOC_NULL, key_rows[i].members[j].key, key_rows[i].members[j].line,
                key_rows[i].members[j].column);
        bool fine = key_rows[i].message == NULL;
        CHECK_CODE(lks_doc_check_keys(&docs, map, &err), fine ? LKS_OK : LKS_E_INVALID);
        if (!fine)
            CHECK_STR(lks_str_from(err.msg), key_rows[i].message);
    }
}

static void check_fail(const struct lks_docs *docs, const struct lks_doc *at, const char *message)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_doc_fail(docs, at, &err, "%s is bad", "it"), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), message);
}

static void test_places(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    open_docs(&docs);
    struct lks_doc *top = add(&docs, NULL, LKS_DOC_MAP, "", 1, 1);
    struct lks_doc *nodes = add(&docs, top, LKS_DOC_LIST, "nodes", 2, 1);
    add(&docs, nodes, LKS_DOC_MAP, "", 3, 5);
    struct lks_doc *second = add(&docs, nodes, LKS_DOC_MAP, "", 4, 5);
    struct lks_doc *hosts = add(&docs, second, LKS_DOC_NULL, "hosts", 4, 6);
    struct lks_doc *list = add(&docs, NULL, LKS_DOC_LIST, "", 0, 0);
    struct lks_doc *inner = add(&docs, list, LKS_DOC_LIST, "", 0, 0);
    struct lks_doc *number = add(&docs, inner, LKS_DOC_NUMBER, "", 0, 0);

    check_fail(&docs, top, "f.yaml:1:1: it is bad");
    check_fail(&docs, nodes, "f.yaml:2:1: nodes: it is bad");
    check_fail(&docs, second, "f.yaml:4:5: nodes[2]: it is bad");
    check_fail(&docs, hosts, "f.yaml:4:6: nodes[2].hosts: it is bad");
    check_fail(&docs, list, "f.yaml: it is bad"); /* JSON tells no place */
    check_fail(&docs, number, "f.yaml: [1][1]: it is bad");
}

/* A file's name may hold anything; what is shown of it drives no terminal. */
static const struct {
    const char *source, *shown;
} sources[] = {
    {"f.yaml", "f.yaml"},
    {"", ""},
    {"dir/my file.yaml", "dir/my file.yaml"},
    {"caf\xc3\xa9.yaml", "caf\xc3\xa9.yaml"},
    {"a\x1b[2Jb", "a?[2Jb"},
    {"a\nb", "a?b"},
    {"a\xffz", "a?z"},
    {"a\xe2\x80\xaez", "a???z"},
    {"caf\xc3\xa9\n", "caf???"},
};

static void test_sources(void)
{
    for (size_t i = 0; i < LKS_COUNT(sources); i++) {
        lks_test_case("%s", sources[i].shown);
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        struct lks_err err = {0};
        CHECK_CODE(lks_docs_init(&docs, sources[i].source, &err), LKS_OK);
        CHECK_STR(docs.source, sources[i].shown);
    }
}

/* A path longer than a message may be: it is cut, and the message is still there. */
static void test_long_path(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    char key[101];
    memset(key, 'k', 100);
    key[100] = '\0';
    open_docs(&docs);
    struct lks_doc *doc = add(&docs, NULL, LKS_DOC_MAP, "", 1, 1);
    for (int i = 0; i < LKS_DOC_DEPTH_MAX; i++)
        doc = add(&docs, doc, LKS_DOC_MAP, key, 1, 1);
    CHECK_CODE(lks_doc_fail(&docs, doc, &err, "it is bad"), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "f.yaml:1:1: kkk");
    CHECK_HAS(lks_str_from(err.msg), ": it is bad");
}

static void test_full(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    open_docs(&docs);
    docs.arena.max = docs.arena.used + sizeof(struct lks_doc) - 1;
    CHECK(lks_doc_add(&docs, NULL, LKS_DOC_MAP) == NULL);
    docs.arena.max = docs.arena.used + sizeof(struct lks_doc);
    CHECK(lks_doc_add_text(&docs, NULL, LKS_STR("text")) == NULL);
    CHECK_INT(docs.count, 0);
    lks_docs_fini(&docs);
    lks_docs_fini(&docs);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"doc: build", test_build},
        {"doc: look up", test_look_up},
        {"doc: keys", test_keys},
        {"doc: places", test_places},
        {"doc: sources", test_sources},
        {"doc: long path", test_long_path},
        {"doc: full", test_full},
        {0},
    });
}
