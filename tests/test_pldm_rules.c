/* Rules of the standard one by one: which command in which state, timers, who may ask what, which
 * pieces of an image can be had. */
#include "tests/updates.h"

#include "pldm/bytes.h"
#include "tests/test.h"

enum { STEPS = 100000, AGENT = 8, STRANGER = 9, BUFFER_MAX = 1 << 20, IMAGE = 100 };

struct scene {
    struct lks_test_device d;
    struct lks_test_images images;
    struct lks_test_line line;
    struct lks_ua_options o;
    struct lks_ua *ua;
};

static void scene_init(struct scene *s)
{
    *s = (struct scene){0};
    lks_test_device_init(&s->d, 2);
    lks_test_images_init(&s->images, 2, 3);
    s->o = lks_test_images_options(&s->images, 2);
    s->d.verify_takes = s->d.apply_takes = s->d.activation.takes = 30 * LKS_SECOND;
}

static void scene_fini(struct scene *s)
{
    lks_ua_free(s->ua);
    lks_test_line_fini(&s->line);
    lks_test_images_fini(&s->images);
    lks_test_device_fini(&s->d);
}

/* A device that its agent has brought into a state, and then left. */
static void bring_to(struct scene *s, enum lks_pldm_state state)
{
    struct lks_err err = {0};
    scene_init(s);
    lks_test_device_begin(&s->d);
    LKS_ASSERT(lks_ua_new(&s->o, 0, &s->ua, &err) == LKS_OK);
    for (unsigned i = 0; i < STEPS && lks_fd_state(s->d.fd) != state; i++)
        (void)lks_test_line_step(&s->line, s->ua, s->d.fd);
    CHECK_INT(lks_fd_state(s->d.fd), state);
    lks_test_line_fini(&s->line);
}

/* Send the device a message and take its answer: the completion code, or -1. */
static int ask_from(struct scene *s, uint8_t peer, const struct lks_pldm_message *m)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(BUFFER_MAX);
    struct lks_str bytes;
    uint8_t to = 0;
    int code = -1;
    lks_pldm_message_encode(m, &out);
    while (lks_fd_send(s->d.fd, &to, &bytes))
        continue;
    lks_fd_receive(s->d.fd, s->line.now, peer, lks_buf_view(&out));
    if (lks_fd_send(s->d.fd, &to, &bytes) && bytes.len > LKS_PLDM_HEAD &&
        ((uint8_t)bytes.ptr[0] & 0xe0) == 0) {
        CHECK_INT(to, peer);
        CHECK_INT((uint8_t)bytes.ptr[0], m->instance);
        CHECK_INT((uint8_t)bytes.ptr[2], m->command & 0xff);
        code = (uint8_t)bytes.ptr[3];
    }
    return code;
}

/* Requests that would be fine in the right state. */
static struct lks_pldm_message request(uint16_t command)
{
    struct lks_pldm_message m = {.command = command, .instance = 30};
    if (command == LKS_PLDM_REQUEST_UPDATE) {
        m.body.request_update.max_transfer = LKS_PLDM_BASELINE;
        m.body.request_update.components = m.body.request_update.max_outstanding = 1;
    } else if (command == LKS_PLDM_PASS_COMPONENT_TABLE) {
        m.body.pass_component.flag = LKS_PLDM_PART_ALL;
        m.body.pass_component.class = 10;
        m.body.pass_component.id = 1;
        m.body.pass_component.index = 3;
    } else if (command == LKS_PLDM_UPDATE_COMPONENT) {
        m.body.update_component.class = 10;
        m.body.update_component.id = 1;
        m.body.update_component.index = 3;
        m.body.update_component.size = IMAGE;
    } else if (command == LKS_PLDM_SET_TID) {
        m.body.tid = 5;
    } else if (command == LKS_PLDM_GET_VERSION) {
        m.body.version_ask.type = 5;
        m.body.version_ask.operation = LKS_PLDM_FIRST_PART;
    }
    return m;
}

/* The code of each command in each state: IDLE, LEARN, READY, DOWNLOAD, VERIFY, APPLY, ACTIVATE.
 * (In READY nothing is applied yet, so there is nothing to activate.) */
