/*
 * Any service at all. The first byte says what is asked of it and by which driver; then each answer
 * is a line of control bytes: which status, which headers, and how many of the bytes that follow
 * are its body. Where they run out no answer comes any more.
 *
 * Whatever is said: the conversation ends, within its bounds; nothing is sent to another path than
 * one of the service's; the image is sent a second time only after the service was looked at, or
 * had refused it in so many words; what is saved can be loaded, whenever that is; nothing secret is
 * in it.
 */
#include "drivers/bmc/redfish.h"
#include "tests/facts.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXCHANGES_MAX 3000
#define PASSWORD      "a password that is nowhere"
#define BEGIN         UINT64_C(1763200000000)

struct stream {
    const uint8_t *at, *end;
};

static uint8_t next_byte(struct stream *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

/* What services say, so that chance need not find the words. `*` stands for bytes of the input. */
static const char *const bodies[] = {
    "*",
    "{\"Vendor\":\"NVIDIA\",\"UpdateService\":{\"@odata.id\":\"/u\"},\"Tasks\":{\"@odata.id\":\"/"
    "t\""
    "},\"Managers\":{\"@odata.id\":\"/m\"},\"Systems\":{\"@odata.id\":\"/y\"},\"Chassis\":{"
    "\"@odata.id\":\"/c\"},\"Links\":{\"Sessions\":{\"@odata.id\":\"/s\"}}}",
    "{\"FirmwareInventory\":{\"@odata.id\":\"/f\"},\"MultipartHttpPushUri\":\"/push\","
    "\"Actions\":{\"#UpdateService.StartUpdate\":{\"target\":\"/start\"}},"
    "\"@Redfish.OperationApplyTimeSupport\":{\"SupportedValues\":[\"OnStartUpdateRequest\"]}}",
    "{\"FirmwareInventory\":{\"@odata.id\":\"/f\"},\"HttpPushUri\":\"/push\","
    "\"HttpPushUriTargets\":[],\"MaxImageSizeBytes\":1000000}",
    "{\"FirmwareInventory\":{\"@odata.id\":\"/f\"},\"HttpPushUri\":\"/cgi-bin/uploadFile\","
    "\"Oem\":{\"Hpe\":{\"State\":\"Idle\"}}}",
    "{\"FirmwareInventory\":{\"@odata.id\":\"/f\"},\"Actions\":{\"#UpdateService.SimpleUpdate\":{"
    "\"target\":\"/simple\"}}}",
    "{\"Members\":[{\"@odata.id\":\"/f/bmc\"}]}",
    "{\"Members\":[]}",
    "{\"@odata.id\":\"/f/bmc\",\"Id\":\"HostBMC_0\",\"Version\":\"1.0\"}",
    "{\"@odata.id\":\"/f/bmc\",\"Id\":\"HostBMC_0\",\"Version\":\"2.0\"}",
    "{\"@odata.id\":\"/f/bmc\",\"Id\":\"HostBMC_0\",\"Version\":\"1.0\",\"Staged\":{\"Version\":"
    "\"2.0\"}}",
    "{\"Tasks\":{\"@odata.id\":\"/t/all\"}}",
    "{\"Members\":[{\"@odata.id\":\"/t/1\"}]}",
    "{\"Members\":[{\"@odata.id\":\"/t/1\"},{\"@odata.id\":\"/t/2\"}]}",
    "{\"@odata.id\":\"/t/2\",\"TaskState\":\"Running\",\"PercentComplete\":40}",
    "{\"@odata.id\":\"/t/2\",\"TaskState\":\"Completed\",\"TaskStatus\":\"OK\"}",
    "{\"@odata.id\":\"/t/2\",\"TaskState\":\"Completed\",\"TaskStatus\":\"Critical\"}",
    "{\"@odata.id\":\"/t/2\",\"TaskState\":\"Exception\",\"TaskStatus\":\"OK\",\"Messages\":[{"
    "\"MessageId\":\"Update.1.0.ApplyFailed\",\"Message\":\"no\"}]}",
    "{\"@odata.id\":\"/m/1\",\"LastResetTime\":\"2026-11-15T00:00:00Z\",\"Actions\":{"
    "\"#Manager.Reset\":{\"target\":\"/m/1/reset\"}}}",
    "{\"@odata.id\":\"/y/1\",\"Actions\":{\"#ComputerSystem.Reset\":{\"target\":\"/y/1/reset\","
    "\"ResetType@Redfish.AllowableValues\":[\"ForceRestart\"]}}}",
    "{\"error\":{\"code\":\"x\",\"@Message.ExtendedInfo\":[{\"MessageId\":\"a.b.c\",\"Message\":"
    "\"no\\n\"}]}}",
    "{\"BMC\":{\"actual-firmware\":\"1.0\"},\"ASIC1\":{\"actual-firmware\":\"2.0\"}}",
    "{\"BMC\":{\"actual-firmware\":\"2.0\"}}",
    "{\"state\":\"running\",\"percentage\":\"12\"}",
    "{\"state\":\"action_success\"}",
    "{\"state\":\"action_error\",\"status\":\"no\"}",
    "{\"7\":{\"state\":\"running\"}}",
    "7",
};

static const int statuses[] = {200, 201, 202, 204, 400, 401, 404, 405, 409,
                               412, 413, 429, 500, 501, 503, 302, 0,   200};

static const char *const heads[] = {
    "",
    "x-auth-token: t\nlocation: /s/1\n",
    "location: /t/2\n",
    "location: https://elsewhere.example/t/2\nretry-after: 30\n",
    "retry-after: 99999999999\n",
    "etag: W/\"x\"\n",
    "location: //elsewhere.example/\nx-auth-token: a\001b\n",
    "location:\n",
};

/* What the property is about, along the way. */
struct witness {
    unsigned uploads;
    bool looked;  /* since the upload before */
    bool refused; /* the upload before, in so many words */
};

static void watch(struct witness *w, const struct lks_http_request *r, int status)
{
    bool install = r->method[0] == 'P' && r->body.len > 0 &&
                   lks_str_find(lks_buf_view(&r->body), LKS_STR("\"@install\"")) >= 0;
    bool pull = lks_str_find(lks_buf_view(&r->body), LKS_STR("\"ImageURI\"")) >= 0;
    if (r->file.digest[0] == '\0' && !install && !pull) {
        w->looked = w->looked || strcmp(r->method, "GET") == 0;
        return;
    }
    LKS_ASSERT(w->uploads == 0 || w->looked || w->refused);
    w->uploads++;
    w->looked = false;
    w->refused = status == 401 || status == 429 || status == 503;
}

static void answer(struct stream *s, struct lks_http_response *out, struct lks_buf *body)
{
    const char *text = bodies[next_byte(s) % LKS_COUNT(bodies)];
    int status = statuses[next_byte(s) % LKS_COUNT(statuses)];
    *out = (struct lks_http_response){.status = status,
                                      .head = lks_str_from(heads[next_byte(s) % LKS_COUNT(heads)])};
    lks_buf_truncate(body, 0);
    if (text[0] != '*') {
        lks_buf_add(body, lks_str_from(text));
    } else {
        size_t len = next_byte(s) * (size_t)4, most = (size_t)(s->end - s->at);
        len = len < most ? len : most;
        lks_buf_add(body, (struct lks_str){(const char *)s->at, len});
        s->at += len;
    }
    out->body = lks_buf_view(body);
}

static void check_request(const struct lks_http_request *r)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_http_request_check(r, &err) == LKS_OK);
    LKS_ASSERT(r->path.ptr[0] == '/' && (r->path.len < 2 || r->path.ptr[1] != '/'));
}

