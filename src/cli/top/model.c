#include "cli/top/model.h"

#include "base/vec.h"
#include "cli/shared/render.h"
#include "cli/top/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWERS_MAX = 64, KILL_LINE = 0x15, PAGE_UP = 0x02, PAGE_DOWN = 0x06 };

void lks_top_model_answer_fini(struct lks_top_answer *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        lks_remote_answer_fini(&a->pages[i]);
    free(a->pages);
    *a = (struct lks_top_answer){0};
}

void lks_top_model_init(struct lks_top_model *m)
{
    *m = (struct lks_top_model){.depth = 1};
}

void lks_top_model_fini(struct lks_top_model *m)
{
    for (size_t i = 0; i < m->answer_count; i++)
        lks_top_model_answer_fini(&m->answers[i]);
    free(m->answers);
    for (size_t i = 0; i < LKS_TOP_PANES_MAX; i++)
        lks_top_rows_fini(&m->rows[i]);
    *m = (struct lks_top_model){0};
}

static struct lks_top_place *place_of(struct lks_top_model *m)
{
    return &m->places[m->depth - 1];
}

const struct lks_top_place *lks_top_model_place(const struct lks_top_model *m)
{
    return &m->places[m->depth - 1];
}

static const struct lks_top_pane *pane_of(const struct lks_top_place *p, size_t i)
{
    const struct lks_top_pane *panes = lks_top_screens[p->kind].panes;
    return i < LKS_TOP_PANES_MAX && panes[i].title != NULL ? &panes[i] : NULL;
}

void lks_top_model_say(struct lks_top_model *m, enum lks_colour colour, const char *text)
{
    (void)snprintf(m->message, sizeof(m->message), "%s", text);
    lks_str_make_printable(m->message);
    m->message_colour = colour;
}

/* Requests ---------------------------------------------------------------------------------- */

static void path_of(const struct lks_top_place *p, const struct lks_top_pane *pane,
                    char out[LKS_TOP_PATH_MAX])
{
    lks_top_rows_path(pane->path, p->subject, NULL, out, LKS_TOP_PATH_MAX);
    if (pane->order != NULL && !p->by_name) {
        size_t len = strlen(out);
        (void)snprintf(out + len, LKS_TOP_PATH_MAX - len, "%s", pane->order);
    }
}

static const struct lks_top_answer *answer_of(const struct lks_top_model *m, const char *path)
{
    return LKS_VEC_FIND(m->answers, m->answer_count, it, strcmp(it->path, path) == 0);
}

/* So many rows are in reach that the next page of the screen is there. */
static uint64_t reach_of(const struct lks_top_model *m, const struct lks_top_place *p,
                         const struct lks_top_pane *pane, size_t i)
{
    const struct lks_top_pick *pick = &p->picks[i];
    if (!pane->grows)
        return 0;
    if (p->search[0] != '\0' || pick->end)
        return LKS_TOP_ROWS_MAX;
    return ((pick->at + m->page) / LKS_TOP_STEP + 1) * LKS_TOP_STEP;
}

static void add_want(struct lks_top_want *wants, size_t *count, const char *path, uint64_t most,
                     unsigned every)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(wants[i].path, path) == 0)
            return;
    }
    if (*count == LKS_TOP_WANTS_MAX)
        return;
    struct lks_top_want *w = &wants[(*count)++];
    *w = (struct lks_top_want){.most = most, .every = every > 0 ? every : 1};
    (void)snprintf(w->path, sizeof(w->path), "%s", path);
}

static void add_details(const struct lks_top_model *m, const struct lks_top_pane *pane, size_t i,
                        struct lks_top_want *wants, size_t *count)
{
    const struct lks_top_rows *rows = &m->rows[i];
    char path[LKS_TOP_PATH_MAX];
    size_t first = lks_top_model_place(m)->picks[i].first;
    for (size_t r = first; r < rows->count && r < first + LKS_TOP_DETAILS_MAX; r++) {
        lks_top_rows_path(pane->detail, "", rows->rows[r], path, sizeof(path));
        add_want(wants, count, path, 0, pane->every);
    }
}

