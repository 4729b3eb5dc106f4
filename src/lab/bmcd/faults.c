#include "lab/bmcd/faults.h"

#include "base/near.h"
#include "base/rng.h"

enum lks_code lks_faults_word(struct lks_str word, enum lks_bmcsim_fault *out, struct lks_err *err)
{
    size_t i = 0;
    if (lks_near_word(word, lks_bmcsim_fault_words, LKS_BMCSIM_FAULT_COUNT, "fault", LKS_E_INVALID,
                      &i, err) != LKS_OK)
        return err->code;
    *out = (enum lks_bmcsim_fault)i;
    return LKS_OK;
}

/* "power-loss@staging:500" */
static enum lks_code read_what(struct lks_str what, struct lks_bmcsim_fault_set *set,
                               struct lks_err *err)
{
    struct lks_str amount;
    set->times = 1;
    if (lks_str_cut(what, ':', &what, &amount) && !lks_str_number(amount, UINT32_MAX, &set->amount))
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is not a number",
                        LKS_STR_ARG(amount));
    (void)lks_str_cut(what, '@', &what, &set->at);
    return lks_faults_word(what, &set->fault, err);
}

static enum lks_code read_item(struct lks_str text, struct lks_faults *f, struct lks_err *err)
{
    struct lks_str what, number;
    uint64_t percent = 0;
    if (f->count == LKS_FAULTS_MAX)
        return lks_fail(err, LKS_E_INVALID, "more than %d faults", LKS_FAULTS_MAX);
    if (!lks_str_cut(text, '=', &what, &number) || !lks_str_number(number, 100, &percent))
        return lks_fail(err, LKS_E_INVALID,
                        "'%" LKS_STR_FMT "' is not FAULT[@WHERE][:AMOUNT]=PERCENT",
                        LKS_STR_ARG(text));
    f->items[f->count].percent = (unsigned)percent;
    f->items[f->count].any = lks_str_is(what, "any");
    if (!f->items[f->count].any && read_what(what, &f->items[f->count].set, err) != LKS_OK)
        return err->code;
    f->count++;
    return LKS_OK;
}

enum lks_code lks_faults_parse(struct lks_str mix, struct lks_faults *out, struct lks_err *err)
{
    struct lks_faults f = {0};
    struct lks_str item;
    for (bool more = mix.len > 0; more;) {
        more = lks_str_cut(mix, ',', &item, &mix);
        if (read_item(item, &f, err) != LKS_OK)
            return err->code;
    }
    *out = f;
    return LKS_OK;
}

void lks_faults_set(const struct lks_faults *f, uint64_t seed, size_t number, struct lks_bmcsim *b)
{
    for (size_t i = 0; i < f->count; i++) {
        struct lks_rng rng = {.state = seed + number * LKS_FAULTS_MAX + i};
        if (f->items[i].any)
            (void)lks_bmcsim_faults_draw(b, rng.state, f->items[i].percent);
        else if (lks_rng_percent(&rng, f->items[i].percent))
            lks_bmcsim_fault(b, &f->items[i].set);
    }
}
