/* Jobs on the nodes of a change, and what it did to them, as answers show them. */
#include "core/rows/change.h"
#include "core/state/state.h"
#include "lab/rehearse/listed.h"
#include "server/form/views_change.h"
#include "tests/campaigns.h"
#include "tests/facts.h"
#include "tests/test.h"

#include <stdio.h>

#define HOUR CAMPAIGN_HOUR

struct scene {
    struct campaign w;
    struct lks_book book;
    struct lks_sched_sites sites;
    struct lks_buf out;
};

static void set_up(struct scene *s, const char *sched, bool unapproved)
{
    *s = (struct scene){0};
    campaign_begin(&s->w, &(struct campaign_plan){.nodes = 3,
                                                  .waves = {1, 2},
                                                  .sched = sched,
                                                  .requeues = true,
                                                  .unapproved = unapproved});
    s->book = (struct lks_book){.facts = lks_test_facts(), .manifest = &s->w.a.manifest};
    s->w.a.now.wall += 100 * HOUR; /* jobs started before */
    lks_buf_init(&s->out, 1 << 16);
}

static void tear_down(struct scene *s)
{
    lks_buf_fini(&s->out);
    lks_sched_sites_fini(&s->sites);
    campaign_end(&s->w);
}

static struct lks_str site_of(const struct scene *s)
{
    uint32_t node = lks_state_node(&s->w.a.state, LKS_STR("n1"));
    return lks_state_text(&s->w.a.state, s->w.a.state.nodes[node].site);
}

/* The answer, without what it is within. */
static struct lks_str show(struct scene *s, const struct lks_change_sketch *k)
{
    const struct lks_view_jobs v = {&s->w.a.state, &s->book, &s->sites, s->w.a.now};
    struct lks_json_writer w = {.out = &s->out};
    lks_buf_truncate(&s->out, 0);
    lks_json_begin(&w, NULL, '{');
    lks_view_jobs_now(&w, &v, k, k == NULL ? campaign_change(&s->w) : NULL);
    lks_json_end(&w, '}');
    return lks_buf_view(&s->out);
}

/* One job on n1 and n2, which started an hour ago and ends in two. */
static void list(struct scene *s, const char *nodes)
{
    LKS_CLEANUP(lks_sched_jobs_fini) struct lks_sched_jobs read = {0};
    struct lks_err err = {0};
    char json[512];
    (void)snprintf(json, sizeof(json),
                   "{\"age\":0,\"jobs\":[{\"id\":\"17\",\"name\":\"x\",\"user\":\"ada\","
                   "\"account\":\"ml\",\"partition\":\"p\",\"state\":\"running\",\"nodes\":"
                   "\"%s\",\"started\":%llu,\"ends\":%llu,\"requeue\":true,\"gpus\":16}]}",
                   nodes, (unsigned long long)(s->w.a.now.wall - HOUR),
                   (unsigned long long)(s->w.a.now.wall + 2 * HOUR));
    if (!CHECK_CODE(lks_sched_jobs_read(lks_str_from(json), &read, &err), LKS_OK))
        printf("%s\n", err.msg);
    lks_sched_sites_listed(&s->sites, site_of(s), LKS_STR("simulated"), &read, s->w.a.now, 1);
}

static void check_rows(struct lks_str told)
{
    (void)CHECK_HAS(told, "\"listed\":\"");
    (void)CHECK_HAS(told, "{\"wave\":0,\"pool\":\"train\",\"nodes\":1,\"busy\":1,\"jobs\":1,"
                          "\"requeue\":1,\"ends\":\"");
    (void)CHECK_HAS(told, "{\"wave\":1,\"pool\":\"train\",\"nodes\":2,\"busy\":1,\"jobs\":1,");
    (void)CHECK_HAS(told, "\"unknown_ends\":0,\"lost_gpu_hours\":16,\"idle_gpu_hours\":0,");
    (void)CHECK_HAS(told, "\"top\":[{\"job\":\"17\",\"user\":\"ada\",\"account\":\"ml\","
                          "\"nodes\":2,\"of\":2,\"started\":\"");
    CHECK(lks_str_find(told, LKS_STR("missing")) < 0);
}

