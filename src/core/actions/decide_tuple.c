/* What a node says it runs: the readings that can be judged, how they compare with its intent, its
 * parts held against those it had, and intake for what is first seen or was changed. */
#include "base/intern.h"
#include "core/actions/actions.h"
#include "core/conform/verdict.h"
#include "core/registry/book.h"
#include "core/rows/verdict.h"
#include "core/state/state.h"

#include <stdlib.h>

enum { PARTS_BYTES_MAX = 64 << 10, CHANGED_BYTES_MAX = 4096, CHANGED_LINE_MAX = 256 };

struct parts {
    struct lks_str digests[LKS_PART_COUNT]; /* empty: not to be told */
    struct lks_str list;
    bool differ;         /* from what was recorded */
    const char *changed; /* what was recorded and is another now, in words; NULL: nothing */
};

/* What a node read of itself, and that together with what was read out of band. */
struct bases {
    struct lks_deciding_basis inband, whole;
};

static void fail(struct lks_deciding *d, enum lks_code code)
{
    if (d->out->failed == LKS_OK)
        d->out->failed = code;
}

/* Readings ---------------------------------------------------------------------------------- */

/* What was written becomes a basis of this decision; a failure to write it is told by `code`. */
static bool keep_basis(struct lks_deciding *d, enum lks_code code, const struct lks_buf *text,
                       const char *digest, const struct lks_err *err,
                       struct lks_deciding_basis *out)
{
    if (code == LKS_E_LIMIT)
        lks_decision_refuse(d, LKS_E_LIMIT, "%s", err->msg);
    else if (code != LKS_OK)
        fail(d, code);
    if (code != LKS_OK)
        return false;
    out->text = lks_decision_copy(d, text->ptr == NULL ? LKS_STR("") : lks_buf_view(text));
    out->digest = lks_decision_text(d, "%s", digest);
    return d->out->failed == LKS_OK;
}

bool lks_decide_tuple_readings(struct lks_deciding *d, const struct lks_tuple *tuple,
                               struct lks_deciding_basis *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BASIS_BYTES_MAX);
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    enum lks_code code = lks_basis_of(tuple, &text, digest, &err);
    return keep_basis(d, code, &text, digest, &err, out);
}

static bool merge(struct lks_deciding *d, struct lks_str one, struct lks_str other, bool expired,
                  struct lks_deciding_basis *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_BASIS_BYTES_MAX);
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    enum lks_code code = lks_basis_merge(one, other, expired, &text, digest, &err);
    return keep_basis(d, code, &text, digest, &err, out);
}

/* A scheduler alone is no reading of a machine. */
bool lks_decide_tuple_whole(struct lks_deciding *d, const struct lks_deciding_bands *bands,
                            struct lks_deciding_basis *out)
{
    const struct lks_deciding_basis *in = &bands->inband, *beyond = &bands->outband;
    *out = *in;
    if (beyond->digest.len > 0 && !merge(d, in->text, beyond->text, bands->expired, out))
        return false;
    return out->text.len == 0 || bands->scheduler.len == 0 ||
           merge(d, out->text, bands->scheduler, false, out);
}

struct lks_deciding_basis lks_decide_tuple_known(const struct lks_deciding *d, uint32_t handle)
{
    if (handle == 0)
        return (struct lks_deciding_basis){.text = {"", 0}, .digest = {"", 0}};
    return (struct lks_deciding_basis){
        .text = lks_state_readings(d->state, handle),
        .digest = lks_intern_text(&d->state->basis_digests, handle - 1),
    };
}

bool lks_decide_tuple_expired(const struct lks_deciding *d, lks_ms taken)
{
    lks_ms age = d->state->limits.outband_age;
    return d->now.wall >= taken && d->now.wall - taken >= age;
}

void lks_decide_tuple_basis(struct lks_deciding *d, const struct lks_deciding_basis *basis)
{
    uint32_t handle = lks_state_basis(d->state, basis->digest);
    if (basis->digest.len == 0 || lks_state_readings(d->state, handle).len > 0)
        return;
    for (size_t i = 0; i < d->out->count; i++) {
        const struct lks_record *r = &d->out->records[i];
        if (r->kind == LKS_RECORD_BASIS && lks_str_eq(r->basis.digest, basis->digest))
            return;
    }
    lks_decision_add(d, LKS_RECORD_BASIS)->basis =
        (struct lks_rec_basis){.digest = basis->digest, .readings = basis->text};
}

/* Judging ----------------------------------------------------------------------------------- */

