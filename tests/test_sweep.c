#include "core/firmware/endpoint.h"
#include "core/firmware/sweep.h"
#include "core/state/lookup.h"
#include "tests/asked.h"
#include "tests/facts.h"
#include "tests/test.h"

#define HOUR (3600 * LKS_SECOND)

#define BMC "bmc: {url: 'https://{host}.oob/{host}', credentials: 'file:/etc/x'}"
static const char fleet[] =
    "lockstep: 1\nkind: Fleet\nname: f\nsites: {fra: {}}\ndomains: {d1: {}, d2: {}}\n"
    "pools: {train: {posture: pre-training, sweep_hours: 6}, fast: {posture: dev, sweep_hours: 1},"
    " dev: {posture: dev}}\n"
    "nodes:\n"
    "- {hosts: 'g[1-2]', pool: train, class: hgx-h100-8, site: fra, domain: d1, " BMC "}\n"
    "- {hosts: h1, pool: fast, class: hgx-h100-8, domain: d1, " BMC "}\n"
    "- {hosts: 'd[1-3]', pool: dev, class: hgx-h100-8}\n"
    "assets:\n"
    "- {hosts: sw1, class: switch, domain: d1, " BMC "}\n"
    "- {hosts: sw2, class: switch, domain: d2, " BMC "}\n"
    "- {hosts: sw3, class: switch}\n";

static void begin(struct lks_asked *a)
{
    lks_asked_init(a);
    lks_asked_fleet(a, fleet, NULL);
}

static struct lks_book book_of(const struct lks_asked *a)
{
    return (struct lks_book){.facts = lks_test_facts(), .manifest = &a->manifest};
}

static void read_at(struct lks_asked *a, const char *node, lks_ms taken)
{
    lks_asked_apply(a, &(struct lks_record){.kind = LKS_RECORD_OUTBAND,
                                            .outband = {.node = lks_str_from(node),
                                                        .report = LKS_STR("sha256:r"),
                                                        .basis = LKS_STR("sha256:b"),
                                                        .whole = LKS_STR("sha256:b"),
                                                        .taken = taken}});
}

struct told {
    struct lks_buf text;
    unsigned most; /* 0: all */
};

static bool tell(void *ctx, const struct lks_sweep_task *task)
{
    struct told *t = ctx;
    lks_buf_addf(&t->text,
                 "%" LKS_STR_FMT " '%" LKS_STR_FMT "' '%" LKS_STR_FMT "' %" LKS_STR_FMT
                 " every %llu due %llu\n",
                 LKS_STR_ARG(task->name), LKS_STR_ARG(task->site), LKS_STR_ARG(task->pool),
                 LKS_STR_ARG(task->url), (unsigned long long)(task->every / HOUR),
                 (unsigned long long)(task->due / HOUR));
    return t->most == 0 || --t->most > 0;
}

static void check_list(const struct lks_asked *a, const struct lks_book *book, unsigned most,
                       const char *want)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct told t = {.most = most};
    struct lks_err err = {0};
    lks_buf_init(&t.text, 65536);
    CHECK_CODE(lks_sweep_list(&a->state, book, tell, &t, &err), LKS_OK);
    text = t.text;
    CHECK_STR(text.ptr != NULL ? lks_buf_view(&text) : LKS_STR(""), want);
}

/* Every endpoint once; what has none is not in it. A switch goes by the fastest pool beside it. */
static void test_list(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    struct lks_book book = book_of(&a), empty = {.facts = lks_test_facts()};
    read_at(&a, "g2", 10 * HOUR);
    read_at(&a, "sw1", 20 * HOUR);
    check_list(&a, &book, 0,
               "g1 'fra' 'train' https://g1.oob/g1 every 6 due 0\n"
               "g2 'fra' 'train' https://g2.oob/g2 every 6 due 16\n"
               "h1 '' 'fast' https://h1.oob/h1 every 1 due 0\n"
               "sw1 '' '' https://sw1.oob/sw1 every 1 due 21\n"
               "sw2 '' '' https://sw2.oob/sw2 every 24 due 0\n");
    check_list(&a, &book, 1, "g1 'fra' 'train' https://g1.oob/g1 every 6 due 0\n");
    check_list(&a, &empty, 0, "");
}

static void test_retry(void)
{
    static const struct {
        uint32_t failures;
        lks_ms every, wait;
    } rows[] = {
        {1, 24 * HOUR, LKS_SWEEP_RETRY_MS},
        {2, 24 * HOUR, 2 * LKS_SWEEP_RETRY_MS},
        {3, 24 * HOUR, 4 * LKS_SWEEP_RETRY_MS},
        {11, 24 * HOUR, 1024 * LKS_SWEEP_RETRY_MS},
        {12, 24 * HOUR, 24 * HOUR},
        {4000000000, 24 * HOUR, 24 * HOUR},
        {1, LKS_SECOND, LKS_SECOND},
        {0, 24 * HOUR, LKS_SWEEP_RETRY_MS},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%u failures", rows[i].failures);
        CHECK_INT(lks_sweep_retry(5 * HOUR, rows[i].every, rows[i].failures),
                  5 * HOUR + rows[i].wait);
    }
}

static void check_age(const struct lks_asked *a, const char *pool, uint32_t endpoints,
                      uint32_t never, lks_ms oldest)
{
    struct lks_book book = book_of(a);
    struct lks_sweep_age age =
        lks_sweep_age(&a->state, &book, lks_state_pool(&a->state, lks_str_from(pool)), 30 * HOUR);
    CHECK_INT(age.endpoints, endpoints);
    CHECK_INT(age.never, never);
    CHECK_INT(age.oldest, oldest);
}

static void test_age(void)
{
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    check_age(&a, "train", 2, 2, 0);
    read_at(&a, "g1", 20 * HOUR);
    check_age(&a, "train", 2, 1, 10 * HOUR);
    read_at(&a, "g2", 40 * HOUR); /* by a clock that is ahead */
    check_age(&a, "train", 2, 0, 10 * HOUR);
    check_age(&a, "dev", 0, 0, 0); /* nodes, and no endpoint */
}

static bool list_name(void *ctx, struct lks_str name, const struct lks_endpoint *endpoint)
{
    (void)endpoint;
    lks_buf_addf(ctx, "%" LKS_STR_FMT " ", LKS_STR_ARG(name));
    return true;
}

static void test_endpoints(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf names = LKS_BUF(1 << 16);
    LKS_CLEANUP(lks_asked_fini) struct lks_asked a = {0};
    begin(&a);
    const struct lks_book book = book_of(&a);
    lks_endpoint_each(&book, list_name, &names);
    CHECK_STR(lks_buf_view(&names), "g1 g2 h1 sw1 sw2 ");
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"endpoints in the order of the file", test_endpoints},
        {"sweep: every endpoint", test_list},
        {"sweep: after a failure", test_retry},
        {"sweep: how old readings are", test_age},
        {0},
    });
}
