/* What a node says it runs: judged against its pool's stack, its parts held against those it had,
 * and intake for what is first seen or was changed. */
#include "core/conform.h"
#include "core/decide_rules.h"

#include <stdlib.h>

enum {
    READINGS_BYTES_MAX = 256 << 10, /* of the identity of a tuple in the journal; the rest is cut */
    READING_VALUE_MAX = 256,        /* longer values say nothing that is looked for by value */
    PARTS_BYTES_MAX = 64 << 10,
    FIRST_BYTES_MAX = 256,
};

/* What the tuple comes to; texts live in the decision. */
struct verdict {
    struct lks_str stack, first;
    enum lks_judged judged;
    uint32_t drifted, unmeasured;
};

struct parts {
    struct lks_str digests[LKS_PART_COUNT]; /* empty: not to be told */
    struct lks_str list;
    bool differ;         /* from what was recorded */
    const char *changed; /* what was recorded and is another now, in words; NULL: nothing */
};

static void fail(struct lks_deciding *d, enum lks_code code)
{
    if (d->out->failed == LKS_OK)
        d->out->failed = code;
}

/* Judging ----------------------------------------------------------------------------------- */

static const struct lks_stack *pinned_stack(const struct lks_deciding *d, struct lks_str name,
                                            struct lks_str digest)
{
    const struct lks_manifest *m = d->book->manifest;
    for (size_t i = 0; m != NULL && i < m->stack_count; i++) {
        if (lks_str_eq(m->stacks[i].name, name) && lks_str_is(digest, m->stacks[i].digest))
            return &m->stacks[i];
    }
    return NULL;
}

/* The first that does not conform, as people read it. */
static struct lks_str first_wrong(struct lks_deciding *d, const struct lks_conformance *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct lks_judgement *row = &c->rows[i];
        if (row->verdict != LKS_DRIFT && row->verdict != LKS_NOT_MEASURED)
            continue;
        struct lks_str text = lks_deciding_text(
            d, "%" LKS_STR_FMT ": %" LKS_STR_FMT ", pinned %" LKS_STR_FMT,
            LKS_STR_ARG(row->subject), LKS_STR_ARG(row->actual), LKS_STR_ARG(row->pinned));
        while (text.len > FIRST_BYTES_MAX || !lks_str_utf8(text, NULL))
            text.len--;
        return text;
    }
    return LKS_STR("");
}

static struct verdict judge(struct lks_deciding *d, const struct lks_node *node)
{
    LKS_CLEANUP(lks_conformance_fini) struct lks_conformance c = {0};
    struct verdict v = {.judged = LKS_JUDGED_NOT, .stack = {"", 0}, .first = {"", 0}};
    struct lks_err err = {0};
    if (node->pool >= d->state->pool_count)
        return v;
    const struct lks_state_pool *pool = &d->state->pools[node->pool];
    v.stack = lks_state_text(d->state, pool->stack_digest);
    const struct lks_stack *stack = pinned_stack(d, lks_state_text(d->state, pool->stack), v.stack);
    if (v.stack.len == 0 || stack == NULL)
        return v;
    if (lks_conform(d->book->facts, stack, d->event->tuple.tuple, &c, &err) != LKS_OK) {
        fail(d, err.code);
        return v;
    }
    v.drifted = (uint32_t)c.drifted;
    v.unmeasured = (uint32_t)c.unmeasured;
    v.judged = c.drifted > 0      ? LKS_JUDGED_DRIFT
               : c.unmeasured > 0 ? LKS_JUDGED_UNMEASURED
                                  : LKS_JUDGED_CONFORMS;
    v.first = first_wrong(d, &c);
    return v;
}

/* Whether all of it is recorded already. The report's digest is not asked: with the time it was
 * taken at, it is another each time. */
