/* For core/entity/entities_*.c: how a row of a table of columns is written. ROW is the struct of
 * which it is a member. */
#ifndef LKS_CORE_COLUMNS_H
#define LKS_CORE_COLUMNS_H

#include "core/entity/entity.h"

#define LKS_MEMBER(member) (((ROW *)0)->member)

/* The last argument is what the column means. Initialisers may follow it: .use = LISTED | FILTER,
 * .key = "checked", ONLY_IF(held). */
#define COLUMN(NAME, TYPE, member, WORDS, FLAGS, ...)                                              \
    {                                                                                              \
        .name = (NAME), .words = (WORDS), .type = LKS_COLUMN_##TYPE, .flags = (FLAGS),             \
        .offset = offsetof(ROW, member), .size = sizeof(LKS_MEMBER(member)), .count = 1,           \
        .about = __VA_ARGS__                                                                       \
    }
#define TRUTH(member, ...)       COLUMN(#member, TRUTH, member, NULL, 0, __VA_ARGS__)
#define NUMBER(member, ...)      COLUMN(#member, NUMBER, member, NULL, 0, __VA_ARGS__)
#define TIME(member, ...)        COLUMN(#member, TIME, member, NULL, 0, __VA_ARGS__)
#define SPAN(member, ...)        COLUMN(#member, SPAN, member, NULL, 0, __VA_ARGS__)
#define REAL(member, ...)        COLUMN(#member, REAL, member, NULL, 0, __VA_ARGS__)
#define WORD(member, words, ...) COLUMN(#member, WORD, member, words, 0, __VA_ARGS__)
#define NODE(member, ...)        COLUMN(#member, NODE, member, NULL, 0, __VA_ARGS__)
#define TEXT(member, ...)        COLUMN(#member, TEXT, member, NULL, 0, __VA_ARGS__)
#define BASIS(member, ...)       COLUMN(#member, BASIS, member, NULL, 0, __VA_ARGS__)
#define PASSES                   LKS_COLUMN_PASSING
#define PASSING(member, ...)     COLUMN(#member, TEXT, member, NULL, PASSES, __VA_ARGS__)
/* One of core/entity/settable.h, with the comma behind the row before it. */
#define SETTABLE(member, option, uses, ...)                                                        \
    , COLUMN(#member, TEXT, member, NULL, LKS_COLUMN_SETTABLE, __VA_ARGS__, .use = (uses))
/* What follows from other columns. */
#define COUNTED(member, ...) COLUMN(#member, NUMBER, member, NULL, LKS_COLUMN_DERIVED, __VA_ARGS__)
/* A member of a struct in the row, under a name of its own. */
#define NAMED(name, TYPE, member, ...) COLUMN(name, TYPE, member, NULL, 0, __VA_ARGS__)

/* Shown only while another member is not zero. */
#define ONLY_IF(member) .gate = offsetof(ROW, member), .gate_size = sizeof(LKS_MEMBER(member))

#define LISTED LKS_USE_LISTED
#define SHOWN  LKS_USE_SHOWN
#define FILTER LKS_USE_FILTER
#define SORT   LKS_USE_SORT
#define ALWAYS LKS_USE_ALWAYS
#define FILLED LKS_USE_FILLED
#define BEGINS LKS_USE_BEGINS
#define LINES  LKS_USE_LINES
#define PARTED LKS_USE_PARTED
#define HASHED LKS_USE_HASHED

#define ARRAY(NAME, TYPE, member, FLAGS, ABOUT)                                                    \
    {                                                                                              \
        .name = (NAME), .about = (ABOUT), .type = LKS_COLUMN_##TYPE, .flags = (FLAGS),             \
        .offset = offsetof(ROW, member), .size = sizeof(LKS_MEMBER(member)[0]),                    \
        .count = sizeof(LKS_MEMBER(member)) / sizeof(LKS_MEMBER(member)[0])                        \
    }
#define BYTES(member, len, ABOUT)                                                                  \
    {                                                                                              \
        .name = #member, .about = (ABOUT), .type = LKS_COLUMN_BYTES,                               \
        .offset = offsetof(ROW, member), .size = sizeof(LKS_MEMBER(member)), .count = 1,           \
        .length = offsetof(ROW, len)                                                               \
    }

/* Of a table: its columns and the struct, and where `parent` has the list. */
#define COLUMNS(list)   .columns = (list), .column_count = LKS_COUNT(list), .size = sizeof(ROW)
#define CHILDREN(list_) .children = (list_), .child_count = LKS_COUNT(list_)
#define LIST(parent, list_, count_, room_, max_)                                                   \
    .list = offsetof(struct parent, list_), .count = offsetof(struct parent, count_),              \
    .room = offsetof(struct parent, room_), .max = (max_)
/* Rows have rising numbers, and the state has the next one. */
#define NUMBERED(next_) .ordered = 1, .next = offsetof(struct lks_state, next_)
#define INSIDE(parent, list_, count_, max_)                                                        \
    .list = offsetof(struct parent, list_), .count = offsetof(struct parent, count_),              \
    .max = (max_), .inside = true

#endif
