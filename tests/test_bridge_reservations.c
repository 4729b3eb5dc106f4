/* Reservations of lockstep in Slurm: whose they are, and what has to be sent for one. */
#include "bridge/view/reservation.h"
#include "tests/test.h"

#define NOW UINT64_C(1795000000000)

/* Minutes from now on: a reservation that there is, and one that is wanted. */
static const struct {
    const char *name;
    const char *nodes; /* that there is one of; NULL: there is none */
    int from, until;
    bool other, plain; /* another's; without the flag MAINT */
    const char *wanted;
    int wanted_from, wanted_until;
    enum lks_bridge_reservation_act act;
} reservations[] = {
    {"a new one", NULL, 0, 0, false, false, "g[1-2]", 5, 9, LKS_BRIDGE_RESERVATION_CREATE},
    {"the same", "g[1-2]", 5, 9, false, false, "g2,g1", 5, 9, LKS_BRIDGE_RESERVATION_KEEP},
    {"fewer nodes", "g[1-2]", 5, 9, false, false, "g1", 5, 9, LKS_BRIDGE_RESERVATION_UPDATE},
    {"another end", "g1", 5, 9, false, false, "g1", 5, 8, LKS_BRIDGE_RESERVATION_UPDATE},
    {"another start", "g1", 5, 9, false, false, "g1", 6, 9, LKS_BRIDGE_RESERVATION_UPDATE},
    {"both have started", "g1", -5, 9, false, false, "g1", -6, 9, LKS_BRIDGE_RESERVATION_KEEP},
    {"fewer nodes after its start", "g[1-2]", -5, 9, false, false, "g1", -6, 9,
     LKS_BRIDGE_RESERVATION_UPDATE},
    {"it starts now", "g1", 5, 9, false, false, "g1", -1, 9, LKS_BRIDGE_RESERVATION_UPDATE},
    {"put off after its start", "g1", -5, 9, false, false, "g1", 5, 9,
     LKS_BRIDGE_RESERVATION_REPLACE},
    {"without the flag", "g1", 5, 9, false, true, "g1", 5, 9, LKS_BRIDGE_RESERVATION_REPLACE},
    {"a list that cannot be read", "g[1-", 5, 9, false, false, "g1", 5, 9,
     LKS_BRIDGE_RESERVATION_UPDATE},
    {"another's", "g1", 5, 9, true, false, "g1", 5, 9, LKS_BRIDGE_RESERVATION_REFUSE},
    {"none is wanted", "g1", 5, 9, false, false, NULL, 0, 0, LKS_BRIDGE_RESERVATION_DELETE},
    {"none is wanted, and it is another's", "g1", 5, 9, true, false, NULL, 0, 0,
     LKS_BRIDGE_RESERVATION_REFUSE},
    {"none is wanted, and there is none", NULL, 0, 0, false, false, NULL, 0, 0,
     LKS_BRIDGE_RESERVATION_KEEP},
};

static lks_ms after(int minutes)
{
    return (lks_ms)((int64_t)NOW + minutes * (int64_t)60000);
}

static void test_reservations(void)
{
    for (size_t i = 0; i < LKS_COUNT(reservations); i++) {
        bool there = reservations[i].nodes != NULL, wants = reservations[i].wanted != NULL;
        const struct lks_bridge_reservation is = {
            .name = LKS_STR("lockstep_change_17"),
            .nodes = lks_str_from(there ? reservations[i].nodes : ""),
            .from = after(reservations[i].from),
            .until = after(reservations[i].until),
            .maint = !reservations[i].plain,
            .own = !reservations[i].other};
        const struct lks_bridge_reserve wanted = {
            .nodes = lks_str_from(wants ? reservations[i].wanted : ""),
            .from = after(reservations[i].wanted_from),
            .until = after(reservations[i].wanted_until)};
        lks_test_case("%s", reservations[i].name);
        CHECK_INT(lks_bridge_reservation_act(there ? &is : NULL, wants ? &wanted : NULL, NOW),
                  reservations[i].act);
    }
}

static void test_reservation_owners(void)
{
    static const struct {
        const char *name, *users;
        bool own;
    } rows[] = {
        {"lockstep_change_17", "slurm", true}, {"lockstep_change_17+pool+hall-1", "slurm", true},
        {"lockstep_change_17", "kim", false},  {"lockstep_change_17", "slurm,kim", false},
        {"lockstep_change_17", "", false},     {"lockstep_", "slurm", false},
        {"lockstep", "slurm", false},          {"maint_lockstep_change_17", "slurm", false},
        {"lockstep_a b", "slurm", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        const struct lks_bridge_reservation r = {.name = lks_str_from(rows[i].name),
                                                 .users = lks_str_from(rows[i].users)};
        lks_test_case("'%s' of '%s'", rows[i].name, rows[i].users);
        CHECK_INT(lks_bridge_reservation_is_own(&r, LKS_STR("slurm")), rows[i].own);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"reservations that are sent", test_reservations},
        {"reservations of lockstep", test_reservation_owners},
        {0},
    };
    return lks_test_main(tests);
}
