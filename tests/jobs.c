#include "tests/jobs.h"

#include "codec/notation/hostlist.h"
#include "core/registry/book.h"
#include "core/registry/images.h"
#include "tests/facts.h"

enum { WORDS_MAX = 24, LINES_MAX = 4096, HOSTS_MEMORY = 64 << 20 };

void lks_jobs_init(struct lks_jobs *j, const char *manifest)
{
    struct lks_err err = {0};
    *j = (struct lks_jobs){0};
    lks_asked_init(&j->asked);
    j->start = j->asked.now.wall;
    if (manifest == NULL)
        return;
    if (lks_manifest_parse("stacks.yaml", lks_str_from(manifest), lks_test_facts(), NULL,
                           &j->stacks, &err) != LKS_OK)
        lks_assert_failed(err.msg, __FILE__, __LINE__);
}

void lks_jobs_fini(struct lks_jobs *j)
{
    lks_asked_fini(&j->asked);
    lks_manifest_fini(&j->stacks);
}

struct lks_book lks_jobs_book(const struct lks_jobs *j)
{
    return (struct lks_book){.facts = lks_test_facts(), .manifest = &j->stacks};
}

void lks_jobs_digest(const struct lks_jobs *j, struct lks_str name, char out[LKS_DIGEST_SIZE])
{
    struct lks_err err = {0};
    for (size_t i = 0; i < j->stacks.stack_count; i++) {
        if (lks_str_eq(j->stacks.stacks[i].name, name)) {
            memcpy(out, j->stacks.stacks[i].digest, LKS_DIGEST_SIZE);
            return;
        }
    }
    LKS_ASSERT(lks_digest_text(name, out, &err) == LKS_OK);
}

/* A line being made true. */
struct line {
    struct lks_jobs *j;
    struct lks_str words[WORDS_MAX];
    size_t count;
    char digest[LKS_DIGEST_SIZE]; /* of the stack it names */
};

static void apply(const struct line *l, const struct lks_record *r)
{
    lks_asked_apply(&l->j->asked, r);
}

static struct lks_str word(const struct line *l, size_t i)
{
    return i < l->count ? l->words[i] : LKS_STR("");
}

/* The digest of the stack that is word `i`, empty for "-". */
static struct lks_str stack(struct line *l, size_t i)
{
    if (lks_str_is(word(l, i), "-"))
        return LKS_STR("");
    lks_jobs_digest(l->j, word(l, i), l->digest);
    return lks_str_from(l->digest);
}

static lks_ms ms(const struct line *l, struct lks_str text)
{
    uint64_t number = 0;
    LKS_ASSERT(lks_str_number(text, UINT32_MAX, &number));
    return l->j->start + number;
}

/* The value of "key=value" among the words from `from` on, or empty. */
static struct lks_str option(const struct line *l, size_t from, const char *key)
{
    for (size_t i = from; i < l->count; i++) {
        struct lks_str name, value;
        if (lks_str_cut(l->words[i], '=', &name, &value) && lks_str_is(name, key))
            return value;
    }
    return LKS_STR("");
}

static bool flag(const struct line *l, size_t from, const char *key)
{
    for (size_t i = from; i < l->count; i++) {
        if (lks_str_is(l->words[i], key))
            return true;
    }
    return false;
}

static void tell_pool(struct line *l)
{
    struct lks_record r = {.kind = LKS_RECORD_POOL};
    uint64_t age = 0;
    (void)lks_str_number(option(l, 5, "check"), UINT32_MAX, &age);
    r.pool = (struct lks_rec_pool){.name = word(l, 1),
                                   .posture = word(l, 2),
                                   .enforce = word(l, 3),
                                   .stack = word(l, 4),
                                   .sched = option(l, 5, "sched"),
                                   .stack_digest = stack(l, 4),
                                   .attested = flag(l, 5, "attested"),
                                   .deviations = flag(l, 5, "deviations"),
                                   .drain_refused = flag(l, 5, "drains"),
                                   .on_drift = option(l, 5, "on_drift"),
                                   .check_age = age,
                                   .sweep = 1};
    if (r.pool.stack_digest.len == 0)
        r.pool.stack = LKS_STR("");
    apply(l, &r);
}

static void tell_publish(struct line *l)
{
    const struct lks_record r = {.kind = LKS_RECORD_PUBLISHED,
                                 .published = {.digest = stack(l, 1), .name = word(l, 1)}};
    apply(l, &r);
}

typedef void each_host(struct line *l, const char *name);

static void for_hosts(struct line *l, struct lks_str hosts, each_host *fn)
{
    LKS_CLEANUP(lks_arena_fini) struct lks_arena arena = {0};
    struct lks_hostlist list = {0};
    struct lks_err err = {0};
    lks_arena_init(&arena, HOSTS_MEMORY);
    LKS_ASSERT(lks_hostlist_parse(hosts, &arena, &list, &err) == LKS_OK);
    for (size_t i = 0; i < list.count; i++)
        fn(l, list.names[i].ptr);
}