size_t lks_top_model_wants(const struct lks_top_model *m,
                           struct lks_top_want wants[LKS_TOP_WANTS_MAX])
{
    const struct lks_top_place *p = lks_top_model_place(m);
    const struct lks_top_pane *pane;
    char path[LKS_TOP_PATH_MAX];
    size_t count = 0;
    add_want(wants, &count, "/v1/fleet", 0, 1);
    if (p->kind == LKS_TOP_ROW) { /* the pane that it was opened from */
        p--;
        path_of(p, pane_of(p, p->pane), path);
        add_want(wants, &count, path, reach_of(m, p, pane_of(p, p->pane), p->pane),
                 pane_of(p, p->pane)->every);
        return count;
    }
    if (lks_top_screens[p->kind].path != NULL) {
        lks_top_rows_path(lks_top_screens[p->kind].path, p->subject, NULL, path, sizeof(path));
        add_want(wants, &count, path, 0, 1);
    }
    for (size_t i = 0; (pane = pane_of(p, i)) != NULL; i++) {
        path_of(p, pane, path);
        add_want(wants, &count, path, reach_of(m, p, pane, i), pane->every);
    }
    for (size_t i = 0; (pane = pane_of(p, i)) != NULL; i++) {
        if (pane->detail != NULL)
            add_details(m, pane, i, wants, &count);
    }
    return count;
}

/* Rows and facts ---------------------------------------------------------------------------- */

static void key_of(const struct lks_top_pane *pane, const struct lks_doc *row, char *out)
{
    lks_top_rows_text(pane->key, row, out, LKS_TOP_TEXT_MAX);
}

static bool has_key(const struct lks_top_pane *pane, const struct lks_doc *row, const char *key)
{
    char text[LKS_TOP_TEXT_MAX];
    key_of(pane, row, text);
    return strcmp(text, key) == 0;
}

/* The row with the key of the selection, which is most often where it was. */
static size_t seek(const struct lks_top_pane *pane, const struct lks_top_rows *rows,
                   const struct lks_top_pick *pick)
{
    if (pick->key[0] == '\0' ||
        (pick->at < rows->count && has_key(pane, rows->rows[pick->at], pick->key)))
        return pick->at;
    for (size_t r = 0; r < rows->count; r++) {
        if (has_key(pane, rows->rows[r], pick->key))
            return r;
    }
    return pick->at;
}

static void select_row(const struct lks_top_pane *pane, const struct lks_top_rows *rows,
                       struct lks_top_pick *pick, size_t at)
{
    pick->at = at < rows->count ? at : rows->count > 0 ? rows->count - 1 : 0;
    if (rows->count > 0)
        key_of(pane, rows->rows[pick->at], pick->key);
}

static void refresh_pane(struct lks_top_model *m, struct lks_top_place *p, size_t i)
{
    const struct lks_top_pane *pane = pane_of(p, i);
    struct lks_top_pick *pick = &p->picks[i];
    char path[LKS_TOP_PATH_MAX];
    path_of(p, pane, path);
    lks_top_rows_find(pane, answer_of(m, path), p->search, &m->rows[i]);
    select_row(pane, &m->rows[i], pick, pick->end ? SIZE_MAX : seek(pane, &m->rows[i], pick));
}

/* The row that a place of its members was opened from, as the list has it now. */
static const struct lks_doc *opened_row(const struct lks_top_model *m,
                                        const struct lks_top_place *from)
{
    LKS_CLEANUP(lks_top_rows_fini) struct lks_top_rows rows = {0};
    const struct lks_top_pane *pane = pane_of(from, from->pane);
    const struct lks_top_pick *pick = &from->picks[from->pane];
    char path[LKS_TOP_PATH_MAX];
    path_of(from, pane, path);
    lks_top_rows_find(pane, answer_of(m, path), from->search, &rows);
    size_t at = seek(pane, &rows, pick);
    return at < rows.count && has_key(pane, rows.rows[at], pick->key) ? rows.rows[at] : NULL;
}

