#include "tests/updates.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum { CLASS = 10, AGENT = 8 };

struct lks_test_letter {
    lks_ms at;
    bool to_device;
    struct lks_buf bytes;
};

/* ---- the device ---- */

static void set_text(struct lks_pldm_string *s, const char *text)
{
    *s = (struct lks_pldm_string){LKS_PLDM_STRING_ASCII, lks_str_from(text)};
}

static void copy(struct lks_buf *to, const struct lks_buf *from)
{
    lks_buf_truncate(to, 0);
    lks_buf_add(to, lks_buf_view(from));
}

static void begin(void *ctx, const struct lks_fd_update *u)
{
    struct lks_test_device *d = ctx;
    d->parts[u->component].begun++;
    lks_buf_truncate(&d->parts[u->component].loading, 0);
}

static uint8_t write_piece(void *ctx, const struct lks_fd_update *u, uint32_t offset,
                           struct lks_str bytes)
{
    struct lks_test_device *d = ctx;
    struct lks_test_part *p = &d->parts[u->component];
    d->out_of_order = d->out_of_order || offset != p->loading.len;
    if (p->write_result != 0 && offset >= p->write_fails_at)
        return p->write_result;
    lks_buf_add(&p->loading, bytes);
    return LKS_PLDM_RESULT_OK;
}

static uint32_t sum_of(struct lks_str bytes)
{
    return (uint32_t)crc32_z(0, (const unsigned char *)bytes.ptr, bytes.len);
}

static struct lks_fd_result verify(void *ctx, const struct lks_fd_update *u)
{
    struct lks_test_device *d = ctx;
    struct lks_test_part *p = &d->parts[u->component];
    struct lks_str all = lks_buf_view(&p->loading);
    uint32_t sum = 0;
    bool good = all.len == u->size && all.len >= sizeof(sum);
    if (good) {
        memcpy(&sum, all.ptr + all.len - sizeof(sum), sizeof(sum));
        good = sum == sum_of((struct lks_str){all.ptr, all.len - sizeof(sum)});
    }
    return (struct lks_fd_result){.result = good ? p->verify_result : LKS_PLDM_VERIFY_FAILED,
                                  .takes = d->verify_takes};
}

static struct lks_fd_result apply(void *ctx, const struct lks_fd_update *u)
{
    struct lks_test_device *d = ctx;
    struct lks_test_part *p = &d->parts[u->component];
    uint8_t result = p->apply_result;
    if (result <= LKS_PLDM_APPLY_OK_OTHER_METHOD) {
        p->applied++;
        copy(&p->pending, &p->loading);
        (void)snprintf(p->pending_version, sizeof(p->pending_version), "%" LKS_STR_FMT,
                       LKS_STR_ARG(u->version.bytes));
        set_text(&d->entries[u->component].pending, p->pending_version);
        d->entries[u->component].pending_stamp = u->stamp;
    }
    return (struct lks_fd_result){
        .result = result,
        .takes = d->apply_takes,
        .methods = result == LKS_PLDM_APPLY_OK_OTHER_METHOD ? LKS_PLDM_ACTIVATES_BY_AC_CYCLE : 0};
}

static struct lks_fd_activation activate(void *ctx, bool self_contained)
{
    struct lks_test_device *d = ctx;
    (void)self_contained;
    d->activations++;
    return d->activation;
}

static void activated(void *ctx)
{
    struct lks_test_device *d = ctx;
    d->activated++;
    for (size_t i = 0; i < d->options.component_count; i++) {
        struct lks_test_part *p = &d->parts[i];
        if (p->pending_version[0] == '\0')
            continue;
        copy(&p->active, &p->pending);
        memcpy(p->active_version, p->pending_version, sizeof(p->active_version));
        p->pending_version[0] = '\0';
        set_text(&d->entries[i].active, p->active_version);
        set_text(&d->entries[i].pending, "");
    }
}

static bool cancel(void *ctx, const struct lks_fd_update *u)
{
    struct lks_test_device *d = ctx;
    d->cancels += u == NULL;
    return false;
}

static void package_data(void *ctx, struct lks_str bytes)
{
    struct lks_test_device *d = ctx;
    lks_buf_add(&d->package_data, bytes);
}

static const struct lks_fd_ops ops = {
    .begin = begin,
    .write = write_piece,
    .verify = verify,
    .apply = apply,
    .activate = activate,
    .activated = activated,
    .cancel = cancel,
};