static void bring_up(struct line *l, const char *name)
{
    lks_asked_live(&l->j->asked, name);
}

static void tell_nodes(struct line *l)
{
    struct lks_str pool = lks_str_is(word(l, 2), "-") ? LKS_STR("") : word(l, 2);
    const struct lks_record r = {
        .kind = LKS_RECORD_PLACED,
        .placed = {.hosts = word(l, 1), .pool = pool, .domain = word(l, 3)}};
    apply(l, &r);
    for_hosts(l, word(l, 1), bring_up);
}

static void tell_asset(struct line *l)
{
    const struct lks_record r = {
        .kind = LKS_RECORD_PLACED,
        .placed = {.hosts = word(l, 1), .asset = LKS_STR("switch-tray"), .domain = word(l, 2)}};
    apply(l, &r);
}

/* "NAME=VALUE!PIN" as a line of values, and of what is wrong if there is a pin. */
static void tell_value(struct lks_str text, struct lks_rec_verdict *v, struct lks_buf *values,
                       struct lks_buf *wrong)
{
    struct lks_str name, value, pin;
    LKS_ASSERT(lks_str_cut(text, '=', &name, &value));
    bool pinned = lks_str_cut(value, '!', &value, &pin);
    bool unread = lks_str_is(value, "?");
    lks_buf_addf(values, "%.*s\t%.*s\n", LKS_STR_ARG(name), LKS_STR_ARG(value));
    if (pinned)
        lks_buf_addf(wrong, "%.*s\t%s\t%.*s\t%.*s\t\n", LKS_STR_ARG(name),
                     unread ? "unmeasured" : "other version", LKS_STR_ARG(pin), LKS_STR_ARG(value));
    v->drifted += pinned && !unread;
    v->unmeasured += pinned && unread;
}

static void tell_verdict(struct line *l)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf values = LKS_BUF(LINES_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf wrong = LKS_BUF(LINES_MAX);
    struct lks_record basis = {.kind = LKS_RECORD_BASIS,
                               .basis = {.digest = word(l, 1), .readings = LKS_STR("a\t\t=\tb\n")}};
    struct lks_record r = {.kind = LKS_RECORD_VERDICT};
    r.verdict.basis = word(l, 1);
    r.verdict.stack = stack(l, 2);
    for (size_t i = 3; i < l->count; i++)
        tell_value(l->words[i], &r.verdict, &values, &wrong);
    r.verdict.judged = r.verdict.drifted > 0      ? LKS_JUDGED_DRIFT
                       : r.verdict.unmeasured > 0 ? LKS_JUDGED_UNMEASURED
                                                  : LKS_JUDGED_CONFORMS;
    r.verdict.values = values.ptr != NULL ? lks_buf_view(&values) : LKS_STR("");
    r.verdict.wrong = wrong.ptr != NULL ? lks_buf_view(&wrong) : LKS_STR("");
    apply(l, &basis);
    apply(l, &r);
}

static void report(struct line *l, const char *name)
{
    const struct lks_record r = {.kind = LKS_RECORD_TUPLE,
                                 .tuple = {.node = lks_str_from(name),
                                           .digest = word(l, 2),
                                           .report = LKS_STR("r"),
                                           .boot = LKS_STR("b1"),
                                           .basis = word(l, 2),
                                           .whole = word(l, 2)}};
    apply(l, &r);
}

static void tell_run(struct line *l)
{
    for_hosts(l, word(l, 1), report);
}

static void tell_outband(struct line *l)
{
    const struct lks_record r = {.kind = LKS_RECORD_OUTBAND,
                                 .outband = {.node = word(l, 1),
                                             .basis = word(l, 2),
                                             .whole = word(l, 2),
                                             .report = LKS_STR("r"),
                                             .taken = l->j->start}};
    apply(l, &r);
}

/* What is said of one node, as a record that needs no more than its name. */
static void tell_node(struct line *l)
{
    struct lks_str node = word(l, 1), by = LKS_STR("kim"), why = LKS_STR("fan");
    const struct {
        const char *verb;
        struct lks_record r;
    } rows[] = {
        {"late", {.kind = LKS_RECORD_LIVENESS, .liveness = {node, LKS_LATE}}},
        {"lost", {.kind = LKS_RECORD_LIVENESS, .liveness = {node, LKS_LOST}}},
        {"live", {.kind = LKS_RECORD_LIVENESS, .liveness = {node, LKS_LIVE}}},
        {"reboot", {.kind = LKS_RECORD_BOOTED, .booted = {node, LKS_STR("b2")}}},
        {"remove", {.kind = LKS_RECORD_REMOVED, .removed = {node, by, why}}},
        {"hold", {.kind = LKS_RECORD_HELD, .held = {.node = node, .by = by, .reason = why}}},
        {"intake", {.kind = LKS_RECORD_INTAKE, .intake = {node, LKS_STR("first seen")}}},
        {"drain",
         {.kind = LKS_RECORD_DRAINED, .drained = {.node = node, .owner = by, .reason = why}}},
        {"unhealthy",
         {.kind = LKS_RECORD_CONDITION,
          .condition = {.node = node,
                        .condition = LKS_CONDITION_UNHEALTHY,
                        .on = true,
                        .text = LKS_STR("Xid 79")}}},
        {"healthy",
         {.kind = LKS_RECORD_CONDITION,
          .condition = {.node = node, .condition = LKS_CONDITION_UNHEALTHY}}},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        if (lks_str_is(word(l, 0), rows[i].verb))
            apply(l, &rows[i].r);
    }
}

