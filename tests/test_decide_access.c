#include "core/rows/credential.h"
#include "tests/asked.h"
#include "tests/test.h"

#include <stdlib.h>

/* Site "lon" has no nodes yet; "ams" and "fra" have. */
static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: f\nsites: {ams: {}, fra: {}, lon: {}}\n"
    "pools: {train: {posture: pre-training}, dev: {posture: dev}}\n"
    "nodes:\n"
    "- {hosts: g1, site: ams, pool: train, class: hgx-h100-8}\n"
    "- {hosts: g2, site: fra, pool: dev, class: hgx-h100-8}\n";

#define HASH "sha256:0123456789012345678901234567890123456789012345678901234567890123"

static struct lks_event grant(enum lks_event_kind kind, const char *identity, enum lks_role role,
                              const char *site, const char *pool)
{
    return (struct lks_event){
        .kind = kind,
        .by = LKS_STR("root"),
        .grant = {.identity = lks_str_from(identity),
                  .site = lks_str_from(site),
                  .pool = lks_str_from(pool),
                  .role = role},
    };
}

/* Identities -------------------------------------------------------------------------------- */

#define L64  "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl"
#define L255 L64 L64 L64 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk"

static const struct {
    struct lks_str identity;
    bool fine;
} identities[] = {
    {LKS_STR_C("admin"), true},
    {LKS_STR_C("kim@example.org"), true},
    {LKS_STR_C("ci-runner_2.b"), true},
    {LKS_STR_C("7"), true},
    {LKS_STR_C(L255), true},
    {LKS_STR_C(L255 "x"), false},
    {LKS_STR_C(""), false},
    {LKS_STR_C("-admin"), false},
    {LKS_STR_C(".admin"), false},
    {LKS_STR_C("@admin"), false},
    {LKS_STR_C("a b"), false},
    {LKS_STR_C("a/b"), false},
    {LKS_STR_C("a\0b"), false},
    {LKS_STR_C("adm\xc3\xafn"), false},
    {LKS_STR_C("admin\n"), false},
    {LKS_STR_C("user:kim"), true},
    {LKS_STR_C("user:kim@example.org"), true},
    {LKS_STR_C("user:"), false},
    {LKS_STR_C("user:a:b"), false},
    {LKS_STR_C("User:kim"), false},
    {LKS_STR_C("unix:0"), true},
    {LKS_STR_C("unix:1000"), true},
    {LKS_STR_C("unix:4294967294"), true},
    {LKS_STR_C("unix:4294967295"), false},
    {LKS_STR_C("unix:01"), false},
    {LKS_STR_C("unix:"), false},
    {LKS_STR_C("unix:root"), false},
    {LKS_STR_C("unix:-1"), false},
    {LKS_STR_C("node:g1"), false},
    {LKS_STR_C("token:admin"), false},
    {LKS_STR_C(":admin"), false},
};

static void test_identities(void)
{
    for (size_t i = 0; i < LKS_COUNT(identities); i++) {
        lks_test_case("'%" LKS_STR_FMT "'", LKS_STR_ARG(identities[i].identity));
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_asked_init(&a);
        struct lks_event e = grant(LKS_EVENT_GRANT, "", LKS_ROLE_VIEWER, "", "");
        e.grant.identity = identities[i].identity;
        struct lks_event t = {.kind = LKS_EVENT_API_TOKEN,
                              .api_token = {.id = LKS_STR("t"),
                                            .identity = identities[i].identity,
                                            .hash = LKS_STR(HASH)}};
        enum lks_code want = identities[i].fine ? LKS_OK : LKS_E_INVALID;
        lks_asked(&a, &e);
        CHECK_CODE(a.decision.refused.code, want);
        CHECK_INT(a.decision.count, identities[i].fine);
        /* Who is at the socket is the kernel's to say, and no token's. */
        bool fine = identities[i].fine && !lks_str_starts(identities[i].identity, "unix:");
        lks_asked(&a, &t);
        CHECK_CODE(a.decision.refused.code, fine ? LKS_OK : LKS_E_INVALID);
        CHECK_INT(a.decision.count, fine);
    }
}

