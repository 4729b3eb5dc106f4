#include "server/start/init.h"

#include "base/embedded.h"
#include "base/file.h"
#include "codec/format/json.h"
#include "drivers/store/postgres.h"
#include "drivers/store/secrets.h"
#include "drivers/store/seen.h"
#include "drivers/store/sqlite.h"
#include "model/facts/facts.h"
#include "server/base/config.h"
#include "server/base/daemon.h"
#include "trust/token.h"
#include "trust/x509.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CA_DAYS = 3650,
    DAY_SECONDS = 86400,
    ADMIN_SECONDS = DAY_SECONDS, /* the first token is for setting up, not for keeps */
    NAMES_MAX = LKS_CONFIG_NAMES_MAX,
    ADDRESS_MAX = 256,
};

/* While it is made. */
struct making {
    const struct lks_init_options *options;
    char data[PATH_MAX]; /* absolute */
    bool made, begun;    /* the directory is new; something may stand in it, and it is ours */
    char host[LKS_HOST_NAME_MAX + 1];
    struct lks_str names[NAMES_MAX];
    size_t name_count;
    char seal_reference[PATH_MAX + 16];
    struct lks_seal_key seal;
    struct lks_key journal;
    lks_ms admin_until;       /* when the first token expires */
    struct lks_config joined; /* of the controller that is joined */
    struct lks_err *err;
};

/* The directory ------------------------------------------------------------------------------- */

static enum lks_code check_empty(const char *path, struct lks_err *err)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return lks_fail(err, LKS_E_IO, "%s: %s", path, strerror(errno));
    bool empty = true;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        empty &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(dir);
    if (!empty)
        return lks_fail(err, LKS_E_REFUSED, "%s is not empty; choose a new directory", path);
    return LKS_OK;
}

static enum lks_code make_directory(struct making *m)
{
    const char *path = m->options->data;
    char secrets[PATH_MAX + 16];
    m->made = mkdir(path, 0700) == 0;
    if (!m->made && errno != EEXIST)
        return lks_file_fail(m->err, path);
    if (realpath(path, m->data) == NULL)
        return lks_file_fail(m->err, path);
    if (check_empty(m->data, m->err) != LKS_OK)
        return m->err->code;
    m->begun = true;
    snprintf(secrets, sizeof(secrets), "%s/secrets", m->data);
    if (chmod(m->data, 0700) != 0 || mkdir(secrets, 0700) != 0)
        return lks_fail(m->err, LKS_E_IO, "%s: %s", secrets, strerror(errno));
    return LKS_OK;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    return at->level > 0 ? remove(path) : 0;
}

/* What was half made is of no use to anybody, and in the way of the next try. */
static void take_back(const struct making *m)
{
    if (m->begun)
        (void)nftw(m->data, remove_entry, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    if (m->made)
        (void)rmdir(m->options->data);
}

static enum lks_code write_file(struct making *m, const char *name, mode_t mode,
                                struct lks_str bytes)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/%s", m->data, name);
    if (lks_file_replace(path, bytes, m->err) != LKS_OK)
        return m->err->code;
    return chmod(path, mode) == 0 ? LKS_OK : lks_file_fail(m->err, path);
}

static void choose_names(struct making *m)
{
    for (size_t i = 0; i < m->options->name_count && m->name_count < NAMES_MAX; i++)
        m->names[m->name_count++] = m->options->names[i];
    if (m->name_count > 0)
        return;
    if (gethostname(m->host, sizeof(m->host) - 1) == 0 && m->host[0] != '\0')
        m->names[m->name_count++] = lks_str_from(m->host);
    if (!lks_str_is(m->names[0], "localhost"))
        m->names[m->name_count++] = LKS_STR("localhost");
}

/* One more controller ------------------------------------------------------------------------- */

static enum lks_code copy_file(struct making *m, const char *name, mode_t mode)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf bytes = {0};
    char path[PATH_MAX];
    int len = snprintf(path, sizeof(path), "%s/%s", m->options->join, name);
    if (len < 0 || (size_t)len >= sizeof(path))
        return lks_fail(m->err, LKS_E_INVALID, "--join: too long for a path");
    lks_buf_init(&bytes, 2 * LKS_SECRET_MAX);
    if (lks_file_read_plain(path, &bytes, m->err) != LKS_OK)
        return lks_wrap(m->err, "--join");
    return write_file(m, name, mode, lks_buf_view(&bytes));
}

