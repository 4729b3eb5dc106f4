#include "model/manifest/order.h"

#include "base/buf.h"
#include "tests/test.h"

#define DIGEST_A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ITEM     "{\"component\":\"nccl\",\"value\":\"2.23.4\"}"
#define ORDER(executor, rest, items)                                                               \
    "{\"executor\":\"" executor "\"," rest "\"items\":[" items "],\"lockstep\":1}"

static const struct {
    const char *name, *text;
    const char *message; /* NULL: it is taken */
} rows[] = {
    {"a setting", ORDER("settings", "", "{\"component\":\"settings.ecc\",\"value\":\"true\"}"),
     NULL},
    {"a setting that is to be as it was born", ORDER("settings", "", "{\"component\":\"x\"}"),
     NULL},
    {"a package",
     ORDER("apt", "",
           "{\"before\":\"1\",\"component\":\"driver\",\"digest\":\"" DIGEST_A
           "\",\"file\":\"a.deb\",\"value\":\"2\"}"),
     NULL},
    {"a hook", ORDER("hook", "\"hook\":\"site-nccl\",", ITEM), NULL},
    {"an image", ORDER("image", "\"hook\":\"image\",", ITEM), NULL},
    {"with the stack it leads to",
     "{\"executor\":\"dnf\",\"items\":[" ITEM "],\"lockstep\":1,\"stack\":\"" DIGEST_A "\"}", NULL},

    {"nothing", "", "o:1:1: unexpected token near end of file"},
    {"a list", "[]", "o: executor: none that takes orders"},
    {"another executor", ORDER("sh", "", ITEM), "o: executor: none that takes orders"},
    {"no items", ORDER("apt", "", ""), "o: items: a list of 1 to 1024"},
    {"items that are none", "{\"executor\":\"apt\",\"items\":{},\"lockstep\":1}",
     "o: items: a list of 1 to 1024"},
    {"an item that is a text", ORDER("apt", "", "\"a\""),
     "o: items[1].component: a printable text of 1 to 8192 bytes"},
    {"an item of nothing", ORDER("apt", "", ITEM ",{\"value\":\"1\"}"),
     "o: items[2].component: a printable text of 1 to 8192 bytes"},
    {"a value that drives the terminal",
     ORDER("apt", "", "{\"component\":\"a\",\"value\":\"\\u001b[2J\"}"),
     "o: items[1].value: a printable text of 0 to 8192 bytes"},
    {"a file that leads out",
     ORDER("apt", "",
           "{\"component\":\"a\",\"digest\":\"" DIGEST_A "\",\"file\":\"../a\",\"value\":\"1\"}"),
     "o: items[1].file: no name of a file"},
    {"a digest that is none",
     ORDER("apt", "", "{\"component\":\"a\",\"digest\":\"md5\",\"file\":\"a\"}"),
     "o: items[1].digest: no digest"},
    {"a file without a digest", ORDER("apt", "", "{\"component\":\"a\",\"file\":\"a\"}"),
     "o: items[1]: a file has a name and a digest"},
    {"a hook without a name", ORDER("hook", "", ITEM),
     "o: hook: orders for image and hook name one, no others"},
    {"a hook that leads out", ORDER("hook", "\"hook\":\"../x\",", ITEM),
     "o: hook: orders for image and hook name one, no others"},
    {"packages with a hook", ORDER("apt", "\"hook\":\"x\",", ITEM),
     "o: hook: orders for image and hook name one, no others"},
    {"a stack that is none",
     "{\"executor\":\"apt\",\"items\":[" ITEM "],\"lockstep\":1,\"stack\":\"golden\"}",
     "o: stack: no digest"},
    {"a member that is not known", ORDER("apt", "\"force\":true,", ITEM),
     "o: is not written as orders are"},
    {"a member of an item that is not known",
     ORDER("apt", "", "{\"component\":\"a\",\"exec\":\"sh\"}"), "o: is not written as orders are"},
    {"a blank", ORDER("apt", " ", ITEM), "o: is not written as orders are"},
    {"another version", "{\"executor\":\"apt\",\"items\":[" ITEM "],\"lockstep\":2}",
     "o: is not written as orders are"},
    {"a line end behind it", ORDER("apt", "", ITEM) "\n", "o: is not written as orders are"},
};

static void what_is_taken_and_what_not(void)
{
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(LKS_ORDER_BYTES_MAX);
        struct lks_order order = {0};
        struct lks_err err = {0};
        lks_test_case("%s", rows[i].name);
        CHECK_CODE(lks_docs_init(&docs, "o", &err), LKS_OK);
        enum lks_code code = lks_order_parse(lks_str_from(rows[i].text), "o", &docs, &order, &err);
        if (rows[i].message != NULL) {
            CHECK_CODE(code, LKS_E_INVALID);
            CHECK_STR(lks_str_from(err.msg), rows[i].message);
            CHECK_INT(order.count, 0);
        } else if (CHECK_CODE(code, LKS_OK)) {
            CHECK_CODE(lks_order_write(&order, &again, &err), LKS_OK);
            CHECK_STR(lks_buf_view(&again), rows[i].text);
        }
    }
}

static void an_order_is_read_as_it_was_made(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ORDER_BYTES_MAX);
    struct lks_order_item items[] = {
        {.component = LKS_STR("driver"),
         .value = LKS_STR("580.65.06"),
         .before = LKS_STR("570.86.15"),
         .digest = LKS_STR(DIGEST_A),
         .file = LKS_STR("nvidia-driver_580.65.06_amd64.deb")},
        {.component = LKS_STR("nccl"), .before = LKS_STR("\"2.23\"")},
    };
    struct lks_order order = {.kind = LKS_ORDER_APT, .items = items, .count = LKS_COUNT(items)};
    struct lks_order found = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_docs_init(&docs, "o", &err), LKS_OK);
    CHECK_CODE(lks_order_write(&order, &text, &err), LKS_OK);
    if (!CHECK_CODE(lks_order_parse(lks_buf_view(&text), "o", &docs, &found, &err), LKS_OK))
        return;
    CHECK_INT(found.kind, LKS_ORDER_APT);
    CHECK_INT(found.count, 2);
    CHECK_STR(found.items[0].value, "580.65.06");
    CHECK_STR(found.items[0].file, "nvidia-driver_580.65.06_amd64.deb");
    CHECK_STR(found.items[1].before, "\"2.23\"");
    CHECK_INT(found.items[1].value.len, 0);
}

/* What would be refused on the node is not written in the first place. */
static void what_could_not_be_read_is_not_written(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_ORDER_BYTES_MAX);
    struct lks_order_item item = {.component = LKS_STR("a"), .file = LKS_STR("a.deb")};
    struct lks_order order = {.kind = LKS_ORDER_APT, .items = &item, .count = 1};
    struct lks_err err = {0};
    CHECK_CODE(lks_order_write(&order, &text, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(err.msg), "order: items[1]: a file has a name and a digest");
    order.count = 0;
    CHECK_CODE(lks_order_write(&order, &text, &err), LKS_E_INVALID);
    CHECK_INT(text.len, 0);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"what is taken and what not", what_is_taken_and_what_not},
        {"an order is read as it was made", an_order_is_read_as_it_was_made},
        {"what could not be read is not written", what_could_not_be_read_is_not_written},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