static const struct lks_doc *named(const struct lks_doc *list, const char *name)
{
    for (const struct lks_doc *i = list != NULL ? list->first : NULL; i != NULL; i = i->next) {
        if (lks_str_is(lks_doc_text(i, "name"), name))
            return i;
    }
    return NULL;
}

static void refresh_facts(struct lks_top_model *m, const struct lks_top_place *p)
{
    const struct lks_top_screen *screen = &lks_top_screens[p->kind];
    char path[LKS_TOP_PATH_MAX];
    m->facts = NULL;
    m->refusal[0] = '\0';
    if (p->kind == LKS_TOP_ROW) {
        m->facts = opened_row(m, p - 1);
        return;
    }
    lks_top_rows_path(screen->path, p->subject, NULL, path, sizeof(path));
    const struct lks_top_answer *a = answer_of(m, path);
    if (a == NULL)
        return;
    (void)snprintf(m->refusal, sizeof(m->refusal), "%s", a->failure);
    const struct lks_doc *doc = a->count > 0 ? a->pages[0].doc : NULL;
    m->facts = screen->find == NULL ? doc : named(lks_doc_member(doc, screen->find), p->subject);
    if (doc != NULL && m->facts == NULL)
        (void)snprintf(m->refusal, sizeof(m->refusal), "there is no %s of this name", screen->name);
}

void lks_top_model_refresh(struct lks_top_model *m)
{
    struct lks_top_place *p = place_of(m);
    for (size_t i = 0; i < LKS_TOP_PANES_MAX; i++) {
        m->rows[i].count = 0;
        m->rows[i].doc = NULL;
        if (pane_of(p, i) != NULL)
            refresh_pane(m, p, i);
    }
    for (unsigned i = 0; !p->chosen && m->rows[p->pane].count == 0 && pane_of(p, i) != NULL; i++) {
        if (m->rows[i].count > 0)
            p->pane = i;
    }
    refresh_facts(m, p);
}

const char *lks_top_model_refusal(const struct lks_top_model *m, size_t pane)
{
    const struct lks_top_place *p = lks_top_model_place(m);
    char path[LKS_TOP_PATH_MAX];
    path_of(p, pane_of(p, pane), path);
    const struct lks_top_answer *a = answer_of(m, path);
    return a != NULL ? a->failure : "";
}

const struct lks_doc *lks_top_model_selected(const struct lks_top_model *m)
{
    const struct lks_top_place *p = lks_top_model_place(m);
    const struct lks_top_rows *rows = &m->rows[p->pane];
    size_t at = p->picks[p->pane].at;
    return pane_of(p, p->pane) != NULL && at < rows->count ? rows->rows[at] : NULL;
}

const struct lks_doc *lks_top_model_wave(const struct lks_top_model *m,
                                         const struct lks_top_pane *pane, const struct lks_doc *row)
{
    char path[LKS_TOP_PATH_MAX];
    lks_top_rows_path(pane->detail, "", row, path, sizeof(path));
    const struct lks_top_answer *a = answer_of(m, path);
    const struct lks_doc *waves =
        a != NULL && a->count > 0 ? lks_doc_member(a->pages[0].doc, "waves") : NULL;
    const struct lks_doc *wave = waves != NULL && waves->kind == LKS_DOC_LIST ? waves->first : NULL;
    while (wave != NULL && wave->next != NULL && lks_str_is(lks_doc_text(wave, "state"), "passed"))
        wave = wave->next;
    return wave;
}

/* Answers ----------------------------------------------------------------------------------- */

static bool is_wanted(const char *path, const struct lks_top_want *wants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(wants[i].path, path) == 0)
            return true;
    }
    return false;
}

/* Answers of places that were left go once there are many. The rows are those of the answers that
 * are there; after an answer went they are computed again. */
