/* Endpoints of src/lab/bmcsim, spoken with by the production driver: for the firmware of BMCs, in
 * some seeds. Truth is what the simulated devices have. */
#include "core/rows/flash.h"
#include "core/state/lookup.h"
#include "sim/campaign.h"
#include "tests/bmcs.h"
#include "tests/facts.h"

#include <inttypes.h>
#include <stdlib.h>

#define PERSONALITY LKS_BMCSIM_OPENBMC

/* Images, made once for all seeds. */
static struct {
    bool there;
    struct lks_buf bytes;
    char digest[LKS_DIGEST_SIZE];
} images[CAM_STACKS];

static void make_image(unsigned s)
{
    struct lks_bmcs maker;
    struct lks_bmc_intent intent;
    lks_bmcs_init(&maker, PERSONALITY, 1, 1);
    lks_bmcs_package(&maker, PERSONALITY, "bmc", cam_axes[CAM_BMC].versions[s], &intent);
    images[s].there = true;
    lks_buf_init(&images[s].bytes, LKS_BMCSIM_IMAGE_MAX);
    lks_buf_add(&images[s].bytes, lks_buf_view(&maker.image));
    memcpy(images[s].digest, intent.image.digest, sizeof(images[s].digest));
    lks_bmcs_fini(&maker);
}

const char *cam_redfish_image(unsigned s, size_t *size)
{
    if (!images[s].there)
        make_image(s);
    *size = images[s].bytes.len;
    return images[s].digest;
}

void cam_redfish_free(void)
{
    for (unsigned s = 0; s < CAM_STACKS; s++)
        lks_buf_fini(&images[s].bytes);
}

void cam_redfish_init(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    m->bmcs = calloc(1, sizeof(*m->bmcs));
    LKS_ASSERT(m->bmcs != NULL);
    lks_bmcs_init(m->bmcs, PERSONALITY, lks_rng_next(&w->rng), 1);
    lks_buf_init(&m->talk_head, LKS_HTTP_LINES_MAX);
    lks_buf_init(&m->talk_body, LKS_HTTP_RESPONSE_MAX);
}

void cam_redfish_fini(struct cam_machine *m)
{
    if (m->bmcs == NULL)
        return;
    cam_redfish_forget(m);
    lks_bmcs_fini(m->bmcs);
    lks_buf_fini(&m->talk_head);
    lks_buf_fini(&m->talk_body);
    free(m->bmcs);
    m->bmcs = NULL;
}

void cam_redfish_forget(struct cam_machine *m)
{
    free(m->talk.value);
    m->talk.value = NULL;
    m->talk.on_the_way = false;
}

/* The truth about its devices becomes the machine's. */
static void look(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    unsigned flashes = 0;
    for (size_t k = 0; k < lks_bmcsim_device_count(m->bmcs->sim); k++) {
        struct lks_bmcsim_device d;
        unsigned version = 0;
        lks_bmcsim_device(m->bmcs->sim, k, &d);
        if (!lks_str_is(d.class, "bmc"))
            continue;
        flashes += d.flashes;
        if (!cam_version_find(CAM_BMC, d.active, &version))
            version = 15;
        if (version == cam_version(m->truth, CAM_BMC))
            continue;
        cam_truth before = m->truth;
        m->truth = cam_with(m->truth, CAM_BMC, version);
        m->touched = w->now + 1;
        cam_check_truth(w, i, before);
    }
    if (flashes > m->device_flashes && m->talk.flash != 0) {
        cam_require(w, flashes == m->device_flashes + 1 && !w->flashes[m->talk.flash].written,
                    "promise 8", "%s: its BMC is flashed once by update %" PRIu64, m->name,
                    m->talk.flash);
        w->flashes[m->talk.flash].written = true;
    }
    m->device_flashes = flashes;
}

cam_truth cam_bmc_truth(struct cam *w, uint32_t i)
{
    struct cam_machine *m = &w->machines[i];
    if (m->bmcs != NULL) {
        lks_bmcs_pass(m->bmcs, cam_now(w).wall);
        look(w, i);
    }
    return m->truth;
}

/* Begin an update, or go on with it where it stood. */
void cam_redfish_begin(struct cam *w, uint32_t i, const struct lks_state_flash *f)
{
    const struct lks_bmc_driver *driver = lks_bmcs_driver(PERSONALITY);
    const struct lks_state *s = lks_engine_state(w->engine);
    struct cam_machine *m = &w->machines[i];
    struct lks_bmc_secret secret = lks_bmcs_secret();
    struct lks_err err = {0};
    struct lks_bmc_intent intent = {
        .act = f->act,
        .component = lks_state_text(s, f->component),
        .version = lks_state_text(s, f->version),
        .image = {.length = f->size},
        .image_size = f->size,
        .image_name = lks_state_text(s, f->image_name),
        .apply_time = lks_state_text(s, f->apply_time),
        .pull = LKS_STR("https://depot.example/image"),
        .force = f->force,
        .one_way = f->one_way,
        .deadline = f->deadline,
    };
    struct lks_str digest = lks_state_text(s, f->image);
    memcpy(intent.image.digest, digest.ptr, digest.len);
    m->talk.value = calloc(1, driver->update->size);
    LKS_ASSERT(m->talk.value != NULL);
    lks_buf_truncate(&m->bmcs->image, 0); /* what the depot has under that digest */
    for (unsigned v = 0; v < CAM_STACKS; v++)
        if (images[v].there && lks_str_is(digest, images[v].digest))
            lks_buf_add(&m->bmcs->image, lks_buf_view(&images[v].bytes));
    enum lks_code code =
        driver->update_begin(m->talk.value, lks_test_facts(), &secret, &intent, &err);
    cam_require(w, code == LKS_OK, "the driver", "%s", err.msg);
    if (f->saved == NULL || w->broken)
        return;
    code = driver->update->load(m->talk.value, (struct lks_str){f->saved, f->saved_len}, &err);
    cam_require(w, code == LKS_OK, "the driver", "%s", err.msg);
    lks_conversation_feed(driver->update, m->talk.value, cam_now(w).wall, NULL);
}

