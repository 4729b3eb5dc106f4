/* `top` without a terminal: keys and answers go in, a view and a picture come out. */
#include "cli/top/bars.h"
#include "cli/top/layout.h"
#include "cli/top/rows.h"
#include "codec/format/json.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES_MAX = 16 << 20, MANY = 10000, LEFT = 100 };

#define NOW UINT64_C(1794700800000) /* 2026-11-15 */

static const char fleet[] =
    "{\"name\":\"prod\",\"seq\":442,\"nodes\":60,\"alarms_open\":2,"
    "\"liveness\":{\"live\":57,\"late\":2,\"lost\":1,\"unseen\":0},\"pools\":["
    "{\"name\":\"train\",\"nodes\":40,\"stack\":\"nov\",\"acts_wait\":false,\"frozen\":true,"
    "\"liveness\":{\"live\":37,\"late\":2,\"lost\":1,\"unseen\":0}},"
    "{\"name\":\"serve\",\"nodes\":20,\"stack\":\"nov\",\"acts_wait\":false,"
    "\"liveness\":{\"live\":20,\"late\":0,\"lost\":0,\"unseen\":0}}]}";
#define MEMBERS(done, pending)                                                                     \
    "\"members\":{\"done\":" done ",\"pending\":" pending ",\"waiting\":0,\"asked\":1}"
#define CHANGE_7                                                                                   \
    "\"id\":7,\"name\":\"dec\",\"state\":\"running\",\"total\":20,\"failed\":0," MEMBERS("9", "1"  \
                                                                                              "0")
static const char changes[] =
    "{\"items\":[{" CHANGE_7 ",\"waves\":3,\"passed\":1},"
    "{\"id\":5,\"name\":\"oct\",\"state\":\"paused\",\"total\":4,\"failed\":1,\"waves\":1,"
    "\"passed\":0," MEMBERS("1", "2") "}]}";
static const char change_7[] =
    "{" CHANGE_7 ",\"waves\":[{\"wave\":0,\"kind\":\"canary\",\"state\":\"passed\"," MEMBERS(
        "2", "0") "},{\"wave\":1,\"kind\":\"ring\",\"pool\":\"train\",\"state\":\"soaks\","
                  "\"text\":\"until 00:04\"," MEMBERS(
                      "7",
                      "0") ",\"gate\":[{\"metric\":\"xid\","
                           "\"verdict\":\"extend\",\"changed\":7,\"expected\":9}]},{\"wave\":2,"
                           "\"kind\":\"ring\",\"state\":\"planned\"}],"
                           "\"waits\":[{\"wave\":1,\"node\":\"gpu03\",\"why\":\"a job runs\"}]}";
static const char drift[] =
    "{\"items\":[{\"node\":\"gpu02\",\"pool\":\"train\",\"judged\":\"drift\","
    "\"since\":\"2026-11-14T23:00:00Z\",\"text\":\"openmpi: 4.1.7, pinned 4.1.6\"}],"
    "\"counts\":{\"nodes\":60,\"drift\":1}}";
static const char alarms[] =
    "{\"items\":[{\"id\":3,\"kind\":\"mass\",\"subject\":\"train\",\"text\":\"11 nodes late\","
    "\"raised\":\"2026-11-14T23:59:48Z\"},{\"id\":2,\"kind\":\"change\",\"subject\":\"change:7\","
    "\"text\":\"halted\"},{\"id\":1,\"kind\":\"parts\",\"subject\":\"gpu09\",\"text\":\"a GPU\"}]}";
static const char freezes[] = "{\"frozen\":false,\"pools\":[{\"pool\":\"train\",\"by\":\"kim\","
                              "\"reason\":\"audit\"}],\"days\":[]}";
static const char advisories[] =
    "{\"items\":[{\"id\":\"CVE-2026-1\",\"severity\":\"high\",\"days\":3,\"nodes\":40,\"gpus\":320,"
    "\"summary\":\"code execution\"}]}";
static const char nodes[] =
    "{\"items\":[{\"name\":\"gpu01\",\"liveness\":\"lost\",\"judged\":\"conforms\","
    "\"admissible\":false,\"why\":\"it is lost\"},{\"name\":\"gpu02\",\"liveness\":\"late\"},"
    "{\"name\":\"gpu03\",\"liveness\":\"live\",\"admissible\":true}]}";
static const char node[] =
    "{\"name\":\"gpu01\",\"liveness\":\"lost\",\"pool\":\"train\","
    "\"judged\":\"drift\",\"text\":\"vbios\",\"rows\":[{\"subject\":\"vbios\","
    "\"cause\":\"differs\",\"actual\":\"1\",\"pinned\":\"2\"}]}";

