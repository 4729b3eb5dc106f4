#include "agent/loop/fetch.h"

#include "agent/loop/agent.h"
#include "drivers/depot/depot_files.h"
#include "drivers/http/artifact.h"
#include "probe/root/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PIECE_MAX   ((uint64_t)4 << 20) /* asked for at once */
#define TEXT_MAX    256
#define FETCHER     "/proc/self/exe"
#define PATH_ROOM   (LKS_STATEDIR_PATH_MAX + LKS_STATEDIR_NAME_MAX)
#define SERVERS_MAX ((size_t)2 * LKS_ANSWER_URL_MAX + 2)

enum {
    EXCHANGE_MS = 120 * 1000,    /* of one piece, from the controller, */
    MIRROR_MS = 30 * 1000,       /* and from others, who can be done without */
    AGAIN_MS = 1000,             /* rests between tries, */
    AGAIN_MAX_MS = 60 * 1000,    /* each twice as long */
    FETCH_MAX_MS = 24 * 3600000, /* a command is not waited with for longer */
    SAID_MAX = 4096,
    DAY_S = 86400,
};

/* The program ---------------------------------------------------------------------------------- */

struct fetching {
    const struct lks_fetch_options *options;
    FILE *out;
    struct lks_depot depot;
    struct lks_str servers[LKS_FETCH_SERVERS];
    bool lied[LKS_FETCH_SERVERS]; /* told already */
    size_t server_count;
    struct lks_client *client; /* of the server at hand */
    char url[LKS_ANSWER_URL_MAX];
};

static bool is_wanted(const struct fetching *f, const char *digest)
{
    struct lks_str rest = lks_str_from(f->options->digests), word;
    while (lks_str_word(&rest, &word)) {
        if (lks_str_is(word, digest))
            return true;
    }
    return false;
}

static bool has(const struct lks_depot *d, const char *digest)
{
    struct lks_err ignored = {0};
    uint64_t size = 0;
    int fd = -1;
    if (lks_depot_find(d, digest, &fd, &size, &ignored) != LKS_OK)
        return false;
    (void)close(fd);
    return true;
}

/* Room ----------------------------------------------------------------------------------------- */

struct stock {
    const struct fetching *f;
    uint64_t sum;
    char oldest[LKS_DIGEST_SIZE]; /* of those that are not wanted now; empty: none */
    lks_ms used;
};

static bool count(void *ctx, const char *digest, uint64_t size, lks_ms used)
{
    struct stock *s = ctx;
    s->sum += size;
    if (is_wanted(s->f, digest) || (s->oldest[0] != '\0' && used >= s->used))
        return true;
    snprintf(s->oldest, sizeof(s->oldest), "%s", digest);
    s->used = used;
    return true;
}

/* What was used longest ago goes first; nothing does for what does not fit at all. */
static enum lks_code make_room(const struct fetching *f, uint64_t size, struct lks_err *err)
{
    for (;;) {
        struct stock s = {.f = f};
        bool fits = size <= f->options->bytes;
        if (lks_depot_list(&f->depot, count, &s, err) != LKS_OK)
            return err->code;
        if (fits && s.sum <= f->options->bytes - size)
            return LKS_OK;
        if (!fits || s.oldest[0] == '\0')
            return lks_fail(err, LKS_E_REFUSED,
                            "%llu bytes more do not fit into the %llu of --depot-bytes",
                            (unsigned long long)size, (unsigned long long)f->options->bytes);
        if (lks_depot_remove(&f->depot, s.oldest, err) != LKS_OK)
            return err->code;
    }
}

static bool keeps(void *ctx, const char *digest)
{
    const struct fetching *f = ctx;
    return is_wanted(f, digest) || has(&f->depot, digest);
}

/* Parts of commands that were given up. */
static void sweep(struct fetching *f)
{
    struct lks_depot_swept swept = {0};
    struct lks_err ignored = {0};
    time_t before = time(NULL) - DAY_S;
    (void)!lks_depot_sweep(&f->depot, keeps, f, before > 0 ? (lks_ms)before * LKS_SECOND : 0,
                           &swept, &ignored);
}

