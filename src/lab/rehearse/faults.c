/* What goes wrong, as people write it. */
#include "lab/rehearse/rehearse.h"

#include <stdio.h>

const struct lks_rehearse_faults lks_rehearse_faults_usual = {
    .step = 3000,
    .lost = 500,
    .endpoint = 3000,
    .brick = 100,
    .slow = 2000,
    .mixed = true,
};

#define CAN_BE                                                                                     \
    "step, lost, bmc, brick, slow or bad and a share such as 0.5%, bad=revision:REV, "             \
    "way=accept|step|dies|slow, or none"

static const struct lks_str_field shares[] = {
    {"step", offsetof(struct lks_rehearse_faults, step)},
    {"lost", offsetof(struct lks_rehearse_faults, lost)},
    {"bmc", offsetof(struct lks_rehearse_faults, endpoint)},
    {"brick", offsetof(struct lks_rehearse_faults, brick)},
    {"slow", offsetof(struct lks_rehearse_faults, slow)},
    {"bad", offsetof(struct lks_rehearse_faults, bad)},
};

/* "5%", "0.25%": in millionths. */
static bool read_share(struct lks_str text, uint32_t *out)
{
    struct lks_str whole, part;
    uint64_t percent = 0, rest = 0, unit = LKS_REHEARSE_MILLION / 100;
    if (text.len < 2 || text.ptr[text.len - 1] != '%')
        return false;
    text.len--;
    bool has_part = lks_str_cut(text, '.', &whole, &part);
    if (!lks_str_number(whole, 100, &percent) ||
        (has_part && (part.len == 0 || part.len > 4 || !lks_str_number(part, 9999, &rest))))
        return false;
    for (size_t i = part.len; has_part && i < 4; i++)
        rest *= 10;
    uint64_t share = percent * unit + (has_part ? rest : 0);
    if (share > LKS_REHEARSE_MILLION)
        return false;
    *out = (uint32_t)share;
    return true;
}

static bool read_way(struct lks_str text, struct lks_rehearse_faults *out)
{
    for (unsigned i = 1; lks_rehearse_bad_words[i] != NULL; i++) {
        if (!lks_str_is(text, lks_rehearse_bad_words[i]))
            continue;
        out->way = (enum lks_rehearse_bad)i;
        return true;
    }
    return false;
}

static bool read_revision(struct lks_str text, struct lks_rehearse_faults *out)
{
    if (!lks_str_starts(text, "revision:") || text.len == strlen("revision:") ||
        text.len - strlen("revision:") >= sizeof(out->revision))
        return false;
    (void)snprintf(out->revision, sizeof(out->revision), "%.*s",
                   (int)(text.len - strlen("revision:")), text.ptr + strlen("revision:"));
    return true;
}

static bool read_one(struct lks_str word, struct lks_rehearse_faults *out)
{
    struct lks_str name, value;
    if (lks_str_is(word, "none")) {
        *out = (struct lks_rehearse_faults){0};
        return true;
    }
    if (!lks_str_cut(word, '=', &name, &value))
        return false;
    if (lks_str_is(name, "way"))
        return read_way(value, out);
    if (lks_str_is(name, "bad"))
        out->mixed = false;
    if (lks_str_is(name, "bad") && read_revision(value, out))
        return true;
    for (size_t i = 0; i < LKS_COUNT(shares); i++)
        if (lks_str_is(name, shares[i].name))
            return read_share(value, (uint32_t *)(void *)((char *)out + shares[i].at));
    return false;
}

enum lks_code lks_rehearse_faults_parse(struct lks_str text, struct lks_rehearse_faults *out,
                                        struct lks_err *err)
{
    struct lks_rehearse_faults made = *out;
    struct lks_str word;
    while (text.len > 0) {
        (void)lks_str_cut(text, ',', &word, &text);
        if (!read_one(lks_str_trim(word), &made))
            return lks_fail(err, LKS_E_USAGE, "--faults '%.60s': it can be %s",
                            word.len > 0 ? word.ptr : "", CAN_BE);
    }
    *out = made;
    return LKS_OK;
}
