#include "lab/pldm/message.h"

#include "pldm/bytes.h"
#include "tests/test.h"
#include "tests/updates.h"

enum { ROUNDS = 40, BUFFER_MAX = 1 << 20 };

static void put_hex(struct lks_buf *out, const char *hex)
{
    struct lks_str rest = lks_str_from(hex), word;
    uint64_t value = 0;
    while (lks_str_word(&rest, &word)) {
        for (size_t i = 0; i + 1 < word.len; i += 2) {
            LKS_ASSERT(lks_str_hex((struct lks_str){word.ptr + i, 2}, 0xff, &value));
            lks_bytes_put_u8(out, (uint8_t)value);
        }
    }
}

static void check_bytes(struct lks_str got, const char *hex)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf want = {0}, text = {0}, wanted = {0};
    lks_buf_init(&want, BUFFER_MAX);
    lks_buf_init(&text, BUFFER_MAX);
    lks_buf_init(&wanted, BUFFER_MAX);
    put_hex(&want, hex);
    for (size_t i = 0; i < got.len; i++)
        lks_buf_addf(&text, "%02x", (uint8_t)got.ptr[i]);
    for (size_t i = 0; i < want.len; i++)
        lks_buf_addf(&wanted, "%02x", (uint8_t)want.ptr[i]);
    CHECK_STR(lks_buf_view(&text), wanted.len > 0 ? wanted.ptr : "");
}

/*
 * Every message as the standard lays it out: a digit is a number of so many bytes, `t` a text, `r`
 * the rest, and lists: `i` descriptors with length and count before them, `e` components, `d`
 * downstream devices, `p` what they run. `o` is a number of two bytes that may be missing.
 */
static const struct {
    uint16_t command;
    const char *ask, *answer;
} layouts[] = {
    {LKS_PLDM_SET_TID, "1", ""},
    {LKS_PLDM_GET_TID, "", "1"},
    {LKS_PLDM_GET_VERSION, "411", "41r"},
    {LKS_PLDM_GET_TYPES, "", "8"},
    {LKS_PLDM_GET_COMMANDS, "14", "8888"},
    {LKS_PLDM_QUERY_DEVICE_IDENTIFIERS, "", "i"},
    {LKS_PLDM_GET_FIRMWARE_PARAMETERS, "", "4e"},
    {LKS_PLDM_QUERY_DOWNSTREAM_DEVICES, "", "1224"},
    {LKS_PLDM_QUERY_DOWNSTREAM_IDENTIFIERS, "41", "41d"},
    {LKS_PLDM_GET_DOWNSTREAM_PARAMETERS, "41", "414p"},
    {LKS_PLDM_REQUEST_UPDATE, "4212t", "21o"},
    {LKS_PLDM_GET_PACKAGE_DATA, "41", "41r"},
    {LKS_PLDM_GET_DEVICE_METADATA, "41", "41r"},
    {LKS_PLDM_PASS_COMPONENT_TABLE, "12214t", "11"},
    {LKS_PLDM_UPDATE_COMPONENT, "221444t", "1142"},
    {LKS_PLDM_REQUEST_FIRMWARE_DATA, "44", "r"},
    {LKS_PLDM_TRANSFER_COMPLETE, "1", ""},
    {LKS_PLDM_VERIFY_COMPLETE, "1", ""},
    {LKS_PLDM_APPLY_COMPLETE, "12", ""},
    {LKS_PLDM_GET_METADATA, "41", "41r"},
    {LKS_PLDM_ACTIVATE_FIRMWARE, "1", "2"},
    {LKS_PLDM_GET_STATUS, "", "1111114"},
    {LKS_PLDM_CANCEL_UPDATE_COMPONENT, "", ""},
    {LKS_PLDM_CANCEL_UPDATE, "", "18"},
    {LKS_PLDM_ACTIVATE_PENDING_SET, "", "2"},
    {LKS_PLDM_ACTIVATE_PENDING_IMAGE, "221", "2"},
    {LKS_PLDM_REQUEST_DOWNSTREAM_UPDATE, "412", "212"},
    {LKS_PLDM_GET_OPAQUE_DATA, "41", "41r"},
    {LKS_PLDM_UPDATE_SECURITY_REVISION, "221", ""},
};

static void put_random(struct lks_rng *rng, struct lks_buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        lks_buf_addc(out, (char)(lks_rng_next(rng) & 0xff));
}

