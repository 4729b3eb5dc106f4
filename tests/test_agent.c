/* What the agent keeps on disk: each file survives what a crash, a full disk or a stranger can do
 * to it. */
#include "agent/state/boot.h"
#include "agent/state/heads.h"
#include "agent/state/identity.h"
#include "agent/state/ledger.h"
#include "agent/state/spool.h"
#include "tests/test.h"
#include "tests/tree.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_MS = 300 };

#define JOURNAL "0123456789abcdef0123456789abcdef"

static struct lks_log quiet;

static void in_tree(const struct lks_tree *tree, const char *name, char out[128])
{
    snprintf(out, 128, "%s/%s", tree->path, name);
}

static struct lks_statedir open_dir(const struct lks_tree *tree)
{
    struct lks_statedir dir = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_statedir_open(tree->path, false, &dir, &err), LKS_OK);
    return dir;
}

/* The state directory ------------------------------------------------------------------------- */

static void test_statedir(void)
{
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_statedir_close) struct lks_statedir dir = open_dir(&tree);
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = {0};
    struct lks_err err = {0};
    struct stat st;
    CHECK_CODE(lks_statedir_read(&dir, "a", 10, &text, &err), LKS_E_NOT_FOUND);
    CHECK_CODE(lks_statedir_write(&dir, "a", LKS_STR("one"), &err), LKS_OK);
    CHECK_CODE(lks_statedir_write(&dir, "a", LKS_STR("two"), &err), LKS_OK);
    CHECK_CODE(lks_statedir_read(&dir, "a", 10, &text, &err), LKS_OK);
    CHECK_STR(lks_buf_view(&text), "two");
    lks_buf_fini(&text);
    CHECK_CODE(lks_statedir_read(&dir, "a", 2, &text, &err), LKS_E_LIMIT);
    CHECK(fstatat(dir.fd, "a", &st, 0) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(fstatat(dir.fd, ".tmp-a", &st, 0) != 0);
    CHECK_CODE(lks_statedir_remove(&dir, "a", &err), LKS_OK);
    CHECK_CODE(lks_statedir_remove(&dir, "a", &err), LKS_OK);
    CHECK(fstatat(dir.fd, "a", &st, 0) != 0);
    lks_tree_free(&tree);
}

static void test_lock(void)
{
    struct lks_tree tree = lks_tree_new();
    char path[128];
    in_tree(&tree, "state", path);
    LKS_CLEANUP(lks_statedir_close) struct lks_statedir first = {0};
    LKS_CLEANUP(lks_statedir_close) struct lks_statedir second = {0};
    struct lks_err err = {0};
    CHECK_CODE(lks_statedir_open(path, true, &first, &err), LKS_OK);
    CHECK_CODE(lks_statedir_open(path, true, &second, &err), LKS_E_REFUSED);
    CHECK_HAS(lks_str_from(err.msg), "another program is using it");
    CHECK_INT(second.fd, 0);
    lks_statedir_close(&first);
    CHECK_CODE(lks_statedir_open(path, true, &second, &err), LKS_OK);
    lks_statedir_close(&second);
    lks_tree_free(&tree);
}

/* The child of an agent that was killed between fork() and exec() has the lock for a moment. */
static void test_lock_of_a_child(void)
{
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_statedir_close) struct lks_statedir first = {0}, second = {0};
    struct lks_err err = {0};
    char path[128];
    in_tree(&tree, "state", path);
    CHECK_CODE(lks_statedir_open(path, true, &first, &err), LKS_OK);
    pid_t child = fork();
    if (child == 0) {
        (void)poll(NULL, 0, CHILD_MS);
        _exit(0);
    }
    lks_statedir_close(&first);
    CHECK_CODE(lks_statedir_open(path, true, &second, &err), LKS_OK);
    CHECK(waitpid(child, NULL, 0) == child);
    lks_statedir_close(&second);
    lks_tree_free(&tree);
}

/* The spool ----------------------------------------------------------------------------------- */

static void open_spool(const struct lks_tree *tree, size_t count, size_t bytes,
                       struct lks_spool *out)
{
    char path[128];
    struct lks_err err = {0};
    in_tree(tree, "spool", path);
    CHECK_CODE(lks_spool_open(path, count, bytes, &quiet, out, &err), LKS_OK);
}

