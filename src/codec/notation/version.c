#include "codec/notation/version.h"

#include <limits.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* <ctype.h> would ask the locale. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static struct lks_str skip(struct lks_str s, size_t n)
{
    return n > 0 ? (struct lks_str){s.ptr + n, s.len - n} : s;
}

/* Take the bytes at the start of `rest` for which `belongs` holds. */
static struct lks_str take_while(struct lks_str *rest, bool (*belongs)(char))
{
    size_t len = 0;
    while (len < rest->len && belongs(rest->ptr[len]))
        len++;
    struct lks_str taken = {rest->ptr, len};
    *rest = skip(*rest, len);
    return taken;
}

static bool is_all(struct lks_str s, bool (*belongs)(char))
{
    return take_while(&s, belongs).len > 0 && s.len == 0;
}

static int letters_cmp(struct lks_str a, struct lks_str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return lower(a.ptr[i]) < lower(b.ptr[i]) ? -1 : 1;
    }
    return (a.len > b.len) - (a.len < b.len);
}

static struct lks_str strip_zeroes(struct lks_str s)
{
    while (s.len > 0 && s.ptr[0] == '0')
        s = skip(s, 1);
    return s;
}

/* Digits as a number, decimal or hexadecimal: without leading zeroes the longer is the greater, so
 * no width of integer is ever exceeded. Nothing at all counts as 0. */
static int number_cmp(struct lks_str a, struct lks_str b)
{
    a = strip_zeroes(a);
    b = strip_zeroes(b);
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return letters_cmp(a, b);
}

/* Numbers between dots, missing ones being 0. */
static int groups_cmp(struct lks_str a, struct lks_str b)
{
    while (a.len > 0 || b.len > 0) {
        struct lks_str x, y;
        lks_str_cut(a, '.', &x, &a);
        lks_str_cut(b, '.', &y, &b);
        int order = number_cmp(x, y);
        if (order != 0)
            return order;
    }
    return 0;
}

static bool is_number(struct lks_str group)
{
    return is_all(group, is_digit);
}

static bool is_hex_pair(struct lks_str group)
{
    return group.len == 2 && is_all(group, is_hex);
}

static bool groups_valid(struct lks_str s, bool (*group_valid)(struct lks_str))
{
    struct lks_str group;
    bool more;
    do {
        more = lks_str_cut(s, '.', &group, &s);
        if (!group_valid(group))
            return false;
    } while (more);
    return true;
}

/* "v3.3.0-1" is the groups 3.3.0 and the revision 1; the answer is whether there is a revision. */
static bool dotted_split(struct lks_str v, struct lks_str *groups, struct lks_str *revision)
{
    if (v.len > 0 && is_one_of(v.ptr[0], "Rv"))
        v = skip(v, 1);
    return lks_str_cut(v, '-', groups, revision);
}

static bool dotted_valid(struct lks_str v)
{
    struct lks_str groups, revision;
    bool revised = dotted_split(v, &groups, &revision);
    return groups_valid(groups, is_number) && (!revised || groups_valid(revision, is_number));
}

static int dotted_cmp(struct lks_str a, struct lks_str b)
{
    struct lks_str a_revision, b_revision;
    dotted_split(a, &a, &a_revision);
    dotted_split(b, &b, &b_revision);
    int order = groups_cmp(a, b);
    return order != 0 ? order : groups_cmp(a_revision, b_revision);
}

static bool vbios_valid(struct lks_str v)
{
    return groups_valid(v, is_hex_pair);
}

struct debian {
    struct lks_str epoch;
    struct lks_str upstream;
    struct lks_str revision;
    bool has_revision;
};

/* The epoch ends at the first colon, the revision begins after the last dash. */
static struct debian debian_split(struct lks_str v)
{
    struct debian d = {0};
    if (!lks_str_cut(v, ':', &d.epoch, &d.upstream)) {
        d.epoch = LKS_STR("0");
        d.upstream = v;
    }
    for (size_t i = d.upstream.len; i > 0; i--) {
        if (d.upstream.ptr[i - 1] == '-') {
            d.has_revision = true;
            d.revision = skip(d.upstream, i);
            d.upstream.len = i - 1;
            break;
        }
    }
    return d;
}

