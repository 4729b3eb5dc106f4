/* One simulated BMC being asked, for tests: requests as texts, answers as documents. */
#ifndef LKS_TESTS_ASKSIM_H
#define LKS_TESTS_ASKSIM_H

#include "codec/format/docs.h"
#include "lab/bmcsim/bmcsim.h"

struct lks_asksim {
    struct lks_bmcsim *b; /* owned */
    enum lks_bmcsim_personality personality;
    lks_ms now;
    bool anonymous; /* without a password */
    struct lks_bmcsim_reply reply;
    struct lks_docs docs;
    const struct lks_doc *doc; /* the answer, where it is JSON */
};

/* A BMC named "node1", revision "A", all devices at "1.0.0"; times divided by `speed`. */
void lks_asksim_open(struct lks_asksim *s, enum lks_bmcsim_personality personality, uint64_t speed);
void lks_asksim_close(struct lks_asksim *s);

/* Each gives the status. `head` has lines "name: value\n"; "" for none. */
int lks_asksim(struct lks_asksim *s, const char *method, const char *path, const char *head,
               struct lks_str body);
int lks_asksim_get(struct lks_asksim *s, const char *path);
int lks_asksim_post(struct lks_asksim *s, const char *path, const char *json);

/* Upload as the personality takes it: multipart with these parameters, or HPE's form. */
int lks_asksim_push(struct lks_asksim *s, const char *parameters, struct lks_str image);

/* A text, number or truth of the last answer by its path ("Status/Health", "Members/0/Id"), as
 * text; empty where there is none. Valid until the next call. */
struct lks_str lks_asksim_text(struct lks_asksim *s, const char *path);
struct lks_str lks_asksim_header(const struct lks_asksim *s, const char *name);
/* The key of the last answer's error: "PropertyUnknown". */
struct lks_str lks_asksim_error(struct lks_asksim *s);

/* Let `seconds` pass. */
void lks_asksim_wait(struct lks_asksim *s, unsigned seconds);

/* The `n`th device of a class, from 0. */
struct lks_bmcsim_device lks_asksim_device(const struct lks_asksim *s, const char *class, size_t n);

/* A package for this BMC; `out` is initialised here. */
void lks_asksim_package(const struct lks_asksim *s, const char *class, const char *version,
                        size_t size, struct lks_buf *out);

#endif
