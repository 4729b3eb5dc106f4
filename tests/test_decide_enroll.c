#include "core/rows/node.h"
#include "core/state/lookup.h"
#include "tests/fleet.h"
#include "tests/test.h"

#define HASH         "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define OTHER        "sha256:2222222222222222222222222222222222222222222222222222222222222222"
#define ZEROS        "000000000000000000000000000000000000000000000000000000000000000"
#define PRINT(digit) "sha256:" ZEROS digit /* a fingerprint */
#define NO           "denied: this enrolment token is not good; an operator can make a new one"

#define NOW    UINT64_C(1000000)
#define MINUTE UINT64_C(60000)
#define DAY    (24 * 60 * MINUTE)

/* n1 and n2 are nodes, s1 is an asset. */
static void make(struct lks_asked *a)
{
    lks_asked_init(a);
    lks_fleet_place(a, "n1,n2", "");
    const struct lks_record asset = {
        .kind = LKS_RECORD_PLACED,
        .placed = {.hosts = LKS_STR("s1"), .asset = LKS_STR("switch-tray")}};
    lks_asked_apply(a, &asset);
}

/* The newest certificate of a node, or the one before it. */
static void check_print(const struct lks_node *n, size_t which, const char *want)
{
    char print[LKS_DIGEST_SIZE];
    CHECK_STR(lks_str_from(lks_state_certificate_text(&n->certificates[which], print)), want);
}

/* Making tokens ----------------------------------------------------------------------------- */

static const struct {
    const char *name, *node, *hash;
    lks_ms expires;
    const char *told;
} tokens[] = {
    {"for a node", "n1", HASH, NOW + MINUTE,
     "token node=n1 hash=" HASH " expires=1060000 by=kim\n"},
    {"for an asset", "s1", HASH, NOW + MINUTE, "refused: s1 is an asset and has no agent"},
    {"for several nodes: one of each", "n[1-2]", HASH, NOW + MINUTE,
     "token node=n1 hash=" HASH " expires=1060000 by=kim\n"
     "token node=n2 hash=" HASH " expires=1060000 by=kim\n"},
    {"for a node twice", "n1,n1", HASH, NOW + MINUTE,
     "token node=n1 hash=" HASH " expires=1060000 by=kim\n"},
    {"for several, an asset among them", "n1,s1", HASH, NOW + MINUTE,
     "refused: s1 is an asset and has no agent"},
    {"for several, as long as it may be", "n[1-2]", HASH, NOW + DAY,
     "token node=n1 hash=" HASH " expires=87400000 by=kim\n"
     "token node=n2 hash=" HASH " expires=87400000 by=kim\n"},
    {"for several, for too long", "n[1-2]", HASH, NOW + DAY + 1,
     "invalid: a token for several nodes is good for at most 24 h"},
    {"for several, that ends now", "n[1-2]", HASH, NOW,
     "invalid: a token that has expired is of no use"},
    {"that ends now", "n1", HASH, NOW, "invalid: a token that has expired is of no use"},
    {"without a hash", "n1", "", NOW + MINUTE, "invalid: a token that has expired is of no use"},
};

static struct lks_str make_token(struct lks_asked *a, const char *node, const char *hash,
                                 lks_ms expires)
{
    const struct lks_event event = {.kind = LKS_EVENT_TOKEN,
                                    .by = LKS_STR("kim"),
                                    .name = lks_str_from(node),
                                    .token = {lks_str_from(hash), expires}};
    return lks_asked(a, &event);
}

static void test_tokens(void)
{
    for (size_t i = 0; i < LKS_COUNT(tokens); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", tokens[i].name);
        make(&a);
        CHECK_STR(make_token(&a, tokens[i].node, tokens[i].hash, tokens[i].expires),
                  tokens[i].told);
    }
}

static void test_token_for_nobody(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a);
    (void)make_token(&a, "n3", HASH, NOW + MINUTE);
    CHECK_CODE(a.decision.refused.code, LKS_E_NOT_FOUND);
    CHECK_HAS(lks_str_from(a.decision.refused.msg), "n3");
}

/* Using them -------------------------------------------------------------------------------- */

static struct lks_str enroll(struct lks_asked *a, const char *node, const char *hash,
                             const char *fingerprint)
{
    const struct lks_event event = {.kind = LKS_EVENT_ENROLL,
                                    .name = lks_str_from(node),
                                    .certificate = {.token_hash = lks_str_from(hash),
                                                    .fingerprint = lks_str_from(fingerprint),
                                                    .serial = LKS_STR("5"),
                                                    .expires = NOW + 100 * MINUTE}};
    return lks_asked(a, &event);
}

