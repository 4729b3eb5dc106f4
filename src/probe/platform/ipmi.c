#include "probe/platform/ipmi.h"

#include "probe/root/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NETFN_APP         0x06
#define CMD_GET_DEVICE_ID 0x01
#define MESSAGE_ID        1
#define ANSWER_MAX        64 /* bytes; 16 are expected */
#define STRANGERS_MAX     32 /* messages that are no answer to ours */

static enum lks_code fail_errno(struct lks_err *err, const char *path, int number)
{
    if (lks_root_fail(err, path, number) == LKS_E_NOT_FOUND)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: no controller behind it", path);
    return err->code;
}

static enum lks_code send_request(int fd, const char *path, struct lks_err *err)
{
    struct ipmi_system_interface_addr bmc = {
        .addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE,
        .channel = IPMI_BMC_CHANNEL,
    };
    struct ipmi_req request = {
        .addr = (unsigned char *)&bmc,
        .addr_len = sizeof(bmc),
        .msgid = MESSAGE_ID,
        .msg = {.netfn = NETFN_APP, .cmd = CMD_GET_DEVICE_ID},
    };
    if (ioctl(fd, IPMICTL_SEND_COMMAND, &request) != 0)
        return fail_errno(err, path, errno);
    return LKS_OK;
}

/* Take one message off the queue; `*ours` says whether it is the answer. */
static enum lks_code receive(int fd, const char *path, bool *ours, struct lks_buf *out,
                             struct lks_err *err)
{
    struct ipmi_addr from = {0};
    unsigned char data[ANSWER_MAX];
    struct ipmi_recv message = {
        .addr = (unsigned char *)&from,
        .addr_len = sizeof(from),
        .msg = {.data = data, .data_len = sizeof(data)},
    };
    *ours = false;
    /* A message that was cut comes as EMSGSIZE, with what fits of it. */
    if (ioctl(fd, IPMICTL_RECEIVE_MSG_TRUNC, &message) != 0 && errno != EMSGSIZE) {
        if (errno == EAGAIN || errno == EINTR)
            return LKS_OK;
        return fail_errno(err, path, errno);
    }
    *ours = message.recv_type == IPMI_RESPONSE_RECV_TYPE && message.msgid == MESSAGE_ID &&
            message.msg.netfn == (NETFN_APP | 1) && message.msg.cmd == CMD_GET_DEVICE_ID &&
            message.msg.data_len <= sizeof(data);
    for (size_t i = 0; *ours && i < message.msg.data_len; i++)
        lks_buf_addf(out, "%s%02x", i > 0 ? " " : "", data[i]);
    return LKS_OK;
}

static enum lks_code wait_answer(int fd, const char *path, struct lks_buf *out, struct lks_err *err)
{
    int64_t until = lks_clock_ms() + LKS_IPMI_WAIT_MS;
    for (int strangers = 0; strangers < STRANGERS_MAX;) {
        int64_t left = until - lks_clock_ms();
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int n = left > 0 ? poll(&wait, 1, (int)left) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(err, path, errno);
        if (n == 0)
            break;
        bool ours = false;
        if (receive(fd, path, &ours, out, err) != LKS_OK)
            return err->code;
        if (ours)
            return lks_buf_check(out, err);
        strangers++;
    }
    return lks_fail(err, LKS_E_TIMEOUT, "%s: the controller did not answer within %d ms", path,
                    LKS_IPMI_WAIT_MS);
}

enum lks_code lks_ipmi_get_device_id(void *ctx, struct lks_buf *out, struct lks_err *err)
{
    const struct lks_ipmi *ipmi = ctx;
    const char *path = ipmi->path;
    lks_root_patience_ms(ipmi->root, LKS_IPMI_WAIT_MS);
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, path, errno);
    enum lks_code code = send_request(fd, path, err);
    if (code == LKS_OK)
        code = wait_answer(fd, path, out, err);
    (void)close(fd);
    return code;
}

/* The answer --------------------------------------------------------------------------------- */

/* Offsets behind the completion code. */
enum {
    FIRMWARE_1 = 3,
    FIRMWARE_2 = 4,
    MANUFACTURER = 7,
    PRODUCT = 10,
    AUXILIARY = 12,
    LENGTH_MIN = 12,
    LENGTH_WITH_AUX = 16,
};

/* How many bytes were read; 0 when the line is not written as it should be. */
static size_t parse_bytes(struct lks_str line, unsigned char out[ANSWER_MAX])
{
    size_t n = 0;
    struct lks_str word;
    uint64_t byte;
    while (lks_str_word(&line, &word)) {
        if (word.len != 2 || !lks_str_hex(word, UINT8_MAX, &byte) || n == ANSWER_MAX)
            return 0;
        out[n++] = (unsigned char)byte;
    }
    return n;
}

enum lks_code lks_ipmi_device_parse(struct lks_str line, struct lks_ipmi_device *out,
                                    struct lks_err *err)
{
    unsigned char b[ANSWER_MAX] = {0};
    size_t n = parse_bytes(line, b);
    if (n == 0)
        return lks_fail(err, LKS_E_INVALID, "Get Device ID: not an answer");
    if (b[0] != 0)
        return lks_fail(err, LKS_E_INVALID,
                        "Get Device ID: the controller answers with error 0x%02x", b[0]);
    if (n < LENGTH_MIN)
        return lks_fail(err, LKS_E_INVALID, "Get Device ID: an answer of %zu bytes, not %d", n,
                        LENGTH_MIN);
    *out = (struct lks_ipmi_device){
        .major = b[FIRMWARE_1] & 0x7f,
        .minor = b[FIRMWARE_2],
        .busy = (b[FIRMWARE_1] & 0x80) != 0,
        .manufacturer = b[MANUFACTURER] | (unsigned)b[MANUFACTURER + 1] << 8 |
                        (unsigned)(b[MANUFACTURER + 2] & 0x0f) << 16,
        .product = b[PRODUCT] | (unsigned)b[PRODUCT + 1] << 8,
        .has_aux = n >= LENGTH_WITH_AUX,
    };
    if (out->has_aux)
        memcpy(out->aux, b + AUXILIARY, sizeof(out->aux));
    return LKS_OK;
}