/* What is saved reads back to what was saved, and has no secret in it. */
static void check_saved(const struct lks_bmc_driver *driver, const void *value, void *other)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf once = LKS_BUF(LKS_CONVERSATION_SAVED_MAX);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf twice = LKS_BUF(LKS_CONVERSATION_SAVED_MAX);
    struct lks_err err = {0};
    driver->update->save(value, &once);
    LKS_ASSERT(once.failed == LKS_OK);
    LKS_ASSERT(lks_str_find(lks_buf_view(&once), LKS_STR(PASSWORD)) < 0);
    LKS_ASSERT(other != NULL);
    memcpy(other, value, driver->update->size);
    LKS_ASSERT(driver->update->load(other, lks_buf_view(&once), &err) == LKS_OK);
    driver->update->save(other, &twice);
    LKS_ASSERT(lks_str_eq(lks_buf_view(&once), lks_buf_view(&twice)));
}

static void converse(const struct lks_bmc_driver *driver, const struct lks_conversation_ops *ops,
                     void *value, void *other, struct stream *s)
{
    LKS_CLEANUP(lks_conversation_talk_fini) struct lks_talk talk = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf body = LKS_BUF(LKS_HTTP_RESPONSE_MAX);
    struct witness w = {0};
    lks_ms now = BEGIN;
    lks_conversation_talk_init(&talk);
    for (unsigned i = 0; i < EXCHANGES_MAX; i++) {
        lks_conversation_next(ops, value, now, &talk);
        if (talk.checkpoint && ops->save != NULL)
            check_saved(driver, value, other);
        if (talk.kind == LKS_TALK_DONE || talk.kind == LKS_TALK_FAIL)
            return;
        if (talk.kind == LKS_TALK_WAIT) {
            LKS_ASSERT(talk.until > now);
            now = talk.until;
            continue;
        }
        struct lks_http_response response;
        check_request(&talk.request);
        bool over = s->at >= s->end;
        answer(s, &response, &body);
        bool silent = over || response.status == 0;
        watch(&w, &talk.request, silent ? 0 : response.status);
        now += silent ? 60 * LKS_SECOND : 10;
        lks_conversation_feed(ops, value, now, silent ? NULL : &response);
    }
    LKS_ASSERT(false); /* it does not end */
}

