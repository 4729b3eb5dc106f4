/* Names that lockstepd knows, while a person types. lockstepd is asked at most once in some
 * seconds, for a short time, and only where commands without options ask it. */
#include "base/file.h"
#include "cli/main/complete.h"
#include "cli/shared/context.h"
#include "cli/shared/path.h"
#include "cli/shared/render.h"
#include "codec/format/digest.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* A question that got no answer is not repeated at once, but soon. */
enum { LIFE_S = 30, EMPTY_LIFE_S = 5, NAMES_MAX = 16 << 20, KEY_MAX = 8192 };

/* Sorting ----------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return lks_str_cmp(*(const struct lks_str *)a, *(const struct lks_str *)b);
}

/* The lines of `from`, sorted, each once, and none without a word. */
static void sort_lines(struct lks_str from, struct lks_buf *out)
{
    size_t count = 0, most = lks_str_count(from, '\n');
    struct lks_str *rows = calloc(most + 1, sizeof(*rows)), row;
    while (rows != NULL && from.len > 0 && count <= most) {
        lks_str_cut(from, '\n', &row, &from);
        if (row.len > 0 && row.ptr[0] != '\t')
            rows[count++] = row;
    }
    if (count > 0)
        qsort(rows, count, sizeof(*rows), by_text);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && lks_str_eq(rows[i], rows[i - 1]))
            continue;
        lks_buf_add(out, rows[i]);
        lks_buf_addc(out, '\n');
    }
    free(rows);
}

/* Cache ------------------------------------------------------------------------------------- */

/* The file of a list: names of one server, as one identity sees them. False: there is no folder for
 * it. */
static bool cache_file(const struct lks_cli *cli, const struct lks_args *args,
                       const struct lks_complete_list *list, char out[PATH_MAX])
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf key = LKS_BUF(KEY_MAX);
    struct lks_err ignored = {0};
    char digest[LKS_DIGEST_SIZE], folder[PATH_MAX];
    lks_buf_addf(&key, "%s\n%s\n%s\n%s", lks_remote_server(cli, args),
                 cli->token_file != NULL ? cli->token_file : "", list->path, list->form);
    if (lks_buf_check(&key, &ignored) != LKS_OK ||
        lks_digest_text(lks_buf_view(&key), digest, &ignored) != LKS_OK ||
        lks_path_cache(cli, "names", folder, &ignored) != LKS_OK ||
        lks_path_make(folder, &ignored) != LKS_OK)
        return false;
    return lks_path_join(out, folder, digest + strlen("sha256:"), &ignored) == LKS_OK;
}

static bool is_fresh(const struct lks_cli *cli, const char *file)
{
    struct stat st;
    if (stat(file, &st) != 0 || st.st_mtime > cli->now)
        return false;
    return cli->now - st.st_mtime < (st.st_size > 0 ? LIFE_S : EMPTY_LIFE_S);
}

/* The file counts as fresh from now on, with the names that it has: until the answer is there, and
 * after a question without one. */
static void claim(const char *file)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    (void)futimens(fd, NULL);
    (void)close(fd);
}

static void read_names(const char *file, struct lks_buf *out)
{
    struct lks_err ignored = {0};
    if (lks_file_read_plain(file, out, &ignored) != LKS_OK)
        lks_buf_truncate(out, 0);
}

static void write_names(const char *file, struct lks_str names)
{
    struct lks_err ignored = {0};
    if (lks_file_replace(file, names, &ignored) != LKS_OK)
        (void)unlink(file);
}

/* lockstepd --------------------------------------------------------------------------------- */

static void give_up(int signal)
{
    (void)signal;
    _exit(0);
}

/* End the program after `ms`, whatever it waits for; a name server can take minutes. 0: never. */
static void limit_time(unsigned ms)
{
    struct itimerval timer = {
        .it_value = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000}};
    if (ms > 0)
        (void)signal(SIGALRM, give_up);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

struct making {
    const char *form;
    struct lks_buf *out;
};

static enum lks_code add_item(void *ctx, const struct lks_doc *item, struct lks_err *err)
{
    struct making *m = ctx;
    lks_render(m->out, m->form, &(struct lks_render){.doc = item});
    lks_buf_addc(m->out, '\n');
    return lks_buf_check(m->out, err);
}

/* A list that is a member of one answer has no pages. */
static enum lks_code each_member(struct lks_remote *remote, const struct lks_complete_list *list,
                                 lks_remote_item *fn, void *ctx, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_answer_fini) struct lks_remote_answer a = {0};
    if (lks_remote_get(remote, list->path, &a, err) != LKS_OK ||
        lks_remote_object(&a, err) != LKS_OK)
        return err->code;
    const struct lks_doc *items = lks_doc_member(a.doc, list->member);
    if (items == NULL || items->kind != LKS_DOC_LIST)
        return lks_fail(err, LKS_E_INVALID, "the answer has no list '%s'", list->member);
    for (const struct lks_doc *i = items->first; i != NULL; i = i->next) {
        if (fn(ctx, i, err) != LKS_OK)
            return err->code;
    }
    return LKS_OK;
}

enum lks_code lks_complete_live_each(struct lks_remote *remote,
                                     const struct lks_complete_list *list, lks_remote_item *fn,
                                     void *ctx, struct lks_err *err)
{
    LKS_CLEANUP(lks_remote_path_fini) struct lks_remote_path path = {0};
    if (list->member != NULL)
        return each_member(remote, list, fn, ctx, err);
    lks_remote_path_init(&path, list->path);
    path.has_query = strchr(list->path, '?') != NULL;
    return lks_remote_list(remote, &path, "after", 0, fn, ctx, err);
}

static bool fetch(struct lks_cli *cli, const struct lks_args *args,
                  const struct lks_complete_list *list, struct lks_buf *out)
{
    LKS_CLEANUP(lks_remote_fini) struct lks_remote remote = {0};
    struct lks_err ignored = {0};
    enum lks_code opened = lks_args_has(args, "--server")
                               ? lks_remote_open_unknown(cli, args, &remote, &ignored)
                               : lks_remote_open(cli, args, &remote, &ignored);
    if (opened != LKS_OK)
        return false;
    struct making m = {list->form, out};
    return lks_complete_live_each(&remote, list, add_item, &m, &ignored) == LKS_OK;
}

/* A token goes where the environment or a context of the user sends it, and nowhere else before a
 * line is entered: a line with --server is completed only by a socket of this machine, which needs
 * no token. */
static bool may_ask(const char *server)
{
    return server == NULL || strncmp(server, "unix:", strlen("unix:")) == 0;
}

void lks_complete_live_names(struct lks_cli *cli, const struct lks_args *typed,
                             const struct lks_complete_list *list, struct lks_buf *out)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf lines = LKS_BUF(NAMES_MAX);
    struct lks_err ignored = {0};
    char file[PATH_MAX];
    if (!may_ask(lks_args_get(typed, "--server")) ||
        lks_context_apply(cli, typed, &ignored) != LKS_OK)
        return;
    bool cached = cache_file(cli, typed, list, file);
    if (cached && is_fresh(cli, file)) {
        read_names(file, out);
        return;
    }
    if (cached)
        claim(file);
    limit_time(cli->patience_ms);
    bool known = fetch(cli, typed, list, &lines);
    limit_time(0);
    if (known)
        sort_lines(lks_buf_view(&lines), out);
    if (known && cached)
        write_names(file, lks_buf_view(out));
    if (!known && cached)
        read_names(file, out); /* of before */
}
