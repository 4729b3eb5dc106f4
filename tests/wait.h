/* Waiting in tests. A test waits for an event, and the event decides: machines are slow, busy or
 * paused, and a test says the same on all of them. The one limit below is for events that never
 * come. A test asserts that something does not happen by waiting for a later event, not for a time.
 *
 *     for (struct lks_wait w = {0}; !happened() && lks_wait(&w);) {
 *     }
 *     CHECK(happened());
 */
#ifndef LKS_TESTS_WAIT_H
#define LKS_TESTS_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* The limit of every wait, and of clients, sockets and programs that a test uses. */
#define LKS_WAIT_MS (10 * 60 * 1000)

struct lks_wait {
    int64_t until; /* 0: it starts with the first call */
    unsigned rest_ms;
};

/* Rest a little; false once the limit has passed. */
bool lks_wait(struct lks_wait *w);

/* The same without a rest, for loops whose work itself waits for events. */
bool lks_wait_on(struct lks_wait *w);

/* Sleep: the pace of a loop, never the reason why something has happened behind it. */
void lks_rest(unsigned ms);

#endif
