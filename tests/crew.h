/* The real lockstepd with agents that tests play: a fleet with a released stack, nodes that enrol,
 * beat and report. Answers are held against what their route documents. */
#ifndef LKS_TESTS_CREW_H
#define LKS_TESTS_CREW_H

#include "codec/format/json.h"
#include "tests/controller.h"

/* The last answer, with its body as a document where it is JSON. All zero: none yet. */
struct crew_told {
    struct lks_http_answer answer;
    struct lks_docs docs;
    const struct lks_doc *doc;
};
void crew_told_fini(struct crew_told *t);
struct lks_str crew_text(const struct crew_told *t, const char *key);
int64_t crew_number(const struct crew_told *t, const char *key); /* -1: none */
bool crew_truth(const struct crew_told *t, const char *key);
/* The members of a list, counted; and one of them. */
size_t crew_count(const struct crew_told *t, const char *key);
const struct lks_doc *crew_item(const struct crew_told *t, const char *key, size_t at);

struct crew {
    struct ctl c;
    struct lks_client *root;  /* the socket */
    struct lks_client *admin; /* the admin's token */
};

/* A daemon of its own, with `more` lines of configuration; false is a failed check. */
bool crew_begin(struct crew *crew, const char *more);
void crew_end(struct crew *crew);
/* End it, and start it again. */
bool crew_again(struct crew *crew);

/* One exchange; the status, 0 when there was no answer. `body` may be NULL. */
int crew_ask(struct lks_client *client, const char *method, const char *path, const char *body,
             struct crew_told *out);
/* The same with a daemon that may be gone: no answer is no failed check. */
int crew_try(struct lks_client *client, const char *method, const char *path, const char *body,
             struct crew_told *out);
/* A valid call of the route called `id`: answered with 200 and with what it documents. */
bool crew_fine(struct lks_client *client, const char *id, const char *path, const char *body,
               struct crew_told *out);
/* The same with header lines, each with CRLF. */
bool crew_fine_head(struct lks_client *client, const char *id, const char *path, const char *body,
                    const char *head, struct crew_told *out);
/* A refusal: its status, and a line that has `detail` in it. */
void crew_refused(struct lks_client *client, const char *id, const char *path, const char *body,
                  int status, const char *detail);

/* The stack of tests/tuples.h, published and released; its digest. */
bool crew_release(struct crew *crew, char digest[LKS_DIGEST_SIZE]);
/* The same with other lines: the beginning of one, and what stands in its place, in turn up to
 * NULL.
 */
bool crew_release_with(struct crew *crew, const char *const *lines, char digest[LKS_DIGEST_SIZE]);
/* A fleet: pools and nodes in YAML, pinned to stacks that were released. */
bool crew_fleet(struct crew *crew, const char *text);

/* A client of a person with this role in a pool; "": everywhere. NULL is a failed check. The person
 * is called ROLE-POOL. */
struct lks_client *crew_person(struct crew *crew, const char *role, const char *pool);
/* The same at a site, called ROLE-SITE. */
struct lks_client *crew_person_at(struct crew *crew, const char *role, const char *site);

/* An agent of a node, enrolled. NULL is a failed check. */
struct lks_client *crew_enroll(struct crew *crew, const char *node);
/* It beats, and reports the tuple of tests/tuples.h with `changes`, by lines. `beats` counts its
 * heartbeats. */
bool crew_report(struct lks_client *agent, const char *node, const char *changes, uint64_t *beats);

/* A heartbeat alone, of an agent that read nothing yet; false is a failed check. */
bool crew_beat(struct lks_client *agent, uint64_t *beats, struct crew_told *out);
/* The same tuple as JSON, as if read out of band. */
void crew_tuple(const char *node, const char *base, const char *changes, struct lks_buf *out);

/* Which test covers a route that test_lockstepd does not; NULL: that one does. */
const char *crew_covers(const char *id);
/* All routes of `test` got a fine answer in this process. */
void crew_all_covered(const char *test);

#endif
