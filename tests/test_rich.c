/* The rich golden journal: every kind of record, every field and every word are in it, and what a
 * snapshot leaves out is listed here. */
#include "engine/journal.h"

#include "core/entity/entity.h"
#include "tests/dump_state.h"
#include "tests/goldens.h"
#include "tests/records.h"
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

/* Fields that no record of a snapshot has: they are in the journal for people, or the state has
 * what follows from them. A field that a snapshot loses by mistake is found here. */
static const struct {
    const char *kind, *fields; /* with blanks between; "*": the kind itself */
} left_out[] = {
    {"begun", "version"},
    {"started", "*"},
    {"clock", "*"},
    {"repaired", "*"},
    {"trimmed", "*"},
    {"fleet", "by"},
    {"pool", "by"},
    {"pool-removed", "*"},
    {"placed", "by"},
    {"removed", "*"},
    {"token", "by"},
    {"enrolled", "serial"},
    {"certified", "serial"},
    {"revoked", "*"},
    {"tuple-known", "*"},
    {"tuple", "drifted unmeasured first"},
    {"parts", "list"},
    {"noted", "text"},
    {"out-of-band", "by reason"},
    {"accepted", "by reason"},
    {"unheld", "*"},
    {"replaced", "*"},
    {"condition", "by"},
    {"undrained", "*"},
    {"mass", "of"},
    {"ungranted", "*"},
    {"api-token-gone", "*"},
    {"token-renewed", "*"},
    {"person-certified", "renews by"},
    {"person-revoked", "*"},
    {"stepped", "credential"},
    {"image-gone", "*"},
    {"artifact-gone", "*"},
    {"job", "*"},
    {"key-gone", "*"},
    {"endpoint", "by reason"},
    {"member", "by"},
    {"vote-withdrawn", "*"},
    {"reviewed", "credential"},
    {"waived", "credential"},
    {"deviation-agreed", "credential"},
    {"reset", "credential"},
    {"audited", "*"},
};

static bool is_left_out(const char *kind, const char *field)
{
    for (size_t i = 0; i < LKS_COUNT(left_out); i++) {
        struct lks_str rest = lks_str_from(left_out[i].fields), word;
        while (strcmp(left_out[i].kind, kind) == 0 && lks_str_word(&rest, &word)) {
            if (lks_str_is(word, field) || lks_str_is(word, "*"))
                return true;
        }
    }
    return false;
}

static enum lks_code see_dumped(void *ctx, lks_ms time, const struct lks_record *r,
                                struct lks_err *err)
{
    (void)err;
    see(ctx, time, r);
    return LKS_OK;
}

static void test_a_snapshot_has_all_fields_but_those_listed(void)
{
    LKS_CLEANUP(lks_test_world_fini) struct lks_test_world w = lks_test_world_new(false);
    LKS_CLEANUP(lks_state_fini) struct lks_state state = {0};
    static struct seen seen;
    struct lks_err err = {0};
    lks_golden_load(&w.store, LKS_GOLDEN_RICH);
    CHECK_CODE(lks_test_world_fold(&w, 0, &state, &err), LKS_OK);
    CHECK_CODE(lks_dump_state(&state, see_dumped, &seen, &err), LKS_OK);
    for (size_t i = 0; i < lks_record_info_count; i++) {
        const struct lks_record_info *info = &lks_record_infos[i];
        for (size_t k = 0; k < info->count; k++) {
            bool there = (seen.fields[info->kind] >> k & 1) != 0;
            lks_test_case("%s.%s", info->word, info->fields[k].key);
            CHECK(there != is_left_out(info->word, info->fields[k].key));
        }
    }
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
    {"rich: a snapshot has all fields but those listed",
     test_a_snapshot_has_all_fields_but_those_listed},
    {"rich: every column of the state has a value", test_every_column_has_a_value},
    {0},
};

int main(void)
{
    return lks_test_main(tests);
}
