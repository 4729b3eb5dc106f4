/*
 * PLDM messages from anyone. The first byte chooses:
 *
 *   - even: the rest is a message. What can be read writes back to the same bytes.
 *   - odd: the rest is a stream of things that happen to an agent and a device in the middle of an
 *     update: time, losses, damage, commands from elsewhere, kills, noise. Both go on to speak well
 *     (tests/updates.c), the device writes in order, and the agent ends; where nothing was forged,
 *     what it calls done is there.
 */
#include "tests/updates.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PARTS = 2, EVENTS_MAX = 400, STEPS = 100000, RAW_MAX = 64, BUFFER_MAX = 1 << 20 };

static void read_and_write(struct lks_str bytes)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(BUFFER_MAX);
    struct lks_pldm_message m = {.command = 0xffff};
    if (lks_pldm_message_decode(bytes, &m) != LKS_PLDM_CC_SUCCESS) {
        LKS_ASSERT(m.command == 0xffff);
        return;
    }
    lks_pldm_message_encode(&m, &out);
    LKS_ASSERT(out.failed == LKS_OK && out.len >= LKS_PLDM_HEAD);
    /* The reserved bit is not kept, nor is what follows a code that says no. */
    out.ptr[0] = (char)(out.ptr[0] | (bytes.ptr[0] & 0x20));
    struct lks_str all =
        m.code == LKS_PLDM_CC_SUCCESS ? bytes : (struct lks_str){bytes.ptr, out.len};
    /* A field that later versions added may be there with the value of its absence. */
    bool padded = m.command == LKS_PLDM_REQUEST_UPDATE && m.answer && all.len == out.len + 2;
    LKS_ASSERT(padded || lks_str_eq(lks_buf_view(&out), all));
    LKS_ASSERT(lks_pldm_message_command_text(m.command) != NULL &&
               lks_pldm_message_code_text(m.code) != NULL);
}

struct stage {
    struct lks_test_device d;
    struct lks_test_images images;
    struct lks_test_line line;
    struct lks_ua_options o;
    struct lks_ua *ua;
    bool forged;
};

static uint8_t next(const uint8_t **data, size_t *size)
{
    uint8_t byte = *size > 0 ? **data : 0;
    *data += *size > 0;
    *size -= *size > 0;
    return byte;
}

static struct lks_str next_bytes(const uint8_t **data, size_t *size)
{
    size_t len = next(data, size) % RAW_MAX;
    len = len < *size ? len : *size;
    struct lks_str bytes = {(const char *)*data, len};
    *data += len;
    *size -= len;
    return bytes;
}

/* A well-formed request without anything in its fields. */
static void inject_command(struct stage *s, uint8_t command, uint8_t instance)
{
    const char bytes[LKS_PLDM_HEAD] = {(char)(0x80 | instance % LKS_PLDM_INSTANCES), 5,
                                       (char)command};
    lks_test_line_inject(&s->line, true, (struct lks_str){bytes, sizeof(bytes)});
}

static void restart(struct stage *s)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf saved = LKS_BUF(LKS_UA_SAVED_MAX);
    struct lks_err err = {0};
    lks_ua_save(s->ua, &saved);
    lks_ua_free(s->ua);
    LKS_ASSERT(lks_ua_load(&s->o, s->line.now, lks_buf_view(&saved), &s->ua, &err) == LKS_OK);
}

/* What was saved may be anything, too. */
static void restart_from(struct stage *s, struct lks_str saved)
{
    struct lks_err err = {0};
    struct lks_ua *ua = NULL;
    if (lks_ua_load(&s->o, s->line.now, saved, &ua, &err) != LKS_OK)
        return;
    lks_ua_free(s->ua);
    s->ua = ua;
    s->forged = true;
}

static void happen(struct stage *s, uint8_t event, const uint8_t **data, size_t *size)
{
    uint8_t a = next(data, size);
    switch (event % 10) {
    case 0:
        lks_test_line_drop(&s->line);
        break;
    case 1:
        s->forged = true;
        lks_test_line_damage(&s->line, a, next(data, size));
        break;
    case 2:
        s->forged = true;
        lks_test_line_inject(&s->line, (a & 1) != 0, next_bytes(data, size));
        break;
    case 3:
        s->line.now += (lks_ms)a * a;
        break;
    case 4:
        s->forged = true;
        inject_command(s, a, next(data, size));
        break;
    case 5:
        restart(s);
        break;
    case 6:
        lks_ua_cancel(s->ua, s->line.now);
        break;
    case 7:
        s->forged = true;
        lks_fd_reset(s->d.fd);
        break;
    case 8:
        restart_from(s, next_bytes(data, size));
        break;
    default:
        for (unsigned i = 0; i < a % 16U; i++)
            (void)lks_test_line_step(&s->line, s->ua, s->d.fd);
        break;
    }
    (void)lks_test_line_step(&s->line, s->ua, s->d.fd);
}

static void check_end(const struct stage *s)
{
    struct lks_ua_outcome out;
    lks_ua_outcome(s->ua, &out);
    LKS_ASSERT(out.end != LKS_UA_RUNNING && out.percent <= 100);
    LKS_ASSERT(!s->d.out_of_order);
    for (size_t i = 0; i < PARTS; i++) {
        const struct lks_test_part *p = &s->d.parts[i];
        LKS_ASSERT(p->loading.len <= s->images.bytes[i].len || s->forged);
        if (out.end == LKS_UA_DONE && !s->forged)
            LKS_ASSERT(lks_str_eq(lks_buf_view(&p->active), lks_buf_view(&s->images.bytes[i])));
        LKS_ASSERT(p->applied <= 1 || s->forged);
    }
}

static void live(const uint8_t *data, size_t size)
{
    struct stage s = {0};
    struct lks_err err = {0};
    uint8_t options = next(&data, &size);
    lks_test_device_init(&s.d, PARTS);
    lks_test_images_init(&s.images, PARTS, 1);
    s.o = lks_test_images_options(&s.images, PARTS);
    s.d.options.exact_last_piece = (options & 1) != 0;
    s.d.options.wants_package_data = (options & 2) != 0;
    s.o.package_data = (options & 4) != 0 ? LKS_STR("package data") : LKS_STR("");
    s.d.options.metadata = (options & 8) != 0 ? LKS_STR("metadata") : LKS_STR("");
    s.d.options.compare = (options & 16) != 0;
    s.d.verify_takes = (options & 32) != 0 ? 70000 : 0;
    s.o.continue_after_failure = (options & 64) != 0;
    lks_test_device_begin(&s.d);
    LKS_ASSERT(lks_ua_new(&s.o, 0, &s.ua, &err) == LKS_OK);
    for (unsigned i = 0; i < EVENTS_MAX && size > 0; i++)
        happen(&s, next(&data, &size), &data, &size);
    LKS_ASSERT(lks_test_line_run(&s.line, s.ua, s.d.fd, STEPS));
    check_end(&s);
    lks_ua_free(s.ua);
    lks_test_line_fini(&s.line);
    lks_test_images_fini(&s.images);
    lks_test_device_fini(&s.d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 2 == 0)
        read_and_write((struct lks_str){(const char *)data + 1, size - 1});
    else
        live(data + 1, size - 1);
    return 0;
}