static struct lks_rec_verdict recorded(const struct lks_deciding *d,
                                       const struct lks_state_verdict *v,
                                       struct lks_rec_verdict base)
{
    base.judged = v->judged;
    base.drifted = v->drifted;
    base.unmeasured = v->unmeasured;
    base.first = lks_state_text(d->state, v->first);
    base.wrong = lks_state_text(d->state, v->wrong);
    return base;
}

struct lks_rec_verdict lks_decide_tuple_judge(struct lks_deciding *d,
                                              const struct lks_deciding_basis *basis,
                                              lks_text intent)
{
    struct lks_rec_verdict v = {.basis = basis->digest,
                                .stack = lks_state_text(d->state, intent),
                                .judged = LKS_JUDGED_NOT,
                                .first = {"", 0},
                                .wrong = {"", 0}};
    struct lks_err err = {0};
    uint32_t handle = lks_state_basis(d->state, basis->digest);
    uint32_t known =
        handle != 0 && intent != 0 ? lks_state_verdict_find(d->state, handle, intent) : 0;
    if (known != 0)
        return recorded(d, &d->state->verdicts[known], v);
    const struct lks_judge *judge = d->book->judge;
    if (judge != NULL && intent != 0 && judge->say(judge->ctx, basis->text, &d->out->arena, &v)) {
        lks_decision_add(d, LKS_RECORD_VERDICT)->verdict = v;
        return v;
    }
    const struct lks_stack *stack = intent != 0 ? lks_book_stack(d->book, v.stack) : NULL;
    if (stack == NULL || basis->text.len == 0)
        return v;
    if (lks_verdict_make(d->book->facts, stack, basis->text, &d->out->arena, &v, &err) != LKS_OK)
        fail(d, err.code);
    else
        lks_decision_add(d, LKS_RECORD_VERDICT)->verdict = v;
    return v;
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
    LKS_CLEANUP(lks_buf_fini) struct lks_buf serials = LKS_BUF(LKS_TUPLE_MEMORY_MAX);
    char digest[LKS_DIGEST_SIZE];
    struct lks_err err = {0};
    struct lks_str had = lks_state_text(d->state, node->parts[part]);
    p->digests[part] = had;
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
    p->digests[part] = lks_decision_text(d, "%s", digest);
    p->differ = true;
    if (had.len > 0)
        p->changed = p->changed == NULL
                         ? kinds[part].word
                         : lks_decision_text(d, "%s and %s", p->changed, kinds[part].word).ptr;
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
        p.list = lks_decision_text(d, "%" LKS_STR_FMT, LKS_STR_ARG(lks_buf_view(&list)));
    return p;
}

/* Package logs ------------------------------------------------------------------------------ */

static bool is_wrong(struct lks_str lines, struct lks_str component)
{
    struct lks_wrong wrong;
    while (lks_verdict_wrong_next(&lines, &wrong)) {
        if (lks_str_eq(wrong.subject, component))
            return true;
    }
    return false;
}

/* "openmpi<TAB>dpkg: 2026-11-15 03:12:09 upgrade 4.1.6-7ubuntu2 -> 4.1.7-1", of the log whose path
 * is the evidence; cut where it is long, and empty for what would not be read as a line. */
static struct lks_str changed_line(struct lks_deciding *d, const struct lks_reading *r,
                                   struct lks_str component)
{
    struct lks_str manager, ending;
    (void)lks_str_cut(lks_str_last(r->evidence, '/'), '.', &manager, &ending);
    if (!lks_str_printable(r->value) || !lks_str_printable(manager))
        return LKS_STR("");
    struct lks_str line =
        lks_decision_text(d, "%" LKS_STR_FMT "\t%" LKS_STR_FMT ": %" LKS_STR_FMT,
                          LKS_STR_ARG(component), LKS_STR_ARG(manager), LKS_STR_ARG(r->value));
    line.len = line.len > CHANGED_LINE_MAX ? CHANGED_LINE_MAX : line.len;
    while (!lks_str_utf8(line, NULL))
        line.len--;
    return line;
}