/* Bindings ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *site, *pool;
    const char *told;
} scopes[] = {
    {"everywhere", "", "", "granted identity=kim role=operator by=root\n"},
    {"a site", "ams", "", "granted identity=kim role=operator site=ams by=root\n"},
    {"a site without nodes", "lon", "", "granted identity=kim role=operator site=lon by=root\n"},
    {"a pool", "", "dev", "granted identity=kim role=operator pool=dev by=root\n"},
    {"both", "fra", "train", "granted identity=kim role=operator site=fra pool=train by=root\n"},
    {"no such site", "farr", "", "not-found: no site 'farr' in the fleet"},
    {"nearly a site", "fraa", "", "not-found: no site 'fraa' in the fleet; did you mean 'fra'?"},
    {"no such pool", "", "inference", "not-found: no pool 'inference' in the fleet"},
    {"nearly a pool", "ams", "trian",
     "not-found: no pool 'trian' in the fleet; did you mean 'train'?"},
};

static void test_scopes(void)
{
    for (size_t i = 0; i < LKS_COUNT(scopes); i++) {
        lks_test_case("%s", scopes[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_asked_init(&a);
        struct lks_event e =
            grant(LKS_EVENT_GRANT, "kim", LKS_ROLE_OPERATOR, scopes[i].site, scopes[i].pool);
        lks_asked_dry(&a, &e); /* before there is a fleet, any scope will do */
        CHECK_CODE(a.decision.refused.code, LKS_OK);
        lks_asked_fleet(&a, fleet, NULL);
        CHECK_STR(lks_asked(&a, &e), scopes[i].told);
        if (a.decision.refused.code == LKS_OK)
            CHECK_STR(lks_asked(&a, &e), ""); /* what is granted is granted */
    }
}

/* A site that the state knows by its nodes alone, as after a start before the file is read. */
static void test_site_of_nodes(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_asked_fleet(&a, fleet, NULL);
    lks_manifest_fini(&a.manifest);
    a.manifest = (struct lks_manifest){0};
    struct lks_event e = grant(LKS_EVENT_GRANT, "kim", LKS_ROLE_VIEWER, "fra", "");
    CHECK_STR(lks_asked(&a, &e), "granted identity=kim role=viewer site=fra by=root\n");
    e = grant(LKS_EVENT_GRANT, "kim", LKS_ROLE_VIEWER, "train", ""); /* a text, but no site */
    CHECK_STR(lks_asked(&a, &e), "not-found: no site 'train' in the fleet");
}

static void test_ungrant(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_asked_fleet(&a, fleet, NULL);
    struct lks_event e = grant(LKS_EVENT_GRANT, "kim", LKS_ROLE_OPERATOR, "ams", "");
    lks_asked(&a, &e);
    static const struct {
        const char *identity;
        enum lks_role role;
        const char *site, *pool, *told;
    } rows[] = {
        {"lee", LKS_ROLE_OPERATOR, "ams", "",
         "not-found: 'lee' is not operator there; see lockstep access ls"},
        {"kim", LKS_ROLE_VIEWER, "ams", "",
         "not-found: 'kim' is not viewer there; see lockstep access ls"},
        {"kim", LKS_ROLE_OPERATOR, "", "",
         "not-found: 'kim' is not operator everywhere; see lockstep access ls"},
        {"kim", LKS_ROLE_OPERATOR, "ams", "dev",
         "not-found: 'kim' is not operator there; see lockstep access ls"},
        {"kim", LKS_ROLE_OPERATOR, "ams", "",
         "ungranted identity=kim role=operator site=ams by=root\n"},
        {"kim", LKS_ROLE_OPERATOR, "ams", "",
         "not-found: 'kim' is not operator there; see lockstep access ls"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("row %zu", i);
        e = grant(LKS_EVENT_UNGRANT, rows[i].identity, rows[i].role, rows[i].site, rows[i].pool);
        CHECK_STR(lks_asked(&a, &e), rows[i].told);
    }
}

/* Whatever is granted and taken back, somebody can always set access right again. */
static void test_last_admin(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    const struct lks_event grants[] = {
        grant(LKS_EVENT_GRANT, "admin", LKS_ROLE_ADMIN, "", ""),
        grant(LKS_EVENT_GRANT, "kim", LKS_ROLE_ADMIN, "ams", ""),
        grant(LKS_EVENT_GRANT, "kim", LKS_ROLE_ADMIN, "", "dev"),
        grant(LKS_EVENT_GRANT, "lee", LKS_ROLE_OPERATOR, "", ""),
    };
    for (size_t i = 0; i < LKS_COUNT(grants); i++)
        lks_asked(&a, &grants[i]);
    struct lks_event last = grants[0],
                     second = grant(LKS_EVENT_GRANT, "lee", LKS_ROLE_ADMIN, "", "");
    last.kind = LKS_EVENT_UNGRANT;
    CHECK_STR(lks_asked(&a, &last), "refused: 'admin' is the last admin of everything; grant "
                                    "that to another identity first");
    lks_asked(&a, &second);
    CHECK_STR(lks_asked(&a, &last), "ungranted identity=admin role=admin by=root\n");
    second.kind = LKS_EVENT_UNGRANT;
    CHECK_STR(lks_asked(&a, &second), "refused: 'lee' is the last admin of everything; grant "
                                      "that to another identity first");
    struct lks_event scoped = grants[1];
    scoped.kind = LKS_EVENT_UNGRANT;
    CHECK_STR(lks_asked(&a, &scoped), "ungranted identity=kim role=admin site=ams by=root\n");
}

/* API tokens -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *id;
    lks_ms expires; /* the time is 1000000 */
    const char *told;
} tokens[] = {
    {"without an end", "ci", 0, "api-token id=ci identity=builder hash=" HASH " by=root\n"},
    {"with an end", "ci", 1000001,
     "api-token id=ci identity=builder hash=" HASH " expires=1000001 by=root\n"},
    {"that ends now", "ci", 1000000, "invalid: a token that ends in the past opens nothing"},
    {"that ended", "ci", 5, "invalid: a token that ends in the past opens nothing"},
    {"of a name that is taken", "admin", 0,
     "refused: there is a token 'admin' already; revoke it first, or choose another name"},
    {"without a name", "", 0,
     "invalid: '' is no name for a token: letters, digits, '.', '-', '_', '@', at most 255"},
    {"with a colon", "user:ci", 0,
     "invalid: 'user:ci' is no name for a token: letters, digits, '.', '-', '_', '@', at most 255"},
};

