#include "core/conform/basis.h"

#include "core/conform/node_readings.h"

#include <stdlib.h>

enum {
    FIELDS = 5,
    COMPARED_MAX = 1024, /* readings of one name that two bands are compared in */
    SHOWN_MAX = 4,       /* values of each band that a disagreement names */
    OF_BYTES_MAX = 2 * LKS_READING_NAME_MAX,
};

static const struct lks_str nothing = {"", 0};

/* Beside the three states, what conformance asks of a reading's evidence: memory that was counted
 * in blocks of the kernel, and a probe that came to no end. */
static const struct {
    char sign;
    enum lks_reading_state state;
    struct lks_str evidence;
} states[] = {
    {'=', LKS_MEASURED, LKS_STR_C("")},
    {'#', LKS_MEASURED, LKS_STR_C("/sys/devices/system/memory")},
    {'-', LKS_ABSENT, LKS_STR_C("")},
    {'?', LKS_UNMEASURED, LKS_STR_C("")},
    {'!', LKS_UNMEASURED, LKS_STR_C("probe ")},
};

/* What counts ------------------------------------------------------------------------------- */

/* A place that was not searched matters only where it was every place, or was not to be told. */
static bool is_search(const struct lks_reading *r)
{
    return lks_str_is(r->name, "search.skipped");
}

static bool counts(const struct lks_reading *r)
{
    bool unread = r->state == LKS_UNMEASURED;
    switch (r->kind->class) {
    case LKS_READING_IDENTITY:
        return true;
    case LKS_READING_COPY:
        return lks_str_starts(r->name, "copy.");
    case LKS_READING_HEALTH: /* of this moment; but what waits for a reset is judged */
        return lks_str_is(r->name, "gpu.mig_pending") || lks_str_is(r->name, "gpu.ecc_pending");
    case LKS_READING_DEVICE: /* a stack may name any of these, and serial numbers are of no use */
        break;
    }
    if (is_search(r))
        return unread || lks_str_is(r->of, "all places");
    if (lks_str_starts(r->name, "probe."))
        return unread && lks_str_is(r->name, "probe.libraries");
    return !r->kind->secret;
}

static char sign_of(const struct lks_reading *r)
{
    if (r->state == LKS_ABSENT)
        return '-';
    if (r->state == LKS_UNMEASURED)
        return lks_str_starts(r->evidence, "probe ") ? '!' : '?';
    return lks_str_is(r->name, "devices.memory_gib") && lks_node_memory_in_blocks(r) ? '#' : '=';
}

/* Devices ----------------------------------------------------------------------------------- */

/* One reading that counts, and what stands for its device: a number among those of its kind, which
 * follows from what they read and not from where they are. */
struct entry {
    const struct lks_reading *r;
    struct lks_str kind; /* empty: `of` is no device, and stays as it is */
    struct lks_str side; /* " side a" of a redundant pair, or empty */
    size_t number;       /* 0: left out */
};

/* The readings of one device: a stretch of the entries. */
struct device {
    struct entry *first;
    size_t count;
};

static struct lks_str side_of(struct lks_str of)
{
    static const char mark[] = " side ";
    size_t len = sizeof(mark) - 1;
    if (of.len <= len + 1 || memcmp(of.ptr + of.len - len - 1, mark, len) != 0)
        return nothing;
    return (struct lks_str){of.ptr + of.len - len - 1, len + 1};
}

static struct entry entry_of(const struct lks_reading *r)
{
    struct entry e = {.r = r, .kind = nothing, .side = nothing, .number = 1};
    struct lks_str kind, address;
    if (r->kind->class == LKS_READING_COPY) {
        e.kind = LKS_STR("copy");
    } else if (!is_search(r) && lks_str_cut(r->of, ' ', &kind, &address)) {
        e.kind = kind;
        e.side = side_of(r->of);
    }
    return e;
}

/* By device, and within it in the order of the tuple. */
static int by_device(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = lks_str_cmp(a->kind, b->kind);
    if (order == 0)
        order = lks_str_cmp(a->r->of, b->r->of);
    return order != 0 ? order : (a->r > b->r) - (a->r < b->r);
}

