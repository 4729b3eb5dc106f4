#include "probe/network/netlink.h"

#include "probe/root/root.h"

#include "codec/machine/nlattr.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* The kernel answers while the request is being sent: what is not there then hardly comes. Four
 * questions in a row stay below the shortest silence a probe may be granted, a second. */
enum { SEQUENCE = 1, WAIT_MS = 200, STRAYS_MAX = 16 };

enum lks_code lks_netlink_fail(struct lks_err *err, const char *what, int number)
{
    if (number == EOPNOTSUPP)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: the driver does not answer this", what);
    if (number == EAGAIN || number == ETIMEDOUT)
        return lks_fail(err, LKS_E_TIMEOUT, "%s: no answer", what);
    if (number == ESRCH || number == ENOTDIR || number == ELOOP) /* says nothing about a path */
        return lks_fail(err, LKS_E_IO, "%s: %s", what, strerror(number));
    return lks_root_fail(err, what, number);
}

static void close_fd(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

static enum lks_code send_request(int fd, const struct lks_netlink *to, struct lks_str payload,
                                  struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf message = LKS_BUF(LKS_NETLINK_REPLY_MAX);
    struct nlmsghdr head = {
        .nlmsg_len = (uint32_t)(sizeof(head) + payload.len),
        .nlmsg_type = to->type,
        .nlmsg_flags = NLM_F_REQUEST,
        .nlmsg_seq = SEQUENCE,
    };
    lks_buf_add(&message, (struct lks_str){(const char *)&head, sizeof(head)});
    lks_buf_add(&message, payload);
    if (lks_buf_check(&message, err) != LKS_OK)
        return err->code;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t n =
        sendto(fd, message.ptr, message.len, 0, (const struct sockaddr *)&kernel, sizeof(kernel));
    return n == (ssize_t)message.len ? LKS_OK : lks_netlink_fail(err, to->what, errno);
}

/* One datagram; its first message is the answer or the refusal. `*mine` is false for a message that
 * answers something else. */
static enum lks_code take_message(const char *what, struct lks_str bytes, struct lks_buf *reply,
                                  bool *mine, struct lks_err *err)
{
    struct nlmsghdr head;
    if (bytes.len < sizeof(head))
        return lks_fail(err, LKS_E_INVALID, "%s: an answer of %zu bytes", what, bytes.len);
    memcpy(&head, bytes.ptr, sizeof(head));
    if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > bytes.len)
        return lks_fail(err, LKS_E_INVALID, "%s: an answer that is cut off", what);
    *mine = head.nlmsg_seq == SEQUENCE;
    if (!*mine)
        return LKS_OK;
    struct lks_str payload = {bytes.ptr + sizeof(head), head.nlmsg_len - sizeof(head)};
    if (head.nlmsg_type == NLMSG_ERROR) {
        int number = 0;
        if (payload.len >= sizeof(number))
            memcpy(&number, payload.ptr, sizeof(number));
        return lks_netlink_fail(err, what, number < 0 ? -number : EPROTO);
    }
    lks_buf_add(reply, payload);
    return lks_buf_check(reply, err);
}

static enum lks_code receive(int fd, const char *what, struct lks_buf *reply, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf room = LKS_BUF(LKS_NETLINK_REPLY_MAX);
    lks_buf_pad(&room, '\0', (ptrdiff_t)LKS_NETLINK_REPLY_MAX);
    if (lks_buf_check(&room, err) != LKS_OK)
        return err->code;
    for (int i = 0; i < STRAYS_MAX; i++) {
        struct sockaddr_nl from = {0};
        socklen_t from_len = sizeof(from);
        ssize_t n = recvfrom(fd, room.ptr, room.len, 0, (struct sockaddr *)&from, &from_len);
        if (n < 0 && errno != EINTR)
            return lks_netlink_fail(err, what, errno);
        if (n < 0 || from.nl_pid != 0) /* not the kernel */
            continue;
        bool mine = false;
        if (take_message(what, (struct lks_str){room.ptr, (size_t)n}, reply, &mine, err) != LKS_OK)
            return err->code;
        if (mine)
            return LKS_OK;
    }
    return lks_fail(err, LKS_E_IO, "%s: answers to other questions alone", what);
}

enum lks_code lks_netlink_ask(const struct lks_netlink *to, struct lks_str payload,
                              struct lks_buf *reply, struct lks_err *err)
{
    LKS_CLEANUP(close_fd) int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, to->protocol);
    struct timeval wait = {.tv_usec = WAIT_MS * 1000L};
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) != 0)
        return lks_netlink_fail(err, to->what, errno);
    if (send_request(fd, to, payload, err) != LKS_OK)
        return err->code;
    return receive(fd, to->what, reply, err);
}

static void add_genl_head(struct lks_buf *out, uint8_t command, uint8_t version)
{
    struct genlmsghdr head = {.cmd = command, .version = version};
    lks_buf_add(out, (struct lks_str){(const char *)&head, sizeof(head)});
}

/* Append the attributes of the answer alone. */
static enum lks_code ask_genl(uint16_t id, const struct lks_genl *to, struct lks_str attrs,
                              struct lks_buf *reply, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = {0}, answer = {0};
    lks_buf_init(&request, LKS_NETLINK_REPLY_MAX);
    lks_buf_init(&answer, LKS_NETLINK_REPLY_MAX);
    add_genl_head(&request, to->command, to->version);
    lks_buf_add(&request, attrs);
    const struct lks_netlink kernel = {to->what, NETLINK_GENERIC, id};
    if (lks_buf_check(&request, err) != LKS_OK ||
        lks_netlink_ask(&kernel, lks_buf_view(&request), &answer, err) != LKS_OK)
        return err->code;
    if (answer.len < GENL_HDRLEN)
        return lks_fail(err, LKS_E_INVALID, "%s: an answer that is cut off", to->what);
    lks_buf_add(reply, (struct lks_str){answer.ptr + GENL_HDRLEN, answer.len - GENL_HDRLEN});
    return lks_buf_check(reply, err);
}

enum lks_code lks_netlink_genl_ask(const struct lks_genl *to, struct lks_str attrs,
                                   struct lks_buf *reply, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf name = {0}, family = {0};
    lks_buf_init(&name, LKS_NETLINK_REPLY_MAX);
    lks_buf_init(&family, LKS_NETLINK_REPLY_MAX);
    lks_nlattr_add_text(&name, CTRL_ATTR_FAMILY_NAME, lks_str_from(to->family));
    const struct lks_genl control = {to->what, "nlctrl", CTRL_CMD_GETFAMILY, 1};
    enum lks_code code = ask_genl(GENL_ID_CTRL, &control, lks_buf_view(&name), &family, err);
    if (code == LKS_E_NOT_FOUND)
        return lks_fail(err, LKS_E_UNAVAILABLE, "%s: this kernel has no %s", to->what, to->family);
    if (code != LKS_OK)
        return code;
    uint16_t id = 0;
    struct lks_str data = lks_nlattr_find(lks_buf_view(&family), CTRL_ATTR_FAMILY_ID);
    if (data.len != sizeof(id))
        return lks_fail(err, LKS_E_INVALID, "%s: no number for %s", to->what, to->family);
    memcpy(&id, data.ptr, sizeof(id));
    return ask_genl(id, to, attrs, reply, err);
}