/* One artifact --------------------------------------------------------------------------------- */

static enum lks_code connect_to(struct fetching *f, size_t server, struct lks_err *err)
{
    char ca[PATH_ROOM], key[PATH_ROOM], certificate[PATH_ROOM];
    struct lks_statedir at = {0};
    snprintf(at.path, sizeof(at.path), "%s", f->options->state);
    lks_client_free(f->client);
    f->client = NULL;
    snprintf(f->url, sizeof(f->url), "%" LKS_STR_FMT, LKS_STR_ARG(f->servers[server]));
    const struct lks_client_options options = {
        .server = f->url,
        .ca = lks_statedir_path(&at, LKS_IDENTITY_CA, ca),
        .key = lks_statedir_path(&at, f->options->key, key),
        .certificate = lks_statedir_path(&at, f->options->certificate, certificate),
        .timeout_ms = server + 1 < f->server_count ? MIRROR_MS : EXCHANGE_MS,
        .body_max = PIECE_MAX,
    };
    return lks_client_new(&options, &f->client, err);
}

/* One piece more of it; `done` when it is whole. */
static enum lks_code get_piece(struct fetching *f, const char *digest, bool *done,
                               struct lks_err *err)
{
    LKS_CLEANUP(lks_http_answer_fini) struct lks_http_answer answer = {0};
    LKS_CLEANUP(lks_depot_part_fini) struct lks_depot_part part = {0};
    uint64_t from = lks_depot_have(&f->depot, digest), size = 0;
    struct lks_byterange range;
    bool looked = false;
    if (lks_artifact_range(f->client, f->url, digest, from, PIECE_MAX, &answer, &range, &size,
                           err) != LKS_OK ||
        make_room(f, size, err) != LKS_OK ||
        lks_depot_part_open(&f->depot, digest, range.from, size - range.from, 0, &part, err) !=
            LKS_OK ||
        lks_depot_part_add(&part, lks_buf_view(&answer.body), err) != LKS_OK ||
        lks_depot_part_keep(&f->depot, &part, err) != LKS_OK)
        return err->code;
    *done = part.size == size;
    while (*done && !looked) {
        if (lks_depot_part_look(&part, &looked, err) != LKS_OK)
            return err->code;
    }
    return *done ? lks_depot_part_finish(&f->depot, &part, err) : LKS_OK;
}

/* From one server. What an earlier one, or an earlier process, left of it may be wrong: where all
 * of it is, the whole is asked for once more before this one is blamed. */
static enum lks_code get_from(struct fetching *f, size_t server, const char *digest,
                              struct lks_err *err)
{
    bool inherited = lks_depot_have(&f->depot, digest) > 0, done = false;
    if (connect_to(f, server, err) != LKS_OK)
        return err->code;
    for (;;) {
        enum lks_code code = get_piece(f, digest, &done, err);
        if (code == LKS_OK && done)
            return LKS_OK;
        if (code == LKS_OK)
            continue;
        bool wrong = code == LKS_E_INVALID || code == LKS_E_NOT_FOUND;
        if (wrong && inherited) {
            inherited = false;
            lks_depot_forget(&f->depot, digest);
            continue;
        }
        if (code == LKS_E_INVALID && !f->lied[server]) {
            f->lied[server] = true;
            fprintf(f->out, "lied %s\n", f->url);
            (void)fflush(f->out);
        }
        if (code == LKS_E_INVALID)
            lks_depot_forget(&f->depot, digest);
        return code;
    }
}

/* The controller, who is the last, decides whether another try may help, and how large it is:
 * mirrors come and go, and may say what they like. */
