#include "model/manifest/manifest.h"

#include "base/buf.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 1024 * 1024 };

#define CLASS                                                                                      \
    "lockstep: 1\nkind: HardwareClass\nname: mine\nvendor: nvidia\n"                               \
    "gpu: {product: L40S, count: 4}\n"
#define STACK_FOR(class) STACK_OF("s", class)
#define STACK_OF(name, class)                                                                      \
    "lockstep: 1\nkind: Stack\nname: " name                                                        \
    "\nversion: '1'\nvendor: nvidia\nhardware: [" class "]\n"                                      \
                                                        "components: {kernel: {version: '6'}, "    \
                                                        "driver: {version: '580.95.05'}, cuda: "   \
                                                        "{version: '13.0'}, "                      \
                                                        "nccl: {version: '2.27'}, "                \
                                                        "container-toolkit: {version: '1.18'}}\n"
#define STACK STACK_FOR("mine")
#define FLEET                                                                                      \
    "lockstep: 1\nkind: Fleet\nname: f\npools: {p: {posture: dev}}\n"                              \
    "nodes: [{hosts: g1, pool: p, class: mine}]\n"
#define NEXT "---\n"

static enum lks_code parse(const char *text, const struct lks_manifest *library,
                           struct lks_manifest *out, struct lks_err *err)
{
    return lks_manifest_parse("m", lks_str_from(text), lks_test_facts(), library, out, err);
}