static const struct {
    uint16_t command;
    uint8_t codes[LKS_PLDM_STATES];
} rules[] = {
    {LKS_PLDM_SET_TID, {0, 0, 0, 0, 0, 0, 0}},
    {LKS_PLDM_GET_TID, {0, 0, 0, 0, 0, 0, 0}},
    {LKS_PLDM_GET_VERSION, {0, 0, 0, 0, 0, 0, 0}},
    {LKS_PLDM_GET_TYPES, {0, 0, 0, 0, 0, 0, 0}},
    {LKS_PLDM_GET_COMMANDS, {0, 0, 0, 0, 0, 0, 0}},
    {LKS_PLDM_QUERY_DEVICE_IDENTIFIERS, {0, 0, 0, 0, 0, 0, 0}},
    {LKS_PLDM_GET_FIRMWARE_PARAMETERS, {0, 0, 0, 0, 0, 0, 0}},
    {LKS_PLDM_REQUEST_UPDATE, {0, 0x81, 0x81, 0x81, 0x81, 0x81, 0x81}},
    {LKS_PLDM_GET_DEVICE_METADATA, {0x80, 0x8d, 0x84, 0x84, 0x84, 0x84, 0x84}},
    {LKS_PLDM_PASS_COMPONENT_TABLE, {0x80, 0, 0x84, 0x84, 0x84, 0x84, 0x84}},
    {LKS_PLDM_UPDATE_COMPONENT, {0x80, 0x84, 0, 0x84, 0x84, 0x84, 0x84}},
    {LKS_PLDM_ACTIVATE_FIRMWARE, {0x80, 0x84, 0x85, 0x84, 0x84, 0x84, 0x84}},
    {LKS_PLDM_GET_STATUS, {0, 0, 0, 0, 0, 0, 0}},
    {LKS_PLDM_CANCEL_UPDATE_COMPONENT, {0x80, 0x80, 0x80, 0, 0, 0, 0x80}},
    {LKS_PLDM_CANCEL_UPDATE, {0x80, 0, 0, 0, 0, 0, 0x86}},
    {LKS_PLDM_QUERY_DOWNSTREAM_DEVICES, {5, 5, 5, 5, 5, 5, 5}},
    {LKS_PLDM_QUERY_DOWNSTREAM_IDENTIFIERS, {5, 5, 5, 5, 5, 5, 5}},
    {LKS_PLDM_ACTIVATE_PENDING_SET, {5, 5, 5, 5, 5, 5, 5}},
    {LKS_PLDM_REQUEST_FIRMWARE_DATA, {5, 5, 5, 5, 5, 5, 5}},
};

static void test_states(void)
{
    for (size_t i = 0; i < LKS_COUNT(rules); i++) {
        for (int state = 0; state < LKS_PLDM_STATES; state++) {
            struct scene s;
            struct lks_pldm_message m = request(rules[i].command);
            lks_test_case("%s when %s", lks_pldm_message_command_text(rules[i].command),
                          lks_pldm_message_state_text((uint8_t)state));
            bring_to(&s, (enum lks_pldm_state)state);
            CHECK_INT(ask_from(&s, AGENT, &m), rules[i].codes[state]);
            scene_fini(&s);
        }
    }
}

/* In the middle of an update some questions are answered to anyone, the rest is the agent's. */
static void test_strangers(void)
{
    static const struct {
        uint16_t command;
        uint8_t code;
    } rows[] = {
        {LKS_PLDM_GET_STATUS, 0},
        {LKS_PLDM_QUERY_DEVICE_IDENTIFIERS, 0},
        {LKS_PLDM_GET_FIRMWARE_PARAMETERS, 0},
        {LKS_PLDM_REQUEST_UPDATE, LKS_PLDM_CC_NOT_READY},
        {LKS_PLDM_UPDATE_COMPONENT, LKS_PLDM_CC_NOT_READY},
        {LKS_PLDM_ACTIVATE_FIRMWARE, LKS_PLDM_CC_NOT_READY},
        {LKS_PLDM_CANCEL_UPDATE_COMPONENT, LKS_PLDM_CC_NOT_READY},
        {LKS_PLDM_CANCEL_UPDATE, 0},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct scene s;
        struct lks_pldm_message m = request(rows[i].command);
        lks_test_case("%s", lks_pldm_message_command_text(rows[i].command));
        bring_to(&s, LKS_PLDM_DOWNLOAD);
        CHECK_INT(ask_from(&s, STRANGER, &m), rows[i].code);
        scene_fini(&s);
    }
}

