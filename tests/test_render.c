#include "cli/shared/render.h"

#include "codec/format/json.h"
#include "tests/test.h"

#include <stdlib.h>

#define DOC                                                                                        \
    "{\"id\":7,\"state\":\"running\",\"frozen\":true,\"done\":false,\"none\":0,\"empty\":\"\","    \
    "\"list\":[\"a\",\"b\"],\"nothing\":[],\"null\":null,\"ms\":900000,\"bad\":\"a\\u001b[31mb\"," \
    "\"members\":{\"done\":3,\"asked\":2,\"gone\":0},\"votes\":{\"given\":1,\"needed\":2},"        \
    "\"waves\":[{\"wave\":4,\"gate\":[{\"metric\":\"x\"},{\"metric\":\"y\"}]},{\"wave\":5}]}"

static const struct {
    const char *form, *text;
} rows[] = {
    {"", ""},
    {"plain", "plain"},
    {"{id} {state}", "7 running"},
    {"{frozen} {done}", "yes no"},
    {"{list}, {members}", "a, b, done 3, asked 2, gone 0"},
    {"<{null}{missing}{empty}{nothing}>", "<>"},
    {"{members.done} {members.missing.more}", "3 "},
    {"{waves.wave}", "4"},
    /* Counts, sums and spans. */
    {"{id#node}, {members.asked#GPU}", "7 nodes, 2 GPUs"},
    {"{none#node} {missing#node} {missing#}", "0 nodes 0 nodes 0"},
    {"{members#} {members.done+members.asked#}", "5 5"},
    {"{ms~}[ {none~}]", "15 min"},
    /* What is left out, and what stands for it. */
    {"a[ {empty}] b[ {state}]", "a b running"},
    {"[{empty}|{missing}|-]", "-"},
    {"[{state}|-]", "running"},
    {"[{state}[ ({empty})]]", "running"},
    {"[{none}]", "0"},
    {"[x{missing}]", ""},
    /* Tests. */
    {"[{frozen?}f][{done?}d][{none?}n][{list?}l][{nothing?}e][{members?}m][{missing?}x]", "flm"},
    {"[{frozen!}f][{done!}d][{none!}n][{nothing!}e][{missing!}x]", "dnex"},
    {"[by {id}[{list!}; retire {state}]]", "by 7"}, /* as 'stack show' of a pinned stack */
    {"[by {id}[{nothing!}; retire {state}]]", "by 7; retire running"},
    {"[{none:}n][{null:}u][{missing:}x]", "nu"},
    {"[{state=running}r][{state=done}d][{id=7}i]", "ri"},
    {"[{state!done}d][{state!running}r]", "d"},
    {"[{votes.given<votes.needed}more][{votes.needed<votes.given}less]", "more"},
    /* Arguments and options. */
    {"{1} {--pool}[ {2}][ {--site}]", "n1 p"},
    {"[{--force?}f][{--site?}s][{--site!}n]", "fn"},
    /* No data drives the terminal. */
    {"{bad}", "a?[31mb"},
};

static void test_forms(void)
{
    static const struct lks_option options[] = {
        {"--pool NAME", ""}, {"--site NAME", ""}, {"--force", ""}, {0}};
    char *argv[] = {(char *)(uintptr_t) "n1", (char *)(uintptr_t) "--pool=p",
                    (char *)(uintptr_t) "--force"};
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_args args;
    struct lks_err err = {0};
    CHECK_CODE(lks_args_read(LKS_COUNT(argv), argv, options, &args, &err), LKS_OK);
    CHECK_CODE(lks_docs_init(&docs, "doc", &err), LKS_OK);
    CHECK_CODE(lks_json_parse(LKS_STR(DOC), &docs, &err), LKS_OK);
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(4096);
        lks_test_case("%s", rows[i].form);
        lks_render(&text, rows[i].form, &(struct lks_render){.doc = docs.first, .args = &args});
        CHECK_STR(lks_buf_view(&text), rows[i].text);
    }
}

/* Members as they are, and as parts of a URL. */
static void test_modes(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(4096);
    struct lks_err err = {0};
    CHECK_CODE(lks_docs_init(&docs, "doc", &err), LKS_OK);
    CHECK_CODE(lks_json_parse(LKS_STR("{\"a\":\"b/c?\\u0001\"}"), &docs, &err), LKS_OK);
    lks_render(&text, "/v1/{a}", &(struct lks_render){.doc = docs.first, .mode = LKS_RENDER_URL});
    CHECK_STR(lks_buf_view(&text), "/v1/b%2Fc%3F%01");
    lks_buf_truncate(&text, 0);
    lks_render(&text, "{a}", &(struct lks_render){.doc = docs.first, .mode = LKS_RENDER_RAW});
    CHECK_STR(lks_buf_view(&text), "b/c?\x01");
}

/* Items know their place and what their list is in; a list of lists is one. */
static void test_each(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);
    CHECK_CODE(lks_docs_init(&docs, "doc", &err), LKS_OK);
    CHECK_CODE(lks_json_parse(LKS_STR(DOC), &docs, &err), LKS_OK);
    lks_render_each(f, "waves.gate", "{^wave}{@}{metric} ", docs.first, NULL);
    lks_render_each(f, "missing", "never", docs.first, NULL);
    lks_render_print(f, "{^id}.\n", docs.first);
    fclose(f);
    CHECK_STR(((struct lks_str){out, len}), "40x 41y .\n");
    free(out);
}

static void test_colours(void)
{
    LKS_CLEANUP(lks_docs_fini) struct lks_docs docs = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_docs_init(&docs, "doc", &err), LKS_OK);
    CHECK_CODE(lks_json_parse(LKS_STR(DOC), &docs, &err), LKS_OK);
    CHECK_INT(lks_render_colour("", docs.first, LKS_STR("x")), LKS_PLAIN);
    CHECK_INT(lks_render_colour("bold", docs.first, LKS_STR("x")), LKS_BOLD);
    CHECK_INT(lks_render_colour("[{done?}red|{frozen?}dim]", docs.first, LKS_STR("x")), LKS_DIM);
    CHECK_INT(lks_render_colour("[{.=y}red|{.=x}green]", docs.first, LKS_STR("x")), LKS_GREEN);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"render: forms", test_forms},
        {"render: members in paths", test_modes},
        {"render: lists", test_each},
        {"render: colours", test_colours},
        {0},
    });
}