static int content_cmp(const struct lks_reading *a, const struct lks_reading *b)
{
    int order = lks_str_cmp(a->name, b->name);
    if (order == 0)
        order = lks_str_cmp(a->part, b->part);
    if (order == 0)
        order = (int)sign_of(a) - (int)sign_of(b);
    return order != 0 ? order : lks_str_cmp(a->value, b->value);
}

static int by_content(const void *left, const void *right)
{
    const struct device *a = left, *b = right;
    int order = lks_str_cmp(a->first->kind, b->first->kind);
    if (order == 0)
        order = lks_str_cmp(a->first->side, b->first->side);
    for (size_t i = 0; order == 0 && i < a->count && i < b->count; i++)
        order = content_cmp(a->first[i].r, b->first[i].r);
    return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

/* Of copies that read the same one is enough: they come and go with the processes of jobs. */
static void number_devices(struct device *devices, size_t count)
{
    size_t number = 0;
    qsort(devices, count, sizeof(devices[0]), by_content);
    for (size_t i = 0; i < count; i++) {
        struct lks_str kind = devices[i].first->kind;
        bool first = i == 0 || !lks_str_eq(kind, devices[i - 1].first->kind);
        bool again =
            !first && lks_str_is(kind, "copy") && by_content(&devices[i - 1], &devices[i]) == 0;
        number = first ? 1 : number + !again;
        for (size_t k = 0; k < devices[i].count; k++)
            devices[i].first[k].number = again ? 0 : number;
    }
}

static void free_devices(struct device **devices)
{
    free(*devices);
}

static enum lks_code find_devices(struct entry *entries, size_t count, struct lks_err *err)
{
    LKS_CLEANUP(free_devices)
    struct device *devices = calloc(count + 1, sizeof(devices[0]));
    size_t found = 0;
    if (devices == NULL)
        return lks_fail_nomem(err);
    if (count > 0)
        qsort(entries, count, sizeof(entries[0]), by_device);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].kind.len == 0)
            continue;
        struct device *last = found > 0 ? &devices[found - 1] : NULL;
        bool same = last != NULL && lks_str_eq(last->first->kind, entries[i].kind) &&
                    lks_str_eq(last->first->r->of, entries[i].r->of);
        if (!same)
            devices[found++] = (struct device){&entries[i], 0};
        devices[found - 1].count++;
    }
    number_devices(devices, found);
    return LKS_OK;
}

/* Writing ----------------------------------------------------------------------------------- */

/* Lines as they are written, and then in order. */
struct lines {
    struct lks_buf text;
    struct lks_str *list; /* owned; views of `text`, once it is whole */
    size_t count;
};

static void lines_fini(struct lines *l)
{
    lks_buf_fini(&l->text);
    free(l->list);
}

static void add_text(struct lks_buf *out, struct lks_str text, char end)
{
    lks_buf_add(out, text);
    lks_buf_addc(out, end);
}

/* Parameters of the kernel that name one host say nothing about what is common to many. */
static void add_cmdline(struct lks_buf *out, struct lks_str value)
{
    struct lks_str word;
    const char *before = "";
    while (lks_str_word(&value, &word)) {
        if (lks_reading_parameter_of_host(word))
            continue;
        lks_buf_addf(out, "%s%" LKS_STR_FMT, before, LKS_STR_ARG(word));
        before = " ";
    }
}

static void write_entry(struct lks_buf *out, const struct entry *e)
{
    const struct lks_reading *r = e->r;
    add_text(out, r->name, '\t');
    if (e->kind.len > 0)
        lks_buf_addf(out, "%" LKS_STR_FMT " %zu%" LKS_STR_FMT "\t", LKS_STR_ARG(e->kind), e->number,
                     LKS_STR_ARG(e->side));
    else
        add_text(out, is_search(r) && !lks_str_is(r->of, "all places") ? nothing : r->of, '\t');
    add_text(out, r->part, '\t');
    lks_buf_addc(out, sign_of(r));
    lks_buf_addc(out, '\t');
    if (lks_str_is(r->name, "settings.kernel_cmdline") && r->state == LKS_MEASURED)
        add_cmdline(out, r->value);
    else
        lks_buf_add(out, r->value);
    lks_buf_addc(out, '\n');
}

static int by_text(const void *left, const void *right)
{
    const struct lks_str *a = left, *b = right;
    return lks_str_cmp(*a, *b);
}