static const struct {
    const char *name;
    const char *text;
    size_t stacks, classes, fleets;
    const char *message; /* NULL when it is accepted */
} texts[] = {
    {"a class", CLASS, 0, 1, 0, NULL},
    {"a stack for a class that is built in", STACK_FOR("l40s-pcie-8"), 1, 0, 0, NULL},
    {"class, stack, fleet", CLASS NEXT STACK NEXT FLEET, 1, 1, 1, NULL},
    {"fleet, stack, class", FLEET NEXT STACK NEXT CLASS, 1, 1, 1, NULL},
    {"two stacks", STACK_FOR("l40s-pcie-8") NEXT STACK_OF("t", "t4-pcie-4"), 2, 0, 0, NULL},
    {"a stack and a class of one name", CLASS NEXT STACK_OF("mine", "mine"), 1, 1, 0, NULL},
    {"behind a mark", NEXT CLASS "...\n", 0, 1, 0, NULL},
    {"JSON",
     "\r\n\t {\"lockstep\":1,\"kind\":\"HardwareClass\",\"name\":\"mine\",\"vendor\":\"amd\","
     "\"gpu\":{\"product\":\"Instinct MI300X\",\"count\":8}}\n",
     0, 1, 0, NULL},

    {"no bytes", "", 0, 0, 0, "m: holds no manifest"},
    {"only comments", "# later\n\n", 0, 0, 0, "m: holds no manifest"},
    {"a document without a value", "---\n", 0, 0, 0, "m:2:1: expected a manifest, found nothing"},
    {"a mark at the end", CLASS NEXT, 0, 0, 0, "m:7:1: expected a manifest, found nothing"},
    {"a list", "- lockstep: 1\n", 0, 0, 0, "m:1:1: expected a manifest, found list"},
    {"text", "lockstep\n", 0, 0, 0, "m:1:1: expected a manifest, found text"},
    {"no number", "kind: Stack\n", 0, 0, 0,
     "m:1:1: a manifest starts with 'lockstep: 1' and 'kind: ...'"},
    {"a newer number, and a key that came with it", "lockstep: 2\nkind: Stack\nquantum: 1\n", 0, 0,
     0, "m:1:1: lockstep: written for format 2; this lockstep reads 1, use a newer one"},
    {"a newer number and a newer kind", "kind: Twin\nlockstep: 9\n", 0, 0, 0,
     "m:2:1: lockstep: written for format 9; this lockstep reads 1, use a newer one"},
    {"an older number", "lockstep: 0\nkind: HardwareClass\n", 0, 0, 0,
     "m:1:1: lockstep: 0 is not between 1 and 1"},
    {"a number in quotes", "lockstep: '1'\nkind: HardwareClass\n", 0, 0, 0,
     "m:1:1: lockstep: expected the number 1, found '1'; write 1, without quotes"},
    {"no kind", "lockstep: 1\n", 0, 0, 0, "m:1:1: kind is one of Stack, HardwareClass and Fleet"},
    {"another kind", "lockstep: 1\nkind: stack\n", 0, 0, 0,
     "m:2:1: kind: kind is one of Stack, HardwareClass and Fleet"},
    {"a kind that is no text", "lockstep: 1\nkind: [Stack]\n", 0, 0, 0,
     "m:2:1: kind: kind is one of Stack, HardwareClass and Fleet"},
    {"the fault is in the second", CLASS NEXT "lockstep: 1\nkind: Stak\n", 0, 0, 0,
     "m:8:1: kind: kind is one of Stack, HardwareClass and Fleet"},
    {"a class twice", CLASS NEXT CLASS, 0, 0, 0,
     "m:9:1: name: there is already a HardwareClass 'mine' in this file"},
    {"a stack twice", STACK_FOR("l40s-pcie-8") NEXT STACK_FOR("t4-pcie-4"), 0, 0, 0,
     "m:11:1: name: there is already a Stack 's' in this file"},
    {"a fleet twice", CLASS NEXT FLEET NEXT STACK NEXT FLEET, 0, 0, 0,
     "m:23:1: name: there is already a Fleet 'f' in this file"},
    {"a class with a slash",
     "lockstep: 1\nkind: HardwareClass\nname: a/b\nvendor: amd\ngpu: {product: x, count: 1}\n", 0,
     0, 0, "m:3:1: name: 'a/b' is not a name: lower-case letters, digits, '.', '-', '_'"},
    {"a product that runs backwards",
     "lockstep: 1\nkind: HardwareClass\nname: c\nvendor: amd\n"
     "gpu: {product: \"x\\u202e\", count: 1}\n",
     0, 0, 0, "m:5:7: gpu.product: a line break or control character has no place here"},
    {"an escape sequence in a product",
     "lockstep: 1\nkind: HardwareClass\nname: c\nvendor: amd\n"
     "gpu: {product: \"x\\e[2J\", count: 1}\n",
     0, 0, 0, "m:5:7: gpu.product: a line break or control character has no place here"},
    {"a product of blanks",
     "lockstep: 1\nkind: HardwareClass\nname: c\nvendor: amd\ngpu: {product: ' ', count: 1}\n", 0,
     0, 0, "m:5:7: gpu.product: expected text, found an empty text"},
    {"a description nobody sees", CLASS "description: \"\\u2066x\"\n", 0, 0, 0,
     "m:6:1: description: a line break or control character has no place here"},
    {"the same in JSON",
     "{\"lockstep\":1,\"kind\":\"HardwareClass\",\"name\":\"mine\",\"vendor\":\"amd\","
     "\"gpu\":{\"product\":\"a\\u001b[2J\",\"count\":8}}",
     0, 0, 0, "m: gpu.product: a line break or control character has no place here"},
    {"a class that is nowhere", STACK, 0, 0, 0,
     "m:6:12: hardware[1]: no hardware class 'mine'; 'lockstep stack classes' lists those built "
     "in; "
     "write others in the same file, after '---'"},
    {"a domain of half a node", CLASS "nvlink_domain: 6\n", 0, 0, 0,
     "m:6:1: nvlink_domain: a domain of 6 GPUs is not a whole number of nodes with 4"},
    {"no GPU",
     "lockstep: 1\nkind: HardwareClass\nname: c\nvendor: amd\ngpu: {product: x, count: 0}\n", 0, 0,
     0, "m:5:19: gpu.count: 0 is not between 1 and 64"},
    {"a brace makes it JSON", "{lockstep: 1}", 0, 0, 0, "m:1:9: string or '}' expected"},
    {"JSON tells no place", "{\"lockstep\":1,\"kind\":\"Stack\",\"naem\":\"x\"}", 0, 0, 0,
     "m: naem: unknown key; did you mean 'name'?"},
    {"JSON with a fraction", "{\"lockstep\":1.0}", 0, 0, 0,
     "m: lockstep: a number with a fraction or an exponent; quote it"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        struct lks_err err = {0};
        bool fine = texts[i].message == NULL;
        CHECK_CODE(parse(texts[i].text, NULL, &m, &err), fine ? LKS_OK : LKS_E_INVALID);
        CHECK_STR(lks_str_from(err.msg), fine ? "" : texts[i].message);
        CHECK_INT(m.stack_count, texts[i].stacks);
        CHECK_INT(m.class_count, texts[i].classes);
        CHECK_INT(m.fleet_count, texts[i].fleets);
    }
}

