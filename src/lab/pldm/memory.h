/*
 * Requests that were heard, to know them again. A requester repeats what is not answered with the
 * same instance number, and a network may deliver a request twice; the responder must not carry out
 * the second.
 *
 * The same bytes under the same instance number are the same request for 6 s, the longest that the
 * number may stay in use. They are a new one, though, when half of all numbers were used since: a
 * fast requester comes round to the same number, and some requests have the same bytes each time.
 */
#ifndef LKS_PLDM_MEMORY_H
#define LKS_PLDM_MEMORY_H

#include "base/time.h"
#include "lab/pldm/message.h"

struct lks_pldm_memory {
    struct {
        uint64_t hash;
        lks_ms at;
        uint64_t number; /* how many requests were heard up to it; 0: none under this instance */
        uint8_t peer;
    } heard[LKS_PLDM_INSTANCES];
    uint64_t count;
};

/* Take note of a request; true when it was heard before. */
bool lks_pldm_memory_note(struct lks_pldm_memory *memory, lks_ms now, uint8_t peer,
                          uint8_t instance, struct lks_str bytes);

#endif