/* Take the first line off, its end included; false: there is none. */
static bool next_line(struct lks_str *rest, struct lks_str *line)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t len = end == NULL ? rest->len : (size_t)(end - rest->ptr) + 1;
    *line = (struct lks_str){rest->ptr, len};
    *rest = (struct lks_str){rest->ptr + len, rest->len - len};
    return true;
}

static enum lks_code sort_lines(struct lines *l, size_t most, struct lks_err *err)
{
    struct lks_str rest = lks_buf_view(&l->text), line;
    if (lks_buf_check(&l->text, err) != LKS_OK)
        return lks_wrap(err, "the readings of a verdict");
    l->list = calloc(most + 1, sizeof(l->list[0]));
    if (l->list == NULL)
        return lks_fail_nomem(err);
    while (next_line(&rest, &line)) {
        LKS_ASSERT(l->count < most);
        l->list[l->count++] = line;
    }
    qsort(l->list, l->count, sizeof(l->list[0]), by_text);
    return LKS_OK;
}

static enum lks_code finish(const struct lks_buf *out, size_t from, char digest[LKS_DIGEST_SIZE],
                            struct lks_err *err)
{
    struct lks_str all = lks_buf_view(out);
    if (lks_buf_check(out, err) != LKS_OK)
        return err->code;
    return lks_digest_text((struct lks_str){all.ptr + from, all.len - from}, digest, err);
}

static void free_entries(struct entry **entries)
{
    free(*entries);
}

enum lks_code lks_basis_of(const struct lks_tuple *tuple, struct lks_buf *out,
                           char digest[LKS_DIGEST_SIZE], struct lks_err *err)
{
    LKS_CLEANUP(lines_fini) struct lines lines = {0};
    LKS_CLEANUP(free_entries)
    struct entry *entries = calloc(tuple->count + 1, sizeof(entries[0]));
    size_t count = 0, from = out->len;
    if (entries == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 0; i < tuple->count; i++) {
        const struct lks_reading *r = &tuple->readings[i];
        if (counts(r))
            entries[count++] = entry_of(r);
    }
    if (find_devices(entries, count, err) != LKS_OK)
        return err->code;
    lks_buf_init(&lines.text, LKS_BASIS_BYTES_MAX);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].number > 0)
            write_entry(&lines.text, &entries[i]);
    }
    if (sort_lines(&lines, count, err) != LKS_OK)
        return err->code;
    for (size_t i = 0; i < lines.count; i++) {
        if (i == 0 || !lks_str_eq(lines.list[i - 1], lines.list[i]))
            lks_buf_add(out, lines.list[i]);
    }
    return finish(out, from, digest, err);
}

/* Reading ----------------------------------------------------------------------------------- */

/* What there is in a text beside letters, counted in eights. */
struct census {
    bool plain;      /* all of it is ASCII */
    size_t controls; /* tabs, ends of lines, and what has no place here */
};

static struct census census_of(struct lks_str text)
{
    const uint64_t highs = UINT64_C(0x8080808080808080), ones = UINT64_C(0x0101010101010101);
    struct census c = {.plain = true};
    size_t at = 0;
    for (uint64_t word; text.len - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, text.ptr + at, sizeof(word));
        uint64_t odd = (word | (word + ones)) & highs; /* more than ASCII, or 0x7f */
        uint64_t letters = (((word & ~highs) + ones * 0x60) | word) & highs;
        c.plain = c.plain && odd == 0;
        c.controls += sizeof(word) - (size_t)((letters >> 7) * ones >> 56);
    }
    for (; at < text.len; at++) {
        c.plain = c.plain && (unsigned char)text.ptr[at] < 0x7f;
        c.controls += (unsigned char)text.ptr[at] < ' ';
    }
    return c;
}

/* The fields of a line, whose end is cut off; false where it has more or fewer. */
static bool split(struct lks_str line, struct lks_str fields[FIELDS])
{
    const char *at = line.ptr, *end = line.ptr + line.len;
    for (size_t i = 0; i + 1 < FIELDS; i++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        if (tab == NULL)
            return false;
        fields[i] = (struct lks_str){at, (size_t)(tab - at)};
        at = tab + 1;
    }
    fields[FIELDS - 1] = (struct lks_str){at, (size_t)(end - at)};
    return memchr(at, '\t', (size_t)(end - at)) == NULL;
}

