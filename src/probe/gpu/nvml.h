/*
 * NVML, NVIDIA's management library, as questions with answers of one line.
 *
 * The library is loaded if the machine has one; nothing is linked and no vendor header is needed.
 * Every call goes through lks_root_ask(), keyed by its name, the GPU and its arguments
 * ("nvmlDeviceGetVbiosVersion 0000:06:00.0"), and answers with NVML's return code and what came
 * with it ("0 96.00.A5.00.1A", "15", "0 current=1 pending=1"). So a capture holds what NVML said,
 * and a captured tree is read by the very code that reads a machine.
 *
 * Old drivers lack functions and know only the first layout of a struct: each call has a list of
 * the names it went by, newest first.
 */
#ifndef LKS_PROBE_NVML_H
#define LKS_PROBE_NVML_H

#include "probe/root/root.h"

#define LKS_NVML_GPUS_MAX    64
#define LKS_NVML_LINKS_MAX   18
#define LKS_NVML_FIELDS_MAX  LKS_NVML_LINKS_MAX
#define LKS_NVML_ADDRESS_MAX 20
#define LKS_NVML_TEXT_MAX    1024
#define LKS_NVML_HUNG_MAX    2 /* calls on one GPU, after which it is asked no more */

/* What the product asks; the names and shapes are in the table of nvml.c. */
enum lks_nvml_call {
    LKS_NVML_COUNT,      /* NUMBER */
    LKS_NVML_BY_INDEX,   /* nothing; of a GPU without address, sets its handle */
    LKS_NVML_BY_ADDRESS, /* nothing; sets its handle */
    LKS_NVML_PCI,        /* address=0000:06:00.0 device=233510de subsystem=18bf10de */
    LKS_NVML_NAME,       /* TEXT, as the next six */
    LKS_NVML_SERIAL,
    LKS_NVML_UUID,
    LKS_NVML_BOARD_PART,
    LKS_NVML_VBIOS,
    LKS_NVML_INFOROM,
    LKS_NVML_GSP,
    LKS_NVML_MODULE_ID, /* NUMBER, as the next */
    LKS_NVML_ARCHITECTURE,
    LKS_NVML_MIG,         /* current=0 pending=0 */
    LKS_NVML_ECC,         /* current=1 pending=1 */
    LKS_NVML_PERSISTENCE, /* NUMBER, as the next three; watts are in thousandths */
    LKS_NVML_COMPUTE_MODE,
    LKS_NVML_POWER_SET,
    LKS_NVML_POWER_ENFORCED,
    LKS_NVML_CLOCK,       /* (kind of clock) NUMBER in MHz, as the next four */
    LKS_NVML_CLOCK_AGAIN, /* (kind of clock, 0: now) */
    LKS_NVML_CLOCK_MAX,
    LKS_NVML_APP_CLOCK,
    LKS_NVML_APP_CLOCK_DEFAULT,
    LKS_NVML_CLOCK_RANGE, /* (kind of clock, P-state) min=345 max=1980 */
    LKS_NVML_REASONS,     /* NUMBER, a bit mask */
    LKS_NVML_COMPUTE,     /* NUMBER of processes, as the next */
    LKS_NVML_GRAPHICS,
    LKS_NVML_MEMORY,     /* NUMBER of bytes */
    LKS_NVML_LINK_STATE, /* (link) NUMBER */
    LKS_NVML_FABRIC,     /* state=3 status=0 clique=1 health=1 */
    LKS_NVML_PROFILE,    /* (profile) id=19 slices=1 memory=16384 name=1g.18gb */
    LKS_NVML_INSTANCES,  /* (profile id) start of placement of each GPU instance, in a list */
    LKS_NVML_FIELDS,     /* see lks_nvml_fields() */
    LKS_NVML_CALLS
};

/* Kinds of clock. */
enum { LKS_NVML_CLOCK_GRAPHICS = 0, LKS_NVML_CLOCK_MEMORY = 2 };

