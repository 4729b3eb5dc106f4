#include "server/base/intake.h"

#include <stdlib.h>
#include <string.h>

static const char *const side_words[LKS_SIDE_COUNT] = {"people", "agents"};
static const char *const limited_words[LKS_LIMITED_COUNT] = {
    [LKS_LIMITED_CALLS] = "calls",           [LKS_LIMITED_STREAMS] = "streams",
    [LKS_LIMITED_TRANSFERS] = "transfers",   [LKS_LIMITED_BODIES] = "bodies",
    [LKS_LIMITED_BODIES_ALL] = "bodies_all",
};

void lks_intake_fini(struct lks_intake *in)
{
    for (size_t i = 0; i < LKS_INTAKE_BUCKETS; i++) {
        for (struct lks_account *a = in->buckets[i], *next; a != NULL; a = next) {
            next = a->next;
            free(a);
        }
        in->buckets[i] = NULL;
    }
    in->accounts = 0;
}

static struct lks_account **bucket_of(struct lks_intake *in, struct lks_str key)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ in->seed;
    for (size_t i = 0; i < key.len; i++)
        h = (h ^ (uint8_t)key.ptr[i]) * UINT64_C(0x100000001b3);
    return &in->buckets[(h ^ h >> 29) % LKS_INTAKE_BUCKETS];
}

struct lks_account *lks_intake_open(struct lks_intake *in, struct lks_str key, enum lks_side side)
{
    struct lks_account **bucket = bucket_of(in, key);
    for (struct lks_account *a = *bucket; a != NULL; a = a->next) {
        if (a->side == side && lks_str_eq(lks_str_from(a->key), key))
            return lks_intake_ref(a);
    }
    struct lks_account *a = calloc(1, sizeof(*a) + key.len + 1);
    if (a == NULL)
        return NULL;
    memcpy(a->key, key.ptr, key.len);
    a->refs = 1;
    a->side = side;
    a->next = *bucket;
    *bucket = a;
    in->accounts++;
    return a;
}

struct lks_account *lks_intake_ref(struct lks_account *a)
{
    if (a != NULL)
        a->refs++;
    return a;
}

void lks_intake_close(struct lks_intake *in, struct lks_account *a)
{
    if (a == NULL || --a->refs > 0)
        return;
    struct lks_account **at = bucket_of(in, lks_str_from(a->key));
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    in->accounts--;
    free(a);
}

bool lks_intake_take(struct lks_intake *in, struct lks_account *a, enum lks_share share,
                     uint64_t most)
{
    static const enum lks_limited causes[LKS_SHARE_COUNT] = {LKS_LIMITED_CALLS, LKS_LIMITED_STREAMS,
                                                             LKS_LIMITED_TRANSFERS};
    if (most > 0 && a->shares[share] >= most) {
        in->limited[causes[share]]++;
        return false;
    }
    a->shares[share]++;
    return true;
}

void lks_intake_give(struct lks_account *a, enum lks_share share)
{
    LKS_ASSERT(a->shares[share] > 0);
    a->shares[share]--;
}

/* Whether `more` on top of `have` is within `most`, whatever their sizes. */
static bool fits(uint64_t have, uint64_t more, uint64_t most)
{
    return most == 0 || (have <= most && more <= most - have);
}

enum lks_limited lks_intake_hold(struct lks_intake *in, struct lks_account *a, uint64_t bytes,
                                 const struct lks_intake_memory *most)
{
    enum lks_limited why = LKS_LIMITED_COUNT;
    if (!fits(a->bytes, bytes, most->account))
        why = LKS_LIMITED_BODIES;
    else if (!fits(in->bytes[a->side], bytes, most->all))
        why = LKS_LIMITED_BODIES_ALL;
    if (why != LKS_LIMITED_COUNT)
        in->limited[why]++;
    else
        lks_intake_add(in, a, bytes);
    return why;
}

void lks_intake_add(struct lks_intake *in, struct lks_account *a, uint64_t bytes)
{
    a->bytes += bytes;
    in->bytes[a->side] += bytes;
    if (in->bytes[a->side] > in->peak[a->side])
        in->peak[a->side] = in->bytes[a->side];
}

void lks_intake_free(struct lks_intake *in, struct lks_account *a, uint64_t bytes)
{
    LKS_ASSERT(a->bytes >= bytes && in->bytes[a->side] >= bytes);
    a->bytes -= bytes;
    in->bytes[a->side] -= bytes;
}

static void put_sides(struct lks_buf *out, const char *name, const char *about,
                      const uint64_t values[LKS_SIDE_COUNT])
{
    lks_buf_addf(out, "# TYPE %s gauge\n# HELP %s %s\n", name, name, about);
    for (size_t i = 0; i < LKS_SIDE_COUNT; i++)
        lks_buf_addf(out, "%s{from=\"%s\"} %llu\n", name, side_words[i],
                     (unsigned long long)values[i]);
}

void lks_intake_metrics(const struct lks_intake *in, uint64_t most, struct lks_buf *out)
{
    put_sides(out, "lockstep_http_body_held_bytes",
              "Memory of request bodies in progress, what was parsed of them included.", in->bytes);
    put_sides(out, "lockstep_http_body_peak_bytes", "The most it was since the start.", in->peak);
    lks_buf_addf(out,
                 "# TYPE lockstep_http_body_limit_bytes gauge\n"
                 "# HELP lockstep_http_body_limit_bytes The most it may be for a new request to be "
                 "taken.\n"
                 "lockstep_http_body_limit_bytes %llu\n",
                 (unsigned long long)most);
    lks_buf_addf(out,
                 "# TYPE lockstep_http_callers gauge\n"
                 "# HELP lockstep_http_callers Identities and addresses with a call in "
                 "progress.\nlockstep_http_callers %zu\n",
                 in->accounts);
    lks_buf_addf(out,
                 "# TYPE lockstep_http_limited counter\n"
                 "# HELP lockstep_http_limited Requests turned away, by the limit they met.\n");
    for (size_t i = 0; i < LKS_LIMITED_COUNT; i++)
        lks_buf_addf(out, "lockstep_http_limited_total{limit=\"%s\"} %llu\n", limited_words[i],
                     (unsigned long long)in->limited[i]);
}