void lks_test_device_init(struct lks_test_device *d, size_t count)
{
    *d = (struct lks_test_device){0};
    for (size_t i = 0; i < count; i++) {
        struct lks_test_part *p = &d->parts[i];
        lks_buf_init(&p->loading, LKS_TEST_IMAGE_MAX);
        lks_buf_init(&p->pending, LKS_TEST_IMAGE_MAX);
        lks_buf_init(&p->active, LKS_TEST_IMAGE_MAX);
        memcpy(p->active_version, "1", 2);
        d->entries[i] = (struct lks_pldm_entry){
            .class = CLASS,
            .id = (uint16_t)(i + 1),
            .index = (uint8_t)(i + 3),
            .active_stamp = 1,
            .active_date = {'2', '0', '2', '6', '0', '1', '0', '1'},
            .methods = LKS_PLDM_ACTIVATES_SELF_CONTAINED | LKS_PLDM_ACTIVATES_BY_REBOOT,
        };
        set_text(&d->entries[i].active, p->active_version);
        set_text(&d->entries[i].pending, "");
    }
    lks_buf_init(&d->package_data, LKS_TEST_IMAGE_MAX);
    d->options = (struct lks_fd_options){
        .descriptors = LKS_STR_C("\x00\x00\x02\x00\xde\x10"),
        .descriptor_count = 1,
        .components = d->entries,
        .component_count = count,
        .max_transfer = 256,
        .package_data = package_data,
        .ops = &ops,
        .ctx = d,
    };
}

void lks_test_device_begin(struct lks_test_device *d)
{
    struct lks_err err = {0};
    LKS_ASSERT(lks_fd_new(&d->options, &d->fd, &err) == LKS_OK);
}

void lks_test_device_fini(struct lks_test_device *d)
{
    lks_fd_free(d->fd);
    for (size_t i = 0; i < LKS_TEST_PARTS; i++) {
        lks_buf_fini(&d->parts[i].loading);
        lks_buf_fini(&d->parts[i].pending);
        lks_buf_fini(&d->parts[i].active);
    }
    lks_buf_fini(&d->package_data);
    *d = (struct lks_test_device){0};
}

/* ---- the images ---- */

static bool read_image(void *ctx, size_t component, uint32_t offset, uint32_t length, uint8_t *out)
{
    struct lks_test_images *images = ctx;
    const struct lks_buf *b = &images->bytes[component];
    LKS_ASSERT(offset <= b->len && length <= b->len - offset);
    if (images->unreadable)
        return false;
    memcpy(out, b->ptr + offset, length);
    return true;
}

void lks_test_images_init(struct lks_test_images *images, size_t count, uint64_t seed)
{
    struct lks_rng rng = {seed};
    *images = (struct lks_test_images){0};
    for (size_t i = 0; i < count; i++) {
        struct lks_buf *b = &images->bytes[i];
        size_t len = 1 + lks_rng_below(&rng, 2000);
        lks_buf_init(b, LKS_TEST_IMAGE_MAX);
        for (size_t k = 0; k < len; k++)
            lks_buf_addc(b, (char)(lks_rng_next(&rng) & 0xff));
        uint32_t sum = sum_of(lks_buf_view(b));
        lks_buf_add(b, (struct lks_str){(const char *)&sum, sizeof(sum)});
        images->components[i] = (struct lks_ua_component){
            .class = CLASS,
            .id = (uint16_t)(i + 1),
            .stamp = 2,
            .size = (uint32_t)b->len,
        };
        set_text(&images->components[i].version, "2");
    }
}

void lks_test_images_fini(struct lks_test_images *images)
{
    for (size_t i = 0; i < LKS_TEST_PARTS; i++)
        lks_buf_fini(&images->bytes[i]);
}

struct lks_ua_options lks_test_images_options(struct lks_test_images *images, size_t count)
{
    struct lks_ua_options o = {
        .components = images->components,
        .component_count = count,
        .read = read_image,
        .ctx = images,
    };
    set_text(&o.version, "set 2");
    return o;
}

/* ---- the line ---- */

void lks_test_line_fini(struct lks_test_line *line)
{
    for (size_t i = 0; i < line->count; i++)
        lks_buf_fini(&line->letters[i].bytes);
    free(line->letters);
    line->letters = NULL;
    line->count = line->capacity = 0;
}

static void post_one(struct lks_test_line *line, bool to_device, struct lks_str bytes)
{
    lks_ms delay = lks_rng_percent(&line->rng, line->delayed)
                       ? lks_rng_below(&line->rng, line->delay_max + 1)
                       : 1;
    if (line->count == line->capacity) {
        size_t more = line->capacity == 0 ? 16 : 2 * line->capacity;
        line->letters = realloc(line->letters, more * sizeof(*line->letters));
        LKS_ASSERT(line->letters != NULL);
        line->capacity = more;
    }
    struct lks_test_letter *letter = &line->letters[line->count++];
    *letter = (struct lks_test_letter){.at = line->now + delay, .to_device = to_device};
    lks_buf_init(&letter->bytes, LKS_PLDM_MESSAGE_MAX);
    lks_buf_add(&letter->bytes, bytes);
}