static void add(struct lks_spool *s, enum lks_spool_kind kind, const char *body)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_spool_add(s, kind, lks_str_from(body), &err), LKS_OK);
}

/* Everything in it in order, as "t:BODY " or "r:BODY ". */
static struct lks_str drain(struct lks_spool *s)
{
    static char text[512];
    size_t len = 0;
    struct lks_err err = {0};
    text[0] = '\0';
    for (int i = 0; i < 100; i++) {
        LKS_CLEANUP(lks_buf_fini) struct lks_buf body = {0};
        enum lks_spool_kind kind = LKS_SPOOL_TUPLE;
        if (lks_spool_oldest(s, &kind, &body, &err) != LKS_OK)
            break;
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%c:%s ",
                                kind == LKS_SPOOL_TUPLE ? 't' : 'r', body.ptr);
        CHECK_CODE(lks_spool_done(s, &err), LKS_OK);
    }
    CHECK_CODE(err.code, LKS_E_NOT_FOUND);
    return lks_str_from(text);
}

static void test_spool_order(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_spool s = {0};
    open_spool(&tree, 10, 10000, &s);
    add(&s, LKS_SPOOL_TUPLE, "one");
    add(&s, LKS_SPOOL_RESULT, "two");
    lks_spool_close(&s);
    open_spool(&tree, 10, 10000, &s);
    CHECK_INT(s.count, 2);
    add(&s, LKS_SPOOL_TUPLE, "three");
    CHECK_STR(drain(&s), "t:one r:two t:three ");
    CHECK(!s.dropped);
    CHECK_INT(s.bytes, 0);
    lks_spool_close(&s);
    lks_tree_free(&tree);
}

static void test_spool_full(void)
{
    static const struct {
        const char *name;
        size_t count, bytes;
        const char *left;
    } rows[] = {
        {"too many files", 3, 100000, "r:a t:5 t:6 "},
        {"too many bytes", 100, 330, "r:a t:5 t:6 "},
        {"room for all", 100, 100000, "r:a t:1 t:2 t:3 t:4 t:5 t:6 "},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_tree tree = lks_tree_new();
        struct lks_spool s = {0};
        open_spool(&tree, rows[i].count, rows[i].bytes, &s);
        add(&s, LKS_SPOOL_RESULT, "a");
        for (int n = 1; n <= 6; n++)
            add(&s, LKS_SPOOL_TUPLE, (char[]){(char)('0' + n), '\0'});
        bool dropped = strlen(rows[i].left) < 20;
        CHECK_INT(s.dropped, dropped);
        lks_spool_close(&s);
        open_spool(&tree, rows[i].count, rows[i].bytes, &s);
        CHECK_INT(s.dropped, dropped); /* known after a crash, too */
        CHECK_STR(drain(&s), rows[i].left);
        CHECK(!s.dropped);
        lks_spool_close(&s);
        lks_tree_free(&tree);
    }
}

static void test_spool_results_stay(void)
{
    struct lks_tree tree = lks_tree_new();
    struct lks_spool s = {0};
    struct lks_err err = {0};
    open_spool(&tree, 2, 10000, &s);
    add(&s, LKS_SPOOL_RESULT, "a");
    add(&s, LKS_SPOOL_RESULT, "b");
    add(&s, LKS_SPOOL_RESULT, "c");
    CHECK_CODE(lks_spool_add(&s, LKS_SPOOL_TUPLE, LKS_STR("t"), &err), LKS_E_LIMIT);
    CHECK_STR(drain(&s), "r:a r:b r:c ");
    lks_spool_close(&s);
    lks_tree_free(&tree);
}

