/* Logins with an identity provider: the roles they bring, to which acts these count and until
 * when, how many are kept, and what a snapshot keeps of them. */
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/governance/backing.h"
#include "core/rows/credential.h"
#include "core/state/access.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <stdio.h>

enum { TEXT_MAX = 256 };

#define HOUR   ((lks_ms)3600 * LKS_SECOND)
#define ISSUER "https://id.example"

static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: f\n"
                            "pools: {train: {posture: batch}, dev: {posture: dev}}\n"
                            "nodes: [{hosts: g1, pool: train, class: hgx-h100-8},\n"
                            "        {hosts: g2, pool: dev, class: hgx-h100-8}]\n";

static void begin(struct lks_asked *a)
{
    lks_asked_init(a);
    lks_asked_fleet(a, fleet, NULL);
}

/* A login for eight hours. */
static struct lks_str log_in(struct lks_asked *a, const char *id, const char *identity,
                             const char *grants)
{
    const struct lks_event e = {.kind = LKS_EVENT_LOGIN,
                                .api_token = {.id = lks_str_from(id),
                                              .identity = lks_str_from(identity),
                                              .hash = LKS_STR("sha256:1"),
                                              .expires = a->now.wall + 8 * HOUR,
                                              .issuer = LKS_STR(ISSUER),
                                              .grants = lks_str_from(grants)}};
    return lks_asked(a, &e);
}

/* May, at a node: by the credential, or by any where it is "". */
static bool may(const struct lks_asked *a, const char *identity, const char *credential,
                enum lks_permission permission, const char *node)
{
    uint32_t n = lks_state_node(&a->state, lks_str_from(node));
    struct lks_str who = lks_str_from(identity), by = lks_str_from(credential);
    struct lks_sight sight = lks_access_sight_by(&a->state, who, by, permission);
    bool sees = lks_access_sees(&a->state, &sight, n);
    CHECK_INT(
        lks_access_may_by(&a->state, who, by, permission, lks_access_scope_of_node(&a->state, n)),
        sees);
    if (credential[0] == '\0')
        CHECK_INT(
            lks_access_may(&a->state, who, permission, lks_access_scope_of_node(&a->state, n)),
            sees);
    return sees;
}

#define KIM "user:kim@x.org"
#define ONE "login.kim_x.org.1"
#define TWO "login.kim_x.org.2"

static const struct {
    const char *name, *identity, *credential;
    enum lks_permission permission;
    const char *node;
    bool may;
} rows[] = {
    {"its role in the pool", KIM, "token:" ONE, LKS_MAY_APPROVE, "g1", true},
    {"not in another pool", KIM, "token:" ONE, LKS_MAY_APPROVE, "g2", false},
    {"its role everywhere", KIM, "token:" ONE, LKS_MAY_READ, "g2", true},
    {"no more than its role", KIM, "token:" ONE, LKS_MAY_OPERATE, "g1", false},
    {"another login's roles", KIM, "token:" TWO, LKS_MAY_OPERATE, "g2", true},
    {"and not the first one's", KIM, "token:" TWO, LKS_MAY_APPROVE, "g1", false},
    {"a token that was made", KIM, "token:kim", LKS_MAY_READ, "g1", false},
    {"a certificate", KIM, "certificate:1", LKS_MAY_READ, "g1", false},
    {"a token of somebody else", "user:lee", "token:" ONE, LKS_MAY_READ, "g1", false},
    {"a token that is not there", KIM, "token:login.kim_x.org.3", LKS_MAY_READ, "g1", false},
    {"whatever was shown: the first", KIM, "", LKS_MAY_APPROVE, "g1", true},
    {"whatever was shown: the second", KIM, "", LKS_MAY_OPERATE, "g2", true},
    {"a name that begins alike", "user:kim", "", LKS_MAY_READ, "g1", false},
    {"the same without user:", "kim@x.org", "", LKS_MAY_READ, "g1", false},
    {"a name whose id is alike", "user:kim_x.org", "", LKS_MAY_READ, "g1", false},
};

static void test_roles(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    CHECK_STR(log_in(&a, ONE, KIM, "approver@train viewer"),
              "api-token id=" ONE " identity=" KIM " hash=sha256:1 "
              "expires=29800000 issuer=" ISSUER " grants=approver@train viewer\n");
    log_in(&a, TWO, KIM, "operator@dev");
    const struct lks_event made = {
        .kind = LKS_EVENT_API_TOKEN,
        .by = LKS_STR("admin"),
        .api_token = {.id = LKS_STR("kim"), .identity = LKS_STR(KIM), .hash = LKS_STR("sha256:2")}};
    CHECK_HAS(lks_asked(&a, &made), "api-token id=kim");
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        CHECK_INT(may(&a, rows[i].identity, rows[i].credential, rows[i].permission, rows[i].node),
                  rows[i].may);
    }
}

/* No person stands behind a login but whoever logged in. */
static void test_backing(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BACKING_TEXT_MAX);
    begin(&a);
    log_in(&a, ONE, KIM, "viewer");
    lks_backing_minters(&a.state, LKS_STR(KIM), LKS_STR("token:" ONE), &text);
    CHECK_INT(text.len, 0);
    lks_backing_minters(&a.state, LKS_STR(KIM), LKS_STR(""), &text);
    CHECK_INT(text.len, 0);
}