/* The order of the documents of a file means nothing. */
static void test_order(void)
{
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest before = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest after = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(parse(CLASS NEXT STACK, NULL, &before, &err), LKS_OK) ||
        !CHECK_CODE(parse(STACK NEXT CLASS, NULL, &after, &err), LKS_OK))
        return;
    CHECK_STR(lks_str_from(before.stacks[0].digest), after.stacks[0].digest);
    CHECK_STR(before.stacks[0].classes[0]->gpu, "L40S");
    CHECK_STR(after.stacks[0].classes[0]->gpu, "L40S");
}

/* A file's own class counts before one of a library, and that before one that is built in. */
static void test_library(void)
{
    static const char library_text[] =
        CLASS NEXT "lockstep: 1\nkind: HardwareClass\nname: l40s-pcie-8\nvendor: nvidia\n"
                   "gpu: {product: L40S, count: 2}\n";
    static const char own[] =
        "lockstep: 1\nkind: HardwareClass\nname: mine\nvendor: nvidia\n"
        "gpu: {product: L40S, count: 1}\n" NEXT STACK NEXT STACK_OF("t", "l40s-pcie-8");
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest library = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest plain = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest with_own = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(parse(library_text, NULL, &library, &err), LKS_OK) ||
        !CHECK_CODE(parse(STACK NEXT FLEET, &library, &plain, &err), LKS_OK) ||
        !CHECK_CODE(parse(own, &library, &with_own, &err), LKS_OK))
        return;
    CHECK_INT(plain.class_count, 2); /* those of the library come first */
    CHECK_INT(plain.stacks[0].classes[0]->gpus, 4);
    CHECK_INT(plain.fleets[0].nodes[0].class->gpus, 4);
    CHECK_INT(with_own.class_count, 3);
    CHECK_INT(with_own.stacks[0].classes[0]->gpus, 1);
    CHECK_INT(with_own.stacks[1].classes[0]->gpus, 2);
}

static void test_limits(void)
{
    for (int more = 0; more < 2; more++) {
        lks_test_case("%d more", more);
        LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(TEXT_MAX);
        struct lks_err err = {0};
        for (int i = 0; i < LKS_MANIFEST_DOCS_MAX + more; i++)
            lks_buf_addf(&text,
                         "---\nlockstep: 1\nkind: HardwareClass\nname: c%d\nvendor: amd\n"
                         "gpu: {product: x, count: 1}\n",
                         i);
        CHECK_CODE(lks_buf_check(&text, &err), LKS_OK);
        CHECK_CODE(parse(text.ptr, NULL, &m, &err), more > 0 ? LKS_E_LIMIT : LKS_OK);
        CHECK_STR(lks_str_from(err.msg), more > 0 ? "m: more than 4096 documents" : "");
    }
}

static void test_class(void)
{
    static const char text[] =
        "lockstep: 1\nkind: HardwareClass\nname: c\nvendor: nvidia\n"
        "gpu: {product: GB200, count: 4, nvlinks_up: 18}\nnvswitches: 2\n"
        "nics: {count: 3, gbps: 400}\nnvmes: 5\nmemory_gib: 960\nrails: 6\nsharp: true\n"
        "nvlink_domain: 72\n";
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest m = {0};
    LKS_CLEANUP(lks_manifest_fini) struct lks_manifest least = {0};
    struct lks_err err = {0};
    if (!CHECK_CODE(parse(text, NULL, &m, &err), LKS_OK) ||
        !CHECK_CODE(parse(CLASS, NULL, &least, &err), LKS_OK))
        return;
    const struct lks_class *c = &m.classes[0];
    CHECK_STR(c->gpu, "GB200");
    CHECK(c->gpus == 4 && c->nvlinks_up == 18 && c->nvswitches == 2 && c->nics == 3);
    CHECK(c->nic_gbps == 400 && c->nvmes == 5 && c->memory_gib == 960 && c->rails == 6);
    CHECK(c->sharp && c->nvlink_domain == 72 && lks_class_has_nvswitch(c));
    CHECK_INT(least.classes[0].nvlink_domain, 4); /* without one, the node by itself */
    CHECK(!least.classes[0].sharp && !lks_class_has_nvswitch(&least.classes[0]));
}

static void test_kinds(void)
{
    CHECK(lks_manifest_kind(0) == &lks_class_form);
    CHECK(lks_manifest_kind(1) == &lks_stack_form);
    CHECK(lks_manifest_kind(2) == &lks_fleet_form);
    CHECK(lks_manifest_kind(3) == NULL);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"manifest: texts", test_texts},
        {"manifest: order", test_order},
        {"manifest: library", test_library},
        {"manifest: limits", test_limits},
        {"manifest: class", test_class},
        {"manifest: kinds", test_kinds},
        {0},
    });
}