/* Each node's log has times of its own: only what tells why it differs is kept. */
static struct lks_str changed(struct lks_deciding *d, struct lks_str wrong)
{
    static const char ending[] = ".package.changed";
    LKS_CLEANUP(lks_buf_fini) struct lks_buf lines = LKS_BUF(CHANGED_BYTES_MAX);
    const struct lks_tuple *t = d->event->tuple.tuple;
    for (size_t i = 0; i < t->count && wrong.len > 0; i++) {
        const struct lks_reading *r = &t->readings[i];
        if (r->state != LKS_MEASURED || !lks_str_ends(r->name, ending))
            continue;
        struct lks_str component = {r->name.ptr, r->name.len - strlen(ending)};
        if (!is_wrong(wrong, component))
            continue;
        struct lks_str line = changed_line(d, r, component);
        if (line.len > 0 && lines.len + line.len < CHANGED_BYTES_MAX)
            lks_buf_addf(&lines, "%s%" LKS_STR_FMT, lines.len > 0 ? "\n" : "", LKS_STR_ARG(line));
    }
    if (lines.failed != LKS_OK)
        fail(d, lines.failed);
    return lines.len > 0 ? lks_decision_copy(d, lks_buf_view(&lines)) : LKS_STR("");
}

/* Writing it down --------------------------------------------------------------------------- */

/* Whether all of it is recorded already. The report's digest is not asked: with the time it was
 * taken at, it is another each time. */
static bool is_news(const struct lks_deciding *d, const struct lks_node *node,
                    const struct bases *b, struct lks_str boot)
{
    const struct lks_state *s = d->state;
    return !lks_str_is(lks_state_text(s, node->tuple), d->event->tuple.tuple->digest) ||
           !lks_str_eq(lks_state_text(s, node->tuple_boot), boot) || node->inband == 0 ||
           lks_state_basis(s, b->inband.digest) != node->inband ||
           lks_state_basis(s, b->whole.digest) != node->whole;
}

static void record_tuple(struct lks_deciding *d, const struct bases *b, struct lks_str boot)
{
    const struct lks_tuple *t = d->event->tuple.tuple;
    lks_decide_tuple_basis(d, &b->inband);
    lks_decide_tuple_basis(d, &b->whole);
    struct lks_rec_verdict v =
        lks_decide_tuple_judge(d, &b->whole, lks_state_intent(d->state, d->event->node));
    struct lks_str told = changed(d, v.wrong);
    lks_decision_add(d, LKS_RECORD_TUPLE)->tuple = (struct lks_rec_tuple){
        .node = lks_state_name(d->state, d->event->node),
        .digest = lks_str_from(t->digest),
        .report = d->event->tuple.report,
        .boot = boot,
        .taken = t->taken > 0 ? (lks_ms)t->taken * LKS_SECOND : 0,
        .stack = v.stack,
        .judged = v.judged,
        .drifted = v.drifted,
        .unmeasured = v.unmeasured,
        .first = v.first,
        .basis = b->inband.digest,
        .whole = b->whole.digest,
        .changed = told,
    };
    if (v.judged == LKS_JUDGED_CONFORMS && !d->state->nodes[d->event->node].drifting)
        lks_decide_drift_undrain(d, d->event->node, LKS_STR("it conforms again"));
}

void lks_decide_tuple_over(struct lks_deciding *d, uint32_t node)
{
    const struct lks_node *n = &d->state->nodes[node];
    if (n->tuple == 0 || n->tuple_boot == 0)
        return;
    lks_decision_add(d, LKS_RECORD_TUPLE)->tuple = (struct lks_rec_tuple){
        .node = lks_state_name(d->state, node),
        .digest = lks_state_text(d->state, n->tuple),
        .report = lks_state_text(d->state, n->report),
        .boot = {"", 0},
        .taken = n->taken,
        .judged = LKS_JUDGED_NOT,
        .basis = lks_decide_tuple_known(d, n->inband).digest,
        .whole = lks_decide_tuple_known(d, n->whole).digest,
        .changed = lks_state_text(d->state, n->changed),
    };
}

static void record_parts(struct lks_deciding *d, const struct parts *p)
{
    lks_decision_add(d, LKS_RECORD_PARTS)->parts = (struct lks_rec_parts){
        .node = lks_state_name(d->state, d->event->node),
        .board = p->digests[LKS_PART_BOARD],
        .gpus = p->digests[LKS_PART_GPUS],
        .nics = p->digests[LKS_PART_NICS],
        .list = p->list,
    };
}

/* A machine that was never seen before, or is not the one that was accepted, waits for a person. */
static void take_in(struct lks_deciding *d, const struct lks_node *node, const struct parts *p)
{
    struct lks_str name = lks_state_name(d->state, d->event->node);
    struct lks_str why = LKS_STR("first seen");
    if (p->changed != NULL)
        why = lks_decision_text(d, "other serial numbers than before: %s", p->changed);
    else if (node->tuple != 0 || node->accepted || node->intake)
        return;
    lks_decision_add(d, LKS_RECORD_INTAKE)->intake =
        (struct lks_rec_intake){.node = name, .why = why};
    if (p->changed != NULL)
        (void)lks_decision_alarm(d, LKS_ALARM_PARTS, name, why);
}