/* Fields of lks_nvml_fields(). */
enum {
    LKS_NVML_FI_RETIRED_SBE = 29,
    LKS_NVML_FI_RETIRED_DBE = 30,
    LKS_NVML_FI_BOARD_LIMIT = 77,
    LKS_NVML_FI_RELIABILITY = 79,
    LKS_NVML_FI_REMAPPED_COR = 142,
    LKS_NVML_FI_REMAPPED_UNC = 143,
    LKS_NVML_FI_REMAPPED_PENDING = 144,
    LKS_NVML_FI_REMAPPED_FAILURE = 145,
    LKS_NVML_FI_LINK_STATE = 165,
    LKS_NVML_FI_C2C_LINKS = 170,
    LKS_NVML_FI_RECOVERY_ACTION = 230,
};

struct lks_nvml {
    struct lks_root *root;
    void *library; /* never closed: it lives as long as the process that asked */
};

struct lks_nvml_gpu {
    unsigned index;
    char address[LKS_NVML_ADDRESS_MAX]; /* empty until it is known */
    void *handle;                       /* NVML's; NULL in a captured tree */
    unsigned hung;                      /* calls on it that did not come back */
};

/* What came with the return code 0. */
struct lks_nvml_answer {
    char text[LKS_NVML_TEXT_MAX];
};

/* Load and initialise. NOT_FOUND where there is no NVML. */
enum lks_code lks_nvml_open(struct lks_nvml *n, struct lks_root *root,
                            struct lks_err *err) LKS_MUST_CHECK;

/* The function as NVML's documentation has it: evidence. */
const char *lks_nvml_name(enum lks_nvml_call call);

/*
 * Ask. `gpu` may be NULL for LKS_NVML_COUNT alone; `a` and `b` are used where the call has
 * arguments. Fails with NOT_FOUND where this GPU or this NVML does not have such a thing, DENIED
 * where we may not ask, TIMEOUT where it hung before, UNAVAILABLE for the rest.
 */
enum lks_code lks_nvml_ask(struct lks_nvml *n, enum lks_nvml_call call, struct lks_nvml_gpu *gpu,
                           unsigned a, unsigned b, struct lks_nvml_answer *out,
                           struct lks_err *err) LKS_MUST_CHECK;

/* The same for an answer that is a number; and words KEY=VALUE of an answer. */
enum lks_code lks_nvml_number(struct lks_nvml *n, enum lks_nvml_call call, struct lks_nvml_gpu *gpu,
                              unsigned a, unsigned b, uint64_t *out,
                              struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_nvml_word(const struct lks_nvml_answer *answer, const char *key,
                            struct lks_str *out, struct lks_err *err) LKS_MUST_CHECK;
enum lks_code lks_nvml_word_number(const struct lks_nvml_answer *answer, const char *key,
                                   uint64_t *out, struct lks_err *err) LKS_MUST_CHECK;

/* One field of many asked at once. `code` is NVML's own for this field. */
struct lks_nvml_field {
    unsigned id, scope;
    unsigned code;
    uint64_t value;
};

/* Fill in code and value of `count` fields. */
enum lks_code lks_nvml_fields(struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                              struct lks_nvml_field *fields, size_t count,
                              struct lks_err *err) LKS_MUST_CHECK;

/* The same fields some time later: over and over until all values have changed or the clock shows
 * `until` (lks_clock_ms()). One question, so that it replays at once; `still` makes it another one.
 */
enum lks_code lks_nvml_fields_later(struct lks_nvml *n, struct lks_nvml_gpu *gpu,
                                    struct lks_nvml_field *fields, size_t count, bool still,
                                    int64_t until, struct lks_err *err) LKS_MUST_CHECK;

/* The failure a field's own code stands for; `err` as from lks_nvml_ask(). OK for 0. */
enum lks_code lks_nvml_field_fail(const struct lks_nvml_field *field, struct lks_err *err);

/* "device=233510de" to "10de:2335", as lspci writes it. */
enum lks_code lks_nvml_pci_id(const struct lks_nvml_answer *answer, const char *key, char out[10],
                              struct lks_err *err) LKS_MUST_CHECK;

/* Whether `why`, what dlerror() said, is that there is no file `path`. */
bool lks_nvml_missing(const char *path, const char *why);

#endif