/* What may lie in the directory after a crash or a bad disk. */
static void test_spool_damage(void)
{
    static const struct {
        const char *name, *path, *content;
    } rows[] = {
        {"an empty file", "/spool/00000000000000000001.tuple", ""},
        {"half a header", "/spool/00000000000000000001.tuple", "lockstep-spool-1 tup"},
        {"less than was written", "/spool/00000000000000000001.tuple",
         "lockstep-spool-1 tuple 9 sha256:00\nabc"},
        {"another digest", "/spool/00000000000000000001.tuple",
         "lockstep-spool-1 tuple 3 "
         "sha256:0000000000000000000000000000000000000000000000000000000000000000\nabc"},
        {"a later format", "/spool/00000000000000000001.tuple", "lockstep-spool-2 tuple 0 x\n"},
        {"half-written", "/spool/.tmp-00000000000000000001.tuple", "lockstep-spool-1"},
        {"not ours", "/spool/README", "hello"},
        {"a name with too few digits", "/spool/1.tuple", "x"},
        {"another kind", "/spool/00000000000000000001.thing", "x"},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_tree tree = lks_tree_new();
        struct lks_spool s = {0};
        lks_tree_file(&tree, rows[i].path, rows[i].content);
        open_spool(&tree, 10, 10000, &s);
        add(&s, LKS_SPOOL_TUPLE, "good");
        CHECK_STR(drain(&s), "t:good ");
        lks_spool_close(&s);
        lks_tree_free(&tree);
    }
}

/* The ledger ---------------------------------------------------------------------------------- */

static enum lks_code note_unknown(void *ctx, const struct lks_at_most_once_entry *entry,
                                  struct lks_err *err)
{
    (void)err;
    *(uint64_t *)ctx = *(uint64_t *)ctx * 10 + entry->id;
    return LKS_OK;
}

static void test_ledger(void)
{
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_statedir_close) struct lks_statedir dir = open_dir(&tree);
    struct lks_at_most_once once = {0};
    struct lks_err err = {0};
    uint64_t unknown = 0;
    CHECK_CODE(lks_ledger_load(&dir, note_unknown, &unknown, &once, &err), LKS_OK);
    CHECK_INT(once.count, 0);
    for (uint64_t id = 3; id <= 5; id++)
        CHECK_CODE(
            lks_at_most_once_begin(
                &once, &(struct lks_envelope){.id = id, .journal = JOURNAL, .epoch = 1}, &err),
            LKS_OK);
    lks_at_most_once_end(&once, 4, LKS_OUTCOME_DONE, LKS_STR("well"));
    CHECK_CODE(lks_ledger_save(&dir, &once, &err), LKS_OK);
    lks_at_most_once_fini(&once);
    CHECK_CODE(lks_ledger_load(&dir, note_unknown, &unknown, &once, &err), LKS_OK);
    CHECK_INT(unknown, 35);
    CHECK(once.entries[0].ended && once.entries[0].outcome == LKS_OUTCOME_UNKNOWN);
    CHECK(once.entries[1].outcome == LKS_OUTCOME_DONE);
    lks_at_most_once_fini(&once);
    unknown = 0; /* told once */
    CHECK_CODE(lks_ledger_load(&dir, note_unknown, &unknown, &once, &err), LKS_OK);
    CHECK_INT(unknown, 0);
    CHECK_INT(once.count, 3);
    lks_at_most_once_fini(&once);
    CHECK_CODE(lks_statedir_write(&dir, LKS_LEDGER_FILE, LKS_STR("lockstep led"), &err), LKS_OK);
    CHECK_CODE(lks_ledger_load(&dir, NULL, NULL, &once, &err), LKS_E_INVALID);
    lks_tree_free(&tree);
}

/* Heads --------------------------------------------------------------------------------------- */

static struct lks_key test_key(uint8_t first)
{
    struct lks_key key = {0};
    struct lks_err err = {0};
    uint8_t seed[LKS_KEY_BYTES] = {first};
    CHECK_CODE(lks_key_make(seed, &key, &err), LKS_OK);
    return key;
}

static const char *head_line(const struct lks_key *key, const char *journal, uint64_t seq,
                             lks_ms time, uint8_t hash)
{
    static char line[LKS_HEAD_TEXT_MAX + 1];
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_HEAD_TEXT_MAX);
    struct lks_head head = {.seq = seq, .time = time, .hash = {hash}};
    struct lks_err err = {0};
    snprintf(head.journal, sizeof(head.journal), "%s", journal);
    CHECK_CODE(lks_chain_head_sign(key, &head, &err), LKS_OK);
    lks_row_head_text(&head, &text);
    snprintf(line, sizeof(line), "%s", text.ptr);
    return line;
}