static const struct {
    const char *path, *answer;
} answers[] = {
    {"/v1/fleet", fleet},
    {"/v1/changes?open=true", changes},
    {"/v1/changes/7?plan=false", change_7},
    {"/v1/alarms?open=true", alarms},
    {"/v1/drift", drift},
    {"/v1/freeze", freezes},
    {"/v1/exposure/advisories", advisories},
    {"/v1/nodes?pool=train&sort=-liveness", nodes},
    {"/v1/nodes?pool=train", nodes},
    {"/v1/drift?pool=train", drift},
    {"/v1/changes/7/members", "{\"items\":[{\"node\":\"gpu03\",\"wave\":1,\"state\":\"asked\"}]}"},
    {"/v1/nodes/gpu01", node},
    {"/v1/nodes/gpu01/history?limit=200", "{\"items\":[{\"seq\":9,\"kind\":\"liveness\"}]}"},
};

static void give(struct lks_top_model *m, const char *path, const char *json)
{
    LKS_CLEANUP(lks_top_model_answer_fini) struct lks_top_answer a = {.count = 1};
    struct lks_err err = {0};
    snprintf(a.path, sizeof(a.path), "%s", path);
    a.pages = calloc(1, sizeof(*a.pages));
    CHECK_CODE(lks_docs_init(&a.pages[0].docs, "test", &err), LKS_OK);
    CHECK_CODE(lks_json_parse(lks_str_from(json), &a.pages[0].docs, &err), LKS_OK);
    a.pages[0].doc = a.pages[0].docs.first;
    lks_top_model_answer(m, &a, NOW);
}

static void refuse(struct lks_top_model *m, const char *path, const char *why)
{
    struct lks_top_answer a = {0};
    snprintf(a.path, sizeof(a.path), "%s", path);
    snprintf(a.failure, sizeof(a.failure), "%s", why);
    lks_top_model_answer(m, &a, NOW);
}

/* All that the view wants and the table has. */
static void serve(struct lks_top_model *m)
{
    struct lks_top_want wants[LKS_TOP_WANTS_MAX];
    size_t count = lks_top_model_wants(m, wants);
    for (size_t w = 0; w < count; w++) {
        for (size_t i = 0; i < LKS_COUNT(answers); i++) {
            if (strcmp(answers[i].path, wants[w].path) == 0)
                give(m, wants[w].path, answers[i].answer);
        }
    }
}

static void begin(struct lks_top_model *m)
{
    lks_top_model_init(m);
    serve(m); /* the changes are known now, */
    serve(m); /* and their waves are wanted */
}

/* Keys as text: "jj\r" is two rows down and Enter. */
static enum lks_top_act press(struct lks_top_model *m, const char *keys)
{
    static const struct {
        char text;
        enum lks_top_key key;
    } names[] = {
        {'\r', LKS_TOP_KEY_ENTER},     {'\033', LKS_TOP_KEY_ESCAPE}, {'\t', LKS_TOP_KEY_TAB},
        {'\b', LKS_TOP_KEY_BACKSPACE}, {'\v', LKS_TOP_KEY_BACK_TAB}, {'\f', LKS_TOP_KEY_PAGE_DOWN},
    };
    enum lks_top_act act = LKS_TOP_NOTHING;
    for (; *keys != '\0'; keys++) {
        enum lks_top_key key = LKS_TOP_KEY_RUNE;
        for (size_t i = 0; i < LKS_COUNT(names); i++)
            key = names[i].text == *keys ? names[i].key : key;
        act = lks_top_model_key(m, key, (uint32_t)*keys);
        serve(m);
    }
    return act;
}

static void draw(struct lks_top_model *m, struct lks_top_picture *p, unsigned width,
                 unsigned height, lks_ms now)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_top_picture_begin(p, width, height, &err), LKS_OK);
    lks_top_layout_draw(m, p, now);
}

/* All rows of a picture. */
static void text_of(const struct lks_top_picture *p, struct lks_buf *out)
{
    for (unsigned row = 0; row < p->height; row++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(BYTES_MAX);
        lks_top_picture_line(p, row, &line);
        lks_buf_add(out, lks_buf_view(&line));
        lks_buf_addc(out, '\n');
    }
}

/* Where keys lead ---------------------------------------------------------------------------- */

