#include "bench/rival.h"

#include "bench/measure.h"

#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { POOL_BYTES = 8192, CONNECTIONS = 30000 };

static enum MHD_Result say_ok(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **context)
{
    (void)url, (void)method, (void)version, (void)data;
    if (*context == NULL) {
        *context = cls;
        return MHD_YES;
    }
    if (*size > 0) {
        *size = 0;
        return MHD_YES;
    }
    return MHD_queue_response(connection, MHD_HTTP_OK, cls);
}

_Noreturn void bench_rival_serve(int tell, const char *certificate, const char *key,
                                 const char *trust)
{
    static char answer[] = "ok";
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(answer), answer, MHD_RESPMEM_PERSISTENT);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_TLS, 0, NULL, NULL, say_ok, response,
        MHD_OPTION_HTTPS_MEM_KEY, key, MHD_OPTION_HTTPS_MEM_CERT, certificate,
        MHD_OPTION_HTTPS_MEM_TRUST, trust, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_END);
    if (daemon == NULL)
        bench_die("libmicrohttpd", "it does not start");
    unsigned port = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    if (write(tell, &port, sizeof(port)) != sizeof(port))
        _exit(1);
    for (;;)
        pause();
}

struct bench_rival bench_rival_start(const char *certificate, const char *key, const char *trust)
{
    struct bench_rival r = {0};
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0)
        bench_die("libmicrohttpd", strerror(errno));
    r.pid = fork();
    if (r.pid < 0)
        bench_die("libmicrohttpd", strerror(errno));
    if (r.pid == 0)
        bench_rival_serve(ends[1], certificate, key, trust);
    close(ends[1]);
    if (read(ends[0], &r.port, sizeof(r.port)) != sizeof(r.port))
        bench_die("libmicrohttpd", "it did not start");
    close(ends[0]);
    return r;
}
