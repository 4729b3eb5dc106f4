#include "codec/package/pkglog.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 6, CLOCK_MAX = 14, CLOCK_LEN = 8 };

/* What a manager calls a change. */
struct verb {
    const char *word, *verb;
    bool removes;  /* the one version that is said is gone */
    bool replaced; /* gone, and another line says what came */
};
static const struct verb dpkg_verbs[] = {
    {"install", "install", false, false},
    {"upgrade", "upgrade", false, false},
    {"remove", "remove", true, false},
    {NULL, NULL, false, false},
};
static const struct verb dnf_verbs[] = {
    {"Installed:", "install", false, false},  {"Upgrade:", "upgrade", false, false},
    {"Upgraded:", "upgrade", true, true},     {"Downgrade:", "downgrade", false, false},
    {"Downgraded:", "downgrade", true, true}, {"Reinstall:", "reinstall", false, false},
    {"Erase:", "remove", true, false},        {NULL, NULL, false, false},
};

static const struct lks_str nothing = {"", 0};

/* Words ------------------------------------------------------------------------------------- */

static const struct verb *find_verb(const struct verb *verbs, struct lks_str word)
{
    while (verbs->word != NULL && !lks_str_is(word, verbs->word))
        verbs++;
    return verbs->word != NULL ? verbs : NULL;
}

/* A '0' in `like` stands for any digit, and all else for itself. */
static bool is_shaped(struct lks_str s, const char *like)
{
    size_t i = 0;
    for (; i < s.len && like[i] != '\0'; i++) {
        bool digit = s.ptr[i] >= '0' && s.ptr[i] <= '9';
        if (like[i] == '0' ? !digit : s.ptr[i] != like[i])
            return false;
    }
    return i == s.len && like[i] == '\0';
}

static bool is_word(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] <= ' ' || s.ptr[i] > '~')
            return false;
    }
    return s.len > 0 && s.len <= LKS_PKGLOG_WORD_MAX;
}

/* The time may have an offset behind it. */
static bool is_time(struct lks_str date, struct lks_str clock)
{
    return is_shaped(date, "0000-00-00") && clock.len >= CLOCK_LEN && clock.len <= CLOCK_MAX &&
           is_shaped((struct lks_str){clock.ptr, CLOCK_LEN}, "00:00:00") && is_word(clock);
}

static size_t split(struct lks_str line, struct lks_str words[WORDS_MAX])
{
    size_t count = 0;
    struct lks_str word;
    while (lks_str_word(&line, &word)) {
        if (count == WORDS_MAX)
            return 0;
        words[count++] = word;
    }
    return count;
}

/* Lines ------------------------------------------------------------------------------------- */

static bool read_dpkg(const struct lks_str *words, size_t count, struct lks_pkglog_change *c)
{
    struct lks_str architecture;
    if (count != WORDS_MAX || !is_word(words[4]) || !is_word(words[5]))
        return false;
    const struct verb *verb = find_verb(dpkg_verbs, words[2]);
    (void)lks_str_cut(words[3], ':', &c->name, &architecture);
    if (verb == NULL)
        return false;
    c->date = words[0];
    c->clock = words[1];
    c->verb = verb->verb;
    c->old = lks_str_is(words[4], "<none>") ? nothing : words[4];
    c->new = lks_str_is(words[5], "<none>") ? nothing : words[5];
    return verb->removes ? c->old.len > 0 && c->new.len == 0 : c->new.len > 0;
}

/* Where the last `sep` is, or -1. */
static ptrdiff_t last_of(struct lks_str s, char sep)
{
    ptrdiff_t at = (ptrdiff_t)s.len - 1;
    while (at >= 0 && s.ptr[at] != sep)
        at--;
    return at;
}

/* "openmpi" and "4.1.7-1" of "openmpi-4.1.7-1.x86_64". */
static bool split_package(struct lks_str s, struct lks_str *name, struct lks_str *version)
{
    ptrdiff_t dot = last_of(s, '.');
    if (dot <= 0)
        return false;
    s.len = (size_t)dot;
    ptrdiff_t release = last_of(s, '-');
    if (release <= 0)
        return false;
    ptrdiff_t at = last_of((struct lks_str){s.ptr, (size_t)release}, '-');
    if (at <= 0)
        return false;
    *name = (struct lks_str){s.ptr, (size_t)at};
    *version = (struct lks_str){s.ptr + at + 1, s.len - (size_t)at - 1};
    return is_word(*version);
}

static bool read_dnf(const struct lks_str *words, size_t count, struct lks_pkglog_change *c)
{
    struct lks_str version;
    if (count != 4 || !lks_str_is(words[1], "SUBDEBUG"))
        return false;
    const struct verb *verb = find_verb(dnf_verbs, words[2]);
    if (verb == NULL || !lks_str_cut(words[0], 'T', &c->date, &c->clock) ||
        !split_package(words[3], &c->name, &version))
        return false;
    c->verb = verb->verb;
    c->replaced = verb->replaced;
    c->old = verb->removes ? version : nothing;
    c->new = verb->removes ? nothing : version;
    return true;
}

bool lks_pkglog_next(enum lks_pkglog_format format, struct lks_str *rest,
                     struct lks_pkglog_change *out)
{
    while (rest->len > 0) {
        struct lks_str line, words[WORDS_MAX];
        struct lks_pkglog_change c = {0};
        (void)lks_str_cut(*rest, '\n', &line, rest);
        size_t count = line.len <= LKS_PKGLOG_LINE_MAX ? split(line, words) : 0;
        bool read =
            format == LKS_PKGLOG_DPKG ? read_dpkg(words, count, &c) : read_dnf(words, count, &c);
        if (read && is_word(c.name) && is_time(c.date, c.clock)) {
            *out = c;
            return true;
        }
    }
    return false;
}

/* Changes ----------------------------------------------------------------------------------- */

void lks_pkglog_follow(struct lks_pkglog_change *last, const struct lks_pkglog_change *next)
{
    if (!next->replaced)
        *last = *next;
    else if (last->verb != NULL && strcmp(last->verb, next->verb) == 0 && last->old.len == 0)
        last->old = next->old;
}

void lks_pkglog_text(const struct lks_pkglog_change *change, char out[LKS_PKGLOG_TEXT_SIZE])
{
    bool both = change->old.len > 0 && change->new.len > 0;
    snprintf(out, LKS_PKGLOG_TEXT_SIZE,
             "%" LKS_STR_FMT " %" LKS_STR_FMT " %s %" LKS_STR_FMT "%s%" LKS_STR_FMT,
             LKS_STR_ARG(change->date), LKS_STR_ARG(change->clock), change->verb,
             LKS_STR_ARG(change->old), both ? " -> " : "", LKS_STR_ARG(change->new));
}

struct lks_str lks_pkglog_came(struct lks_str text)
{
    struct lks_str words[WORDS_MAX];
    size_t count = split(text, words);
    bool both = count == WORDS_MAX && lks_str_is(words[4], "->");
    if (count < 4 || !(both || count == 4) || !is_time(words[0], words[1]) ||
        lks_str_is(words[2], "remove"))
        return nothing;
    return words[count - 1];
}