static bool read_state(char sign, struct lks_reading *out)
{
    for (size_t i = 0; i < LKS_COUNT(states); i++) {
        if (states[i].sign != sign)
            continue;
        out->state = states[i].state;
        out->evidence = states[i].evidence;
        return sign != '#' || lks_str_is(out->name, "devices.memory_gib");
    }
    return false;
}

static bool fields_fit(const struct lks_str fields[FIELDS], bool plain)
{
    static const size_t max[FIELDS] = {LKS_READING_NAME_MAX, OF_BYTES_MAX, LKS_READING_NAME_MAX, 1,
                                       LKS_READING_VALUE_MAX};
    for (size_t i = 0; i < FIELDS; i++) {
        if (fields[i].len > max[i] || (!plain && !lks_str_printable(fields[i])))
            return false;
    }
    return fields[0].len > 0 && fields[3].len == 1;
}

/* `line` with its end. */
static bool read_line(struct lks_str line, bool plain, struct lks_reading *out)
{
    struct lks_str fields[FIELDS];
    struct lks_reading r = {0};
    if (line.len < FIELDS || line.ptr[line.len - 1] != '\n' ||
        !split((struct lks_str){line.ptr, line.len - 1}, fields) || !fields_fit(fields, plain))
        return false;
    r.name = fields[0];
    r.of = fields[1];
    r.part = fields[2];
    r.value = fields[4];
    if (!read_state(fields[3].ptr[0], &r) || (r.state == LKS_ABSENT && r.value.len > 0))
        return false;
    *out = r;
    return true;
}

/* Beside letters a basis has its tabs and ends of lines and nothing else. */
enum lks_code lks_basis_parse(struct lks_str text, struct lks_tuple *out, struct lks_err *err)
{
    LKS_CLEANUP(lks_tuple_fini) struct lks_tuple t = {0};
    struct lks_str rest = text, line, before = nothing;
    lks_tuple_init(&t);
    struct census census = census_of(text);
    size_t count = census.controls / FIELDS;
    if (text.len > LKS_BASIS_BYTES_MAX || count > LKS_TUPLE_READINGS_MAX)
        return lks_fail(err, LKS_E_INVALID, "a basis of more than %zu bytes or %d readings",
                        LKS_BASIS_BYTES_MAX, LKS_TUPLE_READINGS_MAX);
    t.readings = malloc((count + 1) * sizeof(t.readings[0]));
    if (t.readings == NULL)
        return lks_fail_nomem(err);
    t.room = count + 1;
    for (; next_line(&rest, &line); before = line) {
        if (t.count == count || lks_str_cmp(before, line) >= 0 ||
            !read_line(line, census.plain, &t.readings[t.count]))
            return lks_fail(err, LKS_E_INVALID, "line %zu of a basis is none that we write",
                            t.count + 1);
        t.count++;
    }
    if (census.controls != FIELDS * t.count)
        return lks_fail(err, LKS_E_INVALID, "a basis with characters that do not print");
    *out = LKS_MOVE(t);
    return LKS_OK;
}

/* Looking ----------------------------------------------------------------------------------- */

static struct lks_str name_of(struct lks_str line)
{
    struct lks_str name, rest;
    (void)lks_str_cut(line, '\t', &name, &rest);
    return name;
}

/* The lines of one name at the beginning of `*rest`, which they are taken off. */
static struct lks_str next_name(struct lks_str *rest, struct lks_str *name)
{
    struct lks_str left = *rest, all = {rest->ptr, 0}, line;
    *name = name_of(left);
    while (next_line(&left, &line) && lks_str_eq(name_of(line), *name)) {
        all.len += line.len;
        *rest = left;
    }
    return all;
}

/* From the first line on whose name is not before `name`. Lines are in order, so the middle of what
 * is left tells which half it is in. */
static struct lks_str from_name(struct lks_str text, struct lks_str name)
{
    size_t low = 0, high = text.len;
    while (low < high) {
        size_t at = low + (high - low) / 2;
        while (at > low && text.ptr[at - 1] != '\n')
            at--;
        struct lks_str rest = {text.ptr + at, text.len - at}, line = rest;
        (void)next_line(&rest, &line);
        if (lks_str_cmp(name_of(line), name) < 0)
            low = at + line.len;
        else
            high = at;
    }
    return (struct lks_str){text.ptr + low, text.len - low};
}

