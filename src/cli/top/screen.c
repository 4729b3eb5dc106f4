#include "cli/top/screen.h"

#include "cli/top/fetch.h"
#include "cli/top/layout.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <term.h>

enum { QUIET_MS = 4000 }; /* that lockstepd gets for an answer before the screen says so */

enum { ESCAPE_MS = 50, SIZE_MAX_CELLS = 1000, RESTORE_BYTES = 256, ESCAPE = 0x1b, DELETE = 0x7f };

/* The colours of base/term/term.h are pairs of the same number, and one more is for titles. */
enum { ACCENT_PAIR = LKS_COLOUR_COUNT };

struct screen {
    SCREEN *terminal;
    struct lks_top_model model;
    struct lks_top_picture picture;
    struct lks_top_fetch *fetch;
    bool saved; /* how signals were handled before */
};

/* Signals ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped, interrupted;

static void on_stop(int signal)
{
    stopped = 1;
    if (signal == SIGINT)
        interrupted = 1;
}

/* What a crash writes to leave the terminal usable: the modes as they were, and the strings that
 * leave the other screen. Made before, since a handler may not compute it. */
static struct {
    struct termios modes;
    int fd;
    char text[RESTORE_BYTES];
    size_t len;
} restore;

static void on_crash(int signal)
{
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &restore.modes);
    ssize_t written = write(restore.fd, restore.text, restore.len);
    (void)written;
    (void)raise(signal); /* SA_RESETHAND: it ends us now */
}

/* A string of the terminal without its delays ("$<2>"); NULL: it has none. */
static void add_restore(const char *text)
{
    if (text == NULL)
        return;
    while (*text != '\0' && restore.len < sizeof(restore.text)) {
        if (strncmp(text, "$<", 2) == 0 && strchr(text, '>') != NULL)
            text = strchr(text, '>') + 1;
        else
            restore.text[restore.len++] = *text++;
    }
}

static const struct {
    int signal;
    void (*handle)(int signal);
} handlers[] = {
    {SIGINT, on_stop},   {SIGTERM, on_stop},  {SIGHUP, on_stop},
    {SIGQUIT, on_stop},  {SIGSEGV, on_crash}, {SIGBUS, on_crash},
    {SIGABRT, on_crash}, {SIGFPE, on_crash},  {SIGILL, on_crash},
};

static struct sigaction before[LKS_COUNT(handlers)];

/* Before newterm(), which has handlers of its own. */
static void save_signals(struct screen *s)
{
    for (size_t i = 0; i < LKS_COUNT(handlers); i++)
        (void)sigaction(handlers[i].signal, NULL, &before[i]);
    s->saved = true;
}

/* A signal that our parent had ignored, as nohup does, stays ignored. */
static void catch_signals(void)
{
    for (size_t i = 0; i < LKS_COUNT(handlers); i++) {
        struct sigaction action = {.sa_handler = handlers[i].handle};
        if (handlers[i].handle == on_crash)
            action.sa_flags = (int)SA_RESETHAND;
        if (handlers[i].handle == on_crash || before[i].sa_handler != SIG_IGN)
            (void)sigaction(handlers[i].signal, &action, NULL);
    }
}

static void release_signals(const struct screen *s)
{
    for (size_t i = 0; s->saved && i < LKS_COUNT(handlers); i++)
        (void)sigaction(handlers[i].signal, &before[i], NULL);
}

/* The terminal ------------------------------------------------------------------------------ */

static void start_colours(struct screen *s, bool wanted)
{
    static const short pairs[LKS_COLOUR_COUNT] = {
        [LKS_GREEN] = COLOR_GREEN, [LKS_YELLOW] = COLOR_YELLOW, [LKS_RED] = COLOR_RED};
    s->picture.colour = wanted && has_colors() && start_color() == OK;
    if (!s->picture.colour)
        return;
    short ground = use_default_colors() == OK ? -1 : COLOR_BLACK;
    for (int i = LKS_GREEN; i <= LKS_RED; i++)
        (void)init_pair((short)i, pairs[i], ground);
    (void)init_pair(ACCENT_PAIR, COLOR_CYAN, ground);
}

/* False: it cannot be drawn on. */
static bool open_terminal(struct screen *s, struct lks_cli *cli)
{
    restore.fd = fileno(cli->out);
    restore.len = 0;
    (void)setlocale(LC_CTYPE, "");
    s->picture.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    if (tcgetattr(STDIN_FILENO, &restore.modes) != 0)
        return false;
    save_signals(s);
    s->terminal = newterm(NULL, cli->out, stdin);
    if (s->terminal == NULL)
        return false;
    if (cursor_address == NULL)
        return false;
    add_restore(exit_attribute_mode);
    add_restore(cursor_normal);
    add_restore(keypad_local);
    add_restore(exit_ca_mode);
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)set_escdelay(ESCAPE_MS);
    start_colours(s, cli->term.colour);
    catch_signals();
    return true;
}