/* Whatever is said to them, both speak well: an answer that can be read, or one that says no. */
static void check_speech(struct lks_str bytes)
{
    struct lks_pldm_message m;
    LKS_ASSERT(lks_pldm_message_head(bytes, &m));
    LKS_ASSERT(lks_pldm_message_decode(bytes, &m) == LKS_PLDM_CC_SUCCESS ||
               (m.answer && bytes.len > LKS_PLDM_HEAD && bytes.ptr[LKS_PLDM_HEAD] != 0));
}

static void post(struct lks_test_line *line, bool to_device, struct lks_str bytes)
{
    line->carried++;
    check_speech(bytes);
    if (lks_rng_percent(&line->rng, line->lost))
        return;
    post_one(line, to_device, bytes);
    if (lks_rng_percent(&line->rng, line->doubled))
        post_one(line, to_device, bytes);
}

/* The letter that arrives first; of several the one sent first. */
static size_t first_letter(const struct lks_test_line *line)
{
    size_t first = 0;
    for (size_t i = 1; i < line->count; i++) {
        if (line->letters[i].at < line->letters[first].at)
            first = i;
    }
    return first;
}

static struct lks_test_letter take(struct lks_test_line *line, size_t i)
{
    struct lks_test_letter letter = line->letters[i];
    memmove(&line->letters[i], &line->letters[i + 1],
            (line->count - i - 1) * sizeof(*line->letters));
    line->count--;
    return letter;
}

void lks_test_line_inject(struct lks_test_line *line, bool to_device, struct lks_str bytes)
{
    post_one(line, to_device, bytes);
}

void lks_test_line_drop(struct lks_test_line *line)
{
    if (line->count == 0)
        return;
    struct lks_test_letter letter = take(line, first_letter(line));
    lks_buf_fini(&letter.bytes);
}

void lks_test_line_damage(struct lks_test_line *line, size_t at, uint8_t mask)
{
    if (line->count == 0)
        return;
    struct lks_buf *bytes = &line->letters[first_letter(line)].bytes;
    if (at < bytes->len)
        bytes->ptr[at] = (char)((uint8_t)bytes->ptr[at] ^ mask);
}

/* Answer in the device's stead. */
static bool refuse(struct lks_test_line *line, const struct lks_test_letter *letter)
{
    struct lks_pldm_message m;
    if (line->refuse_times == 0 || !letter->to_device ||
        !lks_pldm_message_head(lks_buf_view(&letter->bytes), &m) || m.answer ||
        m.command != line->refuse_command)
        return false;
    const char answer[] = {(char)m.instance, (char)(m.command >> 8), (char)m.command,
                           (char)line->refuse_code};
    line->refuse_times--;
    line->refused++;
    post_one(line, false, (struct lks_str){answer, sizeof(answer)});
    return true;
}

static void deliver(struct lks_test_line *line, size_t i, struct lks_ua *ua, struct lks_fd *fd)
{
    struct lks_test_letter letter = take(line, i);
    if (refuse(line, &letter)) {
        lks_buf_fini(&letter.bytes);
        return;
    }
    if (letter.to_device)
        lks_fd_receive(fd, line->now, AGENT, lks_buf_view(&letter.bytes));
    else if (ua != NULL)
        lks_ua_receive(ua, line->now, lks_buf_view(&letter.bytes));
    lks_buf_fini(&letter.bytes);
}

static void collect(struct lks_test_line *line, struct lks_ua *ua, struct lks_fd *fd)
{
    struct lks_str bytes;
    uint8_t peer;
    while (ua != NULL && lks_ua_send(ua, &bytes))
        post(line, true, bytes);
    while (lks_fd_send(fd, &peer, &bytes))
        post(line, false, bytes);
}

bool lks_test_line_step(struct lks_test_line *line, struct lks_ua *ua, struct lks_fd *fd)
{
    collect(line, ua, fd);
    size_t i = first_letter(line);
    lks_ms mail = line->count > 0 ? line->letters[i].at : LKS_UA_NEVER;
    lks_ms agent = ua != NULL ? lks_ua_next(ua) : LKS_UA_NEVER, device = lks_fd_next(fd);
    lks_ms next = agent < device ? agent : device;
    next = mail < next ? mail : next;
    if (next == LKS_UA_NEVER)
        return false;
    line->now = next > line->now ? next : line->now;
    if (mail == next)
        deliver(line, i, ua, fd);
    else if (agent == next)
        lks_ua_tick(ua, line->now);
    else
        lks_fd_tick(fd, line->now);
    return true;
}

bool lks_test_line_run(struct lks_test_line *line, struct lks_ua *ua, struct lks_fd *fd,
                       unsigned steps)
{
    struct lks_ua_outcome out = {0};
    for (unsigned i = 0; i < steps; i++) {
        collect(line, ua, fd);
        lks_ua_outcome(ua, &out);
        if (out.end != LKS_UA_RUNNING && line->count == 0)
            return true;
        if (!lks_test_line_step(line, ua, fd))
            return out.end != LKS_UA_RUNNING;
    }
    return false;
}
