#include "lab/pldm/memory.h"

enum { LIFETIME = 6 * 1000 };

/* FNV-1a: to know the same bytes again, not to withstand anyone who wants to deceive. */
static uint64_t hash_of(struct lks_str bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes.len; i++)
        hash = (hash ^ (uint8_t)bytes.ptr[i]) * UINT64_C(0x100000001b3);
    return hash;
}

bool lks_pldm_memory_note(struct lks_pldm_memory *memory, lks_ms now, uint8_t peer,
                          uint8_t instance, struct lks_str bytes)
{
    LKS_ASSERT(instance < LKS_PLDM_INSTANCES);
    uint64_t hash = hash_of(bytes);
    bool again = memory->heard[instance].number > 0 && memory->heard[instance].hash == hash &&
                 memory->heard[instance].peer == peer &&
                 now - memory->heard[instance].at < LIFETIME &&
                 memory->count - memory->heard[instance].number < LKS_PLDM_INSTANCES / 2;
    if (again)
        return true;
    memory->heard[instance].hash = hash;
    memory->heard[instance].at = now;
    memory->heard[instance].peer = peer;
    memory->heard[instance].number = ++memory->count;
    return false;
}