static void open_heads(const struct lks_statedir *dir, const struct lks_key *key,
                       struct lks_heads *out)
{
    struct lks_public_key public = lks_key_public(key);
    struct lks_err err = {0};
    CHECK_CODE(lks_heads_open(dir, &public, JOURNAL, out, &err), LKS_OK);
}

static const struct {
    const char *name;
    uint8_t key;
    const char *journal;
    uint64_t seq;
    uint8_t hash;
    enum lks_code code;
    enum lks_heads_seen seen;
    uint64_t newest;
    bool contradicted;
} head_rows[] = {
    {"the first", 1, JOURNAL, 5, 1, LKS_OK, LKS_HEADS_NEW, 5, false},
    {"the same again", 1, JOURNAL, 5, 1, LKS_OK, LKS_HEADS_KNOWN, 5, false},
    {"a later one", 1, JOURNAL, 9, 2, LKS_OK, LKS_HEADS_NEW, 9, false},
    {"one seen before", 1, JOURNAL, 5, 1, LKS_OK, LKS_HEADS_KNOWN, 9, false},
    {"one not seen", 1, JOURNAL, 7, 7, LKS_OK, LKS_HEADS_KNOWN, 9, false},
    {"signed by a stranger", 2, JOURNAL, 10, 3, LKS_E_DENIED, LKS_HEADS_KNOWN, 9, false},
    {"of another journal", 1, "ffffffffffffffffffffffffffffffff", 10, 3, LKS_E_REFUSED,
     LKS_HEADS_KNOWN, 9, false},
    {"another at an old place", 1, JOURNAL, 5, 9, LKS_OK, LKS_HEADS_CONTRADICTION, 9, true},
    {"another at the end", 1, JOURNAL, 9, 9, LKS_OK, LKS_HEADS_CONTRADICTION, 9, true},
    {"later still", 1, JOURNAL, 12, 4, LKS_OK, LKS_HEADS_NEW, 12, true},
};

static void test_heads(void)
{
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_statedir_close) struct lks_statedir dir = open_dir(&tree);
    struct lks_key ours = test_key(1);
    struct lks_heads heads = {0};
    open_heads(&dir, &ours, &heads);
    for (size_t i = 0; i < LKS_COUNT(head_rows); i++) {
        lks_test_case("%s", head_rows[i].name);
        struct lks_key key = test_key(head_rows[i].key);
        enum lks_heads_seen seen = LKS_HEADS_KNOWN;
        struct lks_err err = {0};
        const char *line =
            head_line(&key, head_rows[i].journal, head_rows[i].seq, 1000, head_rows[i].hash);
        CHECK_CODE(lks_heads_see(&heads, lks_str_from(line), &seen, &err), head_rows[i].code);
        CHECK_INT(seen, head_rows[i].seen);
        CHECK_INT(heads.newest.seq, head_rows[i].newest);
        CHECK_INT(heads.contradicted, head_rows[i].contradicted);
        open_heads(&dir, &ours, &heads); /* as after a crash */
        CHECK_INT(heads.newest.seq, head_rows[i].newest);
        CHECK_INT(heads.contradicted, head_rows[i].contradicted);
    }
    lks_tree_free(&tree);
}

static void test_heads_torn(void)
{
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_statedir_close) struct lks_statedir dir = open_dir(&tree);
    struct lks_key key = test_key(1);
    struct lks_heads heads = {0};
    enum lks_heads_seen seen = LKS_HEADS_KNOWN;
    struct lks_err err = {0};
    char line[LKS_HEAD_TEXT_MAX * 2];
    snprintf(line, sizeof(line), "%s\n", head_line(&key, JOURNAL, 5, 1000, 1));
    size_t len = strlen(line);
    snprintf(line + len, sizeof(line) - len, "%.50s", head_line(&key, JOURNAL, 9, 1000, 2));
    lks_tree_file(&tree, "/" LKS_HEADS_FILE, line);
    open_heads(&dir, &key, &heads);
    CHECK_INT(heads.newest.seq, 5);
    CHECK_CODE(
        lks_heads_see(&heads, lks_str_from(head_line(&key, JOURNAL, 10, 1000, 3)), &seen, &err),
        LKS_OK);
    open_heads(&dir, &key, &heads); /* the torn line did not swallow it */
    CHECK_INT(heads.newest.seq, 10);
    CHECK_INT(heads.lines, 2);
    CHECK_CODE(lks_heads_see(&heads, LKS_STR("garbage"), &seen, &err), LKS_E_INVALID);
    lks_tree_free(&tree);
}