static const struct {
    const char *name, *identity, *grants, *told;
} refusals[] = {
    {"no roles", "user:lee", "", "denied: no group of user:lee has a role here"},
    {"a name that is none", "user:kim lee", "viewer", "invalid: 'user:kim lee' is no identity"},
    {"too many roles", "user:lee",
     "viewer@a viewer@b viewer@c viewer@d viewer@e viewer@f viewer@g viewer@h viewer@i viewer@j "
     "viewer@k viewer@l viewer@m viewer@n viewer@o viewer@p viewer@q",
     "limit: the groups of user:lee have more than 16 roles here"},
};

static void test_refusals(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    for (size_t i = 0; i < LKS_COUNT(refusals); i++) {
        lks_test_case("%s", refusals[i].name);
        CHECK_HAS(log_in(&a, "login.x.1", refusals[i].identity, refusals[i].grants),
                  refusals[i].told);
    }
    lks_test_case("%s", "no roles of groups, and one that was granted");
    const struct lks_event grant = {
        .kind = LKS_EVENT_GRANT,
        .by = LKS_STR("unix:0"),
        .root = true,
        .grant = {.identity = LKS_STR("user:lee"), .role = LKS_ROLE_VIEWER}};
    CHECK_HAS(lks_asked(&a, &grant), "granted ");
    CHECK_HAS(log_in(&a, "login.lee.1", "user:lee", ""), "api-token id=login.lee.1");
}

static struct lks_event leaving(const char *id, const char *by)
{
    return (struct lks_event){
        .kind = LKS_EVENT_LOGOUT, .by = lks_str_from(by), .api_token = {.id = lks_str_from(id)}};
}

/* Its token ends at once, and what was done by it goes on counting; revoked, it does not. */
static void test_end(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    log_in(&a, ONE, KIM, "approver");
    struct lks_event lee = leaving(ONE, "user:lee"), kim = leaving(ONE, KIM);
    a.now.wall += HOUR;
    CHECK_HAS(lks_asked(&a, &lee), "user:lee did not log in");
    CHECK_STR(lks_asked(&a, &kim), "token-renewed id=" ONE " expires=4600000 by=" KIM "\n");
    CHECK_STR(lks_asked(&a, &kim), "");
    CHECK_STR(lks_access_token(&a.state, LKS_STR(ONE), LKS_STR("sha256:1"), a.now.wall), "");
    lks_test_case("by a clock that is behind the journal");
    CHECK_STR(lks_access_token(&a.state, LKS_STR(ONE), LKS_STR("sha256:1"), a.now.wall - 1), "");
    CHECK(may(&a, KIM, "", LKS_MAY_APPROVE, "g1"));
    struct lks_event renew = {
        .kind = LKS_EVENT_API_TOKEN_RENEW, .by = LKS_STR(KIM), .api_token = {.id = LKS_STR(ONE)}};
    CHECK_HAS(lks_asked(&a, &renew), "is of a login; log in again");
    struct lks_event gone = {.kind = LKS_EVENT_API_TOKEN_GONE,
                             .by = LKS_STR("admin"),
                             .api_token = {.id = LKS_STR(ONE)}};
    CHECK_HAS(lks_asked(&a, &gone), "api-token-gone id=" ONE);
    CHECK(!may(&a, KIM, "", LKS_MAY_APPROVE, "g1"));
}

/* What a snapshot says makes the same state. */
static void check_dump(const struct lks_asked *a)
{
    struct lks_state anew = {0};
    lks_test_reload(&a->state, &anew);
    CHECK_INT(anew.token_count, a->state.token_count);
    lks_state_fini(&anew);
}

/* One person has so many, others' are let be, and those that were over for long go. */
static void test_bound(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    char id[TEXT_MAX];
    begin(&a);
    log_in(&a, "login.lee.1", "user:lee", "viewer@dev operator");
    for (unsigned i = 0; i < 40; i++) {
        lks_test_case("login %u", i);
        a.now.wall += LKS_SECOND;
        snprintf(id, sizeof(id), "login.kim_x.org.%02u", i);
        CHECK_HAS(log_in(&a, id, KIM, "approver@train"), id);
        CHECK_INT(a.state.token_count, 1 + (i < LKS_LOGINS_OF_PERSON ? i + 1 : 16));
        check_dump(&a);
    }
    CHECK(lks_state_token(&a.state, LKS_STR("login.kim_x.org.23")) == NULL);
    CHECK(lks_state_token(&a.state, LKS_STR("login.kim_x.org.24")) != NULL);
    a.now.wall += 8 * HOUR + LKS_LOGIN_KEPT;
    check_dump(&a); /* nobody logged in since */
    log_in(&a, "login.max.1", "user:max", "viewer");
    CHECK_INT(a.state.token_count, 1);
    check_dump(&a);
}

int main(void)
{
    const struct lks_test tests[] = {
        {"roles of a login", test_roles},  {"minters", test_backing},
        {"refusals", test_refusals},       {"the end of a login", test_end},
        {"how many are kept", test_bound}, {0},
    };
    return lks_test_main(tests);
}