static void close_terminal(struct screen *s)
{
    if (s->terminal == NULL)
        return;
    (void)endwin();
    delscreen(s->terminal);
    s->terminal = NULL;
}

static void screen_fini(struct screen *s)
{
    lks_top_model_fini(&s->model);
    lks_top_picture_fini(&s->picture);
}

static attr_t attributes(const struct lks_top_picture *p, unsigned style)
{
    unsigned colour = style & LKS_TOP_COLOUR_MASK;
    attr_t out = A_NORMAL;
    if ((style & LKS_TOP_REVERSE) != 0)
        out |= A_REVERSE;
    if ((style & LKS_TOP_STRONG) != 0 || colour == LKS_BOLD)
        out |= A_BOLD;
    if (colour == LKS_DIM)
        out |= A_DIM;
    if (!p->colour)
        return out;
    if ((style & LKS_TOP_ACCENT) != 0)
        return out | (attr_t)COLOR_PAIR(ACCENT_PAIR);
    return colour <= LKS_RED ? out | (attr_t)COLOR_PAIR((int)colour) : out;
}

/* A row in runs of one style; ncurses sends what differs from the screen. */
static void paint_row(const struct lks_top_picture *p, unsigned row)
{
    unsigned column = 0;
    while (column < p->width) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf run = LKS_BUF((size_t)1 << 20);
        unsigned begin = column, style, same;
        lks_buf_add(&run, lks_top_picture_at(p, row, column++, &style));
        while (column < p->width) {
            struct lks_str glyph = lks_top_picture_at(p, row, column, &same);
            if (same != style)
                break;
            lks_buf_add(&run, glyph);
            column++;
        }
        (void)attrset((int)attributes(p, style));
        (void)mvaddnstr((int)row, (int)begin, run.ptr != NULL ? run.ptr : "", (int)run.len);
    }
}

static lks_ms wall_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (lks_ms)now.tv_sec * LKS_SECOND + (lks_ms)now.tv_nsec / 1000000;
}

static enum lks_code paint(struct screen *s, struct lks_err *err)
{
    struct lks_top_picture *p = &s->picture;
    int height = getmaxy(stdscr), width = getmaxx(stdscr);
    height = height < SIZE_MAX_CELLS ? height : SIZE_MAX_CELLS;
    width = width < SIZE_MAX_CELLS ? width : SIZE_MAX_CELLS;
    if (lks_top_picture_begin(p, (unsigned)width, (unsigned)height, err) != LKS_OK)
        return err->code;
    lks_top_layout_draw(&s->model, p, wall_ms());
    (void)erase();
    for (unsigned row = 0; row < p->height; row++)
        paint_row(p, row);
    (void)curs_set(p->cursor ? 1 : 0);
    if (p->cursor)
        (void)move((int)p->cursor_row, (int)p->cursor_column);
    (void)refresh();
    return LKS_OK;
}

/* Keys and answers -------------------------------------------------------------------------- */

static bool special_key(wint_t code, enum lks_top_key *out)
{
    static const struct {
        wint_t code;
        enum lks_top_key key;
    } keys[] = {
        {KEY_UP, LKS_TOP_KEY_UP},         {KEY_DOWN, LKS_TOP_KEY_DOWN},
        {KEY_LEFT, LKS_TOP_KEY_LEFT},     {KEY_RIGHT, LKS_TOP_KEY_RIGHT},
        {KEY_PPAGE, LKS_TOP_KEY_PAGE_UP}, {KEY_NPAGE, LKS_TOP_KEY_PAGE_DOWN},
        {KEY_HOME, LKS_TOP_KEY_HOME},     {KEY_END, LKS_TOP_KEY_END},
        {KEY_ENTER, LKS_TOP_KEY_ENTER},   {KEY_BACKSPACE, LKS_TOP_KEY_BACKSPACE},
        {KEY_BTAB, LKS_TOP_KEY_BACK_TAB},
    };
    for (size_t i = 0; i < LKS_COUNT(keys); i++) {
        *out = keys[i].key;
        if (keys[i].code == code)
            return true;
    }
    return false;
}

static enum lks_top_key plain_key(wint_t code)
{
    switch (code) {
    case '\r':
    case '\n':
        return LKS_TOP_KEY_ENTER;
    case '\t':
        return LKS_TOP_KEY_TAB;
    case ESCAPE:
        return LKS_TOP_KEY_ESCAPE;
    case '\b':
    case DELETE:
        return LKS_TOP_KEY_BACKSPACE;
    default:
        return LKS_TOP_KEY_RUNE;
    }
}