/* n1 has a token that is good for a minute; this is tried `after` ms. */
static const struct {
    const char *name, *node, *hash;
    lks_ms after;
    const char *told;
} uses[] = {
    {"the right one", "n1", HASH, 0,
     "enrolled node=n1 fingerprint=" PRINT("a") " serial=5 expires=7000000\n"},
    {"at its last moment", "n1", HASH, MINUTE - 1,
     "enrolled node=n1 fingerprint=" PRINT("a") " serial=5 expires=7000000\n"},
    {"at its end", "n1", HASH, MINUTE, NO},
    {"long after", "n1", HASH, 100 * MINUTE, NO},
    {"a wrong one", "n1", OTHER, 0, NO},
    {"none", "n1", "", 0, NO},
    {"a part of it", "n1", "sha256:1111", 0, NO},
    {"for a node without a token", "n2", HASH, 0, NO},
    {"none, for a node without a token", "n2", "", 0, NO},
    {"for an asset", "s1", HASH, 0, NO},
    {"for a node that is not there", "n9", HASH, 0, NO},
    {"none, for a node that is not there", "n9", "", 0, NO},
};

static void test_uses(void)
{
    for (size_t i = 0; i < LKS_COUNT(uses); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", uses[i].name);
        make(&a);
        (void)make_token(&a, "n1", HASH, NOW + MINUTE);
        lks_fleet_wait(&a, uses[i].after);
        CHECK_STR(enroll(&a, uses[i].node, uses[i].hash, PRINT("a")), uses[i].told);
    }
}

static void test_once(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a);
    (void)make_token(&a, "n1", HASH, NOW + MINUTE);
    CHECK(lks_str_starts(enroll(&a, "n1", HASH, PRINT("a")), "enrolled"));
    lks_test_case("a second time");
    CHECK_STR(enroll(&a, "n1", HASH, PRINT("b")), NO);
    check_print(&a.state.nodes[0], 0, PRINT("a"));
}

static void test_newer_token(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a);
    (void)make_token(&a, "n1", HASH, NOW + MINUTE);
    (void)make_token(&a, "n1", OTHER, NOW + MINUTE);
    CHECK_STR(enroll(&a, "n1", HASH, PRINT("a")), NO);
    CHECK(lks_str_starts(enroll(&a, "n1", OTHER, PRINT("a")), "enrolled"));
}

/* A token an operator made lets in a node that is enrolled already; what it had is void. */
static void test_again(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a);
    (void)make_token(&a, "n1", HASH, NOW + MINUTE);
    (void)enroll(&a, "n1", HASH, PRINT("a"));
    (void)make_token(&a, "n1", OTHER, NOW + MINUTE);
    CHECK_STR(enroll(&a, "n1", OTHER, PRINT("b")),
              "revoked node=n1 reason=enrolled anew with a token\n"
              "enrolled node=n1 fingerprint=" PRINT("b") " serial=5 expires=7000000\n");
    check_print(&a.state.nodes[0], 0, PRINT("b"));
    check_print(&a.state.nodes[0], 1, "");
}

/* One secret for several nodes replaces no certificate, and is not for a whole fleet. */
static void test_shared_refused(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a);
    (void)make_token(&a, "n[1-3]", HASH, NOW + MINUTE);
    CHECK_CODE(a.decision.refused.code, LKS_E_NOT_FOUND);
    (void)make_token(&a, "n2", HASH, NOW + MINUTE);
    CHECK(lks_str_starts(enroll(&a, "n2", HASH, PRINT("a")), "enrolled"));
    CHECK_STR(make_token(&a, "n[1-2]", OTHER, NOW + MINUTE),
              "refused: n2 is enrolled: leave it out, or make a token for it alone with 'lockstep "
              "node enroll n2'");
    CHECK_STR(enroll(&a, "n1", OTHER, PRINT("b")), NO);
    lks_fleet_place(&a, "m[0001-1025]", "");
    CHECK_STR(make_token(&a, "m[0001-1025]", HASH, NOW + MINUTE),
              "refused: these are 1025 nodes, and one token enrols 1024");
    CHECK(lks_str_starts(make_token(&a, "m[0001-1024]", HASH, NOW + MINUTE), "token node=m0001"));
}

/* The secret is good for each node of the list, once; for no other; and until its end. */
static const struct {
    const char *name, *node, *hash;
    lks_ms after;
    bool good;
} shared[] = {
    {"a node of the list", "n1", HASH, 0, true},
    {"the same a second time", "n1", HASH, 0, false},
    {"a node outside the list", "x1", HASH, 0, false},
    {"a node that is not there", "n9", HASH, 0, false},
    {"an asset", "s1", HASH, 0, false},
    {"another secret", "n2", OTHER, 0, false},
    {"the next, at its last moment", "n2", HASH, MINUTE - 1, true},
    {"that one a second time", "n2", HASH, 0, false},
    {"the last, at its end", "n3", HASH, 1, false},
};

