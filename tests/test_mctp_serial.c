#include "lab/pldm/mctp_serial.h"

#include "lab/pldm/mctp.h"
#include "tests/test.h"
#include "tests/updates.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

enum { BUFFER_MAX = 1 << 20, ROUNDS = 500, AGENT = 8, DEVICE = 9, STEPS = 200000, WAIT_MS = 5 };

static void test_frames(void)
{
    static const struct {
        const char *name;
        struct lks_str packet, frame;
        bool no_fcs;
    } rows[] = {
        /* The FCS is what any CRC-16/MCRF4XX of 01 05 01 09 08 c8 01 gives. */
        {"plain", LKS_STR_C("\x01\x09\x08\xc8\x01"),
         LKS_STR_C("\x7e\x01\x05\x01\x09\x08\xc8\x01\xd9\xdb\x7e"), false},
        {"escaped", LKS_STR_C("\x01\x7e\x7d"),
         LKS_STR_C("\x7e\x01\x03\x01\x7d\x5e\x7d\x5d\x86\x6b\x7e"), false},
        {"without a check", LKS_STR_C("\x01\x7e"),
         LKS_STR_C("\x7e\x01\x02\x01\x7d\x5e\x00\x00\x7e"), true},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(BUFFER_MAX);
        struct lks_mctp_serial line = {.no_fcs = rows[i].no_fcs};
        struct lks_str rest = rows[i].frame, packet = {0};
        lks_test_case("%s", rows[i].name);
        lks_mctp_serial_frame(rows[i].packet, rows[i].no_fcs, &out);
        CHECK(lks_str_eq(lks_buf_view(&out), rows[i].frame));
        CHECK(lks_mctp_serial_next(&line, &rest, &packet) && rest.len == 0);
        CHECK(lks_str_eq(packet, rows[i].packet));
    }
}

/* What lies on the line, and how many whole frames of "\x01\x09\x08\xc8\x01" are in it. */
#define FRAME "\x7e\x01\x05\x01\x09\x08\xc8\x01\xd9\xdb\x7e"
static const struct {
    const char *name;
    struct lks_str line;
    unsigned frames, broken;
} lines[] = {
    {"nothing", LKS_STR_C(""), 0, 0},
    {"a frame", LKS_STR_C(FRAME), 1, 0},
    {"two", LKS_STR_C(FRAME FRAME), 2, 0},
    {"noise before and between", LKS_STR_C("ab\xff" FRAME "\x7e\x7e\x7e" FRAME), 2, 0},
    {"one flag between two", LKS_STR_C(FRAME "\x01\x05\x01\x09\x08\xc8\x01\xd9\xdb\x7e"), 2, 0},
    {"cut, and then whole", LKS_STR_C("\x7e\x01\x05\x01\x09" FRAME), 1, 1},
    {"a byte changed", LKS_STR_C("\x7e\x01\x05\x01\x09\x18\xc8\x01\xd9\xdb\x7e" FRAME), 1, 1},
    {"the check changed", LKS_STR_C("\x7e\x01\x05\x01\x09\x08\xc8\x01\xd9\x00\x7e" FRAME), 1, 1},
    {"no end", LKS_STR_C("\x7e\x01\x05\x01\x09\x08\xc8\x01\xd9\xdb\x01" FRAME), 1, 1},
    {"another revision", LKS_STR_C("\x7e\x02\x05\x01\x09\x08\xc8\x01\xd9\xdb\x7e" FRAME), 1, 1},
    {"of no length", LKS_STR_C("\x7e\x01\x00\x7e" FRAME), 1, 1},
    {"longer than it says", LKS_STR_C("\x7e\x01\x04\x01\x09\x08\xc8\x01\xd9\xdb\x7e" FRAME), 1, 1},
    {"a flag behind an escape", LKS_STR_C("\x7e\x01\x05\x01\x7d" FRAME), 1, 1},
};

static void test_lines(void)
{
    for (size_t i = 0; i < LKS_COUNT(lines); i++) {
        struct lks_mctp_serial line = {0};
        struct lks_str rest = lines[i].line, packet;
        unsigned frames = 0;
        lks_test_case("%s", lines[i].name);
        while (lks_mctp_serial_next(&line, &rest, &packet)) {
            CHECK(lks_str_eq(packet, LKS_STR("\x01\x09\x08\xc8\x01")));
            frames++;
        }
        CHECK_INT(frames, lines[i].frames);
        CHECK_INT(line.broken, lines[i].broken);
    }
}