static const struct {
    const char *name, *keys;
    const char *place; /* "KIND SUBJECT" of the place, with the pane and the selected row */
    enum lks_top_act act;
    enum lks_top_mode mode;
} walks[] = {
    {"the first pool is selected", "", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"down", "j", "fleet  POOLS serve", 0, LKS_TOP_LOOK},
    {"down and up", "jk", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"up at the first row stays", "k", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"down beyond a pane is the next one", "jj", "fleet  CHANGES 7", 0, LKS_TOP_LOOK},
    {"up beyond a pane is the one before", "jjk", "fleet  POOLS serve", 0, LKS_TOP_LOOK},
    {"Tab", "\t", "fleet  CHANGES 7", 0, LKS_TOP_LOOK},
    {"Tab goes round", "\t\t\t\t\t\t", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"Shift-Tab", "\v", "fleet  EXPOSURE CVE-2026-1", 0, LKS_TOP_LOOK},
    {"a pane by its number", "4", "fleet  DRIFT gpu02", 0, LKS_TOP_LOOK},
    {"a number without a pane", "9", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"the last row", "G", "fleet  POOLS serve", 0, LKS_TOP_LOOK},
    {"the first row", "Gg", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"a page down", "\f", "fleet  POOLS serve", 0, LKS_TOP_LOOK},
    {"open a pool", "\r", "pool train NODES gpu01", 0, LKS_TOP_LOOK},
    {"and a node of it", "\r\r", "node gpu01 DIFFERENCES vbios ", 0, LKS_TOP_LOOK},
    {"and back", "\r\r\033", "pool train NODES gpu01", 0, LKS_TOP_LOOK},
    {"and back by Backspace", "\r\r\033\b", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"back to the row that it was opened from", "\rj\r\033", "pool train NODES gpu02", 0,
     LKS_TOP_LOOK},
    {"left and right", "lh", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"back on the first screen stays", "\033", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"open a change", "2\r", "change 7 WAVES 0", 0, LKS_TOP_LOOK},
    {"a node that it waits for", "2\r3\r", "node gpu03", 0, LKS_TOP_LOOK},
    {"open drift", "4\r", "node gpu02", 0, LKS_TOP_LOOK},
    {"an alarm opens as its members", "3\r", " alarm 3", 0, LKS_TOP_LOOK},
    {"then the pool that it is about", "3\r\r", "pool train NODES gpu01", 0, LKS_TOP_LOOK},
    {"or the change", "3j\r\r", "change 7 WAVES 0", 0, LKS_TOP_LOOK},
    {"or the node", "3jj\r\r", "node gpu09", 0, LKS_TOP_LOOK},
    {"a freeze leads to its pool", "5\r\r", "pool train NODES gpu01", 0, LKS_TOP_LOOK},
    {"an advisory is as deep as it goes", "6\r\r", " advisory CVE-2026-1", 0, LKS_TOP_LOOK},
    {"search filters while it is typed", "/ser", "fleet  POOLS serve", 0, LKS_TOP_SEARCH},
    {"in any case of letters", "/SER\r", "fleet  POOLS serve", 0, LKS_TOP_LOOK},
    {"a search moves to a pane with a match", "/openmpi\r", "fleet  DRIFT gpu02", 0, LKS_TOP_LOOK},
    {"Esc clears it", "/ser\r\033", "fleet  POOLS serve", 0, LKS_TOP_LOOK},
    {"also while it is typed", "/ser\033", "fleet  POOLS serve", 0, LKS_TOP_LOOK},
    {"Backspace takes a letter back", "/serx\b\r", "fleet  POOLS serve", 0, LKS_TOP_LOOK},
    {"Backspace in an empty search ends it", "/\b", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"a name on no row opens the node", "/gpu01\b1\r", "node gpu01 DIFFERENCES vbios ", 0,
     LKS_TOP_LOOK},
    {"q is a letter of a search", "/q", "fleet", 0, LKS_TOP_SEARCH},
    {"help", "?", "fleet  POOLS train", 0, LKS_TOP_HELP},
    {"any key closes help", "?q", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"quit", "q", "fleet  POOLS train", LKS_TOP_QUIT, LKS_TOP_LOOK},
    {"refresh", "r", "fleet  POOLS train", LKS_TOP_REFRESH, LKS_TOP_LOOK},
    {"pause without a change", "p", "fleet  POOLS train", 0, LKS_TOP_LOOK},
    {"pause asks first", "2p", "fleet  CHANGES 7", 0, LKS_TOP_CONFIRM},
    {"any key but y is no", "2pn", "fleet  CHANGES 7", 0, LKS_TOP_LOOK},
    {"Enter is no yes", "2p\r", "fleet  CHANGES 7", 0, LKS_TOP_LOOK},
    {"then for the reason", "2py", "fleet  CHANGES 7", 0, LKS_TOP_REASON},
    {"which may not be empty", "2py  \r", "fleet  CHANGES 7", 0, LKS_TOP_REASON},
    {"Esc at the reason cancels", "2pyx\033", "fleet  CHANGES 7", 0, LKS_TOP_LOOK},
    {"and pauses", "2pyINC-9\r", "fleet  CHANGES 7", LKS_TOP_PAUSE, LKS_TOP_LOOK},
    {"pause from the screen of a change", "2\rpyINC-9\r", "change 7 WAVES 0", LKS_TOP_PAUSE,
     LKS_TOP_LOOK},
};

