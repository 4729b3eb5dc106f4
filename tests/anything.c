#include "tests/anything.h"

#include "base/str.h"
#include "core/rows/change.h"
#include "core/state/state.h"
#include "model/record/record.h"

enum { NEWEST = 3 };

/* A line of what does not conform. */
#define WRONG(subject, value) subject "\tother version\t0\t" value "\t\n"

#define PRINT(digit) "sha256:000000000000000000000000000000000000000000000000000000000000000" digit

/* What a text of this key may be; others are "", "a" or "b". */
static const struct {
    const char *key;
    const char *values[8];
} vocabulary[] = {
    {"node", {"n1", "n2", "n3", "n4", "n5", "n6", "nobody", ""}},
    {"hosts", {"n1", "n2", "n[1-4]", "n[4-6]", "n6,n1", "n[", "", "x1"}},
    {"what", {"n1", "n2", "n3", "n4", "n5", "n6", "late", ""}},
    {"pool", {"train", "dev", "lab", "", "train", "dev", "train", "dev"}},
    {"name", {"train", "dev", "lab", "train", "dev", "train", "", "dev"}},
    {"digest", {"d1", "d2", "d3", "d1", "d2", "d1", "d1", ""}},
    {"readings", {"r1", "r2", "r1", "r1", "r1", "r1", "r1", ""}},
    {"stack", {"s1", "s2", "", "s1", "s1", "s1", "s1", "s1"}},
    {"basis", {"d1", "d2", "d3", "d1", "d2", "d1", "d1", ""}},
    {"whole", {"d1", "d2", "d3", "d1", "d2", "d1", "d3", ""}},
    {"wrong",
     {WRONG("driver", "1"), WRONG("nic", "2") WRONG("driver", "1"), "", "a", WRONG("nic", "3"),
      WRONG("driver", "2"), "", ""}},
    {"values",
     {"driver\t1\nnccl\t\n", "driver\t2\n", "driver\t1\n", "driver\t1\nnccl\t7\n", "a",
      "driver\t1\nnccl\t8\n", "", "driver\t1\n"}},
    {"subject", {"driver", "nic", "*", "driver", "nic", "driver", "kernel", ""}},
    {"value", {"", "1", "2", "", "", "3", "", ""}},
    {"owner", {"kim", "lockstep:drift", "", "kim", "kim", "kim", "kim", "kim"}},
    {"domain", {"", "r1", "r2", "r1", "r1", "", "r2", "r1"}},
    {"stack_digest", {"s1", "s2", "", "s1", "s1", "s1", "s1", "s1"}},
    {"asset", {"", "", "", "", "", "", "", "switch-tray"}},
    {"metric", {"train", "dev", "train", "dev", "lab", "train", "", "none"}},
    {"pools", {"train", "train dev", "", "lab", "train", "dev", "train", "train"}},
    {"margin", {"1", "0.5", "", "-2", "1e3", "x", "2.25", "0"}},
    {"alpha", {"0.05", "0.1", "", "0.05", "0.01", "-", "0.05", "0.05"}},
    {"normal", {"0.001", "", "", "1e-9", "-", "0", "3", "-1"}},
    {"before", {"100", "0.125", "", "-1", "a", "1e-300", "372.5", "100"}},
    {"after", {"99", "0.1", "", "0", "b", "1e300", "371.25", "100"}},
    {"journal",
     {"0123456789abcdef0123456789abcdef", "j", "", "more than thirty-three characters", "j", "j",
      "j", "j"}},
    {"fingerprint",
     {PRINT("1"), PRINT("2"), PRINT("3"), PRINT("4"), "", PRINT("5"), "sha256:6",
      "longer than any digest there is: 0123456789012345678901234567890123456789"}},
};

static struct lks_str any_text(struct lks_rng *rng, const char *key)
{
    static const char *const others[] = {"", "a", "b", "a"};
    for (size_t i = 0; i < LKS_COUNT(vocabulary); i++) {
        if (strcmp(vocabulary[i].key, key) == 0)
            return lks_str_from(vocabulary[i].values[lks_rng_below(rng, 8)]);
    }
    return lks_str_from(others[lks_rng_below(rng, LKS_COUNT(others))]);
}

static uint64_t largest_id(const struct lks_state *s)
{
    uint64_t id = s->next_alarm > s->next_command ? s->next_alarm : s->next_command;
    id = s->next_deviation > id ? s->next_deviation : id;
    id = s->next_change > id ? s->next_change : id;
    return s->next_flash > id ? s->next_flash : id;
}

/* Mostly of a size that means something, now and then out of all bounds. */
static uint64_t any_number(struct lks_rng *rng, const struct lks_state *s, const char *key)
{
    static const uint64_t wild[] = {UINT64_MAX, UINT32_MAX, 0, 1000};
    static const char *const few[] = {"recipe", "index", "wave", "step"};
    if (lks_rng_percent(rng, 2) && strcmp(key, "count") != 0)
        return wild[lks_rng_below(rng, LKS_COUNT(wild))];
    if (strcmp(key, "id") == 0)
        return lks_rng_below(rng, largest_id(s) + 2);
    for (size_t i = 0; i < LKS_COUNT(few); i++) {
        if (strcmp(key, few[i]) == 0)
            return lks_rng_below(rng, 3);
    }
    if (strcmp(key, "change") == 0) /* one of the last that there are, or one that is not */
        return s->change_count < NEWEST
                   ? lks_rng_below(rng, s->next_change + 1)
                   : s->changes[s->change_count - 1 - (uint32_t)lks_rng_below(rng, NEWEST)].id;
    return lks_rng_below(rng, strcmp(key, "mass_window") == 0 ? 200000 : 12);
}

static uint64_t words(const char *const *list)
{
    uint64_t count = 0;
    while (list[count] != NULL)
        count++;
    return count;
}

/* Those of changes mean little one by one: every third is of them. */
static const struct lks_record_info *any_kind(struct lks_rng *rng)
{
    const struct lks_record_info *info =
        &lks_record_infos[lks_rng_below(rng, lks_record_info_count)];
    size_t first = (size_t)(lks_record_info(LKS_RECORD_CHANGE) - lks_record_infos);
    size_t last = (size_t)(lks_record_info(LKS_RECORD_FORECAST) - lks_record_infos);
    size_t of_change = first + lks_rng_below(rng, last - first + 1);
    return lks_rng_percent(rng, 33) ? &lks_record_infos[of_change] : info;
}

struct lks_record lks_test_any_record(struct lks_rng *rng, const struct lks_state *s)
{
    const struct lks_record_info *info = any_kind(rng);
    struct lks_record r = {.kind = info->kind};
    for (size_t i = 0; i < info->count; i++) {
        const struct lks_record_field *f = &info->fields[i];
        char *at = (char *)&r.begun + f->offset;
        struct lks_str text = any_text(rng, f->key);
        uint64_t number = any_number(rng, s, f->key);
        bool truth = lks_rng_percent(rng, 60);
        if (f->type == LKS_RECORD_TEXT)
            memcpy(at, &text, sizeof(text));
        else if (f->type == LKS_RECORD_TRUTH)
            memcpy(at, &truth, sizeof(truth));
        else if (f->type == LKS_RECORD_WORD && !lks_rng_percent(rng, 2))
            memcpy(at, &(uint64_t){lks_rng_below(rng, words(f->words))}, sizeof(number));
        else
            memcpy(at, &number, sizeof(number));
    }
    return r;
}
