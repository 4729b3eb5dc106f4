/* What Ctrl-C says during a command that only watches something: what goes on without it, and how
 * to stop that. */
#ifndef LKS_BASE_INTERRUPT_H
#define LKS_BASE_INTERRUPT_H

#include "base/compiler.h"

/* From now on SIGINT prints this line on standard error and ends the program, as SIGINT does: a
 * shell sees status 130. A SIGINT that is ignored stays so. The last note counts. */
void lks_interrupt_note(const char *fmt, ...) LKS_PRINTF(1, 2);

/* The note no longer holds: from now on SIGINT prints nothing. */
void lks_interrupt_end(void);

#endif