/* Any packet arrives, in any pieces. */
static void test_any(void)
{
    struct lks_rng rng = {9};
    for (unsigned round = 0; round < ROUNDS; round++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf frame = LKS_BUF(BUFFER_MAX);
        struct lks_mctp_serial line = {0};
        char bytes[LKS_MCTP_SERIAL_PACKET_MAX];
        struct lks_str packet = {bytes, 1 + lks_rng_below(&rng, sizeof(bytes))}, got = {0};
        unsigned frames = 0;
        lks_test_case("round %u", round);
        for (size_t i = 0; i < packet.len; i++)
            bytes[i] = (char)(lks_rng_percent(&rng, 30) ? 0x7d + lks_rng_below(&rng, 2)
                                                        : lks_rng_below(&rng, 256));
        lks_mctp_serial_frame(packet, false, &frame);
        for (size_t at = 0; at < frame.len;) {
            size_t len = 1 + lks_rng_below(&rng, 9);
            struct lks_str piece = {frame.ptr + at, len < frame.len - at ? len : frame.len - at};
            at += piece.len;
            frames += lks_mctp_serial_next(&line, &piece, &got);
        }
        CHECK_INT(frames, 1);
        CHECK(lks_str_eq(got, packet));
    }
    LKS_CLEANUP(lks_buf_fini) struct lks_buf out = LKS_BUF(BUFFER_MAX);
    char long_one[LKS_MCTP_SERIAL_PACKET_MAX + 1] = {0};
    lks_mctp_serial_frame((struct lks_str){long_one, sizeof(long_one)}, false, &out);
    CHECK_CODE(out.failed, LKS_E_LIMIT);
}

/* ---- an update over a terminal line ---- */

struct end { /* of the line */
    int fd;
    struct lks_mctp *mctp;
    struct lks_mctp_serial serial;
    uint8_t answer_tag; /* of the last question that came */
    struct lks_buf out; /* not yet written */
};

static void end_init(struct end *e, int fd, uint8_t eid)
{
    struct lks_mctp_options o = {.eid = eid};
    struct lks_err err = {0};
    *e = (struct end){.fd = fd};
    LKS_ASSERT(lks_mctp_new(&o, &e->mctp, &err) == LKS_OK);
    lks_buf_init(&e->out, BUFFER_MAX);
}

static void end_fini(struct end *e)
{
    lks_mctp_free(e->mctp);
    lks_buf_fini(&e->out);
    if (e->fd >= 0)
        (void)close(e->fd);
}

