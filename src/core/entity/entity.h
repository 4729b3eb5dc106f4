/*
 * What the state keeps, as tables: one row of a table for each column, with its type and its
 * meaning. From them follow whether two states are equal, and the bytes of a snapshot.
 *
 * A row of a table is a struct of core/state. Its columns say where a value lies in it. Members of
 * such a struct that are no columns are indexes: chains, places and heaps by which things are
 * found, which follow from the columns.
 */
#ifndef LKS_CORE_ENTITY_H
#define LKS_CORE_ENTITY_H

#include "base/compiler.h"
#include "base/err.h"
#include "base/str.h"

struct lks_buf;
struct lks_state;

/* The numbers are in every snapshot there is: they never change and are never used again. */
enum lks_column_type {
    LKS_COLUMN_TRUTH = 0,    /* bool */
    LKS_COLUMN_NUMBER = 1,   /* uint32_t or uint64_t */
    LKS_COLUMN_TIME = 2,     /* lks_ms since 1970; 0: none */
    LKS_COLUMN_SPAN = 3,     /* lks_ms */
    LKS_COLUMN_REAL = 4,     /* double */
    LKS_COLUMN_WORD = 5,     /* an enum, and its words */
    LKS_COLUMN_TEXT = 6,     /* lks_text */
    LKS_COLUMN_NODE = 7,     /* the place of a node or an asset, known by its name */
    LKS_COLUMN_POOL = 8,     /* the place of a pool, or LKS_NO_POOL */
    LKS_COLUMN_BASIS = 9,    /* the handle of a basis, known by its digest; 0: none */
    LKS_COLUMN_DIGEST = 10,  /* the bytes of a digest; all zero: none */
    LKS_COLUMN_BYTES = 11,   /* a pointer that is owned; its length is another member */
    LKS_COLUMN_LETTERS = 12, /* an array of char with a terminator */
    LKS_COLUMN_TYPES = 13,
};

enum lks_column_flag {
    LKS_COLUMN_SECRET = 1,   /* never shown */
    LKS_COLUMN_DERIVED = 2,  /* follows from other columns */
    LKS_COLUMN_PASSING = 4,  /* TEXT: dropped with its last use */
    LKS_COLUMN_SETTABLE = 8, /* TEXT: people set it: core/entity/settable.h */
};

/* How answers of the API and commands use a column. The members of an answer and the filters of a
 * list follow from these flags. A secret column has none of them. */
enum lks_column_use {
    LKS_USE_LISTED = 1,    /* in items of a list, and in answers about a single row */
    LKS_USE_SHOWN = 2,     /* only in answers about a single row */
    LKS_USE_LIVE = 4,      /* known from heartbeats alone: not in answers about the past */
    LKS_USE_FILTER = 32,   /* a list can be limited to rows with one value */
    LKS_USE_SORT = 64,     /* a list can be sorted by it */
    LKS_USE_ALWAYS = 128,  /* a text or time that is never empty */
    LKS_USE_FILLED = 256,  /* a boolean, number or enum name that is left out if it is 0 */
    LKS_USE_BEGINS = 512,  /* FILTER: the beginning of the value is enough */
    LKS_USE_LINES = 1024,  /* a text of several lines */
    LKS_USE_PARTED = 2048, /* a text of words separated by blanks, shown as a list */
    LKS_USE_HASHED = 4096, /* a text that is a digest */
};

struct lks_column {
    const char *name;
    const char *key; /* of the member of an answer; NULL: its name */
    const char *about;
    const char *const *words; /* WORD */
    enum lks_column_type type;
    unsigned flags;
    unsigned use;           /* enum lks_column_use */
    size_t gate, gate_size; /* shown only while the member there is not 0; a size of 0: always */
    size_t offset;          /* in the row */
    size_t size;            /* of one value */
    size_t count;           /* values next to each other: more than one in an array */
    size_t length;          /* BYTES: where the length is, a uint32_t */
};

