#include "lab/bmcd/layout.h"

#include "base/near.h"
#include "codec/notation/hostlist.h"

#include <inttypes.h>
#include <stdio.h>

#define MEMORY_MAX ((size_t)64 << 20)

enum {
    LOOPBACK = 127, /* the first byte of its addresses */
    LOOPBACK_LAST = 0x7ffffffe,
    REVISIONS_MAX = 64,
    KINDS_MAX = 64,
};

void lks_layout_fini(struct lks_layout *p)
{
    lks_arena_fini(&p->arena);
    *p = (struct lks_layout){0};
}

void lks_layout_address(const struct lks_layout *p, size_t i, char out[LKS_LAYOUT_URL_MAX])
{
    uint32_t a = p->first + (uint32_t)i;
    snprintf(out, LKS_LAYOUT_URL_MAX, "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
}

void lks_layout_url(const struct lks_layout *p, size_t i, char out[LKS_LAYOUT_URL_MAX])
{
    char address[LKS_LAYOUT_URL_MAX];
    lks_layout_address(p, i, address);
    snprintf(out, LKS_LAYOUT_URL_MAX, "https://%.15s:%u", address, p->port);
}

enum lks_code lks_layout_personality(struct lks_str word, enum lks_bmcsim_personality *out,
                                     struct lks_err *err)
{
    size_t i = 0;
    if (lks_near_word(word, lks_bmcsim_words, LKS_BMCSIM_PERSONALITIES, "personality", LKS_E_USAGE,
                      &i, err) != LKS_OK)
        return err->code;
    *out = (enum lks_bmcsim_personality)i;
    return LKS_OK;
}

/* ---- Addresses. ---- */

/* Nothing but loopback: these are no real BMCs, and no other machine is to reach them. */
static enum lks_code read_listen(const char *text, struct lks_layout *p, struct lks_err *err)
{
    struct lks_str rest = lks_str_from(text), host, part;
    uint64_t number = 0, port = 0, bytes[4] = {0};
    bool good = lks_str_cut(rest, ':', &host, &rest) && lks_str_number(rest, UINT16_MAX, &port);
    for (size_t i = 0; good && i < LKS_COUNT(bytes); i++) {
        bool more = lks_str_cut(host, '.', &part, &host);
        good = more == (i + 1 < LKS_COUNT(bytes)) && lks_str_number(part, UINT8_MAX, &bytes[i]);
        number = number << 8 | bytes[i];
    }
    if (!good)
        return lks_fail(err, LKS_E_USAGE,
                        "--listen: '%s' is no IPv4 address with a port, such as 127.64.0.1:7500",
                        text);
    if (bytes[0] != LOOPBACK)
        return lks_fail(err, LKS_E_USAGE,
                        "--listen: %s is not a loopback address; simulated BMCs are on 127.*.*.*",
                        text);
    p->first = (uint32_t)number;
    p->port = (unsigned)port;
    return LKS_OK;
}

static enum lks_code check_end(const struct lks_layout *p, struct lks_err *err)
{
    if (p->count > (uint64_t)LOOPBACK_LAST - p->first + 1)
        return lks_fail(err, LKS_E_USAGE,
                        "--listen: %zu addresses from there on leave the loopback network; start "
                        "lower",
                        p->count);
    return LKS_OK;
}

/* ---- BMCs. ---- */

static enum lks_code reserve(struct lks_layout *p, uint64_t count, struct lks_err *err)
{
    if (count == 0 || count > LKS_LAYOUT_MAX)
        return lks_fail(err, LKS_E_USAGE, "%" PRIu64 " BMCs; from 1 to %d can run in one process",
                        count, LKS_LAYOUT_MAX);
    p->bmcs = lks_arena_array(&p->arena, (size_t)count, sizeof(*p->bmcs));
    return p->bmcs != NULL ? LKS_OK : lks_arena_fail(&p->arena, err);
}

static void add(struct lks_layout *p, struct lks_str name, struct lks_str rack,
                enum lks_bmcsim_personality personality)
{
    const char *revision = p->revisions[p->count % p->revision_count];
    p->bmcs[p->count++] = (struct lks_layout_bmc){
        .name = name, .rack = rack, .personality = personality, .revision = revision};
}

/* `count` of the personalities in turn: bmc0001, bmc0002 ... */
static enum lks_code make_mixed(struct lks_layout *p, const struct lks_layout_wish *wish,
                                struct lks_err *err)
{
    enum lks_bmcsim_personality kinds[KINDS_MAX] = {0};
    struct lks_str rest = lks_str_from(wish->personalities), word;
    size_t count = 0;
    bool more = true;
    while (more && count < KINDS_MAX) {
        more = lks_str_cut(rest, ',', &word, &rest);
        if (lks_layout_personality(word, &kinds[count++], err) != LKS_OK)
            return lks_wrap(err, "--personality");
    }
    if (more)
        return lks_fail(err, LKS_E_USAGE, "--personality: more than %d of them", KINDS_MAX);
    if (reserve(p, wish->count, err) != LKS_OK)
        return lks_wrap(err, "--count");
    for (size_t i = 0; i < wish->count; i++) {
        struct lks_str name = lks_arena_format(&p->arena, "bmc%04zu", i + 1);
        if (name.ptr == NULL)
            return lks_arena_fail(&p->arena, err);
        add(p, name, LKS_STR(""), kinds[i % count]);
    }
    return LKS_OK;
}

/* What stands in a rack of 72 GPUs, which is one domain. */
static const struct rack_part {
    enum lks_bmcsim_personality personality;
    unsigned count;
    const char *name;
    int digits;
} nvl72[] = {
    {LKS_BMCSIM_HGX, 18, "compute", 2},
    {LKS_BMCSIM_SWITCH, 9, "switch", 1},
    {LKS_BMCSIM_SHELF, 8, "shelf", 1},
};

static enum lks_code make_rack(struct lks_layout *p, unsigned number, struct lks_err *err)
{
    struct lks_str rack = lks_arena_format(&p->arena, "rack%u", number);
    for (size_t i = 0; rack.ptr != NULL && i < LKS_COUNT(nvl72); i++) {
        for (unsigned n = 1; n <= nvl72[i].count; n++) {
            struct lks_str name = lks_arena_format(&p->arena, "rack%u-%s%0*u", number,
                                                   nvl72[i].name, nvl72[i].digits, n);
            if (name.ptr == NULL)
                return lks_arena_fail(&p->arena, err);
            add(p, name, rack, nvl72[i].personality);
        }
    }
    return rack.ptr != NULL ? LKS_OK : lks_arena_fail(&p->arena, err);
}

static enum lks_code make_racks(struct lks_layout *p, const struct lks_layout_wish *wish,
                                struct lks_err *err)
{
    uint64_t each = 0;
    if (strcmp(wish->rack, "nvl72") != 0)
        return lks_fail(err, LKS_E_USAGE, "--rack: no rack '%s'; there is nvl72", wish->rack);
    for (size_t i = 0; i < LKS_COUNT(nvl72); i++)
        each += nvl72[i].count;
    if (wish->count > LKS_LAYOUT_MAX || reserve(p, wish->count * each, err) != LKS_OK)
        return lks_fail(err, LKS_E_USAGE, "--count: from 1 to %" PRIu64 " racks",
                        LKS_LAYOUT_MAX / each);
    for (unsigned r = 1; r <= wish->count; r++) {
        if (make_rack(p, r, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

/* "hgx=gpu[01-16]" */
static enum lks_code read_set(struct lks_layout *p, const char *text,
                              enum lks_bmcsim_personality *personality, struct lks_hostlist *hosts,
                              struct lks_err *err)
{
    struct lks_str word, list;
    if (!lks_str_cut(lks_str_from(text), '=', &word, &list))
        return lks_fail(err, LKS_E_USAGE, "--bmc: '%s' is not PERSONALITY=HOSTS", text);
    if (lks_layout_personality(word, personality, err) != LKS_OK ||
        lks_hostlist_parse(list, &p->arena, hosts, err) != LKS_OK)
        return lks_wrap(err, "--bmc");
    return LKS_OK;
}

static enum lks_code make_sets(struct lks_layout *p, const struct lks_layout_wish *wish,
                               struct lks_err *err)
{
    enum lks_bmcsim_personality personality = LKS_BMCSIM_OPENBMC;
    uint64_t count = 0;
    struct lks_hostlist *lists = lks_arena_array(&p->arena, wish->set_count, sizeof(*lists));
    if (lists == NULL)
        return lks_arena_fail(&p->arena, err);
    for (size_t i = 0; i < wish->set_count; i++) {
        if (read_set(p, wish->sets[i], &personality, &lists[i], err) != LKS_OK)
            return err->code;
        count += lists[i].count;
    }
    if (reserve(p, count, err) != LKS_OK)
        return lks_wrap(err, "--bmc");
    for (size_t i = 0; i < wish->set_count; i++) {
        if (read_set(p, wish->sets[i], &personality, &lists[i], err) != LKS_OK)
            return err->code;
        for (size_t n = 0; n < lists[i].count; n++)
            add(p, lists[i].names[n], LKS_STR(""), personality);
    }
    return LKS_OK;
}

static enum lks_code read_revisions(const char *list, struct lks_layout *p, struct lks_err *err)
{
    struct lks_str rest = lks_str_from(list != NULL ? list : "A,A,A,B"), word;
    p->revisions = lks_arena_array(&p->arena, REVISIONS_MAX, sizeof(p->revisions[0]));
    if (p->revisions == NULL)
        return lks_arena_fail(&p->arena, err);
    for (bool more = true; more;) {
        more = lks_str_cut(rest, ',', &word, &rest);
        if (p->revision_count == REVISIONS_MAX)
            return lks_fail(err, LKS_E_USAGE, "--revisions: more than %d of them", REVISIONS_MAX);
        if (word.len == 0 || word.len >= LKS_BMCSIM_REVISION_SIZE || !lks_str_printable(word))
            return lks_fail(err, LKS_E_USAGE,
                            "--revisions: '%" LKS_STR_FMT "' is not 1 to %d characters",
                            LKS_STR_ARG(word), LKS_BMCSIM_REVISION_SIZE - 1);
        struct lks_str copy = lks_arena_copy(&p->arena, word);
        if (copy.ptr == NULL)
            return lks_arena_fail(&p->arena, err);
        p->revisions[p->revision_count++] = copy.ptr;
    }
    return LKS_OK;
}

enum lks_code lks_layout_make(const struct lks_layout_wish *wish, struct lks_layout *out,
                              struct lks_err *err)
{
    LKS_CLEANUP(lks_layout_fini) struct lks_layout p = {0};
    lks_arena_init(&p.arena, MEMORY_MAX);
    enum lks_code code = read_listen(wish->listen, &p, err);
    if (code == LKS_OK)
        code = read_revisions(wish->revisions, &p, err);
    if (code == LKS_OK && wish->set_count > 0)
        code = make_sets(&p, wish, err);
    else if (code == LKS_OK && wish->rack != NULL)
        code = make_racks(&p, wish, err);
    else if (code == LKS_OK)
        code = make_mixed(&p, wish, err);
    if (code == LKS_OK)
        code = check_end(&p, err);
    if (code == LKS_OK)
        *out = LKS_MOVE(p);
    return code;
}

/* ---- A fleet of them. ---- */

static const char *asset_class(enum lks_bmcsim_personality personality)
{
    if (personality == LKS_BMCSIM_SWITCH)
        return "switch-tray";
    return personality == LKS_BMCSIM_SHELF ? "power-shelf" : NULL;
}

/* A group of its own for each, since no part of its address is its name. */
static void add_member(struct lks_buf *out, const struct lks_layout *p, size_t i, const char *class,
                       const char *ca, const char *login)
{
    const struct lks_layout_bmc *b = &p->bmcs[i];
    const char *asset = asset_class(b->personality);
    char url[LKS_LAYOUT_URL_MAX];
    lks_layout_url(p, i, url);
    lks_buf_addf(out, "  - {hosts: \"%" LKS_STR_FMT "\", class: %s, site: sim, ",
                 LKS_STR_ARG(b->name), asset != NULL ? asset : class);
    if (asset == NULL)
        lks_buf_addf(out, "pool: sim, ");
    if (b->rack.len > 0)
        lks_buf_addf(out, "domain: %" LKS_STR_FMT ", rack: %" LKS_STR_FMT ", ",
                     LKS_STR_ARG(b->rack), LKS_STR_ARG(b->rack));
    lks_buf_addf(out,
                 "hardware_revision: \"%s\",\n     bmc: {url: \"%s\", trust: \"file:%s\", "
                 "credentials: \"file:%s\"}}\n",
                 b->revision, url, ca, login);
}

static size_t add_members(struct lks_buf *out, const struct lks_layout *p, bool assets,
                          const char *class, const char *ca, const char *login)
{
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++) {
        if ((asset_class(p->bmcs[i].personality) != NULL) != assets)
            continue;
        if (count++ == 0)
            lks_buf_addf(out, "%s:\n", assets ? "assets" : "nodes");
        add_member(out, p, i, class, ca, login);
    }
    return count;
}

enum lks_code lks_layout_fleet(const struct lks_layout *p, const char *class, const char *ca,
                               const char *login, struct lks_buf *out, struct lks_err *err)
{
    struct lks_str rack = {0};
    lks_buf_addf(out, "lockstep: 1\nkind: Fleet\nname: bmcsim\nsites:\n  sim: {}\npools:\n"
                      "  sim: {posture: dev}\n");
    for (size_t i = 0; i < p->count; i++) {
        if (p->bmcs[i].rack.len == 0 || lks_str_eq(p->bmcs[i].rack, rack))
            continue;
        lks_buf_addf(out, "%s  %" LKS_STR_FMT ": {site: sim}\n", rack.len == 0 ? "domains:\n" : "",
                     LKS_STR_ARG(p->bmcs[i].rack));
        rack = p->bmcs[i].rack;
    }
    if (add_members(out, p, false, class, ca, login) == 0)
        return lks_fail(
            err, LKS_E_USAGE,
            "--fleet-file: a fleet needs a node, and switch trays and power shelves are none");
    (void)add_members(out, p, true, class, ca, login);
    return lks_buf_check(out, err);
}