static enum lks_code get(struct fetching *f, const char *digest, struct lks_err *err)
{
    int rest = AGAIN_MS;
    struct lks_err ignored = {0};
    /* What was fetched before may have been put into its place by another process, or be damaged.
     */
    if (has(&f->depot, digest) && lks_depot_check(&f->depot, digest, &ignored) == LKS_OK) {
        lks_depot_touch(&f->depot, digest);
        return LKS_OK;
    }
    for (;;) {
        enum lks_code code = LKS_E_UNAVAILABLE;
        for (size_t i = 0; i < f->server_count; i++) {
            code = get_from(f, i, digest, err);
            bool last = i + 1 == f->server_count;
            if (code == LKS_OK || code == LKS_E_IO || (code == LKS_E_REFUSED && last))
                return code;
        }
        if (!lks_err_code_info(code)->transient)
            return code;
        (void)poll(NULL, 0, rest);
        rest = rest < AGAIN_MAX_MS / 2 ? rest * 2 : AGAIN_MAX_MS;
    }
}

static void fetching_fini(struct fetching *f)
{
    lks_client_free(f->client);
    lks_depot_close(&f->depot);
}

static enum lks_code get_all(struct fetching *f, struct lks_err *err)
{
    struct lks_str rest = lks_str_from(f->options->digests), word;
    char path[PATH_ROOM];
    snprintf(path, sizeof(path), "%s/" LKS_FETCH_FOLDER, f->options->state);
    if (lks_depot_open(path, &f->depot, err) != LKS_OK)
        return err->code;
    sweep(f);
    while (lks_str_word(&rest, &word)) {
        char digest[LKS_DIGEST_SIZE];
        if (!lks_digest_valid(word))
            return lks_fail(err, LKS_E_USAGE, "--fetch: not a list of digests");
        snprintf(digest, sizeof(digest), "%" LKS_STR_FMT, LKS_STR_ARG(word));
        if (get(f, digest, err) != LKS_OK)
            return lks_wrap(err, "%.20s...", digest);
    }
    return LKS_OK;
}

enum lks_code lks_fetch_run(const struct lks_fetch_options *options, FILE *out, struct lks_err *err)
{
    LKS_CLEANUP(fetching_fini) struct fetching f = {.options = options, .out = out};
    struct lks_str rest = lks_str_from(options->servers), word;
    while (f.server_count < LKS_COUNT(f.servers) && lks_str_word(&rest, &word)) {
        if (word.len < sizeof(f.url))
            f.servers[f.server_count++] = word;
    }
    if (f.server_count == 0)
        return lks_fail(err, LKS_E_USAGE, "--fetch needs --servers");
    if (get_all(&f, err) == LKS_OK)
        return LKS_OK;
    fprintf(out, "failed %s\n", err->msg);
    return err->code;
}

/* The agent ------------------------------------------------------------------------------------ */

bool lks_agent_fetch_complete(const struct lks_agent *a, const struct lks_envelope *e)
{
    LKS_CLEANUP(lks_depot_close) struct lks_depot depot = {0};
    char path[PATH_ROOM];
    struct lks_err ignored = {0};
    if (e->digest_count == 0)
        return true;
    if (a->fetched != e->id)
        return false;
    if (lks_depot_open(lks_statedir_path(&a->dir, LKS_FETCH_FOLDER, path), &depot, &ignored) !=
        LKS_OK)
        return false;
    for (size_t i = 0; i < e->digest_count; i++) {
        if (!has(&depot, e->digests[i]))
            return false;
    }
    return true;
}

static int patience(const struct lks_envelope *e)
{
    lks_ms wall = (lks_ms)lks_agent_wall();
    lks_ms left = e->expires > wall ? e->expires - wall : 0;
    return left < FETCH_MAX_MS ? (int)left : FETCH_MAX_MS;
}

