/* For core/entity/entities_*.c: how a row of a table of columns is written. ROW is the struct of
 * which it is a member. */
#ifndef LKS_CORE_COLUMNS_H
#define LKS_CORE_COLUMNS_H

#include "core/entity/entity.h"

#define LKS_MEMBER(member) (((ROW *)0)->member)

#define COLUMN(NAME, TYPE, member, WORDS, FLAGS, ABOUT)                                            \
    {                                                                                              \
        .name = (NAME), .about = (ABOUT), .words = (WORDS), .type = LKS_COLUMN_##TYPE,             \
        .flags = (FLAGS), .offset = offsetof(ROW, member), .size = sizeof(LKS_MEMBER(member)),     \
        .count = 1                                                                                 \
    }
#define TRUTH(member, about)       COLUMN(#member, TRUTH, member, NULL, 0, about)
#define NUMBER(member, about)      COLUMN(#member, NUMBER, member, NULL, 0, about)
#define TIME(member, about)        COLUMN(#member, TIME, member, NULL, 0, about)
#define SPAN(member, about)        COLUMN(#member, SPAN, member, NULL, 0, about)
#define REAL(member, about)        COLUMN(#member, REAL, member, NULL, 0, about)
#define WORD(member, words, about) COLUMN(#member, WORD, member, words, 0, about)
#define NODE(member, about)        COLUMN(#member, NODE, member, NULL, 0, about)
#define TEXT(member, about)        COLUMN(#member, TEXT, member, NULL, 0, about)
#define PASSING(member, about)     COLUMN(#member, TEXT, member, NULL, LKS_COLUMN_PASSING, about)
#define BASIS(member, about)       COLUMN(#member, BASIS, member, NULL, 0, about)
/* One of core/entity/settable.h, with the comma behind the row before it. */
#define SETTABLE(member, flags, about)                                                             \
    , COLUMN(#member, TEXT, member, NULL, LKS_COLUMN_SETTABLE | (flags), about)
/* What follows from other columns. */
#define COUNTED(member, about) COLUMN(#member, NUMBER, member, NULL, LKS_COLUMN_DERIVED, about)
/* A member of a struct in the row, under a name of its own. */
#define NAMED(name, TYPE, member, about) COLUMN(name, TYPE, member, NULL, 0, about)

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
#define INSIDE(parent, list_, count_, max_)                                                        \
    .list = offsetof(struct parent, list_), .count = offsetof(struct parent, count_),              \
    .max = (max_), .inside = true

#endif
