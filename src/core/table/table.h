/*
 * What the state keeps, as tables: one row of a table for each column, with its type and its
 * meaning. From them follow whether two states are equal and, later, snapshots and views.
 *
 * A row of a table is a struct of core/state. Its columns say where a value lies in it. Members of
 * such a struct that are no columns are indexes: chains, places and heaps by which things are
 * found, which follow from the columns.
 */
#ifndef LKS_CORE_TABLE_H
#define LKS_CORE_TABLE_H

#include "core/state/state.h"

enum lks_column_type {
    LKS_COLUMN_TRUTH,   /* bool */
    LKS_COLUMN_NUMBER,  /* uint32_t or uint64_t */
    LKS_COLUMN_TIME,    /* lks_ms since 1970; 0: none */
    LKS_COLUMN_SPAN,    /* lks_ms */
    LKS_COLUMN_REAL,    /* double */
    LKS_COLUMN_WORD,    /* an enum, and its words */
    LKS_COLUMN_TEXT,    /* lks_text */
    LKS_COLUMN_NODE,    /* the place of a node or an asset, known by its name */
    LKS_COLUMN_POOL,    /* the place of a pool, or LKS_NO_POOL */
    LKS_COLUMN_BASIS,   /* the handle of a basis, known by its digest; 0: none */
    LKS_COLUMN_DIGEST,  /* the bytes of a digest; all zero: none */
    LKS_COLUMN_BYTES,   /* a pointer that is owned; its length is another member */
    LKS_COLUMN_LETTERS, /* an array of char with a terminator */
    LKS_COLUMN_TYPES,
};

enum lks_column_flag {
    LKS_COLUMN_SECRET = 1,  /* never shown */
    LKS_COLUMN_DERIVED = 2, /* follows from other columns */
    LKS_COLUMN_PASSING = 4, /* TEXT: forgotten with its last use */
};

struct lks_column {
    const char *name;
    const char *about;
    const char *const *words; /* WORD */
    enum lks_column_type type;
    unsigned flags;
    size_t offset; /* in the row */
    size_t size;   /* of one value */
    size_t count;  /* values next to each other: more than one in an array */
    size_t length; /* BYTES: where the length is, a uint32_t */
};

/* Rows of one kind. They are in a list of the state, or in one of a row of `parent`. */
struct lks_table {
    const char *name;
    const char *about;
    const struct lks_column *columns;
    size_t column_count;
    size_t size; /* of a row */
    const struct lks_table *const *children;
    size_t child_count;
    /* Where the row it is in, or the state, has the list, the number of rows and the room. */
    size_t list, count, room;
    uint32_t max;
    bool inside; /* the rows are in the row of the parent itself */
    bool secret; /* none of it is shown */
    /* Whether the row counts; NULL: all do. */
    bool (*counts)(const struct lks_state *s, const void *row);
    /* Where the state has the names of rows, by place: such rows are found by name, not by order;
     * 0: they have none. */
    size_t names;
    /* The row of another state that is the same thing, where that takes more. */
    const void *(*same)(const struct lks_state *a, const void *row, const struct lks_state *b);
};

/* `count` of a list that always has `max` rows. */
#define LKS_TABLE_FIXED SIZE_MAX

/* Those of the state itself, in an order in which each refers only to those before it. */
extern const struct lks_table *const lks_tables[];
extern const size_t lks_table_count;

/* tables_fleet.c */
extern const struct lks_table lks_table_journal, lks_table_pool, lks_table_node, lks_table_basis,
    lks_table_verdict;
/* tables_change.c */
extern const struct lks_table lks_table_change, lks_table_proven;
/* tables_lists.c */
extern const struct lks_table lks_table_deviation, lks_table_alarm, lks_table_command,
    lks_table_stack, lks_table_image, lks_table_artifact, lks_table_key, lks_table_bundle,
    lks_table_flash, lks_table_barred, lks_table_override, lks_table_binding, lks_table_token,
    lks_table_person, lks_table_ticket_heard, lks_table_ticket_due, lks_table_reset;

/* How many rows the list has, those that do not count included, and one of them. */
uint32_t lks_table_rows(const struct lks_table *t, const void *parent);
const void *lks_table_row(const struct lks_table *t, const void *parent, uint32_t place);

/* The name of a row of a table with names, and the row of that name that counts; NULL: none. */
struct lks_str lks_table_name(const struct lks_state *s, const struct lks_table *t,
                              const void *row);
const void *lks_table_find(const struct lks_state *s, const struct lks_table *t,
                           struct lks_str name);

/* The value `i` of a column: as a number, a place or the bits of an enum; or, of the types from
 * TEXT on, as what it names. */
uint64_t lks_table_number(const struct lks_column *c, const void *row, size_t i);
struct lks_str lks_table_text(const struct lks_state *s, const struct lks_column *c,
                              const void *row, size_t i);
bool lks_table_is_text(const struct lks_column *c);

/* The same in everything that records say, counts and the order of lists included; only places of
 * nodes and pools may differ, and pulses are not compared. `why`, if given, says in a line what
 * differs. */
bool lks_table_equal(const struct lks_state *a, const struct lks_state *b, struct lks_err *why);

#endif
