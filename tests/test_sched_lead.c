/* Which bridges are told the epoch of the leader, and when again. */
#include "core/actions/sched_lead.h"
#include "tests/test.h"

#define A LKS_STR("unix:/a")
#define B LKS_STR("https://b:1")

static void test_all(void)
{
    struct lks_sched_lead l = {0};
    lks_test_case("a store with one controller");
    CHECK(!lks_sched_lead_due(&l, A, 0, 1));
    lks_test_case("each bridge is told once");
    CHECK(lks_sched_lead_due(&l, A, 7, 1));
    CHECK(lks_sched_lead_due(&l, B, 7, 1));
    CHECK(!lks_sched_lead_due(&l, A, 7, 2));
    CHECK(!lks_sched_lead_told(&l, A, 7, true, 3, 1)); /* no news: nothing failed */
    CHECK(!lks_sched_lead_due(&l, A, 7, 1000000));
    lks_test_case("one that does not answer is told again");
    CHECK(lks_sched_lead_told(&l, B, 7, false, 3, 1));
    CHECK(!lks_sched_lead_due(&l, B, 7, 3));
    CHECK(lks_sched_lead_due(&l, B, 7, 3 + LKS_SCHED_LEAD_AGAIN));
    lks_test_case("one whose outcome is never heard, too");
    CHECK(!lks_sched_lead_due(&l, B, 7, 4 + LKS_SCHED_LEAD_AGAIN));
    CHECK(lks_sched_lead_due(&l, B, 7, 4 + LKS_SCHED_LEAD_AGAIN + LKS_SCHED_LEAD_ASKED));
    lks_test_case("a failure is news once, and so is its end");
    lks_ms later = 5 + LKS_SCHED_LEAD_AGAIN + LKS_SCHED_LEAD_ASKED;
    CHECK(!lks_sched_lead_told(&l, B, 7, false, later, 1));
    CHECK(lks_sched_lead_told(&l, B, 7, true, later, 1));
    CHECK(!lks_sched_lead_told(&l, B, 7, true, later, 1));
    lks_test_case("a new epoch is for all of them");
    CHECK(lks_sched_lead_due(&l, A, 8, 4 + LKS_SCHED_LEAD_AGAIN));
    CHECK(!lks_sched_lead_told(&l, A, 8, true, 10, 1));
    CHECK(!lks_sched_lead_due(&l, A, 8, 1000000));
    lks_sched_lead_fini(&l);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"the epoch of a leader", test_all},
        {NULL, NULL},
    });
}