struct lks_str lks_basis_value(struct lks_str text, const char *name)
{
    struct lks_str wanted = lks_str_from(name), rest = from_name(text, wanted), line;
    struct lks_reading r;
    while (next_line(&rest, &line) && lks_str_eq(name_of(line), wanted)) {
        if (read_line(line, true, &r) && r.state == LKS_MEASURED)
            return r.value;
    }
    return nothing;
}

/* The bus counts them; of a node that did not say it, each has an id. */
uint32_t lks_basis_gpus(struct lks_str text)
{
    struct lks_str id = LKS_STR("gpu.pci_id"), line;
    uint64_t gpus = 0;
    if (lks_str_number(lks_basis_value(text, "devices.gpus"), UINT32_MAX, &gpus))
        return (uint32_t)gpus;
    text = from_name(text, id);
    while (next_line(&text, &line) && lks_str_eq(name_of(line), id))
        gpus++;
    return (uint32_t)gpus;
}

/* Merging ----------------------------------------------------------------------------------- */

/* What one band says under one name. */
struct band {
    struct lks_str lines;
    size_t known, unread;
    size_t measured; /* of those that are known; the others are absent */
};

static struct band band_of(struct lks_str lines)
{
    struct band b = {.lines = lines};
    struct lks_str line;
    struct lks_reading r;
    while (next_line(&lines, &line)) {
        bool good = read_line(line, true, &r);
        b.known += good && r.state != LKS_UNMEASURED;
        b.measured += good && r.state == LKS_MEASURED;
        b.unread += good && r.state == LKS_UNMEASURED;
    }
    return b;
}

/* The same of what may be the same device: one band may not tell its part. */
static bool alike(const struct lks_reading *a, const struct lks_reading *b)
{
    bool same = a->part.len == 0 || b->part.len == 0 || lks_str_eq(a->part, b->part);
    return same && a->state == b->state && lks_str_eq_nocase(a->value, b->value);
}

/* Whether all that `a` knows `b` has, too. How many devices have it is not asked: a band may read
 * ports and another adapters. */
static bool is_within(struct lks_str a, struct lks_str b)
{
    struct lks_str line, other;
    struct lks_reading x, y;
    while (next_line(&a, &line)) {
        struct lks_str rest = b;
        bool found = !read_line(line, true, &x) || x.state == LKS_UNMEASURED;
        while (!found && next_line(&rest, &other))
            found = read_line(other, true, &y) && alike(&x, &y);
        if (!found)
            return false;
    }
    return true;
}

static bool agree(const struct band *a, const struct band *b)
{
    return a->known <= COMPARED_MAX && b->known <= COMPARED_MAX && is_within(a->lines, b->lines) &&
           is_within(b->lines, a->lines);
}

/* The different values of a band. */
static void show_values(struct lks_buf *out, struct lks_str lines)
{
    struct lks_str seen[SHOWN_MAX], line;
    struct lks_reading r;
    size_t shown = 0;
    while (next_line(&lines, &line)) {
        if (!read_line(line, true, &r) || r.state == LKS_UNMEASURED)
            continue;
        struct lks_str value = r.state == LKS_ABSENT ? LKS_STR("absent") : r.value;
        size_t same = 0;
        while (same < shown && !lks_str_eq(seen[same], value))
            same++;
        if (same < shown)
            continue;
        if (shown == SHOWN_MAX) {
            lks_buf_add(out, LKS_STR(" and others"));
            return;
        }
        lks_buf_addf(out, "%s%" LKS_STR_FMT, shown > 0 ? ", " : "", LKS_STR_ARG(value));
        seen[shown++] = value;
    }
}

static void add_disagreement(struct lks_buf *out, struct lks_str name, const struct band *in,
                             const struct band *outer)
{
    LKS_CLEANUP(lks_buf_fini)
    struct lks_buf value = LKS_BUF((size_t)4 * SHOWN_MAX * LKS_READING_VALUE_MAX);
    lks_buf_add(&value, LKS_STR(LKS_BASIS_DISAGREE));
    show_values(&value, in->lines);
    lks_buf_add(&value, LKS_STR(" against "));
    show_values(&value, outer->lines);
    struct lks_str text = lks_buf_view(&value);
    while (text.len > LKS_READING_VALUE_MAX || !lks_str_utf8(text, NULL))
        text.len--;
    lks_buf_addf(out, "%" LKS_STR_FMT "\t\t\t?\t%" LKS_STR_FMT "\n", LKS_STR_ARG(name),
                 LKS_STR_ARG(text));
    if (value.failed != LKS_OK)
        out->failed = value.failed;
}

