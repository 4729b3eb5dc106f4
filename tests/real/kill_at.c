/* Preloaded into lockstepd: calls of its libraries go through here, are counted, and the one that a
 * test chose is its last. The program itself is the one that is shipped. */
#include "tests/real/kill_at.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define JOURNAL_END "-wal"

/* Calls of OpenSSL, which libcurl talks to BMCs with, and of GnuTLS, which serves agents. Their
 * headers are not needed for pointers that are passed on. */
int SSL_write(void *ssl, const void *bytes, int size);
int SSL_read(void *ssl, void *bytes, int size);
ssize_t gnutls_record_send(void *session, const void *bytes, size_t size);
ssize_t gnutls_record_recv(void *session, void *bytes, size_t size);

static struct kill_plan *plan;       /* NULL: nobody asked for anything */
static _Thread_local bool in_commit; /* rows are being written */

static int (*real_ssl_write)(void *, const void *, int);
static int (*real_ssl_read)(void *, void *, int);
static ssize_t (*real_record_send)(void *, const void *, size_t);
static ssize_t (*real_record_recv)(void *, void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static int (*real_fdatasync)(int);

/* dlsym() gives a pointer to an object; C wants the bytes moved to make it one to a function. */
static void find(const char *name, void *call, size_t size)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL) {
        (void)fprintf(stderr, "kill_at: %s is not there\n", name);
        abort();
    }
    memcpy(call, &symbol, size);
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv(KILL_FILE_VARIABLE);
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *map =
        fd >= 0 ? mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        (void)close(fd);
    plan = map != MAP_FAILED ? map : NULL;
    find("SSL_write", &real_ssl_write, sizeof(real_ssl_write));
    find("SSL_read", &real_ssl_read, sizeof(real_ssl_read));
    find("gnutls_record_send", &real_record_send, sizeof(real_record_send));
    find("gnutls_record_recv", &real_record_recv, sizeof(real_record_recv));
    find("pwrite64", &real_pwrite, sizeof(real_pwrite));
    find("fdatasync", &real_fdatasync, sizeof(real_fdatasync));
}

/* It dies here if this is what was chosen: once, so whoever comes after it lives on. */
static void pass(enum kill_moment moment)
{
    if (plan == NULL)
        return;
    unsigned count = atomic_fetch_add(&plan->counts[moment], 1) + 1;
    if (atomic_load(&plan->moment) != moment || atomic_load(&plan->at) != count)
        return;
    atomic_store(&plan->at, 0);
    (void)kill(getpid(), SIGKILL);
    for (;;)
        (void)pause();
}

static bool is_journal(int fd)
{
    char link[64], path[4096];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof(path));
    size_t end = strlen(JOURNAL_END);
    return len > (ssize_t)end && memcmp(path + len - end, JOURNAL_END, end) == 0;
}

/* The first part of an answer, which says how it went. */
static bool is_answer(const void *bytes, ssize_t size)
{
    return size > 8 && memcmp(bytes, "HTTP/1.1", 8) == 0;
}

/* The store --------------------------------------------------------------------------------- */

ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t offset)
{
    if (!in_commit && is_journal(fd)) {
        pass(KILL_COMMIT);
        in_commit = true;
    }
    return real_pwrite(fd, buf, n, offset);
}

int fdatasync(int fildes)
{
    int result = real_fdatasync(fildes);
    if (in_commit && result == 0 && is_journal(fildes)) {
        in_commit = false;
        pass(KILL_DURABLE);
    }
    return result;
}

/* BMCs -------------------------------------------------------------------------------------- */

int SSL_write(void *ssl, const void *bytes, int size)
{
    int result = real_ssl_write(ssl, bytes, size);
    if (result > 0)
        pass(KILL_BMC_SENT);
    return result;
}

int SSL_read(void *ssl, void *bytes, int size)
{
    int result = real_ssl_read(ssl, bytes, size);
    if (is_answer(bytes, result))
        pass(KILL_BMC_ANSWERED);
    return result;
}

/* Agents ------------------------------------------------------------------------------------ */

/* What a session was asked last, so that its answer is known for what it is. Sessions that share a
 * place here are miscounted, and nothing else comes of it. */
static atomic_bool *beat_of(const void *session)
{
    static atomic_bool beats[4096];
    return &beats[((uintptr_t)session >> 4) % 4096];
}

ssize_t gnutls_record_recv(void *session, void *bytes, size_t size)
{
    static const char beat[] = "POST /v1/agent/beat", *const methods[] = {"GET ", "POST ", "PUT "};
    ssize_t result = real_record_recv(session, bytes, size);
    if (result <= (ssize_t)strlen(beat))
        return result;
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (memcmp(bytes, methods[i], strlen(methods[i])) != 0)
            continue;
        *beat_of(session) = memcmp(bytes, beat, strlen(beat)) == 0;
        if (!*beat_of(session))
            pass(KILL_AGENT_ASKED);
    }
    return result;
}

ssize_t gnutls_record_send(void *session, const void *bytes, size_t size)
{
    ssize_t result = real_record_send(session, bytes, size);
    if (is_answer(bytes, result) && !*beat_of(session))
        pass(KILL_AGENT_ANSWERED);
    return result;
}
