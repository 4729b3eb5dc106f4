/*
 * What is on the screen of `top`, without a terminal and without a connection: keys and answers go
 * in, the state of the view comes out. A key may lead to an act, which the caller carries out.
 *
 * The view is a stack of places. A place is a screen and its subject ("pool train"), with the pane
 * that has the focus and the selected row of each pane. A row is selected by its key, so that it
 * stays selected when the list changes around it.
 */
#ifndef LKS_CLI_TOP_MODEL_H
#define LKS_CLI_TOP_MODEL_H

#include "base/time.h"
#include "cli/shared/remote.h"
#include "cli/top/panes.h"

enum {
    LKS_TOP_DEPTH_MAX = 8,
    LKS_TOP_TEXT_MAX = 256, /* names, search texts, reasons, messages */
    LKS_TOP_PATH_MAX = 1024,
    LKS_TOP_DETAILS_MAX = 8, /* changes whose wave in progress is asked for */
    LKS_TOP_WANTS_MAX = LKS_TOP_PANES_MAX + 1 + LKS_TOP_DETAILS_MAX,
    LKS_TOP_STEP = 200,  /* rows that a long list grows by */
    LKS_TOP_PAGE = 1000, /* rows of one request, as many as lockstepd gives */
    LKS_TOP_ROWS_MAX = 100000,
};

/* A request: a path, how many rows of its list are in reach, and how often. */
struct lks_top_want {
    char path[LKS_TOP_PATH_MAX];
    uint64_t most; /* 0: the answer is not a list in pages */
    unsigned every;
};

/* The last answer to a request. */
struct lks_top_answer {
    char path[LKS_TOP_PATH_MAX];
    uint64_t most;
    struct lks_remote_answer *pages; /* owned */
    uint32_t room, count;
    bool more;                      /* the list is longer */
    char failure[LKS_TOP_TEXT_MAX]; /* lockstepd refused it; "": it did not */
};
void lks_top_model_answer_fini(struct lks_top_answer *a);

/* The rows of a pane that are in reach and match the search. */
struct lks_top_rows {
    const struct lks_doc **rows; /* owned; the documents are the answers' */
    const struct lks_doc *doc;   /* the first page; NULL: there is none */
    uint32_t room;
    size_t count;
    size_t all; /* before the search */
    bool more;
    bool unread; /* the answer has no list where the rows should be */
};

struct lks_top_pick {
    char key[LKS_TOP_TEXT_MAX];
    size_t at, first; /* the selected row, and the first one on the screen */
    bool end;         /* the last row of the whole list stays selected */
};

struct lks_top_place {
    enum lks_top_kind kind;
    char subject[LKS_TOP_TEXT_MAX];
    unsigned pane;
    bool chosen;  /* a key led to that pane; else it is the first one with rows */
    bool by_name; /* the order of nodes: by name, else by status */
    struct lks_top_pick picks[LKS_TOP_PANES_MAX];
    char search[LKS_TOP_TEXT_MAX];
};

enum lks_top_mode {
    LKS_TOP_LOOK,
    LKS_TOP_SEARCH,  /* the search text is typed */
    LKS_TOP_CONFIRM, /* pause the change? */
    LKS_TOP_REASON,  /* the reason is typed */
    LKS_TOP_HELP,
};

enum lks_top_key {
    LKS_TOP_KEY_RUNE, /* a character */
    LKS_TOP_KEY_UP,
    LKS_TOP_KEY_DOWN,
    LKS_TOP_KEY_LEFT,
    LKS_TOP_KEY_RIGHT,
    LKS_TOP_KEY_PAGE_UP,
    LKS_TOP_KEY_PAGE_DOWN,
    LKS_TOP_KEY_HOME,
    LKS_TOP_KEY_END,
    LKS_TOP_KEY_ENTER,
    LKS_TOP_KEY_ESCAPE,
    LKS_TOP_KEY_BACKSPACE,
    LKS_TOP_KEY_TAB,
    LKS_TOP_KEY_BACK_TAB,
};

enum lks_top_act {
    LKS_TOP_NOTHING,
    LKS_TOP_QUIT,
    LKS_TOP_REFRESH, /* ask for everything now */
    LKS_TOP_PAUSE,   /* `change` for `input` */
};

struct lks_top_model {
    struct lks_top_place places[LKS_TOP_DEPTH_MAX];
    size_t depth; /* at least 1 */
    enum lks_top_mode mode;
    char input[LKS_TOP_TEXT_MAX]; /* the reason */
    uint64_t change;              /* to be paused */
    char change_text[LKS_TOP_TEXT_MAX];
    char message[2 * LKS_TOP_TEXT_MAX];
    enum lks_colour message_colour;
    size_t page; /* rows of the focused pane on the screen, as the layout found */

    struct lks_top_answer *answers; /* owned */
    uint32_t answer_room;
    size_t answer_count;
    struct lks_top_rows rows[LKS_TOP_PANES_MAX]; /* of the current place */
    const struct lks_doc *facts; /* the document of its facts; NULL: not known, and why not: */
    char refusal[LKS_TOP_TEXT_MAX];

    const char *context, *server; /* whose fleet it is; NULL or "": not known, or no context */

    lks_ms patience; /* after which data without a further answer counts as old; 0: never */
    lks_ms answered; /* the last answer; 0: none yet */
    bool lost;       /* no answer since then, and why: */
    char why[2 * LKS_TOP_TEXT_MAX];
};

void lks_top_model_init(struct lks_top_model *m);
void lks_top_model_fini(struct lks_top_model *m);

const struct lks_top_place *lks_top_model_place(const struct lks_top_model *m);

/* A key was pressed; `rune` is the character of LKS_TOP_KEY_RUNE. */
enum lks_top_act lks_top_model_key(struct lks_top_model *m, enum lks_top_key key, uint32_t rune);

/* An answer came; what it owns is the model's. */
void lks_top_model_answer(struct lks_top_model *m, struct lks_top_answer *a, lks_ms now);

/* lockstepd does not answer. */
void lks_top_model_lost(struct lks_top_model *m, const char *why);

/* Tell the person how an act ended. */
void lks_top_model_say(struct lks_top_model *m, enum lks_colour colour, const char *text);

/* The requests of the current place. */
size_t lks_top_model_wants(const struct lks_top_model *m,
                           struct lks_top_want wants[LKS_TOP_WANTS_MAX]);

/* Compute the rows again, after answers, places or searches changed. */
void lks_top_model_refresh(struct lks_top_model *m);

/* The row that is selected in the focused pane; NULL: none. */
const struct lks_doc *lks_top_model_selected(const struct lks_top_model *m);

/* Why a pane of the current place has no rows: a refusal, or "". */
const char *lks_top_model_refusal(const struct lks_top_model *m, size_t pane);

/* The wave in progress of the change in `row`, where it is known. */
const struct lks_doc *lks_top_model_wave(const struct lks_top_model *m,
                                         const struct lks_top_pane *pane,
                                         const struct lks_doc *row);

/* What Enter opens at the selected row: the kind, LKS_TOP_KIND_COUNT for nothing, and its subject.
 */
enum lks_top_kind lks_top_model_opens(const struct lks_top_model *m,
                                      char subject[LKS_TOP_TEXT_MAX]);

#endif
