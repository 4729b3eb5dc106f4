/* Rows in memory, in the order of their numbers. */
#ifndef LKS_DRIVERS_STORE_MEMORY_ROWS_H
#define LKS_DRIVERS_STORE_MEMORY_ROWS_H

#include "model/record/row.h"

struct lks_memory_row {
    struct lks_row row; /* a test may point its body elsewhere */
    char *bytes;        /* owned; what the body was when it was written */
};

struct lks_memory_rows {
    struct lks_memory_row *at; /* owned */
    size_t count, cap;
    bool touched; /* a test had a row in its hands */
};

/* Room for so many more; false when memory runs out. */
bool lks_memory_rows_reserve(struct lks_memory_rows *rows, size_t more);

/* There is room. False when memory runs out, and then there is no such row. */
bool lks_memory_rows_add(struct lks_memory_rows *rows, const struct lks_row *row);

void lks_memory_rows_truncate(struct lks_memory_rows *rows, size_t count);
void lks_memory_rows_fini(struct lks_memory_rows *rows);

/* The first row with a number of at least `seq`. */
size_t lks_memory_rows_from(const struct lks_memory_rows *rows, uint64_t seq);

/* A test may have given rows each other's numbers; a database would still go by them. */
void lks_memory_rows_sort(struct lks_memory_rows *rows);

/* Rows up to the index `end`, which is not one of them, are no more. */
void lks_memory_rows_forget(struct lks_memory_rows *rows, size_t end);

#endif