static enum lks_code start(struct lks_agent *a, const struct lks_envelope *e, struct lks_err *err)
{
    char digests[LKS_ENVELOPE_DIGESTS_MAX * LKS_DIGEST_SIZE], servers[SERVERS_MAX], bytes[24];
    char state[PATH_MAX]; /* the program begins in another folder */
    size_t used = 0;
    if (realpath(a->dir.path, state) == NULL)
        return lks_fail(err, LKS_E_IO, "%s: %s", a->dir.path, strerror(errno));
    for (size_t i = 0; i < e->digest_count; i++)
        used += (size_t)snprintf(digests + used, sizeof(digests) - used, "%s%s", i > 0 ? " " : "",
                                 e->digests[i]);
    snprintf(servers, sizeof(servers), "%s %s", a->mirrors, a->controller.agents);
    snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)a->options->depot_bytes);
    const char *words[] = {FETCHER,
                           "--fetch",
                           digests,
                           "--servers",
                           servers,
                           "--state",
                           state,
                           "--depot-bytes",
                           bytes,
                           "--certificate",
                           lks_identity_certificate_file(&a->identity),
                           "--key",
                           lks_identity_key_file(&a->identity),
                           NULL};
    char *argv[LKS_COUNT(words)];
    memcpy(argv, words, sizeof(argv)); /* execve() promises not to change them */
    const struct lks_subtask_program program = {
        .path = FETCHER, .argv = argv, .cut = true, .max = SAID_MAX, .ms = patience(e)};
    return lks_subtask_start(&a->fetch.errand, &program, err);
}

void lks_agent_fetch(struct lks_agent *a, const struct lks_envelope *e, struct lks_str envelope)
{
    struct lks_err err = {0};
    if (a->fetch.errand.active)
        return;
    lks_buf_init(&a->fetch.envelope, LKS_DSSE_MAX);
    lks_buf_add(&a->fetch.envelope, envelope);
    a->fetch.id = e->id;
    enum lks_code code = lks_buf_check(&a->fetch.envelope, &err);
    if (code == LKS_OK)
        code = start(a, e, &err);
    if (code == LKS_OK) {
        lks_agent_note(a, LKS_LEVEL_INFO, "a command waits for its artifacts", "executor",
                       e->executor);
        return;
    }
    lks_fetch_fini(&a->fetch);
    lks_agent_command_refuse(a, e->id, err.msg);
}

/* What the program printed: servers that lied go to the log, and why it failed to `why`. */
static void hear(struct lks_agent *a, struct lks_str said, char why[TEXT_MAX])
{
    while (said.len > 0) {
        struct lks_str line, word, rest;
        char text[TEXT_MAX];
        lks_str_cut(said, '\n', &line, &said);
        lks_str_cut(line, ' ', &word, &rest);
        snprintf(text, sizeof(text), "%" LKS_STR_FMT, LKS_STR_ARG(rest));
        if (lks_str_is(word, "lied"))
            lks_agent_note(a, LKS_LEVEL_WARNING,
                           "a server sent another artifact than it was asked for", "server", text);
        if (lks_str_is(word, "failed"))
            memcpy(why, text, TEXT_MAX);
    }
}

void lks_agent_fetch_over(struct lks_agent *a)
{
    LKS_CLEANUP(lks_fetch_fini) struct lks_fetch f = LKS_MOVE(a->fetch);
    struct lks_err err = {0};
    struct lks_str said = {0};
    char why[TEXT_MAX] = "", text[TEXT_MAX + LKS_ERR_MSG_MAX];
    enum lks_code code = lks_subtask_end(&f.errand, &said, &err);
    hear(a, said, why);
    if (code == LKS_OK) {
        a->fetched = f.id;
        lks_agent_command(a, lks_buf_view(&f.envelope));
        return;
    }
    snprintf(text, sizeof(text), "its artifacts could not be fetched: %s",
             why[0] != '\0' ? why : err.msg);
    lks_agent_command_refuse(a, f.id, text);
    a->link.mail = true; /* there may be another command */
}

void lks_fetch_fini(struct lks_fetch *f)
{
    lks_subtask_fini(&f->errand);
    lks_buf_fini(&f->envelope);
    *f = (struct lks_fetch){0};
}