static void where(const struct lks_top_model *m, char *out, size_t size)
{
    const struct lks_top_place *p = lks_top_model_place(m);
    const struct lks_top_screen *screen = &lks_top_screens[p->kind];
    const struct lks_doc *row = lks_top_model_selected(m);
    int len = snprintf(out, size, "%s%s%s", screen->name,
                       p->kind == LKS_TOP_FLEET && row == NULL ? "" : " ", p->subject);
    if (row != NULL)
        snprintf(out + len, size - (size_t)len, " %s %s", screen->panes[p->pane].title,
                 p->picks[p->pane].key);
}

static void test_keys(void)
{
    for (size_t i = 0; i < LKS_COUNT(walks); i++) {
        LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
        char at[2 * LKS_TOP_TEXT_MAX];
        lks_test_case("%s", walks[i].name);
        begin(&m);
        CHECK_INT(press(&m, walks[i].keys), walks[i].act);
        where(&m, at, sizeof(at));
        CHECK_STR(lks_str_from(at), walks[i].place);
        CHECK_INT(m.mode, walks[i].mode);
        if (walks[i].act == LKS_TOP_PAUSE) {
            CHECK_INT(m.change, 7);
            CHECK_STR(lks_str_from(m.input), "INC-9");
        }
    }
}

/* What is on the screen --------------------------------------------------------------------- */

static const struct {
    const char *name, *keys;
    unsigned width, height;
    const char *has[7];
} screens[] = {
    {"the fleet",
     "",
     80,
     24,
     {" lockstep  fleet prod", "row 442", " 60 nodes ###", "57 live 2 late 1 lost  2 alarms",
      "> train ###########!x    40   37    2    1      0 FROZEN nov", "CHANGES 2 state",
      "ALARMS 3"}},
    {"a change with its wave and gate",
     "",
     80,
     24,
     {"  7 dec   running #####>....... 9/20      0  1/3 ring train soaks: until 00:04"}},
    {"drift, freezes and exposure",
     "",
     80,
     24,
     {"DRIFT 1 of 60", "  gpu02       train drift  60 min openmpi: 4.1.7, pinned 4.1.6",
      "  pool train kim audit", "  CVE-2026-1 high        3    40  320 code execution"}},
    {"an age", "", 80, 24, {"  3 mass   train     12 s 11 nodes late"}},
    {"keys",
     "",
     80,
     24,
     {" Enter open  Esc back  Tab pane  / search  p pause  r refresh  ? help  q quit"}},
    {"two columns on a wide screen", "", 200, 50, {"POOLS 2", "unseen stack", "ALARMS 3"}},
    {"a pool",
     "\r",
     80,
     24,
     {"fleet prod > pool train", " freeze      no further node of the pool is changed",
      "> gpu01 lost   conforms it is lost", "  gpu03 live            admitted", "DRIFT 1 of 60"}},
    {"a node",
     "\r\r",
     80,
     24,
     {"> pool train > node gpu01", " status      lost", " result      drift: vbios",
      "> vbios       differs 1, pinned 2", "HISTORY 1"}},
    {"a change",
     "2\r",
     80,
     24,
     {" state       running", "             9/20 done", "> 0 canary", "  1 ring train",
      "  xid        1 extend      7/9", "  gpu03        1 a job runs"}},
    {"all members of a row",
     "3\r",
     80,
     24,
     {" id             3", " text           11 nodes late", " subject        train"}},
    {"a search", "/train", 80, 24, {"POOLS 1 of 2", " /train   Enter keeps the filter"}},
    {"a search without a match", "/zzz", 80, 24, {"POOLS 0 of 2  no match"}},
    {"the question before a pause", "2p", 80, 24, {" Pause change 7 to dec, 9 of 20 done? y"}},
    {"the reason", "2pyINC-9", 80, 24, {" Reason, for the record: INC-9"}},
    {"help", "?", 80, 24, {"lockstep top: keys", "pause a change: asks first, and for a reason"}},
    {"a narrow screen cuts", "", 40, 24, {"> train ######!x    40   37    2    1"}},
};

static void test_screens(void)
{
    for (size_t i = 0; i < LKS_COUNT(screens); i++) {
        LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
        LKS_CLEANUP(lks_top_picture_fini) struct lks_top_picture p = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BYTES_MAX);
        lks_test_case("%s", screens[i].name);
        begin(&m);
        (void)press(&m, screens[i].keys);
        draw(&m, &p, screens[i].width, screens[i].height, NOW);
        text_of(&p, &text);
        for (size_t k = 0; k < LKS_COUNT(screens[i].has) && screens[i].has[k] != NULL; k++)
            CHECK_HAS(lks_buf_view(&text), screens[i].has[k]);
    }
}