/* What all controllers of a site have in common. Sealed keys stay sealed. */
static enum lks_code copy_keys(struct making *m)
{
    static const struct {
        const char *name;
        mode_t mode;
    } files[] = {
        {"ca.crt", 0644},
        {"journal.pub", 0644},
        {"command.pub", 0644},
        {"secrets/ca.key.sealed", 0600},
        {"secrets/journal.key.sealed", 0600},
        {"secrets/command.key.sealed", 0600},
    };
    if (m->options->seal_key == NULL && copy_file(m, "seal.key", 0600) != LKS_OK)
        return m->err->code;
    for (size_t i = 0; i < LKS_COUNT(files); i++)
        if (copy_file(m, files[i].name, files[i].mode) != LKS_OK)
            return m->err->code;
    return LKS_OK;
}

/* What was seen of the database, so that the new controller notices should it lose that. A copy
 * that was made before the first start has none. */
static enum lks_code copy_seen(struct making *m)
{
    enum lks_code code = copy_file(m, "seen-head", 0600);
    return code == LKS_E_NOT_FOUND ? LKS_OK : code;
}

/* The database and the agents' addresses are those of the controller that is joined. */
static enum lks_code read_joined(struct making *m)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/lockstepd.yaml", m->options->join);
    if (lks_config_load(path, &m->joined, m->err) != LKS_OK)
        return lks_wrap(m->err, "--join");
    if (m->joined.postgres.len == 0 && m->options->postgres == NULL)
        return lks_fail(m->err, LKS_E_REFUSED,
                        "--join: %s has its journal in SQLite, which one controller alone can use; "
                        "only those with store.postgres can be joined",
                        m->options->join);
    return LKS_OK;
}

/* Keys ---------------------------------------------------------------------------------------- */

static enum lks_code choose_seal_key(struct making *m)
{
    char path[PATH_MAX];
    if (m->options->seal_key == NULL)
        snprintf(m->seal_reference, sizeof(m->seal_reference), "file:%s/seal.key", m->data);
    else if (realpath(m->options->seal_key, path) != NULL)
        snprintf(m->seal_reference, sizeof(m->seal_reference), "file:%s", path);
    else
        return lks_file_fail(m->err, m->options->seal_key);
    return LKS_OK;
}

static enum lks_code make_seal_key(struct making *m)
{
    if (m->options->seal_key != NULL || m->options->join != NULL)
        return lks_secrets_key(m->data, m->seal_reference, &m->seal, m->err);
    if (lks_secrets_chance(m->seal.bytes, sizeof(m->seal.bytes), m->err) != LKS_OK)
        return m->err->code;
    char text[LKS_SEAL_KEY_BYTES * 2 + 2] = "";
    for (size_t i = 0; i < LKS_SEAL_KEY_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", m->seal.bytes[i]);
    text[sizeof(text) - 2] = '\n';
    enum lks_code code = write_file(m, "seal.key", 0600, (struct lks_str){text, sizeof(text) - 1});
    explicit_bzero(text, sizeof(text));
    return code;
}

/* A signing key, sealed as NAME.key, and its public half as NAME.pub. */
static enum lks_code make_key(struct making *m, const char *name, struct lks_key *out)
{
    uint8_t seed[LKS_KEY_BYTES];
    char file[32], text[LKS_KEY_TEXT_SIZE + 1];
    if (lks_secrets_chance(seed, sizeof(seed), m->err) != LKS_OK ||
        lks_key_make(seed, out, m->err) != LKS_OK)
        return m->err->code;
    snprintf(file, sizeof(file), "%s.key", name);
    enum lks_code code = lks_secrets_write(
        m->data, &m->seal, file, (struct lks_str){(const char *)seed, sizeof(seed)}, m->err);
    explicit_bzero(seed, sizeof(seed));
    if (code != LKS_OK)
        return code;
    struct lks_public_key public = lks_key_public(out);
    lks_key_public_text(&public, text);
    size_t len = strlen(text);
    text[len] = '\n';
    snprintf(file, sizeof(file), "%s.pub", name);
    return write_file(m, file, 0644, (struct lks_str){text, len + 1});
}

static enum lks_code make_ca(struct making *m, struct lks_buf *key, struct lks_buf *pem)
{
    struct lks_x509_wish wish = {
        .use = LKS_X509_CA,
        .name = LKS_STR("lockstep CA"),
        .now = (int64_t)(lks_daemon_now().wall / LKS_SECOND),
        .seconds = (int64_t)CA_DAYS * DAY_SECONDS,
    };
    if (lks_x509_key(key, m->err) != LKS_OK ||
        lks_x509_make_ca(lks_buf_view(key), &wish, pem, m->err) != LKS_OK ||
        lks_secrets_write(m->data, &m->seal, "ca.key", lks_buf_view(key), m->err) != LKS_OK)
        return m->err->code;
    return write_file(m, "ca.crt", 0644, lks_buf_view(pem));
}

static enum lks_code make_server(struct making *m, struct lks_str ca, struct lks_str ca_key)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf key = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf pem = LKS_BUF(LKS_X509_PEM_MAX);
    const struct lks_config_list names = {m->names, m->name_count};
    int64_t now = (int64_t)(lks_daemon_now().wall / LKS_SECOND);
    lks_buf_init(&key, LKS_X509_PEM_MAX);
    if (lks_x509_key(&key, m->err) != LKS_OK ||
        lks_secrets_certify(ca, ca_key, lks_buf_view(&key), &names, now, &pem, m->err) != LKS_OK ||
        lks_secrets_write(m->data, &m->seal, "server.key", lks_buf_view(&key), m->err) != LKS_OK)
        return m->err->code;
    return write_file(m, "server.crt", 0644, lks_buf_view(&pem));
}

