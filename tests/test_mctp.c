#include "lab/pldm/mctp.h"

#include "base/rng.h"
#include "tests/test.h"

enum { A = 8, B = 9, BUFFER_MAX = 1 << 20, ROUNDS = 200 };

static struct lks_mctp *endpoint(uint8_t eid, unsigned mtu)
{
    struct lks_mctp_options o = {.eid = eid, .mtu = mtu, .uuid = {0xde, 0xad}};
    struct lks_mctp *m = NULL;
    struct lks_err err = {0};
    LKS_ASSERT(lks_mctp_new(&o, &m, &err) == LKS_OK);
    return m;
}

static void send(struct lks_mctp *m, uint8_t peer, struct lks_str body)
{
    struct lks_mctp_message message = {
        .peer = peer, .owner = true, .type = LKS_MCTP_PLDM, .body = body};
    lks_mctp_send(m, &message);
}

static void test_packet(void)
{
    static const struct {
        const char *name;
        struct lks_str bytes;
        struct lks_mctp_packet packet;
        bool good;
    } rows[] = {
        {"all of a message",
         LKS_STR_C("\x01\x09\x08\xc8\x01"),
         {9, 8, true, true, 0, true, 0, LKS_STR_C("\x01")},
         true},
        {"an answer in the middle",
         LKS_STR_C("\x01\x09\x08\x35x"),
         {9, 8, false, false, 3, false, 5, LKS_STR_C("x")},
         true},
        {"another version", LKS_STR_C("\x02\x09\x08\xc8\x01"), {0}, false},
        {"no payload", LKS_STR_C("\x01\x09\x08\xc8"), {0}, false},
        {"half a head", LKS_STR_C("\x01\x09"), {0}, false},
        {"nothing", LKS_STR_C(""), {0}, false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(BUFFER_MAX);
        struct lks_mctp_packet p = {0};
        lks_test_case("%s", rows[i].name);
        CHECK(lks_mctp_packet_read(rows[i].bytes, &p) == rows[i].good);
        if (!rows[i].good)
            continue;
        CHECK(p.dest == rows[i].packet.dest && p.source == rows[i].packet.source);
        CHECK(p.first == rows[i].packet.first && p.last == rows[i].packet.last);
        CHECK(p.owner == rows[i].packet.owner && p.tag == rows[i].packet.tag);
        CHECK_INT(p.sequence, rows[i].packet.sequence);
        lks_mctp_packet_write(&rows[i].packet, &out);
        CHECK(lks_str_eq(lks_buf_view(&out), rows[i].bytes));
    }
}

/* Messages of any length arrive whole, in as many packets as they need. */
static void test_lengths(void)
{
    static const size_t lengths[] = {0,   1,   62,  63,  64,   126,   127,
                                     128, 191, 250, 251, 4099, 65540, 66000};
    static const unsigned mtus[] = {64, 65, 251};
    static char body[70000];
    struct lks_rng rng = {4};
    for (size_t i = 0; i < sizeof(body); i++)
        body[i] = (char)(lks_rng_next(&rng) & 0xff);
    for (size_t i = 0; i < LKS_COUNT(lengths) * LKS_COUNT(mtus); i++) {
        size_t len = lengths[i / LKS_COUNT(mtus)], packets = 0;
        unsigned mtu = mtus[i % LKS_COUNT(mtus)];
        struct lks_mctp *a = endpoint(A, mtu), *b = endpoint(B, 0);
        struct lks_mctp_message got = {0};
        struct lks_str packet;
        bool whole = false;
        lks_test_case("%zu bytes in packets of %u", len, mtu);
        send(a, B, (struct lks_str){body, len});
        while (lks_mctp_next(a, &packet)) {
            CHECK(!whole && packet.len <= LKS_MCTP_HEAD + mtu);
            packets++;
            whole = lks_mctp_receive(b, packet, &got);
        }
        CHECK(whole && got.peer == A && got.owner && got.type == LKS_MCTP_PLDM);
        CHECK(whole && lks_str_eq(got.body, (struct lks_str){body, len}));
        CHECK_INT(packets, (len + mtu) / mtu);
        lks_mctp_free(a);
        lks_mctp_free(b);
    }
    lks_test_case("too long");
    struct lks_mctp *a = endpoint(A, 0);
    struct lks_str packet;
    send(a, B, (struct lks_str){body, sizeof(body)});
    CHECK(!lks_mctp_next(a, &packet));
    lks_mctp_free(a);
}

/* What is done to the packets of a message of three, and whether it still arrives. */
static const struct {
    const char *name;
    const char *order; /* of the packets: letters, in capitals with something changed */
    unsigned arrives;
} damages[] = {
    {"as it was sent", "abc", 1},
    {"one missing", "ac", 0},
    {"the first missing", "bc", 0},
    {"one doubled", "abbc", 0},
    {"the first doubled", "aabc", 1},
    {"out of order", "acb", 0},
    {"twice", "abcabc", 2},
    {"begun, and begun again", "ababc", 1},
    {"another destination in the middle", "aBbc", 1},
    {"the end without a start", "c", 0},
    {"an end that comes twice", "abcc", 1},
};

static void test_damage(void)
{
    char body[150];
    memset(body, 'm', sizeof(body));
    for (size_t i = 0; i < LKS_COUNT(damages); i++) {
        struct lks_mctp *a = endpoint(A, 0), *b = endpoint(B, 0);
        struct lks_buf packets[3];
        struct lks_mctp_message got;
        struct lks_str packet;
        unsigned arrived = 0;
        lks_test_case("%s", damages[i].name);
        send(a, B, (struct lks_str){body, sizeof(body)});
        for (size_t k = 0; k < 3; k++) {
            lks_buf_init(&packets[k], BUFFER_MAX);
            if (CHECK(lks_mctp_next(a, &packet)))
                lks_buf_add(&packets[k], packet);
        }
        for (const char *c = damages[i].order; *c != '\0'; c++) {
            bool changed = *c < 'a';
            struct lks_buf *p = &packets[*c - (changed ? 'A' : 'a')];
            p->ptr[1] = changed ? 77 : B;
            arrived += lks_mctp_receive(b, lks_buf_view(p), &got);
        }
        CHECK_INT(arrived, damages[i].arrives);
        for (size_t k = 0; k < 3; k++)
            lks_buf_fini(&packets[k]);
        lks_mctp_free(a);
        lks_mctp_free(b);
    }
}

/* Messages of many senders, packets mixed; and the oldest gives way when there are too many. */
static void test_mixed(void)
{
    struct lks_mctp *b = endpoint(B, 0), *senders[LKS_MCTP_SLOTS + 1];
    struct lks_mctp_message got;
    struct lks_str packet;
    char body[130];
    unsigned arrived = 0;
    memset(body, 'm', sizeof(body));
    for (size_t i = 0; i < LKS_COUNT(senders); i++) {
        senders[i] = endpoint((uint8_t)(20 + i), 0);
        send(senders[i], B, (struct lks_str){body, sizeof(body)});
    }
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < LKS_COUNT(senders); i++) {
            if (CHECK(lks_mctp_next(senders[i], &packet)) && lks_mctp_receive(b, packet, &got)) {
                CHECK_INT(got.peer, 20 + i);
                CHECK(i > 0); /* it was the oldest */
                arrived++;
            }
        }
    }
    CHECK_INT(arrived, LKS_MCTP_SLOTS);
    for (size_t i = 0; i < LKS_COUNT(senders); i++)
        lks_mctp_free(senders[i]);
    lks_mctp_free(b);
}