static struct lks_event token(const char *id, lks_ms expires)
{
    return (struct lks_event){.kind = LKS_EVENT_API_TOKEN,
                              .by = LKS_STR("root"),
                              .api_token = {.id = lks_str_from(id),
                                            .identity = LKS_STR("builder"),
                                            .hash = LKS_STR(HASH),
                                            .expires = expires}};
}

static void test_tokens(void)
{
    for (size_t i = 0; i < LKS_COUNT(tokens); i++) {
        lks_test_case("a token %s", tokens[i].name);
        LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
        lks_asked_init(&a);
        struct lks_event first = token("admin", 0), e = token(tokens[i].id, tokens[i].expires);
        lks_asked(&a, &first);
        CHECK_STR(lks_asked(&a, &e), tokens[i].told);
    }
}

static void test_token_gone(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    struct lks_event e = token("builder", 0), gone = token("bulider", 0);
    gone.kind = LKS_EVENT_API_TOKEN_GONE;
    lks_asked(&a, &e);
    CHECK_STR(lks_asked(&a, &gone), "not-found: no token 'bulider'; did you mean 'builder'?");
    gone.api_token.id = LKS_STR("builder");
    CHECK_STR(lks_asked(&a, &gone), "api-token-gone id=builder by=root\n");
    CHECK_STR(lks_asked(&a, &gone), "not-found: no token 'builder'");
    CHECK_STR(lks_asked(&a, &e), "api-token id=builder identity=builder hash=" HASH " by=root\n");
}

static void test_limits(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    struct lks_event g = grant(LKS_EVENT_GRANT, "kim", LKS_ROLE_VIEWER, "", ""), t = token("ci", 0);
    a.state.binding_count = LKS_STATE_BINDINGS_MAX; /* nothing looks at them for another name */
    a.state.token_count = LKS_STATE_TOKENS_MAX;
    a.state.bindings = calloc(LKS_STATE_BINDINGS_MAX, sizeof(*a.state.bindings));
    a.state.tokens = calloc(LKS_STATE_TOKENS_MAX, sizeof(*a.state.tokens));
    LKS_ASSERT(a.state.bindings != NULL && a.state.tokens != NULL);
    CHECK_STR(lks_asked(&a, &g), "limit: there are 100000 bindings, which is the most");
    CHECK_STR(lks_asked(&a, &t), "limit: there are 100000 tokens, which is the most");
}

/* Alarms ------------------------------------------------------------------------------------ */

static void test_alarms(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_asked_apply(&a, &(struct lks_record){.kind = LKS_RECORD_ALARM,
                                             .alarm = {.id = 7, .kind = LKS_ALARM_CLOCK}});
    static const struct {
        const char *name;
        uint64_t id;
        const char *reason, *told;
    } rows[] = {
        {"none", 0, "seen", "not-found: no alarm 0; see lockstep alarm ls"},
        {"another", 8, "seen", "not-found: no alarm 8; see lockstep alarm ls"},
        {"without a reason", 7, "", "invalid: give a reason; it is kept in the journal"},
        {"open", 7, "seen", "alarm-released id=7 by=root reason=seen\n"},
        {"released", 7, "seen", "refused: alarm 7 was released by root"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_event e = {.kind = LKS_EVENT_ALARM_RELEASE,
                              .by = LKS_STR("root"),
                              .reason = lks_str_from(rows[i].reason),
                              .alarm = rows[i].id};
        CHECK_STR(lks_asked(&a, &e), rows[i].told);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"access: identities", test_identities},
        {"access: scopes", test_scopes},
        {"access: a site by its nodes", test_site_of_nodes},
        {"access: taken back", test_ungrant},
        {"access: the last admin", test_last_admin},
        {"access: API tokens", test_tokens},
        {"access: API tokens taken back", test_token_gone},
        {"access: limits", test_limits},
        {"access: alarms", test_alarms},
        {0},
    });
}