static void go_later(struct cam *w, uint32_t i, lks_ms after)
{
    cam_post(w,
             (struct lks_message){
                 .kind = CAM_TALK, .node = i, .life = w->life, .number = w->machines[i].talk.flash},
             after);
}

static bool save(struct cam *w, uint32_t i, const struct lks_bmc_status *status)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf saved = LKS_BUF(LKS_CONVERSATION_SAVED_MAX);
    struct cam_machine *m = &w->machines[i];
    lks_bmcs_driver(PERSONALITY)->update->save(m->talk.value, &saved);
    struct lks_event event = {.kind = LKS_EVENT_FLASH_SAVED,
                              .flash_saved = {.id = m->talk.flash,
                                              .saved = lks_buf_view(&saved),
                                              .phase = lks_str_from(status->phase),
                                              .percent = status->percent}};
    m->talk.saved = true;
    uint64_t flash = m->talk.flash;
    if (cam_turn(w, &event, NULL) && cam_commit_now(w))
        return true;
    if (w->engine != NULL) { /* it is begun again from what is durable */
        cam_talk_forget(m);
        cam_post(
            w, (struct lks_message){.kind = CAM_TALK, .node = i, .life = w->life, .number = flash},
            30 * LKS_SECOND);
    }
    return false;
}

static void send(struct cam *w, uint32_t i, const struct lks_talk *talk)
{
    LKS_CLEANUP(lks_bmcsim_reply_fini) struct lks_bmcsim_reply reply = {0};
    struct cam_machine *m = &w->machines[i];
    bool upload = talk->request.body.len > 0;
    bool lost = m->bmc.silent || cam_chance(w, w->weather.loss / 4);
    bool cut = upload && cam_chance(w, w->weather.loss);
    lks_bmcsim_reply_init(&reply);
    m->bmcs->amount = (unsigned)lks_rng_below(&w->rng, 1000);
    enum lks_bmc_act act = w->flashes[m->talk.flash].act;
    bool disrupts = act != LKS_BMC_STAGE && act != LKS_BMC_ABORT;
    if (disrupts && upload && !m->talk.uploads)
        cam_check_disruption(w, i, "an update", w->flashes[m->talk.flash].asked);
    m->talk.uploads = m->talk.uploads || upload;
    if (!lost)
        lks_bmcs_deliver(m->bmcs, &talk->request, cut, &reply);
    m->talk.answered = !lost && !cut && reply.status != 0 && !cam_chance(w, w->weather.loss / 4);
    m->talk.status = reply.status;
    lks_buf_truncate(&m->talk_head, 0);
    lks_buf_truncate(&m->talk_body, 0);
    lks_bmcs_head(lks_buf_view(&reply.head), &m->talk_head);
    lks_buf_add(&m->talk_body, lks_buf_view(&reply.body));
    m->talk.on_the_way = true;
    look(w, i);
    go_later(w, i, (m->talk.answered ? reply.delay : LKS_SECOND) + cam_between(w, 1, 200));
}

static void finish(struct cam *w, uint32_t i, const struct lks_talk *talk)
{
    struct lks_bmc_status status;
    lks_bmcs_driver(PERSONALITY)->update_status(w->machines[i].talk.value, &status);
    cam_talk_end(w, i, status.outcome,
                 talk->kind == LKS_TALK_FAIL ? lks_str_from(talk->err.msg) : status.text);
}

static void next(struct cam *w, uint32_t i)
{
    const struct lks_bmc_driver *driver = lks_bmcs_driver(PERSONALITY);
    struct cam_machine *m = &w->machines[i];
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    struct lks_bmc_status status;
    lks_conversation_talk_init(&talk);
    lks_conversation_next(driver->update, m->talk.value, cam_now(w).wall, &talk);
    driver->update_status(m->talk.value, &status);
    bool ends = talk.kind == LKS_TALK_FAIL || talk.kind == LKS_TALK_DONE;
    if (talk.checkpoint && !ends && !save(w, i, &status))
        return;
    if (ends)
        finish(w, i, &talk);
    else if (talk.kind == LKS_TALK_WAIT)
        go_later(w, i, talk.until > cam_now(w).wall ? talk.until - cam_now(w).wall : 1);
    else
        send(w, i, &talk);
}

void cam_redfish_go(struct cam *w, uint32_t i)
{
    const struct lks_bmc_driver *driver = lks_bmcs_driver(PERSONALITY);
    struct cam_machine *m = &w->machines[i];
    lks_bmcs_pass(m->bmcs, cam_now(w).wall);
    look(w, i);
    if (m->talk.on_the_way) {
        const struct lks_http_response answer = {.status = m->talk.status,
                                                 .head = lks_buf_view(&m->talk_head),
                                                 .body = lks_buf_view(&m->talk_body)};
        m->talk.on_the_way = false;
        lks_conversation_feed(driver->update, m->talk.value, cam_now(w).wall,
                              m->talk.answered ? &answer : NULL);
    }
    next(w, i);
}