/* Control requests and their answers, without the packet's head: `00 instance command ...`. */
static const struct {
    const char *name;
    struct lks_str ask, answer;
    uint8_t eid; /* afterwards */
} controls[] = {
    {"GetEndpointID", LKS_STR_C("\x00\x83\x02"), LKS_STR_C("\x00\x03\x02\x00\x09\x00\x00"), B},
    {"SetEndpointID", LKS_STR_C("\x00\x81\x01\x00\x0a"), LKS_STR_C("\x00\x01\x01\x00\x00\x0a\x00"),
     10},
    {"SetEndpointID, forced", LKS_STR_C("\x00\x81\x01\x01\x0a"),
     LKS_STR_C("\x00\x01\x01\x00\x00\x0a\x00"), 10},
    {"SetEndpointID to everyone's", LKS_STR_C("\x00\x81\x01\x00\xff"),
     LKS_STR_C("\x00\x01\x01\x02"), B},
    {"SetEndpointID to nobody's", LKS_STR_C("\x00\x81\x01\x00\x00"), LKS_STR_C("\x00\x01\x01\x02"),
     B},
    {"SetEndpointID, cut short", LKS_STR_C("\x00\x81\x01\x00"), LKS_STR_C("\x00\x01\x01\x03"), B},
    {"GetEndpointUUID", LKS_STR_C("\x00\x81\x03"),
     LKS_STR_C("\x00\x01\x03\x00\xde\xad\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), B},
    {"GetVersion of the base", LKS_STR_C("\x00\x81\x04\xff"),
     LKS_STR_C("\x00\x01\x04\x00\x01\xf1\xf3\xf1\x00"), B},
    {"GetVersion of PLDM", LKS_STR_C("\x00\x81\x04\x01"),
     LKS_STR_C("\x00\x01\x04\x00\x01\xf1\xf0\xf0\x00"), B},
    {"GetVersion of what it has not", LKS_STR_C("\x00\x81\x04\x05"), LKS_STR_C("\x00\x01\x04\x80"),
     B},
    {"GetMessageTypes", LKS_STR_C("\x00\x81\x05"), LKS_STR_C("\x00\x01\x05\x00\x01\x01"), B},
    {"another command", LKS_STR_C("\x00\x81\x16"), LKS_STR_C("\x00\x01\x16\x05"), B},
    {"an answer is not answered", LKS_STR_C("\x00\x01\x02"), LKS_STR_C(""), B},
    {"nor is a datagram", LKS_STR_C("\x00\xc1\x02"), LKS_STR_C(""), B},
    {"nor what is cut short", LKS_STR_C("\x00\x81"), LKS_STR_C(""), B},
    {"nor what has a check of its own", LKS_STR_C("\x80\x81\x02"), LKS_STR_C(""), B},
};

static void test_control(void)
{
    for (size_t i = 0; i < LKS_COUNT(controls); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(BUFFER_MAX);
        struct lks_mctp *b = endpoint(B, 0);
        struct lks_mctp_packet p = {B, A, true, true, 0, true, 6, controls[i].ask};
        struct lks_mctp_message got;
        struct lks_str packet;
        lks_test_case("%s", controls[i].name);
        lks_mctp_packet_write(&p, &out);
        CHECK(!lks_mctp_receive(b, lks_buf_view(&out), &got));
        bool said = lks_mctp_next(b, &packet);
        CHECK(said == (controls[i].answer.len > 0));
        if (said && CHECK(lks_mctp_packet_read(packet, &p))) {
            CHECK(lks_str_eq(p.payload, controls[i].answer));
            CHECK(p.dest == A && !p.owner && p.tag == 6 && p.first && p.last);
        }
        CHECK_INT(lks_mctp_eid(b), controls[i].eid);
        lks_mctp_free(b);
    }
}

static void test_options(void)
{
    struct lks_mctp_options o = {.mtu = 63};
    struct lks_mctp *m = NULL;
    struct lks_err err = {0};
    CHECK_CODE(lks_mctp_new(&o, &m, &err), LKS_E_INVALID);
    o.mtu = 252;
    CHECK_CODE(lks_mctp_new(&o, &m, &err), LKS_E_INVALID);
    CHECK(m == NULL);
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"packets", test_packet},
        {"messages of any length", test_lengths},
        {"packets lost, doubled, out of order", test_damage},
        {"messages of many senders", test_mixed},
        {"control", test_control},
        {"options", test_options},
        {0},
    };
    return lks_test_main(tests);
}