static void forget(struct lks_top_model *m)
{
    struct lks_top_want wants[LKS_TOP_WANTS_MAX];
    if (m->answer_count <= ANSWERS_MAX)
        return;
    size_t count = lks_top_model_wants(m, wants), before = m->answer_count;
    for (size_t i = m->answer_count; i > 0 && m->answer_count > ANSWERS_MAX; i--) {
        if (is_wanted(m->answers[i - 1].path, wants, count))
            continue;
        lks_top_model_answer_fini(&m->answers[i - 1]);
        LKS_VEC_REMOVE(m->answers, m->answer_count, i - 1);
    }
    if (m->answer_count < before)
        lks_top_model_refresh(m);
}

void lks_top_model_answer(struct lks_top_model *m, struct lks_top_answer *a, lks_ms now)
{
    struct lks_top_answer *old =
        LKS_VEC_FIND(m->answers, m->answer_count, it, strcmp(it->path, a->path) == 0);
    struct lks_err err = {0};
    lks_str_make_printable(a->failure);
    if (old != NULL) {
        lks_top_model_answer_fini(old);
        *old = LKS_MOVE(*a);
    } else if (LKS_VEC_ADD(m->answers, m->answer_room, m->answer_count, UINT32_MAX, *a, &err) ==
               LKS_OK) {
        *a = (struct lks_top_answer){0};
    } else {
        lks_top_model_answer_fini(a);
    }
    m->answered = now;
    m->lost = false;
    lks_top_model_refresh(m); /* rows of the old answer are freed memory until then */
    forget(m);
}

void lks_top_model_lost(struct lks_top_model *m, const char *why)
{
    m->lost = true;
    (void)snprintf(m->why, sizeof(m->why), "%s", why);
    lks_str_make_printable(m->why);
}

/* Places ------------------------------------------------------------------------------------ */

static void open_place(struct lks_top_model *m, enum lks_top_kind kind, const char *subject)
{
    if (m->depth == LKS_TOP_DEPTH_MAX) {
        lks_top_model_say(m, LKS_YELLOW, "no further screen can be opened; Esc closes this one");
        return;
    }
    struct lks_top_place *p = &m->places[m->depth++];
    *p = (struct lks_top_place){.kind = kind};
    (void)snprintf(p->subject, sizeof(p->subject), "%s", subject);
    lks_top_model_refresh(m);
}

static bool is_pool(const struct lks_top_model *m, const char *name)
{
    const struct lks_top_answer *a = answer_of(m, "/v1/fleet");
    return a != NULL && a->count > 0 &&
           named(lks_doc_member(a->pages[0].doc, "pools"), name) != NULL;
}

/* What a row without a screen is about: the change, pool or node that its members name. */
static enum lks_top_kind about(const struct lks_top_model *m, const struct lks_doc *row, char *out)
{
    static const char change[] = "change:";
    static const struct lks_str_named nodes[] = {
        {"clock", 1}, {"witness", 1}, {"replay", 1}, {"parts", 1},
        {"drift", 1}, {"hands", 1},   {"wedged", 1},
    };
    struct lks_str subject = lks_doc_text(row, "subject"), pool = lks_doc_text(row, "pool");
    (void)snprintf(out, LKS_TOP_TEXT_MAX, "%" LKS_STR_FMT,
                   LKS_STR_ARG(pool.len > 0 ? pool : subject));
    if (is_pool(m, out))
        return LKS_TOP_POOL;
    if (lks_str_starts(subject, change)) {
        memmove(out, out + strlen(change), strlen(out + strlen(change)) + 1);
        return LKS_TOP_CHANGE;
    }
    bool node = lks_str_lookup(lks_doc_text(row, "kind"), nodes, LKS_COUNT(nodes), 0) != 0;
    return node && subject.len > 0 ? LKS_TOP_NODE : LKS_TOP_KIND_COUNT;
}