/* Ten heads an hour for 30 hours: one for each hour, and the newest. */
static void test_heads_cut(void)
{
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_statedir_close) struct lks_statedir dir = open_dir(&tree);
    struct lks_key key = test_key(1);
    struct lks_heads heads = {0};
    enum lks_heads_seen seen = LKS_HEADS_KNOWN;
    struct lks_err err = {0};
    open_heads(&dir, &key, &heads);
    for (uint64_t i = 0; i < 300; i++) {
        const char *line = head_line(&key, JOURNAL, i + 1, i * 360 * LKS_SECOND, 1);
        CHECK_CODE(lks_heads_see(&heads, lks_str_from(line), &seen, &err), LKS_OK);
    }
    CHECK_INT(heads.lines, 300);
    CHECK_CODE(lks_heads_cut(&heads, &err), LKS_OK);
    /* The newest 64 are of the last seven hours, of which one is not whole. */
    CHECK_INT(heads.lines, 64 + 30 - 6);
    CHECK_CODE(lks_heads_cut(&heads, &err), LKS_OK);
    open_heads(&dir, &key, &heads);
    CHECK_INT(heads.newest.seq, 300);
    lks_tree_free(&tree);
}

/* Key and certificate ------------------------------------------------------------------------- */

struct pair {
    struct lks_buf key, certificate;
};

static void pair_fini(struct pair *p)
{
    lks_buf_fini(&p->key);
    lks_buf_fini(&p->certificate);
}

/* A pair for `name`, of a CA that is gone at once. */
static struct pair make_pair(const char *name)
{
    struct pair p = {0};
    LKS_CLEANUP(pair_fini) struct pair ca = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf request = {0};
    struct lks_x509_about about = {0};
    struct lks_err err = {0};
    struct lks_buf *bufs[] = {&p.key, &p.certificate, &ca.key, &ca.certificate, &request};
    for (size_t i = 0; i < LKS_COUNT(bufs); i++)
        lks_buf_init(bufs[i], LKS_X509_PEM_MAX);
    struct lks_x509_wish wish = {
        .use = LKS_X509_CA, .name = LKS_STR("ca"), .now = 1700000000, .seconds = 1000000};
    CHECK_CODE(lks_x509_key(&ca.key, &err), LKS_OK);
    CHECK_CODE(lks_x509_make_ca(lks_buf_view(&ca.key), &wish, &ca.certificate, &err), LKS_OK);
    wish.use = LKS_X509_NODE;
    wish.name = lks_str_from(name);
    wish.seconds = 1000;
    CHECK_CODE(lks_x509_key(&p.key, &err), LKS_OK);
    CHECK_CODE(lks_x509_request(lks_buf_view(&p.key), wish.name, &request, &err), LKS_OK);
    CHECK_CODE(lks_x509_issue(lks_buf_view(&ca.certificate), lks_buf_view(&ca.key),
                              lks_buf_view(&request), &wish, &p.certificate, &about, &err),
               LKS_OK);
    return p;
}

static void plant_pair(const struct lks_statedir *dir, const struct pair *p)
{
    struct lks_err err = {0};
    CHECK_CODE(lks_statedir_write(dir, LKS_IDENTITY_KEY, lks_buf_view(&p->key), &err), LKS_OK);
    CHECK_CODE(
        lks_statedir_write(dir, LKS_IDENTITY_CERTIFICATE, lks_buf_view(&p->certificate), &err),
        LKS_OK);
}

/* Each letter is a heartbeat, taken (+) or not (-). */
static void live(const struct lks_statedir *dir, struct lks_identity *id, const char *beats)
{
    struct lks_err err = {0};
    for (; *beats != '\0'; beats++) {
        bool anew = false;
        if (*beats == '+')
            CHECK_CODE(lks_identity_worked(dir, id, &anew, &err), LKS_OK);
        else
            (void)lks_identity_failed(id);
    }
}

