/* The rich golden journal: every kind of record, every field and every word are in it, and fields
 * that set nothing in the state are listed here. */
#include "core/campaign/state_apply.h"
#include "core/entity/entity.h"
#include "core/state/state.h"
#include "engine/journal.h"
#include "tests/goldens.h"
#include "tests/records.h"
#include "tests/reload.h"
#include "tests/test.h"

#include <stdio.h>

/* What was seen of each kind: bits of fields with a value, and of words. */
enum { KINDS_MAX = 256, FIELDS_MAX = 32 };

struct seen {
    uint32_t count[KINDS_MAX];
    uint32_t fields[KINDS_MAX];
    uint32_t words[KINDS_MAX][FIELDS_MAX];
};

static void see(void *ctx, lks_ms time, const struct lks_record *r)
{
    struct seen *seen = ctx;
    const struct lks_record_info *info = lks_record_info((unsigned)r->kind);
    (void)time;
    LKS_ASSERT(info != NULL && (unsigned)r->kind < KINDS_MAX && info->count <= FIELDS_MAX);
    seen->count[r->kind]++;
    for (size_t i = 0; i < info->count; i++) {
        if (lks_test_record_has(r, &info->fields[i]))
            seen->fields[r->kind] |= 1U << i;
        if (info->fields[i].type == LKS_RECORD_WORD)
            seen->words[r->kind][i] |= 1U << lks_test_record_word(r, &info->fields[i]);
    }
}

static void check_words(const struct lks_record_info *info, const struct seen *seen)
{
    for (size_t i = 0; i < info->count; i++) {
        const char *const *words = info->fields[i].words;
        for (unsigned k = 0; words != NULL && words[k] != NULL; k++) {
            lks_test_case("%s.%s = %s", info->word, info->fields[i].key, words[k]);
            CHECK((seen->words[info->kind][i] >> k & 1) != 0);
        }
    }
}

static void test_every_kind_field_and_word_is_in_the_journal(void)
{
    static struct seen seen;
    lks_golden_records(LKS_GOLDEN_RICH, see, &seen);
    for (size_t i = 0; i < lks_record_info_count; i++) {
        const struct lks_record_info *info = &lks_record_infos[i];
        lks_test_case("%s", info->word);
        CHECK(seen.count[info->kind] > 0);
        for (size_t k = 0; k < info->count; k++) {
            lks_test_case("%s.%s", info->word, info->fields[k].key);
            CHECK((seen.fields[info->kind] >> k & 1) != 0);
        }
        check_words(info, &seen);
    }
}

/* The records are what a person edits, and the rows what a program reads. */
static void test_the_rows_are_those_of_the_records(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world made = lks_test_world_new(false);
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world kept = lks_test_world_new(false);
    struct lks_store_tail a = {0}, b = {0};
    struct lks_err err = {0};
    lks_golden_live(&made.store, LKS_GOLDEN_RICH, &made.key);
    lks_golden_load(&kept.store, LKS_GOLDEN_RICH);
    CHECK_CODE(made.store.ops->tail(made.store.self, &a, &err), LKS_OK);
    CHECK_CODE(kept.store.ops->tail(kept.store.self, &b, &err), LKS_OK);
    CHECK_INT(a.seq, b.seq);
    CHECK(memcmp(a.hash, b.hash, sizeof(a.hash)) == 0);
}

/* Fields that set nothing in the state: they are in the journal for people, or the state has what
 * follows from others. A field that is not applied by mistake is found here. */
static const struct {
    const char *kind, *fields; /* with blanks between */
} left_out[] = {
    {"begun", "version"},
    {"started", "version host"},
    {"clock", "wall forward back text"},
    {"repaired", "from count by reason digest"},
    {"trimmed", "through hash snapshot by signed_from"},
    {"fleet", "by reason"},
    {"pool", "by"},
    {"pool-removed", "by"},
    {"placed", "by"},
    {"removed", "by reason"},
    {"token", "by reason"},
    {"enrolled", "serial"},
    {"certified", "serial"},
    {"revoked", "by reason"},
    {"tuple-known", "digest readings"},
    {"tuple", "drifted unmeasured first"},
    {"parts", "list"},
    {"noted", "text"},
    {"out-of-band", "by reason"},
    {"accepted", "by reason"},
    {"unheld", "by reason"},
    {"node-set", "by reason"},
    {"replaced", "by reason"},
    {"condition", "by"},
    {"undrained", "reason"},
    {"mass", "of"},
    {"granted", "reason"},
    {"ungranted", "by reason"},
    {"api-token", "reason"},
    {"api-token-gone", "by reason"},
    {"token-renewed", "by"},
    {"person-certified", "renews by reason"},
    {"person-revoked", "by reason"},
    {"command-ended", "node"},
    {"stepped", "credential"},
    {"image", "reason"},
    {"bundle", "reason"},
    {"image-gone", "by reason"},
    {"artifact-gone", "by reason"},
    {"job", "job hosts digest images by override"},
    {"key-gone", "by reason"},
    {"endpoint", "by reason"},
    {"flash-ended", "node"},
    {"flash-resolved", "node"},
    {"member", "by"},
    {"vote-withdrawn", "reason"},
    {"reviewed", "credential"},
    {"waived", "credential"},
    {"deviation-agreed", "credential"},
    {"reset", "credential"},
    {"audited", "since logins denied reads withheld"},
    /* These set something only in the records of a lockstep-snapshot-1. */
    {"tuple", "stack"},
    {"mass", "what count"},
    {"ticket-due", "row at change state by reason"},
};