static void try_update(const struct lks_bmc_driver *driver, uint8_t how, struct stream *s)
{
    struct lks_err err = {0};
    struct lks_bmc_secret secret = {.user = "admin", .password = PASSWORD};
    struct lks_bmc_status status;
    const struct lks_bmc_intent intent = {
        .act = (enum lks_bmc_act)(how % LKS_BMC_ACT_COUNT),
        .component = LKS_STR("bmc"),
        .version = LKS_STR("2.0"),
        .image = {.digest = "sha256:00", .length = 10},
        .image_size = 10,
        .image_name = LKS_STR("image.bin"),
        .pull = LKS_STR("https://depot.example/image.bin"),
        .deadline = BEGIN + 3600 * LKS_SECOND,
    };
    void *value = calloc(1, driver->update->size), *other = calloc(1, driver->update->size);
    LKS_ASSERT(value != NULL && other != NULL);
    if (driver->update_begin(value, lks_test_facts(), &secret, &intent, &err) == LKS_OK) {
        converse(driver, driver->update, value, other, s);
        driver->update_status(value, &status);
        LKS_ASSERT(status.percent <= 100 && status.phase != NULL);
        LKS_ASSERT(lks_str_find(status.text, LKS_STR(PASSWORD)) < 0);
        for (size_t i = 0; i < status.text.len; i++)
            LKS_ASSERT((unsigned char)status.text.ptr[i] >= ' ');
    }
    free(value);
    free(other);
}

static void try_read(const struct lks_bmc_driver *driver, struct stream *s)
{
    LKS_CLEANUP(lks_bmc_inventory_fini) struct lks_bmc_inventory inventory = {0};
    struct lks_bmc_secret secret = {.user = "admin", .password = PASSWORD};
    void *value = calloc(1, driver->read->size);
    LKS_ASSERT(value != NULL);
    lks_bmc_inventory_init(&inventory);
    driver->read_begin(value, lks_test_facts(), &secret, BEGIN + 3600 * LKS_SECOND, &inventory);
    converse(driver, driver->read, value, NULL, s);
    LKS_ASSERT(inventory.count <= LKS_BMC_ITEMS_MAX && inventory.missing <= inventory.count);
    free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream s = {data, data + size};
    uint8_t how = next_byte(&s);
    const struct lks_bmc_driver *driver = (how & 0x80) != 0 ? &lks_bmc_nvos : &lks_bmc_redfish;
    if ((how & 0x40) != 0)
        try_read(driver, &s);
    else
        try_update(driver, how & 0x3f, &s);
    return 0;
}