static enum lks_code join_certificates(struct making *m)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf key = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf ca = {0};
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/ca.crt", m->data);
    lks_buf_init(&key, LKS_SECRET_MAX);
    lks_buf_init(&ca, LKS_X509_PEM_MAX);
    if (lks_secrets_read(m->data, &m->seal, "ca.key", &key, m->err) != LKS_OK ||
        lks_file_read_plain(path, &ca, m->err) != LKS_OK)
        return m->err->code;
    return make_server(m, lks_buf_view(&ca), lks_buf_view(&key));
}

static enum lks_code make_certificates(struct making *m)
{
    LKS_CLEANUP(lks_secrets_wipe) struct lks_buf key = {0};
    LKS_CLEANUP(lks_buf_fini) struct lks_buf ca = LKS_BUF(LKS_X509_PEM_MAX);
    lks_buf_init(&key, LKS_X509_PEM_MAX);
    if (make_ca(m, &key, &ca) != LKS_OK)
        return m->err->code;
    return make_server(m, lks_buf_view(&ca), lks_buf_view(&key));
}

/* The configuration --------------------------------------------------------------------------- */

/* JSON's strings are YAML's, and a path may have any character in it. */
static void put_text(struct lks_buf *out, const char *key, const char *text)
{
    if (text == NULL)
        return;
    lks_buf_addf(out, "%s: ", key);
    lks_json_string(out, lks_str_from(text));
    lks_buf_addc(out, '\n');
}

static const char *postgres_of(const struct making *m)
{
    const struct lks_config *joined = &m->joined;
    return m->options->postgres == NULL && joined->postgres.len > 0 ? joined->postgres.ptr
                                                                    : m->options->postgres;
}

static enum lks_code make_config(struct making *m)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(LKS_CONFIG_BYTES_MAX);
    LKS_CLEANUP(lks_config_fini) struct lks_config config = {0};
    const struct lks_init_options *o = m->options;
    lks_buf_addf(&text,
                 "# Written by lockstepd init. `lockstepd --dump-config` shows every key.\n");
    put_text(&text, "data", m->data);
    put_text(&text, "seal_key", m->seal_reference);
    lks_buf_addf(&text, "names: [");
    for (size_t i = 0; i < m->name_count; i++) {
        lks_buf_addf(&text, "%s", i > 0 ? ", " : "");
        lks_json_string(&text, m->names[i]);
    }
    lks_buf_add(&text, LKS_STR("]\n"));
    put_text(&text, "people:\n  listen", o->people);
    put_text(&text, "agents:\n  listen", o->agents);
    put_text(&text, "socket", o->socket);
    const char *agents =
        m->joined.controller_agents.len > 0 ? m->joined.controller_agents.ptr : NULL;
    put_text(&text, "store:\n  postgres", postgres_of(m));
    put_text(&text, "controller:\n  agents", agents);
    /* It has to be one that the daemon will take. */
    if (lks_buf_check(&text, m->err) != LKS_OK ||
        lks_config_parse("lockstepd.yaml", lks_buf_view(&text), &config, m->err) != LKS_OK)
        return m->err->code;
    return write_file(m, "lockstepd.yaml", 0600, lks_buf_view(&text));
}