static void tell_changing(struct line *l)
{
    const struct lks_record r = {.kind = LKS_RECORD_CONDITION,
                                 .condition = {.node = word(l, 1),
                                               .condition = LKS_CONDITION_CHANGING,
                                               .on = true,
                                               .stack = stack(l, 2)}};
    apply(l, &r);
}

static void tell_time(struct line *l)
{
    bool attested = lks_str_is(word(l, 0), "attested");
    const struct lks_record r = {
        .kind = LKS_RECORD_CONDITION,
        .condition = {.node = word(l, 1),
                      .condition = attested ? LKS_CONDITION_ATTESTED : LKS_CONDITION_CHECKED,
                      .on = true,
                      .until = ms(l, word(l, 2))}};
    apply(l, &r);
}

static void tell_drift(struct line *l)
{
    struct lks_record r = {.kind = LKS_RECORD_DRIFT, .drift = {.node = word(l, 1), .on = true}};
    LKS_ASSERT(lks_record_word_find(lks_drift_words, word(l, 2), &r.drift.cause));
    apply(l, &r);
}

static void tell_deviation(struct line *l)
{
    const struct lks_record r = {.kind = LKS_RECORD_DEVIATION,
                                 .deviation = {.id = l->j->asked.state.deviation_count + 1,
                                               .hosts = word(l, 1),
                                               .subject = word(l, 2),
                                               .owner = LKS_STR("kim"),
                                               .reason = LKS_STR("hot-fix"),
                                               .expires = l->j->start + 1000000}};
    apply(l, &r);
}

static void tell_override(struct line *l)
{
    const struct lks_record r = {.kind = LKS_RECORD_OVERRIDE,
                                 .override = {.job = word(l, 1),
                                              .hosts = word(l, 2),
                                              .reason = LKS_STR("deadline"),
                                              .by = LKS_STR("kim"),
                                              .until = ms(l, word(l, 3))}};
    apply(l, &r);
}

/* One that an agent listed has "by=node:NAME", and another node saw it otherwise. */
static void tell_image(struct line *l)
{
    struct lks_str by = option(l, 2, "by");
    const struct lks_record r = {
        .kind = LKS_RECORD_IMAGE,
        .image = {.ref = word(l, 1),
                  .digest = option(l, 2, "digest"),
                  .nccl = option(l, 2, "nccl"),
                  .rccl = option(l, 2, "rccl"),
                  .cudnn = option(l, 2, "cudnn"),
                  .cuda = option(l, 2, "cuda"),
                  .source = by.len > 0 ? LKS_STR(LKS_IMAGE_DIFFERS) : LKS_STR("sbom"),
                  .by = by}};
    apply(l, &r);
}

static const struct {
    const char *verb;
    void (*tell)(struct line *l);
} verbs[] = {
    {"pool", tell_pool},         {"nodes", tell_nodes},       {"asset", tell_asset},
    {"verdict", tell_verdict},   {"run", tell_run},           {"outband", tell_outband},
    {"late", tell_node},         {"reboot", tell_node},       {"remove", tell_node},
    {"hold", tell_node},         {"intake", tell_node},       {"drain", tell_node},
    {"lost", tell_node},         {"live", tell_node},         {"healthy", tell_node},
    {"unhealthy", tell_node},    {"changing", tell_changing}, {"drift", tell_drift},
    {"attested", tell_time},     {"checked", tell_time},      {"deviation", tell_deviation},
    {"override", tell_override}, {"image", tell_image},       {"publish", tell_publish},
};

static void tell_line(struct line *l)
{
    for (size_t i = 0; i < LKS_COUNT(verbs); i++) {
        if (lks_str_is(word(l, 0), verbs[i].verb)) {
            verbs[i].tell(l);
            return;
        }
    }
    lks_assert_failed("a line that begins with a verb", __FILE__, __LINE__);
}

void lks_jobs_tell(struct lks_jobs *j, const char *lines)
{
    struct lks_str rest = lks_str_from(lines), text;
    while (rest.len > 0) {
        struct line l = {.j = j};
        (void)lks_str_cut(rest, '\n', &text, &rest);
        while (l.count < WORDS_MAX && lks_str_word(&text, &l.words[l.count]))
            l.count++;
        if (l.count > 0)
            tell_line(&l);
    }
}
