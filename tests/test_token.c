#include "trust/token.h"

#include "tests/test.h"

/* 32 bytes 0, 1, 2 ... and their text; it has all the characters that make a token hard to cut. */
#define SECRET "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
#define HARD   "_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-8"

static void chance_of(uint8_t out[LKS_TOKEN_CHANCE])
{
    for (unsigned i = 0; i < LKS_TOKEN_CHANCE; i++)
        out[i] = (uint8_t)i;
}

static const struct {
    const char *name;
    enum lks_token_kind kind;
    const char *id, *text;
} made[] = {
    {"an API token", LKS_TOKEN_API, "admin", "lks_api_admin_" SECRET},
    {"a node's", LKS_TOKEN_NODE, "gn001", "lks_node_gn001_" SECRET},
    {"a name with what separates", LKS_TOKEN_NODE, "r1_n-2.site", "lks_node_r1_n-2.site_" SECRET},
    {"several nodes'", LKS_TOKEN_NODES, "", "lks_nodes_" SECRET},
    {"a name that looks like another kind", LKS_TOKEN_API, "node_x", "lks_api_node_x_" SECRET},
};

static void test_made(void)
{
    for (size_t i = 0; i < LKS_COUNT(made); i++) {
        lks_test_case("%s", made[i].name);
        uint8_t chance[LKS_TOKEN_CHANCE];
        char text[LKS_TOKEN_TEXT_MAX], hash[LKS_DIGEST_SIZE], again[LKS_DIGEST_SIZE];
        struct lks_token token = {0};
        struct lks_err err = {0};
        chance_of(chance);
        CHECK_CODE(lks_token_make(made[i].kind, lks_str_from(made[i].id), chance, text, hash, &err),
                   LKS_OK);
        CHECK_STR(lks_str_from(text), made[i].text);
        CHECK_CODE(lks_token_parse(lks_str_from(text), &token, &err), LKS_OK);
        CHECK_INT(token.kind, made[i].kind);
        CHECK_STR(token.id, made[i].id);
        CHECK_STR(token.secret, SECRET);
        CHECK_CODE(lks_token_hash(&token, again, &err), LKS_OK);
        CHECK_STR(lks_str_from(hash), again);
        CHECK(lks_token_same(lks_str_from(hash), lks_str_from(again)));
    }
}

/* printf %s SECRET | sha256sum */
static void test_golden_hash(void)
{
    struct lks_token token = {.secret = LKS_STR(SECRET)};
    char hash[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    CHECK_CODE(lks_token_hash(&token, hash, &err), LKS_OK);
    CHECK_STR(lks_str_from(hash),
              "sha256:ea866a757e4c38babfa8127cbe9a409d3e1f93a00ff1488ff735fcf917afffd0");
}

static void test_cut_by_length(void)
{
    struct lks_token token = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_token_parse(LKS_STR("lks_api_a_b_" HARD), &token, &err), LKS_OK);
    CHECK_STR(token.id, "a_b");
    CHECK_STR(token.secret, HARD);
}

static const struct {
    const char *name, *text;
} refused[] = {
    {"nothing", ""},
    {"a prefix", "lks_api_"},
    {"no name", "lks_api__" SECRET},
    {"no name and no separator", "lks_api_" SECRET},
    {"another kind", "lks_king_x_" SECRET},
    {"capitals", "LKS_API_x_" SECRET},
    {"a short secret", "lks_api_x_AAECAw"},
    {"a secret with padding", "lks_api_x_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
    {"a secret with bits left over", "lks_api_x_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9"},
    {"a secret that is not base64", "lks_api_x_A+ECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"},
    {"several nodes' with a name", "lks_nodes_x_" SECRET},
    {"several nodes' with a short secret", "lks_nodes_AAECAw"},
    {"several nodes' with more behind it", "lks_nodes_" SECRET "A"},
    {"another separator", "lks_api_x-" SECRET},
    {"a name with a blank", "lks_api_a b_" SECRET},
    {"a name with a dash in front", "lks_api_-x_" SECRET},
    {"a blank before it", " lks_api_x_" SECRET},
    {"a line end", "lks_api_x_" SECRET "\n"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < LKS_COUNT(refused); i++) {
        lks_test_case("%s", refused[i].name);
        struct lks_token token = {.id = LKS_STR("kept")};
        struct lks_err err = {0};
        CHECK_CODE(lks_token_parse(lks_str_from(refused[i].text), &token, &err), LKS_E_INVALID);
        CHECK_STR(token.id, "kept");
        CHECK(strstr(err.msg, "AAEC") == NULL);
    }
}

static void test_names(void)
{
    char longest[LKS_TOKEN_ID_MAX + 2], text[LKS_TOKEN_TEXT_MAX] = "kept", hash[LKS_DIGEST_SIZE];
    uint8_t chance[LKS_TOKEN_CHANCE];
    struct lks_err err = {0};
    chance_of(chance);
    memset(longest, 'x', sizeof(longest));
    struct lks_str too_long = {longest, 254}, just = {longest, 253};
    CHECK_CODE(lks_token_make(LKS_TOKEN_NODE, too_long, chance, text, hash, &err), LKS_E_INVALID);
    CHECK_CODE(lks_token_make(LKS_TOKEN_NODE, LKS_STR(""), chance, text, hash, &err),
               LKS_E_INVALID);
    CHECK_CODE(lks_token_make(LKS_TOKEN_NODE, LKS_STR("a b"), chance, text, hash, &err),
               LKS_E_INVALID);
    CHECK_STR(lks_str_from(text), "kept");
    CHECK_CODE(lks_token_make(LKS_TOKEN_NODE, just, chance, text, hash, &err), LKS_OK);
}

static void test_of_node(void)
{
    struct lks_token token = {0};
    struct lks_err err = {0};
    char text[LKS_TOKEN_TEXT_MAX] = "kept";
    CHECK_CODE(lks_token_parse(LKS_STR("lks_nodes_" SECRET), &token, &err), LKS_OK);
    CHECK_CODE(lks_token_of_node(&token, LKS_STR(""), text, &err), LKS_E_INVALID);
    CHECK_CODE(lks_token_of_node(&token, LKS_STR("a b"), text, &err), LKS_E_INVALID);
    CHECK_STR(lks_str_from(text), "kept");
    CHECK_CODE(lks_token_of_node(&token, LKS_STR("gn001"), text, &err), LKS_OK);
    CHECK_STR(lks_str_from(text), "lks_node_gn001_" SECRET);
}

static void test_same(void)
{
    CHECK(lks_token_same(LKS_STR("sha256:ab"), LKS_STR("sha256:ab")));
    CHECK(!lks_token_same(LKS_STR("sha256:ab"), LKS_STR("sha256:ac")));
    CHECK(!lks_token_same(LKS_STR("sha256:ab"), LKS_STR("sha256:a")));
    CHECK(!lks_token_same(LKS_STR(""), LKS_STR("")));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"token: made and read", test_made},
        {"token: what is kept of it", test_golden_hash},
        {"token: of one of several nodes", test_of_node},
        {"token: the secret is found by its length", test_cut_by_length},
        {"token: refused", test_refused},
        {"token: names", test_names},
        {"token: the same", test_same},
        {0},
    });
}