/* A pair of ends that pass every byte as it is. */
static bool open_line(int *one, int *other)
{
    struct termios raw;
    *one = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    *other = -1;
    if (*one < 0 || grantpt(*one) != 0 || unlockpt(*one) != 0)
        return false;
    *other = open(ptsname(*one), O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (*other < 0 || tcgetattr(*other, &raw) != 0)
        return false;
    cfmakeraw(&raw);
    return tcsetattr(*other, TCSANOW, &raw) == 0;
}

/* A PLDM message onto the line; now and then a byte of it comes out wrong. */
static void put(struct end *e, uint8_t peer, struct lks_str bytes, struct lks_rng *rng,
                unsigned damage)
{
    bool asks = ((uint8_t)bytes.ptr[0] & 0x80) != 0;
    struct lks_mctp_message m = {
        .peer = peer, .owner = asks, .tag = e->answer_tag, .type = LKS_MCTP_PLDM, .body = bytes};
    struct lks_str packet;
    lks_mctp_send(e->mctp, &m);
    while (lks_mctp_next(e->mctp, &packet)) {
        size_t at = e->out.len;
        lks_mctp_serial_frame(packet, false, &e->out);
        if (lks_rng_below(rng, 1000) < damage)
            e->out.ptr[at + lks_rng_below(rng, e->out.len - at)] ^=
                (char)(1 << lks_rng_below(rng, 8));
        if (lks_rng_below(rng, 1000) < damage)
            lks_buf_add(&e->out, LKS_STR("\x7e\x7dnoise"));
    }
}

static void flush(struct end *e)
{
    ssize_t n = e->out.len > 0 ? write(e->fd, e->out.ptr, e->out.len) : 0;
    if (n <= 0)
        return;
    memmove(e->out.ptr, e->out.ptr + n, e->out.len - (size_t)n);
    lks_buf_truncate(&e->out, e->out.len - (size_t)n);
}

struct talk {
    struct end agent, device;
    struct lks_ua *ua;
    struct lks_test_device d;
    struct lks_rng rng;
    lks_ms now;
    unsigned damage; /* in a thousand frames */
};

static bool take(struct talk *t, struct end *e)
{
    char bytes[4096];
    ssize_t n = read(e->fd, bytes, sizeof(bytes));
    struct lks_str rest = {bytes, n > 0 ? (size_t)n : 0}, packet;
    struct lks_mctp_message m;
    while (lks_mctp_serial_next(&e->serial, &rest, &packet)) {
        if (!lks_mctp_receive(e->mctp, packet, &m) || m.type != LKS_MCTP_PLDM)
            continue;
        if (m.owner)
            e->answer_tag = m.tag;
        if (e == &t->agent)
            lks_ua_receive(t->ua, t->now, m.body);
        else
            lks_fd_receive(t->d.fd, t->now, m.peer, m.body);
    }
    return n > 0;
}

static void speak(struct talk *t)
{
    struct lks_str bytes;
    uint8_t peer;
    while (lks_ua_send(t->ua, &bytes))
        put(&t->agent, DEVICE, bytes, &t->rng, t->damage);
    while (lks_fd_send(t->d.fd, &peer, &bytes))
        put(&t->device, peer, bytes, &t->rng, t->damage);
    flush(&t->agent);
    flush(&t->device);
}

/* Time stands still while there are bytes on the line, and jumps when there are none. */
static void pass(struct talk *t)
{
    struct pollfd polls[2] = {{.fd = t->agent.fd, .events = POLLIN},
                              {.fd = t->device.fd, .events = POLLIN}};
    bool heard = false;
    if (poll(polls, 2, WAIT_MS) > 0) {
        heard = take(t, &t->agent);
        heard = take(t, &t->device) || heard;
    }
    if (heard || t->agent.out.len > 0 || t->device.out.len > 0)
        return;
    lks_ms agent = lks_ua_next(t->ua), device = lks_fd_next(t->d.fd);
    lks_ms next = agent < device ? agent : device;
    t->now = next != LKS_UA_NEVER && next > t->now ? next : t->now;
    lks_ua_tick(t->ua, t->now);
    lks_fd_tick(t->d.fd, t->now);
}

static void update_over_line(unsigned damage, uint64_t seed)
{
    struct lks_test_images images;
    struct lks_ua_outcome out = {0};
    struct talk t = {.damage = damage, .rng = {seed}};
    struct lks_err err = {0};
    int one, other;
    if (!CHECK(open_line(&one, &other)))
        return;
    end_init(&t.agent, one, AGENT);
    end_init(&t.device, other, DEVICE);
    lks_test_device_init(&t.d, 2);
    lks_test_device_begin(&t.d);
    lks_test_images_init(&images, 2, seed);
    struct lks_ua_options o = lks_test_images_options(&images, 2);
    LKS_ASSERT(lks_ua_new(&o, 0, &t.ua, &err) == LKS_OK);
    for (unsigned i = 0; i < STEPS && out.end == LKS_UA_RUNNING; i++) {
        speak(&t);
        pass(&t);
        lks_ua_outcome(t.ua, &out);
    }
    CHECK_INT(out.end, LKS_UA_DONE);
    CHECK(damage == 0 || t.agent.serial.broken + t.device.serial.broken > 0);
    for (size_t i = 0; i < 2; i++) {
        CHECK(lks_str_eq(lks_buf_view(&t.d.parts[i].active), lks_buf_view(&images.bytes[i])));
        CHECK_INT(t.d.parts[i].applied, 1);
    }
    lks_ua_free(t.ua);
    lks_test_device_fini(&t.d);
    lks_test_images_fini(&images);
    end_fini(&t.agent);
    end_fini(&t.device);
}

static void test_update(void)
{
    lks_test_case("a clean line");
    update_over_line(0, 1);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        lks_test_case("a bad line, seed %llu", (unsigned long long)seed);
        update_over_line(60, seed);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"frames", test_frames},
        {"lines", test_lines},
        {"any packet in any pieces", test_any},
        {"an update over a terminal line", test_update},
        {0},
    };
    return lks_test_main(tests);
}