/* What becomes of a renewed pair. */
static void test_identity(void)
{
    static const struct {
        const char *name, *beats;
        bool on_trial, renewed, swapped; /* at the end */
    } rows[] = {
        {"not tried yet", "", true, true, false},
        {"taken at once", "+", false, false, true},
        {"the controller is away", "-------------", false, true, false},
        {"away, then taken", "--+", false, false, true},
        {"not taken where the old one is", "-+", true, true, false},
        {"not taken five times", "-+-+-+-+-+", false, false, false},
        {"taken at last", "-+-+-++", false, false, true},
    };
    LKS_CLEANUP(pair_fini) struct pair old = make_pair("gpu-1"), new = make_pair("gpu-1");
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_tree tree = lks_tree_new();
        LKS_CLEANUP(lks_statedir_close) struct lks_statedir dir = open_dir(&tree);
        struct lks_identity id = {0};
        struct lks_err err = {0};
        plant_pair(&dir, &old);
        CHECK_CODE(lks_identity_load(&dir, &id, &err), LKS_OK);
        CHECK_CODE(lks_identity_renew(&dir, &id, lks_buf_view(&new.key),
                                      lks_buf_view(&new.certificate), &err),
                   LKS_OK);
        live(&dir, &id, rows[i].beats);
        CHECK_INT(id.on_trial, rows[i].on_trial);
        CHECK_INT(id.renewed, rows[i].renewed);
        CHECK_CODE(lks_identity_load(&dir, &id, &err), LKS_OK);
        CHECK_INT(id.renewed, rows[i].renewed);
        LKS_CLEANUP(lks_buf_fini) struct lks_buf kept = {0};
        CHECK_CODE(lks_statedir_read(&dir, LKS_IDENTITY_KEY, LKS_X509_PEM_MAX, &kept, &err),
                   LKS_OK);
        CHECK_INT(lks_str_eq(lks_buf_view(&kept), lks_buf_view(&new.key)), rows[i].swapped);
        lks_tree_free(&tree);
    }
}

/* Died between the two renames: the rest is done at the next start. Two that do not fit are said
 * to; and a certificate for another name is never put on trial. */
static void test_identity_broken(void)
{
    LKS_CLEANUP(pair_fini) struct pair old = make_pair("gpu-1"), new = make_pair("gpu-1");
    LKS_CLEANUP(pair_fini) struct pair other = make_pair("gpu-2");
    struct lks_tree tree = lks_tree_new();
    LKS_CLEANUP(lks_statedir_close) struct lks_statedir dir = open_dir(&tree);
    struct lks_identity id = {0};
    struct lks_err err = {0};
    plant_pair(&dir, &old);
    CHECK_CODE(lks_identity_load(&dir, &id, &err), LKS_OK);
    CHECK_CODE(lks_identity_renew(&dir, &id, lks_buf_view(&other.key),
                                  lks_buf_view(&other.certificate), &err),
               LKS_E_INVALID);
    CHECK_CODE(
        lks_identity_renew(&dir, &id, lks_buf_view(&old.key), lks_buf_view(&new.certificate), &err),
        LKS_E_INVALID);
    CHECK_CODE(
        lks_identity_renew(&dir, &id, lks_buf_view(&new.key), lks_buf_view(&new.certificate), &err),
        LKS_OK);
    CHECK_CODE(lks_statedir_rename(&dir, "agent.new.key", LKS_IDENTITY_KEY, &err), LKS_OK);
    CHECK_CODE(lks_identity_load(&dir, &id, &err), LKS_OK);
    CHECK(!id.renewed);
    CHECK_CODE(lks_statedir_write(&dir, LKS_IDENTITY_KEY, lks_buf_view(&old.key), &err), LKS_OK);
    CHECK_CODE(lks_identity_load(&dir, &id, &err), LKS_E_INVALID);
    CHECK_HAS(lks_str_from(err.msg), "do not belong together");
    lks_tree_free(&tree);
}

/* Boots --------------------------------------------------------------------------------------- */

static void test_boot_ids(void)
{
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        {"188765cc-91dd-4e71-bc74-def4af1b19ba", true},
        {"00000000-0000-0000-0000-000000000000", true},
        {"", false},
        {"188765cc91dd4e71bc74def4af1b19ba", false},
        {"188765cc-91dd-4e71-bc74-def4af1b19b", false},
        {"188765cc-91dd-4e71-bc74-def4af1b19ba-", false},
        {"188765cc-91dd-4e71-bc7-4def4af1b19ba", false},
        {"188765cg-91dd-4e71-bc74-def4af1b19ba", false},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        uint8_t bytes[LKS_BOOT_BYTES];
        lks_test_case("%s", rows[i].text);
        CHECK_INT(lks_boot_bytes(lks_str_from(rows[i].text), bytes), rows[i].good);
    }
}

