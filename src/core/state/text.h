/* Texts of the state, by number: core/state/state.h. */
#ifndef LKS_CORE_TEXT_H
#define LKS_CORE_TEXT_H

#include <stdint.h>

typedef uint32_t lks_text; /* see lks_state_text(); 0 is the empty text; equal texts of one member
                             are equal numbers */

#endif
