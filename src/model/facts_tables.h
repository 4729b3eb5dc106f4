/* How each CSV table becomes rows: one line a column. For model/facts.c alone. */
#ifndef LKS_MODEL_FACTS_TABLES_H
#define LKS_MODEL_FACTS_TABLES_H

#include "model/facts.h"

enum lks_cell {
    LKS_CELL_TEXT,
    LKS_CELL_VERSION,
    LKS_CELL_RANGE,
    LKS_CELL_BRANCH, /* R580 or 580, into an int */
    LKS_CELL_DAY,
    LKS_CELL_NUMBER,
    LKS_CELL_CHOICE, /* into an enum (or int): the position in `values` */
    LKS_CELL_BOOL,   /* yes or no */
    LKS_CELL_WORDS,
};

struct lks_facts_column {
    const char *name;
    enum lks_cell cell;
    size_t offset; /* of the field in the row */
    bool required;
    const char *const *values;
    enum lks_version_scheme scheme;
};

#define LKS_FACTS_COLUMNS_MAX 24

struct lks_facts_table {
    const char *file;
    size_t rows_offset; /* of the LKS_ROWS in struct lks_facts */
    size_t row_size;
    const struct lks_facts_column *columns;
    size_t column_count;
};

extern const struct lks_facts_table lks_facts_tables[];
extern const size_t lks_facts_table_count;

/* The words of enum lks_status, in its order. */
extern const char *const lks_facts_statuses[];

#endif
