/* How each CSV table becomes rows: one line a column. For model/facts/facts*.c alone. */
#ifndef LKS_MODEL_FACTS_TABLES_H
#define LKS_MODEL_FACTS_TABLES_H

#include "model/facts/facts.h"

enum lks_cell {
    LKS_CELL_TEXT,
    LKS_CELL_VERSION,
    LKS_CELL_PATTERN,  /* a version, or 6.4.x for every 6.4 */
    LKS_CELL_PATTERNS, /* words that are patterns */
    LKS_CELL_BRANCH,   /* R580 or 580, into an int */
    LKS_CELL_DAY,
    LKS_CELL_NUMBER,
    LKS_CELL_REAL,   /* with a fraction, into a double */
    LKS_CELL_CHOICE, /* into an enum (or int): the position in `values` */
    LKS_CELL_WORD,   /* one of `values`, kept as text */
    LKS_CELL_BOOL,   /* yes or no */
    LKS_CELL_WORDS,  /* where there are `values`, each is one of them */
    LKS_CELL_BITS,   /* a register: 0, 1 or - (any) for each of 32 bits */
    LKS_CELL_HEX,    /* words such as 0x00000001, of at most 32 bits */
    LKS_CELL_COUNT
};

/* Names by which rows refer to others. */
enum lks_ref {
    LKS_REF_NONE,
    LKS_REF_ACTION,
    LKS_REF_ARCHITECTURE,
    LKS_REF_BRANCH, /* a number, and no name */
    LKS_REF_FAMILY, /* with a hyphen for each blank, since lists have blanks between their words */
    LKS_REF_SETTING,
    LKS_REF_UPDATE_CLASS,
    LKS_REF_COMPONENT, /* NAME, firmware/NAME or settings.NAME; those of a site are welcome too */
    LKS_REF_COUNT
};

struct lks_facts_column {
    const char *name;
    enum lks_cell cell;
    size_t offset; /* of the field in the row */
    bool required;
    bool key; /* no two rows have the same, all key columns taken together */
    const char *const *values;
    enum lks_version_scheme scheme;
    enum lks_ref defines; /* what stands here is a name others may refer to */
    enum lks_ref refers;  /* what stands here is such a name */
};

#define LKS_FACTS_COLUMNS_MAX 24
#define LKS_FACTS_KEYS_MAX    2

struct lks_facts_table {
    const char *file;
    size_t rows_offset; /* of the LKS_ROWS in struct lks_facts */
    size_t row_size;
    const struct lks_facts_column *columns;
    size_t column_count;
};

#define LKS_FACTS_TABLES_MAX 32

extern const struct lks_facts_table lks_facts_tables[];
extern const size_t lks_facts_table_count;

/* The rows of `table`: arrays of different types behind the same two words. */
const char *lks_facts_rows(const struct lks_facts *facts, const struct lks_facts_table *table,
                           size_t *count);

/* The words of enum lks_status, in its order. */
extern const char *const lks_facts_statuses[];

#endif