static bool is_debian_upstream(char c)
{
    return is_digit(c) || is_letter(c) || is_one_of(c, ".+-:~");
}

static bool is_debian_revision(char c)
{
    return is_digit(c) || is_letter(c) || is_one_of(c, ".+~");
}

static bool debian_valid(struct lks_str v)
{
    struct debian d = debian_split(v);
    uint64_t epoch;
    return lks_str_number(d.epoch, INT_MAX, &epoch) && is_all(d.upstream, is_debian_upstream) &&
           is_digit(d.upstream.ptr[0]) &&
           (!d.has_revision || is_all(d.revision, is_debian_revision));
}

/* Where the head of `s` stands among what is not a digit: a tilde, then the end or a digit, then
 * letters, then everything else. */
static int debian_rank(struct lks_str s)
{
    if (s.len == 0 || is_digit(s.ptr[0]))
        return 0;
    if (s.ptr[0] == '~')
        return -1;
    return is_letter(s.ptr[0]) ? s.ptr[0] : s.ptr[0] + UCHAR_MAX + 1;
}

/* Alternately what is not digits, byte by byte, and what is, as a number. */
static int debian_part_cmp(struct lks_str a, struct lks_str b)
{
    while (a.len > 0 || b.len > 0) {
        while (debian_rank(a) != 0 || debian_rank(b) != 0) {
            int order = debian_rank(a) - debian_rank(b);
            if (order != 0)
                return order;
            a = skip(a, 1);
            b = skip(b, 1);
        }
        int order = number_cmp(take_while(&a, is_digit), take_while(&b, is_digit));
        if (order != 0)
            return order;
    }
    return 0;
}

static int debian_cmp(struct lks_str a, struct lks_str b)
{
    struct debian x = debian_split(a), y = debian_split(b);
    int order = number_cmp(x.epoch, y.epoch);
    if (order == 0)
        order = debian_part_cmp(x.upstream, y.upstream);
    return order != 0 ? order : debian_part_cmp(x.revision, y.revision);
}

static bool is_firmware_separator(char c)
{
    return is_one_of(c, ".-_+~:");
}

/* The next run of digits or of letters; empty at the end, and where something else stands. */
static struct lks_str firmware_run(struct lks_str *rest)
{
    bool digits = rest->len > 0 && is_digit(rest->ptr[0]);
    return take_while(rest, digits ? is_digit : is_letter);
}

static bool firmware_valid(struct lks_str v)
{
    bool has_number = false;
    for (;;) {
        struct lks_str run = firmware_run(&v);
        if (run.len == 0)
            return false;
        has_number |= is_digit(run.ptr[0]);
        if (v.len == 0)
            return has_number;
        if (is_firmware_separator(v.ptr[0]))
            v = skip(v, 1);
    }
}

/* A missing run is as good as 0; letters are more than nothing, but less than the next number. */
enum run_rank { RUN_ZERO, RUN_LETTERS, RUN_POSITIVE };

static enum run_rank run_rank(struct lks_str run)
{
    if (run.len > 0 && is_letter(run.ptr[0]))
        return RUN_LETTERS;
    return strip_zeroes(run).len == 0 ? RUN_ZERO : RUN_POSITIVE;
}

static int run_cmp(struct lks_str a, struct lks_str b)
{
    enum run_rank x = run_rank(a), y = run_rank(b);
    if (x != y)
        return x < y ? -1 : 1;
    return x == RUN_LETTERS ? letters_cmp(a, b) : number_cmp(a, b);
}

/* The next run, with the separator after it gone too. */
static struct lks_str firmware_next(struct lks_str *rest)
{
    struct lks_str run = firmware_run(rest);
    if (rest->len > 0 && is_firmware_separator(rest->ptr[0]))
        *rest = skip(*rest, 1);
    return run;
}

static int firmware_cmp(struct lks_str a, struct lks_str b)
{
    while (a.len > 0 || b.len > 0) {
        int order = run_cmp(firmware_next(&a), firmware_next(&b));
        if (order != 0)
            return order;
    }
    return 0;
}