/* Of a change that did not start, and of the same plan that was only tried. */
static void lists(void)
{
    struct lks_rec_plan_part parts[] = {{.wave = 0, .hosts = LKS_STR_C("n1")},
                                        {.wave = 1, .hosts = LKS_STR_C("n[2-3]")}};
    for (size_t i = 0; i < LKS_COUNT(parts); i++)
        parts[i].domain = parts[i].from = LKS_STR("");
    const struct lks_change_sketch k = {.parts = parts, .part_count = LKS_COUNT(parts)};
    struct scene s;
    set_up(&s, "simulated", true);
    (void)CHECK_HAS(show(&s, NULL), "are not listed yet; repeat the command in a few seconds");
    (void)CHECK_HAS(show(&s, NULL), "\"unlisted\":2");
    lks_sched_sites_failed(&s.sites, site_of(&s), LKS_STR("simulated"), "no route", s.w.a.now, 1);
    (void)CHECK_HAS(show(&s, NULL), "cannot be listed: no route");
    list(&s, "n[1-2]");
    lks_test_case("recorded");
    check_rows(show(&s, NULL));
    lks_test_case("tried");
    check_rows(show(&s, &k));
    tear_down(&s);
}

static void no_scheduler(void)
{
    struct scene s;
    set_up(&s, "none", true);
    CHECK_STR(show(&s, NULL), "{}");
    tear_down(&s);
}

static bool read_listed(struct scene *s, struct lks_listed *out)
{
    const struct lks_view_jobs v = {&s->w.a.state, &s->book, &s->sites, s->w.a.now};
    struct lks_err err = {0};
    lks_buf_truncate(&s->out, 0);
    lks_listed_fini(out);
    if (CHECK_CODE(lks_view_jobs_listed(&v, &s->out, &err), LKS_OK) &&
        CHECK_CODE(lks_listed_read(lks_buf_view(&s->out), out, &err), LKS_OK))
        return true;
    printf("%s\n", err.msg);
    return false;
}

/* What a rehearsal elsewhere is told, is what it reads. Nodes of others are not named. */
static void listed(void)
{
    LKS_CLEANUP(lks_listed_fini) struct lks_listed l = {0};
    struct scene s;
    set_up(&s, "simulated", true);
    lks_test_case("no list yet");
    if (read_listed(&s, &l)) {
        CHECK_INT(l.site_count, 1);
        CHECK(l.awaited);
        CHECK_STR(l.sites[0].sched, "simulated");
        CHECK_INT(l.sites[0].hosts.count, 3);
        CHECK_HAS(l.sites[0].missing, "did not list its jobs yet");
    }
    lks_sched_sites_failed(&s.sites, site_of(&s), LKS_STR("simulated"), "no route", s.w.a.now, 1);
    lks_test_case("no route");
    if (read_listed(&s, &l)) {
        CHECK(!l.awaited);
        CHECK_STR(l.sites[0].missing, "no route");
    }
    list(&s, "n[1-2],elsewhere[1-2]");
    s.w.a.now.wall += LKS_SECOND;
    lks_test_case("listed");
    if (read_listed(&s, &l)) {
        CHECK(!l.awaited);
        CHECK_STR(l.sites[0].missing, "");
        CHECK_INT(l.sites[0].age, LKS_SECOND);
        CHECK_INT(l.job_count, 1);
        CHECK_STR(l.jobs[0].id, "17");
        CHECK_STR(l.jobs[0].user, "ada");
        CHECK_INT(l.jobs[0].hosts.count, 2);
        CHECK_INT(l.jobs[0].of, 4);
        CHECK_INT(l.jobs[0].gpus, 16);
        CHECK_INT(l.jobs[0].ran, HOUR + LKS_SECOND);
        CHECK_INT(l.jobs[0].left, 2 * HOUR - LKS_SECOND);
        CHECK(l.jobs[0].requeue && !l.jobs[0].unplaced);
        CHECK(lks_str_find(lks_buf_view(&s.out), LKS_STR("elsewhere")) < 0);
    }
    s.w.a.now.wall += 100 * LKS_SECOND;
    lks_test_case("a newer list is awaited");
    if (read_listed(&s, &l))
        CHECK(l.awaited && l.job_count == 1);
    tear_down(&s);
}