static bool is_left_out(const char *kind, const char *field)
{
    for (size_t i = 0; i < LKS_COUNT(left_out); i++) {
        if (strcmp(left_out[i].kind, kind) == 0 &&
            lks_str_has_word(lks_str_from(left_out[i].fields), lks_str_from(field)))
            return true;
    }
    return false;
}

/* The state up to a record of the journal, and the fields that were seen to change it. */
struct setting {
    struct lks_state state;
    uint32_t set[KINDS_MAX];
};

/* The record with another value in one field. */
static struct lks_record altered(const struct lks_record *r, const struct lks_record_field *f)
{
    static char text[1 << 16];
    struct lks_record other = *r;
    char *at = (char *)&other.begun + f->offset;
    struct lks_str was;
    uint64_t number = lks_test_record_word(r, f);
    if (f->type == LKS_RECORD_TRUTH) {
        *(bool *)at = !*(const bool *)at;
    } else if (f->type == LKS_RECORD_TEXT) {
        memcpy(&was, at, sizeof(was));
        (void)snprintf(text, sizeof(text), "x%" LKS_STR_FMT, LKS_STR_ARG(was));
        was.ptr = text;
        was.len += was.len == 0;
        memcpy(at, &was, sizeof(was));
    } else {
        bool last = f->type == LKS_RECORD_WORD && f->words[number + 1] == NULL;
        number = last ? 0 : number + 1;
        memcpy(at, &number, sizeof(number));
    }
    return other;
}

static void apply_next(struct lks_state *s, uint64_t seq, lks_ms time, const struct lks_record *r)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_state_apply(s, seq, time, r, &err), LKS_OK);
}

/* Whether the record leaves another state with another value in the field. */
static bool sets(const struct lks_state *before, const struct lks_state *after, lks_ms time,
                 const struct lks_record *r, const struct lks_record_field *f)
{
    LKS_CLEANUP(lks_state_fini) struct lks_state s = {0};
    const struct lks_record other = altered(r, f);
    lks_test_reload(before, &s);
    apply_next(&s, after->seq, time, &other);
    return !lks_entity_equal(after, &s, NULL);
}

static void set_fields(void *ctx, lks_ms time, const struct lks_record *r)
{
    struct setting *x = ctx;
    const struct lks_record_info *info = lks_record_info((unsigned)r->kind);
    LKS_CLEANUP(lks_state_fini) struct lks_state before = {0};
    lks_test_reload(&x->state, &before);
    apply_next(&x->state, before.seq + 1, time, r);
    for (size_t i = 0; i < info->count; i++) {
        if ((x->set[r->kind] >> i & 1) == 0 && sets(&before, &x->state, time, r, &info->fields[i]))
            x->set[r->kind] |= 1U << i;
    }
}

static void test_fields_are_in_the_state_but_those_listed(void)
{
    static struct setting x;
    struct lks_err err = {0};
    CHECK_CODE(lks_state_init(&x.state, 1, &err), LKS_OK);
    lks_golden_records(LKS_GOLDEN_RICH, set_fields, &x);
    for (size_t i = 0; i < lks_record_info_count; i++) {
        const struct lks_record_info *info = &lks_record_infos[i];
        for (size_t k = 0; k < info->count; k++) {
            bool set = (x.set[info->kind] >> k & 1) != 0;
            lks_test_case("%s.%s", info->word, info->fields[k].key);
            CHECK(set != is_left_out(info->word, info->fields[k].key));
        }
    }
    lks_state_fini(&x.state);
}

/* Whether some row of `t`, or of a table within it, has a value in the column of `of`. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static bool has_value(const struct lks_state *s, const struct lks_entity *t, const void *parent,
                      const struct lks_entity *of, const struct lks_column *c)
{
    for (uint32_t i = 0; i < lks_entity_rows(t, parent); i++) {
        const void *row = lks_entity_row(t, parent, i);
        if (t->counts != NULL && !t->counts(s, row))
            continue;
        for (size_t k = 0; t == of && k < c->count; k++) {
            if (lks_entity_is_text(c) ? lks_entity_text(s, c, row, k).len > 0
                                      : lks_entity_number(c, row, k) != 0)
                return true;
        }
        for (size_t k = 0; k < t->child_count; k++) {
            if (has_value(s, t->children[k], row, of, c))
                return true;
        }
    }
    return false;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static void check_columns(const struct lks_state *s, const struct lks_entity *top,
                          const struct lks_entity *t)
{
    for (size_t i = 0; i < t->column_count; i++) {
        lks_test_case("%s.%s", t->name, t->columns[i].name);
        CHECK(has_value(s, top, s, t, &t->columns[i]));
    }
    for (size_t i = 0; i < t->child_count; i++)
        check_columns(s, top, t->children[i]);
}

/* A column that no row has a value in would be compared, restored and shown untested. */
static void test_every_column_has_a_value(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    struct lks_err err = {0};
    lks_golden_load(&w.store, LKS_GOLDEN_RICH);
    CHECK_CODE(lks_test_world_fold(&w, 0, &state, &err), LKS_OK);
    for (size_t i = 0; i < lks_entity_count; i++)
        check_columns(&state, lks_entities[i], lks_entities[i]);
}

static const struct lks_test tests[] = {
    {"rich: every kind, field and word is in the journal",
     test_every_kind_field_and_word_is_in_the_journal},
    {"rich: the rows are those of the records", test_the_rows_are_those_of_the_records},
    {"rich: fields are in the state but those listed",
     test_fields_are_in_the_state_but_those_listed},
    {"rich: every column of the state has a value", test_every_column_has_a_value},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