/* The next key; false: there is none. A resize is one that the model does not know. */
static bool read_key(struct screen *s, enum lks_top_act *act)
{
    wint_t code;
    enum lks_top_key key;
    int kind = wget_wch(stdscr, &code);
    *act = LKS_TOP_NOTHING;
    if (kind == ERR)
        return false;
    if (kind == KEY_CODE_YES) {
        if (special_key(code, &key))
            *act = lks_top_model_key(&s->model, key, 0);
    } else {
        *act = lks_top_model_key(&s->model, plain_key(code), (uint32_t)code);
    }
    return true;
}

static void tell_wants(struct screen *s, bool now)
{
    struct lks_top_want wants[LKS_TOP_WANTS_MAX];
    size_t count = lks_top_model_wants(&s->model, wants);
    lks_top_fetch_want(s->fetch, wants, count, now);
}

static void pause_change(struct screen *s)
{
    char text[LKS_TOP_TEXT_MAX];
    (void)snprintf(text, sizeof(text), "pausing change %" PRIu64 " ...", s->model.change);
    lks_top_model_say(&s->model, LKS_YELLOW, text);
    lks_top_fetch_pause(s->fetch, s->model.change, s->model.input);
}

/* True: the person quits. */
static bool read_keys(struct screen *s)
{
    enum lks_top_act act;
    bool now = false;
    while (read_key(s, &act)) {
        if (act == LKS_TOP_QUIT)
            return true;
        if (act == LKS_TOP_PAUSE)
            pause_change(s);
        now = now || act == LKS_TOP_REFRESH;
    }
    tell_wants(s, now);
    return false;
}

static void take_events(struct screen *s)
{
    struct lks_top_event *e;
    while ((e = lks_top_fetch_take(s->fetch)) != NULL) {
        switch (e->kind) {
        case LKS_TOP_EVENT_ANSWER:
            lks_top_model_answer(&s->model, &e->answer, wall_ms());
            break;
        case LKS_TOP_EVENT_LOST:
            lks_top_model_lost(&s->model, e->text);
            break;
        case LKS_TOP_EVENT_DONE:
        case LKS_TOP_EVENT_REFUSED:
            lks_top_model_say(&s->model, e->kind == LKS_TOP_EVENT_DONE ? LKS_GREEN : LKS_RED,
                              e->text);
            break;
        }
        lks_top_fetch_event_free(&e);
    }
    tell_wants(s, false);
}

/* Until there is a key, an answer, or another second to show; false: the terminal is gone. */
static bool rest(struct screen *s)
{
    struct pollfd ways[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                            {.fd = lks_top_fetch_fd(s->fetch), .events = POLLIN}};
    int ready = poll(ways, LKS_COUNT(ways), (int)LKS_SECOND);
    if (ready < 0)
        return errno == EINTR;
    return (ways[0].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

static enum lks_code watch(struct screen *s, struct lks_err *err)
{
    tell_wants(s, true);
    do {
        take_events(s);
        if (paint(s, err) != LKS_OK)
            return err->code;
    } while (rest(s) && !stopped && !read_keys(s));
    return LKS_OK;
}

/* The terminal is the shell's again before pauses are waited for, and signals are still caught: a
 * second SIGHUP ends no wait. SIGINT does. */
static enum lks_code leave(struct screen *s, struct lks_cli *cli, struct lks_err *err)
{
    close_terminal(s);
    interrupted = 0;
    enum lks_code code = lks_top_fetch_stop(&s->fetch, cli, &interrupted, err);
    release_signals(s);
    return code;
}

enum lks_code lks_top_screen_run(struct lks_cli *cli, const struct lks_args *args, lks_ms interval,
                                 bool *unfit, struct lks_err *err)
{
    LKS_CLEANUP(screen_fini) struct screen s = {0};
    struct lks_err lost = {0};
    lks_top_model_init(&s.model);
    cli->context.shown = true; /* by the screen: the error stream is the same terminal */
    s.model.patience = interval + QUIET_MS;
    s.model.context = cli->context.name;
    s.model.server = lks_remote_server(cli, args);
    if (lks_top_fetch_start(cli, args, interval, &s.fetch, err) != LKS_OK)
        return err->code;
    *unfit = !open_terminal(&s, cli);
    enum lks_code code = *unfit ? LKS_OK : watch(&s, err);
    if (leave(&s, cli, &lost) == LKS_OK)
        return code;
    *err = lost; /* a pause that was not acknowledged matters more */
    return err->code;
}