/* The boot it was read in, as the journal writes it; false after a refusal. A reading without one
 * is taken to be of the boot that is known. */
static bool boot_of(struct lks_deciding *d, const struct lks_node *node, struct lks_str *out,
                    bool *stale)
{
    const struct lks_heartbeat *pulse = &d->state->pulses[d->event->node];
    struct lks_str said = d->event->tuple.tuple->boot_id;
    static const uint8_t none[16];
    uint8_t boot[16];
    char text[LKS_BOOT_TEXT_SIZE];
    *out = lks_state_text(d->state, node->boot);
    *stale = false;
    if (said.len == 0)
        return true;
    if (!lks_heartbeat_boot_parse(said, boot)) {
        lks_decision_refuse(d, LKS_E_INVALID, "the tuple's boot id is not a UUID");
        return false;
    }
    *stale = pulse->heard && memcmp(pulse->boot, none, sizeof(none)) != 0 &&
             memcmp(pulse->boot, boot, sizeof(boot)) != 0;
    lks_heartbeat_boot_text(boot, text);
    *out = lks_decision_text(d, "%s", text);
    return true;
}

/* What it reported before is over, and this was read before that, too: it waited on the node. The
 * node's clock is read against ours, and tells whole seconds. */
static bool is_before_act(const struct lks_deciding *d, const struct lks_node *node)
{
    const struct lks_tuple *t = d->event->tuple.tuple;
    int64_t at = 0, skew = d->state->pulses[d->event->node].skew;
    if (node->tuple == 0 || node->tuple_boot != 0 || t->taken <= 0 ||
        __builtin_sub_overflow((t->taken + 1) * (int64_t)LKS_SECOND, skew, &at))
        return false;
    return at <= (int64_t)node->tuple_since;
}

static const struct lks_node *reporter(struct lks_deciding *d)
{
    const struct lks_event *e = d->event;
    if (e->node >= d->state->node_count || !d->state->nodes[e->node].placed) {
        lks_decision_refuse(d, LKS_E_NOT_FOUND, "this node is not in the fleet");
        return NULL;
    }
    if (!lks_str_eq(e->tuple.tuple->node, lks_state_name(d->state, e->node))) {
        lks_decision_refuse(d, LKS_E_DENIED, "an agent reports its own node and no other");
        return NULL;
    }
    return &d->state->nodes[e->node];
}

/* Other serial numbers end what was read of the parts before. */
static bool read_bases(struct lks_deciding *d, const struct lks_node *node, bool changed,
                       struct bases *out)
{
    struct lks_deciding_bands bands = {
        .outband = lks_decide_tuple_known(d, changed ? 0 : node->outband),
        .expired = lks_decide_tuple_expired(d, node->outband_taken),
        .scheduler = lks_decide_advertised_known(d, node),
    };
    if (!lks_decide_tuple_readings(d, d->event->tuple.tuple, &bands.inband))
        return false;
    out->inband = bands.inband;
    return lks_decide_tuple_whole(d, &bands, &out->whole);
}

/* A tuple that waited on the node while it booted anew, or while something was done to it, is over:
 * it is taken off the agent's hands, and says nothing about now. */
void lks_decide_tuple(struct lks_deciding *d)
{
    const struct lks_node *node = reporter(d);
    struct lks_str boot = {0};
    struct bases bases = {0};
    bool stale = false;
    if (node == NULL || !boot_of(d, node, &boot, &stale) || stale || is_before_act(d, node))
        return;
    struct parts parts = look_at_parts(d, node);
    if (!read_bases(d, node, parts.changed != NULL, &bases))
        return;
    if (!lks_str_eq(boot, lks_state_text(d->state, node->boot)))
        lks_decision_add(d, LKS_RECORD_BOOTED)->booted =
            (struct lks_rec_booted){.node = lks_state_name(d->state, d->event->node), .boot = boot};
    if (parts.changed != NULL)
        lks_decide_outband_over(d, d->event->node, LKS_STR("other serial numbers than before"));
    if (parts.differ || is_news(d, node, &bases, boot))
        record_tuple(d, &bases, boot);
    if (parts.differ)
        record_parts(d, &parts);
    take_in(d, node, &parts);
    lks_decide_image_seen(d);
}
