/*
 * The tuple: what a node really runs, as a list of readings.
 *
 * A reading has a name, the device it was read of, its value and the evidence: the file, the call
 * or the command that said so. A value is measured, or known to be absent, or unmeasured with the
 * reason; nothing is ever guessed, and nothing is carried over from an earlier reading.
 *
 * The digest covers what a node runs and not which very node it is: readings of the class IDENTITY
 * as (name, part, value), without the devices' addresses, so that two nodes of one build have one
 * digest. What is absent is not hashed, so a probe that learns to look for something new changes
 * no digest of a node that does not have it. Of the kernel's parameters those of one host are left
 * out, and so is what is not read every time: hashes of files, which a quick reading has none of
 * (build ids tell as much), and files that only some stack wants read.
 */
#ifndef LKS_MODEL_TUPLE_H
#define LKS_MODEL_TUPLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "codec/format/digest.h"

#define LKS_TUPLE_READINGS_MAX 16384
#define LKS_TUPLE_MEMORY_MAX   ((size_t)16 << 20)
#define LKS_READING_NAME_MAX   256  /* bytes, as for `of` and `part` */
#define LKS_READING_VALUE_MAX  8192 /* bytes, as for the evidence */

enum lks_reading_class {
    LKS_READING_IDENTITY, /* what it runs and how it is set: hashed, held against a stack */
    LKS_READING_DEVICE,   /* which very part it is: serials, addresses, models */
    LKS_READING_HEALTH,   /* how it is doing at this moment */
    LKS_READING_COPY,     /* a library beside the one the system would load */
};

enum lks_reading_state { LKS_MEASURED, LKS_ABSENT, LKS_UNMEASURED };

/* Texts are the tuple's once added. */
struct lks_reading {
    struct lks_str name; /* "driver", "firmware/vbios", "settings.ecc"; see lks_reading_kinds */
    struct lks_str of;   /* the device or file, such as "gpu 0000:06:00.0"; empty: the node */
    struct lks_str part; /* firmware: the device's part number; a copy: its kind of place */
    enum lks_reading_state state;
    struct lks_str value;    /* unmeasured: why; absent: empty. A list is separated by blanks. */
    struct lks_str evidence; /* "/sys/module/nvidia/version", "nvmlDeviceGetVbiosVersion" */
    const struct lks_reading_kind *kind; /* of its name, once the tuple is finished */
};

/* What there is to read. The table is also the reference page. A name ending in ".*" stands for
 * all that begin so; names of components come last and are open-ended. */
struct lks_reading_kind {
    const char *name;
    enum lks_reading_class class;
    bool secret; /* a serial or an address: scrubbed from a capture on request */
    const char *about;
};
extern const struct lks_reading_kind lks_reading_kinds[];
extern const size_t lks_reading_kind_count;

/* The row for `name`: the exact one, else the longest ".*" that fits. Never NULL: what no row
 * names is a component, of the class IDENTITY. */
const struct lks_reading_kind *lks_reading_kind(struct lks_str name);

/* Whether a parameter of the kernel belongs to one host (root=, ip=) and says nothing about what is
 * common to the hosts of a stack. */
bool lks_reading_parameter_of_host(struct lks_str parameter);

struct lks_tuple {
    struct lks_arena arena;       /* owns all texts */
    struct lks_reading *readings; /* owned; sorted by name, device, part, value once finished */
    size_t count, room;
    struct lks_str node;    /* host name */
    struct lks_str boot_id; /* of this boot; in-band readings are valid for no other */
    int64_t taken;          /* seconds since 1970 */
    char digest[LKS_DIGEST_SIZE];
    enum lks_code failed; /* the first failure; asked for by lks_tuple_finish() */
};

void lks_tuple_init(struct lks_tuple *t);
void lks_tuple_fini(struct lks_tuple *t);

/* Add a copy of `r`. Bytes that do not print become '?', longer texts are cut. A failure stays. */
void lks_tuple_add(struct lks_tuple *t, const struct lks_reading *r);

/* Sort, drop exact repetitions, and compute the digest. After it lookups work. */
enum lks_code lks_tuple_finish(struct lks_tuple *t, struct lks_err *err) LKS_MUST_CHECK;

/* The readings called `name`, of a finished tuple: the first, and how many (0 and NULL: none). */
const struct lks_reading *lks_tuple_range(const struct lks_tuple *t, struct lks_str name,
                                          size_t *count);

/* The first of them, or NULL. */
const struct lks_reading *lks_tuple_find(const struct lks_tuple *t, const char *name);

/* The version that counts for a component of the node: the reading called so if there is one that
 * was measured, else what the package manager says (NAME.package), else the one called so. */
const struct lks_reading *lks_tuple_component(const struct lks_tuple *t, struct lks_str name);

/* The canonical JSON of a finished tuple. `findings` is canonical JSON to go along, which is never
 * read back, or an empty view. */
enum lks_code lks_tuple_json(const struct lks_tuple *t, struct lks_str findings,
                             struct lks_buf *out, struct lks_err *err) LKS_MUST_CHECK;

/* A tuple from its JSON; the digest it claims must be the one its readings have. */
enum lks_code lks_tuple_parse(struct lks_str json, const char *source, struct lks_tuple *out,
                              struct lks_err *err) LKS_MUST_CHECK;

#endif