/* Requests with a value that is not allowed. */
static void test_values(void)
{
    struct scene s;
    struct lks_pldm_message m = request(LKS_PLDM_REQUEST_UPDATE);
    bring_to(&s, LKS_PLDM_IDLE);
    m.body.request_update.max_transfer = LKS_PLDM_BASELINE - 1;
    CHECK_INT(ask_from(&s, AGENT, &m), LKS_PLDM_CC_INVALID_DATA);
    m = request(LKS_PLDM_REQUEST_UPDATE);
    m.body.request_update.max_outstanding = 0;
    CHECK_INT(ask_from(&s, AGENT, &m), LKS_PLDM_CC_INVALID_DATA);
    m = request(LKS_PLDM_SET_TID);
    m.body.tid = 0xff;
    CHECK_INT(ask_from(&s, AGENT, &m), LKS_PLDM_CC_INVALID_DATA);
    m = request(LKS_PLDM_GET_VERSION);
    m.body.version_ask.type = 9;
    CHECK_INT(ask_from(&s, AGENT, &m), 0x83);
    m = request(LKS_PLDM_REQUEST_UPDATE);
    CHECK_INT(ask_from(&s, AGENT, &m), 0);
    m = request(LKS_PLDM_PASS_COMPONENT_TABLE);
    m.body.pass_component.flag = LKS_PLDM_PART_END; /* of a table that was not begun */
    CHECK_INT(ask_from(&s, AGENT, &m), LKS_PLDM_CC_INVALID_DATA);
    m = request(LKS_PLDM_PASS_COMPONENT_TABLE);
    CHECK_INT(ask_from(&s, AGENT, &m), 0);
    m = request(LKS_PLDM_UPDATE_COMPONENT);
    m.body.update_component.size = 0;
    CHECK_INT(ask_from(&s, AGENT, &m), LKS_PLDM_CC_INVALID_DATA);
    scene_fini(&s);
}

/* FD_T1: an agent that says nothing more. FD_T2: the question again, with the same bytes. */
static void test_device_timers(void)
{
    static const uint8_t reasons[LKS_PLDM_STATES] = {
        LKS_PLDM_BY_START,          LKS_PLDM_BY_LEARN_TIMEOUT,
        LKS_PLDM_BY_READY_TIMEOUT,  LKS_PLDM_BY_DOWNLOAD_TIMEOUT,
        LKS_PLDM_BY_VERIFY_TIMEOUT, LKS_PLDM_BY_APPLY_TIMEOUT,
        LKS_PLDM_BY_ACTIVATION,
    };
    for (int state = 0; state < LKS_PLDM_STATES; state++) {
        struct scene s;
        struct lks_str bytes;
        uint8_t peer;
        unsigned said = 0;
        lks_test_case("silence when %s", lks_pldm_message_state_text((uint8_t)state));
        bring_to(&s, (enum lks_pldm_state)state);
        lks_ms start = s.line.now;
        for (unsigned i = 0; i < STEPS && lks_fd_next(s.d.fd) != LKS_FD_NEVER; i++) {
            s.line.now = lks_fd_next(s.d.fd);
            lks_fd_tick(s.d.fd, s.line.now);
            while (lks_fd_send(s.d.fd, &peer, &bytes))
                said++;
        }
        CHECK_INT(lks_fd_state(s.d.fd), LKS_PLDM_IDLE);
        struct lks_pldm_message m = request(LKS_PLDM_GET_STATUS);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(BUFFER_MAX);
        lks_pldm_message_encode(&m, &out);
        lks_fd_receive(s.d.fd, s.line.now, AGENT, lks_buf_view(&out));
        if (CHECK(lks_fd_send(s.d.fd, &peer, &bytes)) &&
            CHECK_INT(lks_pldm_message_decode(bytes, &m), LKS_PLDM_CC_SUCCESS))
            CHECK_INT(m.body.status.reason, reasons[state]);
        bool asks = state >= LKS_PLDM_DOWNLOAD && state <= LKS_PLDM_APPLY;
        CHECK(asks ? said > 100 : said <= 1);
        CHECK(s.line.now - start <= (120 + 30) * LKS_SECOND);
        scene_fini(&s);
    }
}