/* Whose fleet it is: in the title where it fits, and in the question before a pause. */
static void test_origin(void)
{
    static const struct {
        const char *name, *context, *server, *keys;
        unsigned width;
        const char *has;
    } rows[] = {
        {"context and server", "prod", "https://c:7443", "", 80,
         "context prod (https://c:7443)  row"},
        {"the name alone", "prod", "https://c:7443", "", 55, "context prod  row 442"},
        {"neither fits", "prod", "https://c:7443", "", 30, "fleet prod"},
        {"no context", "", "unix:/run/s", "", 80, "unix:/run/s  row 442"},
        {"the question", "prod", "https://c:7443", "2p", 120,
         "Pause change 7 to dec, 9 of 20 done, in context prod? y, or any other key for no  "
         "https:"},
        {"without a context", "", "unix:/run/s", "2p", 120,
         "20 done? y, or any other key for no  unix:"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
        LKS_CLEANUP(lks_top_picture_fini) struct lks_top_picture p = {0};
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BYTES_MAX);
        lks_test_case("%s", rows[i].name);
        begin(&m);
        m.context = rows[i].context;
        m.server = rows[i].server;
        (void)press(&m, rows[i].keys);
        draw(&m, &p, rows[i].width, 24, NOW);
        text_of(&p, &text);
        CHECK_HAS(lks_buf_view(&text), rows[i].has);
    }
}

/* A daemon that does not answer, or refuses --------------------------------------------------- */

static void test_lost(void)
{
    LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
    LKS_CLEANUP(lks_top_picture_fini) struct lks_top_picture p = {0};
    static const struct {
        const char *name;
        bool begun, lost, back;
        const char *has;
        lks_ms patience;
    } rows[] = {
        {"a request that waits for longer than it should", true, false, false,
         "no answer since 12 s", 5 * LKS_SECOND},
        {"and one that may still wait", true, false, false, "row 442", 20 * LKS_SECOND},
        {"before the first answer", false, false, false, "asking lockstepd ...", 0},
        {"none ever", false, true, false, "lockstepd does not answer; trying again", 0},
        {"and why", false, true, false, "connection refused", 0},
        {"lost: since when", true, true, false, "no answer since 12 s", 0},
        {"lost: the last data stays", true, true, false, "> train", 0},
        {"back", true, true, true, "row 442", 0},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BYTES_MAX);
        lks_test_case("%s", rows[i].name);
        lks_top_model_fini(&m);
        lks_top_model_init(&m);
        m.patience = rows[i].patience;
        if (rows[i].begun)
            serve(&m);
        if (rows[i].lost)
            lks_top_model_lost(&m, "/run/x: connection refused");
        if (rows[i].back)
            serve(&m);
        draw(&m, &p, 80, 24, NOW + 12 * LKS_SECOND);
        text_of(&p, &text);
        CHECK_HAS(lks_buf_view(&text), rows[i].has);
    }
}

static void test_refused(void)
{
    LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
    LKS_CLEANUP(lks_top_picture_fini) struct lks_top_picture p = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BYTES_MAX);
    begin(&m);
    refuse(&m, "/v1/exposure/advisories", "kim needs viewer");
    refuse(&m, "/v1/nodes/nowhere", "there is no node 'nowhere'");
    draw(&m, &p, 80, 24, NOW);
    text_of(&p, &text);
    CHECK_HAS(lks_buf_view(&text), "EXPOSURE  kim needs viewer");
    give(&m, "/v1/alarms?open=true", "{\"unexpected\":1}");
    draw(&m, &p, 80, 24, NOW);
    text_of(&p, &text);
    CHECK_HAS(lks_buf_view(&text), "ALARMS  cannot be read: the answer has no list");
    (void)press(&m, "/nowhere\r");
    draw(&m, &p, 80, 24, NOW);
    text_of(&p, &text);
    CHECK_HAS(lks_buf_view(&text), " there is no node 'nowhere'");
}

/* A row stays selected while the list changes around it. */
static void test_selection(void)
{
    LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
    char at[2 * LKS_TOP_TEXT_MAX];
    begin(&m);
    (void)press(&m, "\rj");
    give(&m, "/v1/nodes?pool=train&sort=-liveness",
         "{\"items\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"gpu02\"}]}");
    where(&m, at, sizeof(at));
    CHECK_STR(lks_str_from(at), "pool train NODES gpu02");
    give(&m, "/v1/nodes?pool=train&sort=-liveness", "{\"items\":[{\"name\":\"a\"}]}");
    where(&m, at, sizeof(at));
    CHECK_STR(lks_str_from(at), "pool train NODES a");
    give(&m, "/v1/nodes?pool=train&sort=-liveness", "{\"items\":[]}");
    CHECK(lks_top_model_selected(&m) == NULL);
}