static bool is_news(const struct lks_deciding *d, const struct lks_node *node,
                    const struct verdict *v, struct lks_str boot)
{
    const struct lks_state *s = d->state;
    const struct {
        lks_text have;
        struct lks_str now;
    } texts[] = {
        {node->tuple, lks_str_from(d->event->tuple.tuple->digest)},
        {node->tuple_boot, boot},
        {node->judged_stack, v->stack},
        {node->first, v->first},
    };
    for (size_t i = 0; i < LKS_COUNT(texts); i++) {
        if (!lks_str_eq(lks_state_text(s, texts[i].have), texts[i].now))
            return true;
    }
    return node->judged != v->judged || node->drifted != v->drifted ||
           node->unmeasured != v->unmeasured;
}

/* Whether all nodes with this tuple's digest read the same here: the digest does not cover all of
 * what is of the class IDENTITY. */
static bool is_common(const struct lks_reading *r)
{
    return r->state == LKS_MEASURED && r->value.len <= READING_VALUE_MAX &&
           lks_reading_kind(r->name)->class == LKS_READING_IDENTITY &&
           !lks_str_is(r->name, "settings.kernel_cmdline") &&
           !lks_str_starts(r->name, "settings.other.") && !lks_str_ends(r->name, ".build.sha256");
}

/* Identity as [[name, part, value], ...]: what can be asked for in lists, once for all nodes that
 * run the same. */
static struct lks_str readings_json(struct lks_deciding *d)
{
    const struct lks_tuple *t = d->event->tuple.tuple;
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_json_writer w = {.out = &text};
    const struct lks_reading *before = NULL;
    lks_buf_init(&text, (size_t)2 * READINGS_BYTES_MAX);
    lks_json_begin(&w, NULL, '[');
    for (size_t i = 0; i < t->count && text.len < READINGS_BYTES_MAX; i++) {
        const struct lks_reading *r = &t->readings[i];
        bool again = before != NULL && lks_str_eq(before->name, r->name) &&
                     lks_str_eq(before->part, r->part) && lks_str_eq(before->value, r->value);
        if (again || !is_common(r))
            continue;
        lks_json_begin(&w, NULL, '[');
        lks_json_text(&w, NULL, r->name);
        lks_json_text(&w, NULL, r->part);
        lks_json_text(&w, NULL, r->value);
        lks_json_end(&w, ']');
        before = r;
    }
    lks_json_end(&w, ']');
    if (text.failed != LKS_OK)
        fail(d, text.failed);
    struct lks_str kept = lks_arena_copy(&d->out->arena, lks_buf_view(&text));
    if (kept.ptr == NULL)
        fail(d, LKS_E_NOMEM);
    return kept.ptr == NULL ? LKS_STR("") : kept;
}

/* Parts ------------------------------------------------------------------------------------- */

/* Readings that tell one part from another of its kind. */
static const struct {
    const char *word;
    const char *names[3]; /* ends with NULL */
} kinds[LKS_PART_COUNT] = {
    [LKS_PART_BOARD] = {"board", {"platform.serial", NULL}},
    [LKS_PART_GPUS] = {"GPUs", {"gpu.serial", "gpu.uuid", NULL}},
    [LKS_PART_NICS] = {"NICs", {"nic.serial", NULL}},
};

static int by_text(const void *left, const void *right)
{
    const struct lks_str *a = left, *b = right;
    return lks_str_cmp(*a, *b);
}

static void free_texts(struct lks_str **list)
{
    free(*list);
}

/* The sorted serials of a kind, one a line. Empty where one could not be read: then it cannot be
 * told whether they changed. */