enum lks_top_kind lks_top_model_opens(const struct lks_top_model *m, char subject[LKS_TOP_TEXT_MAX])
{
    const struct lks_top_place *p = lks_top_model_place(m);
    const struct lks_doc *row = lks_top_model_selected(m);
    if (p->kind == LKS_TOP_ROW)
        return m->facts != NULL ? about(m, m->facts, subject) : LKS_TOP_KIND_COUNT;
    if (row == NULL)
        return LKS_TOP_KIND_COUNT;
    lks_top_rows_text(pane_of(p, p->pane)->subject, row, subject, LKS_TOP_TEXT_MAX);
    return pane_of(p, p->pane)->opens;
}

static void open_selected(struct lks_top_model *m)
{
    char subject[LKS_TOP_TEXT_MAX];
    enum lks_top_kind kind = lks_top_model_opens(m, subject);
    if (kind != LKS_TOP_KIND_COUNT)
        open_place(m, kind, subject);
}

static void go_back(struct lks_top_model *m)
{
    struct lks_top_place *p = place_of(m);
    if (p->search[0] != '\0')
        p->search[0] = '\0';
    else if (m->depth > 1)
        m->depth--;
    else
        lks_top_model_say(m, LKS_PLAIN, "this is the first screen; q quits");
    lks_top_model_refresh(m);
}

/* Selection --------------------------------------------------------------------------------- */

/* The next pane in a direction that has rows, or any next pane where none has. */
static bool turn_pane(struct lks_top_model *m, bool forward, bool with_rows)
{
    struct lks_top_place *p = place_of(m);
    unsigned count = 0;
    while (pane_of(p, count) != NULL)
        count++;
    for (unsigned step = 1; step < count; step++) {
        unsigned i = (p->pane + (forward ? step : count - step)) % count;
        if (with_rows && (m->rows[i].count == 0 || (i > p->pane) != forward))
            continue;
        p->pane = i;
        p->chosen = true;
        return true;
    }
    return false;
}

static void move_to(struct lks_top_model *m, size_t at)
{
    struct lks_top_place *p = place_of(m);
    if (pane_of(p, p->pane) == NULL)
        return;
    p->chosen = true;
    p->picks[p->pane].end = false;
    select_row(pane_of(p, p->pane), &m->rows[p->pane], &p->picks[p->pane], at);
}

/* A step beyond the end of a pane leads into the next one. */
static void step_row(struct lks_top_model *m, bool down)
{
    struct lks_top_place *p = place_of(m);
    size_t at = p->picks[p->pane].at, count = m->rows[p->pane].count;
    bool beyond = down ? at + 1 >= count && !m->rows[p->pane].more : at == 0 || count == 0;
    if (p->kind == LKS_TOP_ROW) {
        p->picks[0].first =
            down ? p->picks[0].first + 1 : p->picks[0].first - (p->picks[0].first > 0);
    } else if (!beyond) {
        move_to(m, down ? at + 1 : at - 1);
    } else if (turn_pane(m, down, true)) {
        move_to(m, down ? 0 : SIZE_MAX);
    }
}

static void move_page(struct lks_top_model *m, bool down)
{
    struct lks_top_place *p = place_of(m);
    size_t at = p->picks[p->pane].at, page = m->page > 1 ? m->page - 1 : 1;
    move_to(m, down ? at + page : at > page ? at - page : 0);
}

static void move_end(struct lks_top_model *m)
{
    struct lks_top_place *p = place_of(m);
    move_to(m, SIZE_MAX);
    p->picks[p->pane].end = m->rows[p->pane].more;
}

/* Typed text -------------------------------------------------------------------------------- */

