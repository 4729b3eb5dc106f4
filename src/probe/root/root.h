/*
 * The machine being read: this one, or a tree that was captured from one.
 *
 * Probes see files under a root and the answers of things that are no files: a vendor's library, a
 * program, a device. On the live machine files are read and the answers asked for; with a capture
 * directory everything read and answered is also written there, in the same layout. A captured tree
 * replays through the same probe code: its files are read in place of the machine's, and its
 * answers come from lockstep/TABLE.csv within it. What directories, links and failures said is
 * recorded there too, so that a replay cannot see more or less than the machine showed.
 *
 * Paths are absolute as the machine has them. Within a captured tree symbolic links are followed
 * inside the tree alone. Nothing here waits for a pipe or a device: only plain files and
 * directories are opened, and without blocking. All reads are bounded.
 *
 * Errors: NOT_FOUND where there is nothing; DENIED where we may not; LIMIT for more than `max`;
 * INVALID for what is no plain file (a FIFO, a loop of links); IO for the rest. Messages name the
 * path.
 */
#ifndef LKS_PROBE_ROOT_H
#define LKS_PROBE_ROOT_H

#include "base/arena.h"
#include "base/buf.h"

#include <sys/stat.h>

#define LKS_ROOT_PATH_MAX    4096
#define LKS_ROOT_LINE_MAX    1024
#define LKS_ROOT_FILE_MAX    ((size_t)1 << 20)
#define LKS_ROOT_ENTRIES_MAX 65536                                /* of one directory */
#define LKS_ROOT_NAMES_MAX   (LKS_ROOT_ENTRIES_MAX * (size_t)300) /* memory for all its names */
#define LKS_ANSWERS_DIR      "/lockstep"

struct lks_answers;

struct lks_root {
    int fd;                      /* directory that stands for "/" */
    int capture;                 /* directory the capture goes to, or -1 */
    bool capture_failed;         /* something could not be written to it */
    bool live;                   /* this machine: libraries, programs and devices can be asked */
    const char *nvml;            /* NVML to load instead of the loader's choice, or NULL */
    struct lks_answers *answers; /* of a captured tree, loaded as they are needed; owned */
    /* Told before anything that may hang, and asked whether to leave it out (it hung before: the
     * answer says so). Either may be NULL. */
    void (*asking)(void *ctx, const char *what);
    const char *(*skip)(void *ctx, const char *what);
    void (*patience)(void *ctx, unsigned times);
    int call_ms; /* the usual patience in milliseconds; 0: no parent waits */
    void *ctx;
};

/* The failure that an errno means for what is at `path`. */
enum lks_code lks_root_fail(struct lks_err *err, const char *path, int number) LKS_MUST_CHECK;

/* `path` NULL or "/": this machine. `capture` NULL: none; else a directory that does not exist or
 * is empty. */
enum lks_code lks_root_open(const char *path, const char *capture, struct lks_root *out,
                            struct lks_err *err) LKS_MUST_CHECK;
void lks_root_close(struct lks_root *root);

