#include "codec/package/dpkg.h"

#include "base/compiler.h"

#include <string.h>

/* Where in a line the next byte stands. */
enum { LINE_START, IN_NAME, BEFORE_COLON, BEFORE_VALUE, IN_VALUE, PASSING };

static const char *const fields[] = {"package", "status", "version", "architecture"};

/* The three words of a status, as dpkg knows them; anything else is not its file. */
static const char *const wants[] = {"unknown", "install", "hold", "deinstall", "purge", NULL};
static const char *const flags[] = {"ok", "reinstreq", "hold", "hold-reinstreq", NULL};
static const char *const states[] = {"not-installed",    "config-files",    "half-installed",
                                     "unpacked",         "half-configured", "triggers-awaited",
                                     "triggers-pending", "installed",       NULL};

static bool is_one_of(struct lks_str word, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (lks_str_is(word, *words))
            return true;
    }
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

void lks_dpkg_init(struct lks_dpkg *d, bool bare, lks_dpkg_fn *fn, void *ctx)
{
    *d = (struct lks_dpkg){.fn = fn, .ctx = ctx, .bare = bare, .at = LINE_START, .line = 1};
}

static void blame(struct lks_dpkg *d, const char *fault)
{
    if (d->fault == NULL)
        d->fault = fault;
}

static struct lks_str value_of(const struct lks_dpkg *d, enum lks_dpkg_field field)
{
    return lks_str_trim((struct lks_str){d->values[field], d->lens[field]});
}

/* One word of printable ASCII. Which marks a name or a version may have is for dpkg to judge. */
static bool is_plain(struct lks_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] <= ' ' || s.ptr[i] > '~')
            return false;
    }
    return s.len > 0;
}

static const char *read_status(const struct lks_dpkg *d, struct lks_dpkg_package *p)
{
    struct lks_str rest = value_of(d, LKS_DPKG_STATUS), more;
    if (!d->seen[LKS_DPKG_STATUS]) {
        p->want = LKS_STR("install");
        p->flag = LKS_STR("ok");
        p->state = LKS_STR("installed");
        return d->bare ? NULL : "has no Status";
    }
    if (!lks_str_word(&rest, &p->want) || !lks_str_word(&rest, &p->flag) ||
        !lks_str_word(&rest, &p->state) || lks_str_word(&rest, &more))
        return "its Status is not three words";
    bool known =
        is_one_of(p->want, wants) && is_one_of(p->flag, flags) && is_one_of(p->state, states);
    return known ? NULL : "its Status is none that dpkg knows";
}

static const char *read_package(const struct lks_dpkg *d, struct lks_dpkg_package *p)
{
    p->name = value_of(d, LKS_DPKG_PACKAGE);
    p->version = value_of(d, LKS_DPKG_VERSION);
    p->architecture = value_of(d, LKS_DPKG_ARCHITECTURE);
    const char *fault = read_status(d, p);
    if (p->name.len == 0)
        return "has no Package";
    if (!is_plain(p->name))
        return "its Package is no name";
    if (fault != NULL)
        return fault;
    bool gone = lks_str_is(p->state, "not-installed") || lks_str_is(p->state, "config-files");
    if (p->version.len == 0 && !gone)
        return "has no Version";
    if (p->version.len > 0 && !is_plain(p->version))
        return "its Version is none";
    return p->architecture.len == 0 || is_plain(p->architecture) ? NULL
                                                                 : "its Architecture is none";
}

static void end_paragraph(struct lks_dpkg *d)
{
    if (d->begun == 0)
        return;
    struct lks_dpkg_package p = {.line = d->begun};
    const char *fault = read_package(d, &p);
    p.fault = d->fault != NULL ? d->fault : fault;
    d->fn(d->ctx, &p);
    memset(d->lens, 0, sizeof(d->lens));
    memset(d->seen, 0, sizeof(d->seen));
    d->begun = 0;
    d->fault = NULL;
}

static void begin_line(struct lks_dpkg *d, char c)
{
    if (is_blank(c) && c != '\r') {
        if (d->begun == 0)
            blame(d, "starts with a continuation line");
        else if (d->field != LKS_DPKG_FIELD_COUNT)
            blame(d, "a field of one line goes over several");
        d->begun = d->begun == 0 ? d->line : d->begun;
        d->at = PASSING;
        return;
    }
    d->begun = d->begun == 0 ? d->line : d->begun;
    d->name_len = 0;
    d->field = LKS_DPKG_FIELD_COUNT;
    d->at = IN_NAME;
}

/* The name is complete: is it one of ours? */
static void end_name(struct lks_dpkg *d)
{
    struct lks_str name = {d->name, d->name_len};
    for (int i = 0; i < LKS_DPKG_FIELD_COUNT; i++) {
        if (lks_str_eq_nocase(name, lks_str_from(fields[i])))
            d->field = (enum lks_dpkg_field)i;
    }
    if (d->field == LKS_DPKG_FIELD_COUNT)
        return;
    if (d->seen[d->field])
        blame(d, "a field appears twice");
    d->seen[d->field] = true;
    d->lens[d->field] = 0;
}

static void in_name(struct lks_dpkg *d, char c)
{
    if (c == ':') {
        end_name(d);
        d->at = BEFORE_VALUE;
    } else if (is_blank(c)) {
        d->at = BEFORE_COLON;
    } else if (d->at == BEFORE_COLON) {
        blame(d, "a line has no colon");
        d->at = PASSING;
    } else if (d->name_len < sizeof(d->name)) {
        d->name[d->name_len++] = c; /* a longer name is none of ours, whatever follows */
    }
}

static void in_value(struct lks_dpkg *d, char c)
{
    if (d->at == BEFORE_VALUE && is_blank(c))
        return;
    d->at = d->field == LKS_DPKG_FIELD_COUNT ? PASSING : IN_VALUE;
    if (d->at == PASSING)
        return;
    if (d->lens[d->field] == LKS_DPKG_VALUE_MAX) {
        blame(d, "a value is too long");
        d->at = PASSING;
        return;
    }
    d->values[d->field][d->lens[d->field]++] = c;
}

static void end_line(struct lks_dpkg *d)
{
    if (d->at == LINE_START)
        end_paragraph(d);
    else if (d->at == IN_NAME || d->at == BEFORE_COLON)
        blame(d, "a line has no colon");
    d->at = LINE_START;
    d->line++;
}

void lks_dpkg_feed(struct lks_dpkg *d, struct lks_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        char c = bytes.ptr[i];
        if (d->at == PASSING && c != '\n') {
            const char *end = memchr(bytes.ptr + i, '\n', bytes.len - i);
            if (end == NULL)
                return;
            i = (size_t)(end - bytes.ptr);
            c = '\n';
        }
        if (c == '\n')
            end_line(d);
        else if (d->at == LINE_START)
            begin_line(d, c);
        if (c == '\n' || d->at == PASSING)
            continue;
        if (d->at == IN_NAME || d->at == BEFORE_COLON)
            in_name(d, c);
        else
            in_value(d, c);
    }
}

void lks_dpkg_end(struct lks_dpkg *d)
{
    if (d->at != LINE_START) {
        blame(d, "is cut off in the middle of a line");
        d->lens[LKS_DPKG_PACKAGE] = 0; /* it may be the name that was cut */
        d->at = LINE_START;
    }
    end_paragraph(d);
}