/* An answer that is replaced or dropped leaves no row behind; ASan finds those that it does. */
static void test_replaced(void)
{
    LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
    LKS_CLEANUP(lks_top_picture_fini) struct lks_top_picture p = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(BYTES_MAX);
    char path[64];
    begin(&m);
    give(&m, "/v1/changes?open=true", "{\"items\":[{\"id\":8,\"name\":\"jan\"}]}");
    for (unsigned i = 0; i < LEFT; i++) {
        snprintf(path, sizeof(path), "/v1/nodes/n%u", i);
        give(&m, path, node);
        give(&m, "/v1/changes?open=true", changes);
    }
    CHECK(m.answer_count < LEFT);
    draw(&m, &p, 80, 24, NOW);
    text_of(&p, &text);
    CHECK_HAS(lks_buf_view(&text), "> train");
    CHECK_HAS(lks_buf_view(&text), "  7 dec   running");
}

/* Long lists: as many rows are asked for as are in reach. */
static void test_reach(void)
{
    static const struct {
        const char *name, *keys;
        uint64_t most;
    } rows[] = {
        {"the first rows", "", LKS_TOP_STEP},
        {"a search reads all", "/gpu", LKS_TOP_ROWS_MAX},
        {"the end reads all", "G", LKS_TOP_ROWS_MAX},
        {"the beginning again", "Gg", LKS_TOP_STEP},
        {"near the end of what is there", "\f\f\f\f\f\f\f\f\f", 2 * LKS_TOP_STEP},
    };
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(BYTES_MAX);
    lks_buf_add(&json, LKS_STR("{\"items\":["));
    for (unsigned i = 0; i < LKS_TOP_STEP; i++)
        lks_buf_addf(&json, "%s{\"name\":\"n%03u\"}", i > 0 ? "," : "", i);
    lks_buf_add(&json, LKS_STR("]}"));
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
        struct lks_top_want wants[LKS_TOP_WANTS_MAX];
        uint64_t most = 0;
        lks_test_case("%s", rows[i].name);
        lks_top_model_init(&m);
        give(&m, "/v1/fleet", fleet);
        (void)lks_top_model_key(&m, LKS_TOP_KEY_ENTER, 0);
        give(&m, "/v1/nodes?pool=train&sort=-liveness", json.ptr);
        m.answers[m.answer_count - 1].more = true;
        lks_top_model_refresh(&m);
        m.page = 24;
        for (const char *k = rows[i].keys; *k != '\0'; k++)
            (void)lks_top_model_key(&m, *k == '\f' ? LKS_TOP_KEY_PAGE_DOWN : LKS_TOP_KEY_RUNE,
                                    (uint32_t)*k);
        for (size_t w = lks_top_model_wants(&m, wants); w > 0; w--)
            most = strstr(wants[w - 1].path, "/v1/nodes?") != NULL ? wants[w - 1].most : most;
        CHECK_INT(most, rows[i].most);
    }
}

/* Hostile text, sizes and terminals ----------------------------------------------------------- */

/* Whatever the text: no byte of it drives the terminal, and no row is wider than the screen. */
static void check_picture(const struct lks_top_picture *p)
{
    for (unsigned row = 0; row < p->height; row++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf line = LKS_BUF(BYTES_MAX);
        bool ascii = true;
        lks_top_picture_line(p, row, &line);
        CHECK(line.len == 0 || lks_str_printable(lks_buf_view(&line)));
        CHECK(lks_term_columns(lks_buf_view(&line)) <= p->width);
        for (size_t i = 0; i < line.len; i++)
            ascii = ascii && (unsigned char)line.ptr[i] < 0x80;
        CHECK(ascii || p->utf8);
    }
}

static void test_hostile(void)
{
    static const char *const names[] = {
        "\\u001b[2J\\u001b]0;x\\u0007",
        "\\u0001\\r\\n\\t",
        "\\u65e5\\u672c\\u8a9e\\u65e5\\u672c",
        "a\\u0301\\u0302\\u0303\\u0304\\u0305\\u0306",
        "\\u202eevil\\u202c",
        "\\ud83d\\ude00\\ud83d\\ude00",
        "\\u0301\\u0301",
        "",
    };
    for (size_t i = 0; i < LKS_COUNT(names); i++) {
        for (unsigned width = 1; width < 130; width += 9) {
            LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
            LKS_CLEANUP(lks_top_picture_fini) struct lks_top_picture p = {.utf8 = width % 2 == 0};
            LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(BYTES_MAX);
            lks_test_case("%s in %u columns", names[i], width);
            lks_buf_addf(&json,
                         "{\"name\":\"%s\",\"pools\":[{\"name\":\"%s%s%s\",\"stack\":\"%s\"}]}",
                         names[i], names[i], names[i], names[i], names[i]);
            lks_top_model_init(&m);
            give(&m, "/v1/fleet", json.ptr);
            lks_top_model_lost(&m, "\033[2J");
            lks_top_model_say(&m, LKS_RED, "\033[2J");
            draw(&m, &p, width, 12, NOW);
            check_picture(&p);
            (void)press(&m, "\r");
            draw(&m, &p, width, 12, NOW);
            check_picture(&p);
        }
    }
}

