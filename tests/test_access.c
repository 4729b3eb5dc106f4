#include "core/rows/node.h"
#include "core/state/access.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/test.h"

/* Two sites, two pools, a node in each corner; g5 stands in no site. */
static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: f\nsites: {ams: {}, fra: {}}\n"
                            "pools: {train: {posture: pre-training}, dev: {posture: dev}}\n"
                            "nodes:\n"
                            "- {hosts: g1, site: ams, pool: train, class: hgx-h100-8}\n"
                            "- {hosts: g2, site: ams, pool: dev, class: hgx-h100-8}\n"
                            "- {hosts: g3, site: fra, pool: train, class: hgx-h100-8}\n"
                            "- {hosts: g4, site: fra, pool: dev, class: hgx-h100-8}\n"
                            "- {hosts: g5, pool: train, class: hgx-h100-8}\n"
                            "assets: [{hosts: sw1, site: fra, class: switch}]\n";

/* The specification: what each role may do, in the order of the permissions. */
static const struct {
    const char *role;
    const char *may;
} roles[] = {
    {"viewer", "nothing know read"},           {"operator", "nothing know read operate"},
    {"approver", "nothing know read approve"}, {"admin", "nothing know read operate admin"},
    {"agent", "nothing know report"},
};

static bool listed(const char *list, const char *word)
{
    struct lks_str rest = lks_str_from(list), item;
    while (lks_str_word(&rest, &item)) {
        if (lks_str_is(item, word))
            return true;
    }
    return false;
}

static void test_roles(void)
{
    CHECK_INT(LKS_COUNT(roles), LKS_ROLE_COUNT);
    CHECK(lks_permission_words[LKS_PERMISSION_COUNT] == NULL);
    for (unsigned r = 0; r < LKS_ROLE_COUNT; r++) {
        CHECK_STR(lks_str_from(lks_role_words[r]), roles[r].role);
        for (unsigned p = 0; p < LKS_PERMISSION_COUNT; p++) {
            const char *word = lks_permission_words[p];
            lks_test_case("%s: %s", roles[r].role, word);
            CHECK_INT(lks_access_role_may((enum lks_role)r, (enum lks_permission)p),
                      listed(roles[r].may, word));
        }
    }
}

/* Scopes of bindings against places: "" is everywhere for a binding, and nowhere in particular for
 * a place. Which places a binding reaches is written out. */
static const struct {
    const char *site, *pool;
} places[] = {{"", ""},       {"ams", ""},     {"", "train"},  {"ams", "train"},
              {"ams", "dev"}, {"fra", "dev"},  {"fra", ""},    {"fra", "train"},
              {"", "dev"},    {"am", "train"}, {"amsx", "dev"}};

static const struct {
    const char *site, *pool;
    const char *reaches; /* a letter for each place, '-' where it does not */
} bindings[] = {
    {"", "", "yyyyyyyyyyy"},         {"ams", "", "-y-yy------"},    {"", "train", "--yy---y-y-"},
    {"ams", "train", "---y-------"}, {"fra", "dev", "-----y-----"},
};

static struct lks_record granted(const char *identity, unsigned role, const char *site,
                                 const char *pool)
{
    return (struct lks_record){.kind = LKS_RECORD_GRANTED,
                               .granted = {.identity = lks_str_from(identity),
                                           .role = role,
                                           .site = lks_str_from(site),
                                           .pool = lks_str_from(pool)}};
}

static void check_binding(const struct lks_state *s, unsigned role, size_t b)
{
    for (unsigned p = 0; p < LKS_PERMISSION_COUNT; p++) {
        enum lks_permission permission = (enum lks_permission)p;
        bool role_may = lks_access_role_may((enum lks_role)role, permission);
        CHECK_INT(lks_access_somewhere(s, LKS_STR("user:kim"), permission), role_may);
        for (size_t i = 0; i < LKS_COUNT(places); i++) {
            struct lks_scope at = {lks_str_from(places[i].site), lks_str_from(places[i].pool)};
            bool anyone = permission == LKS_MAY_NOTHING, known = permission == LKS_MAY_KNOW;
            bool reaches = bindings[b].reaches[i] == 'y';
            lks_test_case("%s in '%s'/'%s': %s at '%s'/'%s'", lks_role_words[role],
                          bindings[b].site, bindings[b].pool, lks_permission_words[p],
                          places[i].site, places[i].pool);
            CHECK_INT(lks_access_may(s, LKS_STR("user:kim"), permission, at),
                      anyone || known || (role_may && reaches));
            CHECK_INT(lks_access_may(s, LKS_STR("user:ki"), permission, at), anyone || known);
            CHECK_INT(lks_access_may(s, LKS_STR(""), permission, at), anyone);
        }
    }
}

