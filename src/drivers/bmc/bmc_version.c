#include "drivers/bmc/bmc_version.h"

#include "codec/format/hex.h"

#include <ctype.h>

/* Words for a version that is not there. */
static const char *const nothings[] = {
    "not present", "not available", "not applicable", "not installed", "n/a",
    "na",          "none",          "null",           "nil",           "unknown",
    "-",
};

struct lks_str lks_bmc_version_said(struct lks_str said)
{
    said = lks_str_trim(said);
    for (size_t i = 0; i < LKS_COUNT(nothings); i++) {
        if (lks_str_eq_nocase(said, lks_str_from(nothings[i])))
            return (struct lks_str){"", 0};
    }
    return said;
}

static bool has_digit(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (isdigit((unsigned char)s.ptr[i]))
            return true;
    }
    return false;
}

static size_t put_lower(struct lks_str s, char out[LKS_BMC_PLAIN_SIZE])
{
    size_t len = s.len < LKS_BMC_PLAIN_SIZE - 1 ? s.len : LKS_BMC_PLAIN_SIZE - 1;
    for (size_t i = 0; i < len; i++)
        out[i] = (char)tolower((unsigned char)s.ptr[i]);
    out[len] = '\0';
    return len;
}

/* "312e3041": hexadecimal digits of printable ASCII that themselves hold a version with a dot. A
 * version that only looks so, such as "20240131", has none. */
static bool is_hex_ascii(struct lks_str s, uint8_t bytes[LKS_BMC_PLAIN_SIZE / 2])
{
    size_t count = s.len / 2;
    bool dot = false;
    if (s.len < 6 || s.len % 2 != 0 || s.len >= LKS_BMC_PLAIN_SIZE ||
        !lks_hex_read(s, bytes, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        dot = dot || bytes[i] == '.';
        if (!isalnum(bytes[i]) && bytes[i] != '.' && bytes[i] != '_' && bytes[i] != '-')
            return false;
    }
    return dot;
}

/* "_n04": the mark NVIDIA's build puts behind a version for the key it was signed with. */
static struct lks_str without_mark(struct lks_str s)
{
    if (s.len > 4 && s.ptr[s.len - 4] == '_' && s.ptr[s.len - 3] == 'n' &&
        isdigit((unsigned char)s.ptr[s.len - 2]) && isdigit((unsigned char)s.ptr[s.len - 1]))
        return (struct lks_str){s.ptr, s.len - 4};
    return s;
}

static bool is_word(struct lks_str s, const char *word)
{
    return lks_str_eq_nocase(s, lks_str_from(word));
}

/* The one word of a sentence that is the version: what follows "Ver" or "Version", else a word that
 * begins with 'v' and a digit, else the first word. */
static struct lks_str version_word(struct lks_str said)
{
    struct lks_str rest = said, word, first = {"", 0}, found = {"", 0};
    bool after = false;
    while (found.len == 0 && lks_str_word(&rest, &word)) {
        bool marked = word.len > 1 && (word.ptr[0] == 'v' || word.ptr[0] == 'V') &&
                      isdigit((unsigned char)word.ptr[1]);
        if (after || (marked && first.len > 0))
            found = word;
        after = is_word(word, "ver") || is_word(word, "version") || is_word(word, "ver:") ||
                is_word(word, "version:");
        if (first.len == 0)
            first = word;
    }
    return found.len > 0 ? found : first;
}

struct lks_str lks_bmc_version_plain(struct lks_str said, char out[LKS_BMC_PLAIN_SIZE])
{
    uint8_t bytes[LKS_BMC_PLAIN_SIZE / 2];
    struct lks_str word = version_word(said);
    size_t len = put_lower(word, out);
    if (is_hex_ascii((struct lks_str){out, len}, bytes))
        len = put_lower((struct lks_str){(const char *)bytes, len / 2}, out);
    struct lks_str v = without_mark((struct lks_str){out, len});
    if (v.len > 1 && v.ptr[0] == 'v' && isdigit((unsigned char)v.ptr[1]))
        v = (struct lks_str){v.ptr + 1, v.len - 1};
    return has_digit(v) ? v : (struct lks_str){"", 0};
}

/* Where both are sentences every word of them counts: "2.4.0 (build A)" is not "2.4.0 (build B)".
 */
static bool are_sentences(struct lks_str a, struct lks_str b)
{
    return lks_str_find(lks_str_trim(a), LKS_STR(" ")) >= 0 &&
           lks_str_find(lks_str_trim(b), LKS_STR(" ")) >= 0;
}

bool lks_bmc_version_same(struct lks_str a, struct lks_str b)
{
    char left[LKS_BMC_PLAIN_SIZE], right[LKS_BMC_PLAIN_SIZE];
    struct lks_str x = lks_bmc_version_plain(a, left), y = lks_bmc_version_plain(b, right);
    return x.len > 0 && (are_sentences(a, b) ? lks_str_eq_nocase(lks_str_trim(a), lks_str_trim(b))
                                             : lks_str_eq(x, y));
}

bool lks_bmc_version_older(struct lks_str a, struct lks_str b, enum lks_version_scheme scheme)
{
    char left[LKS_BMC_PLAIN_SIZE], right[LKS_BMC_PLAIN_SIZE];
    struct lks_str x = lks_bmc_version_plain(a, left), y = lks_bmc_version_plain(b, right);
    if (!lks_version_valid(x, scheme) || !lks_version_valid(y, scheme))
        scheme = LKS_VERSION_FIRMWARE;
    return lks_version_valid(x, scheme) && lks_version_valid(y, scheme) &&
           lks_version_cmp(x, y, scheme) < 0;
}
