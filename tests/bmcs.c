#include "tests/bmcs.h"

#include "tests/facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define BEGIN         UINT64_C(1763200000000) /* some day in 2025 */
#define ON_THE_WAY    10                      /* ms that a request takes */
#define REFUSED_AFTER (1 * LKS_SECOND)        /* when nobody is there */
#define STEPS_MAX     200000
#define IMAGE_SIZE    3000

void lks_bmcs_init(struct lks_bmcs *m, enum lks_bmcsim_personality personality, uint64_t seed,
                   uint64_t speed)
{
    struct lks_err err = {0};
    *m = (struct lks_bmcs){.now = BEGIN};
    lks_buf_init(&m->image, LKS_BMCSIM_IMAGE_MAX);
    lks_buf_init(&m->saved, LKS_CONVERSATION_SAVED_MAX);
    const struct lks_bmcsim_options options = {
        .personality = personality,
        .name = "bmc1",
        .hardware_revision = "A",
        .user = LKS_BMCS_USER,
        .password = LKS_BMCS_PASSWORD,
        .version = "1.0.0",
        .seed = seed,
        .speed = speed,
    };
    enum lks_code code = lks_bmcsim_new(&options, m->now, &m->sim, &err);
    LKS_ASSERT(code == LKS_OK);
}

void lks_bmcs_fini(struct lks_bmcs *m)
{
    lks_bmcsim_free(m->sim);
    lks_buf_fini(&m->image);
    lks_buf_fini(&m->saved);
    *m = (struct lks_bmcs){0};
}

struct lks_bmc_secret lks_bmcs_secret(void)
{
    return (struct lks_bmc_secret){.user = LKS_BMCS_USER, .password = LKS_BMCS_PASSWORD};
}

const struct lks_bmc_driver *lks_bmcs_driver(enum lks_bmcsim_personality personality)
{
    return lks_bmc_driver(personality == LKS_BMCSIM_SWITCH ? LKS_STR("nvos") : LKS_STR(""));
}

/* On the way -------------------------------------------------------------------------------- */

/* "Name: value\r\n" becomes "name: value\n". */
void lks_bmcs_head(struct lks_str head, struct lks_buf *out)
{
    bool name = true;
    for (size_t i = 0; i < head.len; i++) {
        char c = head.ptr[i];
        if (c == '\r')
            continue;
        lks_buf_addc(out, name ? (char)tolower((unsigned char)c) : c);
        name = c == '\n' || (name && c != ':');
    }
}

static void whole_body(const struct lks_bmcs *m, const struct lks_http_request *r,
                       struct lks_buf *out)
{
    struct lks_str body = lks_buf_view(&r->body), image = lks_buf_view(&m->image);
    bool has_file = r->file.digest[0] != '\0';
    size_t at = has_file ? r->file_at : body.len;
    lks_buf_add(out, (struct lks_str){body.ptr, at});
    if (has_file) {
        LKS_ASSERT(r->file.offset + r->file.length <= image.len);
        lks_buf_add(out, (struct lks_str){image.ptr + r->file.offset, (size_t)r->file.length});
        lks_buf_add(out, (struct lks_str){body.ptr + at, body.len - at});
    }
}

/* The image that the BMC wants to fetch, for as long as it wants one. */
static void serve(struct lks_bmcs *m)
{
    struct lks_str uri;
    if (lks_bmcsim_job_wants(m->sim, &uri))
        lks_bmcsim_job_fetched(m->sim, m->now, lks_buf_view(&m->image));
}

/* Let time go by, as far as the next thing that happens by itself, and so on. */
void lks_bmcs_pass(struct lks_bmcs *m, lks_ms until)
{
    while (m->now < until) {
        lks_ms next = lks_bmcsim_next(m->sim);
        m->now = next > m->now && next < until ? next : until;
        lks_bmcsim_tick(m->sim, m->now);
        serve(m);
    }
}

static enum lks_bmcs_mishap mishap_now(const struct lks_bmcs *m)
{
    unsigned number = m->requests - 1;
    if (m->lose_all && number >= m->at)
        return LKS_BMCS_LOSE_REQUEST;
    bool now = m->at_upload ? m->uploads > 0 : number == m->at;
    return now ? m->mishap : LKS_BMCS_NONE;
}

/* Put the request before the BMC, or a part of it. */
void lks_bmcs_deliver(struct lks_bmcs *m, const struct lks_http_request *r, bool cut,
                      struct lks_bmcsim_reply *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf head = LKS_BUF(LKS_HTTP_LINES_MAX);
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf body = LKS_BUF(LKS_BMCSIM_IMAGE_MAX + LKS_HTTP_BODY_MAX);
    lks_bmcs_head(lks_buf_view(&r->head), &head);
    whole_body(m, r, &body);
    struct lks_bmcsim_request request = {
        .method = r->method,
        .path = lks_buf_view(&r->path),
        .head = lks_buf_view(&head),
        .body = lks_buf_view(&body),
        .cut = cut,
    };
    if (cut)
        request.body.len = request.body.len * m->amount / 1000;
    lks_bmcsim_ask(m->sim, m->now, &request, out);
    serve(m);
}