/* Rows of one kind. They are in a list of the state, or in one of a row of `parent`. */
struct lks_entity {
    const char *name;
    const char *about;
    const struct lks_column *columns;
    size_t column_count;
    size_t size; /* of a row */
    const struct lks_entity *const *children;
    size_t child_count;
    /* Where the row it is in, or the state, has the list, the number of rows and the room. */
    size_t list, count, room;
    uint32_t max;
    uint32_t first; /* the place of the first row: those before it are no rows */
    bool inside;    /* the rows are in the row of the parent itself */
    bool secret;    /* left out of the state that readers get */
    /* Rows are in rising order of so many of their first columns; 0: in no order that is relied
     * on. */
    size_t ordered;
    size_t next; /* where the state has a number above that of the last row; 0: nowhere */
    /* Whether the row counts; NULL: all do. */
    bool (*counts)(const struct lks_state *s, const void *row);
    /* NODE, POOL or BASIS: rows have names, by which they are found, whatever their order is. */
    enum lks_column_type key;
    /* The row of another state that is the same thing, where that takes more. */
    const void *(*same)(const struct lks_state *a, const void *row, const struct lks_state *b);
};

/* `count` of a list that always has `max` rows. */
#define LKS_ENTITY_FIXED SIZE_MAX

/* Those of the state itself, in an order in which each refers only to those before it. */
extern const struct lks_entity *const lks_entities[];
extern const size_t lks_entity_count;

/* entities_fleet.c */
extern const struct lks_entity lks_entity_journal, lks_entity_pool, lks_entity_node,
    lks_entity_basis, lks_entity_verdict;
/* entities_change.c */
extern const struct lks_entity lks_entity_change, lks_entity_proven;
/* entities_lists.c */
extern const struct lks_entity lks_entity_deviation, lks_entity_alarm, lks_entity_command,
    lks_entity_stack, lks_entity_image, lks_entity_artifact, lks_entity_key, lks_entity_bundle,
    lks_entity_flash, lks_entity_barred, lks_entity_override, lks_entity_binding, lks_entity_token,
    lks_entity_person, lks_entity_ticket_heard, lks_entity_ticket_due, lks_entity_reset,
    lks_entity_run, lks_entity_runs_place, lks_entity_refusal;

/* How many rows the list has, those that do not count included, and one of them. */
uint32_t lks_entity_rows(const struct lks_entity *t, const void *parent);
const void *lks_entity_row(const struct lks_entity *t, const void *parent, uint32_t place);

bool lks_entity_counts(const struct lks_state *s, const struct lks_entity *t, const void *row);

/* The name of a row of a table with a key, and the row of that name that counts; NULL: none. */
struct lks_str lks_entity_name(const struct lks_state *s, const struct lks_entity *t,
                               uint32_t place);
const void *lks_entity_find(const struct lks_state *s, const struct lks_entity *t,
                            struct lks_str name);

/* The value `i` of a column: as a number, a place or the bits of an enum; or, of the types from
 * TEXT on, as what it names. */
uint64_t lks_entity_number(const struct lks_column *c, const void *row, size_t i);
struct lks_str lks_entity_text(const struct lks_state *s, const struct lks_column *c,
                               const void *row, size_t i);
bool lks_entity_is_text(const struct lks_column *c);

/* The same in everything that records say, counts and the order of lists included; only places of
 * nodes and pools may differ, and pulses are not compared. `why`, if given, says in a line what
 * differs. */
bool lks_entity_equal(const struct lks_state *a, const struct lks_state *b, struct lks_err *why);

/*
 * All rows as bytes, and back. Numbers are as codec/format/leb128.h writes them. A text is the
 * number it got when it first stood here, counted from 1, with its bytes behind it that time; 0:
 * empty.
 *
 *     number of tables; of each: name, number of the table it is in (from 1; 0: the state),
 *                                number of columns; of each: name, type, values in a row
 *     of each table of the state: its rows; of each row: name where it has one, its columns, and of
 *                                each table in it the rows
 *     rows: how many, then one after the other
 *
 * Columns that follow from others are not written; with `shown` nothing that is secret is. A reader
 * takes columns it knows in any order, and those that are missing are zero; a table, column or word
 * that it does not know is of a later version, and refused.
 */
enum lks_code lks_entity_pack(const struct lks_state *s, bool shown, struct lks_buf *out,
                              struct lks_err *err) LKS_MUST_CHECK;

/* Whether they are of tables and columns that are known here. */
enum lks_code lks_entity_check(struct lks_str bytes, struct lks_err *err) LKS_MUST_CHECK;

/* Into a state that was just initialised. Indexes are not yet there: lks_state_index(). */
enum lks_code lks_entity_unpack(struct lks_str bytes, struct lks_state *out,
                                struct lks_err *err) LKS_MUST_CHECK;

#endif
