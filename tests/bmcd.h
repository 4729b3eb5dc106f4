/* The real lockstep-bmcsim for tests and the bench: started in a temporary directory on loopback
 * addresses of its own, asked through its control socket, ended. It ends with whoever started it.
 */
#ifndef LKS_TESTS_BMCD_H
#define LKS_TESTS_BMCD_H

#include "drivers/http/client.h"
#include "tests/tree.h"

#include <sys/types.h>

#define BMCD_ARGS_MAX 24
#define BMCD_URL_MAX  48

struct bmcd {
    struct lks_tree tree;
    char dir[80], ca[96], login[96], control[96]; /* the last without "unix:" */
    char listen[64];                              /* where the first listens; the same each time */
    unsigned first[4], port;                      /* the same as numbers, once it is ready */
    char user[32], password[64];
    pid_t pid; /* 0: none runs */
};

void bmcd_init(struct bmcd *b);
void bmcd_fini(struct bmcd *b);

/* Start `program` with these options, up to NULL, and wait until it is ready; false when it is not,
 * and what it said is printed. */
bool bmcd_start(struct bmcd *b, const char *program, const char *const *options);

/* End it: with SIGTERM, and its exit status, or -1 when it was killed or takes longer than ten
 * seconds; or at once. */
int bmcd_stop(struct bmcd *b);
void bmcd_kill(struct bmcd *b);

/* Where the `i`th BMC is, counted from 0. */
void bmcd_url(const struct bmcd *b, size_t i, char out[BMCD_URL_MAX]);

/* A client of the `i`th BMC; and the header that says who asks. */
struct lks_client *bmcd_client(const struct bmcd *b, size_t i);
void bmcd_basic(const struct bmcd *b, char *out, size_t size);

/* One exchange; the status, or 0 when there was no answer. What was answered, or why not, replaces
 * the content of `answer`. */
int bmcd_ask(struct lks_client *client, const char *method, const char *path, const char *head,
             const char *body, struct lks_buf *answer);

/* The same with the control socket. */
int bmcd_control(const struct bmcd *b, const char *method, const char *path, const char *body,
                 struct lks_buf *answer);

#endif
