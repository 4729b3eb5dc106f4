#include "agent/helper/wire.h"

#include "probe/root/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum lks_code lks_wire_connect(const char *path, int *fd, struct lks_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if ((size_t)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path) >=
        sizeof(address.sun_path))
        return lks_fail(err, LKS_E_INVALID, "%s: too long for the path of a socket", path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0)
        return lks_fail(err, LKS_E_IO, "cannot make a socket: %s", strerror(errno));
    if (connect(made, (struct sockaddr *)&address, sizeof(address)) != 0) {
        int number = errno;
        (void)close(made);
        return lks_fail(err, LKS_E_UNAVAILABLE, "the helper at %s does not answer: %s", path,
                        strerror(number));
    }
    *fd = made;
    return LKS_OK;
}

static enum lks_code wait_for(int fd, short events, int64_t until, struct lks_err *err)
{
    struct pollfd p = {.fd = fd, .events = events};
    int64_t left = until - lks_clock_ms();
    int ready = poll(&p, 1, left > 0 ? (int)left : 0);
    if (ready < 0 && errno != EINTR)
        return lks_fail(err, LKS_E_IO, "cannot wait for a socket: %s", strerror(errno));
    if (ready <= 0 && lks_clock_ms() >= until)
        return lks_fail(err, LKS_E_TIMEOUT, "the peer of the socket is too slow");
    return LKS_OK;
}

static enum lks_code send_all(int fd, struct lks_str bytes, int64_t until, struct lks_err *err)
{
    for (size_t sent = 0; sent < bytes.len;) {
        ssize_t n = send(fd, bytes.ptr + sent, bytes.len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return lks_fail(err, LKS_E_UNAVAILABLE, "the peer of the socket is gone: %s",
                            strerror(errno));
        if (n < 0 && wait_for(fd, POLLOUT, until, err) != LKS_OK)
            return err->code;
        sent += n > 0 ? (size_t)n : 0;
    }
    return LKS_OK;
}

enum lks_code lks_wire_send(int fd, const char *line, struct lks_str body, int64_t until,
                            struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf head = LKS_BUF(256);
    size_t size = strlen(line) + 1 + body.len;
    LKS_ASSERT(size <= LKS_WIRE_ANSWER_MAX);
    for (int shift = 24; shift >= 0; shift -= 8)
        lks_buf_addc(&head, (char)(size >> shift & 0xff));
    lks_buf_addf(&head, "%s\n", line);
    if (lks_buf_check(&head, err) != LKS_OK ||
        send_all(fd, lks_buf_view(&head), until, err) != LKS_OK)
        return err->code;
    return send_all(fd, body, until, err);
}

enum lks_code lks_wire_whole(struct lks_str bytes, size_t max, bool *whole, struct lks_str *content,
                             struct lks_err *err)
{
    *whole = false;
    if (bytes.len < LKS_WIRE_LENGTH)
        return LKS_OK;
    size_t size = 0;
    for (size_t i = 0; i < LKS_WIRE_LENGTH; i++)
        size = size << 8 | (unsigned char)bytes.ptr[i];
    if (size > max)
        return lks_fail(err, LKS_E_INVALID, "a message of %zu bytes; %zu are the most", size, max);
    if (bytes.len > LKS_WIRE_LENGTH + size)
        return lks_fail(err, LKS_E_INVALID, "something follows the message");
    *whole = bytes.len == LKS_WIRE_LENGTH + size;
    *content = (struct lks_str){bytes.ptr + LKS_WIRE_LENGTH, bytes.len - LKS_WIRE_LENGTH};
    return LKS_OK;
}

enum lks_code lks_wire_recv(int fd, size_t max, int64_t until, struct lks_buf *out,
                            struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf bytes = {0};
    struct lks_str content = {0};
    bool whole = false;
    char piece[4096];
    lks_buf_init(&bytes, max + LKS_WIRE_LENGTH + sizeof(piece));
    while (!whole) {
        if (wait_for(fd, POLLIN, until, err) != LKS_OK)
            return err->code;
        ssize_t n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n <= 0)
            return lks_fail(err, LKS_E_UNAVAILABLE, "the peer of the socket is gone");
        lks_buf_add(&bytes, (struct lks_str){piece, (size_t)n});
        if (lks_buf_check(&bytes, err) != LKS_OK ||
            lks_wire_whole(lks_buf_view(&bytes), max, &whole, &content, err) != LKS_OK)
            return err->code;
    }
    lks_buf_init(out, max);
    lks_buf_add(out, content);
    return lks_buf_check(out, err);
}

enum lks_code lks_wire_answer(struct lks_str content, enum lks_outcome *outcome,
                              struct lks_str *text, struct lks_err *err)
{
    struct lks_str word, rest;
    uint64_t number = 0;
    if (!lks_str_cut(content, '\n', &word, &rest) ||
        !lks_record_word_find(lks_outcome_words, word, &number))
        return lks_fail(err, LKS_E_INVALID, "the helper's answer has no outcome");
    *outcome = (enum lks_outcome)number;
    *text = rest;
    return LKS_OK;
}