static const struct {
    const char *name;
    bool (*valid)(struct lks_str v);
    int (*cmp)(struct lks_str a, struct lks_str b); /* both valid */
    struct lks_str least;                           /* empty: below each there is another */
} schemes[LKS_VERSION_SCHEME_COUNT] = {
    [LKS_VERSION_DOTTED] = {"dotted", dotted_valid, dotted_cmp, LKS_STR_C("0")},
    [LKS_VERSION_DEBIAN] = {"debian", debian_valid, debian_cmp, LKS_STR_C("")},
    [LKS_VERSION_VBIOS] = {"vbios", vbios_valid, groups_cmp, LKS_STR_C("00")},
    [LKS_VERSION_FIRMWARE] = {"firmware", firmware_valid, firmware_cmp, LKS_STR_C("0")},
};

const char *lks_version_scheme_name(enum lks_version_scheme scheme)
{
    LKS_ASSERT(scheme < LKS_VERSION_SCHEME_COUNT);
    return schemes[scheme].name;
}

bool lks_version_valid(struct lks_str v, enum lks_version_scheme scheme)
{
    LKS_ASSERT(scheme < LKS_VERSION_SCHEME_COUNT);
    return v.len > 0 && v.len <= LKS_VERSION_LEN_MAX && schemes[scheme].valid(v);
}

bool lks_version_whole(struct lks_str v, enum lks_version_scheme scheme)
{
    if (!lks_version_valid(v, scheme))
        return false;
    bool digit = v.ptr[0] >= '0' && v.ptr[0] <= '9';
    return scheme != LKS_VERSION_DOTTED || (digit && memchr(v.ptr, '.', v.len) != NULL);
}

int lks_version_cmp(struct lks_str a, struct lks_str b, enum lks_version_scheme scheme)
{
    bool a_valid = lks_version_valid(a, scheme), b_valid = lks_version_valid(b, scheme);
    if (a_valid != b_valid)
        return a_valid ? -1 : 1;
    return a_valid ? schemes[scheme].cmp(a, b) : lks_str_cmp(a, b);
}

int lks_version_major(struct lks_str v)
{
    struct lks_str revision, first, rest;
    dotted_split(v, &v, &revision);
    lks_str_cut(v, '.', &first, &rest);
    uint64_t major;
    return lks_str_number(first, INT_MAX, &major) ? (int)major : -1;
}

static bool groups_cover(struct lks_str prefix, struct lks_str v)
{
    while (prefix.len > 0) {
        struct lks_str x, y;
        lks_str_cut(prefix, '.', &x, &prefix);
        lks_str_cut(v, '.', &y, &v);
        if (number_cmp(x, y) != 0)
            return false;
    }
    return true;
}

bool lks_version_covers(struct lks_str prefix, struct lks_str v)
{
    if (prefix.len > 2 && memcmp(prefix.ptr + prefix.len - 2, ".x", 2) == 0)
        prefix.len -= 2;
    if (!lks_version_valid(prefix, LKS_VERSION_DOTTED) || !lks_version_valid(v, LKS_VERSION_DOTTED))
        return false;

    struct lks_str prefix_revision, v_revision;
    bool revised = dotted_split(prefix, &prefix, &prefix_revision);
    dotted_split(v, &v, &v_revision);
    if (!revised)
        return groups_cover(prefix, v);
    return groups_cmp(prefix, v) == 0 && groups_cover(prefix_revision, v_revision);
}

/* "+dfsg1", "~ds1", "+repack": nothing but such a mark, with numbers. */
static bool is_repacked(struct lks_str tail)
{
    static const char *const marks[] = {"dfsg", "ds", "repack"};
    for (size_t i = 0; i < LKS_COUNT(marks); i++) {
        if (!lks_str_starts(tail, marks[i]))
            continue;
        size_t at = strlen(marks[i]);
        while (at < tail.len && (is_digit(tail.ptr[at]) || tail.ptr[at] == '.'))
            at++;
        if (at == tail.len)
            return true;
    }
    return false;
}