/* What was read out of band. Numbers of devices are of that band alone, so they are marked: no two
 * readings of different bands are taken to be of one device. Past its age only what was read of
 * which device is left, once. */
static void add_outband(struct lks_buf *out, struct lks_str lines, bool expired)
{
    struct lks_str line, kind, number;
    struct lks_reading r, before = {0};
    for (; next_line(&lines, &line); before = r) {
        if (!read_line(line, true, &r) || (expired && lks_str_eq(before.of, r.of) &&
                                           lks_str_eq(before.part, r.part) && before.name.len > 0))
            continue;
        bool device = lks_str_cut(r.of, ' ', &kind, &number);
        lks_buf_addf(out, "%" LKS_STR_FMT "\t%" LKS_STR_FMT "%s%" LKS_STR_FMT "\t%" LKS_STR_FMT,
                     LKS_STR_ARG(r.name), LKS_STR_ARG(kind), device ? " +" : "",
                     LKS_STR_ARG(number), LKS_STR_ARG(r.part));
        if (expired)
            lks_buf_add(out, LKS_STR("\t?\tread out of band, and past its age\n"));
        else /* as it is: the state and the value */
            lks_buf_addf(out, "\t%c\t%" LKS_STR_FMT "\n", sign_of(&r), LKS_STR_ARG(r.value));
    }
}

/* Firmware that the node finds no device for, and whose version the endpoint read: the node has no
 * way to it (a BMC without IPMI in-band), which contradicts no version. */
static bool is_beyond(struct lks_str name, const struct band *in, const struct band *outer)
{
    return lks_str_starts(name, "firmware/") && in->known > 0 && in->measured == 0 &&
           outer->measured > 0;
}

/* Both bands know the name. What they know alike is taken from the one that could read more. */
static void add_both(struct lks_buf *out, struct lks_str name, struct lks_str inner,
                     struct lks_str outer, bool expired)
{
    struct band in = band_of(inner), beyond = band_of(outer);
    bool fewer = in.known == 0 || beyond.unread < in.unread;
    if (is_beyond(name, &in, &beyond))
        add_outband(out, outer, expired);
    else if (!expired && in.known > 0 && beyond.known > 0 && !agree(&in, &beyond))
        add_disagreement(out, name, &in, &beyond);
    else if (!expired && beyond.known > 0 && fewer)
        add_outband(out, outer, false);
    else
        lks_buf_add(out, inner);
}

enum lks_code lks_basis_merge(struct lks_str inband, struct lks_str outband, bool expired,
                              struct lks_buf *out, char digest[LKS_DIGEST_SIZE],
                              struct lks_err *err)
{
    size_t from = out->len;
    while (inband.len > 0 || outband.len > 0) {
        struct lks_str name, other;
        int order = inband.len == 0    ? 1
                    : outband.len == 0 ? -1
                                       : lks_str_cmp(name_of(inband), name_of(outband));
        struct lks_str inner = order <= 0 ? next_name(&inband, &name) : nothing;
        struct lks_str outer = order >= 0 ? next_name(&outband, &other) : nothing;
        if (order < 0)
            lks_buf_add(out, inner);
        else if (order == 0)
            add_both(out, name, inner, outer, expired);
        else
            add_outband(out, outer, expired);
    }
    struct lks_str all = lks_buf_view(out);
    if (out->failed == LKS_OK && (out->len - from > LKS_BASIS_BYTES_MAX ||
                                  lks_str_count((struct lks_str){all.ptr + from, all.len - from},
                                                '\n') > LKS_TUPLE_READINGS_MAX))
        return lks_fail(err, LKS_E_LIMIT, "a basis of more than %zu bytes or %d readings",
                        LKS_BASIS_BYTES_MAX, LKS_TUPLE_READINGS_MAX);
    return finish(out, from, digest, err);
}
