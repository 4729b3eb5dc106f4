#include "codec/format/ini.h"

#include "tests/test.h"

static const struct {
    const char *name, *text, *value; /* of key in section; NULL: none */
} texts[] = {
    {"nothing", "", NULL},
    {"plain", "[section]\nkey=value\n", "value"},
    {"blanks", "[section]\n  \nkey  =  a value \r\n", "a value"},
    {"no final newline", "[section]\nkey=value", "value"},
    {"empty", "[section]\nkey=\n", ""},
    {"the last counts", "[section]\nkey=1\nkey=2\n", "2"},
    {"the section twice", "[section]\nkey=1\n[other]\nkey=2\n[section]\nkey=3\n", "3"},
    {"another section", "[other]\nkey=1\n", NULL},
    {"before any section", "key=1\n[section]\n", NULL},
    {"another key", "[section]\nkeys=1\nmykey=2\n", NULL},
    {"comments", "# [section]\n[section]\n#key=1\n;key=2\nkey=3 # kept\n", "3 # kept"},
    {"goes on", "[section]\nkey=a\n b\n\tc\nother=1\n d\n", "a b c"},
    {"goes on from nothing", "[section]\nkey=\n a\n b\n", "a b"},
    {"goes on past a comment", "[section]\nkey=a\n# x\n b\n", "a b"},
    {"the last counts, whole", "[section]\nkey=a\n b\nkey=c\n", "c"},
    {"not of the section", "[other]\n a\n[section]\nkey=b\n[other]\n c\n", "b"},
    {"an equals sign in the value", "[section]\nkey=a=b\n", "a=b"},
    {"lines that are none", "[section]\nnonsense\n=\nkey=1\n[unclosed\nkey=2\n", "1"},
};

static void test_texts(void)
{
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        lks_test_case("%s", texts[i].name);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(4096);
        lks_buf_addf(&value, "before:");
        bool found = lks_ini_find(lks_str_from(texts[i].text), "section", "key", &value);
        CHECK(found == (texts[i].value != NULL));
        struct lks_str rest = {value.ptr + 7, value.len - 7};
        CHECK_STR(rest, texts[i].value != NULL ? texts[i].value : "");
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){{"ini: texts", test_texts}, {0}});
}
