/* Texts of the state, by number: lks_state_text() in core/state/lookup.h. */
#ifndef LKS_ROWS_TEXT_H
#define LKS_ROWS_TEXT_H

#include <stdint.h>

typedef uint32_t lks_text; /* see lks_state_text(); 0 is the empty text; equal texts of one member
                             are equal numbers */

#endif