/* Every role, permission, scope of a binding and place. */
static void test_scopes(void)
{
    for (unsigned role = 0; role < LKS_ROLE_COUNT; role++) {
        for (size_t b = 0; b < LKS_COUNT(bindings); b++) {
            LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
            lks_asked_init(&a);
            struct lks_record r = granted("user:kim", role, bindings[b].site, bindings[b].pool);
            lks_asked_apply(&a, &r);
            check_binding(&a.state, role, b);
        }
    }
}

/* Several bindings add up, each within its own scope. */
static void test_sum(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    const struct lks_record records[] = {
        granted("kim", LKS_ROLE_VIEWER, "", ""),
        granted("kim", LKS_ROLE_OPERATOR, "ams", ""),
        granted("kim", LKS_ROLE_APPROVER, "", "dev"),
        granted("kimono", LKS_ROLE_ADMIN, "", ""),
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(&a, &records[i]);
    struct lks_scope ams = {LKS_STR("ams"), LKS_STR("train")};
    struct lks_scope fra = {LKS_STR("fra"), LKS_STR("dev")};
    CHECK(lks_access_may(&a.state, LKS_STR("kim"), LKS_MAY_READ, fra));
    CHECK(lks_access_may(&a.state, LKS_STR("kim"), LKS_MAY_OPERATE, ams));
    CHECK(!lks_access_may(&a.state, LKS_STR("kim"), LKS_MAY_OPERATE, fra));
    CHECK(lks_access_may(&a.state, LKS_STR("kim"), LKS_MAY_APPROVE, fra));
    CHECK(!lks_access_may(&a.state, LKS_STR("kim"), LKS_MAY_APPROVE, ams));
    CHECK(!lks_access_somewhere(&a.state, LKS_STR("kim"), LKS_MAY_ADMIN));
    CHECK(lks_access_somewhere(&a.state, LKS_STR("kimono"), LKS_MAY_ADMIN));
}

static const struct {
    const char *node, *site, *pool;
} nodes[] = {{"g1", "ams", "train"}, {"g4", "fra", "dev"}, {"g5", "", "train"}, {"sw1", "fra", ""}};

static void test_scope_of_node(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_asked_fleet(&a, fleet, NULL);
    for (size_t i = 0; i < LKS_COUNT(nodes); i++) {
        lks_test_case("%s", nodes[i].node);
        uint32_t node = lks_state_node(&a.state, lks_str_from(nodes[i].node));
        if (!CHECK(node != LKS_NO_NODE))
            continue;
        struct lks_scope scope = lks_access_scope_of_node(&a.state, node);
        CHECK_STR(scope.site, nodes[i].site);
        CHECK_STR(scope.pool, nodes[i].pool);
    }
}

/* A walk over nodes sees what a look at each of them would. */
static void test_sight(void)
{
    for (unsigned role = 0; role < LKS_ROLE_COUNT; role++) {
        for (size_t b = 0; b < LKS_COUNT(bindings); b++) {
            LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
            lks_asked_init(&a);
            lks_asked_fleet(&a, fleet, NULL);
            struct lks_record r = granted("user:kim", role, bindings[b].site, bindings[b].pool);
            lks_asked_apply(&a, &r);
            struct lks_str kim = LKS_STR("user:kim");
            struct lks_sight sight = lks_access_sight(&a.state, kim, LKS_MAY_READ);
            struct lks_sight blind = lks_access_sight(&a.state, LKS_STR("user:ki"), LKS_MAY_READ);
            CHECK(a.state.node_count >= LKS_COUNT(nodes));
            for (uint32_t n = 0; n < a.state.node_count; n++) {
                struct lks_scope at = lks_access_scope_of_node(&a.state, n);
                lks_test_case("%s in '%s'/'%s' at node %u", lks_role_words[role], bindings[b].site,
                              bindings[b].pool, (unsigned)n);
                CHECK_INT(lks_access_sees(&a.state, &sight, n),
                          lks_access_may(&a.state, kim, LKS_MAY_READ, at));
                CHECK(!lks_access_sees(&a.state, &blind, n));
            }
        }
    }
}

/* A node reports, where it stands and nowhere else, from its enrolment to its removal; it may do
 * nothing else, and nobody who is called alike may. */
static void test_agents(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    lks_asked_fleet(&a, fleet, NULL);
    struct lks_scope own = {LKS_STR("ams"), LKS_STR("train")};
    struct lks_scope other = {LKS_STR("fra"), LKS_STR("train")};
    struct lks_str g1 = LKS_STR("node:g1");
    CHECK(!lks_access_may(&a.state, g1, LKS_MAY_REPORT, own));
    lks_asked_live(&a, "g1");
    CHECK(lks_access_may(&a.state, g1, LKS_MAY_REPORT, own));
    CHECK(lks_access_somewhere(&a.state, g1, LKS_MAY_REPORT));
    CHECK(!lks_access_may(&a.state, g1, LKS_MAY_REPORT, other));
    CHECK(!lks_access_may(&a.state, g1, LKS_MAY_REPORT, (struct lks_scope){0}));
    CHECK(!lks_access_may(&a.state, LKS_STR("g1"), LKS_MAY_REPORT, own));
    CHECK(!lks_access_may(&a.state, LKS_STR("user:g1"), LKS_MAY_REPORT, own));
    CHECK(!lks_access_may(&a.state, LKS_STR("node:g2"), LKS_MAY_REPORT, own));
    CHECK(!lks_access_may(&a.state, LKS_STR("node:g9"), LKS_MAY_REPORT, own));
    CHECK(!lks_access_may(&a.state, LKS_STR("node:"), LKS_MAY_REPORT, own));
    for (unsigned p = LKS_MAY_READ; p < LKS_PERMISSION_COUNT; p++) {
        lks_test_case("%s", lks_permission_words[p]);
        CHECK_INT(lks_access_may(&a.state, g1, (enum lks_permission)p, own), p == LKS_MAY_REPORT);
    }
    lks_asked_apply(
        &a, &(struct lks_record){.kind = LKS_RECORD_REMOVED, .removed = {.hosts = LKS_STR("g1")}});
    CHECK(!lks_access_may(&a.state, g1, LKS_MAY_REPORT, own));
}

#define HASH  "sha256:0123456789012345678901234567890123456789012345678901234567890123"
#define WRONG "sha256:0123456789012345678901234567890123456789012345678901234567890124"

enum { END = 2000000 }; /* of a token; the records are older than that */

static const struct {
    const char *name, *id, *hash;
    lks_ms now;
    const char *identity;
} shown[] = {
    {"good", "ci", HASH, END - 1, "builder"},
    {"at its end", "ci", HASH, END, ""},
    {"past its end", "ci", HASH, END + 1, ""},
    {"without an end", "admin", HASH, END + 1, "admin"},
    {"another secret", "ci", WRONG, END - 1, ""},
    {"half of the hash", "ci", "sha256:0123", END - 1, ""},
    {"no hash", "ci", "", END - 1, ""},
    {"another id", "c", HASH, END - 1, ""},
    {"no id", "", HASH, END - 1, ""},
    {"taken back", "old", HASH, END - 1, ""},
};

static struct lks_record token(const char *id, const char *identity, lks_ms expires)
{
    return (struct lks_record){.kind = LKS_RECORD_API_TOKEN,
                               .api_token = {.id = lks_str_from(id),
                                             .identity = lks_str_from(identity),
                                             .hash = LKS_STR(HASH),
                                             .expires = expires}};
}

static void test_tokens(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    lks_asked_init(&a);
    const struct lks_record records[] = {
        token("ci", "builder", END),
        token("admin", "admin", 0),
        token("old", "admin", 0),
        {.kind = LKS_RECORD_API_TOKEN_GONE, .api_token_gone = {.id = LKS_STR("old")}},
    };
    for (size_t i = 0; i < LKS_COUNT(records); i++)
        lks_asked_apply(&a, &records[i]);
    for (size_t i = 0; i < LKS_COUNT(shown); i++) {
        lks_test_case("%s", shown[i].name);
        CHECK_STR(lks_access_token(&a.state, lks_str_from(shown[i].id), lks_str_from(shown[i].hash),
                                   shown[i].now),
                  shown[i].identity);
    }
}

static const struct {
    const char *a, *b;
    bool same;
} persons[] = {
    {"kim", "kim", true},
    {"kim", "user:kim", true},
    {"user:kim", "Kim", true},
    {"user:kim", "user:KIM", true},
    {"kim", "kimono", false},
    {"user:kim", "user:ki", false},
    {"unix:7", "unix:7", true},
    {"unix:7", "7", false},
    {"node:kim", "kim", false},
    {"user:kim", "node:kim", false},
    {"user:user:kim", "kim", false},
    {"user:", "user:kim", false},
};

static void test_persons(void)
{
    for (size_t i = 0; i < LKS_COUNT(persons); i++) {
        struct lks_str a = lks_str_from(persons[i].a), b = lks_str_from(persons[i].b);
        lks_test_case("%s and %s", persons[i].a, persons[i].b);
        CHECK_INT(lks_access_same_person(a, b), persons[i].same);
        CHECK_INT(lks_access_same_person(b, a), persons[i].same);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"access: roles", test_roles},
        {"access: every role, permission and scope", test_scopes},
        {"access: bindings add up", test_sum},
        {"access: where a node is", test_scope_of_node},
        {"access: a walk over many nodes", test_sight},
        {"access: agents", test_agents},
        {"access: tokens", test_tokens},
        {"access: who is one person", test_persons},
        {0},
    });
}
