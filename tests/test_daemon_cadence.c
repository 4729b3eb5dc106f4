/* A pool that is behind what is released, by the real daemon: it is measured and told, and a change
 * is drafted, once, however often the daemon starts; people approve it or do not. */
#include "tests/crew.h"
#include "tests/test.h"
#include "tests/wait.h"

#include <stdio.h>

#define WHY  "{\"reason\":\"looked at it\"}"
#define AGE  "lockstep_pool_baseline_age_seconds"
#define NEXT "newer"

static const char config[] = "rate: {people_per_s: 100000, burst: 1000000}\n"
                             "limits: {heartbeat_ms: 30000, late_ms: 60000, lost_ms: 120000}\n"
                             "cadence: {every_ms: 100}\n";

static const char fleet[] = "lockstep: 1\nkind: Fleet\nname: here\n"
                            "pools:\n"
                            "  eager: {posture: batch, stack: golden, cadence_days: 0}\n"
                            "  calm: {posture: batch, stack: golden}\n"
                            "nodes:\n"
                            "  - {hosts: \"gpu[1-3]\", pool: eager, class: hgx-h200-8}\n"
                            "  - {hosts: inf1, pool: calm, class: hgx-h200-8}\n";

/* The stack of the fleet with a later NCCL. */
static const char *const next[] = {"name: ", "name: " NEXT,
                                   "  nccl: ", "  nccl: {version: '2.29.2', owner: image}", NULL};

/* There are that many changes, sooner or later. */
static bool await_changes(struct crew *crew, size_t count, struct crew_told *t)
{
    for (struct lks_wait w = {0}; lks_wait(&w);) {
        if (crew_ask(crew->root, "GET", "/v1/changes", NULL, t) == 200 &&
            crew_count(t, "items") == count)
            return true;
    }
    CHECK_INT(crew_count(t, "items"), count); /* none came */
    return false;
}

/* It was looked at a few times since: every look is a call. */
static uint64_t calls(struct crew *crew)
{
    static const char name[] = "\nlockstep_calls_total ";
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    uint64_t value = 0;
    struct lks_str number;
    CHECK_INT(crew_ask(crew->root, "GET", "/metrics", NULL, &t), 200);
    struct lks_str body = lks_buf_view(&t.answer.body);
    ptrdiff_t at = lks_str_find(body, lks_str_from(name));
    if (!CHECK(at >= 0))
        return 0;
    size_t skip = (size_t)at + strlen(name);
    struct lks_str rest_of = {body.ptr + skip, body.len - skip};
    lks_str_cut(rest_of, '\n', &number, &rest_of);
    CHECK(lks_str_number(number, UINT64_MAX, &value));
    return value;
}

static void await_looks(struct crew *crew, unsigned looks)
{
    uint64_t before = calls(crew);
    struct lks_wait w = {0};
    for (uint64_t i = 1; calls(crew) < before + i + looks && lks_wait(&w); i++) {
    }
}

static void check_metrics(struct crew *crew)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    CHECK_INT(crew_ask(crew->root, "GET", "/metrics", NULL, &t), 200);
    struct lks_str text = lks_buf_view(&t.answer.body);
    CHECK_HAS(text, AGE "{pool=\"eager\",class=\"hgx-h200-8\"} ");
    CHECK_HAS(text, AGE "{pool=\"calm\",class=\"hgx-h200-8\"} ");
    CHECK_HAS(text, "lockstep_pool_baseline_limit_seconds{pool=\"eager\"} 0\n");
    CHECK_HAS(text, "lockstep_pool_baseline_limit_seconds{pool=\"calm\"} 7776000\n");
    CHECK_HAS(text, "lockstep_alarms_open{kind=\"cadence\"} 1\n");
}

static void check_pools(struct crew *crew, const char *baseline)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(crew->root, "fleet", "/v1/fleet", NULL, &t);
    for (size_t i = 0; i < 2; i++) {
        const struct lks_doc *pool = crew_item(&t, "pools", i);
        CHECK_STR(lks_doc_text(pool, "baseline"), baseline);
        CHECK((lks_doc_text(pool, "behind_since").len > 0) == (baseline[0] != '\0'));
    }
}

/* One draft, as a change that a person proposed, and one alarm. */
static void check_draft(struct crew *crew)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_fine(crew->root, "changes", "/v1/changes", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    crew_fine(crew->root, "change", "/v1/changes/1", NULL, &t);
    CHECK_STR(crew_text(&t, "by"), "lockstep:cadence");
    CHECK_STR(crew_text(&t, "state"), "proposed");
    CHECK_STR(crew_text(&t, "class"), "routine");
    CHECK_STR(crew_text(&t, "name"), NEXT);
    CHECK_HAS(crew_text(&t, "reason"), "eager (hgx-h200-8) is behind " NEXT);
    CHECK_INT(crew_number(&t, "nodes"), 3);
    crew_fine(crew->root, "alarms", "/v1/alarms", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1);
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "kind"), "cadence");
    CHECK_STR(lks_doc_text(crew_item(&t, "items", 0), "subject"), "eager");
}

/* Only people decide, as about any other change. */
static void check_people(struct crew *crew, struct lks_client *here, struct lks_client *elsewhere)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    crew_refused(crew->root, "startChange", "/v1/changes/1/start",
                 "{\"nodes\":3,\"gpus\":24,\"reason\":\"now\"}", 409, "approv");
    crew_refused(elsewhere, "approveChange", "/v1/changes/1/approve", WHY, 403, "may not");
    crew_fine(elsewhere, "alarms", "/v1/alarms", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 0); /* it is of another pool */
    crew_fine(here, "approveChange", "/v1/changes/1/approve", WHY, &t);
    crew_fine(here, "change", "/v1/changes/1", NULL, &t);
    CHECK_STR(crew_text(&t, "state"), "proposed");
    crew_fine(here, "rejectChange", "/v1/changes/1/reject", WHY, &t);
    await_looks(crew, 3);
    crew_fine(crew->root, "changes", "/v1/changes", NULL, &t);
    CHECK_INT(crew_count(&t, "items"), 1); /* it was turned down, and stays so */
}

static void test_cadence(void)
{
    LKS_CLEANUP(crew_told_fini) struct crew_told t = {0};
    struct crew crew;
    char digest[LKS_DIGEST_SIZE] = "";
    if (crew_begin(&crew, config) && crew_release(&crew, digest) && crew_fleet(&crew, fleet)) {
        await_looks(&crew, 3);
        check_pools(&crew, "");
        crew_fine(crew.root, "changes", "/v1/changes", NULL, &t);
        CHECK_INT(crew_count(&t, "items"), 0); /* all of them run the newest there is */
        if (crew_release_with(&crew, next, digest) && await_changes(&crew, 1, &t)) {
            check_draft(&crew);
            check_metrics(&crew);
            check_pools(&crew, NEXT);
        }
        if (crew_again(&crew)) {
            await_looks(&crew, 3);
            check_draft(&crew);
            struct lks_client *here = crew_person(&crew, "approver", "eager");
            struct lks_client *elsewhere = crew_person(&crew, "approver", "calm");
            if (here != NULL && elsewhere != NULL)
                check_people(&crew, here, elsewhere);
            lks_client_free(here);
            lks_client_free(elsewhere);
        }
    }
    crew_end(&crew);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a pool that is behind what is released", test_cadence},
        {0},
    };
    return lks_test_main(tests);
}