/* The same command twice is carried out once, and answered twice. */
static void test_repeated(void)
{
    struct scene s;
    struct lks_pldm_message m = request(LKS_PLDM_UPDATE_COMPONENT);
    bring_to(&s, LKS_PLDM_READY);
    CHECK_INT(ask_from(&s, AGENT, &m), 0);
    CHECK_INT(ask_from(&s, AGENT, &m), 0);
    CHECK_INT(s.d.parts[0].begun, 1);
    lks_test_case("an echo that comes when it would be carried out");
    struct lks_pldm_message cancel = request(LKS_PLDM_CANCEL_UPDATE_COMPONENT);
    cancel.instance = 28;
    CHECK_INT(ask_from(&s, AGENT, &cancel), 0);
    CHECK_INT(ask_from(&s, AGENT, &m), -1);
    CHECK_INT(s.d.parts[0].begun, 1);
    m.instance = 27;
    CHECK_INT(ask_from(&s, AGENT, &m), 0);
    CHECK_INT(s.d.parts[0].begun, 2);
    m.instance = 30;
    lks_test_case("with another instance it is another command");
    m.instance = 29;
    CHECK_INT(ask_from(&s, AGENT, &m), LKS_PLDM_CC_INVALID_STATE);
    lks_test_case("and after 6 s, too");
    m.instance = 30;
    s.line.now += 6 * LKS_SECOND;
    CHECK_INT(ask_from(&s, AGENT, &m), LKS_PLDM_CC_INVALID_STATE);
    scene_fini(&s);
}

/* What a device makes of answers that are not the data it asked for. */
static const struct {
    const char *name;
    uint8_t code;
    size_t data; /* bytes that come with SUCCESS */
    uint16_t then;
    lks_ms after;
} answers[] = {
    {"more than it asked for", 0, 300, LKS_PLDM_REQUEST_FIRMWARE_DATA, 1000},
    {"less than it asked for", 0, 31, LKS_PLDM_REQUEST_FIRMWARE_DATA, 1000},
    {"what it asked for", 0, 256, LKS_PLDM_REQUEST_FIRMWARE_DATA, 0},
    {"later", LKS_PLDM_CC_RETRY_DATA, 0, LKS_PLDM_REQUEST_FIRMWARE_DATA, 1000},
    {"not ready", LKS_PLDM_CC_NOT_READY, 0, LKS_PLDM_REQUEST_FIRMWARE_DATA, 1000},
    {"out of range", LKS_PLDM_CC_DATA_OUT_OF_RANGE, 0, LKS_PLDM_TRANSFER_COMPLETE, 0},
    {"not this length", LKS_PLDM_CC_INVALID_TRANSFER_LENGTH, 0, LKS_PLDM_TRANSFER_COMPLETE, 0},
    {"a cancel follows", LKS_PLDM_CC_CANCEL_PENDING, 0, 0, 0},
};

static void test_answers(void)
{
    for (size_t i = 0; i < LKS_COUNT(answers); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf answer = LKS_BUF(BUFFER_MAX);
        struct lks_str bytes = {0};
        struct scene s;
        uint8_t peer;
        struct lks_pldm_message m = {0};
        lks_test_case("%s", answers[i].name);
        bring_to(&s, LKS_PLDM_DOWNLOAD);
        while (lks_fd_send(s.d.fd, &peer, &bytes))
            CHECK(lks_pldm_message_head(bytes, &m));
        CHECK_INT(m.command, LKS_PLDM_REQUEST_FIRMWARE_DATA);
        lks_bytes_put_u8(&answer, m.instance);
        lks_buf_add(&answer, LKS_STR("\x05\x15"));
        lks_bytes_put_u8(&answer, answers[i].code);
        lks_buf_pad(&answer, 'x', (ptrdiff_t)answers[i].data);
        lks_fd_receive(s.d.fd, s.line.now, AGENT, lks_buf_view(&answer));
        lks_fd_tick(s.d.fd, s.line.now + answers[i].after);
        bool said = lks_fd_send(s.d.fd, &peer, &bytes);
        CHECK(said == (answers[i].then != 0));
        if (said && CHECK(lks_pldm_message_head(bytes, &m)))
            CHECK_INT(m.command, answers[i].then);
        CHECK_INT(lks_fd_offset(s.d.fd), answers[i].data == 256 ? 256 : 0);
        scene_fini(&s);
    }
}