/* True where the text changed. */
static bool edit(char text[LKS_TOP_TEXT_MAX], enum lks_top_key key, uint32_t rune)
{
    size_t len = strlen(text);
    if (key == LKS_TOP_KEY_BACKSPACE) {
        while (len > 0 && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
            len--;
        text[len > 0 ? len - 1 : 0] = '\0';
        return true;
    }
    if (key != LKS_TOP_KEY_RUNE)
        return false;
    if (rune == KILL_LINE) {
        text[0] = '\0';
        return true;
    }
    if (!lks_str_rune_printable(rune) || len + sizeof("\U0001f600") > LKS_TOP_TEXT_MAX)
        return false;
    unsigned more = rune < 0x80 ? 0 : rune < 0x800 ? 1 : rune < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    text[len++] = (char)(lead[more] | (rune >> (6 * more)));
    while (more-- > 0)
        text[len++] = (char)(0x80 | ((rune >> (6 * more)) & 0x3f));
    text[len] = '\0';
    return true;
}

static bool any_rows(const struct lks_top_model *m)
{
    for (size_t i = 0; i < LKS_TOP_PANES_MAX; i++) {
        if (m->rows[i].count > 0)
            return true;
    }
    return false;
}

/* A name that is on no row of the screen may be that of a node: it is opened, and lockstepd says
 * whether there is one. */
static void end_search(struct lks_top_model *m)
{
    struct lks_top_place *p = place_of(m);
    char name[LKS_TOP_TEXT_MAX];
    m->mode = LKS_TOP_LOOK;
    if (p->search[0] == '\0' || any_rows(m))
        return;
    memcpy(name, p->search, sizeof(name));
    p->search[0] = '\0';
    lks_top_model_refresh(m);
    open_place(m, LKS_TOP_NODE, name);
}

static void search_key(struct lks_top_model *m, enum lks_top_key key, uint32_t rune)
{
    struct lks_top_place *p = place_of(m);
    if (key == LKS_TOP_KEY_ENTER) {
        end_search(m);
        return;
    }
    if (key == LKS_TOP_KEY_ESCAPE || (key == LKS_TOP_KEY_BACKSPACE && p->search[0] == '\0')) {
        p->search[0] = '\0';
        m->mode = LKS_TOP_LOOK;
        lks_top_model_refresh(m);
    } else if (edit(p->search, key, rune)) {
        lks_top_model_refresh(m);
        if (m->rows[p->pane].count == 0 && !turn_pane(m, true, true))
            (void)turn_pane(m, false, true);
    }
}

/* Pause ------------------------------------------------------------------------------------- */

static void ask_pause(struct lks_top_model *m)
{
    const struct lks_top_place *p = lks_top_model_place(m);
    const struct lks_top_pane *pane = pane_of(p, p->pane);
    const struct lks_doc *change = p->kind == LKS_TOP_CHANGE ? m->facts : NULL;
    if (pane != NULL && pane->opens == LKS_TOP_CHANGE)
        change = lks_top_model_selected(m);
    m->change = lks_render_number(change, "id");
    if (change == NULL || m->change == 0) {
        lks_top_model_say(m, LKS_YELLOW, "select a change to pause: Tab leads to CHANGES");
        return;
    }
    lks_top_rows_text("change {id}[ to {name}], {members.done#} of {total#} done", change,
                      m->change_text, sizeof(m->change_text));
    m->mode = LKS_TOP_CONFIRM;
}

static enum lks_top_act reason_key(struct lks_top_model *m, enum lks_top_key key, uint32_t rune)
{
    if (key == LKS_TOP_KEY_ESCAPE) {
        m->mode = LKS_TOP_LOOK;
        lks_top_model_say(m, LKS_PLAIN, "not paused");
    } else if (key != LKS_TOP_KEY_ENTER) {
        (void)edit(m->input, key, rune);
    } else if (lks_str_trim(lks_str_from(m->input)).len == 0) {
        lks_top_model_say(m, LKS_YELLOW, "a pause needs a reason, which is recorded; Esc cancels");
    } else {
        m->mode = LKS_TOP_LOOK;
        return LKS_TOP_PAUSE;
    }
    return LKS_TOP_NOTHING;
}

static void confirm_key(struct lks_top_model *m, enum lks_top_key key, uint32_t rune)
{
    bool yes = key == LKS_TOP_KEY_RUNE && (rune == 'y' || rune == 'Y');
    m->mode = yes ? LKS_TOP_REASON : LKS_TOP_LOOK;
    m->input[0] = '\0';
    if (!yes)
        lks_top_model_say(m, LKS_PLAIN, "not paused");
}

/* Keys -------------------------------------------------------------------------------------- */

static void number_key(struct lks_top_model *m, uint32_t rune)
{
    struct lks_top_place *p = place_of(m);
    if (pane_of(p, rune - '1') == NULL)
        return;
    p->pane = rune - '1';
    p->chosen = true;
}

static enum lks_top_act rune_key(struct lks_top_model *m, uint32_t rune)
{
    static const struct {
        uint32_t rune;
        enum lks_top_key key;
    } same[] = {
        {'j', LKS_TOP_KEY_DOWN},        {'k', LKS_TOP_KEY_UP},
        {'h', LKS_TOP_KEY_LEFT},        {'l', LKS_TOP_KEY_RIGHT},
        {'g', LKS_TOP_KEY_HOME},        {'G', LKS_TOP_KEY_END},
        {PAGE_UP, LKS_TOP_KEY_PAGE_UP}, {PAGE_DOWN, LKS_TOP_KEY_PAGE_DOWN},
        {' ', LKS_TOP_KEY_PAGE_DOWN},
    };
    for (size_t i = 0; i < LKS_COUNT(same); i++) {
        if (same[i].rune == rune)
            return lks_top_model_key(m, same[i].key, 0);
    }
    if (rune >= '1' && rune <= '9')
        number_key(m, rune);
    else if (rune == 'q')
        return LKS_TOP_QUIT;
    else if (rune == 'r')
        return LKS_TOP_REFRESH;
    else if (rune == '?')
        m->mode = LKS_TOP_HELP;
    else if (rune == '/')
        m->mode = LKS_TOP_SEARCH;
    else if (rune == 'p')
        ask_pause(m);
    else if (rune == 's') {
        place_of(m)->by_name = !place_of(m)->by_name;
        lks_top_model_say(m, LKS_PLAIN, place_of(m)->by_name ? "nodes by name" : "nodes by status");
        lks_top_model_refresh(m);
    }
    return LKS_TOP_NOTHING;
}

static enum lks_top_act look_key(struct lks_top_model *m, enum lks_top_key key, uint32_t rune)
{
    switch (key) {
    case LKS_TOP_KEY_RUNE:
        return rune_key(m, rune);
    case LKS_TOP_KEY_UP:
    case LKS_TOP_KEY_DOWN:
        step_row(m, key == LKS_TOP_KEY_DOWN);
        break;
    case LKS_TOP_KEY_PAGE_UP:
    case LKS_TOP_KEY_PAGE_DOWN:
        move_page(m, key == LKS_TOP_KEY_PAGE_DOWN);
        break;
    case LKS_TOP_KEY_HOME:
        move_to(m, 0);
        break;
    case LKS_TOP_KEY_END:
        move_end(m);
        break;
    case LKS_TOP_KEY_ENTER:
    case LKS_TOP_KEY_RIGHT:
        open_selected(m);
        break;
    case LKS_TOP_KEY_ESCAPE:
    case LKS_TOP_KEY_BACKSPACE:
    case LKS_TOP_KEY_LEFT:
        go_back(m);
        break;
    case LKS_TOP_KEY_TAB:
    case LKS_TOP_KEY_BACK_TAB:
        (void)turn_pane(m, key == LKS_TOP_KEY_TAB, false);
        break;
    }
    return LKS_TOP_NOTHING;
}

enum lks_top_act lks_top_model_key(struct lks_top_model *m, enum lks_top_key key, uint32_t rune)
{
    m->message[0] = '\0';
    switch (m->mode) {
    case LKS_TOP_LOOK:
        return look_key(m, key, rune);
    case LKS_TOP_SEARCH:
        search_key(m, key, rune);
        break;
    case LKS_TOP_CONFIRM:
        confirm_key(m, key, rune);
        break;
    case LKS_TOP_REASON:
        return reason_key(m, key, rune);
    case LKS_TOP_HELP:
        m->mode = LKS_TOP_LOOK;
        break;
    }
    return LKS_TOP_NOTHING;
}
