#include "server/threads/flashes.h"

#include "core/firmware/endpoint.h"
#include "core/rows/flash.h"
#include "core/state/state.h"

#include <stdio.h>
#include <stdlib.h>

#define MAIL_MEMORY_MAX ((size_t)1 << 20)

/* An end that is found before anything is sent. */
static bool end_here(struct lks_state_thread *t, const struct lks_state_flash *f,
                     struct lks_str text)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    struct lks_err err = {0};
    uint64_t needs = 0;
    enum lks_bmc_outcome outcome = f->saved != NULL ? LKS_BMC_UNKNOWN : LKS_BMC_REFUSED;
    struct lks_event event = {
        .kind = LKS_EVENT_FLASH_ENDED,
        .flash_ended = {.id = f->id, .outcome = outcome, .found = LKS_STR(""), .text = text}};
    lks_decision_init(&d);
    enum lks_code code =
        lks_engine_turn(t->authz.engine, t->authz.now, &event, NULL, &d, &needs, &err);
    if (code == LKS_E_IO || code == LKS_E_NOMEM)
        lks_daemon_die(t->daemon, "the state is no longer good", &err);
    return code == LKS_OK;
}

/* Views become the mail's own; an arena that is full leaves an empty text behind. */
static void keep(struct lks_flash_mail *m, struct lks_str *text)
{
    *text = lks_arena_copy(&m->arena, *text);
}

static void put_intent(const struct lks_state_thread *t, const struct lks_state_flash *f,
                       struct lks_flash_mail *m)
{
    const struct lks_state *s = t->authz.state;
    struct lks_str image = lks_state_text(s, f->image);
    struct lks_str pull = lks_daemon_config(t->daemon)->bmc_pull;
    m->id = f->id;
    m->begun = f->begun;
    m->saved = (struct lks_str){f->saved != NULL ? f->saved : "", f->saved_len};
    m->intent = (struct lks_bmc_intent){
        .act = f->act,
        .component = lks_state_text(s, f->component),
        .version = lks_state_text(s, f->version),
        .image_size = f->size,
        .image_name = lks_state_text(s, f->image_name),
        .apply_time = lks_state_text(s, f->apply_time),
        .pull = LKS_STR(""),
        .force = f->force,
        .one_way = f->one_way,
        .deadline = f->deadline,
    };
    if (image.len > 0 && image.len < sizeof(m->intent.image.digest)) {
        memcpy(m->intent.image.digest, image.ptr, image.len);
        m->intent.image.length = f->size;
    }
    if (image.len > 0 && pull.len > 0)
        m->intent.pull = lks_arena_format(&m->arena, "%" LKS_STR_FMT "/%" LKS_STR_FMT,
                                          LKS_STR_ARG(pull), LKS_STR_ARG(image));
    struct lks_str *const texts[] = {&m->saved, &m->intent.component, &m->intent.version,
                                     &m->intent.image_name, &m->intent.apply_time};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        keep(m, texts[i]);
}

static struct lks_flash_mail *make_mail(const struct lks_state_thread *t,
                                        const struct lks_state_flash *f,
                                        const struct lks_endpoint *endpoint)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf url = LKS_BUF(LKS_ENDPOINT_URL_MAX);
    const struct lks_state *s = t->authz.state;
    struct lks_flash_mail *m = (struct lks_flash_mail *)lks_mail_new(LKS_MAIL_FLASH);
    struct lks_str name = lks_state_name(s, f->node);
    lks_arena_init(&m->arena, MAIL_MEMORY_MAX);
    lks_endpoint_url(endpoint->url, name, &url);
    m->at = (struct lks_internal_endpoint){
        .name = name,
        .site = endpoint->site,
        .url = lks_buf_view(&url),
        .trust = endpoint->trust,
        .credentials = endpoint->credentials,
        .driver = endpoint->driver,
        .fingerprint = lks_state_text(s, s->nodes[f->node].endpoint),
    };
    struct lks_str *const texts[] = {&m->at.name,       &m->at.site,   &m->at.url,
                                     &m->at.trust,      &m->at.driver, &m->at.fingerprint,
                                     &m->at.credentials};
    for (size_t i = 0; i < LKS_COUNT(texts); i++)
        keep(m, texts[i]);
    put_intent(t, f, m);
    if (m->arena.out_of_memory)
        lks_daemon_die(t->daemon, "out of memory", NULL);
    return m;
}

/* False: later. */
static bool tell(struct lks_state_thread *t, const struct lks_state_flash *f)
{
    const struct lks_state *s = t->authz.state;
    const struct lks_book *book = lks_engine_book(t->authz.engine);
    struct lks_endpoint endpoint = {0};
    if (!s->nodes[f->node].placed ||
        !lks_endpoint_find(book, lks_state_name(s, f->node), &endpoint))
        return end_here(t, f, LKS_STR("it has no management endpoint any more"));
    if (f->revoked)
        return true; /* a tick ends it */
    lks_client_post(t->daemon->client, &make_mail(t, f, &endpoint)->mail);
    return true;
}

void lks_flashes_over(struct lks_state_thread *t, const struct lks_decision *d)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->records[i].kind != LKS_RECORD_FLASH_ENDED)
            continue;
        struct lks_flash_mail *m = (struct lks_flash_mail *)lks_mail_new(LKS_MAIL_FLASH);
        m->id = d->records[i].flash_ended.id;
        m->over = true;
        lks_client_post(t->daemon->client, &m->mail);
    }
}

/* Records that came since the last look are durable once the journal is, up to where it was then.
 */
void lks_flashes_tell(struct lks_state_thread *t)
{
    const struct lks_state *s = t->authz.state;
    if (t->authz.following || t->stopping)
        return;
    if (t->flash_seq == 0 && s->next_flash > t->flash_told) {
        t->flash_noted = s->next_flash;
        t->flash_seq = lks_engine_seq(t->authz.engine);
    }
    if (t->flash_seq == 0 || lks_engine_durable_seq(t->authz.engine) < t->flash_seq)
        return;
    uint32_t i = s->flash_count;
    while (i > 0 && s->flashes[i - 1].id >= t->flash_told)
        i--;
    for (; i < s->flash_count && s->flashes[i].id < t->flash_noted; i++) {
        if (s->flashes[i].outcome == LKS_BMC_OPEN && !tell(t, &s->flashes[i]))
            return;
        t->flash_told = s->flashes[i].id + 1;
    }
    t->flash_told = t->flash_noted;
    t->flash_seq = 0;
}