/* The journal --------------------------------------------------------------------------------- */

static enum lks_code turn(struct lks_engine *engine, const struct lks_event *event,
                          struct lks_err *err)
{
    LKS_CLEANUP(lks_decision_fini) struct lks_decision d = {0};
    uint64_t needs;
    lks_decision_init(&d);
    if (lks_engine_turn(engine, lks_daemon_now(), event, NULL, &d, &needs, err) != LKS_OK)
        return err->code;
    if (d.refused.code != LKS_OK)
        *err = d.refused;
    return d.refused.code;
}

static enum lks_code record_admin(struct lks_engine *engine, const char *hash, lks_ms expires,
                                  struct lks_err *err)
{
    struct lks_event token = {
        .kind = LKS_EVENT_API_TOKEN,
        .by = LKS_STR("unix:0"),
        .root = true,
        .api_token = {.id = LKS_STR("admin"),
                      .identity = LKS_STR("admin"),
                      .hash = lks_str_from(hash),
                      .expires = expires,
                      .life = (lks_ms)ADMIN_SECONDS * LKS_SECOND},
    };
    struct lks_event grant = {
        .kind = LKS_EVENT_GRANT,
        .by = LKS_STR("unix:0"),
        .root = true,
        .grant = {.identity = LKS_STR("admin"), .role = LKS_ROLE_ADMIN},
    };
    if (turn(engine, &grant, err) != LKS_OK)
        return lks_wrap(err, "the admin's role");
    if (turn(engine, &token, err) != LKS_OK)
        return lks_wrap(err, "the admin's token");
    return LKS_OK;
}

static enum lks_code commit_all(struct lks_engine *engine, const struct lks_engine_options *options,
                                struct lks_store *store, struct lks_err *err)
{
    struct lks_engine_batch batch;
    while (lks_engine_take(engine, lks_daemon_now(), &batch)) {
        enum lks_code code = lks_engine_commit(options, store, &batch, err);
        if (code == LKS_OK)
            lks_engine_durable(engine, &batch);
        lks_engine_batch_fini(&batch);
        if (code != LKS_OK)
            return code;
    }
    return LKS_OK;
}

static enum lks_code fill_journal(struct making *m, struct lks_store *store,
                                  const struct lks_facts *facts, const char *hash)
{
    struct lks_engine_options options = {
        .facts = facts,
        .key = &m->journal,
        .version = LKS_VERSION,
    };
    uint8_t id[(LKS_JOURNAL_ID_SIZE - 1) / 2];
    struct lks_engine *engine = NULL;
    if (lks_secrets_chance(id, sizeof(id), m->err) != LKS_OK ||
        lks_secrets_chance(&options.seed, sizeof(options.seed), m->err) != LKS_OK)
        return m->err->code;
    for (size_t i = 0; i < sizeof(id); i++)
        snprintf(options.journal + 2 * i, 3, "%02x", id[i]);
    if (lks_engine_open(store, &options, lks_daemon_now(), &engine, m->err) != LKS_OK)
        return m->err->code;
    m->admin_until = lks_daemon_now().wall + (lks_ms)ADMIN_SECONDS * LKS_SECOND;
    enum lks_code code = record_admin(engine, hash, m->admin_until, m->err);
    if (code == LKS_OK)
        code = commit_all(engine, &options, store, m->err);
    lks_engine_free(engine);
    return code;
}

/* A copy from before is told from this journal, from its first row on. */
static enum lks_code note_seen(struct making *m, struct lks_store *store)
{
    struct lks_store_tail tail = {0};
    if (store->ops->tail(store->self, &tail, m->err) != LKS_OK)
        return m->err->code;
    struct lks_seen seen = {.seq = tail.seq, .time = tail.time};
    memcpy(seen.hash, tail.hash, sizeof(seen.hash));
    return lks_seen_write(m->data, &m->seal, &seen, m->err);
}