static void test_shared(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a);
    lks_fleet_place(&a, "n3,x1", "");
    CHECK(lks_str_starts(make_token(&a, "n[1-3]", HASH, NOW + MINUTE), "token"));
    for (size_t i = 0; i < LKS_COUNT(shared); i++) {
        lks_test_case("%s", shared[i].name);
        lks_fleet_wait(&a, shared[i].after);
        struct lks_str told = enroll(&a, shared[i].node, shared[i].hash, PRINT("a"));
        if (shared[i].good)
            CHECK(lks_str_starts(told, "enrolled node="));
        else
            CHECK_STR(told, NO);
    }
}

/* A secret that leaked ends with the next one for the same nodes. */
static void test_shared_newer(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    make(&a);
    (void)make_token(&a, "n[1-2]", HASH, NOW + MINUTE);
    (void)make_token(&a, "n[1-2]", OTHER, NOW + MINUTE);
    CHECK_STR(enroll(&a, "n1", HASH, PRINT("a")), NO);
    CHECK(lks_str_starts(enroll(&a, "n1", OTHER, PRINT("a")), "enrolled"));
    CHECK(lks_str_starts(enroll(&a, "n2", OTHER, PRINT("b")), "enrolled"));
}

/* Renewing ---------------------------------------------------------------------------------- */

static struct lks_str renew(struct lks_asked *a, const char *node, const char *shown,
                            const char *fingerprint)
{
    const struct lks_event event = {.kind = LKS_EVENT_RENEW,
                                    .node = lks_fleet_node(a, node),
                                    .certificate = {.shown = lks_str_from(shown),
                                                    .fingerprint = lks_str_from(fingerprint),
                                                    .serial = LKS_STR("6"),
                                                    .expires = NOW + 200 * MINUTE}};
    return lks_asked(a, &event);
}

#define RENEWED "certified node=n1 fingerprint=" PRINT("c") " serial=6 expires=13000000\n"
#define WRONG   "denied: the certificate that asks is not this node's newest"

/* n1 has b, and a from before. n2 has none. */
static const struct {
    const char *name, *node, *shown, *told, *older;
} renewals[] = {
    {"with the newest", "n1", PRINT("b"), RENEWED, PRINT("b")},
    {"with the one before: the newest never arrived", "n1", PRINT("a"),
     "certified node=n1 fingerprint=" PRINT("a") " expires=7000000\n" RENEWED, PRINT("a")},
    {"with one that was never ours", "n1", PRINT("9"), WRONG, PRINT("a")},
    {"without", "n1", "", "denied: only an enrolled node renews its certificate", PRINT("a")},
    {"a node that is not enrolled", "n2", PRINT("b"),
     "denied: only an enrolled node renews its certificate", ""},
    {"a node that is not enrolled, without", "n2", "",
     "denied: only an enrolled node renews its certificate", ""},
};

static void test_renewals(void)
{
    for (size_t i = 0; i < LKS_COUNT(renewals); i++) {
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_test_case("%s", renewals[i].name);
        make(&a);
        (void)make_token(&a, "n1", HASH, NOW + MINUTE);
        (void)enroll(&a, "n1", HASH, PRINT("a"));
        CHECK(lks_str_starts(renew(&a, "n1", PRINT("a"), PRINT("b")), "certified"));
        CHECK_STR(renew(&a, renewals[i].node, renewals[i].shown, PRINT("c")), renewals[i].told);
        const struct lks_node *n = &a.state.nodes[lks_fleet_node(&a, renewals[i].node)];
        check_print(n, 1, renewals[i].older);
    }
}

/* However often the answer is lost, whoever holds the last certificate that arrived can ask. */
static void test_lost_answers(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    static const char *const lost[] = {PRINT("b"), PRINT("c"), PRINT("d"), PRINT("e")};
    make(&a);
    (void)make_token(&a, "n1", HASH, NOW + MINUTE);
    (void)enroll(&a, "n1", HASH, PRINT("a"));
    for (size_t i = 0; i < LKS_COUNT(lost); i++) {
        lks_test_case("%s", lost[i]);
        CHECK_HAS(renew(&a, "n1", PRINT("a"), lost[i]), lost[i]);
    }
    CHECK_STR(renew(&a, "n1", PRINT("b"), PRINT("f")), WRONG);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"decide enroll: tokens", test_tokens},
        {"decide enroll: a token for nobody", test_token_for_nobody},
        {"decide enroll: using one", test_uses},
        {"decide enroll: once", test_once},
        {"decide enroll: a newer token", test_newer_token},
        {"decide enroll: again", test_again},
        {"decide enroll: one secret for several nodes", test_shared},
        {"decide enroll: no secret for several nodes", test_shared_refused},
        {"decide enroll: a newer secret for several nodes", test_shared_newer},
        {"decide enroll: renewals", test_renewals},
        {"decide enroll: lost answers", test_lost_answers},
        {0},
    });
}
