#include "agent/hooks/job_env.h"

#include "base/compiler.h"

#include <inttypes.h>
#include <stdio.h>

#define FNV_BASIS UINT32_C(0x811c9dc5)
#define FNV_PRIME UINT32_C(0x01000193)

enum { DIGITS = 8 };

static const char *const words[LKS_JOB_ENV_COUNT] = {
    [LKS_JOB_ENV_STACK] = "stack", [LKS_JOB_ENV_JOB] = "job", [LKS_JOB_ENV_FORCED] = "forced"};

uint32_t lks_job_env_hash(struct lks_str value)
{
    uint32_t hash = FNV_BASIS;
    for (size_t i = 0; i < value.len; i++)
        hash = (hash ^ (unsigned char)value.ptr[i]) * FNV_PRIME;
    return hash;
}

bool lks_job_env_next(struct lks_str *rest, struct lks_str *name, uint32_t *hash)
{
    struct lks_str word, source, digits;
    uint64_t number = 0;
    while (lks_str_word(rest, &word)) {
        if (!lks_str_cut(word, '=', name, &source) || !lks_str_cut(source, ':', &source, &digits) ||
            !lks_str_is_variable(*name) || digits.len != DIGITS ||
            !lks_str_hex(digits, UINT32_MAX, &number))
            continue;
        if (!lks_str_is(source, words[LKS_JOB_ENV_STACK]) &&
            !lks_str_is(source, words[LKS_JOB_ENV_FORCED]))
            continue;
        *hash = (uint32_t)number;
        return true;
    }
    return false;
}

enum lks_job_env_source lks_job_env_decide(bool set, bool force)
{
    if (!set)
        return LKS_JOB_ENV_STACK;
    return force ? LKS_JOB_ENV_FORCED : LKS_JOB_ENV_JOB;
}

void lks_job_env_word(enum lks_job_env_source source, struct lks_str value,
                      char out[LKS_JOB_ENV_MORE_SIZE])
{
    if (source == LKS_JOB_ENV_JOB)
        snprintf(out, LKS_JOB_ENV_MORE_SIZE, "=%s", words[source]);
    else
        snprintf(out, LKS_JOB_ENV_MORE_SIZE, "=%s:%08" PRIx32, words[source],
                 lks_job_env_hash(value));
}