/* One exchange. False: the process ended. */
static bool exchange(struct lks_bmcs *m, const struct lks_conversation_ops *ops, void *value,
                     const struct lks_talk *talk)
{
    LKS_CLEANUP(lks_bmcsim_reply_fini) struct lks_bmcsim_reply reply = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf head = LKS_BUF(LKS_HTTP_LINES_MAX);
    if (talk->request.file.digest[0] != '\0' && m->uploads++ == 0)
        m->first_upload = m->requests;
    m->requests++;
    enum lks_bmcs_mishap mishap = mishap_now(m);
    bool cut = mishap == LKS_BMCS_CUT || mishap == LKS_BMCS_KILL_CUT;
    lks_bmcsim_reply_init(&reply);
    lks_bmcs_pass(m, m->now + ON_THE_WAY);
    if (mishap == LKS_BMCS_KILL_BEFORE)
        return false;
    if (mishap != LKS_BMCS_LOSE_REQUEST)
        lks_bmcs_deliver(m, &talk->request, cut, &reply);
    if (mishap == LKS_BMCS_KILL_CUT || mishap == LKS_BMCS_KILL_SENT)
        return false;
    bool answered = reply.status != 0 && (mishap == LKS_BMCS_NONE || mishap == LKS_BMCS_KILL_HEARD);
    lks_bmcs_pass(m, m->now + (answered ? reply.delay : REFUSED_AFTER));
    if (m->seen != NULL)
        m->seen(m->context, &talk->request, answered ? reply.status : 0);
    lks_bmcs_head(lks_buf_view(&reply.head), &head);
    const struct lks_http_response response = {
        .status = reply.status,
        .head = lks_buf_view(&head),
        .body = lks_buf_view(&reply.body),
    };
    lks_conversation_feed(ops, value, m->now, answered ? &response : NULL);
    return mishap != LKS_BMCS_KILL_HEARD;
}

static void save(struct lks_bmcs *m, const struct lks_conversation_ops *ops, const void *value)
{
    lks_buf_truncate(&m->saved, 0);
    ops->save(value, &m->saved);
    LKS_ASSERT(m->saved.failed == LKS_OK);
}

enum lks_bmcs_end lks_bmcs_run(struct lks_bmcs *m, const struct lks_conversation_ops *ops,
                               void *value)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    lks_conversation_talk_init(&talk);
    for (unsigned i = 0; i < STEPS_MAX; i++) {
        lks_conversation_next(ops, value, m->now, &talk);
        if (talk.checkpoint && ops->save != NULL)
            save(m, ops, value);
        if (talk.kind == LKS_TALK_DONE)
            return LKS_BMCS_DONE;
        if (talk.kind == LKS_TALK_FAIL) {
            m->err = talk.err;
            return LKS_BMCS_FAIL;
        }
        if (talk.kind == LKS_TALK_WAIT)
            lks_bmcs_pass(m, talk.until);
        else if (!exchange(m, ops, value, &talk))
            return LKS_BMCS_KILLED;
    }
    return LKS_BMCS_ENDLESS;
}

/* Updates ----------------------------------------------------------------------------------- */

void lks_bmcs_package(struct lks_bmcs *m, enum lks_bmcsim_personality personality,
                      const char *class, const char *version, struct lks_bmc_intent *out)
{
    struct lks_err err = {0};
    lks_buf_truncate(&m->image, 0);
    enum lks_code code =
        lks_bmcsim_image_package(personality, class, version, 7, IMAGE_SIZE, &m->image, &err);
    LKS_ASSERT(code == LKS_OK);
    *out = (struct lks_bmc_intent){
        .act = LKS_BMC_UPDATE,
        .component = lks_str_from(class),
        .version = lks_str_from(version),
        .image = {.length = m->image.len},
        .image_size = m->image.len,
        .image_name = LKS_STR("image.fwpkg"),
        .pull = LKS_STR("https://depot.example/image.fwpkg"),
        .deadline = m->now + 6 * LKS_BMCS_HOUR,
    };
    code = lks_digest_text(lks_buf_view(&m->image), out->image.digest, &err);
    LKS_ASSERT(code == LKS_OK);
}

static void begin(struct lks_bmcs *m, const struct lks_bmc_driver *driver,
                  const struct lks_bmc_intent *intent, void *value)
{
    struct lks_err err = {0};
    struct lks_bmc_secret secret = lks_bmcs_secret();
    enum lks_code code = driver->update_begin(value, lks_test_facts(), &secret, intent, &err);
    LKS_ASSERT(code == LKS_OK);
    if (m->saved.len == 0)
        return;
    code = driver->update->load(value, lks_buf_view(&m->saved), &err);
    LKS_ASSERT(code == LKS_OK);
    lks_conversation_feed(driver->update, value, m->now, NULL);
}

void lks_bmcs_update(struct lks_bmcs *m, enum lks_bmcsim_personality personality,
                     const struct lks_bmc_intent *intent, struct lks_bmcs_result *out)
{
    const struct lks_bmc_driver *driver = lks_bmcs_driver(personality);
    void *value = calloc(1, driver->update->size);
    LKS_ASSERT(value != NULL);
    begin(m, driver, intent, value);
    enum lks_bmcs_end end = lks_bmcs_run(m, driver->update, value);
    while (end == LKS_BMCS_KILLED) {
        lks_bmcs_pass(m, m->now + 3 * LKS_SECOND); /* until it is started again */
        begin(m, driver, intent, value);
        end = lks_bmcs_run(m, driver->update, value);
    }
    *out = (struct lks_bmcs_result){.end = end, .value = value};
    driver->update_status(value, &out->status);
}

struct lks_bmcs_truth lks_bmcs_truth(const struct lks_bmcs *m, const char *class,
                                     const char *version)
{
    struct lks_bmcs_truth truth = {0};
    for (size_t i = 0; i < lks_bmcsim_device_count(m->sim); i++) {
        struct lks_bmcsim_device d;
        lks_bmcsim_device(m->sim, i, &d);
        if (!lks_str_is(d.class, class))
            continue;
        truth.devices++;
        truth.running += lks_str_is(d.active, version);
        truth.staged += lks_str_is(d.staged, version);
        truth.bricked += d.bricked;
        if (d.flashes > truth.most_flashes)
            truth.most_flashes = d.flashes;
    }
    return truth;
}