static struct lks_str show_unlisted(struct scene *s)
{
    const struct lks_view_jobs v = {&s->w.a.state, &s->book, &s->sites, s->w.a.now};
    struct lks_json_writer w = {.out = &s->out};
    lks_buf_truncate(&s->out, 0);
    lks_json_begin(&w, NULL, '{');
    lks_view_jobs_unlisted(&w, &v, campaign_change(&s->w));
    lks_json_end(&w, '}');
    return lks_buf_view(&s->out);
}

/* A change that runs names the sites whose lists its drains wait for. */
static void check_unlisted(struct scene *s)
{
    struct lks_err err = {0};
    s->w.nodes[0].busy = true;
    campaign_settle(&s->w);
    CHECK_CODE(
        lks_sched_sites_ask(&s->sites, site_of(s), LKS_STR("simulated"), s->w.a.now.mono, &err),
        LKS_OK);
    CHECK_STR(show_unlisted(s), "{}");
    lks_sched_sites_failed(&s->sites, site_of(s), LKS_STR("simulated"), "it is cut off", s->w.a.now,
                           1);
    (void)CHECK_HAS(show_unlisted(s), "{\"unlisted\":[{");
    (void)CHECK_HAS(show_unlisted(s), "\"text\":\"it is cut off\"}]}");
    list(s, "n1");
    CHECK_STR(show_unlisted(s), "{}");
}

/* What it did, once it did something. */
static void acts(void)
{
    struct scene s;
    set_up(&s, "simulated", false);
    struct lks_json_writer w = {.out = &s.out};
    lks_json_begin(&w, NULL, '{');
    lks_view_jobs_acted(&w, &s.w.a.state, campaign_change(&s.w));
    lks_json_end(&w, '}');
    CHECK_STR(lks_buf_view(&s.out), "{}");
    check_unlisted(&s);
    campaign_record(&s.w, &(struct lks_record){.kind = LKS_RECORD_JOB_ACT,
                                               .job_act = {.change = 1,
                                                           .job = LKS_STR("17"),
                                                           .site = LKS_STR("lab"),
                                                           .sched = LKS_STR("slurm"),
                                                           .node = LKS_STR("n1"),
                                                           .user = LKS_STR("ada"),
                                                           .act = LKS_JOB_REQUEUE,
                                                           .state = LKS_JOB_REFUSED,
                                                           .signal = LKS_STR("USR1"),
                                                           .text = LKS_STR("job 17: held")}});
    lks_buf_truncate(&s.out, 0);
    w = (struct lks_json_writer){.out = &s.out};
    lks_json_begin(&w, NULL, '{');
    lks_view_jobs_acted(&w, &s.w.a.state, campaign_change(&s.w));
    lks_json_end(&w, '}');
    (void)CHECK_HAS(lks_buf_view(&s.out),
                    "{\"jobs_touched\":1,\"job_acts\":[{\"job\":\"17\",\"site\":\"lab\",\"user\":"
                    "\"ada\",\"node\":\"n1\",\"act\":\"requeue\",\"state\":\"refused\",\"signal\":"
                    "\"USR1\",\"at\":\"");
    (void)CHECK_HAS(lks_buf_view(&s.out), "\"text\":\"job 17: held\"}]}");
    tear_down(&s);
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"lists", lists},
        {"no scheduler", no_scheduler},
        {"listed for a rehearsal", listed},
        {"acts", acts},
        {NULL, NULL},
    });
}
