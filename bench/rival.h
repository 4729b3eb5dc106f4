/* The rival of heartbeats: the HTTP library alone, in its own loop with the same TLS, which asks
 * for certificates too and answers "ok" without looking. */
#ifndef LKS_BENCH_RIVAL_H
#define LKS_BENCH_RIVAL_H

#include "base/str.h"

#include <sys/types.h>

struct bench_rival {
    pid_t pid;
    unsigned port; /* on 127.0.0.1 */
};

/* Texts are PEM, terminated. Serve in this process, telling its port as an unsigned number; or in
 * another one, on the cores this one is on, which bench_end() ends. */
_Noreturn void bench_rival_serve(int tell, const char *certificate, const char *key,
                                 const char *trust);
struct bench_rival bench_rival_start(const char *certificate, const char *key, const char *trust);

#endif