/* "20.11.7+really20.11.4" took a version back without its number going down: it is 20.11.4. */
static struct lks_str after_really(struct lks_str version)
{
    static const struct lks_str really = LKS_STR_C("+really");
    ptrdiff_t at = lks_str_find(version, really);
    return at < 0 ? version : skip(version, (size_t)at + really.len);
}

struct lks_str lks_version_upstream(struct lks_str package)
{
    struct lks_str v = debian_split(package).upstream;
    for (size_t i = v.len; i > 0; i--) {
        struct lks_str mark = {v.ptr + i, v.len - i};
        if (is_one_of(v.ptr[i - 1], "+~") && is_repacked(mark))
            v.len = i - 1;
    }
    return after_really(v);
}

/* "1", "0.6.1", or what Ubuntu's programs say of their package: "0ubuntu1~24.04.1". Letters may be
 * a candidate's ("rc.2"), and that is another version. */
static bool is_revision(struct lks_str tail)
{
    static const char mark[] = "ubuntu";
    struct lks_str rest = tail;
    if (groups_valid(tail, is_number))
        return true;
    return take_while(&rest, is_digit).len > 0 && lks_str_starts(rest, mark) &&
           rest.len > sizeof(mark) - 1 && is_digit(rest.ptr[sizeof(mark) - 1]);
}

struct lks_str lks_version_stated(struct lks_str v, struct lks_str like)
{
    struct lks_str head, tail;
    if (lks_str_find(like, LKS_STR("+")) < 0) {
        lks_str_cut(v, '+', &head, &tail);
        v = head;
    }
    if (lks_str_find(like, LKS_STR("-")) < 0 && lks_str_cut(v, '-', &head, &tail) &&
        is_revision(tail))
        v = head;
    return v;
}

/* For each operator, whether it holds where the version looked at is less than, equal to or greater
 * than the one in the condition. */