/* Every screen at every size. */
static void test_sizes(void)
{
    static const char *const keys[] = {"", "\r", "\r\r", "2\r", "3\r", "?", "/x", "2p", "2pyx"};
    for (size_t k = 0; k < LKS_COUNT(keys); k++) {
        LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
        LKS_CLEANUP(lks_top_picture_fini) struct lks_top_picture p = {.utf8 = true, .colour = true};
        begin(&m);
        (void)press(&m, keys[k]);
        for (unsigned width = 1; width < 260; width += 13) {
            for (unsigned height = 1; height < 60; height += 4) {
                lks_test_case("keys %zu, %u by %u", k, width, height);
                draw(&m, &p, width, height, NOW);
                check_picture(&p);
            }
        }
    }
}

static double clock_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A list of 10,000 nodes: rows, search, scrolling to the end. The times are printed for people and
 * decide nothing: an answer is read once, a search renders every row, a frame only those shown. */
static void test_many(void)
{
    LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
    LKS_CLEANUP(lks_top_picture_fini) struct lks_top_picture p = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(BYTES_MAX), text = LKS_BUF(BYTES_MAX);
    lks_buf_add(&json, LKS_STR("{\"items\":["));
    for (unsigned i = 0; i < MANY; i++)
        lks_buf_addf(&json, "%s{\"name\":\"gpu%05u\",\"liveness\":\"live\"}", i > 0 ? "," : "", i);
    lks_buf_add(&json, LKS_STR("]}"));
    begin(&m);
    (void)lks_top_model_key(&m, LKS_TOP_KEY_ENTER, 0);
    double began = clock_ms();
    give(&m, "/v1/nodes?pool=train&sort=-liveness", json.ptr);
    (void)lks_top_model_key(&m, LKS_TOP_KEY_END, 0);
    double read = clock_ms();
    draw(&m, &p, 80, 24, NOW);
    double drawn = clock_ms();
    text_of(&p, &text);
    CHECK_HAS(lks_buf_view(&text), "> gpu09999");
    for (const char *c = "/09998"; *c != '\0'; c++)
        (void)lks_top_model_key(&m, LKS_TOP_KEY_RUNE, (uint32_t)*c);
    double searched = clock_ms();
    draw(&m, &p, 80, 24, NOW);
    printf("10,000 nodes: read %.1f ms, a frame %.1f ms, a letter of a search %.1f ms\n",
           read - began, drawn - read, (searched - drawn) / 5);
    lks_buf_truncate(&text, 0);
    text_of(&p, &text);
    CHECK_HAS(lks_buf_view(&text), "NODES 1 of 10000");
}

/* Work of a refresh and of a frame, counted --------------------------------------------------- */

enum {
    SHOWN_MAX = 256,
    POOL_REQUESTS = 3, /* the fleet, nodes of the pool, drift of the pool */
};

/* The rows whose cells were formatted; a row is a document. */
static struct {
    const struct lks_doc *rows[SHOWN_MAX];
    size_t count, cells;
} formatted;

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names */
void __real_lks_top_rows_cell(const struct lks_top_column *column, const struct lks_doc *doc,
                              lks_ms now, char *out, size_t size);
void __wrap_lks_top_rows_cell(const struct lks_top_column *column, const struct lks_doc *doc,
                              lks_ms now, char *out, size_t size);

/* The linker puts this function in the place of the one that it counts the calls of. */
void __wrap_lks_top_rows_cell(const struct lks_top_column *column, const struct lks_doc *doc,
                              lks_ms now, char *out, size_t size)
{
    bool known = false;
    formatted.cells++;
    for (size_t i = 0; i < formatted.count && i < SHOWN_MAX; i++)
        known = known || formatted.rows[i] == doc;
    if (!known && formatted.count < SHOWN_MAX)
        formatted.rows[formatted.count] = doc;
    formatted.count += !known;
    __real_lks_top_rows_cell(column, doc, now, out, size);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/* The requests that the wants of the view take: a list has as many as it has pages in reach. */
static uint64_t requests_of(const struct lks_top_model *m)
{
    struct lks_top_want wants[LKS_TOP_WANTS_MAX];
    uint64_t requests = 0;
    for (size_t w = lks_top_model_wants(m, wants); w > 0; w--) {
        uint64_t most = wants[w - 1].most;
        requests += most > 0 ? (most + LKS_TOP_PAGE - 1) / LKS_TOP_PAGE : 1;
    }
    return requests;
}

/* A pool of `count` nodes in focus, as far as lockstepd gives rows for what the view wants. */
static void open_pool(struct lks_top_model *m, unsigned count)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf json = LKS_BUF(BYTES_MAX);
    begin(m);
    (void)lks_top_model_key(m, LKS_TOP_KEY_ENTER, 0);
    lks_buf_add(&json, LKS_STR("{\"items\":["));
    for (unsigned i = 0; i < count; i++)
        lks_buf_addf(&json, "%s{\"name\":\"gpu%05u\",\"liveness\":\"live\"}", i > 0 ? "," : "", i);
    lks_buf_add(&json, LKS_STR("]}"));
    give(m, "/v1/nodes?pool=train&sort=-liveness", json.ptr);
}

