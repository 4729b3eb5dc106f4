/* The screens of `top` as tables. A screen shows facts and panes; a pane is a list that a request
 * answers with, and its columns are forms of cli/shared/render.h. */
#ifndef LKS_CLI_TOP_PANES_H
#define LKS_CLI_TOP_PANES_H

#include <stdbool.h>

enum lks_top_kind {
    LKS_TOP_FLEET,
    LKS_TOP_POOL,
    LKS_TOP_CHANGE,
    LKS_TOP_NODE,
    LKS_TOP_ROW, /* all members of a row that has no screen of its own */
    LKS_TOP_KIND_COUNT
};

enum {
    LKS_TOP_RIGHT = 1,       /* numbers: aligned at the end */
    LKS_TOP_AGE = 2,         /* the form is a time: the span since then is shown */
    LKS_TOP_REST = 4,        /* gets the columns that the others leave */
    LKS_TOP_WIDE = 8,        /* left out where the pane is narrow */
    LKS_TOP_LIVENESS = 16,   /* a bar of the nodes of a pool by liveness */
    LKS_TOP_PROGRESS = 32,   /* a bar of the nodes of a change or wave that are finished */
    LKS_TOP_WAVE = 64,       /* the form is over the wave in progress, from the pane's `detail` */
    LKS_TOP_LEFT_OVER = 128, /* the form is a time: the span until then is shown */
};

struct lks_top_column {
    const char *header; /* of the first column: the pane's title is shown instead */
    const char *form;
    unsigned flags;
    const char *colour; /* a form; NULL: none */
};

enum { LKS_TOP_COLUMNS_MAX = 8, LKS_TOP_PANES_MAX = 6, LKS_TOP_FACTS_MAX = 12 };

struct lks_top_pane {
    const char *title;
    const char
        *path; /* a form; {1} is the subject. The same path for several panes is asked once */
    const char *items; /* lists of the answer, separated by blanks; ".": the answer itself, if its
                          member `frozen` is true */
    const char *badge; /* a form over the answer, behind the title; NULL: the number of rows */
    const char *empty; /* instead of rows */
    const char *key;   /* a form over a row: which one it is */
    enum lks_top_kind opens; /* LKS_TOP_KIND_COUNT: nothing */
    const char *subject;     /* a form over a row: the name of what it opens */
    const char *detail;      /* a form over a row: one more request for each row on the screen */
    const char *order; /* behind the path, unless rows are in the order of names; NULL: none */
    unsigned every;    /* intervals between two requests */
    bool grows;        /* the list is long: as much is asked for as is in reach */
    struct lks_top_column columns[LKS_TOP_COLUMNS_MAX]; /* up to one without a form */
};

struct lks_top_fact {
    const char *label, *form;
    unsigned flags;
    const char *colour;
};

struct lks_top_screen {
    const char *name; /* in the path of screens: "pool" */
    const char *path; /* of the facts; NULL: none */
    const char
        *find; /* the list of the answer whose item `name` is the subject; NULL: the answer */
    struct lks_top_fact facts[LKS_TOP_FACTS_MAX]; /* up to one without a form */
    struct lks_top_pane panes[LKS_TOP_PANES_MAX]; /* up to one without a title */
};

extern const struct lks_top_screen lks_top_screens[LKS_TOP_KIND_COUNT];

#endif