static const struct {
    struct lks_str text;
    bool less, equal, greater;
} operators[LKS_RANGE_OP_COUNT] = {
    [LKS_RANGE_EQ] = {LKS_STR_C("="), false, true, false},
    [LKS_RANGE_NE] = {LKS_STR_C("!="), true, false, true},
    [LKS_RANGE_LT] = {LKS_STR_C("<"), true, false, false},
    [LKS_RANGE_LE] = {LKS_STR_C("<="), true, true, false},
    [LKS_RANGE_GT] = {LKS_STR_C(">"), false, false, true},
    [LKS_RANGE_GE] = {LKS_STR_C(">="), false, true, true},
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* More than the operators are made of, so that "~>" is called an unknown operator and not a strange
 * version. No version begins with one of these. */
static bool is_operator_byte(char c)
{
    return is_one_of(c, "=!<>~^");
}

static bool is_version_byte(char c)
{
    return !is_blank(c) && c != ',';
}

static enum lks_code parse_operator(struct lks_str text, enum lks_range_op *op, struct lks_err *err)
{
    *op = LKS_RANGE_EQ;
    if (text.len == 0)
        return LKS_OK;
    for (size_t i = 0; i < LKS_RANGE_OP_COUNT; i++) {
        if (lks_str_eq(text, operators[i].text)) {
            *op = (enum lks_range_op)i;
            return LKS_OK;
        }
    }
    return lks_fail(err, LKS_E_INVALID,
                    "unknown operator '%" LKS_STR_FMT "' (there are = != < <= > >=)",
                    LKS_STR_ARG(text));
}

static enum lks_code parse_term(struct lks_str *rest, enum lks_version_scheme scheme,
                                struct lks_range *range, struct lks_err *err)
{
    if (range->count == LKS_RANGE_TERMS_MAX)
        return lks_fail(err, LKS_E_LIMIT, "more than %d conditions", LKS_RANGE_TERMS_MAX);

    enum lks_range_op op;
    struct lks_str operator_text = take_while(rest, is_operator_byte);
    if (parse_operator(operator_text, &op, err) != LKS_OK)
        return err->code;
    take_while(rest, is_blank);
    struct lks_str version = take_while(rest, is_version_byte);
    if (version.len == 0 && operator_text.len > 0)
        return lks_fail(err, LKS_E_INVALID, "no version after '%" LKS_STR_FMT "'",
                        LKS_STR_ARG(operator_text));
    if (version.len == 0)
        return lks_fail(err, LKS_E_INVALID, "no version %s ','",
                        rest->len > 0 ? "before" : "after");
    if (version.len > LKS_VERSION_LEN_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a version of more than %d bytes", LKS_VERSION_LEN_MAX);
    if (!lks_version_valid(version, scheme))
        return lks_fail(err, LKS_E_INVALID, "'%" LKS_STR_FMT "' is not a %s version",
                        LKS_STR_ARG(version), lks_version_scheme_name(scheme));

    range->terms[range->count].op = op;
    range->terms[range->count].version = version;
    range->count++;
    return LKS_OK;
}

/* Skip what separates two conditions: blanks, and among them at most one comma. */
static bool take_separator(struct lks_str *rest)
{
    take_while(rest, is_blank);
    bool comma = rest->len > 0 && rest->ptr[0] == ',';
    if (comma)
        *rest = skip(*rest, 1);
    take_while(rest, is_blank);
    return comma;
}

/* Move `bound` to `version` if that is further inside: up for a lower bound (`side` 1), down for an
 * upper one (-1). An empty bound is none yet. */
static void narrow(struct lks_str *bound, struct lks_str version, int side,
                   enum lks_version_scheme scheme)
{
    if (bound->len == 0 || side * lks_version_cmp(version, *bound, scheme) > 0)
        *bound = version;
}

/* Between two different versions of any scheme there is another (one more group, run or letter),
 * and more of them than conditions could exclude. So the ends decide, and where they meet there is
 * one version left to ask about. */
static bool is_satisfiable(const struct lks_range *range, enum lks_version_scheme scheme)
{
    struct lks_str low = schemes[scheme].least, high = {0};
    for (size_t i = 0; i < range->count; i++) {
        enum lks_range_op op = range->terms[i].op;
        if (!operators[op].less)
            narrow(&low, range->terms[i].version, 1, scheme);
        if (!operators[op].greater)
            narrow(&high, range->terms[i].version, -1, scheme);
    }
    if (low.len == 0 || high.len == 0)
        return true;
    int order = lks_version_cmp(low, high, scheme);
    return order < 0 || (order == 0 && lks_version_range_has(range, low, scheme));
}

enum lks_code lks_version_range_parse(struct lks_str text, enum lks_version_scheme scheme,
                                      struct lks_range *out, struct lks_err *err)
{
    if (text.len > LKS_RANGE_LEN_MAX)
        return lks_fail(err, LKS_E_LIMIT, "a range of more than %d bytes", LKS_RANGE_LEN_MAX);
    struct lks_range range = {0};
    struct lks_str rest = text;
    take_while(&rest, is_blank);
    if (rest.len == 0)
        return lks_fail(err, LKS_E_INVALID, "empty range");

    bool comma;
    do {
        if (parse_term(&rest, scheme, &range, err) != LKS_OK)
            return lks_wrap(err, "condition %zu", range.count + 1);
        comma = take_separator(&rest);
    } while (comma || rest.len > 0);

    if (!is_satisfiable(&range, scheme))
        return lks_fail(err, LKS_E_INVALID, "no version can satisfy '%" LKS_STR_FMT "'",
                        LKS_STR_ARG(text));
    *out = range;
    return LKS_OK;
}

bool lks_version_range_has(const struct lks_range *range, struct lks_str v,
                           enum lks_version_scheme scheme)
{
    if (!lks_version_valid(v, scheme))
        return false;
    for (size_t i = 0; i < range->count; i++) {
        enum lks_range_op op = range->terms[i].op;
        int order = lks_version_cmp(v, range->terms[i].version, scheme);
        bool holds = order < 0   ? operators[op].less
                     : order > 0 ? operators[op].greater
                                 : operators[op].equal;
        if (!holds)
            return false;
    }
    return true;
}