/* Neither the requests of a refresh nor the rows that a frame formats grow with the nodes. */
static void test_work(void)
{
    static const unsigned counts[] = {LKS_TOP_STEP, MANY}, heights[] = {5, 24, 60};
    static const struct {
        const char *name, *keys;
    } rows[] = {{"the first rows", ""}, {"the last rows", "G"}};
    for (size_t k = 0; k < LKS_COUNT(rows) * LKS_COUNT(heights); k++) {
        unsigned height = heights[k % LKS_COUNT(heights)];
        size_t i = k / LKS_COUNT(heights), cells[LKS_COUNT(counts)];
        lks_test_case("%s, %u lines", rows[i].name, height);
        for (size_t n = 0; n < LKS_COUNT(counts); n++) {
            LKS_CLEANUP(lks_top_model_fini) struct lks_top_model m = {0};
            LKS_CLEANUP(lks_top_picture_fini) struct lks_top_picture p = {0};
            open_pool(&m, counts[n]);
            CHECK_INT(requests_of(&m), POOL_REQUESTS);
            (void)press(&m, rows[i].keys);
            memset(&formatted, 0, sizeof(formatted));
            draw(&m, &p, 160, height, NOW);
            CHECK(formatted.count > 0);
            CHECK(formatted.count <= height);
            cells[n] = formatted.cells;
        }
        CHECK_INT(cells[1], cells[0]);
    }
}

/* Lines of panes ------------------------------------------------------------------------------ */

static void test_lines(void)
{
    static const struct {
        const char *name;
        size_t rows[4], count, focus, height, lines[4];
    } rows[] = {
        {"all of it fits", {2, 1, 0, 3}, 4, 0, 20, {3, 2, 1, 4}},
        {"the focus is first", {50, 50, 0, 3}, 4, 1, 16, {3, 9, 1, 3}},
        {"another focus", {50, 50, 0, 3}, 4, 0, 16, {9, 3, 1, 3}},
        {"two rows each", {9, 9, 9, 9}, 4, 2, 12, {3, 3, 3, 3}},
        {"one row each, then the first", {9, 9, 9, 9}, 4, 3, 9, {3, 2, 2, 2}},
        {"titles, and a row of the focus", {9, 9, 9, 9}, 4, 3, 5, {1, 1, 1, 2}},
        {"fewer lines than panes", {9, 9, 9, 9}, 4, 3, 3, {1, 0, 0, 2}},
        {"no line", {9, 9, 9, 9}, 4, 3, 0, {0, 0, 0, 0}},
        {"the focus is elsewhere", {5, 5}, 2, 2, 8, {5, 3}},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        size_t lines[4];
        lks_test_case("%s", rows[i].name);
        lks_top_layout_share(rows[i].rows, rows[i].count, rows[i].focus, rows[i].height, lines);
        for (size_t k = 0; k < rows[i].count; k++)
            CHECK_INT(lines[k], rows[i].lines[k]);
    }
}

static void test_spans(void)
{
    static const struct {
        uint64_t seconds;
        const char *text;
    } rows[] = {
        {0, "0 s"},    {12, "12 s"},     {119, "119 s"},  {120, "2 min"},     {7199, "119 min"},
        {7200, "2 h"}, {172799, "47 h"}, {172800, "2 d"}, {8640000, "100 d"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        char text[LKS_SPAN_TEXT_SIZE];
        lks_top_rows_span(rows[i].seconds * LKS_SECOND, text);
        CHECK_STR(lks_str_from(text), rows[i].text);
    }
}

int main(void)
{
    return lks_test_main((const struct lks_test[]){
        {"where keys lead", test_keys},
        {"what is on the screen", test_screens},
        {"whose fleet it is", test_origin},
        {"a daemon that does not answer", test_lost},
        {"a request that is refused", test_refused},
        {"the selected row stays", test_selection},
        {"answers that are replaced", test_replaced},
        {"as many rows as are in reach", test_reach},
        {"hostile text", test_hostile},
        {"every screen at every size", test_sizes},
        {"10,000 nodes", test_many},
        {"work does not grow with nodes", test_work},
        {"lines of panes", test_lines},
        {"spans", test_spans},
        {0},
    });
}