static void test_boot_root(void)
{
    struct lks_tree tree = lks_tree_new();
    char first[LKS_BOOT_ID_SIZE], second[LKS_BOOT_ID_SIZE];
    struct lks_err err = {0};
    CHECK_CODE(lks_boot_read(tree.path, first, &err), LKS_OK); /* a tree without one gets one */
    CHECK_CODE(lks_boot_read(tree.path, second, &err), LKS_OK);
    CHECK_STR(lks_str_from(first), second);
    CHECK_CODE(lks_boot_renew(tree.path, &err), LKS_OK);
    CHECK_CODE(lks_boot_read(tree.path, second, &err), LKS_OK);
    CHECK(strcmp(first, second) != 0);
    lks_tree_file(&tree, LKS_BOOT_PATH, "nonsense\n");
    CHECK_CODE(lks_boot_read(tree.path, second, &err), LKS_E_INVALID);
    lks_tree_free(&tree);
}

static void test_seq(void)
{
    static const char here[] = "188765cc-91dd-4e71-bc74-def4af1b19ba";
    static const struct {
        const char *name, *content;
        uint64_t last;
        bool damaged;
    } rows[] = {
        {"no file", NULL, 0, false},
        {"this boot", "188765cc-91dd-4e71-bc74-def4af1b19ba 1001\n", 1001, false},
        {"another boot", "288765cc-91dd-4e71-bc74-def4af1b19ba 1001\n", 0, false},
        {"nothing in it", "", LKS_SEQ_UNCERTAIN, true},
        {"no line end", "188765cc-91dd-4e71-bc74-def4af1b19ba 10", LKS_SEQ_UNCERTAIN, true},
        {"no number", "188765cc-91dd-4e71-bc74-def4af1b19ba x\n", LKS_SEQ_UNCERTAIN, true},
    };
    for (size_t i = 0; i < LKS_COUNT(rows); i++) {
        lks_test_case("%s", rows[i].name);
        struct lks_tree tree = lks_tree_new();
        LKS_CLEANUP(lks_statedir_close) struct lks_statedir dir = open_dir(&tree);
        uint64_t last = 7;
        bool damaged = false;
        struct lks_err err = {0};
        if (rows[i].content != NULL)
            lks_tree_file(&tree, "/" LKS_SEQ_FILE, rows[i].content);
        CHECK_CODE(lks_boot_seq_load(&dir, here, &last, &damaged, &err), LKS_OK);
        CHECK_INT(last, rows[i].last);
        CHECK_INT(damaged, rows[i].damaged);
        CHECK_CODE(lks_boot_seq_reserve(&dir, here, last + 5, &err), LKS_OK);
        CHECK_CODE(lks_boot_seq_load(&dir, here, &last, &damaged, &err), LKS_OK);
        CHECK_INT(last, rows[i].last + 5);
        lks_tree_free(&tree);
    }
}

int main(void)
{
    static const struct lks_test tests[] = {
        {"a state file is whole or not there", test_statedir},
        {"one program for one state", test_lock},
        {"a lock that a child still has", test_lock_of_a_child},
        {"the spool keeps order across restarts", test_spool_order},
        {"a full spool drops its oldest tuples", test_spool_full},
        {"a full spool never drops results", test_spool_results_stay},
        {"a damaged spool gives what is good", test_spool_damage},
        {"what had begun is unknown, and told once", test_ledger},
        {"heads of the journal", test_heads},
        {"a torn line of heads", test_heads_torn},
        {"heads are cut to one an hour", test_heads_cut},
        {"a renewed certificate is on trial", test_identity},
        {"pairs that do not fit", test_identity_broken},
        {"boot ids", test_boot_ids},
        {"the boot of a captured tree", test_boot_root},
        {"numbers of heartbeats", test_seq},
        {NULL, NULL},
    };
    return lks_test_main(tests);
}
