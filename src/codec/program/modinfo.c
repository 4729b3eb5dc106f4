#include "codec/program/modinfo.h"

#include <inttypes.h>

static const struct {
    struct lks_str key;
    size_t field;
} wanted[] = {
    {LKS_STR_C("name"), offsetof(struct lks_modinfo, name)},
    {LKS_STR_C("version"), offsetof(struct lks_modinfo, version)},
    {LKS_STR_C("srcversion"), offsetof(struct lks_modinfo, srcversion)},
    {LKS_STR_C("vermagic"), offsetof(struct lks_modinfo, vermagic)},
    {LKS_STR_C("license"), offsetof(struct lks_modinfo, license)},
};

static void forget_string(struct lks_modinfo_scanner *s)
{
    s->begun = false;
    s->key_len = 0;
    s->text_len = 0;
}

/* What came is not of the section. If the run before it was the section, that is the answer. */
static void end_run(struct lks_modinfo_scanner *s)
{
    forget_string(s);
    s->gap = 0;
    s->done = s->found.vermagic[0] != '\0';
    if (s->done || s->taken == 0) /* almost always: this is called for every other byte of code */
        return;
    s->found = (struct lks_modinfo){0};
    s->taken = 0;
}

/* The field that a string is for, or NULL. The first string of the section follows the bytes of
 * another one, which need not end with a zero byte and may look like letters: then the end of the
 * key counts, and the longest that fits (srcversion, not version). */
static char *field_of(struct lks_modinfo_scanner *s)
{
    char *best = NULL;
    size_t longest = 0;
    for (size_t i = 0; i < LKS_COUNT(wanted); i++) {
        size_t len = wanted[i].key.len;
        if (len <= longest || len > s->key_len || (s->apart && len != s->key_len))
            continue;
        if (memcmp(s->key + s->key_len - len, wanted[i].key.ptr, len) == 0) {
            best = (char *)&s->found + wanted[i].field;
            longest = len;
        }
    }
    return best;
}

/* A whole "key=value" has come. */
static void end_string(struct lks_modinfo_scanner *s)
{
    struct lks_str text = {s->text, s->text_len};
    char *field = field_of(s);
    if (field != NULL && field[0] == '\0' && text.len <= LKS_MODINFO_VALUE_MAX &&
        lks_str_printable(text) && lks_str_find(text, LKS_STR("%")) < 0) {
        memcpy(field, text.ptr, text.len);
        field[text.len] = '\0';
        s->taken++;
    }
    forget_string(s);
    s->gap = 1;
}

static bool of_key(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Before '='. */
static void take_key(struct lks_modinfo_scanner *s, unsigned char c)
{
    if (of_key(c)) {
        if (s->key_len == 0)
            s->apart = s->gap > 0;
        else if (s->key_len == sizeof(s->key))
            memmove(s->key, s->key + 1, --s->key_len);
        s->key[s->key_len++] = (char)c;
    } else if (c == '=' && s->key_len > 0) {
        s->begun = true;
    } else {
        end_run(s);
    }
    s->gap = 0;
}

/* After '='. Values have tabs and line ends, and letters in whatever encoding their author used. */
static void take_text(struct lks_modinfo_scanner *s, unsigned char c)
{
    if (c < ' ' && c != '\t' && c != '\n' && c != '\r') {
        end_run(s);
        return;
    }
    if (s->text_len < LKS_MODINFO_VALUE_MAX)
        s->text[s->text_len] = (char)c;
    if (++s->text_len > LKS_MODINFO_STRING_MAX)
        end_run(s);
}

static void take(struct lks_modinfo_scanner *s, unsigned char c)
{
    if (c != '\0' && s->begun) {
        take_text(s, c);
    } else if (c != '\0') {
        take_key(s, c);
    } else if (s->begun) {
        end_string(s);
    } else if (s->key_len > 0 || ++s->gap > LKS_MODINFO_GAP_MAX) {
        end_run(s);
        s->gap = 1;
    }
}

bool lks_modinfo_feed(struct lks_modinfo_scanner *scanner, struct lks_str bytes)
{
    scanner->bytes += bytes.len;
    for (size_t i = 0; i < bytes.len && !scanner->done; i++)
        take(scanner, (unsigned char)bytes.ptr[i]);
    return scanner->done;
}

enum lks_code lks_modinfo_end(struct lks_modinfo_scanner *scanner, struct lks_modinfo *out,
                              struct lks_err *err)
{
    if (!scanner->done)
        end_run(scanner);
    if (!scanner->done)
        return lks_fail(err, LKS_E_NOT_FOUND,
                        "no .modinfo with a vermagic in %" PRIu64
                        " bytes: not a kernel module, or one in another wrapping",
                        scanner->bytes);
    *out = scanner->found;
    return LKS_OK;
}
