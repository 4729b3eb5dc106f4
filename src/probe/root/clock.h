/* The clock that deadlines are kept by. */
#ifndef LKS_PROBE_CLOCK_H
#define LKS_PROBE_CLOCK_H

#include <stdint.h>

/* Milliseconds since some moment before; never decreases. */
int64_t lks_clock_ms(void);

#endif
