/* Reservations that lockstep made in a scheduler: the list that a bridge gives, and names. */
#include "core/sched/reservations.h"
#include "tests/test.h"

#define ONE(name, nodes, own)                                                                      \
    "{\"name\":\"" name "\",\"nodes\":\"" nodes                                                    \
    "\",\"users\":\"slurm\",\"from\":1000,\"until\":2000,\"maint\":true,\"own\":" own "}"
#define LIST(age, list) "{\"age\":" age ",\"reservations\":[" list "]}"
#define OURS            "lockstep_change_17+train+oslo"

static const struct {
    const char *name, *json;
    enum lks_code code;
    uint32_t count;
    const char *nodes; /* of the first; or what the failure says */
} lists[] = {
    {"none", LIST("5", ""), LKS_OK, 0, ""},
    {"one of ours", LIST("5", ONE(OURS, "g2,g1", "true")), LKS_OK, 1, "g[1-2]"},
    {"one of ours and one of another",
     LIST("5", ONE("pdu7", "g3", "false") "," ONE(OURS, "g1", "true")), LKS_OK, 1, "g1"},
    {"another's with a name of ours", LIST("5", ONE(OURS, "g1", "false")), LKS_OK, 0, ""},
    {"a list of nodes that cannot be read", LIST("5", ONE(OURS, "g[1-", "true")), LKS_OK, 1,
     "g[1-"},
    {"an old one", LIST("60001", ""), LKS_E_UNAVAILABLE, 0, "is 60 s old"},
    {"no age", "{\"reservations\":[]}", LKS_E_INVALID, 0, "no list of reservations"},
    {"no list", "{\"age\":5}", LKS_E_INVALID, 0, "no list of reservations"},
    {"an element that is none", LIST("5", "7"), LKS_E_INVALID, 0, "malformed"},
    {"no owner", LIST("5", "{\"name\":\"" OURS "\"}"), LKS_E_INVALID, 0, "malformed"},
    {"no times", LIST("5", "{\"name\":\"" OURS "\",\"own\":true}"), LKS_E_INVALID, 0, "malformed"},
    {"a line in its nodes", LIST("5", ONE(OURS, "g1\\n", "true")), LKS_E_INVALID, 0, "malformed"},
    {"cut off", "{\"age\":5,\"reservations\":[", LKS_E_INVALID, 0, ""},
};

static void test_lists(void)
{
    for (size_t i = 0; i < LKS_COUNT(lists); i++) {
        LKS_CLEANUP(lks_sched_reservations_fini) struct lks_sched_reservations r = {0};
        struct lks_err err = {0};
        lks_test_case("%s", lists[i].name);
        CHECK_CODE(lks_sched_reservations_read(lks_str_from(lists[i].json), &r, &err),
                   lists[i].code);
        CHECK_INT(r.count, lists[i].count);
        if (r.count > 0) {
            CHECK_STR(r.list[0].name, OURS);
            CHECK_STR(r.list[0].nodes, lists[i].nodes);
            CHECK(r.list[0].from == 1000 && r.list[0].until == 2000);
        } else {
            CHECK_HAS(lks_str_from(err.msg), lists[i].nodes);
        }
        CHECK((lks_sched_reservations_find(&r, LKS_STR(OURS)) != NULL) == (r.count > 0));
    }
}

static void test_alike(void)
{
    static const struct {
        const char *name, *nodes;
        lks_ms from, until;
        bool alike;
    } rows[] = {
        {"the same", "g1", 5000, 9000, true},        {"other nodes", "g2", 5000, 9000, false},
        {"a later start", "g1", 6000, 9000, false},  {"a later end", "g1", 5000, 9001, false},
        {"a start before", "g1", 1000, 9000, false},
    };
    struct lks_sched_reservation is = {LKS_STR("x"), LKS_STR("g1"), 5000, 9000};
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct lks_sched_reservation other = {LKS_STR("x"), lks_str_from(rows[i].nodes),
                                                    rows[i].from, rows[i].until};
        lks_test_case("%s", rows[i].name);
        CHECK_INT(lks_sched_reservations_alike(&is, &other, 3000), rows[i].alike);
    }
    lks_test_case("both have started");
    const struct lks_sched_reservation before = {LKS_STR("x"), LKS_STR("g1"), 1000, 9000};
    CHECK(lks_sched_reservations_alike(&is, &before, 5000));
}

static void test_names(void)
{
    static const struct {
        const char *name;
        uint64_t change; /* 0: it is none of ours */
        const char *pool, *site;
    } rows[] = {
        {"lockstep_change_17+train+oslo", 17, "train", "oslo"},
        {"lockstep_change_1+a_b+c.d-e", 1, "a_b", "c.d-e"},
        {"lockstep_change_17", 0, "", ""},
        {"lockstep_change_x+train+oslo", 0, "", ""},
        {"lockstep_change_17+train", 17, "train", ""},
        {"lockstep_change_17+", 0, "", ""},
        {"lockstep_window", 0, "", ""},
        {"window", 0, "", ""},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char made[LKS_SCHED_RESERVATION_NAME + 1];
        struct lks_str pool = LKS_STR(""), site = LKS_STR("");
        uint64_t change = 0;
        lks_test_case("%s", rows[i].name);
        bool ours = lks_sched_reservations_of(lks_str_from(rows[i].name), &change, &pool, &site);
        CHECK_INT(ours, rows[i].change != 0);
        if (!ours)
            continue;
        CHECK_INT(change, rows[i].change);
        CHECK_STR(pool, rows[i].pool);
        CHECK_STR(site, rows[i].site);
        CHECK(lks_sched_reservations_name(change, pool, site, made));
        CHECK_STR(lks_str_from(made), rows[i].name);
    }
    static char much[LKS_SCHED_RESERVATION_NAME + 1];
    char made[LKS_SCHED_RESERVATION_NAME + 1];
    memset(much, 'x', sizeof(much) - 1);
    lks_test_case("a pool with a long name");
    CHECK(!lks_sched_reservations_name(1, lks_str_from(much), LKS_STR("oslo"), made));
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"lists", test_lists},
        {"comparison", test_alike},
        {"names", test_names},
        {NULL, NULL},
    });
}