/* Append the content of a file of at most `max` bytes to `out`. */
enum lks_code lks_root_read(struct lks_root *root, const char *path, size_t max,
                            struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* The same of a file that may be larger: its last bytes, nearly `max`. A capture gets these. */
enum lks_code lks_root_tail(struct lks_root *root, const char *path, size_t max,
                            struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* The first line of a short file, without blanks at its ends; NOT_FOUND also when it is empty. */
enum lks_code lks_root_line(struct lks_root *root, const char *path, char out[LKS_ROOT_LINE_MAX],
                            struct lks_err *err) LKS_MUST_CHECK;

/* Feed a file to `feed` in pieces; for those too large to hold. `feed` returns false to stop early.
 * A capture gets the whole of what was fed. */
typedef bool lks_root_feed(void *ctx, struct lks_str bytes);
enum lks_code lks_root_stream(struct lks_root *root, const char *path, size_t max,
                              lks_root_feed *feed, void *ctx, struct lks_err *err) LKS_MUST_CHECK;

/* The names in a directory, sorted, without "." and ".."; they live in `arena`. */
struct lks_names {
    struct lks_str *list;
    size_t count;
};
enum lks_code lks_root_list(struct lks_root *root, const char *path, struct lks_arena *arena,
                            struct lks_names *out, struct lks_err *err) LKS_MUST_CHECK;

/* What a symbolic link says. */
enum lks_code lks_root_link(struct lks_root *root, const char *path, char out[LKS_ROOT_PATH_MAX],
                            struct lks_err *err) LKS_MUST_CHECK;

/* What is there, links followed. */
enum lks_code lks_root_stat(struct lks_root *root, const char *path, struct stat *out,
                            struct lks_err *err) LKS_MUST_CHECK;
bool lks_root_exists(struct lks_root *root, const char *path);

/* The path without links in it, as the machine has it: where a file really lies. */
enum lks_code lks_root_real(struct lks_root *root, const char *path, char out[LKS_ROOT_PATH_MAX],
                            struct lks_err *err) LKS_MUST_CHECK;

/* A plain file for reading at offsets (libraries, modules); the caller closes it. Not part of a
 * capture: what was found inside is, as an answer. Use it inside lks_root_ask_file() alone. */
enum lks_code lks_root_file(struct lks_root *root, const char *path, int *fd, struct stat *st,
                            struct lks_err *err) LKS_MUST_CHECK;

/* All of such a file, likewise; the ceiling is that of `out`. */
enum lks_code lks_root_whole(struct lks_root *root, const char *path, struct lks_buf *out,
                             struct lks_err *err) LKS_MUST_CHECK;

/* Bytes of such a file at an offset, fewer at its end: the `read` of a struct lks_elf_file whose
 * `ctx` points to the descriptor. */
enum lks_code lks_root_read_at(void *fd, uint64_t offset, void *buf, size_t len, size_t *got,
                               struct lks_err *err) LKS_MUST_CHECK;

/*
 * Ask something that is no file. `table` is a short name ("nvml"), `key` says what is asked ("
 * nvmlDeviceGetSerial 0000:06:00.0"); `fn` asks the live machine and appends the answer, one line
 * of text, to `out`. In a captured tree the recorded answer is given; NOT_FOUND where it has none.
 * What `fn` fails with is recorded too, and fails again in the replay.
 */
typedef enum lks_code lks_ask_fn(void *ctx, struct lks_buf *out, struct lks_err *err);
enum lks_code lks_root_ask(struct lks_root *root, const char *table, const char *key,
                           lks_ask_fn *fn, void *ctx, struct lks_buf *out,
                           struct lks_err *err) LKS_MUST_CHECK;

/* The same for what is found out about a file of the tree (the version inside a library): asked of
 * the file where there is no recorded answer, so it works in a tree put together by hand. */
enum lks_code lks_root_ask_file(struct lks_root *root, const char *table, const char *key,
                                lks_ask_fn *fn, void *ctx, struct lks_buf *out,
                                struct lks_err *err) LKS_MUST_CHECK;

/* Say that a long piece of work inside a question goes on, so that it is not taken to hang. */
void lks_root_alive(struct lks_root *root, const char *what);

/* Ask for `times` the usual patience with what is being asked now: it is known to be slow. */
void lks_root_patience(struct lks_root *root, unsigned times);

/* The same for what has a limit of its own: as much as `ms` takes. */
void lks_root_patience_ms(struct lks_root *root, int64_t ms);

/* The keys a captured tree has answers for in `table`, in the order they were recorded. Empty for
 * the live machine. */
enum lks_code lks_root_answers(struct lks_root *root, const char *table, struct lks_arena *arena,
                               struct lks_names *out, struct lks_err *err) LKS_MUST_CHECK;

#endif
