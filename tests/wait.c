#include "tests/wait.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum { REST_MAX_MS = 20 }; /* a look may cost the machine more than the event does */

static int64_t now_ms(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void lks_rest(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

bool lks_wait_on(struct lks_wait *w)
{
    int64_t now = now_ms();
    if (w->until == 0)
        w->until = now + LKS_WAIT_MS;
    if (now < w->until)
        return true;
    printf("waited for %d s, in vain\n", LKS_WAIT_MS / 1000);
    return false;
}

bool lks_wait(struct lks_wait *w)
{
    w->rest_ms += w->rest_ms < REST_MAX_MS;
    lks_rest(w->rest_ms);
    return lks_wait_on(w);
}
