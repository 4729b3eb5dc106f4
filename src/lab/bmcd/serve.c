#include "lab/bmcd/serve.h"

#include "base/file.h"
#include "lab/bmcd/box.h"
#include "lab/bmcd/control.h"
#include "lab/bmcd/recorded.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define FILE_MAX  ((size_t)4 << 10)  /* of a password */
#define FLEET_MAX ((size_t)64 << 20) /* a manifest of all */

enum {
    FILES_EACH = 2,      /* a BMC's socket and what watches it */
    FILES_SPARE = 256,   /* connections, and our own */
    PASSWORD_BYTES = 12, /* of chance, in twice as many digits */
    PASSWORD_MAX = 255,
    DIR_MODE = 0700,
};

struct serve {
    const struct lks_serve_options *o;
    uv_loop_t loop;
    struct lks_box_site site;
    struct lks_box **boxes;
    size_t count; /* of them that listen */
    struct lks_control control;
    char password[PASSWORD_MAX + 1];
    char dir[PATH_MAX];
    char ca[PATH_MAX + 16], login[PATH_MAX + 16];
    uv_signal_t ends[2];
    bool ending;
};

/* ---- What is written for those who ask. ---- */

static enum lks_code make_password(struct serve *s, struct lks_err *err)
{
    uint8_t bytes[PASSWORD_BYTES];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return lks_fail(err, LKS_E_IO, "the kernel gives no chance");
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(s->password + 2 * i, 3, "%02x", bytes[i]);
    return LKS_OK;
}

static enum lks_code read_password(struct serve *s, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FILE_MAX);
    struct lks_str line, rest;
    if (lks_file_read_plain(s->o->password_file, &text, err) != LKS_OK)
        return lks_wrap(err, "--password-file");
    lks_str_cut(lks_buf_view(&text), '\n', &line, &rest);
    line = lks_str_trim(line);
    if (line.len == 0 || line.len > PASSWORD_MAX || !lks_str_printable(line))
        return lks_fail(err, LKS_E_INVALID,
                        "--password-file: %s: its first line has to be the password, of 1 to %d "
                        "printable bytes",
                        s->o->password_file, PASSWORD_MAX);
    memcpy(s->password, line.ptr, line.len);
    return LKS_OK;
}

static enum lks_code make_dir(struct serve *s, struct lks_err *err)
{
    if (mkdir(s->o->dir, DIR_MODE) != 0 && errno != EEXIST)
        return lks_fail(err, LKS_E_INVALID, "--dir: %s: %s", s->o->dir, strerror(errno));
    if (realpath(s->o->dir, s->dir) == NULL)
        return lks_fail(err, LKS_E_INVALID, "--dir: %s: %s", s->o->dir, strerror(errno));
    snprintf(s->ca, sizeof(s->ca), "%s/ca.pem", s->dir);
    snprintf(s->login, sizeof(s->login), "%s/login", s->dir);
    return LKS_OK;
}

static enum lks_code write_files(struct serve *s, struct lks_err *err)
{
    char login[PASSWORD_MAX * 2 + 4];
    snprintf(login, sizeof(login), "%s:%s\n", s->o->user, s->password);
    if (lks_file_replace(s->ca, lks_buf_view(&s->site.certs.certificate), err) != LKS_OK)
        return err->code;
    return lks_file_replace(s->login, lks_str_from(login), err);
}

/* After all of them listen, since the port is known then. */
static enum lks_code write_fleet(const struct serve *s, struct lks_err *err)
{
    LKS_CLEANUP(lks_buf_fini) struct lks_buf text = LKS_BUF(FLEET_MAX);
    if (s->o->fleet_file == NULL)
        return LKS_OK;
    if (lks_layout_fleet(s->o->layout, s->o->class, s->ca, s->login, &text, err) != LKS_OK)
        return err->code;
    return lks_file_replace(s->o->fleet_file, lks_buf_view(&text), err);
}

/* ---- Starting. ---- */

static enum lks_code raise_files(size_t count, struct lks_err *err)
{
    struct rlimit files;
    rlim_t wanted = (rlim_t)(count * FILES_EACH + FILES_SPARE);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return LKS_OK;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_max != RLIM_INFINITY && files.rlim_max < wanted)
        return lks_fail(err, LKS_E_UNAVAILABLE,
                        "%zu BMCs need %llu open files, and this process may have %llu; raise its "
                        "limit (ulimit -Hn), or have fewer",
                        count, (unsigned long long)wanted, (unsigned long long)files.rlim_max);
    return LKS_OK;
}