static void put_text(struct lks_rng *rng, struct lks_buf *out)
{
    size_t len = lks_rng_below(rng, 256);
    lks_bytes_put_u8(out, (uint8_t)lks_rng_below(rng, 6));
    lks_bytes_put_u8(out, (uint8_t)len);
    put_random(rng, out, len);
}

static void put_tlvs(struct lks_rng *rng, struct lks_buf *out, unsigned count)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf value = LKS_BUF(BUFFER_MAX);
    for (unsigned i = 0; i < count; i++) {
        lks_buf_truncate(&value, 0);
        put_random(rng, &value, lks_rng_below(rng, 20));
        struct lks_pldm_descriptor tlv = {(uint16_t)lks_rng_below(rng, 0x110),
                                          lks_buf_view(&value)};
        lks_pldm_message_tlv_add(out, &tlv);
    }
}

/* 39 bytes of a component, or 36 of a downstream device, and two texts behind them. */
static void put_entry(struct lks_rng *rng, struct lks_buf *out, size_t head)
{
    uint8_t active = (uint8_t)lks_rng_below(rng, 256), pending = (uint8_t)lks_rng_below(rng, 9);
    put_random(rng, out, head + 4 + 1);
    lks_bytes_put_u8(out, active);
    put_random(rng, out, 8 + 4 + 1);
    lks_bytes_put_u8(out, pending);
    put_random(rng, out, 8 + 2 + 4 + (size_t)active + pending);
}

static void put_entries(struct lks_rng *rng, struct lks_buf *out, bool downstream)
{
    uint16_t count = (uint16_t)lks_rng_below(rng, 5);
    uint8_t lengths[2] = {(uint8_t)lks_rng_below(rng, 256), (uint8_t)lks_rng_below(rng, 3)};
    lks_bytes_put_u16(out, count);
    for (size_t i = 0; i < 2 && !downstream; i++) {
        lks_bytes_put_u8(out, 1);
        lks_bytes_put_u8(out, lengths[i]);
    }
    if (!downstream)
        put_random(rng, out, (size_t)lengths[0] + lengths[1]);
    for (unsigned i = 0; i < count; i++)
        put_entry(rng, out, downstream ? 2 : 5);
}

static void put_devices(struct lks_rng *rng, struct lks_buf *out)
{
    size_t start = out->len;
    uint16_t count = (uint16_t)lks_rng_below(rng, 4);
    lks_bytes_put_u32(out, 0);
    lks_bytes_put_u16(out, count);
    for (unsigned i = 0; i < count; i++) {
        uint8_t tlvs = (uint8_t)lks_rng_below(rng, 3);
        lks_bytes_put_u16(out, (uint16_t)i);
        lks_bytes_put_u8(out, tlvs);
        put_tlvs(rng, out, tlvs);
    }
    lks_bytes_set_number(out, start, out->len - start - 6, 4);
}

static void put_identifiers(struct lks_rng *rng, struct lks_buf *out)
{
    size_t start = out->len;
    uint8_t count = (uint8_t)lks_rng_below(rng, 6);
    lks_bytes_put_u32(out, 0);
    lks_bytes_put_u8(out, count);
    put_tlvs(rng, out, count);
    lks_bytes_set_number(out, start, out->len - start - 5, 4);
}

static void put_fields(struct lks_rng *rng, struct lks_buf *out, const char *layout)
{
    for (const char *c = layout; *c != '\0'; c++) {
        if (*c >= '1' && *c <= '8')
            put_random(rng, out, (size_t)(*c - '0'));
        else if (*c == 't')
            put_text(rng, out);
        else if (*c == 'i')
            put_identifiers(rng, out);
        else if (*c == 'e' || *c == 'p')
            put_entries(rng, out, *c == 'p');
        else if (*c == 'd')
            put_devices(rng, out);
        else if (*c == 'r')
            put_random(rng, out, lks_rng_below(rng, 300));
        else if (lks_rng_percent(rng, 50))
            lks_bytes_put_u16(out, (uint16_t)(1 + lks_rng_below(rng, 0xffff)));
    }
}

