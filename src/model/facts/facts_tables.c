#include "model/facts/facts_tables.h"

#include <stddef.h>

const char *const lks_facts_statuses[] = {"confirmed", "partly", "sibling", "unconfirmed", NULL};

static const char *const vendors[] = {"nvidia", "amd", "any", NULL};
static const char *const gpu_vendors[] = {"nvidia", "amd", NULL};
static const char *const open_modules[] = {"",  "no", "supported", "required", "inbox-or-dkms",
                                           NULL};
static const char *const kinds[] = {"software", "firmware", NULL};
static const char *const schemes[] = {"dotted", "debian", "vbios", "firmware", NULL};
static const char *const package_says[] = {"version", "full", "three", "two", "name", "code", NULL};
static const char *const edge_kinds[] = {"requires", "conflicts", NULL};
const char *const lks_drain_way_words[] = {"wait-job", "out-of-rotation", "opportunistic",
                                           "per-job", NULL};
const char *const lks_change_covers_words[] = {"window", "all", "plant", "advisory", NULL};
const char *const lks_drain_then_words[] = {"hold", "skip", NULL};

#define ROW(row) static const struct lks_facts_column row##_columns[] = {
#define COLUMN(row, kind, field, cname, need, ...)                                                 \
    {.name = (cname),                                                                              \
     .cell = LKS_CELL_##kind,                                                                      \
     .offset = offsetof(struct lks_##row, field),                                                  \
     .required = (need),                                                                           \
     __VA_ARGS__},
#define CHOICE_COLUMN(row, type, field, cname, need, ...)                                          \
    COLUMN(row, CHOICE, field, cname, need, __VA_ARGS__)
/* Every row says how far it is to be trusted and where it was read. */
#define FACT(row)                                                                                  \
    CHOICE_AS(row, int, fact.status, "status", lks_facts_statuses)                                 \
    NEED_AS(row, TEXT, fact.source, "source")
#define FACT_NOTE(row) FACT(row) COLUMN(row, TEXT, fact.note, "note", false, .key = false)
#define FIELD(type, field)
#define END }
#include "model/facts/facts_rows.h"

#define TABLE(filename, member, row)                                                               \
    {.file = (filename),                                                                           \
     .rows_offset = offsetof(struct lks_facts, member),                                            \
     .row_size = sizeof(struct lks_##row),                                                         \
     .columns = row##_columns,                                                                     \
     .column_count = LKS_COUNT(row##_columns)},

const struct lks_facts_table lks_facts_tables[] = {LKS_FACTS_TABLES(TABLE)};
const size_t lks_facts_table_count = LKS_COUNT(lks_facts_tables);
_Static_assert(LKS_COUNT(lks_facts_tables) <= LKS_FACTS_TABLES_MAX, "a place for each table");

const char *lks_facts_rows(const struct lks_facts *facts, const struct lks_facts_table *table,
                           size_t *count)
{
    const char *at = (const char *)facts + table->rows_offset, *rows;
    memcpy(&rows, at, sizeof(rows));
    memcpy(count, at + sizeof(rows), sizeof(*count));
    return rows;
}