/* Ask the agent as its device would: the code, and the data that comes with it. */
static int ask_agent(struct scene *s, uint8_t instance, uint16_t command, struct lks_str fields,
                     struct lks_str *data)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(BUFFER_MAX);
    struct lks_str bytes;
    lks_bytes_put_u8(&out, 0x80 | instance);
    lks_bytes_put_u8(&out, (uint8_t)(command >> 8));
    lks_bytes_put_u8(&out, (uint8_t)command);
    lks_buf_add(&out, fields);
    while (lks_ua_send(s->ua, &bytes))
        continue;
    lks_ua_receive(s->ua, s->line.now, lks_buf_view(&out));
    if (!lks_ua_send(s->ua, &bytes) || bytes.len <= LKS_PLDM_HEAD)
        return -1;
    *data = (struct lks_str){bytes.ptr + LKS_PLDM_HEAD + 1, bytes.len - LKS_PLDM_HEAD - 1};
    return (uint8_t)bytes.ptr[LKS_PLDM_HEAD];
}

/* Pieces of an image of 100 bytes, 64 at a time. */
static const struct {
    const char *name;
    uint32_t offset, length;
    uint8_t code;
} pieces[] = {
    {"from the start", 0, 64, 0},
    {"the least", 32, 32, 0},
    {"up to the end", 68, 32, 0},
    {"a short last piece", 96, 4, 0},
    {"a short last piece of one byte", 99, 1, 0},
    {"padded behind the end", 96, 32, 0},
    {"padded as far as it goes", 99, 33, 0},
    {"behind that", 99, 34, 0x82},
    {"from the end on", 100, 32, 0x82},
    {"far away", 0xffffffe0, 32, 0x82},
    {"where 32 bits overflow", 0xfffffff0, 64, 0x82},
    {"short in the middle", 0, 31, 0x83},
    {"short, and behind the end", 96, 5, 0x83},
    {"nothing", 0, 0, 0x83},
    {"too much", 0, 65, 0x83},
    {"far too much", 0, 0xffffffff, 0x83},
};

static void test_pieces(void)
{
    struct scene s;
    scene_init(&s);
    lks_buf_truncate(&s.images.bytes[0], IMAGE);
    s.images.components[0].size = IMAGE;
    s.o.max_transfer = 64;
    s.d.options.max_transfer = 64;
    struct lks_err err = {0};
    lks_test_device_begin(&s.d);
    LKS_ASSERT(lks_ua_new(&s.o, 0, &s.ua, &err) == LKS_OK);
    while (lks_fd_state(s.d.fd) != LKS_PLDM_DOWNLOAD)
        (void)lks_test_line_step(&s.line, s.ua, s.d.fd);
    for (size_t i = 0; i < LKS_COUNT(pieces); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf fields = LKS_BUF(BUFFER_MAX);
        struct lks_str data = {0};
        lks_test_case("%s", pieces[i].name);
        lks_bytes_put_u32(&fields, pieces[i].offset);
        lks_bytes_put_u32(&fields, pieces[i].length);
        CHECK_INT(
            ask_agent(&s, (uint8_t)i, LKS_PLDM_REQUEST_FIRMWARE_DATA, lks_buf_view(&fields), &data),
            pieces[i].code);
        CHECK_INT(data.len, pieces[i].code == 0 ? pieces[i].length : 0);
        for (size_t k = 0; k < data.len; k++) {
            size_t at = pieces[i].offset + k;
            CHECK(data.ptr[k] == (at < IMAGE ? s.images.bytes[0].ptr[at] : '\0'));
        }
    }
    scene_fini(&s);
}

/* A device that did not hear our answer repeats itself, with the same instance or another one, at
 * once or long after: it is answered again, and nothing happens twice. */