/* Read and written again it is the same; cut short or made longer it is refused. */
static void check_message(struct lks_str bytes, bool open_end, bool later)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf again = LKS_BUF(BUFFER_MAX);
    struct lks_pldm_message m = {0};
    if (!CHECK_INT(lks_pldm_message_decode(bytes, &m), LKS_PLDM_CC_SUCCESS))
        return;
    lks_pldm_message_encode(&m, &again);
    CHECK(lks_str_eq(bytes, lks_buf_view(&again)));
    for (size_t len = 0; len < bytes.len && !open_end && !later; len += 1 + len / 16)
        CHECK(lks_pldm_message_decode((struct lks_str){bytes.ptr, len}, &m) != LKS_PLDM_CC_SUCCESS);
    lks_buf_addc(&again, 'x');
    if (!open_end)
        CHECK_INT(lks_pldm_message_decode(lks_buf_view(&again), &m), LKS_PLDM_CC_INVALID_LENGTH);
}

static void test_round_trip(void)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(BUFFER_MAX);
    struct lks_rng rng = {1};
    for (size_t i = 0; i < LKS_COUNT(layouts); i++) {
        for (unsigned round = 0; round < 2 * ROUNDS; round++) {
            bool answer = round % 2 == 1;
            const char *layout = answer ? layouts[i].answer : layouts[i].ask;
            uint16_t command = layouts[i].command;
            lks_test_case("%s, %s, round %u", lks_pldm_message_command_text(command),
                          answer ? "answer" : "request", round);
            lks_buf_truncate(&out, 0);
            lks_bytes_put_u8(&out, (uint8_t)((answer ? 0U : 0x80U) | lks_rng_below(&rng, 32)));
            lks_bytes_put_u8(&out, (uint8_t)(command >> 8));
            lks_bytes_put_u8(&out, (uint8_t)command);
            if (answer)
                lks_bytes_put_u8(&out, LKS_PLDM_CC_SUCCESS);
            put_fields(&rng, &out, layout);
            check_message(lks_buf_view(&out), strchr(layout, 'r') != NULL,
                          strchr(layout, 'o') != NULL);
        }
    }
}

/* Which field is which: values and the bytes they are. */
#define V2                                                                                         \
    {                                                                                              \
        1, LKS_STR_C("v2")                                                                         \
    }
static const struct {
    const char *name;
    struct lks_pldm_message m;
    const char *hex;
} fields[] = {
    {"GetPLDMVersion",
     {.command = LKS_PLDM_GET_VERSION,
      .body.version_ask = {.handle = 1, .operation = 2, .type = 5}},
     "80 00 03 01000000 02 05"},
    {"RequestUpdate",
     {.command = LKS_PLDM_REQUEST_UPDATE,
      .instance = 3,
      .body.request_update = {32, 1, 1, 0x102, V2}},
     "83 05 10 20000000 0100 01 0201 01 02 7632"},
    {"RequestUpdate's answer of later versions",
     {.command = LKS_PLDM_REQUEST_UPDATE, .answer = true, .body.update_answer = {5, 1, 0x203}},
     "00 05 10 00 0500 01 0302"},
    {"PassComponentTable",
     {.command = LKS_PLDM_PASS_COMPONENT_TABLE,
      .body.pass_component = {5, 10, 0x201, 3, 0x01020304, V2}},
     "80 05 13 05 0a00 0102 03 04030201 01 02 7632"},
    {"UpdateComponent",
     {.command = LKS_PLDM_UPDATE_COMPONENT, .body.update_component = {10, 0x201, 3, 2, 40, 1, V2}},
     "80 05 14 0a00 0102 03 02000000 28000000 01000000 01 02 7632"},
    {"UpdateComponent's answer",
     {.command = LKS_PLDM_UPDATE_COMPONENT,
      .answer = true,
      .body.update_component_answer = {1, 6, 1, 0x102}},
     "00 05 14 00 01 06 01000000 0201"},
    {"RequestFirmwareData",
     {.command = LKS_PLDM_REQUEST_FIRMWARE_DATA, .body.data_ask = {0x20, 0x08}},
     "80 05 15 20000000 08000000"},
    {"ApplyComplete",
     {.command = LKS_PLDM_APPLY_COMPLETE, .body.complete = {1, 0x20}},
     "80 05 18 01 2000"},
    {"GetStatus's answer",
     {.command = LKS_PLDM_GET_STATUS, .answer = true, .body.status = {2, 5, 3, 9, 101, 4, 1}},
     "00 05 1b 00 02 05 03 09 65 04 01000000"},
    {"CancelUpdate's answer",
     {.command = LKS_PLDM_CANCEL_UPDATE, .answer = true, .body.cancel_answer = {1, 0x102}},
     "00 05 1d 00 01 0201000000000000"},
    {"RequestDownstreamDeviceUpdate",
     {.command = LKS_PLDM_REQUEST_DOWNSTREAM_UPDATE, .body.downstream_update = {32, 1, 7}},
     "80 05 20 20000000 01 0700"},
    {"an answer that says no",
     {.command = LKS_PLDM_REQUEST_UPDATE, .answer = true, .instance = 31, .code = 0x8a},
     "1f 05 10 8a"},
};

