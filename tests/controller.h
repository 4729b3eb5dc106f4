/* The real lockstepd for tests: made in a temporary directory, started, asked, killed and started
 * again. Ports are the kernel's choice at each start. Whatever a test starts through here ends with
 * it, and nothing else does. */
#ifndef LKS_TESTS_CONTROLLER_H
#define LKS_TESTS_CONTROLLER_H

#include "drivers/http/client.h"
#include "port/store.h"
#include "tests/tree.h"
#include "trust/key.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define CTL_ARGS_MAX 16

struct ctl {
    struct lks_tree tree;    /* what follows lies in it */
    char data[80];           /* the data directory */
    char config[112];        /* lockstepd.yaml in it */
    char socket[112];        /* "unix:..." */
    pid_t pid;               /* 0: none runs */
    const char *option;      /* one more for the next starts; NULL: none */
    unsigned people, agents; /* ports of the one that runs, */
    unsigned webhook;        /* and that of API servers; 0: none */
};

/* `lockstepd init`; `more` are lines for its configuration. */
void ctl_init(struct ctl *c, const char *more);
void ctl_fini(struct ctl *c);

/* The same with one option more: a database that is shared, or whom to join; NULL: none. */
void ctl_init_shared(struct ctl *c, const char *option, const char *value, const char *more);
/* More lines for its configuration, before it starts. */
void ctl_configure(const struct ctl *c, const char *lines);

/* The same at a path of the caller's; c->tree is there. */
void ctl_init_at(struct ctl *c, const char *data, const char *more);
/* The exit status of an init with one option, and what it said. */
int ctl_init_with(const char *data, const char *option, const char *value, struct lks_buf *said);

/* Start it, and wait until it is ready to write; false when it is not, and its log is printed. */
void ctl_spawn(struct ctl *c);
bool ctl_ready(struct ctl *c);
bool ctl_start(struct ctl *c);
/* The ports of one that follows, which is not ready to write. */
void ctl_ports(struct ctl *c);

/* Of several controllers: whether this one leads now; or follows one that does. */
bool ctl_leads(const struct ctl *c);
bool ctl_follows(const struct ctl *c);

/* End it at once; or with SIGTERM: its exit status, -1 when it did not end and was killed. */
void ctl_kill(struct ctl *c);
int ctl_stop(struct ctl *c);

/* Run a program with arguments up to NULL to its end and append what it said, on both streams; its
 * exit status, or -1. */
int ctl_run(const char *const *argv, struct lks_buf *said);

/* Start lockstepd where it is to refuse: what it said, and its exit status. */
int ctl_refused(struct ctl *c, struct lks_buf *said);
/* The same with --check. */
int ctl_check(const struct ctl *c, struct lks_buf *said);

/* The path of a file in the tree; four of them at a time. */
const char *ctl_path(const struct ctl *c, const char *name);

/* What the running one wrote so far; the next call overwrites it. */
struct lks_str ctl_log(const struct ctl *c);

enum ctl_way { CTL_UNIX, CTL_TLS };

/* A client, as the admin; NULL is a failed check. */
struct lks_client *ctl_client(const struct ctl *c, enum ctl_way way);

/* One exchange with a JSON body, or none for NULL. The status, or 0 when there was no answer; what
 * was answered, or why not, replaces the content of `answer`. From any thread. */
int ctl_ask(struct lks_client *client, const char *method, const char *path, const char *body,
            struct lks_buf *answer);

/* The same once, through the socket. */
int ctl_once(const struct ctl *c, const char *method, const char *path, const char *body,
             struct lks_buf *answer);

/* The number of a member of a JSON answer, 0 where there is none; and a text, which the next call
 * overwrites. */
uint64_t ctl_number(const struct lks_buf *answer, const char *key);
const char *ctl_text(const struct lks_buf *answer, const char *key, char *out, size_t size);

/* A fleet "faults" of one pool with the nodes n0 to n<nodes-1>, as a manifest that differs with
 * `mark`. */
void ctl_fleet(unsigned nodes, const char *mark, struct lks_buf *out);

/* Apply it. */
void ctl_apply(const struct ctl *c, unsigned nodes);

/* The store of its data directory, to be read; a failure is a failed check. */
bool ctl_store(const struct ctl *c, struct lks_store *out);

/* The key its journal's heads are signed with. */
struct lks_public_key ctl_key(const struct ctl *c);

/* Its journal is whole; the number of the last row. */
uint64_t ctl_whole(const struct ctl *c);
/* The same of a store that several share. */
uint64_t ctl_whole_in(const struct ctl *c, struct lks_store *store);

/* Copy a directory with all there is to its files; what was at `to` goes. */
void ctl_copy(const char *from, const char *to);

/* A client that grants a role to somebody else and takes it away, again and again, in a thread of
 * its own, until it is told to stop or nobody answers. It reaches no limit, however long that is.
 */
#define CTL_LOAD_KEPT 4096

struct ctl_load {
    pthread_t thread;
    struct lks_client *client;
    unsigned id; /* part of whom it grants roles */
    atomic_bool stop;
    uint64_t asked, last_seq;
    uint64_t yes[CTL_LOAD_KEPT]; /* which of them got a yes: the last ones, by their count */
    atomic_size_t yes_count;
    int other; /* the first status that is neither yes nor 503 */
    int end;   /* the last one */
};

void ctl_load_begin(struct ctl_load *l, const struct ctl *c, unsigned id, enum ctl_way way);

/* Wait until it got `count` times a yes. */
void ctl_load_works(const struct ctl_load *l, size_t count);

/* It got a yes now and then, and nothing but yes and 503. */
void ctl_load_end(struct ctl_load *l);

/* The last ones that got a yes are in the journal, in the order they were asked, and it is good. */
void ctl_load_kept(const struct ctl *c, const struct ctl_load *l);

#endif