static void list_serials(struct lks_deciding *d, enum lks_part part, struct lks_buf *out)
{
    const struct lks_tuple *t = d->event->tuple.tuple;
    LKS_CLEANUP(free_texts)
    struct lks_str *values = calloc(t->count + 1, sizeof(values[0]));
    size_t found = 0;
    if (values == NULL) {
        fail(d, LKS_E_NOMEM);
        return;
    }
    for (const char *const *name = kinds[part].names; *name != NULL; name++) {
        size_t count = 0;
        const struct lks_reading *r = lks_tuple_range(t, lks_str_from(*name), &count);
        for (size_t i = 0; i < count; i++) {
            if (r[i].state == LKS_UNMEASURED)
                return;
            if (r[i].state == LKS_MEASURED && r[i].value.len > 0)
                values[found++] = r[i].value;
        }
    }
    qsort(values, found, sizeof(values[0]), by_text);
    for (size_t i = 0; i < found; i++) {
        if (i == 0 || !lks_str_eq(values[i - 1], values[i]))
            lks_buf_addf(out, "%s%" LKS_STR_FMT, out->len > 0 ? "\n" : "", LKS_STR_ARG(values[i]));
    }
}

/* "board A, GPUs B C, NICs D", for people. */
static void describe(const char *word, struct lks_str serials, struct lks_buf *list)
{
    struct lks_str line;
    lks_buf_addf(list, "%s%s", list->len > 0 ? ", " : "", word);
    while (serials.len > 0) {
        lks_str_cut(serials, '\n', &line, &serials);
        lks_buf_addf(list, " %" LKS_STR_FMT, LKS_STR_ARG(line));
    }
}

static void look_at_part(struct lks_deciding *d, const struct lks_node *node, enum lks_part part,
                         struct parts *p, struct lks_buf *list)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf serials = {0};
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    struct lks_str had = lks_state_text(d->state, node->parts[part]);
    p->digests[part] = had;
    lks_buf_init(&serials, LKS_TUPLE_MEMORY_MAX);
    list_serials(d, part, &serials);
    if (serials.len == 0)
        return;
    if (serials.failed != LKS_OK ||
        lks_digest_text(lks_buf_view(&serials), digest, &err) != LKS_OK) {
        fail(d, LKS_E_NOMEM);
        return;
    }
    describe(kinds[part].word, lks_buf_view(&serials), list);
    if (lks_str_is(had, digest))
        return;
    p->digests[part] = lks_deciding_text(d, "%s", digest);
    p->differ = true;
    if (had.len > 0)
        p->changed = p->changed == NULL
                         ? kinds[part].word
                         : lks_deciding_text(d, "%s and %s", p->changed, kinds[part].word).ptr;
}

static struct parts look_at_parts(struct lks_deciding *d, const struct lks_node *node)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf list = {0};
    struct parts p = {.list = {"", 0}};
    lks_buf_init(&list, PARTS_BYTES_MAX);
    for (enum lks_part part = 0; part < LKS_PART_COUNT; part++)
        look_at_part(d, node, part, &p, &list);
    /* A list that is too long to be read is left out; the digests say what counts. */
    if (p.differ && list.failed == LKS_OK)
        p.list = lks_deciding_text(d, "%" LKS_STR_FMT, LKS_STR_ARG(lks_buf_view(&list)));
    return p;
}

/* Writing it down --------------------------------------------------------------------------- */

static void record_tuple(struct lks_deciding *d, const struct lks_node *node,
                         const struct verdict *v, struct lks_str boot)
{
    const struct lks_tuple *t = d->event->tuple.tuple;
    struct lks_str digest = lks_str_from(t->digest);
    if (!lks_state_tuple_known(d->state, digest)) {
        struct lks_str readings = readings_json(d);
        lks_deciding_add(d, LKS_RECORD_TUPLE_KNOWN)->tuple_known =
            (struct lks_rec_tuple_known){.digest = digest, .readings = readings};
    }
    lks_deciding_add(d, LKS_RECORD_TUPLE)->tuple = (struct lks_rec_tuple){
        .node = lks_state_name(d->state, d->event->node),
        .digest = digest,
        .report = d->event->tuple.report,
        .boot = boot,
        .taken = t->taken > 0 ? (lks_ms)t->taken * LKS_SECOND : 0,
        .stack = v->stack,
        .judged = v->judged,
        .drifted = v->drifted,
        .unmeasured = v->unmeasured,
        .first = v->first,
    };
    if (node->judged == LKS_JUDGED_CONFORMS && v->judged == LKS_JUDGED_DRIFT)
        lks_deciding_turn(d, d->event->node, "drift");
}