static void test_echoes(void)
{
    struct scene s;
    struct lks_str data = {0};
    bring_to(&s, LKS_PLDM_APPLY);
    CHECK_INT(lks_ua_fate(s.ua, 0), LKS_UA_APPLYING);
    CHECK_INT(ask_agent(&s, 7, LKS_PLDM_VERIFY_COMPLETE, LKS_STR("\0"), &data), 0);
    CHECK_INT(ask_agent(&s, 8, LKS_PLDM_TRANSFER_COMPLETE, LKS_STR("\0"), &data), 0);
    CHECK_INT(lks_ua_fate(s.ua, 0), LKS_UA_APPLYING);
    CHECK_INT(ask_agent(&s, 9, LKS_PLDM_APPLY_COMPLETE, LKS_STR("\0\0\0"), &data), 0);
    CHECK_INT(lks_ua_fate(s.ua, 0), LKS_UA_APPLIED);
    CHECK_INT(ask_agent(&s, 9, LKS_PLDM_APPLY_COMPLETE, LKS_STR("\0\0\0"), &data), 0);
    s.line.now += 10 * LKS_SECOND;
    CHECK_INT(ask_agent(&s, 9, LKS_PLDM_APPLY_COMPLETE, LKS_STR("\0\0\0"), &data), 0);
    CHECK_INT(ask_agent(&s, 10, LKS_PLDM_APPLY_COMPLETE, LKS_STR("\0\0\0"), &data), 0);
    CHECK_INT(lks_ua_fate(s.ua, 0), LKS_UA_APPLIED);
    CHECK_INT(lks_ua_fate(s.ua, 1), LKS_UA_SENDING);
    lks_test_case("what was never expected");
    scene_fini(&s);
    bring_to(&s, LKS_PLDM_LEARN);
    CHECK_INT(ask_agent(&s, 1, LKS_PLDM_APPLY_COMPLETE, LKS_STR("\0\0\0"), &data),
              LKS_PLDM_CC_NOT_EXPECTED);
    CHECK_INT(ask_agent(&s, 2, LKS_PLDM_GET_PACKAGE_DATA, LKS_STR("\0\0\0\0\1"), &data),
              LKS_PLDM_CC_NO_PACKAGE_DATA);
    CHECK_INT(ask_agent(&s, 3, LKS_PLDM_GET_STATUS, LKS_STR(""), &data), LKS_PLDM_CC_UNSUPPORTED);
    scene_fini(&s);
}

static void test_judge(void)
{
    static const struct {
        const char *name;
        uint32_t have, offered;
        const char *version;
        bool force;
        uint8_t code;
    } rows[] = {
        {"higher", 1, 2, "2", false, LKS_PLDM_OFFER_OK},
        {"the same stamp", 2, 2, "9", false, LKS_PLDM_OFFER_STAMP_SAME},
        {"lower", 3, 2, "9", false, LKS_PLDM_OFFER_STAMP_LOWER},
        {"zero", 3, 0, "9", false, LKS_PLDM_OFFER_STAMP_INVALID},
        {"lower and forced", 3, 2, "9", true, LKS_PLDM_OFFER_OK},
        {"no stamp, another version", 3, LKS_PLDM_STAMP_NONE, "2", false, LKS_PLDM_OFFER_OK},
        {"no stamp, the same version", 3, LKS_PLDM_STAMP_NONE, "1", false,
         LKS_PLDM_OFFER_VERSION_SAME},
        {"the device has no stamp", 0, 7, "1", false, LKS_PLDM_OFFER_VERSION_SAME},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        struct lks_pldm_entry have = {.active_stamp = rows[i].have, .active = {1, LKS_STR_C("1")}};
        struct lks_fd_update offered = {.stamp = rows[i].offered, .force = rows[i].force};
        offered.version.bytes = lks_str_from(rows[i].version);
        lks_test_case("%s", rows[i].name);
        CHECK_INT(lks_fd_judge(&have, &offered), rows[i].code);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"each command in each state", test_states},
        {"commands from someone else", test_strangers},
        {"values that are not allowed", test_values},
        {"timers of the device", test_device_timers},
        {"a command that is repeated", test_repeated},
        {"answers that are not data", test_answers},
        {"pieces of an image", test_pieces},
        {"echoes", test_echoes},
        {"stamps and versions", test_judge},
        {0},
    };
    return lks_test_main(tests);
}