static int64_t log_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static enum lks_code prepare(struct serve *s, struct lks_err *err)
{
    struct lks_box_site *site = &s->site;
    site->loop = &s->loop;
    site->layout = s->o->layout;
    site->tree = s->o->tree;
    site->faults = &s->o->faults;
    site->pull_ca = s->o->pull_ca;
    site->began = uv_hrtime();
    site->began_wall = (lks_ms)log_now();
    site->model = (struct lks_bmcsim_options){.user = s->o->user,
                                              .password = s->password,
                                              .version = s->o->version,
                                              .versions = s->o->versions,
                                              .seed = s->o->seed,
                                              .speed = s->o->speed};
    lks_log_init(&site->log, stderr, LKS_LEVEL_INFO, LKS_LOG_LOGFMT, log_now);
    enum lks_code code =
        s->o->password_file != NULL ? read_password(s, err) : make_password(s, err);
    if (code == LKS_OK && s->o->tree != NULL)
        code = lks_recorded_check(s->o->tree, err);
    if (code == LKS_OK)
        code = raise_files(s->o->layout->count, err);
    if (code == LKS_OK)
        code = make_dir(s, err);
    if (code == LKS_OK)
        code = lks_certs_make(log_now() / 1000, &site->certs, err);
    if (code == LKS_OK)
        code = lks_certs_make(log_now() / 1000, &site->strangers, err);
    return code;
}

static enum lks_code start(struct serve *s, struct lks_err *err)
{
    s->boxes = calloc(s->o->layout->count, sizeof(struct lks_box *));
    if (s->boxes == NULL)
        return lks_fail_nomem(err);
    for (size_t i = 0; i < s->o->layout->count; i++) {
        if (lks_box_new(&s->site, i, &s->boxes[i], err) != LKS_OK)
            return err->code;
        s->count = i + 1;
    }
    if (write_files(s, err) != LKS_OK || write_fleet(s, err) != LKS_OK)
        return err->code;
    if (s->o->control == NULL)
        return LKS_OK;
    s->control.boxes = s->boxes;
    s->control.count = s->count;
    return lks_control_open(&s->control, &s->loop, s->o->control, err);
}

/* ---- Ending. ---- */

static void on_end(uv_signal_t *signal, int number);

static void watch_signals(struct serve *s)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    _Static_assert(LKS_COUNT(numbers) == LKS_COUNT(s->ends), "one watcher each");
    for (size_t i = 0; i < LKS_COUNT(numbers); i++) {
        s->ends[i].data = s;
        int failed = uv_signal_init(&s->loop, &s->ends[i]);
        failed = failed != 0 ? failed : uv_signal_start(&s->ends[i], on_end, numbers[i]);
        LKS_ASSERT(failed == 0);
    }
}

static void end(struct serve *s)
{
    if (s->ending)
        return;
    s->ending = true;
    for (size_t i = 0; i < LKS_COUNT(s->ends); i++)
        uv_close((uv_handle_t *)&s->ends[i], NULL);
    for (size_t i = 0; i < s->count; i++)
        lks_box_close(s->boxes[i]);
    if (s->control.httpd != NULL)
        lks_control_close(&s->control);
}

static void on_end(uv_signal_t *signal, int number)
{
    (void)number;
    end(signal->data);
}

static void clean_up(struct serve *s)
{
    for (size_t i = 0; i < s->count; i++)
        lks_box_free(s->boxes[i]);
    free(s->boxes);
    lks_certs_fini(&s->site.certs);
    lks_certs_fini(&s->site.strangers);
    lks_certs_pair_fini(&s->site.pair);
    lks_log_fini(&s->site.log);
    explicit_bzero(s->password, sizeof(s->password));
}

enum lks_code lks_serve_run(const struct lks_serve_options *options, FILE *out, struct lks_err *err)
{
    struct serve s = {.o = options};
    char first[LKS_LAYOUT_URL_MAX], last[LKS_LAYOUT_URL_MAX];
    if (uv_loop_init(&s.loop) != 0)
        return lks_fail_nomem(err);
    watch_signals(&s);
    enum lks_code code = prepare(&s, err);
    if (code == LKS_OK)
        code = start(&s, err);
    if (code == LKS_OK) {
        lks_layout_url(options->layout, 0, first);
        lks_layout_url(options->layout, options->layout->count - 1, last);
        fprintf(out, "ready %s %s\n", first, last);
        fflush(out);
    } else {
        end(&s);
    }
    (void)uv_run(&s.loop, UV_RUN_DEFAULT);
    int left = uv_loop_close(&s.loop);
    LKS_ASSERT(left == 0);
    clean_up(&s);
    return code;
}