static enum lks_code create_store(const struct making *m, const char *path, struct lks_store *out)
{
    if (m->options->postgres == NULL)
        return lks_store_sqlite_open(path, LKS_STORE_CREATE, out, m->err);
    if (lks_store_postgres_open(m->options->postgres, LKS_STORE_CREATE, out, m->err) != LKS_OK)
        return lks_wrap(m->err, "--postgres");
    return LKS_OK;
}

static enum lks_code make_journal(struct making *m)
{
    LKS_CLEANUP(lks_store_close) struct lks_store store = {0};
    LKS_CLEANUP(lks_facts_fini) struct lks_facts facts = {0};
    uint8_t chance[LKS_TOKEN_CHANCE];
    char path[PATH_MAX + 16], text[LKS_TOKEN_TEXT_MAX + 1], hash[LKS_DIGEST_SIZE];
    snprintf(path, sizeof(path), "%s/journal.db", m->data);
    if (lks_secrets_chance(chance, sizeof(chance), m->err) != LKS_OK ||
        lks_token_make(LKS_TOKEN_API, LKS_STR("admin"), chance, text, hash, m->err) != LKS_OK ||
        lks_facts_load(lks_embedded_data, NULL, 0, &facts, m->err) != LKS_OK ||
        create_store(m, path, &store) != LKS_OK ||
        fill_journal(m, &store, &facts, hash) != LKS_OK || note_seen(m, &store) != LKS_OK)
        return m->err->code;
    size_t len = strlen(text);
    text[len] = '\n';
    return write_file(m, "admin.token", 0600, (struct lks_str){text, len + 1});
}

static void print_next(const struct making *m, FILE *out)
{
    const struct lks_init_options *options = m->options;
    char until[LKS_TIME_TEXT_SIZE];
    fprintf(out,
            "%s is ready. Next:\n\n"
            "  lockstepd run --config %s/lockstepd.yaml\n",
            m->data, m->data);
    if (options->join != NULL)
        return;
    fprintf(out,
            "  export LOCKSTEP_SERVER=unix:%s%s\n"
            "  lockstep fleet apply FLEET.yaml\n\n"
            "From elsewhere: --ca %s/ca.crt --token-file %s/admin.token (keep it secret).\n"
            "This token expires at %s; at the socket 'lockstep access token TOKEN-ID IDENTITY' "
            "makes others.\n",
            options->socket != NULL ? "" : m->data,
            options->socket != NULL ? options->socket : "/lockstepd.sock", m->data, m->data,
            lks_time_text(m->admin_until, until));
    if (options->seal_key == NULL)
        fprintf(out, "Keep %s/seal.key elsewhere too: backups open with nothing else.\n", m->data);
}

/* A site of its own: new keys, and a journal that begins. */
static enum lks_code make_site(struct making *m)
{
    struct lks_key command = {0};
    enum lks_code code = make_seal_key(m);
    if (code == LKS_OK)
        code = make_key(m, "journal", &m->journal);
    if (code == LKS_OK)
        code = make_key(m, "command", &command);
    if (code == LKS_OK)
        code = make_certificates(m);
    if (code == LKS_OK)
        code = make_journal(m);
    lks_key_wipe(&command);
    return code;
}

static enum lks_code join_site(struct making *m)
{
    enum lks_code code = copy_keys(m);
    if (code == LKS_OK)
        code = make_seal_key(m);
    if (code == LKS_OK)
        code = copy_seen(m);
    return code == LKS_OK ? join_certificates(m) : code;
}

enum lks_code lks_init_run(const struct lks_init_options *options, FILE *out, struct lks_err *err)
{
    struct making m = {.options = options, .err = err};
    umask(077);
    choose_names(&m);
    enum lks_code code = options->join != NULL ? read_joined(&m) : LKS_OK;
    if (code == LKS_OK)
        code = make_directory(&m);
    if (code == LKS_OK)
        code = choose_seal_key(&m);
    if (code == LKS_OK)
        code = make_config(&m); /* first, so that a mistake in an address makes no keys */
    if (code == LKS_OK)
        code = options->join != NULL ? join_site(&m) : make_site(&m);
    lks_key_wipe(&m.journal);
    explicit_bzero(&m.seal, sizeof(m.seal));
    lks_config_fini(&m.joined);
    if (code == LKS_OK)
        print_next(&m, out);
    else
        take_back(&m);
    return code;
}