static void record_parts(struct lks_deciding *d, const struct parts *p)
{
    lks_deciding_add(d, LKS_RECORD_PARTS)->parts = (struct lks_rec_parts){
        .node = lks_state_name(d->state, d->event->node),
        .board = p->digests[LKS_PART_BOARD],
        .gpus = p->digests[LKS_PART_GPUS],
        .nics = p->digests[LKS_PART_NICS],
        .list = p->list,
    };
}

/* What nobody has seen before, or is not what was accepted, waits for a person. */
static void take_in(struct lks_deciding *d, const struct lks_node *node, const struct parts *p)
{
    struct lks_str name = lks_state_name(d->state, d->event->node);
    struct lks_str why = LKS_STR("first seen");
    if (p->changed != NULL)
        why = lks_deciding_text(d, "other serial numbers than before: %s", p->changed);
    else if (node->tuple != 0 || node->accepted || node->intake)
        return;
    lks_deciding_add(d, LKS_RECORD_INTAKE)->intake =
        (struct lks_rec_intake){.node = name, .why = why};
    if (p->changed != NULL)
        (void)lks_deciding_alarm(d, LKS_ALARM_PARTS, name, why);
}

/* The boot it was read in, as the journal writes it; false after a refusal. A reading without one
 * is taken to be of the boot that is known. */
static bool boot_of(struct lks_deciding *d, const struct lks_node *node, struct lks_str *out,
                    bool *stale)
{
    const struct lks_pulse *pulse = &d->state->pulses[d->event->node];
    struct lks_str said = d->event->tuple.tuple->boot_id;
    static const uint8_t none[16];
    uint8_t boot[16];
    char text[LKS_BOOT_TEXT_SIZE];
    *out = lks_state_text(d->state, node->boot);
    *stale = false;
    if (said.len == 0)
        return true;
    if (!lks_boot_parse(said, boot)) {
        lks_deciding_refuse(d, LKS_E_INVALID, "the tuple's boot id is not a UUID");
        return false;
    }
    *stale = pulse->heard && memcmp(pulse->boot, none, sizeof(none)) != 0 &&
             memcmp(pulse->boot, boot, sizeof(boot)) != 0;
    lks_boot_text(boot, text);
    *out = lks_deciding_text(d, "%s", text);
    return true;
}

static const struct lks_node *reporter(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    if (e->node >= d->state->node_count || !d->state->nodes[e->node].placed) {
        lks_deciding_refuse(d, LKS_E_NOT_FOUND, "this node is not in the fleet");
        return NULL;
    }
    if (!lks_str_eq(e->tuple.tuple->node, lks_state_name(d->state, e->node))) {
        lks_deciding_refuse(d, LKS_E_DENIED, "an agent reports its own node and no other");
        return NULL;
    }
    return &d->state->nodes[e->node];
}

/* A tuple that waited on the node while it booted anew is of a boot that is over: it is taken off
 * the agent's hands, and says nothing about now. */
void lks_decide_tuple(struct lks_deciding *d)
{
    const struct lks_node *node = reporter(d);
    struct lks_str boot = {0};
    bool stale = false;
    if (node == NULL || !boot_of(d, node, &boot, &stale) || stale)
        return;
    if (!lks_str_eq(boot, lks_state_text(d->state, node->boot)))
        lks_deciding_add(d, LKS_RECORD_BOOTED)->booted =
            (struct lks_rec_booted){.node = lks_state_name(d->state, d->event->node), .boot = boot};
    struct verdict verdict = judge(d, node);
    struct parts parts = look_at_parts(d, node);
    if (parts.differ || is_news(d, node, &verdict, boot))
        record_tuple(d, node, &verdict, boot);
    if (parts.differ)
        record_parts(d, &parts);
    take_in(d, node, &parts);
}
