#include "codec/package/aptconf.h"

#include "base/buf.h"
#include "tests/test.h"

static void show(void *ctx, enum lks_aptconf_act act, struct lks_str name, struct lks_str value)
{
    lks_buf_addf(ctx, "%s%" LKS_STR_FMT "=%" LKS_STR_FMT ";", act == LKS_APTCONF_CLEAR ? "-" : "",
                 LKS_STR_ARG(name), LKS_STR_ARG(value));
}

static const struct {
    const char *name, *text, *shown, *message;
} texts[] = {
    {"nothing", "", "", NULL},
    {"a setting", "APT::Periodic::Unattended-Upgrade \"1\";\n",
     "APT::Periodic::Unattended-Upgrade=1;", NULL},
    {"without quotes", "APT::Install-Recommends false;", "APT::Install-Recommends=false;", NULL},
    {"blocks", "APT { Periodic { Enable \"1\"; Verbose \"2\"; }; };",
     "APT::Periodic::Enable=1;APT::Periodic::Verbose=2;", NULL},
    {"blocks with whole names", "A::B { C::D \"1\"; };", "A::B::C::D=1;", NULL},
    {"no semicolon behind a block", "A { B \"1\"; } C \"2\";", "A::B=1;C=2;", NULL},
    {"a list", "A { \"x\"; \"y\"; };", "A::=x;A::=y;", NULL},
    {"a list by name", "A:: \"x\"; A:: \"y\";", "A::=x;A::=y;", NULL},
    {"an empty value", "A \"\";", "A=;", NULL},
    {"marks in a value", "A \"x; {y} // z\";", "A=x; {y} // z;", NULL},
    {"comments", "// a\n# b\n/* c;\n d */ A \"1\"; // e\nB \"2\"; # f", "A=1;B=2;", NULL},
    {"commented entries", "A {\n//  \"x\";\n    \"y\";\n};", "A::=y;", NULL},
    {"cleared", "#clear A::B;\nC \"1\";", "-A::B=;C=1;", NULL},
    {"cleared in a block", "A { #clear B;\n };", "-A::B=;", NULL},
    {"included files are not looked at", "#include \"/etc/x\";\nA \"1\";", "A=1;", NULL},
    {"stray semicolons", ";;A \"1\";;", "A=1;", NULL},

    {"a quote left open", "A \"1;\n", "", "line 1: the quote that starts here is never closed"},
    {"no semicolon", "A \"1\"\n", "", "line 2: ends in the middle"},
    {"a block left open", "A { B \"1\";\n", "A::B=1;", "line 2: ends in the middle"},
    {"a brace too many", "A \"1\";\n};", "A=1;", "line 2: a brace that closes nothing"},
    {"a block without a name", "{ A \"1\"; };", "", "line 1: a block without a name"},
    {"a value without a name", "\"1\";", "", "line 1: a value without a name"},
    {"no semicolon before a brace", "A { B \"1\" };", "", "line 1: a setting without a semicolon"},
    {"cleared in quotes", "#clear \"A\";", "", "line 1: a name in quotes"},
    {"two cleared at once", "#clear A B;", "", "line 1: more than a name and a value"},
    {"two values", "A \"1\" \"2\" \"3\";", "", "line 1: more than a name and a value"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(4096);
        struct lks_err err = {0};
        enum lks_code code = lks_aptconf_parse(lks_str_from(texts[i].text), show, &shown, &err);
        CHECK_CODE(code, texts[i].message != NULL ? LKS_E_INVALID : LKS_OK);
        CHECK_STR(lks_buf_view(&shown), texts[i].shown);
        if (texts[i].message != NULL)
            CHECK_STR(lks_str_from(err.msg), texts[i].message);
    }
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(65536);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf shown = LKS_BUF(65536);
    for (int depth = LKS_APTCONF_DEPTH_MAX; depth <= LKS_APTCONF_DEPTH_MAX + 1; depth++) {
        lks_test_case("%d blocks", depth);
        struct lks_err err = {0};
        lks_buf_truncate(&text, 0);
        for (int i = 0; i < depth; i++)
            lks_buf_addf(&text, "a {");
        for (int i = 0; i < depth; i++)
            lks_buf_addf(&text, "};");
        CHECK_CODE(lks_aptconf_parse(lks_buf_view(&text), show, &shown, &err),
                   depth == LKS_APTCONF_DEPTH_MAX ? LKS_OK : LKS_E_INVALID);
    }
    for (int len = LKS_APTCONF_NAME_MAX - 1; len <= LKS_APTCONF_NAME_MAX; len++) {
        lks_test_case("a name of %d bytes", len);
        struct lks_err err = {0};
        lks_buf_truncate(&text, 0);
        lks_buf_pad(&text, 'n', len);
        lks_buf_addf(&text, " \"1\";");
        CHECK_CODE(lks_aptconf_parse(lks_buf_view(&text), show, &shown, &err),
                   len < LKS_APTCONF_NAME_MAX ? LKS_OK : LKS_E_INVALID);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"apt.conf: texts", test_texts}, {"apt.conf: limits", test_limits}, {0}});
}