static void test_fields(void)
{
    for (size_t i = 0; i < LKS_COUNT(fields); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(BUFFER_MAX);
        lks_test_case("%s", fields[i].name);
        lks_pldm_message_encode(&fields[i].m, &out);
        check_bytes(lks_buf_view(&out), fields[i].hex);
        check_message(lks_buf_view(&out), fields[i].m.code != 0, true);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *name, *hex;
        enum lks_pldm_code code;
    } rows[] = {
        {"nothing", "", LKS_PLDM_CC_ERROR},
        {"half a head", "81 05", LKS_PLDM_CC_ERROR},
        {"another header version", "81 45 01", LKS_PLDM_CC_ERROR},
        {"an answer that wants none", "41 05 01 00", LKS_PLDM_CC_ERROR},
        {"another type", "81 02 01", LKS_PLDM_CC_INVALID_TYPE},
        {"another command", "81 05 44", LKS_PLDM_CC_UNSUPPORTED},
        {"an answer without its code", "01 05 01", LKS_PLDM_CC_INVALID_LENGTH},
        {"fewer descriptors than it says", "01 05 01 00 06000000 02 0000 0200 de10",
         LKS_PLDM_CC_INVALID_LENGTH},
        {"another length of descriptors", "01 05 01 00 07000000 01 0000 0200 de10",
         LKS_PLDM_CC_INVALID_LENGTH},
        {"a descriptor that does not end", "01 05 01 00 06000000 01 0000 0300 de10",
         LKS_PLDM_CC_INVALID_LENGTH},
        {"a text longer than the message", "83 05 10 20000000 0100 01 0000 01 03 7632",
         LKS_PLDM_CC_INVALID_LENGTH},
        {"a datagram is well formed", "c1 05 01", LKS_PLDM_CC_SUCCESS},
        {"a no with something behind it", "01 05 10 81 ffff", LKS_PLDM_CC_SUCCESS},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = LKS_BUF(BUFFER_MAX);
        struct lks_pldm_message m = {.command = 0xabcd};
        lks_test_case("%s", rows[i].name);
        put_hex(&bytes, rows[i].hex);
        CHECK_INT(lks_pldm_message_decode(lks_buf_view(&bytes), &m), rows[i].code);
        CHECK((m.command == 0xabcd) == (rows[i].code != LKS_PLDM_CC_SUCCESS));
    }
}

static const struct {
    uint8_t code;
    const char *words;
} codes[] = {
    {0x00, "success"},
    {0x01, "an error"},
    {0x02, "not allowed"},
    {0x03, "wrong length"},
    {0x04, "not ready"},
    {0x05, "not supported"},
    {0x20, "PLDM type"},
    {0x80, "not in update"},
    {0x81, "already in update"},
    {0x82, "outside"},
    {0x83, "length asked for"},
    {0x84, "does not fit"},
    {0x85, "not complete"},
    {0x86, "busy"},
    {0x87, "cancel"},
    {0x88, "not expected"},
    {0x89, "data again"},
    {0x8a, "cannot be started"},
    {0x8b, "no activation"},
    {0x8c, "by itself"},
    {0x8d, "no device metadata"},
    {0x8e, "update again"},
    {0x8f, "no package data"},
    {0x90, "handle"},
    {0x91, "operation"},
    {0x92, "pending image"},
    {0x93, "package data is wrong"},
    {0x94, "no opaque"},
    {0x95, "security revision"},
    {0x96, "downstream"},
    {0x97, "not known"},
    {0x06, "not known"},
};

static void test_words(void)
{
    for (size_t i = 0; i < LKS_COUNT(codes); i++) {
        lks_test_case("code 0x%02x", codes[i].code);
        CHECK_HAS(lks_str_from(lks_pldm_message_code_text(codes[i].code)), codes[i].words);
    }
    for (size_t i = 0; i < LKS_COUNT(layouts); i++)
        CHECK(strchr(lks_pldm_message_command_text(layouts[i].command), ' ') == NULL);
    CHECK_HAS(lks_str_from(lks_pldm_message_command_text(0x544)), "not known");
    CHECK_HAS(lks_str_from(lks_pldm_message_state_text(3)), "downloading");
    CHECK_HAS(lks_str_from(lks_pldm_message_state_text(7)), "not known");
    CHECK_HAS(lks_str_from(lks_pldm_message_offer_text(0x0a)), "this very version");
    CHECK_HAS(lks_str_from(lks_pldm_message_offer_text(0xd3)), "vendor");
    CHECK_HAS(lks_str_from(lks_pldm_message_result_text(LKS_PLDM_TRANSFER_COMPLETE, 3)), "gave");
    CHECK_HAS(lks_str_from(lks_pldm_message_result_text(LKS_PLDM_VERIFY_COMPLETE, 3)), "security");
    CHECK_HAS(lks_str_from(lks_pldm_message_result_text(LKS_PLDM_APPLY_COMPLETE, 0xb3)), "vendor");
}

/* An update as libpldm's device was seen to talk, byte for byte: 40 bytes of image in pieces of
 * 32, the last one short. `>` goes to the device, `<` comes from it. */
static const struct {
    const char *name, *hex;
    lks_ms at;
} trace[] = {
    {"> QueryDeviceIdentifiers", "81 05 01", 0},
    {"<", "01 05 01 00 06000000 01 0000 0200 de10", 0},
    {"> RequestUpdate", "83 05 10 20000000 0100 01 0000 01 02 7632", 0},
    {"<", "03 05 10 00 00 00 00", 0},
    {"> PassComponentTable", "84 05 13 05 0a00 0100 00 02000000 01 02 7632", 0},
    {"<", "04 05 13 00 00 00", 0},
    {"> UpdateComponent", "85 05 14 0a00 0100 00 02000000 28000000 01000000 01 02 7632", 0},
    {"<", "05 05 14 00 00 00 01000000 0000", 0},
    {"< RequestFirmwareData", "81 05 15 00000000 20000000", 0},
    {"> data", "01 05 15 00 0000000000000000 0000000000000000 0000000000000000 0000000000000000",
     0},
    {"< RequestFirmwareData", "82 05 15 20000000 08000000", 0},
    {"> data", "02 05 15 00 00000000 d5b2b66a", 0},
    {"< TransferComplete", "83 05 16 00", 0},
    {">", "03 05 16 00", 0},
    {"< VerifyComplete", "84 05 17 00", 10},
    {">", "04 05 17 00", 10},
    {"< ApplyComplete", "85 05 18 00 0000", 20},
    {">", "05 05 18 00", 20},
    {"> GetStatus", "86 05 1b", 20},
    {"<", "06 05 1b 00 02 05 03 00 65 00 00000000", 20},
    {"> ActivateFirmware", "87 05 1a 00", 20},
    {"<", "07 05 1a 00 07 00", 20},
    {"> GetStatus", "88 05 1b", 7020},
    {"<", "08 05 1b 00 00 06 03 00 65 01 00000000", 7020},
};

static void test_trace(void)
{
    struct lks_test_device d;
    struct lks_str bytes;
    uint8_t peer = 0;
    lks_test_device_init(&d, 1);
    d.entries[0].index = 0;
    d.options.exact_last_piece = true;
    d.activation.takes = 7000;
    lks_test_device_begin(&d);
    for (size_t i = 0; i < LKS_COUNT(trace); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf ours = LKS_BUF(BUFFER_MAX);
        lks_test_case("line %zu: %s", i + 1, trace[i].name);
        put_hex(&ours, trace[i].hex);
        lks_fd_tick(d.fd, trace[i].at);
        if (trace[i].name[0] == '>') {
            CHECK(!lks_fd_send(d.fd, &peer, &bytes));
            lks_fd_receive(d.fd, trace[i].at, 8, lks_buf_view(&ours));
        } else if (CHECK(lks_fd_send(d.fd, &peer, &bytes))) {
            check_bytes(bytes, trace[i].hex);
            CHECK_INT(peer, 8);
        }
    }
    CHECK_STR(lks_str_from(d.parts[0].active_version), "v2");
    lks_test_device_fini(&d);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"every message, read and written", test_round_trip},
        {"which field is which", test_fields},
        {"what is refused", test_refused},
        {"words", test_words},
        {"the trace of a real device", test_trace},
        {0},
    };
    return lks_test_main(tests);
}
